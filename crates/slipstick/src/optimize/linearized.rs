//! The problem as it looks from one point: residual, Jacobian, gradient, and the steps that they propose.

use super::bounded::{self, StepBounds};
use super::svd::{Svd, dot};
use slipstick_core::linalg::MatRef;

/// Residual r (m) and Jacobian J (m × n) at a point.
pub(super) struct LinearizedProblem {
    r: Vec<f64>,
    J: Vec<f64>,
    /// Of ½‖r‖²: Jᵀ r, without what bounds forbid (n).                                                            (lsq-2)
    pub gradient: Vec<f64>,
    /// Norms of the columns of J.
    columns: Vec<f64>,
    /// For the numbers of a step, if there are bounds.
    room: Option<StepBounds>,
    /// Of J, if there are none: made once for all prices of a step.
    svd: Option<Svd>,
}

impl LinearizedProblem {
    pub fn new(r: &[f64], J: Vec<f64>, n: usize, room: Option<StepBounds>) -> LinearizedProblem {
        let (mut gradient, mut columns) = (vec![0.0; n], vec![0.0; n]);
        for (row, r) in J.chunks_exact(n.max(1)).zip(r) {
            for (j, a) in row.iter().enumerate() {
                gradient[j] += a * r;
                columns[j] = f64::hypot(columns[j], *a);
            }
        }
        if let Some(room) = &room {
            gradient.iter_mut().enumerate().filter(|(j, x)| room.forbids(*j, -**x)).for_each(|(_, x)| *x = 0.0);
        }
        LinearizedProblem { r: r.to_vec(), J, gradient, columns, room, svd: None }
    }

    fn matrix(&self) -> MatRef<'_> {
        MatRef::new(&self.J, self.r.len(), self.gradient.len())
    }

    /// ‖r‖.
    pub fn error(&self) -> f64 {
        dot(&self.r, &self.r).sqrt()
    }

    /// The largest cosine between the residual and a column of J that may move.
    pub fn cosine(&self) -> f64 {
        let (size, all) = (self.error(), self.gradient.iter().zip(&self.columns));
        all.filter(|(x, _)| **x != 0.0).fold(0.0, |c, (x, column)| c.max(x.abs() / column / size))
    }

    /// The largest squared norm of a column of J.
    pub fn largest_square(&self) -> f64 {
        self.columns.iter().fold(0.0, |s: f64, c| s.max(c * c))
    }

    /// The step to the least ‖J d + r‖² + damping ‖d‖²; of several the shortest.                          (lsq-3, lsq-4)
    pub fn gauss_newton(&mut self, damping: f64, rank_tolerance: f64) -> Vec<f64> {
        if let Some(room) = &self.room {
            return bounded::solve(self.matrix(), &self.r, damping, rank_tolerance, room);
        }
        let (mut d, svd) = (vec![0.0; self.gradient.len()], self.svd.take().unwrap_or_else(|| Svd::new(self.matrix())));
        svd.solve(&self.r, damping, rank_tolerance, &mut d);
        d.iter_mut().for_each(|d| *d = -*d);
        self.svd = Some(svd);
        d
    }

    /// A step against the gradient, as long as is best for the linearized problem if no rate is given.           (lsq-6)
    pub fn descent(&self, rate: Option<f64>) -> Vec<f64> {
        let best = || {
            let curvature = self.change(&self.gradient).fold(0.0, |s, x| s + x * x);
            if curvature > 0.0 { dot(&self.gradient, &self.gradient) / curvature } else { 0.0 }
        };
        let rate = rate.unwrap_or_else(best);
        let mut d: Vec<f64> = self.gradient.iter().map(|x| -rate * x).collect();
        if let Some(room) = &self.room {
            d.iter_mut().enumerate().for_each(|(j, d)| *d = room.clamp(j, *d));
        }
        d
    }

    /// Of ½‖r‖² along a step: r·(J d). A number that leaves its bound may rise along its own gradient, so that one does
    /// not do.
    pub fn slope(&self, d: &[f64]) -> f64 {
        self.change(d).zip(&self.r).fold(0.0, |s, (change, r)| s + change * r)
    }

    /// By how much ½‖r‖² falls along a step if J tells the truth.
    pub fn predicted(&self, d: &[f64]) -> f64 {
        self.change(d).zip(&self.r).fold(0.0, |s, (change, r)| s - change * (r + 0.5 * change))
    }

    /// J d, number by number.
    fn change(&self, d: &[f64]) -> impl Iterator<Item = f64> {
        self.J.chunks_exact(self.gradient.len().max(1)).map(move |row| dot(row, d))
    }
}
