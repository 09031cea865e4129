//! Bounds of shapes: how far they reach along a direction, and boxes with world axes around them.   (collision-12)

use crate::model::{GeomId, Model, Shape};
use crate::spatial::{Lane, Mat3, Pose, Vec3, vec3};

/// Boxes are larger by this fraction of the distance of their middle from the origin, for rounding.
const ROUNDING: f64 = 1e-14;

/// Extent of a shape. Along a unit vector n of its frame it reaches from n·middle by
/// Σ |n_j| core_j + √(Σ n_j² squares_j) + radius to either side: exactly for all shapes but cones and meshes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Extent {
    /// (m)
    pub middle: Vec3,
    /// Half sizes of the straight part, a box (m).
    pub core: Vec3,
    /// Squared half axes of the round part, an ellipsoid or disc (m²).
    pub squares: Vec3,
    /// Of the ball around it (m).
    pub radius: f64,
}

impl Extent {
    /// Extent of a geom with the sizes of the model's parameters; `None` for a plane, which has no end.
    pub fn of(model: &Model, geom: GeomId) -> Option<Extent> {
        let none = Extent::default();
        Some(match model.shape(geom) {
            Shape::Plane => return None,
            Shape::Sphere { radius } => Extent { radius, ..none },
            Shape::Capsule { radius, half_length } => Extent { core: vec3(0.0, 0.0, half_length), radius, ..none },
            Shape::Cylinder { radius, half_length } | Shape::Cone { radius, half_length } => {
                let square = radius * radius;
                Extent { core: vec3(0.0, 0.0, half_length), squares: vec3(square, square, 0.0), ..none }
            }
            Shape::Box { half_size } => Extent { core: half_size, ..none },
            Shape::Ellipsoid { radii: r } => Extent { squares: vec3(r.x * r.x, r.y * r.y, r.z * r.z), ..none },
            Shape::Mesh { mesh } | Shape::Terrain { mesh } => {
                let [middle, core] = model.hull(mesh).bounds;
                Extent { middle, core, ..none }
            }
            Shape::HeightField { field } => {
                let f = &model.fields()[field.0];
                let (top, [x, y]) = (f.range()[1], f.half_size);
                let middle = vec3(0.0, 0.0, 0.5 * (top - f.base));
                Extent { middle, core: vec3(x, y, 0.5 * (top + f.base)), ..none }
            }
        })
    }

    /// Least value of n·x over the shape at a pose, n being a unit vector (m).
    #[inline(always)]
    pub fn least_along(&self, X: &Pose, n: Vec3) -> f64 {
        let (m, core, squares) = (X.rotation.tmul(n), self.core, self.squares);
        let straight = m.x.abs() * core.x + m.y.abs() * core.y + m.z.abs() * core.z;
        let square = m.x * m.x * squares.x + m.y * m.y * squares.y + m.z * m.z * squares.z;
        n.dot(X.position) + m.dot(self.middle) - straight - square.sqrt() - self.radius
    }
}

/// Four boxes with world axes side by side: least x, y, z, then greatest x, y, z (m).
pub(crate) type FourBoxes = [Lane; 6];

/// Boxes around nothing.
pub(crate) const NO_BOXES: FourBoxes = {
    let (lo, hi) = (Lane::splat(f64::INFINITY), Lane::splat(f64::NEG_INFINITY));
    [lo, lo, lo, hi, hi, hi]
};

/// One box: least x, y, z, then greatest x, y, z (m).
pub(crate) type OneBox = [f64; 6];

/// Box number `k` of a list.
#[inline(always)]
pub(crate) fn box_at(boxes: &[FourBoxes], k: usize) -> OneBox {
    let (four, k) = (&boxes[k / 4], k % 4);
    [four[0].0[k], four[1].0[k], four[2].0[k], four[3].0[k], four[4].0[k], four[5].0[k]]
}

/// Box number `k` of a list, four times.
#[inline(always)]
pub(crate) fn four_times(boxes: &[FourBoxes], k: usize) -> FourBoxes {
    let b = box_at(boxes, k);
    let splat = Lane::splat;
    [splat(b[0]), splat(b[1]), splat(b[2]), splat(b[3]), splat(b[4]), splat(b[5])]
}

/// Distances of four boxes from one, the largest over the three axes; negative where they overlap (m).
#[inline(always)]
pub(crate) fn gaps(one: &FourBoxes, four: &FourBoxes) -> Lane {
    let along = |axis: usize| larger(four[axis] - one[axis + 3], one[axis] - four[axis + 3]);
    larger(larger(along(0), along(1)), along(2))
}

/// Whether two boxes are nearer than `limit` along each axis.
#[inline(always)]
pub(crate) fn are_near(a: &OneBox, b: &OneBox, limit: f64) -> bool {
    (0..3).all(|axis| a[axis] - b[axis + 3] <= limit && b[axis] - a[axis + 3] <= limit)
}

/// Least value of n·x in a box (m).
#[inline(always)]
pub(crate) fn least_along(b: &OneBox, n: Vec3) -> f64 {
    let least = |n: f64, axis: usize| if n > 0.0 { n * b[axis] } else { n * b[axis + 3] };
    least(n.x, 0) + least(n.y, 1) + least(n.z, 2)
}

