//! One environment after the other: the memory of a thread, in which control steps are made and differentiated.

use super::ambient::Ambient;
use super::report::{Outcome, Report, impulse_of_weight, outcome_of};
use crate::rollout_gradient::{Stepper, push_along};
use slipstick_core::gradient::{InputDirection, InputGrad, OutputGrad, StepJacobian};
use slipstick_core::linalg::MatRef;
use slipstick_core::model::{GradientMode, ParameterGroup};
use slipstick_core::{Data, Model, Step, WarmStart};

/// What an environment does in a control step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub q: &'a [f64],
    pub v: &'a [f64],
    /// Empty: actuators off.
    pub ctrl: &'a [f64],
    /// Empty: zero.
    pub tau: &'a [f64],
    /// Empty: those of the model.
    pub parameters: &'a [f64],
    /// Speed of smoothing (m/s); zero or nothing: exact derivatives.
    pub smoothing: &'a [f64],
}

/// Memory of a thread.
#[derive(Debug)]
pub(super) struct Worker {
    model: Model,
    stepper: Stepper,
    /// Whether the stepper's model has other parameters or options.
    changed: bool,
    /// Memory of the steps of a control step that is differentiated backward, one each.
    #[allow(clippy::vec_box)] // each takes the place of the stepper's in turn
    steps: Vec<Box<Data>>,
    warm: WarmStart,
    /// Derivatives of the state after some steps (2 nv rows) with respect to the first state and the controls.
    product: Vec<f64>,
    scratch: Vec<f64>,
    /// Gradients or changes of a state (q, v).
    here: Vec<f64>,
    there: Vec<f64>,
    /// The quaternions of the first configuration as they came, and a column in numbers of q.
    raw: Vec<f64>,
    column: Vec<f64>,
}

impl Worker {
    pub fn new(model: &Model) -> Worker {
        let nv = model.nv();
        Worker {
            model: model.clone(),
            stepper: Stepper::new(model),
            changed: false,
            steps: Vec::new(),
            warm: WarmStart::default(),
            product: Vec::new(),
            scratch: Vec::new(),
            here: vec![0.0; 2 * nv],
            there: vec![0.0; 2 * nv],
            raw: vec![0.0; model.nq()],
            column: vec![0.0; model.nq()],
        }
    }

    /// Stands in the first state of a row, with a cold start; false if that is no state.
    fn enter(&mut self, row: &Row) -> bool {
        if row.q.iter().chain(row.v).chain(row.ctrl).chain(row.tau).any(|x| !x.is_finite()) || !self.set_model(row) {
            return false;
        }
        let stepper = &mut self.stepper;
        self.raw.copy_from_slice(row.q);
        stepper.x.q.copy_from_slice(row.q);
        stepper.x.v.copy_from_slice(row.v);
        stepper.x.time = 0.0;
        stepper.command.actuated = !row.ctrl.is_empty();
        copy_or_zero(row.ctrl, &mut stepper.command.ctrl);
        copy_or_zero(row.tau, &mut stepper.command.tau);
        stepper.data.clear_warm_start();
        stepper.model.normalize_q(&mut stepper.x.q).is_ok()
    }

    /// The model with the parameters and the smoothing of a row; false if these make no model.
    fn set_model(&mut self, row: &Row) -> bool {
        let speed = row.smoothing.first().copied().unwrap_or(0.0);
        let changed = speed != 0.0 || !row.parameters.is_empty();
        if !changed && !self.changed {
            return true;
        }
        self.changed = changed;
        let mut options = self.model.options().clone();
        if speed != 0.0 {
            options.gradient =
                GradientMode::ExactForwardCentral { kappa: GradientMode::kappa_of_speed(speed, options.dt) };
        }
        let Ok(mut model) = self.model.with_options(options) else { return false };
        if !row.parameters.is_empty() {
            let mut parameters = model.parameters().clone();
            parameters.values_mut().copy_from_slice(row.parameters);
            let Ok(other) = model.with_parameters(parameters) else { return false };
            model = other;
        }
        self.stepper.model = model;
        true
    }

    /// A control step; `report` may be empty, and so may `A` and `B`, its derivatives in numbers of q.
    pub fn step(
        &mut self,
        ambient: &Ambient,
        hold: usize,
        row: &Row,
        [q, v, report, A, B]: [&mut [f64]; 5],
    ) -> Outcome {
        let mut report = Report::new(report, impulse_of_weight(&self.model));
        let differentiated = !A.is_empty();
        let mut outcome = Outcome::Failed;
        if self.enter(row) {
            outcome = self.run(hold, differentiated, &mut report);
            q.copy_from_slice(&self.stepper.x.q);
            v.copy_from_slice(&self.stepper.x.v);
        } else {
            q.copy_from_slice(row.q);
            v.copy_from_slice(row.v);
        }
        match differentiated && outcome.is_differentiable() {
            true => self.write_ambient(ambient, A, B),
            false => [A, B].into_iter().for_each(|x| x.fill(0.0)),
        }
        outcome
    }

