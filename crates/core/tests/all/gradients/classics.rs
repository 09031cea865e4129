//! The counter-examples on which gradients of contact are known to go wrong, each with its truth.

use super::oracle::*;
use super::puck::{DT, MASS, puck};
use crate::physics::scene::*;
use nalgebra::DMatrix;
use slipstick_core::gradient::InputDirection;
use slipstick_core::model::{GeomSpec, JointKind, JointSpec, Shape};
use slipstick_core::spatial::*;
use slipstick_core::*;

const RADIUS: f64 = 0.1;

/// Two balls on a line that meet without gravity: masses, restitution and the state at the start.
struct Balls {
    masses: [f64; 2],
    e: f64,
    x: [f64; 2],
    v: [f64; 2],
    dt: f64,
    steps: usize,
}

impl Balls {
    fn model(&self) -> Model {
        let mut w = World::new();
        for k in 0..2 {
            let rail = JointSpec::new(format!("rail{k}"), JointKind::Prismatic { axis: Vec3::UNITS[0] });
            let inertia = solid_ball(self.masses[k], RADIUS);
            let link = w.0.add_link(ModelBuilder::WORLD, format!("ball{k}"), Pose::IDENTITY, inertia, vec![rail]);
            let spec = GeomSpec::new(format!("ball{k}"), Shape::Sphere { radius: RADIUS });
            w.0.add_geom(link, GeomSpec { surface: surface(0.0, self.e), ..spec });
        }
        w.build(|o| (o.dt, o.gravity) = (self.dt, [0.0; 3]))
    }

    /// The last state and the product of the steps' Jacobians, and the number of the step in which the balls met.
    fn roll(&self, model: &Model) -> (State, DMatrix<f64>, usize) {
        let (mut data, mut chain) = (Data::new(model), DMatrix::identity(4, 4));
        let mut x = State::new(model, &self.x, &self.v).expect("sound");
        let (mut next, mut met) = (x.clone(), usize::MAX);
        for k in 0..self.steps {
            let mut done = step(model, &mut data, &x, &Input::default(), &mut next).expect("finite");
            if done.contacts().any(|c| c.mode != Mode::Break) {
                met = met.min(k);
            }
            chain = Blocks::new(&done.jacobian().expect("a derivative")).a() * chain;
            std::mem::swap(&mut x, &mut next);
        }
        (x, chain, met)
    }

    /// Velocities after the collision as a matrix of those before.
    fn law(&self) -> DMatrix<f64> {
        let ([a, b], e) = (self.masses, self.e);
        let m = [a - e * b, (1.0 + e) * b, (1.0 + e) * a, b - e * a];
        DMatrix::from_row_slice(2, 2, &m) / (a + b)
    }

    /// Time at which they touch.
    fn touch(&self) -> f64 {
        (self.x[1] - self.x[0] - 2.0 * RADIUS) / (self.v[0] - self.v[1])
    }

    /// The derivative of the continuous motion: the collision moves with the state before it.
    fn physical(&self) -> DMatrix<f64> {
        let (t, all) = (self.touch(), self.dt * self.steps as f64);
        let (law, v) = (self.law(), DMatrix::from_column_slice(2, 1, &self.v));
        let after = &law * &v;
        let closing = self.v[0] - self.v[1];
        // the time of the touch by x and by v
        let dt_dx = DMatrix::from_row_slice(1, 2, &[-1.0 / closing, 1.0 / closing]);
        let dt_dv = DMatrix::from_row_slice(1, 2, &[-t / closing, t / closing]);
        let (one, jump) = (DMatrix::identity(2, 2), &v - &after);
        let xx = &one + &jump * dt_dx;
        let xv = &one * t + &law * (all - t) + &jump * dt_dv;
        stack(&xx, &xv, &DMatrix::zeros(2, 2), &law)
    }
}

fn stack(a: &DMatrix<f64>, b: &DMatrix<f64>, c: &DMatrix<f64>, d: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(4, 4, |i, j| [[a, b], [c, d]][i / 2][j / 2][(i % 2, j % 2)])
}

const MEETING: Balls = Balls { masses: [1.0, 1.0], e: 1.0, x: [-0.3, 0.25], v: [1.7, -0.4], dt: 1e-3, steps: 400 };

