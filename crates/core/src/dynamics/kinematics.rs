//! Where everything is and how fast it moves: one sweep from root to leaves.   (kin-1 … kin-4)
#![allow(non_snake_case)]

use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::model::mocap::{POSE, pose_of};
use crate::model::{DerivedParameters, Model, Node, Primitive, PrimitiveKind, Topology};
use crate::spatial::{Lane, Mat3, Motion, Pose, Quat, SpatialInertia, Vec3, axis_rotation, sin_cos};

/// Poses, dof axes and velocities of one state.
///
/// Spatial vectors have world axes and are taken at the origin of their tree (its root body), a point at rest. The formulas
/// are those of the world frame, without its loss of digits far from the world's origin.
#[derive(Debug, Clone)]
pub struct Kinematics {
    /// Pose of each body in the world.
    pub(crate) X_wb: Vec<Pose>,
    /// Sine and cosine of four hinge angles at a time.
    angles: Vec<(Lane, Lane)>,
    /// Point at which spatial vectors of each tree are taken, world axes (m).
    pub(crate) origin: Vec<Vec3>,
    /// Axis of each dof: velocity of its body per unit of v.
    pub(crate) axes: Vec<Motion>,
    /// Velocity of each body.
    pub(crate) V: Vec<Motion>,
    /// Acceleration of each body, gravity counted as upward acceleration of the world.
    pub(crate) A: Vec<Motion>,
    /// Inertia of each body about the tree's origin, world axes.
    pub(crate) inertia: Vec<SpatialInertia>,
    /// Poses of the mocap bodies, and whether they were given: else they are those of the model.
    mocap: Vec<Pose>,
    pub(crate) mocap_given: bool,
}

footprint!(Kinematics: X_wb, angles, origin, axes, V, A, inertia, mocap);

impl Kinematics {
    /// Memory for a model.
    pub fn new(model: &Model) -> Kinematics {
        let n = model.n_bodies();
        Kinematics {
            X_wb: vec![Pose::IDENTITY; n],
            angles: vec![(Lane::ZERO, Lane::ZERO); model.tree().angles.len().div_ceil(4)],
            origin: vec![Vec3::ZERO; model.tree().n_origins()],
            axes: vec![Motion::ZERO; model.nv()],
            V: vec![Motion::ZERO; n],
            A: vec![Motion::ZERO; n],
            inertia: vec![SpatialInertia::ZERO; n],
            mocap: vec![Pose::IDENTITY; model.n_mocap()],
            mocap_given: false,
        }
    }

    /// Takes the poses of the mocap bodies (7 numbers each); none: those of the model.
    pub(crate) fn set_mocap(&mut self, poses: &[f64]) {
        self.mocap_given = !poses.is_empty();
        for (pose, numbers) in self.mocap.iter_mut().zip(poses.chunks_exact(POSE)) {
            *pose = pose_of(numbers);
        }
    }
}

dispatch!(
    /// Poses and dof axes of a configuration.
    pub(crate) fn positions(model: &Model, q: &[f64], kin: &mut Kinematics) {
        begin(model, q, kin);
        for i in 1..model.tree().n_bodies() {
            place(model.tree(), model.numbers(), i, q, kin);
        }
    }
);

dispatch!(
    /// Poses, dof axes and body inertias of a configuration.
    ///
    /// The inertia of a body is computed while the next one waits for its pose: alone it would take as long again.
    pub(crate) fn positions_and_inertias(model: &Model, q: &[f64], kin: &mut Kinematics) {
        begin(model, q, kin);
        for i in 1..model.tree().n_bodies() {
            let node = place(model.tree(), model.numbers(), i, q, kin);
            weigh(model.numbers(), i, kin.origin[node.tree], kin);
        }
    }
);

dispatch!(
    /// Body inertias, where poses are known.
    pub(crate) fn inertias(model: &Model, kin: &mut Kinematics) {
        for i in 1..model.tree().n_bodies() {
            weigh(model.numbers(), i, kin.origin[model.tree().nodes[i].tree], kin);
        }
    }
);

