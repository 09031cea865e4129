//! Finite differences in the place of a problem's own derivatives.

use super::LeastSquares;
use crate::check::Difference;
use slipstick_core::InputError;
use slipstick_core::linalg::MatMut;

/// A problem whose Jacobian is taken by differences of its residuals, a column at a time, along steps of its own
/// manifold: for comparison, and for problems that have none.
#[derive(Debug, Clone)]
pub struct ByDifferences<P> {
    problem: P,
    difference: Difference,
    /// The last residual: the base of forward differences.
    base: Vec<f64>,
    sides: [Vec<f64>; 2],
    point: Vec<f64>,
    d: Vec<f64>,
}

impl<P: LeastSquares> ByDifferences<P> {
    /// Refuses a step that is not a positive number.
    pub fn new(problem: P, difference: Difference) -> Result<ByDifferences<P>, InputError> {
        difference.checked_step()?;
        let (m, n) = (problem.residuals(), problem.unknowns());
        let (base, point) = (vec![0.0; m], vec![0.0; problem.coordinates()]);
        Ok(ByDifferences { sides: [base.clone(), base.clone()], base, point, d: vec![0.0; n], problem, difference })
    }

    /// The problem itself.
    pub fn into_inner(self) -> P {
        self.problem
    }

    /// Residuals a way along unknown `j`.
    fn side(&mut self, x: &[f64], j: usize, way: f64, side: usize) -> Result<(), P::Error> {
        self.d[j] = way;
        self.problem.retract(x, &self.d, &mut self.point);
        self.d[j] = 0.0;
        self.problem.residual(&self.point, &mut self.sides[side])
    }
}

impl<P: LeastSquares> LeastSquares for ByDifferences<P> {
    type Error = P::Error;

    fn unknowns(&self) -> usize {
        self.problem.unknowns()
    }

    fn residuals(&self) -> usize {
        self.problem.residuals()
    }

    fn coordinates(&self) -> usize {
        self.problem.coordinates()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), P::Error> {
        self.problem.residual(x, r)?;
        self.base.copy_from_slice(r);
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], mut J: MatMut<'_>) -> Result<(), P::Error> {
        for j in 0..self.problem.unknowns() {
            let width = match self.difference {
                Difference::Forward { step } => {
                    self.sides[0].copy_from_slice(&self.base);
                    step
                }
                Difference::Central { step } => {
                    self.side(x, j, -step, 0)?;
                    2.0 * step
                }
            };
            let (Difference::Forward { step } | Difference::Central { step }) = self.difference;
            self.side(x, j, step, 1)?;
            let [behind, ahead] = &self.sides;
            (0..self.base.len()).for_each(|i| J[(i, j)] = (ahead[i] - behind[i]) / width);
        }
        Ok(())
    }

    fn retract(&self, x: &[f64], d: &[f64], out: &mut [f64]) {
        self.problem.retract(x, d, out);
    }

    fn bounds(&self) -> Option<(&[f64], &[f64])> {
        self.problem.bounds()
    }
}
