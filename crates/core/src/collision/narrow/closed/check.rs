//! Slow, independent checks that the tests of closed forms share.
//!
//! For any unit vector n, the gap s(n) = min over shape 2 of n·x − max over shape 1 of n·x bounds the signed distance from
//! below, and the right normal reaches it. So a result is right if its distance is the gap along its normal, its points
//! belong to the shapes, and no other direction has a wider gap.

use super::{ClosedForm, closed};
use crate::collision::pair::{ShapePair, Witness};
use crate::collision::shape::{Convex, Core};
use crate::random::Rng;
use crate::spatial::{Pose, Quat, Vec3, vec3};

/// Numbers, directions and rotations at random.
pub(crate) struct Random(Rng);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Rng(seed))
    }

    /// Between −1 and 1.
    pub fn signed(&mut self) -> f64 {
        self.0.sign()
    }

    /// Between `low` and `high`, evenly in the logarithm.
    pub fn scale(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + (0.5 + 0.5 * self.signed()) * (high / low).ln()).exp()
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0.bits() % n
    }

    pub fn cube(&mut self) -> Vec3 {
        vec3(self.signed(), self.signed(), self.signed())
    }

    pub fn unit(&mut self) -> Vec3 {
        loop {
            let v = self.cube();
            if v.norm() < 1.0
                && let Some(n) = v.normalized()
            {
                return n;
            }
        }
    }

    /// A rotation: any, a quarter turn, a turn about one axis, or nearly none.
    pub fn rotation(&mut self) -> Quat {
        let quarter = std::f64::consts::FRAC_PI_2;
        match self.below(6) {
            0 => Quat::exp(Vec3::UNITS[self.below(3) as usize] * (quarter * self.below(4) as f64)),
            1 => Quat::exp(Vec3::UNITS[self.below(3) as usize] * (3.0 * self.signed())),
            2 => Quat::exp(self.unit() * self.scale(1e-17, 1e-1)),
            _ => Quat::exp(self.cube() * 3.0),
        }
    }
}

/// max n·x over a core.
fn height(core: &Core, n: Vec3) -> f64 {
    let flat = n.x.hypot(n.y);
    match *core {
        Core::Point => 0.0,
        Core::Segment { half } => half * n.z.abs(),
        Core::Box { half } => half.x * n.x.abs() + half.y * n.y.abs() + half.z * n.z.abs(),
        Core::Cylinder { radius, half } => radius * flat + half * n.z.abs(),
        Core::Cone { radius, half } => (half * n.z).max(radius * flat - half * n.z),
        Core::Ellipsoid { radii } => vec3(radii.x * n.x, radii.y * n.y, radii.z * n.z).norm(),
        Core::Hull(hull) => hull.vertices.iter().map(|v| v.dot(n)).fold(f64::NEG_INFINITY, f64::max),
        Core::Prism(corners) => corners.iter().map(|v| v.dot(n)).fold(f64::NEG_INFINITY, f64::max),
        Core::Plane => {
            if flat <= 4e-15 && n.z > 0.0 {
                0.0
            } else {
                f64::INFINITY
            }
        }
    }
}

/// The gap s(n), radii included.
pub(crate) fn separation(pair: &ShapePair, n: Vec3) -> f64 {
    let [a, b] = &pair.shapes;
    let far = height(&b.core, -pair.X_12.rotation.tmul(n));
    n.dot(pair.X_12.position) - far - height(&a.core, n) - a.radius - b.radius
}

/// The widest gap found from many starts by stepping across the sphere of directions.
pub(crate) fn widest_separation(pair: &ShapePair, start: Vec3, slack: f64, random: &mut Random) -> f64 {
    let mut best = separation(pair, start);
    for trial in 0..4 {
        let starts = (0..12).map(|_| random.unit()).map(|n| (separation(pair, n), n));
        let (mut gap, mut n) = starts.max_by(|x, y| x.0.total_cmp(&y.0)).unwrap();
        if trial == 0 {
            (gap, n) = (best, start);
        }
        let mut step = 0.3;
        for _ in 0..60 {
            let tries = (0..6).filter_map(|_| (n + random.unit() * step).normalized());
            let (g, m) = tries.map(|n| (separation(pair, n), n)).max_by(|x, y| x.0.total_cmp(&y.0)).unwrap();
            if g > gap + 0.1 * slack {
                (gap, n, step) = (g, m, step * 1.5);
            } else {
                step *= 0.4;
            }
        }
        best = best.max(gap);
    }
    best
}

fn size(pair: &ShapePair) -> f64 {
    f64::MIN_POSITIVE / f64::EPSILON
        + pair.X_12.position.norm()
        + pair.shapes.iter().map(|s| s.core.size() + s.radius).sum::<f64>()
}

pub(crate) fn near(pair: &ShapePair) -> Witness {
    match closed(pair, f64::INFINITY) {
        Some(ClosedForm::Near(w)) => w,
        other => panic!("{pair:?}: {other:?}"),
    }
}

