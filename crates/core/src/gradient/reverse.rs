//! Reverse mode: one adjoint solve, no matrix.   (grad-10)
//!
//! For the gradient w of a scalar with respect to v_next: `z = M̂⁻¹ (w − Jᵀ η)` with `η = Bᵀ A⁻ᵀ Cᵀ J M̂⁻¹ w`. The two vectors
//! z and y = A⁻ᵀ Cᵀ J M̂⁻¹ w contain all sensitivities: `∇ = Sᵀ z − Dᵀ y`, for the state, torques and parameters alike.
#![allow(non_snake_case)]

use super::drive::for_each_drive_partial;
use super::forward::turns;
use super::record::StepRecord;
use super::rows::linearize::{Linearized, linearize_contact};
use super::system::active_set::Active;
use super::types::{GradientError, InputGrad, OutputGrad};
use super::unconstrained::{Unconstrained, for_each_curvature};
use crate::constraint::Source;
use crate::dynamics::{
    RneaAdjoint, RneaGradient, for_each_compensation_slope, for_each_passive_slope, for_each_state_partial, lost, pull,
    rnea_vjp_placed, solve_vector,
};
use crate::footprint::footprint;
use crate::model::{BodyId, Model, PrimitiveKind};
use crate::spatial::{Force, Vec3};

/// Memory of reverse mode.
#[derive(Debug, Clone)]
pub(crate) struct Reverse {
    /// z (nv) and y (one per unknown, in the first place of a lane).
    pub z: Vec<f64>,
    pub y: Vec<[f64; 4]>,
    pub adjoint: RneaAdjoint,
    /// Gradients with respect to q, v and a of inverse dynamics (nv each).
    by: [Vec<f64>; 3],
    /// Gradient with respect to v_next, that of q_next folded in; then the right-hand side of the solve for z (nv).
    pub w: Vec<f64>,
    /// Forces on each body, projected onto S and Ψ̇ of its dofs.
    pub position: Vec<Force>,
    pub velocity: Vec<Force>,
    /// Values of z at locked dofs (nv, or none), and the remaining generalized force (nv).
    fixed: Vec<f64>,
    left: Vec<f64>,
    /// Gradient with respect to the drives of the actuators (nu), where those are not the controls.
    drive: Vec<f64>,
}

footprint!(Reverse: z, y, adjoint, by, w, position, velocity, fixed, left, drive);

impl Reverse {
    /// Memory for a model.
    pub fn new(model: &Model) -> Reverse {
        let (zero, bodies) = (vec![0.0; model.nv()], vec![Force::ZERO; model.n_bodies()]);
        Reverse {
            z: zero.clone(),
            y: Vec::new(),
            adjoint: RneaAdjoint::new(model),
            by: [zero.clone(), zero.clone(), zero.clone()],
            w: zero,
            position: bodies.clone(),
            velocity: bodies,
            fixed: Vec::with_capacity(model.nv()),
            left: Vec::with_capacity(model.nv()),
            drive: vec![0.0; if model.na() > 0 { model.nu() } else { 0 }],
        }
    }

    /// Whether z and y are finite.
    pub fn is_finite(&self) -> bool {
        self.z.iter().chain(self.y.as_flattened()).fold(0.0, |s, x| s + x * 0.0) == 0.0
    }

    /// z and y of a gradient with respect to the outputs, and to the impulses of all rows (or none).
    pub fn solve(&mut self, f: &mut StepRecord, active: &mut Active, w: &OutputGrad, lambda: &[f64]) {
        self.fold_configuration(f, w);
        self.y.clear();
        self.y.resize(active.unknowns.len(), [0.0; 4]);
        self.prescribe(f, active, w, lambda);
        self.solve_mass(f, active);
        if active.unknowns.is_empty() {
            return;
        }
        self.project_impulses(f, active, w, lambda);
        active.solve_transposed(1, &mut self.y);
        self.subtract_impulses(f, active);
        self.solve_mass(f, active);
        self.write_rows_on_dofs(f, active, w, lambda);
        for n in 0..f.assembly.problem.islands.len() {
            active.consistent(n).project_transposed(&mut self.y[active.of_island(n)]);
        }
    }

    /// Values of z at locked dofs, nonzero only for gradients with respect to their impulses; where a row has compliance, such
    /// gradients are added to w.   (grad-17)
    fn prescribe(&mut self, f: &StepRecord, active: &Active, w: &OutputGrad, lambda: &[f64]) {
        self.fixed.clear();
        if !active.locked.any() || (lambda.is_empty() && w.impulses.is_empty()) {
            return;
        }
        self.fixed.resize(f.model.nv(), 0.0);
        for u in active.unknowns.iter().filter(|u| u.kept) {
            let Some(row) = u.on_dof else { continue };
            let wanted = impulse_gradient(f, w, lambda, u.block, u.c);
            if row.locks() {
                self.fixed[row.dof] -= wanted / row.scale;
            } else {
                self.w[row.dof] -= wanted * row.scale / row.local_compliance;
            }
        }
    }

