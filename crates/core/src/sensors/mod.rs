//! Sensors of a model, read from a finished step, and their derivatives.   (sens-1 … sens-19)
//!
//! Readings belong to the state at the beginning of the step, as contacts do; accelerations and forces are those of the
//! step, `(v_next − u − v)/dt`. The free-rotation correction u is subtracted, since no force causes it. The numbers are those of
//! MuJoCo's `sensordata` for the same state and accelerations, without noise.
//! [`Step::sensors`](crate::Step::sensors) fills a [`Sensors`], which is memory for one model.
#![allow(non_snake_case)]

mod adjoint;
mod constraint_force;
mod contact;
mod contact_adjoint;
mod coordinate;
mod energy;
mod error;
mod frame;
mod geom_set;
mod inside;
mod jacobian;
mod layout;
mod links;
mod load;
mod load_adjoint;
mod nearest;
mod needs;
mod parameters;
mod ray;
mod reverse;
mod snapshot;
mod support;
#[cfg(test)]
mod tests;
mod touch;
mod touching;

pub use error::SensorError;
pub use jacobian::{SensorJacobian, SensorRows};

use crate::collision::PairSearch;
use crate::dynamics;
use crate::error::InputError;
use crate::model::{JointId, Model, Quantity, Sensor, SensorObject};
use crate::spatial::Motion;
use crate::step::Step;
use constraint_force::ConstraintForce;
use coordinate::Limit;
use core::ops::Range;
use jacobian::Derivatives;
use layout::SensorLayout;
use load::LinkWrenches;
use needs::is_summed;
use snapshot::Snapshot;
use touching::Touching;

/// Readings of all sensors of a model, and the memory to make them; nothing is allocated after its construction.
///
/// The numbers of a sensor have the frame that its [`Quantity`] implies, SI units; there are
/// [`Quantity::size`] of them.
#[derive(Debug, Clone)]
pub struct Sensors {
    layout: SensorLayout,
    /// One after the other, in the order of `Model::sensors`.
    values: Vec<f64>,
    /// Acceleration of each body, gravity counted as upward acceleration of the world.
    A: Vec<Motion>,
    loads: LinkWrenches,
    /// Generalized forces of the actuators (nv).
    tau: Vec<f64>,
    /// The contacts that are felt.
    touching: Vec<Touching>,
    /// Memory of searches for nearest points, if there are any.
    search: Option<Box<PairSearch>>,
    /// Memory of derivatives, made when the first one is asked for.
    derivatives: Option<Box<Derivatives>>,
}

impl Step<'_> {
    /// Reads all sensors of the model.
    pub fn sensors(&self, out: &mut Sensors) -> Result<(), InputError> {
        out.check(self.model)?;
        out.read(&Snapshot::of_step(self));
        Ok(())
    }
}

impl Sensors {
    /// Memory for a model; readings are zero until a step fills them.
    pub fn new(model: &Model) -> Sensors {
        let layout = SensorLayout::new(model);
        Sensors {
            values: vec![0.0; layout.size()],
            A: vec![Motion::ZERO; model.n_bodies()],
            loads: LinkWrenches::new(model),
            tau: vec![0.0; model.nv()],
            touching: Vec::new(),
            search: layout.needs.nearest.then(|| Box::new(PairSearch::new())),
            layout,
            derivatives: None,
        }
    }

    /// The numbers of one sensor, by its index in [`Model::sensors`].
    pub fn get(&self, index: usize) -> Result<&[f64], SensorError> {
        Ok(&self.values[self.layout.range(index)?])
    }

    /// The numbers of one sensor, by its name.
    pub fn named(&self, name: &str) -> Result<&[f64], SensorError> {
        Ok(&self.values[self.layout.named(name)?])
    }

    /// The numbers of all sensors in a row; an error if one of them cannot be read.
    pub fn values(&self) -> Result<&[f64], SensorError> {
        Ok(&self.values[self.layout.all()?])
    }

