//! Poses as they come back: a rotation is written as a quaternion, and reading makes a matrix of it again. Numbers are
//! chosen so that the same ones are written then; writing what has been read changes nothing. To this end they are rounded
//! to a grid a little wider than the noise of the computation.

use slipstick_core::spatial::{Mat3, Pose, Quat, Vec3};
use std::cmp::Ordering;

/// Rounding settles, or goes around in a small circle, after this many rounds.
const ROUNDS: usize = 64;
/// Points of the grid per one of a quaternion, and per meter.
const TURNS: f64 = 1e15;
const PLACES: f64 = 1e14;

/// Where repeating a step ends: the value that it leaves as it is, or the least one of the circle.
fn settled<T: Clone + PartialEq>(start: T, step: impl Fn(&T) -> T, numbers: impl Fn(&T) -> [f64; 7]) -> T {
    let mut met = vec![start];
    for round in 0..ROUNDS {
        let next = step(&met[round]);
        if let Some(first) = met.iter().position(|old| *old == next) {
            met.drain(..first);
            break;
        }
        met.push(next);
    }
    let least = |a: &&T, b: &&T| numbers(a).partial_cmp(&numbers(b)).unwrap_or(Ordering::Equal);
    met.iter().min_by(least).cloned().unwrap_or_else(|| met[0].clone())
}

/// The quaternion of a rotation, such that what is read from it is written as the same one.
pub(super) fn steady(rotation: &Mat3) -> Quat {
    let numbers = |turn: &Quat| {
        let [w, x, y, z] = turn.to_array();
        [w, x, y, z, 0.0, 0.0, 0.0]
    };
    settled(rounded(rotation), |turn| rounded(&read(*turn)), numbers)
}

/// The direction of a joint, which a reader makes a unit vector again.
pub(super) fn steady_axis(axis: Vec3) -> Vec3 {
    let rounded = |v: Vec3| Vec3::from(v.to_array().map(|x| on_grid(x, TURNS)));
    let numbers = |v: &Vec3| [v.x, v.y, v.z, 0.0, 0.0, 0.0, 0.0];
    settled(rounded(axis), |v| rounded(v.normalized().unwrap_or(*v)), numbers)
}

fn rounded(rotation: &Mat3) -> Quat {
    Quat::from_slice(&Quat::from_matrix(rotation).to_array().map(|x| on_grid(x, TURNS)))
}

/// The nearest point of a grid; numbers that are too large for it stay.
fn on_grid(x: f64, points: f64) -> f64 {
    let scaled = x * points;
    if scaled.is_finite() { scaled.round() / points } else { x }
}

/// The matrix that a reader makes of a quaternion.
fn read(turn: Quat) -> Mat3 {
    turn.normalized().unwrap_or(turn).to_matrix()
}

/// A pose after writing and reading.
fn read_again(pose: &Pose) -> Pose {
    if pose.rotation == Mat3::IDENTITY {
        return *pose;
    }
    Pose { position: pose.position, rotation: read(steady(&pose.rotation)) }
}

/// A pose seen from a frame that is written too, such that both read and written once more give the same one.
pub(super) fn seen_from(frame: &Pose, pose: &Pose) -> Pose {
    if *frame == Pose::IDENTITY {
        return *pose;
    }
    let frame = read_again(frame);
    let inverse = frame.inverse();
    let numbers = |local: &Pose| {
        let ([x, y, z], [w, i, j, k]) = (local.position.to_array(), steady(&local.rotation).to_array());
        [x, y, z, w, i, j, k]
    };
    let local = |pose: &Pose| {
        let Pose { position, rotation } = inverse * *pose;
        let position = Vec3::from(position.to_array().map(|x| on_grid(x, PLACES)));
        read_again(&Pose { position, rotation })
    };
    settled(local(pose), |written| local(&(frame * *written)), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick_core::random::Rng;

    fn pose(draw: &mut Rng) -> Pose {
        let mut number = || draw.sign();
        let turn = Quat::from_slice(&[number(), number(), number(), number()]);
        Pose::new(Vec3::new(number(), number(), number()), turn.normalized().unwrap())
    }

    #[test]
    fn quaternions_come_back_as_they_are() {
        let mut draw = Rng(5);
        for _ in 0..10_000 {
            let turn = steady(&pose(&mut draw).rotation);
            assert_eq!(steady(&read(turn)), turn);
        }
    }

    #[test]
    fn poses_in_frames_come_back_as_they_are() {
        let mut draw = Rng(6);
        let same = (0..1000).filter(|_| {
            let (frame, body) = (pose(&mut draw), pose(&mut draw));
            let written = seen_from(&frame, &body);
            let (frame, body) = (read_again(&frame), read_again(&frame) * read_again(&written));
            let again = seen_from(&frame, &body);
            again.position == written.position && steady(&again.rotation) == steady(&written.rotation)
        });
        assert_eq!(same.count(), 1000);
    }
}
