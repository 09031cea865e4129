//! Inertia of a rigid body: at its center of mass (as given), and as ten numbers about an origin (as summed).

use super::mat3::{Mat3, Sym3};
use super::motion::{Force, Motion};
use super::pose::Pose;
use super::vec3::{Vec3, vec3};
use core::ops::{Add, AddAssign};

/// Mass, center of mass and rotational inertia about the center of mass, in the axes of some frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BodyInertia {
    /// Mass (kg).
    pub mass: f64,
    /// Center of mass in the frame (m).
    pub com: Vec3,
    /// Rotational inertia about the center of mass, axes of the frame (kg·m²).
    pub about_com: Sym3,
}

/// Spatial inertia about an origin: mass, first moment `h = m c`, rotational inertia about the origin.   (spatial-4)
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C)]
pub struct SpatialInertia {
    /// Mass (kg).
    pub mass: f64,
    /// First moment of mass (kg·m).
    pub h: Vec3,
    /// Rotational inertia about the origin (kg·m²).
    pub about_origin: Sym3,
}

impl BodyInertia {
    /// The inertia seen from a frame a, given `X_ab`.
    pub fn moved(&self, x_ab: &Pose) -> BodyInertia {
        BodyInertia { mass: self.mass, com: x_ab.point(self.com), about_com: self.about_com.rotated(&x_ab.rotation) }
    }

    /// Two rigidly joined masses, both given in the same frame.
    pub fn joined(&self, b: &BodyInertia) -> BodyInertia {
        let mass = self.mass + b.mass;
        if mass == 0.0 {
            return BodyInertia { mass, com: self.com, about_com: self.about_com + b.about_com };
        }
        let com = (self.com * self.mass + b.com * b.mass) * (1.0 / mass);
        let about_com = self.about_com
            + b.about_com
            + Sym3::point_mass(self.com - com) * self.mass
            + Sym3::point_mass(b.com - com) * b.mass;
        BodyInertia { mass, com, about_com }
    }

    /// Ten numbers linear in the dynamics: m, m c (3), inertia about the frame's origin (xx, xy, yy, xz, yz, zz).
    pub fn to_parameters(&self) -> [f64; 10] {
        let h = self.com * self.mass;
        let i = self.about_com + Sym3::point_mass(self.com) * self.mass;
        [self.mass, h.x, h.y, h.z, i.xx, i.xy, i.yy, i.xz, i.yz, i.zz]
    }

    /// Inverse of [`BodyInertia::to_parameters`]. A massless body keeps its center of mass at the origin.
    pub fn from_parameters(p: &[f64; 10]) -> BodyInertia {
        let com = if p[0] == 0.0 { Vec3::ZERO } else { vec3(p[1] / p[0], p[2] / p[0], p[3] / p[0]) };
        let i = Sym3 { xx: p[4], xy: p[5], yy: p[6], xz: p[7], yz: p[8], zz: p[9] };
        BodyInertia { mass: p[0], com, about_com: i - Sym3::point_mass(com) * p[0] }
    }

    /// Smallest eigenvalue of the rotational inertia about the center of mass (kg·m²).
    pub fn smallest_moment(&self) -> f64 {
        principal_moments(self.about_com)[0]
    }
}

/// Principal moments and the axes that belong to them (columns), by cyclic Jacobi rotations.
pub fn principal_axes(s: Sym3) -> ([f64; 3], Mat3) {
    let (mut a, mut axes) = (s.to_mat(), Mat3::IDENTITY);
    // quadratic convergence: 12 sweeps are more than double precision needs
    for _ in 0..12 {
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.at(i, j);
            if off == 0.0 {
                continue;
            }
            let theta = 0.5 * (a.at(j, j) - a.at(i, i)) / off;
            let t = if theta == 0.0 { 1.0 } else { theta.signum() / (theta.abs() + theta.hypot(1.0)) };
            let c = 1.0 / t.hypot(1.0);
            let mut turn = Mat3::IDENTITY;
            turn.c[i][i] = c;
            turn.c[j][j] = c;
            turn.c[j][i] = t * c;
            turn.c[i][j] = -t * c;
            a = turn.transpose() * a * turn;
            axes = axes * turn;
        }
    }
    ([a.at(0, 0), a.at(1, 1), a.at(2, 2)], axes)
}