    /// `z = M̃⁻¹ w`, with the prescribed values at locked dofs.
    fn solve_mass(&mut self, f: &mut StepRecord, active: &Active) {
        let Reverse { z, w, fixed, .. } = self;
        z.copy_from_slice(w);
        let Some(factor) = active.locked.factor(&f.assembly.problem) else { return f.mass.solve(f.model, z) };
        let tree = f.model.tree();
        if !fixed.is_empty() {
            f.mass.matrix().add_product(tree, fixed, -1.0, z);
        }
        solve_vector(tree, 0..tree.nv, factor, z);
        z.iter_mut().zip(fixed).for_each(|(z, fixed)| *z += *fixed);
    }

    /// y of rows on single dofs: the remaining force at a locked dof, or the motion of a compliant one over its compliance.   (grad-17)
    fn write_rows_on_dofs(&mut self, f: &StepRecord, active: &Active, outputs: &OutputGrad, lambda: &[f64]) {
        if !active.locked.any() {
            return;
        }
        let Reverse { z, w, y, left, .. } = self;
        left.clear();
        left.extend_from_slice(w);
        f.mass.matrix().add_product(f.model.tree(), z, -1.0, left);
        for (y, u) in y.iter_mut().zip(&active.unknowns).filter(|(_, u)| u.kept) {
            let Some(row) = u.on_dof else { continue };
            y[0] = if row.locks() {
                left[row.dof] / row.scale
            } else {
                (row.scale * z[row.dof] + impulse_gradient(f, outputs, lambda, u.block, u.c)) / row.local_compliance
            };
        }
    }

    /// `Cᵀ J z` plus the gradient with respect to the impulses themselves.
    fn project_impulses(&mut self, f: &StepRecord, active: &Active, w: &OutputGrad, lambda: &[f64]) {
        let problem = &f.assembly.problem;
        for (n, island) in problem.islands.iter().enumerate() {
            let system = active.of_system(n);
            let mut unknowns = active.unknowns[system.clone()].iter().zip(&mut self.y[system]).peekable();
            for g in island.groups.clone() {
                let (group, xi) = (&problem.groups[g], problem.jacobian.velocity(g, &self.z));
                while let Some((u, y)) = unknowns.next_if(|(u, _)| group.blocks.contains(&u.block)) {
                    let column = u.column[..u.width].iter().zip(&xi[u.xi - group.xi.start..]);
                    y[0] = column.fold(0.0, |s, (c, x)| s + c * x) + impulse_gradient(f, w, lambda, u.block, u.c);
                }
            }
        }
    }

    /// `w − Jᵀ η`.
    fn subtract_impulses(&mut self, f: &StepRecord, active: &Active) {
        let problem = &f.assembly.problem;
        for (n, island) in problem.islands.iter().enumerate() {
            let system = active.of_system(n);
            let mut unknowns = active.unknowns[system.clone()].iter().zip(&self.y[system]).peekable();
            for g in island.groups.clone() {
                let (group, mut eta) = (&problem.groups[g], [0.0; 8]);
                while let Some((u, y)) = unknowns.next_if(|(u, _)| group.blocks.contains(&u.block)) {
                    let out = eta[u.xi - group.xi.start..].iter_mut();
                    out.zip(&u.row[..u.width]).for_each(|(e, r)| *e -= r * y[0]);
                }
                problem.jacobian.add_transposed(g, &eta[..group.xi.len()], &mut self.w);
            }
        }
    }

    /// The gradient with respect to v_next, with that of q_next = q ⊕ dt v_next.   (grad-9)
    fn fold_configuration(&mut self, f: &StepRecord, w: &OutputGrad) {
        let dt = f.model.options().dt;
        match w.v {
            [] => self.w.fill(0.0),
            v => self.w.copy_from_slice(v),
        }
        if w.q.is_empty() {
            return;
        }
        for p in &f.model.tree().primitives {
            if p.kind == PrimitiveKind::Ball {
                let rotated = turns(&f.end.v, dt, p.v).1.tmul(Vec3::from_slice(&w.q[p.v..])) * dt;
                (0..3).for_each(|k| self.w[p.v + k] += rotated[k]);
            } else {
                (p.v..p.v + p.kind.nv()).for_each(|j| self.w[j] += dt * w.q[j]);
            }
        }
    }

