//! Direct dependence of the readings on parameters of the model: at a fixed motion and fixed impulses.   (sens-13)
//!
//! Damping, dry friction and surfaces act through the motion and the impulses only.
#![allow(non_snake_case)]

use super::layout::SensorLayout;
use super::load_adjoint::LinkCotangent;
use super::needs::{is_nearest, is_ray};
use super::reverse::SensorReverse;
use super::snapshot::Snapshot;
use super::{constraint_force, energy, nearest, ray};
use crate::constraint::Source;
use crate::dynamics::{
    Carrier, Wrench, compensation_along, compensation_by_gravity, felt, for_each_placement_partial, force_partials,
    gain_partials, inertial_columns, placement_partials,
};
use crate::gradient::{GradientError, StepRecord, placement_axes, sizes_of};
use crate::model::{BodyId, Model, ParameterGroup, Quantity, Sensor, SensorObject, Transmission};
use crate::spatial::{Force, Motion, Vec3};

impl SensorReverse {
    /// Adds the direct part of the gradient of `weights · readings` to `out`, which has the layout of the group. After `pull`.
    pub fn add_parameters(
        &mut self,
        f: &mut StepRecord,
        layout: &SensorLayout,
        weights: &[f64],
        group: ParameterGroup,
        out: &mut [f64],
    ) -> Result<(), GradientError> {
        match group {
            ParameterGroup::Inertial => {
                self.rotation.add_inertial(f, &self.adjoint.turn, out);
                self.add_inertial(&Snapshot::of(f), out);
                self.add_energy_of_inertia(&Snapshot::of(f), energy_weights(f.model, layout, weights), out);
            }
            ParameterGroup::JointPlacement => {
                self.add_placement(f, out);
                add_drives(f, layout, weights, &self.saturation, out);
            }
            // the world accelerates upwards, and all bodies with it
            ParameterGroup::Gravity => {
                let m = &Snapshot::of(f);
                let [potential, _] = energy_weights(f.model, layout, weights);
                let moment = if potential != 0.0 { energy::moment(m) * potential } else { Vec3::ZERO };
                (0..3).for_each(|k| out[k] -= self.adjoint.acceleration[0].lin[k] + moment[k]);
                self.add_compensation(m, layout, weights, out);
            }
            ParameterGroup::Actuator => self.add_actuator(&Snapshot::of(f), layout, weights, out),
            ParameterGroup::ShapeSize | ParameterGroup::MeshScale => {
                self.add_sizes(f, group, out)?;
                self.contacts.add_sizes(f, group, out)?;
                self.add_sizes_of_geoms(f, layout, weights, group, out)?;
            }
            ParameterGroup::Armature | ParameterGroup::Stiffness | ParameterGroup::SpringReference => {
                energy::add_parameters(&Snapshot::of(f), energy_weights(f.model, layout, weights), group, out);
            }
            ParameterGroup::Damping
            | ParameterGroup::DryFriction
            | ParameterGroup::Friction
            | ParameterGroup::Restitution
            | ParameterGroup::Compliance => {}
        }
        Ok(())
    }

    /// Force, mass, first moment and momentum of the link that a body is named after are linear in the body's ten numbers.
    fn add_inertial(&self, m: &Snapshot, out: &mut [f64]) {
        for (i, ten) in (1..).zip(out.chunks_exact_mut(10)) {
            let LinkCotangent { force, mass, moment, momentum } = self.load_adjoint.of(m.model.bodies()[i].link);
            let (X, V) = (&m.kin.X_wb[i], m.kin.V[i]);
            let arm = X.position - m.origin(BodyId(i));
            let in_body = |W: Motion| Motion { lin: X.rotation.tmul(W.at(arm)), ang: X.rotation.tmul(W.ang) };
            let mut project = |W: Motion, columns: [Force; 10]| {
                ten.iter_mut().zip(columns).for_each(|(g, c)| *g += W.dot(c));
            };
            project(in_body(force), inertial_columns(X, arm, V, self.dkin.A[i]));
            project(in_body(momentum), inertial_columns(X, arm, Motion::ZERO, V));
            ten[0] += mass + moment.dot(arm);
            (0..3).for_each(|k| ten[1 + k] += moment.dot(X.rotation.c[k]));
        }
        m.wrenches.iter().for_each(|w| self.add_wrench(m, w, out));
    }

