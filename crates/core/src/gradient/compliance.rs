//! The compliance of points that bear a load together is a share of their mean inverse inertia, which changes with the
//! masses.   (grad-15)
//!
//! `R = share · mean of tr(J M̂⁻¹ Jᵀ)/3`, so `dR = −(share/3n) Σ xᵀ dM̂ x` with `x = M̂⁻¹ Jᵀ` of each row of the n points.
#![allow(non_snake_case)]

use super::parameters::Adjoint;
use crate::constraint::Block;
use crate::dynamics::{body_velocities, solve_vector};
use crate::model::{Implicit, ParameterGroup};
use crate::spatial::Vec3;

/// Adds what the change of M̂ with a group's parameters does to the compliance of redundant contacts.
pub(super) fn add(s: &mut Adjoint, group: ParameterGroup, out: &mut [f64]) {
    let enters_mass = matches!(
        group,
        ParameterGroup::Inertial
            | ParameterGroup::Armature
            | ParameterGroup::Damping
            | ParameterGroup::Stiffness
            | ParameterGroup::Actuator
    );
    if !enters_mass {
        return;
    }
    let mut x = core::mem::take(&mut s.smooth.displacement);
    for k in 0..s.f.assembly.problem.blocks.len() {
        let gain = gain(s, s.f.assembly.problem.blocks[k].together);
        if gain != 0.0 {
            for row in 0..3 {
                answer(s, k, row, &mut x);
                add_square(s, group, gain, &x, out);
            }
        }
    }
    s.smooth.displacement = x;
}

/// The gradient with respect to `−tr(J M̂⁻¹ Jᵀ)` of any one of the points that bear a load together.
fn gain(s: &Adjoint, together: Option<u32>) -> f64 {
    let blocks = || s.f.assembly.problem.blocks.iter().enumerate().filter(|(_, b)| b.together == together);
    if together.is_none() {
        return 0.0;
    }
    let of = |(k, b): (usize, &Block)| s.weights(k)[2] * s.f.solution.lambda()[b.row + 2] * b.relative_compliance;
    blocks().map(of).sum::<f64>() / (3.0 * blocks().count() as f64)
}

/// `x = M̂⁻¹ Jᵀ` of one row of a block.
fn answer(s: &Adjoint, block: usize, row: usize, x: &mut [f64]) {
    let (problem, f) = (&s.f.assembly.problem, &*s.f);
    let b = &problem.blocks[block];
    let Some(n) = problem.groups.iter().position(|g| g.blocks.contains(&block)) else { return };
    let local = Block { xi: b.xi - problem.groups[n].xi.start, ..*b };
    let (mut unit, mut w) = ([0.0; 3], [0.0; 8]);
    unit[row] = 1.0;
    problem.gather(&local, &unit, &mut w);
    x.fill(0.0);
    f.assembly.jacobian.add_transposed(n, &w[..problem.groups[n].xi.len()], x);
    solve_vector(f.model, f.mass.factor(), x);
}

/// Adds `gain · xᵀ (∂M̂/∂θ) x`.
fn add_square(s: &mut Adjoint, group: ParameterGroup, gain: f64, x: &[f64], out: &mut [f64]) {
    let (dt, implicit) = (s.f.model.options().dt, s.f.model.options().implicit);
    let factor = match (group, implicit) {
        (ParameterGroup::Inertial, _) => return add_energies(s, gain, x, out),
        (ParameterGroup::Actuator, _) => return add_gains(s, gain, x, out),
        (ParameterGroup::Armature, _) => 1.0,
        (ParameterGroup::Damping, Implicit::None) => 0.0,
        (ParameterGroup::Damping, _) => dt,
        (ParameterGroup::Stiffness, Implicit::All) => dt * dt,
        _ => 0.0,
    };
    out.iter_mut().zip(x).for_each(|(g, x)| *g += gain * factor * x * x);
}

/// Twice the kinetic energy of every body at velocities x, per unit of its ten numbers.
fn add_energies(s: &mut Adjoint, gain: f64, x: &[f64], out: &mut [f64]) {
    let f = &*s.f;
    body_velocities(f.model, f.kin, x, &mut s.smooth.V);
    for (i, ten) in (1..).zip(out.chunks_exact_mut(10)) {
        let (X, V) = (&f.kin.X_wb[i], s.smooth.V[i]);
        let arm = X.position - f.kin.origin[f.model.tree().nodes[i].tree];
        let (v, w) = (X.rotation.tmul(V.at(arm)), X.rotation.tmul(V.ang));
        let h: Vec3 = v.cross(w) * 2.0;
        let turning = [w.x * w.x, 2.0 * w.x * w.y, w.y * w.y, 2.0 * w.x * w.z, 2.0 * w.y * w.z, w.z * w.z];
        let energies = [v.dot(v), h.x, h.y, h.z].into_iter().chain(turning);
        ten.iter_mut().zip(energies).for_each(|(g, e)| *g += gain * e);
    }
}

/// Gains of actuators that are taken at the end of the step.   (act-3)
fn add_gains(s: &Adjoint, gain: f64, x: &[f64], out: &mut [f64]) {
    let dt = s.f.model.options().dt;
    for (k, four) in out.chunks_exact_mut(4).enumerate() {
        if let Some((j, gear, [by_length, by_velocity])) = s.implicit_gain(k) {
            let square = -gain * dt * gear * gear * x[j] * x[j];
            four[2] += if by_length { dt * square } else { 0.0 };
            four[3] += if by_velocity { square } else { 0.0 };
        }
    }
}
