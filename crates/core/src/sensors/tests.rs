//! What sensors must read whatever the robot.

use crate::model::*;
use crate::spatial::*;
use crate::{Data, Input, Sensors, State, Wrench, step, step_ctrl};

const BOX: Vec3 = vec3(0.1, 0.15, 0.2);

fn inertia(mass: f64) -> BodyInertia {
    BodyInertia { mass, com: vec3(0.01, -0.02, 0.03), about_com: Sym3::diagonal(vec3(0.02, 0.03, 0.025)) }
}

fn sensor(name: &str, quantity: Quantity, object: SensorObject) -> Sensor {
    Sensor { name: name.into(), quantity, object, reference: None }
}

/// A box that carries a lid on a fixed joint and an arm on a hinge of the lid; force and torque everywhere.
fn robot(start: Vec3) -> Model {
    let mut b = ModelBuilder::new("crate");
    b.add_geom(ModelBuilder::WORLD, GeomSpec::new("floor", Shape::Plane));
    let free = JointSpec {
        start: Some([start.x, start.y, start.z, 1.0, 0.0, 0.0, 0.0]),
        ..JointSpec::new("free", JointKind::Free)
    };
    let root = b.add_link(ModelBuilder::WORLD, "root", Pose::IDENTITY, inertia(2.0), vec![free]);
    b.add_geom(root, GeomSpec::new("root", Shape::Box { half_size: BOX }));
    let lid = b.add_link(root, "lid", Pose::translation(vec3(0.0, 0.0, 0.3)), inertia(0.5), vec![]);
    let hinge = JointSpec::new("hinge", JointKind::Revolute { axis: vec3(0.0, 1.0, 0.0) });
    let arm = b.add_link(
        lid,
        "arm",
        Pose::translation(vec3(0.1, 0.0, 0.1)),
        inertia(0.3),
        vec![JointSpec { range: Some([-0.2, 0.2]), ..hinge }],
    );
    b.add_actuator(Actuator::motor("motor", JointId(1), 2.0));
    for (k, link) in [root, lid, arm].into_iter().enumerate() {
        b.add_sensor(sensor(&format!("force{k}"), Quantity::Force, SensorObject::Frame(link)));
        b.add_sensor(sensor(&format!("torque{k}"), Quantity::Torque, SensorObject::Frame(link)));
    }
    b.add_sensor(sensor("limit", Quantity::LimitPosition, SensorObject::Joint(JointId(1))));
    b.add_sensor(sensor("motor", Quantity::ActuatorForce, SensorObject::Actuator(ActuatorId(0))));
    b.add_sensor(sensor("joint", Quantity::ActuatorForce, SensorObject::Joint(JointId(1))));
    b.add_sensor(sensor("clock", Quantity::Clock, SensorObject::World));
    b.add_sensor(sensor("imu", Quantity::Accelerometer, SensorObject::Frame(root)));
    b.add_sensor(sensor("mass", Quantity::SubtreeCentreOfMass, SensorObject::Frame(lid)));
    b.build().expect("sound")
}

/// Steps for a while and reads the sensors of the last step.
fn settle(model: &Model, steps: usize, ctrl: Option<&[f64]>, input: &Input) -> (State, Sensors) {
    let (mut data, mut x) = (Data::new(model), State::neutral(model));
    let (mut next, mut sensors) = (x.clone(), Sensors::new(model));
    for _ in 0..steps {
        let done = match ctrl {
            Some(ctrl) => step_ctrl(model, &mut data, &x, ctrl, input, &mut next),
            None => step(model, &mut data, &x, input, &mut next),
        };
        done.unwrap().sensors(&x, ctrl, input, &mut sensors).unwrap();
        std::mem::swap(&mut x, &mut next);
    }
    (x, sensors)
}

