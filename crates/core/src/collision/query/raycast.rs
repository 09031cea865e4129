//! Rays against convex shapes.
//!
//! A line crosses a convex shape in one interval. Each shape is an intersection of half-spaces and quadrics, each of which
//! shortens the interval; a capsule is a union of three such.

use crate::collision::shape::{Convex, Core};
use crate::spatial::{Vec3, vec3};

/// The part of a line that lies in a convex set, with the outward normals at its ends.
#[derive(Debug, Clone, Copy)]
struct Span {
    enter: (f64, Vec3),
    leave: (f64, Vec3),
}

/// A line x(t) = origin + t direction, |direction| = 1.
#[derive(Debug, Clone, Copy)]
struct Line {
    origin: Vec3,
    direction: Vec3,
}

/// The first point of the surface at t ≥ 0 along a ray in the shape's frame (`direction` of length one), and the outward
/// unit normal there. A ray that starts inside hits where it leaves. Planes are seen from above only.
///
/// Radii are looked at where they make the shape (ball, capsule, plane). A hull without faces is never hit.
pub(crate) fn ray(convex: &Convex, origin: Vec3, direction: Vec3) -> Option<(f64, Vec3)> {
    // from the point of the line nearest to the shape's origin: rays from far away keep their digits
    let start = -origin.dot(direction);
    let line = Line { origin: origin + direction * start, direction };
    let span = span(convex, &line)?;
    if span.enter.0 > span.leave.0 {
        return None;
    }
    let one_sided = matches!(convex.core, Core::Plane);
    [span.enter, span.leave]
        .into_iter()
        .take(if one_sided { 1 } else { 2 })
        .map(|(t, normal)| (t + start, normal))
        .find(|(t, _)| *t >= 0.0 && t.is_finite())
}

fn span(convex: &Convex, line: &Line) -> Option<Span> {
    match convex.core {
        Core::Point => line.sphere(convex.radius),
        Core::Plane => line.all().above(line, Vec3::UNITS[2], convex.radius),
        Core::Segment { half } => capsule(convex.radius, half, line),
        Core::Box { half } => {
            let slab = |span: Span, k: usize| span.slab(line, Vec3::UNITS[k], half[k]);
            (0..3).try_fold(line.all(), slab)
        }
        Core::Cylinder { radius, half } => cylinder(radius, half, line),
        Core::Cone { radius, half } => cone(radius, half, line)?.above(line, -Vec3::UNITS[2], half),
        Core::Ellipsoid { radii } => ellipsoid(radii, line),
        Core::Hull(hull) => {
            if hull.faces.is_empty() {
                return None;
            }
            hull.faces.iter().enumerate().try_fold(line.all(), |span, (k, face)| {
                let corner = *hull.face_corners(k as u32).first()?;
                span.above(line, face.normal, face.normal.dot(hull.vertices[corner as usize]))
            })
        }
        Core::Prism(corners) => prism(corners, line),
    }
}

impl Line {
    fn at(&self, t: f64) -> Vec3 {
        self.origin + self.direction * t
    }

    /// The whole line.
    fn all(&self) -> Span {
        Span { enter: (f64::NEG_INFINITY, -self.direction), leave: (f64::INFINITY, self.direction) }
    }

    fn sphere(&self, radius: f64) -> Option<Span> {
        // the origin of the line need not be its nearest point to the center
        let b = self.origin.dot(self.direction);
        let nearest = self.at(-b);
        let square = radius * radius - nearest.dot(nearest);
        if square < 0.0 || radius <= 0.0 {
            return None;
        }
        let half = square.sqrt();
        let end = |t: f64| (t - b, (nearest + self.direction * t).normalized().unwrap_or(self.direction));
        Some(Span { enter: end(-half), leave: end(half) })
    }

    /// The line seen from another origin.
    fn from(&self, origin: Vec3) -> Line {
        Line { origin: self.origin - origin, ..*self }
    }
}

impl Span {
    /// The part below the plane normal · x = offset.
    fn above(mut self, line: &Line, normal: Vec3, offset: f64) -> Option<Span> {
        let (speed, height) = (normal.dot(line.direction), normal.dot(line.origin) - offset);
        if speed == 0.0 {
            return (height <= 0.0).then_some(self);
        }
        let t = -height / speed;
        if speed < 0.0 && t > self.enter.0 {
            self.enter = (t, normal);
        }
        if speed > 0.0 && t < self.leave.0 {
            self.leave = (t, normal);
        }
        Some(self)
    }

