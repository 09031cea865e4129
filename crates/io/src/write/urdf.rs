//! A model as URDF: the tree with its masses, limits and shapes. Much of a model has no place there; it is listed.

use super::xml::{Attributes, Xml};
use super::{ConversionWarning, is_first_link, joints_by_body, n_links};
use slipstick_core::Model;
use slipstick_core::model::{BodyId, EqualityKind, Geom, Joint, JointKind, Mesh, Shape};
use slipstick_core::spatial::{BodyInertia, Mat3, Pose};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// The model as a file in URDF, and what the file cannot say.
///
/// Bodies with several joints become chains of links without mass. A free root joint is left out: load the file with
/// `free_root`. Meshes are referred to as `meshes/NAME.obj` beside the file; [`mesh_to_obj`] gives their text and
/// [`mesh_file_names`] their names.
pub fn to_urdf(model: &Model) -> (String, Vec<ConversionWarning>) {
    let mut w = Urdf::new(model);
    w.xml.open("robot", Attributes::new().text("name", model.name()));
    for i in 0..n_links(model) {
        w.link(i);
    }
    w.sites();
    w.xml.close("robot");
    w.lose_the_rest();
    let losses = w.losses.into_iter().map(|(effect, names)| ConversionWarning::new(summary(&names), effect)).collect();
    (w.xml.into_text(), losses)
}

