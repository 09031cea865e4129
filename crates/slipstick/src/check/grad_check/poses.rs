//! Random poses in which a robot touches something: the floor, itself, the ends of its joints.

use crate::random::Rng;
use slipstick_core::collision::{ContactSet, detect, geom_distance};
use slipstick_core::dynamics::Workspace;
use slipstick_core::error::DynamicsError;
use slipstick_core::model::{BodyId, GeomId, Joint, JointKind, Shape};
use slipstick_core::spatial::Pose;
use slipstick_core::{InputError, Model};

/// How deep parts of the robot may be in each other (m): deeper ones contradict each other.
const DEEPEST: f64 = 1e-3;
/// Halvings on the way to a pose that is not too deep.
const HALVINGS: usize = 12;
/// How likely a joint is at one of its ends.
const AT_LIMIT: f64 = 0.15;
/// How far joints without ends go from home (rad or m).
const REACH: f64 = 1.0;

/// Memory for the poses of a model.
pub(super) struct Poses {
    work: Workspace,
    contacts: ContactSet,
    poses: Vec<Pose>,
    floors: Vec<GeomId>,
    /// Coordinates in q that lift a tree, and its first body.
    lifts: Vec<(usize, BodyId)>,
}

impl Poses {
    pub fn new(model: &Model) -> Poses {
        let is_floor = |g: &GeomId| model.shape(*g) == Shape::Plane && model.geoms()[g.0].body == BodyId::WORLD;
        Poses {
            work: Workspace::new(model),
            contacts: ContactSet::new(model),
            poses: vec![Pose::IDENTITY; model.n_bodies()],
            floors: (0..model.geoms().len()).map(GeomId).filter(is_floor).collect(),
            lifts: model.joints().iter().filter_map(lift).collect(),
        }
    }

    /// Around home, of any orientation where free; less far if the robot would run through itself.
    pub fn random(&mut self, model: &Model, home: &[f64], draw: &mut Rng) -> Result<Vec<f64>, InputError> {
        let mut far = home.to_vec();
        for joint in model.joints() {
            turn(joint, &mut far[joint.q.clone()], draw);
        }
        let mut away = vec![0.0; model.nv()];
        model.difference(home, &far, &mut away)?;
        let mut q = far.clone();
        let (mut near, mut distant) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            if self.depth(model, &q)? <= DEEPEST {
                break;
            }
            // a place between the last that was too deep and the last that was not
            let half = 0.5 * (near + distant);
            let part: Vec<f64> = away.iter().map(|x| x * half).collect();
            model.integrate(home, &part, &mut q)?;
            if self.depth(model, &q)? > DEEPEST { distant = half } else { near = half }
        }
        for (p, joint) in model.joints().iter().filter(|j| j.kind == JointKind::Free).map(|j| (j.q.start + 3, j)) {
            // a whole robot may stand any way round without running through itself
            if model.bodies()[joint.body.0].parent == BodyId::WORLD && draw.chance(0.7) {
                q[p..p + 4].copy_from_slice(&draw.orientation().to_array());
            }
        }
        Ok(q)
    }

    /// Lifts every tree until its lowest point is `height` above the floor.
    pub fn place(&mut self, model: &Model, q: &mut [f64], height: f64) -> Result<(), InputError> {
        for (lift, root) in self.lifts.clone() {
            q[lift] += 2.0; // clear of the floor, where distances are exact
            self.move_to(model, q)?;
            let lowest = self.lowest(model, root)?;
            if lowest.is_finite() {
                q[lift] += height - lowest;
            }
        }
        Ok(())
    }

    fn lowest(&self, model: &Model, root: BodyId) -> Result<f64, InputError> {
        let mut lowest = f64::INFINITY;
        for (k, geom) in model.geoms().iter().enumerate() {
            let pairs =
                |floor: &GeomId| model.pairs().iter().any(|p| p.geoms.contains(floor) && p.geoms.contains(&GeomId(k)));
            if root_of(model, geom.body) == root {
                for floor in self.floors.iter().filter(|f| pairs(f)) {
                    lowest = lowest.min(geom_distance(model, &self.poses, *floor, GeomId(k))?.distance);
                }
            }
        }
        Ok(lowest)
    }

    /// How deep parts of the robot are in each other, the floor left aside (m).
    fn depth(&mut self, model: &Model, q: &[f64]) -> Result<f64, InputError> {
        self.move_to(model, q)?;
        detect(model, &self.poses, &mut self.contacts)?;
        let own = self.contacts.contacts().iter().filter(|c| !c.geoms.iter().any(|g| self.floors.contains(g)));
        Ok(own.map(|c| -c.distance).fold(f64::NEG_INFINITY, f64::max))
    }

    fn move_to(&mut self, model: &Model, q: &[f64]) -> Result<(), InputError> {
        self.work.kinematics(model, q)?;
        for (b, pose) in self.poses.iter_mut().enumerate() {
            *pose = self.work.body_pose(BodyId(b))?;
        }
        Ok(())
    }

    /// Inertias of the dofs at a pose: the diagonal of M (nv).
    pub fn inertias(&mut self, model: &Model, q: &[f64]) -> Result<Vec<f64>, DynamicsError> {
        let n = model.nv();
        let mut mass = vec![0.0; n * n];
        self.work.crba(model, q, &mut mass)?;
        Ok((0..n).map(|j| mass[j * (n + 1)]).collect())
    }
}

/// The coordinate that lifts a tree: the height of a free root, or a vertical slide.
fn lift(joint: &Joint) -> Option<(usize, BodyId)> {
    match joint.kind {
        JointKind::Free => Some((joint.q.start + 2, joint.body)),
        JointKind::Prismatic { axis } if axis.z > 0.99 && joint.body == BodyId(1) => Some((joint.q.start, joint.body)),
        _ => None,
    }
}

fn root_of(model: &Model, mut body: BodyId) -> BodyId {
    while model.bodies()[body.0].parent != BodyId::WORLD {
        body = model.bodies()[body.0].parent;
    }
    body
}

/// A random value of a joint; free joints stay.
fn turn(joint: &Joint, q: &mut [f64], draw: &mut Rng) {
    match (joint.kind, joint.range) {
        (JointKind::Revolute { .. } | JointKind::Prismatic { .. }, Some([low, high])) => {
            q[0] = match draw.chance(AT_LIMIT) {
                true => end(low, high, draw),
                false => draw.between(low.max(q[0] - 3.0), high.min(q[0] + 3.0)),
            };
        }
        (JointKind::Revolute { .. }, None) => q[0] += REACH * draw.sign(),
        (JointKind::Prismatic { .. }, None) => {} // the root of a planar robot
        (JointKind::Planar, _) => q[2] += REACH * draw.sign(),
        (JointKind::Spherical, _) => q.copy_from_slice(&draw.orientation().to_array()),
        (JointKind::Free, _) => {}
    }
}

/// An end of a joint: exactly, a little before or a little beyond it.
fn end(low: f64, high: f64, draw: &mut Rng) -> f64 {
    let (limit, inwards) = if draw.chance(0.5) { (low, 1.0) } else { (high, -1.0) };
    let distance = match draw.below(4) {
        0 => 0.0,
        1 => 1e-5 * draw.sign(),
        2 => -1e-3 * draw.share(),
        _ => 2e-2 * draw.share(),
    };
    limit + inwards * distance
}
