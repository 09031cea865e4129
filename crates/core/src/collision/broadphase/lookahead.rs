//! The distance that two shapes can close within a step, from the velocities of their bodies.   (collision-14)
//!
//! Farther pairs get no exact distance, no patch and no row in the contact problem. Fast bodies are found from afar, so that
//! none passes through a thin wall between two steps.
#![allow(non_snake_case)]

use super::bounds::Extent;
use crate::collision::contact_set::ContactSet;
use crate::collision::detect::offset;
use crate::model::{BodyId, GeomId, Model, Pair, Shape};
use crate::spatial::{Motion, Pose, Vec3, vec3};

/// Margin for velocities that arise from impulses (m).
pub(crate) const ROOM: f64 = 2e-4;

/// Velocities that a search for contacts allows for.
pub(crate) struct Lookahead<'a> {
    /// How long the bodies move (s).
    pub time: f64,
    /// Pairs nearer than this are found whatever their velocity (m).
    pub distance: f64,
    /// Velocities of all bodies, each at the origin of its tree. A pair may close as fast as in any of these lists.
    pub velocities: &'a [&'a [Motion]],
    /// Origins of the trees, world axes (m).
    pub origin: &'a [Vec3],
}

/// The ball and the box around a shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Middle of both, in the frame of the shape (m).
    pub middle: Vec3,
    /// Radius of the ball (m); infinite for planes and ground, which the other shape's ball is tested against.
    pub radius: f64,
    /// Half sizes of the box, in axes of the shape (m).
    pub half: Vec3,
}

impl Bounds {
    pub fn of(model: &Model, geom: GeomId) -> Bounds {
        let Some(Extent { middle, core, squares, radius }) = Extent::of(model, geom) else {
            let half = vec3(f64::INFINITY, f64::INFINITY, f64::INFINITY);
            return Bounds { middle: Vec3::ZERO, radius: f64::INFINITY, half };
        };
        let round = vec3(squares.x.sqrt(), squares.y.sqrt(), squares.z.sqrt());
        let ball = core.norm() + round.x.max(round.y).max(round.z) + radius;
        let radius_of_ball = if model.shape(geom).is_terrain() { f64::INFINITY } else { ball };
        Bounds { middle, radius: radius_of_ball, half: core + round + vec3(radius, radius, radius) }
    }
}

/// The reach of each body, and the bounds of each shape.
#[derive(Clone, Copy)]
pub(crate) struct Reaches<'a> {
    pub reach: &'a [f64],
    pub around: &'a [Bounds],
}

/// Shape 1 of a pair is the one with the smaller ball.
struct Approach<'a> {
    bodies: [BodyId; 2],
    /// Middle of the ball (m).
    middle: Vec3,
    radius: f64,
    /// The other shape, its pose, and the distance by which the surfaces of the pair lie outside their shapes (m).
    other: &'a Bounds,
    X_wo: &'a Pose,
    other_is_plane: bool,
    offset: f64,
}

