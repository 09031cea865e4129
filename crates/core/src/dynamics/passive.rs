//! Joint springs and dampers: −K (q ⊖ q_ref) − D v.   (pas-1)

use crate::model::{Model, ParameterGroup, PrimitiveKind};
use crate::spatial::{Quat, Vec3};

/// Writes the generalised force of springs and dampers (nv).
pub(crate) fn passive(model: &Model, q: &[f64], v: &[f64], tau: &mut [f64]) {
    spring_displacement(model, q, tau);
    for j in 0..model.nv() {
        tau[j] = -model.stiffness()[j] * tau[j] - model.damping()[j] * v[j];
    }
}

/// Energy stored in the springs (J).
pub(crate) fn spring_energy(model: &Model, q: &[f64]) -> f64 {
    let mut energy = 0.0;
    for_each_spring(model, q, |j, x| energy += 0.5 * model.stiffness()[j] * x * x);
    energy
}

/// q ⊖ q_ref for every dof (nv).
pub(crate) fn spring_displacement(model: &Model, q: &[f64], out: &mut [f64]) {
    for_each_spring(model, q, |j, x| out[j] = x);
}

fn for_each_spring(model: &Model, q: &[f64], mut visit: impl FnMut(usize, f64)) {
    let reference = model.parameters().group(ParameterGroup::SpringReference);
    for p in &model.tree().primitives {
        if p.kind == PrimitiveKind::Ball {
            let unit = |q: &[f64]| Quat::from_slice(&q[p.q..]).normalized().unwrap_or(Quat::IDENTITY);
            let turn: Vec3 = unit(reference).conjugate().compose(unit(q)).log();
            (0..3).for_each(|k| visit(p.v + k, turn[k]));
        } else {
            (0..p.kind.nv()).for_each(|k| visit(p.v + k, q[p.q + k] - reference[p.q + k]));
        }
    }
}
