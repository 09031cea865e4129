//! Derivatives of readings of sensors, against differences of the readings and against what can be written down.

use super::gauge::*;
use super::oracle::*;
use super::worlds::{self, fall_of};
use crate::physics::scene::*;
use crate::properties::random_tree::{self, Rng};
use nalgebra::DMatrix;
use slipstick_core::dynamics::Wrench;
use slipstick_core::model::{
    Actuator, BodyId, EqualityKind, GeomSpec, JointId, JointKind, JointSpec, Quantity, Sensor, SensorObject, Shape,
    Tendon, Transmission,
};
use slipstick_core::sensors::Sensors;
use slipstick_core::spatial::*;
use slipstick_core::step::ConstraintView;
use slipstick_core::*;

#[test]
fn random_forests_in_free_motion_have_readings_with_the_derivatives_of_their_differences() {
    let mut found = Found::default();
    for seed in 0..12 {
        let model = instrument(random_tree::builder(seed, 5), &mut Rng::new(seed));
        let s = random_tree::sample(&model, seed);
        let lab = Lab::new(&model, &s.q, &s.v).tau(&s.a).wrenches(&s.wrenches);
        Gauge::new(lab).audit(&format!("forest {seed}"), &mut found);
    }
    found.judge(1e-6, 10_000);
}

/// Whether no constraint is between two modes, and no joint held twice: by its limit and by dry friction, or by dry friction
/// and by the ground under two links of its robot. The motion does not feel how single points of a patch, or those that hold
/// a joint, share a load, but touches, loads and forces of limits do.
pub fn is_decided(done: &mut Step) -> bool {
    let all: Vec<ConstraintView> = done.constraints();
    let owner = |c: &ConstraintView| c.name.split('\'').nth(1).map(str::to_string);
    let held = |word: &'static str| {
        all.iter().filter(move |c| c.name.contains(word) && c.mode == Mode::Stick).map(owner).collect::<Vec<_>>()
    };
    let rubbing = held("dry friction");
    // links are called after their robot: link2_1
    let robot = |name: &str| name.split('_').next().unwrap_or_default().to_string();
    let mut standing: Vec<String> = all
        .iter()
        .filter(|c| c.mode == Mode::Stick)
        .filter_map(|c| c.name.split("and '").nth(1))
        .map(str::to_string)
        .collect();
    standing.sort();
    standing.dedup();
    let stiff = |joint: &String| standing.iter().filter(|link| robot(link) == robot(joint)).count() > 1;
    all.iter().all(|c| c.opening.min(c.slipping) > 1e-7)
        && held("limit").iter().all(|j| !rubbing.contains(j))
        && !rubbing.iter().flatten().any(stiff)
}

#[test]
fn random_worlds_that_touch_have_readings_with_the_derivatives_of_their_differences() {
    let (mut found, mut touching) = (Found::default(), 0);
    for seed in 0..20 {
        let model = instrument(worlds::builder(seed), &mut Rng::new(seed));
        for (k, mut lab) in fall_of(model, seed, 150, 3).into_iter().enumerate() {
            if lab.evaluate().status == Status::Converged && is_decided(&mut lab.step()) {
                touching += usize::from(lab.step().contacts().any(|c| c.mode != Mode::Break));
                Gauge::new(lab).audit(&format!("world {seed}, sample {k}"), &mut found);
            }
        }
    }
    assert!(touching > 20, "{touching} touch");
    found.judge(1e-5, 50_000);
    assert_eq!(found.constant(), [Quantity::Clock], "all others changed");
}

