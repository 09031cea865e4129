//! Four numbers that are computed side by side. Plain arrays: the compiler turns each operation into one AVX2
//! instruction or two SSE2 ones, with the same bits in both (no fused multiply-add anywhere).

use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// Four numbers side by side.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(32))]
pub struct Lane(pub [f64; 4]);

impl Lane {
    /// Four zeros.
    pub const ZERO: Lane = Lane([0.0; 4]);

    /// A number four times.
    #[inline(always)]
    pub const fn splat(x: f64) -> Lane {
        Lane([x; 4])
    }
}

impl Add for Lane {
    type Output = Lane;
    #[inline(always)]
    fn add(self, b: Lane) -> Lane {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (self.0, b.0);
        Lane([a0 + b0, a1 + b1, a2 + b2, a3 + b3])
    }
}
impl Sub for Lane {
    type Output = Lane;
    #[inline(always)]
    fn sub(self, b: Lane) -> Lane {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (self.0, b.0);
        Lane([a0 - b0, a1 - b1, a2 - b2, a3 - b3])
    }
}
impl Mul<f64> for Lane {
    type Output = Lane;
    #[inline(always)]
    fn mul(self, s: f64) -> Lane {
        let [a0, a1, a2, a3] = self.0;
        Lane([a0 * s, a1 * s, a2 * s, a3 * s])
    }
}
impl AddAssign for Lane {
    #[inline(always)]
    fn add_assign(&mut self, b: Lane) {
        *self = *self + b;
    }
}
impl SubAssign for Lane {
    #[inline(always)]
    fn sub_assign(&mut self, b: Lane) {
        *self = *self - b;
    }
}
