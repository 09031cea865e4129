//! Motion without contact: v_free = v + dt M̂⁻¹ (tau − b − dt K v) + u, springs and dampers counted in tau; u is what free
//! rotation needs to keep its energy.   (step-1, step-2, step-3)
//!
//! Damping D and stiffness K that are taken at the end of the step enter the mass matrix, M̂ = M + dt D + dt² K. It keeps
//! the sparsity of the tree and replaces M in every solve of the step.
#![allow(non_snake_case)]

use super::actuation;
use super::gyration::{Gyration, gyrations};
use super::kinematics::{self, Kinematics};
use super::passive;
use super::rnea::{self, Wrench};
use super::step_mass::StepMass;
use crate::footprint::footprint;
use crate::model::{Implicit, Integrator, Model};
use crate::spatial::{Force, Motion, SpatialInertia};

/// Forces and velocity of the motion without contact.
#[derive(Debug, Clone)]
pub struct FreeMotion {
    /// Velocity at the end of the step without contact impulses (nv).
    pub(crate) v: Vec<f64>,
    /// Velocities of the bodies that go with it.
    pub(crate) V: Vec<Motion>,
    /// Generalized force: input, actuators, springs, dampers (nv).
    pub(crate) tau: Vec<f64>,
    /// One for every dof whose actuators act, zero where the joint is at its effort limit (nv).
    pub(crate) saturation: Vec<f64>,
    /// Forces of springs and dampers (nv).
    passive: Vec<f64>,
    /// Coriolis, centrifugal and gravity terms, wrenches subtracted (nv).
    bias: Vec<f64>,
    /// Damping and stiffness taken at the end of the step (nv each).
    pub(crate) damping: Vec<f64>,
    pub(crate) stiffness: Vec<f64>,
    /// Force transmitted by the joints of each body.
    f: Vec<Force>,
    zero: Vec<f64>,
    /// Rotations of the trees that can turn freely, and what they add to the velocity, u (nv).
    pub(crate) gyrations: Vec<Gyration>,
    pub(crate) turn: Vec<f64>,
    sums: Vec<SpatialInertia>,
}

footprint!(FreeMotion: v, V, tau, saturation, passive, bias, damping, stiffness, f, zero, gyrations, turn, sums);

impl FreeMotion {
    /// Memory for a model.
    pub fn new(model: &Model) -> FreeMotion {
        let zero = vec![0.0; model.nv()];
        FreeMotion {
            v: zero.clone(),
            V: vec![Motion::ZERO; model.n_bodies()],
            tau: zero.clone(),
            saturation: zero.clone(),
            passive: zero.clone(),
            bias: zero.clone(),
            damping: zero.clone(),
            stiffness: zero.clone(),
            f: vec![Force::ZERO; model.n_bodies()],
            gyrations: Vec::with_capacity(model.tree().roots.len()),
            turn: zero.clone(),
            sums: Vec::with_capacity(model.tree().roots.len()),
            zero,
        }
    }
}

/// Poses, velocities and b: the part of the step that does not depend on the controls.
pub(crate) fn bias(
    model: &Model,
    q: &[f64],
    v: &[f64],
    wrenches: &[Wrench],
    kin: &mut Kinematics,
    out: &mut FreeMotion,
) {
    rnea::rnea(model, q, v, &out.zero, wrenches, kin, &mut out.f, &mut out.bias);
}

/// Generalized forces, and the damping and stiffness that are taken at the end of the step.
pub(crate) fn forces(
    model: &Model,
    kin: &Kinematics,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    ctrl: Option<&[f64]>,
    out: &mut FreeMotion,
) {
    out.damping.fill(0.0);
    out.stiffness.fill(0.0);
    match ctrl {
        None => out.tau.fill(0.0),
        Some(ctrl) => {
            actuation::actuate(model, kin, q, v, ctrl, &mut out.tau);
            actuation::find_saturation(model, &out.tau, &mut out.saturation);
            if matches!(model.options().implicit, Implicit::Velocity | Implicit::All) {
                actuation::add_gains(model, kin, q, v, ctrl, &out.tau, &mut out.damping, &mut out.stiffness);
            }
        }
    }
    if model.options().implicit != Implicit::All {
        out.stiffness.fill(0.0);
    }
    passive::passive(model, kin, q, v, &mut out.passive);
    for j in 0..model.nv() {
        out.tau[j] += out.passive[j] + tau.get(j).copied().unwrap_or(0.0);
        if model.options().implicit != Implicit::None {
            out.damping[j] += model.damping()[j];
        }
        if model.options().implicit == Implicit::All {
            out.stiffness[j] += model.stiffness()[j];
        }
    }
}

/// M̂ and its factor.   (step-2)
pub(crate) fn factor_mass(model: &Model, free: &FreeMotion, kin: &mut Kinematics, mass: &mut StepMass) {
    let dt = model.options().dt;
    kinematics::inertias(model, kin);
    mass.begin(model, kin, |j| dt * (free.damping[j] + dt * free.stiffness[j]));
}

/// v_free.   (step-1)
pub(crate) fn free_velocity(model: &Model, kin: &Kinematics, v: &[f64], mass: &mut StepMass, out: &mut FreeMotion) {
    let dt = model.options().dt;
    for j in 0..model.nv() {
        // a spring that is taken at the end of the step is felt where the old velocity would carry it
        out.v[j] = dt * (out.tau[j] - out.bias[j] - dt * out.stiffness[j] * v[j]);
    }
    mass.solve(model, &mut out.v);
    for j in 0..model.nv() {
        out.v[j] += v[j];
    }
    match model.options().integrator {
        Integrator::Midpoint => turn(model, kin, v, out),
        Integrator::Euler => {
            out.gyrations.clear();
            out.turn.fill(0.0);
        }
    }
    kinematics::body_velocities(model, kin, &out.v, &mut out.V);
}

/// Adds u.   (step-3)
fn turn(model: &Model, kin: &Kinematics, v: &[f64], out: &mut FreeMotion) {
    let FreeMotion { gyrations: all, turn, sums, v: free, .. } = out;
    gyrations(model, kin, v, sums, all);
    turn.fill(0.0);
    for g in all.iter() {
        let [turned, moved] = g.change(model.options().dt);
        for k in 0..3 {
            turn[g.ball + k] = turned[k];
            g.translation.into_iter().for_each(|t| turn[t + k] = moved[k]);
        }
    }
    for g in all.iter() {
        let first = g.translation.unwrap_or(g.ball);
        (first..g.ball + 3).for_each(|j| free[j] += turn[j]);
    }
}
