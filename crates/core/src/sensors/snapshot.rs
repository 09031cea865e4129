//! A view of a finished step.
#![allow(non_snake_case)]

use crate::collision::{Contact, ContactSet};
use crate::constraint::{Assembly, Solution};
use crate::dynamics::{Kinematics, Wrench};
use crate::gradient::{StepInputs, StepRecord};
use crate::model::{BodyId, Model};
use crate::spatial::{Motion, Vec3};
use crate::step::Step;

/// All quantities in readings. Poses, axes, velocities, inertias and the accelerations of a = 0 are in `kin`.
pub(super) struct Snapshot<'a> {
    pub model: &'a Model,
    pub kin: &'a Kinematics,
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub time: f64,
    /// The part of (v_next − v) / dt that is due to forces (nv).
    pub acceleration: &'a [f64],
    /// What drives the actuators: controls or activations; `None`: they were off.
    pub ctrl: Option<&'a [f64]>,
    pub wrenches: &'a [Wrench],
    pub contacts: &'a [Contact],
    pub assembly: &'a Assembly,
    pub solution: &'a Solution,
}

impl<'a> Snapshot<'a> {
    /// Snapshot of a finished step.
    pub fn of_step(step: &'a Step) -> Snapshot<'a> {
        let d = &*step.data;
        Snapshot::new(step.model, &d.given, &d.kin, &d.forced, &d.contacts, &d.assembly, &d.solution)
    }

    /// Snapshot of the differentiated step, which may be the second solution on the central path.
    pub fn of(f: &'a StepRecord) -> Snapshot<'a> {
        Snapshot::new(f.model, f.given, f.kin, f.acceleration, f.contacts, f.assembly, f.solution)
    }

    fn new(
        model: &'a Model,
        given: &'a StepInputs,
        kin: &'a Kinematics,
        acceleration: &'a [f64],
        contacts: &'a ContactSet,
        assembly: &'a Assembly,
        solution: &'a Solution,
    ) -> Snapshot<'a> {
        let StepInputs { q, v, time, wrenches, .. } = given;
        let (ctrl, contacts) = (given.drive(), contacts.contacts());
        Snapshot { model, kin, q, v, time: *time, acceleration, ctrl, wrenches, contacts, assembly, solution }
    }

    /// Point at which spatial vectors of a body are taken, world axes.
    pub fn origin(&self, body: BodyId) -> Vec3 {
        if body == BodyId::WORLD { Vec3::ZERO } else { self.kin.origin[self.model.tree().nodes[body.0].tree] }
    }

    /// Writes the acceleration of each body: affine in a; `kin` has those of a = 0.   (sens-2)
    pub fn accelerate(&self, A: &mut [Motion]) {
        A[0] = self.kin.A[0];
        for i in 1..self.model.n_bodies() {
            let node = &self.model.tree().nodes[i];
            let own = node.dofs.clone().fold(Motion::ZERO, |s, j| s + self.kin.axes[j] * self.acceleration[j]);
            A[i] = self.kin.A[i] + (A[node.parent] - self.kin.A[node.parent]) + own;
        }
    }
}