    /// The part between two parallel planes.
    fn slab(self, line: &Line, normal: Vec3, half: f64) -> Option<Span> {
        self.above(line, normal, half)?.above(line, -normal, half)
    }
}

/// An infinite cylinder, cut.
fn cylinder(radius: f64, half: f64, line: &Line) -> Option<Span> {
    let (o, d) = (line.origin, line.direction);
    let a = d.x * d.x + d.y * d.y;
    let mut span = line.all();
    if a > 0.0 {
        // from the point nearest to the axis: b = 0
        let nearest = line.at(-(o.x * d.x + o.y * d.y) / a);
        let square = radius * radius - (nearest.x * nearest.x + nearest.y * nearest.y);
        if square < 0.0 {
            return None;
        }
        let (middle, reach) = (-(o.x * d.x + o.y * d.y) / a, (square / a).sqrt());
        let end = |t: f64| {
            let x = line.at(t);
            (t, vec3(x.x, x.y, 0.0).normalized().unwrap_or(Vec3::UNITS[0]))
        };
        span = Span { enter: end(middle - reach), leave: end(middle + reach) };
    } else if o.x * o.x + o.y * o.y > radius * radius {
        return None;
    }
    span.slab(line, Vec3::UNITS[2], half)
}

/// The union of a cylinder and two balls. Caps of the cylinder lie inside the balls and are never first or last.
fn capsule(radius: f64, half: f64, line: &Line) -> Option<Span> {
    let tip = vec3(0.0, 0.0, half);
    let parts = [line.from(tip).sphere(radius), line.from(-tip).sphere(radius), cylinder(radius, half, line)];
    parts.into_iter().flatten().filter(|s| s.enter.0 <= s.leave.0).reduce(|a, b| Span {
        enter: if b.enter.0 < a.enter.0 { b.enter } else { a.enter },
        leave: if b.leave.0 > a.leave.0 { b.leave } else { a.leave },
    })
}

fn ellipsoid(radii: Vec3, line: &Line) -> Option<Span> {
    let shrink = |v: Vec3| vec3(v.x / radii.x, v.y / radii.y, v.z / radii.z);
    let direction = shrink(line.direction);
    let length = direction.norm();
    let unit = Line { origin: shrink(line.origin), direction: direction * (1.0 / length) };
    let span = unit.sphere(1.0)?;
    let end = |(t, u): (f64, Vec3)| (t / length, shrink(u).normalized().unwrap_or(u));
    Some(Span { enter: end(span.enter), leave: end(span.leave) })
}

/// The infinite cone ρ ≤ k (half − z), z ≤ half.
fn cone(radius: f64, half: f64, line: &Line) -> Option<Span> {
    let k = radius / (2.0 * half);
    // from the point nearest to the apex: near it both roots coincide, and no digits may be lost next to them
    let seen = line.from(vec3(0.0, 0.0, half));
    let start = -seen.origin.dot(seen.direction);
    let (o, d) = (seen.at(start), seen.direction);
    // a t² + 2 b t + c ≤ 0 is the double cone
    let a = d.x * d.x + d.y * d.y - k * k * d.z * d.z;
    let b = o.x * d.x + o.y * d.y - k * k * o.z * d.z;
    let c = o.x * o.x + o.y * o.y - k * k * o.z * o.z;
    let square = b * b - a * c;
    if square < 0.0 && a > 0.0 {
        return None;
    }
    let q = -(b + square.max(0.0).sqrt().copysign(b));
    let near = if q != 0.0 { c / q } else { 0.0 };
    let end = |t: f64| {
        let x = o + d * t;
        let u = vec3(x.x, x.y, 0.0).normalized().unwrap_or(Vec3::ZERO);
        (t + start, vec3(u.x, u.y, k).normalized().unwrap_or(Vec3::UNITS[2]))
    };
    if a > 0.0 {
        // between the roots the line is in one half of the double cone
        let far = q / a;
        let (low, high) = (near.min(far), near.max(far));
        return (o.z + d.z * (0.5 * (low + high)) <= 0.0).then(|| Span { enter: end(low), leave: end(high) });
    }
    // steeper than the cone: in the lower half from one root onwards, in the downward direction
    let far = if a < 0.0 { q / a } else { near };
    let all = line.all();
    if d.z < 0.0 {
        Some(Span { enter: end(near.max(far)), ..all })
    } else {
        Some(Span { leave: end(near.min(far)), ..all })
    }
}

