//! The linear system inside every solver: all constraints answer a change of velocity linearly at once.   (ncp-5)
//!
//! A method gives each block its answer `dλ = c − E dσ` (E is 3 × 3 or one number). With `dσ = T dξ + R dλ` and
//! `dξ = G Tᵀ dλ` the unknowns are the dξ only: `(1 + G H) dξ = G Tᵀ c` with `H = Tᵀ E T` block by block. Blocks that
//! do not answer (E = 0) leave the system: it is as large as what is in contact, never as large as what is near. Where
//! that is more than there are dofs, G = W Wᵀ moves it to their space: `dξ = W (1 + Wᵀ H W)⁻¹ Wᵀ Tᵀ c`.
#![allow(non_snake_case)]

use crate::constraint::cone::Cone;
use crate::constraint::problem::{Block, Problem, TWIST};
use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::linalg::{Lu, dot_lanes};
use crate::spatial::Lane;

/// How one block answers: `dλ = c − E dσ`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Answer {
    pub E: [[f64; 3]; 3],
    pub c: [f64; 3],
    /// Whether E is zero.
    pub silent: bool,
}

impl Answer {
    /// An answer to velocities.
    pub fn new(E: [[f64; 3]; 3], c: [f64; 3]) -> Answer {
        Answer { E, c, silent: false }
    }

    /// An impulse whatever the velocity.
    pub fn fixed(c: [f64; 3]) -> Answer {
        Answer { E: [[0.0; 3]; 3], c, silent: true }
    }

    /// A block with one row.
    pub fn scalar(E: f64, c: f64) -> Answer {
        Answer { E: [[E, 0.0, 0.0], [0.0; 3], [0.0; 3]], c: [c, 0.0, 0.0], silent: E == 0.0 }
    }

    /// The same answer to the velocity without the part `R dλ` that the block's own compliance adds.
    pub fn without_compliance(mut self, b: &Block) -> Answer {
        let R = b.compliance;
        if R == 0.0 {
            return self;
        }
        let n = b.cone.rows() - 1;
        // (1 + E R eₙ eₙᵀ)⁻¹ by Sherman and Morrison
        let column = [self.E[0][n], self.E[1][n], self.E[2][n]];
        let factor = R / (1.0 + R * column[n]);
        let (row, c) = (self.E[n], self.c[n]);
        for i in 0..=n {
            self.c[i] -= column[i] * factor * c;
            for j in 0..=n {
                self.E[i][j] -= column[i] * factor * row[j];
            }
        }
        self
    }
}

/// Columns of the system that belong together.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// First row of G.
    xi: usize,
    width: usize,
    /// First row of the system.
    at: usize,
    /// Rows of eight: whole lanes.
    H: [[f64; 8]; TWIST],
}

/// The system, its factors and scratch memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Linear {
    pub answers: Vec<Answer>,
    cells: Vec<Cell>,
    lu: Lu,
    /// Whether the system is that of the dofs.
    in_dofs: bool,
    /// H W of one cell.
    product: Vec<f64>,
    w: Vec<f64>,
    xi: Vec<f64>,
    x: Vec<f64>,
}

footprint!(Linear: answers, cells, lu, product, w, xi, x);

impl Linear {
    /// Room for the answers of a problem.
    pub fn reset(&mut self, problem: &Problem) {
        self.answers.clear();
        self.answers.resize(problem.blocks.len(), Answer::default());
        let (width, columns) = (problem.width(), problem.islands.iter().map(|i| i.root_stride()).max().unwrap_or(0));
        self.w.resize(width, 0.0);
        self.xi.resize(width, 0.0);
        self.x.resize(width.max(columns), 0.0);
        self.product.resize(TWIST * columns, 0.0);
    }

    /// How much there is room for.
    pub fn capacity(&self) -> usize {
        self.answers.capacity()
            + self.cells.capacity()
            + self.lu.capacity()
            + self.x.capacity()
            + self.product.capacity()
    }

