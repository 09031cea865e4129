//! Gradients with respect to surface parameters: friction, restitution, compliance, sizes; and dry friction.   (grad-12)
#![allow(non_snake_case)]

use super::ParameterAdjoint;
use crate::collision::{SizeDerivative, size_derivative};
use crate::constraint::{
    self, Block, Cone, JointRowKind, Mode, Source, friction_fractions, restitution_fractions, rows_of,
};
use crate::gradient::record::StepRecord;
use crate::gradient::rows::linearize::{ContactLinearization, contact_error, linearize_contact};
use crate::gradient::types::GradientError;
use crate::model::{BodyId, GeomId, GradientMode, ParameterGroup, Shape};
use crate::spatial::Vec3;

impl ParameterAdjoint<'_, '_> {
    /// Calls `visit(block, contact)` for the contacts with an impulse.
    fn for_each_contact(&self, mut visit: impl FnMut(&Self, usize, usize)) {
        for (k, source) in self.f.assembly.sources.iter().enumerate() {
            if let (Source::Contact(n), true) = (*source, self.acts(k)) {
                visit(self, k, n);
            }
        }
    }

    /// Whether a constraint has an impulse; on the central path all do.
    fn acts(&self, block: usize) -> bool {
        self.is_central() || self.f.solution.modes()[block].0 != Mode::Break
    }

    fn is_central(&self) -> bool {
        self.f.model.options().gradient != GradientMode::Exact
    }

    /// The gradient along a change `e` of the impulse that a law makes at fixed velocities, on the central path.   (grad-13)
    fn central_gain(&self, block: usize, e: [f64; 3]) -> f64 {
        let D = self.f.solution.local_compliance(block);
        let y = self.weights(block);
        (0..3).fold(0.0, |s, i| s + y[i] * (D[i][0] * e[0] + D[i][1] * e[1] + D[i][2] * e[2]))
    }

    /// `Σ y b` over the unknowns of a block: the weights of its rows.
    pub(crate) fn weights(&self, block: usize) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for (u, y) in self.active.unknowns.iter().zip(&self.reverse.y).filter(|(u, _)| u.block == block) {
            (0..3).for_each(|i| sum[i] += u.b[i] * y[0]);
        }
        sum
    }

    /// Gradient with respect to the impulse of a block, in its own axes: J z plus the direct gradient.
    fn impulse_gradient(&self, block: usize) -> [f64; 3] {
        let (problem, f) = (&self.f.assembly.problem, &*self.f);
        let b = &problem.blocks[block];
        if let constraint::RowSpace::Dof { dof, scale } = b.space {
            return [scale * self.reverse.z[dof as usize], 0.0, 0.0];
        }
        let Some(n) = problem.group_of(b.island as usize, block) else { return [0.0; 3] };
        let local = Block { xi: b.xi - problem.groups[n].xi.start, ..*b };
        let mut pull = problem.spread(&local, &f.assembly.problem.jacobian.velocity(n, &self.reverse.z));
        if let (Source::Contact(c), false) = (f.assembly.sources[block], self.w.impulses.is_empty()) {
            let wanted = f.contacts.contacts()[c].frame.tmul(Vec3::from_slice(&self.w.impulses[3 * c..]));
            (0..3).for_each(|i| pull[i] += wanted[i]);
        }
        pull.iter_mut().zip(self.lambda.iter().skip(b.row)).take(b.cone.rows()).for_each(|(p, l)| *p += l);
        pull
    }
}

