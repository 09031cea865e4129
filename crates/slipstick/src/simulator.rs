//! A robot that moves: model, memory and state in one, and rollouts that are recorded.

use crate::check::audit::{Audit, AuditReport};
use crate::control::{Command, Control};
use crate::trajectory::Trajectory;
use slipstick_core::input_check::vector;
use slipstick_core::model::Keyframe;
use slipstick_core::spatial::{Pose, Quat};
use slipstick_core::{Data, Input, InputError, Model, State, Step, StepError, WarmStart, step};
use std::fmt;

/// A model, memory for its steps and the state it is in.
///
/// ```
/// use slipstick::Simulator;
/// use slipstick::control::{Controller, Hold};
/// let model = slipstick::builtin("quadruped")?;
/// let mut sim = Simulator::at_keyframe(&model, "home")?;
/// let mut hold = Controller::Hold(Hold::new(&model, sim.state())?);
/// let trajectory = sim.rollout(200, &mut hold)?;
/// assert_eq!(trajectory.steps(), 200);
/// assert!((sim.state().q[2] - 0.28).abs() < 0.02); // it stands
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Simulator {
    model: Model,
    data: Data,
    state: State,
    /// Where the next state is written.
    next: State,
    steps: usize,
    /// Poses of the mocap bodies, which stay from step to step.
    mocap: Vec<f64>,
    /// Boxed: most simulations have none.
    audit: Option<Box<Audit>>,
}

/// A step of a rollout that gave no state.
#[derive(Debug, Clone, PartialEq)]
pub struct RolloutError {
    /// Steps done since the simulator was made or its state set.
    pub step: usize,
    /// What went wrong in the step after them; a divergence names the body.
    pub error: StepError,
}

impl fmt::Display for RolloutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.step, self.error)
    }
}

impl std::error::Error for RolloutError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl Simulator {
    /// Starts from the keyframe `home` if there is one, else from the neutral configuration.
    pub fn new(model: &Model) -> Simulator {
        let (state, mocap) = (Simulator::initial_state(model), poses_of(model, model.keyframe("home").ok()));
        let data = Data::new(model);
        Simulator { model: model.clone(), data, next: state.clone(), state, steps: 0, mocap, audit: None }
    }

    /// Starts from a keyframe.
    pub fn at_keyframe(model: &Model, name: &str) -> Result<Simulator, InputError> {
        let mut sim = Simulator::new(model);
        sim.reset_to_keyframe(name)?;
        Ok(sim)
    }

    /// Where a simulator of a model begins: the keyframe `home` if there is one, else the neutral configuration.
    pub fn initial_state(model: &Model) -> State {
        State::keyframe(model, "home").unwrap_or_else(|_| State::neutral(model))
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The state it is in.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Time of the state (s).
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Steps done since it was made or its state set.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns to the state in which [`Simulator::new`] begins, and clears the warm start.
    pub fn reset(&mut self) {
        self.state = Simulator::initial_state(&self.model);
        self.mocap = poses_of(&self.model, self.model.keyframe("home").ok());
        self.data.clear_warm_start();
        self.steps = 0;
    }

    /// Returns to a keyframe, and clears the warm start.
    pub fn reset_to_keyframe(&mut self, name: &str) -> Result<(), InputError> {
        self.set_state(State::keyframe(&self.model, name)?)?;
        self.mocap = poses_of(&self.model, Some(self.model.keyframe(name)?));
        Ok(())
    }

    /// Poses of the mocap bodies (7 each, in the order of [`Model::mocap_bodies`]: position, quaternion).
    pub fn mocap(&self) -> &[f64] {
        &self.mocap
    }

    /// Moves all mocap bodies. They stay there until they are moved again, by this or by the input of a step.
    pub fn set_mocap(&mut self, poses: &[f64]) -> Result<(), InputError> {
        vector("mocap", poses, self.mocap.len())?;
        self.model.check_mocap(poses)?;
        self.mocap.copy_from_slice(poses);
        Ok(())
    }

    /// Moves the mocap body with a name.
    pub fn set_mocap_pose(&mut self, name: &str, pose: &Pose) -> Result<(), InputError> {
        let (first, turn) = (7 * self.model.mocap(name)?, Quat::from_matrix(&pose.rotation));
        let mut poses = self.mocap.clone();
        poses[first..first + 3].copy_from_slice(&pose.position.to_array());
        poses[first + 3..first + 7].copy_from_slice(&turn.to_array());
        self.set_mocap(&poses)
    }

    /// Sets another state and clears the warm start: the following steps depend on the state only.
    pub fn set_state(&mut self, state: State) -> Result<(), InputError> {
        // only looked at: to normalize a quaternion twice may change its last digit, and with it what follows
        State::new(&self.model, &state.q, &state.v)?.with_act(&self.model, &state.act)?;
        self.state = state;
        self.data.clear_warm_start();
        self.steps = 0;
        Ok(())
    }

    /// Clears the warm start.
    pub fn clear_warm_start(&mut self) {
        self.data.clear_warm_start();
    }

    /// A copy of the warm start; with the state it repeats what follows bit for bit.
    pub fn warm_start(&self) -> WarmStart {
        self.data.warm_start()
    }

    /// Restores a warm start.
    pub fn restore(&mut self, warm: &WarmStart) -> Result<(), InputError> {
        self.data.restore(warm)
    }

    /// Compares derivatives with differences along a random direction before every `every`-th step; zero: no more. The
    /// simulation itself goes on as it would without.
    pub fn audit(&mut self, every: usize, seed: u64) -> Result<(), InputError> {
        self.audit = match every {
            0 => None,
            _ => Some(Box::new(Audit::new(&self.model, every, seed)?)),
        };
        Ok(())
    }

    /// What audits have shown so far; `None` if there are none.
    pub fn audit_report(&self) -> Option<&AuditReport> {
        self.audit.as_ref().map(|a| a.report())
    }

    /// One step. Where the input has no poses of the mocap bodies, these stay where they are.
    /// The result has the contacts, forces and sensor readings of the step.
    pub fn step(&mut self, input: &Input) -> Result<Step<'_>, StepError> {
        let Simulator { model, data, state, next, steps, mocap, audit } = self;
        if !input.mocap.is_empty() {
            model.check_mocap(input.mocap)?;
            mocap.copy_from_slice(input.mocap);
        }
        let input = &input.with_mocap(mocap);
        if let Some(audit) = audit {
            audit.look(*steps, data, state, input);
        }
        let done = step(model, data, state, input, next)?;
        std::mem::swap(state, next);
        *steps += 1;
        Ok(done)
    }

