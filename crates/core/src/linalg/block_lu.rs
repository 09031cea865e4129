//! LU of a matrix of blocks most of which are zero: bodies that touch few others.
//!
//! Nodes are eliminated in an order with little fill. Pivots are sought inside the diagonal block of a node only, which does
//! where the symmetric part of the matrix is positive definite; where it is not, callers check what they get.

use super::elimination::Elimination;
use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::spatial::Lane;

/// A block next to the diagonal: that of a node and one that is eliminated after it, and its mirror image.
#[derive(Debug, Clone, Copy)]
struct NodePair {
    later: u32,
    /// Where the block right of the diagonal begins (rows of the earlier node) and the one below it (rows of the later).
    upper: usize,
    lower: usize,
}

/// Factors of a matrix of blocks, and the memory they live in. Rows of a block are whole lanes of four.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockLu {
    graph: Elimination,
    /// First row of each node, and the number of rows.
    starts: Vec<usize>,
    /// When a node is eliminated.
    rank: Vec<usize>,
    /// Diagonal blocks, in the order of elimination; inverted while factoring.
    diagonals: Vec<usize>,
    pairs: Vec<NodePair>,
    values: Vec<f64>,
    /// Where the pair of a later node is among those of the node at hand.
    at: Vec<usize>,
    scratch: Vec<f64>,
}

footprint!(BlockLu: graph, starts, rank, diagonals, pairs, values, at, scratch);

/// Numbers from one row of a block to the next.
#[inline(always)]
fn stride(width: usize) -> usize {
    width.next_multiple_of(4)
}

impl BlockLu {
    /// A matrix of blocks with the given numbers of rows, none coupled yet; then the graph is to be filled.
    pub fn reset(&mut self, widths: impl Iterator<Item = usize>) {
        self.starts.clear();
        self.starts.push(0);
        let mut end = 0;
        for width in widths {
            end += width;
            self.starts.push(end);
        }
        self.graph.reset(self.starts.len() - 1);
    }

    /// Orders the nodes and makes room for their blocks: the unit matrix.
    pub fn open(&mut self) {
        self.graph.run();
        let nodes = self.graph.order.len();
        self.rank.resize(nodes, 0);
        for (k, node) in self.graph.order.iter().enumerate() {
            self.rank[*node as usize] = k;
        }
        let (mut end, width) = (0, |n: u32| self.starts[n as usize + 1] - self.starts[n as usize]);
        let mut take = |rows: usize, columns: usize| {
            end += rows * stride(columns);
            end - rows * stride(columns)
        };
        self.pairs.clear();
        self.diagonals.clear();
        for (k, &node) in self.graph.order.iter().enumerate() {
            self.diagonals.push(take(width(node), width(node)));
            for &later in &self.graph.later[self.graph.starts[k]..self.graph.starts[k + 1]] {
                let (upper, lower) = (take(width(node), width(later)), take(width(later), width(node)));
                self.pairs.push(NodePair { later, upper, lower });
            }
        }
        self.values.clear();
        self.values.resize(end, 0.0);
        for (k, &node) in self.graph.order.iter().enumerate() {
            (0..width(node)).for_each(|i| self.values[self.diagonals[k] + i * stride(width(node)) + i] = 1.0);
        }
        self.at.resize(nodes, 0);
        let widest = self.graph.order.iter().map(|n| width(*n)).max().unwrap_or(0);
        self.scratch.resize(2 * widest * stride(widest), 0.0);
    }

    fn width(&self, node: usize) -> usize {
        self.starts[node + 1] - self.starts[node]
    }

    /// Node of a row.
    fn node(&self, row: u32) -> usize {
        self.starts.partition_point(|s| *s <= row as usize) - 1
    }

    /// Couples the nodes of some rows, which rise.
    pub fn couple(&mut self, rows: &[u32]) {
        let mut rest = rows;
        while let Some((node, later)) = self.split(rest) {
            let mut others = later;
            while let Some((other, more)) = self.split(others) {
                self.graph.couple(node, other);
                others = more;
            }
            rest = later;
        }
    }

