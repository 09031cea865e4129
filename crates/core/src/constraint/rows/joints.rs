//! Rows that concern joints alone: limits, dry friction, couplings of joints and tendons.   (contact-9 … contact-11)

use crate::constraint::laws::cone::Cone;
use crate::constraint::problem::islands::DisjointSets;
use crate::constraint::warm::Key;
use crate::dynamics::tendon_length;
use crate::model::{EqualityKind, Joint, JointKind, Model, ParameterGroup};
use crate::spatial::{Quat, Vec3, right_jacobian_inverse};

/// On the central path, where limits act at a distance, those nearer than this are candidates (rad or m).
pub(crate) const CENTRAL_RANGE: f64 = 0.1;
/// In the exact step, those nearer than this or than twice the motion of their joint in the step are (rad or m).
pub(crate) const EXACT_RANGE: f64 = 2e-4;
/// Limits are candidates up to so many times the motion in a step.
const LIMIT_LOOKAHEAD: f64 = 2.0;

/// Which row this is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum JointRowKind {
    /// Limit of a joint with one dof; `sign` is +1 at the lower and −1 at the upper end.
    Limit {
        joint: usize,
        sign: f64,
    },
    /// Largest angle of a ball joint about the axis it is turned by.
    BallLimit {
        joint: usize,
        axis: Vec3,
    },
    TendonLimit {
        tendon: usize,
        sign: f64,
    },
    DryFriction {
        dof: usize,
    },
    TendonFriction {
        tendon: usize,
    },
    /// A coupling of two joints; `slope` is the derivative of the polynomial.
    Coupling {
        equality: usize,
        slope: f64,
    },
}

impl JointRowKind {
    /// Key of the row that stays the same from step to step.
    pub fn key(self) -> Key {
        let end = |sign: f64| u64::from(sign < 0.0);
        match self {
            JointRowKind::Limit { joint, sign } => Key(Key::JOINT, 2 * joint as u64 + end(sign)),
            JointRowKind::BallLimit { joint, .. } => Key(Key::JOINT, 2 * joint as u64),
            JointRowKind::TendonLimit { tendon, sign } => Key(Key::JOINT + 1, 2 * tendon as u64 + end(sign)),
            JointRowKind::DryFriction { dof } => Key(Key::JOINT + 2, dof as u64),
            JointRowKind::TendonFriction { tendon } => Key(Key::JOINT + 3, tendon as u64),
            JointRowKind::Coupling { equality, .. } => Key(Key::JOINT + 4, equality as u64),
        }
    }
}

/// A row over a few dofs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JointRow {
    pub kind: JointRowKind,
    pub cone: Cone,
    /// Distance to the limit, or error of a coupling (rad or m).
    pub phi: f64,
    pub included: bool,
}