/// A trunk with a pack and a head on two legs of six dofs each with flat feet, so that loads are decided; springs and two
/// servos hold it up.
pub fn biped() -> ModelBuilder {
    let mut w = World::new();
    let s = surface(0.8, 0.0);
    w.plane(Pose::IDENTITY, s);
    let inertia = |mass: f64, half: Vec3| BodyInertia { com: vec3(0.01, -0.02, 0.03), ..solid_box(mass, half) };
    let sprung = |name: String, kind| JointSpec { stiffness: 400.0, damping: 10.0, ..JointSpec::new(name, kind) };
    let hinge = |axis: usize| JointKind::Revolute { axis: Vec3::UNITS[axis] };
    let along = |z: f64| Pose::translation(vec3(0.0, 0.0, z));
    let (trunk, pack) = (inertia(8.0, vec3(0.1, 0.15, 0.2)), inertia(2.0, vec3(0.05, 0.1, 0.1)));
    let free = JointSpec::new("root", JointKind::Free);
    let root = w.0.add_link(ModelBuilder::WORLD, "trunk", along(0.84), trunk, vec![free]);
    w.0.add_link(root, "pack", Pose::new(vec3(-0.1, 0.0, 0.1), Quat::exp(vec3(0.1, 0.2, 0.3))), pack, vec![]);
    let neck = JointSpec { stiffness: 5.0, damping: 0.5, ..JointSpec::new("neck", JointKind::Spherical) };
    w.0.add_link(root, "head", along(0.3), inertia(1.0, vec3(0.1, 0.1, 0.1)), vec![neck]);
    for (side, y) in [("left", 0.1), ("right", -0.1)] {
        let (leg, foot) = (inertia(1.5, vec3(0.04, 0.04, 0.15)), inertia(0.5, vec3(0.1, 0.04, 0.02)));
        let hip = vec![sprung(format!("{side} hip"), JointKind::Spherical)];
        let thigh = w.0.add_link(root, format!("{side} thigh"), Pose::translation(vec3(0.0, y, -0.2)), leg, hip);
        let knee = vec![sprung(format!("{side} knee"), hinge(1))];
        let shank = w.0.add_link(thigh, format!("{side} shank"), along(-0.31), leg, knee);
        let ankle = vec![sprung(format!("{side} pitch"), hinge(1)), sprung(format!("{side} roll"), hinge(0))];
        let foot = w.0.add_link(shank, format!("{side} foot"), along(-0.31), foot, ankle);
        let shape = Shape::Box { half_size: vec3(0.1, 0.04, 0.02) };
        w.0.add_geom(foot, GeomSpec { surface: s, ..GeomSpec::new(format!("{side} foot"), shape) });
    }
    w.0.add_actuator(Actuator::position("left servo", JointId(3), 100.0, 5.0));
    w.0.add_actuator(Actuator::motor("right motor", JointId(7), 3.0));
    w.0
}

#[test]
fn a_standing_robot_has_loads_touches_and_accelerations_with_the_derivatives_of_their_differences() {
    let (model, mut found) = (instrument(biped(), &mut Rng::new(3)), Found::default());
    let ctrl = [0.02, -0.3];
    let mut at = Inputs {
        x: State::neutral(&model),
        tau: vec![0.0; model.nv()],
        ctrl: Some(ctrl.to_vec()),
        wrenches: vec![Wrench::at(BodyId(1), vec3(1.0, 2.0, -3.0), vec3(0.1, 0.0, 0.2))],
    };
    let (mut data, mut next) = (Data::new(&model), at.x.clone());
    for k in 1..=200 {
        step(&model, &mut data, &at.x, &Input::ctrl(&ctrl), &mut next).expect("finite");
        std::mem::swap(&mut at.x, &mut next);
        if k % 50 == 0 {
            let mut lab = Lab::with(&model, at.clone());
            assert!(lab.step().contacts().filter(|c| c.mode == Mode::Stick).count() > 2, "it stands");
            Gauge::new(lab).audit(&format!("after {k} steps"), &mut found);
        }
    }
    found.judge(1e-5, 5_000);
}

/// Rails and a ball joint beyond their limits, tendons at theirs, drives of all kinds.
pub fn harness() -> ModelBuilder {
    let mut w = World::new();
    for k in 0..3 {
        let kind = JointKind::Prismatic { axis: Vec3::UNITS[k] };
        let rail = JointSpec { range: (k == 0).then_some([-0.1, 0.25]), ..JointSpec::new(format!("rail{k}"), kind) };
        let rail = JointSpec { effort: if k == 1 { [-30.0, 30.0] } else { rail.effort }, ..rail };
        w.0.add_link(
            ModelBuilder::WORLD,
            format!("car{k}"),
            Pose::IDENTITY,
            solid_ball(1.0 + k as f64, 0.1),
            vec![rail],
        );
    }
    let ball = JointSpec { range: Some([0.0, 0.5]), ..JointSpec::new("ball", JointKind::Spherical) };
    let bob = BodyInertia { com: vec3(0.1, 0.2, -0.4), ..solid_ball(0.7, 0.1) };
    w.0.add_link(ModelBuilder::WORLD, "bob", Pose::translation(vec3(2.0, 0.0, 0.0)), bob, vec![ball]);
    let short = Tendon { range: Some([-0.2, 0.4]), ..Tendon::new("short", vec![(JointId(1), 1.0), (JointId(2), 1.5)]) };
    w.0.add_tendon(short);
    w.0.add_tendon(Tendon { stiffness: 30.0, ..Tendon::new("long", vec![(JointId(0), 2.0), (JointId(2), -0.5)]) });
    let winch = Actuator::position("winch", JointId(0), 50.0, 2.0);
    w.0.add_actuator(Actuator { transmission: Transmission::Tendon(1), gear: [1.5, 0.0, 0.0, 0.0, 0.0, 0.0], ..winch });
    w.0.add_actuator(Actuator { force_range: Some([-4.0, 4.0]), ..Actuator::position("servo", JointId(1), 40.0, 3.0) });
    w.0.add_actuator(Actuator::motor("motor", JointId(1), 7.0));
    let turn = Actuator { gear: [1.0, -0.5, 0.3, 0.0, 0.0, 0.0], ..Actuator::position("turn", JointId(3), 6.0, 0.4) };
    w.0.add_actuator(turn);
    w.0
}

