//! Sensors: what a file wants to have measured, read from a finished step.   (sens-1 … sens-6)
//!
//! Readings belong to the state at the beginning of the step, as contacts do; accelerations and forces are those of the
//! step, `(v_next − v)/dt`. The numbers are those of MuJoCo's `sensordata` for the same state and accelerations, without
//! noise and cutoff. [`Step::sensors`](crate::Step::sensors) fills a [`Sensors`], which is memory for one model.
#![allow(non_snake_case)]

mod coordinate;
mod error;
mod frame;
mod links;
mod load;
mod push;
mod support;
#[cfg(test)]
mod tests;
mod touch;

pub use error::SensorError;

use crate::check;
use crate::dynamics::{self, Kinematics, Wrench};
use crate::error::InputError;
use crate::model::{BodyId, JointId, Model, Quantity, Sensor, SensorObject, StructureId};
use crate::spatial::{Motion, Vec3};
use crate::state::{Input, State};
use crate::step::Step;
use coordinate::Limit;
use core::ops::Range;
use load::Loads;
use push::Push;
use touch::Zone;

/// Readings of all sensors of a model, and the memory to make them; nothing is allocated after its construction.
///
/// The numbers of a sensor have the frame that its [`Quantity`] implies, SI units; there are
/// [`Quantity::size`] of them.
#[derive(Debug, Clone)]
pub struct Sensors {
    structure: StructureId,
    /// One after the other, in the order of `Model::sensors`.
    values: Vec<f64>,
    ranges: Vec<Range<usize>>,
    /// Why a sensor cannot be read.
    unsupported: Vec<Option<&'static str>>,
    names: Vec<String>,
    needs: Needs,
    /// Acceleration of each body, gravity counted as upward acceleration of the world.
    A: Vec<Motion>,
    loads: Loads,
    zones: Vec<Zone>,
    /// Generalised forces of the actuators (nv).
    tau: Vec<f64>,
}

/// What must be computed before the sensors are read one by one.
#[derive(Debug, Clone, Copy, Default)]
struct Needs {
    acceleration: bool,
    loads: bool,
    actuation: bool,
}

/// What a finished step knows. Poses, axes, velocities, inertias and the accelerations of a = 0 are in `kin`.
struct Moment<'a> {
    pub model: &'a Model,
    pub kin: &'a Kinematics,
    pub x: &'a State,
    /// (v_next − v) / dt (nv).
    pub acceleration: &'a [f64],
    /// `None`: the actuators were off.
    pub ctrl: Option<&'a [f64]>,
    pub wrenches: &'a [Wrench],
}

impl Moment<'_> {
    /// Point at which spatial vectors of a body are taken, world axes.
    fn origin(&self, body: BodyId) -> Vec3 {
        if body == BodyId::WORLD { Vec3::ZERO } else { self.kin.origin[self.model.tree().nodes[body.0].tree] }
    }
}

impl Step<'_> {
    /// Reads all sensors of the model. `x`, `ctrl` (`None` after [`step`](crate::step()), which has no actuators) and
    /// `input` are those that the step was made with.
    pub fn sensors(&self, x: &State, ctrl: Option<&[f64]>, input: &Input, out: &mut Sensors) -> Result<(), InputError> {
        let (model, data) = (self.model, &*self.data);
        out.structure.check(model, "memory for sensors")?;
        model.check_q(&x.q)?;
        check::vector("v", &x.v, model.nv())?;
        ctrl.map_or(Ok(()), |c| check::vector("ctrl", c, model.nu()))?;
        dynamics::check_wrenches(model, input.wrenches)?;
        let acceleration = &data.acceleration;
        let moment = Moment { model, kin: &data.kin, x, acceleration, ctrl, wrenches: input.wrenches };
        out.read(&moment, push::all(self));
        Ok(())
    }
}

impl Sensors {
    /// Memory for a model; readings are zero until a step fills them.
    pub fn new(model: &Model) -> Sensors {
        let mut end = 0;
        let ranges = model.sensors().iter().map(|s| {
            end += s.quantity.size(s.object);
            end - s.quantity.size(s.object)..end
        });
        let ranges = ranges.collect();
        let name = |(k, s): (usize, &Sensor)| if s.name.is_empty() { k.to_string() } else { s.name.clone() };
        Sensors {
            structure: model.structure_id(),
            values: vec![0.0; end],
            ranges,
            unsupported: model.sensors().iter().map(|s| support::missing(model, s)).collect(),
            names: model.sensors().iter().enumerate().map(name).collect(),
            needs: needs(model),
            A: vec![Motion::ZERO; model.n_bodies()],
            loads: Loads::new(model),
            zones: touch::zones(model),
            tau: vec![0.0; model.nv()],
        }
    }

    /// The numbers of one sensor, by its place in [`Model::sensors`].
    pub fn get(&self, index: usize) -> Result<&[f64], SensorError> {
        let count = self.ranges.len();
        let range = self.ranges.get(index).ok_or(InputError::OutOfRange { what: "sensor", count, got: index })?;
        match self.unsupported[index] {
            Some(why) => Err(SensorError::Unsupported { sensor: self.names[index].clone(), why }),
            None => Ok(&self.values[range.clone()]),
        }
    }

    /// The numbers of one sensor, by its name.
    pub fn named(&self, name: &str) -> Result<&[f64], SensorError> {
        let index = self.names.iter().position(|n| n == name);
        self.get(index.ok_or_else(|| InputError::UnknownName { what: "sensor", name: name.into() })?)
    }

    /// The numbers of all sensors in a row; an error if one of them cannot be read.
    pub fn values(&self) -> Result<&[f64], SensorError> {
        (0..self.ranges.len()).try_for_each(|k| self.get(k).map(|_| ()))?;
        Ok(&self.values)
    }

