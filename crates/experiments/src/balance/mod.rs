//! Poses in which a robot can rest: found near a wanted one, and tried.
//!
//! [`balance`] moves the base and all joints as little as it can until chosen bodies stand on the floor with their
//! lowest points and the center of mass is above what they span; [`rest`] then tells whether contact forces exist that
//! keep the robot there. Two round feet span a line, and the center of mass must be above it to the last digit.

mod error;
mod motion;
mod problem;
mod statics;
mod support;

pub use error::BalanceError;
pub use statics::{Rest, Support, rest};

use problem::Reach;
use slipstick::Model;
use slipstick::model::BodyId;
use slipstick::optimize::{Method, OptimizeError, Options, minimize};

/// A body that is to stand on the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// The body.
    pub body: BodyId,
    /// With how many of its lowest points: one for a ball or a corner, two for an edge.
    pub points: usize,
}

/// Price of leaving the wanted pose (m per rad or m), compared with heights and the way to the supports (m).
const PRICE: f64 = 0.01;

/// Height of a support and distance from between the supports that count as none (m).
const CLOSE: f64 = 1e-12;

/// A pose near `wanted` (nq) in which the robot stands on `touches` and can rest. Joints stay within their ranges.
pub fn balance(model: &Model, wanted: &[f64], touches: &[Touch]) -> Result<Rest, BalanceError> {
    let mut reach = Reach::new(model, wanted, touches)?;
    // first near the wanted pose, then all the way: what holds a pose together must not also hold it back
    let options = Options { method: Method::LevenbergMarquardt, gradient_tolerance: 1e-9, ..Options::default() };
    let near = minimize(&mut reach, &vec![0.0; model.nv()], &options, |_| ()).map_err(failed)?;
    reach.price = 0.0;
    let exact = minimize(&mut reach, &near.x, &Options { tolerance: 1e-15, ..Options::default() }, |_| ());
    let found = exact.map_err(failed)?;
    let [gap, offset] = reach.misses(&found.residual);
    if gap.max(offset) > CLOSE {
        return Err(BalanceError::NotFound { gap, offset });
    }
    let rest = rest(model, &reach.configuration(&found.x)?)?;
    stands_as_wanted(model, &rest, touches)?;
    Ok(rest)
}

fn failed(e: OptimizeError<BalanceError>) -> BalanceError {
    match e {
        OptimizeError::Problem { error, .. } => error,
        OptimizeError::Input(e) => BalanceError::Input(e),
        _ => BalanceError::NotFound { gap: f64::NAN, offset: f64::NAN },
    }
}

/// Refuses a pose in which collision detection sees none where a body is to stand, or others.
fn stands_as_wanted(model: &Model, rest: &Rest, touches: &[Touch]) -> Result<(), BalanceError> {
    let name = |b: BodyId| model.bodies()[b.0].name.clone();
    let bears = |t: &Touch| rest.supports.iter().any(|s| s.bodies.contains(&t.body));
    if let Some(t) = touches.iter().find(|t| !bears(t)) {
        return Err(BalanceError::Aloft { body: name(t.body) });
    }
    let wanted = |s: &Support| touches.iter().any(|t| s.bodies.contains(&t.body));
    match rest.supports.iter().find(|s| !wanted(s)) {
        Some(s) => Err(BalanceError::Touches { bodies: s.bodies.map(name), distance: s.distance }),
        None => Ok(()),
    }
}