    /// Where the numbers of each sensor are among [`Sensors::values`].
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.layout.ranges
    }

    /// Reads everything.
    fn read(&mut self, m: &Snapshot) {
        self.read_unclamped(m);
        self.layout.clamp(&mut self.values);
    }

    /// Reads everything as if no sensor had a cutoff.
    fn read_unclamped(&mut self, m: &Snapshot) {
        self.prepare(m);
        for (k, s) in m.model.sensors().iter().enumerate() {
            if is_summed(s) {
                self.values[self.layout.ranges[k].start] = 0.0;
            }
        }
        constraint_force::all(m).for_each(|force| self.add_constraint_force(m, force));
        for (k, s) in m.model.sensors().iter().enumerate() {
            if self.layout.is_readable(k) && !is_summed(s) {
                self.measure(m, s, self.layout.ranges[k].clone());
            }
        }
    }

    /// Adds a force to the sensors that sum up constraint forces.
    fn add_constraint_force(&mut self, m: &Snapshot, force: ConstraintForce) {
        match force {
            ConstraintForce::Contact(contact) => {
                for volume in &self.layout.site_volumes {
                    self.values[self.layout.ranges[volume.sensor].start] += volume.normal_force(m, &contact);
                }
            }
            ConstraintForce::Equality(_) => {}
            ConstraintForce::Limit(limit) => {
                let reads = |s: &Sensor| s.quantity == Quantity::LimitForce && s.object == limit.object;
                for (k, _) in m.model.sensors().iter().enumerate().filter(|(_, s)| reads(s)) {
                    self.values[self.layout.ranges[k].start] += limit.force;
                }
            }
        }
    }

    /// Computes what several sensors use: accelerations of bodies, wrenches of links, forces of actuators.
    fn prepare(&mut self, m: &Snapshot) {
        if self.layout.needs.actuation {
            match m.ctrl {
                Some(ctrl) => dynamics::actuate(m.model, m.kin, m.q, m.v, ctrl, &mut self.tau),
                None => self.tau.fill(0.0),
            }
        }
        if self.layout.needs.acceleration {
            m.accelerate(&mut self.A);
        }
        if self.layout.needs.loads {
            self.loads.write(m, &self.A);
        }
        if self.layout.needs.touching {
            touching::list(m, &mut self.touching);
        }
    }

    fn measure(&mut self, m: &Snapshot, s: &Sensor, range: Range<usize>) {
        let out = &mut self.values[range];
        match s.object {
            SensorObject::World => read_world(m, s.quantity, out),
            SensorObject::Geoms(sets) => match (s.quantity, &mut self.search) {
                (Quantity::Contact(report), _) => contact::read(m, &self.touching, sets, report, out),
                (_, Some(search)) => nearest::read(m, search, s, out),
                _ => {}
            },
            SensorObject::Joint(id) => read_joint(m, id, s.quantity, &self.tau, out),
            SensorObject::Tendon(t) => out[0] = read_tendon(m, t, s.quantity),
            SensorObject::Actuator(id) => {
                let [length, velocity, force] = coordinate::actuator(m, id.0);
                out[0] = match s.quantity {
                    Quantity::Position => length,
                    Quantity::Velocity => velocity,
                    _ => force,
                };
            }
            SensorObject::Frame(_) | SensorObject::Inertial(_) => read_frame(m, &self.A, &self.loads, s, out),
        }
    }
}

fn read_world(m: &Snapshot, what: Quantity, out: &mut [f64]) {
    match what {
        Quantity::Clock => out[0] = m.time,
        Quantity::PotentialEnergy => out[0] = energy::potential(m),
        Quantity::KineticEnergy => out[0] = energy::kinetic(m),
        _ => out.fill(0.0), // what a program would write
    }
}

fn read_joint(m: &Snapshot, id: JointId, what: Quantity, tau: &[f64], out: &mut [f64]) {
    let joint = &m.model.joints()[id.0];
    let (q, v) = (&m.q[joint.q.clone()], &m.v[joint.v.clone()]);
    match what {
        Quantity::Position => out[0] = q[0],
        Quantity::Velocity => out[0] = v[0],
        Quantity::Quaternion => out.copy_from_slice(q),
        Quantity::AngularVelocity => out.copy_from_slice(v),
        Quantity::ActuatorForce => out[0] = tau[joint.v.start],
        what => out[0] = Limit::reading(coordinate::joint_limit(m, joint), what),
    }
}

fn read_tendon(m: &Snapshot, tendon: usize, what: Quantity) -> f64 {
    match what {
        Quantity::Position => coordinate::tendon(m, tendon).0,
        Quantity::Velocity => coordinate::tendon(m, tendon).1,
        Quantity::ActuatorForce => coordinate::tendon_force(m, tendon),
        what => Limit::reading(coordinate::tendon_limit(m, tendon), what),
    }
}

fn read_frame(m: &Snapshot, A: &[Motion], loads: &LinkWrenches, s: &Sensor, out: &mut [f64]) {
    if let (Quantity::InsideSite, Some(site)) = (s.quantity, s.reference) {
        out[0] = f64::from(inside::is_inside(m, site, frame::origin(m, s.object)));
        return;
    }
    let SensorObject::Frame(id) = s.object else {
        return out.copy_from_slice(&frame::read(m, A, s.object, s.reference, s.quantity).to_array());
    };
    let link = links::link_of(m.model, id);
    let numbers = match s.quantity {
        Quantity::Quaternion => return out.copy_from_slice(&frame::quaternion(m, s.object, s.reference).to_array()),
        Quantity::RangeFinder(data) => return ray::read(m, id, data, out),
        Quantity::Force => loads.between(m, link, id).lin,
        Quantity::Torque => loads.between(m, link, id).ang,
        Quantity::SubtreeCenterOfMass => loads.center(m, link),
        Quantity::SubtreeLinearVelocity => loads.velocity(link),
        Quantity::SubtreeAngularMomentum => loads.angular_momentum(m, link),
        what => frame::read(m, A, s.object, s.reference, what),
    };
    out.copy_from_slice(&numbers.to_array());
}
