//! A cube, how it is set going and where it ends up: residuals and derivatives for least squares.

use slipstick::linalg::{MatMut, MatRef};
use slipstick::optimize::LeastSquares;
use slipstick::smoothing::{Bundle, Bundled, SmoothingError};
use slipstick::{Data, GradientError, Input, InputError, Model, State, StepError};
use std::fmt;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// The first velocity (m/s, rad/s).
    Velocity,
    /// What pushes during the first step, as an impulse (N s, N m s).
    Impulse,
}

/// Derivatives of each step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Derivative {
    /// Those that the model's options ask for: exact, or on the central path.
    OfModel,
    /// Means over random inputs.
    Bundled(Bundled),
}

/// The pose after a number of steps, seen from the one that is wanted, as a function of the unknown (nv numbers each).
#[derive(Debug, Clone)]
pub(crate) struct Throw {
    model: Model,
    /// Where it begins; an unknown velocity takes the place of its own.
    start: State,
    steps: usize,
    /// Wanted configuration.
    target: Vec<f64>,
    unknown: Unknown,
    bundle: Option<Bundle>,
    data: Data,
    x: State,
    next: State,
    /// Forces of the first step.
    push: Vec<f64>,
    /// Changes of (q, v) with the unknown (2 nv × nv): of the state at hand, and of the next.
    change: [Vec<f64>; 2],
}

impl Throw {
    /// Wants to end where `truth` leads.
    pub fn new(
        model: &Model,
        start: &State,
        steps: usize,
        unknown: Unknown,
        truth: &[f64],
        derivative: Derivative,
    ) -> Result<Throw, ThrowError> {
        let (nv, x) = (model.nv(), start.clone());
        let bundle = match derivative {
            Derivative::OfModel => None,
            Derivative::Bundled(how) => Some(Bundle::new(model, how)?),
        };
        let mut throw = Throw {
            model: model.clone(),
            start: start.clone(),
            steps,
            target: start.q.clone(),
            unknown,
            bundle,
            data: Data::new(model),
            next: x.clone(),
            x,
            push: vec![0.0; nv],
            change: [vec![0.0; 2 * nv * nv], vec![0.0; 2 * nv * nv]],
        };
        throw.run(truth)?;
        throw.target.copy_from_slice(&throw.x.q);
        Ok(throw)
    }

    fn begin(&mut self, unknown: &[f64]) {
        self.x.clone_from(&self.start);
        self.data.clear_warm_start();
        self.push.fill(0.0);
        match self.unknown {
            Unknown::Velocity => self.x.v.copy_from_slice(unknown),
            Unknown::Impulse => {
                let dt = self.model.options().dt;
                self.push.iter_mut().zip(unknown).for_each(|(tau, impulse)| *tau = impulse / dt);
            }
        }
    }

    fn run(&mut self, unknown: &[f64]) -> Result<(), ThrowError> {
        self.begin(unknown);
        for t in 0..self.steps {
            let tau = if t == 0 { &self.push[..] } else { &[] };
            slipstick::step(&self.model, &mut self.data, &self.x, &Input::tau(tau), &mut self.next)?;
            std::mem::swap(&mut self.x, &mut self.next);
        }
        Ok(())
    }