/// A triangle and its copy below: five faces.
fn prism(corners: &[Vec3; 6], line: &Line) -> Option<Span> {
    let middle = corners.iter().fold(Vec3::ZERO, |sum, c| sum + *c) * (1.0 / 6.0);
    let faces = [[0, 1, 2], [3, 5, 4], [0, 3, 1], [1, 4, 2], [2, 5, 0]];
    faces.into_iter().try_fold(line.all(), |span, [i, j, k]| {
        let normal = (corners[j] - corners[i]).cross(corners[k] - corners[i]).normalized()?;
        let outward = if normal.dot(middle - corners[i]) > 0.0 { -normal } else { normal };
        span.above(line, outward, outward.dot(corners[i]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::narrow::closed::check::{Random, near};
    use crate::collision::pair::ShapePair;
    use crate::model::{Hull, Mesh};
    use crate::spatial::Pose;

    /// Signed distance of a point from a shape: the closed forms, which have tests of their own.
    fn distance(convex: &Convex, x: Vec3) -> f64 {
        let ball = Convex { core: Core::Point, radius: 0.0 };
        near(&ShapePair { shapes: [*convex, ball], X_12: Pose::translation(x) }).distance
    }

    fn shapes(r: &mut Random, unit: f64) -> [Convex<'static>; 6] {
        let mut size = || unit * r.scale(0.05, 2.0);
        let sharp = |core| Convex { core, radius: 0.0 };
        [
            Convex { core: Core::Point, radius: size() },
            Convex { core: Core::Segment { half: size() }, radius: size() },
            sharp(Core::Box { half: vec3(size(), size(), size()) }),
            sharp(Core::Cylinder { radius: size(), half: size() }),
            sharp(Core::Cone { radius: size(), half: size() }),
            sharp(Core::Ellipsoid { radii: vec3(size(), size(), size()) }),
        ]
    }

    /// Whether the line meets the shape between t = 0 and `end`: the distance along it is convex, so thirds find its least.
    fn least_distance(convex: &Convex, o: Vec3, d: Vec3, end: f64) -> f64 {
        let (mut low, mut high) = (0.0, end);
        for _ in 0..120 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if distance(convex, o + d * a) < distance(convex, o + d * b) {
                high = b;
            } else {
                low = a;
            }
        }
        distance(convex, o + d * (0.5 * (low + high)))
    }

    fn verify(convex: &Convex, o: Vec3, d: Vec3) {
        let size = convex.core.size() + convex.radius;
        let (slack, end) = (1e-9 * size, o.norm() + 2.0 * size);
        let Some((t, n)) = ray(convex, o, d) else {
            assert!(least_distance(convex, o, d, end) > -slack, "{convex:?} {o:?} {d:?} is missed");
            return;
        };
        let x = o + d * t;
        assert!(t >= 0.0 && (n.norm() - 1.0).abs() < 1e-14, "{convex:?} {o:?} {d:?}: {t} {n:?}");
        assert!(distance(convex, x).abs() <= slack, "{convex:?} {o:?} {d:?}: {t} is {} off", distance(convex, x));
        // a little outward along the normal the surface is exactly that far
        let step = 1e-4 * size;
        assert!((distance(convex, x + n * step) - step).abs() <= slack, "{convex:?} {o:?} {d:?}: {t} {n:?}");
        let inside = distance(convex, o) < 0.0;
        assert!(if inside { n.dot(d) >= -1e-9 } else { n.dot(d) <= 1e-9 }, "{convex:?} {o:?} {d:?}: {t} {n:?}");
    }

    #[test]
    fn rays_hit_the_surface_where_the_distance_is_zero_and_miss_nothing() {
        let r = &mut Random::new(61);
        for trial in 0..400 {
            let unit = [1.0, 1e-6, 1e6][trial % 3];
            for convex in shapes(r, unit) {
                let o = r.cube() * (unit * r.scale(0.01, 30.0));
                let towards = (r.cube() * unit - o).normalized().unwrap();
                verify(&convex, o, if trial % 2 == 0 { towards } else { r.unit() });
                let axis = Vec3::UNITS[r.below(3) as usize];
                verify(&convex, vec3(0.0, 0.0, o.z), axis);
                verify(&convex, vec3(o.x, 0.0, o.z), -axis);
            }
        }
    }

    #[test]
    fn a_ray_from_far_away_keeps_its_digits() {
        let ball = Convex { core: Core::Point, radius: 1.0 };
        let (t, n) = ray(&ball, vec3(0.6, 0.0, 1e8), vec3(0.0, 0.0, -1.0)).unwrap();
        assert!((t - (1e8 - 0.8)).abs() < 1e-7 && (n - vec3(0.6, 0.0, 0.8)).norm() < 1e-12);
    }

    #[test]
    fn rays_along_generators_and_through_apexes_of_cones_have_an_answer() {
        let cone = Convex { core: Core::Cone { radius: 1.0, half: 1.0 }, radius: 0.0 };
        let slant = vec3(1.0, 0.0, -2.0).normalized().unwrap();
        verify(&cone, vec3(0.0, 0.1, 1.0) - slant * 2.0, slant);
        verify(&cone, vec3(-0.1, 0.0, 1.0) - slant * 2.0, slant);
        verify(&cone, vec3(-0.1, 0.0, 1.0) + slant * 5.0, -slant);
        let (t, n) = ray(&cone, vec3(0.0, 0.0, 3.0), vec3(0.0, 0.0, -1.0)).unwrap();
        assert_eq!((t, n), (2.0, Vec3::UNITS[2]));
        let (t, n) = ray(&cone, vec3(0.0, 0.0, -3.0), vec3(0.0, 0.0, 1.0)).unwrap();
        assert_eq!((t, n), (2.0, -Vec3::UNITS[2]));
    }

    #[test]
    fn planes_are_seen_from_above_only() {
        let plane = Convex { core: Core::Plane, radius: 0.5 };
        let down = vec3(0.6, 0.0, -0.8);
        assert_eq!(
            ray(&plane, vec3(1.0, 2.0, 2.1), down).map(|(t, n)| ((t * 1e9).round(), n)),
            Some((2e9, Vec3::UNITS[2]))
        );
        assert_eq!(ray(&plane, vec3(1.0, 2.0, 2.1), -down), None);
        assert_eq!(ray(&plane, vec3(1.0, 2.0, 0.1), -down), None);
        assert_eq!(ray(&plane, vec3(1.0, 2.0, 0.1), down), None);
        assert_eq!(ray(&plane, vec3(1.0, 2.0, 2.1), Vec3::UNITS[0]), None);
    }

    #[test]
    fn a_hull_and_a_prism_are_hit_like_the_box_they_fill() {
        let half = vec3(0.5, 1.0, 1.5);
        let corner = |k: u32| {
            let sign = |bit: u32| if k & bit == 0 { -1.0 } else { 1.0 };
            vec3(sign(1) * half.x, sign(2) * half.y, sign(4) * half.z)
        };
        let vertices: Vec<Vec3> = (0..8).map(corner).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        let hull = Hull::new(&Mesh { name: "box".into(), vertices: vertices.clone(), triangles });
        let cloud = Hull::new(&Mesh { name: "cloud".into(), vertices, triangles: Vec::new() });
        // the two halves of the box, cut along x = y in the scale of its sides
        let prisms = [[5, 7, 6, 1, 3, 2], [5, 6, 4, 1, 2, 0]].map(|corners: [u32; 6]| corners.map(corner));
        let sharp = |core| Convex { core, radius: 0.0 };
        let r = &mut Random::new(62);
        for _ in 0..3000 {
            let (o, d) = (r.cube() * 3.0, r.unit());
            let expected = ray(&sharp(Core::Box { half }), o, d);
            let same = |found: Option<(f64, Vec3)>| match (found, expected) {
                (Some((t, n)), Some((s, m))) => (t - s).abs() < 1e-12 && (n - m).norm() < 1e-12,
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(same(ray(&sharp(Core::Hull(&hull)), o, d)), "{o:?} {d:?}");
            assert_eq!(ray(&sharp(Core::Hull(&cloud)), o, d), None);
            let halves = prisms.iter().filter_map(|p| ray(&sharp(Core::Prism(p)), o, d));
            let outside = (0..3).any(|k| o[k].abs() > half[k]);
            if outside {
                assert!(same(halves.min_by(|a, b| a.0.total_cmp(&b.0))), "{o:?} {d:?}");
            }
        }
    }
}
