//! Dense LU with partial pivoting for systems of tens of rows.
//!
//! Rows are whole lanes of four. What elimination leaves left of the diagonal is not read again: the multipliers are kept
//! apart, by columns, so that both sweeps of a solve run over contiguous lanes.

use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::spatial::Lane;

/// Factors of a square matrix and the memory they live in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lu {
    /// The matrix, then U: rows of `lanes` lanes.
    upper: Vec<[f64; 4]>,
    /// Columns of L below its diagonal of ones; zeros elsewhere.
    lower: Vec<[f64; 4]>,
    inverse_pivot: Vec<f64>,
    /// Which row was exchanged with row k at step k.
    exchanged: Vec<usize>,
    x: Vec<[f64; 4]>,
    n: usize,
    lanes: usize,
}

footprint!(Lu: upper, lower, inverse_pivot, exchanged, x);

impl Lu {
    /// An n × n matrix to be filled row by row. Memory grows only if n is larger than ever before.
    pub fn reset(&mut self, n: usize) {
        self.n = n;
        self.lanes = n.div_ceil(4);
        self.upper.resize(n * self.lanes, [0.0; 4]);
        self.lower.clear();
        self.lower.resize(n * self.lanes, [0.0; 4]);
        self.inverse_pivot.resize(n, 0.0);
        self.exchanged.resize(n, 0);
        self.x.clear();
        self.x.resize(self.lanes, [0.0; 4]);
    }

    /// Row i, to be filled: n numbers, and zeros up to whole lanes.
    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        self.upper[i * self.lanes..(i + 1) * self.lanes].as_flattened_mut()
    }

    /// Factors in place. The unknown of a pivot of zero becomes zero.
    pub fn factor(&mut self) {
        factor(self);
    }

    /// Solves for one vector, in place.
    pub fn solve(&mut self, x: &mut [f64]) {
        solve(self, x);
    }
}

dispatch!(
    /// See [`Lu::factor`].
    pub(crate) fn factor(lu: &mut Lu) {
        let (n, lanes) = (lu.n, lu.lanes);
        for k in 0..n {
            let (lane, entry) = (k / 4, k % 4);
            let (mut best, mut largest) = (k, 0.0);
            for i in k..n {
                let x = lu.upper[i * lanes + lane][entry].abs();
                if x > largest {
                    (best, largest) = (i, x);
                }
            }
            lu.exchanged[k] = best;
            if best != k {
                exchange(lu, k, best);
            }
            let (above, below) = lu.upper.split_at_mut((k + 1) * lanes);
            let source = &mut above[k * lanes + lane..(k + 1) * lanes];
            let inverse = if largest == 0.0 { 0.0 } else { 1.0 / source[0][entry] };
            lu.inverse_pivot[k] = inverse;
            let multipliers = &mut lu.lower[k * lanes..(k + 1) * lanes];
            for (i, row) in below.chunks_exact_mut(lanes).take(n - k - 1).enumerate() {
                let row = &mut row[lane..];
                let l = row[0][entry] * inverse;
                multipliers[(k + 1 + i) / 4][(k + 1 + i) % 4] = l;
                for (x, s) in row.iter_mut().zip(&*source) {
                    *x = (Lane(*x) - Lane(*s) * l).0;
                }
            }
            // the row of U is read in whole lanes from here on
            for x in &mut source[0][..=entry] {
                *x = 0.0;
            }
        }
    }
);

/// Rows of what is left of the matrix, and of the multipliers so far.
#[inline(always)]
fn exchange(lu: &mut Lu, k: usize, best: usize) {
    let lanes = lu.lanes;
    let (first, second) = lu.upper.split_at_mut(best * lanes);
    first[k * lanes..(k + 1) * lanes].swap_with_slice(&mut second[..lanes]);
    for column in lu.lower.chunks_exact_mut(lanes).take(k) {
        let (a, b) = (column[k / 4][k % 4], column[best / 4][best % 4]);
        column[k / 4][k % 4] = b;
        column[best / 4][best % 4] = a;
    }
}

dispatch!(
    /// See [`Lu::solve`].
    pub(crate) fn solve(lu: &mut Lu, x: &mut [f64]) {
        let (n, lanes) = (lu.n, lu.lanes);
        for k in 0..n {
            x.swap(k, lu.exchanged[k]);
        }
        for (k, value) in x.iter().enumerate() {
            lu.x[k / 4][k % 4] = *value;
        }
        for k in 0..n {
            let known = lu.x[k / 4][k % 4];
            let column = &lu.lower[k * lanes + k / 4..(k + 1) * lanes];
            for (x, l) in lu.x[k / 4..].iter_mut().zip(column) {
                *x = (Lane(*x) - Lane(*l) * known).0;
            }
        }
        for k in (0..n).rev() {
            let row = &lu.upper[k * lanes + k / 4..(k + 1) * lanes];
            let mut sum = [0.0; 4];
            for (x, u) in lu.x[k / 4..].iter().zip(row) {
                for c in 0..4 {
                    sum[c] += x[c] * u[c];
                }
            }
            let rest = lu.x[k / 4][k % 4] - ((sum[0] + sum[1]) + (sum[2] + sum[3]));
            lu.x[k / 4][k % 4] = rest * lu.inverse_pivot[k];
        }
        for (k, value) in x.iter_mut().enumerate() {
            *value = lu.x[k / 4][k % 4];
        }
    }
);

/// Product of two vectors of whole lanes: four sums side by side.
#[inline(always)]
pub(crate) fn dot_lanes(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for (x, y) in a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    #[test]
    fn solves_random_systems_that_need_pivots() {
        let mut draw = Rng(1);
        let mut random = || draw.between(-0.5, 0.5);
        let mut lu = Lu::default();
        for n in (2..40).chain([3, 17]) {
            let a: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 && k % 3 == 0 { 0.0 } else { random() }).collect();
            let x: Vec<f64> = (0..n).map(|_| random()).collect();
            let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum()).collect();
            lu.reset(n);
            for i in 0..n {
                lu.row_mut(i).fill(0.0);
                lu.row_mut(i)[..n].copy_from_slice(&a[i * n..(i + 1) * n]);
            }
            lu.factor();
            lu.solve(&mut b);
            for (b, x) in b.iter().zip(&x) {
                assert!((b - x).abs() < 1e-9, "{n}");
            }
        }
    }
}
