//! Depth of overlapping cores: a polytope grown inside their Minkowski difference until its nearest face is a true one.
//! (collision-9)
//!
//! Distances of faces are signed, so that shapes which only just touch, or are apart by rounding, are handled as well.

use super::certificate::sure_angle;
use super::gjk::Vertex;
use super::polish::{refine, unpolished};
use super::simplex::Simplex;
use crate::collision::pair::{ShapePair, Witness};
use crate::footprint::footprint;
use crate::spatial::Vec3;

const MAX_VERTICES: usize = 128;
const MAX_FACES: usize = 2 * MAX_VERTICES; // a polytope of V vertices and triangles has 2 V − 4
/// A triangle has no normal if it is lower than this fraction of its longest edge, or of the size of the shapes: rounding
/// errors of its corners would turn it.
const SLIVER_HEIGHT: f64 = 1e-10;
const THIN: f64 = 1e-13;
/// A vertex is seen by a face if it is this fraction of the size above it.
const SEEN: f64 = 1e-13;
/// Depth to which overlapping shapes are known, relative to their size: polytopes, curved shapes, and when vertices run
/// out (around an axis that both shapes share the bound converges slowly, although the result is exact).
const POLYTOPE_TOLERANCE: f64 = 1e-12;
const CURVED_TOLERANCE: f64 = 5e-8;
const EXHAUSTED_TOLERANCE: f64 = 1e-3;
/// Gap at which the polish is tried first; a tenth of it next time.
const FIRST_POLISH_GAP: f64 = 0.03;
/// Cosine of the angle within which normals are taken to lead to the same result.
const SAME_RESULT: f64 = 0.99;
/// Most steps of the ascent.
const MAX_CLIMB_STEPS: usize = 400;
/// A tetrahedron lower than this fraction of the size is flat.
const FLAT_SIMPLEX: f64 = 1e-6;
/// Vertices nearer than this fraction of the size are one.
const SAME_VERTEX: f64 = 1e-9;
/// A support point farther above its face than this fraction of the size is a new one.
const SMALL_GAP: f64 = 1e-5;

#[derive(Debug, Clone, Copy)]
struct PolytopeFace {
    vertices: [u16; 3],
    /// The face beyond the edge from vertex k to vertex k + 1.
    beyond: [u16; 3],
    /// Outward unit normal.
    normal: Vec3,
    /// Distance of its plane from the origin: positive when the origin is inside.
    height: f64,
    alive: bool,
}

/// Memory of EPA: never more than its capacity is used.
#[derive(Debug, Clone)]
pub(crate) struct Polytope {
    vertices: Vec<Vertex>,
    faces: Vec<PolytopeFace>,
    /// Height of each face again, side by side for the search; infinite for those that are gone.
    heights: Vec<f64>,
    /// Edges between what a new vertex sees and what it does not: face behind, its edge, from, to.
    horizon: Vec<(u16, u8, u16, u16)>,
    seen: Vec<u16>,
}

footprint!(Polytope: vertices, faces, heights, horizon, seen);

/// The best result so far.
struct BestFace {
    /// Direction in which shape 2 leaves shape 1 soonest, and the distance of the cores along it.
    normal: Vec3,
    distance: f64,
    /// Vertices of the face.
    face: [u16; 3],
    /// The polished result with the features of that face.
    polished: Option<Witness>,
    /// Angle around the normal within which no other one is better (rad).
    sure: f64,
}

impl BestFace {
    /// Whether a face of the given normal and height hides no better result: all directions along which the polytope
    /// reaches less far than the depth found lie within the angle of which that is known. In the polar polytope, whose
    /// corners are the normals over the heights, these directions are seen outside a ball; what sticks out of the ball
    /// there leans from its corners by no more than arccos(height/depth).
    fn covers(&self, normal: Vec3, height: f64, lean: &mut f64) -> bool {
        if self.sure <= 0.0 {
            return false;
        }
        let angle = |cosine: f64| cosine.clamp(-1.0, 1.0).acos();
        let own = if self.distance < 0.0 { angle(-height / self.distance) } else { 0.0 };
        let covered = angle(normal.dot(self.normal)) + own.max(*lean) <= self.sure;
        if covered {
            *lean = lean.max(own);
        }
        covered
    }
}

