//! Change of ∂tau/∂q when a wrench keeps its direction in the world instead of turning with its body.   (drnea-7)
#![allow(non_snake_case)]

use super::kinematics::Kinematics;
use super::rnea::Wrench;
use super::rnea_derivatives::stride;
use crate::model::{BodyId, Model};
use crate::spatial::{Force, Vec3};

/// The change of `S ×* W − ∂W` per unit of rotation ω: force ω × f, moment ω × n + c × (ω × f).
#[inline(always)]
pub(super) fn turned(w: &Wrench, arm: Vec3, omega: Vec3) -> Force {
    let force = omega.cross(w.force);
    Force::at_point(force, omega.cross(w.torque), arm)
}

/// Adds the terms to the rows of ∂tau/∂q for every pair of dofs that move the wrench's body.
pub(super) fn add_world_axes(model: &Model, kin: &Kinematics, wrenches: &[Wrench], rows: &mut [f64]) {
    let stride = stride(2 * model.nv());
    for w in wrenches.iter().filter(|w| w.body != BodyId::WORLD) {
        let (arm, support) = (w.arm(model, kin), model.tree().support(w.body.0));
        for &j in support {
            let change = turned(w, arm, kin.axes[j].ang);
            for &i in support {
                rows[i * stride + j] += kin.axes[i].dot(change);
            }
        }
    }
}
