//! Quickhull with exact decisions. Whether a point lies beyond a face is the exact sign of a determinant, so that the
//! faces seen from a point always form one patch with one closed rim, and no tolerance has to hold the surface together.

use robust::{Coord3D, orient3d};
use slipstick_core::spatial::Vec3;

const NONE: u32 = u32::MAX;

/// A triangle of the growing hull, counter-clockwise from outside.
struct Face {
    corners: [u32; 3],
    /// The face across the edge from corner k to the next one.
    across: [u32; 3],
    /// Points that lie beyond this face and wait; the farthest one is the last.
    beyond: Vec<u32>,
    alive: bool,
}

/// An edge between a face that the new point sees and one that it does not.
struct RimEdge {
    from: u32,
    to: u32,
    kept: u32, // the face that stays
}

pub(super) struct Quickhull<'a> {
    points: &'a [Vec3],
    faces: Vec<Face>,
    rim_from: Vec<u32>, // number of the rim edge that begins at a point
    mark: Vec<u32>,     // round in which a face was last seen
}

impl<'a> Quickhull<'a> {
    /// The hull of points of which `simplex` spans a tetrahedron; outward triangles. `None` only if the coordinates are
    /// so far apart that even exact signs under- or overflow.
    pub fn triangles(points: &'a [Vec3], simplex: [u32; 4]) -> Option<Vec<[u32; 3]>> {
        let mut hull = Quickhull { points, faces: Vec::new(), rim_from: vec![NONE; points.len()], mark: Vec::new() };
        hull.start(simplex)?;
        let mut open: Vec<u32> = (0..4).collect();
        let mut round = 0;
        while let Some(f) = open.pop() {
            if !hull.faces[f as usize].alive {
                continue;
            }
            let Some(point) = hull.faces[f as usize].beyond.pop() else { continue };
            round += 1;
            let first_new = hull.faces.len() as u32;
            hull.add(point, f, round)?;
            open.extend(first_new..hull.faces.len() as u32);
        }
        Some(hull.faces.iter().filter(|f| f.alive).map(|f| f.corners).collect())
    }

    /// The hull of a simplex and of at most `more` other points, each time the one farthest beyond a face.
    pub fn farthest_first(points: &'a [Vec3], simplex: [u32; 4], more: usize) -> Option<Vec<[u32; 3]>> {
        let mut hull = Quickhull { points, faces: Vec::new(), rim_from: vec![NONE; points.len()], mark: Vec::new() };
        hull.start(simplex)?;
        for round in 1..=more as u32 {
            let Some(f) = hull.least_fitting() else { break };
            let point = hull.faces[f].beyond.pop()?;
            hull.add(point, f as u32, round)?;
        }
        Some(hull.faces.iter().filter(|f| f.alive).map(|f| f.corners).collect())
    }

    /// The face with the point farthest beyond it.
    fn least_fitting(&self) -> Option<usize> {
        let distance = |f: &Face| {
            let [a, b, c] = f.corners.map(|i| self.points[i as usize]);
            let normal = (b - a).cross(c - a);
            f.beyond.last().map(|p| normal.dot(self.points[*p as usize] - a) / normal.norm())
        };
        let open = self.faces.iter().enumerate().filter(|(_, f)| f.alive);
        let far = open.filter_map(|(i, f)| Some((i, distance(f)?)));
        far.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
    }

    fn sees(&self, p: u32, [a, b, c]: [u32; 3]) -> bool {
        let at = |i: u32| {
            let Vec3 { x, y, z } = self.points[i as usize];
            Coord3D { x, y, z }
        };
        orient3d(at(a), at(b), at(c), at(p)) < 0.0
    }

    /// The first tetrahedron, with every other point that lies outside given to a face.
    fn start(&mut self, [a, b, c, d]: [u32; 4]) -> Option<()> {
        let [b, c] = if self.sees(d, [a, b, c]) { [c, b] } else { [b, c] };
        if self.sees(d, [a, b, c]) || !self.sees(d, [a, c, b]) {
            return None;
        }
        self.push([a, b, c], [1, 2, 3]);
        self.push([b, a, d], [0, 3, 2]);
        self.push([c, b, d], [0, 1, 3]);
        self.push([a, c, d], [0, 2, 1]);
        let all: Vec<u32> = (0..self.points.len() as u32).filter(|p| ![a, b, c, d].contains(p)).collect();
        self.hand_out(&all, 0);
        Some(())
    }

