//! A model as plain text for peers (`bench/pinocchio/tree.hpp` reads it): one line per joint, chains written out.

use crate::states::Sample;
use slipstick::spatial::{BodyInertia, Pose, Quat, Vec3};
use slipstick::{JointKind, Model};
use std::fmt::Write;

/// A line of the file without its inertia: what peers know as a joint.
struct Line {
    parent: Option<usize>,
    kind: &'static str,
    placement: Pose,
    axis: Vec3,
    armature: f64,
    inertia: BodyInertia,
}

/// The tree of a model.
pub fn write_model(name: &str, model: &Model) -> String {
    let mut out = format!("model {name}\n");
    let g = model.options().gravity;
    let _ = writeln!(out, "gravity {:?} {:?} {:?}", g[0], g[1], g[2]);
    for (id, l) in lines(model).iter().enumerate() {
        let parent = l.parent.map_or(-1, |p| p as i64);
        let (p, q, a) = (l.placement.position, Quat::from_matrix(&l.placement.rotation), l.axis);
        let _ = write!(out, "joint {id} {parent} {}", l.kind);
        let (c, i) = (l.inertia.com, l.inertia.about_com);
        let numbers = [p.x, p.y, p.z, q.w, q.x, q.y, q.z, a.x, a.y, a.z, l.armature, l.inertia.mass];
        let inertia = [c.x, c.y, c.z, i.xx, i.xy, i.yy, i.xz, i.yz, i.zz];
        for x in numbers.into_iter().chain(inertia) {
            let _ = write!(out, " {x:?}");
        }
        out.push('\n');
    }
    out
}

/// One line per joint. Each joint's frame is the body's, moved to the joint's anchor.
fn lines(model: &Model) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    // for each body the last line that moves it, and the body's frame in that line's frame
    let mut carrier = vec![(None, Pose::IDENTITY); model.n_bodies()];
    for body in 1..model.n_bodies() {
        let (parent_line, parent_frame): (Option<usize>, Pose) = carrier[model.bodies()[body].parent.0];
        let (mut parent, mut frame) = (parent_line, parent_frame * model.placements()[body]);
        for joint in model.joints().iter().filter(|j| j.body.0 == body) {
            for (kind, axis) in primitives(joint.kind, model.armature()[joint.v.start]) {
                let placement = frame * Pose::translation(joint.anchor);
                let armature = model.armature()[joint.v.start];
                let inertia = BodyInertia::default();
                lines.push(Line { parent, kind, placement, axis, armature, inertia });
                parent = Some(lines.len() - 1);
                frame = Pose::translation(-joint.anchor);
            }
        }
        if let Some(last) = lines.last_mut() {
            last.inertia = model.inertias()[body].moved(&frame);
        }
        carrier[body] = (parent, frame);
    }
    lines
}

/// The peers' joints that make up one of ours. A free joint with armature is written as a chain, since
/// armature means something else in body axes.
fn primitives(kind: JointKind, armature: f64) -> Vec<(&'static str, Vec3)> {
    let [x, y, z] = Vec3::UNITS;
    match kind {
        JointKind::Revolute { axis } => vec![("hinge", axis)],
        JointKind::Prismatic { axis } => vec![("slide", axis)],
        JointKind::Spherical => vec![("ball", z)],
        JointKind::Planar => vec![("slide", x), ("slide", y), ("hinge", z)],
        JointKind::Free if armature == 0.0 => vec![("free", z)],
        JointKind::Free => vec![("translation", z), ("ball", z)],
    }
}

/// One line per state: q, v, a; angles and lengths counted from the pose of the file.
pub fn write_states(model: &Model, samples: &[Sample]) -> String {
    let mut out = String::new();
    for s in samples {
        let mut q = s.q.clone();
        for joint in model.joints() {
            q[joint.q.start] -= joint.reference;
        }
        let numbers: Vec<String> = q.iter().chain(&s.v).chain(&s.a).map(|x| format!("{x:?}")).collect();
        out.push_str(&numbers.join(" "));
        out.push('\n');
    }
    out
}
