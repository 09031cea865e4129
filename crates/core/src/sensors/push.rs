//! Forces of the contacts of a finished step.

use crate::model::GeomId;
use crate::spatial::Vec3;
use crate::step::Step;

/// A force at a point between two geoms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ContactForce {
    pub geoms: [GeomId; 2],
    /// World axes (m).
    pub point: Vec3,
    /// On the second geom, world axes (N).
    pub force: Vec3,
}

/// All contacts.
pub(super) fn all<'s>(step: &'s Step) -> impl Iterator<Item = ContactForce> + 's {
    let per_step = 1.0 / step.model.options().dt;
    step.contacts().map(move |c| ContactForce { geoms: c.geoms, point: c.point, force: c.impulse * per_step })
}
