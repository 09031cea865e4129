//! Derivatives of a step allocate nothing once their memory has grown to the contacts that there are: every allocation of
//! this binary is counted.

mod counting;

use counting::allocations;
use slipstick_core::gradient::{InputDirection, InputGrad, OutputGrad};
use slipstick_core::model::{
    Activation, Actuator, ActuatorId, ContactData, ContactReport, Dynamics, FrameId, GeomId, GeomSet, GeomSpec,
    GradientMode, JointId, JointKind, JointSpec, Mesh, ParameterGroup, Quantity, RayData, Reduce, Sensor, SensorObject,
    Shape, Transmission,
};
use slipstick_core::sensors::Sensors;
use slipstick_core::spatial::*;
use slipstick_core::*;

/// Shapes of every kind over a floor, each with a limb on a limited, driven hinge with springs and dry friction.
fn heap() -> Model {
    let mut b = ModelBuilder::new("heap");
    let corners = (0..8).map(|k| vec3((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64) * 0.2).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let mesh = b.add_mesh(Mesh { name: "cube".into(), vertices: corners, triangles });
    b.add_geom(ModelBuilder::WORLD, GeomSpec::new("floor", Shape::Plane));
    let inertia = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let shapes = [
        Shape::Sphere { radius: 0.1 },
        Shape::Capsule { radius: 0.05, half_length: 0.1 },
        Shape::Cylinder { radius: 0.1, half_length: 0.1 },
        Shape::Box { half_size: vec3(0.1, 0.12, 0.08) },
        Shape::Ellipsoid { radii: vec3(0.1, 0.12, 0.08) },
        Shape::Mesh { mesh },
    ];
    for (k, shape) in shapes.into_iter().enumerate() {
        let free = JointSpec::new(format!("root{k}"), JointKind::Free);
        let link = b.add_link(ModelBuilder::WORLD, format!("link{k}"), Pose::IDENTITY, inertia, vec![free]);
        b.add_geom(link, GeomSpec::new(format!("geom{k}"), shape));
        let kind = JointKind::Revolute { axis: Vec3::UNITS[k % 3] };
        let hinge = JointSpec {
            range: Some([-0.2, 0.2]),
            dry_friction: 0.1,
            damping: 0.1,
            stiffness: 1.0,
            ..JointSpec::new(format!("hinge{k}"), kind)
        };
        let limb = b.add_link(link, format!("limb{k}"), Pose::translation(vec3(0.25, 0.0, 0.0)), inertia, vec![hinge]);
        b.add_geom(limb, GeomSpec::new(format!("end{k}"), Shape::Sphere { radius: 0.05 }));
        let servo = Actuator::position(format!("servo{k}"), JointId(2 * k + 1), 5.0, 0.5);
        let filter = Activation::new(Dynamics::ExactFilter { time_constant: 0.02 });
        b.add_actuator(if k % 2 == 0 { servo.with_activation(Activation { early: k == 0, ..filter }) } else { servo });
    }
    let paddle = b.add_mocap("paddle", Pose::translation(vec3(0.0, 0.0, 0.05)), inertia);
    b.add_geom(paddle, GeomSpec::new("paddle", Shape::Box { half_size: vec3(0.5, 0.5, 0.02) }));
    for (k, transmission) in [
        Transmission::Site { site: FrameId(2), reference: None },
        Transmission::Site { site: FrameId(4), reference: Some(FrameId(3)) },
        Transmission::SliderCrank { crank: FrameId(6), slider: FrameId(5), rod: 2.0 },
    ]
    .into_iter()
    .enumerate()
    {
        b.add_actuator(Actuator { transmission, ..Actuator::position(format!("between{k}"), JointId(0), 0.5, 0.1) });
    }
    measure(&mut b);
    b.build().expect("sound")
}

/// Sensors of every kind on every link and joint; some cannot be read.
fn measure(b: &mut ModelBuilder) {
    let links = b.site_frame(0).0;
    for link in 0..links {
        b.add_zone(FrameId(link), format!("site{link}"), Pose::IDENTITY, Shape::Sphere { radius: 0.2 });
    }
    let sites = (links..2 * links).map(|k| SensorObject::Frame(FrameId(k)));
    let joints = (0..12).map(|k| SensorObject::Joint(JointId(k)));
    let actuators = (0..9).map(|k| SensorObject::Actuator(ActuatorId(k)));
    let quantities = [
        Quantity::Position,
        Quantity::Quaternion,
        Quantity::LinearVelocity,
        Quantity::Accelerometer,
        Quantity::Force,
        Quantity::Torque,
        Quantity::Touch,
        Quantity::SubtreeAngularMomentum,
        Quantity::ActuatorForce,
        Quantity::LimitForce,
        Quantity::LimitVelocity,
        Quantity::Magnetometer,
        Quantity::RangeFinder(RayData::DISTANCE.with(RayData::POINT)),
    ];
    for (object, quantity) in sites.chain(joints).chain(actuators).flat_map(|o| quantities.map(|q| (o, q))) {
        b.add_sensor(Sensor::new("", quantity, object));
    }
    for quantity in [Quantity::PotentialEnergy, Quantity::KineticEnergy] {
        b.add_sensor(Sensor { cutoff: 1e6, ..Sensor::new("", quantity, SensorObject::World) });
    }
    for link in 1..7 {
        let report =
            ContactReport { data: ContactData::FORCE.with(ContactData::DISTANCE), slots: 3, reduce: Reduce::Strongest };
        let pair = SensorObject::Geoms([GeomSet::Subtree(FrameId(link)), GeomSet::Any]);
        b.add_sensor(Sensor::new("", Quantity::Contact(report), pair));
        let apart = SensorObject::Geoms([GeomSet::Link(FrameId(link)), GeomSet::Geom(GeomId(0))]);
        b.add_sensor(Sensor { cutoff: 10.0, ..Sensor::new("", Quantity::Distance, apart) });
    }
}

fn start(model: &Model) -> State {
    let mut x = State::neutral(model);
    for k in 0..6 {
        let a = k as f64;
        let place = [0.2 * (a * 1.7).sin(), 0.2 * (a * 2.3).cos(), 0.2 + 0.15 * a];
        x.q[8 * k..8 * k + 3].copy_from_slice(&place);
    }
    x
}

/// Memory for everything that can be asked of a step.
struct Asked {
    vectors: [Vec<f64>; 4],
    rows: [Vec<f64>; 3],
    impulses: Vec<f64>,
    parameters: [Vec<f64>; 2],
    sensors: Sensors,
    weights: Vec<f64>,
}

impl Asked {
    fn new(model: &Model) -> Asked {
        let (nv, sensors) = (model.nv(), Sensors::new(model));
        let mut weights = vec![0.0; sensors.ranges().last().map_or(0, |r| r.end)];
        for (k, range) in sensors.ranges().iter().enumerate().filter(|(k, _)| sensors.get(*k).is_ok()) {
            weights[range.clone()].fill(0.1 + k as f64);
        }
        let most = ParameterGroup::ALL.iter().map(|g| model.parameters().group(*g).len()).max().unwrap_or(0);
        Asked {
            vectors: [0; 4].map(|_| vec![0.1; nv]),
            rows: [0; 3].map(|_| vec![0.0; 3 * nv]),
            impulses: vec![0.1; 3 * 400],
            parameters: [0; 2].map(|_| vec![0.0; nv * most]),
            sensors,
            weights,
        }
    }

    /// Asks for everything, forward and reverse.
    fn ask(&mut self, model: &Model, done: &mut Step) {
        let (nv, nu, na, contacts) = (model.nv(), model.nu(), model.na(), done.contacts().count());
        let [a, b, c, d] = &mut self.vectors;
        let mut act = [0.0; 3];
        done.jacobian().expect("a derivative");
        let direction = InputDirection { q: &*a, v: &*a, tau: &*a, ctrl: &a[..nu], act: &a[..na] };
        done.jvp(direction, b, c).expect("a derivative");
        done.jvp_act(direction, &mut act).expect("a derivative");
        let w = OutputGrad { q: &*a, v: &*a, impulses: &self.impulses[..3 * contacts], act: &a[..na] };
        let [x, y, z] = &mut self.rows;
        let out = InputGrad { q: &mut x[..nv], v: &mut y[..nv], tau: &mut z[..nv], ctrl: &mut d[..nu], act: &mut act };
        done.vjp(w, out).expect("a derivative");
        for group in ParameterGroup::ALL {
            let n = model.parameters().group(group).len();
            let [p, q] = &mut self.parameters;
            done.vjp_parameters(w, group, &mut p[..n]).expect("a derivative");
            done.parameter_jacobian(group, &mut p[..nv * n], &mut q[..nv * n]).expect("a derivative");
            done.sensor_vjp_parameters(&self.weights, group, &mut self.sensors, &mut p[..n]).expect("a derivative");
        }
        let out = InputGrad { q: &mut x[..nv], v: &mut y[..nv], tau: &mut z[..nv], ctrl: &mut d[..nu], act: &mut act };
        done.sensor_vjp(&self.weights, out, &mut self.sensors).expect("a derivative");
        done.sensor_jacobian(&mut self.sensors).expect("a derivative");
        done.vjp_mocap(w, &mut x[..6]).expect("a derivative");
        done.jvp_mocap(&a[..6], b, c).expect("a derivative");
        let [p, q] = &mut self.parameters;
        done.mocap_jacobian(&mut p[..6 * nv], &mut q[..6 * nv]).expect("a derivative");
        for k in 0..contacts {
            done.impulse_jacobian(k, [x, y, z]).expect("a derivative");
        }
    }
}

#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(vec![0.0; 100])) > 0);
}

