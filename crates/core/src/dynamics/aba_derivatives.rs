//! Derivatives of forward dynamics: ∂a/∂q = −M⁻¹ ∂tau/∂q, ∂a/∂v = −M⁻¹ ∂tau/∂v, ∂a/∂tau = M⁻¹.   (daba-1)
#![allow(non_snake_case)]

use super::aba::{ArticulatedBodies, aba};
use super::kinematics::Kinematics;
use super::kinematics_derivatives::KinematicsDerivatives;
use super::mass_factor::MassFactor;
use super::mass_solve::{Panel, inverse, solve_columns};
use super::rnea::Wrench;
use super::rnea_derivatives::{RneaDerivatives, rnea_derivatives_placed, stride};
use super::tree_matrix::factor;
use crate::linalg::MatRef;
use crate::model::Model;

/// ∂a/∂q and ∂a/∂v side by side, and M⁻¹.
#[derive(Debug, Clone)]
pub struct AbaDerivatives {
    /// Row i: ∂a_i/∂q (nv numbers), ∂a_i/∂v (nv numbers), padding.
    rows: Vec<f64>,
    /// Row i of M⁻¹ (nv numbers, padding).
    inverse: Vec<f64>,
    /// Accelerations (nv).
    a: Vec<f64>,
    panel: Panel,
    nv: usize,
}

impl AbaDerivatives {
    /// Memory for a model.
    pub fn new(model: &Model) -> AbaDerivatives {
        let nv = model.nv();
        AbaDerivatives {
            rows: vec![0.0; nv * stride(2 * nv)],
            inverse: vec![0.0; nv * stride(nv)],
            a: vec![0.0; nv],
            panel: Panel::new(model),
            nv,
        }
    }

    /// ∂a/∂q (nv × nv).
    pub fn da_dq(&self) -> MatRef<'_> {
        MatRef::with_stride(&self.rows, self.nv, self.nv, stride(2 * self.nv))
    }

    /// ∂a/∂v (nv × nv).
    pub fn da_dv(&self) -> MatRef<'_> {
        MatRef::with_stride(&self.rows[self.nv.min(self.rows.len())..], self.nv, self.nv, stride(2 * self.nv))
    }

    /// ∂a/∂tau = M⁻¹ (nv × nv).
    pub fn da_dtau(&self) -> MatRef<'_> {
        MatRef::with_stride(&self.inverse, self.nv, self.nv, stride(self.nv))
    }

    /// M⁻¹ alone, from a factor.
    pub(super) fn invert(&mut self, model: &Model, mass: &MassFactor) {
        inverse(model, mass, stride(self.nv), &mut self.inverse, &mut self.panel);
    }

    /// Accelerations (nv).
    pub fn acceleration(&self) -> &[f64] {
        &self.a
    }
}

/// Accelerations and their derivatives; wrenches are constant in world axes and act at points of their bodies.
pub(crate) fn aba_derivatives(
    model: &Model,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    wrenches: &[Wrench],
    kin: &mut Kinematics,
    art: &mut ArticulatedBodies,
    dkin: &mut KinematicsDerivatives,
    mass: &mut MassFactor,
    drnea: &mut RneaDerivatives,
    out: &mut AbaDerivatives,
) {
    // accelerations; poses, axes, inertias and velocities stay in `kin`
    aba(model, q, v, tau, wrenches, kin, art, &mut out.a);
    // inverse dynamics at these accelerations, differentiated
    rnea_derivatives_placed(model, v, &out.a, wrenches, &[], kin, dkin, mass, drnea);
    // −M⁻¹ of that
    factor(model.tree(), 0..model.nv(), mass);
    solve_columns(model, mass, -1.0, stride(2 * out.nv), &drnea.rows, &mut out.rows, &mut out.panel);
    out.invert(model, mass);
}
