//! MJCF, MuJoCo's format, to a model whose q and v are MuJoCo's qpos and qvel.

mod actuator;
mod align;
mod asset;
mod attach;
mod body;
mod compiler;
mod contact;
mod defaults;
mod equality;
mod field;
mod fit;
mod flag;
mod folder;
mod geom;
mod include;
mod index;
mod inertia;
mod joint;
mod keyframe;
mod keys;
mod look;
mod references;
mod replicate;
mod schema;
mod sensor;
mod sensor_geoms;
mod shell;
mod show;
mod tendon;
mod tune;
mod users;

pub use schema::schema_table;

use crate::LoadOptions;
use crate::error::{LoadError, Place};
use crate::names::Names;
use crate::warning::Warnings;
use crate::xml::{Document, Element};
use asset::Assets;
use body::{BodyReader, Link};
use compiler::{Compiler, Compilers};
use defaults::Defaults;
use flag::Disabled;
use index::Index;
use schema::Idle;
use slipstick_core::error::BuildError;
use slipstick_core::model::{Equality, FrameId, GeomId, GeomSpec, JointKind, JointSpec, Shape};
use slipstick_core::spatial::Quat;
use slipstick_core::{Model, ModelBuilder};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use tendon::Tendons;

/// Makes a model of the document whose main file is `path`.
pub(crate) fn read(
    mut document: Document,
    root: usize,
    path: &Path,
    options: &LoadOptions,
) -> Result<Model, LoadError> {
    include::expand(&mut document, root, path)?;
    let mut warnings = Warnings::default();
    let mut idle = Idle::default();
    schema::check(document.element(root), &mut idle, &mut warnings)?;
    let compiler = Compiler::read(document.element(root), path.parent().unwrap_or(Path::new("")))?;
    let mut compilers = Compilers::new(compiler);
    let mut tools = attach::Tools { compilers: &mut compilers, idle: &mut idle, warnings: &mut warnings };
    attach::expand(&mut document, root, path, &mut tools)?;
    let compiler = &compilers.main;
    let root = document.element(root);
    let defaults = Defaults::read(root)?;
    let mut assets = Assets::read(root, &defaults, compiler, options)?;
    let mut reader = BodyReader {
        compilers: &compilers,
        defaults: &defaults,
        assets: &mut assets,
        warnings: &mut warnings,
        body_names: Names::new("body", root),
        joint_names: Names::new("joint", root),
        geom_names: Names::new("geom", root),
        site_names: Names::new("site", root),
        links: Vec::new(),
        paired: contact::paired(root),
        left_out: HashSet::new(),
    };
    reader.read(root)?;
    let BodyReader { mut links, mut joint_names, mut geom_names, left_out, .. } = reader;
    if options.free_root {
        free_root(&mut links, root, &mut joint_names)?;
    }
    scale_total_mass(&mut links, compiler);
    inertia::refuse_negative(&links)?;
    actuator::reflect(root, &defaults, &mut links, &mut warnings)?;
    let stem = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
    let mut builder = ModelBuilder::new(root.text("model").unwrap_or(&stem));
    compiler::options(root, &mut builder.options)?;
    let disabled = Disabled::read(root)?;
    disabled.note().into_iter().for_each(|note| builder.note(note));
    if options.ground {
        builder.add_geom(ModelBuilder::WORLD, GeomSpec::new(geom_names.fresh("floor"), Shape::Plane));
    }
    let (ids, geoms) = add_links(&mut builder, &links, &disabled, &mut assets, &options.terrain)?;
    options.limits.check_inertia(&builder, &path.display().to_string())?;
    let index = Index::new(&links, &ids, geoms, &left_out);
    let autolimits = compiler.autolimits;
    let sections =
        Sections { root, defaults: &defaults, index: &index, links: &links, disabled: &disabled, autolimits, path };
    sections.add_to(&mut builder, &mut warnings)?;
    assets.looks.warnings.iter().for_each(|w| builder.warn_of_visuals(w));
    idle.note().into_iter().for_each(|note| builder.note(note));
    warnings.give_to(&mut builder);
    builder.build().map_err(|e| refused(path, e)).map(|model| tune::springs(model, &links, &disabled))
}