    /// Whether more rows answered than there are dofs.
    pub fn is_redundant(&self) -> bool {
        self.in_dofs
    }

    /// Factors the system of the present answers.
    pub fn factor(&mut self, problem: &Problem) {
        assemble(self, problem);
        self.lu.factor();
    }

    /// `dλ` of the present right-hand sides c with the factors at hand.
    pub fn solve(&mut self, problem: &Problem, change: &mut [f64]) {
        solve(self, problem, change);
    }
}

dispatch! {
    /// See [`Linear::solve`].
    pub(crate) fn solve(linear: &mut Linear, problem: &Problem, change: &mut [f64]) => solve_body
}

#[inline(always)]
fn solve_body(linear: &mut Linear, problem: &Problem, change: &mut [f64]) {
    let Linear { answers, cells, lu, in_dofs, w, xi, x, .. } = linear;
    w.fill(0.0);
    for (b, a) in problem.blocks.iter().zip(answers.iter()) {
        problem.gather(b, &a.c, w);
    }
    if *in_dofs {
        solve_in_dofs(problem, cells, lu, w, x, xi);
    } else {
        let n = cells.last().map_or(0, |c| c.at + c.width);
        for cell in cells.iter() {
            for k in 0..cell.width {
                x[cell.at + k] = dot_lanes(problem.row(cell.xi + k), w);
            }
        }
        lu.solve(&mut x[..n]);
        for cell in cells.iter() {
            xi[cell.xi..cell.xi + cell.width].copy_from_slice(&x[cell.at..cell.at + cell.width]);
        }
    }
    for (b, a) in problem.blocks.iter().zip(answers.iter()) {
        let mut d = a.c;
        if !a.silent {
            let s = problem.spread(b, xi);
            for i in 0..3 {
                d[i] -= a.E[i][0] * s[0] + a.E[i][1] * s[1] + a.E[i][2] * s[2];
            }
        }
        change[b.row..b.row + b.cone.rows()].copy_from_slice(&d[..b.cone.rows()]);
    }
}

dispatch! {
    /// Fills the matrix 1 + G H.
    pub(crate) fn assemble(linear: &mut Linear, problem: &Problem) => assemble_body
}

