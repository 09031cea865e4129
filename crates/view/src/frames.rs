//! What moves: poses, contacts and curves, thinned to a number of frames per second.

use crate::encode;
use crate::marks::{Mark, Marks};
use serde_json::{Value, json};
use slipstick::Status;
use slipstick::spatial::{Pose, Quat};

/// Share of a frame by which a time may miss its grid, for sums of time steps are not round.
const ROUNDING: f64 = 1e-6;

/// What is told of one state.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shot {
    /// Seven numbers per moving body: position (m), quaternion (x, y, z, w).
    pub poses: Vec<f32>,
    /// Contacts of the step that led there.
    pub marks: Vec<Mark>,
    /// A number per curve; NaN: not known.
    pub curves: Vec<f32>,
    /// How the solve of that step ended; `None`: there was no step.
    pub status: Option<Status>,
}

/// Rows of numbers, one per frame.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    pub width: usize,
    pub numbers: Vec<f32>,
}

impl Rows {
    /// So many rows without a known number.
    pub fn unknown(width: usize, rows: usize) -> Rows {
        Rows { width, numbers: vec![f32::NAN; width * rows] }
    }

    fn push_unknown(&mut self) {
        self.numbers.extend(std::iter::repeat_n(f32::NAN, self.width));
    }

    fn pop(&mut self) {
        self.numbers.truncate(self.numbers.len() - self.width);
    }

    /// Replaces the last row.
    pub fn set_last(&mut self, row: impl IntoIterator<Item = f64>) {
        let first = self.numbers.len() - self.width;
        self.numbers[first..].iter_mut().zip(row).for_each(|(to, from)| *to = from as f32);
    }
}

/// Frames one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frames {
    /// (s), rising.
    times: Vec<f64>,
    poses: Vec<f32>,
    marks: Marks,
    curves: Vec<f32>,
    /// Numbers of [`status_number`].
    status: Vec<u8>,
    /// What is attached to frames after they were recorded: gradients, changes of the motion.
    pub attached: Vec<Rows>,
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
        let attached: usize = self.attached.iter().map(|rows| rows.numbers.len()).sum();
        9 * self.times.len() + 4 * (self.poses.len() + self.curves.len() + attached) + self.marks.bytes()
    }

    /// Whether a state at this time makes a frame that stays.
    pub fn is_due(&self, time: f64, dt: f64, rate: f64) -> bool {
        let shift = if self.last == Some(time) { self.shift + dt } else { self.shift };
        let now = time + shift;
        self.times.is_empty() || self.times.last().is_some_and(|last| now < *last) || !self.comes_early(now, rate)
    }

    fn comes_early(&self, now: f64, rate: f64) -> bool {
        self.len() > 0 && now * rate + ROUNDING < self.due * rate
    }

    /// Adds a frame for `time` (s), in the place of the last one if that came before its time. `dt` (s) is the length of the
    /// step that led there: where time stands still, as it does in steps that all begin at time zero, it goes on by that.
    pub fn push(&mut self, time: f64, dt: f64, rate: f64, shot: &Shot) {
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
            Some(_) if self.early => self.pop(shot),
            _ => {}
        }
        self.early = self.comes_early(now, rate);
        if !self.early {
            self.due = ((now * rate + ROUNDING).floor() + 1.0) / rate;
        }
        self.times.push(now);
        self.poses.extend_from_slice(&shot.poses);
        self.curves.extend_from_slice(&shot.curves);
        self.marks.push(&shot.marks);
        self.status.push(status_number(shot.status));
        self.attached.iter_mut().for_each(Rows::push_unknown);
    }

    /// Removes the last frame, which is as wide as all others.
    fn pop(&mut self, shot: &Shot) {
        self.times.pop();
        self.poses.truncate(self.poses.len() - shot.poses.len());
        self.curves.truncate(self.curves.len() - shot.curves.len());
        self.marks.pop();
        self.status.pop();
        self.attached.iter_mut().for_each(Rows::pop);
    }

    /// The numbers of a curve.
    pub fn curve(&self, k: usize) -> Vec<f32> {
        let width = self.curves.len().checked_div(self.len()).unwrap_or(0);
        self.curves.iter().skip(k).step_by(width.max(1)).copied().collect()
    }

    /// Poses and contacts; the rest is told beside them.
    pub fn to_json(&self) -> Value {
        json!({
            "count": self.len(),
            "times": encode::doubles(&self.times),
            "poses": encode::floats(&self.poses),
            "status": encode::octets(&self.status),
            "contacts": self.marks.to_json(),
        })
    }
}

/// The seven numbers of a pose.
pub(crate) fn seven(pose: &Pose) -> [f32; 7] {
    let (p, q) = (pose.position, Quat::from_matrix(&pose.rotation));
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(|x| x as f32)
}

/// Zero without a step, else one more than its place in [`Status::ALL`].
fn status_number(status: Option<Status>) -> u8 {
    let place = status.and_then(|s| Status::ALL.iter().position(|other| *other == s));
    place.map_or(0, |k| k as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(times: &[f64], rate: f64) -> Frames {
        let mut frames = Frames { attached: vec![Rows::unknown(2, 0)], ..Frames::default() };
        for t in times {
            let shot = Shot { poses: vec![*t as f32; 7], curves: vec![*t as f32; 3], ..Shot::default() };
            frames.push(*t, 0.0, rate, &shot);
        }
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
        assert_eq!((frames.poses.len(), frames.status.len(), frames.attached[0].numbers.len()), (52 * 7, 52, 52 * 2));
        assert_eq!(frames.poses.last(), Some(&1.003_f32));
        assert_eq!((frames.curve(1).len(), frames.curve(2)[51]), (52, 1.003));
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
    fn a_frame_is_due_exactly_where_it_stays() {
        let times: Vec<f64> = (0..=100).map(|k| f64::from(k) * 0.011).collect();
        let mut frames = Frames::default();
        for t in times {
            let (due, before) = (frames.is_due(t, 0.0, 20.0), frames.early);
            frames.push(t, 0.0, 20.0, &Shot::default());
            assert_eq!(due, !frames.early, "at {t} s, after an early one: {before}");
        }
    }

    #[test]
    fn what_is_attached_belongs_to_the_last_frame() {
        let mut frames = frames(&[0.0, 1.0], 1.0);
        frames.attached[0].set_last([3.0, 4.0]);
        let numbers = &frames.attached[0].numbers;
        assert!(numbers[..2].iter().all(|x| x.is_nan()) && numbers[2..] == [3.0, 4.0]);
    }
}
