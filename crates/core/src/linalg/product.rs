//! Products of dense matrices whose rows are whole lanes.

use crate::spatial::Lane;

/// Lanes of a row that are summed at a time: as many as stay in registers.
const BLOCK: usize = 8;

/// `out[r] += Σ_k factor(r, k) b[k]` for rows of `lanes` lanes: `rows` of them, each a sum of `inner` terms.
#[inline(always)]
pub(crate) fn add_product(
    rows: usize,
    inner: usize,
    lanes: usize,
    factor: impl Fn(usize, usize) -> f64,
    b: &[[f64; 4]],
    out: &mut [[f64; 4]],
) {
    for (r, row) in out.chunks_exact_mut(lanes.max(1)).enumerate().take(rows) {
        let mut first = 0;
        while first < lanes {
            first += match lanes - first {
                1 => add_block::<1>(inner, lanes, first, |k| factor(r, k), b, row),
                2 | 3 => add_block::<2>(inner, lanes, first, |k| factor(r, k), b, row),
                4..BLOCK => add_block::<4>(inner, lanes, first, |k| factor(r, k), b, row),
                _ => add_block::<BLOCK>(inner, lanes, first, |k| factor(r, k), b, row),
            };
        }
    }
}

#[inline(always)]
fn add_block<const N: usize>(
    inner: usize,
    lanes: usize,
    first: usize,
    factor: impl Fn(usize) -> f64,
    b: &[[f64; 4]],
    row: &mut [[f64; 4]],
) -> usize {
    let mut sum = [Lane::ZERO; N];
    for (k, other) in b.chunks_exact(lanes).enumerate().take(inner) {
        let (f, other) = (factor(k), &other[first..first + N]);
        for n in 0..N {
            sum[n] += Lane(other[n]) * f;
        }
    }
    for (x, s) in row[first..first + N].iter_mut().zip(&sum) {
        *x = (Lane(*x) + *s).0;
    }
    N
}