/// Principal moments in ascending order.
pub fn principal_moments(s: Sym3) -> [f64; 3] {
    let (mut moments, _) = principal_axes(s);
    moments.sort_by(f64::total_cmp);
    moments
}

impl SpatialInertia {
    /// No mass.
    pub const ZERO: SpatialInertia = SpatialInertia { mass: 0.0, h: Vec3::ZERO, about_origin: Sym3::ZERO };

    /// From mass, center of mass and rotational inertia about it, all in the axes and about the origin wanted.
    #[inline(always)]
    pub fn new(mass: f64, com: Vec3, about_com: Sym3) -> SpatialInertia {
        SpatialInertia { mass, h: com * mass, about_origin: about_com + Sym3::point_mass(com) * mass }
    }
}

impl core::ops::Mul<Motion> for SpatialInertia {
    type Output = Force;
    /// Momentum `I V`: p = m v + ω × h, L = h × v + I ω.
    #[inline(always)]
    fn mul(self, v: Motion) -> Force {
        Force { lin: v.lin * self.mass + v.ang.cross(self.h), ang: self.h.cross(v.lin) + self.about_origin * v.ang }
    }
}
impl Add for SpatialInertia {
    type Output = SpatialInertia;
    #[inline(always)]
    fn add(self, b: SpatialInertia) -> SpatialInertia {
        SpatialInertia { mass: self.mass + b.mass, h: self.h + b.h, about_origin: self.about_origin + b.about_origin }
    }
}
impl AddAssign for SpatialInertia {
    #[inline(always)]
    fn add_assign(&mut self, b: SpatialInertia) {
        *self = *self + b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spatial::Quat;

    const SAMPLE: BodyInertia = BodyInertia {
        mass: 2.5,
        com: vec3(0.1, -0.2, 0.3),
        about_com: Sym3 { xx: 0.5, xy: 0.02, yy: 0.4, xz: -0.03, yz: 0.01, zz: 0.3 },
    };

    #[test]
    fn ten_parameters_carry_the_whole_inertia() {
        let back = BodyInertia::from_parameters(&SAMPLE.to_parameters());
        assert!((back.com - SAMPLE.com).norm() < 1e-15);
        assert!((back.about_com.xy - SAMPLE.about_com.xy).abs() < 1e-15);
        assert!((back.about_com.zz - SAMPLE.about_com.zz).abs() < 1e-15);
    }

    #[test]
    fn principal_axes_rebuild_the_matrix() {
        let s = Sym3 { xx: 0.5, xy: 0.02, yy: 0.4, xz: -0.03, yz: 0.01, zz: 0.3 };
        let (moments, axes) = principal_axes(s);
        let back = Sym3::diagonal(Vec3::from(moments)).rotated(&axes);
        for (a, b) in
            [(s.xx, back.xx), (s.xy, back.xy), (s.yy, back.yy), (s.xz, back.xz), (s.yz, back.yz), (s.zz, back.zz)]
        {
            assert!((a - b).abs() < 1e-15);
        }
    }

    #[test]
    fn principal_moments_do_not_depend_on_the_axes() {
        let turned = SAMPLE.moved(&Pose::new(vec3(3.0, 1.0, 2.0), Quat::exp(vec3(0.4, -1.1, 0.6))));
        let (a, b) = (principal_moments(SAMPLE.about_com), principal_moments(turned.about_com));
        for k in 0..3 {
            assert!((a[k] - b[k]).abs() < 1e-14, "{a:?} {b:?}");
        }
        assert!((a.iter().sum::<f64>() - SAMPLE.about_com.trace()).abs() < 1e-14);
    }

    #[test]
    fn joining_two_halves_gives_the_whole() {
        let half = BodyInertia { mass: 1.25, about_com: SAMPLE.about_com * 0.5, ..SAMPLE };
        let whole = half.joined(&half);
        assert!((whole.mass - 2.5).abs() < 1e-15 && (whole.com - SAMPLE.com).norm() < 1e-15);
        assert!((whole.about_com.xx - 0.5).abs() < 1e-15);
    }
}
