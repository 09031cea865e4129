//! The linear system inside every solver: the linear responses of all constraints together.   (ncp-5)
//!
//! A method gives each block its response `dλ = c − E dσ` (E is 3 × 3 or one number). With `dσ = T dξ + R dλ` and
//! `dξ = G Tᵀ dλ` the unknowns are the dξ only: `(1 + G H) dξ = G Tᵀ c` with `H = Tᵀ E T` block by block. Inactive blocks
//! (E = 0) leave the system: it is as large as the set of active rows, never as large as that of all candidates. Where
//! there are more active rows than dofs, G = W Wᵀ moves it to their space: `dξ = W (1 + Wᵀ H W)⁻¹ Wᵀ Tᵀ c`.
#![allow(non_snake_case)]

use super::local_response::LocalResponse;
use crate::constraint::laws::cone::Cone;
use crate::constraint::problem::low_rank::MANY_ROWS;
use crate::constraint::problem::stiffened::Stiffened;
use crate::constraint::problem::{Block, Problem, RowSpace, TWIST, rows_of};
use crate::constraint::rows::jacobian::WIDTH;
use crate::dispatch::dispatch;
use crate::dynamics::{solve_down, solve_up};
use crate::footprint::footprint;
use crate::linalg::{BlockLu, Lu, dot_lanes};
use crate::spatial::Lane;

/// Columns of the system that belong to one block or one twist.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// Its group.
    group: usize,
    /// First row of G.
    xi: usize,
    width: usize,
    /// First row of the system.
    at: usize,
    /// Rows of eight: whole lanes.
    H: [[f64; 8]; TWIST],
}

/// What the unknowns of the system are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Unknowns {
    /// The velocities of the active rows.
    #[default]
    Rows,
    /// The dofs.
    Dofs,
    /// The dofs of many bodies, each of which touches few others.
    ManyBodies,
}

/// The system, its factors and scratch memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Linear {
    pub responses: Vec<LocalResponse>,
    /// M̂ with the responses of rows on single dofs.
    stiffened: Stiffened,
    cells: Vec<Cell>,
    lu: Lu,
    /// Factors of a large system in dofs.
    blocks: BlockLu,
    unknowns: Unknowns,
    /// Whether there are more active rows than dofs.
    redundant: bool,
    /// H W and Wᵀ H W of one cell.
    product: Vec<f64>,
    square: Vec<f64>,
    w: Vec<f64>,
    xi: Vec<f64>,
    x: Vec<f64>,
    /// L̃⁻ᵀ of impulses on dofs, then their change of velocity; scratch.
    v: Vec<f64>,
}

footprint!(Linear: responses, stiffened, cells, lu, blocks, product, square, w, xi, x, v);

impl Linear {
    /// Room for the responses of a problem.
    pub fn reset(&mut self, problem: &Problem) {
        self.responses.clear();
        self.responses.resize(problem.blocks.len(), LocalResponse::default());
        let (width, stride) = (problem.width(), problem.groups.iter().map(|g| g.factor_stride()).max().unwrap_or(0));
        self.w.resize(width, 0.0);
        self.xi.resize(width, 0.0);
        self.x.resize(width, 0.0);
        self.v.resize(problem.dofs.width(), 0.0);
        self.stiffened.invalidate();
        self.product.resize(TWIST * stride, 0.0);
        self.square.resize(stride, 0.0);
    }

    /// Whether there are more active rows than dofs.
    pub fn is_redundant(&self) -> bool {
        self.redundant
    }

    /// Factors the system of the present responses.
    pub fn factor(&mut self, problem: &Problem) {
        self.stiffen(problem);
        assemble(self, problem);
        match self.unknowns {
            Unknowns::ManyBodies => self.blocks.factor(),
            _ => self.lu.factor(),
        }
    }

    /// Adds the responses of rows on single dofs to the diagonal of M̂.   (contact-17)
    fn stiffen(&mut self, problem: &Problem) {
        if problem.dofs.trees.is_empty() {
            return;
        }
        self.stiffened.begin(problem);
        for (b, a) in problem.blocks.iter().zip(&self.responses) {
            if let RowSpace::Dof { dof, scale } = b.space {
                self.stiffened.add(dof as usize, scale * scale * a.E[0][0]);
            }
        }
        self.stiffened.finish(problem, None);
    }

    /// `dλ` of the present right-hand sides c with the factors at hand.
    pub fn solve(&mut self, problem: &Problem, change: &mut [f64]) {
        solve(self, problem, change);
    }
}