/// Sliding friction −μ λ_N u grows by −λ_N u per unit of μ; the response follows from the adjoint.
pub(crate) fn friction(s: &ParameterAdjoint, out: &mut [f64]) {
    s.for_each_contact(|s, k, n| {
        let b = &s.f.assembly.problem.blocks[k];
        let Cone::Friction { mu } = b.cone else { return };
        let (lambda, sigma) = (rows_of(s.f.solution.lambda(), b), rows_of(s.f.solution.sigma(), b));
        let gain = match s.f.solution.modes()[k].0 {
            Mode::Slide if mu == 0.0 => {
                // where there is none yet: λ_N against the slip
                let (slip, pull) = (sigma[0].hypot(sigma[1]), s.impulse_gradient(k));
                if slip == 0.0 { 0.0 } else { -lambda[2] * (sigma[0] * pull[0] + sigma[1] * pull[1]) / slip }
            }
            _ if mu == 0.0 => return,
            _ if s.is_central() => s.central_gain(k, central_friction_slope(mu, lambda, sigma)),
            Mode::Slide => {
                // −λ_N u = λ_T / μ
                let pull = s.impulse_gradient(k);
                (lambda[0] * pull[0] + lambda[1] * pull[1]) / mu
            }
            _ => return,
        };
        let pair = &s.f.model.pairs()[s.f.contacts.contacts()[n].pair];
        for (g, share) in pair.geoms.iter().zip(friction_fractions(s.f.model, pair)) {
            out[g.0] += share * gain;
        }
    });
}

/// ∂λ/∂μ at fixed velocity where `λ_N σ_N = κ`: friction is `−μ λ_N σ_T/ψ` with `ψ = c + √(c² + |σ_T|²)`,
/// `c = κ/(2 μ λ_N) = σ_N/(2 μ)`.   (grad-13)
fn central_friction_slope(mu: f64, lambda: [f64; 3], sigma: [f64; 3]) -> [f64; 3] {
    let c = sigma[2] / (2.0 * mu);
    let root = (c * c + sigma[0] * sigma[0] + sigma[1] * sigma[1]).sqrt();
    let psi = c + root;
    let by_mu = -lambda[2] / psi * (1.0 + c / psi * (1.0 + c / root));
    [by_mu * sigma[0], by_mu * sigma[1], 0.0]
}

/// Where a contact bounces, its normal row changes by the approach.
pub(crate) fn restitution(s: &ParameterAdjoint, out: &mut [f64]) {
    s.for_each_contact(|s, k, n| {
        if s.f.assembly.bias_slope(s.f.model, k).approach == 0.0 {
            return;
        }
        let gain = -s.weights(k)[2] * s.f.assembly.approach(k);
        let pair = &s.f.model.pairs()[s.f.contacts.contacts()[n].pair];
        for (g, share) in pair.geoms.iter().zip(restitution_fractions(s.f.model, pair)) {
            out[g.0] += share * gain;
        }
    });
}

/// Compliances of two surfaces add up: the normal row changes by λ_N.
pub(crate) fn compliance(s: &ParameterAdjoint, out: &mut [f64]) {
    s.for_each_contact(|s, k, n| {
        let b = &s.f.assembly.problem.blocks[k];
        let gain = -s.weights(k)[2] * rows_of(s.f.solution.lambda(), b)[2];
        s.f.contacts.contacts()[n].geoms.iter().for_each(|g| out[g.0] += gain);
    });
}

/// A slipping joint has its largest dry friction; one without dry friction would have it against its motion.
pub(crate) fn dry_friction(s: &ParameterAdjoint, out: &mut [f64]) {
    let (f, dt) = (&*s.f, s.f.model.options().dt);
    let forces = f.model.parameters().group(ParameterGroup::DryFriction);
    for (j, g) in out.iter_mut().enumerate().filter(|(j, _)| forces[*j] == 0.0) {
        if f.end.v[j] != 0.0 {
            *g -= dt * s.reverse.z[j] * f.end.v[j].signum();
        }
    }
    for (k, source) in f.assembly.sources.iter().enumerate() {
        let Source::Joint(n) = *source else { continue };
        let (JointRowKind::DryFriction { dof }, b) = (f.assembly.joint_rows[n].kind, &f.assembly.problem.blocks[k])
        else {
            continue;
        };
        let lambda = f.solution.lambda()[b.row];
        if let (true, Cone::Box { bound }) = (s.is_central(), b.cone) {
            let (below, above) = ((bound - lambda).powi(-2), (bound + lambda).powi(-2));
            out[dof] += s.central_gain(k, [dt * (below - above) / (below + above), 0.0, 0.0]);
        } else if f.solution.modes()[k].0 == Mode::Slide {
            out[dof] += dt * lambda.signum() * s.impulse_gradient(k)[0];
        }
    }
}

