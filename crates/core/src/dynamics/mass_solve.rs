//! Solves with the factor M = Lᵀ D L: one vector, many columns, the inverse.   (mass-4 … mass-6)
//!
//! A solve is two sweeps: Lᵀ y = b from the leaves to the root, then D L x = y back. With many columns, some lanes of
//! them are carried through the whole tree at a time, so that the sum of a row stays in registers.
#![allow(non_snake_case)]

use super::tree_matrix::TreeMatrix;
use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::model::{Model, Topology};
use crate::spatial::Lane;
use core::ops::Range;

/// Columns that a solve carries through the tree at a time, in lanes of four.
const PANEL: usize = 8;

/// Some columns of a solve: one row per dof, kept together so that a row is one index away.
#[derive(Debug, Clone)]
pub struct Panel(Vec<[Lane; PANEL]>);

footprint!(Panel: 0);

impl Panel {
    /// Memory for a model.
    pub fn new(model: &Model) -> Panel {
        Panel(vec![[Lane::ZERO; PANEL]; model.nv()])
    }
}

/// Columns of a half solve, side by side.
pub(crate) type Columns = [Lane; 2];

/// `Z = L⁻ᵀ b` for N lanes of columns whose rows are zero outside `path`: rising dofs, with every dof all that carry it.
/// `at` tells where in the path a dof is. Then `bᵀ M⁻¹ c = Zᵀ D⁻¹ Z_c`.   (mass-7)
#[inline(always)]
pub(crate) fn half_solve<const N: usize>(
    tree: &Topology,
    mass: &TreeMatrix,
    path: &[usize],
    at: &[usize],
    Z: &mut [Columns],
) {
    let chain = is_chain(tree, path);
    for (n, &k) in path.iter().enumerate().rev() {
        let (row, own) = (&mass.rows[tree.row[k]..], Z[n]);
        if chain {
            // what carries k comes before it in the path, in the order of the row
            for (z, l) in Z[..n].iter_mut().zip(row) {
                (0..N).for_each(|i| z[i] -= own[i] * *l);
            }
        } else {
            for (l, &i) in row.iter().zip(&tree.ancestors(k)[..tree.depth(k)]) {
                let z = &mut Z[at[i]];
                (0..N).for_each(|i| z[i] -= own[i] * *l);
            }
        }
    }
}

/// Whether a path is that of its last dof alone, without branches.
#[inline(always)]
pub(crate) fn is_chain(tree: &Topology, path: &[usize]) -> bool {
    path.last().is_some_and(|last| tree.depth(*last) + 1 == path.len())
}

dispatch!(
    /// `x = M⁻¹ x` for one vector (nv), over the dofs of one or more whole trees.   (mass-4)
    pub(crate) fn solve_vector(tree: &Topology, dofs: Range<usize>, mass: &TreeMatrix, x: &mut [f64]) {
        solve_up(tree, dofs.clone(), mass, x);
        solve_down(tree, dofs, mass, x);
    }
);

/// `x = L⁻ᵀ x`: leaf to root.
#[inline(always)]
pub(crate) fn solve_up(tree: &Topology, dofs: Range<usize>, mass: &TreeMatrix, x: &mut [f64]) {
    for k in dofs.rev() {
        let (above, x_k) = (&tree.ancestors(k)[..tree.depth(k)], x[k]);
        for (l, &i) in mass.rows[tree.row[k]..].iter().zip(above) {
            x[i] -= l * x_k;
        }
    }
}

/// `x = L⁻¹ D⁻¹ x`: root to leaf.
#[inline(always)]
pub(crate) fn solve_down(tree: &Topology, dofs: Range<usize>, mass: &TreeMatrix, x: &mut [f64]) {
    for j in dofs {
        let above = &tree.ancestors(j)[..tree.depth(j)];
        x[j] = x[j] * mass.inverse_pivot[j] - sum_above(&mass.rows[tree.row[j]..], above, x);
    }
}

