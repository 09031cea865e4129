//! Two convex shapes, and where they are nearest to each other or overlap least.

use super::shape::{Convex, Core};
use crate::spatial::{Mat3, Pose, Vec3};

/// Two shapes and how the second lies in the frame of the first. The narrow phase works in that frame, so that it loses
/// no digits far from the world's origin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShapePair<'a> {
    pub shapes: [Convex<'a>; 2],
    /// Frame of shape 2 in the frame of shape 1.
    pub X_12: Pose,
}

/// Two shapes in the frame of the first.
#[inline(always)]
pub(crate) fn shape_pair<'a>(a: Convex<'a>, X_wa: &Pose, b: Convex<'a>, X_wb: &Pose) -> ShapePair<'a> {
    let r = X_wa.rotation;
    let rotation =
        Mat3::from_columns(r.tmul(X_wb.rotation.c[0]), r.tmul(X_wb.rotation.c[1]), r.tmul(X_wb.rotation.c[2]));
    ShapePair { shapes: [a, b], X_12: Pose { rotation, position: r.tmul(X_wb.position - X_wa.position) } }
}

/// The part of a shape that touches: a combination of support features (atoms). One atom is a point (with its curvature), two are an edge
/// or a generator, three a face.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Side {
    /// Atoms of the core; the first `count` count.
    pub atoms: [u32; 3],
    /// Weights of the atoms; their sum is one.
    pub weights: [f64; 3],
    pub count: u8,
    /// Whether the touching point is fixed to the body instead of gliding along the edge or face.
    pub fixed: bool,
}

impl Side {
    /// A single atom.
    pub const fn point(atom: u32) -> Side {
        Side { atoms: [atom, 0, 0], weights: [1.0, 0.0, 0.0], count: 1, fixed: false }
    }

    /// A point between two atoms; `t` is the weight of the second.
    pub const fn edge(atoms: [u32; 2], t: f64) -> Side {
        Side { atoms: [atoms[0], atoms[1], 0], weights: [1.0 - t, t, 0.0], count: 2, fixed: false }
    }

    /// A point of the plane through three atoms.
    pub const fn face(atoms: [u32; 3], weights: [f64; 3]) -> Side {
        Side { atoms, weights, count: 3, fixed: false }
    }

    /// The point of the core in its own frame, `d` being the outward normal there.
    pub fn point_of(&self, core: &Core, d: Vec3) -> Vec3 {
        (0..self.count as usize).fold(Vec3::ZERO, |x, k| x + core.atom(self.atoms[k], d) * self.weights[k])
    }
}

/// The result of the narrow phase: nearest points and normal, in the frame of shape 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Witness {
    /// Unit normal, from shape 1 to shape 2.
    pub normal: Vec3,
    /// Signed distance of the surfaces (radii included), negative when they overlap (m).
    pub distance: f64,
    /// Points of the surfaces of shape 1 and shape 2: `points[1] − points[0] = distance · normal`.
    pub points: [Vec3; 2],
    /// Touching features of both shapes.
    pub sides: [Side; 2],
    /// Whether the iteration reached its tolerance (closed forms always do).
    pub converged: bool,
}
