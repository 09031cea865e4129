//! A pair of steps ±z around the middle, with memory of its own: pairs do not know of each other, so threads may share
//! them.

#![allow(non_snake_case)]

use super::Sigma;
use super::sum::Missing;
use crate::check::perturbed::StepArguments;
use slipstick_core::linalg::MatMut;
use slipstick_core::model::Order;
use slipstick_core::{Data, GradientError, Input, InputError, Model, State, Step, WarmStart, step};

/// What all pairs are made around.
#[derive(Clone, Copy)]
pub(super) struct Middle<'a> {
    pub model: &'a Model,
    pub sigma: &'a Sigma,
    pub order: Order,
    pub arguments: StepArguments<'a>,
    /// The state after the step in the middle, and its solution, with which every sample begins.
    pub exact: &'a State,
    pub warm: &'a WarmStart,
}

/// Memory for a pair.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    /// Normal numbers, columns of everything.
    pub z: Vec<f64>,
    /// What the two samples say: change of (q_next, v_next), and derivatives.
    pub values: [Vec<f64>; 2],
    pub derivatives: [Vec<f64>; 2],
    /// Whether they say anything; the outer layer is for what the caller handed in.
    pub done: Result<Result<(), Missing>, InputError>,
    data: Data,
    x: State,
    next: State,
    /// Forces and controls of a sample.
    tau: Vec<f64>,
    ctrl: Vec<f64>,
    /// Displacement of the configuration (nv).
    turn: Vec<f64>,
    /// Maps of tangents (nv × nv): one that is not needed, of the displaced configuration, of the configuration after
    /// it.
    maps: [Vec<f64>; 3],
    /// Half of the derivatives, before they are transported.
    product: Vec<f64>,
}

impl Pair {
    pub fn new(model: &Model) -> Pair {
        let (nv, nu, x) = (model.nv(), model.nu(), State::neutral(model));
        let size = 2 * nv * (3 * nv + nu);
        Pair {
            z: vec![0.0; 3 * nv + nu],
            values: [vec![0.0; 2 * nv], vec![0.0; 2 * nv]],
            derivatives: [vec![0.0; size], vec![0.0; size]],
            done: Ok(Ok(())),
            data: Data::new(model),
            next: x.clone(),
            x,
            tau: vec![0.0; nv],
            ctrl: vec![0.0; nu],
            turn: vec![0.0; nv],
            maps: std::array::from_fn(|_| vec![0.0; nv * nv]),
            product: vec![0.0; size / 2],
        }
    }

    /// Makes both steps for the numbers in `z`.
    pub fn run(&mut self, middle: &Middle) {
        self.done = self.both(middle);
    }

