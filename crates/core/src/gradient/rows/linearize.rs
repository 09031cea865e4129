//! Forms, stiffnesses and forces of all constraints that act in a finished step.   (grad-4 … grad-7)
#![allow(non_snake_case)]

use super::row_derivative::{DofDerivative, RowDerivative, Stiffness, to_origin};
use crate::collision::{CollisionError, PointDerivatives, contact_derivatives};
use crate::constraint::{BiasSlope, FrameRows, Source, relative_velocity};
use crate::dynamics::Kinematics;
use crate::footprint::footprint;
use crate::gradient::record::StepRecord;
use crate::gradient::system::active_set::{Active, Unknown};
use crate::gradient::types::GradientError;
use crate::model::{BodyId, GeomId, Model};
use crate::spatial::{Force, Mat3, Motion, Quat, Vec3, right_jacobian_inverse};
use core::ops::Range;

/// Ranges of the derivatives of one row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms {
    pub by_body: Range<usize>,
    pub by_dof: Range<usize>,
}

/// Derivatives of the constraints of a step with respect to its configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Linearized {
    /// One per unknown.
    pub terms: Vec<Terms>,
    pub by_body: Vec<RowDerivative>,
    pub by_dof: Vec<DofDerivative>,
    pub stiffness: Vec<Stiffness>,
    /// Forces of the constraints on each body, at its tree's origin (N).
    pub constraint_forces: Vec<Force>,
    /// Ψ̇ = V_before × S of each dof at the end of the step.
    pub psi_next: Vec<Motion>,
}

footprint!(Linearized: terms, by_body, by_dof, stiffness, constraint_forces, psi_next);

/// A contact of the step with its derivatives: what its rows are linearized from.
pub(crate) struct ContactLinearization {
    pub bodies: [BodyId; 2],
    pub normal: Vec3,
    pub axes: Mat3,
    pub derivatives: PointDerivatives,
    /// From the origin of each body's tree to the point.
    pub arms: [Vec3; 2],
    /// Impulse on body 2, world axes.
    pub impulse: Vec3,
    /// Velocity and angular velocity of body 2 against body 1 at the end of the step, and at its beginning.
    pub slip: [Vec3; 2],
    pub turn: [Vec3; 2],
    pub slope: BiasSlope,
}

impl Linearized {
    /// Collects everything for the unknowns of a step.
    pub fn collect(&mut self, f: &mut StepRecord, active: &Active) -> Result<(), GradientError> {
        self.begin(f);
        let mut first = 0;
        while let Some(u) = active.unknowns.get(first) {
            let same = active.unknowns[first..].iter().take_while(|o| o.block == u.block).count();
            let unknowns = &active.unknowns[first..first + same];
            match f.assembly.sources[u.block] {
                Source::Contact(n) => {
                    let contact = linearize_contact(f, u.block, n)?;
                    self.add_contact(f, &contact, unknowns);
                }
                Source::Joint(n) => self.add_joint(f, n, unknowns),
                Source::Equality(n, row) => self.add_equality(f, n, row, u.block),
            }
            first += same;
        }
        Ok(())
    }

    fn begin(&mut self, f: &StepRecord) {
        self.terms.clear();
        self.by_body.clear();
        self.by_dof.clear();
        self.stiffness.clear();
        self.constraint_forces.clear();
        self.constraint_forces.resize(f.model.n_bodies(), Force::ZERO);
        self.psi_next.clear();
        for node in f.model.tree().nodes.iter().skip(1) {
            let mut V = f.end.V[node.parent];
            for p in &f.model.tree().primitives[node.primitives.clone()] {
                let before = V;
                for j in p.v..p.v + p.kind.nv() {
                    self.psi_next.push(before.cross(f.kin.axes[j]));
                    V += f.kin.axes[j] * f.end.v[j];
                }
            }
        }
    }

