//! The derivatives of a [`Workspace`], with the same checks.
#![allow(non_snake_case)]

use super::aba_derivatives::{self, AbaDerivatives};
use super::rnea::Wrench;
use super::rnea_adjoint::{self, RneaGradient};
use super::tree_matrix::factor;
use super::workspace::{Dense, Workspace, check_frame, check_positive_definite, check_wrenches};
use super::{actuation, kinematics, kinematics_derivatives, mass_factor, mass_solve, regressor, rnea_derivatives};
use crate::error::{DynamicsError, InputError};
use crate::input_check;
use crate::linalg::MatRef;
use crate::model::{FrameId, Model};

/// Derivatives of inverse dynamics, nv × nv each.
#[derive(Debug, Clone, Copy)]
pub struct RneaJacobians<'a> {
    /// ∂tau/∂q.
    pub dtau_dq: MatRef<'a>,
    /// ∂tau/∂v.
    pub dtau_dv: MatRef<'a>,
}

impl Workspace {
    /// Kinematics of a state with the columns that all derivatives of velocities are made of.
    pub fn kinematics_derivatives(&mut self, model: &Model, q: &[f64], v: &[f64], a: &[f64]) -> Result<(), InputError> {
        self.check(model, q, &[("v", v), ("a", a)])?;
        kinematics_derivatives::kinematics_derivatives(model, q, v, a, &mut self.kin, &mut self.dkin);
        Ok(())
    }

    /// Derivatives of [`Workspace::velocity`] with respect to q and v: 6 × nv numbers each.
    pub fn velocity_derivatives(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        frame: FrameId,
        dq: &mut [f64],
        dv: &mut [f64],
    ) -> Result<(), InputError> {
        self.check(model, q, &[("v", v)])?;
        check_frame(model, frame)?;
        input_check::length("dq", dq.len(), 6 * model.nv())?;
        input_check::length("dv", dv.len(), 6 * model.nv())?;
        kinematics_derivatives::kinematics_derivatives(model, q, v, &self.zero, &mut self.kin, &mut self.dkin);
        kinematics_derivatives::velocity_derivatives(model, &self.kin, &self.dkin, frame, dq, dv);
        Ok(())
    }

    /// Derivatives of [`Workspace::rnea`]; wrenches are constant in world axes.
    pub fn rnea_derivatives(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        wrenches: &[Wrench],
    ) -> Result<RneaJacobians<'_>, InputError> {
        self.check(model, q, &[("v", v), ("a", a)])?;
        check_wrenches(model, wrenches)?;
        self.factored = false;
        let Workspace { kin, dkin, mass, dense, .. } = self;
        let drnea = &mut Workspace::dense(dense, model)?.drnea;
        rnea_derivatives::rnea_derivatives(model, q, v, a, wrenches, kin, dkin, mass, drnea);
        Ok(RneaJacobians { dtau_dq: drnea.dtau_dq(), dtau_dv: drnea.dtau_dv() })
    }

    /// Derivatives of [`Workspace::aba`] and the accelerations; wrenches are constant in world axes.
    pub fn aba_derivatives(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        tau: &[f64],
        wrenches: &[Wrench],
    ) -> Result<&AbaDerivatives, DynamicsError> {
        self.check(model, q, &[("v", v), ("tau", tau)])?;
        check_wrenches(model, wrenches)?;
        self.factored = false;
        let Workspace { kin, art, dkin, mass, dense, .. } = self;
        let Dense { drnea, daba } = Workspace::dense(dense, model)?;
        aba_derivatives::aba_derivatives(model, q, v, tau, wrenches, kin, art, dkin, mass, drnea, daba);
        check_positive_definite(model, mass.broken_pivot())?;
        Ok(daba)
    }

    /// `wᵀ ∂tau/∂q`, `wᵀ ∂tau/∂v`, `wᵀ ∂tau/∂a` of inverse dynamics, written to `out` (nv numbers each).
    pub fn rnea_vjp(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        wrenches: &[Wrench],
        w: &[f64],
        out: [&mut [f64]; 3],
    ) -> Result<(), InputError> {
        self.check(model, q, &[("v", v), ("a", a), ("w", w)])?;
        check_wrenches(model, wrenches)?;
        let [gq, gv, ga] = out;
        for g in [&*gq, &*gv, &*ga] {
            input_check::length("gradient", g.len(), model.nv())?;
        }
        let Workspace { kin, dkin, adj, .. } = self;
        let gradient = RneaGradient { q: gq, v: gv, a: ga };
        rnea_adjoint::rnea_vjp(model, q, v, a, wrenches, w, kin, dkin, adj, gradient);
        Ok(())
    }

    /// Y with `tau = Y π + armature a`: nv × 10 (n_bodies − 1) numbers.
    pub fn regressor(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        Y: &mut [f64],
    ) -> Result<(), InputError> {
        input_check::length("Y", Y.len(), model.nv() * 10 * (model.n_bodies() - 1))?;
        let mut tau = core::mem::take(&mut self.scratch);
        let done = self.rnea(model, q, v, a, &[], &mut tau);
        self.scratch = tau;
        done?;
        regressor::regressor(model, &self.kin, Y);
        Ok(())
    }

    /// ∂a/∂π = −M⁻¹ Y of forward dynamics: nv × 10 (n_bodies − 1) numbers.   (reg-2)
    pub fn aba_inertial_derivatives(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        tau: &[f64],
        out: &mut [f64],
    ) -> Result<(), DynamicsError> {
        let (nv, n) = (model.nv(), 10 * (model.n_bodies() - 1));
        input_check::length("out", out.len(), nv * n)?;
        let mut a = core::mem::take(&mut self.scratch);
        let done = self.aba(model, q, v, tau, &[], &mut a);
        let done = done.and_then(|()| Ok(self.kinematics_derivatives(model, q, v, &a)?));
        self.scratch = a;
        done?;
        regressor::regressor(model, &self.kin, out);
        self.factored = false;
        kinematics::inertias(model, &mut self.kin);
        mass_factor::crba(model, &self.kin, &mut self.mass);
        factor(model.tree(), 0..model.nv(), &mut self.mass);
        check_positive_definite(model, self.mass.broken_pivot())?;
        for column in 0..n {
            for i in 0..nv {
                self.scratch[i] = -out[i * n + column];
            }
            mass_solve::solve_vector(model.tree(), 0..model.nv(), &self.mass, &mut self.scratch);
            for i in 0..nv {
                out[i * n + column] = self.scratch[i];
            }
        }
        Ok(())
    }

    /// Derivatives of [`Workspace::actuate`] with respect to q, v (nv × nv) and ctrl (nv × nu), written to `out`.
    pub fn actuate_derivatives(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        ctrl: &[f64],
        out: [&mut [f64]; 3],
    ) -> Result<(), InputError> {
        self.check(model, q, &[("v", v)])?;
        input_check::vector("ctrl", ctrl, model.nu())?;
        let (nv, nu) = (model.nv(), model.nu());
        let [dq, dv, dctrl] = out;
        for (m, n) in [(&*dq, nv), (&*dv, nv), (&*dctrl, nu)] {
            input_check::length("derivative", m.len(), nv * n)?;
        }
        self.place_transmissions(model, q);
        actuation::actuate_derivatives(model, &self.kin, q, v, ctrl, &mut self.scratch, dq, dv, dctrl);
        Ok(())
    }
}
