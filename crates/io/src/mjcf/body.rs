//! `<worldbody>`: the tree of bodies, with their joints, geoms and sites.

use super::asset::Assets;
use super::compiler::{Compiler, InertiaFromGeom};
use super::defaults::{ClassId, Defaults, Properties};
use super::geom::{self, GeomRead};
use super::{inertia, joint};
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::names::Names;
use crate::orientation::orientation;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::spatial::{BodyInertia, Pose, Vec3};
use slipstick_core::{JointKind, JointSpec};

/// A body as the file describes it; number 0 is the world.
#[derive(Debug)]
pub(super) struct Link<'a> {
    pub name: String,
    pub parent: usize,
    /// Its frame in the parent's frame.
    pub pose: Pose,
    pub inertia: BodyInertia,
    pub joints: Vec<JointSpec>,
    pub geoms: Vec<(String, GeomRead<'a>)>,
    pub sites: Vec<(String, Pose)>,
}

/// Something written in a body, perhaps inside `<frame>`s.
struct Part<'a> {
    element: Element<'a>,
    /// The innermost frame around it, seen from the body.
    frame: Pose,
    class: ClassId,
}

/// A body that is still to be read.
struct Pending<'a> {
    part: Part<'a>,
    parent: usize,
}

/// Reads the tree in depth-first order.
pub(super) struct BodyReader<'b, 'a> {
    pub compiler: &'b Compiler,
    pub defaults: &'b Defaults<'a>,
    pub assets: &'b mut Assets<'a>,
    pub warnings: &'b mut Warnings,
    pub body_names: Names<'a>,
    pub joint_names: Names<'a>,
    pub geom_names: Names<'a>,
    pub site_names: Names<'a>,
    pub links: Vec<Link<'a>>,
}

