//! The contacts that contact sensors see: those that overlap or carry a force.   (sens-17)
//!
//! A step also has contacts that bodies may only reach in it. A body at rest lies on its support within rounding, on either side,
//! so a distance alone would not tell whether it touches.

use super::Snapshot;
use crate::constraint::Source;
use crate::model::{GeomId, Shape};
use crate::spatial::Vec3;

/// A contact that is felt, with its geoms in the order of MuJoCo: by kind, then by number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touching {
    /// Number in the contacts of the step.
    pub number: usize,
    pub geoms: [GeomId; 2],
    /// −1 where this order is not that of the contact.
    pub sign: f64,
    /// World axes (m).
    pub point: Vec3,
    /// From the first to the second geom.
    pub normal: Vec3,
    /// Signed (m).
    pub distance: f64,
    /// On the second geom, world axes (N).
    pub force: Vec3,
    /// First of its three rows in the contact problem.
    pub row: Option<usize>,
}

/// Lists them in the order of the contacts of the step.
pub(super) fn list(m: &Snapshot, all: &mut Vec<Touching>) {
    all.clear();
    all.extend((0..m.contacts.len()).map(|k| without_force(m, k)));
    let per_step = 1.0 / m.model.options().dt;
    for (source, block) in m.assembly.sources.iter().zip(&m.assembly.problem.blocks) {
        let Source::Contact(number) = *source else { continue };
        let lambda = Vec3::from_slice(&m.solution.lambda()[block.row..]);
        let t = &mut all[number];
        (t.row, t.force) = (Some(block.row), m.contacts[number].frame * lambda * (per_step * t.sign));
    }
    all.retain(|t| t.distance <= 0.0 || t.force.dot(t.normal) > 0.0);
}

fn without_force(m: &Snapshot, number: usize) -> Touching {
    let c = &m.contacts[number];
    let [a, b] = c.geoms;
    let swapped = rank(m.model.shape(a)) > rank(m.model.shape(b));
    let (sign, geoms) = if swapped { (-1.0, [b, a]) } else { (1.0, [a, b]) };
    let (point, normal, distance) = (c.point, c.normal() * sign, c.distance);
    Touching { number, geoms, sign, point, normal, distance, force: Vec3::ZERO, row: None }
}

/// The order of kinds of geoms in MuJoCo.
fn rank(shape: Shape) -> usize {
    match shape {
        Shape::Plane => 0,
        Shape::HeightField { .. } => 1,
        Shape::Sphere { .. } => 2,
        Shape::Capsule { .. } => 3,
        Shape::Ellipsoid { .. } => 4,
        Shape::Cylinder { .. } | Shape::Cone { .. } => 5,
        Shape::Box { .. } => 6,
        Shape::Mesh { .. } | Shape::Terrain { .. } => 7,
    }
}

impl Touching {
    /// Tangents along which MuJoCo reports forces: the first is as near to the y axis as can be, or to z where the normal is near y.
    pub fn tangents(&self) -> [Vec3; 2] {
        let across = self.across();
        let first = across * (1.0 / across.norm());
        [first, self.normal.cross(first)]
    }

    /// The axis that the first tangent is made of.
    pub fn axis(&self) -> Vec3 {
        Vec3::UNITS[if self.normal.y.abs() < 0.5 { 1 } else { 2 }]
    }

    /// The part of that axis across the normal.
    pub fn across(&self) -> Vec3 {
        self.axis() - self.normal * self.normal.dot(self.axis())
    }
}
