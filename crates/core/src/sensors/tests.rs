//! What sensors must read whatever the robot.

use crate::dynamics::Wrench;
use crate::model::*;
use crate::sensors::Sensors;
use crate::spatial::*;
use crate::{Data, Input, State, Step, step};

const BOX: Vec3 = vec3(0.1, 0.15, 0.2);

fn inertia(mass: f64) -> BodyInertia {
    BodyInertia { mass, com: vec3(0.01, -0.02, 0.03), about_com: Sym3::diagonal(vec3(0.02, 0.03, 0.025)) }
}

fn sensor(name: &str, quantity: Quantity, object: SensorObject) -> Sensor {
    Sensor::new(name, quantity, object)
}

/// A box that carries a lid on a fixed joint and an arm on a hinge of the lid; force, torque and touch everywhere.
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
        b.add_zone(
            link,
            format!("site{k}"),
            Pose::translation(vec3(0.0, 0.0, -0.2)),
            Shape::Box { half_size: BOX * 2.0 },
        );
    }
    for k in 0..3 {
        let site = SensorObject::Frame(b.site_frame(k));
        for (word, quantity) in [("force", Quantity::Force), ("torque", Quantity::Torque), ("touch", Quantity::Touch)] {
            b.add_sensor(sensor(&format!("{word}{k}"), quantity, site));
        }
    }
    b.add_sensor(sensor("limit", Quantity::LimitForce, SensorObject::Joint(JointId(1))));
    b.add_sensor(sensor("motor", Quantity::ActuatorForce, SensorObject::Actuator(ActuatorId(0))));
    b.add_sensor(sensor("joint", Quantity::ActuatorForce, SensorObject::Joint(JointId(1))));
    b.add_sensor(sensor("clock", Quantity::Clock, SensorObject::World));
    b.add_sensor(sensor("imu", Quantity::Accelerometer, SensorObject::Frame(root)));
    b.add_sensor(sensor("mass", Quantity::SubtreeCenterOfMass, SensorObject::Frame(lid)));
    b.build().expect("sound")
}

/// Steps for a while and reads the sensors of the last step.
fn settle(model: &Model, steps: usize, input: &Input) -> (State, Sensors) {
    let (mut data, mut x) = (Data::new(model), State::neutral(model));
    let (mut next, mut sensors) = (x.clone(), Sensors::new(model));
    for _ in 0..steps {
        let done = step(model, &mut data, &x, input, &mut next);
        done.unwrap().sensors(&mut sensors).unwrap();
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
        let (_, s) = settle(&model, steps, &Input::ctrl(&[0.3]).with_wrenches(&wrenches));
        assert!(norm(&s, "force0") < 1e-9 && norm(&s, "torque0") < 1e-9, "{steps}: {:?}", s.named("force0"));
        assert!(norm(&s, "force1") > 1.0 && norm(&s, "force2") > 0.1);
    }
}

#[test]
fn a_step_reads_from_what_it_was_made_with_whatever_becomes_of_that() {
    let model = robot(vec3(0.0, 0.0, 0.2));
    let (mut data, mut x) = (Data::new(&model), State { time: 3.0, ..State::neutral(&model) });
    let (mut ctrl, mut wrenches) = ([0.3], [Wrench::new(BodyId(2), vec3(0.3, 0.2, -0.1), Vec3::ZERO)]);
    let [mut first, mut again] = [(); 2].map(|()| Sensors::new(&model));
    let input = Input::ctrl(&ctrl).with_wrenches(&wrenches);
    step(&model, &mut data, &x, &input, &mut x.clone()).unwrap().sensors(&mut first).unwrap();
    assert_eq!((first.named("clock").unwrap(), first.named("motor").unwrap()), (&[3.0][..], &[0.3][..]));
    (ctrl[0], wrenches[0].force, x.time) = (-1.0, Vec3::ZERO, 0.0);
    Step::last(&model, &mut data).unwrap().sensors(&mut again).unwrap();
    assert_eq!(again.values(), first.values(), "not of {ctrl:?}, {wrenches:?}, {}", x.time);
}

