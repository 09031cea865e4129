//! Admissible impulses and how they depend on velocities: the four laws of the one cone program.   (ncp-1)

use crate::spatial::Vec3;

/// Most rows of a constraint: two tangents and a normal.
pub(crate) const ROWS: usize = 3;

/// Numbers of one constraint, zeros beyond its rows, and a matrix of them.
pub(crate) type Rows = [f64; ROWS];
pub(crate) type Square = [[f64; ROWS]; ROWS];

/// The law of one constraint. Its impulse has [`Cone::rows`] numbers; a contact's are (T, T, N).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Cone {
    /// Coulomb friction: `‖λ_T‖ ≤ μ λ_N`, opposed to sliding, no pulling.
    Friction {
        /// Coulomb's coefficient.
        mu: f64,
    },
    /// Pushes only: `0 ≤ λ ⊥ σ ≥ 0`. Joint limits, frictionless contacts.
    Unilateral,
    /// Dry friction of a joint: `|λ| ≤ bound`, opposed to motion.
    Box {
        /// Largest impulse.
        bound: f64,
    },
    /// Acts in both directions: `σ = 0`.
    Bilateral,
}

impl Cone {
    /// Rows of the constraint.
    #[inline(always)]
    pub const fn rows(self) -> usize {
        match self {
            Cone::Friction { .. } => 3,
            _ => 1,
        }
    }

    /// The nearest admissible impulse of a constraint with one row.
    #[inline(always)]
    pub(crate) fn project_scalar(self, x: f64) -> f64 {
        match self {
            Cone::Unilateral => x.max(0.0),
            Cone::Box { bound } => x.clamp(-bound, bound),
            _ => x,
        }
    }
}

impl Cone {
    /// Whether the friction of a contact that pushes is saturated.
    pub(crate) fn is_on_boundary(self, lambda: Rows) -> bool {
        let Cone::Friction { mu } = self else { return false };
        lambda[2] > 0.0 && length(lambda[0], lambda[1]) >= (1.0 - 1e-9) * mu * lambda[2]
    }
}

/// The nearest point of the cone `‖x_T‖ ≤ mu x_N`.
#[inline(always)]
pub(crate) fn project_cone(x: Vec3, mu: f64) -> Vec3 {
    let t = length(x.x, x.y);
    // first what pulls: without friction it would pass the other test too
    if mu * t <= -x.z {
        return Vec3::ZERO;
    }
    if t <= mu * x.z {
        return x;
    }
    let n = (mu * t + x.z) / (1.0 + mu * mu);
    let s = mu * n / t;
    Vec3 { x: s * x.x, y: s * x.y, z: n }
}

/// Length of a plane vector; numbers of a solve are far from overflow.
#[inline(always)]
pub(crate) fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// Distance along `(dr, dt)` to the boundary of the cone `‖t‖ ≤ r` from a point inside.
pub(crate) fn to_boundary(r: f64, t: [f64; 2], dr: f64, dt: [f64; 2]) -> f64 {
    let a = dr * dr - dt[0] * dt[0] - dt[1] * dt[1];
    let b = r * dr - t[0] * dt[0] - t[1] * dt[1];
    let c = (r - length(t[0], t[1])) * (r + length(t[0], t[1]));
    let root = b * b - a * c;
    let mut step = if dr < 0.0 { -r / dr } else { f64::INFINITY };
    if a < 0.0 || (b < 0.0 && root >= 0.0) {
        // the smaller positive root of a x² + 2 b x + c, without cancellation
        let q = -(b + b.signum() * root.max(0.0).sqrt());
        for x in [q / a, c / q] {
            if x > 0.0 && x < step {
                step = x;
            }
        }
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projections_onto_the_cone_are_nearest() {
        let (mu, x) = (0.7, Vec3 { x: 1.0, y: -2.0, z: 0.3 });
        let p = project_cone(x, mu);
        assert!((p.x.hypot(p.y) - mu * p.z).abs() < 1e-15);
        // what is left is perpendicular to the boundary
        assert!((x - p).dot(p).abs() < 1e-14);
        assert_eq!(project_cone(Vec3 { x: 0.1, y: 0.0, z: 1.0 }, mu), Vec3 { x: 0.1, y: 0.0, z: 1.0 });
        assert_eq!(project_cone(Vec3 { x: 0.1, y: 0.0, z: -1.0 }, mu), Vec3::ZERO);
        // without friction only the normal part stays
        assert_eq!(project_cone(Vec3 { x: 0.1, y: 0.0, z: 1.0 }, 0.0), Vec3 { x: 0.0, y: 0.0, z: 1.0 });
        assert_eq!(project_cone(Vec3 { x: 0.0, y: 0.0, z: -1.0 }, 0.0), Vec3::ZERO);
        assert_eq!(project_cone(Vec3::ZERO, mu), Vec3::ZERO);
    }

    #[test]
    fn scalar_laws_clip_to_their_sets() {
        assert_eq!(Cone::Unilateral.project_scalar(-1.0), 0.0);
        assert_eq!(Cone::Box { bound: 2.0 }.project_scalar(-3.0), -2.0);
        assert_eq!(Cone::Bilateral.project_scalar(-3.0), -3.0);
    }
}
