//! Derivatives of a step by finite differences: slow, and sure. What [`Step::jacobian`](slipstick_core::Step::jacobian)
//! is compared with, in accuracy and in time.

mod parameters;

pub use parameters::{ParameterDifferences, finite_differences_of_parameters};

use crate::check::perturbed::{InputEntry, PerturbedStep, StepArguments};
use slipstick_core::linalg::MatRef;
use slipstick_core::{Data, Input, InputError, Model, State, StepError};

/// Which differences, and how far apart the evaluations are: in the units of what is changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Difference {
    /// (f(x + h) − f(x)) / h: one step per number, an error that grows with h.
    Forward {
        /// h.
        step: f64,
    },
    /// (f(x + h) − f(x − h)) / 2h: two steps per number, an error that grows with h².
    Central {
        /// h.
        step: f64,
    },
}

impl Difference {
    pub(crate) fn checked_step(self) -> Result<f64, InputError> {
        let (Difference::Forward { step } | Difference::Central { step }) = self;
        let refused =
            || InputError::Value { what: "step of a difference".into(), expected: "a positive number", got: step };
        if step.is_finite() && step > 0.0 { Ok(step) } else { Err(refused()) }
    }
}

/// Derivatives of a step by finite differences, and the memory to compute them. Blocks are named and laid out as those of
/// [`StepJacobian`](slipstick_core::gradient::StepJacobian).
#[derive(Debug, Clone)]
pub struct StepDifferences {
    /// Of q_next and v_next with respect to q, v, tau, ctrl, row by row.
    blocks: [[Vec<f64>; 4]; 2],
    nv: usize,
    /// Columns with respect to ctrl: none after differences without actuators.
    controls: usize,
    perturbed: PerturbedStep,
    sides: [State; 2],
    /// One column (nv).
    dq: Vec<f64>,
}

impl StepDifferences {
    /// Memory for a model; [`finite_differences`] allocates nothing.
    pub fn new(model: &Model) -> StepDifferences {
        let (nv, nu) = (model.nv(), model.nu());
        let blocks = || [nv, nv, nv, nu].map(|n| vec![0.0; nv * n]);
        StepDifferences {
            blocks: [blocks(), blocks()],
            nv,
            controls: 0,
            perturbed: PerturbedStep::new(model),
            sides: [State::neutral(model), State::neutral(model)],
            dq: vec![0.0; nv],
        }
    }

    fn block(&self, output: usize, input: usize) -> MatRef<'_> {
        let columns = if input == CTRL { self.controls } else { self.nv };
        MatRef::new(&self.blocks[output][input], self.nv, columns)
    }

    /// Writes column `j` of the blocks of an input from what two steps `width` apart have led to.
    fn write(&mut self, model: &Model, [input, j]: [usize; 2], columns: usize, width: f64) -> Result<(), InputError> {
        let [behind, ahead] = &self.sides;
        model.difference(&behind.q, &ahead.q, &mut self.dq)?;
        for i in 0..self.nv {
            self.blocks[0][input][i * columns + j] = self.dq[i] / width;
            self.blocks[1][input][i * columns + j] = (ahead.v[i] - behind.v[i]) / width;
        }
        Ok(())
    }
}

const CTRL: usize = 3;

/// The blocks, rows are outputs; configurations count as tangents.
impl StepDifferences {
    /// ∂q_next/∂q (nv × nv).
    pub fn dq_dq(&self) -> MatRef<'_> {
        self.block(0, 0)
    }
    /// ∂q_next/∂v (nv × nv).
    pub fn dq_dv(&self) -> MatRef<'_> {
        self.block(0, 1)
    }
    /// ∂q_next/∂tau (nv × nv).
    pub fn dq_dtau(&self) -> MatRef<'_> {
        self.block(0, 2)
    }
    /// ∂q_next/∂ctrl (nv × nu; no columns without controls).
    pub fn dq_dctrl(&self) -> MatRef<'_> {
        self.block(0, CTRL)
    }
    /// ∂v_next/∂q (nv × nv).
    pub fn dv_dq(&self) -> MatRef<'_> {
        self.block(1, 0)
    }
    /// ∂v_next/∂v (nv × nv).
    pub fn dv_dv(&self) -> MatRef<'_> {
        self.block(1, 1)
    }
    /// ∂v_next/∂tau (nv × nv).
    pub fn dv_dtau(&self) -> MatRef<'_> {
        self.block(1, 2)
    }
    /// ∂v_next/∂ctrl (nv × nu; no columns without controls).
    pub fn dv_dctrl(&self) -> MatRef<'_> {
        self.block(1, CTRL)
    }
}

/// Derivatives of a step by finite differences, for any model: `1 + 3 nv + nu` steps, or `1 + 2 (3 nv + nu)` for central
/// ones. All start from the warm start that the step from `x` leaves, which is also that of `data` afterwards.
///
/// Differences are blind to where contacts change their mode: one that straddles such a place is wrong by any amount.
/// Numbers are best with a tight `Options::tolerance`; [`grad_check`](crate::check::grad_check) takes care of both.
///
/// ```
/// use slipstick::{Data, Input, State};
/// use slipstick::check::{Difference, StepDifferences, finite_differences};
/// let model = slipstick::builtin("cartpole")?;
/// let (mut data, mut out) = (Data::new(&model), StepDifferences::new(&model));
/// let x = State::keyframe(&model, "upright")?;
/// let central = Difference::Central { step: 1e-6 };
/// finite_differences(&model, &mut data, &x, &Input::ctrl(&[0.0]), central, &mut out)?;
/// assert!((out.dq_dv()[(0, 0)] - model.options().dt).abs() < 1e-4); // a cart that rolls on
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn finite_differences(
    model: &Model,
    data: &mut Data,
    x: &State,
    input: &Input,
    difference: Difference,
    out: &mut StepDifferences,
) -> Result<(), StepError> {
    let h = difference.checked_step()?;
    let arguments = StepArguments { x, input: *input };
    check(model, out)?;
    out.controls = input.ctrl.map_or(0, <[f64]>::len);
    out.perturbed.begin(model, data, &arguments, &mut out.sides[0])?;
    let entries: [fn(usize) -> InputEntry; 4] = [InputEntry::Q, InputEntry::V, InputEntry::Tau, InputEntry::Ctrl];
    for (k, entry) in entries.into_iter().enumerate() {
        let columns = if k == CTRL { out.controls } else { out.nv };
        for j in 0..columns {
            out.perturbed.with_entry(model, data, &arguments, entry(j), h, &mut out.sides[1])?;
            let mut width = h;
            if let Difference::Central { .. } = difference {
                out.perturbed.with_entry(model, data, &arguments, entry(j), -h, &mut out.sides[0])?;
                width = 2.0 * h;
            }
            out.write(model, [k, j], columns, width)?;
        }
    }
    Ok(data.restore(&out.perturbed.warm)?)
}

fn check(model: &Model, out: &StepDifferences) -> Result<(), InputError> {
    let fits = out.nv == model.nv()
        && out.sides[0].q.len() == model.nq()
        && out.blocks[0][CTRL].len() == model.nv() * model.nu();
    if fits { Ok(()) } else { Err(InputError::WrongModel { what: "step differences", got: model.name().into() }) }
}
