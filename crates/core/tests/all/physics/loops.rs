//! Constraints that hold at all times between bodies: loops and welds.

use super::scene::*;
use slipstick_core::dynamics::Wrench;
use slipstick_core::model::{BodyId, Equality, EqualityKind, JointKind, JointSpec};
use slipstick_core::spatial::*;
use slipstick_core::*;

fn rod(mass: f64, along: Vec3) -> BodyInertia {
    BodyInertia { mass, com: along * 0.5, about_com: Sym3::point_mass(along) * (mass / 12.0) }
}

/// Masses of the cranks and of the coupler (kg).
const MASSES: [f64; 2] = [0.7, 1.9];

/// Two cranks that hang from the ceiling 0.6 m apart, `lengths[0]` and `lengths[2]` long, and a coupler of length
/// `lengths[1]` between their ends. The loop is closed between the coupler and the second crank.
struct FourBar {
    lengths: [f64; 3],
    run: Run,
}

const APART: Vec3 = vec3(0.6, 0.0, 0.0);

impl FourBar {
    fn new(lengths: [f64; 3], angle: f64, dt: f64) -> FourBar {
        let mut w = World::new();
        let hinge = |name: &str| vec![JointSpec::new(name, JointKind::Revolute { axis: Vec3::UNITS[1] })];
        let [first, across, second] =
            [vec3(0.0, 0.0, -lengths[0]), vec3(lengths[1], 0.0, 0.0), vec3(0.0, 0.0, -lengths[2])];
        let (world, crank) = (ModelBuilder::WORLD, MASSES[0]);
        let a = w.0.add_link(world, "a", Pose::IDENTITY, rod(crank, first), hinge("a"));
        let b = w.0.add_link(a, "b", Pose::translation(first), rod(MASSES[1], across), hinge("b"));
        let c = w.0.add_link(world, "c", Pose::translation(APART), rod(crank, second), hinge("c"));
        w.0.add_equality(equality(EqualityKind::Connect { frames: [b, c], points: [across, second] }));
        let mut run = Run::new(w.build(|o| o.dt = dt));
        run.x.q.copy_from_slice(&closed(lengths, angle));
        FourBar { lengths, run }
    }

    /// How far the loop is open (m).
    fn opening(&mut self) -> f64 {
        let run = &mut self.run;
        run.work.kinematics(&run.model, &run.x.q).unwrap();
        let pose = |name| run.work.frame_pose(&run.model, run.model.frame(name).unwrap()).unwrap();
        let ends = [vec3(self.lengths[1], 0.0, 0.0), vec3(0.0, 0.0, -self.lengths[2])];
        (pose("b").point(ends[0]) - pose("c").point(ends[1])).norm()
    }
}

/// Angles of the joints that close the loop, for an angle of the first crank, with the coupler's end below the line from its start
/// to the second pivot.
fn closed([first, across, second]: [f64; 3], angle: f64) -> [f64; 3] {
    let knee = vec3(-first * angle.sin(), 0.0, -first * angle.cos());
    let (line, far) = (APART - knee, (APART - knee).norm());
    let along = (far * far + across * across - second * second) / (2.0 * far);
    let (ahead, down) = (line * (1.0 / far), line.cross(Vec3::UNITS[1]) * (-1.0 / far));
    let end = knee + ahead * along + down * (across * across - along * along).sqrt();
    let (coupler, crank) = (end - knee, end - APART);
    // a hinge about y turns x towards −z
    [angle, -coupler.z.atan2(coupler.x) - angle, (-crank.x).atan2(-crank.z)]
}