    /// The last step, for its contacts and derivatives. `None` before the first step and after one that failed.
    pub fn last_step(&mut self) -> Option<Step<'_>> {
        Step::last(&self.model, &mut self.data)
    }

    /// Many steps under a controller, recorded: a [`Controller`](crate::control::Controller), or a function that fills the
    /// command for a state.
    pub fn rollout(&mut self, steps: usize, controller: impl Control) -> Result<Trajectory, RolloutError> {
        let mut trajectory = Trajectory::new(&self.model);
        self.rollout_into(steps, controller, &mut trajectory).map(|()| trajectory)
    }

    /// A rollout appended to a trajectory, which keeps what was done before an error.
    pub fn rollout_into(
        &mut self,
        steps: usize,
        mut controller: impl Control,
        trajectory: &mut Trajectory,
    ) -> Result<(), RolloutError> {
        let room = Trajectory::check_room(&self.model, steps);
        room.map_err(|e| RolloutError { step: self.steps, error: e.into() })?;
        let mut command = Command::new(&self.model);
        trajectory.reserve(steps);
        trajectory.push_state(&self.state);
        for _ in 0..steps {
            controller.command(&self.model, &self.state, &mut command);
            let step = self.steps;
            let done = self.step(&command.input()).map_err(|error| RolloutError { step, error })?;
            trajectory.push_step(&done);
            trajectory.push_state(&self.state);
        }
        Ok(())
    }
}

