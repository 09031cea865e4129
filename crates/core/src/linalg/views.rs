//! Row-major views of matrices: the only matrix types of the public interface.

use core::ops::{Index, IndexMut};

/// A matrix that is read: `rows × cols` numbers, row `i` begins at `i * stride`.
#[derive(Debug, Clone, Copy)]
pub struct MatRef<'a> {
    data: &'a [f64],
    rows: usize,
    cols: usize,
    stride: usize,
}

/// A matrix that is written. Same layout as [`MatRef`].
#[derive(Debug)]
pub struct MatMut<'a> {
    data: &'a mut [f64],
    rows: usize,
    cols: usize,
    stride: usize,
}

/// Numbers needed to hold a view: the last row may end before its stride does.
fn needed(rows: usize, cols: usize, stride: usize) -> usize {
    if rows == 0 { 0 } else { (rows - 1) * stride + cols }
}

impl<'a> MatRef<'a> {
    /// A contiguous `rows × cols` matrix.
    ///
    /// # Panics
    /// If the slice is too short.
    pub fn new(data: &'a [f64], rows: usize, cols: usize) -> MatRef<'a> {
        MatRef::with_stride(data, rows, cols, cols)
    }

    /// A matrix whose rows are `stride` numbers apart.
    ///
    /// # Panics
    /// If the slice is too short or the stride smaller than a row.
    pub fn with_stride(data: &'a [f64], rows: usize, cols: usize, stride: usize) -> MatRef<'a> {
        assert!(stride >= cols && data.len() >= needed(rows, cols, stride), "matrix view outside its memory");
        MatRef { data, rows, cols, stride }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.data[i * self.stride..i * self.stride + self.cols]
    }

    /// Writes all entries, row by row, into `out` (`rows · cols` numbers).
    pub fn copy_to(&self, out: &mut [f64]) {
        for (i, row) in out.chunks_exact_mut(self.cols.max(1)).enumerate().take(self.rows) {
            row.copy_from_slice(self.row(i));
        }
    }
}

impl<'a> MatMut<'a> {
    /// A contiguous `rows × cols` matrix.
    ///
    /// # Panics
    /// If the slice is too short.
    pub fn new(data: &'a mut [f64], rows: usize, cols: usize) -> MatMut<'a> {
        assert!(data.len() >= needed(rows, cols, cols), "matrix view outside its memory");
        MatMut { data, rows, cols, stride: cols }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.stride..i * self.stride + self.cols]
    }

    /// Sets every entry.
    pub fn fill(&mut self, x: f64) {
        for i in 0..self.rows {
            self.row_mut(i).fill(x);
        }
    }

    /// A read-only view of the matrix.
    pub fn as_ref(&self) -> MatRef<'_> {
        MatRef { data: self.data, rows: self.rows, cols: self.cols, stride: self.stride }
    }
}

impl Index<(usize, usize)> for MatRef<'_> {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.row(i)[j]
    }
}
impl Index<(usize, usize)> for MatMut<'_> {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        debug_assert!(j < self.cols);
        &self.data[i * self.stride + j]
    }
}
impl IndexMut<(usize, usize)> for MatMut<'_> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        debug_assert!(j < self.cols);
        &mut self.data[i * self.stride + j]
    }
}
