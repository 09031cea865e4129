//! Which joint of Pinocchio is which of ours, and what has to be done to its numbers.

use slipstick_core::Model;
use slipstick_core::model::{Joint, JointKind};
use std::fmt;

/// A joint of a Pinocchio model, as its Python objects tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinJoint {
    /// `model.names[i]`.
    pub name: String,
    /// From `model.joints[i].shortname()`.
    pub kind: PinKind,
    /// First coordinate in Pinocchio's q.
    pub idx_q: usize,
    /// First dof in Pinocchio's v.
    pub idx_v: usize,
    /// Place of the joint that carries it among the joints handed over; `None`: the universe.
    pub parent: Option<usize>,
}

/// Joints of Pinocchio that have a counterpart here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinKind {
    /// An angle (nq 1, nv 1).
    Revolute,
    /// An angle as cosine and sine (nq 2, nv 1).
    RevoluteUnbounded,
    /// A length (nq 1, nv 1).
    Prismatic,
    /// A quaternion (nq 4, nv 3).
    Spherical,
    /// A position (nq 3, nv 3); carries a spherical joint, the two being a free joint.
    Translation,
    /// A position in the plane, cosine and sine (nq 4, nv 3).
    Planar,
    /// A position and a quaternion (nq 7, nv 6).
    FreeFlyer,
}

impl PinKind {
    /// The kind that Pinocchio calls by this `shortname()`; `None` for kinds without counterpart.
    pub fn from_shortname(name: &str) -> Option<PinKind> {
        Some(match name.strip_prefix("JointModel")? {
            "RX" | "RY" | "RZ" | "RevoluteUnaligned" => PinKind::Revolute,
            "RUBX" | "RUBY" | "RUBZ" | "RevoluteUnboundedUnaligned" => PinKind::RevoluteUnbounded,
            "PX" | "PY" | "PZ" | "PrismaticUnaligned" => PinKind::Prismatic,
            "Spherical" => PinKind::Spherical,
            "Translation" => PinKind::Translation,
            "Planar" => PinKind::Planar,
            "FreeFlyer" => PinKind::FreeFlyer,
            _ => return None,
        })
    }

    /// The word used in messages.
    pub const fn name(self) -> &'static str {
        match self {
            PinKind::Revolute => "revolute",
            PinKind::RevoluteUnbounded => "unbounded revolute",
            PinKind::Prismatic => "prismatic",
            PinKind::Spherical => "spherical",
            PinKind::Translation => "translation",
            PinKind::Planar => "planar",
            PinKind::FreeFlyer => "free-flyer",
        }
    }
}

/// Two descriptions that are not of one robot.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapError {
    /// A joint of the model that Pinocchio does not have.
    MissingInPinocchio {
        /// Its name.
        joint: String,
    },
    /// A joint of Pinocchio that the model does not have.
    MissingInModel {
        /// Its name.
        joint: String,
    },
    /// Joints of one name that move differently.
    Kind {
        /// The name.
        joint: String,
        /// How it moves in the model.
        ours: &'static str,
        /// How it moves in Pinocchio.
        pinocchio: &'static str,
    },
    /// Numbers of a joint of Pinocchio lie outside its q or v.
    Layout {
        /// Its name.
        joint: String,
    },
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::MissingInPinocchio { joint } => {
                write!(f, "joint '{joint}' has no partner in the Pinocchio model")
            }
            MapError::MissingInModel { joint } => write!(f, "joint '{joint}' of the Pinocchio model has no partner"),
            MapError::Kind { joint, ours, pinocchio } => {
                write!(f, "joint '{joint}' is {ours} here and {pinocchio} in the Pinocchio model")
            }
            MapError::Layout { joint } => {
                write!(f, "the numbers of joint '{joint}' lie outside q or v of the Pinocchio model")
            }
        }
    }
}

impl std::error::Error for MapError {}

/// Numbers that belong together in both models.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub rule: Rule,
    /// First coordinate in q, first dof in v.
    pub q: usize,
    pub v: usize,
    /// First coordinate and dof in Pinocchio.
    pub pin_q: usize,
    pub pin_v: usize,
}

/// How they differ. Pinocchio's scalar joints are zero where the body was described, ours at a reference.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    Number { reference: f64 },
    Angle { reference: f64 },
    Position,
    Ball,
    Planar,
    FreeFlyer,
}

impl Rule {
    pub fn nv(self) -> usize {
        match self {
            Rule::Number { .. } | Rule::Angle { .. } => 1,
            Rule::Position | Rule::Ball | Rule::Planar => 3,
            Rule::FreeFlyer => 6,
        }
    }

