//! The free velocity of the constraints: what they would do without impulses, with the gaps and errors that are to be taken back,
//! and how that changes with the gap.   (contact-3 … contact-5)

use super::assembly::Assembly;
use super::jacobian::WIDTH;
use super::problem::{Block, Problem};
use super::surface::{BiasSlope, corner_distance, rebound_slopes, rebound_velocity, uncorrected_velocity};
use crate::model::Model;

/// How the free velocity of a block is corrected.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bias {
    /// A gap of a surface with restitution and the velocity with which it closes.
    Gap {
        phi: f64,
        restitution: f64,
        approach: f64,
    },
    /// An error to be taken back.
    Error(f64),
    None,
}

impl Assembly {
    /// J v_free of all rows.
    pub(super) fn free_velocities(&mut self, v_free: &[f64]) {
        self.rigid.clear();
        self.rigid.resize(self.problem.rows(), 0.0);
        let mut xi = [0.0; WIDTH];
        for (n, group) in self.problem.groups.iter().enumerate() {
            xi.copy_from_slice(&self.jacobian.velocity(n, v_free));
            for b in &self.problem.blocks[group.blocks.clone()] {
                let local = Block { xi: b.xi - group.xi.start, ..*b };
                let v = self.problem.spread(&local, &xi);
                self.rigid[b.row..b.row + b.cone.rows()].copy_from_slice(&v[..b.cone.rows()]);
            }
        }
    }

    /// The free velocity of an island with position correction and restitution.   (contact-3, contact-4)
    pub fn correct(&mut self, model: &Model, island: usize) {
        self.dropped[island] = false;
        let options = model.options();
        self.write_free(island, |bias| match bias {
            Bias::Gap { phi, restitution, approach } => rebound_velocity(options, restitution, phi, approach),
            Bias::Error(error) => options.correction.beta * error / options.dt,
            Bias::None => 0.0,
        });
    }

    /// The free velocity of an island without them.   (contact-5)
    pub fn drop_correction(&mut self, model: &Model, island: usize) {
        self.dropped[island] = true;
        let dt = model.options().dt;
        self.write_free(island, |bias| match bias {
            Bias::Gap { phi, .. } => uncorrected_velocity(dt, phi),
            _ => 0.0,
        });
    }

    /// Whether block `k` belongs to an island without them.
    fn is_dropped(&self, k: usize) -> bool {
        self.dropped[self.problem.blocks[k].island as usize]
    }

    /// How the velocity added to the last row of block `k` changes with its gap or error, and with its approach.   (grad-4)
    pub fn bias_slope(&self, model: &Model, k: usize) -> BiasSlope {
        let options = model.options();
        match self.biases[k] {
            Bias::Gap { phi, .. } if self.is_dropped(k) => {
                BiasSlope { gap: if phi > 0.0 { 1.0 / options.dt } else { 0.0 }, approach: 0.0 }
            }
            Bias::Gap { phi, restitution, approach } => rebound_slopes(options, restitution, phi, approach),
            Bias::Error(_) if !self.is_dropped(k) => {
                BiasSlope { gap: options.correction.beta / options.dt, approach: 0.0 }
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
            Bias::Gap { phi, .. } if self.is_dropped(k) => phi.abs(),
            Bias::Gap { phi, .. } => corner_distance(model.options(), phi),
            Bias::Error(_) | Bias::None => f64::INFINITY,
        }
    }

    /// Whether the two bodies of block `k` touch in more points than their motion can tell apart.
    pub fn is_overdetermined(&self, k: usize) -> bool {
        self.problem.blocks[k].is_redundant()
    }

    fn write_free(&mut self, island: usize, velocity: impl Fn(Bias) -> f64) {
        let Problem { islands, blocks, g, .. } = &mut self.problem;
        let island = &islands[island];
        g[island.rows.clone()].copy_from_slice(&self.rigid[island.rows.clone()]);
        for (b, bias) in blocks[island.blocks.clone()].iter().zip(&self.biases[island.blocks.clone()]) {
            g[b.row + b.cone.rows() - 1] += velocity(*bias);
        }
    }
}
