//! Derivatives of readings asked for in different ways, smoothed ones, and what is refused.

use super::gauge::*;
use super::oracle::*;
use super::worlds::{self, fall_of};
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use nalgebra::DVector;
use slipstick_core::gradient::InputGrad;
use slipstick_core::model::{FrameId, GradientMode, JointKind, JointSpec};
use slipstick_core::sensors::{SensorError, Sensors};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// States of random worlds with all sensors on them.
fn gauges(seeds: std::ops::Range<u64>) -> Vec<Gauge> {
    let of = |seed: u64| fall_of(instrument(worlds::builder(seed), &mut Rng::new(seed)), seed, 120, 2);
    seeds.flat_map(of).map(Gauge::new).collect()
}

/// Random weights of all numbers that can be read.
pub fn weights(gauge: &Gauge, rng: &mut Rng) -> Vec<f64> {
    let mut weights = vec![0.0; gauge.sensors.ranges().last().map_or(0, |r| r.end)];
    for k in gauge.readable() {
        let range = gauge.sensors.ranges()[k].clone();
        weights[range.clone()].copy_from_slice(&rng.vector(range.len(), 1.0));
    }
    weights
}

/// The reverse derivative, added to what is there.
fn reverse(gauge: &mut Gauge, weights: &[f64], out: &mut [Vec<f64>; 4]) -> Result<(), SensorError> {
    let [q, v, tau, ctrl] = out;
    gauge.lab.step().sensor_vjp(weights, InputGrad { q, v, tau, ctrl, ..Default::default() }, &mut gauge.sensors)
}

#[test]
fn adjoints_of_readings_are_products_with_their_matrices_and_add_to_what_is_there() {
    let (mut rng, mut touching) = (Rng::new(4), 0);
    for (n, mut gauge) in gauges(0..10).into_iter().enumerate() {
        touching += usize::from(gauge.lab.step().contacts().any(|c| c.mode != Mode::Break));
        let (weights, blocks) = (weights(&gauge, &mut rng), gauge.jacobian());
        let start = gauge.lab.inputs().map(|n| rng.vector(n, 1.0));
        let mut got = start.clone();
        reverse(&mut gauge, &weights, &mut got).expect("a derivative");
        for c in (0..4).filter(|c| !start[*c].is_empty()) {
            let mut want = DVector::from_column_slice(&start[c]);
            let mut size = 1.0_f64;
            for (k, block) in gauge.readable().iter().zip(&blocks) {
                let w = DVector::from_column_slice(&weights[gauge.sensors.ranges()[*k].clone()]);
                want += block[c].transpose() * w;
                size = size.max(block[c].amax());
            }
            let off = (DVector::from_column_slice(&got[c]) - &want).amax() / size;
            assert!(off < 1e-10, "state {n}: {} {off:e}", ["q", "v", "tau", "ctrl"][c]);
        }
    }
    assert!(touching > 5, "{touching} touch");
}

#[test]
fn what_is_not_wanted_is_left_out_and_readings_stay_as_they_are() {
    let mut gauge = gauges(2..3).remove(0);
    let weights = weights(&gauge, &mut Rng::new(1));
    let before = gauge.read();
    let mut all = gauge.lab.inputs().map(|n| vec![0.0; n]);
    reverse(&mut gauge, &weights, &mut all).expect("a derivative");
    let mut only = vec![0.0; gauge.lab.model.nv()];
    let out = InputGrad { tau: &mut only, ..InputGrad::default() };
    gauge.lab.step().sensor_vjp(&weights, out, &mut gauge.sensors).expect("a derivative");
    assert_eq!(only, all[2]);
    gauge.jacobian();
    let kept: Vec<f64> =
        gauge.readable().iter().flat_map(|k| gauge.sensors.get(*k).expect("readable").to_vec()).collect();
    let ranges = gauge.sensors.ranges().to_vec();
    let read: Vec<f64> = gauge.readable().iter().flat_map(|k| before[ranges[*k].clone()].to_vec()).collect();
    assert_eq!(kept, read);
}