    fn add_contact(&mut self, f: &StepRecord, t: &ContactLinearization, unknowns: &[Unknown]) {
        for u in unknowns {
            let start = self.by_body.len();
            for i in 0..2 {
                if t.bodies[i] != BodyId::WORLD {
                    self.by_body.push(contact_row(f, t, i, u.b));
                }
            }
            let dofs = self.by_dof.len();
            self.terms.push(Terms { by_body: start..self.by_body.len(), by_dof: dofs..dofs });
        }
        for a in (0..2).filter(|a| t.bodies[*a] != BodyId::WORLD) {
            let force = t.impulse * [-1.0, 1.0][a];
            self.add_force(f.model, t.bodies[a], Force::at_point(force, Vec3::ZERO, t.arms[a]));
            for b in (0..2).filter(|b| t.bodies[*b] != BodyId::WORLD) {
                let columns = core::array::from_fn(|k| {
                    let (mut dp, mut dphi) = (t.derivatives.point[b][k], t.normal.cross(t.derivatives.normal[b][k]));
                    if a == b {
                        // relative to the body on which the force acts
                        match k {
                            0..3 => dp -= Vec3::UNITS[k],
                            _ => dphi -= Vec3::UNITS[k - 3],
                        }
                    }
                    Force::at_point(dphi.cross(force), dp.cross(force), t.arms[a])
                });
                self.add_stiffness(t.bodies[a], t.bodies[b], to_origin(columns, t.arms[b]));
            }
        }
    }

    /// Adds an impulse on a body, as a force.
    fn add_force(&mut self, model: &Model, body: BodyId, impulse: Force) {
        self.constraint_forces[body.0] += impulse * (1.0 / model.options().dt);
    }

    /// Points of the same two bodies come one after the other: their stiffnesses are added up.
    fn add_stiffness(&mut self, on: BodyId, by: BodyId, columns: [Force; 6]) {
        let mut last = self.stiffness.iter_mut().rev().take(4);
        match last.find(|s| (s.on, s.by) == (on.0, by.0)) {
            Some(s) => s.columns.iter_mut().zip(columns).for_each(|(a, b)| *a += b),
            None => self.stiffness.push(Stiffness { on: on.0, by: by.0, columns }),
        }
    }

    /// A limit, a coupling or sticking dry friction: derivatives with respect to dofs.   (grad-5)
    fn add_joint(&mut self, f: &StepRecord, n: usize, unknowns: &[Unknown]) {
        let row = &f.assembly.joint_rows[n];
        for u in unknowns {
            let start = self.by_dof.len();
            let slope = f.assembly.bias_slope(f.model, u.block).gap;
            self.by_dof.extend(row.terms(f.model).map(|(dof, x)| DofDerivative { dof, value: slope * x }));
            row.for_each_curvature(f.model, &f.given.q, |i, dof, bend| {
                self.by_dof.push(DofDerivative { dof, value: bend * f.end.v[i] });
            });
            let by_body = self.by_body.len();
            self.terms.push(Terms { by_body: by_body..by_body, by_dof: start..self.by_dof.len() });
        }
    }

    /// One row between two frames; the forces of all rows come with the first.   (grad-6)
    fn add_equality(&mut self, f: &StepRecord, n: usize, row: usize, block: usize) {
        let rows = &f.assembly.pair_rows[n];
        let (start, dofs) = (self.by_body.len(), self.by_dof.len());
        let slope = f.assembly.bias_slope(f.model, block).gap;
        for i in (0..2).filter(|i| rows.bodies[*i] != BodyId::WORLD) {
            self.by_body.push(equality_row(f, rows, i, row, slope));
        }
        self.terms.push(Terms { by_body: start..self.by_body.len(), by_dof: dofs..dofs });
        if row > 0 {
            return;
        }
        let first = f.assembly.problem.blocks[block].row;
        let lambda = &f.solution.lambda()[first..first + rows.errors().len()];
        let [points, impulses, turnings] = rows.split(core::array::from_fn(|k| lambda.get(k).copied().unwrap_or(0.0)));
        for i in (0..2).filter(|i| rows.bodies[*i] != BodyId::WORLD) {
            let arm = points[i] - origin(f.model, f.kin, rows.bodies[i]);
            self.add_force(f.model, rows.bodies[i], Force::at_point(impulses[i], turnings[i], arm));
            // the force keeps its direction in the world while its body rotates
            let columns = core::array::from_fn(|k| match k {
                0..3 => Force::ZERO,
                _ => {
                    let turn = -Vec3::UNITS[k - 3];
                    Force::at_point(turn.cross(impulses[i]), turn.cross(turnings[i]), arm)
                }
            });
            self.add_stiffness(rows.bodies[i], rows.bodies[i], columns);
        }
    }
}

/// Point at which spatial vectors of a body are taken.
fn origin(model: &Model, kin: &Kinematics, body: BodyId) -> Vec3 {
    kin.origin[model.tree().nodes[body.0].tree]
}

