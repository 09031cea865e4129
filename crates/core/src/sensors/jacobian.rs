//! Derivatives of all readings: rows of a matrix, one by one, or one weighted sum of them.   (sens-7)
#![allow(non_snake_case)]

use super::adjoint::SensorAdjoint;
use super::layout::SensorLayout;
use super::reverse::SensorReverse;
use super::snapshot::Snapshot;
use super::{SensorError, Sensors};
use crate::dynamics::pull;
use crate::error::InputError;
use crate::gradient::{Gradient, GradientError, InputGrad, StepJacobian, StepRecord};
use crate::input_check;
use crate::linalg::MatRef;
use crate::model::{Model, ParameterGroup};
use core::ops::Range;

/// Derivatives of the readings of a step, sensor by sensor as [`Sensors`] has the readings.
#[derive(Debug, Clone, Copy)]
pub struct SensorJacobian<'a> {
    layout: &'a SensorLayout,
    rows: &'a [Vec<f64>; 5],
    columns: [usize; 5],
}

/// Derivatives of some readings: a row for each number. Configurations count as tangents.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SensorRows<'a> {
    /// With respect to q (nv columns).
    pub dq: MatRef<'a>,
    /// With respect to v (nv columns).
    pub dv: MatRef<'a>,
    /// With respect to tau (nv columns).
    pub dtau: MatRef<'a>,
    /// With respect to ctrl (nu columns; none after a step without actuators).
    pub dctrl: MatRef<'a>,
    /// With respect to act (na columns).
    pub dact: MatRef<'a>,
}

impl<'a> SensorJacobian<'a> {
    /// Derivatives of one sensor, by its index in [`Model::sensors`].
    pub fn get(&self, index: usize) -> Result<SensorRows<'a>, SensorError> {
        Ok(self.rows(self.layout.range(index)?))
    }

    /// Derivatives of one sensor, by its name.
    pub fn named(&self, name: &str) -> Result<SensorRows<'a>, SensorError> {
        Ok(self.rows(self.layout.named(name)?))
    }

    /// Derivatives of all numbers of [`Sensors::values`]; an error if one of them cannot be read.
    pub fn values(&self) -> Result<SensorRows<'a>, SensorError> {
        Ok(self.rows(self.layout.all()?))
    }

    fn rows(&self, range: Range<usize>) -> SensorRows<'a> {
        let block = |k: usize| {
            let columns = self.columns[k];
            MatRef::new(&self.rows[k][range.start * columns..range.end * columns], range.len(), columns)
        };
        SensorRows { dq: block(0), dv: block(1), dtau: block(2), dctrl: block(3), dact: block(4) }
    }
}

/// Memory of the derivatives of readings.
#[derive(Debug, Clone)]
pub(super) struct Derivatives {
    reverse: SensorReverse,
    /// ∂readings/∂(q, v, tau, ctrl, act), row by row.
    rows: [Vec<f64>; 5],
    /// Weights of a single number.
    unit: Vec<f64>,
    /// Weights of the numbers that are within their bounds.
    weights: Vec<f64>,
    /// One for each number within the bounds of its sensor, zero for those beyond; empty if no sensor has bounds.
    passing: Vec<f64>,
}

impl Derivatives {
    fn new(model: &Model, layout: &SensorLayout) -> Derivatives {
        let count = layout.size();
        let (nv, nu) = (model.nv(), model.nu());
        let rows = [nv, nv, nv, nu, model.na()].map(|columns| vec![0.0; count * columns]);
        let passing = vec![1.0; if layout.is_clamped() { count } else { 0 }];
        Derivatives {
            reverse: SensorReverse::new(model, layout.needs),
            rows,
            unit: vec![0.0; count],
            weights: vec![0.0; count],
            passing,
        }
    }
}

impl Sensors {
    /// Checks that the memory belongs to the step's model.
    pub(crate) fn check(&self, model: &Model) -> Result<(), InputError> {
        self.layout.check(model)
    }

    /// Checks the number of weights, and that they are zero for sensors that cannot be read.
    pub(crate) fn check_weights(&self, weights: &[f64]) -> Result<(), SensorError> {
        input_check::vector("weights of readings", weights, self.values.len())?;
        let ranges = &self.layout.ranges;
        let weighted = |k: &usize| weights[ranges[*k].clone()].iter().any(|w| *w != 0.0);
        (0..ranges.len()).filter(weighted).try_for_each(|k| self.get(k).map(|_| ()))
    }

    /// The gradient of `weights · readings`.
    pub(crate) fn vjp(
        &mut self,
        gradient: &mut Gradient,
        f: &mut StepRecord,
        weights: &[f64],
        out: &mut InputGrad,
    ) -> Result<(), SensorError> {
        let mut memory = self.take_memory(f.model);
        let done = gradient.with_chosen_step(f, |g, f| {
            self.find_passing(f, &mut memory);
            let Derivatives { reverse, weights: within, passing, .. } = &mut *memory;
            within.copy_from_slice(weights);
            within.iter_mut().zip(passing).for_each(|(w, pass)| *w *= *pass);
            reverse.begin(f, self.layout.needs)?;
            reverse.pull(&Snapshot::of(f), &self.layout, within)?;
            reverse.add_free_rotation(f);
            if reverse.adjoint.depends_on_step_end() {
                g.vjp_rows(f, &reverse.adjoint.v_next, &reverse.adjoint.lambda, out)?;
            }
            reverse.add(f, out);
            Ok::<_, GradientError>(())
        });
        self.derivatives = Some(memory);
        Ok(done?)
    }

