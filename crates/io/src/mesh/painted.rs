//! Meshes with colors, for pictures: parts that share a paint.

use super::TriangleMesh;
use slipstick_core::spatial::Vec3;
use std::collections::HashMap;
use std::path::PathBuf;

/// A mesh for pictures.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PaintedMesh {
    /// Triangles by their paint.
    pub parts: Vec<PaintedPart>,
    /// What of the file is not shown and why.
    pub warnings: Vec<String>,
}

/// Triangles with one paint.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PaintedPart {
    /// Corners (m).
    pub vertices: Vec<Vec3>,
    /// Texture coordinates of each corner, from the lower left of the picture; empty: none.
    pub uv: Vec<[f32; 2]>,
    /// Corner numbers, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// `None`: the file gives no color.
    pub paint: Option<Paint>,
}

/// A color of a mesh file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Paint {
    /// Red, green, blue, opacity, each 0 to 1.
    pub rgba: [f64; 4],
    /// File of a picture that the color is multiplied with.
    pub picture: Option<PathBuf>,
}

/// A mesh as its reader finds it: paints hold for runs of triangles.
#[derive(Debug, Default)]
pub(super) struct Painted {
    pub mesh: TriangleMesh,
    pub runs: Vec<Run>,
    /// Texture coordinates of the corners of each triangle; empty: none.
    pub uv: Vec<[[f32; 2]; 3]>,
    pub warnings: Vec<String>,
}

/// Triangles that follow each other with one paint.
#[derive(Debug)]
pub(super) struct Run {
    /// Number of the first triangle behind them.
    pub end: usize,
    pub paint: Option<Paint>,
}

impl Painted {
    /// The parts, each with its own corners. Runs with equal paints become one part.
    pub fn parts(self) -> PaintedMesh {
        let Painted { mesh, mut runs, uv, warnings } = self;
        runs.push(Run { end: mesh.triangles.len(), paint: None });
        let mut makers: Vec<PartMaker> = Vec::new();
        let mut start = 0;
        for Run { end, paint } in runs {
            let end = end.clamp(start, mesh.triangles.len());
            if end == start {
                continue;
            }
            let place = makers.iter().position(|m| m.part.paint == paint).unwrap_or(makers.len());
            if place == makers.len() {
                let part = PaintedPart { paint, ..PaintedPart::default() };
                makers.push(PartMaker { part, number: HashMap::new() });
            }
            for k in start..end {
                makers[place].add(&mesh, k, uv.get(k));
            }
            start = end;
        }
        PaintedMesh { parts: makers.into_iter().map(|m| m.part).collect(), warnings }
    }
}

struct PartMaker {
    part: PaintedPart,
    /// Number of each corner, by vertex and bits of its coordinates.
    number: HashMap<(u32, [u32; 2]), u32>,
}

impl PartMaker {
    fn add(&mut self, mesh: &TriangleMesh, triangle: usize, uv: Option<&[[f32; 2]; 3]>) {
        // coordinates without a picture would only split corners
        let uv = uv.filter(|_| self.part.paint.as_ref().is_none_or(|p| p.picture.is_some()));
        let corners = mesh.triangles[triangle];
        let numbers = [0, 1, 2].map(|k| {
            let at = uv.map_or([0.0; 2], |uv| uv[k]);
            let part = &mut self.part;
            *self.number.entry((corners[k], at.map(f32::to_bits))).or_insert_with(|| {
                part.vertices.push(mesh.vertices[corners[k] as usize]);
                if uv.is_some() {
                    part.uv.push(at);
                }
                part.vertices.len() as u32 - 1
            })
        });
        self.part.triangles.push(numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick_core::spatial::vec3;

    #[test]
    fn triangles_are_gathered_by_their_paint_with_corners_of_their_own() {
        let vertices = vec![vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(1.0, 1.0, 0.0)];
        let mesh = TriangleMesh { vertices, triangles: vec![[0, 1, 2], [1, 3, 2], [0, 2, 3]] };
        let red = Paint { rgba: [1.0, 0.0, 0.0, 1.0], picture: None };
        let runs = vec![Run { end: 1, paint: Some(red.clone()) }, Run { end: 2, paint: None }];
        let runs = runs.into_iter().chain([Run { end: 3, paint: Some(red.clone()) }]).collect();
        let painted = Painted { mesh, runs, ..Painted::default() }.parts();
        let shape = |p: &PaintedPart| (p.paint.clone(), p.vertices.len(), p.triangles.clone());
        assert_eq!(
            painted.parts.iter().map(shape).collect::<Vec<_>>(),
            [(Some(red), 4, vec![[0, 1, 2], [0, 2, 3]]), (None, 3, vec![[0, 1, 2]]),]
        );
    }

    #[test]
    fn a_corner_with_two_places_in_the_picture_becomes_two() {
        let vertices = vec![vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0)];
        let mesh = TriangleMesh { vertices, triangles: vec![[0, 1, 2], [0, 2, 1]] };
        let uv = vec![[[0.0; 2], [1.0, 0.0], [0.0, 1.0]], [[0.5; 2], [0.0, 1.0], [1.0, 0.0]]];
        let part = &Painted { mesh, uv, ..Painted::default() }.parts().parts[0];
        assert_eq!((part.vertices.len(), part.uv.len(), part.triangles[1]), (4, 4, [3, 2, 1]));
    }
}
