//! Derivatives of the last step of a `Batch`.

use super::failure::{Done, clear_rows, failed, finish};
use super::jacobian::{BatchJacobian, Blocks};
use super::rows::{of_states, zeros};
use super::{Array, Batch, shaped};
use crate::arguments::{arg, wrong_type};
use crate::arrays::Input;
use crate::errors::Failure;
use crate::gradient::object::Gradient;
use crate::gradient::step::{Groups, group};
use crate::interrupt::interruptible;
use crate::model::gradient_options::Choice;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::gradient::InputGrad;
use slipstick::model::ParameterGroup;
use slipstick::rollout::{BatchDirection, BatchGrad, StateGrad};

#[pymethods]
impl Batch {
    /// Derivatives of the last step of every environment, or of all engine steps under one control (BatchJacobian).
    ///
    /// gradient ("exact" or options.ExactForwardCentral): how they are taken, in place of the models' option. Raises StaleStep before
    /// the first step, and BatchError, in whose result rows of failed environments are zero.
    #[pyo3(signature = (*, gradient=None))]
    fn jacobian<'py>(&self, py: Python<'py>, gradient: Option<Choice>) -> Result<Bound<'py, BatchJacobian>, Failure> {
        let [_, nv, nu] = self.sizes;
        let (done, blocks) = interruptible(py, || {
            let mut inner = self.enter()?;
            let nu = if inner.actuated { nu } else { 0 };
            let mut blocks = Blocks::new(&[self.n], None, nv, [nv, nv, nv, nu])?;
            let done = in_mode(&mut inner.batch, gradient, |batch| batch.jacobian(blocks.borrow()))?;
            blocks.clear(&failed(&done), self.n);
            Ok::<_, Failure>((done, blocks))
        })?;
        let result = Bound::new(py, blocks.into_python(py)?)?;
        finish(py, self.n, done, result)
    }

    /// The change of (q, v) at the end of the last step along a change of what it was made from: Jacobian times vector.
    ///
    /// q, v, tau (n, nv), ctrl (n, nu), or vectors for all; parameters: a dict of names of groups to arrays (n, size), or (size,) for
    /// all. What is left out does not change. gradient: as of jacobian. Returns (dq, dv), (n, nv) each. Raises StaleStep before the first
    /// step, and BatchError, in whose result rows of failed environments are zero.
    #[pyo3(signature = (*, q=None, v=None, tau=None, ctrl=None, parameters=None, gradient=None))]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        q: Option<Input>,
        v: Option<Input>,
        tau: Option<Input>,
        ctrl: Option<Input>,
        #[pyo3(from_py_with = arg::parameters)] parameters: Option<&Bound<'py, PyDict>>,
        gradient: Option<Choice>,
    ) -> Result<(Array<'py>, Array<'py>), Failure> {
        let (n, [_, nv, nu]) = (self.n, self.sizes);
        let of = |what, x: Option<Input>, width| x.map_or(Ok(Vec::new()), |x| of_states(what, x, n, width));
        let (q, v, tau) = (of("q", q, nv)?, of("v", v, nv)?, of("tau", tau, nv)?);
        let ctrl = of("ctrl", ctrl, nu)?;
        if !ctrl.is_empty() && !self.enter()?.actuated {
            let text = "ctrl: expected None for a step made without ctrl, got an array";
            return Err(PyValueError::new_err(text).into());
        }
        let (groups, parameters) = self.changes(parameters)?;
        let (mut dq, mut dv) = (zeros(&[n, nv])?, zeros(&[n, nv])?);
        let done = interruptible(py, || {
            let dx = BatchDirection { q: &q, v: &v, tau: &tau, ctrl: &ctrl, groups: &groups, parameters: &parameters };
            in_mode(&mut self.enter()?.batch, gradient, |batch| batch.jvp(dx, [&mut dq, &mut dv]))
        })?;
        let result = (shaped(py, &[n, nv], dq)?, shaped(py, &[n, nv], dv)?);
        finish(py, n, done, result)
    }

    /// The gradient of numbers, one per environment, with respect to what the last step was made from.
    ///
    /// q, v (n, nv), or (nv,) for all: gradients with respect to q and v at the end; what is left out is zero. parameters: groups
    /// of Model.parameters to differentiate by, a name, several names or "all"; one more adjoint solve each. gradient: as of jacobian.
    /// Returns a Gradient: q, v, tau (n, nv), ctrl (n, nu), or None for a step made without ctrl, and parameters, a dict of
    /// arrays (n, size). Raises StaleStep before the first step, and BatchError, in whose result rows of failed environments are
    /// zero.
    #[pyo3(signature = (*, q=None, v=None, parameters=None, gradient=None))]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        q: Option<Input>,
        v: Option<Input>,
        #[pyo3(from_py_with = arg::parameters)] parameters: Option<Groups>,
        gradient: Option<Choice>,
    ) -> Result<Bound<'py, Gradient>, Failure> {
        let (n, nv) = (self.n, self.sizes[1]);
        let weights = |what, x: Option<Input>| x.map_or(Ok(Vec::new()), |x| of_states(what, x, n, nv));
        let (q, v) = (weights("q", q)?, weights("v", v)?);
        let groups = parameters.map_or(Ok(Vec::new()), Groups::all)?;
        self.gradients(py, None, None, &groups, |batch, out| {
            in_mode(batch, gradient, |batch| batch.vjp(StateGrad { q: &q, v: &v, ..StateGrad::default() }, out))
        })
    }
}

