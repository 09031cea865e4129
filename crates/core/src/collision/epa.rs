//! Depth of overlapping cores: a polytope grown inside their Minkowski difference until its nearest face is a true one.
//! (collision-9)
//!
//! Distances of faces are signed, so that shapes which only just touch, or are apart by rounding, are answered as well.

use super::gjk::Vertex;
use super::simplex::Simplex;
use super::witness::ShapePair;
use crate::spatial::Vec3;

const MAX_VERTICES: usize = 128;
const MAX_FACES: usize = 2 * MAX_VERTICES; // a polytope of V vertices and triangles has 2 V − 4
/// A triangle with less than this share of the squared size has no normal.
const SLIVER: f64 = 1e-15;

#[derive(Debug, Clone, Copy)]
struct Face {
    vertices: [u16; 3],
    /// The face beyond the edge from vertex k to vertex k + 1.
    beyond: [u16; 3],
    /// Outward unit normal.
    normal: Vec3,
    /// Distance of its plane from the origin: positive when the origin is inside.
    height: f64,
    alive: bool,
}

/// Memory of the expansion: never more than its capacity is used.
#[derive(Debug, Clone)]
pub(crate) struct Polytope {
    vertices: Vec<Vertex>,
    faces: Vec<Face>,
    /// Edges between what a new vertex sees and what it does not: face behind, its edge, from, to.
    horizon: Vec<(u16, u8, u16, u16)>,
    seen: Vec<u16>,
}

/// The nearest face found.
pub(crate) struct Depth {
    /// Direction in which shape 2 leaves shape 1 soonest, and the distance of the cores along it.
    pub normal: Vec3,
    pub distance: f64,
    /// The face, with the weights of the origin's foot on it.
    pub simplex: Simplex,
    pub converged: bool,
}

impl Polytope {
    pub fn new() -> Polytope {
        Polytope {
            vertices: Vec::with_capacity(MAX_VERTICES),
            faces: Vec::with_capacity(MAX_FACES),
            horizon: Vec::with_capacity(MAX_FACES),
            seen: Vec::with_capacity(MAX_FACES),
        }
    }

    /// Grows from a simplex that contains the origin (or touches it) to within `tolerance`.
    pub fn expand(&mut self, pair: &ShapePair, start: &Simplex, tolerance: f64, scale: f64) -> Depth {
        if let Some(flat) = self.tetrahedron(pair, start, scale) {
            return flat;
        }
        let mut best: Option<Depth> = None;
        while let Some(k) = self.nearest_face() {
            let face = self.faces[k];
            let n = -face.normal;
            let newest = pair.support(n, self.vertices[face.vertices[0] as usize].atoms);
            let distance = n.dot(newest.y);
            let gap = -face.height - distance;
            if best.as_ref().is_none_or(|b| distance > b.distance) {
                best =
                    Some(Depth { normal: n, distance, simplex: self.simplex_of(&face), converged: gap <= tolerance });
            }
            // the lower bound of all faces has met the best depth found
            if let Some(b) = best.as_mut()
                && -face.height - b.distance <= tolerance
            {
                b.converged = true;
                break;
            }
            if self.vertices.len() == MAX_VERTICES || !self.grow(k as u16, newest, scale) {
                break;
            }
        }
        best.unwrap_or(Depth { normal: Vec3::UNITS[2], distance: 0.0, simplex: *start, converged: false })
    }

    fn nearest_face(&self) -> Option<usize> {
        let mut best = (f64::INFINITY, None);
        for (k, f) in self.faces.iter().enumerate() {
            if f.alive && f.height < best.0 {
                best = (f.height, Some(k));
            }
        }
        best.1
    }

    /// The face as a simplex, weights by the foot of the origin's perpendicular (clamped).
    fn simplex_of(&self, face: &Face) -> Simplex {
        let [a, b, c] = face.vertices.map(|v| self.vertices[v as usize]);
        let mut simplex = Simplex::new(a);
        simplex.push(b);
        simplex.push(c);
        let n = (b.y - a.y).cross(c.y - a.y);
        let w = [n.dot(b.y.cross(c.y)), n.dot(c.y.cross(a.y)), n.dot(a.y.cross(b.y))].map(|w| w.max(0.0));
        let sum = w[0] + w[1] + w[2];
        if sum > 0.0 {
            simplex.weights = [w[0] / sum, w[1] / sum, w[2] / sum, 0.0];
        }
        simplex
    }

    /// Makes the first four faces. A flat difference has no inside: its depth is zero along its normal.
    fn tetrahedron(&mut self, pair: &ShapePair, start: &Simplex, scale: f64) -> Option<Depth> {
        self.vertices.clear();
        self.faces.clear();
        self.vertices.extend_from_slice(&start.vertices[..start.count]);
        let tiny = 1e-10 * scale;
        while self.vertices.len() < 4 {
            let directions = self.directions();
            let mut best = (tiny, None);
            for d in directions {
                let new = pair.support(d, start.vertices[0].atoms);
                let off = self.distance_from_hull(new.y);
                if off > best.0 {
                    best = (off, Some(new));
                }
            }
            match best.1 {
                Some(v) => self.vertices.push(v),
                None => return Some(self.flat(pair, start)),
            }
        }
        let y = |k: usize| self.vertices[k].y;
        let volume = (y(1) - y(0)).cross(y(2) - y(0)).dot(y(3) - y(0));
        if volume > 0.0 {
            self.vertices.swap(0, 1);
        }
        for (vertices, beyond) in
            [([0, 1, 2], [1, 2, 3]), ([0, 3, 1], [3, 2, 0]), ([1, 3, 2], [1, 3, 0]), ([2, 3, 0], [2, 1, 0])]
        {
            let face = self.face(vertices, beyond, scale);
            self.faces.push(face);
        }
        None
    }

