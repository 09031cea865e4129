//! Limits and dry friction act on the diagonal of the mass matrix, not in the contact problem: the same answer as with all rows
//! in one dense matrix, and derivatives that do not depend on how it was found.

use slipstick::Status;
use slipstick::gradient::{InputGrad, OutputGrad};
use slipstick::model::Solver;
use slipstick::ncp::{Solution, residual, solve};
use slipstick::random::Rng;
use slipstick::{Data, Input, Model, State, Step, builtin};

/// Robots with dry friction or limits in their joints.
const ROBOTS: [&str; 8] = ["quadruped", "biped", "humanoid", "atlas", "arm", "ant", "walker2d", "hopper"];

/// Steps from home under random controls and torques that change now and then; `look` sees every step.
fn shake(name: &str, steps: usize, size: f64, mut look: impl FnMut(usize, &mut Step, &[f64])) {
    let model = builtin(name).expect(name);
    let mut draw = Rng(7);
    let mut x = State::keyframe(&model, "home").unwrap_or_else(|_| State::neutral(&model));
    let home = model.keyframes().iter().find(|k| k.name == "home").map_or(vec![0.0; model.nu()], |k| k.ctrl.clone());
    let (mut data, mut next) = (Data::new(&model), x.clone());
    let (mut ctrl, mut tau) = (home.clone(), vec![0.0; model.nv()]);
    for t in 0..steps {
        if t % 20 == 0 {
            ctrl.iter_mut().zip(&home).for_each(|(c, home)| *c = home + size * draw.sign());
            tau.iter_mut().for_each(|x| *x = size * draw.sign());
        }
        let mut step =
            slipstick::step(&model, &mut data, &x, &Input::tau(&tau).with_ctrl(&ctrl), &mut next).expect("a step");
        look(t, &mut step, &next.v);
        std::mem::swap(&mut x, &mut next);
    }
}

#[test]
fn the_step_solves_the_problem_with_all_rows_in_one_matrix() {
    let mut held = 0;
    for (name, size) in ROBOTS.iter().flat_map(|name| [(*name, 0.3), (*name, 0.01)]) {
        shake(name, 200, size, |t, step, _| {
            if step.report().status != Status::Converged {
                return;
            }
            let velocities: Vec<f64> = step.constraints().iter().flat_map(|c| rows(&c.velocity, &c.name)).collect();
            held += step.constraints().iter().filter(|c| c.name.starts_with("dry") && c.mode.name() == "stick").count();
            let (problem, lambda) = step.problem().expect("sound");
            let r = residual(&problem, lambda).expect("sound");
            assert!(r < 2e-10, "{name}, step {t}: residual {r:e} with all rows in G");
            // from these impulses the dense problem has nothing left to do, and its velocities are those of the step
            let mut dense = Solution::default();
            let report = solve(&problem, Solver::Auto, 1e-10, 170, Some(lambda), &mut dense).expect("sound");
            let same = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(same(dense.sigma(), &velocities) < 2e-10, "{name}, step {t}: velocities, {report:?}");
            assert!(same(dense.lambda(), lambda) < 1e-8, "{name}, step {t}: impulses, {report:?}");
        });
    }
    assert!(held > 100, "only {held} joints were held by dry friction");
}

/// Rows of a constraint.
fn rows(velocity: &[f64; 3], name: &str) -> Vec<f64> {
    if name.starts_with("contact") { velocity.to_vec() } else { vec![velocity[0]] }
}

#[test]
fn cold_solves_of_the_dense_problem_end_at_the_same_velocities() {
    for name in ["quadruped", "walker2d", "arm"] {
        shake(name, 60, 0.5, |t, step, _| {
            let velocities: Vec<f64> = step.constraints().iter().flat_map(|c| rows(&c.velocity, &c.name)).collect();
            let (problem, _) = step.problem().expect("sound");
            let mut dense = Solution::default();
            let report = solve(&problem, Solver::Auto, 1e-11, 400, None, &mut dense).expect("sound");
            if report.status != Status::Converged {
                return;
            }
            let far = dense.sigma().iter().zip(&velocities).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(far < 1e-8, "{name}, step {t}: {far:e}");
        });
    }
}

#[test]
fn reverse_mode_is_the_transpose_along_whole_motions() {
    for name in ["quadruped", "hopper", "arm"] {
        let mut draw = Rng(3);
        shake(name, 1000, 0.5, |t, step, v| {
            if t % 5 > 0 {
                return;
            }
            let nv = v.len();
            let w: Vec<f64> = (0..nv).map(|_| draw.sign()).collect();
            let jacobian = step.jacobian().expect("a derivative");
            let times = |j: usize| (0..nv).map(|i| w[i] * jacobian.dv_dq[(i, j)]).sum::<f64>();
            let (expected, size) = ((0..nv).map(times).collect::<Vec<_>>(), 1e3 * nv as f64);
            let (mut q, mut v, mut tau) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
            let out = InputGrad { q: &mut q, v: &mut v, tau: &mut tau, ..Default::default() };
            step.vjp(OutputGrad { v: &w, ..Default::default() }, out).expect("a gradient");
            let far = q.iter().zip(&expected).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(far < 1e-9 * size, "{name}, step {t}: {far:e}");
        });
    }
}

/// A robot that has come to rest with all joints held and all feet sticking: more rows than dofs.
fn resting(model: &Model, steps: usize) -> (State, Vec<f64>, Data) {
    let home = model.keyframes().iter().find(|k| k.name == "home").expect("home").clone();
    let mut x = State::keyframe(model, "home").expect("home");
    let (mut data, mut next) = (Data::new(model), x.clone());
    for _ in 0..steps {
        slipstick::step(model, &mut data, &x, &Input::ctrl(&home.ctrl), &mut next).expect("a step");
        std::mem::swap(&mut x, &mut next);
    }
    (x, home.ctrl, data)
}

#[test]
fn derivatives_of_a_standing_quadruped_are_linear_and_do_not_depend_on_history() {
    let model = builtin("quadruped").expect("built in");
    let (x, ctrl, mut warm) = resting(&model, 3000);
    let (nv, mut next) = (model.nv(), x.clone());
    let mut answers = Vec::new();
    for data in [&mut warm, &mut Data::new(&model)] {
        let mut step = slipstick::step(&model, data, &x, &Input::ctrl(&ctrl), &mut next).expect("a step");
        let rows = step.constraints().iter().map(|c| if c.name.starts_with("contact") { 3 } else { 1 }).sum::<usize>();
        assert!(rows > nv, "{rows} rows");
        let jacobian = step.jacobian().expect("a derivative");
        let dense: Vec<f64> = (0..nv * nv).map(|k| jacobian.dv_dq[(k / nv, k % nv)]).collect();
        // the transpose, vector by vector
        for i in 0..nv {
            let mut w = vec![0.0; nv];
            w[i] = 1.0;
            let (mut gq, mut gv, mut gtau) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
            let out = InputGrad { q: &mut gq, v: &mut gv, tau: &mut gtau, ..Default::default() };
            step.vjp(OutputGrad { v: &w, ..Default::default() }, out).expect("a gradient");
            let size = dense[i * nv..(i + 1) * nv].iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            for j in 0..nv {
                assert!((gq[j] - dense[i * nv + j]).abs() < 1e-9 * size, "dv_dq({i}, {j})");
            }
        }
        answers.push(dense);
    }
    let size = answers[0].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let far = answers[0].iter().zip(&answers[1]).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    assert!(far < 1e-6 * size, "warm and cold differ by {far:e} of {size:e}");
}
