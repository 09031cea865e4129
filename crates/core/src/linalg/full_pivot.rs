//! Dense LU with full pivoting for systems that may be redundant: redundant equations are dropped, together with as many
//! unknowns, which become zero. Unknowns come in classes; those of a later class are dropped first.
//!
//! Only transposed systems are solved, `Aᵀ y = c`, for many right-hand sides side by side: rows of whole lanes.

use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::spatial::Lane;

/// Factors of a square matrix and the memory they live in.
#[derive(Debug, Clone, Default)]
pub(crate) struct FullPivotLu {
    /// The matrix, then U on and above the diagonal, multipliers below: rows of `lanes` lanes.
    entries: Vec<[f64; 4]>,
    /// Which unknown row (column) k of the factors belongs to.
    rows: Vec<usize>,
    columns: Vec<usize>,
    rank: usize,
    n: usize,
    lanes: usize,
}

footprint!(FullPivotLu: entries, rows, columns);

impl FullPivotLu {
    /// A square matrix of zeros, to be filled row by row. Its rows and columns come in an order of their own: row i belongs
    /// to unknown `order[i]`. Memory grows only if it is larger than ever before.
    pub fn reset(&mut self, order: &[usize]) {
        let n = order.len();
        (self.n, self.lanes, self.rank) = (n, n.div_ceil(4), 0);
        self.entries.clear();
        self.entries.resize(n * self.lanes, [0.0; 4]);
        for own in [&mut self.rows, &mut self.columns] {
            own.clear();
            own.extend_from_slice(order);
        }
    }

    /// Row i: n numbers, and zeros up to whole lanes.
    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        self.entries[i * self.lanes..(i + 1) * self.lanes].as_flattened_mut()
    }

    /// Independent equations, after `factor`: unknowns that they belong to.
    pub fn independent(&self) -> &[usize] {
        &self.rows[..self.rank]
    }

    /// How many equations were dropped.
    pub fn dependent(&self) -> usize {
        self.n - self.rank
    }

    /// The combination of equations that is zero and has the left-out one number `s` once: a number for each unknown, written to
    /// `out`, which is zero. `t` is scratch.
    pub fn dependence(&self, s: usize, t: &mut Vec<f64>, out: &mut [f64]) {
        let (r, own) = (self.rank, self.rank + s);
        let entry = |i: usize, j: usize| self.entries[i * self.lanes + j / 4][j % 4];
        t.clear();
        t.extend((0..r).map(|k| entry(own, k)));
        for k in (0..r).rev() {
            t[k] = (k + 1..r).fold(t[k], |sum, i| sum - t[i] * entry(i, k));
            out[self.rows[k]] = -t[k];
        }
        out[self.rows[own]] = 1.0;
    }

    /// Factors in place. Class c of unknowns ends at row `ends[c]`; what is left of it when no entry is larger than
    /// `threshold` counts as redundant, unless a later class can serve it.
    pub fn factor(&mut self, ends: &[usize], threshold: f64) {
        factor(self, ends, threshold);
    }

    /// Solves `Aᵀ y = c` for the columns of c (n rows of `lanes` lanes), in place. `scratch` has the same size.
    pub fn solve_transposed(&self, lanes: usize, c: &mut [[f64; 4]], scratch: &mut [[f64; 4]]) {
        solve_transposed(self, lanes, c, scratch);
    }
}

dispatch!(
    /// See [`FullPivotLu::factor`].
    pub(crate) fn factor(lu: &mut FullPivotLu, ends: &[usize], threshold: f64) {
        let lanes = lu.lanes;
        let (mut ends, mut k) = (ends.iter(), 0);
        let mut end = ends.next().copied().unwrap_or(0);
        loop {
            lu.rank = k;
            let (row, column, largest) = largest_entry(lu, k, end);
            if largest <= threshold || largest.is_nan() {
                match ends.next() {
                    Some(next) => end = *next,
                    None => return,
                }
                continue;
            }
            exchange(lu, k, row, column);
            let (above, below) = lu.entries.split_at_mut((k + 1) * lanes);
            let source = &above[k * lanes..];
            let inverse = 1.0 / source[k / 4][k % 4];
            for row in below.chunks_exact_mut(lanes) {
                let l = row[k / 4][k % 4] * inverse;
                // whole lanes: multipliers to the left of k in the same lane are saved
                let saved = row[k / 4];
                for (x, s) in row[k / 4..].iter_mut().zip(&source[k / 4..]) {
                    *x = (Lane(*x) - Lane(*s) * l).0;
                }
                row[k / 4][..k % 4].copy_from_slice(&saved[..k % 4]);
                row[k / 4][k % 4] = l;
            }
            k += 1;
        }
    }
);

/// Where the largest of the entries from (k, k) up to (end, end) is, and its size.
#[inline(always)]
fn largest_entry(lu: &FullPivotLu, k: usize, end: usize) -> (usize, usize, f64) {
    let mut found = (k, k, 0.0);
    for (i, row) in lu.entries.chunks_exact(lu.lanes.max(1)).enumerate().take(end).skip(k) {
        let row = row.as_flattened();
        let largest = row[k..end].iter().fold(0.0, |m: f64, x| if x.abs() > m { x.abs() } else { m });
        if largest > found.2 {
            let column = row[k..end].iter().position(|x| x.abs() == largest).unwrap_or(0);
            found = (i, k + column, largest);
        }
    }
    found
}