/// Four shapes side by side, each fixed to some body.
#[derive(Debug, Clone)]
pub(crate) struct FourShapes {
    /// Body of each.
    pub bodies: [usize; 4],
    /// Columns of their poses in the body's frame, number by number.
    pose: [Lane; 12],
    /// Middles of their bounds in the body's frame (m).
    middle: [Lane; 3],
    /// Half sizes of the straight parts, and squared half axes of the round parts.
    core: [Lane; 3],
    squares: [Lane; 3],
    /// Margin added to half sizes at any pose: minus infinity where there is no shape (m).
    around: Lane,
    /// Whether a middle is not the origin of its shape, whether there are round parts.
    eccentric: bool,
    round: bool,
}

impl FourShapes {
    pub const NONE: FourShapes = FourShapes {
        bodies: [0; 4],
        pose: [Lane::ZERO; 12],
        middle: [Lane::ZERO; 3],
        core: [Lane::ZERO; 3],
        squares: [Lane::ZERO; 3],
        around: Lane::splat(f64::NEG_INFINITY),
        eccentric: false,
        round: false,
    };

    /// Sets one of the four: its body, its frame in the body's, its bounds and how far its surface lies outside.
    pub fn set(&mut self, k: usize, body: usize, pose: &Pose, extent: &Extent, offset: f64) {
        self.bodies[k] = body;
        let middle = pose.point(extent.middle);
        for (lane, x) in self.pose.iter_mut().zip(numbers(pose).as_flattened()) {
            lane.0[k] = *x;
        }
        for axis in 0..3 {
            self.middle[axis].0[k] = middle[axis];
            self.core[axis].0[k] = extent.core[axis];
            self.squares[axis].0[k] = extent.squares[axis];
        }
        self.around.0[k] = extent.radius + offset;
        self.eccentric |= extent.middle != Vec3::ZERO;
        self.round |= extent.squares != Vec3::ZERO;
    }

    /// The poses of their bodies, number by number.
    #[inline(always)]
    pub fn gather(&self, X_wb: &[Pose], B: &mut [Lane; 12]) {
        for k in 0..4 {
            let X = &X_wb[self.bodies[k]];
            for column in 0..3 {
                B[3 * column].0[k] = X.rotation.c[column].x;
                B[3 * column + 1].0[k] = X.rotation.c[column].y;
                B[3 * column + 2].0[k] = X.rotation.c[column].z;
            }
            B[9].0[k] = X.position.x;
            B[10].0[k] = X.position.y;
            B[11].0[k] = X.position.z;
        }
    }

    /// Their poses, number by number, and boxes in the world, from the poses `B` of their bodies. Boxes are larger by `reach`.
    #[inline(always)]
    pub fn place(&self, B: &[Lane; 12], poses: &mut [Lane; 12], reach: Lane, boxes: &mut FourBoxes) {
        let turn = |v: &[Lane], row: usize| times(B[row], v[0]) + times(B[row + 3], v[1]) + times(B[row + 6], v[2]);
        for column in 0..3 {
            for row in 0..3 {
                poses[3 * column + row] = turn(&self.pose[3 * column..], row);
            }
        }
        for row in 0..3 {
            poses[9 + row] = turn(&self.pose[9..], row) + B[9 + row];
        }
        for row in 0..3 {
            let R = [poses[row], poses[row + 3], poses[row + 6]];
            let middle = if self.eccentric { turn(&self.middle, row) + B[9 + row] } else { poses[9 + row] };
            let mut half = self.around + reach + abs(middle) * ROUNDING;
            half += times(abs(R[0]), self.core[0]) + times(abs(R[1]), self.core[1]) + times(abs(R[2]), self.core[2]);
            if self.round {
                let part = |j: usize| times(times(R[j], R[j]), self.squares[j]);
                half += Lane((part(0) + part(1) + part(2)).0.map(f64::sqrt));
            }
            boxes[row] = middle - half;
            boxes[row + 3] = middle + half;
        }
    }
}

/// Pose number `k` of four whose numbers are side by side.
#[inline(always)]
pub(crate) fn pose_at(numbers: &[Lane; 12], k: usize) -> Pose {
    let column = |j: usize| vec3(numbers[3 * j].0[k], numbers[3 * j + 1].0[k], numbers[3 * j + 2].0[k]);
    Pose { rotation: Mat3::from_columns(column(0), column(1), column(2)), position: column(3) }
}

/// Columns and position, four numbers at a time.
#[inline(always)]
fn numbers(X: &Pose) -> [[f64; 4]; 3] {
    let ([a, b, c], p) = (X.rotation.c, X.position);
    [[a.x, a.y, a.z, b.x], [b.y, b.z, c.x, c.y], [c.z, p.x, p.y, p.z]]
}

#[inline(always)]
fn times(a: Lane, b: Lane) -> Lane {
    Lane([a.0[0] * b.0[0], a.0[1] * b.0[1], a.0[2] * b.0[2], a.0[3] * b.0[3]])
}

#[inline(always)]
fn larger(a: Lane, b: Lane) -> Lane {
    let pick = |k: usize| if a.0[k] > b.0[k] { a.0[k] } else { b.0[k] };
    Lane([pick(0), pick(1), pick(2), pick(3)])
}

#[inline(always)]
fn abs(a: Lane) -> Lane {
    Lane(a.0.map(f64::abs))
}
