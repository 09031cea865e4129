//! Gradients with respect to the model's parameters, group by group, from the two vectors of reverse mode.   (grad-11)
//!
//! A parameter θ changes torques by S_θ and the equations of constraints by D_θ; `∇_θ = z·S_θ − y·D_θ`. Forward mode asks
//! for one row of the Jacobian after the other: there are as many as dofs, and each costs one adjoint solve.
#![allow(non_snake_case)]

mod compliance;
pub(super) mod mocap;
pub(super) mod surfaces;

use super::drive::implicit_gain;
use super::record::StepRecord;
use super::reverse::Reverse;
use super::rows::linearize::Linearized;
use super::system::active_set::Active;
use super::types::{GradientError, OutputGrad};
use super::unconstrained::Unconstrained;
use crate::dynamics::{
    Carrier, add_spring_reference_gradient, body_columns, compensation_along, compensation_by_gravity,
    for_each_placement_partial, gain_partials, lost, spring_displacements,
};
use crate::model::{Implicit, ParameterGroup};
use crate::spatial::{Motion, Vec3, right_jacobian};

/// What a gradient with respect to parameters is computed from.
pub(crate) struct ParameterAdjoint<'a, 'f> {
    pub f: &'a mut StepRecord<'f>,
    pub active: &'a Active,
    pub linearized: &'a Linearized,
    pub unconstrained: &'a mut Unconstrained,
    pub reverse: &'a Reverse,
    pub w: &'a OutputGrad<'a>,
    /// Gradient with respect to the impulses of all rows, each along its own axis, or none.
    pub lambda: &'a [f64],
}

impl ParameterAdjoint<'_, '_> {
    /// Adds the gradient with respect to a group to `out`, which has its layout.
    pub fn add(&mut self, group: ParameterGroup, out: &mut [f64]) -> Result<(), GradientError> {
        match group {
            ParameterGroup::Inertial => {
                self.inertial(out);
                self.unconstrained.rotation.add_inertial(self.f, &self.reverse.w, out);
                compliance::add(self, out);
            }
            ParameterGroup::JointPlacement => self.placement(out),
            ParameterGroup::Armature => self.per_dof(out, |s, j| -s.f.acceleration[j]),
            ParameterGroup::Damping => self.damping(out),
            ParameterGroup::Stiffness => self.stiffness(out),
            ParameterGroup::SpringReference => self.spring_reference(out),
            ParameterGroup::Gravity => self.gravity(out),
            ParameterGroup::Actuator => self.actuator(out),
            ParameterGroup::DryFriction => surfaces::dry_friction(self, out),
            ParameterGroup::Friction => surfaces::friction(self, out),
            ParameterGroup::Restitution => surfaces::restitution(self, out),
            ParameterGroup::Compliance => surfaces::compliance(self, out),
            ParameterGroup::ShapeSize | ParameterGroup::MeshScale => surfaces::sizes(self, group, out)?,
        }
        Ok(())
    }

    fn dt(&self) -> f64 {
        self.f.model.options().dt
    }

    /// `dt z_j · force(j)` for every dof.
    fn per_dof(&self, out: &mut [f64], force: impl Fn(&Self, usize) -> f64) {
        let dt = self.dt();
        for (j, g) in out.iter_mut().enumerate() {
            *g += dt * self.reverse.z[j] * force(self, j);
        }
    }

