//! Redundant contacts of different bodies, such as those of two links that meet in a joint and touch the floor there. Their
//! normals are linearly dependent, and only compliance determines the load distribution.   (contact-14)
#![allow(non_snake_case)]

use super::{Block, Problem, RowSpace, TWIST};
use crate::constraint::laws::cone::Cone;
use crate::footprint::footprint;

/// Fraction of a normal's own inverse inertia below which what the others leave of it is rounding.
const DEPENDENT: f64 = 1e-9;
/// Least coefficient with which a normal contributes to one that depends on it.
const CONTRIBUTION: f64 = 1e-6;

/// Number of contacts of an island above which all count as redundant.
const MANY_CONTACTS: usize = 256;

/// Memory of the search.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redundancy {
    /// Contacts that have no compliance of their own yet.
    blocks: Vec<usize>,
    /// Their groups and their normals' rows of W, where that is stored instead of G.
    groups: Vec<(usize, usize)>,
    normals: Vec<f64>,
    /// Factor of their normals' part of the Delassus matrix, row by row; rows of dependent ones are not pivots.
    rows: Vec<f64>,
    pivots: Vec<usize>,
    coefficients: Vec<f64>,
    found: Vec<bool>,
}

footprint!(Redundancy: blocks, groups, normals, rows, pivots, coefficients, found);

impl Redundancy {
    /// Adds a relative compliance to every contact whose normal depends on those of others, and to those.
    pub fn regularize(&mut self, problem: &mut Problem, relative_compliance: f64) {
        (0..problem.islands.len()).for_each(|n| self.regularize_island(problem, n, relative_compliance));
    }

    fn regularize_island(&mut self, problem: &mut Problem, island: usize, relative_compliance: f64) {
        self.blocks.clear();
        let rigid = |b: &Block| matches!(b.cone, Cone::Friction { .. }) && !b.is_redundant();
        self.blocks.extend(problem.islands[island].blocks.clone().filter(|k| rigid(&problem.blocks[*k])));
        let n = self.blocks.len();
        if n < 2 || relative_compliance == 0.0 {
            return;
        }
        if n > MANY_CONTACTS {
            // to tell dependent normals in a heap from others would cost more than the step
            return problem.regularize(island, relative_compliance, |k| self.blocks.binary_search(&k).is_ok());
        }
        self.write_normals(problem, island);
        self.rows.clear();
        self.rows.resize(n * n, 0.0);
        self.pivots.clear();
        self.found.clear();
        self.found.resize(n, false);
        for i in 0..n {
            self.eliminate(problem, i);
        }
        if self.found.contains(&true) {
            let found = |k: usize| self.blocks.binary_search(&k).is_ok_and(|n| self.found[n]);
            problem.regularize(island, relative_compliance, found);
        }
    }

    /// The normals' rows of W of an island that has no G.
    fn write_normals(&mut self, problem: &Problem, island: usize) {
        self.groups.clear();
        self.normals.clear();
        if problem.islands[island].has_delassus {
            return;
        }
        for n in problem.islands[island].groups.clone() {
            let group = &problem.groups[n];
            for k in group.blocks.clone().filter(|k| self.blocks.binary_search(k).is_ok()) {
                let (b, at) = (&problem.blocks[k], self.normals.len());
                self.groups.push((n, at));
                self.normals.resize(at + group.factor_stride(), 0.0);
                let first = b.xi - group.xi.start;
                for i in 0..group.xi.len() - first {
                    let part = match b.space {
                        RowSpace::Twist(map) => problem.maps[map as usize][2][i],
                        _ => f64::from(u8::from(i == 2)),
                    };
                    let row = problem.factor_row(group, first + i);
                    self.normals[at..].iter_mut().zip(row).for_each(|(x, w)| *x += part * w);
                }
            }
        }
    }

    /// Entry of the Delassus matrix between the normals of two of the contacts.
    fn entry(&self, problem: &Problem, i: usize, j: usize) -> f64 {
        if self.groups.is_empty() {
            return normals(problem, self.blocks[i], self.blocks[j]);
        }
        let [(a, x), (b, y)] = [self.groups[i], self.groups[j]];
        let columns = |n: usize| &problem.columns[problem.groups[n].columns.clone()];
        let (left, right, mut n, mut sum) = (columns(a), columns(b), 0, 0.0);
        // columns of both rise
        for (m, c) in left.iter().enumerate() {
            while n < right.len() && right[n] < *c {
                n += 1;
            }
            if n < right.len() && right[n] == *c {
                sum += self.normals[x + m] * self.normals[y + n];
            }
        }
        sum
    }

    /// Row i of the Cholesky factor over the independent normals before it; marks a dependent one and all it depends on.
    fn eliminate(&mut self, problem: &Problem, i: usize) {
        let n = self.blocks.len();
        let own = self.entry(problem, i, i);
        let mut remaining = own;
        for (p, &j) in self.pivots.iter().enumerate() {
            let mut x = self.entry(problem, i, j);
            for (a, b) in self.rows[i * n..i * n + p].iter().zip(&self.rows[j * n..j * n + p]) {
                x -= a * b;
            }
            let x = x / self.rows[j * n + p];
            self.rows[i * n + p] = x;
            remaining -= x * x;
        }
        if remaining > DEPENDENT * own {
            self.rows[i * n + self.pivots.len()] = remaining.sqrt();
            self.pivots.push(i);
        } else {
            self.mark(i);
        }
    }

    /// Marks contact i and the pivots that make it up: `Lᵀ c = l_i`.
    fn mark(&mut self, i: usize) {
        let n = self.blocks.len();
        self.found[i] = true;
        self.coefficients.clear();
        self.coefficients.extend_from_slice(&self.rows[i * n..i * n + self.pivots.len()]);
        for p in (0..self.pivots.len()).rev() {
            let row = &self.rows[self.pivots[p] * n..];
            let c = self.coefficients[p] / row[p];
            (0..p).for_each(|k| self.coefficients[k] -= c * row[k]);
            self.found[self.pivots[p]] |= c.abs() > CONTRIBUTION;
        }
    }
}

/// Entry of the Delassus matrix between the normals of two contacts of an island.
fn normals(problem: &Problem, a: usize, b: usize) -> f64 {
    let (a, b) = (&problem.blocks[a], &problem.blocks[b]);
    let island = &problem.islands[a.island as usize];
    let entry = |i: usize, j: usize| problem.delassus.G[island.row(i).start + j - island.xi.start];
    let row = |i: usize| match b.space {
        RowSpace::Rows | RowSpace::Dof { .. } => entry(i, b.xi + 2),
        RowSpace::Twist(map) => (0..TWIST).fold(0.0, |s, c| s + entry(i, b.xi + c) * problem.maps[map as usize][2][c]),
    };
    match a.space {
        RowSpace::Rows | RowSpace::Dof { .. } => row(a.xi + 2),
        RowSpace::Twist(map) => (0..TWIST).fold(0.0, |s, c| s + problem.maps[map as usize][2][c] * row(a.xi + c)),
    }
}
