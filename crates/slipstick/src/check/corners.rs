//! Corners: inputs along which the step has two one-sided derivatives, or others than its Jacobian says.   (grad-20)
//!
//! A step is a continuous function with corners: where something is about to slip, to lift off or to meet a limit, where a shape
//! touches with an edge that is about to become a face, where a control reaches the end of its range, where more constraints
//! are active than there are dofs. No matrix is right on both sides of a corner. Whether there is one is asked of the
//! step itself: along one random change of everything, ahead and back, a step without a corner does what its Jacobian says.
//! Only where it does not, each column is compared with both of its one-sided differences.
#![allow(non_snake_case)]

use crate::check::grad_check::{GradCheckError, Scale, TOLERANCE};
use crate::check::perturbed::{PerturbedStep, StepArguments};
use crate::interrupt;
use crate::random::Rng;
use slipstick_core::dynamics::{Workspace, Wrench};
use slipstick_core::gradient::InputDirection;
use slipstick_core::linalg::MatRef;
use slipstick_core::{Data, Input, Model, State, Status, Step, StepError};

/// Lengths of one-sided differences, in the units of [`Scale`]; the best counts.
const LENGTHS: [f64; 3] = [1e-7, 1e-8, 1e-6];
/// Fraction of a column up to which it and its differences agree.
const SAME: f64 = 1e-3;
/// Fraction of the sum of magnitudes over all columns, up to which the change along a random direction agrees.
const QUIET: f64 = 1e-6;
/// Size below which a column with respect to q counts as zero (1/s), and the fraction of free motion for the others.
const LEAST_Q: f64 = 0.1;
const LEAST: f64 = 1e-3;
/// How exact v_next is (m/s).
const NOISE: f64 = 5e-12;
/// Inputs of a step: q, v, tau, ctrl, act.
const INPUTS: usize = 5;
/// Seed of the random change, fixed so that a step has one result.
const SEED: u64 = 0xc0_57e9;

/// Columns of the Jacobian of a step that are not its derivative on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Corners {
    /// With respect to q, along tangents (nv).
    pub q: Vec<bool>,
    /// With respect to v (nv).
    pub v: Vec<bool>,
    /// With respect to tau (nv).
    pub tau: Vec<bool>,
    /// With respect to ctrl (nu; empty after a step without actuators).
    pub ctrl: Vec<bool>,
    /// With respect to act (na).
    pub act: Vec<bool>,
}

impl Corners {
    /// Finds the corners of a step. Costs some ten steps where the step plainly does what its Jacobian
    /// says, else two or more for each column.
    pub fn of(step: &mut Step) -> Result<Corners, GradCheckError> {
        let J = blocks(step)?;
        let columns = J.each_ref().map(|block| block.len() / step.model().nv().max(1));
        let mut search = Search::new(step, columns)?;
        let mut flags = columns.map(|n| vec![false; n]);
        if !search.is_smooth(&J)? {
            for (k, j) in (0..INPUTS).flat_map(|k| (0..columns[k]).map(move |j| (k, j))) {
                let column: Vec<f64> = J[k].iter().skip(j).step_by(columns[k]).copied().collect();
                flags[k][j] = !search.agrees(&column, [k, j])?;
            }
        }
        let [q, v, tau, ctrl, act] = flags;
        Ok(Corners { q, v, tau, ctrl, act })
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.count() > 0
    }

    /// How many columns.
    pub fn count(&self) -> usize {
        [&self.q, &self.v, &self.tau, &self.ctrl, &self.act].into_iter().flatten().filter(|flag| **flag).count()
    }
}

/// ∂v_next with respect to q, v, tau, ctrl, act, row by row.
fn blocks(step: &mut Step) -> Result<[Vec<f64>; INPUTS], GradCheckError> {
    let J = step.jacobian()?;
    Ok([J.dv_dq, J.dv_dv, J.dv_dtau, J.dv_dctrl, J.dv_dact].map(|m: MatRef| {
        let mut out = vec![0.0; m.rows() * m.cols()];
        m.copy_to(&mut out);
        out
    }))
}

/// A step and memory for perturbed ones.
struct Search {
    model: Model,
    data: Data,
    perturbed: PerturbedStep,
    scale: Scale,
    x: State,
    tau: Vec<f64>,
    ctrl: Option<Vec<f64>>,
    wrenches: Vec<Wrench>,
    mocap: Vec<f64>,
    /// v_next of the step ([`PerturbedStep::ends`]), and v_next of a perturbed one.
    ends: [Vec<f64>; 2],
    there: State,
    /// Changes of q, v, tau, ctrl and act.
    direction: [Vec<f64>; INPUTS],
}

