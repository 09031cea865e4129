//! Gravity compensation that drives supply: on marked joints it counts as force of actuators and is limited with them. (pas-4)
//!
//! It acts in steps with controls of models with actuators. Its derivatives are those of the compensated weights, which are
//! wrenches on bodies, on dofs within their effort limits; the weight that a dof does not feel is *lost*.
#![allow(non_snake_case)]

use super::body_transmission::Carrier;
use super::kinematics::Kinematics;
use crate::model::Model;
use crate::spatial::{Force, Vec3};

/// A compensated weight that dof `i` feels.
struct Lift {
    body: usize,
    mass: f64,
    /// Where it acts, from the origin of the tree (m).
    arm: Vec3,
}

/// Force on dof `i`.
pub(super) fn compensation_on(model: &Model, kin: &Kinematics, i: usize) -> f64 {
    lifts(model, kin, i).map(|lift| kin.axes[i].dot(lift.weight(model))).sum()
}

/// Change of the force on dof `i` along a motion.
pub(crate) fn compensation_along(model: &Model, kin: &Kinematics, i: usize, c: &Carrier) -> f64 {
    let S = kin.axes[i];
    let along = |lift: Lift| {
        let weight = lift.weight(model);
        let axis = if c.dofs.contains(&i) { c.S.cross(S).dot(weight) } else { 0.0 };
        let moved = c.moves(model, lift.body);
        axis + if moved { S.ang.dot(c.S.at(lift.arm).cross(weight.lin)) } else { 0.0 }
    };
    lifts(model, kin, i).map(along).sum()
}

/// Change of the force on dof `i` with gravity.
pub(crate) fn compensation_by_gravity(model: &Model, kin: &Kinematics, i: usize) -> Vec3 {
    lifts(model, kin, i).fold(Vec3::ZERO, |sum, lift| sum - kin.axes[i].at(lift.arm) * lift.mass)
}

/// Marked dofs that feel their compensated weight. `saturation`: `None` where the actuators are off.
pub(crate) fn felt<'a>(model: &'a Model, saturation: Option<&'a [f64]>) -> impl Iterator<Item = usize> + 'a {
    model.driven_compensation().iter().copied().filter(move |i| feels(model, saturation, *i))
}

/// Marked dofs that do not.
pub(crate) fn lost<'a>(model: &'a Model, saturation: Option<&'a [f64]>) -> impl Iterator<Item = usize> + 'a {
    model.driven_compensation().iter().copied().filter(move |i| !feels(model, saturation, *i))
}

/// Calls `visit(i, j, ∂tau_i/∂q_j)` for the weight on some dofs.
pub(crate) fn for_each_compensation_slope(
    model: &Model,
    kin: &Kinematics,
    dofs: impl Iterator<Item = usize>,
    mut visit: impl FnMut(usize, usize, f64),
) {
    for i in dofs {
        for j in 0..model.nv() {
            let slope = compensation_along(model, kin, i, &Carrier::dof(model, kin, j));
            if slope != 0.0 {
                visit(i, j, slope);
            }
        }
    }
}

fn feels(model: &Model, saturation: Option<&[f64]>, i: usize) -> bool {
    model.nu() > 0 && saturation.is_some_and(|s| s[i] != 0.0)
}

/// The compensated weights of the bodies that dof `i` moves.
fn lifts<'a>(model: &'a Model, kin: &'a Kinematics, i: usize) -> impl Iterator<Item = Lift> + 'a {
    let tree = model.tree();
    let carried = tree.dof_group[i].start..tree.subtree_end[i];
    let all = model.gravity_compensation().iter().enumerate().skip(1);
    let is_carried = move |body: usize| tree.last_dof(body).is_some_and(|j| carried.contains(&j));
    all.filter(move |(body, (mass, _))| *mass != 0.0 && is_carried(*body)).map(|(body, (mass, com))| {
        let arm = kin.X_wb[body].point(*com) - kin.origin[model.tree().nodes[body].tree];
        Lift { body, mass: *mass, arm }
    })
}

impl Lift {
    fn weight(&self, model: &Model) -> Force {
        Force::at_point(Vec3::from(model.options().gravity) * -self.mass, Vec3::ZERO, self.arm)
    }
}
