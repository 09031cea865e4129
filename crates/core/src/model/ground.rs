//! Triangle meshes as ground: which triangles meet along edges, and a tree of boxes over them.

use super::Mesh;
use crate::spatial::{Vec3, vec3};
use std::collections::HashMap;

/// Nodes with fewer triangles are not divided.
const LEAF: usize = 4;
/// Grid on which vertices are compared (fraction of the mesh's size).
const SAME_PLACE: f64 = 1e-9;
const NONE: u32 = u32::MAX;

/// A triangle mesh that is not made convex. Its triangles are seen from outside; inside is where their normals do not
/// point.
#[derive(Debug, Clone, PartialEq)]
pub struct Ground {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Beyond each edge of each triangle: four times the number of the other triangle plus the number of its edge.
    beyond: Vec<[u32; 3]>,
    nodes: Vec<BoxNode>,
    /// Triangles with an area, in the order of the leaves.
    order: Vec<u32>,
}

/// Triangles of a box: `first..first + count` of the order, or two nodes from `first` on if there are none.
#[derive(Debug, Clone, Copy, PartialEq)]
struct BoxNode {
    lo: Vec3,
    hi: Vec3,
    first: u32,
    count: u32,
}

impl Ground {
    /// Prepares a mesh with outward triangles.
    pub(crate) fn new(mesh: &Mesh, scale: Vec3) -> Ground {
        let vertices: Vec<Vec3> =
            mesh.vertices.iter().map(|v| vec3(v.x * scale.x, v.y * scale.y, v.z * scale.z)).collect();
        let triangles = mesh.triangles.clone();
        let corners = |t: &[u32; 3]| t.map(|k| vertices[k as usize]);
        let has_area = |t: &[u32; 3]| {
            let [a, b, c] = corners(t);
            (b - a).cross(c - a).normalized().is_some()
        };
        let order: Vec<u32> = (0..triangles.len() as u32).filter(|k| has_area(&triangles[*k as usize])).collect();
        let mut ground =
            Ground { beyond: beyond(&vertices, &triangles, &order), vertices, triangles, nodes: Vec::new(), order };
        ground.divide();
        ground
    }

    /// Corners of a triangle, counter-clockwise from outside (m).
    pub(crate) fn triangle(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|k| self.vertices[k as usize])
    }

    /// The triangle beyond an edge (from corner `edge` to the next), and which of its edges that is.
    pub(crate) fn beyond(&self, triangle: u32, edge: usize) -> Option<(u32, usize)> {
        let code = self.beyond[triangle as usize][edge];
        (code != NONE).then_some((code / 4, code as usize % 4))
    }

    /// Calls `found` with the triangles whose boxes meet a box.
    pub(crate) fn in_box(&self, lo: Vec3, hi: Vec3, mut found: impl FnMut(u32)) {
        let meets = |a: Vec3, b: Vec3| (0..3).all(|k| a[k] <= hi[k] && b[k] >= lo[k]);
        self.visit(
            |node| meets(node.lo, node.hi),
            |triangle| {
                let [a, b, c] = self.triangle(triangle);
                let (low, high) = bounds(&[a, b, c]);
                if meets(low, high) {
                    found(triangle);
                }
            },
        );
    }

    /// Calls `meet` with the triangles in boxes that a line passes at `t` between zero and what `reach` says then.
    pub(crate) fn along(&self, origin: Vec3, direction: Vec3, reach: &core::cell::Cell<f64>, meet: impl FnMut(u32)) {
        let passes = |node: &BoxNode| {
            let (mut enter, mut leave) = (0.0, reach.get());
            for k in 0..3 {
                // a line parallel to a side that runs in its plane gives NaN, which `max` and `min` leave out
                let (a, b) = ((node.lo[k] - origin[k]) / direction[k], (node.hi[k] - origin[k]) / direction[k]);
                (enter, leave) = (f64::max(enter, a.min(b)), f64::min(leave, a.max(b)));
            }
            enter <= leave * (1.0 + 1e-12)
        };
        self.visit(passes, meet);
    }

    /// Goes down the tree where `enters` allows it, and calls `found` with the triangles of the leaves.
    fn visit(&self, enters: impl Fn(&BoxNode) -> bool, mut found: impl FnMut(u32)) {
        let (mut stack, mut height) = ([0; 64], 1);
        while height > 0 {
            height -= 1;
            let Some(node) = self.nodes.get(stack[height] as usize).filter(|n| enters(n)) else { continue };
            if node.count > 0 {
                self.order[node.first as usize..(node.first + node.count) as usize].iter().for_each(|t| found(*t));
            } else {
                stack[height] = node.first + 1;
                stack[height + 1] = node.first;
                height += 2;
            }
        }
    }

    /// Builds the tree: halves along the longest side until leaves are small.
    fn divide(&mut self) {
        if self.order.is_empty() {
            return;
        }
        let middle = |t: u32| {
            let [a, b, c] = self.triangle(t);
            a + b + c
        };
        let mut order = self.order.clone();
        let mut nodes = vec![self.node(&order, 0)];
        let mut next = 0;
        while next < nodes.len() {
            let BoxNode { lo, hi, first, count } = nodes[next];
            let range = first as usize..(first + count) as usize;
            if range.len() > LEAF {
                let size = hi - lo;
                let axis = (1..3).fold(0, |best, k| if size[k] > size[best] { k } else { best });
                let half = range.len() / 2;
                let part = &mut order[range];
                part.sort_by(|a, b| middle(*a)[axis].total_cmp(&middle(*b)[axis]).then(a.cmp(b)));
                let children = [self.node(&part[..half], first), self.node(&part[half..], first + half as u32)];
                (nodes[next].first, nodes[next].count) = (nodes.len() as u32, 0);
                nodes.extend(children);
            }
            next += 1;
        }
        (self.order, self.nodes) = (order, nodes);
    }

    fn node(&self, triangles: &[u32], first: u32) -> BoxNode {
        let corners: Vec<Vec3> = triangles.iter().flat_map(|t| self.triangle(*t)).collect();
        let (lo, hi) = bounds(&corners);
        BoxNode { lo, hi, first, count: triangles.len() as u32 }
    }
}

fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let fold =
        |f: fn(f64, f64) -> f64| points.iter().fold(points[0], |a, v| vec3(f(a.x, v.x), f(a.y, v.y), f(a.z, v.z)));
    (fold(f64::min), fold(f64::max))
}

/// Which triangles meet along edges. Files repeat vertices: those at the same place, up to rounding, count as one.
fn beyond(vertices: &[Vec3], triangles: &[[u32; 3]], used: &[u32]) -> Vec<[u32; 3]> {
    let size = vertices.iter().flat_map(|v| v.to_array()).fold(0.0, |m: f64, x| m.max(x.abs()));
    let unit = if size > 0.0 { SAME_PLACE * size } else { 1.0 };
    let mut places = HashMap::new();
    let mut number = |k: u32| {
        let place = vertices[k as usize].to_array().map(|x| (x / unit).round() as i64);
        *places.entry(place).or_insert(k)
    };
    let merged: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(&mut number)).collect();
    let mut edges = HashMap::new();
    for t in used {
        for edge in 0..3 {
            let corners = merged[*t as usize];
            edges.entry([corners[edge], corners[(edge + 1) % 3]]).or_insert(4 * t + edge as u32);
        }
    }
    let other = |t: &[u32; 3], edge: usize| edges.get(&[t[(edge + 1) % 3], t[edge]]).copied().unwrap_or(NONE);
    merged.iter().map(|t| [0, 1, 2].map(|edge| other(t, edge))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A staircase of triangles, with vertices repeated as STL files do.
    fn stairs() -> Mesh {
        let mut vertices = Vec::new();
        for k in 0..20 {
            let (x, z) = (0.3 * k as f64, 0.1 * k as f64);
            let quads = [
                [vec3(x, -1.0, z), vec3(x + 0.3, -1.0, z), vec3(x + 0.3, 1.0, z), vec3(x, 1.0, z)],
                [vec3(x, -1.0, z), vec3(x, 1.0, z), vec3(x, 1.0, z - 0.1), vec3(x, -1.0, z - 0.1)],
            ];
            vertices.extend(quads.iter().flat_map(|[a, b, c, d]| [*a, *b, *c, *a, *c, *d]));
        }
        let triangles = (0..vertices.len() as u32 / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        Mesh { name: "stairs".into(), vertices, triangles }
    }

    #[test]
    fn a_search_in_the_tree_finds_what_a_search_among_all_finds() {
        let ground = Ground::new(&stairs(), vec3(1.0, 1.0, 1.0));
        for k in 0..60 {
            let (middle, half) = (vec3(0.1 * k as f64, 0.9, 0.03 * k as f64), vec3(0.12, 0.5, 0.04));
            let (lo, hi) = (middle - half, middle + half);
            let meets = |t: &u32| {
                let (a, b) = bounds(&ground.triangle(*t));
                (0..3).all(|k| a[k] <= hi[k] && b[k] >= lo[k])
            };
            let wanted: Vec<u32> = (0..80).filter(meets).collect();
            let mut found = Vec::new();
            ground.in_box(lo, hi, |t| found.push(t));
            found.sort_unstable();
            assert_eq!(found, wanted);
        }
    }

    #[test]
    fn triangles_that_repeat_vertices_still_know_each_other() {
        let ground = Ground::new(&stairs(), vec3(2.0, 1.0, 1.0));
        let alone = (0..80).flat_map(|t| (0..3).map(move |e| (t, e))).filter(|(t, e)| ground.beyond(*t, *e).is_none());
        // both sides of every quad, and the first and the last edge
        assert_eq!(alone.count(), 2 * 40 + 2);
        for (t, e) in (0..80).flat_map(|t| (0..3).map(move |e| (t, e))) {
            if let Some((u, back)) = ground.beyond(t, e) {
                assert!((ground.triangle(t)[e] - ground.triangle(u)[(back + 1) % 3]).norm() < 1e-12);
            }
        }
    }
}