/// Gradient ascent from a normal, in ever smaller steps: the last resort where shapes share an axis, so that vertices run
/// out before they have been all around it, and no features are determined.
fn climb(pair: &ShapePair, start: Vec3) -> Vec3 {
    let gap = |n: Vec3| n.dot(pair.support(n, [0, 0]).y);
    let (mut n, mut best, mut step) = (start, gap(start), 0.05);
    for _ in 0..MAX_CLIMB_STEPS {
        if step <= 1e-9 {
            break;
        }
        let frame = crate::collision::frame::frame(n);
        let [s, t] = [frame.c[0], frame.c[1]];
        let tries = [s, t, -s, -t, s + t, s - t, t - s, -s - t];
        let better = tries.into_iter().find_map(|d| {
            let m = (n + d * step).normalized()?;
            (gap(m) > best).then_some(m)
        });
        match better {
            Some(m) => (n, best) = (m, gap(m)),
            None => step *= 0.5,
        }
    }
    n
}

impl Polytope {
    /// Empty memory: the first run allocates.
    pub const fn empty() -> Polytope {
        Polytope { vertices: Vec::new(), faces: Vec::new(), heights: Vec::new(), horizon: Vec::new(), seen: Vec::new() }
    }

    /// Memory for the largest polytope.
    pub fn new() -> Polytope {
        let mut polytope = Polytope::empty();
        polytope.reserve();
        polytope
    }

    fn reserve(&mut self) {
        self.vertices.clear();
        self.faces.clear();
        self.heights.clear();
        self.horizon.clear();
        self.seen.clear();
        self.vertices.reserve(MAX_VERTICES);
        self.faces.reserve(MAX_FACES);
        self.heights.reserve(MAX_FACES);
        self.horizon.reserve(MAX_FACES);
        self.seen.reserve(MAX_FACES);
    }

    /// The depth of two cores whose difference has the origin inside a simplex, or on it.
    pub fn expand(&mut self, pair: &ShapePair, start: &Simplex, scale: f64) -> Witness {
        self.reserve();
        if let Some(flat) = self.tetrahedron(pair, start, scale) {
            return flat;
        }
        let curved = pair.has_curves();
        let tolerance = scale * if curved { CURVED_TOLERANCE } else { POLYTOPE_TOLERANCE };
        let mut best: Option<BestFace> = None;
        let (mut converged, mut attempts) = (false, if curved { 4 } else { 0 });
        let mut rough = FIRST_POLISH_GAP * scale;
        // faces that hide nothing better than the best result, and their largest angle from it
        let (mut covered, mut lean) = (false, 0.0);
        while let Some((k, height)) = self.nearest_face() {
            if best.as_ref().is_some_and(|b| -height - b.distance <= tolerance) {
                converged = true; // no face can beat the best depth found
                break;
            }
            let face = self.faces[k];
            let n = -face.normal;
            if best.as_ref().is_some_and(|b| b.covers(n, height, &mut lean)) {
                (self.heights[k], covered) = (f64::INFINITY, true);
                continue;
            }
            let mut newest = pair.support(n, self.vertices[face.vertices[0] as usize].atoms);
            let distance = n.dot(newest.y);
            if best.as_ref().is_none_or(|b| distance > b.distance) {
                best = Some(BestFace { normal: n, distance, face: face.vertices, polished: None, sure: 0.0 });
                self.uncover(&mut covered, &mut lean);
            }
            // a normal that leads to the same result again is not polished
            let led = |b: &BestFace| b.polished.is_some() && b.normal.dot(n) > SAME_RESULT;
            if attempts > 0 && -face.height - distance < rough && !best.as_ref().is_some_and(led) {
                attempts -= 1;
                rough *= 0.1;
                let found = refine(pair, &self.simplex_of(face.vertices), n, scale, false);
                let known = best.as_ref().map_or(f64::NEG_INFINITY, |b| b.distance);
                if let Some(w) = found.filter(|w| w.distance + pair.radius() >= known) {
                    let touching = pair.support(w.normal, w.sides.map(|s| s.atoms[0]));
                    let corner = self.vertices[face.vertices[0] as usize].y;
                    let fresh = self.same_vertex(touching.y, scale).is_none();
                    if fresh && face.normal.dot(touching.y - corner) > SEEN * scale {
                        newest = touching;
                    }
                    let distance = w.distance + pair.radius();
                    let sure = sure_angle(pair, &w);
                    best = Some(BestFace { normal: w.normal, distance, face: face.vertices, polished: Some(w), sure });
                    self.uncover(&mut covered, &mut lean);
                }
            }
            let small = -face.height - distance < SMALL_GAP * scale;
            if small && self.same_vertex(newest.y, scale).is_some() {
                self.faces[k].height = -n.dot(newest.y); // as far out as it can be
                self.heights[k] = self.faces[k].height;
            } else if self.vertices.len() == MAX_VERTICES || !self.grow(k as u16, newest, scale) {
                converged = best.as_ref().is_some_and(|b| -height - b.distance <= EXHAUSTED_TOLERANCE * scale);
                break;
            }
        }
        converged |= covered && self.nearest_face().is_none();
        match best {
            Some(best) => self.result(pair, best, scale, converged),
            None => unpolished(pair, start, Vec3::UNITS[2], false),
        }
    }

