//! Modes of the constraints in a solution, and their margins.   (ncp-9)

use super::laws::cone::{Cone, length};
use super::problem::{Block, Problem, rows_of};

/// Margin below which a constraint counts as undecided between two modes (m/s).
const UNDECIDED: f64 = 1e-7;

/// Whether a constraint is degenerate: so near a change of mode that a derivative may hold for one side only.
pub(crate) fn is_undecided(margin: f64) -> bool {
    margin < UNDECIDED
}

/// How many of some constraints are undecided, and their smallest margin (m/s).
pub(crate) fn undecided(margins: impl Iterator<Item = f64>) -> (usize, f64) {
    margins.fold((0, f64::INFINITY), |(n, least), margin| (n + usize::from(is_undecided(margin)), least.min(margin)))
}

/// Slip below which nothing slides (m/s or rad/s): a hundred times what the tolerance of the step leaves.
pub(crate) const AT_REST: f64 = 1e-8;

/// Mode of a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// It carries no impulse: an open contact, an inactive limit.
    #[default]
    Break,
    /// Its velocity is zero: a sticking contact, an active limit, a joint that sticks by dry friction, a bilateral
    /// constraint.
    Stick,
    /// Its force is at its bound: a sliding contact, a joint that moves against dry friction.
    Slide,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 3] = [Mode::Break, Mode::Stick, Mode::Slide];

    /// The word used in Python and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Break => "break",
            Mode::Stick => "stick",
            Mode::Slide => "slide",
        }
    }
}

/// Modes of all constraints and their margins: the change of velocity (m/s) that would change the mode.
pub(crate) fn classify(problem: &Problem, lambda: &[f64], sigma: &[f64], modes: &mut Vec<(Mode, f64)>) {
    modes.clear();
    modes.extend(problem.blocks.iter().map(|b| mode(b, rows_of(lambda, b), rows_of(sigma, b), false)));
    for group in &problem.groups {
        let blocks = || group.blocks.clone().map(|k| (k, &problem.blocks[k]));
        let carries = |b: &Block| b.is_redundant() && b.mean * lambda[b.row + 2] > sigma[b.row + 2].abs();
        if blocks().filter(|(_, b)| carries(b)).count() > 1 {
            blocks().for_each(|(k, b)| modes[k] = mode(b, rows_of(lambda, b), rows_of(sigma, b), true));
        }
    }
}

/// Mode and margin of a constraint; `distributed`: its load is distributed among several.
pub(crate) fn mode(b: &Block, l: [f64; 3], s: [f64; 3], distributed: bool) -> (Mode, f64) {
    match b.cone {
        Cone::Bilateral => (Mode::Stick, f64::INFINITY),
        Cone::Unilateral => {
            let (push, gap) = (b.mean * l[0], s[0].abs());
            if push <= gap { (Mode::Break, gap - push) } else { (Mode::Stick, push - gap) }
        }
        Cone::Box { bound } => {
            let (room, slip) = (b.mean * (bound - l[0].abs()), s[0].abs());
            if room > slip { (Mode::Stick, room - slip) } else { (Mode::Slide, slip - room) }
        }
        Cone::Friction { mu } => contact_mode(mu, b.mean, l, s, distributed && b.is_redundant()),
    }
}

/// Slip below which a redundant point counts as sticking (m/s): in a patch at rest some points may lie on the boundary of
/// their cones although none of them moves.
const PATCH_AT_REST: f64 = 1e-9;

fn contact_mode(mu: f64, unit: f64, lambda: [f64; 3], sigma: [f64; 3], distributed: bool) -> (Mode, f64) {
    let [open, slip] = contact_margins(mu, unit, lambda, sigma);
    if open <= 0.0 {
        return (Mode::Break, -open);
    }
    let sticks = slip > 0.0 || (distributed && mu > 0.0 && length(sigma[0], sigma[1]) <= PATCH_AT_REST);
    let mode = if sticks { Mode::Stick } else { Mode::Slide };
    (mode, open.min(slip.abs()))
}

/// How far a contact is from opening and from slipping; negative: it does (m/s).
pub(crate) fn contact_margins(mu: f64, unit: f64, lambda: [f64; 3], sigma: [f64; 3]) -> [f64; 2] {
    let room = unit * (mu * lambda[2] - length(lambda[0], lambda[1]));
    [unit * lambda[2] - sigma[2].abs(), room - length(sigma[0], sigma[1])]
}
