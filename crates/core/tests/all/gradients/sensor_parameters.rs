//! Derivatives of readings with respect to parameters of the model, against differences between models and against what can be
//! written down.

use super::gauge::*;
use super::oracle::*;
use super::sensor_adjoints::{rolling, weights};
use super::sensors::{biped, harness, is_decided, sensor};
use super::worlds::{self, fall_of};
use crate::physics::scene::*;
use crate::properties::random_tree::{self, Rng};
use nalgebra::DMatrix;
use slipstick_core::dynamics::Wrench;
use slipstick_core::model::{BodyId, GradientMode, ParameterGroup, Quantity, SensorObject, Shape};
use slipstick_core::sensors::SensorError;
use slipstick_core::spatial::*;
use slipstick_core::*;

/// Derivatives of all readings by a group, row by row; zeros where nothing can be read.
fn matrix(gauge: &mut Gauge, group: ParameterGroup) -> DMatrix<f64> {
    let (readable, ranges) = (gauge.readable(), gauge.sensors.ranges().to_vec());
    let (rows, n) = (ranges.last().map_or(0, |r| r.end), gauge.lab.model.parameters().group(group).len());
    let (mut all, mut unit) = (vec![0.0; rows * n], vec![0.0; rows]);
    let Gauge { lab, sensors } = gauge;
    let mut done = lab.step();
    for row in readable.into_iter().flat_map(|k| ranges[k].clone()) {
        unit[row] = 1.0;
        let out = &mut all[row * n..(row + 1) * n];
        done.sensor_vjp_parameters(&unit, group, sensors, out).unwrap_or_else(|e| panic!("{}: {e}", group.name()));
        unit[row] = 0.0;
    }
    DMatrix::from_row_slice(rows, n, &all)
}

/// Readings of a model, `None` where its modes are others.
fn read_with(gauge: &mut Gauge, other: Model, base: &Outcome) -> Option<Vec<f64>> {
    let kept = std::mem::replace(&mut gauge.lab.model, other);
    let out = (gauge.lab.evaluate().modes == base.modes).then(|| gauge.read());
    gauge.lab.model = kept;
    out
}

/// Differences by one parameter, central, or from above where there is nothing below.
fn difference(gauge: &mut Gauge, index: usize, h: f64, base: &Outcome) -> Option<Vec<f64>> {
    let model = gauge.lab.model.clone();
    let moved = |h: f64| {
        let mut parameters = model.parameters().clone();
        parameters.values_mut()[index] += h;
        model.with_parameters(parameters).ok()
    };
    let plus = read_with(gauge, moved(h)?, base)?;
    if let Some(below) = moved(-h) {
        let minus = read_with(gauge, below, base)?;
        let mut out: Vec<f64> = plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        gauge.leave_jumps_out(&mut out);
        return Some(out);
    }
    // (−3 f₀ + 4 f₁ − f₂) / 2h
    let (more, here) = (read_with(gauge, moved(2.0 * h)?, base)?, gauge.read());
    let join = |k: usize| (-3.0 * here[k] + 4.0 * plus[k] - more[k]) / (2.0 * h);
    Some((0..here.len()).map(join).collect())
}

/// Dry friction and restitution begin with a jump, gains that resist are taken at the end of the step and those that drive are
/// not: at zero the step has two derivatives.
fn is_corner(group: ParameterGroup, k: usize, value: f64) -> bool {
    let two_sided = match group {
        ParameterGroup::DryFriction | ParameterGroup::Restitution => true,
        ParameterGroup::Actuator => k % 4 >= 2,
        _ => false,
    };
    two_sided && value == 0.0
}

/// Steps of differences, relative to parameters above one.
const STEPS: [f64; 6] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

