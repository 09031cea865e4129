//! Forward mode: changes go from state to state, one direction or all of them together.

use super::recorder::Recorder;
use super::stepper::Stepper;
use super::tape::Layout;
use super::types::{RolloutDirection, RolloutGradientError};
use super::{Memory, Rollout, RolloutGradient};
use crate::interrupt;
use slipstick_core::InputError;
use slipstick_core::input_check::vector_or_none;
use slipstick_core::linalg::MatRef;
use slipstick_core::model::ParameterGroup;
use std::ops::Range;

/// With respect to what sensitivities are wanted beside the chosen groups of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The first state: 2 nv + na columns.
    pub initial: bool,
    /// Generalized forces of every step: steps × nv columns.
    pub tau: bool,
    /// Controls of every step: steps × nu columns.
    pub ctrl: bool,
}

impl Default for Wanted {
    /// Everything.
    fn default() -> Wanted {
        Wanted { initial: true, tau: true, ctrl: true }
    }
}

/// Derivatives of one state of a rollout: 2 nv + na rows (tangent of q, v, act).
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivities {
    nv: usize,
    nu: usize,
    /// Numbers of a state.
    state: usize,
    initial: Range<usize>,
    tau: Range<usize>,
    ctrl: Range<usize>,
    groups: Vec<(ParameterGroup, Range<usize>)>,
    /// Numbers of a row.
    width: usize,
    numbers: Vec<f64>,
}

impl Sensitivities {
    /// Room for `rows` rows of what acts: one for each step, or one that is held over all of them.
    fn new(layout: &Layout, rows: usize, wanted: Wanted) -> Result<Sensitivities, RolloutGradientError> {
        let (nv, nu, state) = (layout.nv, layout.nu, layout.state());
        let mut width = 0usize;
        let mut columns = |wanted: bool, n: usize| {
            let start = width;
            width = width.saturating_add(if wanted { n } else { 0 });
            start..width
        };
        let initial = columns(wanted.initial, state);
        let tau = columns(wanted.tau, rows.saturating_mul(nv));
        let ctrl = columns(wanted.ctrl, rows.saturating_mul(nu));
        let groups = layout.groups.iter().map(|(g, c)| (*g, columns(true, c.len()))).collect();
        let size = width.saturating_mul(state);
        let mut numbers = Vec::new();
        let full = |_| RolloutGradientError::Memory { bytes: size.saturating_mul(8) };
        numbers.try_reserve_exact(size).map_err(full)?;
        numbers.resize(size, 0.0);
        Ok(Sensitivities { nv, nu, state, initial, tau, ctrl, groups, width, numbers })
    }

