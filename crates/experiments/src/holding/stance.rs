//! The four poses: which robots, what they stand on, and near what the balance is looked for.

use crate::balance::{BalanceError, Rest, Touch, balance};
use slipstick::dynamics::Workspace;
use slipstick::files::{BuiltinError, PairChoice};
use slipstick::model::{BodyId, JointKind, ParameterGroup, Shape};
use slipstick::spatial::{BodyInertia, Quat, Sym3, Vec3};
use slipstick::{InputError, LoadError, LoadOptions, Model, builtin, load_with};
use std::fmt;
use std::path::Path;

/// A pose that robots of one kind take. Joints of the built-in robot and of the real one have the same names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stance {
    /// As the experiment is called.
    pub name: &'static str,
    /// Built-in robot.
    pub builtin: &'static str,
    /// Its keyframe with the pose.
    pub keyframe: &'static str,
    /// The real robot.
    pub real: Real,
    /// Joints whose bodies stand on the floor, with as many points each.
    pub touches: &'static [(&'static str, usize)],
    /// Pitch of the base, about y (rad).
    pub pitch: f64,
    /// Parts of joint names and angles (rad); the last that fits counts.
    pub joints: &'static [(&'static str, f64)],
    /// Mass on the back (kg).
    pub payload: f64,
}

/// A robot of the models folder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Real {
    /// As the experiment calls it.
    pub name: &'static str,
    /// Its URDF in the folder.
    pub file: &'static str,
    /// Where the packages of its addresses are.
    pub packages: &'static str,
    /// Which of its geoms may touch.
    pub pairs: &'static str,
}

const GO1: Real = Real {
    name: "Unitree Go1",
    file: "go1/example-robot-data/robots/go1_description/urdf/go1.urdf",
    packages: "go1",
    pairs: "go1/paper_pairs.json",
};

const H1: Real = Real {
    name: "Unitree H1",
    file: "h1/unitree_ros/h1_description/urdf/h1_paper.urdf",
    packages: "h1/unitree_ros",
    pairs: "h1/paper_pairs.json",
};

/// A quadruped on its four feet.
pub const STAND: Stance = Stance {
    name: "quadruped-stand",
    builtin: "quadruped",
    keyframe: "stand",
    real: GO1,
    touches: &[("FL_calf_joint", 1), ("FR_calf_joint", 1), ("RL_calf_joint", 1), ("RR_calf_joint", 1)],
    pitch: 0.0,
    joints: &[("thigh", 0.9), ("calf", -1.8)],
    payload: 0.0,
};

/// The robot with 10 kg on its back.
pub const PAYLOAD: Stance = Stance { name: "quadruped-payload", payload: 10.0, ..STAND };

/// A quadruped on its front feet, head down. Its knees do not stretch further than 0.9 rad, so the feet are before it.
pub const HANDSTAND: Stance = Stance {
    name: "quadruped-handstand",
    keyframe: "handstand",
    touches: &[("FL_calf_joint", 1), ("FR_calf_joint", 1)],
    pitch: 1.3,
    joints: &[
        ("thigh", 1.2),
        ("calf", -1.8),
        ("FL_thigh", -0.5),
        ("FR_thigh", -0.5),
        ("FL_calf", -1.0),
        ("FR_calf", -1.0),
    ],
    ..STAND
};

/// A biped on hands and toes, arms stretched.
pub const PUSH_UP: Stance = Stance {
    name: "biped-push-up",
    builtin: "biped",
    keyframe: "push_up",
    real: H1,
    touches: &[("left_ankle_joint", 2), ("right_ankle_joint", 2), ("left_elbow_joint", 1), ("right_elbow_joint", 1)],
    pitch: 1.28,
    joints: &[("shoulder_pitch", -1.3), ("left_shoulder_roll", 0.3), ("right_shoulder_roll", -0.3), ("elbow", 1.4)],
    payload: 0.0,
};

/// Size of the payload: a box that lies on the trunk (m).
const PAYLOAD_SIZE: [f64; 3] = [0.2, 0.15, 0.1];

/// Height of the trunk's back above the origin of its body, of both robots (m).
const BACK: f64 = 0.057;

impl Stance {
    /// The robot that takes the pose: the real one of a models folder, or the built-in one.
    ///
    /// Its joints have no dry friction, which would bear an unknown part of the load; points that bear a load together
    /// have no compliance, which would let the robot sink by 1e-8 m/s. Steps are of 1 ms, solved to a residual of 1e-12.
    pub fn robot(&self, models: Option<&Path>) -> Result<Model, StanceError> {
        let model = match models {
            Some(folder) => self.real.load(folder)?,
            None => builtin(self.builtin)?,
        };
        let mut options = model.options().clone();
        (options.dt, options.tolerance, options.patch_compliance) = (1e-3, 1e-12, 0.0);
        let model = model.with_options(options)?;
        let mut parameters = model.parameters().clone();
        parameters.group_mut(ParameterGroup::DryFriction).fill(0.0);
        if self.payload > 0.0 {
            let trunk = base(&model)?.1;
            let loaded = model.inertias()[trunk.0].joined(&payload(self.payload)).to_parameters();
            parameters.group_mut(ParameterGroup::Inertial)[10 * (trunk.0 - 1)..10 * trunk.0].copy_from_slice(&loaded);
        }
        Ok(model.with_parameters(parameters)?)
    }

