//! Convex parts of a mesh that is not convex, by approximate decomposition of its voxels (V-HACD).

use super::hull::convex_hull;
use super::inertia::solid_exact;
use super::{Corners, TriangleMesh};
use parry3d_f64::math::Vector;
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};
use slipstick_core::spatial::Vec3;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// At most this many parts: each is a geom, and pairs of geoms cost time in every step.
const MAX_PARTS: u32 = 32;
/// Share of the volume that a part may lack of its hull.
const CONCAVITY: f64 = 0.02;
/// A closed mesh that fills this share of its hull counts as convex.
const CONVEX: f64 = 0.995;

/// Hulls of the parts, or nothing where the mesh is convex, open or too odd to be split: its hull then stands for it.
pub(super) fn convex_parts(raw: &TriangleMesh, hull: &TriangleMesh) -> Vec<TriangleMesh> {
    let volume = |m: &TriangleMesh| solid_exact(&m.vertices, &m.triangles).map_or(0.0, |s| s.volume);
    if raw.triangles.is_empty() || volume(raw) > CONVEX * volume(hull) {
        return Vec::new();
    }
    // in a box of size one: thresholds of the method do not depend on the unit of length
    let first = raw.vertices[0];
    let size = raw.vertices.iter().map(|v| (*v - first).norm()).fold(0.0, f64::max);
    let points: Vec<Vector> =
        raw.vertices.iter().map(|v| (*v - first) * (1.0 / size)).map(|v| Vector::new(v.x, v.y, v.z)).collect();
    // the library asserts where rounding surprises it, and a mesh from anywhere may do so
    let clouds = catch_unwind(AssertUnwindSafe(|| clouds(&points, &raw.triangles))).unwrap_or_default();
    let back = |p: &Vector| Vec3::new(p.x, p.y, p.z) * size + first;
    let merged = clouds.iter().map(|cloud| {
        let mut corners = Corners::default();
        cloud.iter().for_each(|p| {
            corners.number(back(p));
        });
        corners.vertices
    });
    let parts: Vec<TriangleMesh> = merged.filter_map(|cloud| convex_hull(&cloud).ok()).collect();
    if parts.len() > 1 { parts } else { Vec::new() }
}

/// The points of each part: where its voxels cut the triangles.
fn clouds(points: &[Vector], triangles: &[[u32; 3]]) -> Vec<Vec<Vector>> {
    let parameters = VHACDParameters {
        concavity: CONCAVITY,
        max_convex_hulls: MAX_PARTS,
        // every plane and every voxel: shortcuts split an L into 8 or 14 parts instead of 2, and are slower for it
        plane_downsampling: 1,
        convex_hull_downsampling: 1,
        ..VHACDParameters::default()
    };
    let parts = VHACD::decompose(&parameters, points, triangles, true);
    let with_skin = parts.voxel_parts().iter().filter(|p| p.voxels().iter().any(|v| v.is_on_surface));
    with_skin.map(|part| part.compute_primitive_intersections(points, triangles)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick_core::spatial::vec3;

    /// An L of two bars of 3 × 1 × 1 that share a cube.
    fn angle() -> TriangleMesh {
        let outline = [(0.0, 0.0), (3.0, 0.0), (3.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0)];
        let at = |z: f64| outline.iter().map(move |(x, y)| vec3(*x, *y, z) * 0.1);
        let top = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
        let mut triangles: Vec<[u32; 3]> = top.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        triangles.extend(top.iter().map(|t| t.map(|i| i + 6)));
        for i in 0..6 {
            let j = (i + 1) % 6;
            triangles.extend([[i, j, j + 6], [i, j + 6, i + 6]]);
        }
        TriangleMesh { vertices: at(0.0).chain(at(1.0)).collect(), triangles }
    }

    #[test]
    fn an_angle_becomes_parts_of_nearly_its_volume() {
        let mesh = angle();
        let hull = convex_hull(&mesh.vertices).unwrap();
        let volume = |m: &TriangleMesh| solid_exact(&m.vertices, &m.triangles).unwrap().volume;
        assert!((volume(&mesh) - 0.005).abs() < 1e-12 && volume(&hull) > 0.0069);
        let parts = convex_parts(&mesh, &hull);
        assert!((2..=4).contains(&parts.len()), "{} parts", parts.len());
        let total: f64 = parts.iter().map(volume).sum();
        assert!((total / 0.005 - 1.0).abs() < 0.05, "{total}");
    }

    #[test]
    fn a_convex_mesh_stays_in_one_piece() {
        let hull = convex_hull(&angle().vertices).unwrap();
        assert!(convex_parts(&hull, &hull).is_empty());
    }
}
