//! `<geom>`: a shape, how it touches, and what it weighs.

use super::asset::Assets;
use super::compiler::Compiler;
use super::defaults::Properties;
use super::{align, fit, inertia, shell};
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::orientation::{orientation, z_to};
use crate::warning::Warnings;
use slipstick_core::model::{Look, MeshSource, Shape, Surface};
use slipstick_core::spatial::{BodyInertia, Pose, Quat, Vec3};
use std::collections::HashSet;
use std::sync::Arc;

/// Density where the file gives none: water [kg/m³].
const DENSITY: f64 = 1000.0;

/// A geom as the file describes it.
#[derive(Debug)]
pub(super) struct GeomRead<'a> {
    /// The shape; that of a mesh waits for its number.
    pub shape: Option<Shape>,
    /// Name of its mesh.
    pub mesh: Option<Attribute<'a>>,
    /// Name of its height field.
    pub field: Option<Attribute<'a>>,
    /// Its frame in the body's frame.
    pub pose: Pose,
    pub surface: Surface,
    /// What it weighs, in the body's frame, where that was asked for.
    pub inertia: BodyInertia,
    /// Axes of that inertia where they are known: those of the geom, or of its mesh.
    pub axes: Quat,
    /// Whether the model has it; else only its mass counts, and pictures show it.
    pub kept: bool,
    /// Whether the file wants it to be left out of pictures as well.
    pub discarded: bool,
    /// Triangles that are shown in the place of its hull.
    pub picture: Option<Arc<MeshSource>>,
    pub look: Look,
    /// MuJoCo's group.
    pub group: i32,
}

/// The effect of leaving out condim 4 and 6.
pub(super) const NO_TORSION: &str = "condim: torsional and rolling friction are not supported, only sliding friction";

/// What is needed to read a geom.
pub(super) struct Tools<'b, 'a> {
    pub compiler: &'b Compiler,
    pub assets: &'b mut Assets<'a>,
    pub warnings: &'b mut Warnings,
    /// Geoms that explicit pairs and sensors ask for.
    pub paired: &'b HashSet<&'a str>,
}

/// Reads a geom written in `frame` of its body. `None` for a shape that the model does not need: one for pictures only,
/// whose file may not even be there, or of an unknown kind.
pub(super) fn read<'a>(
    p: &Properties<'a>,
    frame: &Pose,
    needs_mass: bool,
    tools: &mut Tools<'_, 'a>,
) -> Result<Option<GeomRead<'a>>, LoadError> {
    let mut surface = surface(p, tools.warnings)?;
    surface.transparent = is_transparent(p, tools.assets)?;
    let group = p.integer("group", 0)?;
    let [first, last] = tools.compiler.inertia_groups;
    let weighs = needs_mass && (first..=last).contains(&f64::from(group)) && has_mass(p)?;
    let kind = p.attribute("type").map_or("sphere", |a| a.value);
    let paired = p.element().text("name").is_some_and(|name| tools.paired.contains(name));
    let visual = surface.contype == 0 && surface.conaffinity == 0 && !paired;
    if let Some(mesh) = p.attribute("mesh") {
        if visual && !weighs && tools.assets.is_file(mesh)? {
            return Ok(only_shown(p, mesh, frame, surface, tools));
        }
        if let Some(ends) = p.attribute("fromto") {
            return Err(ends.wrong("no fromto in a geom with a mesh, which gives it its place"));
        }
    }
    if kind == "sdf" {
        let effect = "signed distance fields are not supported: the geom does not collide";
        tools.warnings.add_once(p.element(), effect);
        return Ok(None);
    }
    if kind == "hfield" && visual {
        return Ok(None); // its file may not even be there
    }
    let asset = |word: &'static str| (kind == word).then(|| p.required(word)).transpose();
    let (mesh, field) = (asset("mesh")?, asset("hfield")?);
    if kind == "plane" {
        let [x, y, _] = p.overlaid("size", [0.0; 3])?;
        surface.extent = [x.max(0.0), y.max(0.0)];
    }
    let named = mesh.is_some() || field.is_some();
    let (shape, local) = match p.attribute("mesh") {
        _ if named => (None, placement(p, tools.compiler)?),
        Some(mesh) => {
            let (shape, fitted) = fit::fitted(p, mesh, tools.assets, tools.compiler.fit_aabb)?;
            (Some(shape), placement(p, tools.compiler)? * fitted)
        }
        None => primitive(p, kind, tools)?,
    };
    let pose = *frame * local;
    let nothing = (BodyInertia::default(), Quat::IDENTITY);
    let (inertia, axes) = if weighs { mass(p, shape.as_ref(), mesh, &pose, tools)? } else { nothing };
    // a flat mesh that touches nothing may weigh something as a shell
    let flat = |mesh: Option<Attribute>, assets: &mut Assets| mesh.map_or(Ok(false), |name| assets.is_flat(name));
    let discarded = visual && tools.compiler.discard_visual;
    let kept = !(discarded || visual && flat(mesh, tools.assets)?);
    let picture = mesh.map(|mesh| tools.assets.picture(mesh)).transpose()?;
    let look = tools.assets.looks.of(p)?;
    Ok(Some(GeomRead { shape, mesh, field, pose, surface, inertia, axes, kept, discarded, picture, look, group }))
}

