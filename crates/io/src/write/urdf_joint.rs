//! Joints as URDF: one dof each, turning about the origin of their link.

use super::mjcf::FAR;
use super::urdf::{Urdf, fresh};
use super::xml::Attributes;
use slipstick_core::model::{EqualityKind, Joint, JointKind, ParameterGroup};
use slipstick_core::spatial::{Pose, Vec3};

/// A joint of the file.
struct Part<'m> {
    name: String,
    kind: &'static str,
    axis: Vec3,
    dof: usize,
    joint: &'m Joint,
}

impl<'m> Urdf<'m> {
    /// The joints of a body: all but the last one carry links without mass. A joint turns about its anchor, so that the
    /// link of the joint sits there; what follows starts from the anchor.
    pub fn chain(&mut self, i: usize) {
        let model = self.model;
        let f = &model.frames()[i];
        let carrier = model.bodies()[model.bodies()[f.body.0].parent.0].link.0;
        let mut parent = model.frames()[carrier].name.clone();
        let mut pose = model.placements()[f.body.0];
        let joints = self.joints[f.body.0].clone();
        let parts: Vec<Part> = joints.iter().flat_map(|j| self.parts(j)).collect();
        let n = parts.len();
        for (k, part) in parts.into_iter().enumerate() {
            let anchor = part.joint.anchor;
            let last = k + 1 == n && anchor == Vec3::ZERO;
            let child =
                if last { f.name.clone() } else { fresh(&mut self.link_names, format!("{}_{}", f.name, part.name)) };
            if !last {
                self.xml.leaf("link", Attributes::new().text("name", &child));
            }
            self.joint(&part, &parent, &child, &(pose * Pose::translation(anchor)));
            pose = Pose::translation(-anchor);
            parent = child;
        }
        if parent != f.name {
            self.fixed(&parent, &f.name, &pose);
        }
    }

    /// The joints of the file that a joint of the model becomes.
    fn parts(&mut self, j: &'m Joint) -> Vec<Part<'m>> {
        let part = |name: String, kind, axis, k| Part { name, kind, axis, dof: j.v.start + k, joint: j };
        let z = Vec3::UNITS[2];
        match j.kind {
            JointKind::Revolute { axis } if j.range.is_none() => vec![part(j.name.clone(), "continuous", axis, 0)],
            JointKind::Revolute { axis } => vec![part(j.name.clone(), "revolute", axis, 0)],
            JointKind::Prismatic { axis } => vec![part(j.name.clone(), "prismatic", axis, 0)],
            JointKind::Planar => vec![part(j.name.clone(), "planar", z, 0)],
            JointKind::Free => vec![part(j.name.clone(), "floating", z, 0)],
            JointKind::Spherical => {
                let effect = "URDF has no ball joints: written as three hinges about x, y and z";
                self.lose(effect, format!("joint '{}'", j.name));
                let turn =
                    |k: usize| part(format!("{}_{}", j.name, ["x", "y", "z"][k]), "continuous", Vec3::UNITS[k], k);
                (0..3).map(turn).collect()
            }
        }
    }

    fn joint(&mut self, p: &Part, parent: &str, child: &str, pose: &Pose) {
        let (model, j) = (self.model, p.joint);
        let what = || format!("joint '{}'", j.name);
        self.joint_element(&p.name, p.kind, parent, child, pose);
        if p.kind != "floating" {
            self.xml.leaf("axis", Attributes::new().numbers("xyz", &p.axis.to_array()));
        }
        let value = |group| model.parameters().group(group)[p.dof];
        let (damping, friction) = (value(ParameterGroup::Damping), value(ParameterGroup::DryFriction));
        if damping != 0.0 || friction != 0.0 {
            let a = Attributes::new().numbers("damping", &[damping]).numbers("friction", &[friction]);
            self.xml.leaf("dynamics", a);
        }
        self.limit(p);
        self.mimic(j);
        self.xml.close("joint");
        for (group, word) in [(ParameterGroup::Armature, "armature"), (ParameterGroup::Stiffness, "springs")] {
            if value(group) != 0.0 {
                self.lose(format!("URDF has no {word}"), what());
            }
        }
        if j.reference != 0.0 {
            let effect = "URDF has no reference position: zero is where the file shows the joint";
            self.lose(effect, format!("joint '{}' ({})", j.name, j.reference));
        }
    }

    fn limit(&mut self, p: &Part) {
        let j = p.joint;
        let [lo, hi] = j.effort;
        let limited = matches!(p.kind, "revolute" | "prismatic");
        let mut a = Attributes::new();
        if limited {
            let [lower, upper] = j.range.unwrap_or([-FAR, FAR]).map(|x| (x - j.reference).clamp(-FAR, FAR));
            a = a.numbers("lower", &[lower]).numbers("upper", &[upper]);
        } else if j.range.is_some() {
            self.lose(format!("URDF has no range for a {} joint", p.kind), format!("joint '{}'", j.name));
        }
        if limited || lo.is_finite() || hi.is_finite() || j.velocity.is_finite() {
            let effort = lo.abs().max(hi.abs()).min(FAR);
            self.xml.leaf("limit", a.numbers("effort", &[effort]).numbers("velocity", &[j.velocity.min(FAR)]));
        }
        if lo != -hi {
            self.lose("URDF has one limit of effort for both directions", format!("joint '{}'", j.name));
        }
    }

    /// A linear equality of two joints is a mimic joint.
    fn mimic(&mut self, j: &Joint) {
        for e in self.model.equalities().iter().filter(|e| e.active) {
            let EqualityKind::Joint { joint, other: Some(other), coefficients: [offset, slope, 0.0, 0.0, 0.0] } =
                e.kind
            else {
                continue;
            };
            if self.model.joints()[joint.0].name == j.name {
                let leader = &self.model.joints()[other.0].name;
                let a = Attributes::new().text("joint", leader).numbers("multiplier", &[slope]);
                self.xml.leaf("mimic", a.numbers("offset", &[offset]));
                return;
            }
        }
    }
}
