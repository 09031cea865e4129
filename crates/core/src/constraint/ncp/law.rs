//! The law of a constraint in one round of the proximal point method, block by block.   (ncp-12)
//!
//! With weight r and impulses λ̂ from the round before, `λ = P(λ̂, s)` obeys the law of the constraint for the velocity
//! `σ + r (λ − λ̂)`. Where λ = λ̂ that is the law itself.
#![allow(non_snake_case)]

use super::active_mode::{ActiveMode, proximal_weights};
use super::linear::is_frictionless;
use crate::constraint::laws::cone::{Cone, Rows, Square, length};
use crate::constraint::problem::Block;

/// The projected impulse of a block, and what its derivative needs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Projection {
    pub lambda: Rows,
    pub mode: ActiveMode,
    /// For a contact that slides: length of `λ̂_T − s_T/r`, of which friction is the nearest admissible part.
    reach: f64,
}

/// `P(λ̂, s)` for a block, a proximal weight and the velocity `s` without compliance.   (ncp-12)
#[inline(always)]
pub(super) fn project(b: &Block, weight: f64, hat: Rows, s: Rows) -> Projection {
    let [r, own] = proximal_weights(b, weight);
    let soft = own + b.compliance;
    match b.cone {
        Cone::Friction { mu } => {
            let push = (own * hat[2] - s[2]) / soft;
            if push <= 0.0 {
                return Projection::default();
            }
            if is_frictionless(b.cone) {
                return Projection { lambda: [0.0, 0.0, push], mode: ActiveMode::Slide, reach: 0.0 };
            }
            let y = [hat[0] - s[0] / r, hat[1] - s[1] / r];
            let (reach, radius) = (length(y[0], y[1]), mu * push);
            if reach <= radius {
                return Projection { lambda: [y[0], y[1], push], mode: ActiveMode::Stick, reach };
            }
            let shrink = radius / reach;
            Projection { lambda: [shrink * y[0], shrink * y[1], push], mode: ActiveMode::Slide, reach }
        }
        cone => {
            let wanted = (own * hat[0] - s[0]) / soft;
            let nearest = cone.project_scalar(wanted);
            let mode = match nearest {
                x if x == wanted => ActiveMode::Stick,
                x if x > wanted => ActiveMode::Break,
                _ => ActiveMode::Slide,
            };
            Projection { lambda: [nearest, 0.0, 0.0], mode, reach: 0.0 }
        }
    }
}

/// `E = −∂P/∂s`. Friction of a sliding contact grows with its normal impulse, which makes E unsymmetric; with `frozen`
/// radius of its disc it is symmetric, and a step along it descends.   (ncp-12)
pub(super) fn slope(b: &Block, weight: f64, projection: &Projection, frozen: bool) -> Square {
    let [r, own] = proximal_weights(b, weight);
    let soft = own + b.compliance;
    let mut E: Square = Default::default();
    match (b.cone, projection.mode) {
        (Cone::Friction { .. }, ActiveMode::Break) => {}
        (Cone::Friction { .. }, ActiveMode::Stick) => {
            E = [[1.0 / r, 0.0, 0.0], [0.0, 1.0 / r, 0.0], [0.0, 0.0, 1.0 / soft]];
        }
        (Cone::Friction { .. }, ActiveMode::Slide) if is_frictionless(b.cone) => E[2][2] = 1.0 / soft,
        (Cone::Friction { mu }, ActiveMode::Slide) => {
            let radius = mu * projection.lambda[2];
            let (u, turn) =
                ([projection.lambda[0] / radius, projection.lambda[1] / radius], radius / (projection.reach * r));
            let follow = if frozen { 0.0 } else { mu / soft };
            E[0] = [turn * u[1] * u[1], -turn * u[0] * u[1], follow * u[0]];
            E[1] = [-turn * u[0] * u[1], turn * u[0] * u[0], follow * u[1]];
            E[2][2] = 1.0 / soft;
        }
        (_, ActiveMode::Stick) => E[0][0] = 1.0 / soft,
        _ => {}
    }
    E
}

/// The nearest admissible impulse with the same normal part.
pub(super) fn into_cone(cone: Cone, lambda: Rows) -> Rows {
    match cone {
        Cone::Friction { mu } => {
            let push = lambda[2].max(0.0);
            let (t, radius) = (length(lambda[0], lambda[1]), mu * push);
            let shrink = if t > radius { radius / t } else { 1.0 };
            [shrink * lambda[0], shrink * lambda[1], push]
        }
        cone => [cone.project_scalar(lambda[0]), 0.0, 0.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::problem::Problem;

    /// Blocks of every kind, one of them with compliance.
    fn blocks() -> Vec<Block> {
        let cones = [Cone::Friction { mu: 0.7 }, Cone::Unilateral, Cone::Box { bound: 0.4 }, Cone::Bilateral];
        let rows = cones.iter().map(|c| c.rows()).sum::<usize>();
        let G: Vec<f64> = (0..rows * rows).map(|k| if k % (rows + 1) == 0 { 2.0 } else { 0.0 }).collect();
        Problem::new(&cones, &G, &vec![0.0; rows], &[0.1, 0.2, 0.0, 0.3]).expect("sound").blocks
    }

    #[test]
    fn the_slope_of_the_law_matches_differences() {
        let states = [[0.3, -0.2, -0.5], [0.01, 0.02, -0.5], [0.2, 0.1, 0.7], [-0.9, 0.4, -0.1]];
        for b in &blocks() {
            for s in states {
                let (weight, hat, h) = (0.02, into_cone(b.cone, [0.1, -0.05, 0.3]), 1e-7);
                let E = slope(b, weight, &project(b, weight, hat, s), false);
                for j in 0..b.cone.rows() {
                    let at = |x: f64| {
                        let mut s = s;
                        s[j] += x;
                        project(b, weight, hat, s).lambda
                    };
                    let (up, down) = (at(h), at(-h));
                    for i in 0..b.cone.rows() {
                        let difference = (up[i] - down[i]) / (2.0 * h);
                        assert!((difference + E[i][j]).abs() < 1e-5, "{:?} {s:?} {i} {j}", b.cone);
                    }
                }
            }
        }
    }

    #[test]
    fn impulses_are_inside_their_cones_whatever_the_velocity() {
        for b in &blocks() {
            for s in [[5.0, -3.0, -2.0], [0.0, 0.0, -9.0], [1.0, 1.0, 1.0], [-4.0, 0.0, 0.1]] {
                let lambda = project(b, 1e-3, into_cone(b.cone, [3.0, 4.0, 0.5]), s).lambda;
                assert!(
                    into_cone(b.cone, lambda).iter().zip(lambda).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs().max(1.0))
                );
            }
        }
    }
}
