//! The recorder: states in, a page out.

use crate::companions::{Companion, Place};
use crate::curves::{self, Known};
use crate::error::ViewError;
use crate::frames::{Frames, Shot, seven};
use crate::gradients::{self, Channels, InputGradient, Output};
use crate::marks::Mark;
use crate::perturbation::{self, Ghost, Perturbation};
use crate::visuals::Appearance;
use crate::{page, scene};
use serde_json::{Value, json};
use slipstick::dynamics::Workspace;
use slipstick::model::BodyId;
use slipstick::spatial::Vec3;
use slipstick::step::ContactView;
use slipstick::{InputError, Model, State, Step, Trajectory};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Frames per second unless told otherwise: as many as a screen shows.
const FRAME_RATE: f64 = 60.0;
/// Bytes of frames beyond which browsers give up on a page, whose text is a third longer.
const MOST_BYTES: usize = 256 << 20;

/// A motion to be shown: poses of all bodies, what their contacts do, and derivatives.
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
    channels: Channels,
    ghosts: Vec<Ghost>,
    companions: Vec<Companion>,
    /// The state being recorded.
    shot: Shot,
    /// Poses of the mocap bodies in it; empty: those of the model.
    mocap: Vec<f64>,
    /// What the model looks like, once it was asked for.
    appearance: OnceLock<Arc<Appearance>>,
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
            channels: Channels::default(),
            ghosts: Vec::new(),
            companions: Vec::new(),
            shot: Shot::default(),
            mocap: Vec::new(),
            appearance: OnceLock::new(),
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

    /// Shows the gradient of a number: with respect to forces on bodies, torques and friction, at the frames of steps to come
    /// that [`Replay::record`] is told.
    pub fn with_gradient_of(mut self, output: Output) -> Result<Replay, ViewError> {
        self.channels.add_output(&self.model, &mut self.frames, output)?;
        Ok(self)
    }

    /// Shows how the motion changes along a perturbation, to first order: a ghost whose size of change is set on the page.
    /// Every step to come must be told to [`Replay::record`].
    pub fn with_perturbation(mut self, name: &str, along: Perturbation) -> Result<Replay, ViewError> {
        self.ghosts.push(Ghost::new(&self.model, &mut self.frames, name, Some(along))?);
        Ok(self)
    }

    /// Shows another replay behind this one as a ghost. Its title is its name.
    pub fn with_ghost(mut self, other: Replay) -> Replay {
        self.companions.push(Companion { place: Place::Ghost, replay: other });
        self
    }

    /// Shows another replay beside this one, moved by `offset` (m).
    pub fn with_companion(mut self, other: Replay, offset: Vec3) -> Replay {
        self.companions.push(Companion { place: Place::Beside(offset), replay: other });
        self
    }

    /// The model it was made for.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Number of frames so far.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// What the page does not show: parts of the model's look, with file and reason, and gradients that do not exist. The page has
    /// the list as well. Reads the meshes and pictures of the model when it is first asked.
    pub fn warnings(&self) -> Vec<String> {
        let Channels { missing, reason, .. } = &self.channels;
        let gradients = reason.iter().map(|why| format!("{missing} gradients are not shown, the first because: {why}"));
        self.appearance().warnings.iter().cloned().chain(gradients).collect()
    }

    fn appearance(&self) -> &Appearance {
        self.appearance.get_or_init(|| Arc::new(Appearance::of(&self.model)))
    }

    /// The robot and what stands around it.
    pub(crate) fn robot_json(&self) -> Value {
        scene::robot(&self.model, self.appearance())
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
        self.shot.marks.clear();
        self.push(x.time, 0.0, Known { q: &x.q, v: &x.v, ..Known::default() })
    }

    /// A configuration, of which no velocity is known.
    pub fn record_configuration(&mut self, q: &[f64], time: f64) -> Result<(), ViewError> {
        self.shot.marks.clear();
        self.push(time, 0.0, Known { q, ..Known::default() })
    }

    /// The state after a step, with the contacts of the step and the gradients that are wanted.
    pub fn record(&mut self, step: &mut Step, next: &State) -> Result<(), ViewError> {
        if !step.model().shares_structure(&self.model) {
            return Err(InputError::WrongModel { what: "replay", got: step.model().name().into() }.into());
        }
        let dt = step.model().options().dt;
        let due = self.frames.is_due(next.time, dt, self.rate);
        self.mocap.clear();
        self.mocap.extend(step.mocap());
        self.shot.marks = match due {
            true => Mark::of_step(step),
            false => step.contacts().map(|c| Mark::new(&c, dt)).collect(),
        };
        self.shot.status = Some(step.report().status);
        let (input, report) = (step.input(), step.report());
        let solve = Some([report.residual, f64::from(report.iterations)]);
        let known = Known { q: &next.q, v: &next.v, ctrl: input.ctrl.unwrap_or_default(), tau: input.tau, solve };
        self.push(next.time, dt, known)?;
        self.ghosts.iter_mut().for_each(|ghost| ghost.advance(step));
        if due && self.channels.wanted() {
            for (rows, row) in self.channels.differentiate(&mut self.work, step, next)? {
                self.frames.attached[rows].set_last(row);
            }
        }
        self.attach_ghosts(&next.q)
    }

    fn attach_ghosts(&mut self, q: &[f64]) -> Result<(), ViewError> {
        for ghost in &self.ghosts {
            if let Some(dq) = ghost.change() {
                let twists = perturbation::twists(&self.model, &mut self.work, q, dq)?;
                self.frames.attached[ghost.rows()].set_last(twists);
            }
        }
        Ok(())
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
        self.shot.marks = contacts.into_iter().map(|c| Mark::new(&c, dt)).collect();
        self.push(next.time, dt, Known { q: &next.q, v: &next.v, ..Known::default() })
    }

    /// All states of a trajectory, each with the contacts of the step that leads to it if the trajectory has them
    /// ([`Trajectory::with_contacts`]).
    pub fn record_trajectory(&mut self, t: &Trajectory) -> Result<(), ViewError> {
        (0..t.states()).try_for_each(|k| self.record_state_of(t, k))
    }

    /// A state of a trajectory; what is attached afterwards belongs to it.
    pub fn record_state_of(&mut self, t: &Trajectory, k: usize) -> Result<(), ViewError> {
        let [nq, nv, nu] = t.sizes;
        let row = |x: &'static str, all: &[f64], width: usize, k: usize| {
            let row = all.get(width * k..width * (k + 1)).map(<[f64]>::to_vec);
            row.ok_or(InputError::OutOfRange { what: x, count: t.states(), got: k })
        };
        let (q, v) = (row("state", &t.q, nq, k)?, row("state", &t.v, nv, k)?);
        self.mocap.clear();
        self.mocap.extend_from_slice(t.mocap_of(k));
        self.shot.marks.clear();
        let Some(step) = k.checked_sub(1) else {
            return self.push(t.time[k], 0.0, Known { q: &q, v: &v, ..Known::default() });
        };
        self.shot.marks.extend(t.contacts_of(step).unwrap_or_default().iter().map(|c| Mark::new(c, t.dt)));
        self.shot.status = t.status.get(step).copied();
        let (ctrl, tau) = (row("ctrl", &t.ctrl, nu, step)?, row("tau", &t.tau, nv, step)?);
        let solve = t.residual.get(step).zip(t.iterations.get(step)).map(|(r, n)| [*r, f64::from(*n)]);
        self.push(t.time[k], 0.0, Known { q: &q, v: &v, ctrl: &ctrl, tau: &tau, solve })
    }

    /// Attaches the gradient of a number, such as a loss over the whole motion, to the last frame. `q` is the configuration at
    /// which the forces of its step act. Numbers of one name and unit are one choice on the page.
    pub fn attach_gradient(
        &mut self,
        name: &str,
        unit: &str,
        q: &[f64],
        gradient: InputGradient,
    ) -> Result<(), ViewError> {
        self.check_begun()?;
        let row = gradients::row(&self.model, &mut self.work, q, gradient)?;
        let channel = self.channels.given(&self.model, &mut self.frames, name, unit)?;
        self.frames.attached[self.channels.rows(channel)].set_last(row);
        Ok(())
    }

    /// Attaches a change of the configuration (nv) to the last frame, which was recorded at `q`: the page shows the ghost of
    /// the motion that is changed so.
    pub fn attach_change(&mut self, name: &str, q: &[f64], dq: &[f64]) -> Result<(), ViewError> {
        self.check_begun()?;
        let twists = perturbation::twists(&self.model, &mut self.work, q, dq)?;
        let ghost = match self.ghosts.iter().find(|ghost| ghost.is_given(name)) {
            Some(ghost) => ghost.rows(),
            None => {
                self.ghosts.push(Ghost::new(&self.model, &mut self.frames, name, None)?);
                self.frames.attached.len() - 1
            }
        };
        self.frames.attached[ghost].set_last(twists);
        Ok(())
    }

    fn check_begun(&self) -> Result<(), ViewError> {
        let empty = || ViewError::Empty { model: self.model.name().into() };
        if self.frames.len() == 0 { Err(empty()) } else { Ok(()) }
    }

    fn push(&mut self, time: f64, dt: f64, known: Known) -> Result<(), ViewError> {
        if !time.is_finite() {
            return Err(InputError::Value { what: "time".into(), expected: "a finite number", got: time }.into());
        }
        if self.frames.bytes() > MOST_BYTES {
            return Err(ViewError::TooLarge { bytes: self.frames.bytes(), most: MOST_BYTES });
        }
        self.work.set_mocap(&self.model, &self.mocap)?;
        self.work.kinematics(&self.model, known.q)?;
        self.shot.poses.clear();
        for (k, body) in self.model.bodies().iter().enumerate().skip(1) {
            let pose = seven(&self.work.body_pose(BodyId(k))?);
            if !pose.iter().all(|x| x.is_finite()) {
                return Err(ViewError::OutOfSight { body: body.name.clone(), time });
            }
            self.shot.poses.extend(pose);
        }
        self.shot.curves = curves::row(&self.model, &mut self.work, known)?;
        if known.solve.is_none() {
            self.shot.status = None;
        }
        self.frames.push(time, dt, self.rate, &self.shot);
        if self.frames.len() == 1 {
            self.attach_ghosts(known.q)?;
        }
        Ok(())
    }

    /// The page. It needs no other file and no network.
    pub fn to_html(&self) -> Result<String, ViewError> {
        self.check_begun()?;
        Ok(page::render(&self.title, &self.to_json(), page::SCRIPT))
    }

    fn to_json(&self) -> Value {
        let mut data = scene::head(&self.title, &self.model);
        data["robot"] = self.robot_json();
        data["frames"] = self.frames_json();
        data["gradients"] = self.channels.to_json(&self.model, &self.frames);
        data["changes"] = self.ghosts.iter().map(|ghost| ghost.to_json(&self.frames)).collect();
        data["companions"] = self.companions.iter().map(|other| other.to_json(self)).collect();
        data["warnings"] = json!(self.warnings());
        data
    }

    /// What moves.
    pub(crate) fn frames_json(&self) -> Value {
        let mut frames = self.frames.to_json();
        frames["curves"] = curves::to_json(&self.model, &self.frames);
        frames
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
        let bytes = replay.to_json().to_string().len();
        assert!(bytes < 900_000, "{bytes} bytes");
    }

    #[test]
    fn a_step_is_recorded_with_the_forces_that_carry_the_robot() {
        let (model, x) = stands();
        let (mut data, mut next, mut replay) = (Data::new(&model), x.clone(), Replay::new(&model));
        replay.record_state(&x).unwrap();
        let mut done = step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
        let contacts = done.contacts().count();
        replay.record(&mut done, &next).unwrap();
        assert_eq!((replay.frames(), contacts), (2, 4));
        let told = &replay.to_json()["frames"]["contacts"];
        assert_eq!(told["ends"], crate::encode::integers(&[0, 4]));
        assert_eq!(told["modes"], crate::encode::base64(&[1; 4]));
    }

    #[test]
    fn steps_that_all_begin_at_time_zero_follow_each_other() {
        let (model, x) = stands();
        let (mut data, mut replay, dt) = (Data::new(&model), Replay::new(&model), model.options().dt);
        let (mut from, mut next) = (x.clone(), x.clone());
        for _ in 0..200 {
            from.time = 0.0;
            let mut done = step(&model, &mut data, &from, &Input::default(), &mut next).unwrap();
            replay.record(&mut done, &next).unwrap();
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
