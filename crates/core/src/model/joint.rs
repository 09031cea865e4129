//! Joints as users know them, and the four primitives that the passes over the tree are written for.

use super::ids::BodyId;
use crate::spatial::Vec3;
use core::ops::Range;

/// How a joint moves its body. Axes are unit vectors in the body's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JointKind {
    /// One angle about an axis.
    Revolute {
        /// Unit vector, body frame.
        axis: Vec3,
    },
    /// One length along an axis.
    Prismatic {
        /// Unit vector, body frame.
        axis: Vec3,
    },
    /// A unit quaternion (w, x, y, z); angular velocity in body axes.
    Spherical,
    /// Two lengths along x and y of the body's frame, then one angle about its z.
    Planar,
    /// Position and unit quaternion; linear velocity in the parent's axes (for a root: the world's), angular velocity in body axes.
    Free,
}

impl JointKind {
    /// Coordinates in q.
    pub const fn nq(self) -> usize {
        match self {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => 1,
            JointKind::Spherical => 4,
            JointKind::Planar => 3,
            JointKind::Free => 7,
        }
    }

    /// Degrees of freedom.
    pub const fn nv(self) -> usize {
        match self {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => 1,
            JointKind::Spherical | JointKind::Planar => 3,
            JointKind::Free => 6,
        }
    }

    /// The word used in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            JointKind::Revolute { .. } => "revolute",
            JointKind::Prismatic { .. } => "prismatic",
            JointKind::Spherical => "spherical",
            JointKind::Planar => "planar",
            JointKind::Free => "free",
        }
    }
}

/// Description of a joint for the builder. Its numbers apply to each of its dofs.
#[derive(Debug, Clone, PartialEq)]
pub struct JointSpec {
    /// Name, unique among joints. Empty: made from the body's name.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// Where a free joint starts: position and quaternion in its parent. `None`: where the link is placed.
    pub start: Option<[f64; 7]>,
    /// Point that a rotation leaves in place, body frame (m).
    pub anchor: Vec3,
    /// Value of q in the pose in which the body was described (revolute, prismatic) (rad or m).
    pub reference: f64,
    /// Inertia of the drive added to the diagonal of M (kg·m² or kg).
    pub armature: f64,
    /// Force per velocity (N·m·s or N·s/m).
    pub damping: f64,
    /// Force per displacement from the spring's reference (N·m/rad or N/m).
    pub stiffness: f64,
    /// Value of q at which the spring is at rest (revolute, prismatic; other kinds rest in the neutral pose).
    pub spring_reference: f64,
    /// Largest force of dry friction (N·m or N).
    pub dry_friction: f64,
    /// Smallest and largest q (revolute, prismatic; spherical: `[0, largest angle]`).
    pub range: Option<[f64; 2]>,
    /// Smallest and largest force that actuators may put on a dof.
    pub effort: [f64; 2],
    /// Whether gravity compensation counts as force of actuators: it acts with them and within their limits.
    pub driven_compensation: bool,
    /// Largest speed that the drive is rated for (reported, not enforced).
    pub velocity: f64,
}

impl JointSpec {
    /// A joint without springs, friction or limits.
    pub fn new(name: impl Into<String>, kind: JointKind) -> JointSpec {
        JointSpec {
            name: name.into(),
            kind,
            start: None,
            anchor: Vec3::ZERO,
            reference: 0.0,
            armature: 0.0,
            damping: 0.0,
            stiffness: 0.0,
            spring_reference: 0.0,
            dry_friction: 0.0,
            range: None,
            effort: [f64::NEG_INFINITY, f64::INFINITY],
            driven_compensation: false,
            velocity: f64::INFINITY,
        }
    }
}

/// A joint of a finished model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Joint {
    /// Name, unique among joints.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// The body it moves.
    pub body: BodyId,
    /// Its coordinates in q.
    pub q: Range<usize>,
    /// Its dofs in v and tau.
    pub v: Range<usize>,
    /// Point that a rotation leaves in place, body frame (m).
    pub anchor: Vec3,
    /// Value of q at zero displacement (revolute, prismatic; zero for other kinds).
    pub reference: f64,
    /// Smallest and largest q, where limited.
    pub range: Option<[f64; 2]>,
    /// Smallest and largest force that actuators may put on a dof.
    pub effort: [f64; 2],
    /// Whether gravity compensation counts as force of actuators.
    pub driven_compensation: bool,
    /// Rated speed.
    pub velocity: f64,
}

/// The motions that the passes over the tree know. A joint is one or several of them in a row:
/// planar = two slides and a hinge, free = a translation and a ball.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrimitiveKind {
    /// Rotation about x, y or z of the body: two columns of the rotation change.
    HingeX,
    HingeY,
    HingeZ,
    /// Rotation about any axis.
    Hinge,
    /// Translation along an axis.
    Slide,
    /// Translation along the three axes of the frame before it.
    Translation,
    /// Any rotation.
    Ball,
}

impl PrimitiveKind {
    pub(crate) const fn nv(self) -> usize {
        match self {
            PrimitiveKind::Translation | PrimitiveKind::Ball => 3,
            _ => 1,
        }
    }

    pub(crate) const fn nq(self) -> usize {
        match self {
            PrimitiveKind::Ball => 4,
            PrimitiveKind::Translation => 3,
            _ => 1,
        }
    }

    pub(crate) const fn is_hinge(self) -> bool {
        matches!(self, PrimitiveKind::HingeX | PrimitiveKind::HingeY | PrimitiveKind::HingeZ | PrimitiveKind::Hinge)
    }

    /// The hinge about `axis`: an aligned one if it is exactly x, y or z.
    pub(crate) fn hinge(axis: Vec3) -> PrimitiveKind {
        match Vec3::UNITS.iter().position(|u| *u == axis) {
            Some(0) => PrimitiveKind::HingeX,
            Some(1) => PrimitiveKind::HingeY,
            Some(2) => PrimitiveKind::HingeZ,
            _ => PrimitiveKind::Hinge,
        }
    }
}

/// One primitive motion, as the passes read it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Primitive {
    pub kind: PrimitiveKind,
    /// First coordinate in q.
    pub q: usize,
    /// First dof in v.
    pub v: usize,
    /// Axis of a hinge or slide, body frame.
    pub axis: Vec3,
    /// Point that the rotation leaves in place, body frame (m).
    pub anchor: Vec3,
    /// Whether that point is not the body's origin.
    pub anchored: bool,
    /// Value of q at zero displacement.
    pub reference: f64,
    /// For a hinge: its place among the angles.
    pub angle: usize,
}
