//! Derivatives through time: of all states of a rollout with respect to where it begins, what acts and what the robot
//! is like.

#![allow(non_snake_case)]

mod along;
mod forward;
mod readings;
mod recorder;
mod reverse;
mod stepper;
mod tape;
mod types;

pub use forward::{Sensitivities, Wanted};
pub use types::{Memory, RolloutDirection, RolloutGrad, RolloutGradientError, StateGrad};

pub(crate) use along::push_along;
pub(crate) use recorder::Recorder;
pub(crate) use stepper::Stepper;

use crate::trajectory::Trajectory;
use slipstick_core::input_check::{vector, vector_or_none};
use slipstick_core::model::ParameterGroup;
use slipstick_core::{Input, InputError, Model, State, WarmStart};
use tape::{Layout, Tape};

/// Memory for rollouts of a number of steps and their derivatives. [`RolloutGradient::run`] makes a [`Rollout`], which
/// has them. The same input gives the same bits.
///
/// A cube is to land at a place; two steps down the gradient of the squared distance change how it is thrown:
///
/// ```
/// use slipstick::{Input, State};
/// use slipstick::rollout::{Memory, RolloutGradient, StateGrad};
/// let (model, target) = (slipstick::builtin("cube")?, [1.0, 0.0]);
/// let mut x0 = State::keyframe(&model, "thrown")?;
/// let mut throws = RolloutGradient::new(&model, 250, Memory::Recompute);
/// let mut losses = Vec::new();
/// for _ in 0..3 {
///     let mut rollout = throws.run(&x0, &Input::default())?;
///     let miss = [rollout.q(250)[0] - target[0], rollout.q(250)[1] - target[1], 0.0, 0.0, 0.0, 0.0];
///     losses.push(0.5 * (miss[0] * miss[0] + miss[1] * miss[1]));
///     let mut gradient = rollout.zeros();
///     rollout.vjp(StateGrad { q: &miss, ..StateGrad::default() }, &mut gradient)?;
///     (0..2).for_each(|k| x0.v[k] -= 10.0 * gradient.v[k]);
/// }
/// assert!(losses[1] < 0.2 * losses[0] && losses[2] < 0.2 * losses[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RolloutGradient {
    stepper: Stepper,
    recorder: Recorder,
    /// What the first step starts from beside its state.
    start: WarmStart,
    /// What the last step of a run hands on.
    end: WarmStart,
    /// Whether the last run came to its end.
    finished: bool,
}

impl RolloutGradient {
    /// For rollouts of `steps` steps, without parameters.
    pub fn new(model: &Model, steps: usize, memory: Memory) -> RolloutGradient {
        RolloutGradient {
            stepper: Stepper::new(model),
            recorder: Recorder::new(model, steps, memory, &[]),
            start: WarmStart::default(),
            end: WarmStart::default(),
            finished: false,
        }
    }

    /// Adds derivatives with respect to groups of parameters.
    pub fn with_parameters(mut self, groups: &[ParameterGroup]) -> RolloutGradient {
        let readings = self.recorder.layout.readings;
        self.recorder.layout = Layout { readings, ..Layout::new(&self.stepper.model, groups) };
        self.finished = false;
        self
    }

    /// Takes other parameters or options of a model with this structure: one iteration of an optimization.
    pub fn set_model(&mut self, model: &Model) -> Result<(), InputError> {
        let other = self.stepper.model.parameters().layout() != model.parameters().layout();
        if other || (model.nq(), model.nv(), model.nu()) != self.sizes() {
            return Err(InputError::WrongModel { what: "rollout", got: model.name().into() });
        }
        (self.stepper, self.recorder.tape) = (Stepper::new(model), Tape::new(model));
        self.recorder.sensors = None;
        if self.recorder.layout.readings > 0 {
            self.recorder.layout.readings = readings::size(model);
        }
        self.finished = false;
        Ok(())
    }

    /// What runs begin with beside their state; without it they begin cold, as a new [`Simulator`](crate::Simulator)
    /// does.
    pub fn set_warm_start(&mut self, warm: WarmStart) -> Result<(), InputError> {
        self.stepper.data.restore(&warm)?;
        self.start = warm;
        Ok(())
    }

    /// Bytes that grow with the number of steps: what a run keeps, including (for [`Memory::Recompute`], after a run)
    /// the warm starts of its steps. Memory for one step comes on top.
    pub fn bytes(&self) -> usize {
        self.recorder.bytes(&self.stepper.model)
    }

