//! Up to four points of the Minkowski difference, and the point of their hull nearest to the origin.   (collision-8)

use super::gjk::Vertex;
use crate::spatial::Vec3;

/// A point, segment, triangle or tetrahedron.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simplex {
    pub vertices: [Vertex; 4],
    /// Weights of the vertices in the nearest point; what they were after [`Simplex::weigh`].
    pub weights: [f64; 4],
    pub count: usize,
}

/// The point of a simplex nearest to the origin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearestPoint {
    pub point: Vec3,
    /// The vertices whose hull holds it.
    which: [usize; 3],
    count: usize,
}

impl NearestPoint {
    const fn of<const N: usize>(point: Vec3, vertices: [usize; N]) -> NearestPoint {
        let mut which = [0; 3];
        let mut k = 0;
        while k < N {
            which[k] = vertices[k];
            k += 1;
        }
        NearestPoint { point, which, count: N }
    }
}

/// Square of the sine of an angle below which a triangle is taken for a sliver, whose normal has few digits.
const SLIVER_SINE_SQUARED: f64 = 1e-12;
/// A tetrahedron lower than this fraction of its edges is flat to rounding.
const FLAT_TETRAHEDRON: f64 = 1e-14;

impl Simplex {
    #[inline(always)]
    pub fn new(v: Vertex) -> Simplex {
        Simplex { vertices: [v; 4], weights: [1.0, 0.0, 0.0, 0.0], count: 1 }
    }

    #[inline(always)]
    pub fn push(&mut self, v: Vertex) {
        self.vertices[self.count] = v;
        self.weights[self.count] = 0.0;
        self.count += 1;
    }