/// Linearizes contact `n`, which is block `k` of the problem.
pub(crate) fn linearize_contact(f: &mut StepRecord, k: usize, n: usize) -> Result<ContactLinearization, GradientError> {
    let (model, mode) = (f.model, &f.model.options().collision_gradient);
    let c = f.contacts.contacts()[n];
    let derivatives = contact_derivatives(model, &f.kin.X_wb, f.contacts, n, mode)
        .map_err(|error| contact_error(model, c.geoms, error))?;
    let bodies = f.assembly.candidates[n].bodies;
    let arm = |b: BodyId| if b == BodyId::WORLD { Vec3::ZERO } else { c.point - origin(model, f.kin, b) };
    let row = f.assembly.problem.blocks[k].row;
    let of = [&f.end.V, &f.kin.V];
    let turning = |V: &[Motion], b: BodyId| if b == BodyId::WORLD { Vec3::ZERO } else { V[b.0].ang };
    Ok(ContactLinearization {
        bodies,
        normal: c.normal(),
        axes: c.frame,
        derivatives,
        arms: bodies.map(arm),
        impulse: c.frame * Vec3::from_slice(&f.solution.lambda()[row..]),
        slip: of.map(|V| relative_velocity(model, f.kin, V, c.point, bodies)),
        turn: of.map(|V| turning(V, bodies[1]) - turning(V, bodies[0])),
        slope: f.assembly.bias_slope(model, k),
    })
}

/// A contact without a derivative.
pub(crate) fn contact_error(model: &Model, geoms: [GeomId; 2], error: CollisionError) -> GradientError {
    GradientError::Contact { geoms: geoms.map(|g| model.geoms()[g.0].name.clone()), error }
}

/// Derivative of the equation with row `b` of a contact with respect to its body `i`.   (grad-4)
fn contact_row(f: &StepRecord, t: &ContactLinearization, i: usize, b: [f64; 3]) -> RowDerivative {
    let (body, sign, d) = (t.bodies[i].0, [-1.0, 1.0][i], t.axes * Vec3::from(b));
    let velocity = Force::at_point(d * sign, Vec3::ZERO, t.arms[i]);
    // d·(ω × dp) + d·(u × dφ) with dφ = n × dn, the gap, and the restitution times the velocity before
    let (mut by_point, mut by_normal) = (d.cross(t.turn[0]), d.cross(t.slip[0]).cross(t.normal));
    let mut moved = f.end.V[body];
    let approach = t.slope.approach * b[2];
    if approach != 0.0 {
        by_point += t.normal.cross(t.turn[1]) * approach;
        by_normal += t.slip[1] * approach;
        moved += f.kin.V[body] * approach;
    }
    let gap = t.slope.gap * b[2];
    let D = &t.derivatives;
    let k: [f64; 6] =
        core::array::from_fn(|k| by_point.dot(D.point[i][k]) + by_normal.dot(D.normal[i][k]) + gap * D.distance[i][k]);
    let shape = Force::at_point(Vec3::from_slice(&k), Vec3::from_slice(&k[3..]), t.arms[i]);
    RowDerivative { body, velocity, position: moved.cross_force(velocity) + shape, approach }
}

/// Derivative of row `row` of a frame constraint with respect to body `i`; `slope` of its error.   (grad-6)
fn equality_row(f: &StepRecord, rows: &FrameRows, i: usize, row: usize, slope: f64) -> RowDerivative {
    let (body, sign) = (rows.bodies[i], [-1.0, 1.0][i]);
    let arm = rows.points[i] - origin(f.model, f.kin, body);
    let V = f.end.V[body.0];
    let (velocity, shape) = if row < 3 {
        let axis = Vec3::UNITS[row] * sign;
        let velocity = Force::at_point(axis, Vec3::ZERO, arm);
        // the point moves with its body: e·(ω × dp)
        (velocity, Force::at_point(axis.cross(V.ang), Vec3::ZERO, arm) + velocity * slope)
    } else {
        let scale = rows.torque_scale.unwrap_or(0.0);
        let of = |x: Vec3| Force { lin: Vec3::ZERO, ang: x * scale };
        (of(Vec3::UNITS[row - 3] * sign), of(turn_row(rows.turn(), i, row - 3) * slope))
    };
    RowDerivative { body: body.0, velocity, position: V.cross_force(velocity) + shape, approach: 0.0 }
}

/// Row of the derivative of `log(R₂ R₁ᵀ)` with respect to the rotation of body `i`: `J_l⁻¹ (ω₂ − R₂ R₁ᵀ ω₁)`.
fn turn_row(turn: Vec3, i: usize, row: usize) -> Vec3 {
    let left_inverse = right_jacobian_inverse(-turn);
    let by_second = left_inverse.transpose().c[row];
    if i == 1 { by_second } else { -Quat::exp(turn).to_matrix().tmul(by_second) }
}
