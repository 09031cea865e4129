//! Torques are linear in the ten inertial parameters of each body: tau = Y π + armature a.   (reg-1, reg-2)
#![allow(non_snake_case)]

use super::kinematics::Kinematics;
use crate::model::Model;
use crate::spatial::{Force, Motion, Pose, Vec3, vec3};

/// Writes Y, nv rows of 10 (n_bodies − 1) numbers. Needs poses, axes, velocities and accelerations in `kin`.
pub(crate) fn regressor(model: &Model, kin: &Kinematics, Y: &mut [f64]) {
    let (tree, n) = (model.tree(), 10 * (model.n_bodies() - 1));
    Y.fill(0.0);
    for i in 1..tree.n_bodies() {
        let columns = body_columns(model, kin, i, kin.A[i]);
        let (R, arm) = (kin.X_wb[i].rotation, kin.X_wb[i].position - kin.origin[tree.nodes[i].tree]);
        for &j in tree.support(i) {
            // the dof's axis in the body's frame                                                       (reg-2)
            let S = kin.axes[j];
            let S_b = Motion { lin: R.tmul(S.at(arm)), ang: R.tmul(S.ang) };
            for (k, f) in columns.iter().enumerate() {
                Y[j * n + 10 * (i - 1) + k] = S_b.dot(*f);
            }
        }
    }
}

/// Net force of a body per unit of each of its parameters, body frame.   (reg-1)
pub(crate) fn body_columns(model: &Model, kin: &Kinematics, i: usize, A: Motion) -> [Force; 10] {
    let X = &kin.X_wb[i];
    inertial_columns(X, X.position - kin.origin[model.tree().nodes[i].tree], kin.V[i], A)
}

/// Columns of a body at a pose, `arm` from the origin of its tree, with a velocity and an acceleration there. Without the
/// velocity, and with it in place of the acceleration, they are those of the momentum.
pub(crate) fn inertial_columns(X: &Pose, arm: Vec3, V: Motion, A: Motion) -> [Force; 10] {
    let a = X.rotation.tmul(A.at(arm) + V.ang.cross(V.at(arm))); // acceleration of the body's origin
    let (w, dw) = (X.rotation.tmul(V.ang), X.rotation.tmul(A.ang));
    let mut columns = [Force::ZERO; 10];
    columns[0].lin = a;
    for k in 0..3 {
        let h = Vec3::UNITS[k];
        columns[1 + k] = Force { lin: dw.cross(h) + w.cross(w.cross(h)), ang: h.cross(a) };
    }
    // I u for each of xx, xy, yy, xz, yz, zz
    let times = |u: Vec3| {
        let Vec3 { x, y, z } = u;
        [vec3(x, 0.0, 0.0), vec3(y, x, 0.0), vec3(0.0, y, 0.0), vec3(z, 0.0, x), vec3(0.0, z, y), vec3(0.0, 0.0, z)]
    };
    for (k, (accelerated, spun)) in times(dw).into_iter().zip(times(w)).enumerate() {
        columns[4 + k].ang = accelerated + w.cross(spun);
    }
    columns
}