/// Sizes of shapes and scales of meshes move point, normal and gap of their contacts.
pub(crate) fn sizes(s: &mut ParameterAdjoint, group: ParameterGroup, out: &mut [f64]) -> Result<(), GradientError> {
    for k in 0..s.f.assembly.sources.len() {
        let Source::Contact(n) = s.f.assembly.sources[k] else { continue };
        if !s.acts(k) {
            continue;
        }
        let t = linearize_contact(s.f, k, n)?;
        for (place, size) in sizes_of(s.f, group, n)?.into_iter().flatten() {
            out[place] += size_gain(s, &t, k, n, &size);
        }
    }
    Ok(())
}

/// The parameters of a group of sizes or scales that move contact `n`: indices in the group and derivatives of the contact.
pub(crate) fn sizes_of(
    f: &mut StepRecord,
    group: ParameterGroup,
    n: usize,
) -> Result<[Option<(usize, SizeDerivative)>; 6], GradientError> {
    let mut all = [const { None }; 6];
    let geoms = f.contacts.contacts()[n].geoms;
    for (which, geom) in geoms.into_iter().enumerate() {
        let (count, first) = sizes_in_group(f, group, geom)?;
        for c in 0..count {
            let size = size_derivative(f.model, &f.kin.X_wb, f.contacts, n, which, c);
            all[3 * which + c] = Some((first + c, size.map_err(|error| contact_error(f.model, geoms, error))?));
        }
    }
    Ok(all)
}

/// How many numbers of a group a geom has, and where they begin.
pub(crate) fn sizes_in_group(
    f: &StepRecord,
    group: ParameterGroup,
    geom: GeomId,
) -> Result<(usize, usize), GradientError> {
    let shape = f.model.shape(geom);
    match (group, shape) {
        (ParameterGroup::ShapeSize, _) => Ok((shape.n_sizes(), 3 * geom.0)),
        (_, Shape::Mesh { mesh }) => Ok((3, 3 * mesh.0)),
        (_, Shape::Terrain { .. }) => {
            let name = &f.model.geoms()[geom.0].name;
            let what = format!("the contacts of terrain '{name}' with respect to the scale of its mesh");
            Err(GradientError::Unsupported { what })
        }
        _ => Ok((0, 0)),
    }
}

/// The gradient with respect to a size that moves a contact.
fn size_gain(
    s: &ParameterAdjoint,
    t: &ContactLinearization,
    block: usize,
    contact: usize,
    size: &SizeDerivative,
) -> f64 {
    let turn = t.normal.cross(size.normal);
    // the equations: as for motions of the bodies, with the point moved by the size                     (grad-4)
    let b = s.weights(block);
    let d = t.axes * Vec3::from(b);
    let mut equation = d.cross(t.turn[0]).dot(size.point) + d.cross(t.slip[0]).dot(turn);
    equation += b[2] * t.slope.gap * size.distance;
    let approach = t.normal.cross(t.turn[1]).dot(size.point) + t.slip[1].dot(size.normal);
    equation += b[2] * t.slope.approach * approach;
    // the forces: they act elsewhere and in another direction                                           (grad-7)
    let mut force = 0.0;
    for a in (0..2).filter(|a| t.bodies[*a] != BodyId::WORLD) {
        let W = s.reverse.adjoint.virtual_velocities()[t.bodies[a].0];
        let impulse = t.impulse * [-1.0, 1.0][a];
        force += W.at(t.arms[a]).dot(turn.cross(impulse)) + W.ang.dot(size.point.cross(impulse));
    }
    if !s.w.impulses.is_empty() {
        force += turn.cross(t.impulse).dot(Vec3::from_slice(&s.w.impulses[3 * contact..]));
    }
    force - equation
}