dispatch!(
    /// Poses, dof axes and velocities of a state.
    pub(crate) fn velocities(model: &Model, q: &[f64], v: &[f64], kin: &mut Kinematics) {
        let tree = model.tree();
        begin(model, q, kin);
        for i in 1..tree.n_bodies() {
            let node = place(tree, model.numbers(), i, q, kin);
            let joint = node.dofs.clone().fold(Motion::ZERO, |s, j| s + kin.axes[j] * v[j]);
            kin.V[i] = kin.V[node.parent] + joint; // (kin-3)
        }
    }
);

/// Velocities of the bodies for other joint velocities, where axes are known.   (kin-3)
pub(crate) fn body_velocities(model: &Model, kin: &Kinematics, v: &[f64], V: &mut [Motion]) {
    V[0] = Motion::ZERO;
    for (i, node) in model.tree().nodes.iter().enumerate().skip(1) {
        let joint = node.dofs.clone().fold(Motion::ZERO, |s, j| s + kin.axes[j] * v[j]);
        V[i] = V[node.parent] + joint;
    }
}

/// What a sweep needs before it begins: sines and cosines, and each tree's origin, which is where its free root is or
/// where its root is mounted.   (kin-4)
#[inline(always)]
pub(super) fn begin(model: &Model, q: &[f64], kin: &mut Kinematics) {
    let (tree, numbers) = (model.tree(), model.numbers());
    for (four, out) in tree.angles.chunks(4).zip(&mut kin.angles) {
        let mut angles = Lane::ZERO;
        for (x, (index, reference)) in angles.0.iter_mut().zip(four) {
            *x = q[*index] - reference;
        }
        *out = sin_cos(angles);
    }
    if !tree.mocap.is_empty() {
        place_mocap(tree, numbers, kin);
    }
    for (origin, root) in kin.origin.iter_mut().zip(&tree.roots) {
        let node = &tree.nodes[*root];
        let first = &tree.primitives[node.primitives.start];
        let mount = &numbers.placement[*root];
        *origin = match first.kind {
            // one origin for all that a mocap body carries: their forces add up there
            _ if node.parent != 0 => kin.X_wb[node.parent].position,
            PrimitiveKind::Translation => mount.point(Vec3::from_slice(&q[first.q..])),
            _ => mount.position,
        };
    }
}

/// Poses and origins of the mocap bodies.
#[cold]
fn place_mocap(tree: &Topology, numbers: &DerivedParameters, kin: &mut Kinematics) {
    for (k, i) in tree.mocap.iter().enumerate() {
        let pose = if kin.mocap_given { kin.mocap[k] } else { numbers.placement[*i] };
        kin.X_wb[*i] = pose;
        kin.origin[tree.roots.len() + k] = pose.position;
    }
}

/// Pose of body `i` and axes of its dofs.   (kin-1)
#[inline(always)]
pub(super) fn place<'t>(
    tree: &'t Topology,
    numbers: &DerivedParameters,
    i: usize,
    q: &[f64],
    kin: &mut Kinematics,
) -> &'t Node {
    let node = &tree.nodes[i];
    if !node.moves() {
        return node; // placed at the beginning of the sweep
    }
    let (parent, mount, origin) = (&kin.X_wb[node.parent], &numbers.placement[i], kin.origin[node.tree]);
    let rotation = if numbers.untwisted[i] { parent.rotation } else { parent.rotation * mount.rotation };
    let mut X = Pose { rotation, position: parent.point(mount.position) };
    for p in &tree.primitives[node.primitives.clone()] {
        displace(p, q, &kin.angles, origin, &mut X, &mut kin.axes);
    }
    kin.X_wb[i] = X;
    node
}