    /// Inverse dynamics of the step, transposed: gradients with respect to q, v and a of `−z·ID`, and all the sums that
    /// parameters need.
    pub fn sweep(&mut self, f: &mut StepRecord, l: &Linearized, unconstrained: &mut Unconstrained) {
        let Unconstrained { dkin, wrenches, .. } = unconstrained;
        let [q, v, a] = &mut self.by;
        let out = RneaGradient { q, v, a };
        let constraint_forces = &l.constraint_forces;
        rnea_vjp_placed(
            f.model,
            &f.given.v,
            f.acceleration,
            wrenches,
            constraint_forces,
            &self.z,
            f.kin,
            dkin,
            &mut self.adjoint,
            out,
        );
    }

    /// Adds the gradient with respect to the inputs. Needs `solve` and `sweep` before.
    pub fn add(
        &mut self,
        f: &mut StepRecord,
        l: &Linearized,
        unconstrained: &Unconstrained,
        w: &OutputGrad,
        out: &mut InputGrad,
    ) -> Result<(), GradientError> {
        let dt = f.model.options().dt;
        self.add_drives(f, unconstrained, w, out);
        let z = &self.z;
        out.tau.iter_mut().zip(z).for_each(|(g, z)| *g += dt * z);
        self.add_velocity(f, l, unconstrained, out.v);
        if out.q.is_empty() {
            return Ok(());
        }
        self.add_forces_by(f, unconstrained, |j, dq, _| out.q[j] += dq);
        unconstrained.rotation.add_position(f, &self.w, out.q);
        for_each_curvature(f, |i, j, x| out.q[j] += z[i] * x);
        for (g, by) in out.q.iter_mut().zip(&self.by[0]) {
            *g -= dt * by;
        }
        for (y, terms) in self.y.iter().zip(&l.terms) {
            l.by_dof[terms.by_dof.clone()].iter().for_each(|e| out.q[e.dof] -= y[0] * e.value);
        }
        add_direct_q(f, w, out.q);
        self.accumulate(f, l, w)?;
        self.project(f, l, unconstrained, out.q);
        Ok(())
    }

    /// Controls and activations, by way of the drives where the model has activations.   (act-10)
    fn add_drives(&mut self, f: &StepRecord, unconstrained: &Unconstrained, w: &OutputGrad, out: &mut InputGrad) {
        let (dt, Reverse { z, drive, .. }) = (f.model.options().dt, self);
        if drive.is_empty() {
            if !out.ctrl.is_empty() {
                for_each_drive_partial(f, &unconstrained.saturation, |i, k, slope| out.ctrl[k] += dt * z[i] * slope);
            }
            return;
        }
        drive.fill(0.0);
        for_each_drive_partial(f, &unconstrained.saturation, |i, k, slope| drive[k] += dt * z[i] * slope);
        pull(f.model, &f.given.act, f.given.ctrl(), [drive, w.act], [out.act, out.ctrl]);
    }

    /// `S_vᵀ z` and restitution.
    fn add_velocity(&self, f: &StepRecord, l: &Linearized, unconstrained: &Unconstrained, out: &mut [f64]) {
        if out.is_empty() {
            return;
        }
        let dt = f.model.options().dt;
        for (j, g) in out.iter_mut().enumerate() {
            *g += self.by[2][j] - dt * self.by[1][j] + dt * f.free.damping[j] * self.z[j];
        }
        self.add_forces_by(f, unconstrained, |j, _, dv| out[j] += dv);
        unconstrained.rotation.add_velocity(f, &self.w, out);
        for (y, terms) in self.y.iter().zip(&l.terms) {
            for term in l.by_body[terms.by_body.clone()].iter().filter(|term| term.approach != 0.0) {
                for &j in f.model.tree().support(term.body) {
                    out[j] -= y[0] * term.approach * f.kin.axes[j].dot(term.velocity);
                }
            }
        }
    }

    /// Springs, dampers and actuators: `visit(j, dt Σ z_i ∂tau_i/∂q_j, dt Σ z_i ∂tau_i/∂v_j)`, term by term.
    fn add_forces_by(&self, f: &StepRecord, unconstrained: &Unconstrained, mut visit: impl FnMut(usize, f64, f64)) {
        let (dt, z) = (f.model.options().dt, &self.z);
        let mut add = |i: usize, j: usize, dq: f64, dv: f64| visit(j, dt * z[i] * dq, dt * z[i] * dv);
        for_each_passive_slope(f.model, &f.given.q, &mut add);
        if let Some(drive) = f.given.drive() {
            for_each_state_partial(f.model, f.kin, &f.given.q, &f.given.v, drive, &unconstrained.saturation, &mut add);
        }
        let lost = lost(f.model, f.given.ctrl().map(|_| &unconstrained.saturation[..]));
        for_each_compensation_slope(f.model, f.kin, lost, |i, j, slope| add(i, j, -slope, 0.0));
    }

