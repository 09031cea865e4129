//! Derivatives of the solution of a dense problem with respect to what it is made from.   (grad-19)
//!
//! With `K = G + R` and the system of (grad-2), `H = ∂λ/∂g = −C A⁻¹ B` and `∂σ/∂g = 1 + K H`. All else follows from the two: a
//! change of G adds `dG λ` to g, one of the compliance `dR λ`. A coefficient of friction changes the impulse of a sliding
//! contact by `e = −λ_N u` before anything answers, which adds `K e` to g.
#![allow(non_snake_case)]

mod dense;
mod types;

pub use types::{ProblemDirection, ProblemGrad, RowDerivatives, SolutionGrad, SolutionJacobian};

use super::system::active_set::{Active, BlockState, Unknown};
use super::system::at_rest::factor_at_rest;
use super::types::GradientError;
use crate::constraint::{Block, Cone, Mode, Problem, Solution, SolveReport, Status};
use crate::input_check;
use dense::Dense;

/// The linear system of a solved dense problem ([`Problem::new`], [`Problem::bare`]), from which its derivatives come.
///
/// ```
/// use slipstick_core::model::Solver;
/// use slipstick_core::constraint::{Problem, Solution, solve};
/// use slipstick_core::gradient::{SolutionGrad, SolutionGradient};
/// let G = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let problem = Problem::bare(&G, &[1.0, 0.0, -1.0], &[0.5])?; // a unit mass that slides: its speed is 1 − 0.5 · 1
/// let mut solution = Solution::default();
/// let report = solve(&problem, Solver::Auto, 1e-10, 170, None, &mut solution)?;
/// let mut gradient = SolutionGradient::new(&problem, &solution, &report)?;
/// let of_speed = gradient.vjp(SolutionGrad { sigma: &[1.0, 0.0, 0.0], ..Default::default() })?;
/// assert!((of_speed.mu[0] + 1.0).abs() < 1e-12 && (of_speed.g[2] - 0.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SolutionGradient<'a> {
    problem: &'a Problem,
    solution: &'a Solution,
    active: Active,
    /// G + R.
    K: Dense,
    /// Change of the impulses per unit of the coefficient of each constraint at fixed loads and directions (rows × constraints).
    e: Dense,
    degenerate: usize,
}

