//! A dense matrix whose rows are whole lanes.

use crate::linalg::{Factor, MatRef, add_product};

/// Rows of `cols` numbers, filled up with zeros to whole lanes.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    pub entries: Vec<[f64; 4]>,
    rows: usize,
    cols: usize,
}

impl Dense {
    pub fn zeros(rows: usize, cols: usize) -> Dense {
        Dense { entries: vec![[0.0; 4]; rows * cols.div_ceil(4)], rows, cols }
    }

    /// Lanes of a row.
    pub fn lanes(&self) -> usize {
        self.cols.div_ceil(4)
    }

    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        let lanes = self.lanes();
        &mut self.entries[i * lanes..(i + 1) * lanes].as_flattened_mut()[..self.cols]
    }

    pub fn view(&self) -> MatRef<'_> {
        MatRef::with_stride(self.entries.as_flattened(), self.rows, self.cols, 4 * self.lanes())
    }

    pub fn factor(&self) -> Factor<'_> {
        Factor { entries: self.entries.as_flattened(), row: 4 * self.lanes(), column: 1 }
    }

    pub fn transposed(&self) -> Factor<'_> {
        Factor { entries: self.entries.as_flattened(), row: 1, column: 4 * self.lanes() }
    }

    /// This matrix plus `scale · a b`.
    pub fn plus(mut self, scale: f64, a: Factor, b: &Dense) -> Dense {
        let lanes = self.lanes();
        add_product(self.rows, b.rows, lanes, scale, a, &b.entries, &mut self.entries, &mut Vec::new());
        self
    }

    /// `out += A x`.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let view = self.view();
        for (i, out) in out.iter_mut().enumerate() {
            *out += view.row(i).iter().zip(x).fold(0.0, |s, (a, x)| s + a * x);
        }
    }

    /// `out += Aᵀ x`.
    pub fn multiply_transposed(&self, x: &[f64], out: &mut [f64]) {
        let view = self.view();
        for (i, x) in x.iter().enumerate() {
            out.iter_mut().zip(view.row(i)).for_each(|(out, a)| *out += a * x);
        }
    }

    pub fn is_finite(&self) -> bool {
        self.entries.as_flattened().iter().all(|x| x.is_finite())
    }
}