    fn columns(&self, columns: Range<usize>) -> MatRef<'_> {
        let rows = if columns.is_empty() { &[] } else { &self.numbers[columns.start..] };
        MatRef::with_stride(rows, if columns.is_empty() { 0 } else { self.state }, columns.len(), self.width)
    }

    fn of_step(&self, all: &Range<usize>, width: usize, t: usize) -> Option<MatRef<'_>> {
        let steps = all.len().checked_div(width)?;
        let start = all.start + t.min(steps) * width;
        (t < steps).then(|| self.columns(start..start + width))
    }

    /// With respect to the first state (as many columns as rows).
    pub fn initial(&self) -> Option<MatRef<'_>> {
        (!self.initial.is_empty()).then(|| self.columns(self.initial.clone()))
    }

    /// With respect to the generalized forces of step `t` (2 nv × nv).
    pub fn tau(&self, t: usize) -> Option<MatRef<'_>> {
        self.of_step(&self.tau, self.nv, t)
    }

    /// With respect to the controls of step `t` (2 nv × nu).
    pub fn ctrl(&self, t: usize) -> Option<MatRef<'_>> {
        self.of_step(&self.ctrl, self.nu, t)
    }

    /// With respect to a group of parameters (2 nv × their number).
    pub fn parameters(&self, group: ParameterGroup) -> Option<MatRef<'_>> {
        let (_, columns) = self.groups.iter().find(|(g, _)| *g == group)?;
        Some(self.columns(columns.clone()))
    }

    /// Everything side by side: first state, forces step by step, controls step by step, parameters group by group.
    pub fn matrix(&self) -> MatRef<'_> {
        self.columns(0..self.width)
    }

    /// Columns that may differ from zero in state `t`.
    fn reached(&self, t: usize) -> [Range<usize>; 4] {
        let first = |all: &Range<usize>, width: usize| all.start..(all.start + t * width).min(all.end);
        let parameters = self.groups.first().map_or(self.width, |(_, c)| c.start)..self.width;
        [self.initial.clone(), first(&self.tau, self.nv), first(&self.ctrl, self.nu), parameters]
    }

    /// From state `t` to the next: the old ones times the derivative of the step, and what the step itself adds.
    fn advance(&mut self, old: &Sensitivities, layout: &Layout, matrix: &[f64], t: usize) {
        let (nv, nu, reached) = (self.nv, self.nu, self.reached(t));
        self.numbers.fill(0.0);
        for (row, step) in self.numbers.chunks_exact_mut(self.width.max(1)).zip(matrix.chunks_exact(layout.width)) {
            for (old, a) in
                old.numbers.chunks_exact(old.width.max(1)).zip(&step[..self.state]).filter(|(_, a)| **a != 0.0)
            {
                for columns in &reached {
                    row[columns.clone()].iter_mut().zip(&old[columns.clone()]).for_each(|(x, old)| *x += a * old);
                }
            }
            for (to, n, from) in [(&self.tau, nv, layout.tau()), (&self.ctrl, nu, layout.ctrl())] {
                // the last row is held where there are fewer than steps
                let first = (to.start + t * n).min(to.end.saturating_sub(n));
                let to = if to.is_empty() { &mut [][..] } else { &mut row[first..first + n] };
                to.iter_mut().zip(&step[from]).for_each(|(x, b)| *x += b);
            }
            for ((_, to), (_, from)) in self.groups.iter().zip(&layout.groups) {
                row[to.clone()].iter_mut().zip(&step[from.clone()]).for_each(|(x, b)| *x += b);
            }
        }
    }
}

impl Rollout<'_> {
    /// The change of every state along a change of what the rollout is made from: (steps + 1) × nv numbers each, those
    /// of configurations as tangents.
    pub fn jvp(&mut self, dx: RolloutDirection, dq: &mut [f64], dv: &mut [f64]) -> Result<(), RolloutGradientError> {
        let mut dact = vec![0.0; self.0.recorder.steps.saturating_add(1).saturating_mul(self.0.recorder.layout.na)];
        self.jvp_with_act(dx, dq, dv, &mut dact)
    }

    /// [`Rollout::jvp`] with the changes of the activations of every state ((steps + 1) × na).
    pub fn jvp_with_act(
        &mut self,
        dx: RolloutDirection,
        dq: &mut [f64],
        dv: &mut [f64],
        dact: &mut [f64],
    ) -> Result<(), RolloutGradientError> {
        self.check_direction(&dx, [dq.len(), dv.len()])?;
        let (nv, na, steps) = (self.0.recorder.layout.nv, self.0.recorder.layout.na, self.0.recorder.steps);
        vector_or_none("dact", dx.act, na)?;
        length("changes of the activations", dact.len(), (steps + 1) * na)?;
        dq.fill(0.0);
        dv.fill(0.0);
        dact.fill(0.0);
        dact[..na].iter_mut().zip(dx.act).for_each(|(out, x)| *out = *x);
        dq[..nv].iter_mut().zip(dx.q).for_each(|(out, x)| *out = *x);
        dv[..nv].iter_mut().zip(dx.v).for_each(|(out, x)| *out = *x);
        let groups = if dx.parameters.is_empty() { 0 } else { self.0.recorder.layout.groups.len() };
        self.0.recorder.count_anew();
        for t in 0..steps {
            interrupt::check()?;
            let RolloutGradient { stepper, recorder, .. } = &mut *self.0;
            let (layout, matrix) = recorder.matrix(stepper, t, groups)?;
            let (q, q_next) = dq[t * nv..].split_at_mut(nv);
            let (v, v_next) = dv[t * nv..].split_at_mut(nv);
            let (act, act_next) = dact[t * na..].split_at_mut(na);
            let (tau, ctrl) = (super::row(dx.tau, nv, t), super::row(dx.ctrl, layout.nu, t));
            let out = q_next[..nv].iter_mut().chain(&mut v_next[..nv]).chain(&mut act_next[..na]);
            for (out, row) in out.zip(matrix.chunks_exact(layout.width)) {
                let dot = |start: usize, x: &[f64]| row[start..].iter().zip(x).fold(0.0, |s, (a, x)| s + a * x);
                let of_state = [(0, &*q), (nv, &*v), (2 * nv, &*act)];
                let inputs = of_state.into_iter().chain([(layout.tau().start, tau), (layout.ctrl().start, ctrl)]);
                *out = inputs.fold(0.0, |s, (start, x)| s + dot(start, x));
                for (group, x) in dx.parameters {
                    *out += layout.group(*group).map_or(0.0, |columns| dot(columns.start, x));
                }
            }
        }
        Ok(())
    }

    /// Derivatives of the last state. Takes twice 16 nv bytes per column, and per step one product of the derivative of
    /// the step with all columns reached so far.
    pub fn sensitivities(&mut self, wanted: Wanted) -> Result<Sensitivities, RolloutGradientError> {
        self.sensitivities_of_states(wanted, |_, _| ())
    }

    /// Derivatives of the last state; `visit` sees those of every state, the first (t = 0) and the last included.
    pub fn sensitivities_of_states(
        &mut self,
        wanted: Wanted,
        visit: impl FnMut(usize, &Sensitivities),
    ) -> Result<Sensitivities, RolloutGradientError> {
        let steps = self.0.recorder.steps;
        self.0.recorder.forward(&mut self.0.stepper, steps, wanted, visit)
    }

    fn check_direction(&self, dx: &RolloutDirection, out: [usize; 2]) -> Result<(), InputError> {
        let RolloutGradient { stepper, recorder: Recorder { steps, layout, .. }, .. } = &*self.0;
        vector_or_none("dq", dx.q, layout.nv)?;
        vector_or_none("dv", dx.v, layout.nv)?;
        vector_or_none("dtau", dx.tau, steps * layout.nv)?;
        vector_or_none("dctrl", dx.ctrl, steps * layout.nu)?;
        for (group, x) in dx.parameters {
            if layout.group(*group).is_none() {
                let chosen = layout.groups.iter().map(|(group, _)| group.name());
                return Err(InputError::unknown_name("chosen group", group.name(), chosen));
            }
            vector_or_none("change of the parameters", x, stepper.model.parameters().group(*group).len())?;
        }
        out.into_iter().try_for_each(|got| length("changes of the states", got, (steps + 1) * layout.nv))
    }
}

