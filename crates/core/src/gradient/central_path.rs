//! A second solution of the step on the central path, which the smoothed derivative of an exact step differentiates.   (grad-13)

use super::record::StepRecord;
use crate::constraint::{Assembly, EndVelocity, Scene, Solution, resolve_centrally};
use crate::footprint::footprint;
use crate::model::Model;

/// A second solution of the contact problem of a step.
#[derive(Debug, Clone)]
pub(crate) struct Central {
    assembly: Assembly,
    solution: Solution,
    end: EndVelocity,
    acceleration: Vec<f64>,
}

footprint!(Central: assembly, solution, end, acceleration);

impl Central {
    /// Memory for a model.
    pub fn new(model: &Model) -> Central {
        Central {
            assembly: Assembly::new(model),
            solution: Solution::default(),
            end: EndVelocity::new(model),
            acceleration: vec![0.0; model.nv()],
        }
    }

    /// Solves the contact problem of a finished step on the central path.
    pub fn solve(&mut self, f: &mut StepRecord, kappa: f64) {
        let Central { assembly, solution, end, acceleration } = self;
        let scene = Scene { model: f.model, q: &f.given.q, kin: f.kin, free: f.free, contacts: f.contacts };
        resolve_centrally(&scene, kappa, f.mass, assembly, solution, end);
        let dt = f.model.options().dt;
        for (a, (new, old)) in acceleration.iter_mut().zip(end.v.iter().zip(&f.given.v)) {
            *a = (new - old) / dt;
        }
        acceleration.iter_mut().zip(&f.free.turn).for_each(|(a, turn)| *a -= turn / dt);
    }

    /// The record of the step with this solution.
    pub fn record<'a>(&'a self, f: &'a mut StepRecord<'_>) -> StepRecord<'a> {
        StepRecord {
            model: f.model,
            given: f.given,
            kin: f.kin,
            mass: f.mass,
            free: f.free,
            contacts: f.contacts,
            assembly: &self.assembly,
            solution: &self.solution,
            end: &self.end,
            acceleration: &self.acceleration,
        }
    }
}
