//! Work for a counter of instructions: `slipstick-count ROBOT stand|fall` steps and differentiates a robot, built in or a file, a few
//! times, each stage in a function that is never inlined, so that callgrind can tell them apart (`cargo xtask count`).

#![allow(clippy::print_stderr)] // a program that talks to the one who runs it

use slipstick::control::{Controller, Hold};
use slipstick::gradient::{InputGrad, OutputGrad};
use slipstick::{Data, Input, Model, Simulator, State, Step, builtin, load, step};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// Steps before counting begins: by then the robot rests, or lies in a heap.
const BEFORE: usize = 400;
/// Steps that are counted.
const COUNTED: usize = 10;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [robot, "stand"] => count(robot, true),
        [robot, "fall"] => count(robot, false),
        _ => Err("usage: slipstick-count ROBOT|FILE stand|fall".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("slipstick-count: {error}");
            ExitCode::FAILURE
        }
    }
}

fn count(robot: &str, stand: bool) -> Result<(), Box<dyn Error>> {
    let model = if Path::new(robot).is_file() { load(robot)? } else { builtin(robot)? };
    let mut simulator = Simulator::new(&model);
    let mut controller = match stand {
        true => Controller::Hold(Hold::new(&model, simulator.state())?),
        false => Controller::Off,
    };
    simulator.rollout(BEFORE, &mut controller)?;
    let (mut x, mut data) = (simulator.state().clone(), Data::new(&model));
    let mut next = x.clone();
    step(&model, &mut data, &x, &Input::default(), &mut next)?; // memory grows to its size
    for _ in 0..COUNTED {
        let mut done = counted_step(&model, &mut data, &x, &mut next)?;
        counted_jacobian(&mut done)?;
        let mut done = counted_step(&model, &mut data, &x, &mut next)?;
        counted_vjp(&mut done, model.nv())?;
        std::mem::swap(&mut x, &mut next);
    }
    Ok(())
}

#[inline(never)]
fn counted_step<'a>(
    model: &'a Model,
    data: &'a mut Data,
    x: &State,
    next: &mut State,
) -> Result<Step<'a>, Box<dyn Error>> {
    Ok(step(model, data, x, &Input::default(), next)?)
}

#[inline(never)]
fn counted_jacobian(done: &mut Step) -> Result<(), Box<dyn Error>> {
    std::hint::black_box(done.jacobian()?);
    Ok(())
}

#[inline(never)]
fn counted_vjp(done: &mut Step, nv: usize) -> Result<(), Box<dyn Error>> {
    let weights = vec![1.0; nv];
    let mut gradient = vec![0.0; 3 * nv];
    let (q, rest) = gradient.split_at_mut(nv);
    let (v, tau) = rest.split_at_mut(nv);
    done.vjp(
        OutputGrad { q: &weights, v: &weights, ..OutputGrad::default() },
        InputGrad { q, v, tau, ..InputGrad::default() },
    )?;
    std::hint::black_box(&gradient);
    Ok(())
}
