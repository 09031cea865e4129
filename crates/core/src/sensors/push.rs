//! Forces of the constraints of a finished step: what presses, pulls and stops.
#![allow(non_snake_case)]

use super::links;
use crate::constraint::{JointRowKind, Source};
use crate::model::{EqualityKind, FrameId, GeomId, JointId, SensorObject};
use crate::spatial::Vec3;
use crate::step::Step;

/// A force that a step has put on something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Push {
    Contact(ContactForce),
    /// Of the limit of a joint or tendon, away from it [N or N·m].
    Limit(SensorObject, f64),
    /// Of a connect or weld constraint on a link.
    Equality(LinkForce),
}

/// A force at a point between two geoms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ContactForce {
    pub geoms: [GeomId; 2],
    /// World axes (m).
    pub point: Vec3,
    /// Unit vector from the first geom to the second, world axes.
    pub normal: Vec3,
    /// On the second geom, world axes (N).
    pub force: Vec3,
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

/// Everything that pushes.
pub(super) fn all<'s>(step: &'s Step) -> impl Iterator<Item = Push> + 's {
    let per_step = 1.0 / step.model.options().dt;
    let contacts = step.contacts().map(move |c| {
        let (normal, force) = (c.frame.c[2], c.impulse * per_step);
        Push::Contact(ContactForce { geoms: c.geoms, point: c.point, normal, force })
    });
    contacts.chain(limits(step, per_step)).chain(equalities(step, per_step))
}

fn limits<'s>(step: &'s Step, per_step: f64) -> impl Iterator<Item = Push> + 's {
    let assembly = &step.data.assembly;
    let lambda = step.data.solution.lambda();
    assembly.sources.iter().zip(&assembly.problem.blocks).filter_map(move |(source, block)| {
        let Source::Joint(n) = *source else { return None };
        let object = match assembly.joint_rows[n].kind {
            JointRowKind::Limit { joint, .. } | JointRowKind::BallLimit { joint, .. } => {
                SensorObject::Joint(JointId(joint))
            }
            JointRowKind::TendonLimit { tendon, .. } => SensorObject::Tendon(tendon),
            _ => return None,
        };
        Some(Push::Limit(object, lambda[block.row] * per_step))
    })
}

/// Connect and weld constraints, each with a force on its two links.
fn equalities<'s>(step: &'s Step, per_step: f64) -> impl Iterator<Item = Push> + 's {
    let (model, assembly) = (step.model, &step.data.assembly);
    let between = |kind: &EqualityKind| match kind {
        EqualityKind::Connect { frames, .. } | EqualityKind::Weld { frames, .. } => Some(*frames),
        _ => None,
    };
    let active = model.equalities().iter().filter(|e| e.active).filter_map(move |e| between(&e.kind));
    active.enumerate().flat_map(move |(n, frames)| {
        let lambda = impulses(step, n);
        let [points, forces, torques] = assembly.pair_rows[n].split(lambda);
        [0, 1].map(|k| {
            let link = links::link_of(model, frames[k]);
            let (point, force, torque) = (points[k], forces[k] * per_step, torques[k] * per_step);
            Push::Equality(LinkForce { link, point, force, torque })
        })
    })
}

/// Impulses of the rows of constraint `n` between frames; those it does not have are zero.
fn impulses(step: &Step, n: usize) -> [f64; 6] {
    let (assembly, lambda) = (&step.data.assembly, step.data.solution.lambda());
    let mut out = [0.0; 6];
    for (source, block) in assembly.sources.iter().zip(&assembly.problem.blocks) {
        if let Source::Equality(equality, row) = *source
            && equality == n
        {
            out[row] = lambda[block.row];
        }
    }
    out
}
