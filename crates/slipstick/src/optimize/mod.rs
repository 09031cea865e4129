//! Nonlinear least squares: the x that makes ½‖r(x)‖² least, for residuals that a simulation gives.
//!
//! A [`LeastSquares`] problem says what its residuals and their derivatives are; [`minimize`] goes down by
//! Gauss–Newton, Levenberg–Marquardt or gradient descent ([`Method`]) and keeps a log. Points may lie on a manifold
//! ([`LeastSquares::retract`]) or between bounds. Jacobians may lack rank, as those of torques that hold a robot on four
//! feet do: steps are then the shortest of all that are as good. [`ByDifferences`] puts finite differences in the place
//! of a problem's own derivatives.
//!
//! Written out here because what there is does not fit: `levenberg-marquardt` knows neither manifolds nor bounds nor a
//! bare Gauss–Newton step, `argmin` solves the normal equations, which lose half of the digits and fail without full
//! rank, and both would put their matrix type into our signatures. The derivation is in `docs/math/least_squares.md`.
//!
//! ```
//! use slipstick::linalg::MatMut;
//! use slipstick::optimize::{LeastSquares, Options, minimize};
//!
//! /// Rosenbrock's valley: its floor bends, its end is at (1, 1).
//! struct Valley;
//! impl LeastSquares for Valley {
//!     type Error = std::convert::Infallible;
//!     fn unknowns(&self) -> usize {
//!         2
//!     }
//!     fn residuals(&self) -> usize {
//!         2
//!     }
//!     fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), Self::Error> {
//!         r.copy_from_slice(&[10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]);
//!         Ok(())
//!     }
//!     fn jacobian(&mut self, x: &[f64], mut J: MatMut) -> Result<(), Self::Error> {
//!         J.row_mut(0).copy_from_slice(&[-20.0 * x[0], 10.0]);
//!         J.row_mut(1).copy_from_slice(&[-1.0, 0.0]);
//!         Ok(())
//!     }
//! }
//! let found = minimize(&mut Valley, &[-1.2, 1.0], &Options::default(), |_| ())?;
//! assert!(found.error < 1e-12 && (found.x[0] - 1.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(non_snake_case)]

mod bounded;
mod differences;
mod error;
mod linearized;
mod search;
mod svd;
#[cfg(test)]
mod tests;
mod types;

pub use differences::ByDifferences;
pub use error::OptimizeError;
pub use search::minimize;
pub use types::{Iteration, Method, Options, Outcome, Stop};

use slipstick_core::linalg::MatMut;

/// Residuals and their derivatives. [`minimize`] looks for the point where their squares have the least sum.
pub trait LeastSquares {
    /// Why a residual or a derivative is not there. It ends the search. A point that is merely bad, such as one from
    /// which a simulation diverges, has residuals that are not finite instead: a shorter step is then tried.
    type Error: std::error::Error + 'static;

    /// Number of unknowns n: the dimension of the space in which steps are taken.
    fn unknowns(&self) -> usize;

    /// Number of residuals m.
    fn residuals(&self) -> usize;

    /// Numbers that describe a point; more than `unknowns` on a manifold.
    fn coordinates(&self) -> usize {
        self.unknowns()
    }

    /// Writes the residuals (m) at a point.
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), Self::Error>;

    /// Writes their derivatives (m × n) with respect to a step d from the point: d r(x ⊕ d) / d d at d = 0. It is the
    /// point of the last call of `residual`, so what that left behind may be used.
    fn jacobian(&mut self, x: &[f64], J: MatMut<'_>) -> Result<(), Self::Error>;

    /// Writes the point x ⊕ d that a step d (n) leads to. A plain sum if not said otherwise.
    fn retract(&self, x: &[f64], d: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(x.iter().zip(d)).for_each(|(out, (x, d))| *out = x + d);
    }

    /// The least and the largest value of each coordinate, which may be infinite. Only for points that are plain
    /// vectors.
    fn bounds(&self) -> Option<(&[f64], &[f64])> {
        None
    }
}