    /// The steps of a control step, and the product of their derivatives.
    fn run(&mut self, hold: usize, differentiated: bool, report: &mut Report) -> Outcome {
        let Worker { stepper, product, scratch, .. } = self;
        let mut outcome = Outcome::Solved;
        for k in 0..hold {
            let Ok(mut step) = stepper.step(k) else { return Outcome::Failed };
            report.add(&step);
            outcome = outcome.max(outcome_of(step.report()));
            if differentiated && outcome.is_differentiable() {
                match step.jacobian() {
                    Ok(J) => multiply(&J, k == 0, product, scratch),
                    Err(_) => outcome = Outcome::NotConverged,
                }
            }
            stepper.go_on();
        }
        outcome
    }

    /// Writes the product in numbers of q: `[E 0; 0 1] A [P 0; 0 1]` (nq + nv square), `[E 0; 0 1] B` (nq + nv × nu).
    fn write_ambient(&mut self, ambient: &Ambient, A: &mut [f64], B: &mut [f64]) {
        let (nq, nv) = (ambient.nq, ambient.nv);
        let (rows, width) = (nq + nv, self.product.len() / (2 * nv));
        let nu = width - 2 * nv;
        let Worker { product, stepper, raw, column, here, .. } = self;
        let entry = |product: &[f64], i: usize, j: usize| product[i * width + j];
        // from tangents of the first state to its numbers, row by row; then from tangents of the last one, column by column
        for i in 0..2 * nv {
            let (row, to) = (&product[i * width..(i + 1) * width], i + nq - nv);
            let out = &mut A[to * rows..(to + 1) * rows];
            ambient.tangent_transposed(raw, &row[..nv], &mut out[..nq]);
            out[nq..].copy_from_slice(&row[nv..2 * nv]);
            B[to * nu..(to + 1) * nu].copy_from_slice(&row[2 * nv..]);
        }
        if ambient.is_plain() {
            return;
        }
        for j in 0..rows + nu {
            for i in 0..nv {
                here[i] = match j {
                    j if j < rows => A[(i + nq - nv) * rows + j],
                    j => entry(product, i, 2 * nv + j - rows),
                };
            }
            ambient.change(&stepper.x.q, &here[..nv], column);
            for (i, x) in column.iter().enumerate() {
                // rows of q are read before they are written: the first nq − nv of them hold nothing yet, and others of this
                // column are in `here`
                match j {
                    j if j < rows => A[i * rows + j] = *x,
                    j => B[i * nu + j - rows] = *x,
                }
            }
        }
    }

    /// The change of the state after a control step along a change of what it is made from, all in numbers of q.
    pub fn jvp(
        &mut self,
        ambient: &Ambient,
        hold: usize,
        row: &Row,
        [dq, dv, dctrl, dtau, dparameters]: [&[f64]; 5],
        [q_out, v_out]: [&mut [f64]; 2],
    ) -> Outcome {
        [&mut *q_out, &mut *v_out].into_iter().for_each(|x| x.fill(0.0));
        if !self.enter(row) {
            return Outcome::Failed;
        }
        let nv = ambient.nv;
        ambient.tangent(row.q, dq, &mut self.here[..nv]);
        self.here[nv..].copy_from_slice(dv);
        for _ in 0..hold {
            match self.push(dctrl, dtau, dparameters) {
                Ok(()) => std::mem::swap(&mut self.here, &mut self.there),
                Err(outcome) => return outcome,
            }
            self.stepper.go_on();
        }
        ambient.change(&self.stepper.x.q, &self.here[..nv], q_out);
        v_out.copy_from_slice(&self.here[nv..]);
        Outcome::Solved
    }

    /// One step, and the change `there` of its end along the change `here` of its beginning.
    fn push(&mut self, dctrl: &[f64], dtau: &[f64], dparameters: &[f64]) -> Result<(), Outcome> {
        let Worker { stepper, here, there, scratch, .. } = self;
        let nv = stepper.model.nv();
        let mut step = stepper.step(0).map_err(|_| Outcome::Failed)?;
        let ((q, v), (dq, dv)) = (here.split_at(nv), there.split_at_mut(nv));
        let along = InputDirection { q, v, tau: dtau, ctrl: dctrl, act: &[] };
        let parameters = ParameterGroup::ALL.map(|group| (group, of_group(step.model(), group, dparameters)));
        push_along(&mut step, along, &parameters, scratch, [dq, dv]).map_err(|_| Outcome::NotConverged)?;
        Ok(())
    }