#[test]
fn an_elastic_collision_has_the_derivative_of_its_time_steps_in_which_the_step_of_the_touch_is_fixed() {
    for (masses, e) in [([1.0, 1.0], 1.0), ([1.0, 3.0], 1.0), ([2.0, 0.5], 0.6)] {
        let balls = Balls { masses, e, ..MEETING };
        let (_, chain, met) = balls.roll(&balls.model());
        assert_eq!(met, (balls.touch() / balls.dt).floor() as usize, "they meet in the step in which they touch");
        // x(N) = x + k dt v + (N − k) dt L v, with k the number of steps before the collision
        let (before, after) = (met as f64 * balls.dt, (balls.steps - met) as f64 * balls.dt);
        let one = DMatrix::identity(2, 2);
        let want = stack(&one, &(&one * before + balls.law() * after), &DMatrix::zeros(2, 2), &balls.law());
        assert!((&chain - &want).amax() < 1e-12, "{chain} instead of {want}");
    }
}

#[test]
fn velocities_after_an_elastic_collision_have_the_derivative_of_the_continuous_motion_but_places_do_not() {
    let balls = MEETING;
    let (_, chain, _) = balls.roll(&balls.model());
    let truth = balls.physical();
    let rows = |m: &DMatrix<f64>, k: usize| m.rows(2 * k, 2).into_owned();
    assert!((rows(&chain, 1) - rows(&truth, 1)).amax() < 1e-12, "velocities by everything");
    // equal balls exchange their places in the derivative; a chain of time steps with a fixed collision step does not
    expect("places by places, continuous", &truth.view((0, 0), (2, 2)).into_owned(), &[0.0, 1.0, 1.0, 0.0], 1e-12);
    expect("places by places, stepped", &chain.view((0, 0), (2, 2)).into_owned(), &[1.0, 0.0, 0.0, 1.0], 1e-12);
}

#[test]
fn jumps_of_the_collision_step_make_up_the_rest_of_the_continuous_derivative() {
    // over many steps of the touch, secants of the time-stepped map are those of the continuous motion, to first order
    let secants = |dt: f64| {
        let balls = Balls { dt, steps: (0.4 / dt).round() as usize, ..MEETING };
        let (model, truth, h) = (balls.model(), balls.physical(), 0.05);
        let end = |x: [f64; 2], v: [f64; 2]| Balls { x, v, ..balls }.roll(&model).0.q;
        let mut worst: f64 = 0.0;
        for j in 0..2 {
            let moved = |s: f64| {
                let mut x = balls.x;
                x[j] += s * h;
                end(x, balls.v)
            };
            let (plus, minus) = (moved(1.0), moved(-1.0));
            for i in 0..2 {
                worst = worst.max(((plus[i] - minus[i]) / (2.0 * h) - truth[(i, j)]).abs());
            }
        }
        worst
    };
    // each end of a secant is off by at most one step of the touch: 2 · (closing speed) dt / 2h
    for dt in [2e-3, 1e-3, 2.5e-4] {
        let (error, bound) = (secants(dt), 2.1 * dt / 0.05);
        assert!(error <= bound, "dt {dt}: {error:e}, not {bound:e}");
    }
}

#[test]
fn a_plastic_collision_has_the_derivative_of_the_continuous_motion_since_the_gap_closes_exactly() {
    for masses in [[1.0, 1.0], [1.0, 3.0]] {
        let balls = Balls { masses, e: 0.0, ..MEETING };
        let (_, chain, met) = balls.roll(&balls.model());
        assert!(met < balls.steps);
        let truth = balls.physical();
        assert!((&chain - &truth).amax() < 1e-9, "{chain} instead of {truth}");
    }
}