    /// The run repeated, and how its last state changes with the unknown: into `change[0]`.
    fn differentiate(&mut self, unknown: &[f64]) -> Result<(), ThrowError> {
        self.begin(unknown);
        let (nv, dt) = (self.model.nv(), self.model.options().dt);
        self.change[0].fill(0.0);
        if self.unknown == Unknown::Velocity {
            (0..nv).for_each(|j| self.change[0][(nv + j) * nv + j] = 1.0);
        }
        for t in 0..self.steps {
            let Throw { model, unknown, data, x, next, push, bundle, change: [old, new], .. } = &mut *self;
            let input = Input::tau(if t == 0 { push } else { &[] });
            let first = if t == 0 && *unknown == Unknown::Impulse { 1.0 / dt } else { 0.0 };
            match bundle {
                None => {
                    let mut step = slipstick::step(model, data, x, &input, next)?;
                    let J = step.jacobian()?;
                    chain([[J.dq_dq, J.dq_dv, J.dq_dtau], [J.dv_dq, J.dv_dv, J.dv_dtau]], first, old, new);
                }
                Some(bundle) => {
                    let smoothed = bundle.step(data, x, &input)?;
                    let J = &smoothed.jacobian;
                    let rows = [[J.dq_dq(), J.dq_dv(), J.dq_dtau()], [J.dv_dq(), J.dv_dv(), J.dv_dtau()]];
                    if let [[Some(a), Some(b), Some(c)], [Some(d), Some(e), Some(f)]] = rows {
                        chain([[a, b, c], [d, e, f]], first, old, new);
                    }
                    next.clone_from(&smoothed.exact);
                }
            }
            std::mem::swap(old, new);
            std::mem::swap(x, next);
        }
        Ok(())
    }
}

/// Changes of the next state: `new = ∂(q⁺, v⁺)/∂(q, v) old + first ∂(q⁺, v⁺)/∂τ`, with blocks of nv rows.
fn chain(blocks: [[MatRef; 3]; 2], first: f64, old: &[f64], new: &mut [f64]) {
    let nv = blocks[0][0].rows();
    for (i, row) in new.chunks_exact_mut(nv).enumerate() {
        let [by_q, by_v, by_tau] = blocks[i / nv].map(|block| block.row(i % nv));
        row.iter_mut().zip(by_tau).for_each(|(x, tau)| *x = first * tau);
        for (a, old) in by_q.iter().chain(by_v).zip(old.chunks_exact(nv)) {
            row.iter_mut().zip(old).for_each(|(x, old)| *x += a * old);
        }
    }
}

impl LeastSquares for Throw {
    type Error = ThrowError;

    fn unknowns(&self) -> usize {
        self.model.nv()
    }

    fn residuals(&self) -> usize {
        self.model.nv()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), ThrowError> {
        match self.run(x) {
            // a bad guess, not a broken problem
            Err(ThrowError::Step(StepError::Diverged { .. } | StepError::Input(InputError::TooLarge { .. }))) => {
                r.fill(f64::INFINITY);
            }
            done => {
                done?;
                self.model.difference(&self.target, &self.x.q, r)?;
            }
        }
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], mut J: MatMut<'_>) -> Result<(), ThrowError> {
        self.differentiate(x)?;
        let nv = self.model.nv();
        let (mut unused, mut outer) = (vec![0.0; nv * nv], vec![0.0; nv * nv]);
        let maps = (MatMut::new(&mut unused, nv, nv), MatMut::new(&mut outer, nv, nv));
        self.model.difference_derivatives(&self.target, &self.x.q, maps.0, maps.1)?;
        for i in 0..nv {
            let row = J.row_mut(i);
            row.fill(0.0);
            for (a, change) in outer[i * nv..].iter().zip(self.change[0].chunks_exact(nv).take(nv)) {
                row.iter_mut().zip(change).for_each(|(x, change)| *x += a * change);
            }
        }
        Ok(())
    }
}

/// A throw that cannot be followed.
#[derive(Debug)]
pub(crate) enum ThrowError {
    Input(InputError),
    Step(StepError),
    Gradient(GradientError),
    Smoothing(SmoothingError),
}

impl fmt::Display for ThrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThrowError::Input(e) => e.fmt(f),
            ThrowError::Step(e) => e.fmt(f),
            ThrowError::Gradient(e) => e.fmt(f),
            ThrowError::Smoothing(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for ThrowError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(match self {
            ThrowError::Input(e) => e,
            ThrowError::Step(e) => e,
            ThrowError::Gradient(e) => e,
            ThrowError::Smoothing(e) => e,
        })
    }
}