    /// The gradient of `weights · readings` with respect to a group of parameters.
    pub(crate) fn vjp_parameters(
        &mut self,
        gradient: &mut Gradient,
        f: &mut StepRecord,
        weights: &[f64],
        group: ParameterGroup,
        out: &mut [f64],
    ) -> Result<(), SensorError> {
        let mut memory = self.take_memory(f.model);
        let done = gradient.with_chosen_step(f, |g, f| {
            self.find_passing(f, &mut memory);
            let Derivatives { reverse, weights: within, passing, .. } = &mut *memory;
            within.copy_from_slice(weights);
            within.iter_mut().zip(passing).for_each(|(w, pass)| *w *= *pass);
            reverse.begin(f, self.layout.needs)?;
            reverse.pull(&Snapshot::of(f), &self.layout, within)?;
            if reverse.adjoint.depends_on_step_end() {
                g.vjp_rows_parameters(f, &reverse.adjoint.v_next, &reverse.adjoint.lambda, group, out)?;
            }
            reverse.add_parameters(f, &self.layout, within, group, out)
        });
        self.derivatives = Some(memory);
        Ok(done?)
    }

    /// The derivatives of all readings, row by row.
    pub(crate) fn differentiate(
        &mut self,
        gradient: &mut Gradient,
        f: &mut StepRecord,
    ) -> Result<SensorJacobian<'_>, SensorError> {
        let mut memory = self.take_memory(f.model);
        let done = gradient.with_chosen_step(f, |g, f| self.write_rows(g, f, &mut memory));
        let memory = &*self.derivatives.insert(memory);
        done?;
        let (nv, nu) = (f.model.nv(), f.given.ctrl().map_or(0, <[f64]>::len));
        Ok(SensorJacobian { layout: &self.layout, rows: &memory.rows, columns: [nv, nv, nv, nu, f.model.na()] })
    }

    fn take_memory(&mut self, model: &Model) -> Box<Derivatives> {
        self.derivatives.take().unwrap_or_else(|| Box::new(Derivatives::new(model, &self.layout)))
    }

    /// Finds which numbers are within the bounds of their sensors. The readings stay as they are.
    fn find_passing(&mut self, f: &StepRecord, memory: &mut Derivatives) {
        if self.layout.is_clamped() {
            core::mem::swap(&mut self.values, &mut memory.passing);
            self.read_unclamped(&Snapshot::of(f));
            core::mem::swap(&mut self.values, &mut memory.passing);
            self.layout.pass(&mut memory.passing);
        }
    }

    fn write_rows(&mut self, g: &mut Gradient, f: &mut StepRecord, d: &mut Derivatives) -> Result<(), GradientError> {
        let (nv, nu) = (f.model.nv(), f.given.ctrl().map_or(0, <[f64]>::len));
        self.find_passing(f, d);
        let Derivatives { reverse, rows, unit, passing, .. } = d;
        reverse.begin(f, self.layout.needs)?;
        rows.iter_mut().for_each(|x| x.fill(0.0));
        let na = f.model.na();
        let [dq, dv, dtau, dctrl, dact] = rows;
        let ranges = self.layout.ranges.iter().enumerate().filter(|(k, _)| self.layout.is_readable(*k));
        let passes = |row: &usize| passing.get(*row) != Some(&0.0);
        for row in ranges.flat_map(|(_, range)| range.clone()).filter(passes) {
            let of = |columns: usize| row * columns..(row + 1) * columns;
            let (q, v, tau, ctrl) = (&mut dq[of(nv)], &mut dv[of(nv)], &mut dtau[of(nv)], &mut dctrl[of(nu)]);
            let act = &mut dact[of(na)];
            unit[row] = 1.0;
            let pulled = reverse.pull(&Snapshot::of(f), &self.layout, unit);
            unit[row] = 0.0;
            pulled?;
            reverse.add_free_rotation(f);
            reverse.add_row(g, f, &mut InputGrad { q, v, tau, ctrl, act })?;
        }
        Ok(())
    }
}

impl SensorReverse {
    /// Adds the direct dependence of the readings on the inputs.
    fn add(&self, f: &StepRecord, out: &mut InputGrad) {
        let SensorAdjoint { q, v, ctrl, .. } = &self.adjoint;
        for (out, direct) in [(&mut *out.q, q), (&mut *out.v, v)] {
            out.iter_mut().zip(direct).for_each(|(o, d)| *o += d);
        }
        pull(f.model, &f.given.act, f.given.ctrl(), [ctrl, &[]], [out.act, out.ctrl]);
    }

    /// Adds the direct derivatives and those through the end of the step.
    fn add_row(&self, g: &mut Gradient, f: &mut StepRecord, out: &mut InputGrad) -> Result<(), GradientError> {
        let SensorAdjoint { v_next, lambda, .. } = &self.adjoint;
        self.add(f, out);
        if self.adjoint.depends_on_impulses() {
            return g.vjp_rows(f, v_next, lambda, out);
        }
        if self.adjoint.depends_on_step_end() {
            add_product(v_next, &g.chosen_jacobian(f)?, out);
        }
        Ok(())
    }
}

/// Adds the dependence on the end of the step, from its Jacobian: for several rows cheaper than a solve for each.
fn add_product(v_next: &[f64], J: &StepJacobian, out: &mut InputGrad) {
    let blocks =
        [(&mut *out.q, J.dv_dq), (&mut *out.v, J.dv_dv), (&mut *out.tau, J.dv_dtau), (&mut *out.ctrl, J.dv_dctrl)];
    for (out, block) in blocks.into_iter().chain([(&mut *out.act, J.dv_dact)]) {
        for (i, w) in v_next.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            out.iter_mut().zip(block.row(i)).for_each(|(o, x)| *o += w * x);
        }
    }
}