impl Lookahead<'_> {
    /// How far each body can come whose shapes are within `radius` of its origin (m).
    pub(crate) fn reaches(&self, model: &Model, X_wb: &[Pose], radius: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for V in self.velocities {
            let bodies = model.tree().nodes.iter().zip(X_wb).zip(V.iter().zip(radius)).zip(&mut *out).skip(1);
            for (((node, X), (V, radius)), out) in bodies {
                // a body without shapes touches nothing
                if *radius > 0.0 {
                    let at_origin = V.at(X.position - self.origin[node.tree]).norm();
                    let reach = self.time * (at_origin + V.ang.norm() * radius);
                    *out = if reach > *out { reach } else { *out };
                }
            }
        }
    }

    /// The distance below which a pair can touch (m). Beyond `contact_distance` only shapes that approach each other can.
    #[inline(always)]
    pub(crate) fn limit(&self, model: &Model, pair: &Pair, poses: &[Pose], plan: Reaches) -> f64 {
        // the bodies' own motion is a bound of their relative one: often small enough, and tight where one of them is the world
        let bodies = pair.geoms.map(|g| model.geoms()[g.0].body);
        let [a, b] = bodies.map(|b| plan.reach[b.0]);
        let (room, sum) = (self.room(), self.room() + a + b);
        let tight = bodies.contains(&BodyId::WORLD) && sum <= model.options().contact_distance;
        if tight || sum <= self.distance.max(2.0 * room) {
            return sum.max(self.distance);
        }
        self.distance.max(sum.min(self.relative_limit(model, pair, poses, plan.around)))
    }

    /// Margin added to the displacement of the bodies (m).
    #[inline(always)]
    fn room(&self) -> f64 {
        ROOM.min(self.distance)
    }

    /// Distance within which contacts are sought, by the relative motion of the bodies (m).
    fn relative_limit(&self, model: &Model, pair: &Pair, poses: &[Pose], around: &[Bounds]) -> f64 {
        let [a, b] = pair.geoms;
        let [small, other] = if around[a.0].radius <= around[b.0].radius { [a, b] } else { [b, a] };
        let ball = &around[small.0];
        if ball.radius == f64::INFINITY {
            return self.distance;
        }
        let approach = Approach {
            bodies: [small, other].map(|g| model.geoms()[g.0].body),
            middle: poses[small.0].point(ball.middle),
            radius: ball.radius,
            other: &around[other.0],
            X_wo: &poses[other.0],
            other_is_plane: model.shape(other) == Shape::Plane,
            offset: offset(model, pair),
        };
        let near = model.options().contact_distance;
        self.velocities.iter().fold(self.distance, |limit, V| limit.max(self.within(model, &approach, V, near)))
    }

    /// The limit for one list of velocities.
    #[inline(always)]
    fn within(&self, model: &Model, x: &Approach, V: &[Motion], near: f64) -> f64 {
        let [a, b] = x.bodies.map(|b| match b {
            BodyId::WORLD => (Vec3::ZERO, Vec3::ZERO),
            b => (V[b.0].at(x.middle - self.origin[model.tree().nodes[b.0].tree]), V[b.0].ang),
        });
        let (velocity, spin) = (a.0 - b.0, (a.1 - b.1).norm());
        // points of contact are at most half a gap outside the ball
        let limit = self.room() + self.time * (velocity.norm() + spin * (x.radius + near));
        if limit <= near || x.other_is_plane || self.meets(x, velocity * self.time, self.time * spin) {
            limit
        } else {
            near
        }
    }

    /// Whether the ball hits the other shape's box on its way, which is enlarged for a rotation by `angle`.
    fn meets(&self, x: &Approach, way: Vec3, angle: f64) -> bool {
        let from = x.X_wo.rotation.tmul(x.middle - x.X_wo.position) - x.other.middle;
        let way = x.X_wo.rotation.tmul(way);
        let reach = x.radius * (1.0 + angle) + x.offset + self.room();
        let (mut enter, mut leave) = (0.0, 1.0);
        for axis in 0..3 {
            let half = x.other.half[axis] + reach;
            // on the line from + t way, |coordinate| ≤ half between these two t
            let (slow, t) = (way[axis].abs() <= f64::MIN_POSITIVE, 1.0 / way[axis]);
            if slow && from[axis].abs() > half {
                return false;
            }
            if !slow {
                let (one, two) = ((-half - from[axis]) * t, (half - from[axis]) * t);
                (enter, leave) = (f64::max(enter, one.min(two)), f64::min(leave, one.max(two)));
            }
        }
        enter <= leave
    }
}

/// Whether velocities found after a search carry bodies farther than it allowed for, so that it may have overlooked a pair.
pub(crate) fn overlooked(model: &Model, X_wb: &[Pose], next: &Lookahead, set: &mut ContactSet) -> bool {
    let (broad, reached) = (&set.broad, &mut set.reached);
    next.reaches(model, X_wb, broad.radius(), reached);
    if reached.iter().zip(broad.reach()).any(|(next, before)| *next > before + 0.5 * set.distance) {
        return true;
    }
    let reaches = Reaches { reach: reached, around: broad.around() };
    set.candidates.iter().zip(&set.limits).any(|(k, limit)| {
        let pair = &model.pairs()[*k as usize];
        let [a, b] = pair.geoms.map(|g| reached[model.geoms()[g.0].body.0]);
        a + b > *limit && next.limit(model, pair, broad.geom_poses(), reaches) > *limit
    })
}