/// A ball that rolls against a step, with everything measured.
pub fn rolling(mode: GradientMode) -> Gauge {
    let mut w = World::new();
    let s = surface(0.4, 0.0);
    w.plane(Pose::IDENTITY, s);
    w.ball("ball", 1.0, 0.1, vec3(0.0, 0.0, 0.1), s);
    let arm =
        JointSpec { range: Some([-0.1, 0.1]), ..JointSpec::new("arm", JointKind::Revolute { axis: Vec3::UNITS[1] }) };
    let inertia = BodyInertia { com: vec3(0.2, 0.0, 0.0), ..solid_ball(0.2, 0.05) };
    w.0.add_link(FrameId(1), "arm", Pose::IDENTITY, inertia, vec![arm]);
    w.0.options.gradient = mode;
    let model = instrument(w.0, &mut Rng::new(9));
    let mut q = model.neutral().to_vec();
    q[7] = 0.1;
    Gauge::new(Lab::new(&model, &q, &[0.3, 0.1, -0.01, 0.2, 1.5, -0.4, 0.3]))
}

#[test]
fn smoothed_steps_have_readings_with_the_derivatives_of_their_differences() {
    let mut found = Found::default();
    for kappa in [1e-2, 1e-3] {
        let mut gauge = rolling(GradientMode::Central { kappa });
        gauge.lab.without_modes = true;
        gauge.audit(&format!("kappa {kappa}"), &mut found);
        // an exact step is differentiated as if it had been made on the central path
        let central = gauge.jacobian();
        let backward = rolling(GradientMode::ExactForwardCentral { kappa }).jacobian();
        for (a, b) in central.iter().flatten().zip(backward.iter().flatten()).filter(|(a, _)| !a.is_empty()) {
            assert!((a - b).amax() <= 1e-6 * a.amax().max(1.0), "kappa {kappa}: {:e}", (a - b).amax());
        }
    }
    found.judge(1e-5, 2_000);
}

#[test]
fn what_does_not_fit_and_what_cannot_be_read_is_refused_by_name() {
    let mut gauge = gauges(2..3).remove(0);
    let weights = weights(&gauge, &mut Rng::new(1));
    let mut out = gauge.lab.inputs().map(|n| vec![0.0; n]);
    let short = reverse(&mut gauge, &weights[1..], &mut out).unwrap_err();
    assert!(matches!(short, SensorError::Input(InputError::Length { what: "weights of readings", .. })), "{short:?}");
    out[1].pop();
    let short = reverse(&mut gauge, &weights, &mut out).unwrap_err();
    assert!(matches!(short, SensorError::Input(InputError::Length { what: "gradient of v", .. })), "{short:?}");
    // a blind sensor has no derivative, and only a weight of zero
    let readable = gauge.readable();
    let blind = (0..gauge.sensors.ranges().len()).find(|k| !readable.contains(k)).expect("many cannot be read");
    let name = gauge.lab.model.sensors()[blind].name.clone();
    let mut heavy = weights.clone();
    heavy[gauge.sensors.ranges()[blind].start] = 1.0;
    let refused = reverse(&mut gauge, &heavy, &mut out).unwrap_err();
    assert!(matches!(&refused, SensorError::Unsupported { sensor, .. } if *sensor == name), "{refused}");
    let mut done = gauge.lab.step();
    let jacobian = done.sensor_jacobian(&mut gauge.sensors).expect("of those that can be read");
    assert_eq!(jacobian.get(blind).unwrap_err(), refused);
    assert!(jacobian.values().is_err() && jacobian.named("nobody").is_err() && jacobian.get(100_000).is_err());
    let mut wrong = Sensors::new(&rolling(GradientMode::Exact).lab.model);
    assert!(matches!(done.sensor_jacobian(&mut wrong).unwrap_err(), SensorError::Input(_)));
    assert!(matches!(done.sensor_vjp(&[], InputGrad::default(), &mut wrong).unwrap_err(), SensorError::Input(_)));
}
