//! What physics needs of a mesh: its convex hull or convex parts, and its mass under every rule.

use super::file::{check_scale, format, parse, place};
use super::hull::{NoHull, chosen_corners, convex_hull};
use super::inertia::{shell, solid_exact, solid_legacy};
use super::{Format, Solid, TriangleMesh, entry};
use crate::LoadOptions;
use crate::cache::{Key, Store};
use crate::error::{LoadError, Place};
use crate::limits::Limits;
use crate::source;
use slipstick_core::model::Mesh;
use slipstick_core::spatial::{Pose, Vec3};
use std::path::Path;

/// How the mass of a mesh follows from it: MuJoCo's four rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MassRule {
    /// Every cone from an inner point to a triangle counts as positive.
    Legacy,
    /// The volume that the triangles enclose.
    Exact,
    /// The volume of the convex hull.
    Convex,
    /// The surface.
    Shell,
}

/// A mesh as physics sees it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PhysicsMesh {
    /// The convex bodies that stand for the mesh: its hull, or its parts where they were asked for. A mesh without any
    /// may still be the shell that a body weighs.
    pub shapes: Result<Vec<TriangleMesh>, NoHull>,
    /// By rule, in the order of [`MassRule`]; `None` where a rule finds no volume.
    pub solids: [Option<Solid>; 4],
}

impl PhysicsMesh {
    pub fn solid(&self, rule: MassRule) -> Option<Solid> {
        self.solids[rule as usize]
    }
}

/// How a file becomes a [`PhysicsMesh`].
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    /// Frame from which the vertices of the file are seen, before they are scaled.
    pub reference: Pose,
    pub scale: Vec3,
    /// MuJoCo's ways: vertices in single precision, also those that no triangle uses.
    pub like_mujoco: bool,
    pub decompose: bool,
    /// The hull has at most so many corners.
    pub max_corners: Option<usize>,
    /// The format, where something else than the extension tells it.
    pub format: Option<Format>,
    /// Where results are kept.
    pub store: Store,
    /// How large the file and its contents may be.
    pub limits: Limits,
}

impl Recipe {
    pub fn new(scale: Vec3, options: &LoadOptions) -> Recipe {
        let store = if options.cache { Store::of_user() } else { Store::off() };
        Recipe {
            reference: Pose::IDENTITY,
            scale,
            like_mujoco: false,
            decompose: options.decompose,
            max_corners: None,
            format: None,
            store,
            limits: options.limits.clone(),
        }
    }
}

/// Reads a mesh file, or takes what was made of the same bytes before.
pub(crate) fn load(path: &Path, recipe: &Recipe) -> Result<PhysicsMesh, LoadError> {
    check_scale(path, recipe.scale)?;
    let format = format(path, recipe.format)?;
    let bytes = source::read(path, &recipe.limits)?;
    let key = recipe.store.is_on().then(|| key(format, recipe, &bytes));
    if let Some(known) = key.as_ref().and_then(|k| recipe.store.get(k)).and_then(|b| entry::decode(&b)) {
        return Ok(known);
    }
    let made = make(parse(path, format, &bytes, &recipe.limits)?, recipe);
    if let (Some(key), Ok(shapes)) = (&key, &made.shapes) {
        recipe.store.put(key, &entry::encode(shapes, &made.solids));
    }
    Ok(made)
}

/// The convex bodies of a mesh file, which must have a volume.
pub(crate) fn load_shapes(path: &Path, recipe: &Recipe) -> Result<Vec<TriangleMesh>, LoadError> {
    load(path, recipe)?.shapes.map_err(|reason| refused(place(path), reason))
}

/// All triangles of a mesh file, for ground that is not made convex.
pub(crate) fn load_surface(path: &Path, recipe: &Recipe) -> Result<TriangleMesh, LoadError> {
    check_scale(path, recipe.scale)?;
    let bytes = source::read(path, &recipe.limits)?;
    Ok(surface(parse(path, format(path, recipe.format)?, &bytes, &recipe.limits)?, recipe))
}

