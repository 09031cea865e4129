//! Sanity of inertias as files give them.

use slipstick_core::spatial::{BodyInertia, principal_moments};

const NEGATIVE: &str = "the inertia has a negative principal moment, which is physically impossible";

/// The one defect with which equations of motion have no solution.
pub(crate) fn has_negative_moment(inertia: &BodyInertia) -> bool {
    defect(inertia) == Some(NEGATIVE)
}

/// What is wrong with an inertia: rounding in files (about 1e-6 of the largest moment) is not.
pub(crate) fn defect(inertia: &BodyInertia) -> Option<&'static str> {
    let [a, b, c] = principal_moments(inertia.about_com);
    let slack = 1e-6 * c.abs().max(a.abs());
    if a < -slack {
        Some(NEGATIVE)
    } else if a + b < c - slack {
        Some("the principal moments violate A + B ≥ C, which is physically impossible: they are used unchanged")
    } else if inertia.mass == 0.0 && c > slack {
        Some("a rotational inertia without mass is used unchanged")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick_core::spatial::{Sym3, Vec3, vec3};

    #[test]
    fn impossible_inertias_are_recognized() {
        let body = |x, y, z| BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(x, y, z)) };
        assert_eq!(defect(&body(1.0, 2.0, 3.0)), None);
        assert!(defect(&body(1.0, 1.0, 3.0)).unwrap().contains("A + B ≥ C"));
        assert!(defect(&body(1.0, 2.0, -0.1)).unwrap().contains("negative"));
        assert!(defect(&BodyInertia { mass: 0.0, ..body(1.0, 1.0, 1.0) }).unwrap().contains("without mass"));
        assert_eq!(defect(&BodyInertia::default()), None);
    }
}