#[test]
fn limits_tendons_and_drives_have_readings_with_the_derivatives_of_their_differences() {
    let (model, mut found) = (instrument(harness(), &mut Rng::new(5)), Found::default());
    // inside all limits, beyond the lower ones, beyond the upper ones; drives free, saturated, at the joint's effort limit
    let cars = [[0.1, 0.05, 0.02], [-0.2, -0.3, -0.1], [0.4, 0.5, 0.3]];
    for (k, (cars, turn)) in cars.into_iter().zip([0.3, 0.7, 1.1]).enumerate() {
        for (n, ctrl) in [[0.1, 0.1, 0.2, 0.3], [1.0, -2.0, 0.5, -0.3], [-0.4, 0.0, 9.0, 0.0]].into_iter().enumerate() {
            let ball = Quat::exp(vec3(0.5, -0.7, 0.4) * turn).to_array();
            let q: Vec<f64> = cars.into_iter().chain(ball).collect();
            let v = [-0.3, 0.2, 0.4, 0.5, -0.6, 0.3];
            let lab = Lab::new(&model, &q, &v).ctrl(&ctrl);
            Gauge::new(lab).audit(&format!("state {k}, controls {n}"), &mut found);
            Gauge::new(Lab::new(&model, &q, &v)).audit(&format!("state {k}, drives off"), &mut found);
        }
    }
    found.judge(1e-6, 5_000);
}

#[test]
fn connected_and_welded_links_carry_loads_with_the_derivatives_of_their_differences() {
    let (mut rng, mut found) = (Rng::new(11), Found::default());
    for k in 0..4 {
        let mut w = World::new();
        let half = vec3(0.1, 0.06, 0.15);
        let at = |k: f64| Pose::translation(vec3(k, 0.0, 1.0));
        let a = w.block("a", 1.3, half, at(0.0), surface(0.5, 0.0));
        let b = w.block("b", 0.7, half, at(0.8), surface(0.5, 0.0));
        let b = w.0.add_link(b, "plate", at(0.1), solid_box(0.3, half), vec![]);
        let pose = Pose::new(vec3(0.8, 0.0, 0.0), Quat::exp(vec3(0.1, 0.2, 0.0)));
        let points = [vec3(0.5, 0.0, 0.1), vec3(-0.3, 0.0, 0.1)];
        let weld = EqualityKind::Weld { frames: [a, b], pose, anchor: points[1], torque_scale: 0.7 };
        w.0.add_equality(equality(if k % 2 == 0 { weld } else { EqualityKind::Connect { frames: [a, b], points } }));
        let points = [vec3(0.0, 0.0, 1.15), vec3(0.0, 0.0, 0.15)];
        w.0.add_equality(equality(EqualityKind::Connect { frames: [ModelBuilder::WORLD, a], points }));
        let model = instrument(w.0, &mut rng);
        let mut q = model.neutral().to_vec();
        let open = rng.vector(12, if k < 2 { 0.2 } else { 1e-3 });
        model.integrate(model.neutral(), &open, &mut q).expect("sound");
        let lab = Lab::new(&model, &q, &rng.vector(12, 1.0));
        Gauge::new(lab).audit(&format!("pins and welds {k}"), &mut found);
    }
    // nothing holds the free bodies: their loads are what large forces leave of each other
    found.judge(1e-5, 5_000);
}