dispatch!(
    /// See [`Linear::solve`].
    pub(crate) fn solve(linear: &mut Linear, problem: &Problem, change: &mut [f64]) {
        let Linear { responses, stiffened, cells, lu, blocks, unknowns, w, xi, x, v, .. } = linear;
        w.fill(0.0);
        for (b, a) in problem.blocks.iter().zip(responses.iter()) {
            problem.gather(b, &a.c, w);
        }
        let (tree, delassus) = (problem.dofs.tree(), stiffened.delassus(problem));
        if let Some(tree) = tree {
            // impulses on dofs: v = L̃⁻ᵀ c
            for dofs in problem.dofs.trees.iter().cloned() {
                v[dofs.clone()].copy_from_slice(&w[problem.dofs.start..][dofs.clone()]);
                solve_up(tree, dofs, stiffened.factor(problem), v);
            }
        }
        if *unknowns != Unknowns::Rows {
            // ξ = W (1 + Wᵀ H W)⁻¹ (Wᵀ w + D̃^(−1/2) v)
            let (island, (w, local)) = (problem.only_island(), w.split_at_mut(problem.size()));
            problem.gather_columns(&delassus.W, island, w, x, local);
            if tree.is_some() {
                let pivots = stiffened.factor(problem).inverse_pivots();
                for (x, j) in x.iter_mut().zip(&problem.column_dofs[island.column_dofs.clone()]) {
                    *x += pivots[*j as usize].sqrt() * v[*j as usize];
                }
            }
            match unknowns {
                Unknowns::ManyBodies => blocks.solve(&mut x[..island.factor_columns]),
                _ => lu.solve(&mut x[..island.factor_columns]),
            }
            let mut last = None;
            for cell in cells.iter() {
                if last.replace(cell.group) != Some(cell.group) {
                    problem.spread_group(&delassus.W, &problem.groups[cell.group], x, xi, local);
                }
            }
        } else {
            let n = cells.last().map_or(0, |c| c.at + c.width);
            let (island, mut last, mut pushed) = (problem.only_island(), None, [0.0; WIDTH]);
            if tree.is_some() {
                scale_by_pivots(problem, stiffened, v, xi);
            }
            for cell in cells.iter() {
                let group = &problem.groups[cell.group];
                if tree.is_some() && last.replace(cell.group) != Some(cell.group) {
                    pushed = delassus.velocity(&problem.jacobian, cell.group, &xi[problem.dofs.start..]);
                }
                for k in 0..cell.width {
                    let row = &delassus.G[island.row(cell.xi + k)];
                    x[cell.at + k] = dot_lanes(row, &w[..island.stride]) + pushed[cell.xi + k - group.xi.start];
                }
            }
            lu.solve(&mut x[..n]);
            for cell in cells.iter() {
                xi[cell.xi..cell.xi + cell.width].copy_from_slice(&x[cell.at..cell.at + cell.width]);
            }
        }
        for (b, a) in problem.blocks.iter().zip(responses.iter()).filter(|(b, _)| !b.is_on_dof()) {
            write_response(problem, b, a, xi, change);
        }
        if let Some(tree) = tree {
            // velocities of dofs: v = L̃⁻¹ D̃⁻¹ (L̃⁻ᵀ c + L̃⁻ᵀ Jᵀ Tᵀ dλ)
            w[..problem.size()].fill(0.0);
            for b in problem.blocks.iter().filter(|b| !b.is_on_dof()) {
                problem.gather(b, &rows_of(change, b), w);
            }
            for (n, group) in problem.groups.iter().enumerate() {
                delassus.add_transposed(&problem.jacobian, n, &w[group.xi.clone()], v);
            }
            for dofs in problem.dofs.trees.iter().cloned() {
                solve_down(tree, dofs.clone(), stiffened.factor(problem), v);
                xi[problem.dofs.start..][dofs.clone()].copy_from_slice(&v[dofs]);
            }
            for (b, a) in problem.blocks.iter().zip(responses.iter()).filter(|(b, _)| b.is_on_dof()) {
                write_response(problem, b, a, xi, change);
            }
        }
    }
);

/// `dλ = c − E T dξ` of a block.
#[inline(always)]
fn write_response(problem: &Problem, b: &Block, a: &LocalResponse, xi: &[f64], change: &mut [f64]) {
    let mut d = a.c;
    if !a.inactive {
        let s = problem.spread(b, xi);
        for i in 0..3 {
            d[i] -= a.E[i][0] * s[0] + a.E[i][1] * s[1] + a.E[i][2] * s[2];
        }
    }
    change[b.row..b.row + b.cone.rows()].copy_from_slice(&d[..b.cone.rows()]);
}

/// `D̃⁻¹ v` into the tree part of ξ.
#[inline(always)]
fn scale_by_pivots(problem: &Problem, stiffened: &Stiffened, v: &[f64], xi: &mut [f64]) {
    let pivots = stiffened.factor(problem).inverse_pivots();
    for j in problem.dofs.trees.iter().cloned().flatten() {
        xi[problem.dofs.start + j] = pivots[j] * v[j];
    }
}

