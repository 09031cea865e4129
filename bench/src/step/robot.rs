//! Robots of the sweep: all that are built in and the six of the paper's table, as their files have them.

use crate::paper::ROBOTS;
use slipstick::collision::geom_distance;
use slipstick::dynamics::Workspace;
use slipstick::files::PairChoice;
use slipstick::model::{BodyId, GeomId, JointKind, Shape};
use slipstick::spatial::{Pose, Vec3};
use slipstick::{LoadOptions, Model};
use std::path::Path;

/// Natural frequency of held joints (rad/s) and their share of critical damping; slower where the time step is long.
const FREQUENCY: f64 = 60.0;
const DAMPING: f64 = 0.7;
const LONGEST: f64 = 0.1; // frequency times time step

/// A robot ready to be moved.
pub struct Robot {
    pub name: String,
    pub model: Model,
    /// Configuration at home, its lowest point on the floor if it has a root that can be lifted.
    pub home: Vec<f64>,
    /// Controls at home (nu).
    pub ctrl: Vec<f64>,
    pub held: Vec<Held>,
    /// Number in q that lifts the robot.
    lift: Option<usize>,
    floors: Vec<GeomId>,
}

/// A joint that gains can hold.
pub struct Held {
    pub q: usize,
    pub v: usize,
    pub stiffness: f64,
    pub damping: f64,
    pub range: Option<[f64; 2]>,
}

/// Built-in robots, then the paper's; the latter are skipped loudly if their folder is absent.
pub fn all(models: &Path, only: &str) -> Result<Vec<Robot>, String> {
    let mut robots = Vec::new();
    for name in slipstick::builtin_names().filter(|n| n.contains(only)) {
        let model = slipstick::builtin(name).map_err(|e| e.to_string())?;
        robots.push(Robot::new(name.to_string(), model)?);
    }
    for robot in ROBOTS.iter().filter(|r| format!("paper/{}", r.name).contains(only)) {
        let (name, path) = (robot.name, models.join(robot.name).join(robot.file));
        if !path.is_file() {
            eprintln!("paper/{name} is SKIPPED: {} is not there", path.display());
            continue;
        }
        let mut options = LoadOptions::default();
        options.pairs = PairChoice::Paper;
        let model = slipstick::load_with(&path, &options).map_err(|e| e.to_string())?;
        robots.push(Robot::new(format!("paper/{name}"), model)?);
    }
    if robots.is_empty() { Err(format!("no robot's name contains '{only}'")) } else { Ok(robots) }
}

impl Robot {
    pub fn new(name: String, model: Model) -> Result<Robot, String> {
        let keyframe = model.keyframe("home").ok();
        let mut home = keyframe.map_or(model.neutral().to_vec(), |k| k.q.clone());
        let ctrl = keyframe.map_or(vec![0.0; model.nu()], |k| k.ctrl.clone());
        if keyframe.is_none() {
            pose(&name, &model, &mut home);
        }
        let is_floor = |g: &usize| matches!(model.geoms()[*g].shape, Shape::Plane);
        let floors = (0..model.geoms().len()).filter(is_floor).map(GeomId).collect();
        let (lift, held) = (lift(&model), held(&model, &home)?);
        let mut robot = Robot { name, model, home, ctrl, held, lift, floors };
        let mut home = robot.home.clone();
        robot.place(&mut home, 0.0)?;
        robot.home = home;
        Ok(robot)
    }

    /// Lifts the robot until its lowest point is `height` above the floor.
    pub fn place(&self, q: &mut [f64], height: f64) -> Result<(), String> {
        let (Some(lift), false) = (self.lift, self.floors.is_empty()) else { return Ok(()) };
        q[lift] += 2.0; // clear of the floor, where distances are exact
        let poses = self.poses(q)?;
        let mut lowest = f64::INFINITY;
        for (k, geom) in self.model.geoms().iter().enumerate().filter(|(_, g)| g.body.0 != 0) {
            if !geom.shape.is_terrain() {
                for floor in &self.floors {
                    let found = geom_distance(&self.model, &poses, *floor, GeomId(k)).map_err(|e| e.to_string())?;
                    lowest = lowest.min(found.distance);
                }
            }
        }
        q[lift] += height - lowest;
        Ok(())
    }

    /// Least distance of the listed pairs that are not on the floor.
    pub fn clearance(&self, q: &[f64]) -> Result<f64, String> {
        let poses = self.poses(q)?;
        let mut least = f64::INFINITY;
        for pair in self.model.pairs().iter().filter(|p| !p.geoms.iter().any(|g| self.floors.contains(g))) {
            let found = geom_distance(&self.model, &poses, pair.geoms[0], pair.geoms[1]).map_err(|e| e.to_string())?;
            least = least.min(found.distance);
        }
        Ok(least)
    }

    fn poses(&self, q: &[f64]) -> Result<Vec<Pose>, String> {
        let mut work = Workspace::new(&self.model);
        work.kinematics(&self.model, q).map_err(|e| e.to_string())?;
        (0..self.model.n_bodies()).map(|b| work.body_pose(BodyId(b)).map_err(|e| e.to_string())).collect()
    }

    pub fn weight(&self) -> f64 {
        self.model.total_mass() * Vec3::from(self.model.options().gravity).norm()
    }
}

fn pose(name: &str, model: &Model, q: &mut [f64]) {
    let robots = ROBOTS.iter().filter(|robot| name.ends_with(robot.name));
    for (part, angle) in robots.flat_map(|robot| robot.pose) {
        for joint in model.joints().iter().filter(|j| j.name.contains(part)) {
            q[joint.q.start] = *angle;
        }
    }
}

/// The height of a free root, or a vertical slide of the first body.
fn lift(model: &Model) -> Option<usize> {
    let root = model.joints().iter().filter(|j| j.body == BodyId(1));
    root.filter_map(|j| match j.kind {
        JointKind::Free => Some(j.q.start + 2),
        JointKind::Prismatic { axis } if axis.z > 0.99 => Some(j.q.start),
        _ => None,
    })
    .next()
}

/// Gains from the inertia that a force on each joint alone meets at home: larger ones would not be stable. Slides and
/// hinges of a root that moves in a plane are left free.
fn held(model: &Model, home: &[f64]) -> Result<Vec<Held>, String> {
    let (n, mut inverse) = (model.nv(), vec![0.0; model.nv() * model.nv()]);
    Workspace::new(model).mass_inverse(model, home, &mut inverse).map_err(|e| e.to_string())?;
    let frequency = FREQUENCY.min(LONGEST / model.options().dt);
    let planar_root = lift(model).is_some();
    let joints = model.joints().iter().filter(|j| {
        let single = matches!(j.kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
        single && !(planar_root && j.body == BodyId(1))
    });
    let gains = joints.map(|j| {
        let inertia = 1.0 / inverse[j.v.start * (n + 1)];
        Held {
            q: j.q.start,
            v: j.v.start,
            stiffness: frequency * frequency * inertia,
            damping: 2.0 * DAMPING * frequency * inertia,
            range: j.range,
        }
    });
    Ok(gains.collect())
}
