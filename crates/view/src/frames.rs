//! What moves: poses and contacts, thinned to a number of frames per second.

use crate::encode;
use serde_json::{Value, json};
use slipstick::Mode;
use slipstick::model::BodyId;
use slipstick::spatial::{Pose, Quat, Vec3};
use slipstick::step::ContactView;

/// Share of a frame by which a time may miss its grid, for sums of time steps are not round.
const ROUNDING: f64 = 1e-6;

/// A contact as it is drawn.
pub(crate) struct Mark {
    /// Where, world axes (m).
    point: Vec3,
    /// Force on the body that can move, world axes (N).
    force: Vec3,
    mode: Mode,
}

impl Mark {
    /// A contact of a step of length `dt` (s). Its force acts on body 2, or, where that is the world, on body 1.
    pub fn new(contact: &ContactView, dt: f64) -> Mark {
        let sign = if contact.bodies[1] == BodyId::WORLD { -1.0 } else { 1.0 };
        Mark { point: contact.point, force: contact.impulse * (sign / dt), mode: contact.mode }
    }
}

/// Frames one after the other, each with a pose per moving body and its contacts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frames {
    /// (s), rising.
    times: Vec<f64>,
    /// Seven numbers per frame and moving body: position (m), quaternion (x, y, z, w).
    poses: Vec<f32>,
    /// Where the contacts of each frame end.
    ends: Vec<u32>,
    /// Six numbers per contact: point (m), force (N).
    contacts: Vec<f32>,
    /// One per contact.
    modes: Vec<u8>,
    /// Whether the last frame came before its time: it is shown only if none follows.
    early: bool,
    /// Time of the next frame (s).
    due: f64,
    /// Time of the last state, as it was given (s).
    last: Option<f64>,
    /// What is added to the time of states, so that a motion begun anew follows on the last one (s).
    shift: f64,
}

impl Frames {
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Bytes of all frames.
    pub fn bytes(&self) -> usize {
        8 * self.times.len() + 4 * (self.poses.len() + self.contacts.len() + self.ends.len()) + self.modes.len()
    }

    /// Adds a frame for `time` (s), in the place of the last one if that came before its time. `dt` (s) is the length of the
    /// step that led there: where time stands still, as it does in steps that all begin at time zero, it goes on by that.
    pub fn push(&mut self, time: f64, dt: f64, rate: f64, poses: &[f32], marks: impl Iterator<Item = Mark>) {
        if self.last == Some(time) {
            self.shift += dt;
        }
        self.last = Some(time);
        let mut now = time + self.shift;
        match self.times.last() {
            Some(&last) if now < last => {
                now = last + 1.0 / rate;
                self.shift = now - time;
            }
            Some(_) if self.early => self.pop(poses.len()),
            _ => {}
        }
        self.early = self.len() > 0 && now * rate + ROUNDING < self.due * rate;
        if !self.early {
            self.due = ((now * rate + ROUNDING).floor() + 1.0) / rate;
        }
        self.times.push(now);
        self.poses.extend_from_slice(poses);
        for mark in marks {
            self.contacts.extend([mark.point, mark.force].iter().flat_map(|x| x.to_array()).map(|x| x as f32));
            self.modes.push(mode_number(mark.mode));
        }
        self.ends.push(self.modes.len() as u32);
    }

    fn pop(&mut self, width: usize) {
        self.times.pop();
        self.poses.truncate(self.poses.len() - width);
        self.ends.pop();
        let contacts = self.ends.last().map_or(0, |end| *end as usize);
        self.contacts.truncate(6 * contacts);
        self.modes.truncate(contacts);
    }

    pub fn to_json(&self) -> Value {
        json!({
            "count": self.len(),
            "times": encode::doubles(&self.times),
            "poses": encode::floats(&self.poses),
            "ends": encode::integers(&self.ends),
            "contacts": encode::floats(&self.contacts),
            "modes": encode::octets(&self.modes),
        })
    }
}

/// The seven numbers of a pose.
pub(crate) fn seven(pose: &Pose) -> [f32; 7] {
    let (p, q) = (pose.position, Quat::from_matrix(&pose.rotation));
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(|x| x as f32)
}

/// As `modes` in `web/src/contacts.js`.
fn mode_number(mode: Mode) -> u8 {
    match mode {
        Mode::Break => 0,
        Mode::Stick => 1,
        Mode::Slide => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(x: f64) -> Mark {
        Mark { point: Vec3::new(x, 0.0, 0.0), force: Vec3::ZERO, mode: Mode::Slide }
    }

    fn frames(times: &[f64], rate: f64) -> Frames {
        let mut frames = Frames::default();
        times.iter().for_each(|t| frames.push(*t, 0.0, rate, &[*t as f32; 7], [mark(*t)].into_iter()));
        frames
    }

    fn near(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn a_second_of_small_steps_becomes_frames_and_its_end() {
        let times: Vec<f64> = (0..=1003).map(|k| f64::from(k) * 1e-3).collect();
        let frames = frames(&times, 50.0);
        assert_eq!(frames.len(), 52);
        assert!(near(&frames.times[..3], &[0.0, 0.02, 0.04]) && near(&frames.times[50..], &[1.0, 1.003]));
        assert_eq!((frames.poses.len(), frames.contacts.len(), frames.modes.len()), (52 * 7, 52 * 6, 52));
        assert_eq!(frames.poses.last(), Some(&1.003_f32));
        assert_eq!(frames.ends, (1..=52).collect::<Vec<_>>());
    }

    #[test]
    fn steps_longer_than_a_frame_are_all_kept() {
        assert!(near(&frames(&[0.0, 0.1, 0.2, 0.3], 5.0).times, &[0.0, 0.2, 0.3]));
        assert!(near(&frames(&[0.0, 0.5, 1.0, 1.5], 60.0).times, &[0.0, 0.5, 1.0, 1.5]));
    }

    #[test]
    fn a_motion_that_begins_anew_follows_on_the_last_one() {
        let frames = frames(&[0.0, 0.1, 0.15, 0.0, 0.1, 0.2], 10.0);
        assert!(near(&frames.times, &[0.0, 0.1, 0.15, 0.25, 0.35, 0.45]), "{:?}", frames.times);
        assert_eq!(frames.poses[3 * 7], 0.0);
    }

    #[test]
    fn states_without_contacts_leave_the_marks_of_others_alone() {
        let mut frames = Frames::default();
        frames.push(0.0, 0.0, 10.0, &[], [mark(1.0), mark(2.0)].into_iter());
        frames.push(0.1, 0.0, 10.0, &[], std::iter::empty());
        frames.push(0.2, 0.0, 10.0, &[], [mark(3.0)].into_iter());
        assert_eq!(frames.ends, [2, 2, 3]);
    }
}
