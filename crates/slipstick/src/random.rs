//! Seeded random numbers, the same on every machine.

use slipstick_core::spatial::{Quat, Vec3};

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Rng(pub u64);

impl Rng {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly from [0, 1).
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Evenly from [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// Evenly from [−1, 1).
    pub fn sign(&mut self) -> f64 {
        self.between(-1.0, 1.0)
    }

    /// A whole number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.share() * n as f64) as usize).min(n.saturating_sub(1))
    }

    pub fn chance(&mut self, p: f64) -> bool {
        self.share() < p
    }

    /// A vector in a ball of radius one, every direction as likely as any other.
    pub fn vector(&mut self) -> Vec3 {
        loop {
            let v = Vec3 { x: self.sign(), y: self.sign(), z: self.sign() };
            if v.norm() < 1.0 {
                return v;
            }
        }
    }

    /// Every orientation is as likely as any other.
    pub fn orientation(&mut self) -> Quat {
        loop {
            let q = Quat { w: self.sign(), x: self.sign(), y: self.sign(), z: self.sign() };
            let square = q.to_array().iter().map(|x| x * x).sum::<f64>();
            if let (Some(unit), true) = (q.normalized(), square > 0.01 && square < 1.0) {
                return unit;
            }
        }
    }
}
