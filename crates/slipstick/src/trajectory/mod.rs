//! A recorded motion: states, controls and what the solver said about each step.

mod contacts;
mod error;
mod load;
mod npy;
mod npz;
mod text;
mod zip;

pub use error::{LoadTrajectoryError, SaveError};

use slipstick_core::constraint::Stage;
use slipstick_core::step::ContactView;
use slipstick_core::{Input, InputError, Model, State, Status, Step};
use std::io::{self, Write};
use std::path::Path;

/// States and steps of one model, one after the other. There is one state more than steps.
///
/// Rows lie one after the other: `q` has `nq` numbers per state, `ctrl` has `nu` per step.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Trajectory {
    /// Name of the model.
    pub model: String,
    /// Time step (s).
    pub dt: f64,
    /// Numbers of a configuration, a velocity and the controls.
    pub sizes: [usize; 3],
    /// Times of the states (s).
    pub time: Vec<f64>,
    /// Configurations (states × nq).
    pub q: Vec<f64>,
    /// Velocities (states × nv).
    pub v: Vec<f64>,
    /// Activations (states × na).
    pub act: Vec<f64>,
    /// Controls (steps × nu); zero where the actuators were off.
    pub ctrl: Vec<f64>,
    /// Generalized forces in addition to the actuators' (steps × nv).
    pub tau: Vec<f64>,
    /// Poses of the mocap bodies in each step (steps × 7 per body); empty where there are none. Files for numpy have them,
    /// tables and JSON do not.
    pub mocap: Vec<f64>,
    /// Contacts in the problem of each step.
    pub contacts: Vec<usize>,
    /// Deepest overlap at the beginning of each step (m); zero without any.
    pub penetration: Vec<f64>,
    /// Scaled residual of each step's solution.
    pub residual: Vec<f64>,
    /// Velocity by which compliance moves contacts of each step (m/s).
    pub compliance_shift: Vec<f64>,
    /// Iterations of each step.
    pub iterations: Vec<u32>,
    /// How each step's solve ended.
    pub status: Vec<Status>,
    /// Which solver found its solution.
    pub stage: Vec<Stage>,
    /// Fraction of its position correction that each step was given; less than 1 where the whole would have added energy.
    pub correction: Vec<f64>,
    /// Contacts of the steps; `None`: not wanted.
    views: Option<contacts::Kept>,
    /// Names of the numbers of q, v and ctrl.
    names: [Vec<String>; 3],
    /// Names of the activations: those of their actuators.
    act_names: Vec<String>,
}

/// How a trajectory is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrajectoryFormat {
    /// Arrays for numpy, `numpy.load(file)`.
    Npz,
    /// A table with a line of names, one row per state.
    Csv,
    /// One object with lists of lists.
    Json,
}

impl TrajectoryFormat {
    /// The word in `format` of every file.
    pub const NAME: &str = "slipstick-trajectory";
    /// The number in `version` of every file.
    pub const VERSION: u32 = 1;

    /// By the ending of a file's name: npz, csv or json.
    pub fn of_path(path: impl AsRef<Path>) -> Option<TrajectoryFormat> {
        match path.as_ref().extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "npz" => Some(TrajectoryFormat::Npz),
            "csv" => Some(TrajectoryFormat::Csv),
            "json" => Some(TrajectoryFormat::Json),
            _ => None,
        }
    }
}

/// More room than this is not made ahead (steps): who asks for more steps than memory holds may still stop early.
const AHEAD: usize = 100_000;

impl Trajectory {
    /// Nothing recorded yet.
    pub fn new(model: &Model) -> Trajectory {
        let numbered = |name: &str, n: usize| match n {
            1 => vec![name.to_string()],
            n => (0..n).map(|k| format!("{name}[{k}]")).collect(),
        };
        let q = model.joints().iter().flat_map(|j| numbered(&j.name, j.q.len()));
        let names = [
            q.map(|n| format!("q:{n}")).collect(),
            model.dof_names().iter().map(|n| format!("v:{n}")).collect(),
            crate::control::control_names(model),
        ];
        Trajectory {
            model: model.name().into(),
            dt: model.options().dt,
            sizes: [model.nq(), model.nv(), model.nu()],
            time: Vec::new(),
            q: Vec::new(),
            v: Vec::new(),
            act: Vec::new(),
            ctrl: Vec::new(),
            tau: Vec::new(),
            mocap: Vec::new(),
            contacts: Vec::new(),
            penetration: Vec::new(),
            residual: Vec::new(),
            compliance_shift: Vec::new(),
            iterations: Vec::new(),
            status: Vec::new(),
            stage: Vec::new(),
            correction: Vec::new(),
            views: None,
            act_names: model.activated().iter().map(|id| names[2][id.0].replacen("ctrl:", "act:", 1)).collect(),
            names,
        }
    }

