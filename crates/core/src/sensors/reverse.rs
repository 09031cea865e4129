//! Reverse mode of the readings: from weights to the gradient with respect to the quantities in them.   (sens-7)
#![allow(non_snake_case)]

use super::adjoint::SensorAdjoint;
use super::contact_adjoint::ContactAdjoint;
use super::load::LinkWrenches;
use super::load_adjoint::LoadAdjoint;
use super::needs::{Needs, is_load, is_ray, is_summed};
use super::snapshot::Snapshot;
use super::{SensorLayout, constraint_force, coordinate, energy, frame, links, nearest, ray};
use crate::collision::{PairSearch, PointDerivatives, contact_derivatives};
use crate::constraint::Source;
use crate::dynamics::{KinematicsDerivatives, accelerations_placed};
use crate::gradient::{GradientError, Rotation, StepRecord, contact_error};
use crate::model::{FrameId, Model, Quantity, Sensor, SensorObject};
use crate::spatial::Vec3;

/// Memory of reverse mode.
#[derive(Debug, Clone)]
pub(super) struct SensorReverse {
    pub adjoint: SensorAdjoint,
    pub load_adjoint: LoadAdjoint,
    /// Wrenches of the differentiated step, which may differ from the one that was read (central path).
    loads: LinkWrenches,
    pub dkin: KinematicsDerivatives,
    pub rotation: Rotation,
    /// Derivatives of the contacts with an impulse, one for each of [`constraint_force::contacts`].
    contact_gradients: Vec<Option<PointDerivatives>>,
    /// Saturation mask: which dofs pass changes of their actuators (nv).
    pub saturation: Vec<f64>,
    pub contacts: ContactAdjoint,
    /// Memory of searches for nearest points, if there are any.
    pub search: Option<Box<PairSearch>>,
}

impl SensorReverse {
    /// Memory for a model.
    pub fn new(model: &Model, needs: Needs) -> SensorReverse {
        SensorReverse {
            contacts: ContactAdjoint::default(),
            search: needs.nearest.then(|| Box::new(PairSearch::new())),
            adjoint: SensorAdjoint::new(model),
            load_adjoint: LoadAdjoint::new(model),
            loads: LinkWrenches::new(model),
            dkin: KinematicsDerivatives::new(model),
            rotation: Rotation::new(model),
            contact_gradients: Vec::new(),
            saturation: vec![1.0; model.nv()],
        }
    }

    /// Prepares what does not depend on the weights.
    pub fn begin(&mut self, f: &mut StepRecord, needs: Needs) -> Result<(), GradientError> {
        self.rotation.begin(f);
        accelerations_placed(f.model, &f.given.v, f.acceleration, f.kin, &mut self.dkin);
        if needs.actuation {
            self.saturation.copy_from_slice(&f.free.saturation);
        }
        self.contact_gradients.clear();
        if needs.touching {
            self.contacts.begin(f);
        }
        if needs.loads {
            self.loads.write(&Snapshot::of(f), &self.dkin.A);
        }
        if needs.forces { self.differentiate_contacts(f) } else { Ok(()) }
    }

    fn differentiate_contacts(&mut self, f: &mut StepRecord) -> Result<(), GradientError> {
        let (assembly, lambda) = (f.assembly, f.solution.lambda());
        let mode = &f.model.options().collision_gradient;
        for (source, block) in assembly.sources.iter().zip(&assembly.problem.blocks) {
            let Source::Contact(n) = *source else { continue };
            let mut derivatives = None;
            if lambda[block.row..block.row + 3] != [0.0; 3] {
                let found = contact_derivatives(f.model, &f.kin.X_wb, f.contacts, n, mode);
                let geoms = f.contacts.contacts()[n].geoms;
                derivatives = Some(found.map_err(|error| contact_error(f.model, geoms, error))?);
            }
            self.contact_gradients.push(derivatives);
        }
        Ok(())
    }

