//! The recorder: states in, a page out.

use crate::error::ViewError;
use crate::frames::{Frames, Mark, seven};
use crate::{page, scene};
use slipstick::dynamics::Workspace;
use slipstick::model::BodyId;
use slipstick::step::ContactView;
use slipstick::{InputError, Model, State, Step, Trajectory};
use std::io::Write;
use std::path::Path;

/// Frames per second unless told otherwise: as many as a screen shows.
const FRAME_RATE: f64 = 60.0;
/// Bytes of frames beyond which browsers give up on a page, whose text is a third longer.
const MOST_BYTES: usize = 256 << 20;

/// A motion to be shown: poses of all bodies and what their contacts do.
///
/// States come in the order of time. Those between two frames are left out, the last one is kept. A time before the last
/// one begins another motion, which is shown after it. Steps that all end at one time, because each began at time zero, are
/// shown one after the other.
#[derive(Debug, Clone)]
pub struct Replay {
    model: Model,
    work: Workspace,
    title: String,
    rate: f64,
    frames: Frames,
    /// Poses of the frame being recorded.
    poses: Vec<f32>,
    /// Poses of the mocap bodies in it; empty: those of the model.
    mocap: Vec<f64>,
}

impl Replay {
    /// Nothing recorded yet; the title is the model's name.
    pub fn new(model: &Model) -> Replay {
        Replay {
            model: model.clone(),
            work: Workspace::new(model),
            title: model.name().into(),
            rate: FRAME_RATE,
            frames: Frames::default(),
            poses: Vec::new(),
            mocap: Vec::new(),
        }
    }

    /// Another title.
    pub fn with_title(mut self, title: impl Into<String>) -> Replay {
        self.title = title.into();
        self
    }