fn norm(sensors: &Sensors, name: &str) -> f64 {
    sensors.named(name).unwrap().iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn nothing_holds_a_free_body_but_contacts_and_wrenches() {
    let model = robot(vec3(0.0, 0.0, 0.2));
    let wrenches = [Wrench::new(BodyId(2), vec3(0.3, 0.2, -0.1), vec3(0.02, 0.0, 0.01))];
    for steps in [1, 5, 200] {
        let (_, s) = settle(&model, steps, Some(&[0.3]), &Input::default().with_wrenches(&wrenches));
        assert!(norm(&s, "force0") < 1e-9 && norm(&s, "torque0") < 1e-9, "{steps}: {:?}", s.named("force0"));
        assert!(norm(&s, "force2") > 0.1);
    }
}

#[test]
fn an_arm_at_rest_hangs_on_its_parent_with_its_weight() {
    let model = robot(vec3(0.0, 0.0, 0.2));
    let (_, s) = settle(&model, 3000, None, &Input::default());
    assert!((norm(&s, "force2") - 0.3 * 9.81).abs() < 1e-4, "{:?}", s.named("force2"));
    let imu = s.named("imu").unwrap();
    assert!((imu[2] - 9.81).abs() < 1e-4 && imu[0].abs() < 1e-4 && imu[1].abs() < 1e-4, "{imu:?}");
}

#[test]
fn a_falling_accelerometer_reads_nothing() {
    let model = robot(vec3(0.0, 0.0, 5.0));
    let (_, s) = settle(&model, 1, None, &Input::default());
    // the arm falls with the box: all joints are at rest
    assert!(norm(&s, "imu") < 1e-9 && norm(&s, "force2") < 1e-9, "{:?}", s.named("imu"));
}

#[test]
fn motors_read_their_force_and_limits_how_far_they_are_exceeded() {
    let model = robot(vec3(0.0, 0.0, 0.2));
    let (x, s) = settle(&model, 3000, Some(&[0.7]), &Input::default());
    assert_eq!(s.named("motor").unwrap(), [0.7]);
    assert_eq!(s.named("joint").unwrap(), [1.4]);
    assert!((s.named("clock").unwrap()[0] - 2.999).abs() < 1e-9, "{:?}", s.named("clock"));
    // the motor presses against the upper end, which is not exceeded
    assert!((x.q[7] - 0.2).abs() < 1e-6, "{:?}", x.q);
    assert!(s.named("limit").unwrap()[0].abs() < 1e-6, "{:?}", s.named("limit"));
}

#[test]
fn sensors_that_cannot_be_read_say_why() {
    let mut b = ModelBuilder::new("blind");
    let hinge = JointSpec::new("hinge", JointKind::Revolute { axis: vec3(0.0, 1.0, 0.0) });
    let link = b.add_link(ModelBuilder::WORLD, "link", Pose::IDENTITY, inertia(1.0), vec![hinge]);
    b.add_sensor(sensor("angle", Quantity::Position, SensorObject::Joint(JointId(0))));
    b.add_sensor(sensor("touch", Quantity::Touch, SensorObject::Frame(link)));
    b.add_sensor(sensor("", Quantity::Quaternion, SensorObject::Inertial(link)));
    let (_, s) = settle(&b.build().unwrap(), 1, None, &Input::default());
    assert_eq!(s.get(0).unwrap(), [0.0]);
    assert_eq!(
        s.named("touch").unwrap_err().to_string(),
        "sensor 'touch' cannot be read: the model does not keep the shape of its site"
    );
    assert!(s.get(2).unwrap_err().to_string().starts_with("sensor '2' cannot be read"));
    let lid = settle(&robot(vec3(0.0, 0.0, 1.0)), 1, None, &Input::default()).1;
    assert!(lid.named("force1").unwrap_err().to_string().ends_with("one of several links that are fixed together"));
    assert!(s.values().is_err() && s.get(3).is_err() && s.named("nobody").is_err());
    let other = robot(vec3(0.0, 0.0, 1.0));
    let (mut data, x) = (Data::new(&other), State::neutral(&other));
    let (mut next, mut wrong) = (x.clone(), s);
    let done = step(&other, &mut data, &x, &Input::default(), &mut next).unwrap();
    let refused = done.sensors(&x, None, &Input::default(), &mut wrong).unwrap_err();
    assert_eq!(refused.to_string(), "this memory for sensors was made for another model than 'crate'");
}