/// Inertia of body `i` in world axes, about the tree's origin.   (kin-4)
#[inline(always)]
pub(super) fn weigh(numbers: &DerivedParameters, i: usize, origin: Vec3, kin: &mut Kinematics) {
    let (X, body) = (&kin.X_wb[i], &numbers.inertia[i]);
    let com = X.rotation * body.com + (X.position - origin);
    kin.inertia[i] = SpatialInertia::new(body.mass, com, body.about_com.rotated(&X.rotation));
}

/// Moves the frame `X` by one primitive and writes the axes of its dofs.   (kin-2)
#[inline(always)]
fn displace(p: &Primitive, q: &[f64], angles: &[(Lane, Lane)], origin: Vec3, X: &mut Pose, axes: &mut [Motion]) {
    match p.kind {
        PrimitiveKind::HingeX => turn(p, angles, origin, X, axes, 0),
        PrimitiveKind::HingeY => turn(p, angles, origin, X, axes, 1),
        PrimitiveKind::HingeZ => turn(p, angles, origin, X, axes, 2),
        PrimitiveKind::Hinge => {
            let (s, c) = angle(p, angles);
            let (axis_w, anchor) = (X.rotation * p.axis, anchor(p, X));
            axes[p.v] = Motion::rotation_about(axis_w, anchor - origin);
            X.rotation = X.rotation * axis_rotation(p.axis, s, c);
            keep_anchor(p, anchor, X);
        }
        PrimitiveKind::Slide => {
            let axis_w = X.rotation * p.axis;
            axes[p.v] = Motion { lin: axis_w, ang: Vec3::ZERO };
            X.position += axis_w * (q[p.q] - p.reference);
        }
        PrimitiveKind::Translation => {
            for k in 0..3 {
                axes[p.v + k] = Motion { lin: X.rotation.c[k], ang: Vec3::ZERO };
            }
            X.position = X.point(Vec3::from_slice(&q[p.q..]));
        }
        PrimitiveKind::Ball => {
            let anchor = anchor(p, X);
            X.rotation = X.rotation * unit(Quat::from_slice(&q[p.q..])).to_matrix();
            keep_anchor(p, anchor, X);
            for k in 0..3 {
                axes[p.v + k] = Motion::rotation_about(X.rotation.c[k], anchor - origin);
            }
        }
    }
}

/// A hinge about column `k` of the frame: the other two columns turn in their plane.
#[inline(always)]
fn turn(p: &Primitive, angles: &[(Lane, Lane)], origin: Vec3, X: &mut Pose, axes: &mut [Motion], k: usize) {
    let (s, c) = angle(p, angles);
    let anchor = anchor(p, X);
    axes[p.v] = Motion::rotation_about(X.rotation.c[k], anchor - origin);
    let (a, b) = (X.rotation.c[(k + 1) % 3], X.rotation.c[(k + 2) % 3]);
    let mut columns = X.rotation.c;
    columns[(k + 1) % 3] = a * c + b * s;
    columns[(k + 2) % 3] = b * c - a * s;
    X.rotation = Mat3 { c: columns };
    keep_anchor(p, anchor, X);
}

/// Sine and cosine of a hinge.
#[inline(always)]
fn angle(p: &Primitive, angles: &[(Lane, Lane)]) -> (f64, f64) {
    let (s, c) = &angles[p.angle / 4];
    (s.0[p.angle % 4], c.0[p.angle % 4])
}

/// The point that a rotation leaves in place, in the world.
#[inline(always)]
fn anchor(p: &Primitive, X: &Pose) -> Vec3 {
    if p.anchored { X.point(p.anchor) } else { X.position }
}

/// Puts the turned frame back so that its anchor is where it was.
#[inline(always)]
fn keep_anchor(p: &Primitive, anchor: Vec3, X: &mut Pose) {
    if p.anchored {
        X.position = anchor - X.rotation * p.anchor;
    }
}

/// A quaternion checked at the public boundary, of norm one up to rounding.
#[inline(always)]
fn unit(q: Quat) -> Quat {
    let s = 1.0 / (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z).sqrt();
    Quat { w: q.w * s, x: q.x * s, y: q.y * s, z: q.z * s }
}