    /// Marks all faces as open, because the best result has changed.
    fn uncover(&mut self, covered: &mut bool, lean: &mut f64) {
        if *covered {
            for (height, face) in self.heights.iter_mut().zip(&self.faces).filter(|(_, f)| f.alive) {
                *height = face.height;
            }
        }
        (*covered, *lean) = (false, 0.0);
    }

    /// The best result, polished if its features allow it.
    fn result(&self, pair: &ShapePair, best: BestFace, scale: f64, converged: bool) -> Witness {
        if let Some(w) = best.polished {
            return Witness { converged, ..w };
        }
        // of the triangles of one flat face, the one under the origin
        let simplex = self.foot(&best, scale).unwrap_or_else(|| self.simplex_of(best.face));
        let polished = refine(pair, &simplex, best.normal, scale, false);
        let enough = best.distance - 1e-12 * scale;
        let polished = polished.filter(|w| w.distance + pair.radius() >= enough);
        polished.map_or_else(
            || {
                let n = if pair.has_curves() { climb(pair, best.normal) } else { best.normal };
                unpolished(pair, &simplex, n, converged)
            },
            |w| Witness { converged, ..w },
        )
    }

    /// Of the faces in the plane of the best one, that which holds the foot of the origin's perpendicular.
    fn foot(&self, best: &BestFace, scale: f64) -> Option<Simplex> {
        let mut found: Option<(f64, Simplex)> = None;
        for face in self.faces.iter().filter(|f| f.alive) {
            let same =
                (-face.height - best.distance).abs() <= 1e-11 * scale && -face.normal.dot(best.normal) > 1.0 - 1e-12;
            if same {
                let inside = self.foot_weights(face.vertices).into_iter().fold(f64::INFINITY, f64::min);
                if found.is_none_or(|(least, _)| inside > least) {
                    found = Some((inside, self.simplex_of(face.vertices)));
                }
            }
        }
        found.map(|(_, simplex)| simplex)
    }

    /// The face of least height, and that height.
    fn nearest_face(&self) -> Option<(usize, f64)> {
        let mut least = [f64::INFINITY; 4];
        let (fours, rest) = self.heights.as_chunks::<4>();
        for four in fours {
            for i in 0..4 {
                least[i] = if four[i] < least[i] { four[i] } else { least[i] };
            }
        }
        let least = least.iter().chain(rest).copied().fold(f64::INFINITY, f64::min);
        let face = self.heights.iter().position(|h| *h == least && *h < f64::INFINITY);
        face.map(|k| (k, least))
    }

    /// The vertex that a point coincides with: two so near would make faces whose normals are noise.
    fn same_vertex(&self, y: Vec3, scale: f64) -> Option<u16> {
        let near = SAME_VERTEX * scale;
        let same = |v: &Vertex| {
            let d = v.y - y;
            d.dot(d) <= near * near
        };
        self.vertices.iter().position(same).map(|k| k as u16)
    }

    /// Weights of the foot of the origin's perpendicular on a face.
    fn foot_weights(&self, face: [u16; 3]) -> [f64; 3] {
        let [a, b, c] = face.map(|v| self.vertices[v as usize].y);
        let n = (b - a).cross(c - a);
        let w = [n.dot(b.cross(c)), n.dot(c.cross(a)), n.dot(a.cross(b))];
        let sum = w[0] + w[1] + w[2];
        w.map(|w| w / sum)
    }

    /// The face as a simplex, weights by the foot of the origin's perpendicular (clamped).
    fn simplex_of(&self, face: [u16; 3]) -> Simplex {
        let [a, b, c] = face.map(|v| self.vertices[v as usize]);
        let mut simplex = Simplex::new(a);
        simplex.push(b);
        simplex.push(c);
        let w = self.foot_weights(face).map(|w| w.max(0.0));
        let sum = w[0] + w[1] + w[2];
        if sum > 0.0 {
            simplex.weights = [w[0] / sum, w[1] / sum, w[2] / sum, 0.0];
        }
        simplex
    }

