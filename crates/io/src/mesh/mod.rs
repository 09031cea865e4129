//! Meshes: files to vertices and triangles, their convex hulls, and the mass of what they enclose.

mod builtin;
mod collada;
#[cfg(feature = "decompose")]
mod decompose;
mod entry;
mod file;
#[cfg(test)]
mod fuzz;
mod gltf;
mod hull;
mod inertia;
mod msh;
mod mtl;
mod obj;
mod painted;
mod physics;
mod picture;
mod polygon;
mod stl;

pub(crate) use builtin::builtin;
pub use file::load_mesh_file;
pub(crate) use file::{Format, is_known};
pub use hull::{NoHull, convex_hull};
pub(crate) use inertia::Solid;
#[cfg(test)]
pub(crate) use inertia::solid_exact;
pub use painted::{Paint, PaintedMesh, PaintedPart};
pub(crate) use physics::{
    MassRule, PhysicsMesh, Recipe, load, load_shapes, load_surface, make, named, refused, split_note, surface,
    terrain_name,
};
pub use picture::load_visual_mesh;

use crate::error::{LoadError, Place};
use slipstick_core::spatial::{Pose, Vec3};
use std::collections::HashMap;
use std::path::Path;

/// Vertices and triangles of a surface.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TriangleMesh {
    /// Each point once (m).
    pub vertices: Vec<Vec3>,
    /// Vertex numbers of each triangle, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// Some triangles and the points that they use, in the order of the points.
    fn of_used(points: &[Vec3], triangles: &[[u32; 3]]) -> TriangleMesh {
        let mut number = vec![u32::MAX; points.len()];
        triangles.iter().flatten().for_each(|i| number[*i as usize] = 0);
        let mut vertices = Vec::new();
        for (i, n) in number.iter_mut().enumerate().filter(|(_, n)| **n == 0) {
            *n = vertices.len() as u32;
            vertices.push(points[i]);
        }
        let triangles = triangles.iter().map(|t| t.map(|i| number[i as usize])).collect();
        TriangleMesh { vertices, triangles }
    }

    /// The mesh without vertices that no triangle uses; unless there are no triangles at all.
    pub(crate) fn without_loose_vertices(self) -> TriangleMesh {
        if self.triangles.is_empty() { self } else { TriangleMesh::of_used(&self.vertices, &self.triangles) }
    }

    /// The mesh stretched along the axes. A mirror turns triangles inside out, so they are turned back.
    pub(crate) fn scaled(mut self, scale: Vec3) -> TriangleMesh {
        for v in &mut self.vertices {
            *v = Vec3::new(v.x * scale.x, v.y * scale.y, v.z * scale.z);
        }
        // the signs, not the product, which may underflow
        if scale.to_array().iter().filter(|s| **s < 0.0).count() % 2 == 1 {
            self.turn_inside_out();
        }
        self
    }

    /// The mesh seen from another frame.
    fn seen_from(mut self, frame: &Pose) -> TriangleMesh {
        if *frame != Pose::IDENTITY {
            self.vertices.iter_mut().for_each(|v| *v = frame.rotation.tmul(*v - frame.position));
        }
        self
    }

    /// The mesh with vertices in single precision.
    pub(crate) fn in_single_precision(mut self) -> TriangleMesh {
        self.vertices.iter_mut().for_each(|v| *v = Vec3::from(v.to_array().map(|x| f64::from(x as f32))));
        self
    }

    fn turn_inside_out(&mut self) {
        self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
}

/// What is wrong with the bytes of a mesh file.
#[derive(Debug, PartialEq)]
pub(crate) struct Defect {
    line: u32, // 0: no line
    got: String,
    /// How many points may be placed, if there are more.
    allowed: Option<usize>,
}

impl Defect {
    fn new(line: usize, got: impl Into<String>) -> Defect {
        Defect { line: line as u32, got: got.into(), allowed: None }
    }

    /// About the file as a whole.
    fn whole(got: impl Into<String>) -> Defect {
        Defect::new(0, got)
    }

    /// The error for a file.
    fn at(self, path: &Path) -> LoadError {
        let place = Box::new(Place { file: path.display().to_string(), line: self.line, ..Place::default() });
        match self.allowed {
            None => LoadError::Syntax { place, got: self.got },
            Some(allowed) => {
                LoadError::Limit { place, limit: "mesh_points", what: "points and triangles", allowed, got: self.got }
            }
        }
    }
}

/// How much a file may still repeat: a few lines can place a part any number of times.
struct Budget {
    allowed: usize,
    spent: usize,
}

impl Budget {
    fn new(allowed: usize) -> Budget {
        Budget { allowed, spent: 0 }
    }

    /// Takes note of what is about to be done.
    fn spend(&mut self, n: usize) -> Result<(), Defect> {
        self.spent = self.spent.saturating_add(n);
        if self.spent <= self.allowed {
            return Ok(());
        }
        let got = format!("{} or more, as often as the file places them", self.spent);
        Err(Defect { allowed: Some(self.allowed), ..Defect::whole(got) })
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
        let mesh = TriangleMesh {
            vertices: vec![vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        };
        let volume = |m: &TriangleMesh| solid_exact(&m.vertices, &m.triangles).map(|s| s.volume);
        assert!((volume(&mesh).unwrap() - 1.0 / 6.0).abs() < 1e-15);
        for (scale, factor) in
            [(vec3(1.0, -2.0, 1.0), 2.0), (vec3(-1.0, -2.0, 1.0), 2.0), (vec3(-1.0, -1.0, -3.0), 3.0)]
        {
            assert!((volume(&mesh.clone().scaled(scale)).unwrap() - factor / 6.0).abs() < 1e-15);
        }
    }
}
