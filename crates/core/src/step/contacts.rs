//! Contacts of a finished step as users see them.

use super::Data;
use crate::constraint::{Mode, Source, relative_velocity};
use crate::model::{BodyId, GeomId, Model};
use crate::spatial::{Mat3, Vec3};

/// A contact of a finished step. Place and distance belong to its beginning, impulse and velocity to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ContactView {
    /// The geoms.
    pub geoms: [GeomId; 2],
    /// Their bodies.
    pub bodies: [BodyId; 2],
    /// The point, world axes (m).
    pub point: Vec3,
    /// Axes (T, T, N) as columns; N is the normal, from geom 1 to geom 2.
    pub frame: Mat3,
    /// Signed distance, negative when the shapes overlap (m).
    pub distance: f64,
    /// Names the features that touch.
    pub feature: u64,
    /// Coulomb's coefficient.
    pub friction: f64,
    /// Compliance of its normal in the problem: that of its surfaces, and that which distributes the load of redundant
    /// points (1/kg).
    pub compliance: f64,
    /// Impulse on body 2, world axes (N·s); divided by the time step it is the force.
    pub impulse: Vec3,
    /// Velocity of body 2 relative to body 1 at the point, along (T, T, N) (m/s).
    pub velocity: Vec3,
    /// Its mode.
    pub mode: Mode,
    /// Change of velocity that would change the mode (m/s).
    pub margin: f64,
}

impl ContactView {
    /// A contact that carries nothing, for readers of files, which set what else is known: all other numbers are zero.
    pub fn new(geoms: [GeomId; 2], bodies: [BodyId; 2], point: Vec3, frame: Mat3) -> ContactView {
        ContactView {
            geoms,
            bodies,
            point,
            frame,
            distance: 0.0,
            feature: 0,
            friction: 0.0,
            compliance: 0.0,
            impulse: Vec3::ZERO,
            velocity: Vec3::ZERO,
            mode: Mode::Break,
            margin: 0.0,
        }
    }
}

/// All contacts of the step in `data`.
pub(crate) fn views<'a>(model: &'a Model, data: &'a Data) -> impl Iterator<Item = ContactView> + 'a {
    let (kin, assembly, all) = (&data.kin, &data.assembly, data.contacts.contacts());
    all.iter().zip(&assembly.candidates).enumerate().map(move |(k, (c, candidate))| {
        let block = assembly.sources.iter().position(|s| *s == Source::Contact(k));
        let velocity = c.frame.tmul(relative_velocity(model, kin, &data.end.V, c.point, candidate.bodies));
        // an inactive candidate is open; its gap after the step is its margin
        let inactive = (Vec3::ZERO, Mode::Break, velocity.z + c.distance / model.options().dt, 0.0);
        let (impulse, mode, margin, compliance) = block.map_or(inactive, |b| {
            let (mode, margin) = data.solution.modes()[b];
            let lambda = Vec3::from_slice(&data.solution.lambda()[assembly.problem.blocks[b].row..]);
            (c.frame * lambda, mode, margin, assembly.problem.blocks[b].compliance)
        });
        ContactView {
            geoms: c.geoms,
            bodies: candidate.bodies,
            point: c.point,
            frame: c.frame,
            distance: c.distance,
            feature: c.feature,
            friction: candidate.law.friction,
            compliance,
            impulse,
            velocity,
            mode,
            margin,
        }
    })
}