    /// The balanced pose of a robot.
    pub fn find(&self, model: &Model) -> Result<Rest, BalanceError> {
        let touch = |(joint, points): &(&str, usize)| {
            let body = model.joints()[model.joint(joint)?.0].body;
            Ok(Touch { body, points: *points })
        };
        let touches = self.touches.iter().map(touch).collect::<Result<Vec<_>, InputError>>()?;
        balance(model, &self.wanted(model)?, &touches)
    }

    /// The pose near which the balance is looked for.
    fn wanted(&self, model: &Model) -> Result<Vec<f64>, InputError> {
        let mut q = model.neutral().to_vec();
        for joint in model.joints().iter().filter(|j| j.q.len() == 1) {
            let angle = self.joints.iter().rev().find(|(part, _)| joint.name.contains(part));
            q[joint.q.start] = angle.map_or(0.0, |(_, angle)| *angle);
        }
        let start = base(model)?.0;
        let turn = Quat::exp(Vec3::UNITS[1] * self.pitch);
        q[start + 3..start + 7].copy_from_slice(&turn.to_array());
        Ok(q)
    }
}

/// By how much a robot is tilted to be out of balance (rad): a degree.
const TILT: f64 = std::f64::consts::PI / 180.0;

impl Stance {
    /// A robot that stands on two balls, tilted about the line between their centers; `None` on other feet. The balls
    /// stay where they are on the floor.
    pub(super) fn tilted(&self, model: &Model, q: &[f64]) -> Option<Vec<f64>> {
        let [a, b] = self.touches else { return None };
        let mut workspace = Workspace::new(model);
        workspace.kinematics(model, q).ok()?;
        let center = |joint: &str| {
            let body = model.joints()[model.joint(joint).ok()?.0].body;
            let mut geoms = model.geoms().iter().filter(|g| g.body == body);
            let ball = geoms.find(|g| matches!(g.shape, Shape::Sphere { .. }))?;
            Some(workspace.body_pose(body).ok()?.point(ball.pose.position))
        };
        let (a, b) = (center(a.0)?, center(b.0)?);
        let turn = Quat::exp((b - a).normalized()? * TILT);
        let start = base(model).ok()?.0;
        let mut q = q.to_vec();
        let (position, rotation) = (Vec3::from_slice(&q[start..]), Quat::from_slice(&q[start + 3..]));
        let moved = turn.to_matrix() * (position - a) + a;
        q[start..start + 3].copy_from_slice(&moved.to_array());
        q[start + 3..start + 7].copy_from_slice(&turn.compose(rotation).normalized()?.to_array());
        Some(q)
    }
}

/// Where the coordinates of the free base begin, and its body.
fn base(model: &Model) -> Result<(usize, BodyId), InputError> {
    let free = model.joints().iter().find(|j| j.kind == JointKind::Free);
    let missing = || InputError::Value { what: "free joints".into(), expected: "one, of the base", got: 0.0 };
    let free = free.ok_or_else(missing)?;
    Ok((free.q.start, free.body))
}

/// A box of even density on the back.
fn payload(mass: f64) -> BodyInertia {
    let [x, y, z] = PAYLOAD_SIZE.map(|s| s * s * mass / 12.0);
    let about_com = Sym3 { xx: y + z, yy: x + z, zz: x + y, ..Sym3::default() };
    BodyInertia { mass, com: Vec3::new(0.0, 0.0, BACK + 0.5 * PAYLOAD_SIZE[2]), about_com }
}

impl Real {
    fn load(&self, folder: &Path) -> Result<Model, LoadError> {
        let mut options = LoadOptions::default();
        (options.free_root, options.ground) = (true, true);
        options.package_dirs = vec![folder.join(self.packages)];
        options.pairs = PairChoice::File(folder.join(self.pairs));
        load_with(folder.join(self.file), &options)
    }
}

/// A robot that is not there.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StanceError {
    /// The built-in one.
    Builtin(BuiltinError),
    /// The one of the models folder.
    Load(LoadError),
    /// It lacks something, or numbers do not fit.
    Input(InputError),
}

impl fmt::Display for StanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StanceError::Builtin(e) => e.fmt(f),
            StanceError::Load(e) => e.fmt(f),
            StanceError::Input(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for StanceError {}

impl From<BuiltinError> for StanceError {
    fn from(e: BuiltinError) -> StanceError {
        StanceError::Builtin(e)
    }
}

impl From<LoadError> for StanceError {
    fn from(e: LoadError) -> StanceError {
        StanceError::Load(e)
    }
}

impl From<InputError> for StanceError {
    fn from(e: InputError) -> StanceError {
        StanceError::Input(e)
    }
}
