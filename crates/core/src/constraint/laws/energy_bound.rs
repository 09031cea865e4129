//! A bound on the energy that position correction adds.   (contact-16)
//!
//! Impulses that only keep bodies apart never add energy. Those that correct overlaps do: near a singular pose, or where
//! corrections work against each other, a speed of 1 m/s at a contact may need 1,000 m/s elsewhere. In a step an island may
//! gain the energy of the mass that its corrections move, at their largest speed. If it gains more, its corrections are
//! halved, or quartered, and so on. The fractions are powers of two, so that the derivative at a fixed fraction is that of
//! the step.
#![allow(non_snake_case)]

use super::stabilization::Bias;
use crate::constraint::assembly::Assembly;
use crate::constraint::problem::islands::Island;
use crate::constraint::solution::Solution;
use crate::model::Model;

/// Rows may move so many times the mass that each moves alone: friction and other rows make them heavier.
const MASS_FACTOR: f64 = 4.0;
/// Smallest fraction of the correction; below it there is none.
const LEAST_FRACTION: f64 = 1e-3;
/// Fraction of the energy moved by impulses that is rounding and the solver's tolerance.
const ENERGY_ROUNDING: f64 = 1e-9;
/// Velocities below this count as this (m/s): a billionth of it is more than the solver's tolerance leaves.
const SPEED_FLOOR: f64 = 1.0;

impl Assembly {
    /// Half the sum of the velocities before and after times the impulses: the kinetic energy that an island has gained
    /// (J), and how much the impulses moved back and forth. `½ λᵀ J (v_free + v_next)`
    fn added_energy(&self, solution: &Solution, island: usize) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for b in &self.problem.blocks[self.problem.islands[island].blocks.clone()] {
            let last = b.row + b.cone.rows() - 1;
            for i in b.row..=last {
                let lambda = solution.lambda()[i];
                let compliance = if i == last { b.compliance * lambda } else { 0.0 };
                let after = solution.sigma()[i] - compliance - (self.problem.g[i] - self.uncorrected[i]);
                sums[0] += 0.5 * lambda * (self.uncorrected[i] + after);
                sums[1] += 0.5 * lambda.abs() * (self.uncorrected[i].abs() + SPEED_FLOOR);
            }
        }
        sums
    }

    /// The energy that an island may gain (J): that of the mass which its corrections move, at their largest speed. A row
    /// moves the mass that resists it, and no more than the island has. Newton's law of restitution adds energy of its own
    /// where several contacts bounce at once: then there is no bound.
    fn allowed_energy(&self, model: &Model, island: usize) -> f64 {
        let Island { blocks, mass, .. } = self.problem.islands[island].clone();
        let mut moved = 0.0;
        for k in blocks {
            let (b, D) = (&self.problem.blocks[k], &self.problem.diagonals[k]);
            let (row, last) = (b.row + b.cone.rows() - 1, b.cone.rows() - 1);
            if self.is_correction(k) {
                moved += mass.min(1.0 / D[last][last]);
            } else if self.problem.g[row] < self.uncorrected[row] {
                return f64::INFINITY;
            }
        }
        let fastest = model.options().correction.max_speed;
        0.5 * f64::min(mass, MASS_FACTOR * moved) * fastest * fastest
    }

    /// Whether block `k` corrects an overlap or an error, rather than bounces.
    fn is_correction(&self, k: usize) -> bool {
        match self.biases[k] {
            Bias::Gap { phi, restitution, approach } => phi < 0.0 && !(restitution > 0.0 && approach < 0.0),
            Bias::Error(_) => true,
            Bias::None => false,
        }
    }

    /// How many times more energy an island has gained than it may, if so.
    pub(crate) fn excess(&self, model: &Model, solution: &Solution, island: usize) -> Option<f64> {
        let [added, moved] = self.added_energy(solution, island);
        let most = added - ENERGY_ROUNDING * moved;
        let allowed = if most > 0.0 { self.allowed_energy(model, island) } else { return None };
        (most > allowed).then_some(added / allowed)
    }

    /// The fraction of its correction with which an island should gain `excess` times less energy, which is about quadratic
    /// in it; `None` without a correction.
    pub(crate) fn smaller_correction(&self, island: usize, excess: f64) -> Option<f64> {
        let blocks = self.problem.islands[island].blocks.clone();
        let fraction = blocks.into_iter().find(|k| self.is_correction(*k)).map(|k| self.correction_fractions[k])?;
        let wanted = fraction * 0.5f64.powf((0.5 * excess.log2()).ceil().max(1.0));
        (fraction > 0.0).then_some(if wanted < LEAST_FRACTION { 0.0 } else { wanted })
    }

    /// The fraction of the impulses of an island with which it gains no more than it may: for where no fraction of the
    /// correction, within the budget, suffices.
    pub(crate) fn bounded_fraction(&self, solution: &Solution, island: usize, excess: f64) -> f64 {
        let [added, _] = self.added_energy(solution, island);
        let rows = self.problem.islands[island].rows.clone();
        let linear = rows.fold(0.0, |s, i| s + solution.lambda()[i] * self.uncorrected[i]);
        // linear · s + quadratic · s² = allowed
        let (quadratic, allowed) = (added - linear, added / excess);
        ((linear * linear + 4.0 * quadratic * allowed).max(0.0).sqrt() - linear) / (2.0 * quadratic)
    }

    /// Scales the correction of an island to a fraction.
    pub(crate) fn scale_correction(&mut self, island: usize, fraction: f64) {
        for k in self.problem.islands[island].blocks.clone() {
            if !self.is_correction(k) {
                continue;
            }
            let b = self.problem.blocks[k];
            let last = b.row + b.cone.rows() - 1;
            let bias = self.problem.g[last] - self.uncorrected[last];
            self.problem.g[last] = self.uncorrected[last] + bias * (fraction / self.correction_fractions[k]);
            self.correction_fractions[k] = fraction;
        }
    }
}