    /// The node of the first of some rows, which rise, and the rows of other nodes.
    fn split<'a>(&self, rows: &'a [u32]) -> Option<(usize, &'a [u32])> {
        let node = self.node(*rows.first()?);
        let count = rows.partition_point(|row| (*row as usize) < self.starts[node + 1]);
        Some((node, &rows[count..]))
    }

    /// Adds to some entries of a row; columns rise.
    pub fn add_row(&mut self, row: u32, columns: &[u32], values: &[f64]) {
        let node = self.node(row);
        let at = row as usize - self.starts[node];
        let (mut columns, mut values) = (columns, values);
        while let Some((other, later)) = self.split(columns) {
            let (count, start) = (columns.len() - later.len(), self.starts[other]);
            let (block, stride) = self.block_mut(node, other);
            for (c, x) in columns[..count].iter().zip(values) {
                block[at * stride + *c as usize - start] += x;
            }
            (columns, values) = (later, &values[count..]);
        }
    }

    /// The block of two coupled nodes: its numbers, and how many there are from row to row.
    fn block_mut(&mut self, row: usize, column: usize) -> (&mut [f64], usize) {
        let (i, j) = (self.rank[row], self.rank[column]);
        let start = if i == j {
            self.diagonals[i]
        } else {
            let first = i.min(j);
            let later = if i < j { column } else { row };
            let range = self.graph.starts[first]..self.graph.starts[first + 1];
            let found = self.graph.later[range.clone()].binary_search(&(later as u32)).unwrap_or(0);
            let pair = &self.pairs[range.start + found];
            if i < j { pair.upper } else { pair.lower }
        };
        let (rows, stride) = (self.width(row), stride(self.width(column)));
        (&mut self.values[start..start + rows * stride], stride)
    }

    /// Factors in place.
    pub fn factor(&mut self) {
        factor(self);
    }

    /// Solves for one vector, in place.
    pub fn solve(&mut self, x: &mut [f64]) {
        solve(self, x);
    }
}

dispatch!(
    /// See [`BlockLu::factor`].
    pub(crate) fn factor(lu: &mut BlockLu) {
        for k in 0..lu.graph.order.len() {
            let width = lu.width(lu.graph.order[k] as usize);
            let size = width * stride(width);
            let diagonal = &mut lu.values[lu.diagonals[k]..][..size];
            invert(diagonal, width, &mut lu.scratch[..size]);
            let own = lu.graph.starts[k]..lu.graph.starts[k + 1];
            // blocks below the diagonal become those of L
            for p in own.clone() {
                let rows = lu.width(lu.pairs[p].later as usize);
                let lower = lu.pairs[p].lower;
                let block = &mut lu.scratch[..rows * stride(width)];
                block.copy_from_slice(&lu.values[lower..lower + block.len()]);
                let (target, diagonal) =
                    two(&mut lu.values, lower..lower + block.len(), lu.diagonals[k]..lu.diagonals[k] + size);
                target.fill(0.0);
                add_product(target, block, diagonal, width, 1.0);
            }
            for p in own.clone() {
                eliminate(lu, own.clone(), p, width);
            }
        }
    }
);

/// Takes from the blocks of one neighbor of the k-th node, with all that come after it, what elimination leaves of them.
#[inline(always)]
fn eliminate(lu: &mut BlockLu, own: core::ops::Range<usize>, p: usize, width: usize) {
    let a = lu.pairs[p];
    let (rank, rows) = (lu.rank[a.later as usize], lu.width(a.later as usize));
    for q in lu.graph.starts[rank]..lu.graph.starts[rank + 1] {
        lu.at[lu.pairs[q].later as usize] = q;
    }
    let size = |rows: usize, columns: usize| rows * stride(columns);
    for other in own {
        let b = lu.pairs[other];
        let columns = lu.width(b.later as usize);
        let b_rank = lu.rank[b.later as usize];
        if b_rank < rank {
            continue;
        }
        let (upper, lower) = match b_rank == rank {
            true => (lu.diagonals[rank], None),
            false => (lu.pairs[lu.at[b.later as usize]].upper, Some(lu.pairs[lu.at[b.later as usize]].lower)),
        };
        subtract(
            &mut lu.values,
            (upper, size(rows, columns)),
            (a.lower, size(rows, width)),
            (b.upper, size(width, columns)),
            width,
        );
        if let Some(lower) = lower {
            subtract(
                &mut lu.values,
                (lower, size(columns, rows)),
                (b.lower, size(columns, width)),
                (a.upper, size(width, rows)),
                width,
            );
        }
    }
}

