//! Meshes, tendons, constraints, actuators and keyframes as MJCF.

use super::mjcf::{Writer, finite_range};
use super::xml::{Attributes, join};
use slipstick_core::model::{
    Actuator, Dynamics, EqualityKind, FrameId, JointKind, Mesh, ParameterGroup, Tendon, Transmission,
};
use slipstick_core::spatial::{Pose, Quat, Vec3};

/// Group of the actuators that do not act.
const DISABLED: &str = "30";

impl Writer<'_> {
    /// Meshes and height fields, written out: corners and triangles of the hulls, heights over their least.
    pub(super) fn assets(&mut self) {
        if self.model.meshes().is_empty() && self.model.fields().is_empty() {
            return;
        }
        self.xml.open("asset", Attributes::new());
        let scales = self.model.parameters().group(ParameterGroup::MeshScale);
        let single = |x: f64| f64::from(x as f32) == x;
        let exact = |m: &Mesh| m.vertices.iter().all(|v| v.to_array().into_iter().all(single));
        if !self.model.meshes().iter().all(exact) {
            self.lose("meshes", "readers of MJCF round vertices to single precision");
        }
        for (i, m) in self.model.meshes().iter().enumerate() {
            let numbers: Vec<f64> = m.vertices.iter().flat_map(|v| v.to_array()).collect();
            let mut a = Attributes::new().text("name", &m.name).text("vertex", &join(&numbers));
            if !m.triangles.is_empty() {
                let corners: Vec<String> = m.triangles.iter().flatten().map(u32::to_string).collect();
                a = a.text("face", &corners.join(" "));
            }
            let scale = &scales[3 * i..3 * i + 3];
            if scale != [1.0; 3] {
                a = a.numbers("scale", scale);
            }
            self.xml.leaf("mesh", a);
        }
        for (i, f) in self.model.fields().iter().enumerate() {
            let [least, most] = f.range();
            let [x, y] = f.half_size;
            let elevation = if most > least { most - least } else { 1.0 };
            // the text goes from top to bottom, the grid from −y to +y
            let heights: Vec<f64> = f.heights.chunks(f.columns).rev().flatten().map(|h| h - least).collect();
            let a = Attributes::new().text("name", &self.field_name(i));
            let a = a.numbers("nrow", &[f.rows as f64]).numbers("ncol", &[f.columns as f64]);
            let a = a.numbers("size", &[x, y, elevation, f.base + least]);
            self.xml.leaf("hfield", a.text("elevation", &join(&heights)));
        }
        self.xml.close("asset");
    }

    /// A height field must have a name to be referred to.
    pub(super) fn field_name(&self, i: usize) -> String {
        match self.model.fields()[i].name.as_str() {
            "" => format!("field_{i}"),
            name => name.to_string(),
        }
    }

    pub(super) fn tendons(&mut self) {
        let model = self.model;
        let planar: Vec<&Actuator> = model.actuators().iter().filter(|a| self.is_on_planar(a)).collect();
        if model.tendons().is_empty() && planar.is_empty() {
            return;
        }
        self.xml.open("tendon", Attributes::new());
        for (i, t) in model.tendons().iter().enumerate() {
            self.tendon(i, t);
        }
        for a in planar {
            let Transmission::Joint(id) = a.transmission else { continue };
            self.xml.open("fixed", Attributes::new().text("name", &planar_tendon(a)));
            for (suffix, gear) in ["_x", "_y", ""].iter().zip(a.gear) {
                let name = format!("{}{suffix}", model.joints()[id.0].name);
                self.xml.leaf("joint", Attributes::new().text("joint", &name).numbers("coef", &[gear]));
            }
            self.xml.close("fixed");
        }
        self.xml.close("tendon");
    }

    fn tendon(&mut self, i: usize, t: &Tendon) {
        let mut a = Attributes::new().text("name", &self.tendon_name(i));
        if let Some(range) = t.range {
            a = a.text("limited", "true").numbers("range", &finite_range(range));
        }
        // −1 would stand for the length in the neutral pose
        let rest = if t.rest == [-1.0; 2] { [-1.0, -1.0 + f64::EPSILON] } else { t.rest };
        a = a
            .number("stiffness", t.stiffness, 0.0)
            .number("damping", t.damping, 0.0)
            .number("frictionloss", t.dry_friction, 0.0)
            .numbers("springlength", &rest);
        self.xml.open("fixed", a);
        for (id, weight) in &t.joints {
            let name = &self.model.joints()[id.0].name;
            self.xml.leaf("joint", Attributes::new().text("joint", name).numbers("coef", &[*weight]));
        }
        self.xml.close("fixed");
    }

    /// A tendon must have a name to be referred to.
    pub(super) fn tendon_name(&self, i: usize) -> String {
        match self.model.tendons()[i].name.as_str() {
            "" => format!("tendon_{i}"),
            name => name.to_string(),
        }
    }

    pub(super) fn equalities(&mut self) {
        if self.model.equalities().is_empty() {
            return;
        }
        self.xml.open("equality", Attributes::new());
        for e in self.model.equalities() {
            let a = Attributes::new().name("name", &e.name);
            let a = if e.active { a } else { a.text("active", "false") };
            match &e.kind {
                EqualityKind::Joint { joint, other, coefficients } => {
                    let name = |i: usize| self.model.joints()[i].name.as_str();
                    let a = a.text("joint1", name(joint.0)).name("joint2", other.map_or("", |j| name(j.0)));
                    self.xml.leaf("joint", a.numbers("polycoef", coefficients));
                }
                EqualityKind::Tendon { tendon, other, coefficients } => {
                    let second = other.map_or(String::new(), |t| self.tendon_name(t));
                    let a = a.text("tendon1", &self.tendon_name(*tendon)).name("tendon2", &second);
                    self.xml.leaf("tendon", a.numbers("polycoef", coefficients));
                }
                EqualityKind::Connect { frames, points } => self.connect(a, *frames, *points, &e.name),
                EqualityKind::Weld { frames, pose, anchor, torque_scale } => {
                    let met = pose.point(*anchor);
                    let turn = Quat::from_matrix(&pose.rotation).to_array();
                    let relative: Vec<f64> = met.to_array().into_iter().chain(turn).collect();
                    let a = self.bodies(a, *frames).position("anchor", *anchor).numbers("relpose", &relative);
                    self.xml.leaf("weld", a.number("torquescale", *torque_scale, 1.0));
                }
                _ => self.lose(format!("equality '{}'", e.name), "MJCF cannot express this constraint"),
            }
        }
        self.xml.close("equality");
    }

    fn bodies(&self, a: Attributes, frames: [FrameId; 2]) -> Attributes {
        let name = |f: FrameId| self.model.frames()[f.0].name.as_str();
        a.text("body1", name(frames[0])).text("body2", name(frames[1]))
    }

    /// MJCF gives the point in the first body; in the second it is where that point is in the neutral pose.
    fn connect(&mut self, a: Attributes, frames: [FrameId; 2], points: [Vec3; 2], name: &str) {
        let [x, y] = frames.map(|f| self.neutral_pose(f));
        let implied = y.inverse().point(x.point(points[0]));
        if (implied - points[1]).norm() > 1e-9 * (1.0 + implied.norm()) {
            let effect = "its points do not coincide in the neutral pose: the second one is moved";
            self.lose(format!("equality '{name}'"), effect);
        }
        let a = self.bodies(a, frames).numbers("anchor", &points[0].to_array());
        self.xml.leaf("connect", a);
    }

    /// Pose of a frame in the world when all joints are at their reference.
    fn neutral_pose(&self, frame: FrameId) -> Pose {
        let f = &self.model.frames()[frame.0];
        let (mut pose, mut body) = (f.pose, f.body);
        while body.0 != 0 {
            pose = self.placement(body) * pose;
            body = self.model.bodies()[body.0].parent;
        }
        pose
    }

    pub(super) fn actuators(&mut self) {
        if self.model.nu() == 0 {
            return;
        }
        let model = self.model;
        self.xml.open("actuator", Attributes::new());
        for (i, a) in model.actuators().iter().enumerate() {
            let law = &model.parameters().group(ParameterGroup::Actuator)[4 * i..4 * i + 4];
            let x = Attributes::new().name("name", &a.name);
            let x = match a.transmission {
                Transmission::Joint(_) if self.is_on_planar(a) => x.text("tendon", &planar_tendon(a)),
                Transmission::Joint(id) => x.text("joint", &model.joints()[id.0].name).numbers("gear", &a.gear),
                Transmission::Tendon(t) => x.text("tendon", &self.tendon_name(t)).numbers("gear", &a.gear),
                Transmission::JointInParent(id) => {
                    x.text("jointinparent", &model.joints()[id.0].name).numbers("gear", &a.gear)
                }
                _ => match self.sites_of(x, a) {
                    Some(x) => x.numbers("gear", &a.gear),
                    None => {
                        self.lose(format!("actuator '{}'", a.name), "MJCF cannot express its transmission");
                        continue;
                    }
                },
            };
            let x = self.gain(x, a, law[0]);
            let mut x = activation(x, a).text("biastype", "affine").numbers("biasprm", &law[1..]);
            if let Some(range) = a.ctrl_range {
                x = x.text("ctrllimited", "true").numbers("ctrlrange", &finite_range(range));
            }
            if let Some(range) = a.force_range {
                x = x.text("forcelimited", "true").numbers("forcerange", &finite_range(range));
            }
            self.xml.leaf("general", x);
        }
        self.xml.close("actuator");
    }

    /// The sites between which an actuator acts; `None`: it acts on a link without a site.
    fn sites_of(&self, x: Attributes, a: &Actuator) -> Option<Attributes> {
        let frame = |id: FrameId| &self.model.frames()[id.0];
        if a.transmission.frames().any(|id| frame(id).inertia.is_some()) {
            return None;
        }
        let name = |id: FrameId| frame(id).name.as_str();
        match a.transmission {
            Transmission::Site { site, reference } => {
                Some(x.text("site", name(site)).name("refsite", reference.map_or("", name)))
            }
            Transmission::SliderCrank { crank, slider, rod } => {
                let x = x.text("cranksite", name(crank)).text("slidersite", name(slider));
                Some(x.numbers("cranklength", &[rod]))
            }
            _ => None,
        }
    }

    /// The gain of an actuator, and its group if that is switched off.
    fn gain(&self, x: Attributes, a: &Actuator, gain: f64) -> Attributes {
        let x = if a.enabled { x } else { x.text("group", DISABLED) };
        match a.gain_slopes {
            [0.0, 0.0] => x.numbers("gainprm", &[gain]),
            [length, velocity] => x.text("gaintype", "affine").numbers("gainprm", &[gain, length, velocity]),
        }
    }

    /// Actuators that do not act are in a group of their own.
    pub(super) fn disabled_actuators(&self, option: Attributes) -> Attributes {
        let all = self.model.actuators().iter().all(|a| a.enabled);
        if all { option } else { option.text("actuatorgroupdisable", DISABLED) }
    }

    /// A planar joint is written as three joints; an actuator on it pulls on their weighted sum.
    fn is_on_planar(&self, a: &Actuator) -> bool {
        matches!(a.transmission, Transmission::Joint(id) if self.model.joints()[id.0].kind == JointKind::Planar)
    }

    pub(super) fn keyframes(&mut self) {
        if self.model.keyframes().is_empty() {
            return;
        }
        self.xml.open("keyframe", Attributes::new());
        for k in self.model.keyframes() {
            let mut a = Attributes::new().name("name", &k.name);
            for (name, values) in [("qpos", &k.q), ("qvel", &k.v), ("act", &k.act), ("ctrl", &k.ctrl)] {
                if !values.is_empty() {
                    a = a.numbers(name, values);
                }
            }
            if !k.mocap.is_empty() {
                let part = |range: std::ops::Range<usize>| -> Vec<f64> {
                    k.mocap.chunks_exact(7).flat_map(|pose| pose[range.clone()].to_vec()).collect()
                };
                a = a.numbers("mpos", &part(0..3)).numbers("mquat", &part(3..7));
            }
            self.xml.leaf("key", a);
        }
        self.xml.close("keyframe");
    }
}

/// What stands between control and force.
fn activation(x: Attributes, a: &Actuator) -> Attributes {
    let Some(activation) = &a.activation else { return x };
    let x = match activation.dynamics {
        Dynamics::Filter { time_constant } => x.text("dyntype", "filter").numbers("dynprm", &[time_constant]),
        Dynamics::ExactFilter { time_constant } => x.text("dyntype", "filterexact").numbers("dynprm", &[time_constant]),
        _ => x.text("dyntype", "integrator"),
    };
    let x = if activation.early { x.text("actearly", "true") } else { x };
    match activation.range {
        Some(range) => x.text("actlimited", "true").numbers("actrange", &finite_range(range)),
        None => x,
    }
}

fn planar_tendon(a: &Actuator) -> String {
    format!("{}_planar", a.name)
}
