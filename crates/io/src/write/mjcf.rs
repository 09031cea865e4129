//! The tree of a model as MJCF. Links merged over fixed joints are written as bodies of their own, straight below the body
//! that they move with, so that their names and masses survive.

use super::pose::seen_from;
use super::xml::{Attributes, Xml};
use super::{ConversionWarning, is_first_link, joints_by_body, n_links};
use slipstick_core::model::{BodyId, Geom, Joint, JointKind, PairRule, ParameterGroup, Shape};
use slipstick_core::spatial::{BodyInertia, Pose, Quat, Vec3};
use slipstick_core::{Model, Options};

/// Stands for infinity, which MJCF has no word for.
pub(super) const FAR: f64 = 1e10;
/// Width given to ranges of no width, which MJCF refuses.
const NARROW: f64 = 1e-12;

/// The model as a file in MJCF that loads to the same dynamics.
pub fn to_mjcf(model: &Model) -> String {
    to_mjcf_with_warnings(model).0
}

/// The model as a file in MJCF, and what the file cannot say.
pub fn to_mjcf_with_warnings(model: &Model) -> (String, Vec<ConversionWarning>) {
    written(model, true)
}

/// The file without colors: what only pictures need is no part of the robot.
pub(super) fn without_colors(model: &Model) -> String {
    written(model, false).0
}

fn written(model: &Model, colors: bool) -> (String, Vec<ConversionWarning>) {
    let mut w = Writer { colors, ..Writer::new(model) };
    w.xml.open("mujoco", Attributes::new().name("model", model.name()));
    w.xml.leaf("compiler", Attributes::new().text("angle", "radian").text("inertiafromgeom", "false"));
    w.xml.leaf("option", w.disabled_actuators(options(model.options())));
    w.pair_rule();
    w.assets();
    w.tree();
    w.contact();
    w.tendons();
    w.equalities();
    w.actuators();
    w.sensors();
    w.keyframes();
    if model.visuals().has_own_shapes() {
        w.lose("visuals", super::NO_VISUALS);
    }
    w.xml.close("mujoco");
    (w.xml.into_text(), w.losses)
}

/// A file that is being written.
pub(super) struct Writer<'m> {
    pub model: &'m Model,
    pub xml: Xml,
    pub losses: Vec<ConversionWarning>,
    /// Whether geoms are written with their colors.
    colors: bool,
    /// Names of geoms; those that pairs need and that have none get one.
    pub geom_names: Vec<String>,
    joints: Vec<Vec<&'m Joint>>,
    /// For each body the links straight below it: merged ones, and the first links of the bodies it carries.
    children: Vec<Vec<usize>>,
    /// Geoms and sites of each link.
    geoms: Vec<Vec<usize>>,
    sites: Vec<Vec<usize>>,
    /// Inertia that each link is written with.
    pub inertia: Vec<BodyInertia>,
    /// Share of its weight that is taken off each body's links.
    pub compensation: Vec<f64>,
}