impl Search {
    fn new(step: &Step, columns: [usize; INPUTS]) -> Result<Search, GradCheckError> {
        let mut options = step.model().options().clone();
        options.tolerance = TOLERANCE.min(options.tolerance);
        let model = step.model().with_options(options)?;
        let ((q, v), input) = (step.start(), step.input());
        let x = State::new(&model, q, v)?.with_act(&model, step.act())?;
        let arguments = StepArguments { x: &x, input };
        let scale = Scale::new(&model, &mut Workspace::new(&model), &arguments)?;
        let (mut data, mut perturbed, mut there) =
            (Data::new(&model), PerturbedStep::new(&model), State::neutral(&model));
        data.restore(&step.warm_start())?;
        perturbed.begin(&model, &mut data, &arguments, &mut there)?;
        let (tau, ctrl, wrenches) = (input.tau.to_vec(), input.ctrl.map(<[f64]>::to_vec), input.wrenches.to_vec());
        let mocap = input.mocap.to_vec();
        let ends = perturbed.ends(&model, &mut data, &arguments, &mut there)?;
        let direction = columns.map(|n| vec![0.0; n]);
        Ok(Search { model, data, perturbed, scale, x, tau, ctrl, wrenches, mocap, ends, there, direction })
    }

    /// Whether the Jacobian tells what the step does along a random change of each input, ahead and back.
    fn is_smooth(&mut self, J: &[Vec<f64>; INPUTS]) -> Result<bool, GradCheckError> {
        let mut draw = Rng(SEED);
        for k in (0..INPUTS).filter(|k| !J[*k].is_empty()) {
            self.direction.iter_mut().for_each(|d| d.fill(0.0));
            self.direction[k].iter_mut().zip(&self.scale.units[k]).for_each(|(d, unit)| *d = unit * draw.sign());
            if !self.agrees_along(&J[k], k)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the change of each velocity is what a block says, as exactly as the sizes of its terms let one see.
    fn agrees_along(&mut self, J: &[f64], k: usize) -> Result<bool, GradCheckError> {
        let d = &self.direction[k];
        let row = |row: &[f64]| {
            let terms = row.iter().zip(d).map(|(a, b)| a * b);
            terms.fold([0.0; 2], |[sum, size]: [f64; 2], x| [sum + x, size + x.abs()])
        };
        let expected: Vec<[f64; 2]> = J.chunks_exact(d.len()).map(row).collect();
        let least = SAME * self.least(k, 0) * self.scale.units[k][0];
        let near = |change: &[f64]| {
            expected.iter().zip(change).all(|([sum, size], x)| (sum - x).abs() <= (QUIET * size).max(least))
        };
        for h in [LENGTHS[0], -LENGTHS[0]] {
            if !self.quotients(h)?.iter().any(|change| near(change)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Size below which a column counts as zero.
    fn least(&self, k: usize, j: usize) -> f64 {
        least(&self.scale, self.model.options().dt, [k, j])
    }

    /// Whether a column is the derivative on both sides.
    fn agrees(&mut self, column: &[f64], [k, j]: [usize; 2]) -> Result<bool, GradCheckError> {
        self.direction.iter_mut().for_each(|d| d.fill(0.0));
        self.direction[k][j] = self.scale.units[k][j];
        let least = self.least(k, j) * self.scale.units[k][j];
        let column: Vec<f64> = column.iter().map(|x| x * self.scale.units[k][j]).collect();
        for side in [1.0, -1.0] {
            let mut found = false;
            for h in LENGTHS {
                let h = side * h;
                found = self.quotients(h)?.iter().any(|change| distance(&column, change, h, least) <= SAME);
                if found {
                    break;
                }
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The change of v_next along the direction over `h`, from either end; nothing where contact is not solved.
    fn quotients(&mut self, h: f64) -> Result<Vec<Vec<f64>>, GradCheckError> {
        interrupt::check()?;
        let Search { model, data, perturbed, x, tau, ctrl, wrenches, mocap, there, .. } = self;
        let [q, v, dtau, dctrl, act] = &self.direction;
        let arguments = StepArguments { x, input: Input { tau, ctrl: ctrl.as_deref(), wrenches, mocap } };
        let direction = InputDirection { q, v, tau: dtau, ctrl: dctrl, act };
        match perturbed.along(model, data, &arguments, direction, h, there) {
            Ok(step) if step.report().status == Status::NotConverged => Ok(Vec::new()),
            Ok(_) => Ok(self.ends.iter().map(|end| quotient(&self.there.v, end, h)).collect()),
            Err(StepError::Input(e)) => Err(e.into()),
            Err(_) => Ok(Vec::new()),
        }
    }
}

/// Size below which column `j` of v_next by q, v, tau, ctrl or act counts as zero: a fraction of its effect in free motion.
pub(crate) fn least(scale: &Scale, dt: f64, [k, j]: [usize; 2]) -> f64 {
    if k == 0 { LEAST_Q } else { LEAST / (dt * scale.units[k][j]) }
}

/// A difference over `h`.
pub(crate) fn quotient(there: &[f64], here: &[f64], h: f64) -> Vec<f64> {
    there.iter().zip(here).map(|(new, old)| (new - old) / h).collect()
}

/// Largest difference of a column and its one-sided difference over `h`, as a fraction of the larger one.
pub(crate) fn distance(exact: &[f64], quotient: &[f64], h: f64, least: f64) -> f64 {
    let size = exact.iter().chain(quotient).fold(least, |m: f64, x| m.max(x.abs()));
    let off = exact.iter().zip(quotient).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    (off - NOISE / h.abs()).max(0.0) / size.max(f64::MIN_POSITIVE)
}