    /// Keeps the contacts of every step to come, of which there must be none yet. Files for numpy have them, tables and
    /// JSON do not.
    pub fn with_contacts(mut self) -> Trajectory {
        self.views = Some(Default::default());
        self
    }

    /// Contacts of a step; `None` if they were not kept, or if there is no such step.
    pub fn contacts_of(&self, step: usize) -> Option<&[ContactView]> {
        let (views, ends) = self.views.as_ref()?;
        let begin = step.checked_sub(1).map_or(0, |last| ends.get(last).copied().unwrap_or_default());
        views.get(begin..*ends.get(step)?)
    }

    /// Poses of the mocap bodies in a step, or after the last one; none where there are no such bodies.
    pub fn mocap_of(&self, step: usize) -> &[f64] {
        let (steps, width) = (self.steps(), self.mocap.len().checked_div(self.steps()).unwrap_or(0));
        let first = step.min(steps.saturating_sub(1)) * width;
        self.mocap.get(first..first + width).unwrap_or_default()
    }

    /// Steps that did not converge.
    pub fn not_converged(&self) -> usize {
        self.status.iter().filter(|status| **status == Status::NotConverged).count()
    }

    /// Steps that were given less than their whole position correction.
    pub fn reduced_corrections(&self) -> usize {
        self.correction.iter().filter(|fraction| **fraction < 1.0).count()
    }

    /// Activations of a state.
    pub fn na(&self) -> usize {
        self.act_names.len()
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.residual.len()
    }

    /// Number of states: one more than steps, or none.
    pub fn states(&self) -> usize {
        self.time.len()
    }

    /// What acted in all steps if the actuators were on: the input of a rollout that repeats them. A trajectory does
    /// not know about wrenches.
    pub fn input(&self) -> Input<'_> {
        Input::tau(&self.tau).with_ctrl(&self.ctrl).with_mocap(&self.mocap)
    }

    /// Bytes that a number of steps of a model takes in memory, about.
    pub fn bytes(model: &Model, steps: usize) -> usize {
        steps.saturating_mul(8 * (model.nq() + 2 * model.nv() + model.nu() + model.na() + 6))
    }

    /// Refuses steps for which there is no room, before the first one is made.
    pub fn check_room(model: &Model, steps: usize) -> Result<(), InputError> {
        let bytes = Trajectory::bytes(model, steps);
        let room = Vec::<u8>::new().try_reserve_exact(bytes);
        room.map_err(|_| InputError::Memory { what: "trajectory", bytes })
    }

    pub(crate) fn reserve(&mut self, steps: usize) {
        let (n, na, [nq, nv, nu]) = (steps.min(AHEAD), self.na(), self.sizes);
        self.act.reserve((n + 1) * na);
        let rows = [(&mut self.q, nq), (&mut self.v, nv), (&mut self.ctrl, nu), (&mut self.tau, nv)];
        rows.into_iter().for_each(|(x, width)| x.reserve((n + 1) * width));
    }

    /// Adds the first state, or the one after the last step.
    pub fn push_state(&mut self, x: &State) {
        if self.states() == self.steps() + 1 {
            return; // a rollout that goes on begins where the last one ended
        }
        self.time.push(x.time);
        self.q.extend_from_slice(&x.q);
        self.v.extend_from_slice(&x.v);
        self.act.extend_from_slice(&x.act);
    }

    /// Adds a step from the last state.
    pub fn push_step(&mut self, step: &Step) {
        let input = step.input();
        match input.ctrl {
            Some(ctrl) => self.ctrl.extend_from_slice(ctrl),
            None => self.ctrl.extend(std::iter::repeat_n(0.0, self.sizes[2])),
        }
        self.tau.extend_from_slice(input.tau);
        self.mocap.extend(step.mocap());
        let report = step.report();
        self.contacts.push(report.contacts);
        self.penetration.push(step.penetration());
        self.residual.push(report.residual);
        self.compliance_shift.push(report.compliance_shift);
        self.iterations.push(report.iterations);
        self.status.push(report.status);
        self.stage.push(report.stage);
        self.correction.push(report.correction);
        if let Some((views, ends)) = &mut self.views {
            views.extend(step.contacts());
            ends.push(views.len());
        }
    }

    /// Writes it in a format.
    pub fn write(&self, format: TrajectoryFormat, out: &mut impl Write) -> io::Result<()> {
        match format {
            TrajectoryFormat::Npz => npz::write(self, out),
            TrajectoryFormat::Csv => text::write_csv(self, out),
            TrajectoryFormat::Json => text::write_json(self, out),
        }
    }

    /// Writes it into a file whose name ends in `.npz`, `.csv` or `.json`: the whole file or none.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let path = path.as_ref();
        let name = || path.display().to_string();
        let format = TrajectoryFormat::of_path(path).ok_or_else(|| SaveError::UnknownFormat { path: name() })?;
        slipstick_io::write_file(path, |out| self.write(format, out))
            .map_err(|error| SaveError::Io { path: name(), error })
    }
}