    /// Energies are linear in the ten numbers of each body.   (sens-19)
    fn add_energy_of_inertia(&self, m: &Snapshot, [potential, kinetic]: [f64; 2], out: &mut [f64]) {
        if [potential, kinetic] == [0.0; 2] {
            return;
        }
        let pull = Vec3::from(m.model.options().gravity) * -potential;
        for (i, ten) in (1..).zip(out.chunks_exact_mut(10)) {
            let (X, V) = (&m.kin.X_wb[i], m.kin.V[i]);
            let arm = X.position - m.origin(BodyId(i));
            let half = Motion { lin: X.rotation.tmul(V.at(arm)), ang: X.rotation.tmul(V.ang) } * (0.5 * kinetic);
            let momenta = inertial_columns(X, arm, Motion::ZERO, V);
            ten.iter_mut().zip(momenta).for_each(|(g, c)| *g += half.dot(c));
            ten[0] += pull.dot(X.position);
            (0..3).for_each(|k| ten[1 + k] += pull.dot(X.rotation.c[k]));
        }
    }

    /// Sizes and scales move what rays hit and where geoms are nearest.
    fn add_sizes_of_geoms(
        &mut self,
        f: &StepRecord,
        layout: &SensorLayout,
        weights: &[f64],
        group: ParameterGroup,
        out: &mut [f64],
    ) -> Result<(), GradientError> {
        for (s, range) in f.model.sensors().iter().zip(&layout.ranges) {
            let weights = &weights[range.clone()];
            if weights.iter().all(|w| *w == 0.0) {
                continue;
            }
            match (s.object, &mut self.search) {
                (SensorObject::Frame(id), _) if is_ray(s) => ray::add_sizes(f, id, s.quantity, weights, group, out)?,
                (_, Some(search)) if is_nearest(s) => nearest::add_sizes(f, search, s, weights, group, out)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// A wrench at the center of mass c = h / m moves with it.
    fn add_wrench(&self, m: &Snapshot, w: &Wrench, out: &mut [f64]) {
        let (i, body) = (w.body.0, &m.model.inertias()[w.body.0]);
        if w.point.is_some() || w.body == BodyId::WORLD || body.mass == 0.0 {
            return;
        }
        // −(W × dc)·f
        let W = self.load_adjoint.of(m.model.bodies()[i].link).force;
        let by_center = m.kin.X_wb[i].rotation.tmul(W.ang.cross(w.force)) * (1.0 / body.mass);
        let ten = &mut out[10 * (i - 1)..10 * i];
        ten[0] -= by_center.dot(body.com);
        (0..3).for_each(|k| ten[1 + k] += by_center[k]);
    }

    /// A placement is a joint that does not move: gradients are projected onto its six axes as onto those of dofs.   (sens-8)
    fn add_placement(&self, f: &StepRecord, out: &mut [f64]) {
        for (i, six) in (1..).zip(out.chunks_exact_mut(6)) {
            let node = &f.model.tree().nodes[i];
            if !node.moves() && f.kin.mocap_given {
                continue; // where its pose is given, that of the model does not matter
            }
            let parent = node.parent;
            let (V, A) = (f.kin.V[parent], self.dkin.A[parent]);
            for (g, S) in six.iter_mut().zip(placement_axes(f, i)) {
                let psi = V.cross(S);
                *g += S.dot(self.adjoint.position[i]) + psi.dot(self.adjoint.velocity[i]);
                *g += (A.cross(S) + V.cross(psi)).dot(self.adjoint.acceleration[i]);
                *g += self.rotation.project_displacement(f, &self.adjoint.turn, i, S);
            }
        }
    }

    /// Adds the gradient of actuator forces by gain and bias, wherever they are read: on actuators, tendons or joints.
    fn add_actuator(&self, m: &Snapshot, layout: &SensorLayout, weights: &[f64], out: &mut [f64]) {
        let Some(ctrl) = m.ctrl else { return };
        let read = m.model.sensors().iter().zip(&layout.ranges);
        let read = read.filter(|(s, _)| s.quantity == Quantity::ActuatorForce);
        let weight = |is: &dyn Fn(SensorObject) -> bool| -> f64 {
            read.clone().filter(|(s, _)| is(s.object)).map(|(_, range)| weights[range.start]).sum()
        };
        for (k, four) in out.chunks_exact_mut(4).enumerate() {
            let mut total = weight(&|object| match (object, m.model.actuators()[k].transmission) {
                (SensorObject::Actuator(id), _) => id.0 == k,
                (SensorObject::Tendon(t), Transmission::Tendon(other)) => t == other,
                _ => false,
            });
            let slopes = gain_partials(m.model, m.kin, k, m.q, m.v, ctrl[k], |j, arm| {
                total += self.saturation[j] * arm * weight(&|object| first_dof(m.model, object) == Some(j));
            });
            four.iter_mut().zip(slopes).for_each(|(g, s)| *g += total * s);
        }
    }

    /// Compensated weights that are read as forces of the drives of joints.
    fn add_compensation(&self, m: &Snapshot, layout: &SensorLayout, weights: &[f64], out: &mut [f64]) {
        let read = m.model.sensors().iter().zip(&layout.ranges);
        for (s, range) in read.filter(|(s, _)| s.quantity == Quantity::ActuatorForce) {
            for i in felt(m.model, m.ctrl.map(|_| &self.saturation[..])) {
                if first_dof(m.model, s.object) == Some(i) {
                    let by = compensation_by_gravity(m.model, m.kin, i) * weights[range.start];
                    (0..3).for_each(|k| out[k] += by[k]);
                }
            }
        }
    }

    /// Sizes and scales move the points and rotate the normals of contacts, and with them the forces on links.   (sens-10)
    fn add_sizes(&self, f: &mut StepRecord, group: ParameterGroup, out: &mut [f64]) -> Result<(), GradientError> {
        for block in 0..f.assembly.sources.len() {
            let Source::Contact(n) = f.assembly.sources[block] else { continue };
            let m = Snapshot::of(f);
            let Some(contact) = constraint_force::contact(&m, block) else { continue };
            let [by_point, by_normal] = self.load_adjoint.contact_gradient(&m, &contact);
            if by_point == Vec3::ZERO && by_normal == Vec3::ZERO {
                continue;
            }
            for (index, size) in sizes_of(f, group, n)?.into_iter().flatten() {
                out[index] += by_point.dot(size.point) + by_normal.dot(size.normal);
            }
        }
        Ok(())
    }
}

/// The first dof of the joint that a sensor is attached to.
fn first_dof(model: &Model, object: SensorObject) -> Option<usize> {
    match object {
        SensorObject::Joint(id) => Some(model.joints()[id.0].v.start),
        _ => None,
    }
}

/// Placements move the ends of transmissions between bodies: their lengths, velocities and forces change.
fn add_drives(f: &StepRecord, layout: &SensorLayout, weights: &[f64], saturation: &[f64], out: &mut [f64]) {
    let m = Snapshot::of(f);
    for (i, six) in (1..).zip(out.chunks_exact_mut(6)) {
        if !m.model.tree().nodes[i].moves() && m.kin.mocap_given {
            continue;
        }
        for (g, S) in six.iter_mut().zip(placement_axes(f, i)) {
            let c = Carrier::body(m.model, i, S);
            let read = m.model.sensors().iter().zip(&layout.ranges);
            *g += read.map(|(s, range)| weights[range.start] * driven(&m, s, saturation, &c)).sum::<f64>();
        }
    }
}

/// Change of a reading of an actuator or of the actuators of a joint when a placement changes.
fn driven(m: &Snapshot, s: &Sensor, saturation: &[f64], c: &Carrier) -> f64 {
    match (s.object, s.quantity, m.ctrl) {
        (SensorObject::Actuator(id), what, ctrl) => {
            let [length, velocity] = placement_partials(m.model, m.kin, id.0, m.q, m.v, c);
            match (what, ctrl) {
                (Quantity::Position, _) => length,
                (Quantity::Velocity, _) => velocity,
                (_, None) => 0.0,
                (_, Some(ctrl)) => {
                    let slopes = force_partials(m.model, m.kin, id.0, m.q, m.v, ctrl[id.0]);
                    slopes[1] * length + slopes[2] * velocity
                }
            }
        }
        (object, Quantity::ActuatorForce, Some(ctrl)) => {
            let mut sum = 0.0;
            for_each_placement_partial(m.model, m.kin, m.q, m.v, ctrl, saturation, c, |i, x| {
                sum += if first_dof(m.model, object) == Some(i) { x } else { 0.0 };
            });
            let own = felt(m.model, Some(saturation)).filter(|i| first_dof(m.model, object) == Some(*i));
            sum + own.map(|i| compensation_along(m.model, m.kin, i, c)).sum::<f64>()
        }
        _ => 0.0,
    }
}

/// Sums of the weights of potential and kinetic energies.
fn energy_weights(model: &Model, layout: &SensorLayout, weights: &[f64]) -> [f64; 2] {
    [Quantity::PotentialEnergy, Quantity::KineticEnergy].map(|what| {
        let all = model.sensors().iter().zip(&layout.ranges).filter(|(s, _)| s.quantity == what);
        all.map(|(_, range)| weights[range.start]).sum()
    })
}
