//! Means over random inputs of a step: pairs ±z around the middle.

#![allow(non_snake_case)]

use super::estimate::Estimate;
use super::normal::Normal;
use super::sum::{Missing, Sum};
use super::{Bundled, SmoothingError};
use crate::probe::Place;
use slipstick_core::linalg::MatMut;
use slipstick_core::{Data, GradientError, Input, InputError, Model, Order, State, Step};

/// What [`Bundle::step`] finds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Smoothed {
    /// The state after the step in the middle.
    pub exact: State,
    /// The mean of the states after the samples' steps (of configurations as seen from `exact`).
    pub mean: State,
    /// Mean derivatives. Configurations count as tangents at the middle: at q, and at `exact.q`.
    pub jacobian: Estimate,
    /// Standard errors of `jacobian`: how far another seed would lie from it. Infinite if there was a single pair.
    pub error: Estimate,
    /// Samples that count.
    pub used: usize,
    /// Samples without a state or a derivative; the other one of their pair is left out with them.
    pub left_out: usize,
}

/// Memory to smooth steps of a model.
///
/// ```
/// use slipstick::smoothing::{Bundle, Bundled, Sigma};
/// use slipstick::{Data, Input, Order, State};
/// let model = slipstick::builtin("sphere")?;
/// let (mut data, mut x) = (Data::new(&model), State::keyframe(&model, "home")?);
/// x.q[2] += 1e-4; // so high that it does not touch within a step
/// let how = Bundled { sigma: Sigma { q: 1e-4, ..Sigma::ZERO }, samples: 64, order: Order::First, seed: 1 };
/// let smoothed = Bundle::new(&model, how)?.step(&mut data, &x, None, &Input::default())?;
/// let dv_dq = smoothed.jacobian.dv_dq().unwrap();
/// assert!(dv_dq[(2, 2)] < 0.0); // nearby it does: lower means faster upwards
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bundle {
    model: Model,
    how: Bundled,
    x: State,
    next: State,
    /// Forces and controls of a sample.
    tau: Vec<f64>,
    ctrl: Vec<f64>,
    /// Normal numbers of a pair, columns of everything.
    z: Vec<f64>,
    /// Displacement of the configuration (nv).
    turn: Vec<f64>,
    /// What the samples of a pair say: change of (q_next, v_next), and derivatives.
    values: [Vec<f64>; 2],
    derivatives: [Vec<f64>; 2],
    /// Maps of tangents (nv × nv): one that is not needed, of the displaced configuration, of the configuration after
    /// it.
    maps: [Vec<f64>; 3],
    /// Half of the derivatives, before they are transported.
    product: Vec<f64>,
}

impl Bundle {
    /// Refuses numbers that make no mean.
    pub fn new(model: &Model, how: Bundled) -> Result<Bundle, SmoothingError> {
        how.sigma.check()?;
        if how.samples == 0 {
            let (what, got) = ("samples".into(), 0.0);
            return Err(InputError::Value { what, expected: "at least one pair", got }.into());
        }
        let (nv, nu, x) = (model.nv(), model.nu(), State::neutral(model));
        let size = 2 * nv * (3 * nv + nu);
        Ok(Bundle {
            model: model.clone(),
            how,
            next: x.clone(),
            x,
            tau: vec![0.0; nv],
            ctrl: vec![0.0; nu],
            z: vec![0.0; 3 * nv + nu],
            turn: vec![0.0; nv],
            values: [vec![0.0; 2 * nv], vec![0.0; 2 * nv]],
            derivatives: [vec![0.0; size], vec![0.0; size]],
            maps: std::array::from_fn(|_| vec![0.0; nv * nv]),
            product: vec![0.0; size / 2],
        })
    }

    /// The step from `x`, and the mean of the steps around it. `ctrl`: `None` leaves the actuators off. Every sample
    /// starts from the solution in the middle; `data` is left as that step leaves it.
    pub fn step(
        &mut self,
        data: &mut Data,
        x: &State,
        ctrl: Option<&[f64]>,
        input: &Input,
    ) -> Result<Smoothed, SmoothingError> {
        let mut exact = State::neutral(&self.model);
        Place { x, ctrl, input: *input }.step(&self.model, data, &mut exact)?;
        let warm = data.warm_start();
        let nu = ctrl.map_or(0, <[f64]>::len);
        let (mut draw, mut sum) = (Normal::new(self.how.seed), Sum::new(&self.model, &self.how, nu));
        for _ in 0..self.how.samples.div_ceil(2) {
            self.z.iter_mut().for_each(|z| *z = draw.next());
            let mut pair = Ok(());
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                data.restore(&warm)?;
                self.displace(x, ctrl, input, sign)?;
                pair = pair.and(self.sample(data, &exact, ctrl.is_some(), input, side));
            }
            match pair {
                Ok(()) => sum.add(&self.z, &self.values, &self.derivatives),
                Err(reason) => sum.leave_out(reason),
            }
        }
        data.restore(&warm)?;
        sum.finish(&self.model, &self.how, exact)
    }

    /// State, forces and controls of a sample.
    fn displace(&mut self, x: &State, ctrl: Option<&[f64]>, input: &Input, sign: f64) -> Result<(), InputError> {
        let (nv, sigma) = (self.model.nv(), &self.how.sigma);
        let (z_q, rest) = self.z.split_at(nv);
        let (z_v, rest) = rest.split_at(nv);
        let (z_tau, z_ctrl) = rest.split_at(nv);
        self.turn.iter_mut().zip(z_q).for_each(|(d, z)| *d = sign * sigma.q * z);
        self.model.integrate(&x.q, &self.turn, &mut self.x.q)?;
        displace(&mut self.x.v, &x.v, sign * sigma.v, z_v);
        self.x.time = x.time;
        displace(&mut self.tau, input.tau, sign * sigma.tau, z_tau);
        displace(&mut self.ctrl, ctrl.unwrap_or(&[]), sign * sigma.ctrl, z_ctrl);
        Ok(())
    }

    /// Makes the step of a sample and writes what it says.
    fn sample(
        &mut self,
        data: &mut Data,
        exact: &State,
        actuated: bool,
        input: &Input,
        side: usize,
    ) -> Result<(), Missing> {
        let Bundle { model, x, next, tau, ctrl, values, derivatives, .. } = self;
        let given = Input::tau(tau).with_wrenches(input.wrenches);
        let place = Place { x, ctrl: actuated.then_some(&ctrl[..]), input: given };
        let mut done = place.step(model, data, next).map_err(Missing::Step)?;
        let (dq, dv) = values[side].split_at_mut(model.nv());
        model.difference(&exact.q, &next.q, dq).map_err(|e| Missing::Step(e.into()))?;
        dv.iter_mut().zip(next.v.iter().zip(&exact.v)).for_each(|(d, (a, b))| *d = a - b);
        if self.how.order == Order::First {
            write_derivatives(&mut done, &mut derivatives[side]).map_err(Missing::Gradient)?;
            self.transport(exact, side).map_err(|e| Missing::Gradient(e.into()))?;
        }
        Ok(())
    }

    /// Tangents at a sample's configurations become those at the middle, so that means add up what belongs together.
    fn transport(&mut self, exact: &State, side: usize) -> Result<(), InputError> {
        let Bundle { model, next, turn, derivatives, maps, product, .. } = self;
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
