//! How the equations of the derivative change with the configuration at fixed velocities and impulses, and how the
//! impulses' own torques do.   (grad-4 … grad-7)
//!
//! The velocity of a row is a force dotted with the velocities of two bodies, `σ = Λ₁·V₁ + Λ₂·V₂`. With the derivative of
//! a body's velocity, `∂V/∂q_j = S_j × (V − V_before)`, each row becomes `g·S_j + Λ·Ψ̇_j` for the dofs j that move the body:
//! two forces per row and body carry it, forward (met by each dof) and reverse (summed up the tree).
#![allow(non_snake_case)]

use crate::spatial::{Force, Motion, Vec3};

/// Change of a row's velocity with the motion of a body: forces at the origin of its tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub body: usize,
    /// Λ: met by Ψ̇ = V_before × S at the end of the step.
    pub velocity: Force,
    /// g = V ×* Λ + what the displacement of the body does to point, normal and gap: met by S.
    pub position: Force,
    /// Share of the velocity at the beginning of the step (restitution): `share · Λ` meets its Ψ̇, and S for ∂/∂v.
    pub approach: f64,
}

/// The change of a row over dofs that it names itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub dof: usize,
    pub value: f64,
}

/// How the force of a constraint on body `on` changes when body `by` moves, beyond turning with `on`: six columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stiffness {
    pub on: usize,
    pub by: usize,
    pub columns: [Force; 6],
}

impl Stiffness {
    /// The change for a motion of `by`.
    pub fn times(&self, S: Motion) -> Force {
        let s = S.to_array();
        self.columns.iter().zip(s).fold(Force::ZERO, |sum, (c, s)| sum + *c * s)
    }

    /// The reverse: what a virtual velocity of `on` asks of `by`.
    pub fn transposed_times(&self, W: Motion) -> Force {
        let x = self.columns.map(|c| W.dot(c));
        Force { lin: Vec3::from_slice(&x), ang: Vec3::from_slice(&x[3..]) }
    }
}

/// Columns for motions taken at a point, taken to the tree's origin: `arm` leads from there to the point.
pub(crate) fn to_origin(at_point: [Force; 6], arm: Vec3) -> [Force; 6] {
    let mut columns = at_point;
    for k in 0..3 {
        let lin = Vec3::UNITS[k].cross(arm);
        columns[3 + k] = at_point[3 + k] + at_point[0] * lin.x + at_point[1] * lin.y + at_point[2] * lin.z;
    }
    columns
}