fn exchanged<'a>(pair: &ShapePair<'a>) -> ShapePair<'a> {
    ShapePair { shapes: [pair.shapes[1], pair.shapes[0]], X_12: pair.X_12.inverse() }
}

/// Checks the result for a pair in both orders; `tolerance` is relative to the size of the pair. Returns the distance.
pub(crate) fn verify(pair: &ShapePair, tolerance: f64, random: &mut Random) -> f64 {
    let (w, v) = (near(pair), near(&exchanged(pair)));
    let slack = tolerance * size(pair);
    verify_one(pair, &w, slack, random);
    verify_one(&exchanged(pair), &v, slack, random);
    assert!((w.distance - v.distance).abs() <= slack, "{pair:?}: {} {}", w.distance, v.distance);
    let widest = widest_separation(pair, w.normal, slack, random);
    assert!(widest <= w.distance + slack, "{pair:?}: {w:?} but {widest} is possible");
    let margin = 4.0 * slack;
    assert_eq!(closed(pair, w.distance - margin), Some(ClosedForm::Far), "{pair:?}");
    assert_eq!(closed(pair, w.distance + margin), Some(ClosedForm::Near(w)), "{pair:?}");
    w.distance
}

/// Checks one result for consistency: its normal, its points and its sides.
fn verify_one(pair: &ShapePair, w: &Witness, slack: f64, random: &mut Random) {
    assert!((w.normal.norm() - 1.0).abs() < 1e-14 && w.converged, "{pair:?}: {w:?}");
    let gap = separation(pair, w.normal);
    assert!((gap - w.distance).abs() <= slack, "{pair:?}: {w:?} has the gap {gap}");
    assert!((w.points[1] - w.points[0] - w.normal * w.distance).norm() <= slack, "{pair:?}: {w:?}");
    for (k, shape) in pair.shapes.iter().enumerate() {
        let X = if k == 0 { Pose::IDENTITY } else { pair.X_12 };
        let n = if k == 0 { w.normal } else { -w.normal };
        let d = X.rotation.tmul(n);
        let side = &w.sides[k];
        assert!((side.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{pair:?}: {w:?}");
        let own = side.point_of(&shape.core, d);
        let error = X.point(own) + n * shape.radius - w.points[k];
        // a rim's point follows the part of the normal across the axis, which has few digits if it is short
        let blur = if shape.core.is_curved(side.atoms[0]) { 1.0 + 1e-3 / d.x.hypot(d.y) } else { 1.0 };
        assert!(error.norm() <= slack * blur, "{pair:?}: {w:?}: side {k} is off by {error:?}");
        for m in (0..20).map(|_| random.unit()).chain(Vec3::UNITS).chain(Vec3::UNITS.map(|u| -u)) {
            assert!(m.dot(own) <= height(&shape.core, m) + slack, "{pair:?}: {w:?}: side {k} is outside");
        }
    }
}

/// Checks a pair of cores at many relative poses: random ones, and the same moved along the normal so that they just
/// touch, overlap a little or are a little apart; with sizes from 1e-6 to 1e6.
pub(crate) fn verify_everywhere(seed: u64, mut cores: impl FnMut(&mut Random) -> [Core<'static>; 2]) {
    let random = &mut Random::new(seed);
    for trial in 0..300 {
        let unit = [1.0, 1e-6, 1e6][trial % 3];
        let cores = cores(random).map(|core| scaled(&core, unit));
        let reach = unit * random.scale(0.01, 4.0);
        let shapes = cores.map(|core| Convex { core, radius: unit * random.below(2) as f64 * random.scale(0.01, 1.0) });
        let X_12 = Pose::new(random.cube() * reach, random.rotation());
        let mut pair = ShapePair { shapes, X_12 };
        verify(&pair, 1e-12, random);
        for _ in 0..3 {
            // to a core distance of zero, or nearly
            let w = near(&pair);
            let gap = w.distance + shapes[0].radius + shapes[1].radius;
            let offset = [0.0, 1e-16, -1e-16, 1e-12, 1e-9, -1e-9, 1e-5, -1e-5][random.below(8) as usize] * unit;
            pair.X_12.position += w.normal * (offset - gap);
            verify(&pair, 1e-12, random);
        }
    }
}

fn scaled(core: &Core, k: f64) -> Core<'static> {
    match *core {
        Core::Segment { half } => Core::Segment { half: half * k },
        Core::Box { half } => Core::Box { half: half * k },
        Core::Cylinder { radius, half } => Core::Cylinder { radius: radius * k, half: half * k },
        Core::Cone { radius, half } => Core::Cone { radius: radius * k, half: half * k },
        Core::Ellipsoid { radii } => Core::Ellipsoid { radii: radii * k },
        Core::Plane => Core::Plane,
        _ => Core::Point,
    }
}
