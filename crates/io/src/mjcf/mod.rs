//! MJCF, MuJoCo's format, to a model whose q and v are MuJoCo's qpos and qvel.

mod actuator;
mod asset;
mod body;
mod compiler;
mod defaults;
mod geom;
mod include;
mod inertia;
mod joint;
mod keyframe;
mod unsupported;

use crate::LoadOptions;
use crate::error::{LoadError, Place};
use crate::names::Names;
use crate::warning::Warnings;
use crate::xml::{Document, Element};
use asset::Assets;
use body::{BodyReader, Link};
use compiler::Compiler;
use defaults::Defaults;
use slipstick_core::spatial::Quat;
use slipstick_core::{FrameId, GeomSpec, JointId, JointKind, JointSpec, Mesh, MeshId, Model, ModelBuilder, Shape};
use std::collections::HashMap;
use std::path::Path;

/// Makes a model of the document whose main file is `path`.
pub(crate) fn read(
    mut document: Document,
    root: usize,
    path: &Path,
    options: &LoadOptions,
) -> Result<Model, LoadError> {
    include::expand(&mut document, root, path)?;
    let root = document.element(root);
    let mut warnings = Warnings::default();
    let compiler = Compiler::read(root, path.parent().unwrap_or(Path::new("")))?;
    let defaults = Defaults::read(root)?;
    let mut assets = Assets::read(root, &defaults, &compiler)?;
    unsupported::warn(root, &mut warnings)?;
    let mut reader = BodyReader {
        compiler: &compiler,
        defaults: &defaults,
        assets: &mut assets,
        warnings: &mut warnings,
        body_names: Names::new("body", root),
        joint_names: Names::new("joint", root),
        geom_names: Names::new("geom", root),
        site_names: Names::new("site", root),
        links: Vec::new(),
    };
    reader.read(root)?;
    let BodyReader { mut links, mut joint_names, mut geom_names, .. } = reader;
    if options.free_root {
        free_root(&mut links, root, &mut joint_names)?;
    }
    scale_total_mass(&mut links, &compiler);
    let stem = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
    let mut builder = ModelBuilder::new(root.text("model").unwrap_or(&stem));
    compiler::options(root, &mut builder.options)?;
    if options.ground {
        builder.add_geom(ModelBuilder::WORLD, GeomSpec::new(geom_names.fresh("floor"), Shape::Plane));
    }
    add_links(&mut builder, &links, &mut assets)?;
    add_actuators_and_keyframes(&mut builder, root, &links, &defaults, &compiler, &mut warnings)?;
    warnings.give_to(&mut builder);
    let place = Place { file: path.display().to_string(), ..Place::default() };
    builder.build().map_err(|error| LoadError::Model { place: Box::new(place), error })
}

/// Lets the one body that hangs on the world move freely.
fn free_root(links: &mut [Link], root: Element, names: &mut Names) -> Result<(), LoadError> {
    let mut tops = links.iter_mut().skip(1).filter(|l| l.parent == 0);
    let (Some(top), None) = (tops.next(), tops.next()) else {
        return Err(root.structure("one body that hangs on the world, to make it free", "none or several"));
    };
    match top.joints.as_slice() {
        [] => top.joints.push(JointSpec::new(names.fresh("root"), JointKind::Free)),
        [joint] if joint.kind == JointKind::Free => {}
        _ => {
            let got = format!("joint '{}' in it", top.joints[0].name);
            return Err(root.structure("a root body without joints, to make it free", got));
        }
    }
    Ok(())
}

fn scale_total_mass(links: &mut [Link], compiler: &Compiler) {
    let sum: f64 = links.iter().skip(1).map(|l| l.inertia.mass).sum();
    let Some(total) = compiler.total_mass.filter(|_| sum > 0.0) else { return };
    for i in links.iter_mut().skip(1).map(|l| &mut l.inertia) {
        i.mass *= total / sum;
        i.about_com = i.about_com * (total / sum);
    }
}

fn add_links(builder: &mut ModelBuilder, links: &[Link], assets: &mut Assets) -> Result<(), LoadError> {
    let mut mesh_ids: HashMap<&str, MeshId> = HashMap::new();
    let mut ids = Vec::with_capacity(links.len());
    for (i, link) in links.iter().enumerate() {
        let id = if i == 0 {
            ModelBuilder::WORLD
        } else {
            let parent: FrameId = ids[link.parent];
            builder.add_link(parent, &link.name, link.pose, link.inertia, link.joints.clone())
        };
        ids.push(id);
        for (name, geom) in &link.geoms {
            let mesh = match geom.mesh {
                Some(mesh) if !mesh_ids.contains_key(mesh.value) => {
                    let data = assets.mesh(mesh)?;
                    let (vertices, triangles) = (data.vertices.clone(), data.triangles.clone());
                    let id = builder.add_mesh(Mesh { name: mesh.value.into(), vertices, triangles });
                    mesh_ids.insert(mesh.value, id);
                    Some(id)
                }
                Some(mesh) => mesh_ids.get(mesh.value).copied(),
                None => None,
            };
            let Some(shape) = geom.shape_with(mesh) else { continue };
            builder.add_geom(id, GeomSpec { name: name.clone(), shape, pose: geom.pose, surface: geom.surface });
        }
        for (name, pose) in &link.sites {
            builder.add_site(id, name, *pose);
        }
    }
    Ok(())
}

fn add_actuators_and_keyframes<'a>(
    builder: &mut ModelBuilder,
    root: Element<'a>,
    links: &[Link<'a>],
    defaults: &Defaults<'a>,
    compiler: &Compiler,
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    let joints: Vec<&JointSpec> = links.iter().flat_map(|l| &l.joints).collect();
    let by_name = joints.iter().enumerate().map(|(i, j)| (j.name.as_str(), (JointId(i), *j))).collect();
    let actuators = actuator::read(root, defaults, &actuator::Joints { by_name }, compiler.autolimits, warnings)?;
    let has_actuator: Vec<bool> = actuators.iter().map(|a| a.is_some()).collect();
    let nv = joints.iter().map(|j| j.kind.nv()).sum();
    let layout = keyframe::Layout { q0: &neutral(links), nv, has_actuator: &has_actuator };
    for key in keyframe::read(root, &layout)? {
        builder.add_keyframe(key);
    }
    for actuator in actuators.into_iter().flatten() {
        builder.add_actuator(actuator);
    }
    Ok(())
}

/// MuJoCo's qpos0: joints at their reference, free bodies where the file puts them.
fn neutral(links: &[Link]) -> Vec<f64> {
    let mut q = Vec::new();
    for (link, joint) in links.iter().flat_map(|l| l.joints.iter().map(move |j| (l, j))) {
        match joint.kind {
            JointKind::Free => {
                q.extend(link.pose.position.to_array());
                q.extend(Quat::from_matrix(&link.pose.rotation).to_array());
            }
            JointKind::Spherical => q.extend(Quat::IDENTITY.to_array()),
            JointKind::Planar => q.extend([0.0; 3]),
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => q.push(joint.reference),
        }
    }
    q
}
