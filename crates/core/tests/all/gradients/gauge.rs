//! Readings of sensors differentiated by brute force: every quantity on every object that has it.

use super::oracle::*;
use crate::properties::random_tree::Rng;
use nalgebra::DMatrix;
use slipstick_core::model::{ActuatorId, FrameId, JointId, Quantity, RayData, Sensor, SensorObject, Shape};
use slipstick_core::sensors::Sensors;
use slipstick_core::*;

/// What a range finder reports, but for the normal, which has no derivative by sizes.
const RAY: RayData = RayData::DISTANCE.with(RayData::DIRECTION).with(RayData::ORIGIN).with(RayData::POINT);

/// Slope that no ray has.
const JUMP: f64 = 20.0;

pub const QUANTITIES: [Quantity; 28] = [
    Quantity::Clock,
    Quantity::Position,
    Quantity::Velocity,
    Quantity::ActuatorForce,
    Quantity::Quaternion,
    Quantity::XAxis,
    Quantity::YAxis,
    Quantity::ZAxis,
    Quantity::LinearVelocity,
    Quantity::AngularVelocity,
    Quantity::LinearAcceleration,
    Quantity::AngularAcceleration,
    Quantity::Accelerometer,
    Quantity::Velocimeter,
    Quantity::Gyro,
    Quantity::Force,
    Quantity::Torque,
    Quantity::Touch,
    Quantity::SubtreeCenterOfMass,
    Quantity::SubtreeLinearVelocity,
    Quantity::SubtreeAngularMomentum,
    Quantity::LimitPosition,
    Quantity::LimitVelocity,
    Quantity::LimitForce,
    Quantity::Magnetometer,
    Quantity::RangeFinder(RAY),
    Quantity::PotentialEnergy,
    Quantity::KineticEnergy,
];

/// Adds each quantity on each joint, tendon, actuator, link, site and center of mass, with and without a reference; many of
/// them do not exist and cannot be read.
pub fn instrument(mut b: ModelBuilder, rng: &mut Rng) -> Model {
    let links = b.site_frame(0).0;
    for link in 0..links {
        b.add_zone(FrameId(link), format!("site{link}"), rng.pose(), Shape::Sphere { radius: 0.6 });
    }
    let bare = b.clone().build().expect("a sound model");
    let frames = 2 * links;
    let mut objects = vec![SensorObject::World];
    objects.extend((0..bare.joints().len()).map(|k| SensorObject::Joint(JointId(k))));
    objects.extend((0..bare.tendons().len()).map(SensorObject::Tendon));
    objects.extend((0..bare.nu()).map(|k| SensorObject::Actuator(ActuatorId(k))));
    objects.extend((0..frames).map(|k| SensorObject::Frame(FrameId(k))));
    objects.extend((0..links).map(|k| SensorObject::Inertial(FrameId(k))));
    for (object, quantity) in objects.into_iter().flat_map(|o| QUANTITIES.map(|q| (o, q))) {
        let of_frame = matches!(object, SensorObject::Frame(_) | SensorObject::Inertial(_));
        let from = of_frame.then(|| Some(FrameId(rng.below(frames))));
        for reference in [Some(None), from].into_iter().flatten() {
            let name = format!("{quantity:?} of {object:?} from {reference:?}");
            b.add_sensor(Sensor { reference, ..Sensor::new(name, quantity, object) });
        }
    }
    b.build().expect("a sound model")
}

/// A lab with sensors.
pub struct Gauge {
    pub lab: Lab,
    pub sensors: Sensors,
}

/// Errors of single columns of the derivatives of single sensors, and which quantities changed at all.
#[derive(Default)]
pub struct Found {
    errors: Vec<(f64, String)>,
    changed: Vec<Quantity>,
}

impl Gauge {
    pub fn new(lab: Lab) -> Gauge {
        let sensors = Sensors::new(&lab.model);
        Gauge { lab, sensors }
    }

    /// Readings at the present inputs, zeros where there are none.
    pub fn read(&mut self) -> Vec<f64> {
        self.lab.step().sensors(&mut self.sensors).expect("fits");
        let ranges = self.sensors.ranges().to_vec();
        let of = |k: usize| self.sensors.get(k).map_or(vec![0.0; ranges[k].len()], <[f64]>::to_vec);
        (0..ranges.len()).flat_map(of).collect()
    }

    pub fn readable(&self) -> Vec<usize> {
        (0..self.sensors.ranges().len()).filter(|k| self.sensors.get(*k).is_ok()).collect()
    }

