//! Mesh files by their extension.

use super::{Defect, TriangleMesh, collada, gltf, msh, obj, stl};
use crate::error::{LoadError, Place};
use crate::limits::Limits;
use crate::{scan, source};
use slipstick_core::spatial::Vec3;
use std::path::Path;

/// A kind of mesh file that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Stl,
    Obj,
    Collada,
    Gltf,
    Msh,
}

impl Format {
    /// The format that the extension of a path means.
    fn of(path: &Path) -> Option<Format> {
        match extension(path).as_str() {
            "stl" => Some(Format::Stl),
            "obj" => Some(Format::Obj),
            "dae" => Some(Format::Collada),
            "gltf" | "glb" => Some(Format::Gltf),
            "msh" => Some(Format::Msh),
            _ => None,
        }
    }

    /// The format of a media type such as `model/obj` or `model/vnd.mujoco.msh`.
    pub fn of_media(kind: &str) -> Option<Format> {
        Format::of(Path::new(&format!("mesh.{}", kind.strip_prefix("model/")?)))
    }
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Whether files with this extension are read.
pub(crate) fn is_known(path: &Path) -> bool {
    Format::of(path).is_some()
}

/// Reads a mesh for pictures: all triangles of the file in meters, with equal vertices merged. Physics uses convex
/// hulls instead, which [`load`](crate::load()) makes.
///
/// `scale` stretches along the axes; a negative number mirrors.
pub fn load_mesh_file(path: impl AsRef<Path>, scale: Vec3) -> Result<TriangleMesh, LoadError> {
    let path = path.as_ref();
    check_scale(path, scale)?;
    let format = format(path, None)?;
    let limits = Limits::default();
    Ok(parse(path, format, &source::read(path, &limits)?, &limits)?.without_loose_vertices().scaled(scale))
}

/// The file itself, as the place of an error.
pub(super) fn place(path: &Path) -> Box<Place> {
    Box::new(Place { file: path.display().to_string(), ..Place::default() })
}

pub(super) fn check_scale(path: &Path, scale: Vec3) -> Result<(), LoadError> {
    if scale.to_array().iter().all(|s| s.is_finite() && *s != 0.0) {
        return Ok(());
    }
    Err(LoadError::Value {
        place: place(path),
        attribute: "scale".into(),
        expected: "three finite numbers other than zero".into(),
        got: format!("{} {} {}", scale.x, scale.y, scale.z),
        hint: String::new(),
    })
}

/// The format that is given, or that of the extension.
pub(super) fn format(path: &Path, given: Option<Format>) -> Result<Format, LoadError> {
    given.or_else(|| Format::of(path)).ok_or_else(|| LoadError::Format {
        place: place(path),
        expected: "STL, OBJ, DAE, glTF or MSH".into(),
        got: format!("a mesh file of type '{}'", crate::xml::shown(&extension(path))),
        hint: "convert it to STL or OBJ".into(),
    })
}

/// Vertices and triangles of the bytes of a file. Its path is for messages and for files beside it.
pub(super) fn parse(path: &Path, format: Format, bytes: &[u8], limits: &Limits) -> Result<TriangleMesh, LoadError> {
    if format == Format::Collada {
        scan::check(&path.display().to_string(), &String::from_utf8_lossy(bytes), 0, limits)?;
    }
    let mesh = match format {
        Format::Stl => stl::read(bytes),
        Format::Obj => obj::read(bytes),
        Format::Collada => collada::read(bytes, limits.mesh_points),
        Format::Gltf => gltf::read(bytes, limits.mesh_points),
        Format::Msh => msh::read(bytes),
    };
    // placements within a file may overflow
    let finite = |m: TriangleMesh| match m.vertices.iter().all(|v| v.is_finite()) {
        true => Ok(m),
        false => Err(Defect::whole("a vertex is not finite")),
    };
    mesh.and_then(finite).map_err(|defect| defect.at(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick_core::spatial::vec3;

    #[test]
    fn other_kinds_of_files_are_refused_by_name() {
        let one = vec3(1.0, 1.0, 1.0);
        let error = |name: &str| load_mesh_file(name, one).unwrap_err().to_string();
        assert_eq!(
            error("arm.ply"),
            "arm.ply: expected STL, OBJ, DAE, glTF or MSH, got a mesh file of type 'ply'; convert it to STL or OBJ"
        );
        assert!(error("none_such.stl").contains("cannot read the file"));
    }

    #[test]
    fn a_scale_must_leave_a_body() {
        for bad in [vec3(1.0, 0.0, 1.0), vec3(f64::NAN, 1.0, 1.0), vec3(1.0, 1.0, f64::INFINITY)] {
            let error = load_mesh_file("arm.stl", bad).unwrap_err().to_string();
            assert!(error.starts_with("arm.stl: scale: expected three finite numbers other than zero"), "{error}");
        }
    }

    #[test]
    fn media_types_name_formats() {
        assert_eq!(Format::of_media("model/obj"), Some(Format::Obj));
        assert_eq!(Format::of_media("model/stl"), Some(Format::Stl));
        assert_eq!(Format::of_media("model/vnd.mujoco.msh"), Some(Format::Msh));
        assert_eq!(Format::of_media("image/png"), None);
    }
}