dispatch!(
    /// Fills the matrix 1 + G H.
    pub(crate) fn assemble(linear: &mut Linear, problem: &Problem) {
        collect_cells(linear, problem);
        let n = linear.cells.last().map_or(0, |c| c.at + c.width);
        let island = problem.only_island();
        let more = island.factor_columns > 0 && n > island.factor_columns;
        let active_on_dofs =
            || problem.blocks.iter().zip(&linear.responses).filter(|(b, a)| b.is_on_dof() && !a.inactive).count();
        linear.redundant = more || (!island.trees.is_empty() && n + active_on_dofs() > island.moving_dofs);
        let large = island.nodes.len() > 1 && n.min(island.factor_columns) > MANY_ROWS;
        linear.unknowns = match (more, large || !island.has_delassus) {
            (_, true) => Unknowns::ManyBodies,
            (true, false) => Unknowns::Dofs,
            (false, false) => Unknowns::Rows,
        };
        match linear.unknowns {
            Unknowns::ManyBodies => return assemble_bodies(linear, problem),
            Unknowns::Dofs => return assemble_in_dofs(linear, problem),
            Unknowns::Rows => {}
        }
        linear.lu.reset(n);
        let Linear { cells, lu, stiffened, .. } = linear;
        let (delassus, island) = (stiffened.delassus(problem), problem.only_island());
        for rows in cells.iter() {
            for k in 0..rows.width {
                let G = &delassus.G[island.row(rows.xi + k)];
                let out = lu.row_mut(rows.at + k);
                for cell in cells.iter() {
                    match cell.width {
                        1 => out[cell.at] = G[cell.xi] * cell.H[0][0],
                        3 => multiply::<3, 4>(G, cell, out),
                        _ => multiply::<TWIST, 8>(G, cell, out),
                    }
                }
                out[n..].fill(0.0);
                out[rows.at + k] += 1.0;
            }
        }
    }
);

/// `1 + Wᵀ H W`.
#[inline(always)]
fn assemble_in_dofs(linear: &mut Linear, problem: &Problem) {
    let n = problem.only_island().factor_columns;
    let Linear { cells, lu, product, square, stiffened, .. } = linear;
    let W = &stiffened.delassus(problem).W;
    lu.reset(n);
    for i in 0..n {
        lu.row_mut(i).fill(0.0);
        lu.row_mut(i)[i] = 1.0;
    }
    for cell in cells.iter() {
        let columns = &problem.columns[problem.groups[cell.group].columns.clone()];
        let [first, last] = [columns.first(), columns.last()].map(|c| c.map_or(0, |c| *c as usize));
        let contiguous = last - first + 1 == columns.len();
        add_cell(problem, W, cell, product, square, |i, row| {
            let out = &mut lu.row_mut(columns[i] as usize)[first..];
            if contiguous {
                out.iter_mut().zip(&row[..columns.len()]).for_each(|(out, x)| *out += x);
            } else {
                columns.iter().zip(row).for_each(|(c, x)| out[*c as usize - first] += x);
            }
        });
    }
}

/// `1 + Wᵀ H W` by blocks of bodies.
#[inline(always)]
fn assemble_bodies(linear: &mut Linear, problem: &Problem) {
    let Linear { cells, blocks, product, square, stiffened, .. } = linear;
    let W = &stiffened.delassus(problem).W;
    let columns_of = |cell: &Cell| &problem.columns[problem.groups[cell.group].columns.clone()];
    blocks.reset(problem.nodes[problem.only_island().nodes.clone()].iter().copied());
    for cell in cells.iter() {
        blocks.couple(columns_of(cell));
    }
    blocks.open();
    for cell in cells.iter() {
        let columns = columns_of(cell);
        add_cell(problem, W, cell, product, square, |i, row| blocks.add_row(columns[i], columns, row));
    }
}

/// Calls `add` with the rows of `Wᵀ H W` of one cell, which has the columns of its group.
#[inline(always)]
fn add_cell(
    problem: &Problem,
    W: &[f64],
    cell: &Cell,
    product: &mut [f64],
    square: &mut [f64],
    add: impl FnMut(usize, &[f64]),
) {
    match cell.width {
        1 => add_rows_of::<1>(problem, W, cell, product, square, add),
        3 => add_rows_of::<3>(problem, W, cell, product, square, add),
        _ => add_rows_of::<TWIST>(problem, W, cell, product, square, add),
    }
}

