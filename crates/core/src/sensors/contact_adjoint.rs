//! Gradients of contact sensors with respect to the points, normals, distances and impulses of contacts.   (sens-18)
#![allow(non_snake_case)]

use super::Snapshot;
use super::adjoint::{PointCotangent, SensorAdjoint};
use super::contact::{self, Net};
use super::touching::{self, Touching};
use crate::collision::{CollisionError, PointDerivatives, contact_derivatives};
use crate::gradient::{GradientError, StepRecord, contact_error, sizes_of};
use crate::model::{ContactData, ContactReport, GeomSet, ParameterGroup, Reduce};
use crate::spatial::Vec3;

/// The contacts of a step that are felt, their derivatives, and the gradient with respect to each.
#[derive(Debug, Clone, Default)]
pub(super) struct ContactAdjoint {
    all: Vec<Touching>,
    derivatives: Vec<Result<PointDerivatives, CollisionError>>,
    /// With respect to point, normal (in the order of MuJoCo) and distance.
    geometry: Vec<PointCotangent>,
    /// With respect to the force in world axes.
    force: Vec<Vec3>,
}

impl ContactAdjoint {
    /// Lists and differentiates the contacts.
    pub fn begin(&mut self, f: &mut StepRecord) {
        touching::list(&Snapshot::of(f), &mut self.all);
        let mode = &f.model.options().collision_gradient;
        self.derivatives.clear();
        for t in &self.all {
            self.derivatives.push(contact_derivatives(f.model, &f.kin.X_wb, f.contacts, t.number, mode));
        }
    }

    /// Sets all gradients to zero.
    pub fn clear(&mut self) {
        self.geometry.clear();
        self.geometry.resize(self.all.len(), PointCotangent::default());
        self.force.clear();
        self.force.resize(self.all.len(), Vec3::ZERO);
    }

    /// Adds the gradient of `weights · reading`.
    pub fn pull(&mut self, m: &Snapshot, sets: [GeomSet; 2], report: ContactReport, weights: &[f64]) {
        let ContactAdjoint { all, geometry, force, .. } = self;
        let found = contact::matching(m, all, sets);
        let size = report.data.size();
        if report.reduce == Reduce::Net {
            let (net, w) = (contact::net(found.clone()), split(report.data, &weights[..size]));
            found.for_each(|(k, t, side)| pull_net(&net, t, side, &w, &mut geometry[k], &mut force[k]));
            return;
        }
        contact::for_each_slot(found, report, |slot, (k, t, side)| {
            let w = split(report.data, &weights[slot * size..(slot + 1) * size]);
            pull_slot(t, side, &w, &mut geometry[k], &mut force[k]);
        });
    }

    /// Propagates the gradients to impulses and bodies. A force keeps its coordinates along normal and tangents, which turn with
    /// the normal and do not spin.
    pub fn propagate(&mut self, m: &Snapshot, out: &mut SensorAdjoint) -> Result<(), GradientError> {
        let per_step = 1.0 / m.model.options().dt;
        for (k, t) in self.all.iter().enumerate() {
            let (f, by) = (self.force[k], &mut self.geometry[k]);
            if let Some(row) = t.row {
                let by_impulse = m.contacts[t.number].frame.tmul(f) * (per_step * t.sign);
                (0..3).for_each(|j| out.lambda[row + j] += by_impulse[j]);
                by.normal += t.force.cross(f).cross(t.normal);
            }
            if *by == PointCotangent::default() {
                continue;
            }
            let geoms = m.contacts[t.number].geoms;
            let D = self.derivatives[k].as_ref().map_err(|error| contact_error(m.model, geoms, error.clone()))?;
            let bodies = geoms.map(|g| m.model.geoms()[g.0].body);
            let by = PointCotangent { normal: by.normal * t.sign, ..*by };
            out.add_contact(bodies, bodies.map(|b| t.point - m.origin(b)), D, &by);
        }
        Ok(())
    }

    /// Adds the gradient with respect to sizes and scales, which move points and turn normals. After `propagate`.
    pub fn add_sizes(&self, f: &mut StepRecord, group: ParameterGroup, out: &mut [f64]) -> Result<(), GradientError> {
        for (t, by) in self.all.iter().zip(&self.geometry).filter(|(_, by)| **by != PointCotangent::default()) {
            let by = PointCotangent { normal: by.normal * t.sign, ..*by };
            for (index, size) in sizes_of(f, group, t.number)?.into_iter().flatten() {
                out[index] += by.of_size(&size);
            }
        }
        Ok(())
    }
}

/// Weights of the numbers of one contact, by kind.
#[derive(Default)]
struct Weights {
    force: Vec3,
    torque: Vec3,
    distance: f64,
    point: Vec3,
    normal: Vec3,
    tangent: Vec3,
}

fn split(data: ContactData, mut weights: &[f64]) -> Weights {
    let mut w = Weights::default();
    for (_, kind) in ContactData::ALL.into_iter().filter(|(_, kind)| data.contains(*kind)) {
        let (own, others) = weights.split_at(kind.size());
        match kind {
            ContactData::FORCE => w.force = Vec3::from_slice(own),
            ContactData::TORQUE => w.torque = Vec3::from_slice(own),
            ContactData::DISTANCE => w.distance = own[0],
            ContactData::POINT => w.point = Vec3::from_slice(own),
            ContactData::NORMAL => w.normal = Vec3::from_slice(own),
            ContactData::TANGENT => w.tangent = Vec3::from_slice(own),
            _ => {} // a number of contacts is constant
        }
        weights = others;
    }
    w
}

/// One contact by itself; the torque is always zero.
fn pull_slot(t: &Touching, side: f64, w: &Weights, geometry: &mut PointCotangent, force: &mut Vec3) {
    let (n, [first, second], across) = (t.normal, t.tangents(), t.across());
    let by_second = side * w.force.z;
    *force += n * w.force.x + first * w.force.y + second * by_second;
    // second = n × first
    let by_second = t.force * by_second;
    let by_first = w.tangent * side + t.force * w.force.y + by_second.cross(n);
    let mut by_normal = w.normal * side + t.force * w.force.x + first.cross(by_second);
    // first = across / |across|, across = axis − n (n · axis)
    let by_across = (by_first - first * first.dot(by_first)) * (1.0 / across.norm());
    by_normal -= by_across * n.dot(t.axis()) + t.axis() * n.dot(by_across);
    geometry.normal += by_normal;
    geometry.point += w.point;
    geometry.distance += w.distance;
}

/// One contact of a sum: F = Σ f, T = Σ (p − c) × f, c = Σ |f| p / Σ |f|.
fn pull_net(net: &Net, t: &Touching, side: f64, w: &Weights, geometry: &mut PointCotangent, force: &mut Vec3) {
    let size = t.force.norm();
    *force += (w.force + w.torque.cross(t.point - net.point)) * side;
    geometry.point += (t.force * side).cross(w.torque);
    if size == 0.0 || net.weight == 0.0 {
        return;
    }
    // T changes by −c' × F
    let by_mean = (w.point - net.force.cross(w.torque)) * (1.0 / net.weight);
    geometry.point += by_mean * size;
    *force += t.force * (by_mean.dot(t.point - net.point) / size);
}