#[test]
fn a_box_at_rest_feels_its_weight_and_its_lid_only_its_own() {
    let model = robot(vec3(0.0, 0.0, 0.2));
    let (_, s) = settle(&model, 3000, &Input::default());
    let [weight, lid, arm] = [2.8, 0.8, 0.3].map(|m| m * 9.81);
    assert!((s.named("touch0").unwrap()[0] - weight).abs() < 1e-4, "{:?}", s.named("touch0"));
    assert!(norm(&s, "touch1") == 0.0 && norm(&s, "touch2") == 0.0);
    assert!((s.named("force1").unwrap()[2] - lid).abs() < 1e-4, "{:?}", s.named("force1"));
    assert!((norm(&s, "force2") - arm).abs() < 1e-4, "{:?}", s.named("force2"));
    let imu = s.named("imu").unwrap();
    assert!((imu[2] - 9.81).abs() < 1e-4 && imu[0].abs() < 1e-4 && imu[1].abs() < 1e-4, "{imu:?}");
}

#[test]
fn a_falling_accelerometer_reads_nothing() {
    let model = robot(vec3(0.0, 0.0, 5.0));
    let (_, s) = settle(&model, 1, &Input::default());
    // the arm falls with the box: all joints are at rest
    assert!(norm(&s, "imu") < 1e-9 && norm(&s, "force1") < 1e-9, "{:?}", s.named("imu"));
    assert_eq!(norm(&s, "touch0"), 0.0);
}

#[test]
fn limits_and_motors_read_their_forces() {
    let model = robot(vec3(0.0, 0.0, 0.2));
    let (x, s) = settle(&model, 3000, &Input::ctrl(&[0.7]));
    assert_eq!(s.named("motor").unwrap(), [0.7]);
    assert_eq!(s.named("joint").unwrap(), [1.4]);
    assert!((s.named("clock").unwrap()[0] - 2.999).abs() < 1e-9, "{:?}", s.named("clock"));
    // the motor presses against the upper end; gravity has the rest of the torque
    let (angle, arm) = (x.q[7], inertia(0.3));
    assert!((angle - 0.2).abs() < 1e-6, "{angle}");
    let weight = 0.3 * 9.81 * (arm.com.x * angle.cos() + arm.com.z * angle.sin());
    assert!((s.named("limit").unwrap()[0] - (1.4 + weight)).abs() < 1e-4, "{:?} {weight}", s.named("limit"));
}

#[test]
fn a_touch_sensor_looks_along_the_normal_only() {
    let mut b = ModelBuilder::new("ball");
    b.add_geom(ModelBuilder::WORLD, GeomSpec::new("floor", Shape::Plane));
    let free =
        JointSpec { start: Some([0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]), ..JointSpec::new("free", JointKind::Free) };
    let ball = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.004, 0.004, 0.004)) };
    let link = b.add_link(ModelBuilder::WORLD, "ball", Pose::IDENTITY, ball, vec![free]);
    b.add_geom(link, GeomSpec::new("ball", Shape::Sphere { radius: 0.1 }));
    let places = [vec3(0.0, 0.0, -0.1), vec3(0.0, 0.0, -0.2), vec3(0.0, 0.0, 0.0), vec3(0.05, 0.0, -0.1)];
    for (k, p) in places.into_iter().enumerate() {
        b.add_zone(link, format!("zone{k}"), Pose::translation(p), Shape::Sphere { radius: 0.03 });
        b.add_sensor(sensor(&format!("touch{k}"), Quantity::Touch, SensorObject::Frame(b.site_frame(k))));
    }
    let (_, s) = settle(&b.build().unwrap(), 500, &Input::default());
    let felt: Vec<f64> = (0..4).map(|k| s.get(k).unwrap()[0]).collect();
    assert!((felt[0] - 9.81).abs() < 1e-4 && (felt[1] - 9.81).abs() < 1e-4, "at the contact and below it: {felt:?}");
    assert_eq!(felt[2..], [0.0, 0.0], "behind the contact, beside it");
}