    /// The gradient of `weights · readings`, left in `adjoint`.
    pub fn pull(&mut self, m: &Snapshot, layout: &SensorLayout, weights: &[f64]) -> Result<(), GradientError> {
        self.adjoint.clear(m.solution.lambda().len());
        self.load_adjoint.clear();
        self.contacts.clear();
        let mut loaded = false;
        for (s, range) in m.model.sensors().iter().zip(&layout.ranges) {
            let weights = &weights[range.clone()];
            if weights.iter().any(|w| *w != 0.0) {
                self.pull_sensor(m, s, weights)?;
                loaded |= is_load(s);
            }
        }
        self.pull_sums(m, layout, weights);
        self.contacts.propagate(m, &mut self.adjoint)?;
        if loaded {
            self.load_adjoint.propagate(m, &self.dkin.A, &self.contact_gradients, &mut self.adjoint);
        }
        self.adjoint.project(m, &self.dkin.A, &self.dkin);
        Ok(())
    }

    /// Adds the gradient through the free-rotation correction, which is not part of the accelerations. After `pull`.
    pub fn add_free_rotation(&mut self, f: &StepRecord) {
        let SensorAdjoint { q, v, turn, .. } = &mut self.adjoint;
        self.rotation.add_position(f, turn, q);
        self.rotation.add_velocity(f, turn, v);
    }

    fn pull_sensor(&mut self, m: &Snapshot, s: &Sensor, weights: &[f64]) -> Result<(), GradientError> {
        let (what, out) = (s.quantity, &mut self.adjoint);
        match s.object {
            // sums of forces come all together, and what is one or zero has a derivative of zero
            _ if is_summed(s) || what == Quantity::InsideSite => {}
            SensorObject::World => match what {
                Quantity::PotentialEnergy => energy::pull_potential(m, weights[0], out),
                Quantity::KineticEnergy => energy::pull_kinetic(m, weights[0], out),
                _ => {} // time is no input
            },
            SensorObject::Geoms(sets) => match (what, &mut self.search) {
                (Quantity::Contact(report), _) => self.contacts.pull(m, sets, report, weights),
                (_, Some(search)) => nearest::pull(m, search, s, weights, out)?,
                _ => {}
            },
            SensorObject::Joint(id) => coordinate::pull_joint(m, id, what, &self.saturation, weights, out),
            SensorObject::Tendon(t) => coordinate::pull_tendon(m, t, what, weights[0], out),
            SensorObject::Actuator(id) => coordinate::pull_actuator(m, id.0, what, weights[0], out),
            SensorObject::Frame(id) if is_load(s) => self.pull_load(m, id, what, Vec3::from_slice(weights)),
            SensorObject::Frame(id) if is_ray(s) => ray::pull(m, id, what, weights, out)?,
            _ if what == Quantity::Quaternion => frame::pull_quaternion(m, s.object, s.reference, weights, out),
            _ => frame::pull(m, &self.dkin.A, s.object, s.reference, what, Vec3::from_slice(weights), out),
        }
        Ok(())
    }

    fn pull_load(&mut self, m: &Snapshot, frame: FrameId, what: Quantity, w: Vec3) {
        let SensorReverse { load_adjoint, loads, adjoint, .. } = self;
        let link = links::link_of(m.model, frame);
        match what {
            Quantity::Force => load_adjoint.between(m, loads, link, frame, [w, Vec3::ZERO], adjoint),
            Quantity::Torque => load_adjoint.between(m, loads, link, frame, [Vec3::ZERO, w], adjoint),
            Quantity::SubtreeCenterOfMass => load_adjoint.center(m, loads, link, w, adjoint),
            Quantity::SubtreeLinearVelocity => load_adjoint.velocity(loads, link, w),
            _ => load_adjoint.angular_momentum(m, loads, link, w, adjoint),
        }
    }

    /// Touch sensors and forces of limits: impulses along their own axes.   (sens-12)
    fn pull_sums(&mut self, m: &Snapshot, layout: &SensorLayout, weights: &[f64]) {
        let per_step = 1.0 / m.model.options().dt;
        let weight = |k: usize| weights[layout.ranges[k].start] * per_step;
        for volume in layout.site_volumes.iter().filter(|volume| weight(volume.sensor) != 0.0) {
            for contact in constraint_force::contacts(m).filter(|c| volume.contains(m, c)) {
                self.adjoint.lambda[contact.row + 2] += weight(volume.sensor);
            }
        }
        for (k, s) in m.model.sensors().iter().enumerate().filter(|(_, s)| s.quantity == Quantity::LimitForce) {
            for limit in constraint_force::limits(m).filter(|l| l.object == s.object) {
                self.adjoint.lambda[limit.row] += weight(k);
            }
        }
    }
}
