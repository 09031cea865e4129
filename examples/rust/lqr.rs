//! A linear-quadratic regulator from the exact derivatives of a step: the cart-pole stays upright.
#![allow(non_snake_case)] // matrices

use nalgebra::{DMatrix, DVector};
use slipstick::control::Command;
use slipstick::{Input, Model, Simulator, State};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = slipstick::builtin("cartpole")?;
    let (nx, nu) = (2 * model.nv(), model.nu());

    let mut sim = Simulator::at_keyframe(&model, "upright")?;
    let mut step = sim.step(&Input::ctrl(&[0.0]))?;
    let J = step.jacobian()?; // next (q, v) by (q, v) and by ctrl, as in mjd_transitionFD, but exact
    let (A, B) = (DMatrix::from_row_slice(nx, nx, &J.A()), DMatrix::from_row_slice(nx, nu, &J.B()));

    let Q = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 10.0, 0.1, 0.1]));
    let R = DMatrix::identity(nu, nu) * 0.1;
    let (mut P, mut K) = (Q.clone(), DMatrix::zeros(nu, nx));
    for _ in 0..2000 {
        // the discrete Riccati equation, by iteration
        K = (&R + B.transpose() * &P * &B).lu().solve(&(B.transpose() * &P * &A)).ok_or("singular")?;
        P = &Q + A.transpose() * &P * (&A - &B * &K);
    }
    let radius = (&A - &B * &K).complex_eigenvalues().iter().map(|x| x.norm()).fold(0.0, f64::max);
    println!("gain: {:.3?} spectral radius: {radius:.4}", K.as_slice());

    sim.set_state(State::new(&model, &[0.5, 0.2], &[0.0, 0.0])?)?; // half a meter off, pole tilted by 11 degrees
    sim.rollout(500, |_: &Model, x: &State, command: &mut Command| {
        let x = DVector::from_iterator(nx, x.q.iter().chain(&x.v).copied());
        command.ctrl[0] = (-&K * x)[0].clamp(-1.0, 1.0);
    })?;
    println!("after 5 s: {:.4?}", sim.state().q);
    assert!(sim.state().q.iter().all(|x| x.abs() < 0.02));
    Ok(())
}
