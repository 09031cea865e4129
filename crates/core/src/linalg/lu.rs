//! Dense LU with partial pivoting for systems of tens of rows, in place.

use crate::dispatch::dispatch;

/// Factors of a square matrix and the memory they live in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lu {
    /// Rows of `stride` numbers; below the diagonal L (ones on its diagonal), above it U.
    a: Vec<f64>,
    inverse_pivot: Vec<f64>,
    /// Which row was exchanged with row k at step k.
    exchanged: Vec<usize>,
    n: usize,
    stride: usize,
}

impl Lu {
    /// An n × n matrix of zeros to be filled row by row. Memory grows only if n is larger than ever before.
    pub fn reset(&mut self, n: usize) {
        self.n = n;
        self.stride = n.next_multiple_of(4);
        self.a.clear();
        self.a.resize(n * self.stride, 0.0);
        self.inverse_pivot.resize(n, 0.0);
        self.exchanged.resize(n, 0);
    }

    /// Row i, to be filled.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.a[i * self.stride..i * self.stride + self.n]
    }

    /// Numbers for which there is room.
    pub fn capacity(&self) -> usize {
        self.a.capacity()
    }

    /// Factors in place. A pivot of zero is replaced by infinity: its unknown becomes zero.
    pub fn factor(&mut self) {
        factor(self);
    }

    /// Solves for one vector, in place.
    pub fn solve(&self, x: &mut [f64]) {
        for k in 0..self.n {
            x.swap(k, self.exchanged[k]);
        }
        for i in 1..self.n {
            let row = &self.a[i * self.stride..i * self.stride + i];
            x[i] -= dot(row, &x[..i]);
        }
        for i in (0..self.n).rev() {
            let row = &self.a[i * self.stride + i + 1..i * self.stride + self.n];
            x[i] = (x[i] - dot(row, &x[i + 1..self.n])) * self.inverse_pivot[i];
        }
    }
}

/// Four sums side by side: a single one would wait for its own last addition.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, rest) = a.as_chunks::<4>();
    let (others, other_rest) = b[..a.len()].as_chunks::<4>();
    for (x, y) in fours.iter().zip(others) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let tail = rest.iter().zip(other_rest).fold(0.0, |s, (x, y)| s + x * y);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}

dispatch! {
    /// See [`Lu::factor`].
    pub(crate) fn factor(lu: &mut Lu) => factor_body
}

#[inline(always)]
fn factor_body(lu: &mut Lu) {
    let (n, stride) = (lu.n, lu.stride);
    for k in 0..n {
        let best = pivot(&lu.a, n, stride, k);
        lu.exchanged[k] = best;
        if best != k {
            let (upper, lower) = lu.a.split_at_mut(best * stride);
            upper[k * stride..k * stride + stride].swap_with_slice(&mut lower[..stride]);
        }
        let pivot = lu.a[k * stride + k];
        lu.inverse_pivot[k] = if pivot == 0.0 { 0.0 } else { 1.0 / pivot };
        eliminate(&mut lu.a, n, stride, k, lu.inverse_pivot[k]);
    }
}

/// The row at or below k with the largest entry in column k.
#[inline(always)]
fn pivot(a: &[f64], n: usize, stride: usize, k: usize) -> usize {
    let (mut best, mut largest) = (k, a[k * stride + k].abs());
    for i in k + 1..n {
        let x = a[i * stride + k].abs();
        if x > largest {
            (best, largest) = (i, x);
        }
    }
    best
}

/// Subtracts row k from the rows below it. Whole lanes of four: numbers left of column k are multiplied by zero.
#[inline(always)]
fn eliminate(a: &mut [f64], n: usize, stride: usize, k: usize, inverse: f64) {
    let (upper, lower) = a.split_at_mut((k + 1) * stride);
    let (first, source) = ((k + 1) & !3, &mut upper[k * stride..]);
    let mut lane = [0.0; 4];
    // the lane that holds the diagonal is copied without what belongs to L
    if first < stride {
        for c in 0..4 {
            lane[c] = if first + c > k { source[first + c] } else { 0.0 };
        }
    }
    let rest = if first + 4 <= stride { &source[first + 4..stride] } else { &[] };
    for row in lower.chunks_exact_mut(stride).take(n - k - 1) {
        let l = row[k] * inverse;
        if l == 0.0 {
            continue;
        }
        row[k] = l;
        if first >= stride {
            continue;
        }
        let (head, tail) = row[first..].split_at_mut(4);
        for c in 0..4 {
            head[c] -= l * lane[c];
        }
        for (x, s) in tail.iter_mut().zip(rest) {
            *x -= l * s;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_random_systems_that_need_pivots() {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut lu = Lu::default();
        for n in 1..40 {
            let a: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 && k % 3 == 0 { 0.0 } else { random() }).collect();
            let x: Vec<f64> = (0..n).map(|_| random()).collect();
            let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum()).collect();
            lu.reset(n);
            for i in 0..n {
                lu.row_mut(i).copy_from_slice(&a[i * n..(i + 1) * n]);
            }
            lu.factor();
            lu.solve(&mut b);
            if n > 1 {
                for (b, x) in b.iter().zip(&x) {
                    assert!((b - x).abs() < 1e-9, "{n}");
                }
            }
        }
    }
}