#[test]
fn a_connected_pair_carries_what_the_constraint_holds() {
    let mut b = ModelBuilder::new("hanging");
    let free = |name: &str| vec![JointSpec::new(name, JointKind::Free)];
    let top = b.add_link(ModelBuilder::WORLD, "top", Pose::IDENTITY, inertia(1.0), vec![]);
    let hook = JointSpec::new("hook", JointKind::Revolute { axis: vec3(0.0, 1.0, 0.0) });
    let beam = b.add_link(top, "beam", Pose::IDENTITY, inertia(0.5), vec![hook]);
    let low =
        b.add_link(ModelBuilder::WORLD, "low", Pose::translation(vec3(0.0, 0.0, -0.4)), inertia(2.0), free("low"));
    let points = [vec3(0.0, 0.0, -0.2), vec3(0.0, 0.0, 0.2)];
    b.add_equality(Equality {
        name: "rope".into(),
        kind: EqualityKind::Connect { frames: [beam, low], points },
        active: true,
    });
    let relative = Pose::translation(vec3(0.0, 0.0, -0.4));
    let mast = b.add_link(ModelBuilder::WORLD, "mast", relative, inertia(0.7), free("mast"));
    let weld =
        EqualityKind::Weld { frames: [top, mast], pose: relative, anchor: vec3(0.0, 0.1, 0.0), torque_scale: 1.0 };
    b.add_equality(Equality { name: "weld".into(), kind: weld, active: true });
    for (k, link) in [top, beam, low, mast].into_iter().enumerate() {
        b.add_sensor(sensor(&format!("force{k}"), Quantity::Force, SensorObject::Frame(link)));
        b.add_sensor(sensor(&format!("torque{k}"), Quantity::Torque, SensorObject::Frame(link)));
    }
    let model = b.build().unwrap();
    for steps in [1, 100] {
        let (_, s) = settle(&model, steps, &Input::default());
        for free in ["force2", "torque2", "force3", "torque3"] {
            assert!(norm(&s, free) < 1e-8, "{steps} steps, {free}: {:?}", s.named(free));
        }
        // what hangs on the top as a link is fixed to the world: it carries all four weights when they hang still
        assert!((s.named("force0").unwrap()[2] - 4.2 * 9.81).abs() < 4.0, "{steps}: {:?}", s.named("force0"));
    }
}

#[test]
fn sensors_that_cannot_be_read_say_why() {
    let mut b = ModelBuilder::new("blind");
    let hinge = JointSpec::new("hinge", JointKind::Revolute { axis: vec3(0.0, 1.0, 0.0) });
    let link = b.add_link(ModelBuilder::WORLD, "link", Pose::IDENTITY, inertia(1.0), vec![hinge]);
    b.add_sensor(sensor("angle", Quantity::Position, SensorObject::Joint(JointId(0))));
    b.add_sensor(sensor("touch", Quantity::Touch, SensorObject::Frame(link)));
    b.add_sensor(sensor("", Quantity::Quaternion, SensorObject::Inertial(link)));
    let (_, s) = settle(&b.build().unwrap(), 1, &Input::default());
    assert_eq!(s.get(0).unwrap(), [0.0]);
    assert_eq!(s.named("touch").unwrap_err().to_string(), "sensor 'touch' cannot be read: its site has no shape");
    assert!(s.get(2).unwrap_err().to_string().starts_with("sensor '2' cannot be read"));
    assert!(s.values().is_err() && s.get(3).is_err() && s.named("nobody").is_err());
    let other = robot(vec3(0.0, 0.0, 1.0));
    let (mut data, x) = (Data::new(&other), State::neutral(&other));
    let (mut next, mut wrong) = (x.clone(), s);
    let done = step(&other, &mut data, &x, &Input::default(), &mut next).unwrap();
    let refused = done.sensors(&mut wrong).unwrap_err();
    assert_eq!(refused.to_string(), "this memory for sensors was made for another model than 'crate'");
}
