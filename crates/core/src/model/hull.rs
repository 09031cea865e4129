//! A convex hull prepared for collision: neighbors of vertices, flat faces, bounds.

use super::Mesh;
use crate::spatial::{Vec3, vec3};

/// Up to this number of vertices all are looked at; beyond, the search walks from neighbor to neighbor.
const LINEAR_SEARCH: usize = 32;
/// Triangles belong to one face if they deviate from its plane by less than this fraction of the hull's size.
const FLATNESS: f64 = 1e-9;

/// A flat face of a hull.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HullFace {
    /// Outward unit normal.
    pub normal: Vec3,
    /// Where its corners begin in [`Hull::corners`].
    first: u32,
    count: u32,
}

/// A convex hull prepared for collision.
#[derive(Debug, Clone, PartialEq)]
pub struct Hull {
    /// Corners (m).
    pub vertices: Vec<Vec3>,
    /// Triangles as given.
    triangles: Vec<[u32; 3]>,
    /// Neighbors of vertex i: `neighbors[first_neighbor[i]..first_neighbor[i + 1]]`.
    neighbors: Vec<u32>,
    first_neighbor: Vec<u32>,
    pub(crate) faces: Vec<HullFace>,
    /// Corners of the faces, counter-clockwise seen from outside.
    corners: Vec<u32>,
    /// Faces at vertex i: `vertex_faces[first_face[i]..first_face[i + 1]]`.
    vertex_faces: Vec<u32>,
    first_face: Vec<u32>,
    /// Distance of the farthest vertex from the origin (m).
    pub(crate) size: f64,
    /// Middle and half size of the box around it (m).
    pub(crate) bounds: [Vec3; 2],
}

impl Hull {
    /// Prepares a convex mesh. Without triangles it has support points but no faces.
    pub fn new(mesh: &Mesh) -> Hull {
        Hull::from_parts(mesh.vertices.clone(), mesh.triangles.clone())
    }

    /// The hull, stretched along its axes.
    pub fn scaled(&self, scale: Vec3) -> Hull {
        let stretch = |v: &Vec3| vec3(v.x * scale.x, v.y * scale.y, v.z * scale.z);
        let mirrored = scale.x * scale.y * scale.z < 0.0;
        let turn = |t: &[u32; 3]| if mirrored { [t[0], t[2], t[1]] } else { *t };
        Hull::from_parts(self.vertices.iter().map(stretch).collect(), self.triangles.iter().map(turn).collect())
    }

