//! Friction and mass from data: a box slides under a push, derivatives by parameters find what it is made of.
#![allow(non_snake_case)] // the Jacobian

use slipstick::linalg::MatMut;
use slipstick::model::ParameterGroup::{Friction, Inertial};
use slipstick::optimize::{LeastSquares, Options, minimize};
use slipstick::rollout::{Memory, RolloutDirection, RolloutGradient, RolloutGradientError};
use slipstick::{Input, InputError, Model, State};

const STEPS: usize = 150;
const PUSH: [f64; 6] = [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]; // along x (N)

/// A cube that slides from a state, and where it was seen.
struct Slide {
    cube: Model,
    start: State,
    data: Vec<f64>,
}

impl Slide {
    /// One friction for all geoms: a contact takes the larger one of its two.
    fn model(&self, x: &[f64]) -> Result<Model, InputError> {
        self.cube.with_uniform_friction(x[0])?.with_mass(&[("cube", x[1])])
    }
}

/// Its place is measured in every tenth state: x and y of rows with `width` numbers.
fn seen(rows: &[f64], width: usize) -> impl Iterator<Item = f64> {
    rows.chunks(width).step_by(10).skip(1).flat_map(|row| [row[0], row[1]])
}

impl LeastSquares for Slide {
    type Error = RolloutGradientError;

    fn unknowns(&self) -> usize {
        2
    }

    fn residuals(&self) -> usize {
        self.data.len()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), RolloutGradientError> {
        let mut memory = RolloutGradient::new(&self.model(x)?, STEPS, Memory::Recompute);
        let run = memory.run(&self.start, &Input::tau(&PUSH.repeat(STEPS)))?;
        let places = seen(&run.trajectory().q, self.cube.nq());
        r.iter_mut().zip(places).zip(&self.data).for_each(|((r, place), data)| *r = place - data);
        Ok(())
    }

    /// One forward pass through the rollout for each unknown.
    fn jacobian(&mut self, x: &[f64], mut J: MatMut) -> Result<(), RolloutGradientError> {
        let model = self.model(x)?;
        let mut memory = RolloutGradient::new(&model, STEPS, Memory::Store).with_parameters(&[Friction, Inertial]);
        let mut run = memory.run(&self.start, &Input::tau(&PUSH.repeat(STEPS)))?;
        let ones = vec![1.0; model.geoms().len()];
        // mass, first and second moments: all in proportion to the mass
        let inertial: Vec<f64> = model.parameters().group(Inertial).iter().map(|p| p / x[1]).collect();
        let mut changes = [0, 1].map(|_| vec![0.0; (STEPS + 1) * model.nv()]);
        for (k, parameters) in [[(Friction, &ones[..])], [(Inertial, &inertial)]].iter().enumerate() {
            let [dq, dv] = &mut changes;
            run.jvp(RolloutDirection { parameters, ..Default::default() }, dq, dv)?;
            seen(dq, model.nv()).enumerate().for_each(|(i, x)| J.row_mut(i)[k] = x);
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cube = slipstick::builtin("cube")?;
    let start = State::new(&cube, &cube.keyframe("home")?.q, &[2.0, 0.5, 0.0, 0.0, 0.0, 0.0])?;
    let mut slide = Slide { cube, start, data: vec![0.0; 2 * STEPS / 10] };
    let mut data = slide.data.clone();
    slide.residual(&[0.35, 1.7], &mut data)?; // what is to be found
    slide.data = data;

    let found = minimize(&mut slide, &[0.6, 1.0], &Options::default(), |_| ())?;
    let iterations = found.iterations.len() - 1;
    println!("friction and mass: {:.9?} in {iterations} iterations, error {:e}", found.x, found.error);
    assert!((found.x[0] - 0.35).abs() < 1e-6 && (found.x[1] - 1.7).abs() < 1e-6);
    Ok(())
}
