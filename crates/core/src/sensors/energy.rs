//! Energies, and their derivatives.   (sens-19)
#![allow(non_snake_case)]

use super::Snapshot;
use super::adjoint::SensorAdjoint;
use crate::dynamics;
use crate::model::{BodyId, Model, ParameterGroup};
use crate::spatial::{Force, Vec3};

/// Kinetic energy, drives included (J).
pub(super) fn kinetic(m: &Snapshot) -> f64 {
    dynamics::energy(m.model, m.kin, m.q, m.v).0
}

/// Potential energy of gravity and of springs, zero where all is at the origin (J). Links fixed to the world have a weight too, as
/// in MuJoCo.
pub(super) fn potential(m: &Snapshot) -> f64 {
    dynamics::energy(m.model, m.kin, m.q, m.v).1 - gravity(m.model).dot(fixed_moment(m.model))
}

fn gravity(model: &Model) -> Vec3 {
    Vec3::from(model.options().gravity)
}

/// Sum of mass times position over the links that are fixed to the world.
fn fixed_moment(model: &Model) -> Vec3 {
    let fixed = model.frames().iter().skip(1).filter(|f| f.body == BodyId::WORLD);
    fixed.filter_map(|f| f.inertia.map(|i| f.pose.point(i.com) * i.mass)).fold(Vec3::ZERO, |s, x| s + x)
}

/// Sum of mass times position over all links.
pub(super) fn moment(m: &Snapshot) -> Vec3 {
    let of = |i: usize| m.kin.X_wb[i].point(m.model.inertias()[i].com) * m.model.inertias()[i].mass;
    (1..m.model.n_bodies()).fold(fixed_moment(m.model), |s, i| s + of(i))
}

/// Adds the gradient of `weight · potential energy`.
pub(super) fn pull_potential(m: &Snapshot, weight: f64, out: &mut SensorAdjoint) {
    let pull = gravity(m.model) * -weight;
    for i in 1..m.model.n_bodies() {
        let inertia = &m.model.inertias()[i];
        let arm = m.kin.X_wb[i].point(inertia.com) - m.origin(BodyId(i));
        out.add_to_point(BodyId(i), arm, pull * inertia.mass);
    }
    dynamics::for_each_spring_energy_partial(m.model, m.q, |j, slope| out.q[j] += weight * slope);
}

/// Adds the gradient of `weight · kinetic energy`: momentum by velocity, and turns of velocity and inertia by position.
pub(super) fn pull_kinetic(m: &Snapshot, weight: f64, out: &mut SensorAdjoint) {
    for i in 1..m.model.n_bodies() {
        let (inertia, V, R) = (&m.model.inertias()[i], m.kin.V[i], &m.kin.X_wb[i].rotation);
        let arm = m.kin.X_wb[i].point(inertia.com) - m.origin(BodyId(i));
        let linear = V.at(arm) * (inertia.mass * weight);
        let spin = *R * (inertia.about_com * R.tmul(V.ang)) * weight;
        out.velocity[i] += Force::at_point(linear, spin, arm);
        out.add_to_point(BodyId(i), arm, linear.cross(V.ang));
        out.add_to_rotation(BodyId(i), spin.cross(V.ang));
    }
    for (j, armature) in m.model.armature().iter().enumerate() {
        out.v[j] += weight * armature * m.v[j];
    }
}

/// Adds the direct dependence on armature and springs, for weights of the potential and the kinetic energy.
pub(super) fn add_parameters(m: &Snapshot, [potential, kinetic]: [f64; 2], group: ParameterGroup, out: &mut [f64]) {
    let stiffness = m.model.stiffness();
    match group {
        ParameterGroup::Armature => out.iter_mut().zip(m.v).for_each(|(g, v)| *g += 0.5 * kinetic * v * v),
        ParameterGroup::Stiffness if potential != 0.0 => {
            dynamics::for_each_spring(m.model, m.q, |j, x| out[j] += 0.5 * potential * x * x);
        }
        ParameterGroup::SpringReference if potential != 0.0 => {
            let pull = |j: usize, x: f64| -potential * stiffness[j] * x;
            dynamics::add_spring_reference_gradient(m.model, m.q, pull, out);
        }
        _ => {}
    }
}
