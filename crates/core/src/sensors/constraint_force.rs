//! Forces of the constraints of a finished step: contacts, limits, connect and weld constraints.
#![allow(non_snake_case)]

use super::{Snapshot, links};
use crate::constraint::{JointRowKind, Source};
use crate::model::{EqualityKind, FrameId, GeomId, JointId, SensorObject};
use crate::spatial::{Mat3, Vec3};

/// A constraint force of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ConstraintForce {
    Contact(ContactForce),
    /// At the limit of a joint or tendon.
    Limit(LimitForce),
    /// On a link, from a connect or weld constraint.
    Equality(LinkForce),
}

/// A force at a point between two geoms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ContactForce {
    pub geoms: [GeomId; 2],
    /// First of its three rows in the contact problem.
    pub row: usize,
    /// World axes (m).
    pub point: Vec3,
    /// Axes (T, T, N) as columns; N leads from the first geom to the second.
    pub axes: Mat3,
    /// On the second geom, world axes (N).
    pub force: Vec3,
}

/// A force away from a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LimitForce {
    pub object: SensorObject,
    /// Its row in the contact problem.
    pub row: usize,
    /// Away from the limit (N or N·m).
    pub force: f64,
}

/// A force at a point of a link, and a torque.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LinkForce {
    pub link: FrameId,
    /// World axes (m).
    pub point: Vec3,
    /// World axes (N, N·m).
    pub force: Vec3,
    pub torque: Vec3,
}

/// All constraint forces.
pub(super) fn all<'m>(m: &'m Snapshot) -> impl Iterator<Item = ConstraintForce> + 'm {
    contacts(m)
        .map(ConstraintForce::Contact)
        .chain(limits(m).map(ConstraintForce::Limit))
        .chain(equalities(m).map(ConstraintForce::Equality))
}

/// Contacts in the problem; all others have no force.
pub(super) fn contacts<'m>(m: &'m Snapshot) -> impl Iterator<Item = ContactForce> + 'm {
    (0..m.assembly.sources.len()).filter_map(|block| contact(m, block))
}

/// The force of a block of the problem that is a contact.
pub(super) fn contact(m: &Snapshot, block: usize) -> Option<ContactForce> {
    let Source::Contact(number) = m.assembly.sources[block] else { return None };
    let (c, row) = (&m.contacts[number], m.assembly.problem.blocks[block].row);
    let force = c.frame * Vec3::from_slice(&m.solution.lambda()[row..]) * per_step(m);
    Some(ContactForce { geoms: c.geoms, row, point: c.point, axes: c.frame, force })
}

/// Limits of joints and tendons.
pub(super) fn limits<'m>(m: &'m Snapshot) -> impl Iterator<Item = LimitForce> + 'm {
    let (lambda, per_step) = (m.solution.lambda(), per_step(m));
    m.assembly.sources.iter().zip(&m.assembly.problem.blocks).filter_map(move |(source, block)| {
        let Source::Joint(n) = *source else { return None };
        let object = match m.assembly.joint_rows[n].kind {
            JointRowKind::Limit { joint, .. } | JointRowKind::BallLimit { joint, .. } => {
                SensorObject::Joint(JointId(joint))
            }
            JointRowKind::TendonLimit { tendon, .. } => SensorObject::Tendon(tendon),
            _ => return None,
        };
        Some(LimitForce { object, row: block.row, force: lambda[block.row] * per_step })
    })
}

/// Connect and weld constraints, each with a force on its two links.
pub(super) fn equalities<'m>(m: &'m Snapshot) -> impl Iterator<Item = LinkForce> + 'm {
    between_frames(m).enumerate().flat_map(move |(n, frames)| split(m, n, frames, impulses(m, n)))
}

/// Rows of those constraints in the contact problem, each with the two forces of a unit of its impulse.
pub(super) fn equality_rows<'m>(m: &'m Snapshot) -> impl Iterator<Item = (usize, [LinkForce; 2])> + 'm {
    m.assembly.sources.iter().zip(&m.assembly.problem.blocks).filter_map(move |(source, block)| {
        let Source::Equality(n, row) = *source else { return None };
        let frames = between_frames(m).nth(n)?;
        let unit = core::array::from_fn(|k| if k == row { 1.0 } else { 0.0 });
        Some((block.row, split(m, n, frames, unit)))
    })
}

fn per_step(m: &Snapshot) -> f64 {
    1.0 / m.model.options().dt
}

/// The frames of all active constraints between two of them, in the order of their rows.
fn between_frames<'m>(m: &'m Snapshot) -> impl Iterator<Item = [FrameId; 2]> + 'm {
    m.model.equalities().iter().filter(|e| e.active).filter_map(|e| match &e.kind {
        EqualityKind::Connect { frames, .. } | EqualityKind::Weld { frames, .. } => Some(*frames),
        _ => None,
    })
}

/// The forces of constraint `n` on its two links.
fn split(m: &Snapshot, n: usize, frames: [FrameId; 2], lambda: [f64; 6]) -> [LinkForce; 2] {
    let [points, forces, torques] = m.assembly.pair_rows[n].split(lambda);
    core::array::from_fn(|k| {
        let link = links::link_of(m.model, frames[k]);
        LinkForce { link, point: points[k], force: forces[k] * per_step(m), torque: torques[k] * per_step(m) }
    })
}

/// Impulses of the rows of constraint `n` between frames; missing rows have zero.
fn impulses(m: &Snapshot, n: usize) -> [f64; 6] {
    let mut out = [0.0; 6];
    for (source, block) in m.assembly.sources.iter().zip(&m.assembly.problem.blocks) {
        if let Source::Equality(equality, row) = *source
            && equality == n
        {
            out[row] = m.solution.lambda()[block.row];
        }
    }
    out
}