    fn push(&mut self, corners: [u32; 3], across: [u32; 3]) {
        self.faces.push(Face { corners, across, beyond: Vec::new(), alive: true });
        self.mark.push(0);
    }

    /// Gives each point to the first of the newest faces that it lies beyond; the others are inside for good.
    fn hand_out(&mut self, points: &[u32], first_new: usize) {
        for p in points {
            let face = (first_new..self.faces.len()).find(|f| self.sees(*p, self.faces[*f].corners));
            if let Some(f) = face {
                self.faces[f].beyond.push(*p);
            }
        }
        for f in first_new..self.faces.len() {
            let [a, b, c] = self.faces[f].corners.map(|i| self.points[i as usize]);
            let normal = (b - a).cross(c - a);
            let beyond = &mut self.faces[f].beyond;
            let height = |p: &u32| normal.dot(self.points[*p as usize] - a);
            let farthest = (0..beyond.len()).max_by(|i, j| height(&beyond[*i]).total_cmp(&height(&beyond[*j])));
            if let Some(i) = farthest {
                let last = beyond.len() - 1;
                beyond.swap(i, last);
            }
        }
    }

    /// Adds a point that lies beyond a face: what it sees is replaced by a fan from the rim to the point.
    fn add(&mut self, point: u32, face: u32, round: u32) -> Option<()> {
        let (rim, mut waiting) = self.remove_seen(point, face, round);
        let first_new = self.faces.len();
        for (k, edge) in rim.iter().enumerate() {
            self.rim_from[edge.from as usize] = k as u32;
        }
        for (k, edge) in rim.iter().enumerate() {
            let next = self.rim_from[edge.to as usize];
            let this = (first_new + k) as u32;
            // closed rim: its edges end where others begin
            if next == NONE {
                return None;
            }
            self.push([edge.from, edge.to, point], [edge.kept, first_new as u32 + next, NONE]);
            let kept = &mut self.faces[edge.kept as usize];
            let side = (0..3).find(|s| kept.corners[*s] == edge.to && kept.corners[(*s + 1) % 3] == edge.from)?;
            kept.across[side] = this;
        }
        for k in 0..rim.len() {
            let next = self.faces[first_new + k].across[1] as usize;
            self.faces[next].across[2] = (first_new + k) as u32;
        }
        for edge in &rim {
            self.rim_from[edge.from as usize] = NONE;
        }
        if rim.len() < 3 || self.faces[first_new..].iter().any(|f| f.across[2] == NONE) {
            return None;
        }
        waiting.retain(|p| *p != point);
        self.hand_out(&waiting, first_new);
        Some(())
    }

    /// Removes the faces that a point sees; returns their rim and the points that waited beyond them.
    fn remove_seen(&mut self, point: u32, face: u32, round: u32) -> (Vec<RimEdge>, Vec<u32>) {
        let (mut rim, mut waiting) = (Vec::new(), Vec::new());
        let mut stack = vec![face];
        self.mark[face as usize] = round;
        while let Some(f) = stack.pop() {
            let (corners, across) = (self.faces[f as usize].corners, self.faces[f as usize].across);
            for k in 0..3 {
                let other = across[k];
                if self.mark[other as usize] == round {
                    continue; // seen as well
                }
                if self.sees(point, self.faces[other as usize].corners) {
                    self.mark[other as usize] = round;
                    stack.push(other);
                } else {
                    rim.push(RimEdge { from: corners[k], to: corners[(k + 1) % 3], kept: other });
                }
            }
            let dead = &mut self.faces[f as usize];
            dead.alive = false;
            waiting.append(&mut dead.beyond);
        }
        (rim, waiting)
    }
}