/// Calls `go` with derivatives in the mode of the call, if it has one.
pub fn in_mode<R>(
    batch: &mut slipstick::Batch,
    gradient: Option<Choice>,
    go: impl FnOnce(&mut slipstick::Batch) -> R,
) -> Result<R, Failure> {
    match gradient {
        None => Ok(go(batch)),
        Some(Choice(choice)) => Ok(batch.with_gradient(choice, go)?),
    }
}

impl Batch {
    /// Changes of parameters by the names of their groups, as rows with one group after the other.
    fn changes(&self, by_name: Option<&Bound<'_, PyDict>>) -> Result<(Vec<ParameterGroup>, Vec<f64>), Failure> {
        let (mut groups, mut columns) = (Vec::new(), Vec::new());
        for (name, x) in by_name.into_iter().flatten() {
            let name = name.extract::<String>().map_err(|_| wrong_type("parameters", "names of groups", &name))?;
            let group = group(&name)?;
            groups.push(group);
            let width = self.size_of(group)?;
            columns.push((of_states("parameters", &x, self.n, width)?, width));
        }
        let row = |i: usize| columns.iter().flat_map(move |(x, width)| &x[i * width..(i + 1) * width]);
        Ok((groups, (0..self.n).flat_map(row).copied().collect()))
    }

    fn size_of(&self, group: ParameterGroup) -> Result<usize, Failure> {
        Ok(self.enter()?.batch.model(0).map_or(0, |model| model.parameters().group(group).len()))
    }

    /// Gradients with respect to the states and what acted, in one step or in `steps`; with controls if `actuated`, or if the last
    /// step had some.
    pub fn gradients<'py>(
        &self,
        py: Python<'py>,
        steps: Option<usize>,
        actuated: Option<bool>,
        groups: &[ParameterGroup],
        work: impl FnOnce(&mut slipstick::Batch, BatchGrad) -> Result<Done, Failure> + Send,
    ) -> Result<Bound<'py, Gradient>, Failure> {
        let (n, [_, nv, nu]) = (self.n, self.sizes);
        let shape = |width: usize| [n].into_iter().chain(steps).chain([width]).collect::<Vec<_>>();
        let (of_state, of_tau, of_ctrl) = (vec![n, nv], shape(nv), shape(nu));
        let sizes = groups.iter().map(|group| self.size_of(*group)).collect::<Result<Vec<_>, _>>()?;
        let (mut q, mut v, mut tau) = (zeros(&of_state)?, zeros(&of_state)?, zeros(&of_tau)?);
        let mut parameters = zeros(&[n, sizes.iter().sum()])?;
        let (done, ctrl) = interruptible(py, || {
            let mut inner = self.enter()?;
            let mut ctrl = actuated.unwrap_or(inner.actuated).then(|| zeros(&of_ctrl)).transpose()?;
            let of_ctrl = ctrl.as_deref_mut().unwrap_or(&mut []);
            let inputs = InputGrad { q: &mut q, v: &mut v, tau: &mut tau, ctrl: of_ctrl, act: &mut [] };
            let done = work(&mut inner.batch, BatchGrad { inputs, groups, parameters: &mut parameters })?;
            Ok::<_, Failure>((done, ctrl))
        })?;
        let mut ctrl = ctrl;
        // what fails may have added a part
        for x in [&mut q, &mut v, &mut tau, &mut parameters].into_iter().chain(&mut ctrl) {
            clear_rows(x, &failed(&done), n);
        }
        let by_group: Vec<[usize; 2]> = sizes.iter().map(|size| [n, *size]).collect();
        let parts = groups.iter().zip(split_columns(&parameters, &sizes)).zip(&by_group);
        let parts = parts.map(|((group, x), shape)| (group.name(), (&shape[..], x)));
        let states = [(&of_state[..], q), (&of_state, v), (&of_tau, tau)];
        let gradient = Gradient::new(py, states, ctrl.map(|ctrl| (&of_ctrl[..], ctrl)), parts)?;
        finish(py, n, done, Bound::new(py, gradient)?)
    }
}

/// Columns of rows that lie side by side, as matrices of their own.
fn split_columns(rows: &[f64], widths: &[usize]) -> Vec<Vec<f64>> {
    let all: usize = widths.iter().sum();
    let firsts = widths.iter().scan(0, |end, width| {
        *end += width;
        Some((*end - width, *width))
    });
    let part = |(first, width): (usize, usize)| {
        rows.chunks_exact(all.max(1)).flat_map(|row| &row[first..first + width]).copied().collect()
    };
    firsts.map(part).collect()
}