#[inline(always)]
fn assemble_body(linear: &mut Linear, problem: &Problem) {
    collect_cells(linear, problem);
    let n = linear.cells.last().map_or(0, |c| c.at + c.width);
    let columns = problem.whole().root_columns;
    linear.in_dofs = columns > 0 && n > columns;
    if linear.in_dofs {
        return assemble_in_dofs(linear, problem);
    }
    linear.lu.reset(n);
    let Linear { cells, lu, .. } = linear;
    for rows in cells.iter() {
        for k in 0..rows.width {
            let G = problem.row(rows.xi + k);
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

/// `1 + Wᵀ H W`.
#[inline(always)]
fn assemble_in_dofs(linear: &mut Linear, problem: &Problem) {
    let (n, stride) = (problem.whole().root_columns, problem.whole().root_stride());
    let Linear { cells, lu, product, .. } = linear;
    lu.reset(n);
    for i in 0..n {
        lu.row_mut(i).fill(0.0);
        lu.row_mut(i)[i] = 1.0;
    }
    for cell in cells.iter() {
        let W = &problem.root[cell.xi * stride..(cell.xi + cell.width) * stride];
        match cell.width {
            1 => add_cell::<1>(lu, n, cell, W, product, stride),
            3 => add_cell::<3>(lu, n, cell, W, product, stride),
            _ => add_cell::<TWIST>(lu, n, cell, W, product, stride),
        }
    }
}

/// Adds `Wᵀ H W` of one cell with N rows.
#[inline(always)]
fn add_cell<const N: usize>(lu: &mut Lu, n: usize, cell: &Cell, W: &[f64], product: &mut [f64], stride: usize) {
    let rows: [&[f64]; N] = core::array::from_fn(|k| &W[k * stride..(k + 1) * stride]);
    for (i, out) in product.chunks_exact_mut(stride).enumerate().take(N) {
        out.fill(0.0);
        add_rows(out, &rows, core::array::from_fn(|k| cell.H[i][k]));
    }
    let products: [&[f64]; N] = core::array::from_fn(|k| &product[k * stride..(k + 1) * stride]);
    for j in 0..n {
        let w = rows.map(|row| row[j]);
        // a cell moves the dofs that carry it and no others
        if w.iter().any(|w| *w != 0.0) {
            add_rows(lu.row_mut(j), &products, w);
        }
    }
}

/// `out += Σ s_k x_k`, whole lanes: `out` is read and written once, not N times.
#[inline(always)]
fn add_rows<const N: usize>(out: &mut [f64], x: &[&[f64]; N], s: [f64; N]) {
    let lanes = out.len() / 4;
    let x: [&[[f64; 4]]; N] = x.map(|x| &x.as_chunks::<4>().0[..lanes]);
    for (i, out) in out.as_chunks_mut::<4>().0[..lanes].iter_mut().enumerate() {
        let mut sum = Lane(*out);
        for k in 0..N {
            sum += Lane(x[k][i]) * s[k];
        }
        *out = sum.0;
    }
}

/// `out += s x`, whole lanes.
#[inline(always)]
fn add_scaled(out: &mut [f64], x: &[f64], s: f64) {
    for (o, x) in out.as_chunks_mut::<4>().0.iter_mut().zip(x.as_chunks::<4>().0) {
        *o = (Lane(*o) + Lane(*x) * s).0;
    }
}

/// `ξ = W (1 + Wᵀ H W)⁻¹ Wᵀ w`, for the rows of the cells.
#[inline(always)]
fn solve_in_dofs(problem: &Problem, cells: &[Cell], lu: &mut Lu, w: &[f64], x: &mut [f64], xi: &mut [f64]) {
    let (n, stride) = (problem.whole().root_columns, problem.whole().root_stride());
    let x = &mut x[..stride];
    x.fill(0.0);
    for (row, w) in problem.root.chunks_exact(stride).zip(w) {
        add_scaled(x, row, *w);
    }
    lu.solve(&mut x[..n]);
    for cell in cells {
        for i in cell.xi..cell.xi + cell.width {
            xi[i] = dot_lanes(&problem.root[i * stride..(i + 1) * stride], x);
        }
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

/// H of everything that answers.
#[inline(always)]
fn collect_cells(linear: &mut Linear, problem: &Problem) {
    let Linear { answers, cells, .. } = linear;
    cells.clear();
    let mut at = 0;
    for group in &problem.groups {
        let blocks = &problem.blocks[group.blocks.clone()];
        let answers = &answers[group.blocks.clone()];
        if blocks[0].map.is_some() {
            if answers.iter().all(|a| a.silent) {
                continue;
            }
            let mut cell = Cell { xi: group.xi.start, width: TWIST, at, H: [[0.0; 8]; TWIST] };
            for (b, a) in blocks.iter().zip(answers) {
                if let (Some(map), false) = (b.map, a.silent) {
                    add_twist(&problem.maps[map as usize], &a.E, &mut cell.H);
                }
            }
            at += TWIST;
            cells.push(cell);
            continue;
        }
        for (b, a) in blocks.iter().zip(answers).filter(|(_, a)| !a.silent) {
            let width = b.cone.rows();
            let mut cell = Cell { xi: b.xi, width, at, H: [[0.0; 8]; TWIST] };
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

/// A contact without friction answers in its normal only.
pub(crate) fn is_frictionless(cone: Cone) -> bool {
    matches!(cone, Cone::Friction { mu } if mu < FRICTIONLESS)
}

/// Coefficients below this are taken for zero by the methods that divide by them.
const FRICTIONLESS: f64 = 1e-12;