/// Compares the derivatives by a group with the best of their differences, sensor by sensor.
pub fn audit(gauge: &mut Gauge, group: ParameterGroup, what: &str, found: &mut Found) {
    let (all, base, readable) = (matrix(gauge, group), gauge.lab.evaluate(), gauge.readable());
    let (first, sensors) =
        (gauge.lab.model.parameters().layout().range(group).start, gauge.lab.model.sensors().to_vec());
    let ranges = gauge.sensors.ranges().to_vec();
    let blocks: Vec<_> = readable.iter().map(|k| all.rows(ranges[*k].start, ranges[*k].len()).into_owned()).collect();
    let values = gauge.lab.model.parameters().group(group).to_vec();
    for j in (0..all.ncols()).filter(|j| !is_corner(group, *j, values[*j])) {
        let mut best = vec![f64::INFINITY; readable.len()];
        for h in STEPS.map(|h| h * values[j].abs().max(1.0)) {
            let Some(d) = difference(gauge, first + j, h, &base) else { continue };
            for (n, k) in readable.iter().enumerate() {
                let error = column_error(&blocks[n], j, &d[ranges[*k].clone()]) / blocks[n].amax().max(1.0);
                best[n] = best[n].min(error);
            }
        }
        for (n, e) in best.into_iter().enumerate().filter(|(_, e)| *e != f64::INFINITY) {
            let s = &sensors[readable[n]];
            found.add(e, format!("{what}: {} by {} {j}", s.name, group.name()), s.quantity, blocks[n].amax() > 0.0);
        }
    }
}

fn audit_all(gauge: &mut Gauge, what: &str, found: &mut Found) {
    ParameterGroup::ALL.into_iter().for_each(|group| audit(gauge, group, what, found));
}

#[test]
fn random_forests_in_free_motion_have_readings_with_the_derivatives_of_their_models() {
    let mut found = Found::default();
    for seed in 0..8 {
        let model = instrument(random_tree::builder(seed, 4), &mut Rng::new(seed));
        let s = random_tree::sample(&model, seed);
        let mut wrenches = s.wrenches.clone();
        wrenches.push(Wrench::new(BodyId(model.n_bodies() - 1), vec3(1.0, -2.0, 0.5), vec3(0.1, 0.2, 0.3)));
        let lab = Lab::new(&model, &s.q, &s.v).tau(&s.a).wrenches(&wrenches);
        audit_all(&mut Gauge::new(lab), &format!("forest {seed}"), &mut found);
    }
    found.judge(1e-6, 10_000);
}

#[test]
fn random_worlds_that_touch_have_readings_with_the_derivatives_of_their_models() {
    // `cargo xtask test --full` takes all of them
    let full = std::env::var_os("SLIPSTICK_FULL").is_some();
    let (n_worlds, least_touching, least_entries) = if full { (16, 10, 50_000) } else { (6, 3, 12_000) };
    let (mut found, mut touching) = (Found::default(), 0);
    for seed in 0..n_worlds {
        let model = instrument(worlds::builder(seed), &mut Rng::new(seed));
        for (k, mut lab) in fall_of(model, seed, 150, 2).into_iter().enumerate() {
            if lab.evaluate().status == Status::Converged && is_decided(&mut lab.step()) {
                touching += usize::from(lab.step().contacts().any(|c| c.mode != Mode::Break));
                audit_all(&mut Gauge::new(lab), &format!("world {seed}, sample {k}"), &mut found);
            }
        }
    }
    assert!(touching > least_touching, "{touching} touch");
    found.judge(1e-5, least_entries);
    // these are made of q, v and the clock alone
    let constant = [Quantity::Clock, Quantity::Velocity, Quantity::LimitPosition, Quantity::LimitVelocity];
    assert_eq!(found.constant(), constant, "all others changed");
}

#[test]
fn a_standing_robot_has_loads_touches_and_accelerations_with_the_derivatives_of_its_models() {
    let (model, mut found, ctrl) = (instrument(biped(), &mut Rng::new(3)), Found::default(), [0.02, -0.3]);
    let mut x = State::neutral(&model);
    let (mut data, mut next) = (Data::new(&model), x.clone());
    for _ in 0..100 {
        step(&model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).expect("finite");
        std::mem::swap(&mut x, &mut next);
    }
    let wrenches = [Wrench::new(BodyId(1), vec3(1.0, 2.0, -3.0), vec3(0.1, 0.0, 0.2))];
    let mut lab = Lab::new(&model, &x.q, &x.v).ctrl(&ctrl).wrenches(&wrenches);
    assert!(lab.step().contacts().filter(|c| c.mode == Mode::Stick).count() > 2, "it stands");
    audit_all(&mut Gauge::new(lab), "biped", &mut found);
    found.judge(1e-5, 5_000);
}

