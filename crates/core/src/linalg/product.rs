//! Products of dense matrices whose rows are whole lanes; terms whose second factor is zero are skipped.

use crate::dispatch::dispatch;
use crate::spatial::Lane;

/// The first factor of a product: entry (r, k) is `entries[r * row + k * column]`, so that a transposed matrix is one, too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Factor<'a> {
    pub entries: &'a [f64],
    pub row: usize,
    pub column: usize,
}

/// A term of a sum: where its column of the first factor begins, and its row of the second.
pub(crate) type Term = [usize; 2];

dispatch!(
    /// `out[r] += scale · Σ_k factor(r, k) b[k]`: `rows` rows of `lanes` lanes, sums of `inner` terms.
    pub(crate) fn add_product(
        rows: usize,
        inner: usize,
        lanes: usize,
        scale: f64,
        factor: Factor,
        b: &[[f64; 4]],
        out: &mut [[f64; 4]],
        terms: &mut Vec<Term>,
    ) {
        let mut first = 0;
        while first < lanes {
            let width = panel_width(lanes - first);
            terms.clear();
            for (k, row) in b.chunks_exact(lanes).enumerate().take(inner) {
                if !is_zero(&row[first..first + width]) {
                    terms.push([k * factor.column, k * lanes + first]);
                }
            }
            if !terms.is_empty() {
                add_panel(rows, lanes, first, width, scale, factor, terms, b, out);
            }
            first += width;
        }
    }
);

dispatch!(
    /// Adds a product whose terms are known beforehand.
    pub(crate) fn add_terms(
        rows: usize,
        lanes: usize,
        factor: Factor,
        terms: &[Term],
        b: &[[f64; 4]],
        out: &mut [[f64; 4]],
    ) {
        let mut first = if terms.is_empty() { lanes } else { 0 };
        while first < lanes {
            let width = panel_width(lanes - first);
            add_panel(rows, lanes, first, width, 1.0, factor, terms, &b[first..], out);
            first += width;
        }
    }
);

/// Lanes that are summed at a time, three rows of them: as many as stay in registers with what they are multiplied by.
#[inline(always)]
fn panel_width(left: usize) -> usize {
    match left {
        4 => 2,
        _ => left.min(3),
    }
}

/// Whether all numbers are zero, of either sign.
#[inline(always)]
pub(crate) fn is_zero(row: &[[f64; 4]]) -> bool {
    let mut bits = [0; 4];
    for four in row {
        (0..4).for_each(|k| bits[k] |= four[k].to_bits());
    }
    (bits[0] | bits[1] | bits[2] | bits[3]) << 1 == 0
}

/// All rows of one panel of columns.
#[inline(always)]
fn add_panel(
    rows: usize,
    lanes: usize,
    first: usize,
    width: usize,
    scale: f64,
    factor: Factor,
    terms: &[Term],
    b: &[[f64; 4]],
    out: &mut [[f64; 4]],
) {
    match width {
        1 => add_rows::<1>(rows, lanes, first, scale, factor, terms, b, out),
        2 => add_rows::<2>(rows, lanes, first, scale, factor, terms, b, out),
        _ => add_rows::<3>(rows, lanes, first, scale, factor, terms, b, out),
    }
}

#[inline(always)]
fn add_rows<const N: usize>(
    rows: usize,
    lanes: usize,
    first: usize,
    scale: f64,
    factor: Factor,
    terms: &[Term],
    b: &[[f64; 4]],
    out: &mut [[f64; 4]],
) {
    let mut r = 0;
    while r < rows {
        let own = Factor { entries: &factor.entries[r * factor.row..], ..factor };
        let target = &mut out[r * lanes + first..];
        r += match rows - r {
            1 => add_tile::<1, N>(own, terms, b, scale, lanes, target),
            2 => add_tile::<2, N>(own, terms, b, scale, lanes, target),
            _ => add_tile::<3, N>(own, terms, b, scale, lanes, target),
        };
    }
}

/// R rows of N lanes, whose sums stay in registers. Returns R.
#[inline(always)]
fn add_tile<const R: usize, const N: usize>(
    factor: Factor,
    terms: &[Term],
    b: &[[f64; 4]],
    scale: f64,
    lanes: usize,
    out: &mut [[f64; 4]],
) -> usize {
    let mut sum = [[Lane::ZERO; N]; R];
    let factors: [&[f64]; R] = core::array::from_fn(|i| &factor.entries[i * factor.row..]);
    for &[column, start] in terms {
        let row = &b[start..][..N];
        for (sum, factor) in sum.iter_mut().zip(&factors) {
            let f = factor[column];
            (0..N).for_each(|n| sum[n] += Lane(row[n]) * f);
        }
    }
    for (i, sum) in sum.iter().enumerate() {
        for (x, s) in out[i * lanes..i * lanes + N].iter_mut().zip(sum) {
            *x = (Lane(*x) + *s * scale).0;
        }
    }
    R
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_all_shapes_are_those_of_three_loops() {
        let number =
            |i: usize, j: usize| if (i + 2 * j).is_multiple_of(3) { 0.0 } else { (i * 7 + j * 5) as f64 % 11.0 };
        let mut terms = Vec::new();
        for (rows, inner, lanes) in [(1, 1, 1), (2, 5, 2), (3, 4, 3), (4, 7, 4), (7, 6, 5), (13, 9, 8), (5, 0, 2)] {
            let entries: Vec<f64> = (0..rows * inner).map(|k| number(k / rows, k % rows)).collect();
            let b: Vec<[f64; 4]> = (0..inner * lanes)
                .map(|k| core::array::from_fn(|l| number(k / lanes, k % lanes / 2 * 4 + l)))
                .collect();
            let mut out = vec![[1.0; 4]; rows * lanes];
            let factor = Factor { entries: &entries, row: 1, column: rows };
            add_product(rows, inner, lanes, -2.0, factor, &b, &mut out, &mut terms);
            let all: Vec<Term> = (0..inner).map(|k| [k * rows, k * lanes]).collect();
            let mut again = vec![[0.0; 4]; rows * lanes];
            add_terms(rows, lanes, factor, &all, &b, &mut again);
            for (r, c) in (0..rows * lanes * 4).map(|k| (k / (lanes * 4), k % (lanes * 4))) {
                let sum: f64 = (0..inner).map(|k| entries[k * rows + r] * b[k * lanes + c / 4][c % 4]).sum();
                assert_eq!(out[r * lanes + c / 4][c % 4], 1.0 - 2.0 * sum, "{rows} {inner} {lanes}: {r} {c}");
                assert_eq!(again[r * lanes + c / 4][c % 4], sum, "{rows} {inner} {lanes}: {r} {c}");
            }
        }
    }
}
