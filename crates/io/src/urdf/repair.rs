//! Inertias that no body has. Files in use contain many; they are warned about and repaired as little as possible:
//!
//! - Masses and centers of mass stay as they are, and so does every link whose defect disappears when it is merged with
//!   the links fixed to it (a frame with an indefinite 1e-6 kg·m² on a heavy trunk).
//! - A body that has a negative principal moment after merging gets zero instead of it.
//! - A joint that would move nothing at all in the neutral pose (no mass along a slide, no inertia about a hinge) gets
//!   [`DRIVE_INERTIA`] as armature.
//! - Moments that violate A + B ≥ C are used as they are: the equations of motion do not mind.

use super::Hanging;
use crate::inertia::defect;
use crate::warning::Warnings;
use slipstick_core::model::JointKind;
use slipstick_core::spatial::{BodyInertia, Pose, Sym3, Vec3};

/// Armature of a joint that moves nothing [kg or kg·m²]: small for any robot, and far from the limit of division.
const DRIVE_INERTIA: f64 = 1e-6;

/// Repairs the links of a tree, the world first, parents before children.
pub(super) fn repair(links: &mut [Hanging], warnings: &mut Warnings) {
    let bodies = merged(links);
    for (i, link) in links.iter().enumerate().skip(1) {
        if let (Some(text), Some(element)) = (defect(&link.inertia), link.element) {
            let root = bodies[i].0;
            let cured = root != i && defect(&bodies[root].2).is_none();
            let consequence = match (cured, text.contains("negative"), root) {
                (_, _, 0) => " (it is fixed to the world: no matter)",
                (true, ..) => " (merged with the link that carries it, all is well)",
                (false, true, _) => "; negative moments of the body are set to zero",
                (false, false, _) => "",
            };
            warnings.add(element, format!("{text}{consequence}"));
        }
    }
    for (i, (root, _, total)) in bodies.iter().enumerate().skip(1) {
        if *root == i {
            links[i].inertia.about_com += missing(total);
        }
    }
    drive_massless(links, warnings);
}

/// For each link: the link that moves it, its pose there, and (for a moving link) the inertia of all that is fixed to it.
fn merged(links: &[Hanging]) -> Vec<(usize, Pose, BodyInertia)> {
    let mut out: Vec<(usize, Pose, BodyInertia)> = Vec::with_capacity(links.len());
    for (i, link) in links.iter().enumerate() {
        if i == 0 || !link.joints.is_empty() {
            out.push((i, Pose::IDENTITY, link.inertia));
            continue;
        }
        let (root, parent, _) = out[link.parent];
        let pose = parent * link.placement;
        out[root].2 = out[root].2.joined(&link.inertia.moved(&pose));
        out.push((root, pose, BodyInertia::default()));
    }
    out
}

/// What lifts negative principal moments to zero; nothing for rounding errors.
fn missing(inertia: &BodyInertia) -> Sym3 {
    let (moments, axes) = slipstick_core::spatial::principal_axes(inertia.about_com);
    let largest = moments.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if moments.iter().all(|m| *m >= -1e-6 * largest) {
        return Sym3::ZERO;
    }
    Sym3::diagonal(Vec3::from(moments.map(|m| (-m).max(0.0)))).rotated(&axes)
}

/// Gives an armature to joints that carry no inertia in the neutral pose.
fn drive_massless(links: &mut [Hanging], warnings: &mut Warnings) {
    // backward pass: inertia of all that a link carries, in its frame
    let mut carried: Vec<BodyInertia> = links.iter().map(|l| l.inertia).collect();
    for i in (1..links.len()).rev() {
        let (all, placement, parent) = (carried[i], links[i].placement, links[i].parent);
        carried[parent] = carried[parent].joined(&all.moved(&placement));
        let link = &mut links[i];
        for joint in &mut link.joints {
            let inertia = match joint.kind {
                JointKind::Revolute { axis } => {
                    let about_origin = all.about_com + Sym3::point_mass(all.com) * all.mass;
                    axis.dot(about_origin * axis)
                }
                JointKind::Prismatic { .. } => all.mass,
                _ => all.mass + all.about_com.trace(),
            };
            if inertia <= 0.0 {
                joint.armature = DRIVE_INERTIA;
                if let Some(element) = link.element {
                    let effect =
                        format!("joint '{}' moves no inertia: it gets an armature of {DRIVE_INERTIA:e}", joint.name);
                    warnings.add(element, effect);
                }
            }
        }
    }
}