    /// The steps from a state. The input has a row for each: `tau` (steps × nv), `ctrl` (steps × nu), `mocap`
    /// (steps × 7 per mocap body). There are no derivatives with respect to `mocap` here: see `Step::vjp_mocap`.
    pub fn run(&mut self, x0: &State, input: &Input) -> Result<Rollout<'_>, RolloutGradientError> {
        self.finished = false;
        self.begin(x0, input)?;
        for t in 0..self.recorder.steps {
            self.recorder.advance(&mut self.stepper, t, input, |_, _| ())?;
        }
        self.end = self.stepper.data.warm_start();
        self.finished = true;
        Ok(Rollout(self))
    }

    /// The rollout of the last run, if it came to its end.
    pub fn last(&mut self) -> Option<Rollout<'_>> {
        self.finished.then_some(Rollout(self))
    }

    fn sizes(&self) -> (usize, usize, usize) {
        (self.stepper.model.nq(), self.recorder.layout.nv, self.recorder.layout.nu)
    }

    fn begin(&mut self, x0: &State, input: &Input) -> Result<(), RolloutGradientError> {
        let RolloutGradient { stepper, recorder, start, .. } = self;
        // only looked at, as by Simulator::set_state: to normalize a quaternion twice may change its last digit
        State::new(&stepper.model, &x0.q, &x0.v)?.with_act(&stepper.model, &x0.act)?;
        vector_or_none("tau", input.tau, recorder.steps.saturating_mul(recorder.layout.nv))?;
        if let Some(ctrl) = input.ctrl {
            vector("ctrl", ctrl, recorder.steps.saturating_mul(recorder.layout.nu))?;
        }
        vector_or_none("mocap", input.mocap, recorder.steps.saturating_mul(7 * stepper.model.n_mocap()))?;
        stepper.begin(x0, start, input)?;
        recorder.begin(stepper)
    }
}

/// A finished rollout: proof that its memory belongs to it.
#[derive(Debug)]
pub struct Rollout<'a>(&'a mut RolloutGradient);

impl Rollout<'_> {
    /// Number of steps. There is one state more.
    pub fn steps(&self) -> usize {
        self.0.recorder.steps
    }

    /// States, input and what the solver said about each step.
    pub fn trajectory(&self) -> &Trajectory {
        &self.0.recorder.tape.record
    }

    /// Configuration of state `t` (nq); empty past the last one.
    pub fn q(&self, t: usize) -> &[f64] {
        row(&self.trajectory().q, self.0.stepper.model.nq(), t)
    }

    /// Velocity of state `t` (nv); empty past the last one.
    pub fn v(&self, t: usize) -> &[f64] {
        row(&self.trajectory().v, self.0.recorder.layout.nv, t)
    }

    /// Activations of state `t` (na); empty past the last one.
    pub fn act(&self, t: usize) -> &[f64] {
        row(&self.trajectory().act, self.0.recorder.layout.na, t)
    }

    /// What the constraints of each step did, as [`Step::mode_key`](crate::Step::mode_key) tells: two rollouts with the
    /// same keys follow the same formula.
    pub fn mode_keys(&self) -> &[u64] {
        &self.0.recorder.tape.keys
    }

    /// Steps whose derivative is a choice ([`Step::is_choice`](crate::Step::is_choice)): of all steps of a stored rollout, else of
    /// those that the last derivative has visited.
    pub fn choices(&self) -> usize {
        self.0.recorder.choices
    }

    /// What the last step hands on: a run from the last state goes on with it.
    pub fn warm_start(&self) -> &WarmStart {
        &self.0.end
    }

    /// Whether it was made with controls.
    pub fn is_actuated(&self) -> bool {
        self.0.stepper.command.actuated
    }

    /// A gradient of zero, to which [`Rollout::vjp`] adds.
    pub fn zeros(&self) -> RolloutGrad {
        let groups: Vec<_> = self.0.recorder.layout.groups.iter().map(|(g, _)| *g).collect();
        RolloutGrad::new(&self.0.stepper.model, self.0.recorder.steps, &groups)
    }
}

fn row(rows: &[f64], width: usize, t: usize) -> &[f64] {
    rows.chunks_exact(width.max(1)).nth(t).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_goes_another_way_is_reported() {
        let model = crate::builtin("sphere").unwrap();
        let mut memory = RolloutGradient::new(&model, 10, Memory::Recompute);
        let x0 = State::keyframe(&model, "sliding").unwrap();
        memory.run(&x0, &Input::default()).unwrap();
        memory.recorder.tape.keys[4] ^= 1;
        let mut rollout = memory.last().unwrap();
        let (w, mut out) = ([1.0; 6], rollout.zeros());
        let error = rollout.vjp(StateGrad { q: &w, ..StateGrad::default() }, &mut out).unwrap_err();
        assert_eq!(error, RolloutGradientError::Branch { step: 4 });
        assert!(error.to_string().starts_with("step 4: "), "{error}");
        let error = rollout.sensitivities(Wanted::default()).unwrap_err();
        assert_eq!(error, RolloutGradientError::Branch { step: 4 });
    }

    #[test]
    fn what_does_not_fit_the_memory_is_refused() {
        let model = crate::builtin("cube").unwrap();
        let x0 = State::keyframe(&model, "home").unwrap();
        for memory in [Memory::Store, Memory::Recompute] {
            let mut huge = RolloutGradient::new(&model, usize::MAX, memory);
            assert_eq!(huge.bytes(), usize::MAX);
            let error = huge.run(&x0, &Input::default()).unwrap_err();
            assert_eq!(error, RolloutGradientError::Memory { bytes: usize::MAX });
            assert!(huge.last().is_none());
        }
    }
}