fn refused(path: &Path, error: BuildError) -> LoadError {
    let place = Place { file: path.display().to_string(), ..Place::default() };
    LoadError::Model { place: Box::new(place), error }
}

/// What the sections beside the tree are read with.
struct Sections<'b, 'a> {
    root: Element<'a>,
    defaults: &'b Defaults<'a>,
    index: &'b Index<'b>,
    links: &'b [Link<'a>],
    disabled: &'b Disabled,
    autolimits: bool,
    path: &'b Path,
}

impl Sections<'_, '_> {
    fn add_to(&self, builder: &mut ModelBuilder, warnings: &mut Warnings) -> Result<(), LoadError> {
        let Sections { root, defaults, index, links, disabled, autolimits, path } = *self;
        contact::read(root, defaults, index, warnings, builder)?;
        let tendons = Tendons::read(root, defaults, index, autolimits, warnings)?;
        tendons.add_to(builder, disabled);
        let equalities = equality::read(root, defaults, index, &tendons, warnings)?;
        let active = |e: &Equality| e.active && !disabled.equalities();
        equalities.into_iter().for_each(|e| builder.add_equality(Equality { active: active(&e), ..e }));
        let mut tools = actuator::Tools { defaults, index, tendons: &tendons, autolimits, warnings };
        let mut actuators = actuator::read(root, &mut tools)?;
        if actuators.iter().flat_map(|a| &a.actuator).any(tune::is_ratio) {
            let model = builder.clone().build().map_err(|e| refused(path, e))?;
            tune::damp(&model, actuators.iter_mut().flat_map(|a| &mut a.actuator));
        }
        let has_actuator: Vec<bool> = actuators.iter().map(|a| a.actuator.is_some()).collect();
        let joints: Vec<JointKind> = links.iter().flat_map(|l| &l.joints).map(|j| j.kind).collect();
        let has_activation = actuators.iter().flat_map(|a| vec![a.actuator.is_some(); a.activations]);
        let has_activation: Vec<bool> = has_activation.collect();
        let mocap: Vec<[f64; 7]> = links.iter().filter(|l| l.mocap).map(Link::start).collect();
        let layout = keyframe::Layout {
            q0: &neutral(links),
            joints: &joints,
            has_actuator: &has_actuator,
            has_activation: &has_activation,
            mocap: &mocap,
        };
        keyframe::read(root, &layout, builder)?;
        let marks: Vec<&str> = links.iter().flat_map(Link::marks).collect();
        let held: Vec<&str> = links.iter().filter(|l| l.mocap).map(|l| l.mark).collect();
        keys::read(root, &layout, [&marks, &held], builder, warnings)?;
        let add = |a: actuator::Read| (a.name, a.actuator.map(|a| builder.add_actuator(disabled.actuator(a))));
        let actuators = actuators.into_iter().map(add).collect();
        let has_meshes = links.iter().flat_map(|l| &l.geoms).any(|(_, g)| g.kept && g.mesh.is_some());
        let objects = sensor::Objects { index, tendons: &tendons, actuators: &actuators, has_meshes };
        sensor::read(root, &objects, warnings, builder)?;
        disabled.pairs(builder, |b| b.clone().build().map_err(|e| refused(path, e)))
    }
}