    /// Torques are linear in the ten numbers of a body; a wrench at its center of mass moves with that.
    fn inertial(&mut self, out: &mut [f64]) {
        let dt = self.dt();
        for (i, ten) in (1..).zip(out.chunks_exact_mut(10)) {
            let W = self.virtual_velocity_in_body(i);
            let columns = body_columns(self.f.model, self.f.kin, i, self.unconstrained.dkin.A[i]);
            ten.iter_mut().zip(columns).for_each(|(g, c)| *g -= dt * W.dot(c));
        }
        for wrench in self.f.given.wrenches.iter().filter(|w| w.point.is_none() && w.body.0 > 0) {
            let i = wrench.body.0;
            let body = &self.f.model.inertias()[i];
            if body.mass == 0.0 {
                continue;
            }
            // (W × dc)·f with c = m c / m
            let W = self.virtual_velocity_in_body(i);
            let pull = self.f.kin.X_wb[i].rotation.tmul(wrench.force).cross(W.ang) * (dt / body.mass);
            let ten = &mut out[10 * (i - 1)..10 * i];
            ten[0] -= pull.dot(body.com);
            (0..3).for_each(|k| ten[1 + k] += pull[k]);
        }
    }

    fn virtual_velocity_in_body(&self, i: usize) -> Motion {
        let (X, W) = (&self.f.kin.X_wb[i], self.reverse.adjoint.virtual_velocities()[i]);
        let arm = X.position - self.f.kin.origin[self.f.model.tree().nodes[i].tree];
        Motion { lin: X.rotation.tmul(W.at(arm)), ang: X.rotation.tmul(W.ang) }
    }

    /// A placement is a joint that does not move: gradients are projected onto its six axes as onto those of dofs.
    fn placement(&mut self, out: &mut [f64]) {
        let (dt, f) = (self.dt(), &*self.f);
        for (i, six) in (1..).zip(out.chunks_exact_mut(6)) {
            let node = &f.model.tree().nodes[i];
            if !node.moves() && f.kin.mocap_given {
                continue; // where its pose is given, that of the model does not matter
            }
            let (V, A) = (f.kin.V[node.parent], self.unconstrained.dkin.A[node.parent]);
            for (k, S) in placement_axes(f, i).into_iter().enumerate() {
                let psi = V.cross(S);
                let unconstrained = self.reverse.adjoint.meet(node.parent, i, S, psi, A.cross(S) + V.cross(psi));
                let moved = S.dot(self.reverse.position[i]);
                let turned = f.end.V[node.parent].cross(S).dot(self.reverse.velocity[i]);
                let rotation = self.unconstrained.rotation.project_displacement(f, &self.reverse.w, i, S);
                let driven = dt * self.drives(&Carrier::body(f.model, i, S));
                six[k] += moved + turned - dt * unconstrained - self.approach(i, psi) + rotation + driven;
            }
        }
    }

    /// Change of `z·tau` when a placement moves the ends of transmissions between bodies.
    fn drives(&self, c: &Carrier) -> f64 {
        let (f, saturation, z) = (&*self.f, &self.unconstrained.saturation, &self.reverse.z);
        let mut sum = -self.lost().map(|i| z[i] * compensation_along(f.model, f.kin, i, c)).sum::<f64>();
        let Some(ctrl) = f.given.ctrl() else { return sum };
        for_each_placement_partial(f.model, f.kin, &f.given.q, &f.given.v, ctrl, saturation, c, |i, x| sum += z[i] * x);
        sum
    }

