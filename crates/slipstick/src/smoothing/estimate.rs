//! Derivatives of a step, or their standard errors, as an estimate knows them.

use super::Sigma;
use slipstick_core::linalg::MatRef;
use std::ops::Range;

/// Which numbers of (q, v, tau, ctrl) are columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Columns {
    pub nv: usize,
    pub q: Range<usize>,
    pub v: Range<usize>,
    pub tau: Range<usize>,
    pub ctrl: Range<usize>,
}

impl Columns {
    /// Everything; `nu` is zero if the actuators are off.
    pub fn all(nv: usize, nu: usize) -> Columns {
        Columns { nv, q: 0..nv, v: nv..2 * nv, tau: 2 * nv..3 * nv, ctrl: 3 * nv..3 * nv + nu }
    }

    /// Only what is displaced.
    pub fn displaced(nv: usize, nu: usize, sigma: &Sigma) -> Columns {
        let mut end = 0;
        let mut columns = |sigma: f64, n: usize| {
            let start = end;
            end += if sigma > 0.0 { n } else { 0 };
            start..end
        };
        let (q, v, tau) = (columns(sigma.q, nv), columns(sigma.v, nv), columns(sigma.tau, nv));
        Columns { nv, q, v, tau, ctrl: columns(sigma.ctrl, nu) }
    }

    pub fn width(&self) -> usize {
        self.ctrl.end
    }
}

/// Blocks of derivatives (nv rows each), or standard errors in the same places. `None`: not known, because what the
/// block is taken with respect to was not displaced, or the actuators are off.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    pub(super) columns: Columns,
    /// Rows of q_next as a tangent, then of v_next.
    pub(super) numbers: Vec<f64>,
}

impl Estimate {
    pub(super) fn new(columns: Columns) -> Estimate {
        Estimate { numbers: vec![0.0; 2 * columns.nv * columns.width()], columns }
    }

    fn block(&self, row: usize, columns: &Range<usize>) -> Option<MatRef<'_>> {
        if columns.is_empty() {
            return None;
        }
        let width = self.columns.width();
        let start = row * width + columns.start;
        Some(MatRef::with_stride(&self.numbers[start..], self.columns.nv, columns.len(), width))
    }

    /// Of q_next with respect to q.
    pub fn dq_dq(&self) -> Option<MatRef<'_>> {
        self.block(0, &self.columns.q)
    }

    /// Of q_next with respect to v.
    pub fn dq_dv(&self) -> Option<MatRef<'_>> {
        self.block(0, &self.columns.v)
    }

    /// Of q_next with respect to tau.
    pub fn dq_dtau(&self) -> Option<MatRef<'_>> {
        self.block(0, &self.columns.tau)
    }

    /// Of q_next with respect to ctrl.
    pub fn dq_dctrl(&self) -> Option<MatRef<'_>> {
        self.block(0, &self.columns.ctrl)
    }

    /// Of v_next with respect to q.
    pub fn dv_dq(&self) -> Option<MatRef<'_>> {
        self.block(self.columns.nv, &self.columns.q)
    }

    /// Of v_next with respect to v.
    pub fn dv_dv(&self) -> Option<MatRef<'_>> {
        self.block(self.columns.nv, &self.columns.v)
    }

    /// Of v_next with respect to tau.
    pub fn dv_dtau(&self) -> Option<MatRef<'_>> {
        self.block(self.columns.nv, &self.columns.tau)
    }

    /// Of v_next with respect to ctrl.
    pub fn dv_dctrl(&self) -> Option<MatRef<'_>> {
        self.block(self.columns.nv, &self.columns.ctrl)
    }
}