    /// Blocks of each sensor that can be read.
    pub fn jacobian(&mut self) -> Vec<[DMatrix<f64>; 4]> {
        let readable = self.readable();
        let mut done = self.lab.step();
        let j = done.sensor_jacobian(&mut self.sensors).expect("a derivative");
        let rows = |k: &usize| {
            let r = j.get(*k).expect("readable");
            [r.dq, r.dv, r.dtau, r.dctrl].map(|m| DMatrix::from_fn(m.rows(), m.cols(), |i, c| m[(i, c)]))
        };
        readable.iter().map(rows).collect()
    }

    /// (plus − minus) / 2h of all readings along a coordinate of an input; `None` where modes differ.
    fn difference(&mut self, kind: usize, j: usize, h: f64, base: &Outcome) -> Option<Vec<f64>> {
        let kept = self.lab.at.clone();
        let mut at = |h: f64| {
            self.lab.at.shift(&self.lab.model, kind, j, h);
            let out = (self.lab.evaluate().modes == base.modes).then(|| self.read());
            self.lab.at = kept.clone();
            out
        };
        let (plus, minus) = (at(h)?, at(-h)?);
        // a limit that is passed within the difference has a kink there
        let (passed, ranges) = (|a: f64, b: f64| (a == 0.0) != (b == 0.0), self.sensors.ranges());
        let mut out: Vec<f64> = plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        for (s, range) in self.lab.model.sensors().iter().zip(ranges) {
            let k = range.start;
            if matches!(s.quantity, Quantity::LimitPosition | Quantity::LimitVelocity) && passed(plus[k], minus[k]) {
                out[k] = f64::INFINITY;
            }
        }
        self.leave_jumps_out(&mut out);
        Some(out)
    }

    /// A ray that begins on a surface, or passes an edge, jumps to another geom: its difference is no derivative.
    pub fn leave_jumps_out(&self, difference: &mut [f64]) {
        for (s, range) in self.lab.model.sensors().iter().zip(self.sensors.ranges()) {
            let own = &mut difference[range.clone()];
            if s.quantity == Quantity::RangeFinder(RAY) && own.iter().any(|x| x.abs() > JUMP) {
                own.fill(f64::INFINITY);
            }
        }
    }

    /// Compares all blocks with the best of their differences.
    pub fn audit(&mut self, what: &str, found: &mut Found) {
        let (readable, blocks, base) = (self.readable(), self.jacobian(), self.lab.evaluate());
        let (unit, sensors) = (self.lab.velocity_per_force(), self.lab.model.sensors().to_vec());
        let ranges = self.sensors.ranges().to_vec();
        for (kind, n) in self.lab.inputs().into_iter().enumerate() {
            for j in 0..n {
                let mut best = vec![f64::INFINITY; readable.len()];
                for h in [1e-5, 1e-6, 1e-7, 1e-8].map(|h| [h, 10.0 * h, 10.0 * h / unit, 10.0 * h / unit][kind]) {
                    let Some(d) = self.difference(kind, j, h, &base) else { continue };
                    for (n, k) in readable.iter().enumerate() {
                        let scale = blocks[n][kind].amax().max([1.0, 1.0, unit, unit][kind]);
                        best[n] = best[n].min(column_error(&blocks[n][kind], j, &d[ranges[*k].clone()]) / scale);
                    }
                }
                for (n, e) in best.into_iter().enumerate().filter(|(_, e)| e.is_finite()) {
                    let (sensor, input) = (&sensors[readable[n]], ["q", "v", "tau", "ctrl"][kind]);
                    let what = format!("{what}: {} by {input} {j}", sensor.name);
                    found.add(e, what, sensor.quantity, blocks[n][kind].amax() > 0.0);
                }
            }
        }
    }
}

impl Found {
    /// One more error, and whether the derivative is other than zero.
    pub fn add(&mut self, error: f64, what: String, quantity: Quantity, changes: bool) {
        self.errors.push((error, what));
        if changes && !self.changed.contains(&quantity) {
            self.changed.push(quantity);
        }
    }

    /// All errors are small, and there are many of them.
    pub fn judge(&mut self, tolerance: f64, least: usize) {
        self.errors.sort_by(|a, b| b.0.total_cmp(&a.0));
        let worst: Vec<String> = self.errors.iter().take(10).map(|(e, what)| format!("{e:e} {what}")).collect();
        let count = self.errors.len();
        assert!(count >= least, "{count} columns compared");
        assert!(self.errors[0].0 <= tolerance, "{count} columns, the worst:\n{}", worst.join("\n"));
    }

    /// Quantities that had no derivative but zero.
    pub fn constant(&self) -> Vec<Quantity> {
        QUANTITIES.into_iter().filter(|q| !self.changed.contains(q)).collect()
    }
}