    /// Dofs that do not feel the weight that their drives should compensate: it is counted as a wrench on all dofs.
    fn lost(&self) -> impl Iterator<Item = usize> + '_ {
        lost(self.f.model, self.f.given.ctrl().map(|_| &self.unconstrained.saturation[..]))
    }

    /// Change of the approach velocity (restitution) with a displacement of body `i` and all that it carries.
    fn approach(&self, i: usize, psi: Motion) -> f64 {
        let tree = self.f.model.tree();
        let carries = |mut b: usize| {
            while b > i {
                b = tree.nodes[b].parent;
            }
            b == i
        };
        let mut sum = 0.0;
        for (y, terms) in self.reverse.y.iter().zip(&self.linearized.terms) {
            let terms = self.linearized.by_body[terms.by_body.clone()].iter();
            for term in terms.filter(|term| term.approach != 0.0 && carries(term.body)) {
                sum += y[0] * term.approach * psi.dot(term.velocity);
            }
        }
        sum
    }

    /// Gradient by damping, which acts at the end of the step if any dof is damped implicitly.
    fn damping(&self, out: &mut [f64]) {
        let implicit = self.f.model.options().implicit != Implicit::None;
        let turn = &self.f.free.turn;
        self.per_dof(out, |s, j| if implicit { turn[j] - s.f.end.v[j] } else { -s.f.given.v[j] });
    }

    fn stiffness(&mut self, out: &mut [f64]) {
        let (dt, implicit) = (self.dt(), self.f.model.options().implicit == Implicit::All);
        let mut x = core::mem::take(&mut self.unconstrained.displacement);
        spring_displacements(self.f.model, &self.f.given.q, &mut x);
        self.per_dof(out, |s, j| -x[j] - if implicit { dt * (s.f.end.v[j] - s.f.free.turn[j]) } else { 0.0 });
        self.unconstrained.displacement = x;
    }

    fn spring_reference(&self, out: &mut [f64]) {
        let (model, dt, z) = (self.f.model, self.dt(), &self.reverse.z);
        add_spring_reference_gradient(model, &self.f.given.q, |j, _| dt * model.stiffness()[j] * z[j], out);
    }

    /// Weight of all masses; compensated weight has the opposite sign.
    fn gravity(&self, out: &mut [f64]) {
        let (dt, f) = (self.dt(), &*self.f);
        let mut sum = self.reverse.adjoint.momentum();
        let W = self.reverse.adjoint.virtual_velocities();
        for (i, (mass, com)) in f.model.gravity_compensation().iter().enumerate().skip(1).filter(|(_, c)| c.0 != 0.0) {
            let arm = f.kin.X_wb[i].point(*com) - f.kin.origin[f.model.tree().nodes[i].tree];
            sum -= W[i].at(arm) * *mass;
        }
        for i in self.lost() {
            sum -= compensation_by_gravity(f.model, f.kin, i) * self.reverse.z[i];
        }
        (0..3).for_each(|k| out[k] += dt * sum[k]);
    }

    /// Gains of actuators; those taken at the end of the step act on v_next.
    fn actuator(&self, out: &mut [f64]) {
        let (f, dt, z) = (&*self.f, self.dt(), &self.reverse.z);
        let Some(drive) = f.given.drive() else { return };
        for (k, four) in out.chunks_exact_mut(4).enumerate() {
            let mut pull = 0.0;
            let saturation = &self.unconstrained.saturation;
            let slopes = gain_partials(f.model, f.kin, k, &f.given.q, &f.given.v, drive[k], |j, arm| {
                pull += dt * saturation[j] * arm * z[j];
            });
            four.iter_mut().zip(slopes).for_each(|(g, s)| *g += pull * s);
            if let Some((j, gear, [by_length, by_velocity])) = implicit_gain(f, saturation, k) {
                four[2] += if by_length { pull * gear * dt * f.end.v[j] } else { 0.0 };
                four[3] += if by_velocity { pull * gear * (f.end.v[j] - f.given.v[j]) } else { 0.0 };
            }
        }
    }
}

/// Motion of a body per unit of its six placement numbers: position in the parent, rotation vector.
pub(crate) fn placement_axes(f: &StepRecord, i: usize) -> [Motion; 6] {
    let node = &f.model.tree().nodes[i];
    let parent = &f.kin.X_wb[node.parent];
    let mount = &f.model.placements()[i];
    let numbers = &f.model.parameters().group(ParameterGroup::JointPlacement)[6 * (i - 1)..6 * i];
    let turning = parent.rotation * mount.rotation * right_jacobian(Vec3::from_slice(&numbers[3..]));
    let arm = parent.point(mount.position) - f.kin.origin[node.tree];
    core::array::from_fn(|k| match k {
        0..3 => Motion { lin: parent.rotation.c[k], ang: Vec3::ZERO },
        _ => Motion::rotation_about(turning.c[k - 3], arm),
    })
}