/// `C −= A B` of three blocks, each by its beginning and size. Blocks of a node come before those of later ones.
#[inline(always)]
fn subtract(values: &mut [f64], c: (usize, usize), a: (usize, usize), b: (usize, usize), inner: usize) {
    let (before, after) = values.split_at_mut(c.0);
    add_product(&mut after[..c.1], &before[a.0..a.0 + a.1], &before[b.0..b.0 + b.1], inner, -1.0);
}

/// One part of a slice to write and another, which comes before it, to read.
#[inline(always)]
fn two(values: &mut [f64], write: core::ops::Range<usize>, read: core::ops::Range<usize>) -> (&mut [f64], &[f64]) {
    let (before, after) = values.split_at_mut(write.start);
    (&mut after[..write.len()], &before[read])
}

/// `C += s A B`: A has `inner` columns, B as many rows.
#[inline(always)]
fn add_product(c: &mut [f64], a: &[f64], b: &[f64], inner: usize, s: f64) {
    match b.len() / inner {
        4 => add_lanes::<1>(c, a, b, inner, s),
        8 => add_lanes::<2>(c, a, b, inner, s),
        stride => {
            for (c, a) in c.chunks_exact_mut(stride).zip(a.chunks_exact(self::stride(inner))) {
                for (a, b) in a.iter().zip(b.chunks_exact(stride)) {
                    for (c, b) in c.as_chunks_mut::<4>().0.iter_mut().zip(b.as_chunks::<4>().0) {
                        *c = (Lane(*c) + Lane(*b) * (s * a)).0;
                    }
                }
            }
        }
    }
}

/// [`add_product`] where a row of B is L lanes: a row of C stays in registers.
#[inline(always)]
fn add_lanes<const L: usize>(c: &mut [f64], a: &[f64], b: &[f64], inner: usize, s: f64) {
    let (b, _) = b.as_chunks::<4>();
    for (c, a) in c.as_chunks_mut::<4>().0.chunks_exact_mut(L).zip(a.chunks_exact(stride(inner))) {
        let mut sum: [Lane; L] = core::array::from_fn(|l| Lane(c[l]));
        for (a, b) in a.iter().zip(b.chunks_exact(L)) {
            for l in 0..L {
                sum[l] += Lane(b[l]) * (s * a);
            }
        }
        (0..L).for_each(|l| c[l] = sum[l].0);
    }
}

/// Inverts a block in place by Gauss and Jordan, with pivots from its rows. What has a pivot of zero becomes zero.
#[inline(always)]
fn invert(block: &mut [f64], width: usize, inverse: &mut [f64]) {
    let stride = stride(width);
    inverse.fill(0.0);
    (0..width).for_each(|i| inverse[i * stride + i] = 1.0);
    for k in 0..width {
        let size = |i: usize| block[i * stride + k].abs();
        let best = (k..width).fold(k, |best, i| if size(i) > size(best) { i } else { best });
        if best != k {
            for m in [&mut *block, &mut *inverse] {
                let (first, second) = m.split_at_mut(best * stride);
                first[k * stride..(k + 1) * stride].swap_with_slice(&mut second[..stride]);
            }
        }
        let pivot = block[k * stride + k];
        let scale = if pivot == 0.0 { 0.0 } else { 1.0 / pivot };
        for m in [&mut *block, &mut *inverse] {
            m[k * stride..(k + 1) * stride].iter_mut().for_each(|x| *x *= scale);
        }
        for i in (0..width).filter(|i| *i != k) {
            let factor = block[i * stride + k];
            if factor != 0.0 {
                for m in [&mut *block, &mut *inverse] {
                    let (target, source) = rows(m, i, k, stride);
                    for (x, y) in target.as_chunks_mut::<4>().0.iter_mut().zip(source.as_chunks::<4>().0) {
                        *x = (Lane(*x) - Lane(*y) * factor).0;
                    }
                }
            }
        }
    }
    block.copy_from_slice(inverse);
}