/// Angle of the swing made of equal cranks after a time, by a fine fourth-order integration of its one equation of motion.
fn swing(length: f64, angle: f64, time: f64) -> f64 {
    let [crank, coupler] = MASSES;
    let k = (crank + coupler) * G / ((2.0 / 3.0 * crank + coupler) * length);
    let n = 4000;
    let h = time / n as f64;
    let rate = |[x, v]: [f64; 2]| [v, -k * x.sin()];
    let ahead = |[x, v]: [f64; 2], [dx, dv]: [f64; 2], h: f64| [x + h * dx, v + h * dv];
    let mut s = [angle, 0.0];
    for _ in 0..n {
        let k1 = rate(s);
        let k2 = rate(ahead(s, k1, 0.5 * h));
        let k3 = rate(ahead(s, k2, 0.5 * h));
        let k4 = rate(ahead(s, k3, h));
        s = [0, 1].map(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    s[0]
}

#[test]
fn a_parallel_linkage_swings_like_the_pendulum_that_it_is() {
    let want = swing(0.4, 1.0, 1.0);
    let error = |dt: f64| {
        let mut bars = FourBar::new([0.4, 0.6, 0.4], 1.0, dt);
        bars.run.go((1.0 / dt).round() as usize);
        (bars.run.x.q[0] - want).abs()
    };
    let errors = [2e-3, 1e-3, 5e-4].map(error);
    assert!(errors[1] < 0.01, "{errors:?} rad");
    for pair in errors.windows(2) {
        assert!(pair[1] < 0.6 * pair[0], "halving the step should halve the error: {errors:?}");
    }
}

#[test]
fn a_four_bar_linkage_does_not_drift_open() {
    let widest = |dt: f64| {
        let mut bars = FourBar::new([0.3, 0.55, 0.5], 0.9, dt);
        assert!(bars.opening() < 1e-15, "it starts closed");
        let (mut widest, mut energies) = (0.0_f64, [bars.run.energy(); 2]);
        for _ in 0..(5.0 / dt).round() as usize {
            bars.run.step();
            widest = widest.max(bars.opening());
            let now = bars.run.energy();
            energies = [energies[0].min(now), energies[1].max(now)];
        }
        // it turns some 4 J back and forth
        assert!(energies[1] - energies[0] < 80.0 * dt, "energy between {energies:?} J");
        widest
    };
    let [coarse, fine] = [1e-3, 5e-4].map(widest);
    assert!(coarse > 1e-7 && coarse < 2e-4, "{coarse:e} m");
    assert!(fine < 0.3 * coarse, "second order in the time step: {coarse:e} {fine:e}");
}

#[test]
fn a_body_pinned_at_a_corner_swings_like_one_on_a_hinge() {
    let half = vec3(0.1, 0.02, 0.3);
    let mut w = World::new();
    let at = Pose::translation(vec3(0.3, 0.0, -0.1));
    let body = w.block("plate", 1.0, half, at, surface(0.0, 0.0));
    let pin = vec3(-0.3, 0.0, 0.1);
    let frames = [ModelBuilder::WORLD, body];
    w.0.add_equality(equality(EqualityKind::Connect { frames, points: [Vec3::ZERO, pin] }));
    let mut pinned = w.run();
    let mut w = World::new();
    let hinge = JointSpec::new("hinge", JointKind::Revolute { axis: Vec3::UNITS[1] });
    let inertia = BodyInertia { com: -pin, ..solid_box(1.0, half) };
    w.0.add_link(ModelBuilder::WORLD, "plate", Pose::IDENTITY, inertia, vec![hinge]);
    let mut hinged = w.run();
    for _ in 0..500 {
        pinned.step();
        hinged.step();
    }
    let turn = Quat::from_slice(&pinned.x.q[3..]);
    // both are first order in the time step, with different errors
    assert!((turn.log().y - hinged.x.q[0]).abs() < 0.01, "{} {}", turn.log().y, hinged.x.q[0]);
    let away = (pinned.position(1) + turn.to_matrix() * pin).norm();
    assert!(away < 1e-4, "the pin is {away:e} m off");
}

/// Where the second of two welded bodies is in the first.
fn place() -> Pose {
    Pose::new(vec3(0.5, 0.2, -0.1), Quat::exp(vec3(0.3, -0.2, 0.9)))
}

/// Two bodies far from each other, the second welded to the first.
fn welded() -> World {
    let (mut w, place) = (World::new(), place());
    let a = w.block("a", 1.0, vec3(0.1, 0.2, 0.05), Pose::IDENTITY, surface(0.0, 0.0));
    let b = w.block("b", 3.0, vec3(0.05, 0.1, 0.15), place, surface(0.0, 0.0));
    let kind = EqualityKind::Weld { frames: [a, b], pose: place, anchor: vec3(0.1, 0.0, 0.0), torque_scale: 1.0 };
    w.0.add_equality(equality(kind));
    w
}

#[test]
fn welded_bodies_take_a_push_as_one() {
    let mut run = Run::new(welded().build(|o| o.gravity = [0.0; 3]));
    let place = place();
    let [a, b] = [run.model.inertias()[1], run.model.inertias()[2]];
    let whole = a.joined(&b.moved(&place));
    let (force, torque) = (vec3(3.0, -2.0, 5.0), vec3(0.3, 0.1, -0.4));
    let wrench = [Wrench::new(BodyId(1), force, torque)];
    let said = run.attempt(&Input::default().with_wrenches(&wrench));
    assert_eq!(said.report.status, Status::Converged);
    // the same force and torque about the common center of mass
    let about = torque - whole.com.cross(force);
    let spin = {
        let m = whole.about_com.to_mat();
        let cross = [m.c[1].cross(m.c[2]), m.c[2].cross(m.c[0]), m.c[0].cross(m.c[1])];
        vec3(cross[0].dot(about), cross[1].dot(about), cross[2].dot(about)) * (1.0 / m.determinant())
    };
    let center = force * (1.0 / whole.mass);
    for (body, at) in [(1, Vec3::ZERO), (2, place.position)] {
        let v = (center + spin.cross(at - whole.com)) * 1e-3;
        assert!((run.velocity(body) - v).norm() < STILL, "{:?} {v:?}", run.velocity(body));
    }
    let velocity = |body: usize| Vec3::from_slice(&run.x.v[6 * body - 3..]);
    assert!((velocity(1) - spin * 1e-3).norm() < STILL);
    assert!((place.rotation * velocity(2) - spin * 1e-3).norm() < STILL);
}

#[test]
fn a_weld_holds_in_flight_and_in_fall() {
    let mut run = welded().run().thrown(&[1.0, 2.0, 3.0, 0.5, -1.0, 2.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0]);
    let place = place();
    run.step();
    let start = run.work.momentum(&run.model, &run.x.q, &run.x.v).unwrap();
    for _ in 0..1000 {
        run.step();
        let pose = |k: usize| Pose::new(run.position(k), Quat::from_slice(&run.x.q[7 * k - 4..]));
        let apart = pose(1).inverse() * pose(2);
        let (off, turn) = (apart.position - place.position, place.rotation.transpose() * apart.rotation);
        assert!(off.norm() < 1e-4 && Quat::from_matrix(&turn).log().norm() < 1e-4, "{off:?}");
    }
    let end = run.work.momentum(&run.model, &run.x.q, &run.x.v).unwrap();
    assert!((end.lin - start.lin - vec3(0.0, 0.0, -4.0 * G)).norm() < 1e-9, "{:?} {:?}", start.lin, end.lin);
}

#[test]
fn a_weld_to_the_world_holds_a_weight_still() {
    let mut w = World::new();
    let place = Pose::new(vec3(0.1, 0.2, 1.0), Quat::exp(vec3(0.2, 0.5, -0.3)));
    let body = w.block("lamp", 5.0, vec3(0.1, 0.1, 0.1), place, surface(0.0, 0.0));
    let frames = [ModelBuilder::WORLD, body];
    let anchor = vec3(0.1, 0.0, 0.05);
    w.0.add_equality(equality(EqualityKind::Weld { frames, pose: place, anchor, torque_scale: 0.5 }));
    let mut run = w.run();
    run.go(1000);
    assert!((run.position(1) - place.position).norm() < 1e-12 && largest(&run.x.v) < STILL, "{:?}", run.x);
}

#[test]
fn an_equality_that_is_not_active_does_nothing() {
    let mut w = World::new();
    let body = w.block("loose", 1.0, vec3(0.1, 0.1, 0.1), Pose::IDENTITY, surface(0.0, 0.0));
    let (frames, pose) = ([ModelBuilder::WORLD, body], Pose::translation(vec3(0.0, 1.0, 0.0)));
    let kind = EqualityKind::Weld { frames, pose, anchor: Vec3::ZERO, torque_scale: 1.0 };
    w.0.add_equality(Equality { active: false, ..equality(kind) });
    let mut run = w.run();
    run.go(100);
    assert!((run.velocity(1) - vec3(0.0, 0.0, -0.1 * G)).norm() < 1e-12, "{:?}", run.x);
}