#[inline(always)]
fn exchange(lu: &mut FullPivotLu, k: usize, row: usize, column: usize) {
    let lanes = lu.lanes;
    if row != k {
        let (first, second) = lu.entries.split_at_mut(row * lanes);
        first[k * lanes..(k + 1) * lanes].swap_with_slice(&mut second[..lanes]);
        lu.rows.swap(k, row);
    }
    if column != k {
        for row in lu.entries.chunks_exact_mut(lanes) {
            row.as_flattened_mut().swap(k, column);
        }
        lu.columns.swap(k, column);
    }
}

dispatch!(
    /// See [`FullPivotLu::solve_transposed`]. P A Q = L U, so Aᵀ y = c is Uᵀ Lᵀ (P y) = Qᵀ c.
    pub(crate) fn solve_transposed(lu: &FullPivotLu, lanes: usize, c: &mut [[f64; 4]], scratch: &mut [[f64; 4]]) {
        let (r, entry) = (lu.rank, |i: usize, j: usize| lu.entries[i * lu.lanes + j / 4][j % 4]);
        for (k, column) in lu.columns.iter().enumerate().take(r) {
            scratch[k * lanes..(k + 1) * lanes].copy_from_slice(&c[column * lanes..(column + 1) * lanes]);
        }
        // Uᵀ s = c, from the top
        for k in 0..r {
            let (done, rest) = scratch.split_at_mut((k + 1) * lanes);
            let own = &mut done[k * lanes..];
            let inverse = 1.0 / entry(k, k);
            own.iter_mut().for_each(|x| *x = (Lane(*x) * inverse).0);
            for (i, row) in (k + 1..r).zip(rest.chunks_exact_mut(lanes)) {
                subtract(row, own, entry(k, i));
            }
        }
        // Lᵀ y = s, from the bottom
        for k in (0..r).rev() {
            let (rest, done) = scratch.split_at_mut(k * lanes);
            let own = &done[..lanes];
            for (i, row) in rest.chunks_exact_mut(lanes).enumerate() {
                subtract(row, own, entry(k, i));
            }
        }
        c.fill([0.0; 4]);
        for (k, row) in lu.rows.iter().enumerate().take(r) {
            c[row * lanes..(row + 1) * lanes].copy_from_slice(&scratch[k * lanes..(k + 1) * lanes]);
        }
    }
);

#[inline(always)]
fn subtract(row: &mut [[f64; 4]], other: &[[f64; 4]], factor: f64) {
    for (x, o) in row.iter_mut().zip(other) {
        *x = (Lane(*x) - Lane(*o) * factor).0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    /// A matrix of given rank as a product of two thin ones.
    fn matrix(n: usize, rank: usize, draw: &mut Rng) -> Vec<f64> {
        let a: Vec<f64> = (0..n * rank).map(|_| draw.between(-0.5, 0.5)).collect();
        let b: Vec<f64> = (0..n * rank).map(|_| draw.between(-0.5, 0.5)).collect();
        let entry = |i: usize, j: usize| (0..rank).map(|k| a[i * rank + k] * b[j * rank + k]).sum();
        (0..n * n).map(|k| entry(k / n, k % n)).collect()
    }

    #[test]
    fn solves_transposed_systems_of_any_rank() {
        let (mut lu, mut draw) = (FullPivotLu::default(), Rng(7));
        for (n, rank) in [(1, 1), (3, 3), (5, 2), (12, 12), (13, 7), (24, 14), (4, 0)] {
            let a = matrix(n, rank, &mut draw);
            // rows and columns in an order of their own, in two classes
            let order: Vec<usize> = (0..n).map(|i| (i + n / 2) % n).collect();
            lu.reset(&order);
            for (i, own) in order.iter().enumerate() {
                let row: Vec<f64> = order.iter().map(|j| a[own * n + j]).collect();
                lu.row_mut(i)[..n].copy_from_slice(&row);
            }
            lu.factor(&[n / 3, n], 1e-10);
            assert_eq!(lu.independent().len(), rank, "n = {n}");
            // right-hand sides that have a solution, five of them in two lanes
            let x: Vec<f64> = (0..n * 5).map(|_| draw.between(-0.5, 0.5)).collect();
            let times = |x: &dyn Fn(usize, usize) -> f64, j: usize, m: usize| {
                (0..n).map(|i| a[i * n + j] * x(i, m)).sum::<f64>()
            };
            let mut c = vec![[0.0; 4]; n * 2];
            for j in 0..n {
                for m in 0..5 {
                    c[j * 2 + m / 4][m % 4] = times(&|i, m| x[i * 5 + m], j, m);
                }
            }
            let (wanted, mut scratch) = (c.clone(), c.clone());
            lu.solve_transposed(2, &mut c, &mut scratch);
            for j in 0..n {
                for m in 0..5 {
                    let got = times(&|i, m| c[i * 2 + m / 4][m % 4], j, m);
                    assert!((got - wanted[j * 2 + m / 4][m % 4]).abs() < 1e-9, "n = {n}, rank {rank}");
                }
            }
            assert_eq!(lu.dependent(), n - rank);
            for s in 0..n - rank {
                let mut combination = vec![0.0; n];
                lu.dependence(s, &mut Vec::new(), &mut combination);
                let column = |j: usize| (0..n).map(|i| combination[i] * a[i * n + j]).sum::<f64>();
                assert!((0..n).all(|j| column(j).abs() < 1e-9), "n = {n}, rank {rank}");
                assert!(combination.contains(&1.0));
            }
        }
    }
}
