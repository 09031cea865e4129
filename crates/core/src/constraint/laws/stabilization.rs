//! The free velocity of the constraints: that without impulses, with the correction of gaps and errors, and how it changes
//! with the gap.   (contact-3 … contact-5)

use super::surface::{BiasSlope, corner_distance, rebound_slopes, rebound_velocity, uncorrected_velocity};
use crate::constraint::assembly::{Assembly, Source};
use crate::constraint::problem::Problem;
use crate::model::{Correction, Model, Options};

/// How the free velocity of a block is corrected.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bias {
    /// A gap of a surface with restitution and the velocity with which it closes.
    Gap {
        phi: f64,
        restitution: f64,
        approach: f64,
    },
    /// An error to be corrected.
    Error(f64),
    None,
}

/// A row that moves by less than this fraction of what free bodies would, for the same impulse, is immovable: joint speeds
/// would be a hundred thousand times those of the row.
pub(crate) const IMMOVABLE: f64 = 1e-10;

impl Assembly {
    /// J v_free of all rows.
    pub(crate) fn free_velocities(&mut self, v_free: &[f64]) {
        self.uncorrected.clear();
        self.uncorrected.resize(self.problem.rows(), 0.0);
        self.problem.write_velocities(v_free, &mut self.uncorrected);
    }

    /// The free velocity of all constraints with position correction and restitution.   (contact-3 … contact-5)
    pub fn correct(&mut self, model: &Model) {
        let options = model.options();
        self.find_immovable();
        self.settle_equalities(model);
        self.correction_fractions.clear();
        self.correction_fractions.resize(self.problem.blocks.len(), 1.0);
        let Problem { blocks, g, .. } = &mut self.problem;
        g.copy_from_slice(&self.uncorrected);
        for ((b, bias), immovable) in blocks.iter().zip(&self.biases).zip(&self.immovable) {
            g[b.row + b.cone.rows() - 1] += match *bias {
                Bias::Gap { phi, .. } if *immovable => uncorrected_velocity(options.dt, phi),
                Bias::Gap { phi, restitution, approach } => rebound_velocity(options, restitution, phi, approach),
                Bias::Error(_) if *immovable => 0.0,
                Bias::Error(error) => error_velocity(options, error),
                Bias::None => 0.0,
            };
        }
    }

    /// Marks the blocks whose last row is immovable: no impulse can correct their error.   (contact-5)
    fn find_immovable(&mut self) {
        let Problem { blocks, islands, diagonals, .. } = &self.problem;
        self.immovable.clear();
        self.immovable.extend(blocks.iter().zip(diagonals).zip(&self.sources).map(|((b, block), source)| {
            let n = b.cone.rows() - 1;
            // single rows of a loop may stand still while others move: see `settle_equalities`
            !matches!(source, Source::Equality(..)) && block[n][n] * islands[b.island as usize].mass < IMMOVABLE
        }));
    }

    /// How the velocity added to the last row of block `k` changes with its gap or error, and with its approach.   (grad-4)
    pub fn bias_slope(&self, model: &Model, k: usize) -> BiasSlope {
        let options = model.options();
        match self.biases[k] {
            Bias::Gap { phi, .. } if self.immovable[k] => {
                BiasSlope { gap: if phi > 0.0 { 1.0 / options.dt } else { 0.0 }, approach: 0.0 }
            }
            Bias::Gap { phi, restitution, approach } => {
                let slopes = rebound_slopes(options, restitution, phi, approach);
                if self.correction_fractions[k] < 1.0 {
                    BiasSlope { gap: self.correction_fractions[k] * slopes.gap, ..slopes }
                } else {
                    slopes
                }
            }
            Bias::Error(error) if !self.immovable[k] => {
                let limited = error_velocity(options, error).abs() >= options.correction.max_speed;
                let gap =
                    if limited { 0.0 } else { self.correction_fractions[k] * options.correction.beta / options.dt };
                BiasSlope { gap, approach: 0.0 }
            }
            Bias::Error(_) | Bias::None => BiasSlope::default(),
        }
    }

    /// Velocity at which the gap of block `k` opens at the beginning of the step (m/s).
    pub fn approach(&self, k: usize) -> f64 {
        match self.biases[k] {
            Bias::Gap { approach, .. } => approach,
            Bias::Error(_) | Bias::None => 0.0,
        }
    }

    /// Distance of the gap of block `k` from the next corner of its correction; infinite without one (m).
    pub fn corner_distance(&self, model: &Model, k: usize) -> f64 {
        match self.biases[k] {
            Bias::Gap { phi, .. } if self.immovable[k] => phi.abs(),
            Bias::Gap { phi, .. } => corner_distance(model.options(), phi),
            Bias::Error(error) => {
                let Correction { beta, max_speed, .. } = model.options().correction;
                (error.abs() - max_speed * model.options().dt / beta).abs()
            }
            Bias::None => f64::INFINITY,
        }
    }

    /// Whether block `k` is a redundant contact: the motion does not determine its load.
    pub fn is_redundant(&self, k: usize) -> bool {
        self.problem.blocks[k].is_redundant()
    }
}

/// Velocity at which an error of a loop is corrected.   (contact-12)
fn error_velocity(options: &Options, error: f64) -> f64 {
    let Correction { beta, max_speed, .. } = options.correction;
    (beta * error / options.dt).clamp(-max_speed, max_speed)
}
