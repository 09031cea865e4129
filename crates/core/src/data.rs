//! Memory of a step: the structs of its stages, one field each, each with one writer.

use crate::dynamics::{FreeMotion, Kinematics, MassFactor};
use crate::model::{Model, StructureId};

/// Memory for the steps of one model. Carries no meaning from one step to the next.
#[derive(Debug, Clone)]
pub struct Data {
    pub(crate) structure: StructureId,
    pub(crate) kin: Kinematics,
    pub(crate) mass: MassFactor,
    pub(crate) free: FreeMotion,
    /// Velocity at the end of the step (nv).
    pub(crate) v_next: Vec<f64>,
    /// Acceleration over the step, (v_next − v) / dt (nv).
    pub(crate) acceleration: Vec<f64>,
}

impl Data {
    /// Memory for a model; steps allocate nothing more.
    pub fn new(model: &Model) -> Data {
        Data {
            structure: model.structure_id(),
            kin: Kinematics::new(model),
            mass: MassFactor::new(model),
            free: FreeMotion::new(model),
            v_next: vec![0.0; model.nv()],
            acceleration: vec![0.0; model.nv()],
        }
    }
}