    /// Makes the first four faces. A flat difference has no inside: its depth is zero along its normal.
    fn tetrahedron(&mut self, pair: &ShapePair, start: &Simplex, scale: f64) -> Option<Witness> {
        self.vertices.extend_from_slice(&start.vertices[..start.count]);
        if let [a, b, c, d] = self.vertices[..] {
            // a flat start could be inside out: better its largest face and a new apex
            let volume = |a: Vertex, b: Vertex, c: Vertex, d: Vertex| (b.y - a.y).cross(c.y - a.y).dot(d.y - a.y).abs();
            let area = |t: &[Vertex; 3]| (t[1].y - t[0].y).cross(t[2].y - t[0].y).norm();
            let faces = [[a, b, c], [a, b, d], [a, c, d], [b, c, d]];
            let largest = faces.into_iter().max_by(|s, t| area(s).total_cmp(&area(t))).unwrap_or([a, b, c]);
            if volume(a, b, c, d) <= FLAT_SIMPLEX * area(&largest) * scale {
                self.vertices.truncate(3);
                self.vertices.copy_from_slice(&largest);
            }
        }
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
            self.heights.push(face.height);
        }
        None
    }

    /// Directions in which the next vertex is looked for: away from what there is.
    fn directions(&self) -> [Vec3; 6] {
        let y = |k: usize| self.vertices[k].y;
        match self.vertices.len() {
            2 => {
                let e = (y(1) - y(0)).normalized().unwrap_or(Vec3::UNITS[0]);
                let f = crate::collision::frame::frame(e);
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

    fn flat(&self, pair: &ShapePair, start: &Simplex) -> Witness {
        let y = |k: usize| self.vertices[k].y;
        let normal = match self.vertices.len() {
            3 => (y(1) - y(0)).cross(y(2) - y(0)).normalized(),
            2 => (y(1) - y(0)).normalized().map(|e| crate::collision::frame::frame(e).c[0]),
            _ => None,
        };
        unpolished(pair, start, normal.unwrap_or(Vec3::UNITS[2]), true)
    }

    fn face(&self, vertices: [u16; 3], beyond: [u16; 3], scale: f64) -> PolytopeFace {
        let [a, b, c] = vertices.map(|v| self.vertices[v as usize].y);
        let (ab, ac, bc) = (b - a, c - a, c - b);
        let cross = ab.cross(ac);
        let area = cross.dot(cross);
        let longest = ab.dot(ab).max(ac.dot(ac)).max(bc.dot(bc));
        let sliver = area <= longest * (SLIVER_HEIGHT * SLIVER_HEIGHT * longest).max(THIN * THIN * scale * scale);
        let normal = if sliver { Vec3::UNITS[2] } else { cross * (1.0 / area.sqrt()) };
        let height = if sliver { f64::INFINITY } else { normal.dot(a).max(normal.dot(b)).max(normal.dot(c)) };
        PolytopeFace { vertices, beyond, normal, height, alive: true }
    }

    /// Replaces all faces that see a new vertex by a fan to it. False when rounding leaves nothing to do.
    fn grow(&mut self, k: u16, newest: Vertex, scale: f64) -> bool {
        self.horizon.clear();
        self.seen.clear();
        self.remove(k);
        let beyond = self.faces[k as usize].beyond;
        for f in beyond {
            self.flood(f, k, newest.y, SEEN * scale);
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
        self.heights.resize(base + n - free, f64::INFINITY);
        for i in 0..n {
            let (behind, edge, from, to) = self.horizon[i];
            let (slot, next, previous) = (self.seen[i], self.seen[(i + 1) % n], self.seen[(i + n - 1) % n]);
            // the horizon is a closed loop: the fan's neighbors are before and after in it
            if self.horizon[(i + 1) % n].2 != to {
                return false;
            }
            self.faces[behind as usize].beyond[edge as usize] = slot;
            let face = self.face([from, to, apex], [behind, next, previous], scale);
            self.faces[slot as usize] = face;
            self.heights[slot as usize] = face.height;
        }
        true
    }

    fn remove(&mut self, face: u16) {
        self.faces[face as usize].alive = false;
        self.heights[face as usize] = f64::INFINITY;
        self.seen.push(face);
    }

    /// Visits the faces that see `y` and lists the edges of the horizon, in order.
    fn flood(&mut self, f: u16, from: u16, y: Vec3, tolerance: f64) {
        let face = &self.faces[f as usize];
        if !face.alive {
            return;
        }
        let beyond = face.beyond;
        let Some(entry) = beyond.iter().position(|b| *b == from) else { return };
        let corner = self.vertices[face.vertices[0] as usize].y;
        let visible = face.height == f64::INFINITY || face.normal.dot(y - corner) > tolerance;
        if !visible {
            // the edge as its own face has it, turned round
            let (a, b) = (face.vertices[(entry + 1) % 3], face.vertices[entry]);
            self.horizon.push((f, entry as u8, a, b));
            return;
        }
        self.remove(f);
        for k in [(entry + 1) % 3, (entry + 2) % 3] {
            self.flood(beyond[k], f, y, tolerance);
        }
    }
}
