//! What goes into the derivatives of a dense problem and comes out of them.
#![allow(non_snake_case)]

use super::dense::Dense;
use crate::error::InputError;
use crate::input_check;
use crate::linalg::MatRef;

/// A change of what a dense problem is made from. Empty slices stand for zeros.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProblemDirection<'a> {
    /// Of the Delassus matrix (rows × rows, row by row) (1/kg).
    pub G: &'a [f64],
    /// Of the free velocity (rows) (m/s).
    pub g: &'a [f64],
    /// Of the coefficient of friction of each contact and the bound of each box (constraints); others have none.
    pub mu: &'a [f64],
    /// Of the compliance of the last row of each constraint (constraints) (1/kg).
    pub compliance: &'a [f64],
}

/// The gradient of some number with respect to the solution of a problem. Empty slices stand for zeros.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolutionGrad<'a> {
    /// With respect to the impulses (rows).
    pub lambda: &'a [f64],
    /// With respect to the velocities (rows).
    pub sigma: &'a [f64],
}

/// The gradient of some number with respect to what a dense problem is made from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProblemGrad {
    /// With respect to the entries of the Delassus matrix, each on its own (rows × rows, row by row). Where G stays symmetric,
    /// `(X + Xᵀ)/2` is its symmetric part; an entry and its mirror image together count as `X_ij + X_ji`.
    pub G: Vec<f64>,
    /// With respect to the free velocity (rows).
    pub g: Vec<f64>,
    /// With respect to the coefficient of friction of each contact and the bound of each box (constraints); zero for others.
    pub mu: Vec<f64>,
    /// With respect to the compliance of each constraint (constraints).
    pub compliance: Vec<f64>,
}

/// All derivatives of the solution of a problem.   (grad-19)
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SolutionJacobian {
    /// Of the impulses.
    pub lambda: RowDerivatives,
    /// Of the velocities.
    pub sigma: RowDerivatives,
}

/// Derivatives of a number per row: impulses or velocities.
#[derive(Debug, Clone)]
pub struct RowDerivatives {
    pub(super) g: Dense,
    pub(super) mu: Dense,
    pub(super) compliance: Dense,
    /// λ: a change of G adds `dG λ` to the free velocity.
    pub(super) loads: Vec<f64>,
}

impl RowDerivatives {
    /// With respect to the free velocity (rows × rows).
    pub fn dg(&self) -> MatRef<'_> {
        self.g.view()
    }

    /// With respect to the coefficient of friction of each contact and the bound of each box (rows × constraints).
    pub fn dmu(&self) -> MatRef<'_> {
        self.mu.view()
    }

    /// With respect to the compliance of the last row of each constraint (rows × constraints).
    pub fn dcompliance(&self) -> MatRef<'_> {
        self.compliance.view()
    }

    /// Writes the derivative with respect to every entry of the Delassus matrix on its own, rows³ numbers: number
    /// `(i rows + a) rows + b` is that of row i with respect to `G[a, b]`, which is `dg[i, a] λ_b`. Much memory for little:
    /// [`SolutionJacobian::jvp`] and [`SolutionGradient::vjp`](super::SolutionGradient::vjp) need none of it.
    pub fn copy_dG(&self, out: &mut [f64]) -> Result<(), InputError> {
        let n = self.loads.len();
        input_check::length("out", out.len(), n * n * n)?;
        let dg = self.dg();
        let entries = (0..n).flat_map(|i| dg.row(i)).flat_map(|x| self.loads.iter().map(move |load| x * load));
        out.iter_mut().zip(entries).for_each(|(out, x)| *out = x);
        Ok(())
    }

    /// Derivative along a change that adds `shift` to the free velocity.
    fn write_along(&self, shift: &[f64], dx: &ProblemDirection, out: &mut [f64]) {
        out.fill(0.0);
        self.g.multiply(shift, out);
        self.mu.multiply(dx.mu, out);
        self.compliance.multiply(dx.compliance, out);
    }

    pub(super) fn is_finite(&self) -> bool {
        self.g.is_finite() && self.mu.is_finite() && self.compliance.is_finite()
    }
}

impl SolutionJacobian {
    /// The change of impulses and velocities along a change of the problem.
    pub fn jvp(&self, dx: ProblemDirection, dlambda: &mut [f64], dsigma: &mut [f64]) -> Result<(), InputError> {
        let (loads, constraints) = (&self.lambda.loads, self.lambda.dmu().cols());
        let rows = loads.len();
        input_check::vector_or_none("dG", dx.G, rows * rows)?;
        input_check::vector_or_none("dg", dx.g, rows)?;
        input_check::vector_or_none("dmu", dx.mu, constraints)?;
        input_check::vector_or_none("dcompliance", dx.compliance, constraints)?;
        input_check::length("dlambda", dlambda.len(), rows)?;
        input_check::length("dsigma", dsigma.len(), rows)?;
        let mut shift = vec![0.0; rows];
        shift.iter_mut().zip(dx.g).for_each(|(s, g)| *s += g);
        for (s, row) in shift.iter_mut().zip(dx.G.chunks_exact(rows.max(1))) {
            *s += row.iter().zip(loads).fold(0.0, |s, (a, b)| s + a * b);
        }
        self.lambda.write_along(&shift, &dx, dlambda);
        self.sigma.write_along(&shift, &dx, dsigma);
        Ok(())
    }
}
