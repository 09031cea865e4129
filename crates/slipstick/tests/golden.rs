//! The bits of motions and derivatives of all built-in robots, as they were when the file beside was written.
//!
//! The same for any number of threads and environments, for both compilations of the passes (`dispatch.rs`, compared in
//! core), and after a model was saved and read. A commit that changes bits on purpose writes the file anew:
//! `SLIPSTICK_GOLDEN=write cargo test -p slipstick --test main golden`. Core computes sine and cosine itself, but takes
//! `exp`, `ln`, `atan2`, `acos`, `hypot` and a few sines from the system's library: bits are compared on machines like the
//! one where the file was written, Linux with glibc on x86-64 with FMA. Without FMA glibc takes other code, and the gradient
//! of the humanoid has other last bits; all other numbers are the same, as under qemu with a processor without AVX2.

#![allow(non_snake_case)]

use slipstick::bytes::fnv1a;
use slipstick::control::{Controller, Random};
use slipstick::model::ParameterGroup;
use slipstick::rollout::{BatchInput, Memory, RolloutGradient, StateGrad};
use slipstick::{Batch, Input, Model, Simulator, State, Trajectory, builtin, builtin_names};
use std::fs;
use std::path::Path;

const STEPS: usize = 300;
const GOLDEN: &str = "tests/golden.txt";

/// Goes on from a hash with the bits of numbers.
fn mixed(hash: u64, numbers: &[f64]) -> u64 {
    numbers.iter().fold(hash, |hash, x| fnv1a(hash, &x.to_bits().to_le_bytes()))
}

fn random_motion(model: &Model, seed: u64) -> Trajectory {
    let controller = if model.nu() > 0 { Controller::Random(Random::new(seed)) } else { Controller::Zero };
    Simulator::new(model).rollout(STEPS, controller).unwrap()
}

