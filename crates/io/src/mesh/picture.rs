//! Meshes read for pictures, when a page is made.

use super::file::{check_scale, format, place};
use super::painted::{Painted, PaintedMesh, PaintedPart};
use super::{Defect, Format, TriangleMesh, collada, convex_hull, gltf, msh, obj, stl};
use crate::error::LoadError;
use crate::limits::Limits;
use crate::{scan, source};
use slipstick_core::model::{MeshFile, MeshSource};
use slipstick_core::spatial::Pose;
use std::path::Path;

/// Reads what a visual shows: triangles and colors, in meters, in the frame of the visual.
pub fn load_visual_mesh(source: &MeshSource) -> Result<PaintedMesh, LoadError> {
    match source {
        MeshSource::File(file) => load_file(file),
        MeshSource::Triangles { vertices, triangles } => {
            let bare = triangles.is_empty();
            let hull = bare.then(|| convex_hull(vertices).ok()).flatten();
            let mesh = TriangleMesh { vertices: vertices.clone(), triangles: triangles.clone() };
            Ok(Painted { mesh: hull.unwrap_or(mesh), ..Painted::default() }.parts())
        }
        _ => Ok(PaintedMesh::default()),
    }
}

fn load_file(file: &MeshFile) -> Result<PaintedMesh, LoadError> {
    let path = file.path.as_path();
    check_scale(path, file.scale)?;
    let given = Format::of_media(&format!("model/{}", file.format));
    let format = format(path, given)?;
    let limits = Limits::default();
    let bytes = source::read(path, &limits)?;
    if format == Format::Collada {
        scan::check(&path.display().to_string(), &String::from_utf8_lossy(&bytes), 0, &limits)?;
    }
    let mut mesh = read(path, format, &bytes, limits.mesh_points).map_err(|defect| defect.at(path))?.parts();
    for part in &mut mesh.parts {
        stand(part, &file.reference, file);
        if part.vertices.iter().any(|v| !v.is_finite()) {
            return Err(LoadError::Syntax { place: place(path), got: "a vertex is not finite".into() });
        }
    }
    Ok(mesh)
}

fn read(path: &Path, format: Format, bytes: &[u8], points: usize) -> Result<Painted, Defect> {
    let plain = |mesh: TriangleMesh| Painted { mesh, ..Painted::default() };
    match format {
        Format::Stl => stl::read(bytes).map(plain),
        Format::Msh => msh::read(bytes).map(plain),
        Format::Obj => obj::read_painted(bytes, Some(path)),
        Format::Collada => collada::read_painted(bytes, points, path),
        Format::Gltf => gltf::read_painted(bytes, points),
    }
}

/// Places and scales a part as its file is meant.
fn stand(part: &mut PaintedPart, reference: &Pose, file: &MeshFile) {
    let mesh =
        TriangleMesh { vertices: std::mem::take(&mut part.vertices), triangles: std::mem::take(&mut part.triangles) };
    let mesh = mesh.seen_from(reference).scaled(file.scale);
    (part.vertices, part.triangles) = (mesh.vertices, mesh.triangles);
}