#[inline(always)]
fn add_rows_of<const N: usize>(
    problem: &Problem,
    W: &[f64],
    cell: &Cell,
    product: &mut [f64],
    square: &mut [f64],
    mut add: impl FnMut(usize, &[f64]),
) {
    let group = &problem.groups[cell.group];
    if group.columns.is_empty() {
        return;
    }
    let (stride, first) = (group.factor_stride(), cell.xi - group.xi.start);
    let W = &W[group.factor_start + first * stride..];
    let rows: [&[f64]; N] = core::array::from_fn(|k| &W[k * stride..(k + 1) * stride]);
    for (i, out) in product.chunks_exact_mut(stride).enumerate().take(N) {
        combine(out, &rows, core::array::from_fn(|k| cell.H[i][k]));
    }
    let products: [&[f64]; N] = core::array::from_fn(|k| &product[k * stride..(k + 1) * stride]);
    let square = &mut square[..stride];
    for j in 0..group.columns.len() {
        let w = rows.map(|row| row[j]);
        // a row moves the dofs that carry it and no others of its group
        if w.iter().any(|w| *w != 0.0) {
            combine(square, &products, w);
            add(j, square);
        }
    }
}

/// `out = Σ s_k x_k`, whole lanes: `out` is written once, not N times.
#[inline(always)]
fn combine<const N: usize>(out: &mut [f64], x: &[&[f64]; N], s: [f64; N]) {
    let lanes = out.len() / 4;
    let x: [&[[f64; 4]]; N] = x.map(|x| &x.as_chunks::<4>().0[..lanes]);
    for (i, out) in out.as_chunks_mut::<4>().0[..lanes].iter_mut().enumerate() {
        let mut sum = Lane::ZERO;
        for k in 0..N {
            sum += Lane(x[k][i]) * s[k];
        }
        *out = sum.0;
    }
}

/// One row of G H, for the N columns of a cell, computed in lanes of P numbers.
#[inline(always)]
fn multiply<const N: usize, const P: usize>(G: &[f64], cell: &Cell, out: &mut [f64]) {
    let (G, out) = (&G[cell.xi..cell.xi + N], &mut out[cell.at..cell.at + N]);
    let mut sum = [0.0; P];
    for i in 0..N {
        for j in 0..P {
            sum[j] += G[i] * cell.H[i][j];
        }
    }
    out.copy_from_slice(&sum[..N]);
}

/// H of all active blocks.
#[inline(always)]
fn collect_cells(linear: &mut Linear, problem: &Problem) {
    let Linear { responses, cells, .. } = linear;
    cells.clear();
    let mut at = 0;
    for (n, group) in problem.groups.iter().enumerate() {
        let blocks = &problem.blocks[group.blocks.clone()];
        let responses = &responses[group.blocks.clone()];
        if matches!(blocks[0].space, RowSpace::Twist(_)) {
            if responses.iter().all(|a| a.inactive) {
                continue;
            }
            let mut cell = Cell { group: n, xi: group.xi.start, width: TWIST, at, H: [[0.0; 8]; TWIST] };
            for (b, a) in blocks.iter().zip(responses) {
                if let (RowSpace::Twist(map), false) = (b.space, a.inactive) {
                    add_twist(&problem.maps[map as usize], &a.E, &mut cell.H);
                }
            }
            at += TWIST;
            cells.push(cell);
            continue;
        }
        for (b, a) in blocks.iter().zip(responses).filter(|(_, a)| !a.inactive) {
            let width = b.cone.rows();
            let mut cell = Cell { group: n, xi: b.xi, width, at, H: [[0.0; 8]; TWIST] };
            for i in 0..width {
                cell.H[i][..width].copy_from_slice(&a.E[i][..width]);
            }
            at += width;
            cells.push(cell);
        }
    }
}

/// `H += Tᵀ E T`.
#[inline(always)]
fn add_twist(T: &[[f64; TWIST]; 3], E: &[[f64; 3]; 3], H: &mut [[f64; 8]; TWIST]) {
    let mut ET = [[0.0; TWIST]; 3];
    for i in 0..3 {
        for c in 0..TWIST {
            ET[i][c] = E[i][0] * T[0][c] + E[i][1] * T[1][c] + E[i][2] * T[2][c];
        }
    }
    for a in 0..TWIST {
        for c in 0..TWIST {
            H[a][c] += T[0][a] * ET[0][c] + T[1][a] * ET[1][c] + T[2][a] * ET[2][c];
        }
    }
}

/// Whether a contact has no friction: it responds along its normal only.
pub(crate) fn is_frictionless(cone: Cone) -> bool {
    matches!(cone, Cone::Friction { mu } if mu < FRICTIONLESS)
}

/// Coefficients below this are taken for zero by the methods that divide by them.
const FRICTIONLESS: f64 = 1e-12;
