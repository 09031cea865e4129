//! Contacts at rest at the edge of their friction cone: they stick where rows are redundant, and keep their mode elsewhere.   (grad-3)

use super::active_set::Active;
use crate::constraint::{AT_REST, Cone, Mode, Problem, Solution, rows_of};

/// Calls `factor` with the modes of a solution. In over-determined islands everything at rest sticks, also at the edge of its
/// friction cone: which of several redundant rows lie on that edge depends on the solver, not on the state. `redundant` is
/// scratch: such islands.
pub(crate) fn factor_at_rest(
    problem: &Problem,
    solution: &Solution,
    active: &mut Active,
    redundant: &mut Vec<bool>,
    mut factor: impl FnMut(&mut Active, &dyn Fn(usize) -> Mode),
) {
    let blocks = &problem.blocks;
    let own = |k: usize| solution.modes()[k].0;
    let at_rest = |k: usize| mode_at_rest(problem, solution, k);
    if (0..blocks.len()).all(|k| at_rest(k) == own(k)) {
        return factor(active, &own);
    }
    factor(active, &at_rest);
    redundant.clear();
    redundant.extend((0..problem.islands.len()).map(|n| !active.consistent(n).is_trivial()));
    let mode = |k: usize| if redundant[blocks[k].island as usize] { at_rest(k) } else { own(k) };
    if (0..blocks.len()).any(|k| mode(k) != at_rest(k)) {
        factor(active, &mode);
    }
}

/// The mode of a constraint where everything at rest sticks.
fn mode_at_rest(problem: &Problem, solution: &Solution, k: usize) -> Mode {
    let (mode, b) = (solution.modes()[k].0, &problem.blocks[k]);
    let sigma = rows_of(solution.sigma(), b);
    let slip = match b.cone {
        Cone::Friction { mu } if mu > 0.0 => sigma[0].hypot(sigma[1]),
        Cone::Box { .. } => sigma[0].abs(),
        _ => f64::INFINITY,
    };
    if mode == Mode::Slide && slip < AT_REST { Mode::Stick } else { mode }
}