impl JointRow {
    /// Dofs and their entries in J.
    pub fn terms<'m>(&self, model: &'m Model) -> impl Iterator<Item = (usize, f64)> + 'm {
        let joints = self.joint_terms(model).into_iter().filter(|(j, _)| *j != NO_DOF.0);
        let of_tendon = move |(t, weight): (usize, f64)| {
            let joints = &model.tendons()[t].joints;
            joints.iter().map(move |(id, w)| (model.joints()[id.0].v.start, weight * w))
        };
        joints.chain(self.tendon_terms(model).into_iter().flatten().flat_map(of_tendon))
    }

    /// Its dof and entry in J, if it acts on a single dof.
    pub fn only_dof(&self, model: &Model) -> Option<(usize, f64)> {
        let dof = |joint: usize| model.joints()[joint].v.start;
        match self.kind {
            JointRowKind::Limit { joint, sign } => Some((dof(joint), sign)),
            JointRowKind::DryFriction { dof } => Some((dof, 1.0)),
            JointRowKind::Coupling { equality, .. } => match &model.equalities()[equality].kind {
                EqualityKind::Joint { joint, other: None, .. } => Some((dof(joint.0), 1.0)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The first tree of the island that it belongs to.
    pub fn island(&self, model: &Model, joined: &DisjointSets) -> usize {
        let (tree, dof) = (model.tree(), self.terms(model).next());
        dof.map_or(0, |(j, _)| joined.first(tree.nodes[tree.dof_body[j]].tree))
    }

    /// Entries of joints.
    fn joint_terms(&self, model: &Model) -> [(usize, f64); 3] {
        let dof = |joint: usize| model.joints()[joint].v.start;
        match self.kind {
            JointRowKind::Limit { joint, sign } => [(dof(joint), sign), NO_DOF, NO_DOF],
            JointRowKind::BallLimit { joint, axis } => {
                let first = model.joints()[joint].v.end - 3;
                [(first, -axis.x), (first + 1, -axis.y), (first + 2, -axis.z)]
            }
            JointRowKind::DryFriction { dof } => [(dof, 1.0), NO_DOF, NO_DOF],
            JointRowKind::Coupling { equality, slope } => match &model.equalities()[equality].kind {
                EqualityKind::Joint { joint, other, .. } => {
                    let leader = other.map_or(NO_DOF, |o| (dof(o.0), -slope));
                    [(dof(joint.0), 1.0), leader, NO_DOF]
                }
                _ => [NO_DOF; 3],
            },
            JointRowKind::TendonLimit { .. } | JointRowKind::TendonFriction { .. } => [NO_DOF; 3],
        }
    }

    /// Tendons and their weights.
    fn tendon_terms(&self, model: &Model) -> [Option<(usize, f64)>; 2] {
        match self.kind {
            JointRowKind::TendonLimit { tendon, sign } => [Some((tendon, sign)), None],
            JointRowKind::TendonFriction { tendon } => [Some((tendon, 1.0)), None],
            JointRowKind::Coupling { equality, slope } => match &model.equalities()[equality].kind {
                EqualityKind::Tendon { tendon, other, .. } => [Some((*tendon, 1.0)), other.map(|o| (o, -slope))],
                _ => [None; 2],
            },
            _ => [None; 2],
        }
    }

    /// Calls `visit(i, j, ∂J_i/∂q_j)` where the row itself changes with the configuration.   (grad-5)
    pub fn for_each_curvature(&self, model: &Model, q: &[f64], mut visit: impl FnMut(usize, usize, f64)) {
        match self.kind {
            JointRowKind::BallLimit { joint, axis } => {
                let joint = &model.joints()[joint];
                let turn = ball_turn(joint, q);
                let slope = right_jacobian_inverse(turn);
                for (n, m) in (0..9).map(|k| (k / 3, k % 3)) {
                    let along = slope.c[m].dot(axis) * axis[n];
                    let first = joint.v.end - 3;
                    visit(first + n, first + m, (along - slope.at(n, m)) / turn.norm());
                }
            }
            JointRowKind::Coupling { equality, .. } => {
                let kind = &model.equalities()[equality].kind;
                let bend = coupling(model, kind, q).map_or(0.0, |c| c.bend);
                if bend != 0.0 {
                    for_each_leader(model, kind, |i, a| {
                        for_each_leader(model, kind, |j, b| visit(i, j, -bend * a * b))
                    });
                }
            }
            _ => {}
        }
    }

    /// Velocity of the row.
    pub fn velocity(&self, model: &Model, v: &[f64]) -> f64 {
        self.terms(model).fold(0.0, |s, (j, x)| s + x * v[j])
    }
}

/// No dof.
const NO_DOF: (usize, f64) = (usize::MAX, 0.0);

/// All rows of a state. `is_near` decides from a gap and its change over the step whether a limit is active.
pub(crate) fn collect(
    model: &Model,
    q: &[f64],
    v_free: &[f64],
    near: f64,
    rows: &mut Vec<JointRow>,
    is_near: impl Fn(f64, f64) -> bool,
) {
    let dt = model.options().dt;
    for_each_limit(model, q, v_free, |kind, phi, velocity| {
        if phi + LIMIT_LOOKAHEAD * dt * velocity.min(0.0) < near {
            rows.push(JointRow { kind, cone: Cone::Unilateral, phi, included: is_near(phi, dt * velocity) });
        }
    });
    let always = |kind, cone, phi| JointRow { kind, cone, phi, included: true };
    for (dof, force) in model.parameters().group(ParameterGroup::DryFriction).iter().enumerate() {
        if *force > 0.0 {
            rows.push(always(JointRowKind::DryFriction { dof }, Cone::Box { bound: force * dt }, 0.0));
        }
    }
    for (tendon, t) in model.tendons().iter().enumerate().filter(|(_, t)| t.dry_friction > 0.0) {
        let cone = Cone::Box { bound: t.dry_friction * dt };
        rows.push(always(JointRowKind::TendonFriction { tendon }, cone, 0.0));
    }
    for (equality, e) in model.equalities().iter().enumerate().filter(|(_, e)| e.active) {
        if let Some(Polynomial { error, slope, .. }) = coupling(model, &e.kind, q) {
            rows.push(always(JointRowKind::Coupling { equality, slope }, Cone::Bilateral, error));
        }
    }
}

/// Adds limits that were not collected and would be violated by more than `tolerance` at `v_next`. Returns whether there
/// are any.
pub(crate) fn collect_violated(
    model: &Model,
    q: &[f64],
    v_next: &[f64],
    tolerance: f64,
    rows: &mut Vec<JointRow>,
) -> bool {
    let (dt, before) = (model.options().dt, rows.len());
    for_each_limit(model, q, v_next, |kind, phi, velocity| {
        if phi + dt * velocity < -tolerance && rows.iter().all(|r| r.kind.key() != kind.key()) {
            rows.push(JointRow { kind, cone: Cone::Unilateral, phi, included: true });
        }
    });
    rows.len() > before
}

/// Calls `visit` with each limit of joints and tendons, the distance to it, and the velocity at which that opens.
#[inline(always)]
fn for_each_limit(model: &Model, q: &[f64], v: &[f64], mut visit: impl FnMut(JointRowKind, f64, f64)) {
    for (n, joint) in model.joints().iter().enumerate() {
        if let Some(range) = joint.range {
            joint_limits(n, joint, range, q, v, &mut visit);
        }
    }
    for (n, tendon) in model.tendons().iter().enumerate() {
        if let Some([low, high]) = tendon.range {
            let length = tendon_length(model, tendon, q);
            let velocity = tendon.joints.iter().fold(0.0, |s, (id, w)| s + w * v[model.joints()[id.0].v.start]);
            visit(JointRowKind::TendonLimit { tendon: n, sign: 1.0 }, length - low, velocity);
            visit(JointRowKind::TendonLimit { tendon: n, sign: -1.0 }, high - length, -velocity);
        }
    }
}

#[inline(always)]
fn joint_limits(
    n: usize,
    joint: &Joint,
    [low, high]: [f64; 2],
    q: &[f64],
    v: &[f64],
    limit: &mut impl FnMut(JointRowKind, f64, f64),
) {
    match joint.kind {
        JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
            let (x, velocity) = (q[joint.q.start], v[joint.v.start]);
            limit(JointRowKind::Limit { joint: n, sign: 1.0 }, x - low, velocity);
            limit(JointRowKind::Limit { joint: n, sign: -1.0 }, high - x, -velocity);
        }
        JointKind::Spherical => {
            let turn = ball_turn(joint, q);
            // without a turn there is no axis, and no limit near either
            if let Some(axis) = turn.normalized() {
                let velocity = -axis.dot(Vec3::from_slice(&v[joint.v.end - 3..]));
                limit(JointRowKind::BallLimit { joint: n, axis }, high - turn.norm(), velocity);
            }
        }
        _ => {}
    }
}

/// Rotation vector of a ball joint.
fn ball_turn(joint: &Joint, q: &[f64]) -> Vec3 {
    Quat::from_slice(&q[joint.q.start..]).normalized().unwrap_or(Quat::IDENTITY).log()
}

/// Dofs of the leading side of a coupling and their weights.
fn for_each_leader(model: &Model, kind: &EqualityKind, mut visit: impl FnMut(usize, f64)) {
    let dof = |joint: usize| model.joints()[joint].v.start;
    match kind {
        EqualityKind::Joint { other: Some(o), .. } => visit(dof(o.0), 1.0),
        EqualityKind::Tendon { other: Some(o), .. } => {
            model.tendons()[*o].joints.iter().for_each(|(id, weight)| visit(dof(id.0), *weight));
        }
        _ => {}
    }
}

/// A coupling at one configuration: error `y − p(x)`, p' and p''.
struct Polynomial {
    error: f64,
    slope: f64,
    bend: f64,
}

/// The coupling of a constraint, if it is one.   (contact-11)
fn coupling(model: &Model, kind: &EqualityKind, q: &[f64]) -> Option<Polynomial> {
    let displacement = |joint: usize| {
        let joint = &model.joints()[joint];
        q[joint.q.start] - joint.reference
    };
    let stretch = |t: usize| {
        let tendon = &model.tendons()[t];
        tendon_length(model, tendon, q) - tendon_length(model, tendon, model.neutral())
    };
    let (y, x, c) = match kind {
        EqualityKind::Joint { joint, other, coefficients } => {
            (displacement(joint.0), other.map_or(0.0, |o| displacement(o.0)), coefficients)
        }
        EqualityKind::Tendon { tendon, other, coefficients } => {
            (stretch(*tendon), other.map_or(0.0, stretch), coefficients)
        }
        _ => return None,
    };
    let value = c.iter().rev().fold(0.0, |s, c| s * x + c);
    let slope = (1..5).rev().fold(0.0, |s, k| s * x + k as f64 * c[k]);
    let bend = (2..5).rev().fold(0.0, |s, k| s * x + (k * (k - 1)) as f64 * c[k]);
    Some(Polynomial { error: y - value, slope, bend })
}
