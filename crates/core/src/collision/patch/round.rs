//! Cylinders and cones as incident shapes: points of a cap, and the line on which they roll.

use super::clip::{NONE, Outline};
use crate::collision::shape::{Core, cap_atom};
use crate::spatial::{Pose, Vec3};

/// Within this angle an axis counts as upright, or as lying (rad): the deepest point of a rim has a radius of curvature of
/// radius / angle, and runs around the rim at the slightest tilt.
const UPRIGHT: f64 = 1e-3;

/// What a cylinder or cone may touch a face with; `X_fi` is its frame in the frame of the face.
pub(super) struct Round {
    /// Points fixed to the lower cap; none if the shape stands on its apex or lies.
    pub cap: Outline<8>,
    /// The generator that points down, or the apex alone; none if the shape stands on its cap.
    pub generator: Outline<2>,
}

impl Round {
    /// `step` 1 gives an octagon on the cap, 2 a square. `None` for other shapes.
    #[inline(always)]
    pub fn new(core: &Core, X_fi: &Pose, step: u32) -> Option<Round> {
        let down = -down_axis(X_fi);
        let (is_cone, base_down) = match core {
            Core::Cylinder { .. } => (false, true),
            Core::Cone { .. } => (true, down.z < 0.0),
            _ => return None,
        };
        let flat = (down.x * down.x + down.y * down.y).sqrt();
        let mut cap = Outline { atoms: [0; 8], points: [Vec3::ZERO; 8], count: 0, without: NONE };
        let mut generator = Outline { atoms: [0, 1], points: [Vec3::ZERO; 2], count: 0, without: NONE };
        if flat > UPRIGHT || (is_cone && !base_down) {
            generator.count = if flat > UPRIGHT { 2 } else { 1 };
            for k in 0..generator.count {
                generator.points[k] = X_fi.point(core.atom(k as u32, down));
            }
        }
        if base_down && down.z.abs() > UPRIGHT {
            let top = down.z > 0.0;
            cap.count = 8 / step as usize;
            for k in 0..cap.count {
                let eighth = step * k as u32;
                // counter-clockwise seen from outside
                cap.atoms[k] = cap_atom(top, if top { eighth } else { 8 - eighth });
                cap.points[k] = X_fi.point(core.atom(cap.atoms[k], down));
            }
            if flat > UPRIGHT {
                cap.without = lowest(&cap);
            }
        }
        Some(Round { cap, generator })
    }
}

/// The face's normal in the axes of the incident shape.
#[inline(always)]
pub(super) fn down_axis(X_fi: &Pose) -> Vec3 {
    let c = &X_fi.rotation.c;
    Vec3::new(c[0].z, c[1].z, c[2].z)
}

/// The atom nearest to the deepest point of the rim.
#[inline(always)]
fn lowest(cap: &Outline<8>) -> u32 {
    let best = (1..cap.count).fold(0, |b, k| if cap.points[k].z < cap.points[b].z { k } else { b });
    cap.atoms[best]
}