    /// The derivatives of all constraints with respect to the configuration, as forces accumulated over subtrees.
    pub fn accumulate(&mut self, f: &mut StepRecord, l: &Linearized, w: &OutputGrad) -> Result<(), GradientError> {
        self.accumulate_rows(f, l, w)?;
        for (i, node) in f.model.tree().nodes.iter().enumerate().skip(1).rev() {
            let (position, velocity) = (self.position[i], self.velocity[i]);
            self.position[node.parent] += position;
            self.velocity[node.parent] += velocity;
        }
        Ok(())
    }

    fn accumulate_rows(&mut self, f: &mut StepRecord, l: &Linearized, w: &OutputGrad) -> Result<(), GradientError> {
        self.position.fill(Force::ZERO);
        self.velocity.fill(Force::ZERO);
        for (y, terms) in self.y.iter().zip(&l.terms) {
            for term in &l.by_body[terms.by_body.clone()] {
                self.position[term.body] -= term.position * y[0];
                self.velocity[term.body] -= term.velocity * y[0];
            }
        }
        for s in &l.stiffness {
            self.position[s.by] += s.transposed_times(self.adjoint.virtual_velocities()[s.on]);
        }
        if w.impulses.is_empty() {
            return Ok(());
        }
        // an impulse in world axes also turns with its contact: wᵀ (dφ × λ)
        for k in 0..f.assembly.sources.len() {
            let Source::Contact(n) = f.assembly.sources[k] else { continue };
            let wanted = Vec3::from_slice(&w.impulses[3 * n..]);
            if wanted == Vec3::ZERO {
                continue;
            }
            let t = linearize_contact(f, k, n)?;
            let by_normal = t.impulse.cross(wanted).cross(t.normal);
            for i in (0..2).filter(|i| t.bodies[*i] != BodyId::WORLD) {
                let x = t.derivatives.normal[i].map(|d| by_normal.dot(d));
                let force = Force::at_point(Vec3::from_slice(&x), Vec3::from_slice(&x[3..]), t.arms[i]);
                self.position[t.bodies[i].0] += force;
            }
        }
        Ok(())
    }

    /// Projects the accumulated forces onto each joint axis.
    fn project(&self, f: &StepRecord, l: &Linearized, unconstrained: &Unconstrained, out: &mut [f64]) {
        let tree = f.model.tree();
        for (y, terms) in self.y.iter().zip(&l.terms) {
            for term in l.by_body[terms.by_body.clone()].iter().filter(|term| term.approach != 0.0) {
                for &j in tree.support(term.body) {
                    let psi = unconstrained.dkin.V_before[j].cross(f.kin.axes[j]);
                    out[j] -= y[0] * term.approach * psi.dot(term.velocity);
                }
            }
        }
        for (i, node) in tree.nodes.iter().enumerate().skip(1) {
            for j in node.dofs.clone() {
                out[j] += f.kin.axes[j].dot(self.position[i]) + l.psi_next[j].dot(self.velocity[i]);
            }
        }
    }
}

/// Adds the direct dependence of q_next on q.   (grad-9)
fn add_direct_q(f: &StepRecord, w: &OutputGrad, out: &mut [f64]) {
    if w.q.is_empty() {
        return;
    }
    let dt = f.model.options().dt;
    for p in &f.model.tree().primitives {
        if p.kind == PrimitiveKind::Ball {
            let rotated = turns(&f.end.v, dt, p.v).0.tmul(Vec3::from_slice(&w.q[p.v..]));
            (0..3).for_each(|k| out[p.v + k] += rotated[k]);
        } else {
            (p.v..p.v + p.kind.nv()).for_each(|j| out[j] += w.q[j]);
        }
    }
}

/// Gradient with respect to the impulse of an unknown: `Cᵀ Rᵀ w`, and Cᵀ times the gradient with respect to the rows.
fn impulse_gradient(f: &StepRecord, w: &OutputGrad, lambda: &[f64], block: usize, c: [f64; 3]) -> f64 {
    let b = &f.assembly.problem.blocks[block];
    let of_rows = lambda.iter().skip(b.row).zip(&c[..b.cone.rows()]).fold(0.0, |s, (l, c)| s + l * c);
    let of_contact = match f.assembly.sources[block] {
        Source::Contact(n) if !w.impulses.is_empty() => {
            let frame = &f.contacts.contacts()[n].frame;
            (*frame * Vec3::from(c)).dot(Vec3::from_slice(&w.impulses[3 * n..]))
        }
        _ => 0.0,
    };
    of_rows + of_contact
}