impl<'a> SolutionGradient<'a> {
    /// Factors the system of a solution; `report` comes from [`solve`](crate::constraint::solve). Where it is
    /// neither converged nor acceptable there is no derivative.
    pub fn new(
        problem: &'a Problem,
        solution: &'a Solution,
        report: &SolveReport,
    ) -> Result<SolutionGradient<'a>, GradientError> {
        input_check::length("solution", solution.lambda().len(), problem.rows())?;
        input_check::length("modes of the solution", solution.modes().len(), problem.blocks.len())?;
        if report.status > Status::Acceptable {
            return Err(GradientError::NotConverged { status: report.status, residual: report.residual });
        }
        let (mut active, mut modes) = (Active::default(), Vec::new());
        factor_at_rest(problem, solution, &mut active, &mut Vec::new(), |active, mode| {
            modes = (0..problem.blocks.len()).map(mode).collect();
            active.factor_bare(problem, solution, mode);
        });
        let e = impulses_by_coefficient(problem, solution, &modes);
        let (K, degenerate) = (matrix(problem), report.degenerate);
        Ok(SolutionGradient { problem, solution, active, K, e, degenerate })
    }

    /// How many constraints are undecided between two modes (a margin below 1e-7 m/s): there the solution has derivatives to
    /// either side only, and these are those of the mode it ended in.
    pub fn degenerate(&self) -> usize {
        self.degenerate
    }

    /// How many equations of the constraints are redundant. Where there are any, several impulses solve the problem, and their
    /// derivative is one of many (those of skipped equations do not change). Infeasible changes are made consistent first.
    /// Velocities have one derivative along all feasible changes.   (grad-18)
    pub fn redundant(&self) -> usize {
        (0..self.problem.islands.len()).map(|n| self.active.consistent(n).count()).sum()
    }

    /// All derivatives with respect to g, coefficients and compliance, and with them those with respect to G.
    pub fn jacobian(&mut self) -> Result<SolutionJacobian, GradientError> {
        let (problem, lambda) = (self.problem, self.solution.lambda());
        let n = problem.rows();
        let H = self.impulses_by_velocity();
        let S = identity(n).plus(1.0, self.K.factor(), &H);
        let by_coefficient = Dense::zeros(n, problem.blocks.len()).plus(1.0, self.K.factor(), &self.e);
        let mut by_compliance = Dense::zeros(n, problem.blocks.len());
        for (k, b) in problem.blocks.iter().enumerate() {
            by_compliance.row_mut(last_row(b))[k] = lambda[last_row(b)];
        }
        let nothing = Dense::zeros(n, problem.blocks.len());
        let of = |g: Dense, mu: Dense| RowDerivatives {
            mu: mu.plus(1.0, g.factor(), &by_coefficient),
            compliance: nothing.clone().plus(1.0, g.factor(), &by_compliance),
            loads: lambda.to_vec(),
            g,
        };
        let (lambda, sigma) = (of(H, self.e.clone()), of(S, nothing.clone()));
        let finite = lambda.is_finite() && sigma.is_finite();
        if finite { Ok(SolutionJacobian { lambda, sigma }) } else { Err(GradientError::Singular) }
    }

    /// `H = ∂λ/∂g = −C A⁻¹ B`: one solve with Aᵀ per row.
    fn impulses_by_velocity(&mut self) -> Dense {
        let (n, count) = (self.problem.rows(), self.active.unknowns.len());
        let (mut Y, mut B) = (Dense::zeros(count, n), Dense::zeros(count, n));
        for (i, u) in self.active.unknowns.iter().enumerate() {
            let (row, rows) = self.rows_of(u);
            Y.row_mut(i)[row..row + rows].copy_from_slice(&u.c[..rows]);
            B.row_mut(i)[row..row + rows].copy_from_slice(&u.b[..rows]);
        }
        let lanes = Y.lanes();
        self.active.solve_transposed(lanes, &mut Y.entries);
        for island in 0..self.problem.islands.len() {
            let own = self.active.of_system(island);
            let rows = &mut B.entries[own.start * lanes..own.end * lanes];
            self.active.consistent(island).project(lanes, rows, &mut Vec::new());
        }
        Dense::zeros(n, n).plus(-1.0, Y.transposed(), &B)
    }

    /// The gradient with respect to G, g, coefficients and compliance of a number whose gradient with respect to the solution
    /// is `w`. One adjoint solve: `y = A⁻ᵀ Cᵀ (w_λ + Kᵀ w_σ)`, `∇_g = w_σ − Bᵀ y`.
    pub fn vjp(&mut self, w: SolutionGrad) -> Result<ProblemGrad, GradientError> {
        let (problem, lambda) = (self.problem, self.solution.lambda());
        let n = problem.rows();
        input_check::vector_or_none("gradient of lambda", w.lambda, n)?;
        input_check::vector_or_none("gradient of sigma", w.sigma, n)?;
        let g = self.gradient_of_velocity(&w);
        let impulse_gradient = self.impulse_gradient(w.lambda, &g);
        let mut mu = vec![0.0; problem.blocks.len()];
        self.e.multiply_transposed(&impulse_gradient, &mut mu);
        let compliance = problem.blocks.iter().map(|b| g[last_row(b)] * lambda[last_row(b)]).collect();
        let G = g.iter().flat_map(|y| lambda.iter().map(move |load| y * load)).collect();
        let finite = g.iter().chain(&mu).all(|x| x.is_finite());
        if finite { Ok(ProblemGrad { G, g, mu, compliance }) } else { Err(GradientError::Singular) }
    }

    fn gradient_of_velocity(&mut self, w: &SolutionGrad) -> Vec<f64> {
        let impulse_gradient = self.impulse_gradient(w.lambda, w.sigma);
        let dot = |u: &Unknown, (row, rows): (usize, usize)| {
            u.c[..rows].iter().zip(&impulse_gradient[row..]).fold(0.0, |s, (c, x)| s + c * x)
        };
        let mut y: Vec<[f64; 4]> =
            self.active.unknowns.iter().map(|u| [dot(u, self.rows_of(u)), 0.0, 0.0, 0.0]).collect();
        self.active.solve_transposed(1, &mut y);
        for island in 0..self.problem.islands.len() {
            let own = self.active.of_system(island);
            self.active.consistent(island).project_transposed(&mut y[own]);
        }
        let mut g = vec![0.0; self.problem.rows()];
        g.iter_mut().zip(w.sigma).for_each(|(g, w)| *g = *w);
        for (u, y) in self.active.unknowns.iter().zip(&y) {
            let (row, rows) = self.rows_of(u);
            g[row..row + rows].iter_mut().zip(&u.b).for_each(|(g, b)| *g -= b * y[0]);
        }
        g
    }

    /// `w_λ + Kᵀ w_σ`.
    fn impulse_gradient(&self, w_lambda: &[f64], w_sigma: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.problem.rows()];
        out.iter_mut().zip(w_lambda).for_each(|(out, w)| *out = *w);
        self.K.multiply_transposed(w_sigma, &mut out);
        out
    }

    /// First row of the constraint of an unknown, and how many it has.
    fn rows_of(&self, u: &Unknown) -> (usize, usize) {
        let b = &self.problem.blocks[u.block];
        (b.row, b.cone.rows())
    }
}

/// The row with the compliance.
fn last_row(b: &Block) -> usize {
    b.row + b.cone.rows() - 1
}

fn identity(n: usize) -> Dense {
    let mut one = Dense::zeros(n, n);
    (0..n).for_each(|i| one.row_mut(i)[i] = 1.0);
    one
}

/// G + R.
fn matrix(problem: &Problem) -> Dense {
    let n = problem.rows();
    let mut K = Dense::zeros(n, n);
    (0..n).for_each(|i| K.row_mut(i).copy_from_slice(&problem.row(i)[..n]));
    problem.blocks.iter().for_each(|b| K.row_mut(last_row(b))[last_row(b)] += b.compliance);
    K
}

/// Change of the impulses per unit of their coefficient: `−λ_N u` of a contact that slides along u, the bound of a saturated box.
fn impulses_by_coefficient(problem: &Problem, solution: &Solution, modes: &[Mode]) -> Dense {
    let mut e = Dense::zeros(problem.rows(), problem.blocks.len());
    for (k, b) in problem.blocks.iter().enumerate().filter(|(k, _)| modes[*k] == Mode::Slide) {
        let state = BlockState::of(solution, b);
        let u = state.slip_direction(b);
        match b.cone {
            Cone::Friction { .. } => (0..2).for_each(|i| e.row_mut(b.row + i)[k] = -state.lambda[2] * u[i]),
            _ => e.row_mut(b.row)[k] = -u[0],
        }
    }
    e
}
