//! Iterative LQR through contact: the hopper jumps to a height, its gradients come from every step of the rollout.
#![allow(non_snake_case)] // matrices

use nalgebra::{DMatrix, DVector};
use slipstick::model::GradientMode;
use slipstick::{Input, Model, Simulator, State, StepError};

const STEPS: usize = 200;
const GOAL: [f64; 3] = [0.15, 1.35, 0.0]; // torso after 0.4 s: x (m), height (m), pitch (rad)
const EFFORT: f64 = 1e-3; // weight of every control

/// Weights of the last state.
fn weights(nv: usize) -> DMatrix<f64> {
    DMatrix::from_fn(2 * nv, 2 * nv, |i, j| if i == j { [10.0, 10.0, 2.0].get(i).copied().unwrap_or(0.0) } else { 0.0 })
}

fn error(last: &DVector<f64>) -> DVector<f64> {
    let mut error = last.clone();
    (0..3).for_each(|k| error[k] -= GOAL[k]);
    error
}

fn vector(x: &State) -> DVector<f64> {
    DVector::from_iterator(x.q.len() + x.v.len(), x.q.iter().chain(&x.v).copied())
}

/// States (the last one included) and controls of one motion, and its cost.
struct Motion {
    xs: Vec<DVector<f64>>,
    us: Vec<DVector<f64>>,
    cost: f64,
}

/// The policy says what to do in a step and a state.
fn rollout(model: &Model, policy: impl Fn(usize, &DVector<f64>) -> DVector<f64>) -> Result<Motion, StepError> {
    let mut sim = Simulator::new(model);
    let (mut xs, mut us) = (vec![vector(sim.state())], Vec::new());
    for t in 0..STEPS {
        let u = policy(t, &xs[t]).map(|u| u.clamp(-1.0, 1.0));
        sim.step(&Input::ctrl(u.as_slice()))?;
        xs.push(vector(sim.state()));
        us.push(u);
    }
    let last = error(&xs[STEPS]);
    let effort: f64 = us.iter().map(|u| u.norm_squared()).sum();
    let cost = 0.5 * last.dot(&(weights(model.nv()) * &last)) + 0.5 * EFFORT * effort;
    Ok(Motion { xs, us, cost })
}

/// Feedforward and feedback of every step, from the last to the first.
type Gains = Vec<(DVector<f64>, DMatrix<f64>)>;

fn backward(model: &Model, motion: &Motion, damping: f64) -> Result<Gains, Box<dyn std::error::Error>> {
    let (nv, nu, mut sim) = (model.nv(), model.nu(), Simulator::new(model));
    let (W, R) = (weights(nv), DMatrix::identity(nu, nu) * EFFORT);
    let (mut p, mut P, mut gains) = (&W * error(&motion.xs[STEPS]), W, Vec::new());
    for (x, u) in motion.xs.iter().zip(&motion.us).rev() {
        sim.set_state(State::new(model, &x.as_slice()[..nv], &x.as_slice()[nv..])?)?;
        let mut step = sim.step(&Input::ctrl(u.as_slice()))?;
        let J = step.jacobian()?;
        let A = DMatrix::from_row_slice(2 * nv, 2 * nv, &J.A());
        let B = DMatrix::from_row_slice(2 * nv, nu, &J.B());
        let H = (&R + B.transpose() * &P * &B + DMatrix::identity(nu, nu) * damping).lu();
        let g = &R * u + B.transpose() * &p;
        let k = -H.solve(&g).ok_or("singular")?;
        let K = -H.solve(&(B.transpose() * &P * &A)).ok_or("singular")?;
        p = A.transpose() * p + K.transpose() * g;
        P = A.transpose() * P * (&A + B * &K);
        P = 0.5 * (&P + P.transpose());
        gains.push((k, K));
    }
    gains.reverse();
    Ok(gains)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = slipstick::builtin("hopper")?;
    let mut options = model.options().clone();
    options.dt = 0.002;
    // the step stays exact; its derivatives are those of slightly smoothed contact
    options.gradient = GradientMode::ExactForwardCentral { kappa: 1e-2 };
    let model = model.with_options(options)?;

    let mut best = rollout(&model, |_, _| DVector::zeros(model.nu()))?;
    let (first, mut damping) = (best.cost, 1e-3);
    for iteration in 0..12 {
        let gains = backward(&model, &best, damping)?;
        let mut improved = false;
        for fraction in [1.0, 0.5, 0.25, 0.1, 0.03] {
            let policy =
                |t: usize, x: &DVector<f64>| &best.us[t] + fraction * &gains[t].0 + &gains[t].1 * (x - &best.xs[t]);
            let new = rollout(&model, policy)?;
            if new.cost < best.cost {
                (best, improved) = (new, true);
                break;
            }
        }
        damping *= if improved { 0.3 } else { 10.0 };
        println!("{iteration:2} cost {:.4}", best.cost);
    }
    assert!(best.cost < 0.2 * first);
    Ok(())
}
