//! A common view of both kinds of ground.

use crate::model::{GeomId, Ground, HeightField, Model, Shape};
use crate::spatial::Vec3;
use std::cell::Cell;

/// Most triangles that are visited around a corner. Ground that is not a surface can have endless rings.
const RING: usize = 1000;

/// Ground of a model.
#[derive(Debug, Clone, Copy)]
pub(in crate::collision) enum Terrain<'m> {
    Field(&'m HeightField),
    Mesh(&'m Ground),
}

impl<'m> Terrain<'m> {
    /// The ground that a geom is; `None` if it is something else.
    pub fn of(model: &'m Model, geom: GeomId) -> Option<Terrain<'m>> {
        match model.shape(geom) {
            Shape::HeightField { field } => model.fields().get(field.0).map(Terrain::Field),
            Shape::Terrain { mesh } => model.ground(mesh).map(Terrain::Mesh),
            _ => None,
        }
    }

    /// Whether shapes with their inside behind a triangle do not touch it: a mesh may be a thin wall, a height field is
    /// solid down to its base.
    pub fn is_one_sided(&self) -> bool {
        matches!(self, Terrain::Mesh(_))
    }

    /// Corners of a triangle, counter-clockwise from outside.
    #[inline(always)]
    pub fn triangle(&self, triangle: u32) -> [Vec3; 3] {
        match self {
            Terrain::Field(field) => field.triangle(triangle),
            Terrain::Mesh(ground) => ground.triangle(triangle),
        }
    }

    /// A triangle and its copy: at the base of a field, or `depth` behind it.
    pub fn prism(&self, triangle: u32, depth: f64) -> [Vec3; 6] {
        let [a, b, c] = self.triangle(triangle);
        let [d, e, f] = match self {
            Terrain::Field(field) => [a, b, c].map(|p| Vec3::new(p.x, p.y, -field.base)),
            Terrain::Mesh(_) => {
                let down = (b - a).cross(c - a).normalized().unwrap_or(Vec3::ZERO) * -depth;
                [a + down, b + down, c + down]
            }
        };
        [a, b, c, d, e, f]
    }

    /// The triangle beyond an edge (from corner `edge` to the next), and which of its edges that is.
    pub fn beyond(&self, triangle: u32, edge: usize) -> Option<(u32, usize)> {
        match self {
            Terrain::Field(field) => field.beyond(triangle, edge),
            Terrain::Mesh(ground) => ground.beyond(triangle, edge),
        }
    }

    /// Calls `found` with the triangles around a corner of a triangle.
    pub fn around(&self, triangle: u32, corner: usize, mut found: impl FnMut(u32)) {
        found(triangle);
        // over the edge that ends at the corner, and on; beyond it the corner is where that edge begins
        let (mut at, mut edge) = (triangle, (corner + 2) % 3);
        for _ in 0..RING {
            let Some((next, back)) = self.beyond(at, edge) else { break };
            if next == triangle {
                return;
            }
            found(next);
            (at, edge) = (next, (back + 2) % 3);
        }
        // the ground ends there: in the other direction
        (at, edge) = (triangle, corner);
        for _ in 0..RING {
            let Some((next, back)) = self.beyond(at, edge) else { return };
            found(next);
            (at, edge) = (next, (back + 1) % 3);
        }
    }

    /// Calls `found` with the triangles that may touch a box.
    pub fn in_box(&self, lo: Vec3, hi: Vec3, found: impl FnMut(u32)) {
        match self {
            Terrain::Field(field) => field.in_box(lo, hi, found),
            Terrain::Mesh(ground) => ground.in_box(lo, hi, found),
        }
    }

    /// Calls `meet` with the triangles that a ray may hit; it returns the length of the ray, which shrinks with every hit.
    pub fn along(&self, origin: Vec3, direction: Vec3, reach: f64, mut meet: impl FnMut(u32) -> Option<f64>) {
        match self {
            Terrain::Field(field) => field.along(origin, direction, [0.0, reach], |t| meet(t).is_some()),
            Terrain::Mesh(ground) => {
                let reach = Cell::new(reach);
                ground.along(origin, direction, &reach, |t| {
                    if let Some(end) = meet(t) {
                        reach.set(end);
                    }
                });
            }
        }
    }
}