    pub fn pin_nq(self) -> usize {
        match self {
            Rule::Number { .. } => 1,
            Rule::Angle { .. } => 2,
            Rule::Position => 3,
            Rule::Ball | Rule::Planar => 4,
            Rule::FreeFlyer => 7,
        }
    }
}

/// All pairs of a model and Pinocchio's joints, none left over on either side.
pub(super) fn pair(model: &Model, joints: &[PinJoint]) -> Result<Vec<Pair>, MapError> {
    let (mut pairs, mut used) = (Vec::new(), vec![false; joints.len()]);
    for ours in model.joints() {
        let partner = partner(model, joints, ours).filter(|k| !used[*k]);
        let k = partner.ok_or_else(|| MapError::MissingInPinocchio { joint: ours.name.clone() })?;
        used[k] = true;
        if let Some(t) = translation_below(joints, k).filter(|_| ours.kind == JointKind::Free) {
            used[t] = true;
            pairs.push(joined(Rule::Position, ours.q.start, ours.v.start, &joints[t]));
            pairs.push(joined(Rule::Ball, ours.q.start + 3, ours.v.start + 3, &joints[k]));
        } else {
            let rule = rule(ours, joints[k].kind, model.neutral())?;
            pairs.push(joined(rule, ours.q.start, ours.v.start, &joints[k]));
        }
    }
    if let Some(k) = used.iter().position(|used| !used) {
        return Err(MapError::MissingInModel { joint: joints[k].name.clone() });
    }
    check_layout(&pairs, model, joints)?;
    Ok(pairs)
}

fn joined(rule: Rule, q: usize, v: usize, pin: &PinJoint) -> Pair {
    Pair { rule, q, v, pin_q: pin.idx_q, pin_v: pin.idx_v }
}

/// The namesake; for a free joint without one, the only free joint of Pinocchio whose name we do not have.
/// (Pinocchio calls the root `root_joint` whatever the file says.)
fn partner(model: &Model, joints: &[PinJoint], ours: &Joint) -> Option<usize> {
    let namesake = joints.iter().position(|j| j.name == ours.name);
    if namesake.is_some() || ours.kind != JointKind::Free {
        return namesake;
    }
    let is_free = |k: usize| joints[k].kind == PinKind::FreeFlyer || translation_below(joints, k).is_some();
    let mut strangers = (0..joints.len()).filter(|k| is_free(*k) && model.joint(&joints[*k].name).is_err());
    let first = strangers.next();
    if strangers.next().is_none() { first } else { None }
}

/// The translation that carries spherical joint `k`.
fn translation_below(joints: &[PinJoint], k: usize) -> Option<usize> {
    let parent = joints[k].parent.filter(|_| joints[k].kind == PinKind::Spherical)?;
    joints.get(parent).filter(|p| p.kind == PinKind::Translation).map(|_| parent)
}

fn rule(ours: &Joint, theirs: PinKind, neutral: &[f64]) -> Result<Rule, MapError> {
    let reference = neutral[ours.q.start];
    match (ours.kind, theirs) {
        (JointKind::Revolute { .. }, PinKind::Revolute) => Ok(Rule::Number { reference }),
        (JointKind::Prismatic { .. }, PinKind::Prismatic) => Ok(Rule::Number { reference }),
        (JointKind::Revolute { .. }, PinKind::RevoluteUnbounded) => Ok(Rule::Angle { reference }),
        (JointKind::Spherical, PinKind::Spherical) => Ok(Rule::Ball),
        (JointKind::Planar, PinKind::Planar) => Ok(Rule::Planar),
        (JointKind::Free, PinKind::FreeFlyer) => Ok(Rule::FreeFlyer),
        (kind, _) => Err(MapError::Kind { joint: ours.name.clone(), ours: kind.name(), pinocchio: theirs.name() }),
    }
}

/// Every pair lies inside Pinocchio's vectors, whose sizes are the sums over its joints.
fn check_layout(pairs: &[Pair], model: &Model, joints: &[PinJoint]) -> Result<(), MapError> {
    let nq: usize = pairs.iter().map(|p| p.rule.pin_nq()).sum();
    let ends = |p: &Pair| (p.pin_q.checked_add(p.rule.pin_nq()), p.pin_v.checked_add(p.rule.nv()));
    let fits = |p: &Pair| matches!(ends(p), (Some(q), Some(v)) if q <= nq && v <= model.nv());
    match pairs.iter().find(|p| !fits(p)) {
        None => Ok(()),
        Some(bad) => {
            let joint = joints.iter().find(|j| j.idx_q == bad.pin_q && j.idx_v == bad.pin_v);
            Err(MapError::Layout { joint: joint.map_or(String::new(), |j| j.name.clone()) })
        }
    }
}
