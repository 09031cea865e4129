//! Control steps as functions of arrays: the same motion as a simulator, derivatives of it in the numbers of q.
#![allow(non_snake_case)]

use slipstick::model::{GradientMode, Model};
use slipstick::random::Rng;
use slipstick::rollout::{ControlStep, Inputs, InputsGrad, Outcome, REPORT};
use slipstick::{Input, Simulator, State};

const N: usize = 6;
const HOLD: usize = 3;

/// Rows of states near a keyframe that move, with controls.
struct Scene {
    model: Model,
    q: Vec<f64>,
    v: Vec<f64>,
    ctrl: Vec<f64>,
}

impl Scene {
    fn new(name: &str, seed: u64) -> Scene {
        let model = slipstick::builtin(name).unwrap();
        let home = model.keyframe("home").unwrap().clone();
        let mut draw = Rng(seed);
        let mut random = |n: usize, size: f64| -> Vec<f64> { (0..n).map(|_| size * draw.between(-1.0, 1.0)).collect() };
        let (mut q, mut v, mut ctrl) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..N {
            let (turn, mut there) = (random(model.nv(), 0.05), home.q.clone());
            model.integrate(&home.q, &turn, &mut there).unwrap();
            q.extend(there);
            v.extend(random(model.nv(), 0.5));
            ctrl.extend(home.ctrl.iter().zip(random(model.nu(), 0.2)).map(|(u, r)| u + r));
        }
        Scene { model, q, v, ctrl }
    }

    fn inputs(&self) -> Inputs<'_> {
        Inputs { q: &self.q, v: &self.v, ctrl: &self.ctrl, ..Inputs::default() }
    }

    fn control_step(&self) -> ControlStep {
        ControlStep::new(&self.model, HOLD).unwrap()
    }

    /// States after the control steps, their outcomes and reports.
    fn run(&self, inputs: &Inputs) -> (Vec<f64>, Vec<f64>, Vec<i32>, Vec<f64>) {
        let (mut q, mut v) = (vec![0.0; self.q.len()], vec![0.0; self.v.len()]);
        let (mut outcomes, mut reports) = (vec![-1; N], vec![0.0; N * REPORT.len()]);
        self.control_step().step(inputs, [&mut q, &mut v], &mut reports, &mut outcomes).unwrap();
        (q, v, outcomes, reports)
    }
}

const ROBOTS: [&str; 3] = ["hopper", "quadruped", "ant"];

#[test]
fn a_control_step_is_some_steps_of_a_simulator_from_a_cold_start() {
    for name in ROBOTS {
        let scene = Scene::new(name, 1);
        let (q, v, outcomes, reports) = scene.run(&scene.inputs());
        let (nq, nv, nu) = (scene.model.nq(), scene.model.nv(), scene.model.nu());
        for k in 0..N {
            let mut sim = Simulator::new(&scene.model);
            let (q0, v0) = (&scene.q[k * nq..(k + 1) * nq], &scene.v[k * nv..(k + 1) * nv]);
            sim.set_state(State::new(&scene.model, q0, v0).unwrap()).unwrap();
            sim.clear_warm_start();
            let mut residual = 0.0_f64;
            for _ in 0..HOLD {
                let step = sim.step(&Input::ctrl(&scene.ctrl[k * nu..(k + 1) * nu])).unwrap();
                residual = residual.max(step.report().residual);
            }
            assert_eq!(&q[k * nq..(k + 1) * nq], &sim.state().q[..], "{name}");
            assert_eq!(&v[k * nv..(k + 1) * nv], &sim.state().v[..], "{name}");
            assert_eq!(reports[k * REPORT.len() + 5], residual);
        }
        assert!(outcomes.iter().all(|o| *o <= Outcome::Reduced as i32), "{name}: {outcomes:?}");
        assert!(reports.chunks(REPORT.len()).any(|r| r[0] > 0.0 && r[2] > 0.0), "{name} touches nothing");
    }
}

#[test]
fn results_do_not_depend_on_threads_or_on_calls_before() {
    let scene = Scene::new("quadruped", 2);
    let control_step = scene.control_step().threads(3);
    let (mut q, mut v, mut outcomes) = (vec![0.0; scene.q.len()], vec![0.0; scene.v.len()], vec![0; N]);
    let expected = scene.run(&scene.inputs());
    for _ in 0..3 {
        control_step.step(&scene.inputs(), [&mut q, &mut v], &mut [], &mut outcomes).unwrap();
        assert_eq!((&q, &v, &outcomes), (&expected.0, &expected.1, &expected.2));
    }
}

