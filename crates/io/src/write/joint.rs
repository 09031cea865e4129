//! Joints as MJCF.

use super::mjcf::{Writer, finite_range};
use super::pose::steady_axis;
use super::xml::Attributes;
use slipstick_core::model::{BodyId, Joint, JointKind, ParameterGroup};
use slipstick_core::spatial::Vec3;

/// One joint of the file: which dof of the model's joint it is, or all of them.
struct Part<'a> {
    name: String,
    kind: &'static str,
    axis: Option<Vec3>,
    dof: usize,
    q: Option<usize>, // its coordinate, if it has one of its own
    joint: &'a Joint,
}

impl Writer<'_> {
    /// Writes a joint. Kinds that MJCF does not have become several joints with the same q and v.
    pub(super) fn joint(&mut self, j: &Joint) {
        let part = |name: &str, kind, axis, k: usize, own: bool| Part {
            name: format!("{}{name}", j.name),
            kind,
            axis,
            dof: j.v.start + k,
            q: own.then_some(j.q.start + k),
            joint: j,
        };
        let [x, y, z] = Vec3::UNITS.map(Some);
        let nested = self.model.bodies()[j.body.0].parent != BodyId::WORLD;
        let parts = match j.kind {
            JointKind::Revolute { axis } => vec![part("", "hinge", Some(axis), 0, true)],
            JointKind::Prismatic { axis } => vec![part("", "slide", Some(axis), 0, true)],
            JointKind::Spherical => vec![part("", "ball", None, 0, false)],
            JointKind::Free if !nested => vec![part("", "free", None, 0, false)],
            JointKind::Planar => {
                self.lose(
                    format!("joint '{}'", j.name),
                    "MJCF has no planar joints: written as two slides and a hinge",
                );
                vec![part("_x", "slide", x, 0, true), part("_y", "slide", y, 1, true), part("", "hinge", z, 2, true)]
            }
            JointKind::Free => {
                let effect = "MJCF has free joints only below the world: written as three slides and a ball";
                self.lose(format!("joint '{}'", j.name), effect);
                let slide = |name, axis, k| part(name, "slide", axis, k, true);
                vec![slide("_x", x, 0), slide("_y", y, 1), slide("_z", z, 2), part("", "ball", None, 3, false)]
            }
        };
        for p in parts {
            self.part(p);
        }
        if j.velocity.is_finite() {
            self.lose(format!("joint '{}'", j.name), format!("MJCF has no velocity limit ({})", j.velocity));
        }
    }

    fn part(&mut self, p: Part) {
        let (model, j) = (self.model, p.joint);
        let value = |group| model.parameters().group(group)[p.dof];
        // where a free joint is split, the body is placed at its start
        let start = if j.kind == JointKind::Free { p.q.map_or(0.0, |q| model.neutral()[q]) } else { j.reference };
        let mut a = Attributes::new().text("name", &p.name).text("type", p.kind);
        if p.kind != "free" && j.kind != JointKind::Free {
            a = a.position("pos", j.anchor);
        }
        if let Some(axis) = p.axis {
            a = a.numbers("axis", &steady_axis(axis).to_array());
        }
        if let Some(q) = p.q {
            let rest = model.parameters().group(ParameterGroup::SpringReference)[q];
            a = a.number("ref", start, 0.0).number("springref", rest, 0.0);
        }
        a = a
            .number("armature", value(ParameterGroup::Armature), 0.0)
            .number("damping", value(ParameterGroup::Damping), 0.0)
            .number("stiffness", value(ParameterGroup::Stiffness), 0.0)
            .number("frictionloss", value(ParameterGroup::DryFriction), 0.0);
        if let Some(range) = j.range.filter(|_| j.kind.nq() == 1 || p.kind == "ball") {
            a = a.text("limited", "true").numbers("range", &finite_range(range));
        }
        if j.effort.iter().any(|x| x.is_finite()) {
            if matches!(p.kind, "hinge" | "slide") {
                a = a.text("actuatorfrclimited", "true").numbers("actuatorfrcrange", &finite_range(j.effort));
            } else {
                self.lose(format!("joint '{}'", j.name), format!("MJCF has no limit of effort for a {} joint", p.kind));
            }
        }
        if j.driven_compensation {
            a = a.text("actuatorgravcomp", "true");
        }
        if p.q.is_none() {
            self.check_multi_dof(j, p.dof);
        }
        self.xml.leaf("joint", a);
    }

    /// A ball or free joint has one number of each kind for all its dofs, and its spring rests in the neutral pose.
    fn check_multi_dof(&mut self, j: &Joint, dof: usize) {
        let p = self.model.parameters();
        let groups =
            [ParameterGroup::Armature, ParameterGroup::Damping, ParameterGroup::Stiffness, ParameterGroup::DryFriction];
        let even = groups.iter().all(|g| p.group(*g)[dof..j.v.end].iter().all(|x| *x == p.group(*g)[dof]));
        let rest = &p.group(ParameterGroup::SpringReference)[j.q.clone()];
        let sprung = p.group(ParameterGroup::Stiffness)[dof] != 0.0;
        if !even {
            self.lose(
                format!("joint '{}'", j.name),
                "numbers that differ between its dofs: the first ones are written",
            );
        }
        if sprung && rest != &self.model.neutral()[j.q.clone()] {
            self.lose(format!("joint '{}'", j.name), "its spring rests in the neutral pose of the file");
        }
    }
}
