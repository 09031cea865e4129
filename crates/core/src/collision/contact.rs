//! Contact points for the rest of the engine, and the data for their derivatives.

use super::pair::Side;
use crate::model::GeomId;
use crate::spatial::{Mat3, Vec3};

/// Most points that one pair can have.
pub const MAX_POINTS: usize = 4;

/// A point where two geoms touch or nearly touch, in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Contact {
    /// Number of the pair in [`Model::pairs`](crate::Model::pairs).
    pub pair: usize,
    /// The geoms: 1 and 2.
    pub geoms: [GeomId; 2],
    /// The point (m): half-way between the surfaces, or on the reference face of a patch.
    pub point: Vec3,
    /// Axes (T, T, N) as columns; N is the normal, from geom 1 to geom 2.
    pub frame: Mat3,
    /// Signed distance of the surfaces (offsets included), negative when they overlap (m).
    pub distance: f64,
    /// Names the features that touch; the same from step to step while they do.
    pub feature: u64,
    /// Which witness of the set it belongs to: points of one patch share it.
    pub(crate) witness: u32,
    pub(crate) kind: PointKind,
}

impl Contact {
    /// Unit normal, from geom 1 to geom 2.
    pub fn normal(&self) -> Vec3 {
        self.frame.c[2]
    }
}

/// How a point follows from the shapes.   (collision-7)
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PointKind {
    /// Half-way between the witness points: `sides` of the witness move it.
    Nearest,
    /// A support feature (atom) of the incident shape (number `side`), projected on the reference plane.
    Incident { side: u8, atom: u32 },
    /// Where an edge of the incident shape (number `side`) crosses the side plane through an edge of the reference face,
    /// projected on the reference plane.
    Crossing { side: u8, edge: [u32; 2], reference: [u32; 2] },
    /// An atom of the reference face that lies inside the incident face (of shape `side`) through three atoms.
    Reference { side: u8, atom: u32, face: [u32; 3] },
}

/// One point of a patch, in the frame of shape 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PatchPoint {
    pub point: Vec3,
    /// Signed distance along the normal (m).
    pub distance: f64,
    pub kind: PointKind,
}

/// Up to four points with one normal, in the frame of shape 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patch {
    pub normal: Vec3,
    /// Features that determine the normal: if one side is a face (three atoms, not fixed), the normal is that face's.
    pub sides: [Side; 2],
    pub points: [PatchPoint; MAX_POINTS],
    pub count: usize,
}