#[test]
fn a_pull_below_the_weight_moves_nothing_and_above_it_everything() {
    let boxed = |pull: f64| {
        let mut w = World::new();
        w.plane(Pose::IDENTITY, surface(0.5, 0.0));
        w.block("box", MASS, vec3(0.1, 0.15, RADIUS), Pose::translation(vec3(0.0, 0.0, RADIUS)), surface(0.5, 0.0));
        let model = w.build(|_| ());
        Lab::new(&model, model.neutral(), &[0.0; 6]).tau(&[0.0, 0.0, pull, 0.0, 0.0, 0.0])
    };
    let tripod = |pull: f64| {
        let mut w = World::new();
        w.plane(Pose::IDENTITY, surface(0.5, 0.0));
        w.tripod(MASS, RADIUS, Pose::translation(vec3(0.0, 0.0, RADIUS)), surface(0.5, 0.0));
        let model = w.build(|_| ());
        Lab::new(&model, model.neutral(), &[0.0; 6]).tau(&[0.0, 0.0, pull, 0.0, 0.0, 0.0])
    };
    for share in [-1.0, 0.0, 0.5, 0.99] {
        // four points are held by a compliance of 1e-6 of their inverse inertia
        let got = boxed(share * MASS * G).jacobian().dv_dtau()[(2, 2)] * MASS / DT;
        assert!((0.0..1e-5).contains(&got), "box at {share} of its weight: {got:e}");
        let got = tripod(share * MASS * G).jacobian().dv_dtau()[(2, 2)] * MASS / DT;
        assert!(got.abs() < 1e-12, "tripod at {share} of its weight: {got:e}");
    }
    for share in [1.01, 2.0] {
        for mut lab in [boxed(share * MASS * G), tripod(share * MASS * G)] {
            let got = lab.jacobian();
            assert!((got.dv_dtau()[(2, 2)] * MASS / DT - 1.0).abs() < 1e-12);
            assert!(got.dv_dq().amax() < 1e-9 && (got.dv_dv() - DMatrix::identity(6, 6)).amax() < 1e-9);
            lab.check(1e-6, "lifted");
        }
    }
}

#[test]
fn at_its_weight_a_puck_is_lifted_on_one_side_only() {
    let mut lab = Lab::new(&puck(surface(0.5, 0.0), |_| ()), &[0.0; 3], &[0.0; 3]).tau(&[0.0, 0.0, MASS * G]);
    for (pull, want) in [(1.0, DT / MASS), (-1.0, 0.0)] {
        let ([mut dq, mut dv], tau) = ([[0.0; 3]; 2], [0.0, 0.0, pull]);
        let direction = InputDirection { tau: &tau, ..InputDirection::default() };
        lab.step().jvp_one_sided(direction, None, &mut dq, &mut dv).expect("a derivative");
        assert!((dv[2] - want).abs() < 1e-12 && (dq[2] - DT * want).abs() < 1e-15, "{pull}: {dv:?}");
    }
}

