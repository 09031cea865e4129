//! What a finished step knows.
#![allow(non_snake_case)]

use crate::collision::Contact;
use crate::constraint::{Assembly, Solution};
use crate::dynamics::{Kinematics, Wrench};
use crate::gradient::StepRecord;
use crate::model::{BodyId, Model};
use crate::spatial::{Motion, Vec3};

/// All that readings are made of. Poses, axes, velocities, inertias and the accelerations of a = 0 are in `kin`.
pub(super) struct Snapshot<'a> {
    pub model: &'a Model,
    pub kin: &'a Kinematics,
    pub q: &'a [f64],
    pub v: &'a [f64],
    /// (v_next − v) / dt (nv).
    pub acceleration: &'a [f64],
    /// `None`: the actuators were off.
    pub ctrl: Option<&'a [f64]>,
    pub wrenches: &'a [Wrench],
    pub contacts: &'a [Contact],
    pub assembly: &'a Assembly,
    pub solution: &'a Solution,
}

impl<'a> Snapshot<'a> {
    /// Of a step that is being differentiated.
    pub fn of(f: &'a StepRecord) -> Snapshot<'a> {
        Snapshot {
            model: f.model,
            kin: f.kin,
            q: &f.given.q,
            v: &f.given.v,
            acceleration: f.acceleration,
            ctrl: f.given.ctrl(),
            wrenches: &f.given.wrenches,
            contacts: f.contacts.contacts(),
            assembly: f.assembly,
            solution: f.solution,
        }
    }

    /// Point at which spatial vectors of a body are taken, world axes.
    pub fn origin(&self, body: BodyId) -> Vec3 {
        if body == BodyId::WORLD { Vec3::ZERO } else { self.kin.origin[self.model.tree().nodes[body.0].tree] }
    }

    /// Writes the acceleration of each body: affine in a, and the step has left those of a = 0.   (sens-2)
    pub fn accelerate(&self, A: &mut [Motion]) {
        A[0] = self.kin.A[0];
        for i in 1..self.model.n_bodies() {
            let node = &self.model.tree().nodes[i];
            let own = node.dofs.clone().fold(Motion::ZERO, |s, j| s + self.kin.axes[j] * self.acceleration[j]);
            A[i] = self.kin.A[i] + (A[node.parent] - self.kin.A[node.parent]) + own;
        }
    }
}
