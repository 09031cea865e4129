//! The problem of a step with all of its rows in one dense matrix: what a solver sees that knows nothing of trees.
#![allow(non_snake_case)]

use super::assembly::Assembly;
use super::cone::Cone;
use super::problem::Problem;
use crate::dynamics::StepMass;
use crate::error::InputError;
use crate::model::Model;

impl Assembly {
    /// `G = J M̂⁻¹ Jᵀ` entry by entry, from the generalized impulses of single rows; g and laws as they are.
    pub fn bare(&self, model: &Model, mass: &mut StepMass) -> Result<Problem, InputError> {
        let (rows, nv) = (self.problem.rows(), model.nv());
        let mut unit = vec![0.0; rows];
        let (mut J, mut Y) = (vec![0.0; rows * nv], vec![0.0; rows * nv]);
        for i in 0..rows {
            let row = i * nv..(i + 1) * nv;
            unit[i] = 1.0;
            self.generalised_impulse(&unit, &mut J[row.clone()]);
            unit[i] = 0.0;
            Y[row.clone()].copy_from_slice(&J[row.clone()]);
            mass.solve(model, &mut Y[row]);
        }
        let dot = |i: usize, j: usize| -> f64 {
            J[i * nv..(i + 1) * nv].iter().zip(&Y[j * nv..(j + 1) * nv]).map(|(a, b)| a * b).sum()
        };
        // the same number on both sides of the diagonal
        let G: Vec<f64> = (0..rows * rows).map(|k| dot((k / rows).max(k % rows), (k / rows).min(k % rows))).collect();
        let cones: Vec<Cone> = self.problem.blocks.iter().map(|b| b.cone).collect();
        let compliance: Vec<f64> = self.problem.blocks.iter().map(|b| b.compliance).collect();
        Problem::new(&cones, &G, &self.problem.g, &compliance)
    }
}
