//! A model as plain text for peers (`bench/pinocchio/tree.hpp` reads it): one line per joint, chains written out.

use crate::states::Sample;
use slipstick::Model;
use slipstick::model::{Joint, JointKind};
use slipstick::spatial::{BodyInertia, Pose, Quat, Vec3};
use std::fmt::Write;

/// A line of the file without its inertia: what peers know as a joint.
struct Line {
    /// Number of the model's joint that it is a part of.
    joint: usize,
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
    for (id, l) in lines(model).0.iter().enumerate() {
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

/// For each body its last joint line (`None`: the world) and the body's frame in that line's frame.
pub fn carriers(model: &Model) -> Vec<(Option<usize>, Pose)> {
    lines(model).1
}

/// The model's joint that each joint line is a part of.
pub fn joints(model: &Model) -> impl Iterator<Item = &Joint> {
    lines(model).0.into_iter().map(|l| &model.joints()[l.joint])
}

/// One line per joint, whose frame is the body's, moved to the joint's anchor; and the carriers of bodies.
fn lines(model: &Model) -> (Vec<Line>, Vec<(Option<usize>, Pose)>) {
    let mut lines: Vec<Line> = Vec::new();
    let mut carrier = vec![(None, Pose::IDENTITY); model.n_bodies()];
    for body in 1..model.n_bodies() {
        let (parent_line, parent_frame): (Option<usize>, Pose) = carrier[model.bodies()[body].parent.0];
        let (mut parent, mut frame) = (parent_line, parent_frame * model.placements()[body]);
        for (number, joint) in model.joints().iter().enumerate().filter(|(_, j)| j.body.0 == body) {
            for (kind, axis) in primitives(joint.kind, model.armature()[joint.v.start]) {
                let placement = frame * Pose::translation(joint.anchor);
                let armature = model.armature()[joint.v.start];
                let inertia = BodyInertia::default();
                lines.push(Line { joint: number, parent, kind, placement, axis, armature, inertia });
                parent = Some(lines.len() - 1);
                frame = Pose::translation(-joint.anchor);
            }
        }
        if let Some(last) = lines.last_mut() {
            last.inertia = model.inertias()[body].moved(&frame);
        }
        carrier[body] = (parent, frame);
    }
    (lines, carrier)
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
        let q = from_pose_of_file(model, &s.q);
        let numbers: Vec<String> = q.iter().chain(&s.v).chain(&s.a).map(|x| format!("{x:?}")).collect();
        out.push_str(&numbers.join(" "));
        out.push('\n');
    }
    out
}

/// A configuration with angles and lengths counted from the pose of the file.
pub fn from_pose_of_file(model: &Model, q: &[f64]) -> Vec<f64> {
    let mut q = q.to_vec();
    model.joints().iter().for_each(|j| q[j.q.start] -= j.reference);
    q
}
