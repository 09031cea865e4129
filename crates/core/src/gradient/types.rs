//! What goes into a derivative and comes out of it.

#![allow(non_snake_case)]

use crate::collision::CollisionError;
use crate::constraint::Status;
use crate::error::InputError;
use crate::linalg::MatRef;
use core::fmt;

/// Derivatives of a step, rows are outputs. Configurations count as tangents: nv rows and columns.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StepJacobian<'a> {
    /// ∂q_next/∂q (nv × nv).
    pub dq_dq: MatRef<'a>,
    /// ∂q_next/∂v (nv × nv).
    pub dq_dv: MatRef<'a>,
    /// ∂q_next/∂tau (nv × nv).
    pub dq_dtau: MatRef<'a>,
    /// ∂q_next/∂ctrl (nv × nu; no columns after a step without actuators).
    pub dq_dctrl: MatRef<'a>,
    /// ∂v_next/∂q (nv × nv).
    pub dv_dq: MatRef<'a>,
    /// ∂v_next/∂v (nv × nv).
    pub dv_dv: MatRef<'a>,
    /// ∂v_next/∂tau (nv × nv).
    pub dv_dtau: MatRef<'a>,
    /// ∂v_next/∂ctrl (nv × nu; no columns after a step without actuators).
    pub dv_dctrl: MatRef<'a>,
    /// ∂q_next/∂act (nv × na).
    pub dq_dact: MatRef<'a>,
    /// ∂v_next/∂act (nv × na).
    pub dv_dact: MatRef<'a>,
    /// ∂act_next/∂act (na × na): those of q and v do not reach act.
    pub dact_dact: MatRef<'a>,
    /// ∂act_next/∂ctrl (na × nu; no columns after a step without actuators).
    pub dact_dctrl: MatRef<'a>,
    /// Columns of dq_dq and dv_dq that are a choice (nv): along them the active rows are infeasible, and friction is violated in
    /// the least-squares sense.   (grad-18)
    pub contradicts: &'a [bool],
}

impl<'a> StepJacobian<'a> {
    /// `A = ∂(q_next, v_next, act_next)/∂(q, v, act)`, 2 nv + na rows of as many numbers, as MuJoCo's `mjd_transitionFD` has it.
    pub fn A(&self) -> Vec<f64> {
        numbers(self.blocks_of_a()).collect()
    }

    /// `B = ∂(q_next, v_next, act_next)/∂ctrl` after a step with actuators (2 nv + na rows of nu numbers), else
    /// `∂(q_next, v_next, act_next)/∂tau` (as many rows of nv numbers).
    pub fn B(&self) -> Vec<f64> {
        numbers(self.blocks_of_b()).collect()
    }

    /// Writes [`A`](StepJacobian::A).
    pub fn copy_a(&self, out: &mut [f64]) -> Result<(), InputError> {
        copy(out, self.blocks_of_a())
    }

    /// Writes [`B`](StepJacobian::B).
    pub fn copy_b(&self, out: &mut [f64]) -> Result<(), InputError> {
        copy(out, self.blocks_of_b())
    }

    fn blocks_of_a(&self) -> Blocks<'a, 3> {
        let (nv, na) = (self.dv_dq.rows(), self.dact_dact.rows());
        let full = Block::Matrix;
        [
            [full(self.dq_dq), full(self.dq_dv), full(self.dq_dact)],
            [full(self.dv_dq), full(self.dv_dv), full(self.dv_dact)],
            [Block::Zero(na, nv), Block::Zero(na, nv), full(self.dact_dact)],
        ]
    }

    fn blocks_of_b(&self) -> Blocks<'a, 1> {
        let (nv, na) = (self.dv_dq.rows(), self.dact_dact.rows());
        let full = Block::Matrix;
        match self.dv_dctrl.cols() {
            0 => [[full(self.dq_dtau)], [full(self.dv_dtau)], [Block::Zero(na, nv)]],
            _ => [[full(self.dq_dctrl)], [full(self.dv_dctrl)], [full(self.dact_dctrl)]],
        }
    }
}

/// A matrix, or zeros (rows, columns).
#[derive(Clone, Copy)]
enum Block<'a> {
    Matrix(MatRef<'a>),
    Zero(usize, usize),
}

impl<'a> Block<'a> {
    fn size(&self) -> [usize; 2] {
        match *self {
            Block::Matrix(m) => [m.rows(), m.cols()],
            Block::Zero(rows, columns) => [rows, columns],
        }
    }

    /// The numbers of a row.
    fn row(self, i: usize) -> impl Iterator<Item = f64> {
        let (row, zeros) = match self {
            Block::Matrix(m) => (m.row(i), 0),
            Block::Zero(_, columns) => (&[][..], columns),
        };
        row.iter().copied().chain(core::iter::repeat_n(0.0, zeros))
    }
}

/// Blocks side by side and one above the other.
type Blocks<'a, const N: usize> = [[Block<'a>; N]; 3];

/// The numbers of all blocks, row by row.
fn numbers<'a, const N: usize>(blocks: Blocks<'a, N>) -> impl Iterator<Item = f64> {
    let rows = blocks.into_iter().flat_map(|b| (0..b[0].size()[0]).map(move |i| (b, i)));
    rows.flat_map(|(b, i)| b.into_iter().flat_map(move |m| m.row(i)))
}

fn copy<const N: usize>(out: &mut [f64], blocks: Blocks<N>) -> Result<(), InputError> {
    let size = blocks.iter().flatten().map(|m| m.size().iter().product::<usize>()).sum();
    crate::input_check::length("out", out.len(), size)?;
    out.iter_mut().zip(numbers(blocks)).for_each(|(o, x)| *o = x);
    Ok(())
}

