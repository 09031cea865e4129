//! Sanity of inertias as files give them.

use slipstick_core::spatial::{BodyInertia, Mat3, Sym3, principal_moments};

/// What is wrong with an inertia: rounding in files (about 1e-6 of the largest moment) is not.
pub(crate) fn defect(inertia: &BodyInertia) -> Option<&'static str> {
    let [a, b, c] = principal_moments(inertia.about_com);
    let slack = 1e-6 * c.abs().max(a.abs());
    if a < -slack {
        Some("the inertia has a negative principal moment, which no body has: results may be unstable")
    } else if a + b < c - slack {
        Some("the principal moments violate A + B ≥ C, which no body can: they are used as they are")
    } else if inertia.mass == 0.0 && c > slack {
        Some("a rotational inertia without mass is used as it is")
    } else {
        None
    }
}

/// Principal moments and the axes that belong to them (columns), by cyclic Jacobi rotations.
pub(crate) fn principal_axes(s: Sym3) -> ([f64; 3], Mat3) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick_core::spatial::{Vec3, vec3};

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
    fn impossible_inertias_are_recognised() {
        let body = |x, y, z| BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(x, y, z)) };
        assert_eq!(defect(&body(1.0, 2.0, 3.0)), None);
        assert!(defect(&body(1.0, 1.0, 3.0)).unwrap().contains("A + B ≥ C"));
        assert!(defect(&body(1.0, 2.0, -0.1)).unwrap().contains("negative"));
        assert!(defect(&BodyInertia { mass: 0.0, ..body(1.0, 1.0, 1.0) }).unwrap().contains("without mass"));
        assert_eq!(defect(&BodyInertia::default()), None);
    }
}
