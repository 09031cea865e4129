//! `<worldbody>`: the tree of bodies, with their joints, geoms and sites.

use super::asset::Assets;
use super::compiler::{Compilers, InertiaFromGeom};
use super::defaults::{ClassId, Defaults, Properties};
use super::geom::{self, GeomRead};
use super::{align, inertia, joint, keys};
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::names::Names;
use crate::orientation::orientation;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::model::{JointKind, JointSpec, Shape};
use slipstick_core::spatial::{BodyInertia, Pose, Quat, Vec3};
use std::collections::HashSet;

/// MuJoCo takes lighter geoms for weightless (kg).
const NO_MASS: f64 = 1e-14;

/// A body as the file describes it; number 0 is the world.
#[derive(Debug)]
pub(super) struct Link<'a> {
    pub name: String,
    /// Where it is described; `None` for the world.
    pub element: Option<Element<'a>>,
    pub parent: usize,
    /// Its frame in the parent's frame.
    pub pose: Pose,
    /// The rotation of that frame with the sign of the file, which a free joint starts with.
    pub turn: Quat,
    pub inertia: BodyInertia,
    /// Share of the weight that is taken off.
    pub gravity_compensation: f64,
    pub joints: Vec<JointSpec>,
    /// Where the joints of the file are in the states of attached models (see [`keys`]).
    marks: Vec<&'a str>,
    /// Whether the frame of the body, if it is free, moves to its inertia, and the axes of that where the file gives them.
    aligned: bool,
    axes: Option<Quat>,
    /// Joints whose spring and damper are given by a time and a damping ratio.
    pub tuned: Vec<(String, [f64; 2])>,
    pub geoms: Vec<(String, GeomRead<'a>)>,
    pub sites: Vec<Site>,
    /// Whether motion capture moves it, and its own mark in the states of attached models.
    pub mocap: bool,
    pub mark: &'a str,
}

/// A named place on a link, and the shape in which touch is felt there.
#[derive(Debug)]
pub(super) struct Site {
    pub name: String,
    /// Its frame in the link's frame.
    pub pose: Pose,
    pub zone: Option<Shape>,
}

impl<'a> Link<'a> {
    fn new(name: String, parent: usize, pose: Pose, turn: Quat) -> Self {
        Link {
            name,
            element: None,
            parent,
            pose,
            turn,
            inertia: BodyInertia::default(),
            gravity_compensation: 0.0,
            joints: Vec::new(),
            marks: Vec::new(),
            aligned: false,
            axes: None,
            tuned: Vec::new(),
            geoms: Vec::new(),
            sites: Vec::new(),
            mocap: false,
            mark: "",
        }
    }

    /// One word for each joint, also for those that the file does not have.
    pub fn marks(&self) -> impl Iterator<Item = &'a str> {
        self.marks.iter().copied().chain(std::iter::repeat("")).take(self.joints.len())
    }

    /// Where a free joint of it starts, or motion capture holds it.
    pub fn start(&self) -> [f64; 7] {
        let ([x, y, z], [w, i, j, k]) = (self.pose.position.to_array(), self.turn.to_array());
        [x, y, z, w, i, j, k]
    }
}

/// Something written in a body, perhaps inside `<frame>`s.
struct Part<'a> {
    element: Element<'a>,
    /// The innermost frame around it, seen from the body.
    frame: Pose,
    /// Its rotation.
    turn: Quat,
    class: ClassId,
}

/// A body that is still to be read.
struct Pending<'a> {
    part: Part<'a>,
    parent: usize,
}

/// Reads the tree in depth-first order.
pub(super) struct BodyReader<'b, 'a> {
    pub compilers: &'b Compilers,
    pub defaults: &'b Defaults<'a>,
    pub assets: &'b mut Assets<'a>,
    pub warnings: &'b mut Warnings,
    pub body_names: Names<'a>,
    pub joint_names: Names<'a>,
    pub geom_names: Names<'a>,
    pub site_names: Names<'a>,
    pub links: Vec<Link<'a>>,
    /// Geoms that explicit pairs ask for.
    pub paired: HashSet<&'a str>,
    /// Named geoms that the model does not have.
    pub left_out: HashSet<String>,
}

