//! The recorder: states in, a page out.

use crate::companions::{Companion, Place};
use crate::curves::{self, Known};
use crate::error::ViewError;
use crate::frames::{Frames, Shot, seven};
use crate::gradients::Channels;
use crate::marks::Mark;
use crate::perturbation::Ghost;
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
    pub(crate) model: Model,
    pub(crate) work: Workspace,
    title: String,
    rate: f64,
    pub(crate) frames: Frames,
    pub(crate) channels: Channels,
    pub(crate) ghosts: Vec<Ghost>,
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

    pub(crate) fn check_begun(&self) -> Result<(), ViewError> {
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
#[path = "replay_tests.rs"]
mod tests;
