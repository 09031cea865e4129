//! Drives between bodies and about axes of a parent: their arms turn with the bodies.

use super::gauge::*;
use super::oracle::*;
use super::worlds::{self, fall_of};
use super::{parameters, sensor_parameters};
use crate::properties::random_tree::{self, Rng};
use nalgebra::DVector;
use slipstick_core::gradient::{InputDirection, InputGrad, OutputGrad};
use slipstick_core::model::{Actuator, FrameId, Implicit, JointId, ParameterGroup, Transmission};
use slipstick_core::*;

/// Adds sites and a drive of each kind between links taken at random: motors, servos, some of them saturated.
fn drive(mut b: ModelBuilder, rng: &mut Rng) -> ModelBuilder {
    let bare = b.clone().build().expect("a sound model");
    let links = b.site_frame(0).0;
    for k in 0..links {
        b.add_site(FrameId(k), format!("end{k}"), rng.pose());
    }
    for k in 0..10 {
        let mut end = || FrameId(links + rng.below(links));
        let (site, other) = (end(), end());
        let transmission = match k % 5 {
            0 => Transmission::Site { site, reference: None },
            1 | 2 => Transmission::Site { site, reference: Some(other) },
            3 => Transmission::SliderCrank { crank: site, slider: other, rod: [0.05, 4.0][k / 5] },
            _ => Transmission::JointInParent(JointId(rng.below(bare.joints().len()))),
        };
        let mut gear: [f64; 6] = core::array::from_fn(|_| rng.uniform(-1.0, 1.0));
        if k == 2 {
            gear[..3].fill(0.0);
        }
        let motor = Actuator::motor(format!("drive{k}"), JointId(0), 1.0);
        let (kp, kv) = (rng.uniform(0.5, 3.0), rng.uniform(0.1, 0.5));
        // a gain of zero on a joint is a corner: it is taken at the end of the step if it resists
        let law = match if k % 5 == 4 { 1 } else { k % 3 } {
            0 => motor,
            1 => Actuator { gain: kp, bias: [0.1, -kp, -kv], ..motor },
            _ => Actuator { gain: 2.0, bias: [0.3, 0.0, -kv], force_range: Some([-1.5, 1.5]), ..motor },
        };
        b.add_actuator(Actuator { transmission, gear, ..law });
    }
    b
}

fn free(seed: u64, instrumented: bool) -> Lab {
    let mut rng = Rng::new(seed);
    let mut b = drive(random_tree::builder(seed, 5), &mut rng);
    b.options.implicit = [Implicit::None, Implicit::Velocity, Implicit::All][(seed % 3) as usize];
    let model = if instrumented { instrument(b, &mut rng) } else { b.build().expect("a sound model") };
    let s = random_tree::sample(&model, seed);
    let ctrl = rng.vector(model.nu(), 2.0);
    Lab::new(&model, &s.q, &s.v).tau(&s.a).ctrl(&ctrl)
}

#[test]
fn steps_of_driven_forests_have_the_derivatives_of_their_differences() {
    for seed in 0..40 {
        free(seed, false).check(1e-6, &format!("forest {seed}"));
    }
}

#[test]
fn directions_and_adjoints_of_driven_forests_are_products_with_the_matrix() {
    for seed in 0..20 {
        let (mut lab, mut rng) = (free(seed, false), Rng::new(seed));
        let blocks = lab.jacobian();
        let d = lab.inputs().map(|n| rng.vector(n, 1.0));
        let nv = lab.model.nv();
        let w = [rng.vector(nv, 1.0), rng.vector(nv, 1.0)];
        let [mut dq, mut dv] = [vec![0.0; nv], vec![0.0; nv]];
        let direction = InputDirection { q: &d[0], v: &d[1], tau: &d[2], ctrl: &d[3], act: &[] };
        lab.step().jvp(direction, &mut dq, &mut dv).expect("a derivative");
        let mut back = lab.inputs().map(|n| vec![0.0; n]);
        let [q, v, tau, ctrl] = &mut back;
        let given = OutputGrad { q: &w[0], v: &w[1], impulses: &[], act: &[] };
        lab.step().vjp(given, InputGrad { q, v, tau, ctrl, act: &mut [] }).expect("a derivative");
        let column = |x: &[f64]| DVector::from_column_slice(x);
        for (r, got) in [dq, dv].iter().enumerate() {
            let want: DVector<f64> = (0..4).map(|c| &blocks.0[4 * r + c] * column(&d[c])).sum();
            assert!((column(got) - &want).amax() < 1e-10 * want.amax().max(1.0), "forest {seed}: direction");
        }
        for c in 0..4 {
            let want = blocks.0[c].transpose() * column(&w[0]) + blocks.0[4 + c].transpose() * column(&w[1]);
            assert!((column(&back[c]) - &want).amax() < 1e-10 * want.amax().max(1.0), "forest {seed}: {}", NAMES[c]);
        }
    }
}

#[test]
fn readings_of_driven_forests_have_the_derivatives_of_their_differences() {
    let mut found = Found::default();
    for seed in 0..8 {
        Gauge::new(free(seed, true)).audit(&format!("forest {seed}"), &mut found);
    }
    found.judge(1e-6, 10_000);
}

#[test]
fn placements_and_gains_of_driven_forests_have_the_derivatives_of_their_models() {
    let (mut found, mut faults) = (Found::default(), Vec::new());
    for seed in 0..6 {
        for group in [ParameterGroup::JointPlacement, ParameterGroup::Actuator] {
            let error = parameters::audit(&mut free(seed, false), group).expect("no modes");
            if error > 1e-6 {
                faults.push(format!("forest {seed} by {}: {error:e}", group.name()));
            }
            if seed < 3 {
                let mut gauge = Gauge::new(free(seed, true));
                sensor_parameters::audit(&mut gauge, group, &format!("forest {seed}"), &mut found);
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    found.judge(1e-6, 5_000);
}

#[test]
fn driven_worlds_that_touch_have_the_derivatives_of_their_differences() {
    let (mut touching, mut audited) = (0, 0);
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let b = drive(worlds::builder(seed), &mut rng);
        for (k, mut lab) in fall_of(b.build().expect("sound"), seed, 120, 3).into_iter().enumerate() {
            if lab.evaluate().status != Status::Converged {
                continue;
            }
            let Some(errors) = lab.audit().expect("a derivative") else { continue };
            touching += usize::from(lab.step().contacts().any(|c| c.mode != Mode::Break));
            audited += 1;
            let worst = errors.into_iter().fold(0.0, f64::max);
            assert!(worst < 1e-6, "world {seed}, sample {k}: {errors:?}");
        }
    }
    assert!(touching > 10 && audited > 15, "{touching} of {audited} touch");
}
