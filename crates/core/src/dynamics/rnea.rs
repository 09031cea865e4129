//! Inverse dynamics by recursive Newton–Euler: tau = M a + b.   (rnea-1 … rnea-5)
#![allow(non_snake_case)]

use super::kinematics::{Kinematics, begin, place};
use crate::dispatch::dispatch;
use crate::model::{BodyId, Model, Node, Topology};
use crate::spatial::{BodyInertia, Force, Mat3, Motion, Vec3};

/// A force and a torque on a body, in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Wrench {
    /// Body it acts on.
    pub body: BodyId,
    /// Force, world axes (N).
    pub force: Vec3,
    /// Torque, world axes (N·m).
    pub torque: Vec3,
    /// Where the force acts, body frame (m); `None`: at the center of mass.
    pub point: Option<Vec3>,
}

impl Wrench {
    /// A force and a torque at the center of mass of a body.
    pub fn new(body: BodyId, force: Vec3, torque: Vec3) -> Wrench {
        Wrench { body, force, torque, point: None }
    }

    /// A force at a point of a body, given in the body's frame.
    pub fn at(body: BodyId, force: Vec3, point: Vec3) -> Wrench {
        Wrench { body, force, torque: Vec3::ZERO, point: Some(point) }
    }

    /// Where it acts, from the tree's origin, world axes.
    pub(crate) fn arm(&self, model: &Model, kin: &Kinematics) -> Vec3 {
        let b = self.body.0;
        let X = &kin.X_wb[b];
        let point = self.point.unwrap_or(model.numbers().inertia[b].com);
        X.point(point) - kin.origin[model.tree().nodes[b].tree]
    }

    /// The wrench at the tree's origin.
    pub(crate) fn at_origin(&self, model: &Model, kin: &Kinematics) -> Force {
        Force::at_point(self.force, self.torque, self.arm(model, kin))
    }
}

/// Subtracts the wrenches from the forces that the joints must supply. The world holds whatever acts on it.
#[inline(always)]
pub(super) fn subtract_wrenches(model: &Model, kin: &Kinematics, wrenches: &[Wrench], f: &mut [Force]) {
    for w in wrenches.iter().filter(|w| w.body != BodyId::WORLD) {
        f[w.body.0] -= w.at_origin(model, kin);
    }
}

dispatch!(
    /// `tau = M a + b − Jᵀ w`. Leaves in `f` the force that each body's joints transmit, and poses, axes,
    /// velocities and accelerations in `kin`.
    pub(crate) fn rnea(
        model: &Model,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        wrenches: &[Wrench],
        kin: &mut Kinematics,
        f: &mut [Force],
        tau: &mut [f64],
    ) {
        let (tree, numbers) = (model.tree(), model.numbers());
        begin(model, q, kin);
        kin.A[0].lin = -Vec3::from(model.options().gravity);
        // forward pass: velocity, acceleration and net force of every body                               (rnea-2, rnea-3)
        for i in 1..tree.n_bodies() {
            let node = place(tree, numbers, i, q, kin);
            let (V, A) = accelerate(tree, node, v, a, kin);
            (kin.V[i], kin.A[i]) = (V, A);
            let X = &kin.X_wb[i];
            let arm = X.position - kin.origin[node.tree];
            f[i] = net_force(&numbers.inertia[i], &X.rotation, arm, V, A);
        }
        subtract_wrenches(model, kin, wrenches, f);
        // backward pass: a joint supplies the forces of all bodies that it carries                       (rnea-4, rnea-5)
        for i in (1..tree.n_bodies()).rev() {
            let node = &tree.nodes[i];
            for j in node.dofs.clone() {
                tau[j] = kin.axes[j].dot(f[i]) + model.armature()[j] * a[j];
            }
            let carried = f[i];
            f[node.parent] += carried;
        }
    }
);

/// Velocity and acceleration of a body from its parent's, through its primitives.   (rnea-2)
#[inline(always)]
pub(super) fn accelerate(tree: &Topology, node: &Node, v: &[f64], a: &[f64], kin: &Kinematics) -> (Motion, Motion) {
    let (mut V, mut A) = (kin.V[node.parent], kin.A[node.parent]);
    for p in &tree.primitives[node.primitives.clone()] {
        let (mut joint_V, mut joint_A) = (Motion::ZERO, Motion::ZERO);
        for j in p.v..p.v + p.kind.nv() {
            joint_V += kin.axes[j] * v[j];
            joint_A += kin.axes[j] * a[j];
        }
        A += joint_A + V.cross(joint_V); // axes are carried along by what is before the joint
        V += joint_V;
    }
    (V, A)
}

/// Newton and Euler at the center of mass, in body axes where the inertia is constant, taken to the origin.   (rnea-3)
#[inline(always)]
fn net_force(body: &BodyInertia, R: &Mat3, arm: Vec3, V: Motion, A: Motion) -> Force {
    let com = *R * body.com + arm;
    let acceleration = A.at(com) + V.ang.cross(V.at(com));
    let force = acceleration * body.mass;
    let (w, dw) = (R.tmul(V.ang), R.tmul(A.ang));
    let torque = body.about_com * dw + w.cross(body.about_com * w);
    Force::at_point(force, *R * torque, com)
}
