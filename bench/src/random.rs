//! Seeded random numbers, the same on every machine.

use slipstick::spatial::{Quat, Vec3, vec3};

/// splitmix64.
pub struct Random(pub u64);

impl Random {
    /// Uniform in [-1, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        2.0 * ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + 0.5 * (self.uniform() + 1.0) * (high - low)
    }

    /// Every direction is as likely as any other.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = vec3(self.uniform(), self.uniform(), self.uniform());
            let length = v.norm();
            if length > 0.1 && length < 1.0 {
                return v * (1.0 / length);
            }
        }
    }

    /// Every orientation is as likely as any other.
    pub fn orientation(&mut self) -> Quat {
        loop {
            let q = Quat { w: self.uniform(), x: self.uniform(), y: self.uniform(), z: self.uniform() };
            let square = q.to_array().iter().map(|x| x * x).sum::<f64>();
            if let (Some(unit), true) = (q.normalized(), square > 0.01 && square < 1.0) {
                return unit;
            }
        }
    }
}