/// Jacobians A (nq + nv square) and B (nq + nv × nu) of all environments.
fn jacobians(scene: &Scene, inputs: &Inputs) -> (Vec<f64>, Vec<f64>) {
    let rows = scene.model.nq() + scene.model.nv();
    let (mut q, mut v, mut outcomes) = (vec![0.0; scene.q.len()], vec![0.0; scene.v.len()], vec![0; N]);
    let (mut A, mut B) = (vec![0.0; N * rows * rows], vec![0.0; N * rows * scene.model.nu()]);
    scene.control_step().step_and_jacobian(inputs, [&mut q, &mut v], &mut [], [&mut A, &mut B], &mut outcomes).unwrap();
    (A, B)
}

#[test]
fn jacobian_jvp_and_vjp_agree_with_each_other_and_with_differences() {
    for name in ROBOTS {
        let scene = Scene::new(name, 3);
        let (nq, nv, nu) = (scene.model.nq(), scene.model.nv(), scene.model.nu());
        let (rows, inputs, mut draw) = (nq + nv, scene.inputs(), Rng(9));
        let mut random = |n: usize| -> Vec<f64> { (0..n).map(|_| draw.between(-1.0, 1.0)).collect() };
        let (dq, dv, dctrl) = (random(N * nq), random(N * nv), random(N * nu));
        let (wq, wv) = (random(N * nq), random(N * nv));
        let (A, B) = jacobians(&scene, &inputs);
        let changes = Inputs { q: &dq, v: &dv, ctrl: &dctrl, ..Inputs::default() };
        let (mut tq, mut tv, mut outcomes) = (vec![0.0; N * nq], vec![0.0; N * nv], vec![0; N]);
        scene.control_step().jvp(&inputs, &changes, [&mut tq, &mut tv], &mut outcomes).unwrap();
        let (mut gq, mut gv, mut gctrl) = (vec![0.0; N * nq], vec![0.0; N * nv], vec![0.0; N * nu]);
        let grad = InputsGrad { q: &mut gq, v: &mut gv, ctrl: &mut gctrl, ..InputsGrad::default() };
        scene.control_step().vjp(&inputs, [&wq, &wv], grad, &mut outcomes).unwrap();
        let shifted = |h: f64| {
            let add = |x: &[f64], d: &[f64]| -> Vec<f64> { x.iter().zip(d).map(|(x, d)| x + h * d).collect() };
            let (q, v, ctrl) = (add(&scene.q, &dq), add(&scene.v, &dv), add(&scene.ctrl, &dctrl));
            scene.run(&Inputs { q: &q, v: &v, ctrl: &ctrl, ..inputs })
        };
        let (ahead, back) = (shifted(1e-7), shifted(-1e-7));
        let mut near = 0;
        for k in 0..N {
            let row = |x: &[f64], width: usize| x[k * width..(k + 1) * width].to_vec();
            let tangent = [row(&tq, nq), row(&tv, nv)].concat();
            let x = [row(&dq, nq), row(&dv, nv)].concat();
            let (w, u) = ([row(&wq, nq), row(&wv, nv)].concat(), row(&dctrl, nu));
            let size = tangent.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            for i in 0..rows {
                let of_x = dot(&A[(k * rows + i) * rows..][..rows], &x);
                let of_u = dot(&B[(k * rows + i) * nu..][..nu], &u);
                assert!((of_x + of_u - tangent[i]).abs() < 1e-9 * size, "{name} {k} {i}");
            }
            let reverse =
                dot(&row(&gq, nq), &row(&dq, nq)) + dot(&row(&gv, nv), &row(&dv, nv)) + dot(&row(&gctrl, nu), &u);
            assert!((dot(&w, &tangent) - reverse).abs() < 1e-9 * size * rows as f64, "{name} {k}");
            let quotient: Vec<f64> = [row(&ahead.0, nq), row(&ahead.1, nv)]
                .concat()
                .iter()
                .zip([row(&back.0, nq), row(&back.1, nv)].concat())
                .map(|(a, b)| (a - b) / 2e-7)
                .collect();
            let off = quotient.iter().zip(&tangent).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            near += usize::from(off < 1e-4 * size);
        }
        assert!(
            near + 1 >= N,
            "{name}: only {near} of {N} agree with differences, which cross a change of mode at most once"
        );
    }
}

