//! The step once more, on the central path: what a smoothed derivative of an exact step is the derivative of.   (grad-13)

use super::record::StepRecord;
use crate::constraint::{Assembly, Solution, resolve_centrally};
use crate::footprint::footprint;
use crate::model::Model;

/// A second answer to the contact problem of a step.
#[derive(Debug, Clone)]
pub(crate) struct Central {
    assembly: Assembly,
    solution: Solution,
    v_next: Vec<f64>,
    acceleration: Vec<f64>,
}

footprint!(Central: assembly, solution, v_next, acceleration);

impl Central {
    /// Memory for a model.
    pub fn new(model: &Model) -> Central {
        let zero = vec![0.0; model.nv()];
        Central {
            assembly: Assembly::new(model),
            solution: Solution::default(),
            v_next: zero.clone(),
            acceleration: zero,
        }
    }

    /// Solves the contact problem of a finished step on the central path.
    pub fn solve(&mut self, f: &mut StepRecord, kappa: f64) {
        let Central { assembly, solution, v_next, acceleration } = self;
        let (model, q) = (f.model, &f.given.q);
        resolve_centrally(model, kappa, q, f.kin, f.mass, f.free, f.contacts, assembly, solution, v_next);
        let dt = model.options().dt;
        for (a, (new, old)) in acceleration.iter_mut().zip(v_next.iter().zip(&f.given.v)) {
            *a = (new - old) / dt;
        }
        acceleration.iter_mut().zip(&f.free.turn).for_each(|(a, turn)| *a -= turn / dt);
    }

    /// The step as if it had ended here.
    pub fn finished<'a>(&'a self, f: &'a mut StepRecord<'_>) -> StepRecord<'a> {
        StepRecord {
            model: f.model,
            given: f.given,
            kin: f.kin,
            mass: f.mass,
            free: f.free,
            contacts: f.contacts,
            assembly: &self.assembly,
            solution: &self.solution,
            v_next: &self.v_next,
            acceleration: &self.acceleration,
        }
    }
}
