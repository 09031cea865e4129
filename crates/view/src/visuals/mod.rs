//! What a model looks like, for the page: shapes of the file, simplified meshes, pictures. What cannot be read is a warning.

mod picture;
mod quantize;
mod simplify;

use crate::frames::seven;
use picture::Pictures;
use serde_json::{Value, json};
use slipstick::Model;
use slipstick::files::{PaintedMesh, load_visual_mesh};
use slipstick::model::{Look, MeshSource, PairRule, Shape, Visual, VisualShape};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Triangles of all meshes of a page together: more make it slow to open and large.
const MOST_TRIANGLES: usize = 250_000;

/// What the page is told, and what is missing.
#[derive(Debug)]
pub(crate) struct Appearance {
    pub json: Value,
    pub warnings: Vec<String>,
}

impl Appearance {
    /// Reads the meshes and pictures of a model.
    pub fn of(model: &Model) -> Appearance {
        let visuals = model.visuals();
        let shapes: Vec<&Visual> = visuals.shapes.iter().filter(|v| v.is_shown() && !is_plane(model, v)).collect();
        let touching = touching(model);
        let mut reader = Reader { warnings: visuals.warnings.clone(), ..Reader::default() };
        let differs = differs(&shapes, &touching);
        let told = |v: &&Visual| reader.shape(v);
        let told: Vec<Value> = if differs { shapes.iter().map(told).collect() } else { Vec::new() };
        let geoms: Vec<Value> = visuals.geoms.iter().map(|look| reader.look(look)).collect();
        let meshes = reader.meshes();
        let Reader { pictures, warnings, .. } = reader;
        let json = json!({
            "shapes": told,
            "geoms": geoms,
            "touching": touching,
            "meshes": meshes,
            "pictures": pictures.addresses,
            "warnings": warnings,
        });
        Appearance { json, warnings }
    }
}

fn is_plane(model: &Model, visual: &Visual) -> bool {
    match visual.shape {
        VisualShape::Geom(id) => model.shape(id) == Shape::Plane,
        VisualShape::Shape(shape) => shape == Shape::Plane,
        _ => false,
    }
}

/// Geoms that may touch something, planes left out.
fn touching(model: &Model) -> BTreeSet<usize> {
    let listed = matches!(model.pair_rule(), PairRule::List(_));
    let geoms = model.geoms().iter().enumerate();
    let touches = |g: &slipstick::model::Geom| listed || g.surface.contype != 0 || g.surface.conaffinity != 0;
    geoms.filter(|(_, g)| touches(g) && g.shape != Shape::Plane).map(|(k, _)| k).collect()
}

/// Whether what is shown is something else than what touches.
fn differs(shapes: &[&Visual], touching: &BTreeSet<usize>) -> bool {
    let geom = |v: &&Visual| if let VisualShape::Geom(id) = v.shape { Some(id.0) } else { None };
    let shown: Option<BTreeSet<usize>> = shapes.iter().map(geom).collect();
    !shapes.is_empty() && shown.as_ref() != Some(touching)
}

#[derive(Default)]
struct Reader {
    /// Meshes, each once, with the triangles that they are simplified from.
    meshes: Vec<(Arc<MeshSource>, PaintedMesh)>,
    /// Their numbers by address; equal sources are shared by the model.
    numbers: HashMap<usize, usize>,
    pictures: Pictures,
    warnings: Vec<String>,
}

impl Reader {
    fn shape(&mut self, v: &Visual) -> Value {
        let mut value = json!({
            "name": v.name,
            "body": v.body.0,
            "pose": seven(&v.pose),
            "look": self.look(&v.look),
        });
        match &v.shape {
            VisualShape::Geom(id) => value["geom"] = json!(id.0),
            VisualShape::Shape(shape) => {
                value["kind"] = json!(shape.name());
                value["size"] = json!(shape.size());
            }
            VisualShape::Mesh(source) => value["mesh"] = json!(self.mesh(source, v.look.is_given())),
            _ => {}
        }
        value
    }

    /// Number of a mesh, which is read when it is first met.
    fn mesh(&mut self, source: &Arc<MeshSource>, has_color: bool) -> usize {
        let address = Arc::as_ptr(source).addr();
        if let Some(known) = self.numbers.get(&address) {
            return *known;
        }
        let mut mesh = load_visual_mesh(source).unwrap_or_else(|error| {
            self.warnings.push(error.to_string());
            PaintedMesh::default()
        });
        // colors that nobody sees are not missed
        if !has_color || has_own_colors(source) {
            self.warnings.append(&mut mesh.warnings);
        }
        simplify::reduce(&mut mesh, MOST_TRIANGLES); // so that the memory of all has a bound
        self.meshes.push((source.clone(), mesh));
        self.numbers.insert(address, self.meshes.len() - 1);
        self.meshes.len() - 1
    }

    /// All meshes as they go into the page.
    fn meshes(&mut self) -> Vec<Value> {
        let mut meshes = std::mem::take(&mut self.meshes);
        let shares = simplify::shares(meshes.iter().map(|(_, m)| m), MOST_TRIANGLES);
        let told = meshes.iter_mut().zip(shares).map(|((source, mesh), share)| {
            simplify::reduce(mesh, share);
            let parts: Vec<Value> = mesh.parts.iter().map(|part| self.part(part)).collect();
            json!({ "parts": parts, "own": has_own_colors(source) })
        });
        told.collect()
    }

    fn part(&mut self, part: &slipstick::files::PaintedPart) -> Value {
        let mut value = quantize::to_json(part);
        if let Some(paint) = &part.paint {
            value["look"] = self.pictures.paint(paint, &mut self.warnings);
        }
        value
    }

    /// A color; null where the file gives none.
    fn look(&mut self, look: &Look) -> Value {
        if look.is_given() { self.pictures.look(look, &mut self.warnings) } else { Value::Null }
    }
}

/// Whether colors of the mesh file count more than those of the robot's: so in formats that MuJoCo does not read, as in
/// viewers of URDF.
fn has_own_colors(source: &MeshSource) -> bool {
    let MeshSource::File(file) = source else { return false };
    let extension = file.path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    matches!(extension.as_str(), "dae" | "gltf" | "glb")
}

#[cfg(test)]
mod tests;