fn length(what: &'static str, got: usize, expected: usize) -> Result<(), InputError> {
    if got == expected { Ok(()) } else { Err(InputError::Length { what, expected, got }) }
}

impl Recorder {
    /// Derivatives of the last state with respect to the first one and to `rows` rows of what acts, one for each step or one that is
    /// held over all; `visit` sees those of every state.
    pub fn forward(
        &mut self,
        stepper: &mut Stepper,
        rows: usize,
        wanted: Wanted,
        mut visit: impl FnMut(usize, &Sensitivities),
    ) -> Result<Sensitivities, RolloutGradientError> {
        let mut here = Sensitivities::new(&self.layout, rows, wanted)?;
        let mut next = Sensitivities::new(&self.layout, rows, wanted)?;
        for k in here.initial.clone() {
            here.numbers[k * here.width + k] = 1.0;
        }
        visit(0, &here);
        self.count_anew();
        for t in 0..self.steps {
            interrupt::check()?;
            let groups = self.layout.groups.len();
            let (layout, matrix) = self.matrix(stepper, t, groups)?;
            next.advance(&here, layout, matrix, t);
            std::mem::swap(&mut here, &mut next);
            visit(t + 1, &here);
        }
        Ok(here)
    }

    /// Derivatives of step `t`, the first `groups` groups of parameters included.
    fn matrix(
        &mut self,
        stepper: &mut Stepper,
        t: usize,
        groups: usize,
    ) -> Result<(&Layout, &[f64]), RolloutGradientError> {
        let Recorder { layout, tape, memory, choices, .. } = self;
        let size = layout.size();
        if *memory == Memory::Store {
            return Ok((layout, &tape.matrices[t * size..(t + 1) * size]));
        }
        let mut step = stepper.repeat(tape, t)?;
        let written = tape.write_matrix(layout, &layout.groups[..groups], &mut step).and_then(|()| step.is_choice());
        *choices += usize::from(written.map_err(|error| RolloutGradientError::Gradient { step: t, error })?);
        Ok((layout, &tape.matrices))
    }
}
