//! Axes of a contact.

use crate::spatial::{Mat3, Vec3, vec3};

/// Right-handed axes (t1, t2, n) as columns around a unit vector. Smooth but for the half-planes n.z = ±0, where it
/// jumps; nothing depends on the spin of the tangents (Duff et al. 2017).
#[inline]
pub(crate) fn frame(n: Vec3) -> Mat3 {
    let sign = 1.0_f64.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    let t1 = vec3(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    let t2 = vec3(b, sign + n.y * n.y * a, -n.y);
    Mat3::from_columns(t1, t2, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::narrow::closed::check::Random;

    #[test]
    fn axes_are_orthonormal_and_right_handed_around_every_normal() {
        let mut random = Random::new(1);
        let poles = [1.0, -1.0].map(|z| vec3(0.0, 0.0, z));
        let beside = [1e-300, -1e-300, 1e-9, -1e-9].map(|x| vec3(x, -x, -1.0));
        let equator = [0.0, -0.0].map(|z| vec3(0.6, -0.8, z));
        let all = (0..1000).map(|_| random.unit());
        for n in all.chain(poles).chain(beside).chain(equator).chain(Vec3::UNITS) {
            let f = frame(n);
            assert_eq!(f.c[2], n);
            assert!((f.c[0].cross(f.c[1]) - n).norm() < 1e-14, "{n:?}");
            assert!((f.c[0].norm() - 1.0).abs() < 1e-14 && (f.c[1].norm() - 1.0).abs() < 1e-14);
            assert!(f.c[0].dot(n).abs() < 1e-14 && f.c[1].dot(n).abs() < 1e-14 && f.c[0].dot(f.c[1]).abs() < 1e-14);
        }
    }
}