/// Entry (j, j) of M⁻¹; `z` is scratch. Along the path of j rows of L are beginnings of one another.   (mass-7)
#[inline(always)]
pub(crate) fn inverse_entry(tree: &Topology, mass: &TreeMatrix, j: usize, z: &mut Vec<[f64; 4]>) -> f64 {
    let (path, rows) = (tree.ancestors(j), mass.rows.as_chunks::<4>().0);
    let lanes = path.len().div_ceil(4);
    if z.len() < lanes {
        z.resize(lanes, [0.0; 4]);
    }
    let z = &mut z[..lanes];
    z.fill([0.0; 4]);
    let (mut sum, mut own) = (mass.inverse_pivot[j], 1.0);
    for (n, pair) in path.windows(2).enumerate().rev() {
        // whole lanes: what a row has beyond its dofs is written to entries that are done with
        let row = &rows[tree.row[pair[1]] / 4..];
        for (z, l) in z[..n / 4 + 1].iter_mut().zip(row) {
            *z = (Lane(*z) - Lane(*l) * own).0;
        }
        own = z[n / 4][n % 4];
        sum += own * own * mass.inverse_pivot[pair[0]];
    }
    sum
}

/// `Σ l x` over the dofs above: four sums side by side, a single one would wait for itself.
#[inline(always)]
fn sum_above(l: &[f64], above: &[usize], x: &[f64]) -> f64 {
    let (fours, rest) = above.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (l, i) in l.as_chunks::<4>().0.iter().zip(fours) {
        (0..4).for_each(|k| sums[k] += l[k] * x[i[k]]);
    }
    let rest = l[above.len() - rest.len()..].iter().zip(rest).fold(0.0, |s, (l, i)| s + l * x[*i]);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

dispatch!(
    /// `x = scale · M⁻¹ b` for the columns of a matrix with nv rows of `stride` numbers, a multiple of four.   (mass-5)
    pub(crate) fn solve_columns(
        model: &Model,
        mass: &TreeMatrix,
        scale: f64,
        stride: usize,
        b: &[f64],
        x: &mut [f64],
        panel: &mut Panel,
    ) {
        let (tree, lanes) = (model.tree(), stride / 4);
        let (b, x) = (b.as_chunks::<4>().0, x.as_chunks_mut::<4>().0);
        let (mut first, y) = (0, &mut panel.0[..tree.nv]);
        while first < lanes {
            match lanes - first {
                1 => first += solve_panel::<1>(tree, mass, scale, lanes, first, b, x, y),
                2 | 3 => first += solve_panel::<2>(tree, mass, scale, lanes, first, b, x, y),
                4..8 => first += solve_panel::<4>(tree, mass, scale, lanes, first, b, x, y),
                _ => first += solve_panel::<8>(tree, mass, scale, lanes, first, b, x, y),
            }
        }
    }
);

/// Solves for N lanes of columns, so that a row of the result stays in registers while its sum is formed.   (mass-5)
/// Returns N.
#[inline(always)]
fn solve_panel<const N: usize>(
    tree: &Topology,
    mass: &TreeMatrix,
    scale: f64,
    lanes: usize,
    first: usize,
    b: &[[f64; 4]],
    x: &mut [[f64; 4]],
    y: &mut [[Lane; PANEL]],
) -> usize {
    // Lᵀ y = b: the dofs that dof i carries are contiguous
    for i in (0..tree.nv).rev() {
        let mut sum = [Lane::ZERO; N];
        for (s, four) in sum.iter_mut().zip(&b[i * lanes + first..i * lanes + first + N]) {
            *s = Lane(*four);
        }
        sum = subtract_below(tree, mass, i, i + 1..tree.subtree_end[i], y, sum);
        store(&mut y[i], &sum);
    }
    // D L x = y
    for j in 0..tree.nv {
        let sum = subtract_above::<N>(tree, mass, scale, j, y);
        for (four, s) in x[j * lanes + first..j * lanes + first + N].iter_mut().zip(&sum) {
            *four = s.0;
        }
    }
    N
}

#[inline(always)]
fn store<const N: usize>(row: &mut [Lane; PANEL], sum: &[Lane; N]) {
    for (x, s) in row.iter_mut().zip(sum) {
        *x = *s;
    }
}

#[inline(always)]
fn subtract<const N: usize>(mut sum: [Lane; N], row: &[Lane; PANEL], l: f64) -> [Lane; N] {
    for n in 0..N {
        sum[n] -= row[n] * l;
    }
    sum
}

/// `sum − Σ L_ki y_k` over some of the dofs k that dof i carries.
#[inline(always)]
fn subtract_below<const N: usize>(
    tree: &Topology,
    mass: &TreeMatrix,
    i: usize,
    below: Range<usize>,
    y: &[[Lane; PANEL]],
    mut sum: [Lane; N],
) -> [Lane; N] {
    let depth = tree.depth(i);
    for (row, start) in y[below.clone()].iter().zip(&tree.row[below]) {
        sum = subtract(sum, row, mass.rows[start + depth]);
    }
    sum
}

/// Row j of L⁻¹ D⁻¹ y, also kept in `y`.
#[inline(always)]
fn subtract_above<const N: usize>(
    tree: &Topology,
    mass: &TreeMatrix,
    scale: f64,
    j: usize,
    y: &mut [[Lane; PANEL]],
) -> [Lane; N] {
    let pivot = scale * mass.inverse_pivot[j];
    // two sums where registers allow: a single one would wait for its own last subtraction
    let mut sums = [[Lane::ZERO; N]; 2];
    for n in 0..N {
        sums[0][n] = y[j][n] * pivot;
    }
    let (row, above) = (&mass.rows[tree.row[j]..], &tree.ancestors(j)[..tree.depth(j)]);
    let split = if N <= 4 { above.len() / 2 } else { 0 };
    for k in 0..split {
        sums[0] = subtract(sums[0], &y[above[2 * k]], row[2 * k]);
        sums[1] = subtract(sums[1], &y[above[2 * k + 1]], row[2 * k + 1]);
    }
    for k in 2 * split..above.len() {
        sums[0] = subtract(sums[0], &y[above[k]], row[k]);
    }
    if N <= 4 {
        for n in 0..N {
            sums[0][n] += sums[1][n];
        }
    }
    store(&mut y[j], &sums[0]);
    sums[0]
}

dispatch!(
    /// M⁻¹ as a full matrix with nv rows of `stride` numbers, a multiple of four.   (mass-6)
    ///
    /// Columns from the left in panels; M⁻¹ is symmetric, so a panel is needed only down to its last column.
    /// Entries between trees are zero: they are not written.
    pub(crate) fn inverse(model: &Model, mass: &TreeMatrix, stride: usize, out: &mut [f64], panel: &mut Panel) {
        let (tree, y) = (model.tree(), &mut panel.0[..model.nv()]);
        let mut first = 0;
        while first < tree.nv {
            match tree.nv - first {
                1..=4 => first += inverse_panel::<1>(tree, mass, stride, first, out, y),
                5..=8 => first += inverse_panel::<2>(tree, mass, stride, first, out, y),
                _ => first += inverse_panel::<4>(tree, mass, stride, first, out, y),
            }
        }
        for i in 0..tree.nv {
            for j in tree.ancestors(i)[0]..i {
                out[i * stride + j] = out[j * stride + i];
            }
        }
    }
);

/// 4 N columns of M⁻¹ from the top to the last of them. Returns 4 N.
#[inline(always)]
fn inverse_panel<const N: usize>(
    tree: &Topology,
    mass: &TreeMatrix,
    stride: usize,
    first: usize,
    out: &mut [f64],
    y: &mut [[Lane; PANEL]],
) -> usize {
    let end = tree.nv.min(first + 4 * N);
    // rows of the trees before it are zero
    let top = tree.ancestors(first)[0];
    // L⁻ᵀ of the identity: a row is zero unless its dof carries one of the columns
    for row in &mut y[top..first] {
        store(row, &[Lane::ZERO; N]);
    }
    for i in (first..end).rev() {
        let mut sum = [Lane::ZERO; N];
        sum[(i - first) / 4].0[(i - first) % 4] = 1.0;
        sum = subtract_below(tree, mass, i, i + 1..tree.subtree_end[i].min(end), y, sum);
        store(&mut y[i], &sum);
    }
    // dofs before the panel that carry some of it carry its first dof
    let carriers = &tree.ancestors(first)[..tree.depth(first)];
    for (n, &i) in carriers.iter().enumerate().rev() {
        let mut sum = subtract_below(tree, mass, i, first..tree.subtree_end[i].min(end), y, [Lane::ZERO; N]);
        for &k in &carriers[n + 1..] {
            sum = subtract(sum, &y[k], mass.rows[tree.row[k] + n]);
        }
        store(&mut y[i], &sum);
    }
    for j in top..end {
        let sum = subtract_above::<N>(tree, mass, 1.0, j, y);
        let row = out[j * stride..(j + 1) * stride].as_chunks_mut::<4>().0;
        for (four, s) in row[first / 4..].iter_mut().zip(&sum) {
            *four = s.0;
        }
    }
    4 * N
}