impl<'a> BodyReader<'_, 'a> {
    /// Reads all bodies of the file into `links`.
    pub fn read(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        self.body_names.reserve("world");
        let world = Link {
            name: "world".into(),
            parent: 0,
            pose: Pose::IDENTITY,
            inertia: BodyInertia::default(),
            joints: Vec::new(),
            geoms: Vec::new(),
            sites: Vec::new(),
        };
        self.links.push(world);
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
        let Part { element, frame, class } = part;
        let class = self.defaults.child_class(element, class)?;
        let index = self.links.len();
        let name = match element.text("name") {
            Some(name) => self.body_names.given(name, element)?,
            None => self.body_names.fresh(&format!("body_{index}")),
        };
        let position = element.vec3("pos")?.unwrap_or(Vec3::ZERO);
        let pose = frame * Pose::new(position, orientation(&element, &self.compiler.angles)?);
        self.warn_about(element)?;
        let link = Link {
            name,
            parent,
            pose,
            inertia: BodyInertia::default(),
            joints: Vec::new(),
            geoms: Vec::new(),
            sites: Vec::new(),
        };
        self.links.push(link);
        let children = self.contents_of(element, index, class)?;
        let link = &mut self.links[index];
        link.inertia = inertia::correct(link.inertia, element, self.compiler, self.warnings);
        let free = link.joints.iter().any(|j| j.kind == JointKind::Free);
        if free && parent != 0 {
            return Err(
                element.structure("free joints only in bodies that hang on the world", "one deeper in the tree")
            );
        }
        Ok(children)
    }

    fn warn_about(&mut self, body: Element) -> Result<(), LoadError> {
        if body.float_or("gravcomp", 0.0)? != 0.0 {
            self.warnings.add_once(body, "gravcomp is not applied: gravity pulls the body in full");
        }
        if body.flag("mocap", false)? {
            self.warnings.add(body, "mocap is not known: the body is fixed");
        }
        Ok(())
    }

    /// Reads what is written in a body, or in the world; the answer is its child bodies.
    fn contents_of(&mut self, body: Element<'a>, index: usize, class: ClassId) -> Result<Vec<Pending<'a>>, LoadError> {
        let parts = self.flattened(body, class)?;
        let explicit = parts.iter().find(|p| p.element.name() == "inertial").map(|p| p.element);
        let from_geoms = match self.compiler.inertia_from_geom {
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
                "inertial" | "camera" | "light" => {}
                other => {
                    let effect = format!("<{}> is not known: what it would add is missing", crate::xml::shown(other));
                    self.warnings.add(element, effect);
                }
            }
        }
        let link = &mut self.links[index];
        if from_geoms {
            link.inertia = link.geoms.iter().fold(link.inertia, |sum, (_, g)| sum.joined(&g.inertia));
        }
        if let Some(explicit) = explicit.filter(|_| !from_geoms || link.inertia.mass == 0.0) {
            link.inertia = inertia::explicit(explicit, self.compiler)?;
        }
        Ok(children)
    }

    /// The children of a body in the order of the file, those inside frames included.
    fn flattened(&self, body: Element<'a>, class: ClassId) -> Result<Vec<Part<'a>>, LoadError> {
        let parts_of =
            |e: Element<'a>, frame: Pose, class| e.children().rev().map(move |element| Part { element, frame, class });
        let mut stack: Vec<Part> = parts_of(body, Pose::IDENTITY, class).collect();
        let mut parts = Vec::new();
        while let Some(part) = stack.pop() {
            if part.element.name() != "frame" {
                parts.push(part);
                continue;
            }
            let e = part.element;
            let position = e.vec3("pos")?.unwrap_or(Vec3::ZERO);
            let frame = part.frame * Pose::new(position, orientation(&e, &self.compiler.angles)?);
            stack.extend(parts_of(e, frame, self.defaults.child_class(e, part.class)?));
        }
        Ok(parts)
    }

    fn joint(&mut self, part: Part<'a>, index: usize) -> Result<(), LoadError> {
        let mut spec = if part.element.name() == "freejoint" {
            joint::read_free(&Properties::bare(part.element))
        } else {
            let p = self.defaults.complete(part.element, &["joint"], part.class)?;
            joint::read(&p, &part.frame, self.compiler, self.warnings)?
        };
        let link = &mut self.links[index];
        spec.name = match spec.name.as_str() {
            "" => self.joint_names.fresh(&format!("{}_joint", link.name)),
            name => self.joint_names.given(name, part.element)?,
        };
        link.joints.push(spec);
        Ok(())
    }

    fn geom(&mut self, part: Part<'a>, index: usize, needs_mass: bool) -> Result<(), LoadError> {
        let p = self.defaults.complete(part.element, &["geom"], part.class)?;
        let mut tools = geom::Tools { compiler: self.compiler, assets: self.assets, warnings: self.warnings };
        let Some(read) = geom::read(&p, &part.frame, needs_mass, &mut tools)? else { return Ok(()) };
        let name = match part.element.text("name") {
            Some(name) => self.geom_names.given(name, part.element)?,
            None => String::new(),
        };
        self.links[index].geoms.push((name, read));
        Ok(())
    }

    /// A site is kept if it has a name: nothing can ask for others.
    fn site(&mut self, part: Part<'a>, index: usize) -> Result<(), LoadError> {
        let Some(name) = part.element.text("name") else { return Ok(()) };
        let p = self.defaults.complete(part.element, &["site"], part.class)?;
        let local = match p.attribute("fromto") {
            Some(ends) => {
                let (from, to) = geom::segment(ends)?;
                let axis = (from - to).normalized().ok_or_else(|| ends.wrong("two different points"))?;
                Pose::new((from + to) * 0.5, crate::orientation::z_to(axis))
            }
            None => Pose::new(p.vec3("pos")?.unwrap_or(Vec3::ZERO), orientation(&p, &self.compiler.angles)?),
        };
        let name = self.site_names.given(name, part.element)?;
        self.links[index].sites.push((name, part.frame * local));
        Ok(())
    }
}