    /// Where the numbers of each sensor are among [`Sensors::values`].
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// Reads everything.
    fn read(&mut self, m: &Moment, pushes: impl Iterator<Item = Push>) {
        self.prepare(m);
        for (k, s) in m.model.sensors().iter().enumerate() {
            if is_summed(s) {
                self.values[self.ranges[k].start] = 0.0;
            }
        }
        pushes.for_each(|push| self.feel(m, push));
        if self.needs.loads {
            self.loads.pull(m, m.wrenches);
            self.loads.gather(m);
        }
        for (k, s) in m.model.sensors().iter().enumerate() {
            if self.unsupported[k].is_none() && !is_summed(s) {
                self.measure(m, s, self.ranges[k].clone());
            }
        }
    }

    /// Adds one force to whatever feels it.
    fn feel(&mut self, m: &Moment, push: Push) {
        match push {
            Push::Contact(contact) => {
                if self.needs.loads {
                    self.loads.press(m, &contact);
                }
                for zone in &self.zones {
                    self.values[self.ranges[zone.sensor].start] += zone.felt(m, &contact);
                }
            }
            Push::Equality(force) if self.needs.loads => self.loads.hold(m, &force),
            Push::Equality(_) => {}
            Push::Limit(object, force) => {
                let feels = |s: &Sensor| s.quantity == Quantity::LimitForce && s.object == object;
                for (k, _) in m.model.sensors().iter().enumerate().filter(|(_, s)| feels(s)) {
                    self.values[self.ranges[k].start] += force;
                }
            }
        }
    }

    /// Accelerations of bodies, net forces of links, forces of actuators: what several sensors share.
    fn prepare(&mut self, m: &Moment) {
        if self.needs.actuation {
            match m.ctrl {
                Some(ctrl) => dynamics::actuate(m.model, &m.x.q, &m.x.v, ctrl, &mut self.tau),
                None => self.tau.fill(0.0),
            }
        }
        if self.needs.acceleration {
            // accelerations are affine in a, and the step has left those of a = 0                              (sens-2)
            self.A[0] = m.kin.A[0];
            for i in 1..m.model.n_bodies() {
                let node = &m.model.tree().nodes[i];
                let own = node.dofs.clone().fold(Motion::ZERO, |s, j| s + m.kin.axes[j] * m.acceleration[j]);
                self.A[i] = m.kin.A[i] + (self.A[node.parent] - m.kin.A[node.parent]) + own;
            }
        }
        if self.needs.loads {
            self.loads.begin(m, &self.A);
        }
    }

    fn measure(&mut self, m: &Moment, s: &Sensor, range: Range<usize>) {
        let out = &mut self.values[range];
        match s.object {
            SensorObject::World => out[0] = m.x.time,
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

fn read_joint(m: &Moment, id: JointId, what: Quantity, tau: &[f64], out: &mut [f64]) {
    let joint = &m.model.joints()[id.0];
    let (q, v) = (&m.x.q[joint.q.clone()], &m.x.v[joint.v.clone()]);
    match what {
        Quantity::Position => out[0] = q[0],
        Quantity::Velocity => out[0] = v[0],
        Quantity::Quaternion => out.copy_from_slice(q),
        Quantity::AngularVelocity => out.copy_from_slice(v),
        Quantity::ActuatorForce => out[0] = tau[joint.v.start],
        what => out[0] = Limit::reading(coordinate::joint_limit(m, joint), what),
    }
}

fn read_tendon(m: &Moment, tendon: usize, what: Quantity) -> f64 {
    match what {
        Quantity::Position => coordinate::tendon(m, tendon).0,
        Quantity::Velocity => coordinate::tendon(m, tendon).1,
        Quantity::ActuatorForce => coordinate::tendon_force(m, tendon),
        what => Limit::reading(coordinate::tendon_limit(m, tendon), what),
    }
}

fn read_frame(m: &Moment, A: &[Motion], loads: &Loads, s: &Sensor, out: &mut [f64]) {
    let SensorObject::Frame(id) = s.object else {
        return out.copy_from_slice(&frame::read(m, A, s.object, s.reference, s.quantity).to_array());
    };
    let link = links::link_of(m.model, id);
    let numbers = match s.quantity {
        Quantity::Quaternion => return out.copy_from_slice(&frame::quaternion(m, s.object, s.reference).to_array()),
        Quantity::Force => loads.between(m, link, id).lin,
        Quantity::Torque => loads.between(m, link, id).ang,
        Quantity::SubtreeCentreOfMass => loads.centre(m, link),
        Quantity::SubtreeLinearVelocity => loads.velocity(link),
        Quantity::SubtreeAngularMomentum => loads.angular_momentum(m, link),
        what => frame::read(m, A, s.object, s.reference, what),
    };
    out.copy_from_slice(&numbers.to_array());
}

/// Sensors that add up forces of constraints.
fn is_summed(s: &Sensor) -> bool {
    matches!(s.quantity, Quantity::Touch | Quantity::LimitForce)
}

fn needs(model: &Model) -> Needs {
    let mut needs = Needs::default();
    for s in model.sensors() {
        match s.quantity {
            Quantity::Accelerometer | Quantity::LinearAcceleration | Quantity::AngularAcceleration => {
                needs.acceleration = true;
            }
            Quantity::Force
            | Quantity::Torque
            | Quantity::SubtreeCentreOfMass
            | Quantity::SubtreeLinearVelocity
            | Quantity::SubtreeAngularMomentum => (needs.acceleration, needs.loads) = (true, true),
            Quantity::ActuatorForce => needs.actuation = true,
            _ => {}
        }
    }
    needs
}
