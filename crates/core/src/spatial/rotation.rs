//! Rotations: quaternions (w, x, y, z), exponential, logarithm and their derivatives.   (lie-1 … lie-5)

use super::mat3::Mat3;
use super::vec3::{Vec3, vec3};

/// Below this angle series replace the closed forms of the Jacobians, whose differences lose digits.
const SMALL_ANGLE: f64 = 1e-3; // (rad); the first omitted terms are of order θ⁴/5040 ≈ 2e-16

/// A quaternion (w, x, y, z); a rotation when its norm is one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
#[allow(missing_docs)] // the four components name themselves
pub struct Quat {
    pub w: f64,
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

impl Quat {
    /// No rotation.
    pub const IDENTITY: Quat = Quat { w: 1.0, x: 0.0, y: 0.0, z: 0.0 };

    /// The first four entries of a slice.
    #[inline(always)]
    pub fn from_slice(s: &[f64]) -> Quat {
        Quat { w: s[0], x: s[1], y: s[2], z: s[3] }
    }

    /// Whether its norm is large enough to be divided by.
    #[inline(always)]
    pub fn has_direction(self) -> bool {
        let square = self.w * self.w + self.x * self.x + self.y * self.y + self.z * self.z;
        square > 1e-200 && square.is_finite()
    }

    /// The components as an array.
    pub const fn to_array(self) -> [f64; 4] {
        [self.w, self.x, self.y, self.z]
    }

    /// The quaternion of the same direction and norm one; `None` if it is zero or not finite.
    pub fn normalized(self) -> Option<Quat> {
        let a = self.to_array();
        let scale = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if scale == 0.0 || !a.iter().all(|x| x.is_finite()) {
            return None;
        }
        let u = a.map(|x| x / scale);
        let n = u.iter().map(|x| x * x).sum::<f64>().sqrt();
        Some(Quat { w: u[0] / n, x: u[1] / n, y: u[2] / n, z: u[3] / n })
    }

    /// Hamilton product: first `b`, then `self`.
    #[inline(always)]
    pub fn compose(self, b: Quat) -> Quat {
        let a = self;
        Quat {
            w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        }
    }

    /// The inverse of a unit quaternion.
    pub const fn conjugate(self) -> Quat {
        Quat { w: self.w, x: -self.x, y: -self.y, z: -self.z }
    }

    /// Rotation matrix of a unit quaternion.   (lie-5)
    #[inline(always)]
    pub fn to_matrix(self) -> Mat3 {
        let Quat { w, x, y, z } = self;
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, yy, zz) = (x * x2, y * y2, z * z2);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        Mat3::from_columns(
            vec3(1.0 - (yy + zz), xy + wz, xz - wy),
            vec3(xy - wz, 1.0 - (xx + zz), yz + wx),
            vec3(xz + wy, yz - wx, 1.0 - (xx + yy)),
        )
    }

    /// Quaternion of a rotation matrix (the largest component first, so that no digit is lost).
    pub fn from_matrix(r: &Mat3) -> Quat {
        let (a, b, c) = (r.at(0, 0), r.at(1, 1), r.at(2, 2));
        let q = if a + b + c > 0.0 {
            [1.0 + a + b + c, r.at(2, 1) - r.at(1, 2), r.at(0, 2) - r.at(2, 0), r.at(1, 0) - r.at(0, 1)]
        } else if a >= b && a >= c {
            [r.at(2, 1) - r.at(1, 2), 1.0 + a - b - c, r.at(0, 1) + r.at(1, 0), r.at(0, 2) + r.at(2, 0)]
        } else if b >= c {
            [r.at(0, 2) - r.at(2, 0), r.at(0, 1) + r.at(1, 0), 1.0 - a + b - c, r.at(1, 2) + r.at(2, 1)]
        } else {
            [r.at(1, 0) - r.at(0, 1), r.at(0, 2) + r.at(2, 0), r.at(1, 2) + r.at(2, 1), 1.0 - a - b + c]
        };
        Quat::from_slice(&q).normalized().unwrap_or(Quat::IDENTITY)
    }

    /// Exponential: rotation by the vector `r` (axis times angle).   (lie-1)
    #[inline(always)]
    pub fn exp(r: Vec3) -> Quat {
        let angle = r.norm();
        let half = 0.5 * angle;
        let scale = if angle > 0.0 { half.sin() / angle } else { 0.5 };
        let v = r * scale;
        Quat { w: half.cos(), x: v.x, y: v.y, z: v.z }
    }

    /// Logarithm: the rotation vector of length at most π.   (lie-2)
    pub fn log(self) -> Vec3 {
        let q = if self.w < 0.0 { Quat { w: -self.w, x: -self.x, y: -self.y, z: -self.z } } else { self };
        let v = vec3(q.x, q.y, q.z);
        let s = v.norm();
        let scale = if s > 0.0 { 2.0 * s.atan2(q.w) / s } else { 2.0 };
        v * scale
    }
}