/// Lets the one body that hangs on the world move freely.
fn free_root(links: &mut [Link], root: Element, names: &mut Names) -> Result<(), LoadError> {
    let mut tops = links.iter_mut().skip(1).filter(|l| l.parent == 0 && !l.mocap);
    let (Some(top), None) = (tops.next(), tops.next()) else {
        return Err(root.structure("one child of the world, to make it free", "none or several"));
    };
    match top.joints.as_slice() {
        [] => {
            let start = Some(top.start());
            top.joints.push(JointSpec { start, ..JointSpec::new(names.fresh("root"), JointKind::Free) });
        }
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

/// Numbers of what was added: links, and geoms by name (several where a mesh was split).
type Added<'b> = (Vec<FrameId>, HashMap<&'b str, Vec<GeomId>>);

fn add_links<'b>(
    builder: &mut ModelBuilder,
    links: &'b [Link],
    disabled: &Disabled,
    assets: &mut Assets,
    terrain: &[String],
) -> Result<Added<'b>, LoadError> {
    let mut ids = Vec::with_capacity(links.len());
    let mut geoms: HashMap<&str, Vec<GeomId>> = HashMap::new();
    for (i, link) in links.iter().enumerate() {
        let id = if i == 0 {
            ModelBuilder::WORLD
        } else {
            let parent: FrameId = ids[link.parent];
            let joints = link.joints.iter().map(|j| disabled.joint(j.clone())).collect();
            match link.mocap {
                true => builder.add_mocap(&link.name, link.pose, link.inertia),
                false => builder.add_link(parent, &link.name, link.pose, link.inertia, joints),
            }
        };
        ids.push(id);
        builder.compensate_gravity(id, disabled.gravity_compensation(link.gravity_compensation));
        for (name, geom) in &link.geoms {
            if !geom.kept {
                show::alone(builder, id, name, geom);
                continue;
            }
            let mut parts = Vec::new();
            let made = shapes(builder, name, geom, assets, terrain)?;
            let is_terrain = made.iter().any(Shape::is_terrain);
            for (k, shape) in made.into_iter().enumerate() {
                // further parts of a mesh that was split
                let part = if k == 0 || name.is_empty() { name.clone() } else { format!("{name}_part{}", k + 1) };
                let spec = GeomSpec { name: part, shape, pose: geom.pose, surface: geom.surface };
                parts.push(builder.add_geom(id, spec));
            }
            show::geoms(builder, id, name, geom, &parts, is_terrain);
            geoms.entry(name).or_default().extend(parts);
        }
        for site in &link.sites {
            match site.zone {
                Some(zone) => builder.add_zone(id, &site.name, site.pose, zone),
                None => builder.add_site(id, &site.name, site.pose),
            }
        }
    }
    Ok((ids, geoms))
}

/// What a geom is made of; several shapes where a mesh was split.
fn shapes(
    builder: &mut ModelBuilder,
    name: &str,
    geom: &geom::GeomRead,
    assets: &mut Assets,
    terrain: &[String],
) -> Result<Vec<Shape>, LoadError> {
    if let Some(field) = geom.field {
        return Ok(vec![Shape::HeightField { field: assets.add_field(builder, field)? }]);
    }
    let Some(mesh) = geom.mesh else { return Ok(geom.shape.into_iter().collect()) };
    if terrain.iter().any(|t| t == name || t == mesh.value) {
        return Ok(vec![Shape::Terrain { mesh: assets.add_terrain(builder, mesh)? }]);
    }
    Ok(assets.add_to(builder, mesh)?.into_iter().map(|mesh| Shape::Mesh { mesh }).collect())
}

/// MuJoCo's qpos0: joints at their reference, free bodies where the file puts them.
fn neutral(links: &[Link]) -> Vec<f64> {
    let mut q = Vec::new();
    for (link, joint) in links.iter().flat_map(|l| l.joints.iter().map(move |j| (l, j))) {
        match joint.kind {
            JointKind::Free => q.extend(link.start()),
            JointKind::Spherical => q.extend(Quat::IDENTITY.to_array()),
            JointKind::Planar => q.extend([0.0; 3]),
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => q.push(joint.reference),
        }
    }
    q
}