    /// The gradient of a number with respect to what a control step is made from, in numbers of q; `w` is its gradient with
    /// respect to the state after it. Parts of `out` that are not wanted are empty.
    pub fn vjp(
        &mut self,
        ambient: &Ambient,
        hold: usize,
        row: &Row,
        [w_q, w_v]: [&[f64]; 2],
        [q, v, ctrl, tau, parameters]: [&mut [f64]; 5],
    ) -> Outcome {
        [&mut *q, &mut *v, &mut *ctrl, &mut *tau, &mut *parameters].into_iter().for_each(|x| x.fill(0.0));
        if !self.enter(row) {
            return Outcome::Failed;
        }
        let outcome = self.keep_steps(hold);
        if !outcome.is_differentiable() {
            return outcome;
        }
        let nv = ambient.nv;
        ambient.change_transposed(&self.stepper.x.q, w_q, &mut self.here[..nv]);
        self.here[nv..].copy_from_slice(w_v);
        for k in (0..hold).rev() {
            if self.pull(k, ctrl, tau, parameters).is_none() {
                [q, v, ctrl, tau, parameters].into_iter().for_each(|x| x.fill(0.0));
                return Outcome::NotConverged;
            }
            std::mem::swap(&mut self.here, &mut self.there);
        }
        ambient.tangent_transposed(row.q, &self.here[..nv], q);
        v.copy_from_slice(&self.here[nv..]);
        outcome
    }

    /// Makes the steps, each in memory of its own.
    fn keep_steps(&mut self, hold: usize) -> Outcome {
        let mut outcome = Outcome::Solved;
        while self.steps.len() < hold {
            self.steps.push(Box::new(Data::new(&self.model)));
        }
        let Worker { stepper, steps, warm, .. } = self;
        stepper.data.copy_warm_start(warm);
        for (k, data) in steps[..hold].iter_mut().enumerate() {
            std::mem::swap(data, &mut stepper.data);
            let restored = stepper.data.restore(warm);
            let done = restored.ok().and_then(|()| stepper.step(k).ok().map(|step| outcome_of(step.report())));
            stepper.data.copy_warm_start(warm);
            std::mem::swap(data, &mut stepper.data);
            let Some(done) = done else { return Outcome::Failed };
            outcome = outcome.max(done);
            stepper.go_on();
        }
        outcome
    }

    /// One step back: `there` from `here`; adds to the gradients of what acts. `None`: the step has no derivative.
    fn pull(&mut self, k: usize, ctrl: &mut [f64], tau: &mut [f64], parameters: &mut [f64]) -> Option<()> {
        let Worker { stepper, steps, here, there, .. } = self;
        let nv = stepper.model.nv();
        let mut step = Step::last(&stepper.model, &mut steps[k])?;
        there.fill(0.0);
        let (q, v) = there.split_at_mut(nv);
        let w = OutputGrad { q: &here[..nv], v: &here[nv..], ..OutputGrad::default() };
        step.vjp(w, InputGrad { q, v, tau, ctrl, act: &mut [] }).ok()?;
        if !parameters.is_empty() {
            for group in ParameterGroup::ALL {
                let range = stepper.model.parameters().layout().range(group);
                step.vjp_parameters(w, group, &mut parameters[range]).ok()?;
            }
        }
        Some(())
    }
}

fn copy_or_zero(from: &[f64], to: &mut [f64]) {
    match from.is_empty() {
        true => to.fill(0.0),
        false => to.copy_from_slice(from),
    }
}

/// The part of a change of all parameters that belongs to a group.
fn of_group<'a>(model: &Model, group: ParameterGroup, all: &'a [f64]) -> &'a [f64] {
    if all.is_empty() { all } else { &all[model.parameters().layout().range(group)] }
}

/// Puts the derivatives of a step in front of those of the steps before it: columns q, v and ctrl of the first state.
fn multiply(J: &StepJacobian, first: bool, product: &mut Vec<f64>, scratch: &mut Vec<f64>) {
    let (nv, nu) = (J.dv_dv.rows(), J.dv_dctrl.cols());
    let width = 2 * nv + nu;
    let blocks = [[J.dq_dq, J.dq_dv, J.dq_dctrl], [J.dv_dq, J.dv_dv, J.dv_dctrl]];
    scratch.clear();
    scratch.resize(2 * nv * width, 0.0);
    for (i, out) in scratch.chunks_exact_mut(width).enumerate() {
        let [of_q, of_v, of_ctrl] = blocks[i / nv].map(|m: MatRef| m.row(i % nv));
        if first {
            out[..nv].copy_from_slice(of_q);
            out[nv..2 * nv].copy_from_slice(of_v);
        } else {
            for (x, row) in of_q.iter().chain(of_v).zip(product.chunks_exact(width)).filter(|(x, _)| **x != 0.0) {
                out.iter_mut().zip(row).for_each(|(out, y)| *out += x * y);
            }
        }
        out[2 * nv..].iter_mut().zip(of_ctrl).for_each(|(out, x)| *out += x);
    }
    std::mem::swap(product, scratch);
}
