//! Couplings of joints and bodies in addition to the tree: equality constraints and tendons.

use super::ids::{FrameId, JointId};
use crate::spatial::{Pose, Vec3};

/// A constraint that is satisfied at all times.
#[derive(Debug, Clone, PartialEq)]
pub struct Equality {
    /// Name; may be empty.
    pub name: String,
    /// Kind and parameters.
    pub kind: EqualityKind,
    /// Whether it acts from the start.
    pub active: bool,
}

/// Kind of an equality constraint, with its parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EqualityKind {
    /// `y = c₀ + c₁ x + c₂ x² + c₃ x³ + c₄ x⁴`, y and x the displacements of two joints with one dof from their reference;
    /// without a second joint x = 0.
    Joint {
        /// The joint that follows.
        joint: JointId,
        /// The joint that leads.
        other: Option<JointId>,
        /// c₀ … c₄.
        coefficients: [f64; 5],
    },
    /// Couples the lengths of two fixed tendons, from their lengths in the neutral configuration.
    Tendon {
        /// Number of the tendon that follows.
        tendon: usize,
        /// Number of the tendon that leads.
        other: Option<usize>,
        /// c₀ … c₄.
        coefficients: [f64; 5],
    },
    /// A point of one frame stays on a point of another.
    Connect {
        /// The two frames.
        frames: [FrameId; 2],
        /// The point in each (m).
        points: [Vec3; 2],
    },
    /// One frame keeps its pose in another.
    Weld {
        /// The two frames.
        frames: [FrameId; 2],
        /// Pose of the second in the first.
        pose: Pose,
        /// Point of the second frame at which positions are compared (m).
        anchor: Vec3,
        /// Length by which rotations are multiplied to compare with positions (m).
        torque_scale: f64,
    },
}

/// A fixed tendon: a length that is a weighted sum of joint positions. Joints have one dof each.
#[derive(Debug, Clone, PartialEq)]
pub struct Tendon {
    /// Name; may be empty.
    pub name: String,
    /// Joints and their weights.
    pub joints: Vec<(JointId, f64)>,
    /// Smallest and largest length.
    pub range: Option<[f64; 2]>,
    /// Force per length beyond the rest interval.
    pub stiffness: f64,
    /// Interval of lengths in which the spring is at rest.
    pub rest: [f64; 2],
    /// Force per velocity.
    pub damping: f64,
    /// Largest force of dry friction.
    pub dry_friction: f64,
}

impl Tendon {
    /// A tendon that only measures a length.
    pub fn new(name: impl Into<String>, joints: Vec<(JointId, f64)>) -> Tendon {
        Tendon {
            name: name.into(),
            joints,
            range: None,
            stiffness: 0.0,
            rest: [0.0; 2],
            damping: 0.0,
            dry_friction: 0.0,
        }
    }
}