/// The vertices and triangles of a file as a recipe wants them.
pub(crate) fn surface(raw: TriangleMesh, recipe: &Recipe) -> TriangleMesh {
    let raw = if recipe.like_mujoco { raw.in_single_precision() } else { raw.without_loose_vertices() };
    raw.seen_from(&recipe.reference).scaled(recipe.scale)
}

/// Name of a mesh that is ground: the same file may also stand for a convex body.
pub(crate) fn terrain_name(name: &str) -> String {
    format!("{name}_terrain")
}

/// The convex bodies of a mesh as they go into a model, with names of their own.
pub(crate) fn named(name: &str, shapes: &[TriangleMesh]) -> impl Iterator<Item = Mesh> {
    shapes.iter().enumerate().map(move |(k, shape)| Mesh {
        name: if k == 0 { name.to_string() } else { format!("{name}_part{}", k + 1) },
        vertices: shape.vertices.clone(),
        triangles: shape.triangles.clone(),
    })
}

/// What to tell about a mesh that became several.
pub(crate) fn split_note(name: &str, parts: usize) -> String {
    format!("mesh '{name}' was split into {parts} convex parts")
}

/// The error for a mesh without volume.
pub(crate) fn refused(place: Box<Place>, reason: NoHull) -> LoadError {
    let hint = reason.hint().into();
    LoadError::Structure { place, expected: "a mesh with a volume".into(), got: reason.to_string(), hint }
}

/// Everything that the result depends on.
fn key(format: Format, recipe: &Recipe, bytes: &[u8]) -> Key {
    let Pose { position, rotation: r } = recipe.reference;
    let vectors = [recipe.scale, position, r * Vec3::UNITS[0], r * Vec3::UNITS[1], r * Vec3::UNITS[2]];
    let numbers: Vec<u8> = vectors.iter().flat_map(|v| v.to_array()).flat_map(f64::to_le_bytes).collect();
    let flags = [format as u8, u8::from(recipe.like_mujoco), u8::from(recipe.decompose)];
    let limit = recipe.max_corners.map_or(0, |n| n as u64).to_le_bytes();
    Key::of(&[&entry::VERSION.to_le_bytes(), &flags, &limit, &numbers, bytes])
}

/// What physics needs of the vertices and triangles of a file.
pub(crate) fn make(raw: TriangleMesh, recipe: &Recipe) -> PhysicsMesh {
    // like MuJoCo, by the vertices before they are scaled
    let chosen = recipe.max_corners.map(|most| chosen_corners(&raw.vertices, most)).transpose();
    let raw = surface(raw, recipe);
    let hull = chosen.and_then(|chosen| match chosen {
        Some(corners) => convex_hull(&corners.iter().map(|i| raw.vertices[*i as usize]).collect::<Vec<_>>()),
        None => convex_hull(&raw.vertices),
    });
    let of_hull = hull.as_ref().ok();
    let skin = if raw.triangles.is_empty() { of_hull.unwrap_or(&raw) } else { &raw };
    let solids = [
        solid_legacy(&skin.vertices, &skin.triangles),
        solid_exact(&skin.vertices, &skin.triangles),
        of_hull.and_then(|h| solid_exact(&h.vertices, &h.triangles)),
        shell(&skin.vertices, &skin.triangles),
    ];
    let parts = of_hull.filter(|_| recipe.decompose).map_or(Vec::new(), |h| convex_parts(&raw, h));
    let shapes = if parts.is_empty() { hull.map(|h| vec![h]) } else { Ok(parts) };
    PhysicsMesh { shapes, solids }
}

#[cfg(feature = "decompose")]
use super::decompose::convex_parts;

/// Never asked for: loading refuses the option.
#[cfg(not(feature = "decompose"))]
fn convex_parts(_: &TriangleMesh, _: &TriangleMesh) -> Vec<TriangleMesh> {
    Vec::new()
}

#[cfg(test)]
mod tests;
