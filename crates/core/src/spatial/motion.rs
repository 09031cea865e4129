//! Spatial velocities and forces, linear part first, in Plücker coordinates at a fixed origin.   (spatial-1 … spatial-3)

use super::vec3::Vec3;
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A twist: velocity of the body point at the origin, angular velocity. Also accelerations and dof axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C)]
pub struct Motion {
    /// Linear part.
    pub lin: Vec3,
    /// Angular part.
    pub ang: Vec3,
}

/// A wrench: force and its moment about the origin. Also momenta.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C)]
pub struct Force {
    /// Force.
    pub lin: Vec3,
    /// Moment.
    pub ang: Vec3,
}

impl Motion {
    /// No motion.
    pub const ZERO: Motion = Motion { lin: Vec3::ZERO, ang: Vec3::ZERO };

    /// Rotation with unit speed about the axis `u` through the point `p`.
    #[inline(always)]
    pub fn rotation_about(u: Vec3, p: Vec3) -> Motion {
        Motion { lin: p.cross(u), ang: u }
    }

    /// `V × W`, the rate of change of `W` when it is carried along by `V`.   (spatial-2)
    #[inline(always)]
    pub fn cross(self, w: Motion) -> Motion {
        Motion { lin: self.ang.cross(w.lin) + self.lin.cross(w.ang), ang: self.ang.cross(w.ang) }
    }

    /// `V ×* F`, the rate of change of a wrench `F` when it is carried along by `V`.   (spatial-3)
    #[inline(always)]
    pub fn cross_force(self, f: Force) -> Force {
        Force { lin: self.ang.cross(f.lin), ang: self.ang.cross(f.ang) + self.lin.cross(f.lin) }
    }

    /// Power of a wrench.
    #[inline(always)]
    pub fn dot(self, f: Force) -> f64 {
        self.lin.dot(f.lin) + self.ang.dot(f.ang)
    }

    /// Velocity of the point `p`.
    #[inline(always)]
    pub fn at(self, p: Vec3) -> Vec3 {
        self.lin + self.ang.cross(p)
    }

    /// The six components.
    #[inline(always)]
    pub fn to_array(self) -> [f64; 6] {
        [self.lin.x, self.lin.y, self.lin.z, self.ang.x, self.ang.y, self.ang.z]
    }
}

impl Force {
    /// No force.
    pub const ZERO: Force = Force { lin: Vec3::ZERO, ang: Vec3::ZERO };

    /// The force `f` and moment `n` acting at the point `p`, taken to the origin.
    #[inline(always)]
    pub fn at_point(f: Vec3, n: Vec3, p: Vec3) -> Force {
        Force { lin: f, ang: n + p.cross(f) }
    }

    /// The six components.
    #[inline(always)]
    pub fn to_array(self) -> [f64; 6] {
        [self.lin.x, self.lin.y, self.lin.z, self.ang.x, self.ang.y, self.ang.z]
    }
}

macro_rules! vector_space {
    ($t:ident) => {
        impl Add for $t {
            type Output = $t;
            #[inline(always)]
            fn add(self, b: $t) -> $t {
                $t { lin: self.lin + b.lin, ang: self.ang + b.ang }
            }
        }
        impl Sub for $t {
            type Output = $t;
            #[inline(always)]
            fn sub(self, b: $t) -> $t {
                $t { lin: self.lin - b.lin, ang: self.ang - b.ang }
            }
        }
        impl Mul<f64> for $t {
            type Output = $t;
            #[inline(always)]
            fn mul(self, s: f64) -> $t {
                $t { lin: self.lin * s, ang: self.ang * s }
            }
        }
        impl Neg for $t {
            type Output = $t;
            #[inline(always)]
            fn neg(self) -> $t {
                $t { lin: -self.lin, ang: -self.ang }
            }
        }
        impl AddAssign for $t {
            #[inline(always)]
            fn add_assign(&mut self, b: $t) {
                *self = *self + b;
            }
        }
        impl SubAssign for $t {
            #[inline(always)]
            fn sub_assign(&mut self, b: $t) {
                *self = *self - b;
            }
        }
    };
}
vector_space!(Motion);
vector_space!(Force);