#[test]
fn derivatives_of_a_heap_allocate_nothing_after_warm_up() {
    let modes =
        [GradientMode::Exact, GradientMode::ExactForwardCentral { kappa: 1e-3 }, GradientMode::Central { kappa: 1e-3 }];
    for mode in modes {
        let mut options = heap().options().clone();
        options.gradient = mode;
        let model = heap().with_options(options).expect("sound");
        let (mut data, ctrl, mut asked) = (Data::new(&model), vec![0.1; model.nu()], Asked::new(&model));
        let mut most = 0;
        for round in 0..2 {
            data.clear_warm_start();
            let (mut x, mut next) = (start(&model), start(&model));
            for k in 0..500 {
                let mocap = [0.1, 0.0, 0.05 + 1e-4 * f64::from(k), 1.0, 0.02, 0.0, 0.0];
                let used = allocations(|| {
                    let input = Input::ctrl(&ctrl).with_mocap(&mocap);
                    let done = step(&model, &mut data, &x, &input, &mut next);
                    let mut done = done.expect("finite");
                    if k % 10 == 0 {
                        asked.ask(&model, &mut done);
                        most = most.max(done.contacts().count());
                    }
                });
                assert!(round == 0 || used == 0, "{mode:?}: {used} allocations after warm-up, step {k}");
                std::mem::swap(&mut x, &mut next);
            }
        }
        assert!(most > 7, "a heap has many contacts, not {most}");
    }
}
