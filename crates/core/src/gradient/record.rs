//! What a step was made from and what it ended with: all that its derivative is computed from.

use crate::collision::ContactSet;
use crate::constraint::{Assembly, EndVelocity, Solution};
use crate::dynamics::{FreeMotion, Kinematics, StepMass, Wrench, drives};
use crate::footprint::footprint;
use crate::model::Model;
use crate::model::mocap::POSE;

/// A copy of the state and input of the last step.
#[derive(Debug, Clone)]
pub(crate) struct StepInputs {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub act: Vec<f64>,
    pub time: f64,
    pub tau: Vec<f64>,
    ctrl: Vec<f64>,
    /// What drives the actuators, where that is not ctrl (nu; empty without activations).
    drive: Vec<f64>,
    actuated: bool,
    pub wrenches: Vec<Wrench>,
    /// Poses of the mocap bodies; empty: those of the model.
    pub mocap: Vec<f64>,
}

footprint!(StepInputs: q, v, act, tau, ctrl, drive, wrenches, mocap);

impl StepInputs {
    /// Memory for a model.
    pub fn new(model: &Model) -> StepInputs {
        StepInputs {
            q: vec![0.0; model.nq()],
            v: vec![0.0; model.nv()],
            act: vec![0.0; model.na()],
            time: 0.0,
            tau: vec![0.0; model.nv()],
            ctrl: vec![0.0; model.nu()],
            drive: vec![0.0; if model.na() > 0 { model.nu() } else { 0 }],
            actuated: false,
            wrenches: Vec::with_capacity(model.n_bodies()),
            mocap: Vec::with_capacity(POSE * model.n_mocap()),
        }
    }

    /// Keeps what a step was made from.
    pub fn keep(
        &mut self,
        model: &Model,
        [q, v, act]: [&[f64]; 3],
        time: f64,
        [tau, mocap]: [&[f64]; 2],
        ctrl: Option<&[f64]>,
        wrenches: &[Wrench],
    ) {
        self.q.copy_from_slice(q);
        self.v.copy_from_slice(v);
        self.act.copy_from_slice(act);
        self.time = time;
        match tau {
            [] => self.tau.fill(0.0),
            tau => self.tau.copy_from_slice(tau),
        }
        self.actuated = ctrl.is_some();
        if let Some(ctrl) = ctrl {
            self.ctrl.copy_from_slice(ctrl);
            if !self.drive.is_empty() {
                drives(model, act, ctrl, &mut self.drive);
            }
        }
        self.wrenches.clear();
        self.wrenches.extend_from_slice(wrenches);
        self.mocap.clear();
        self.mocap.extend_from_slice(mocap);
    }

    /// Controls; `None`: the actuators were off.
    pub fn ctrl(&self) -> Option<&[f64]> {
        self.actuated.then_some(&self.ctrl[..])
    }

    /// What the forces of the actuators are made from: controls or activations; `None`: the actuators were off.
    pub fn drive(&self) -> Option<&[f64]> {
        let drive = if self.drive.is_empty() { &self.ctrl } else { &self.drive };
        self.actuated.then_some(&drive[..])
    }
}

/// A finished step.
pub(crate) struct StepRecord<'a> {
    pub model: &'a Model,
    pub given: &'a StepInputs,
    pub kin: &'a mut Kinematics,
    pub mass: &'a mut StepMass,
    pub free: &'a FreeMotion,
    pub contacts: &'a mut ContactSet,
    pub assembly: &'a Assembly,
    pub solution: &'a Solution,
    pub end: &'a EndVelocity,
    pub acceleration: &'a [f64],
}

impl StepRecord<'_> {
    /// The step with other impulses.
    pub fn with_solution<'b>(&'b mut self, solution: &'b Solution) -> StepRecord<'b> {
        StepRecord {
            model: self.model,
            given: self.given,
            kin: self.kin,
            mass: self.mass,
            free: self.free,
            contacts: self.contacts,
            assembly: self.assembly,
            solution,
            end: self.end,
            acceleration: self.acceleration,
        }
    }
}
