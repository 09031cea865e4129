//! M̂ of a step and its inverse. Contacts and Jacobians need the sparse factor. In trees so deep that it would cost more
//! than all the rest, articulated bodies serve as long as only single vectors are solved for.   (mass-8)
#![allow(non_snake_case)]

use super::aba::{Articulated, Six, accumulate, add, add_scaled, dot, full, product, release};
use super::kinematics::Kinematics;
use super::mass_factor::{self, MassFactor};
use super::mass_solve::solve_vector;
use super::tree_matrix::{self, NOISE, TreeMatrix, broken};
use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::model::Model;
use crate::spatial::{Lane, Motion};

/// Dofs above one another from which on articulated bodies are quicker.
const DEEP: usize = 40;

/// M̂ = M + a diagonal, ready to be solved with.
#[derive(Debug, Clone)]
pub struct StepMass {
    factor: MassFactor,
    /// M̂ itself, while `factor` has its factors.
    matrix: TreeMatrix,
    /// Whether `factor` belongs to the step at hand.
    factored: bool,
    /// Terms added to the diagonal of M (nv).
    diagonal: Vec<f64>,
    bodies: Option<Box<ArticulatedInertias>>,
}

footprint!(StepMass: factor, matrix, diagonal, bodies);

impl StepMass {
    /// Memory for a model.
    pub fn new(model: &Model) -> StepMass {
        let deep = (0..model.nv()).any(|j| model.tree().depth(j) >= DEEP);
        StepMass {
            factor: MassFactor::new(model),
            matrix: TreeMatrix::new(model.tree()),
            factored: false,
            diagonal: vec![0.0; model.nv()],
            bodies: deep.then(|| Box::new(ArticulatedInertias::new(model))),
        }
    }

    /// Takes M of the configuration in `kin` (axes and inertias) plus a diagonal.
    pub(crate) fn begin(&mut self, model: &Model, kin: &Kinematics, diagonal: impl Fn(usize) -> f64) {
        self.factored = false;
        self.diagonal.iter_mut().enumerate().for_each(|(j, x)| *x = diagonal(j));
        match &mut self.bodies {
            Some(bodies) => loosen(bodies, model, kin, &self.diagonal),
            None => self.complete(model, kin),
        }
    }

    /// Makes the sparse factor if it is not there yet. `kin` is that of `begin`.
    pub(crate) fn complete(&mut self, model: &Model, kin: &Kinematics) {
        if self.factored {
            return;
        }
        mass_factor::crba(model, kin, &mut self.factor);
        for (j, x) in self.diagonal.iter().enumerate() {
            self.factor.add_diagonal(model.tree(), j, *x);
        }
        self.matrix.copy_rows(model.tree(), 0..model.nv(), &self.factor);
        tree_matrix::factor(model.tree(), 0..model.nv(), &mut self.factor);
        self.factored = true;
    }

    /// The sparse factor, once it is there.
    pub(crate) fn factor(&self) -> &MassFactor {
        &self.factor
    }

    /// M̂ itself, once the sparse factor is there.
    pub(crate) fn matrix(&self) -> &TreeMatrix {
        &self.matrix
    }

    /// `x ← M̂⁻¹ x`.
    pub(crate) fn solve(&mut self, model: &Model, x: &mut [f64]) {
        match &mut self.bodies {
            Some(bodies) if !self.factored => accelerate(bodies, model, x),
            _ => solve_vector(model.tree(), 0..model.nv(), &self.factor, x),
        }
    }

    /// The first dof whose pivot is not positive: M̂ is singular there.
    pub(crate) fn broken_pivot(&self) -> Option<usize> {
        match &self.bodies {
            Some(bodies) if !self.factored => broken(&bodies.inverse_pivot),
            _ => self.factor.broken_pivot(),
        }
    }
}

/// Articulated bodies without forces: what `aba.rs` does, apart from the torques.
#[derive(Debug, Clone)]
pub(crate) struct ArticulatedInertias {
    /// Inertia that each body and its loose subtree oppose to acceleration.
    inertia: Vec<Articulated>,
    axes: Vec<Motion>,
    /// U = I^A S, and 1 / (Sᵀ U + diagonal).
    U: Vec<Six>,
    inverse_pivot: Vec<f64>,
    /// Force on each body, then its acceleration.
    force: Vec<Six>,
    A: Vec<Motion>,
}

footprint!(ArticulatedInertias: inertia, axes, U, inverse_pivot, force, A);

impl ArticulatedInertias {
    fn new(model: &Model) -> ArticulatedInertias {
        let (n, nv) = (model.n_bodies(), model.nv());
        ArticulatedInertias {
            inertia: vec![[[Lane::ZERO; 2]; 6]; n],
            axes: vec![Motion::ZERO; nv],
            U: vec![[Lane::ZERO; 2]; nv],
            inverse_pivot: vec![0.0; nv],
            force: vec![[Lane::ZERO; 2]; n],
            A: vec![Motion::ZERO; n],
        }
    }
}

dispatch!(
    /// Articulated inertias, leaf to root.   (aba-2 … aba-4)
    pub(crate) fn loosen(bodies: &mut ArticulatedInertias, model: &Model, kin: &Kinematics, diagonal: &[f64]) {
        let tree = model.tree();
        bodies.axes.copy_from_slice(&kin.axes);
        for (own, rigid) in bodies.inertia.iter_mut().zip(&kin.inertia).skip(1) {
            *own = full(rigid);
        }
        for i in (1..tree.n_bodies()).rev() {
            let node = &tree.nodes[i];
            let mut inertia = bodies.inertia[i];
            for j in node.dofs.clone().rev() {
                let S = bodies.axes[j];
                let U = product(&inertia, S);
                let pivot = dot(&U, S) + model.armature()[j] + diagonal[j];
                let rigid = S.dot(kin.inertia[i] * S);
                let inverse = if pivot > NOISE * rigid { 1.0 / pivot } else { f64::INFINITY };
                (bodies.U[j], bodies.inverse_pivot[j]) = (U, inverse);
                release(&mut inertia, &U, inverse);
            }
            if node.parent != 0 {
                accumulate(&mut bodies.inertia[node.parent], &inertia);
            }
        }
    }
);

dispatch!(
    /// Accelerations under torques, in their place.   (aba-3, aba-5)
    pub(crate) fn accelerate(bodies: &mut ArticulatedInertias, model: &Model, x: &mut [f64]) {
        let (tree, ArticulatedInertias { axes, U, inverse_pivot, force, A, .. }) = (model.tree(), bodies);
        force.fill([Lane::ZERO; 2]);
        for i in (1..tree.n_bodies()).rev() {
            let node = &tree.nodes[i];
            let mut own = force[i];
            for j in node.dofs.clone().rev() {
                x[j] = (x[j] - dot(&own, axes[j])) * inverse_pivot[j];
                own = add_scaled(own, &U[j], x[j]);
            }
            force[node.parent] = add(force[node.parent], own);
        }
        A[0] = Motion::ZERO;
        for i in 1..tree.n_bodies() {
            let node = &tree.nodes[i];
            let mut own = A[node.parent];
            for j in node.dofs.clone() {
                x[j] -= dot(&U[j], own) * inverse_pivot[j];
                own += axes[j] * x[j];
            }
            A[i] = own;
        }
    }
);
