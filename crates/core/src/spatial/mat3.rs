//! 3 × 3 matrices: general (by columns) and symmetric (six numbers).

use super::lane::Lane;
use super::vec3::{Vec3, vec3};
use core::ops::{Add, AddAssign, Mul, Sub};

/// A 3 × 3 matrix, stored by columns: `M v` is then a sum of three scaled columns.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C)]
pub struct Mat3 {
    /// Columns.
    pub c: [Vec3; 3],
}

impl Mat3 {
    /// The zero matrix.
    pub const ZERO: Mat3 = Mat3 { c: [Vec3::ZERO; 3] };
    /// The identity.
    pub const IDENTITY: Mat3 = Mat3 { c: Vec3::UNITS };

    /// A matrix from its columns.
    #[inline(always)]
    pub const fn from_columns(a: Vec3, b: Vec3, c: Vec3) -> Mat3 {
        Mat3 { c: [a, b, c] }
    }

    /// A matrix from its rows.
    #[inline(always)]
    pub const fn from_rows(a: Vec3, b: Vec3, c: Vec3) -> Mat3 {
        Mat3 { c: [vec3(a.x, b.x, c.x), vec3(a.y, b.y, c.y), vec3(a.z, b.z, c.z)] }
    }

    /// The cross-product matrix `[a]×`, with `[a]× b = a × b`.
    #[inline(always)]
    pub const fn skew(a: Vec3) -> Mat3 {
        Mat3 { c: [vec3(0.0, a.z, -a.y), vec3(-a.z, 0.0, a.x), vec3(a.y, -a.x, 0.0)] }
    }

    /// Entry in row `i`, column `j`.
    #[inline(always)]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.c[j][i]
    }

    /// The transposed matrix.
    #[inline(always)]
    pub fn transpose(&self) -> Mat3 {
        Mat3::from_rows(self.c[0], self.c[1], self.c[2])
    }

    /// `Mᵀ v`.
    #[inline(always)]
    pub fn tmul(&self, v: Vec3) -> Vec3 {
        vec3(self.c[0].dot(v), self.c[1].dot(v), self.c[2].dot(v))
    }

    /// Determinant.
    pub fn determinant(&self) -> f64 {
        self.c[0].dot(self.c[1].cross(self.c[2]))
    }
}

impl Mul<Vec3> for Mat3 {
    type Output = Vec3;
    #[inline(always)]
    fn mul(self, v: Vec3) -> Vec3 {
        self.c[0] * v.x + self.c[1] * v.y + self.c[2] * v.z
    }
}
impl Mul for Mat3 {
    type Output = Mat3;
    #[inline(always)]
    fn mul(self, b: Mat3) -> Mat3 {
        Mat3 { c: [self * b.c[0], self * b.c[1], self * b.c[2]] }
    }
}
impl Mul<f64> for Mat3 {
    type Output = Mat3;
    #[inline(always)]
    fn mul(self, s: f64) -> Mat3 {
        Mat3 { c: [self.c[0] * s, self.c[1] * s, self.c[2] * s] }
    }
}
impl Add for Mat3 {
    type Output = Mat3;
    #[inline(always)]
    fn add(self, b: Mat3) -> Mat3 {
        Mat3 { c: [self.c[0] + b.c[0], self.c[1] + b.c[1], self.c[2] + b.c[2]] }
    }
}
impl Sub for Mat3 {
    type Output = Mat3;
    #[inline(always)]
    fn sub(self, b: Mat3) -> Mat3 {
        Mat3 { c: [self.c[0] - b.c[0], self.c[1] - b.c[1], self.c[2] - b.c[2]] }
    }
}
impl AddAssign for Mat3 {
    #[inline(always)]
    fn add_assign(&mut self, b: Mat3) {
        *self = *self + b;
    }
}

/// A symmetric 3 × 3 matrix.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C)]
#[allow(missing_docs)] // the six entries name themselves
pub struct Sym3 {
    pub xx: f64,
    pub xy: f64,
    pub yy: f64,
    pub xz: f64,
    pub yz: f64,
    pub zz: f64,
}