/// A change of the inputs of a step. Empty slices stand for zeros.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InputDirection<'a> {
    /// Of the configuration, as a tangent (nv).
    pub q: &'a [f64],
    /// Of the velocity (nv).
    pub v: &'a [f64],
    /// Of the generalized forces (nv).
    pub tau: &'a [f64],
    /// Of the controls (nu), after a step with actuators.
    pub ctrl: &'a [f64],
    /// Of the activations (na).
    pub act: &'a [f64],
}

impl StepJacobian<'_> {
    /// `dv_next` along a change of the inputs.
    pub(crate) fn write_dv(&self, dx: &InputDirection, dv_next: &mut [f64]) {
        let blocks = [(self.dv_dq, dx.q), (self.dv_dv, dx.v), (self.dv_dtau, dx.tau), (self.dv_dctrl, dx.ctrl)];
        multiply(blocks, dv_next);
        add_product(self.dv_dact, dx.act, dv_next);
    }

    /// `dq_next` along a change of the inputs.
    pub(crate) fn write_dq(&self, dx: &InputDirection, dq_next: &mut [f64]) {
        let blocks = [(self.dq_dq, dx.q), (self.dq_dv, dx.v), (self.dq_dtau, dx.tau), (self.dq_dctrl, dx.ctrl)];
        multiply(blocks, dq_next);
        add_product(self.dq_dact, dx.act, dq_next);
    }
}

/// The sum of products of matrices with vectors.
fn multiply(blocks: [(MatRef, &[f64]); 4], out: &mut [f64]) {
    for (i, o) in out.iter_mut().enumerate() {
        let product = |m: &MatRef, x: &[f64]| m.row(i).iter().zip(x).fold(0.0, |s, (m, x)| s + m * x);
        *o = blocks.iter().fold(0.0, |s, (m, x)| s + product(m, x));
    }
}

/// `out += m x`; nothing where x is empty.
fn add_product(m: MatRef, x: &[f64], out: &mut [f64]) {
    if !x.is_empty() {
        let rows = out.iter_mut().enumerate();
        rows.for_each(|(i, o)| *o += m.row(i).iter().zip(x).fold(0.0, |s, (m, x)| s + m * x));
    }
}

/// The gradient of some number with respect to what comes out of a step. Empty slices stand for zeros.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OutputGrad<'a> {
    /// With respect to q_next, as a tangent (nv).
    pub q: &'a [f64],
    /// With respect to v_next (nv).
    pub v: &'a [f64],
    /// With respect to the impulses of the contacts, world axes: three numbers for each of
    /// [`Step::contacts`](crate::Step::contacts) (1/(N s)).
    pub impulses: &'a [f64],
    /// With respect to act_next (na).
    pub act: &'a [f64],
}

/// Where the gradient with respect to the inputs of a step is added. Empty slices: not wanted.
#[derive(Debug, PartialEq, Default)]
pub struct InputGrad<'a> {
    /// With respect to q, as a tangent (nv).
    pub q: &'a mut [f64],
    /// With respect to v (nv).
    pub v: &'a mut [f64],
    /// With respect to tau (nv).
    pub tau: &'a mut [f64],
    /// With respect to ctrl (nu), after a step with actuators.
    pub ctrl: &'a mut [f64],
    /// With respect to act (na).
    pub act: &'a mut [f64],
}

/// A derivative that does not exist or is not there.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GradientError {
    /// An input does not fit the step.
    Input(InputError),
    /// A contact does not depend smoothly on the poses of its shapes.
    Contact {
        /// The geoms that touch.
        geoms: [String; 2],
        /// Why.
        error: CollisionError,
    },
    /// There is no formula for this derivative.
    Unsupported {
        /// Of what, with respect to what.
        what: String,
    },
    /// The linear system of the derivative has no finite solution.
    Singular,
    /// The contact problem has no solution, or none was found: there is nothing to differentiate.
    NotConverged {
        /// How the solve ended.
        status: Status,
        /// Its residual.
        residual: f64,
    },
    /// The step did not converge, and `Options::gradient_of_failed_steps` is off.
    FailedStep {
        /// Its residual.
        residual: f64,
    },
    /// The constraints are infeasible along the change: it wedges something in.
    Jammed,
    /// The step has several solutions here, and takes another one a little further on.
    Jumps,
}

impl fmt::Display for GradientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GradientError::Input(e) => e.fmt(f),
            GradientError::Contact { geoms: [a, b], error } => write!(f, "contact of '{a}' and '{b}': {error}"),
            GradientError::Unsupported { what } => write!(f, "there is no derivative of {what}"),
            GradientError::Singular => {
                f.write_str("the derivative is not finite here: constraints contradict each other or have no inertia")
            }
            GradientError::NotConverged { status, residual } => {
                let status = status.name();
                write!(f, "there is no derivative of a contact problem without a solution: expected status 'converged' or ")?;
                write!(f, "'acceptable', got '{status}' with a residual of {residual:e}")
            }
            GradientError::FailedStep { residual } => write!(
                f,
                "the step did not converge (residual {residual:.1e}), so it has no exact derivative; \
                 the option gradient_of_failed_steps allows that of its best iterate"
            ),
            GradientError::Jumps => {
                f.write_str("there is no derivative along this change: the step jumps to another solution")
            }
            GradientError::Jammed => f.write_str(
                "there is no derivative along this change: it jams the constraints, which cannot all be met a little further on",
            ),
        }
    }
}

impl std::error::Error for GradientError {}

impl From<InputError> for GradientError {
    fn from(e: InputError) -> GradientError {
        GradientError::Input(e)
    }
}
