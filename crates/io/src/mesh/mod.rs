//! Meshes: files to vertices and triangles, and the mass of what they enclose.

mod inertia;
mod obj;
mod stl;

pub(crate) use inertia::{Solid, solid_exact, solid_legacy};

use crate::error::{LoadError, Place};
use slipstick_core::spatial::{Mat3, Vec3};
use std::collections::HashMap;
use std::path::Path;

/// Vertices (each one once) and triangles, in the frame of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MeshData {
    pub vertices: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl MeshData {
    /// The same mesh stretched along the axes. A mirror turns triangles inside out, so they are turned back.
    pub fn scaled(mut self, scale: Vec3) -> MeshData {
        for v in &mut self.vertices {
            *v = Vec3::new(v.x * scale.x, v.y * scale.y, v.z * scale.z);
        }
        if scale.x * scale.y * scale.z < 0.0 {
            self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        self
    }

    /// The same mesh seen from a frame at `origin` with the axes of `rotation`.
    pub fn seen_from(mut self, origin: Vec3, rotation: &Mat3) -> MeshData {
        self.vertices.iter_mut().for_each(|v| *v = rotation.tmul(*v - origin));
        self
    }
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Whether files with this extension are read.
pub(crate) fn is_known(path: &Path) -> bool {
    matches!(extension(path).as_str(), "stl" | "obj")
}

/// Reads a mesh file by its extension.
pub(crate) fn read(path: &Path) -> Result<MeshData, LoadError> {
    let place = || Box::new(Place { file: path.display().to_string(), ..Place::default() });
    let reader = match extension(path).as_str() {
        "stl" => stl::read,
        "obj" => obj::read,
        other => {
            let got = format!("a mesh file of type '{other}'");
            let hint = "convert it to STL or OBJ".into();
            return Err(LoadError::Format { place: place(), expected: "STL or OBJ".into(), got, hint });
        }
    };
    let bytes =
        std::fs::read(path).map_err(|e| LoadError::Read { place: place(), got: e.to_string(), hint: String::new() })?;
    let wrong = |Defect { line, got }: Defect| LoadError::Syntax { place: Box::new(Place { line, ..*place() }), got };
    let mesh = reader(&bytes).map_err(wrong)?;
    if mesh.vertices.len() < 4 {
        return Err(wrong(Defect::new(
            0,
            format!("a body needs at least 4 vertices, the mesh has {}", mesh.vertices.len()),
        )));
    }
    Ok(mesh)
}

/// What is wrong with the bytes of a mesh file.
#[derive(Debug, PartialEq)]
pub(crate) struct Defect {
    line: u32, // 0: no line
    got: String,
}

impl Defect {
    fn new(line: usize, got: impl Into<String>) -> Defect {
        Defect { line: line as u32, got: got.into() }
    }
}

/// Collects corners and gives equal ones the same number.
#[derive(Default)]
struct Corners {
    number: HashMap<[u64; 3], u32>,
    vertices: Vec<Vec3>,
}

impl Corners {
    fn number(&mut self, v: Vec3) -> u32 {
        // adding zero makes −0 equal to 0
        let key = v.to_array().map(|x| (x + 0.0).to_bits());
        *self.number.entry(key).or_insert_with(|| {
            self.vertices.push(v);
            self.vertices.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick_core::spatial::vec3;

    #[test]
    fn mirroring_keeps_the_outside_outside() {
        let mesh = MeshData {
            vertices: vec![vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        };
        let volume = |m: &MeshData| solid_exact(&m.vertices, &m.triangles).map(|s| s.volume);
        assert!((volume(&mesh).unwrap() - 1.0 / 6.0).abs() < 1e-15);
        assert!((volume(&mesh.scaled(vec3(1.0, -2.0, 1.0))).unwrap() - 2.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn other_kinds_of_files_are_refused_by_name() {
        let error = read(Path::new("arm.dae")).unwrap_err().to_string();
        assert_eq!(error, "arm.dae: expected STL or OBJ, got a mesh file of type 'dae'; convert it to STL or OBJ");
    }
}