#[test]
fn at_the_friction_limit_a_puck_slides_to_one_side_and_sticks_to_the_other() {
    let mu = 0.3;
    let pull = mu * MASS * G;
    let mut lab = Lab::new(&puck(surface(mu, 0.0), |_| ()), &[0.0; 3], &[0.0; 3]).tau(&[pull, 0.0, 0.0]);
    let none = [0.0; 3];
    type Case = (&'static str, [[f64; 3]; 3], [f64; 3]);
    let cases: [Case; 10] = [
        ("pulled harder", [none, none, [1.0, 0.0, 0.0]], [DT / MASS, 0.0, 0.0]),
        ("pulled less", [none, none, [-1.0, 0.0, 0.0]], none),
        // the pull grows by the square of what is added across it
        ("pulled aside", [none, none, [0.0, 1.0, 0.0]], none),
        ("pressed", [none, none, [0.0, 0.0, -1.0]], none),
        ("lightened", [none, none, [0.0, 0.0, 1.0]], [mu * DT / MASS, 0.0, 0.0]),
        ("pushed on", [none, [1.0, 0.0, 0.0], none], [1.0, 0.0, 0.0]),
        ("pushed back", [none, [-1.0, 0.0, 0.0], none], none),
        ("raised", [[0.0, 0.0, 1.0], none, none], [mu / DT, 0.0, -1.0 / DT]),
        ("lowered", [[0.0, 0.0, -1.0], none, none], [0.0, 0.0, 1.0 / DT]),
        ("moved along", [[1.0, 0.0, 0.0], none, none], none),
    ];
    for (what, [q, v, tau], want) in cases {
        let [mut dq, mut dv] = [[0.0; 3]; 2];
        let direction = InputDirection { q: &q, v: &v, tau: &tau, ..Default::default() };
        lab.step().jvp_one_sided(direction, None, &mut dq, &mut dv).expect("a derivative");
        let scale = want.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
        for i in 0..3 {
            assert!((dv[i] - want[i]).abs() < 1e-8 * scale, "{what}: {dv:?} instead of {want:?}");
            assert!((dq[i] - q[i] - DT * want[i]).abs() < 1e-8 * scale, "{what}: {dq:?}");
        }
    }
}

#[test]
fn one_sided_derivatives_inside_a_mode_are_the_ordinary_ones() {
    let mut lab = Lab::new(&puck(surface(0.3, 0.0), |_| ()), &[0.0; 3], &[0.2, 0.1, 0.0]);
    let (q, v, tau) = ([0.1, 0.2, -1e-3], [0.5, -0.2, 0.3], [1.0, 2.0, -3.0]);
    let direction = InputDirection { q: &q, v: &v, tau: &tau, ..Default::default() };
    let mut out = [[0.0; 3]; 4];
    let [a, b, c, d] = &mut out;
    lab.step().jvp(direction, a, b).expect("a derivative");
    lab.step().jvp_one_sided(direction, None, c, d).expect("a derivative");
    assert_eq!([out[0], out[1]], [out[2], out[3]]);
}

#[test]
fn a_frictionless_ball_on_an_edge_is_turned_away_as_its_normal_turns() {
    // the edge of a table at the origin; the ball's center is at c, its normal along c
    let mut w = World::new();
    w.fixed(
        "table",
        Shape::Box { half_size: vec3(0.5, 0.5, 0.5) },
        Pose::translation(vec3(-0.5, 0.0, -0.5)),
        surface(0.0, 0.0),
    );
    w.ball("ball", MASS, RADIUS, vec3(0.0, 0.0, RADIUS), surface(0.0, 0.0));
    let model = w.build(|_| ());
    for (angle, gap, speed) in [(0.3_f64, 0.0, 0.2), (0.8, 1e-5, 0.5), (0.5, -3e-5, 0.0)] {
        let (n, d) = (vec3(angle.sin(), 0.0, angle.cos()), RADIUS + gap);
        let (c, v) = (n * d, vec3(speed, 0.1, -speed) + n * -0.3);
        let q = [c.x, 0.05, c.z, 1.0, 0.0, 0.0, 0.0];
        let mut lab = Lab::new(&model, &q, &[v.x, v.y, v.z, 0.3, -0.4, 0.2]);
        // v_next = v_free − n (n·v_free + gap/dt): the normal turns by (1 − n nᵀ) dc / d in the plane across the edge
        let free = v + vec3(0.0, 0.0, -G * DT);
        let push = n.dot(free) + gap / DT;
        let got = lab.jacobian();
        for (j, e) in Vec3::UNITS.into_iter().enumerate() {
            let across = vec3(e.x, 0.0, e.z);
            let dn = (across - n * n.dot(across)) * (1.0 / d);
            let want = -(dn * push + n * (dn.dot(free) + n.dot(e) / DT));
            let by_v = e - n * n.dot(e);
            for i in 0..3 {
                let (place, speed) = (got.dv_dq()[(i, j)], got.dv_dv()[(i, j)]);
                assert!((place - want[i]).abs() < 1e-8, "at {angle}: ({i}, {j}) {place} instead of {}", want[i]);
                assert!((speed - by_v[i]).abs() < 1e-11, "at {angle}: ({i}, {j}) {speed} instead of {}", by_v[i]);
            }
        }
        lab.check(1e-6, "edge");
    }
}

#[test]
fn a_ball_that_rolls_off_an_edge_has_the_derivative_of_its_step_all_the_way() {
    let mut w = World::new();
    let s = surface(0.8, 0.0);
    w.fixed("table", Shape::Box { half_size: vec3(0.5, 0.5, 0.5) }, Pose::translation(vec3(-0.5, 0.0, -0.5)), s);
    w.ball("ball", MASS, RADIUS, vec3(-0.01, 0.0, RADIUS), s);
    let mut run = Run::new(w.build(|_| ())).thrown(&[0.2, 0.05, 0.0, -0.5, 2.0, 0.1]);
    let (mut checked, mut turned) = (0, 0);
    for k in 0..260 {
        run.step();
        if k % 10 == 0 {
            let mut lab = Lab::new(&run.model, &run.x.q, &run.x.v);
            let normal = lab.step().contacts().next().map_or(0.0, |c| c.frame.c[2].x.abs());
            if let Some(errors) = lab.audit().expect("a derivative") {
                assert!(errors.iter().all(|e| *e < 1e-6), "step {k}: {errors:?}");
                checked += 1;
                turned += usize::from(normal > 0.1);
            }
        }
    }
    assert!(checked > 20 && turned > 3, "{checked} states, {turned} of them on the edge");
}

/// A table on four legs, pushed at, with all its feet on the ground.
fn table() -> Model {
    let mut w = World::new();
    let s = surface(0.6, 0.0);
    w.plane(Pose::IDENTITY, s);
    let joint = JointSpec::new("table root", JointKind::Free);
    let pose = Pose::translation(vec3(0.0, 0.0, 0.4));
    let inertia = BodyInertia { com: vec3(0.05, -0.1, 0.1), ..solid_box(20.0, vec3(0.5, 0.3, 0.02)) };
    let link = w.0.add_link(ModelBuilder::WORLD, "table", pose, inertia, vec![joint]);
    for k in 0..4 {
        let (x, y) = ([-0.4, 0.4][k % 2], [-0.25, 0.25][k / 2]);
        let pose = Pose::translation(vec3(x, y, -0.38));
        let spec = GeomSpec::new(format!("foot{k}"), Shape::Sphere { radius: 0.02 });
        w.0.add_geom(link, GeomSpec { pose, surface: s, ..spec });
    }
    w.build(|_| ())
}

#[test]
fn a_table_on_four_legs_has_one_derivative_and_its_legs_share_any_weight_that_is_added() {
    let model = table();
    let tau = [3.0, -2.0, -10.0, 1.0, 2.0, 0.5];
    let mut lab = Lab::new(&model, model.neutral(), &[0.0; 6]).tau(&tau);
    let got = lab.jacobian();
    assert!(got.is_finite());
    lab.check(1e-6, "table");
    let mut again = Lab::new(&model, model.neutral(), &[0.0; 6]).tau(&tau);
    assert!(again.jacobian() == got, "unique");
    // it stays: only gaps matter, and friction holds
    assert!(got.dv_dv().amax() < 1e-4 && got.dv_dtau().amax() < 1e-7, "{}", got.dv_dv());

    let mut sum = [vec![0.0; 18], vec![0.0; 18], vec![0.0; 18]];
    for k in 0..4 {
        let mut parts = [vec![0.0; 18], vec![0.0; 18], vec![0.0; 18]];
        let [a, b, c] = &mut parts;
        lab.step().impulse_jacobian(k, [a, b, c]).expect("a derivative");
        for (s, p) in sum.iter_mut().zip(&parts) {
            s.iter_mut().zip(p).for_each(|(s, p)| *s += p);
        }
    }
    // momentum: m dv = dt dtau + Σ dλ, the center of mass being off the origin only turns
    let mass = model.total_mass();
    for i in 0..3 {
        for j in 0..3 {
            let weight = if i == j { -DT } else { 0.0 };
            let got = sum[2][6 * i + j];
            assert!((got - weight).abs() < 1e-5 * DT, "force {j} on the legs along {i}: {got:e}");
        }
        let turning: f64 = (0..3).map(|k| com_row(i, k) * lab_dv(&lab.jacobian(), 3 + k, 2)).sum();
        let moved = mass * (lab_dv(&lab.jacobian(), i, 2) + turning);
        let applied = if i == 2 { DT } else { 0.0 };
        assert!((moved - applied - sum[2][6 * i + 2]).abs() < 1e-12, "momentum along {i}");
    }
}

/// Row i of −[c]×: velocity of the center of mass by the angular velocity.
fn com_row(i: usize, k: usize) -> f64 {
    let c = vec3(0.05, -0.1, 0.1);
    Vec3::UNITS[k].cross(c)[i]
}

fn lab_dv(blocks: &Blocks, i: usize, j: usize) -> f64 {
    blocks.dv_dtau()[(i, j)]
}
