//! Many environments at once: copies of a robot, each in its own state, on as many threads as there are cores.
//!
//! An environment computes what a [`Simulator`](crate::Simulator) would, bit for bit, whatever the number of
//! environments and threads: threads share nothing but the model, and no number is the sum of what several of them
//! did.

#![allow(non_snake_case)]

mod begin;
mod environment;
mod error;
mod gradient;
mod input;
mod jacobian;
mod readings;
mod report;
mod rollout;
mod step;

pub use error::{BatchError, EnvironmentError, FailedEnvironment};
pub use gradient::GradientChoice;
pub use input::{BatchDirection, BatchGrad, BatchInput};
pub use jacobian::BatchJacobian;
pub use report::EnvironmentReport;
pub use rollout::BatchRollout;
pub(crate) use step::check_hold;

use crate::interrupt;
use crate::rollout_gradient::Stepper;
use crate::rows::{Rows, RowsMut, Work};
use crate::workers::WorkerPool;
use environment::Environment;
use slipstick_core::{InputError, Model};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Environments of one structure: the same robot, whose parameters and options may differ from one to the other. Arrays
/// have one row per environment, rows one after the other.
///
/// ```
/// use slipstick::{Batch, Input};
/// use slipstick::gradient::InputGrad;
/// use slipstick::rollout::StateGrad;
/// let model = slipstick::builtin("sphere")?;
/// let (n, nq, nv) = (64, model.nq(), model.nv());
/// let mut batch = Batch::new(&model, n)?;
/// let (mut q, mut v) = (vec![0.0; n * nq], vec![0.0; n * nv]);
/// batch.reset(&vec![true; n], &mut q, &mut v)?;
/// (0..n).for_each(|i| q[i * nq + 2] += 0.01 * i as f64); // each one a little higher
/// let (mut q_next, mut v_next) = (q.clone(), v.clone());
/// batch.step(&q, &v, &Input::default(), &mut q_next, &mut v_next)?;
/// // d v_next / d v along the vertical: a ball that flies keeps a push, one that lies on the floor does not
/// let w: Vec<f64> = (0..n * nv).map(|k| if k % nv == 2 { 1.0 } else { 0.0 }).collect();
/// let mut g = vec![0.0; n * nv];
/// batch.vjp(StateGrad { v: &w, ..StateGrad::default() }, InputGrad { v: &mut g, ..Default::default() })?;
/// assert!(g[2].abs() < 1e-9 && (g[63 * nv + 2] - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Batch {
    environments: Vec<Environment>,
    workers: WorkerPool,
    /// Memory in which steps are made, one for each thread: environments use it in turn.
    steppers: Mutex<Vec<Stepper>>,
    /// Whether each environment keeps its last step in memory of its own: from the first call of `vjp` or `jacobian` on. Before,
    /// and where only rollouts are differentiated, a step whose derivative is requested is repeated.
    keeps_steps: bool,
    /// Numbers of a configuration, a velocity and the controls.
    sizes: [usize; 3],
    /// Whether the last steps were made with controls.
    actuated: bool,
    /// Steps of the last rollout, if it was recorded and nothing else was done since.
    recorded: Option<usize>,
    /// How derivatives are taken, while that is not for the models to say.
    gradient: Option<GradientChoice>,
}

impl Batch {
    /// `n` environments of a model, at least one. They are in the state in which a [`Simulator`](crate::Simulator)
    /// begins: the keyframe `home` if there is one, else the neutral configuration.
    pub fn new(model: &Model, n: usize) -> Result<Batch, BatchError> {
        Batch::of(model, (0..n).map(|_| model))
    }

    /// One environment for every model. They differ in parameters and options, not in structure: all come from one
    /// model by [`Model::with_parameters`] and [`Model::with_options`].
    pub fn with_models(models: &[Model]) -> Result<Batch, BatchError> {
        let Some(first) = models.first() else { return Err(no_environment()) };
        models.iter().try_for_each(|model| same_structure(first, model))?;
        Batch::of(first, models.iter())
    }

