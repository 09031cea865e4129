//! Up to four points of the Minkowski difference, and the point of their hull nearest to the origin.   (collision-8)

use super::gjk::Vertex;
use crate::spatial::Vec3;

/// A point, segment, triangle or tetrahedron.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simplex {
    pub vertices: [Vertex; 4],
    /// Weights of the vertices in the nearest point.
    pub weights: [f64; 4],
    pub count: usize,
}

impl Simplex {
    pub fn new(v: Vertex) -> Simplex {
        Simplex { vertices: [v; 4], weights: [1.0, 0.0, 0.0, 0.0], count: 1 }
    }

    #[inline(always)]
    pub fn push(&mut self, v: Vertex) {
        self.vertices[self.count] = v;
        self.weights[self.count] = 0.0;
        self.count += 1;
    }

    /// The point of core 1 that the weights stand for, and the way from there to that of core 2.
    pub fn points(&self) -> (Vec3, Vec3) {
        let each = self.vertices[..self.count].iter().zip(self.weights);
        each.fold((Vec3::ZERO, Vec3::ZERO), |(x, y), (v, w)| (x + v.x1 * w, y + v.y * w))
    }

    /// Whether the same point is already part of it.
    #[inline(always)]
    pub fn contains(&self, v: &Vertex) -> bool {
        self.vertices[..self.count].iter().any(|w| w.atoms == v.atoms && w.y == v.y)
    }

    /// Reduces to the face that holds the nearest point and returns that point; `None` if the origin is inside.
    #[inline(always)]
    pub fn nearest(&mut self) -> Option<Vec3> {
        let y = |k: usize| self.vertices[k].y;
        match self.count {
            1 => Some(y(0)),
            2 => {
                let found = segment(y(0), y(1));
                Some(self.keep([0, 1, 0], found))
            }
            3 => {
                let found = triangle(y(0), y(1), y(2));
                Some(self.keep([0, 1, 2], found))
            }
            _ => self.nearest_of_tetrahedron(),
        }
    }

    fn nearest_of_tetrahedron(&mut self) -> Option<Vec3> {
        let y = self.vertices.map(|v| v.y);
        let mut best: Option<([usize; 3], [f64; 3], f64)> = None;
        // the triangle that there was before the newest vertex looks away from the origin
        for [a, b, c, d] in [[0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]] {
            let normal = (y[b] - y[a]).cross(y[c] - y[a]);
            let (origin, inner) = (-normal.dot(y[a]), normal.dot(y[d] - y[a]));
            // the face sees the origin, or the tetrahedron is flat to rounding
            let span = normal.norm() * (y[d] - y[a]).norm();
            if origin * inner > 0.0 && inner.abs() > 1e-14 * span {
                continue;
            }
            let weights = triangle(y[a], y[b], y[c]);
            let point = y[a] * weights[0] + y[b] * weights[1] + y[c] * weights[2];
            let square = point.dot(point);
            if best.is_none_or(|b| square < b.2) {
                best = Some(([a, b, c], weights, square));
            }
        }
        let (which, weights, _) = best?;
        Some(self.keep(which, weights))
    }

    /// Keeps the vertices of positive weight.
    #[inline(always)]
    fn keep(&mut self, which: [usize; 3], weights: [f64; 3]) -> Vec3 {
        let old = self.vertices;
        let (mut n, mut point) = (0, Vec3::ZERO);
        for k in 0..3 {
            if weights[k] > 0.0 {
                self.vertices[n] = old[which[k]];
                self.weights[n] = weights[k];
                point += self.vertices[n].y * weights[k];
                n += 1;
            }
        }
        self.count = n;
        point
    }
}

/// Weights of the point of a segment nearest to the origin.
#[inline(always)]
fn segment(a: Vec3, b: Vec3) -> [f64; 3] {
    let ab = b - a;
    let (along, square) = (-a.dot(ab), ab.dot(ab));
    if along <= 0.0 {
        [1.0, 0.0, 0.0]
    } else if along >= square {
        [0.0, 1.0, 0.0]
    } else {
        let t = along / square;
        [1.0 - t, t, 0.0]
    }
}

/// Weights of the point of a triangle nearest to the origin, by its Voronoi regions (Ericson, Real-Time Collision
/// Detection, 5.1.5).
#[inline(always)]
fn triangle(a: Vec3, b: Vec3, c: Vec3) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(a), -ac.dot(a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (-ab.dot(b), -ac.dot(b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let (d5, d6) = (-ab.dot(c), -ac.dot(c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let [p, q, _] = segment(a, b);
        return [p, q, 0.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let [p, q, _] = segment(a, c);
        return [p, 0.0, q];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let [p, q, _] = segment(b, c);
        return [0.0, p, q];
    }
    interior(a, b, c)
}

/// Weights of the foot of the perpendicular from the origin on the plane of a triangle: areas by cross products, which
/// keep their digits where differences of scalar products lose them.
#[inline(always)]
fn interior(a: Vec3, b: Vec3, c: Vec3) -> [f64; 3] {
    let n = (b - a).cross(c - a);
    let (wa, wb, wc) = (n.dot(b.cross(c)), n.dot(c.cross(a)), n.dot(a.cross(b)));
    let sum = wa + wb + wc;
    if sum > 0.0 && wa >= 0.0 && wb >= 0.0 && wc >= 0.0 {
        return [wa / sum, wb / sum, wc / sum];
    }
    // a sliver: the nearest of its edges
    let edges = [segment(a, b), segment(b, c), segment(c, a)];
    let all = [[edges[0][0], edges[0][1], 0.0], [0.0, edges[1][0], edges[1][1]], [edges[2][1], 0.0, edges[2][0]]];
    let square = |w: &[f64; 3]| {
        let p = a * w[0] + b * w[1] + c * w[2];
        p.dot(p)
    };
    all.into_iter().min_by(|p, q| square(p).total_cmp(&square(q))).unwrap_or([1.0, 0.0, 0.0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spatial::vec3;

    fn simplex(points: &[Vec3]) -> Simplex {
        let mut s = Simplex::new(Vertex { y: points[0], ..Vertex::default() });
        for (k, p) in points.iter().enumerate().skip(1) {
            s.push(Vertex { y: *p, atoms: [k as u32, 0], ..Vertex::default() });
        }
        s
    }

    #[test]
    fn nearest_points_lie_in_the_right_region() {
        let corners = [vec3(3.0, 0.0, 0.0), vec3(1.0, 2.0, -1.0), vec3(1.0, -1.0, 2.0), vec3(1.0, -1.0, -1.0)];
        let mut s = simplex(&corners);
        let v = s.nearest().expect("outside");
        assert!((v - vec3(1.0, 0.0, 0.0)).norm() < 1e-15 && s.count == 3);
        let mut s = simplex(&corners.map(|c| c - vec3(1.5, 0.0, 0.0)));
        assert!(s.nearest().is_none());
        let mut s = simplex(&[vec3(1.0, 1.0, 0.0), vec3(1.0, -2.0, 0.0)]);
        assert!(s.nearest().is_some_and(|v| (v - vec3(1.0, 0.0, 0.0)).norm() < 1e-15));
    }

    #[test]
    fn a_flat_tetrahedron_is_not_taken_for_full() {
        let square = [vec3(1.0, 1.0, 1.0), vec3(1.0, -1.0, 1.0), vec3(-1.0, -1.0, 1.0), vec3(-1.0, 1.0, 1.0)];
        let v = simplex(&square).nearest().expect("outside");
        assert!((v - vec3(0.0, 0.0, 1.0)).norm() < 1e-15);
    }
}