/// Row i to write and row k to read.
#[inline(always)]
fn rows(m: &mut [f64], i: usize, k: usize, stride: usize) -> (&mut [f64], &[f64]) {
    let (first, second) = m.split_at_mut(i.max(k) * stride);
    let (low, high) = (&mut first[i.min(k) * stride..][..stride], &mut second[..stride]);
    if i < k { (low, high) } else { (high, low) }
}

dispatch!(
    /// See [`BlockLu::solve`].
    pub(crate) fn solve(lu: &mut BlockLu, x: &mut [f64]) {
        for (k, &node) in lu.graph.order.iter().enumerate() {
            let (start, width) = (lu.starts[node as usize], lu.width(node as usize));
            for pair in &lu.pairs[lu.graph.starts[k]..lu.graph.starts[k + 1]] {
                let later = pair.later as usize;
                for i in 0..lu.width(later) {
                    let row = &lu.values[pair.lower + i * stride(width)..][..width];
                    x[lu.starts[later] + i] -= dot(row, &x[start..]);
                }
            }
        }
        for (k, &node) in lu.graph.order.iter().enumerate().rev() {
            let (start, width) = (lu.starts[node as usize], lu.width(node as usize));
            for pair in &lu.pairs[lu.graph.starts[k]..lu.graph.starts[k + 1]] {
                let later = pair.later as usize;
                for i in 0..width {
                    let row = &lu.values[pair.upper + i * stride(lu.width(later))..][..lu.width(later)];
                    x[start + i] -= dot(row, &x[lu.starts[later]..]);
                }
            }
            for i in 0..width {
                lu.scratch[i] = dot(&lu.values[lu.diagonals[k] + i * stride(width)..][..width], &x[start..]);
            }
            x[start..start + width].copy_from_slice(&lu.scratch[..width]);
        }
    }
);

#[inline(always)]
fn dot(row: &[f64], x: &[f64]) -> f64 {
    row.iter().zip(x).fold(0.0, |s, (a, b)| s + a * b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Lu;
    use crate::random::Rng;

    /// Random blocks of several widths, coupled by chance; compared with the dense factors.
    #[test]
    fn solves_what_dense_factors_solve() {
        let mut draw = Rng(7);
        let mut random = || draw.between(-0.5, 0.5);
        let (mut sparse, mut dense) = (BlockLu::default(), Lu::default());
        for nodes in [1, 2, 7, 30, 90] {
            let widths: Vec<usize> = (0..nodes).map(|k| [6, 1, 3, 9][k % 4]).collect();
            let n = widths.iter().sum();
            sparse.reset(widths.iter().copied());
            let near = |a: usize, b: usize| a.abs_diff(b) <= 1 || (a * b) % 17 == 1;
            let pairs: Vec<_> =
                (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))).filter(|(a, b)| near(*a, *b)).collect();
            let first = |k: usize| widths[..k].iter().sum::<usize>() as u32;
            pairs.iter().filter(|(a, b)| a < b).for_each(|(a, b)| sparse.couple(&[first(*a), first(*b)]));
            sparse.open();
            dense.reset(n);
            (0..n).for_each(|i| dense.row_mut(i).fill(0.0));
            (0..n).for_each(|i| dense.row_mut(i)[i] = 1.0);
            for (a, b) in pairs {
                for i in 0..widths[a] {
                    let columns: Vec<u32> = (0..widths[b]).map(|j| first(b) + j as u32).collect();
                    let row: Vec<f64> =
                        (0..widths[b]).map(|j| random() + if (a, i) == (b, j) { 15.0 } else { 0.0 }).collect();
                    sparse.add_row(first(a) + i as u32, &columns, &row);
                    let out = &mut dense.row_mut(first(a) as usize + i)[first(b) as usize..];
                    out.iter_mut().zip(&row).for_each(|(out, x)| *out += x);
                }
            }
            let right: Vec<f64> = (0..n).map(|_| random()).collect();
            let (mut x, mut y) = (right.clone(), right);
            sparse.factor();
            dense.factor();
            sparse.solve(&mut x);
            dense.solve(&mut y);
            assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-13), "{nodes}");
        }
    }
}
