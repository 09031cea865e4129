//! What is kept of the samples until all have been made.

use super::bundle::Smoothed;
use super::estimate::{Columns, Estimate};
use super::{Bundled, SmoothingError, regression};
use slipstick_core::model::Order;
use slipstick_core::{GradientError, InputError, Model, State, StepError};

/// Why a sample does not count.
#[derive(Debug, Clone)]
pub(super) enum Missing {
    Step(StepError),
    Gradient(GradientError),
}

/// Sums over pairs of samples.
#[derive(Debug)]
pub(super) struct Sum {
    order: Order,
    /// Columns of the estimate.
    columns: Columns,
    /// Mean change of (q_next, v_next).
    value: Vec<f64>,
    /// First order: mean derivatives, and sums of the squares of their deviations.
    mean: Estimate,
    squares: Estimate,
    /// Zeroth order: for each pair the normal numbers of what is displaced, and half the difference of its values.
    z: Vec<f64>,
    differences: Vec<f64>,
    pairs: usize,
    left_out: usize,
    reason: Option<Missing>,
}

impl Sum {
    pub fn new(model: &Model, how: &Bundled, nu: usize) -> Sum {
        let nv = model.nv();
        let columns = match how.order {
            Order::First => Columns::all(nv, nu),
            Order::Zeroth => Columns::displaced(nv, nu, &how.sigma),
        };
        Sum {
            order: how.order,
            value: vec![0.0; 2 * nv],
            mean: Estimate::new(columns.clone()),
            squares: Estimate::new(columns.clone()),
            columns,
            z: Vec::new(),
            differences: Vec::new(),
            pairs: 0,
            left_out: 0,
            reason: None,
        }
    }

    /// A pair; z and derivatives have columns for everything.
    pub fn add(&mut self, z: &[f64], values: &[Vec<f64>; 2], derivatives: &[Vec<f64>; 2]) {
        self.pairs += 1;
        let n = self.pairs as f64;
        let [plus, minus] = values;
        for (mean, (a, b)) in self.value.iter_mut().zip(plus.iter().zip(minus)) {
            *mean += (0.5 * (a + b) - *mean) / n;
        }
        match self.order {
            Order::First => self.add_derivatives(n, z.len(), derivatives),
            Order::Zeroth => {
                let (nv, c) = (self.columns.nv, &self.columns);
                for (start, kept) in [(0, &c.q), (nv, &c.v), (2 * nv, &c.tau), (3 * nv, &c.ctrl)] {
                    self.z.extend_from_slice(&z[start..start + kept.len()]);
                }
                self.differences.extend(plus.iter().zip(minus).map(|(a, b)| 0.5 * (a - b)));
            }
        }
    }

    /// Mean and spread of the pairs' means, by Welford's rule: squares of large numbers do not cancel.
    fn add_derivatives(&mut self, n: f64, width: usize, [plus, minus]: &[Vec<f64>; 2]) {
        let kept = self.columns.width();
        let sums = self.mean.numbers.chunks_exact_mut(kept).zip(self.squares.numbers.chunks_exact_mut(kept));
        for ((mean, squares), (a, b)) in sums.zip(plus.chunks_exact(width).zip(minus.chunks_exact(width))) {
            for k in 0..kept {
                let new = 0.5 * (a[k] + b[k]);
                let deviation = new - mean[k];
                mean[k] += deviation / n;
                squares[k] += deviation * (new - mean[k]);
            }
        }
    }

    pub fn leave_out(&mut self, reason: Missing) {
        self.left_out += 2;
        self.reason = Some(reason);
    }

    pub fn finish(mut self, model: &Model, how: &Bundled, exact: State) -> Result<Smoothed, SmoothingError> {
        let (jacobian, error) = match self.order {
            Order::First => self.first()?,
            Order::Zeroth => self.zeroth(how)?,
        };
        let (dq, dv) = self.value.split_at(model.nv());
        let mut mean = exact.clone();
        model.integrate(&exact.q, dq, &mut mean.q)?;
        mean.v.iter_mut().zip(dv).for_each(|(v, d)| *v += d);
        Ok(Smoothed { exact, mean, jacobian, error, used: 2 * self.pairs, left_out: self.left_out })
    }

    fn first(&mut self) -> Result<(Estimate, Estimate), SmoothingError> {
        match (self.pairs, self.reason.take()) {
            (0, Some(Missing::Gradient(e))) => return Err(SmoothingError::Gradient(e)),
            (0, Some(Missing::Step(e))) => return Err(SmoothingError::Step(e)),
            _ => {}
        }
        let (n, mut error) = (self.pairs as f64, self.squares.clone());
        let stated = |s: f64| if n > 1.0 { (s / (n * (n - 1.0))).sqrt() } else { f64::INFINITY };
        error.numbers.iter_mut().for_each(|s| *s = stated(*s));
        Ok((self.mean.clone(), error))
    }

    fn zeroth(&self, how: &Bundled) -> Result<(Estimate, Estimate), SmoothingError> {
        let (n, m) = (self.pairs, self.columns.width());
        if m == 0 {
            let (what, expected) = ("sigma".into(), "something that is displaced");
            return Err(InputError::Value { what, expected, got: 0.0 }.into());
        }
        let too_few = SmoothingError::TooFew { needed: 2 * (m + 1), used: 2 * n };
        if n <= m {
            return Err(too_few);
        }
        let (fitted, errors) = regression::fit(n, &self.z, &self.differences).ok_or(too_few)?;
        let mut estimates = [fitted, errors].map(|numbers| Estimate { columns: self.columns.clone(), numbers });
        let (c, sigma) = (&self.columns, &how.sigma);
        let scales = [(&c.q, sigma.q), (&c.v, sigma.v), (&c.tau, sigma.tau), (&c.ctrl, sigma.ctrl)];
        for row in estimates.iter_mut().flat_map(|e| e.numbers.chunks_exact_mut(m)) {
            for (columns, sigma) in &scales {
                row[(*columns).clone()].iter_mut().for_each(|x| *x /= sigma);
            }
        }
        let [jacobian, error] = estimates;
        Ok((jacobian, error))
    }
}