impl<'a> BodyReader<'_, 'a> {
    /// Reads all bodies of the file into `links`.
    pub fn read(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        self.body_names.reserve("world");
        self.links.push(Link::new("world".into(), 0, Pose::IDENTITY, Quat::IDENTITY));
        let mut stack = Vec::new();
        for section in root.all("worldbody") {
            stack.extend(self.contents_of(section, 0, ClassId::MAIN)?);
        }
        stack.reverse();
        while let Some(Pending { part, parent }) = stack.pop() {
            let children = self.body(part, parent)?;
            stack.extend(children.into_iter().rev());
        }
        Ok(())
    }

    /// Reads one body; the answer is its child bodies.
    fn body(&mut self, part: Part<'a>, parent: usize) -> Result<Vec<Pending<'a>>, LoadError> {
        let Part { element, frame, turn, class } = part;
        let class = self.defaults.child_class(element, class)?;
        let index = self.links.len();
        let name = match element.text("name") {
            Some(name) => self.body_names.given(name, element)?,
            None => self.body_names.fresh(&format!("body_{index}")),
        };
        let position = element.vec3("pos")?.unwrap_or(Vec3::ZERO);
        let local = orientation(&element, &self.compilers.of(element).angles)?;
        let mut link = Link::new(name, parent, frame * Pose::new(position, local), turn.compose(local));
        link.element = Some(element);
        link.gravity_compensation = element.float_or("gravcomp", 0.0)?;
        self.links.push(link);
        let children = self.contents_of(element, index, class)?;
        let link = &mut self.links[index];
        link.inertia = inertia::correct(link.inertia, element, self.compilers.of(element), self.warnings);
        (link.mocap, link.mark) = (element.flag("mocap", false)?, element.text(keys::MARK).unwrap_or_default());
        if link.mocap && (parent != 0 || !link.joints.is_empty()) {
            let got = if parent != 0 { "a body deeper in the tree" } else { "a body with joints" };
            return Err(element.structure("mocap bodies that are children of the world without joints", got));
        }
        let free = link.joints.iter().any(|j| j.kind == JointKind::Free);
        if free && parent != 0 {
            return Err(element.structure("free joints only in children of the world", "one deeper in the tree"));
        }
        if free && link.aligned && children.is_empty() {
            align::align(link, link.axes);
        }
        Ok(children)
    }

    /// Reads what is written in a body, or in the world; the answer is its child bodies.
    fn contents_of(&mut self, body: Element<'a>, index: usize, class: ClassId) -> Result<Vec<Pending<'a>>, LoadError> {
        let parts = self.flattened(body, class)?;
        let explicit = parts.iter().find(|p| p.element.name() == "inertial").map(|p| (p.element, p.frame));
        let from_geoms = match self.compilers.of(body).inertia_from_geom {
            InertiaFromGeom::Never => false,
            InertiaFromGeom::Always => true,
            InertiaFromGeom::Auto => explicit.is_none(),
        };
        let mut children = Vec::new();
        for part in parts {
            let element = part.element;
            match element.name() {
                "body" => children.push(Pending { part, parent: index }),
                "joint" | "freejoint" | "inertial" if index == 0 => {
                    return Err(
                        element.structure("bodies, geoms and sites in the world", format!("<{}>", element.name()))
                    );
                }
                "joint" | "freejoint" => self.joint(part, index)?,
                "geom" => self.geom(part, index, from_geoms && index > 0)?,
                "site" => self.site(part, index)?,
                _ => {} // read before, or told about by the comparison with the list of elements
            }
        }
        let link = &mut self.links[index];
        if from_geoms {
            link.inertia = link.geoms.iter().fold(link.inertia, |sum, (_, g)| sum.joined(&g.inertia));
            let mut heavy = link.geoms.iter().filter(|(_, g)| g.inertia.mass > NO_MASS);
            link.axes = heavy.next().map(|(_, g)| g.axes).filter(|_| heavy.next().is_none());
        }
        if let Some((explicit, frame)) = explicit.filter(|_| !from_geoms || link.inertia.mass == 0.0) {
            let compiler = self.compilers.of(explicit);
            link.inertia = inertia::explicit(explicit, compiler)?.moved(&frame);
            let given = explicit.attribute("fullinertia").is_none();
            let local = orientation(&explicit, &compiler.angles)?;
            link.axes = given.then(|| Quat::from_matrix(&frame.rotation).compose(local));
        } else if index > 0 && link.inertia.mass == 0.0 {
            link.inertia.com = link.pose.position; // matters with boundmass: MuJoCo puts the mass there
        }
        Ok(children)
    }

    /// The children of a body in the order of the file, those inside frames included.
    fn flattened(&self, body: Element<'a>, class: ClassId) -> Result<Vec<Part<'a>>, LoadError> {
        let parts_of = |e: Element<'a>, frame: Pose, turn: Quat, class| {
            e.children().rev().map(move |element| Part { element, frame, turn, class })
        };
        let mut stack: Vec<Part> = parts_of(body, Pose::IDENTITY, Quat::IDENTITY, class).collect();
        let mut parts = Vec::new();
        while let Some(part) = stack.pop() {
            if part.element.name() != "frame" {
                parts.push(part);
                continue;
            }
            let e = part.element;
            let position = e.vec3("pos")?.unwrap_or(Vec3::ZERO);
            let local = orientation(&e, &self.compilers.of(e).angles)?;
            let (frame, turn) = (part.frame * Pose::new(position, local), part.turn.compose(local));
            stack.extend(parts_of(e, frame, turn, self.defaults.child_class(e, part.class)?));
        }
        Ok(parts)
    }

    fn joint(&mut self, part: Part<'a>, index: usize) -> Result<(), LoadError> {
        let mut tuned = None;
        let mut spec = if part.element.name() == "freejoint" {
            joint::read_free(&Properties::bare(part.element))
        } else {
            let p = self.defaults.complete(part.element, &["joint"], part.class)?;
            tuned = p.array::<2>("springdamper")?.filter(|[time, ratio]| *time > 0.0 && *ratio > 0.0);
            joint::read(&p, &part.frame, self.compilers.of(part.element), self.warnings)?
        };
        let link = &mut self.links[index];
        spec.name = match spec.name.as_str() {
            "" => self.joint_names.fresh(&format!("{}_joint", link.name)),
            name => self.joint_names.given(name, part.element)?,
        };
        if spec.kind == JointKind::Free {
            spec.start = Some(link.start());
        }
        link.tuned.extend(tuned.map(|numbers| (spec.name.clone(), numbers)));
        link.marks.push(part.element.text(keys::MARK).unwrap_or_default());
        link.aligned = align::is_asked_for(part.element, self.compilers.of(part.element))?;
        link.joints.push(spec);
        Ok(())
    }

    fn geom(&mut self, part: Part<'a>, index: usize, needs_mass: bool) -> Result<(), LoadError> {
        let p = self.defaults.complete(part.element, &["geom"], part.class)?;
        let mut tools = geom::Tools {
            compiler: self.compilers.of(part.element),
            assets: self.assets,
            warnings: self.warnings,
            paired: &self.paired,
        };
        let read = geom::read(&p, &part.frame, needs_mass, &mut tools)?;
        let name = match part.element.text("name") {
            Some(name) => self.geom_names.given(name, part.element)?,
            None => String::new(),
        };
        if !read.as_ref().is_some_and(|g| g.kept) {
            self.left_out.insert(name.clone());
        }
        let Some(read) = read else { return Ok(()) };
        self.links[index].geoms.push((name, read));
        Ok(())
    }

    /// A site is kept if it has a name: nothing can ask for others.
    fn site(&mut self, part: Part<'a>, index: usize) -> Result<(), LoadError> {
        let Some(name) = part.element.text("name") else { return Ok(()) };
        let p = self.defaults.complete(part.element, &["site"], part.class)?;
        let mut size = p.overlaid("size", [0.005; 3])?;
        let local = match p.attribute("fromto") {
            Some(ends) => {
                let (from, to) = geom::segment(ends)?;
                let axis = (from - to).normalized().ok_or_else(|| ends.wrong("two different points"))?;
                let half = 0.5 * (from - to).norm();
                size = match p.attribute("type").map(|a| a.value) {
                    Some("box" | "ellipsoid") => [size[0], size[0], half],
                    _ => [size[0], half, 0.0],
                };
                Pose::new((from + to) * 0.5, crate::orientation::z_to(axis))
            }
            None => Pose::new(
                p.vec3("pos")?.unwrap_or(Vec3::ZERO),
                orientation(&p, &self.compilers.of(part.element).angles)?,
            ),
        };
        let name = self.site_names.given(name, part.element)?;
        let zone = zone(p.attribute("type").map_or("sphere", |a| a.value), size);
        self.links[index].sites.push(Site { name, pose: part.frame * local, zone });
        Ok(())
    }
}

/// The shape of a site; `None` for one without an inside (a mesh is for pictures only).
fn zone(kind: &str, size: [f64; 3]) -> Option<Shape> {
    let shape = match kind {
        "sphere" => Shape::Sphere { radius: 0.0 },
        "capsule" => Shape::Capsule { radius: 0.0, half_length: 0.0 },
        "cylinder" => Shape::Cylinder { radius: 0.0, half_length: 0.0 },
        "box" => Shape::Box { half_size: Vec3::ZERO },
        "ellipsoid" => Shape::Ellipsoid { radii: Vec3::ZERO },
        _ => return None,
    };
    let sized = size[..shape.n_sizes()].iter().all(|x| *x > 0.0 && x.is_finite());
    sized.then(|| shape.with_size(size))
}