impl<'m> Writer<'m> {
    fn new(model: &'m Model) -> Writer<'m> {
        let n = n_links(model);
        let mut w = Writer {
            model,
            xml: Xml::default(),
            losses: Vec::new(),
            colors: true,
            geom_names: model.geoms().iter().map(|g| g.name.clone()).collect(),
            joints: joints_by_body(model),
            children: vec![Vec::new(); model.n_bodies()],
            geoms: vec![Vec::new(); n],
            sites: vec![Vec::new(); n],
            inertia: model.frames()[..n].iter().map(|f| f.inertia.unwrap_or_default()).collect(),
            compensation: vec![0.0; n],
        };
        for (i, f) in model.frames()[..n].iter().enumerate().skip(1) {
            let carrier = if is_first_link(model, i) { model.bodies()[f.body.0].parent } else { f.body };
            w.children[carrier.0].push(i);
        }
        for (i, g) in model.geoms().iter().enumerate() {
            w.geoms[g.link.0].push(i);
        }
        for (i, site) in model.frames().iter().enumerate().skip(n) {
            w.sites[site.parent.0].push(i);
        }
        w.check_inertias(n);
        w.gather_defects(n);
        w.share_compensation(n);
        w
    }

    pub fn lose(&mut self, what: impl Into<String>, effect: impl Into<String>) {
        self.losses.push(ConversionWarning::new(what, effect));
    }

    /// All bodies. An explicit stack: a chain of thousands must not exhaust the call stack.
    fn tree(&mut self) {
        enum Step {
            Link(usize),
            Close(&'static str),
        }
        self.xml.open("worldbody", Attributes::new());
        self.contents(0);
        let mut stack = vec![Step::Close("worldbody")];
        stack.extend(self.children[0].iter().rev().map(|i| Step::Link(*i)));
        while let Some(step) = stack.pop() {
            match step {
                Step::Close(name) => self.xml.close(name),
                Step::Link(i) => {
                    self.open_link(i);
                    stack.push(Step::Close("body"));
                    if is_first_link(self.model, i) {
                        let body = self.model.frames()[i].body;
                        stack.extend(self.children[body.0].iter().rev().map(|i| Step::Link(*i)));
                    }
                }
            }
        }
    }

    fn open_link(&mut self, i: usize) {
        let model = self.model;
        let f = &model.frames()[i];
        let moving = is_first_link(model, i);
        let pose = if moving { self.placement(f.body) } else { f.pose };
        let attributes = Attributes::new().text("name", &f.name).pose(&pose);
        let mocap = moving && model.bodies()[f.body.0].mocap;
        let attributes = if mocap { attributes.text("mocap", "true") } else { attributes };
        self.xml.open("body", attributes.number("gravcomp", self.compensation[i], 0.0));
        if moving {
            for k in 0..self.joints[f.body.0].len() {
                self.joint(self.joints[f.body.0][k]);
            }
        }
        self.inertial(self.inertia[i]);
        self.contents(i);
    }

    /// Where a body is described: a free one where it starts.
    pub(super) fn placement(&self, body: BodyId) -> Pose {
        match self.joints[body.0].first() {
            Some(j) if j.kind == JointKind::Free => {
                let q = &self.model.neutral()[j.q.clone()];
                // the slides that a free joint deeper in the tree becomes run along the axes of the parent
                let root = self.model.bodies()[body.0].parent == BodyId::WORLD;
                let turn = if root { Quat::from_slice(&q[3..]) } else { Quat::IDENTITY };
                Pose::new(Vec3::from_slice(q), turn)
            }
            _ => self.model.placements()[body.0],
        }
    }

    fn inertial(&mut self, i: BodyInertia) {
        if i == BodyInertia::default() {
            return;
        }
        let s = i.about_com;
        let a = Attributes::new().numbers("pos", &i.com.to_array()).numbers("mass", &[i.mass]);
        let a = if [s.xy, s.xz, s.yz] == [0.0; 3] {
            a.numbers("diaginertia", &[s.xx, s.yy, s.zz])
        } else {
            a.numbers("fullinertia", &[s.xx, s.yy, s.zz, s.xy, s.xz, s.yz])
        };
        self.xml.leaf("inertial", a);
    }

    fn contents(&mut self, link: usize) {
        let frame = self.model.frames()[link].pose;
        for k in 0..self.geoms[link].len() {
            self.geom(self.geoms[link][k], &frame);
        }
        for i in &self.sites[link] {
            let site = &self.model.frames()[*i];
            let local = seen_from(&frame, &site.pose);
            let mut a = Attributes::new().text("name", &site.name).pose(&local);
            if let Some(zone) = site.zone {
                a = a.text("type", zone.name()).numbers("size", &zone.size()[..zone.n_sizes()]);
            }
            self.xml.leaf("site", a);
        }
    }

    fn geom(&mut self, i: usize, frame: &Pose) {
        let g: &Geom = &self.model.geoms()[i];
        let p = self.model.parameters();
        let size = &p.group(ParameterGroup::ShapeSize)[3 * i..3 * i + 3];
        let kind = match g.shape {
            Shape::HeightField { .. } => "hfield",
            Shape::Terrain { .. } => "mesh",
            shape => shape.name(),
        };
        let mut pose = g.pose;
        let a = Attributes::new().name("name", &self.geom_names[i]).text("type", kind);
        let a = match g.shape {
            Shape::HeightField { field } => {
                // heights are written over their least
                pose = pose * Pose::translation(Vec3::UNITS[2] * self.model.fields()[field.0].range()[0]);
                a.text("hfield", &self.field_name(field.0))
            }
            Shape::Terrain { mesh } => {
                let name = &self.model.meshes()[mesh.0].name;
                self.lose(
                    format!("geom '{}'", g.name),
                    format!("MJCF makes meshes convex: load with terrain '{name}'"),
                );
                a.text("mesh", name)
            }
            Shape::Plane => a.numbers("size", &[g.surface.extent[0], g.surface.extent[1], 1.0]), // 0: infinite
            Shape::Mesh { mesh } => a.text("mesh", &self.model.meshes()[mesh.0].name),
            shape => a.numbers("size", &size[..shape.n_sizes()]),
        };
        let s = &g.surface;
        // a list of pairs is written as explicit pairs, and the masks must not add others
        let listed = matches!(self.model.pair_rule(), PairRule::List(_));
        let masks = if listed { [0, 0] } else { [s.contype as i32, s.conaffinity as i32] };
        let a = a
            .pose(&seen_from(frame, &pose))
            .number("friction", p.group(ParameterGroup::Friction)[i], 1.0)
            .number("contype", f64::from(masks[0]), 1.0)
            .number("conaffinity", f64::from(masks[1]), 1.0)
            .number("condim", f64::from(s.condim), 3.0)
            .number("priority", f64::from(s.priority), 0.0)
            .number("margin", s.offset, 0.0);
        let look = &self.model.visuals().geoms[i];
        // without opacity rays would pass through it
        let color = Some(look.rgba()).filter(|rgba| self.colors && look.is_given() && rgba[3] > 0.0);
        let a = match color.filter(|_| !s.transparent) {
            Some(rgba) => a.numbers("rgba", &rgba),
            None if s.transparent => a.numbers("rgba", &[0.0; 4]),
            None => a,
        };
        self.xml.leaf("geom", a);
        for (group, name) in [(ParameterGroup::Restitution, "restitution"), (ParameterGroup::Compliance, "compliance")]
        {
            if p.group(group)[i] != 0.0 {
                self.lose(format!("geom '{}'", g.name), format!("MJCF has no {name}"));
            }
        }
    }
}

fn options(o: &Options) -> Attributes {
    let a = Attributes::new().numbers("timestep", &[o.dt]).numbers("gravity", &o.gravity);
    if o.magnetic == Options::default().magnetic { a } else { a.numbers("magnetic", &o.magnetic) }
}

/// A range as MJCF can say it: finite, and not empty.
pub(super) fn finite_range([lo, hi]: [f64; 2]) -> [f64; 2] {
    let (lo, hi) = (lo.clamp(-FAR, FAR), hi.clamp(-FAR, FAR));
    [lo, if hi > lo { hi } else { (lo + NARROW).max(lo.next_up()) }]
}