/// A mesh as the text of an OBJ file.
pub fn mesh_to_obj(mesh: &Mesh) -> String {
    let mut out = String::new();
    for v in &mesh.vertices {
        let _ = writeln!(out, "v {}", super::xml::join(&v.to_array()));
    }
    for [a, b, c] in &mesh.triangles {
        let _ = writeln!(out, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    out
}

/// Names of the OBJ files of all meshes: their own names with letters that every file system knows, numbered where they
/// would be the same, also to systems that take `A` for `a`.
pub fn mesh_file_names(model: &Model) -> Vec<String> {
    let known = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let mut taken = HashSet::new();
    let unique = |mesh: &Mesh| {
        let wanted: String = mesh.name.chars().map(known).collect();
        let mut candidates = std::iter::once(wanted.clone()).chain((2..).map(|k| format!("{wanted}_{k}")));
        candidates.find(|name| taken.insert(name.to_ascii_lowercase())).unwrap_or(wanted)
    };
    model.meshes().iter().map(unique).map(|name| format!("{name}.obj")).collect()
}

/// A few names and how many more.
fn summary(names: &[String]) -> String {
    let shown = names[..names.len().min(3)].join(", ");
    if names.len() > 3 { format!("{shown} and {} more", names.len() - 3) } else { shown }
}

pub(super) struct Urdf<'m> {
    pub model: &'m Model,
    pub xml: Xml,
    pub joints: Vec<Vec<&'m Joint>>,
    /// Link that is the root of the file: the world, or the link that moves freely in it.
    root: usize,
    pub link_names: HashSet<String>,
    joint_names: HashSet<String>,
    mesh_files: Vec<String>,
    /// What is lost, and whose it was.
    losses: BTreeMap<String, Vec<String>>,
}

impl<'m> Urdf<'m> {
    fn new(model: &'m Model) -> Urdf<'m> {
        let joints = joints_by_body(model);
        let hanging = |i: usize| is_first_link(model, i) && model.bodies()[model.frames()[i].body.0].parent.0 == 0;
        let on_world: Vec<usize> =
            (1..n_links(model)).filter(|i| model.frames()[*i].body.0 == 0 || hanging(*i)).collect();
        let floor_only = model.geoms().iter().all(|g| g.body != BodyId::WORLD || g.shape == Shape::Plane);
        let free = |i: usize| joints[model.frames()[i].body.0].first().is_some_and(|j| j.kind == JointKind::Free);
        let root = match on_world.as_slice() {
            [only] if floor_only && free(*only) => *only,
            _ => 0,
        };
        let mut w = Urdf {
            model,
            mesh_files: mesh_file_names(model),
            xml: Xml::default(),
            joints,
            root,
            link_names: model.frames()[..n_links(model)].iter().map(|f| f.name.clone()).collect(),
            joint_names: model.joints().iter().map(|j| j.name.clone()).collect(),
            losses: BTreeMap::new(),
        };
        if root != 0 {
            let name = w.joints[model.frames()[root].body.0][0].name.clone();
            w.lose("the root of a URDF has no joint: load it with free_root", format!("joint '{name}'"));
        }
        w
    }

    pub fn lose(&mut self, effect: impl Into<String>, what: impl Into<String>) {
        let (names, what) = (self.losses.entry(effect.into()).or_default(), what.into());
        if names.last() != Some(&what) {
            names.push(what);
        }
    }

    /// A link, and the joints that it hangs by. Links merged over fixed joints hang on their body's first link.
    fn link(&mut self, i: usize) {
        if i == 0 && self.root != 0 {
            return;
        }
        let f = &self.model.frames()[i];
        self.xml.open("link", Attributes::new().text("name", &f.name));
        self.inertial(&f.inertia.unwrap_or_default());
        for g in self.model.geoms().iter().filter(|g| g.link.0 == i) {
            self.collision(g, &(f.pose.inverse() * g.pose));
        }
        self.xml.close("link");
        if i == self.root {
            return;
        }
        if is_first_link(self.model, i) && self.model.bodies()[f.body.0].mocap {
            self.fixed(&self.model.frames()[0].name, &f.name, &self.model.placements()[f.body.0]);
            self.lose("URDF has no mocap bodies: fixed where it is", format!("body '{}'", f.name));
        } else if is_first_link(self.model, i) {
            self.chain(i);
        } else {
            let parent = self.model.bodies()[f.body.0].link.0;
            self.fixed(&self.model.frames()[parent].name, &f.name, &f.pose);
        }
    }

    fn inertial(&mut self, i: &BodyInertia) {
        if *i == BodyInertia::default() {
            return;
        }
        let s = i.about_com;
        self.xml.open("inertial", Attributes::new());
        self.origin(&Pose::translation(i.com));
        self.xml.leaf("mass", Attributes::new().numbers("value", &[i.mass]));
        let entries = [("ixx", s.xx), ("ixy", s.xy), ("ixz", s.xz), ("iyy", s.yy), ("iyz", s.yz), ("izz", s.zz)];
        let a = entries.iter().fold(Attributes::new(), |a, (name, x)| a.numbers(name, &[*x]));
        self.xml.leaf("inertia", a);
        self.xml.close("inertial");
    }

    fn collision(&mut self, g: &Geom, pose: &Pose) {
        let double = |x: f64| [2.0 * x];
        let (name, a) = match g.shape {
            Shape::Sphere { radius } => ("sphere", Attributes::new().numbers("radius", &[radius])),
            Shape::Box { half_size } => ("box", Attributes::new().numbers("size", &(half_size * 2.0).to_array())),
            Shape::Cylinder { radius, half_length } => {
                ("cylinder", Attributes::new().numbers("radius", &[radius]).numbers("length", &double(half_length)))
            }
            Shape::Capsule { radius, half_length } => {
                ("capsule", Attributes::new().numbers("radius", &[radius]).numbers("length", &double(half_length)))
            }
            Shape::Mesh { mesh } => {
                let file = format!("meshes/{}", self.mesh_files[mesh.0]);
                ("mesh", Attributes::new().text("filename", &file))
            }
            Shape::Plane => return self.lose("URDF has no planes: load it with ground", geom_name(g)),
            _ => return self.lose(format!("URDF has no {}", g.shape.name()), geom_name(g)),
        };
        self.xml.open("collision", Attributes::new().name("name", &g.name));
        self.origin(pose);
        self.xml.open("geometry", Attributes::new());
        self.xml.leaf(name, a);
        self.xml.close("geometry");
        self.xml.close("collision");
        if g.surface != slipstick_core::model::Surface::default() {
            self.lose("URDF has no friction, masks and margins of shapes", geom_name(g));
        }
    }

    fn origin(&mut self, pose: &Pose) {
        if *pose == Pose::IDENTITY {
            return;
        }
        let a = Attributes::new().numbers("xyz", &pose.position.to_array());
        let a = if pose.rotation == Mat3::IDENTITY { a } else { a.numbers("rpy", &roll_pitch_yaw(&pose.rotation)) };
        self.xml.leaf("origin", a);
    }

    pub fn fixed(&mut self, parent: &str, child: &str, pose: &Pose) {
        let name = fresh(&mut self.joint_names, format!("{child}_fixed"));
        self.joint_element(&name, "fixed", parent, child, pose);
        self.xml.close("joint");
    }

    pub fn joint_element(&mut self, name: &str, kind: &str, parent: &str, child: &str, pose: &Pose) {
        self.xml.open("joint", Attributes::new().text("name", name).text("type", kind));
        self.xml.leaf("parent", Attributes::new().text("link", parent));
        self.xml.leaf("child", Attributes::new().text("link", child));
        self.origin(pose);
    }

    /// Sites become links without mass.
    fn sites(&mut self) {
        for site in &self.model.frames()[n_links(self.model)..] {
            let name = fresh(&mut self.link_names, site.name.clone());
            let carrier = &self.model.frames()[self.model.bodies()[site.body.0].link.0].name;
            if site.body == BodyId::WORLD && self.root != 0 {
                self.lose("URDF has nothing outside the root link", format!("site '{}'", site.name));
                continue;
            }
            self.xml.leaf("link", Attributes::new().text("name", &name));
            self.fixed(carrier, &name, &site.pose);
            self.lose("URDF has no sites: written as links without mass", format!("site '{}'", site.name));
        }
    }

    fn lose_the_rest(&mut self) {
        let m = self.model;
        let linear = |e: &&slipstick_core::model::Equality| {
            e.active
                && matches!(e.kind, EqualityKind::Joint { other: Some(_), coefficients: [_, _, 0.0, 0.0, 0.0], .. })
        };
        let other = m.equalities().len() - m.equalities().iter().filter(linear).count();
        let lists = [
            (m.nu(), "actuator"),
            (m.tendons().len(), "tendon"),
            (other, "equality constraint"),
            (m.sensors().len(), "sensor"),
            (m.keyframes().len(), "keyframe"),
            (m.excludes().len(), "contact exclusion"),
        ];
        for (n, word) in lists.into_iter().filter(|(n, _)| *n > 0) {
            self.lose(format!("URDF has no {word}s"), format!("{n} {word}{}", if n == 1 { "" } else { "s" }));
        }
        if m.visuals().has_own_shapes() {
            self.lose(super::NO_VISUALS, "visuals");
        }
        if m.gravity_compensation().iter().any(|(mass, _)| *mass != 0.0) {
            self.lose("URDF cannot express this force", "gravity compensation");
        }
        if m.options().gravity != slipstick_core::Options::default().gravity {
            self.lose("URDF has no options", format!("gravity {:?}", m.options().gravity));
        }
        self.lose("URDF has no options", format!("time step {}", m.options().dt));
    }
}

fn geom_name(g: &Geom) -> String {
    format!("geom '{}'", g.name)
}

/// A name that nothing has yet.
pub(super) fn fresh(taken: &mut HashSet<String>, wanted: String) -> String {
    let mut name = wanted;
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// Angles about the fixed axes x, y, z. The yaw is read first and turned back, so that nothing is lost near a pitch of 90°.
fn roll_pitch_yaw(r: &Mat3) -> [f64; 3] {
    let yaw = r.at(1, 0).atan2(r.at(0, 0));
    let (s, c) = yaw.sin_cos();
    let pitch = (-r.at(2, 0)).atan2(c * r.at(0, 0) + s * r.at(1, 0));
    let roll = (s * r.at(0, 2) - c * r.at(1, 2)).atan2(c * r.at(1, 1) - s * r.at(0, 1));
    [roll, pitch, yaw]
}