#[test]
fn gradients_by_parameters_agree_with_differences() {
    let scene = Scene::new("hopper", 4);
    let (nq, nv, np) = (scene.model.nq(), scene.model.nv(), scene.model.parameters().values().len());
    let numbers = scene.model.parameters().values().to_vec();
    let inputs = Inputs { parameters: &numbers, ..scene.inputs() };
    let wv: Vec<f64> = (0..N * nv).map(|k| (k % 5) as f64 - 2.0).collect();
    let (mut q, mut v, mut parameters) = (vec![0.0; N * nq], vec![0.0; N * nv], vec![0.0; N * np]);
    let grad = InputsGrad { q: &mut q, v: &mut v, parameters: &mut parameters, ..InputsGrad::default() };
    scene.control_step().vjp(&inputs, [&vec![0.0; N * nq], &wv], grad, &mut [0; N]).unwrap();
    let layout = scene.model.parameters().layout();
    for name in ["inertial/torso/m", "damping/knee", "friction/floor", "gravity/z", "actuator/knee/gain"] {
        let Ok(i) = layout.index(name) else { panic!("no {name} among {:?}", layout.names()) };
        let mut ends = [1e-6, -1e-6].map(|h| {
            let mut changed = numbers.clone();
            changed[i] += h;
            scene.run(&Inputs { parameters: &changed, ..inputs }).1
        });
        let (ahead, back) = ends.split_at_mut(1);
        for k in 0..N {
            let quotient: f64 =
                (0..nv).map(|j| wv[k * nv + j] * (ahead[0][k * nv + j] - back[0][k * nv + j]) / 2e-6).sum();
            let exact = parameters[k * np + i];
            assert!((quotient - exact).abs() < 1e-4 * (1.0 + exact.abs()), "{name} {k}: {exact} is {quotient}");
        }
        let mut direction = vec![0.0; N * np];
        (0..N).for_each(|k| direction[k * np + i] = 1.0);
        let (zq, zv) = (vec![0.0; N * nq], vec![0.0; N * nv]);
        let changes = Inputs { q: &zq, v: &zv, parameters: &direction, ..Inputs::default() };
        let (mut tq, mut tv) = (zq.clone(), zv.clone());
        scene.control_step().jvp(&inputs, &changes, [&mut tq, &mut tv], &mut [0; N]).unwrap();
        for k in 0..N {
            let forward: f64 = (0..nv).map(|j| wv[k * nv + j] * tv[k * nv + j]).sum();
            assert!((forward - parameters[k * np + i]).abs() < 1e-9 * (1.0 + forward.abs()), "{name} {k}");
        }
    }
}

#[test]
fn smoothing_is_a_speed_whatever_the_time_step() {
    let scene = Scene::new("hopper", 5);
    let speed = [0.1];
    let smoothed = jacobians(&scene, &Inputs { smoothing: &speed, ..scene.inputs() });
    let mut options = scene.model.options().clone();
    options.gradient = GradientMode::ExactForwardCentral { kappa: GradientMode::kappa_of_speed(0.1, options.dt) };
    let other = Scene { model: scene.model.with_options(options).unwrap(), ..Scene::new("hopper", 5) };
    assert_eq!(smoothed, jacobians(&other, &other.inputs()));
    assert_ne!(smoothed.0, jacobians(&scene, &scene.inputs()).0);
    assert_eq!(scene.run(&Inputs { smoothing: &speed, ..scene.inputs() }).0, scene.run(&scene.inputs()).0);
    let halves = [0.002, 0.001].map(|dt| GradientMode::kappa_of_speed(0.3, dt) * dt * dt);
    assert!((halves[0] - halves[1]).abs() < 1e-15);
}

#[test]
fn what_fails_keeps_a_finite_state_and_has_gradients_of_zero() {
    let mut scene = Scene::new("hopper", 6);
    let (nq, nv) = (scene.model.nq(), scene.model.nv());
    scene.v[nv] = 1e9; // beyond the speed limit after a step
    scene.v[2 * nv] = f64::NAN;
    let (q, v, outcomes, _) = scene.run(&scene.inputs());
    assert_eq!((outcomes[1], outcomes[2]), (Outcome::Failed as i32, Outcome::Failed as i32));
    assert_eq!(&q[nq..2 * nq], &scene.q[nq..2 * nq]);
    assert!(v[nv].is_finite() && [0, 3, 4, 5].iter().all(|k| outcomes[*k] <= Outcome::Reduced as i32));
    let (A, B) = jacobians(&scene, &scene.inputs());
    let size = A.len() / N;
    assert!(A[size..3 * size].iter().chain(&B[B.len() / N..3 * B.len() / N]).all(|x| *x == 0.0));
    assert!(A[..size].iter().any(|x| *x != 0.0));
}

#[test]
fn wrong_sizes_are_refused_by_name() {
    let scene = Scene::new("hopper", 7);
    let (mut q, mut v, mut outcomes) = (scene.q.clone(), scene.v.clone(), vec![0; N]);
    let mut go = |inputs: &Inputs| {
        scene.control_step().step(inputs, [&mut q, &mut v], &mut [], &mut outcomes).unwrap_err().to_string()
    };
    assert!(go(&Inputs { q: &[0.0], ..scene.inputs() }).starts_with("q: expected 36 numbers, got 1"));
    assert!(go(&Inputs { ctrl: &[0.0; 7], ..scene.inputs() }).starts_with("ctrl: expected 18"));
    assert!(go(&Inputs { smoothing: &[0.0; 2], ..scene.inputs() }).starts_with("smoothing: expected 6"));
    assert!(ControlStep::new(&scene.model, 0).unwrap_err().to_string().starts_with("hold: expected from 1"));
}