/// A mesh that touches nothing and weighs nothing: its file may not even be there. What is wrong with it is a warning.
fn only_shown<'a>(
    p: &Properties<'a>,
    mesh: Attribute<'a>,
    frame: &Pose,
    surface: Surface,
    tools: &mut Tools<'_, 'a>,
) -> Option<GeomRead<'a>> {
    let mut read = || {
        if p.attribute("type").is_none_or(|kind| kind.value != "mesh") {
            return Err(mesh.wrong("type mesh: a shape fitted to a mesh of pictures is not shown"));
        }
        Ok(GeomRead {
            shape: None,
            mesh: Some(mesh),
            field: None,
            pose: *frame * placement(p, tools.compiler)?,
            surface,
            inertia: BodyInertia::default(),
            axes: Quat::IDENTITY,
            kept: false,
            discarded: tools.compiler.discard_visual,
            picture: Some(tools.assets.picture(mesh)?),
            look: tools.assets.looks.of(p)?,
            group: p.integer("group", 0)?,
        })
    };
    let read = read();
    read.map_err(|error| tools.assets.looks.warnings.push(error.to_string())).ok()
}

fn has_mass(p: &Properties) -> Result<bool, LoadError> {
    Ok(match p.float("mass")? {
        Some(mass) => mass != 0.0,
        None => p.float_or("density", DENSITY)? != 0.0,
    })
}

fn placement(p: &Properties, compiler: &Compiler) -> Result<Pose, LoadError> {
    let position = p.vec3("pos")?.unwrap_or(Vec3::ZERO);
    Ok(Pose::new(position, orientation(p, &compiler.angles)?))
}

/// A shape with its own size; `fromto` gives length and placement at once.
fn primitive(p: &Properties, kind: &str, tools: &mut Tools) -> Result<(Option<Shape>, Pose), LoadError> {
    let mut size = p.overlaid("size", [0.0; 3])?;
    let mut local = placement(p, tools.compiler)?;
    if let Some(ends) = p.attribute("fromto") {
        let (from, to) = segment(ends)?;
        let axis = (from - to).normalized().ok_or_else(|| ends.wrong("two different points"))?;
        local = Pose::new((from + to) * 0.5, z_to(axis));
        let half = 0.5 * (from - to).norm();
        size = match kind {
            "capsule" | "cylinder" => [size[0], half, 0.0],
            "box" | "ellipsoid" => [size[0], size[0], half],
            _ => return Err(ends.wrong("no fromto: only capsules, cylinders, boxes and ellipsoids have two ends")),
        };
    }
    let kinds = [
        ("plane", Shape::Plane),
        ("sphere", Shape::Sphere { radius: 0.0 }),
        ("capsule", Shape::Capsule { radius: 0.0, half_length: 0.0 }),
        ("cylinder", Shape::Cylinder { radius: 0.0, half_length: 0.0 }),
        ("box", Shape::Box { half_size: Vec3::ZERO }),
        ("ellipsoid", Shape::Ellipsoid { radii: Vec3::ZERO }),
    ];
    let shape = match p.attribute("type") {
        Some(name) => name.one_of(&kinds)?,
        None => kinds[1].1,
    };
    let shape = shape.with_size(size);
    let n = shape.n_sizes();
    if size[..n].iter().any(|x| *x <= 0.0) {
        let expected = format!("{n} positive number{} for a {}", if n == 1 { "" } else { "s" }, shape.name());
        let wrong = p.required("size")?.wrong(expected);
        return Err(wrong.with_hint("half-lengths and radii are meant, not full lengths"));
    }
    Ok((Some(shape), local))
}

