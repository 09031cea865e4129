//! Steps from perturbed states with the same warm start: the building block of all differences.

use slipstick_core::gradient::InputDirection;
use slipstick_core::{Data, Input, InputError, Model, State, Step, StepError, WarmStart, step};

/// A change of velocity that is negligible but makes a solve start again (m/s).
const HAIR: f64 = 1e-11;

/// One number of what a step is made from. Configurations are changed along tangents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputEntry {
    Q(usize),
    V(usize),
    Tau(usize),
    Ctrl(usize),
}

/// A place from which steps are taken, and the warm start with which all of them begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepArguments<'a> {
    pub x: &'a State,
    pub input: Input<'a>,
}

impl<'a> StepArguments<'a> {
    /// One step with these arguments.
    pub fn step<'d>(&self, model: &'d Model, data: &'d mut Data, next: &mut State) -> Result<Step<'d>, StepError> {
        step(model, data, self.x, &self.input, next)
    }
}

/// Memory for steps with perturbed arguments.
#[derive(Debug, Clone)]
pub(crate) struct PerturbedStep {
    x: State,
    tau: Vec<f64>,
    ctrl: Vec<f64>,
    /// Along which q is changed (nv).
    tangent: Vec<f64>,
    /// Warm start of every step.
    pub warm: WarmStart,
}

impl PerturbedStep {
    pub fn new(model: &Model) -> PerturbedStep {
        PerturbedStep {
            x: State::neutral(model),
            tau: vec![0.0; model.nv()],
            ctrl: vec![0.0; model.nu()],
            tangent: vec![0.0; model.nv()],
            warm: WarmStart::default(),
        }
    }

    /// The unperturbed step. Its solution is the warm start of the perturbed ones.
    pub fn begin(
        &mut self,
        model: &Model,
        data: &mut Data,
        arguments: &StepArguments,
        next: &mut State,
    ) -> Result<(), StepError> {
        arguments.step(model, data, next)?;
        data.copy_warm_start(&mut self.warm);
        Ok(())
    }

    /// v_next of the unperturbed step from its own solve, and as the mean of two steps with a tiny perturbation. A warm start that is
    /// good enough is not improved: near a singular pose it leaves velocities a million times less exact than their
    /// neighbors, and one-sided differences would see the gap.
    pub fn ends(
        &mut self,
        model: &Model,
        data: &mut Data,
        arguments: &StepArguments,
        next: &mut State,
    ) -> Result<[Vec<f64>; 2], StepError> {
        data.restore(&self.warm)?;
        arguments.step(model, data, next)?;
        let own = next.v.clone();
        let mut mean = vec![0.0; own.len()];
        for h in [HAIR, -HAIR].into_iter().take(2 * own.len()) {
            self.with_entry(model, data, arguments, InputEntry::V(0), h, next)?;
            mean.iter_mut().zip(&next.v).for_each(|(m, v)| *m += 0.5 * v);
        }
        Ok([own, mean])
    }

    /// A step with one number changed by `h`.
    pub fn with_entry<'d>(
        &mut self,
        model: &'d Model,
        data: &'d mut Data,
        arguments: &StepArguments,
        entry: InputEntry,
        h: f64,
        next: &mut State,
    ) -> Result<Step<'d>, StepError> {
        self.stand_at(arguments)?;
        match entry {
            InputEntry::Q(j) => {
                self.tangent.fill(0.0);
                self.tangent[j] = h;
                model.integrate(&arguments.x.q, &self.tangent, &mut self.x.q)?;
            }
            InputEntry::V(j) => self.x.v[j] += h,
            InputEntry::Tau(j) => self.tau[j] += h,
            InputEntry::Ctrl(j) => self.ctrl[j] += h,
        }
        self.run(model, data, arguments, next)
    }

    /// A step with all arguments changed by `h` times a direction.
    pub fn along<'d>(
        &mut self,
        model: &'d Model,
        data: &'d mut Data,
        arguments: &StepArguments,
        direction: InputDirection,
        h: f64,
        next: &mut State,
    ) -> Result<Step<'d>, StepError> {
        self.stand_at(arguments)?;
        self.tangent.iter_mut().zip(direction.q).for_each(|(t, d)| *t = h * d);
        model.integrate(&arguments.x.q, &self.tangent, &mut self.x.q)?;
        let add = |x: &mut [f64], d: &[f64]| x.iter_mut().zip(d).for_each(|(x, d)| *x += h * d);
        add(&mut self.x.v, direction.v);
        add(&mut self.tau, direction.tau);
        add(&mut self.ctrl, direction.ctrl);
        add(&mut self.x.act, direction.act);
        self.run(model, data, arguments, next)
    }

    fn stand_at(&mut self, arguments: &StepArguments) -> Result<(), StepError> {
        let copy = |what, to: &mut [f64], from: &[f64]| {
            if to.len() != from.len() {
                return Err(InputError::Length { what, expected: to.len(), got: from.len() });
            }
            to.copy_from_slice(from);
            Ok(())
        };
        copy("q", &mut self.x.q, &arguments.x.q)?;
        copy("v", &mut self.x.v, &arguments.x.v)?;
        copy("act", &mut self.x.act, &arguments.x.act)?;
        self.x.time = arguments.x.time;
        match arguments.input.tau.is_empty() {
            true => self.tau.fill(0.0),
            false => copy("tau", &mut self.tau, arguments.input.tau)?,
        }
        if let Some(ctrl) = arguments.input.ctrl {
            copy("ctrl", &mut self.ctrl, ctrl)?;
        }
        Ok(())
    }

    fn run<'d>(
        &self,
        model: &'d Model,
        data: &'d mut Data,
        arguments: &StepArguments,
        next: &mut State,
    ) -> Result<Step<'d>, StepError> {
        data.restore(&self.warm)?;
        let input = Input { tau: &self.tau, ctrl: arguments.input.ctrl.map(|_| &self.ctrl[..]), ..arguments.input };
        step(model, data, &self.x, &input, next)
    }
}
