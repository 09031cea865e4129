//! URDF: links and the joints between them, in any order of the file.

mod compiler;
mod joint;
mod link;
mod mimic;
mod repair;
mod schema;
mod shapes;
mod tree;
mod visual;

pub use schema::urdf_schema_table;

use crate::LoadOptions;
use crate::attribute::Attributes;
use crate::error::{LoadError, Place};
use crate::names::Names;
use crate::warning::Warnings;
use crate::xml::{Document, Element};
use compiler::Compiler;
use shapes::Shapes;
use slipstick_core::model::{FrameId, GeomSpec, JointKind, JointSpec, Shape};
use slipstick_core::spatial::{BodyInertia, Pose};
use slipstick_core::{Model, ModelBuilder};
use std::path::Path;
use tree::{Tree, link_of};
use visual::Materials;

/// Makes a model of the document whose file is `path`.
pub(crate) fn read(document: &Document, root: usize, path: &Path, options: &LoadOptions) -> Result<Model, LoadError> {
    let root = document.element(root);
    let tree = Tree::read(root)?;
    let compiler = Compiler::read(root)?;
    let stem = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
    let mut builder = ModelBuilder::new(root.text("name").unwrap_or(&stem));
    let mut warnings = Warnings::default();
    if options.ground {
        builder.add_geom(ModelBuilder::WORLD, GeomSpec::new("floor", Shape::Plane));
    }
    let mut reader = Reader {
        tree: &tree,
        compiler: &compiler,
        joint_names: Names::new("joint", root),
        link_names: Names::new("link", root),
        warnings: &mut warnings,
    };
    let mut links = reader.links(options.free_root)?;
    repair::repair(&mut links, &mut warnings);
    let mut shapes = Shapes::new(path, options, &compiler);
    let materials = Materials::read(root, &shapes, &mut builder);
    add(&mut builder, &links, &materials, &mut shapes, &mut warnings)?;
    options.limits.check_inertia(&builder, &path.display().to_string())?;
    mimic::read(root, &links, &mut builder, &mut warnings)?;
    schema::remark(root, &mut builder, &mut warnings);
    warnings.give_to(&mut builder);
    let place = Place { file: path.display().to_string(), ..Place::default() };
    builder.build().map_err(|error| LoadError::Model { place: Box::new(place), error })
}

/// A link and how it hangs on its parent; number 0 is the world.
struct Hanging<'a> {
    element: Option<Element<'a>>,
    name: String,
    parent: usize,
    placement: Pose,
    inertia: BodyInertia,
    joints: Vec<JointSpec>,
}

/// Reads links in depth-first order.
struct Reader<'b, 'a> {
    tree: &'b Tree<'a>,
    compiler: &'b Compiler,
    joint_names: Names<'a>,
    link_names: Names<'a>,
    warnings: &'b mut Warnings,
}

impl<'a> Reader<'_, 'a> {
    fn links(&mut self, free_root: bool) -> Result<Vec<Hanging<'a>>, LoadError> {
        self.link_names.reserve("world");
        let mut links = vec![Hanging {
            element: None,
            name: "world".into(),
            parent: 0,
            placement: Pose::IDENTITY,
            inertia: BodyInertia::default(),
            joints: Vec::new(),
        }];
        let joints =
            if free_root { vec![JointSpec::new(self.joint_names.fresh("root"), JointKind::Free)] } else { Vec::new() };
        let mut stack = vec![(self.tree.root, 0, Pose::IDENTITY, joints)];
        while let Some((element, parent, placement, joints)) = stack.pop() {
            let name = element.required("name")?.value;
            let index = self.add(&mut links, element, parent, placement, joints)?;
            for joint in self.tree.joints_of.get(name).into_iter().flatten().rev() {
                self.joint_names.given(joint.required("name")?.value, *joint)?;
                let child = self.tree.links[link_of(*joint, "child")?];
                let joints = joint::read(*joint, &mut self.joint_names, self.warnings)?;
                stack.push((child, index, link::origin(*joint)?, joints));
            }
        }
        Ok(links)
    }

    /// Adds a link; the answer is its number. One that is called "world" and does not move is the world.
    fn add(
        &mut self,
        links: &mut Vec<Hanging<'a>>,
        element: Element<'a>,
        parent: usize,
        placement: Pose,
        joints: Vec<JointSpec>,
    ) -> Result<usize, LoadError> {
        let inertia = link::inertia(element, self.compiler)?;
        let mut name = element.required("name")?.value.to_string();
        if name == "world" {
            if parent == 0 && joints.is_empty() && placement == Pose::IDENTITY {
                links[0].element = Some(element);
                return Ok(0);
            }
            name = self.link_names.fresh("world_link");
            let effect = format!("a link that is not the world is called 'world': renamed to '{name}'");
            self.warnings.add(element, effect);
        }
        links.push(Hanging { element: Some(element), name, parent, placement, inertia, joints });
        Ok(links.len() - 1)
    }
}

/// Hands links and their shapes to the builder.
fn add(
    builder: &mut ModelBuilder,
    links: &[Hanging],
    materials: &Materials,
    shapes: &mut Shapes,
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    let mut ids: Vec<FrameId> = Vec::with_capacity(links.len());
    for (i, link) in links.iter().enumerate() {
        let id = if i == 0 {
            ModelBuilder::WORLD
        } else {
            builder.add_link(ids[link.parent], &link.name, link.placement, link.inertia, link.joints.clone())
        };
        ids.push(id);
        if let Some(element) = link.element {
            shapes.add(element, id, builder, warnings)?;
            visual::add(element, id, materials, shapes, builder);
        }
    }
    Ok(())
}