/// Rotation matrix about the unit vector `axis` by an angle given by its sine and cosine.   (lie-1)
#[inline(always)]
pub fn axis_rotation(axis: Vec3, s: f64, c: f64) -> Mat3 {
    let t = axis * (1.0 - c);
    let u = axis * s;
    Mat3::from_columns(
        vec3(t.x * axis.x + c, t.x * axis.y + u.z, t.x * axis.z - u.y),
        vec3(t.y * axis.x - u.z, t.y * axis.y + c, t.y * axis.z + u.x),
        vec3(t.z * axis.x + u.y, t.z * axis.y - u.x, t.z * axis.z + c),
    )
}

/// Right Jacobian of the exponential: `exp(r + d) ≈ exp(r) exp(J_r(r) d)`.   (lie-3)
pub fn right_jacobian(r: Vec3) -> Mat3 {
    let angle = r.norm();
    let (a, b) = if angle < SMALL_ANGLE {
        (0.5 - angle * angle / 24.0, 1.0 / 6.0 - angle * angle / 120.0)
    } else {
        // 1 − cos θ = 2 sin²(θ/2): no cancellation
        let (h, t2) = ((0.5 * angle).sin(), angle * angle);
        (2.0 * h * h / t2, (angle - angle.sin()) / (t2 * angle))
    };
    let k = Mat3::skew(r);
    Mat3::IDENTITY - k * a + (k * k) * b
}

/// Inverse of [`right_jacobian`]: `log(exp(r) exp(d)) ≈ r + J_r(r)⁻¹ d`, for |r| ≤ π.   (lie-4)
pub fn right_jacobian_inverse(r: Vec3) -> Mat3 {
    let angle = r.norm();
    let b = if angle < SMALL_ANGLE {
        1.0 / 12.0 + angle * angle / 720.0
    } else {
        let h = 0.5 * angle;
        (1.0 - h * h.cos() / h.sin()) / (angle * angle)
    };
    let k = Mat3::skew(r);
    Mat3::IDENTITY + k * 0.5 + (k * k) * b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Vec3, b: Vec3, tol: f64) -> bool {
        (a - b).norm() <= tol
    }

    const SAMPLES: [Vec3; 6] = [
        vec3(0.3, -0.2, 0.9),
        vec3(1e-5, 2e-5, -3e-5),
        vec3(0.0, 0.0, 0.0),
        vec3(2.0, -2.0, 1.2),
        vec3(6e-4, -5e-4, 5e-4),
        vec3(0.9e-3, 0.5e-3, 0.2e-3),
    ];

    #[test]
    fn logarithm_inverts_the_exponential() {
        for r in SAMPLES {
            assert!(close(Quat::exp(r).log(), r, 1e-15 * r.norm()), "{r:?}");
        }
    }

    #[test]
    fn matrix_and_quaternion_describe_the_same_rotation() {
        for r in SAMPLES {
            let q = Quat::exp(r);
            let back = Quat::from_matrix(&q.to_matrix());
            let sign = if (back.w * q.w + back.x * q.x + back.y * q.y + back.z * q.z) < 0.0 { -1.0 } else { 1.0 };
            assert!((back.w - sign * q.w).abs() + (back.x - sign * q.x).abs() < 1e-14);
            if let Some(axis) = r.normalized() {
                let m = axis_rotation(axis, r.norm().sin(), r.norm().cos());
                for j in 0..3 {
                    assert!(close(m.c[j], q.to_matrix().c[j], 1e-14));
                }
            }
        }
    }

    #[test]
    fn right_jacobian_is_the_derivative_of_the_exponential() {
        for r in SAMPLES {
            let (jac, h) = (right_jacobian(r), 1e-5);
            for k in 0..3 {
                let step = Vec3::UNITS[k] * h;
                let back = Quat::exp(r).conjugate();
                let fd =
                    (back.compose(Quat::exp(r + step)).log() - back.compose(Quat::exp(r - step)).log()) * (0.5 / h);
                assert!(close(fd, jac.c[k], 1e-9), "{r:?}: {fd:?} {:?}", jac.c[k]);
            }
            let product = right_jacobian(r) * right_jacobian_inverse(r);
            for k in 0..3 {
                assert!(close(product.c[k], Vec3::UNITS[k], 1e-12));
            }
        }
    }

    #[test]
    fn a_zero_quaternion_has_no_direction() {
        assert_eq!(Quat { w: 0.0, x: 0.0, y: 0.0, z: 0.0 }.normalized(), None);
        assert_eq!(Quat { w: f64::NAN, x: 0.0, y: 0.0, z: 1.0 }.normalized(), None);
    }
}