    fn from_parts(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Hull {
        let n = vertices.len();
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(6 * triangles.len());
        for &[a, b, c] in &triangles {
            edges.extend([[a, b], [b, a], [b, c], [c, b], [c, a], [a, c]]);
        }
        let (first_neighbor, neighbors) = table(n, edges);
        let size = vertices.iter().map(|v| v.norm()).fold(0.0, f64::max);
        let bounds = bounds(&vertices);
        let (faces, corners) = faces(&vertices, &triangles, FLATNESS * size);
        let at = |f: &HullFace| f.first as usize..(f.first + f.count) as usize;
        let uses = faces.iter().enumerate();
        let uses = uses.flat_map(|(k, f)| corners[at(f)].iter().map(move |v| [*v, k as u32])).collect();
        let (first_face, vertex_faces) = table(n, uses);
        Hull { vertices, triangles, neighbors, first_neighbor, faces, corners, vertex_faces, first_face, size, bounds }
    }

    /// Corner numbers of a face, counter-clockwise seen from outside.
    pub(crate) fn face_corners(&self, face: u32) -> &[u32] {
        let f = &self.faces[face as usize];
        &self.corners[f.first as usize..(f.first + f.count) as usize]
    }

    /// Faces that meet at a vertex.
    pub(crate) fn faces_at(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.vertex_faces[self.first_face[v] as usize..self.first_face[v + 1] as usize]
    }

    /// Vertices joined to a vertex by an edge of a triangle.
    #[inline(always)]
    pub(crate) fn neighbors(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.neighbors[self.first_neighbor[v] as usize..self.first_neighbor[v + 1] as usize]
    }

    /// The farthest vertex in direction `d`; of equals, a lower number.
    #[inline(always)]
    pub(crate) fn support(&self, d: Vec3, start: u32) -> (Vec3, u32) {
        if self.vertices.len() <= LINEAR_SEARCH || self.neighbors.is_empty() {
            self.scan(d)
        } else {
            self.climb(d, start)
        }
    }

    #[inline(always)]
    fn scan(&self, d: Vec3) -> (Vec3, u32) {
        let mut best = (f64::NEG_INFINITY, 0);
        for (k, v) in self.vertices.iter().enumerate() {
            let height = v.dot(d);
            if height > best.0 {
                best = (height, k);
            }
        }
        (self.vertices[best.1], best.1 as u32)
    }

    #[inline(always)]
    fn climb(&self, d: Vec3, start: u32) -> (Vec3, u32) {
        let mut at = if (start as usize) < self.vertices.len() { start } else { 0 };
        let mut height = self.vertices[at as usize].dot(d);
        loop {
            let from = at;
            for &k in self.neighbors(from) {
                let h = self.vertices[k as usize].dot(d);
                if h > height || (h == height && k < at) {
                    (height, at) = (h, k);
                }
            }
            if at == from {
                return (self.vertices[at as usize], at);
            }
        }
    }
}

/// Groups the second numbers by the first, sorted and without repeats.
fn table(n: usize, mut entries: Vec<[u32; 2]>) -> (Vec<u32>, Vec<u32>) {
    entries.sort_unstable();
    entries.dedup();
    let mut first = vec![0; n + 1];
    for [a, _] in &entries {
        first[*a as usize + 1] += 1;
    }
    for i in 0..n {
        first[i + 1] += first[i];
    }
    (first, entries.into_iter().map(|[_, b]| b).collect())
}

fn bounds(vertices: &[Vec3]) -> [Vec3; 2] {
    let Some(&start) = vertices.first() else { return [Vec3::ZERO; 2] };
    let fold = |f: fn(f64, f64) -> f64| vertices.iter().fold(start, |a, v| vec3(f(a.x, v.x), f(a.y, v.y), f(a.z, v.z)));
    let (lo, hi) = (fold(f64::min), fold(f64::max));
    [(lo + hi) * 0.5, (hi - lo) * 0.5]
}

/// Unions of triangles that lie in one plane, as polygons.
fn faces(vertices: &[Vec3], triangles: &[[u32; 3]], tolerance: f64) -> (Vec<HullFace>, Vec<u32>) {
    let at = |k: u32| vertices[k as usize];
    // the triangle beyond each directed edge
    let mut beyond = std::collections::HashMap::new();
    for (k, &[a, b, c]) in triangles.iter().enumerate() {
        beyond.extend([([b, a], k), ([c, b], k), ([a, c], k)]);
    }
    // larger triangles first: their normals are the sharper ones
    let normal_of = |t: &[u32; 3]| (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0]));
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&i, &j| {
        let area = |k: usize| normal_of(&triangles[k]).norm();
        area(j).total_cmp(&area(i)).then(i.cmp(&j))
    });
    let mut owner = vec![usize::MAX; triangles.len()];
    let (mut faces, mut corners) = (Vec::new(), Vec::new());
    for seed in order {
        let Some(normal) = normal_of(&triangles[seed]).normalized() else { continue };
        if owner[seed] != usize::MAX {
            continue;
        }
        let (id, height) = (faces.len(), normal.dot(at(triangles[seed][0])));
        owner[seed] = id;
        let mut members = vec![seed];
        let mut next = 0;
        while next < members.len() {
            let [a, b, c] = triangles[members[next]];
            next += 1;
            for edge in [[a, b], [b, c], [c, a]] {
                let Some(&k) = beyond.get(&edge) else { continue };
                let flat = triangles[k].iter().all(|v| (normal.dot(at(*v)) - height).abs() <= tolerance);
                let outward = normal_of(&triangles[k]).dot(normal) >= 0.0;
                if owner[k] == usize::MAX && flat && outward {
                    owner[k] = id;
                    members.push(k);
                }
            }
        }
        let first = corners.len() as u32;
        outline(&members, triangles, &owner, &beyond, &mut corners);
        faces.push(HullFace { normal, first, count: corners.len() as u32 - first });
    }
    (faces, corners)
}

/// Walks around a union of triangles.
fn outline(
    members: &[usize],
    triangles: &[[u32; 3]],
    owner: &[usize],
    beyond: &std::collections::HashMap<[u32; 2], usize>,
    corners: &mut Vec<u32>,
) {
    let id = owner[members[0]];
    let mut next = std::collections::BTreeMap::new();
    for &k in members {
        let [a, b, c] = triangles[k];
        for [from, to] in [[a, b], [b, c], [c, a]] {
            if beyond.get(&[from, to]).is_none_or(|&t| owner[t] != id) {
                next.insert(from, to);
            }
        }
    }
    let Some((&start, _)) = next.iter().next() else { return };
    let mut at = start;
    for _ in 0..next.len() {
        corners.push(at);
        match next.get(&at) {
            Some(&to) if to != start => at = to,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> Mesh {
        let vertices = (0..8u32).map(|k| vec3((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64)).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        Mesh { name: "cube".into(), vertices, triangles }
    }

    #[test]
    fn triangles_of_a_cube_are_merged_into_six_squares() {
        let hull = Hull::new(&cube());
        assert_eq!(hull.faces.len(), 6);
        for k in 0..6 {
            let corners = hull.face_corners(k);
            assert_eq!(corners.len(), 4);
            let v = |i: usize| hull.vertices[corners[i] as usize];
            assert!((v(1) - v(0)).cross(v(2) - v(1)).dot(hull.faces[k as usize].normal) > 0.9);
        }
        assert!((0..8).all(|v| hull.faces_at(v).len() == 3));
    }

    #[test]
    fn stretching_moves_vertices_and_keeps_faces_outward() {
        let hull = Hull::new(&cube()).scaled(vec3(2.0, 3.0, -1.0));
        assert_eq!(hull.support(vec3(1.0, 1.0, 1.0), 0).0, vec3(2.0, 3.0, -0.0));
        let middle = hull.bounds[0];
        for (k, face) in hull.faces.iter().enumerate() {
            let corner = hull.vertices[hull.face_corners(k as u32)[0] as usize];
            assert!(face.normal.dot(corner - middle) > 0.4);
        }
    }
}