    /// Directions in which the next vertex is looked for: away from what there is.
    fn directions(&self) -> [Vec3; 6] {
        let y = |k: usize| self.vertices[k].y;
        match self.vertices.len() {
            2 => {
                let e = (y(1) - y(0)).normalized().unwrap_or(Vec3::UNITS[0]);
                let f = super::frame::frame(e);
                let (s, t) = (f.c[0], f.c[1]);
                let u = s * 0.5 + t * 0.8660254037844386;
                [s, t, -s, -t, u, -u]
            }
            3 => {
                let m = (y(1) - y(0)).cross(y(2) - y(0)).normalized().unwrap_or(Vec3::UNITS[2]);
                [m, -m, m, -m, m, -m]
            }
            _ => {
                let [x, y, z] = Vec3::UNITS;
                [x, y, z, -x, -y, -z]
            }
        }
    }

    /// Distance of a point from the line or plane through the vertices there are.
    fn distance_from_hull(&self, p: Vec3) -> f64 {
        let y = |k: usize| self.vertices[k].y;
        match self.vertices.len() {
            1 => (p - y(0)).norm(),
            2 => (y(1) - y(0)).normalized().map_or(0.0, |e| (p - y(0)).cross(e).norm()),
            _ => (y(1) - y(0)).cross(y(2) - y(0)).normalized().map_or(0.0, |m| m.dot(p - y(0)).abs()),
        }
    }

    fn flat(&self, pair: &ShapePair, start: &Simplex) -> Depth {
        let y = |k: usize| self.vertices[k].y;
        let normal = match self.vertices.len() {
            3 => (y(1) - y(0)).cross(y(2) - y(0)).normalized(),
            2 => (y(1) - y(0)).normalized().map(|e| super::frame::frame(e).c[0]),
            _ => None,
        };
        let normal = normal.unwrap_or(Vec3::UNITS[2]);
        let distance = normal.dot(pair.support(normal, [0, 0]).y);
        Depth { normal, distance, simplex: *start, converged: true }
    }

    fn face(&self, vertices: [u16; 3], beyond: [u16; 3], scale: f64) -> Face {
        let [a, b, c] = vertices.map(|v| self.vertices[v as usize].y);
        // from the corner between the shorter edges: the sharpest normal
        let cross = (b - a).cross(c - a);
        let area = cross.norm();
        let sliver = area <= SLIVER * scale * scale;
        let normal = if sliver { Vec3::UNITS[2] } else { cross * (1.0 / area) };
        let height = if sliver { f64::INFINITY } else { normal.dot(a).max(normal.dot(b)).max(normal.dot(c)) };
        Face { vertices, beyond, normal, height, alive: true }
    }

    /// Replaces all faces that see a new vertex by a fan to it. False when rounding leaves nothing to do.
    fn grow(&mut self, k: u16, newest: Vertex, scale: f64) -> bool {
        if self.vertices.iter().any(|v| v.y == newest.y) {
            return false;
        }
        self.horizon.clear();
        self.seen.clear();
        self.faces[k as usize].alive = false;
        self.seen.push(k);
        let beyond = self.faces[k as usize].beyond;
        for (edge, f) in beyond.into_iter().enumerate() {
            self.flood(f, k, edge, newest.y, 1e-13 * scale);
        }
        let (n, free) = (self.horizon.len(), self.seen.len());
        if n < 3 || n < free || self.faces.len() + n - free > MAX_FACES {
            return false;
        }
        let (apex, base) = (self.vertices.len() as u16, self.faces.len());
        self.vertices.push(newest);
        // the fan takes the places of the faces it replaces, and two new ones
        self.seen.extend((base..base + n - free).map(|k| k as u16));
        self.faces.resize(base + n - free, self.faces[k as usize]);
        for i in 0..n {
            let (behind, edge, from, to) = self.horizon[i];
            let (slot, next, previous) = (self.seen[i], self.seen[(i + 1) % n], self.seen[(i + n - 1) % n]);
            // the horizon is a closed walk: the fan's neighbours are before and after in it
            if self.horizon[(i + 1) % n].2 != to {
                return false;
            }
            self.faces[behind as usize].beyond[edge as usize] = slot;
            self.faces[slot as usize] = self.face([from, to, apex], [behind, next, previous], scale);
        }
        true
    }

    /// Walks over faces that see `y` and lists the edges where that ends, in order.
    fn flood(&mut self, f: u16, from: u16, edge: usize, y: Vec3, tolerance: f64) {
        let face = self.faces[f as usize];
        if !face.alive {
            return;
        }
        let Some(entry) = face.beyond.iter().position(|b| *b == from) else { return };
        let corner = self.vertices[face.vertices[0] as usize].y;
        let visible = face.height == f64::INFINITY || face.normal.dot(y - corner) > tolerance;
        if !visible {
            let [a, b] = [self.faces[from as usize].vertices[edge], self.faces[from as usize].vertices[(edge + 1) % 3]];
            self.horizon.push((f, entry as u8, a, b));
            return;
        }
        self.faces[f as usize].alive = false;
        self.seen.push(f);
        for k in [(entry + 1) % 3, (entry + 2) % 3] {
            self.flood(face.beyond[k], f, k, y, tolerance);
        }
    }
}
