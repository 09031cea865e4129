//! Problems with all rows in one dense Delassus matrix: bare problems, and that of a step for a solver that knows nothing
//! of trees.   (ncp-1, ncp-2)
#![allow(non_snake_case)]

use super::{Problem, RowGroup, RowSpace};
use crate::constraint::assembly::Assembly;
use crate::constraint::laws::cone::Cone;
use crate::dynamics::StepMass;
use crate::error::InputError;
use crate::input_check;
use crate::model::Model;

impl Problem {
    /// A bare problem of n contacts: Delassus matrix (3n × 3n, row by row), free velocity (3n), friction (n), rows of a
    /// contact in the order (T, T, N). It gets no compliance.
    pub fn bare(G: &[f64], g: &[f64], mu: &[f64]) -> Result<Problem, InputError> {
        input_check::vector("mu", mu, mu.len())?;
        let cones: Vec<Cone> = mu.iter().map(|mu| Cone::Friction { mu: *mu }).collect();
        Problem::new(&cones, G, g, &vec![0.0; mu.len()])
    }

    /// A problem of any constraints: their laws, the Delassus matrix (rows × rows, row by row), the free velocity (rows),
    /// and the compliance of the last row of each (a contact's normal) (1/kg).
    pub fn new(cones: &[Cone], G: &[f64], g: &[f64], compliance: &[f64]) -> Result<Problem, InputError> {
        let rows = cones.iter().map(|c| c.rows()).sum();
        input_check::vector("g", g, rows)?;
        input_check::vector("G", G, rows * rows)?;
        input_check::vector("compliance", compliance, cones.len())?;
        check_constraints(cones, compliance)?;
        check_symmetric(G, rows)?;
        let mut p = Problem::default();
        p.begin();
        for (k, (cone, compliance)) in cones.iter().zip(compliance).enumerate() {
            let row = p.rows();
            p.push(*cone, row, RowSpace::Rows, [*compliance, 0.0]);
            p.groups.push(RowGroup::new(row..row + cone.rows(), k..k + 1));
        }
        p.g.copy_from_slice(g);
        p.close_island();
        if !p.islands.is_empty() {
            p.open_delassus(0);
            p.delassus.G.resize(p.entries[0], 0.0);
        }
        for i in 0..rows {
            let start = p.islands[0].row(i).start;
            p.delassus.G[start..start + rows].copy_from_slice(&G[i * rows..(i + 1) * rows]);
        }
        p.find_factor(G, rows);
        p.finish();
        Ok(p)
    }
}

impl Assembly {
    /// The problem with all rows in one dense matrix; g and laws as they are.
    pub fn bare(&self, model: &Model, mass: &mut StepMass) -> Result<Problem, InputError> {
        let cones: Vec<Cone> = self.problem.blocks.iter().map(|b| b.cone).collect();
        let compliance: Vec<f64> = self.problem.blocks.iter().map(|b| b.compliance).collect();
        Problem::new(&cones, &self.dense(model, mass), &self.problem.g, &compliance)
    }

    /// `G = J M̂⁻¹ Jᵀ` entry by entry, from the generalized impulses of single rows.
    pub fn dense(&self, model: &Model, mass: &mut StepMass) -> Vec<f64> {
        let (rows, nv) = (self.problem.rows(), model.nv());
        let mut unit = vec![0.0; rows];
        let (mut J, mut Y) = (vec![0.0; rows * nv], vec![0.0; rows * nv]);
        for i in 0..rows {
            let row = i * nv..(i + 1) * nv;
            unit[i] = 1.0;
            self.generalized_impulse(&unit, &mut J[row.clone()]);
            unit[i] = 0.0;
            Y[row.clone()].copy_from_slice(&J[row.clone()]);
            mass.solve(model, &mut Y[row]);
        }
        let dot = |i: usize, j: usize| -> f64 {
            J[i * nv..(i + 1) * nv].iter().zip(&Y[j * nv..(j + 1) * nv]).map(|(a, b)| a * b).sum()
        };
        // the same number on both sides of the diagonal
        (0..rows * rows).map(|k| dot((k / rows).max(k % rows), (k / rows).min(k % rows))).collect()
    }
}

fn check_constraints(cones: &[Cone], compliance: &[f64]) -> Result<(), InputError> {
    for (k, cone) in cones.iter().enumerate() {
        let (name, x) = match cone {
            Cone::Friction { mu } => ("mu", *mu),
            Cone::Box { bound } => ("bound", *bound),
            _ => ("compliance", compliance[k]),
        };
        for (name, x) in [(name, x), ("compliance", compliance[k])] {
            if !(x.is_finite() && x >= 0.0) {
                return Err(InputError::Value { what: format!("{name}[{k}]"), expected: "zero or more", got: x });
            }
        }
    }
    Ok(())
}

fn check_symmetric(G: &[f64], n: usize) -> Result<(), InputError> {
    let largest = (0..n).fold(0.0, |m: f64, i| m.max(G[i * n + i].abs()));
    for i in 0..n {
        if G[i * n + i] < 0.0 {
            let what = format!("G[{i}, {i}]");
            return Err(InputError::Value { what, expected: "a positive semidefinite matrix", got: G[i * n + i] });
        }
        for j in 0..i {
            if (G[i * n + j] - G[j * n + i]).abs() > 1e-9 * largest {
                let what = format!("G[{i}, {j}] − G[{j}, {i}]");
                let got = G[i * n + j] - G[j * n + i];
                return Err(InputError::Value { what, expected: "zero: G must be symmetric", got });
            }
        }
    }
    Ok(())
}