    /// Removes the newest vertex.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.count -= 1;
    }

    /// The point of core 1 for the weights, and the vector from there to that of core 2.
    pub fn points(&self) -> (Vec3, Vec3) {
        let each = self.vertices[..self.count].iter().zip(self.weights);
        each.fold((Vec3::ZERO, Vec3::ZERO), |(x, y), (v, w)| (x + v.x1 * w, y + v.y * w))
    }

    /// Whether the same point is already part of it.
    #[inline(always)]
    pub fn contains(&self, v: &Vertex) -> bool {
        self.vertices[..self.count].iter().any(|w| w.atoms == v.atoms && w.y == v.y)
    }

    /// Whether the atoms of a point are part of it, perhaps not together.
    #[inline(always)]
    pub fn knows(&self, v: &Vertex) -> bool {
        let known = |i: usize| self.vertices[..self.count].iter().any(|w| w.atoms[i] == v.atoms[i]);
        known(0) && known(1)
    }

    /// The point nearest to the origin; `None` if the origin is inside. Without the newest vertex the nearest point must
    /// have been farther away.
    #[inline(always)]
    pub fn nearest(&self) -> Option<NearestPoint> {
        let y = |k: usize| self.vertices[k].y;
        match self.count {
            1 => Some(NearestPoint::of(y(0), [0])),
            2 => Some(on_segment(y(0), y(1), [0, 1])),
            3 => {
                let (a, b) = (Spoke::new(y(0), y(2), 0), Spoke::new(y(1), y(2), 1));
                Some(on_fan(y(2), 2, &a, &b, a.edge.cross(b.edge)))
            }
            _ => self.nearest_of_tetrahedron(),
        }
    }

    /// The faces around the newest vertex; the triangle that there was before looks away from the origin.
    #[inline(always)]
    fn nearest_of_tetrahedron(&self) -> Option<NearestPoint> {
        let d = self.vertices[3].y;
        let [a, b, c] = [0, 1, 2].map(|k| Spoke::new(self.vertices[k].y, d, k));
        let normals = [a.edge.cross(b.edge), a.edge.cross(c.edge), b.edge.cross(c.edge)];
        let volume = c.edge.dot(normals[0]);
        let span = |n: Vec3, s: &Spoke| n.dot(n) * s.square;
        let largest = span(normals[0], &c).max(span(normals[1], &b)).max(span(normals[2], &a));
        let flat = volume * volume <= FLAT_TETRAHEDRON * FLAT_TETRAHEDRON * largest;
        // a face sees the origin if the fourth vertex is on its other side
        let sees = |n: Vec3, volume: f64| flat || d.dot(n) * volume >= 0.0;
        let mut best: Option<NearestPoint> = None;
        let mut consider = |found: NearestPoint| {
            if best.is_none_or(|b| found.point.dot(found.point) < b.point.dot(b.point)) {
                best = Some(found);
            }
        };
        if sees(normals[0], volume) {
            consider(on_fan(d, 3, &a, &b, normals[0]));
        }
        if sees(normals[1], -volume) {
            consider(on_fan(d, 3, &a, &c, normals[1]));
        }
        if sees(normals[2], volume) {
            consider(on_fan(d, 3, &b, &c, normals[2]));
        }
        best
    }

    /// Reduces to the face that holds the nearest point.
    #[inline(always)]
    pub fn keep(&mut self, nearest: &NearestPoint) {
        // the numbers rise, so that none is overwritten before it is read
        for k in 0..nearest.count {
            if nearest.which[k] != k {
                self.vertices[k] = self.vertices[nearest.which[k]];
            }
        }
        self.count = nearest.count;
    }

    /// Weights of the vertices in the point nearest to the origin; those without any weight leave. The fourth of a
    /// tetrahedron has none.
    pub fn weigh(&mut self) {
        let y = self.vertices.map(|v| v.y);
        let weights = match self.count {
            1 => [1.0, 0.0, 0.0],
            2 => segment(y[0], y[1]),
            _ => interior(y[0], y[1], y[2]),
        };
        self.weights = [weights[0], weights[1], weights[2], 0.0];
        if self.count > 3 {
            return;
        }
        let mut n = 0;
        for k in 0..self.count {
            if weights[k] > 0.0 {
                self.vertices[n] = self.vertices[k];
                self.weights[n] = weights[k];
                n += 1;
            }
        }
        self.count = n;
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

#[inline(always)]
fn on_segment(a: Vec3, b: Vec3, [i, j]: [usize; 2]) -> NearestPoint {
    let ab = b - a;
    let (along, square) = (-a.dot(ab), ab.dot(ab));
    if along <= 0.0 {
        NearestPoint::of(a, [i])
    } else if along >= square {
        NearestPoint::of(b, [j])
    } else {
        NearestPoint::of(a + ab * (along / square), [i, j])
    }
}

/// From the newest vertex to an older one.
struct Spoke {
    edge: Vec3,
    square: f64,
    /// How far the origin lies along it, times its length.
    along: f64,
    /// Number of the older vertex.
    which: usize,
}

impl Spoke {
    #[inline(always)]
    fn new(older: Vec3, newest: Vec3, which: usize) -> Spoke {
        let edge = older - newest;
        Spoke { edge, square: edge.dot(edge), along: -newest.dot(edge), which }
    }
}

/// The point nearest to the origin of the triangle with the normal `n` between two spokes from vertex `d`, which has a
/// part in it.
#[inline(always)]
fn on_fan(d: Vec3, newest: usize, a: &Spoke, b: &Spoke, n: Vec3) -> NearestPoint {
    if a.along <= 0.0 && b.along <= 0.0 {
        return NearestPoint::of(d, [newest]);
    }
    let ab = a.edge.dot(b.edge);
    let (beyond_a, beyond_b) = (b.along * a.square - a.along * ab, a.along * b.square - b.along * ab);
    if beyond_a <= 0.0 && a.along > 0.0 && a.along < a.square {
        return NearestPoint::of(d + a.edge * (a.along / a.square), [a.which, newest]);
    }
    if beyond_b <= 0.0 && b.along > 0.0 && b.along < b.square {
        return NearestPoint::of(d + b.edge * (b.along / b.square), [b.which, newest]);
    }
    let square = n.dot(n);
    let inside = beyond_a > 0.0 && beyond_b > 0.0 && beyond_a + beyond_b < square;
    if inside && square > SLIVER_SINE_SQUARED * (a.square * b.square) {
        return NearestPoint::of(n * (n.dot(d) / square), [a.which, b.which, newest]);
    }
    on_triangle(d + a.edge, d + b.edge, d, [a.which, b.which, newest])
}

/// The point of a triangle nearest to the origin, by its Voronoi regions (Ericson, Real-Time Collision Detection, 5.1.5).
#[cold]
fn on_triangle(a: Vec3, b: Vec3, c: Vec3, [i, j, k]: [usize; 3]) -> NearestPoint {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(a), -ac.dot(a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return NearestPoint::of(a, [i]);
    }
    let (d3, d4) = (-ab.dot(b), -ac.dot(b));
    if d3 >= 0.0 && d4 <= d3 {
        return NearestPoint::of(b, [j]);
    }
    let (d5, d6) = (-ab.dot(c), -ac.dot(c));
    if d6 >= 0.0 && d5 <= d6 {
        return NearestPoint::of(c, [k]);
    }
    if d1 * d4 - d3 * d2 <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return on_segment(a, b, [i, j]);
    }
    if d5 * d2 - d1 * d6 <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return on_segment(a, c, [i, k]);
    }
    if d3 * d6 - d5 * d4 <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return on_segment(b, c, [j, k]);
    }
    let n = ab.cross(ac);
    let square = n.dot(n);
    if square > SLIVER_SINE_SQUARED * (ab.dot(ab) * ac.dot(ac)) {
        return NearestPoint::of(n * (n.dot(a) / square), [i, j, k]);
    }
    on_sliver(a, b, c, [i, j, k])
}

#[cold]
fn on_sliver(a: Vec3, b: Vec3, c: Vec3, which: [usize; 3]) -> NearestPoint {
    let weights = interior(a, b, c);
    let point = a * weights[0] + b * weights[1] + c * weights[2];
    let mut found = NearestPoint { point, which, count: 0 };
    for k in (0..3).filter(|k| weights[*k] > 0.0) {
        found.which[found.count] = which[k];
        found.count += 1;
    }
    found
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
        let found = s.nearest().expect("outside");
        s.keep(&found);
        assert!((found.point - vec3(1.0, 0.0, 0.0)).norm() < 1e-15 && s.count == 3);
        s.weigh();
        assert!((s.points().1 - found.point).norm() < 1e-15);
        let s = simplex(&corners.map(|c| c - vec3(1.5, 0.0, 0.0)));
        assert!(s.nearest().is_none());
        let s = simplex(&[vec3(1.0, 1.0, 0.0), vec3(1.0, -2.0, 0.0)]);
        assert!(s.nearest().is_some_and(|n| (n.point - vec3(1.0, 0.0, 0.0)).norm() < 1e-15));
    }

    #[test]
    fn a_flat_tetrahedron_is_not_taken_for_full() {
        let square = [vec3(1.0, 1.0, 1.0), vec3(1.0, -1.0, 1.0), vec3(-1.0, -1.0, 1.0), vec3(-1.0, 1.0, 1.0)];
        let found = simplex(&square).nearest().expect("outside");
        assert!((found.point - vec3(0.0, 0.0, 1.0)).norm() < 1e-15);
    }
}