#[test]
fn limits_tendons_and_drives_have_readings_with_the_derivatives_of_their_models() {
    let (model, mut found) = (instrument(harness(), &mut Rng::new(5)), Found::default());
    let ball = Quat::exp(vec3(0.5, -0.7, 0.4) * 0.7).to_array();
    for (n, ctrl) in [[0.1, 0.1, 0.2, 0.3], [1.0, -2.0, 0.5, -0.3], [-0.4, 0.0, 9.0, 0.0]].into_iter().enumerate() {
        let q: Vec<f64> = [-0.2, -0.3, -0.1].into_iter().chain(ball).collect();
        let v = [-0.3, 0.2, 0.4, 0.5, -0.6, 0.3];
        audit_all(&mut Gauge::new(Lab::new(&model, &q, &v).ctrl(&ctrl)), &format!("controls {n}"), &mut found);
        audit_all(&mut Gauge::new(Lab::new(&model, &q, &v)), "drives off", &mut found);
    }
    found.judge(1e-6, 5_000);
}

#[test]
fn smoothed_steps_have_readings_with_the_derivatives_of_their_models() {
    let mut found = Found::default();
    for kappa in [1e-2, 1e-3] {
        let mut gauge = rolling(GradientMode::Central { kappa });
        gauge.lab.without_modes = true;
        // kappa is measured by the mass of the robot and held fixed when that is differentiated
        for group in ParameterGroup::ALL.into_iter().filter(|g| *g != ParameterGroup::Inertial) {
            audit(&mut gauge, group, &format!("kappa {kappa}"), &mut found);
        }
    }
    found.judge(1e-6, 2_000);
}

#[test]
fn a_resting_foot_and_a_sliding_one_feel_what_a_textbook_says() {
    let (mass, radius, mu) = (2.0, 0.1, 0.5);
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.0, 0.0));
    let link = w.ball("foot", mass, radius, vec3(0.0, 0.0, radius), surface(mu, 0.0));
    w.0.add_zone(link, "sole", Pose::translation(vec3(0.0, 0.0, -radius)), Shape::Sphere { radius: 0.05 });
    w.0.add_sensor(sensor("sole", Quantity::Touch, SensorObject::Frame(w.0.site_frame(0))));
    w.0.add_sensor(sensor("imu", Quantity::Accelerometer, SensorObject::Frame(link)));
    let model = w.build(|_| ());
    let mut gauge = Gauge::new(Lab::new(&model, model.neutral(), &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    let check = |got: f64, want: f64| assert!((got - want).abs() < 1e-9, "{got} instead of {want}");
    // N = m g
    let by_inertia = matrix(&mut gauge, ParameterGroup::Inertial);
    check(by_inertia[(0, 0)], G);
    let by_gravity = matrix(&mut gauge, ParameterGroup::Gravity);
    check(by_gravity[(0, 2)], -mass);
    // it feels friction against its motion, μ g, and the floor, g
    let by_friction = matrix(&mut gauge, ParameterGroup::Friction);
    check(by_friction[(1, 1)], -G);
    check(by_gravity[(1, 2)], mu);
    check(by_gravity[(3, 2)], -1.0);
}

#[test]
fn gradients_by_parameters_add_up_and_what_does_not_fit_is_refused() {
    let model = instrument(worlds::builder(2), &mut Rng::new(2));
    let mut gauge = Gauge::new(fall_of(model, 2, 120, 1).remove(0));
    let weights = weights(&gauge, &mut Rng::new(1));
    for group in ParameterGroup::ALL {
        let all = matrix(&mut gauge, group);
        let start = Rng::new(7).vector(all.ncols(), 1.0);
        let mut got = start.clone();
        gauge.lab.step().sensor_vjp_parameters(&weights, group, &mut gauge.sensors, &mut got).expect("a derivative");
        for j in 0..all.ncols() {
            let want = start[j] + (0..all.nrows()).map(|i| weights[i] * all[(i, j)]).sum::<f64>();
            let off = (got[j] - want).abs() / all.amax().max(1.0);
            assert!(off < 1e-9, "{} {j}: {off:e}", group.name());
        }
    }
    let mut ask = |weights: &[f64], n: usize| {
        let (group, out) = (ParameterGroup::Gravity, &mut vec![0.0; n]);
        gauge.lab.step().sensor_vjp_parameters(weights, group, &mut gauge.sensors, out).unwrap_err()
    };
    let error = ask(&weights, 4);
    let what = "gradient of the parameters";
    assert_eq!(error, SensorError::Input(InputError::Length { what, expected: 3, got: 4 }));
    let error = ask(&weights[1..], 3);
    assert!(matches!(error, SensorError::Input(InputError::Length { what: "weights of readings", .. })), "{error:?}");
    let error = ask(&vec![1.0; weights.len()], 3);
    assert!(matches!(error, SensorError::Unsupported { .. }), "{error:?}");
}
