//! URDF: links and the joints between them, in any order of the file.

mod joint;
mod link;

use crate::LoadOptions;
use crate::attribute::Attributes;
use crate::error::{LoadError, Place};
use crate::names::Names;
use crate::warning::Warnings;
use crate::xml::{Document, Element};
use link::Shapes;
use slipstick_core::spatial::Pose;
use slipstick_core::{FrameId, GeomSpec, JointKind, JointSpec, Model, ModelBuilder, Shape};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Makes a model of the document whose file is `path`.
pub(crate) fn read(document: &Document, root: usize, path: &Path, options: &LoadOptions) -> Result<Model, LoadError> {
    let root = document.element(root);
    let tree = Tree::read(root)?;
    let stem = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
    let mut builder = ModelBuilder::new(root.text("name").unwrap_or(&stem));
    let (mut warnings, mut shapes) = (Warnings::default(), Shapes::new(path, &options.package_dirs));
    if options.ground {
        builder.add_geom(ModelBuilder::WORLD, GeomSpec::new("floor", Shape::Plane));
    }
    let mut joint_names = Names::new("joint", root);
    let free =
        JointSpec::new(if options.free_root { joint_names.fresh("root") } else { String::new() }, JointKind::Free);
    let top = Hanging {
        link: tree.root,
        parent: ModelBuilder::WORLD,
        placement: Pose::IDENTITY,
        joints: if options.free_root { vec![free] } else { Vec::new() },
    };
    let mut link_names = Names::new("link", root);
    link_names.reserve("world");
    let mut stack = vec![top];
    while let Some(next) = stack.pop() {
        let link = next.link;
        let id = add_link(&mut builder, next, &mut link_names, &mut warnings)?;
        shapes.add(link, id, &mut builder, &mut warnings)?;
        let name = link.required("name")?.value;
        let children = tree.joints_of.get(name).map_or(&[][..], Vec::as_slice);
        for joint in children.iter().rev() {
            stack.push(hanging(*joint, id, &tree, &mut joint_names, &mut warnings)?);
        }
    }
    warnings.give_to(&mut builder);
    let place = Place { file: path.display().to_string(), ..Place::default() };
    builder.build().map_err(|error| LoadError::Model { place: Box::new(place), error })
}

/// A link that waits for being added to the model.
struct Hanging<'a> {
    link: Element<'a>,
    parent: FrameId,
    placement: Pose,
    joints: Vec<JointSpec>,
}

fn hanging<'a>(
    joint: Element<'a>,
    parent: FrameId,
    tree: &Tree<'a>,
    names: &mut Names,
    warnings: &mut Warnings,
) -> Result<Hanging<'a>, LoadError> {
    names.given(joint.required("name")?.value, joint)?;
    let child = link_of(joint, "child")?;
    let link = *tree.links.get(child).ok_or_else(|| joint.unknown("link", child))?;
    let placement = link::origin(joint)?;
    Ok(Hanging { link, parent, placement, joints: joint::read(joint, names, warnings)? })
}

/// Adds a link. One that is called "world" and does not move is the world.
fn add_link(
    builder: &mut ModelBuilder,
    next: Hanging,
    names: &mut Names,
    warnings: &mut Warnings,
) -> Result<FrameId, LoadError> {
    let Hanging { link, parent, placement, joints } = next;
    let inertia = link::inertia(link, warnings)?;
    let name = link.required("name")?.value;
    if name != "world" {
        return Ok(builder.add_link(parent, name, placement, inertia, joints));
    }
    if parent == ModelBuilder::WORLD && joints.is_empty() && placement == Pose::IDENTITY {
        return Ok(ModelBuilder::WORLD);
    }
    let other = names.fresh("world_link");
    warnings.add(link, format!("a link that is not the world is called 'world': renamed to '{other}'"));
    Ok(builder.add_link(parent, other, placement, inertia, joints))
}

/// Links and joints by name.
struct Tree<'a> {
    root: Element<'a>,
    links: HashMap<&'a str, Element<'a>>,
    /// Joints whose parent a link is, in the order of the file.
    joints_of: HashMap<&'a str, Vec<Element<'a>>>,
}

impl<'a> Tree<'a> {
    fn read(robot: Element<'a>) -> Result<Tree<'a>, LoadError> {
        let (mut links, mut order) = (HashMap::new(), Vec::new());
        for link in robot.all("link") {
            let name = link.required("name")?.value;
            if links.insert(name, link).is_some() {
                return Err(link.structure("every link to have a name of its own", format!("a second '{name}'")));
            }
            order.push(name);
        }
        let (mut joints_of, mut parent_of) = (HashMap::<_, Vec<_>>::new(), HashMap::new());
        for joint in robot.all("joint") {
            let (parent, child) = (link_of(joint, "parent")?, link_of(joint, "child")?);
            for name in [parent, child] {
                links.get(name).ok_or_else(|| joint.unknown("link", name))?;
            }
            if let Some(other) = parent_of.insert(child, parent) {
                let got = format!("both '{other}' and '{parent}' for link '{child}'");
                let hint = "closed loops cannot be written in URDF";
                return Err(joint.structure("one parent per link", got).with_hint(hint));
            }
            joints_of.entry(parent).or_default().push(joint);
        }
        let roots: Vec<&str> = order.iter().filter(|n| !parent_of.contains_key(*n)).copied().collect();
        let root = match roots.as_slice() {
            [root] => links[root],
            [] if order.is_empty() => return Err(robot.missing("a <link>")),
            [] => return Err(robot.structure("a root link", "a cycle: every link is some joint's child")),
            [a, b, ..] => {
                let got = format!("{} ('{a}', '{b}', …)", roots.len());
                return Err(robot.structure("one root link", got).with_hint("connect them with joints"));
            }
        };
        let tree = Tree { root, links, joints_of };
        tree.refuse_cycles(robot)?;
        Ok(tree)
    }

    /// Links that cannot be reached from the root hang on each other.
    fn refuse_cycles(&self, robot: Element) -> Result<(), LoadError> {
        let (mut reached, mut stack) = (HashSet::new(), vec![self.root.text("name").unwrap_or_default()]);
        while let Some(name) = stack.pop() {
            reached.insert(name);
            for joint in self.joints_of.get(name).into_iter().flatten() {
                stack.push(link_of(*joint, "child")?);
            }
        }
        let mut lost: Vec<&str> = self.links.keys().filter(|n| !reached.contains(*n)).copied().collect();
        lost.sort_unstable();
        match lost.first() {
            Some(name) => {
                let got = format!("link '{name}' in a cycle of joints");
                Err(robot.structure("all links to hang on the root link", got))
            }
            None => Ok(()),
        }
    }
}

/// Name in `<parent link="…"/>` or `<child link="…"/>`.
fn link_of<'a>(joint: Element<'a>, role: &'static str) -> Result<&'a str, LoadError> {
    let child = joint.child(role).ok_or_else(|| joint.missing(&format!("<{role}>")))?;
    Ok(child.required("link")?.value)
}