    fn both(&mut self, middle: &Middle) -> Result<Result<(), Missing>, InputError> {
        let mut pair = Ok(());
        for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
            self.data.restore(middle.warm)?;
            self.displace(middle, sign)?;
            pair = pair.and(self.sample(middle, side));
        }
        Ok(pair)
    }

    /// State, forces and controls of a sample.
    fn displace(&mut self, middle: &Middle, sign: f64) -> Result<(), InputError> {
        let Middle { model, sigma, arguments: StepArguments { x, input }, .. } = middle;
        let (z_q, rest) = self.z.split_at(model.nv());
        let (z_v, rest) = rest.split_at(model.nv());
        let (z_tau, z_ctrl) = rest.split_at(model.nv());
        self.turn.iter_mut().zip(z_q).for_each(|(d, z)| *d = sign * sigma.q * z);
        model.integrate(&x.q, &self.turn, &mut self.x.q)?;
        displace(&mut self.x.v, &x.v, sign * sigma.v, z_v);
        self.x.time = x.time;
        displace(&mut self.tau, input.tau, sign * sigma.tau, z_tau);
        displace(&mut self.ctrl, input.ctrl.unwrap_or(&[]), sign * sigma.ctrl, z_ctrl);
        Ok(())
    }

    /// Makes the step of a sample and writes what it says.
    fn sample(&mut self, middle: &Middle, side: usize) -> Result<(), Missing> {
        let Middle { model, order, arguments, exact, .. } = middle;
        let Pair { data, x, next, tau, ctrl, values, derivatives, .. } = self;
        let input = Input { tau, ctrl: arguments.input.ctrl.map(|_| &ctrl[..]), ..arguments.input };
        let mut done = step(model, data, x, &input, next).map_err(Missing::Step)?;
        let (dq, dv) = values[side].split_at_mut(model.nv());
        model.difference(&exact.q, &next.q, dq).map_err(|e| Missing::Step(e.into()))?;
        dv.iter_mut().zip(next.v.iter().zip(&exact.v)).for_each(|(d, (a, b))| *d = a - b);
        if *order == Order::First {
            write_derivatives(&mut done, &mut derivatives[side]).map_err(Missing::Gradient)?;
            self.transport(model, exact, side).map_err(|e| Missing::Gradient(e.into()))?;
        }
        Ok(())
    }

    /// Tangents at a sample's configurations become those at the middle, so that means add up what belongs together.
    fn transport(&mut self, model: &Model, exact: &State, side: usize) -> Result<(), InputError> {
        let Pair { next, turn, derivatives, maps, product, .. } = self;
        let (nv, J) = (model.nv(), &mut derivatives[side]);
        let width = J.len() / (2 * nv);
        let [unused, before, after] = maps;
        model.integrate_derivatives(&exact.q, turn, MatMut::new(unused, nv, nv), MatMut::new(before, nv, nv))?;
        model.difference_derivatives(&exact.q, &next.q, MatMut::new(unused, nv, nv), MatMut::new(after, nv, nv))?;
        // columns of q: times ∂(q ⊕ d)/∂d, which depends on d only
        for row in J.chunks_exact_mut(width) {
            product[..nv].copy_from_slice(&row[..nv]);
            row[..nv].fill(0.0);
            multiply(&product[..nv], before, &mut row[..nv]);
        }
        // rows of q_next: ∂(q_next ⊖ exact)/∂q_next times them
        let (rows, _) = J.split_at_mut(nv * width);
        product.copy_from_slice(rows);
        rows.fill(0.0);
        for (row, map) in rows.chunks_exact_mut(width).zip(after.chunks_exact(nv)) {
            multiply(map, product, row);
        }
        Ok(())
    }
}

/// `out += row · matrix`.
fn multiply(row: &[f64], matrix: &[f64], out: &mut [f64]) {
    for (x, line) in row.iter().zip(matrix.chunks_exact(out.len())).filter(|(x, _)| **x != 0.0) {
        out.iter_mut().zip(line).for_each(|(o, y)| *o += x * y);
    }
}

/// `out = middle + scale z`; nothing in the middle is zero.
fn displace(out: &mut [f64], middle: &[f64], scale: f64, z: &[f64]) {
    out.fill(0.0);
    out.iter_mut().zip(middle).for_each(|(o, x)| *o = *x);
    out.iter_mut().zip(z).for_each(|(o, z)| *o += scale * z);
}

/// All blocks side by side; there are no columns of controls if the actuators are off.
fn write_derivatives(step: &mut Step, out: &mut [f64]) -> Result<(), GradientError> {
    let J = step.jacobian()?;
    let blocks = [[J.dq_dq, J.dq_dv, J.dq_dtau, J.dq_dctrl], [J.dv_dq, J.dv_dv, J.dv_dtau, J.dv_dctrl]];
    let nv = J.dq_dq.rows();
    let width = out.len() / (2 * nv);
    for (i, row) in out.chunks_exact_mut(width).enumerate() {
        let numbers = blocks[i / nv].iter().flat_map(|m| m.row(i % nv));
        row.iter_mut().zip(numbers).for_each(|(out, x)| *out = *x);
    }
    Ok(())
}
