//! Gradient with respect to the poses of mocap bodies: placements of bodies that no joint moves.   (grad-23)
#![allow(non_snake_case)]

use super::ParameterAdjoint;
use crate::dynamics::Carrier;
use crate::gradient::record::StepRecord;
use crate::spatial::{Motion, Vec3};

/// Directions in which the pose of a body changes: position, rotation.
pub(crate) const TANGENT: usize = 6;

impl ParameterAdjoint<'_, '_> {
    /// Adds the gradient with respect to the poses of the mocap bodies: six numbers each, position in world axes, rotation
    /// in the axes of the body.
    pub fn add_mocap(&mut self, out: &mut [f64]) {
        let (dt, f) = (self.f.model.options().dt, &*self.f);
        // the world stands still: neither V nor Ψ̇ occur
        let A = self.unconstrained.dkin.A[0];
        for (i, six) in f.model.tree().mocap.iter().zip(out.chunks_exact_mut(TANGENT)) {
            for (g, S) in six.iter_mut().zip(axes(f, *i)) {
                let unconstrained = self.reverse.adjoint.meet(0, *i, S, Motion::ZERO, A.cross(S));
                let driven = self.drives(&Carrier::body(f.model, *i, S));
                *g += S.dot(self.reverse.position[*i]) + dt * (driven - unconstrained);
            }
        }
    }
}

/// Motion of a mocap body per unit of its six directions, at its own origin.
fn axes(f: &StepRecord, i: usize) -> [Motion; TANGENT] {
    let turning = &f.kin.X_wb[i].rotation;
    core::array::from_fn(|k| match k {
        0..3 => Motion { lin: Vec3::UNITS[k], ang: Vec3::ZERO },
        _ => Motion { lin: Vec3::ZERO, ang: turning.c[k - 3] },
    })
}