    /// At most so many frames per second of simulated time, from here on.
    pub fn with_frame_rate(mut self, rate: f64) -> Result<Replay, ViewError> {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(
                InputError::Value { what: "frame rate".into(), expected: "a positive number", got: rate }.into()
            );
        }
        self.rate = rate;
        Ok(self)
    }

    /// The model it was made for.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Number of frames so far.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Where mocap bodies are in the states to come (7 numbers each; none: as in the file). Steps and trajectories know it.
    pub fn set_mocap(&mut self, poses: &[f64]) -> Result<(), ViewError> {
        self.model.check_mocap(poses)?;
        self.mocap.clear();
        self.mocap.extend_from_slice(poses);
        Ok(())
    }

    /// A state, without contacts.
    pub fn record_state(&mut self, x: &State) -> Result<(), ViewError> {
        self.push(&x.q, x.time, 0.0, std::iter::empty())
    }

    /// The state after a step, with the contacts of the step. Its time step is that of the replay's model.
    pub fn record(&mut self, step: &Step, next: &State) -> Result<(), ViewError> {
        self.mocap.clear();
        self.mocap.extend(step.mocap());
        self.record_contacts(next, step.contacts(), self.model.options().dt)
    }

    /// The state after a step of length `dt` (s), with contacts that were taken from it.
    pub fn record_contacts(
        &mut self,
        next: &State,
        contacts: impl IntoIterator<Item = ContactView>,
        dt: f64,
    ) -> Result<(), ViewError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(InputError::Value { what: "dt".into(), expected: "a positive number", got: dt }.into());
        }
        self.push(&next.q, next.time, dt, contacts.into_iter().map(|c| Mark::new(&c, dt)))
    }

    /// All states of a trajectory, each with the contacts of the step that leads to it if the trajectory has them
    /// ([`Trajectory::with_contacts`]).
    pub fn record_trajectory(&mut self, t: &Trajectory) -> Result<(), ViewError> {
        let [nq, _, _] = t.sizes;
        t.time.iter().enumerate().try_for_each(|(k, time)| {
            let q = t.q.get(nq * k..nq * (k + 1)).unwrap_or_default();
            self.mocap.clear();
            self.mocap.extend_from_slice(t.mocap_of(k));
            let contacts = k.checked_sub(1).and_then(|step| t.contacts_of(step)).unwrap_or_default();
            self.push(q, *time, 0.0, contacts.iter().map(|c| Mark::new(c, t.dt)))
        })
    }

    fn push(&mut self, q: &[f64], time: f64, dt: f64, marks: impl Iterator<Item = Mark>) -> Result<(), ViewError> {
        if !time.is_finite() {
            return Err(InputError::Value { what: "time".into(), expected: "a finite number", got: time }.into());
        }
        if self.frames.bytes() > MOST_BYTES {
            return Err(ViewError::TooLarge { bytes: self.frames.bytes(), most: MOST_BYTES });
        }
        self.work.set_mocap(&self.model, &self.mocap)?;
        self.work.kinematics(&self.model, q)?;
        self.poses.clear();
        for (k, body) in self.model.bodies().iter().enumerate().skip(1) {
            let pose = seven(&self.work.body_pose(BodyId(k))?);
            if !pose.iter().all(|x| x.is_finite()) {
                return Err(ViewError::OutOfSight { body: body.name.clone(), time });
            }
            self.poses.extend(pose);
        }
        self.frames.push(time, dt, self.rate, &self.poses, marks);
        Ok(())
    }

    /// The page. It needs no other file and no network.
    pub fn to_html(&self) -> Result<String, ViewError> {
        if self.frames.len() == 0 {
            return Err(ViewError::Empty { model: self.model.name().into() });
        }
        Ok(page::render(&self.title, &scene::to_json(&self.model, &self.title, &self.frames), page::SCRIPT))
    }

    /// Writes the page into a file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ViewError> {
        let path = path.as_ref();
        let html = self.to_html()?;
        slipstick::files::write_file(path, |out| out.write_all(html.as_bytes()))
            .map_err(|error| ViewError::Io { path: path.display().to_string(), error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick::control::{Controller, Random};
    use slipstick::{Data, Input, Simulator, builtin, step};

    fn stands() -> (Model, State) {
        let model = builtin("quadruped").unwrap();
        let x = State::keyframe(&model, "home").unwrap();
        (model, x)
    }

    #[test]
    fn ten_seconds_of_a_quadruped_are_small() {
        let (model, _) = stands();
        let mut sim = Simulator::new(&model);
        let trajectory = sim.rollout(10_000, &mut Controller::Random(Random::new(1))).unwrap();
        let mut replay = Replay::new(&model);
        replay.record_trajectory(&trajectory).unwrap();
        assert_eq!(replay.frames(), 601);
        let bytes = scene::to_json(&model, "", &replay.frames).to_string().len();
        assert!(bytes < 500_000, "{bytes} bytes");
    }

    #[test]
    fn a_step_is_recorded_with_the_forces_that_carry_the_robot() {
        let (model, x) = stands();
        let (mut data, mut next, mut replay) = (Data::new(&model), x.clone(), Replay::new(&model));
        replay.record_state(&x).unwrap();
        let done = step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
        let contacts = done.contacts().count();
        replay.record(&done, &next).unwrap();
        assert_eq!((replay.frames(), contacts), (2, 4));
        let told = replay.frames.to_json();
        assert_eq!(told["ends"], crate::encode::integers(&[0, 4]));
        assert_eq!(told["modes"].as_str().map(str::len), Some(8));
    }

    #[test]
    fn steps_that_all_begin_at_time_zero_follow_each_other() {
        let (model, x) = stands();
        let (mut data, mut replay, dt) = (Data::new(&model), Replay::new(&model), model.options().dt);
        let (mut from, mut next) = (x.clone(), x.clone());
        for _ in 0..200 {
            from.time = 0.0;
            let done = step(&model, &mut data, &from, &Input::default(), &mut next).unwrap();
            replay.record(&done, &next).unwrap();
            std::mem::swap(&mut from, &mut next);
        }
        assert_eq!(replay.frames(), (200.0 * dt * FRAME_RATE).floor() as usize + 1);
    }

    #[test]
    fn what_cannot_be_shown_is_refused_and_leaves_no_frame() {
        let (model, x) = stands();
        let mut replay = Replay::new(&model);
        let error = |result: Result<(), ViewError>| result.unwrap_err().to_string();
        let changed = |change: fn(&mut State)| {
            let mut y = x.clone();
            change(&mut y);
            y
        };
        let short = changed(|x| _ = x.q.pop());
        assert_eq!(error(replay.record_state(&short)), "replay: q: expected 19 numbers, got 18");
        let broken = changed(|x| x.q[2] = f64::NAN);
        assert_eq!(error(replay.record_state(&broken)), "replay: q[2] is not a finite number");
        let timeless = changed(|x| x.time = f64::NAN);
        assert_eq!(error(replay.record_state(&timeless)), "replay: time: expected a finite number, got NaN");
        let far = changed(|x| x.q[0] = 1e50);
        assert_eq!(error(replay.record_state(&far)), "replay: body 'trunk' is too far away to be shown at 0 s");
        assert_eq!(error(replay.record_contacts(&x, [], 0.0)), "replay: dt: expected a positive number, got 0");
        assert_eq!(replay.frames(), 0);
        assert!(Replay::new(&model).with_frame_rate(f64::NAN).is_err_and(|e| e.to_string().contains("frame rate")));
    }

    #[test]
    fn a_page_needs_frames_and_a_place_to_be_written() {
        let (model, x) = stands();
        let mut replay = Replay::new(&model).with_title("a \"b\" </title>");
        let empty = replay.to_html().unwrap_err().to_string();
        assert_eq!(empty, "replay of 'quadruped': expected at least one frame, got none");
        replay.record_state(&x).unwrap();
        let page = replay.to_html().unwrap();
        assert!(page.contains("<title>a \"b\" &lt;/title&gt;</title>"));
        assert!((300_000..2_000_000).contains(&page.len()), "{} bytes", page.len());
        let error = replay.save("/nowhere/at/all.html").unwrap_err();
        assert!(matches!(error, ViewError::Io { .. }) && error.to_string().contains("cannot be written"), "{error}");
    }
}