pub fn sensor(name: &str, quantity: Quantity, object: SensorObject) -> Sensor {
    Sensor::new(name, quantity, object)
}

/// The blocks of a sensor with a name.
fn rows(lab: &mut Lab, name: &str) -> [DMatrix<f64>; 4] {
    let mut sensors = Sensors::new(&lab.model);
    let mut done = lab.step();
    let r = done.sensor_jacobian(&mut sensors).expect("a derivative").named(name).expect("readable");
    [r.dq, r.dv, r.dtau, r.dctrl].map(|m| DMatrix::from_fn(m.rows(), m.cols(), |i, c| m[(i, c)]))
}

#[test]
fn a_thrown_body_has_the_accelerometer_and_the_gyro_of_a_textbook() {
    let (mass, turn) = (1.7, vec3(0.3, -0.5, 0.2));
    let mut w = World::new();
    let link = w.block("box", mass, vec3(0.1, 0.2, 0.3), Pose::IDENTITY, surface(0.5, 0.0));
    w.0.add_sensor(sensor("imu", Quantity::Accelerometer, SensorObject::Frame(link)));
    w.0.add_sensor(sensor("gyro", Quantity::Gyro, SensorObject::Frame(link)));
    let model = w.build(|_| ());
    let (p, turned) = ([0.1, 0.2, 5.0], Quat::exp(turn).to_array());
    let q: Vec<f64> = p.into_iter().chain(turned).collect();
    let force = [3.0, -2.0, 4.0, 0.1, 0.2, 0.3];
    let mut lab = Lab::new(&model, &q, &[1.0, 2.0, -0.5, 0.7, -0.4, 0.9]).tau(&force);
    // it feels f/m in its own axes: Rᵀ/m by the force, and Rᵀ f/m × dφ by its turning; spinning does not move its center
    let [dq, dv, dtau, _] = rows(&mut lab, "imu");
    let axes = Quat::exp(turn).to_matrix();
    let felt = axes.tmul(Vec3::from_slice(&force)) * (1.0 / mass);
    for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
        assert!((dtau[(i, j)] - axes.at(j, i) / mass).abs() < 1e-12 && dq[(i, j)].abs() < 1e-12);
        assert!((dq[(i, 3 + j)] - felt.cross(Vec3::UNITS[j])[i]).abs() < 1e-9, "{dq}");
        assert!(dtau[(i, 3 + j)].abs() < 1e-12 && dv[(i, j)].abs() < 1e-9 && dv[(i, 3 + j)].abs() < 1e-9, "{dv}");
    }
    // angular velocities are those of the body's own axes: the gyro reads them
    let [dq, dv, dtau, _] = rows(&mut lab, "gyro");
    let own = DMatrix::from_fn(3, 6, |i, j| if j == i + 3 { 1.0 } else { 0.0 });
    assert!((dv - own).amax() < 1e-14 && dq.amax() < 1e-14 && dtau.amax() == 0.0);
}

#[test]
fn a_resting_foot_feels_what_presses_it() {
    let (mass, radius, dt) = (2.0, 0.1, 1e-3);
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.5, 0.0));
    let link = w.ball("foot", mass, radius, vec3(0.0, 0.0, radius), surface(0.5, 0.0));
    w.0.add_zone(link, "sole", Pose::translation(vec3(0.0, 0.0, -radius)), Shape::Sphere { radius: 0.05 });
    w.0.add_zone(link, "top", Pose::translation(vec3(0.0, 0.0, radius)), Shape::Sphere { radius: 0.05 });
    for k in 0..2 {
        w.0.add_sensor(sensor(["sole", "top"][k], Quantity::Touch, SensorObject::Frame(w.0.site_frame(k))));
    }
    let model = w.build(|_| ());
    let mut lab = Lab::new(&model, model.neutral(), &[0.0; 6]);
    // N = m g − f_z − m v_z/dt − m z/dt²: what is pressed down is pushed back within the step
    let [dq, dv, dtau, _] = rows(&mut lab, "sole");
    for (got, want) in [(&dq, -mass / dt / dt), (&dv, -mass / dt), (&dtau, -1.0)] {
        let off = (0..6).map(|j| (got[j] - if j == 2 { want } else { 0.0 }).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6 * want.abs(), "{got} instead of {want}");
    }
    assert!(rows(&mut lab, "top").iter().all(|m| m.amax_or_zero() == 0.0), "nothing touches the top");
}