/// States of a motion, its gradient with respect to everything, and the Jacobian of its last step.
fn hashes(model: &Model) -> [u64; 3] {
    let motion = random_motion(model, 7);
    let states = mixed(mixed(0, &motion.q), &motion.v);
    let mut gradient = RolloutGradient::new(model, STEPS, Memory::Recompute).with_parameters(&ParameterGroup::ALL);
    let x0 = Simulator::initial_state(model);
    let input = Input { tau: &motion.tau, ctrl: (model.nu() > 0).then_some(&motion.ctrl), ..Input::default() };
    let mut run = gradient.run(&x0, &input).unwrap();
    assert!(run.trajectory().q == motion.q, "a rollout that is differentiated goes another way");
    let (w, mut out) = (vec![1.0; model.nv()], run.zeros());
    run.vjp(StateGrad { q: &w, v: &w, ..StateGrad::default() }, &mut out).unwrap();
    let parts = [&out.q, &out.v, &out.tau, &out.ctrl].into_iter().chain(out.parameters.iter().map(|(_, x)| x));
    let vjp = parts.fold(0, |hash, x| mixed(hash, x));
    let mut sim = Simulator::new(model);
    let last = |x: &[f64], n: usize| x[(STEPS - 1) * n..STEPS * n].to_vec();
    sim.set_state(State::new(model, &last(&motion.q, model.nq()), &last(&motion.v, model.nv())).unwrap()).unwrap();
    let ctrl = &motion.ctrl[(STEPS - 1) * model.nu()..];
    let input = if model.nu() > 0 { Input::ctrl(ctrl) } else { Input::default() };
    let mut step = sim.step(&input).unwrap();
    let J = step.jacobian().unwrap();
    let jacobian = [J.dq_dq, J.dq_dv, J.dq_dtau, J.dq_dctrl, J.dv_dq, J.dv_dv, J.dv_dtau, J.dv_dctrl];
    let rows = jacobian.iter().flat_map(|m| (0..m.rows()).map(|i| m.row(i)));
    [states, vjp, rows.fold(0, mixed)]
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#[test]
fn motions_and_derivatives_have_the_bits_that_they_had() {
    if !is_x86_feature_detected!("fma") {
        return; // glibc has other last bits here
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    let line = |name: &str| {
        let [states, vjp, jacobian] = hashes(&builtin(name).unwrap());
        format!("{name} states {states:016x} vjp {vjp:016x} jacobian {jacobian:016x}\n")
    };
    let found: String = builtin_names().map(line).collect();
    if std::env::var("SLIPSTICK_GOLDEN").is_ok_and(|x| x == "write") {
        fs::write(&path, &found).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap();
    let other: Vec<_> = found.lines().zip(golden.lines()).filter(|(a, b)| a != b).collect();
    assert!(found == golden, "other bits than in {GOLDEN} (SLIPSTICK_GOLDEN=write renews it): {other:#?}");
}

#[test]
fn batches_of_any_size_on_any_threads_have_the_bits_of_one_robot() {
    for name in builtin_names() {
        let model = builtin(name).unwrap();
        let alone: Vec<Trajectory> = (0..8).map(|seed| random_motion(&model, seed)).collect();
        for (n, threads) in [(1, 1), (3, 2), (8, 1), (8, 3), (8, 8)] {
            let (states, ends) = batch_of(&model, &alone[..n], threads);
            for (i, motion) in alone[..n].iter().enumerate() {
                let rows = motion.v.len();
                assert!(states[i * rows..(i + 1) * rows] == motion.v, "{name}: {n} on {threads} threads");
            }
            assert!(ends.iter().all(|x| x.is_finite()));
        }
    }
}

/// Velocities of all states of rollouts, and their gradients with respect to the first velocities.
fn batch_of(model: &Model, motions: &[Trajectory], threads: usize) -> (Vec<f64>, Vec<f64>) {
    let (n, x0) = (motions.len(), Simulator::initial_state(model));
    let mut batch = Batch::new(model, n).unwrap().threads(threads);
    let (q, v) = (x0.q.repeat(n), x0.v.repeat(n));
    let ctrl: Vec<f64> = motions.iter().flat_map(|m| m.ctrl.iter().copied()).collect();
    let (mut q_out, mut v_out) = (vec![0.0; n * (STEPS + 1) * model.nq()], vec![0.0; n * (STEPS + 1) * model.nv()]);
    let acting = Input { ctrl: (model.nu() > 0).then_some(&ctrl), ..Input::default() };
    let input = BatchInput { acting, wrenches: &[] };
    batch.rollout(STEPS, None, [&q, &v], input, [&mut q_out, &mut v_out]).unwrap();
    (v_out, q_out)
}

#[test]
fn saved_models_move_as_the_originals() {
    for name in builtin_names() {
        let model = builtin(name).unwrap();
        let saved = model.to_bytes();
        let again = Model::from_bytes(&saved).unwrap();
        assert!(again.to_bytes() == saved, "{name}: other bytes");
        assert!(again.parameters().values() == model.parameters().values(), "{name}");
        assert_eq!(slipstick::files::content_hash(&again), slipstick::files::content_hash(&model), "{name}");
        assert!(random_motion(&again, 3) == random_motion(&model, 3), "{name}: another motion");
    }
}

#[test]
fn damaged_models_are_refused() {
    let saved = builtin("hopper").unwrap().to_bytes();
    for k in 0..saved.len() {
        let mut other = saved.clone();
        other[k] ^= 1 << (k % 8);
        assert!(Model::from_bytes(&other).is_err(), "byte {k}");
    }
    (0..saved.len()).step_by(97).for_each(|n| assert!(Model::from_bytes(&saved[..n]).is_err(), "cut after {n}"));
}

#[test]
fn warm_starts_of_other_robots_are_refused() {
    let (cube, quadruped) = (builtin("cube").unwrap(), builtin("quadruped").unwrap());
    let mut sim = Simulator::new(&quadruped);
    sim.rollout(50, Controller::Zero).unwrap();
    let warm = sim.warm_start();
    let error = Simulator::new(&cube).restore(&warm).unwrap_err().to_string();
    assert!(error.starts_with("warm start: it belongs to another model"), "{error}");
    // the same robot of another file or process, and one with other parameters, take it
    Simulator::new(&Model::from_bytes(&quadruped.to_bytes()).unwrap()).restore(&warm).unwrap();
    let mut options = quadruped.options().clone();
    options.dt *= 0.5;
    Simulator::new(&quadruped.with_options(options).unwrap()).restore(&warm).unwrap();
    let saved = slipstick::WarmStart::from_bytes(&warm.to_bytes()).unwrap();
    assert!(Simulator::new(&cube).restore(&saved).is_err());
    let mut batch = Batch::new(&cube, 2).unwrap();
    assert!(batch.set_warm_starts(&[warm.clone(), warm]).is_err());
}