impl From<InputError> for ThrowError {
    fn from(e: InputError) -> ThrowError {
        ThrowError::Input(e)
    }
}
impl From<StepError> for ThrowError {
    fn from(e: StepError) -> ThrowError {
        ThrowError::Step(e)
    }
}
impl From<GradientError> for ThrowError {
    fn from(e: GradientError) -> ThrowError {
        ThrowError::Gradient(e)
    }
}
impl From<SmoothingError> for ThrowError {
    fn from(e: SmoothingError) -> ThrowError {
        ThrowError::Smoothing(e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick::check::Difference;
    use slipstick::optimize::ByDifferences;

    fn sliding(unknown: Unknown) -> Throw {
        let model = slipstick::builtin("cube").unwrap();
        let mut start = State::keyframe(&model, "home").unwrap();
        start.v[0] = 1.0;
        // the truth is another sliding motion: the residual is large, so that the derivative of ⊖ counts
        let truth = [[0.5, 0.3, 0.0, 0.0, 0.0, 2.0], [0.5, 0.3, 0.0, 0.0, 0.0, 0.02]][unknown as usize];
        Throw::new(&model, &start, 60, unknown, &truth, Derivative::OfModel).unwrap()
    }

    #[test]
    fn derivatives_of_a_sliding_cube_match_differences() {
        // pressed down, turning, no corner about to lift: a margin from every other kind of motion
        for (unknown, x) in
            [(Unknown::Velocity, [1.0, 0.2, -0.3, 0.0, 0.0, 1.0]), (Unknown::Impulse, [0.1, 0.2, -0.3, 0.0, 0.0, 0.01])]
        {
            let (mut throw, mut r) = (sliding(unknown), [0.0; 6]);
            let mut J = [[0.0; 36]; 2];
            throw.residual(&x, &mut r).unwrap();
            throw.jacobian(&x, MatMut::new(&mut J[0], 6, 6)).unwrap();
            let mut differences = ByDifferences::new(throw, Difference::Central { step: 1e-5 }).unwrap();
            differences.jacobian(&x, MatMut::new(&mut J[1], 6, 6)).unwrap();
            let size = J[1].iter().fold(0.0f64, |s, x| s.max(x.abs()));
            let worst = J[0].iter().zip(&J[1]).fold(0.0f64, |w, (a, b)| w.max((a - b).abs()));
            // differences of residuals known to 1e-11 over 2e-5
            assert!(size > 0.03 && worst < 1e-5 * size.max(1.0), "{unknown:?}: {worst} of {size}");
        }
    }

    #[test]
    fn a_push_beyond_all_numbers_is_a_bad_guess_and_no_error() {
        let (mut throw, mut r) = (sliding(Unknown::Impulse), [0.0; 6]);
        throw.residual(&[1e59, 0.0, 0.0, 0.0, 0.0, 0.0], &mut r).unwrap();
        assert!(r.iter().all(|r| !r.is_finite()));
    }

    #[test]
    fn bundled_derivatives_of_next_to_no_noise_are_exact_ones() {
        let (mut throw, mut r, x) = (sliding(Unknown::Velocity), [0.0; 6], [1.0, 0.2, -0.3, 0.0, 0.0, 1.0]);
        let mut J = [[0.0; 36]; 2];
        throw.residual(&x, &mut r).unwrap();
        throw.jacobian(&x, MatMut::new(&mut J[0], 6, 6)).unwrap();
        let sigma = slipstick::smoothing::Sigma { v: 1e-9, ..slipstick::smoothing::Sigma::ZERO };
        let how = Bundled { sigma, samples: 4, order: slipstick::model::Order::First, seed: 1 };
        throw.bundle = Some(Bundle::new(&throw.model, how).unwrap());
        throw.jacobian(&x, MatMut::new(&mut J[1], 6, 6)).unwrap();
        let worst = J[0].iter().zip(&J[1]).fold(0.0f64, |w, (a, b)| w.max((a - b).abs()));
        assert!(worst < 1e-6, "{worst}");
    }
}