pub(super) fn segment(ends: Attribute) -> Result<(Vec3, Vec3), LoadError> {
    let numbers = ends.array::<6>()?;
    Ok((Vec3::from_slice(&numbers), Vec3::from_slice(&numbers[3..])))
}

fn mass(
    p: &Properties,
    shape: Option<&Shape>,
    mesh: Option<Attribute>,
    pose: &Pose,
    tools: &mut Tools,
) -> Result<(BodyInertia, Quat), LoadError> {
    for name in ["mass", "density"] {
        if let Some(a) = p.attribute(name).filter(|a| a.float().is_ok_and(|x| x < 0.0)) {
            return Err(a.wrong("zero or a positive number"));
        }
    }
    let (given, density) = (p.float("mass")?, p.float_or("density", DENSITY)?);
    let (hollow, turn) = (p.flag("shellinertia", false)?, Quat::from_matrix(&pose.rotation));
    Ok(match (shape, mesh) {
        (Some(shape), _) => {
            // a plane has no volume, and no mass either
            let volume = if hollow { shell::area(shape) } else { inertia::volume(shape) };
            let mass = if volume > 0.0 { given.unwrap_or(density * volume) } else { 0.0 };
            let of_shape = if hollow { shell::of_shape } else { inertia::of_shape };
            (of_shape(shape, mass, pose), turn)
        }
        (None, Some(name)) => {
            if let Some(shell) = p.attribute("shellinertia").filter(|_| hollow) {
                return Err(shell.wrong("false: the inertia of a mesh is that of the asset"));
            }
            let solid = tools.assets.solid(name)?;
            let density = given.map_or(density, |m| m / solid.volume);
            let local =
                BodyInertia { mass: density * solid.volume, com: solid.center, about_com: solid.inertia * density };
            (local.moved(pose), turn.compose(align::principal(solid.inertia)))
        }
        (None, None) => (BodyInertia::default(), Quat::IDENTITY),
    })
}

fn surface(p: &Properties, warnings: &mut Warnings) -> Result<Surface, LoadError> {
    let mut s = Surface::default();
    let bits = |name| Ok::<u32, LoadError>(p.integer(name, 1)? as u32); // bit masks: −1 means all
    s.friction = p.overlaid("friction", [1.0, 0.005, 0.0001])?[0];
    s.contype = bits("contype")?;
    s.conaffinity = bits("conaffinity")?;
    s.priority = p.integer("priority", 0)?;
    // the gap of a file only widens the search for contacts: forces act from the margin on
    s.offset = p.float_or("margin", 0.0)?;
    let torsion;
    (s.condim, torsion) = condim(p)?;
    if torsion && (s.contype != 0 || s.conaffinity != 0) {
        warnings.add_once(p.element(), NO_TORSION);
    }
    Ok(s)
}

/// Whether MuJoCo's rays pass through it: its material has no color, or it has neither material nor color.
fn is_transparent(p: &Properties, assets: &Assets) -> Result<bool, LoadError> {
    match p.attribute("material") {
        Some(material) => Ok(assets.looks.is_transparent(material.value)),
        None => Ok(p.overlaid("rgba", [0.5, 0.5, 0.5, 1.0])?[3] == 0.0),
    }
}

/// 1 or 3 directions of contact force, and whether the file asks for more.
pub(super) fn condim(p: &Properties) -> Result<(u8, bool), LoadError> {
    p.one_of("condim", &[("1", (1, false)), ("3", (3, false)), ("4", (3, true)), ("6", (3, true))], (3, false))
}
