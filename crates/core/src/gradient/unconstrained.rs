//! The torque-space derivative at fixed impulses: S_q, S_v with `M̂ dv_next = S_q dq + S_v dv + dt dtau + Jᵀ dλ`.   (grad-1)
//!
//! The step solves `dt ID(q, v, a) + (dt D̂ + dt² K̂)(v_next − u − v) + dt² K̂ v = dt tau(q, v, ctrl) + Jᵀ λ` with inverse
//! dynamics ID at the acceleration `a = (v_next − u − v)/dt`, u the free-rotation correction (`rotation.rs`).
//! D̂, K̂ are the damping and stiffness taken at the end of the step. Contact forces enter ID as forces that turn with their
//! bodies; their remaining change is in [`Stiffness`](super::rows::row_derivative::Stiffness).
#![allow(non_snake_case)]

use super::components::Components;
use super::record::StepRecord;
use super::rotation::Rotation;
use super::rows::linearize::Linearized;
use crate::constraint::Source;
use crate::dispatch::dispatch;
use crate::dynamics::{
    KinematicsDerivatives, MassFactor, RneaDerivatives, Wrench, compensation_wrenches, for_each_compensation_slope,
    for_each_passive_slope, for_each_state_partial, lost, rnea_derivatives_placed, stride,
};
use crate::footprint::footprint;
use crate::model::Model;

/// Memory of the unconstrained part.
#[derive(Debug, Clone)]
pub(crate) struct Unconstrained {
    /// Rows of S: ∂/∂q (nv numbers), ∂/∂v (nv numbers), padding.
    pub S: Vec<f64>,
    pub dkin: KinematicsDerivatives,
    drnea: RneaDerivatives,
    /// The mass matrix without implicit terms.
    M: MassFactor,
    /// The user's wrenches and compensated weights.
    pub wrenches: Vec<Wrench>,
    /// Saturation mask: which dofs pass changes of their actuators (nv).
    pub saturation: Vec<f64>,
    /// Scratch: displacements of joint springs (nv).
    pub displacement: Vec<f64>,
    pub rotation: Rotation,
}

footprint!(Unconstrained: S, dkin, drnea, M, wrenches, saturation, displacement, rotation);

impl Unconstrained {
    /// Memory for a model.
    pub fn new(model: &Model) -> Unconstrained {
        Unconstrained {
            S: vec![0.0; model.nv() * stride(2 * model.nv())],
            dkin: KinematicsDerivatives::new(model),
            drnea: RneaDerivatives::new(model),
            M: MassFactor::new(model),
            wrenches: Vec::new(),
            saturation: vec![1.0; model.nv()],
            displacement: vec![0.0; model.nv()],
            rotation: Rotation::new(model),
        }
    }

    /// Wrenches, saturation masks and inertias of a step.
    pub fn begin(&mut self, f: &StepRecord) {
        self.rotation.begin(f);
        self.wrenches.clear();
        self.wrenches.extend_from_slice(&f.given.wrenches);
        self.wrenches.extend(compensation_wrenches(f.model));
        self.saturation.copy_from_slice(&f.free.saturation);
    }

    /// Writes S, where the components have entries.
    pub fn write(&mut self, f: &mut StepRecord, linearized: &Linearized, components: &Components) {
        let model = f.model;
        let Unconstrained { dkin, drnea, M, wrenches, .. } = self;
        let constraint_forces = &linearized.constraint_forces;
        rnea_derivatives_placed(model, &f.given.v, f.acceleration, wrenches, constraint_forces, f.kin, dkin, M, drnea);
        sum_up(self, f, linearized, components);
    }

    /// Springs, dampers, actuators; implicit damping acts on v_next and leaves ∂/∂v.
    #[inline(always)]
    fn add_forces(&mut self, f: &StepRecord) {
        let (model, dt, nv) = (f.model, f.model.options().dt, f.model.nv());
        let Unconstrained { S, saturation, .. } = self;
        let stride = stride(2 * nv);
        for j in 0..nv {
            S[j * stride + nv + j] += dt * f.free.damping[j];
        }
        let mut add = |i: usize, j: usize, dq: f64, dv: f64| {
            S[i * stride + j] += dt * dq;
            S[i * stride + nv + j] += dt * dv;
        };
        for_each_passive_slope(model, &f.given.q, &mut add);
        if let Some(drive) = f.given.drive() {
            for_each_state_partial(model, f.kin, &f.given.q, &f.given.v, drive, saturation, &mut add);
        }
        let lost = lost(model, f.given.ctrl().map(|_| &saturation[..]));
        for_each_compensation_slope(model, f.kin, lost, |i, j, slope| add(i, j, -slope, 0.0));
    }

    /// Torques of joint rows that change with the configuration.   (grad-5)
    #[inline(always)]
    fn add_curvatures(&mut self, f: &StepRecord) {
        let stride = stride(2 * f.model.nv());
        for_each_curvature(f, |i, j, x| self.S[i * stride + j] += x);
    }

    /// Torques of constraint forces that do not turn with their bodies.   (grad-7)
    #[inline(always)]
    fn add_stiffness(&mut self, f: &StepRecord, linearized: &Linearized) {
        let (tree, axes) = (f.model.tree(), &f.kin.axes);
        let stride = stride(2 * f.model.nv());
        for s in &linearized.stiffness {
            for &j in tree.support(s.by) {
                let change = s.times(axes[j]);
                for &i in tree.support(s.on) {
                    self.S[i * stride + j] += axes[i].dot(change);
                }
            }
        }
    }
}

dispatch!(
    /// S from the derivatives of inverse dynamics and all other forces.
    pub(crate) fn sum_up(
        unconstrained: &mut Unconstrained,
        f: &StepRecord,
        linearized: &Linearized,
        components: &Components,
    ) {
        let (model, dt) = (f.model, f.model.options().dt);
        let Unconstrained { S, drnea, .. } = unconstrained;
        components.for_each_piece(2, |piece| {
            S[piece.clone()].iter_mut().zip(&drnea.rows[piece]).for_each(|(s, d)| *s = -dt * d);
        });
        unconstrained.M.add_full(model.tree(), stride(2 * model.nv()), model.nv(), &mut unconstrained.S);
        let Unconstrained { rotation, M, S, .. } = &mut *unconstrained;
        rotation.add_forward(f, M, S);
        unconstrained.add_forces(f);
        unconstrained.add_curvatures(f);
        unconstrained.add_stiffness(f, linearized);
    }
);

/// Calls `visit(i, j, λ ∂J_i/∂q_j)` for the joint rows of the problem.
pub(crate) fn for_each_curvature(f: &StepRecord, mut visit: impl FnMut(usize, usize, f64)) {
    for (b, source) in f.assembly.problem.blocks.iter().zip(&f.assembly.sources) {
        let (Source::Joint(n), lambda) = (source, f.solution.lambda()[b.row]) else { continue };
        if lambda != 0.0 {
            let row = &f.assembly.joint_rows[*n];
            row.for_each_curvature(f.model, &f.given.q, |i, j, bend| visit(i, j, lambda * bend));
        }
    }
}
