//! Seeded random numbers, the same on every machine.

use crate::spatial::{Quat, Vec3};

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Rng(pub u64);

impl Rng {
    /// The next 64 bits.
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

    /// True with probability `p`.
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

    /// Every direction is as likely as any other.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vector();
            let length = v.norm();
            if length > 0.1 {
                return v * (1.0 / length);
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

/// Standard normal numbers, after Box and Muller.
#[derive(Debug, Clone)]
pub struct Normal {
    draw: Rng,
    spare: Option<f64>,
}

impl Normal {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Normal {
        Normal { draw: Rng(seed), spare: None }
    }

    /// Uniform in (0, 1).
    fn uniform(&mut self) -> f64 {
        ((self.draw.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// The next number.
    pub fn sample(&mut self) -> f64 {
        if let Some(z) = self.spare.take() {
            return z;
        }
        let (u, v) = (self.uniform(), self.uniform());
        let radius = (-2.0 * u.ln()).sqrt();
        let (s, c) = (core::f64::consts::TAU * v).sin_cos();
        self.spare = Some(radius * s);
        radius * c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_moments_of_the_normal_law() {
        let (mut draw, n) = (Normal::new(42), 200_000);
        let mut moments = [0.0; 4];
        for _ in 0..n {
            let z = draw.sample();
            (0..4).for_each(|k| moments[k] += z.powi(k as i32 + 1) / n as f64);
        }
        // five standard errors each
        let errors = [(0.0, 1.0f64), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)];
        for (moment, (mean, variance)) in moments.into_iter().zip(errors) {
            assert!((moment - mean).abs() < 5.0 * (variance / n as f64).sqrt(), "{moment} instead of {mean}");
        }
    }
}