    fn of<'a>(model: &Model, models: impl ExactSizeIterator<Item = &'a Model>) -> Result<Batch, BatchError> {
        // copies share what never changes
        let first = Environment::new(model);
        let bytes = models.len().saturating_mul(first.bytes());
        Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| BatchError::Memory { bytes })?;
        let environments: Vec<Environment> = models.map(|model| first.with_model(model)).collect();
        if environments.is_empty() {
            return Err(no_environment());
        }
        let (sizes, steppers) = ([model.nq(), model.nv(), model.nu()], Mutex::default());
        let workers = WorkerPool::new(0);
        let (keeps_steps, actuated, recorded, gradient) = (false, false, None, None);
        Ok(Batch { environments, workers, steppers, keeps_steps, sizes, actuated, recorded, gradient })
    }

    /// On how many threads it works, the one that calls included. Zero stands for as many as there are cores, which is
    /// the default; one starts no thread at all. Results do not depend on it.
    pub fn threads(mut self, threads: usize) -> Batch {
        self.workers = WorkerPool::new(threads);
        self
    }

    /// Number of environments.
    #[allow(clippy::len_without_is_empty)] // there is always one
    pub fn len(&self) -> usize {
        self.environments.len()
    }

    /// Number of threads, the one that calls included.
    pub fn n_threads(&self) -> usize {
        self.workers.threads()
    }

    /// The model of an environment; `None` if there is no such environment.
    pub fn model(&self, environment: usize) -> Option<&Model> {
        self.environments.get(environment).map(Environment::model)
    }

    /// Other parameters or options for an environment. Its warm start stays; its last step can no longer be
    /// differentiated.
    pub fn set_model(&mut self, environment: usize, model: &Model) -> Result<(), BatchError> {
        let (what, expected) = ("environment".into(), "the number of one that exists");
        let missing = InputError::Value { what, expected, got: environment as f64 };
        let environment = self.environments.get_mut(environment).ok_or(missing)?;
        same_structure(environment.model(), model)?;
        environment.set_model(model);
        Ok(())
    }

    /// For each environment, how many of the steps that were differentiated last have a derivative that is a choice
    /// ([`Step::is_choice`](crate::Step::is_choice)).
    pub fn choices(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.environments.iter().map(|environment| environment.choices)
    }

    /// What became of each environment in the last call of [`Batch::step`] or [`Batch::rollout`].
    pub fn reports(&self) -> impl ExactSizeIterator<Item = &EnvironmentReport> + '_ {
        self.environments.iter().map(|environment| &environment.report)
    }

    /// Bytes that an environment takes, on average: its state and warm start, what a recorded rollout keeps, and its part of the
    /// memory in which steps are made, of which every thread has one. From the first call of [`Batch::vjp`] or
    /// [`Batch::jacobian`] on each environment keeps its last step, which takes ten times as much. It grows with the
    /// largest number of contacts so far, not with the number of steps.
    pub fn bytes_per_environment(&self) -> usize {
        let environments: usize = self.environments.iter().map(Environment::bytes).sum();
        let steppers: usize = lock(&self.steppers).iter().map(|m| size_of::<Stepper>() + m.heap()).sum();
        (environments + steppers) / self.len()
    }

    /// Calls `go` for every environment with its rows, on all threads.
    fn run<const I: usize, const O: usize>(
        &mut self,
        given: [Rows; I],
        out: [RowsMut; O],
        go: impl Fn(&mut Environment, &mut Stepper, [&[f64]; I], [&mut [f64]; O]) + Sync,
    ) -> Result<(), BatchError> {
        let model = self.environments[0].model().clone();
        let (work, steppers) = (Work { environments: &mut self.environments, given, out }, &self.steppers);
        let gradient = self.gradient;
        let started = self.workers.run(work, |work| {
            let stepper = lock(steppers).pop();
            let mut stepper = stepper.unwrap_or_else(|| Stepper::new(&model));
            work.each(|environment, given, out| match (interrupt::check(), gradient) {
                (Err(_), _) => environment.failure = Some(EnvironmentError::Interrupted),
                (_, None) => go(environment, &mut stepper, given, out),
                (_, Some(choice)) => environment.with_gradient(choice, |e| go(e, &mut stepper, given, out)),
            });
            lock(steppers).push(stepper);
        });
        started.map_err(|e| BatchError::Threads { wanted: self.workers.threads(), reason: e.to_string() })?;
        if self.environments.iter().any(Environment::is_interrupted) {
            self.environments.iter_mut().for_each(|environment| environment.failure = None);
            return Err(BatchError::Interrupted);
        }
        self.failures()
    }

    /// After steps that were to end early: which environments were done is chance, so all are as before a first step.
    fn forget_if_interrupted(&mut self, done: Result<(), BatchError>) -> Result<(), BatchError> {
        if done == Err(BatchError::Interrupted) {
            self.recorded = None;
            self.environments.iter_mut().for_each(Environment::clear_records);
        }
        done
    }

    /// Derivatives of a batch know q and v only.
    fn check_differentiable(&self) -> Result<(), InputError> {
        self.environments[0].model().without_activations("derivatives of a batch")
    }

    /// What the environments say about the last call; nothing is allocated where nothing failed.
    fn failures(&mut self) -> Result<(), BatchError> {
        let failed = self.environments.iter_mut().enumerate();
        let failed = failed
            .filter_map(|(environment, e)| e.failure.take().map(|error| FailedEnvironment { environment, error }));
        let failed: Vec<FailedEnvironment> = failed.collect();
        if failed.is_empty() { Ok(()) } else { Err(BatchError::Environments(failed)) }
    }

    fn all_failed(&self, error: EnvironmentError) -> Result<(), BatchError> {
        let failed = |environment| FailedEnvironment { environment, error: error.clone() };
        Err(BatchError::Environments((0..self.len()).map(failed).collect()))
    }
}

/// A thread that panicked has put nothing half done there.
fn lock(steppers: &Mutex<Vec<Stepper>>) -> MutexGuard<'_, Vec<Stepper>> {
    steppers.lock().unwrap_or_else(PoisonError::into_inner)
}

fn no_environment() -> BatchError {
    InputError::Value { what: "environments".into(), expected: "at least one", got: 0.0 }.into()
}

fn same_structure(a: &Model, b: &Model) -> Result<(), InputError> {
    match a.shares_structure(b) {
        true => Ok(()),
        false => Err(InputError::WrongModel { what: "batch", got: b.name().into() }),
    }
}

/// Numbers that go into sums.
fn finite(what: &'static str, x: &[f64]) -> Result<(), InputError> {
    match x.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(InputError::NotFinite { what, index }),
        None => Ok(()),
    }
}