impl Sym3 {
    /// The zero matrix.
    pub const ZERO: Sym3 = Sym3 { xx: 0.0, xy: 0.0, yy: 0.0, xz: 0.0, yz: 0.0, zz: 0.0 };

    /// A diagonal matrix.
    pub const fn diagonal(d: Vec3) -> Sym3 {
        Sym3 { xx: d.x, xy: 0.0, yy: d.y, xz: 0.0, yz: 0.0, zz: d.z }
    }

    /// The lower triangle of a general matrix.
    #[inline(always)]
    pub fn from_mat(m: &Mat3) -> Sym3 {
        Sym3 { xx: m.c[0].x, xy: m.c[0].y, yy: m.c[1].y, xz: m.c[0].z, yz: m.c[1].z, zz: m.c[2].z }
    }

    /// The matrix with all nine entries.
    #[inline(always)]
    pub fn to_mat(self) -> Mat3 {
        Mat3 { c: [vec3(self.xx, self.xy, self.xz), vec3(self.xy, self.yy, self.yz), vec3(self.xz, self.yz, self.zz)] }
    }

    /// `−[c]×[c]× = |c|² 1 − c cᵀ`, the rotational inertia of a unit point mass at `c`.
    #[inline(always)]
    pub fn point_mass(c: Vec3) -> Sym3 {
        let Vec3 { x, y, z } = c;
        Sym3 { xx: y * y + z * z, xy: -x * y, yy: x * x + z * z, xz: -x * z, yz: -y * z, zz: x * x + y * y }
    }

    /// `R S Rᵀ`.
    #[inline(always)]
    pub fn rotated(self, r: &Mat3) -> Sym3 {
        // columns side by side: a = R S, then the columns of a Rᵀ
        let lane = |v: Vec3| Lane([v.x, v.y, v.z, 0.0]);
        let c = [lane(r.c[0]), lane(r.c[1]), lane(r.c[2])];
        let a = [
            c[0] * self.xx + c[1] * self.xy + c[2] * self.xz,
            c[0] * self.xy + c[1] * self.yy + c[2] * self.yz,
            c[0] * self.xz + c[1] * self.yz + c[2] * self.zz,
        ];
        let [xx, xy, xz, _] = (a[0] * r.c[0].x + a[1] * r.c[1].x + a[2] * r.c[2].x).0;
        let [_, yy, yz, _] = (a[0] * r.c[0].y + a[1] * r.c[1].y + a[2] * r.c[2].y).0;
        let zz = a[0].0[2] * r.c[0].z + a[1].0[2] * r.c[1].z + a[2].0[2] * r.c[2].z;
        Sym3 { xx, xy, yy, xz, yz, zz }
    }

    /// Trace.
    #[inline(always)]
    pub fn trace(self) -> f64 {
        self.xx + self.yy + self.zz
    }

    /// Whether all entries are finite.
    pub fn is_finite(self) -> bool {
        [self.xx, self.xy, self.yy, self.xz, self.yz, self.zz].iter().all(|x| x.is_finite())
    }
}

impl Mul<Vec3> for Sym3 {
    type Output = Vec3;
    #[inline(always)]
    fn mul(self, v: Vec3) -> Vec3 {
        vec3(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }
}
impl Mul<f64> for Sym3 {
    type Output = Sym3;
    #[inline(always)]
    fn mul(self, s: f64) -> Sym3 {
        Sym3 { xx: self.xx * s, xy: self.xy * s, yy: self.yy * s, xz: self.xz * s, yz: self.yz * s, zz: self.zz * s }
    }
}
impl Add for Sym3 {
    type Output = Sym3;
    #[inline(always)]
    fn add(self, b: Sym3) -> Sym3 {
        Sym3 {
            xx: self.xx + b.xx,
            xy: self.xy + b.xy,
            yy: self.yy + b.yy,
            xz: self.xz + b.xz,
            yz: self.yz + b.yz,
            zz: self.zz + b.zz,
        }
    }
}
impl Sub for Sym3 {
    type Output = Sym3;
    #[inline(always)]
    fn sub(self, b: Sym3) -> Sym3 {
        self + b * -1.0
    }
}
impl AddAssign for Sym3 {
    #[inline(always)]
    fn add_assign(&mut self, b: Sym3) {
        *self = *self + b;
    }
}