/// Poses of the mocap bodies in a keyframe, or those of the file.
fn poses_of(model: &Model, keyframe: Option<&Keyframe>) -> Vec<f64> {
    keyframe.map(|k| k.mocap.clone()).filter(|poses| !poses.is_empty()).unwrap_or_else(|| model.mocap_poses())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::builtin;
    use crate::control::{Controller, Random};
    use crate::files::load_mjcf_str;
    use crate::sensors::Sensors;

    #[test]
    fn steps_for_which_there_is_no_room_are_refused_before_the_first_one() {
        let model = builtin("cube").unwrap();
        let mut sim = Simulator::new(&model);
        let error = sim.rollout(usize::MAX, &mut Controller::Zero).unwrap_err();
        let expected = StepError::Input(InputError::Memory { what: "trajectory", bytes: usize::MAX });
        assert_eq!((error.error, error.step, sim.state().time), (expected, 0, 0.0));
    }

    #[test]
    fn a_state_and_its_warm_start_repeat_what_follows() {
        let model = builtin("ant").unwrap();
        let mut sim = Simulator::new(&model);
        let mut random = Controller::Random(Random::new(5));
        sim.rollout(300, &mut random).unwrap();
        let (state, warm, controller) = (sim.state().clone(), sim.warm_start(), random.clone());
        let first = sim.rollout(200, &mut random).unwrap();
        let mut again = Simulator::new(&model);
        again.set_state(state).unwrap();
        again.restore(&warm).unwrap();
        assert!(again.rollout(200, &mut controller.clone()).unwrap() == first, "it went another way");
        assert!(first.contacts.iter().any(|n| *n > 0), "nothing touched");
    }

    #[test]
    fn a_reset_returns_to_the_beginning() {
        let model = builtin("hopper").unwrap();
        let mut sim = Simulator::new(&model);
        let first = sim.rollout(50, &mut Controller::Zero).unwrap();
        assert!(sim.time() > 0.0 && sim.last_step().is_some());
        sim.reset();
        assert_eq!((sim.time(), sim.steps()), (0.0, 0));
        assert!(sim.rollout(50, &mut Controller::Zero).unwrap() == first, "it went another way");
        sim.reset_to_keyframe("home").unwrap();
        assert_eq!(sim.state(), &State::keyframe(&model, "home").unwrap());
        assert!(sim.reset_to_keyframe("nowhere").is_err());
    }

    #[test]
    fn constant_controls_are_a_controller() {
        let model = builtin("double_pendulum").unwrap();
        let mut sim = Simulator::new(&model);
        let run = sim.rollout(3, [0.1, -0.2]).unwrap();
        assert_eq!(run.ctrl, [0.1, -0.2, 0.1, -0.2, 0.1, -0.2]);
        sim.reset();
        assert!(sim.rollout(3, &run.ctrl[..2]).unwrap() == run);
        let error = sim.rollout(3, [0.1]).unwrap_err().to_string();
        assert_eq!(error, "step 3: ctrl: expected 2 numbers, got 1");
    }

    #[test]
    fn a_divergence_names_body_and_step() {
        let spring = r#"<mujoco><option timestep="0.1" gravity="0 0 0"/><worldbody><body name="bob">
            <joint name="slide" type="slide" stiffness="1e9"/><geom size="0.1" mass="1"/></body></worldbody>
            <keyframe><key name="home" qpos="0.1"/></keyframe></mujoco>"#;
        let model = load_mjcf_str("spring", spring, &Default::default()).unwrap();
        let mut trajectory = Trajectory::new(&model);
        let mut sim = Simulator::new(&model);
        let error = sim.rollout_into(1000, &mut Controller::Zero, &mut trajectory).unwrap_err();
        assert!(error.to_string().starts_with(&format!("step {}: the ", error.step)), "{error}");
        assert!(matches!(&error.error, StepError::Diverged { body, .. } if body == "bob"), "{error:?}");
        assert_eq!((trajectory.steps(), trajectory.states()), (error.step, error.step + 1), "what came before is kept");
    }

    #[test]
    fn a_rollout_goes_on_where_the_last_one_ended() {
        let model = builtin("cartpole").unwrap();
        let mut sim = Simulator::at_keyframe(&model, "upright").unwrap();
        let mut push = |_: &Model, x: &State, command: &mut Command| command.ctrl[0] = (3.0 * x.time).sin();
        let whole = sim.rollout(20, &mut push).unwrap();
        let mut halves = Trajectory::new(&model);
        let mut sim = Simulator::at_keyframe(&model, "upright").unwrap();
        sim.rollout_into(12, &mut push, &mut halves).unwrap();
        sim.rollout_into(8, &mut push, &mut halves).unwrap();
        assert!(halves == whole, "it went another way");
        assert_eq!(whole.q.len(), 21 * model.nq());
    }

    #[test]
    fn a_step_that_did_not_converge_has_derivatives_only_if_asked_for() {
        let model = builtin("humanoid").unwrap();
        let mut options = model.options().clone();
        options.max_iterations = 1;
        let heap = |options: &crate::Options| {
            let model = model.with_options(options.clone()).unwrap();
            let mut sim = Simulator::new(&model);
            let fallen =
                (0..2000).find(|_| sim.step(&Input::default()).unwrap().report().status == Status::NotConverged);
            assert!(fallen.is_some(), "every step converged in one iteration");
            sim
        };
        let mut sim = heap(&options);
        let mut step = sim.last_step().unwrap();
        let residual = step.report().residual;
        assert_eq!(step.jacobian().err(), Some(crate::GradientError::FailedStep { residual }));
        assert!(step.report().is_impaired() && step.is_choice().is_err());
        options.gradient_of_failed_steps = true;
        assert!(heap(&options).last_step().unwrap().jacobian().is_ok());
    }

    #[test]
    fn an_audit_finds_the_derivatives_right_and_changes_nothing() {
        let model = builtin("quadruped").unwrap();
        let (mut plain, mut audited) = (Simulator::new(&model), Simulator::new(&model));
        audited.audit(20, 1).unwrap();
        let a = plain.rollout(400, &mut Controller::Random(Random::new(2))).unwrap();
        let b = audited.rollout(400, &mut Controller::Random(Random::new(2))).unwrap();
        assert!(a == b, "audits change the motion");
        let report = audited.audit_report().unwrap();
        assert_eq!((report.checks + report.left_out, report.failed), (20, 0), "{report:?}");
        assert!(report.checks > 10 && report.worst_error < 1e-5, "{report:?}");
        assert!(plain.audit_report().is_none());
    }

    #[test]
    fn sensors_are_read_with_the_state_before_the_step() {
        let xml = r#"<mujoco><worldbody><body name="bob"><joint name="slide" type="slide"/><geom size="0.1"/></body>
            </worldbody><sensor><jointpos joint="slide"/><clock/></sensor></mujoco>"#;
        let model = load_mjcf_str("bob", xml, &Default::default()).unwrap();
        let (mut sim, mut sensors) = (Simulator::new(&model), Sensors::new(&model));
        let command = Command::new(&model);
        for _ in 0..10 {
            let before = sim.state().clone();
            sim.step(&command.input()).unwrap().sensors(&mut sensors).unwrap();
            assert_eq!(sensors.values().unwrap(), [before.q[0], before.time]);
        }
    }
}
