//! `Step`: what a finished step shows, and its derivatives.

use crate::arguments::arg;
use crate::arrays::{Input, Matrix, Vector, array, to_matrix, vector, wrong_shape, zeros};
use crate::errors::Failure;
use crate::gradient::corners::Corners;
use crate::gradient::object::Gradient;
use crate::gradient::sensors as sensor_gradient;
use crate::gradient::step::{
    Blocks, Direction, Groups, StepJacobian, Weights, contact_number, finite, group, in_mode, numbers,
};
use crate::interrupt::interruptible;
use crate::model::gradient_options::Choice;
use crate::simulate::memory::Origin;
use crate::simulate::sensors::{self, Reading};
use crate::simulate::views::{SolveReport, StepConstraint, StepContact};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::gradient::InputGrad;
use slipstick::model::ParameterGroup;
use slipstick::sensors::Sensors;
use slipstick::{GradientError, Model, State};

/// A finished step.
///
/// Attributes: q (nq,) and v (nv,) at its end, time (s) at its end, acceleration (nv,), which is the change of v
/// divided by dt, contacts (list of StepContact: points of the pairs of shapes that the velocities could close at its
/// beginning), report (SolveReport), sensors (dict of name to array: readings at its beginning, accelerations and
/// forces those of the step), mode_key (int: the same for two steps of a model whose derivatives follow the same
/// formula).
///
/// Derivatives, constraints and explain() are taken from the memory of the Simulator: once that has begun another step,
/// they raise StaleStep. Derivatives with respect to q, and of q at the end, are along tangents: nv numbers.
#[pyclass(frozen, module = "slipstick")]
pub struct Step {
    #[pyo3(get)]
    q: Py<PyArray1<f64>>,
    #[pyo3(get)]
    v: Py<PyArray1<f64>>,
    #[pyo3(get)]
    act: Py<PyArray1<f64>>,
    #[pyo3(get)]
    time: f64,
    #[pyo3(get)]
    acceleration: Py<PyArray1<f64>>,
    #[pyo3(get)]
    mode_key: u64,
    report: slipstick::SolveReport,
    contacts: Vec<slipstick::step::ContactView>,
    sensors: Vec<Reading>,
    actuated: bool,
    mocap: Vec<f64>,
    origin: Origin,
}

/// What `Simulator.step` takes out of the memory of a step.
pub struct Finished {
    pub next: State,
    pub acceleration: Vec<f64>,
    pub mode_key: u64,
    pub report: slipstick::SolveReport,
    pub contacts: Vec<slipstick::step::ContactView>,
    pub sensors: Vec<Reading>,
    pub actuated: bool,
    pub mocap: Vec<f64>,
    pub origin: Origin,
}

impl Step {
    pub fn new(py: Python<'_>, done: Finished) -> Step {
        let kept = |x: Vec<f64>| x.into_pyarray(py).unbind();
        Step {
            q: kept(done.next.q),
            v: kept(done.next.v),
            act: kept(done.next.act),
            time: done.next.time,
            acceleration: kept(done.acceleration),
            mode_key: done.mode_key,
            report: done.report,
            contacts: done.contacts,
            sensors: done.sensors,
            actuated: done.actuated,
            mocap: done.mocap,
            origin: done.origin,
        }
    }

    pub fn model(&self) -> &Model {
        &self.origin.shared.model
    }

    /// Contacts as they were, whatever the simulator has done since.
    pub fn views(&self) -> &[slipstick::step::ContactView] {
        &self.contacts
    }

    /// Poses of the mocap bodies during it.
    pub fn mocap(&self) -> &[f64] {
        &self.mocap
    }

    /// The state at its end.
    pub fn next(&self, py: Python<'_>) -> Result<State, Failure> {
        let (q, v) = (vector("q", self.q.bind(py))?, vector("v", self.v.bind(py))?);
        let act = vector("act", self.act.bind(py))?;
        let mut x = State::new(self.model(), &q, &v)?.with_act(self.model(), &act)?;
        x.time = self.time;
        Ok(x)
    }

    /// Takes the step up again while its Simulator holds it.
    pub fn resume_step<T>(&self, work: impl FnOnce(&mut slipstick::Step) -> Result<T, Failure>) -> Result<T, Failure> {
        self.origin.resume(|step, _| work(step))
    }

    /// Takes the step up again, without the interpreter's lock.
    fn resume<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut slipstick::Step) -> Result<T, GradientError> + Send,
    ) -> Result<T, Failure> {
        py.detach(|| self.origin.resume(|step, _| work(step)))
    }

    /// Takes the step up again with its derivatives in the mode of a call, if it has one: then it is made again.
    fn resume_in<T: Send, E: Into<Failure>>(
        &self,
        py: Python<'_>,
        gradient: Option<Choice>,
        work: impl FnOnce(&mut slipstick::Step, &mut Sensors) -> Result<T, E> + Send,
    ) -> Result<T, Failure> {
        py.detach(|| self.origin.resume(|step, memory| in_mode(step, gradient, |step| work(step, memory))))
    }

    /// A change of the poses of the mocap bodies (n, 6), or nothing.
    fn pose_change(&self, mocap: Option<Input>) -> Result<Vec<f64>, Failure> {
        let Some(x) = mocap else { return Ok(Vec::new()) };
        let (numbers, shape) = array("mocap", x)?;
        let count = self.model().n_mocap();
        if shape != [count, 6] {
            return Err(wrong_shape("mocap", &format!("({count}, 6)"), &shape).into());
        }
        finite("mocap", numbers)
    }

    /// The gradient with respect to the poses of the mocap bodies.
    fn mocap_gradient(&self, py: Python<'_>, w: &Weights, mode: Option<Choice>) -> Result<Vec<f64>, Failure> {
        let mut out = vec![0.0; 6 * self.model().n_mocap()];
        if !out.is_empty() {
            self.resume_in(py, mode, |step, _| step.vjp_mocap(w.borrow(), &mut out))?;
        }
        Ok(out)
    }

    fn weights(
        &self,
        q: Option<Input>,
        v: Option<Input>,
        impulses: Option<Input>,
        act: Option<Input>,
    ) -> Result<Weights, Failure> {
        let act = numbers("act", act, self.model().na())?;
        Ok(Weights { act, ..Weights::new(self.model().nv(), self.contacts.len(), q, v, impulses)? })
    }

    /// Controls are part of the step only if it was made with them.
    fn controls(&self, ctrl: Option<Input>) -> Result<Vec<f64>, Failure> {
        if ctrl.is_some() && !self.actuated {
            return Err(PyValueError::new_err("ctrl: expected None for a step made without ctrl, got an array").into());
        }
        numbers("ctrl", ctrl, self.model().nu())
    }

    /// Adds the parts of a gradient that a number has through q, v and impulses, and through readings.
    fn gradient(
        &self,
        py: Python<'_>,
        w: &Weights,
        readings: Option<&[f64]>,
        mode: Option<Choice>,
    ) -> Result<[Vec<f64>; 5], Failure> {
        let (nv, nu) = (self.model().nv(), if self.actuated { self.model().nu() } else { 0 });
        let mut out = [nv, nv, nv, nu, self.model().na()].map(|n| vec![0.0; n]);
        self.resume_in(py, mode, |step, memory| {
            step.vjp(w.borrow(), borrowed(&mut out)).map_err(Failure::from)?;
            readings.map_or(Ok(()), |r| step.sensor_vjp(r, borrowed(&mut out), memory).map_err(Failure::from))
        })?;
        Ok(out)
    }

    fn parameter_gradient(
        &self,
        py: Python<'_>,
        w: &Weights,
        readings: Option<&[f64]>,
        group: ParameterGroup,
        mode: Option<Choice>,
    ) -> Result<Vec<f64>, Failure> {
        let mut out = vec![0.0; self.model().parameters().group(group).len()];
        self.resume_in(py, mode, |step, memory| {
            step.vjp_parameters(w.borrow(), group, &mut out).map_err(Failure::from)?;
            let add = |r| step.sensor_vjp_parameters(r, group, memory, &mut out).map_err(Failure::from);
            readings.map_or(Ok(()), add)
        })?;
        Ok(out)
    }
}

fn borrowed([q, v, tau, ctrl, act]: &mut [Vec<f64>; 5]) -> InputGrad<'_> {
    InputGrad { q, v, tau, ctrl, act }
}

#[pymethods]
impl Step {
    /// Contacts, by rising numbers of their pairs (list of StepContact).
    #[getter]
    fn contacts(&self) -> Vec<StepContact> {
        self.contacts.iter().map(|c| StepContact { view: *c, model: self.model().clone() }).collect()
    }

    /// How contact was solved (SolveReport). Where several impulses give the same motion, degenerate and margin are those of
    /// their center while the Simulator holds the step and has at most 2000 rows, else those of the impulses found.
    #[getter]
    fn report(&self, py: Python<'_>) -> SolveReport {
        let mut report = self.report;
        if let Ok(margins) = self.resume(py, |step| Ok(step.margins())) {
            (report.degenerate, report.margin) = (margins.degenerate, margins.margin);
        }
        SolveReport::from(&report)
    }

    /// Readings of the model's sensors (dict of name to array). Sensors without a name go by their number; those that
    /// cannot be read are left out.
    #[getter]
    fn sensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        sensors::to_dict(py, &self.sensors, None)
    }

    /// Everything in the contact problem: equalities, limits and dry friction of joints, contacts (list of
    /// StepConstraint). Raises StaleStep.
    #[getter]
    fn constraints(&self, py: Python<'_>) -> Result<Vec<StepConstraint>, Failure> {
        self.resume(py, |step| Ok(step.constraints().into_iter().map(StepConstraint).collect()))
    }

    /// A sentence per constraint, one to a line (str): what it does, with what force, how far it is from doing
    /// otherwise. Raises StaleStep.
    fn explain(&self, py: Python<'_>) -> Result<String, Failure> {
        self.resume(py, |step| Ok(step.explain()))
    }

    /// All derivatives of (q, v, act) at the end with respect to q, v, act, tau and ctrl (StepJacobian).
    ///
    /// Computed once per step; asked for again it is only copied. sides="mean", length=h (m or rad): difference quotients
    /// instead, each column the mean of both sides over changes that move its dof by h within the step; nearer to the
    /// step where it has corners, at the price of two small contact problems per column. gradient ("exact" or
    /// options.ExactForwardCentral): how they are taken, in place of the model's option; the step is made again for it. Raises
    /// StaleStep, and GradientError where there is no derivative.
    #[pyo3(signature = (*, sides=None, length=None, gradient=None))]
    fn jacobian(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arg::sides)] sides: Option<&str>,
        #[pyo3(from_py_with = arg::length)] length: Option<f64>,
        gradient: Option<Choice>,
    ) -> Result<StepJacobian, Failure> {
        match (sides, length) {
            (None, None) | (Some("mean"), Some(_)) => {}
            (Some("mean"), None) => return Err(PyValueError::new_err("length: expected a number, got None").into()),
            (Some(other), _) => {
                return Err(PyValueError::new_err(format!("sides: expected 'mean' or None, got '{other}'")).into());
            }
            (None, Some(_)) => {
                return Err(PyValueError::new_err("sides: expected 'mean' where a length is given, got None").into());
            }
        }
        Ok(self.resume_in(py, gradient, |step, _| Blocks::of(step, length))?.into_python(py)?)
    }

    /// Columns of the Jacobian that are not the derivative on both of their sides (Corners).
    ///
    /// The step has a corner where something is about to slip, lift off or meet a limit, where another feature of a shape
    /// is about to touch, where a control or force reaches the end of its range, or where more constraints hold than
    /// the motion has directions. jvp(one_sided=True) is right on either side. Costs some ten steps where the step
    /// plainly does what its Jacobian says, else two or more for each column. Raises StaleStep, GradientError.
    fn corners(&self, py: Python<'_>) -> Result<Corners, Failure> {
        Ok(Corners::new(py, interruptible(py, || self.origin.resume(|step, _| slipstick::check::Corners::of(step)))?))
    }

    /// The change of (q, v) at the end along a change of q (nv,), v (nv,), tau (nv,), ctrl (nu,) and act (na,): Jacobian times
    /// vector; that of act is jvp_act.
    ///
    /// What is left out does not change; ctrl is for steps made with ctrl. mocap (n, 6): change of the poses of the mocap bodies,
    /// position in world axes, rotation in the axes of the body; not on one side. one_sided: the derivative of the side to which
    /// the change leads, where something is about to slip, open or close or more is held than the motion has. length:
    /// the difference quotient of the true step for a change so many times as long as the one given, as far as
    /// contacts stay where they are; it implies one_sided. gradient: as of jacobian. Returns (dq, dv), (nv,) each. Raises
    /// StaleStep, GradientError, also where the step jams or jumps along the change.
    #[pyo3(signature = (*, q=None, v=None, tau=None, ctrl=None, act=None, mocap=None, one_sided=false, length=None, gradient=None))]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        q: Option<Input>,
        v: Option<Input>,
        tau: Option<Input>,
        ctrl: Option<Input>,
        act: Option<Input>,
        mocap: Option<Input>,
        #[pyo3(from_py_with = arg::one_sided)] one_sided: bool,
        #[pyo3(from_py_with = arg::length)] length: Option<f64>,
        gradient: Option<Choice>,
    ) -> Result<(Vector<'py>, Vector<'py>), Failure> {
        let nv = self.model().nv();
        let (q, v, tau) = (numbers("q", q, nv)?, numbers("v", v, nv)?, numbers("tau", tau, nv)?);
        let act = numbers("act", act, self.model().na())?;
        let along = Direction { q, v, tau, ctrl: self.controls(ctrl)?, act };
        let (mut dq, mut dv) = (vec![0.0; nv], vec![0.0; nv]);
        let (poses, sided) = (self.pose_change(mocap)?, one_sided || length.is_some());
        if sided && !poses.is_empty() {
            let what = "one side of a step with respect to poses of mocap bodies".into();
            return Err(GradientError::Unsupported { what }.into());
        }
        self.resume_in(py, gradient, |step, _| {
            match sided {
                true => step.jvp_one_sided(along.borrow(), length, &mut dq, &mut dv),
                false => step.jvp(along.borrow(), &mut dq, &mut dv),
            }?;
            if poses.is_empty() {
                return Ok(());
            }
            let (mut by_q, mut by_v) = (vec![0.0; nv], vec![0.0; nv]);
            step.jvp_mocap(&poses, &mut by_q, &mut by_v)?;
            dq.iter_mut().zip(by_q).chain(dv.iter_mut().zip(by_v)).for_each(|(d, x)| *d += x);
            Ok::<_, GradientError>(())
        })?;
        Ok((dq.into_pyarray(py), dv.into_pyarray(py)))
    }

    /// The change of act (na,) at the end along a change of ctrl (nu,) and act (na,), which are all that it depends on. Raises
    /// StaleStep.
    #[pyo3(signature = (*, ctrl=None, act=None))]
    fn jvp_act<'py>(&self, py: Python<'py>, ctrl: Option<Input>, act: Option<Input>) -> Result<Vector<'py>, Failure> {
        let na = self.model().na();
        let none = Vec::new;
        let (ctrl, act) = (self.controls(ctrl)?, numbers("act", act, na)?);
        let along = Direction { q: none(), v: none(), tau: none(), ctrl, act };
        let mut out = vec![0.0; na];
        self.resume(py, |step| step.jvp_act(along.borrow(), &mut out))?;
        Ok(out.into_pyarray(py))
    }

    /// The gradient of a number with respect to all that the step was made from: vector times Jacobian, by one adjoint solve.
    ///
    /// q (nv,), v (nv,), act (na,): the number's gradient with respect to q, v and act at the end; impulses (contacts, 3): to the impulses of
    /// Step.contacts, world axes; sensors: to readings, a dict of names in Step.sensors to arrays as long as their readings. What is left
    /// out counts as zero. parameters: groups of Model.parameters to differentiate by, a name, several names or "all"; one more adjoint solve each.
    /// gradient: as of jacobian; without impulses, for contacts may be others then. Returns a Gradient, in which ctrl is None for a step
    /// made without ctrl, and mocap (n, 6) None for a model without mocap bodies or with sensors. Raises StaleStep, GradientError.
    #[pyo3(signature = (*, q=None, v=None, impulses=None, act=None, sensors=None, parameters=None, gradient=None))]
    fn vjp(
        &self,
        py: Python<'_>,
        q: Option<Input>,
        v: Option<Input>,
        impulses: Option<Input>,
        act: Option<Input>,
        #[pyo3(from_py_with = arg::sensors)] sensors: Option<&Bound<'_, PyDict>>,
        #[pyo3(from_py_with = arg::parameters)] parameters: Option<Groups>,
        gradient: Option<Choice>,
    ) -> Result<Gradient, Failure> {
        if impulses.is_some() && gradient.is_some() {
            let text = "impulses: expected None where gradient is given, got an array";
            return Err(PyValueError::new_err(text).into());
        }
        let w = self.weights(q, v, impulses, act)?;
        let readings = sensors.map(|by_name| sensor_gradient::weights(self.model(), by_name)).transpose()?;
        let groups = parameters.map_or(Ok(Vec::new()), Groups::all)?;
        let [gq, gv, gtau, gctrl, gact] = self.gradient(py, &w, readings.as_deref(), gradient)?;
        let by_group =
            groups.iter().map(|group| self.parameter_gradient(py, &w, readings.as_deref(), *group, gradient));
        let by_group = by_group.collect::<Result<Vec<_>, _>>()?;
        let (nv, nu) = ([gq.len()], [gctrl.len()]);
        let sizes: Vec<[usize; 1]> = by_group.iter().map(|x| [x.len()]).collect();
        let parts = groups.iter().zip(by_group).zip(&sizes).map(|((group, x), size)| (group.name(), (&size[..], x)));
        let ctrl = self.actuated.then_some((&nu[..], gctrl));
        let na = [gact.len()];
        let whole = Gradient::new(py, [gq, gv, gtau].map(|x| (&nv[..], x)), ctrl, parts)?.with_act(py, (&na, gact))?;
        // readings depend on poses in ways of their own, of which there is no derivative
        match self.model().n_mocap() > 0 && readings.is_none() {
            true => Ok(whole.with_mocap(py, self.mocap_gradient(py, &w, gradient)?)?),
            false => Ok(whole),
        }
    }

    /// Derivatives of (q, v) at the end with respect to a group of n parameters of the model.
    ///
    /// group: a name in Model.parameter_groups. Returns (dq, dv), (nv, n) each. Costs an adjoint solve per dof. Raises
    /// StaleStep, GradientError.
    fn parameter_jacobian<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arg::group)] group: &str,
    ) -> Result<(Matrix<'py>, Matrix<'py>), Failure> {
        let group = self::group(group)?;
        let (nv, n) = (self.model().nv(), self.model().parameters().group(group).len());
        let room = || zeros("derivatives by parameters", nv, n);
        let (mut dq, mut dv) = (room()?, room()?);
        self.resume(py, |step| step.parameter_jacobian(group, &mut dq, &mut dv))?;
        Ok((to_matrix(py, nv, n, dq)?, to_matrix(py, nv, n, dv)?))
    }

    /// Derivatives of the impulse of a contact, on the second body in world axes, with respect to q, v and tau.
    ///
    /// contact (int): its number in Step.contacts. Returns (dq, dv, dtau), (3, nv) each. Raises StaleStep,
    /// GradientError.
    fn impulse_jacobian<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arg::contact)] contact: i64,
    ) -> Result<(Matrix<'py>, Matrix<'py>, Matrix<'py>), Failure> {
        let (contact, nv) = (contact_number(contact)?, self.model().nv());
        let [mut dq, mut dv, mut dtau] = [(); 3].map(|()| vec![0.0; 3 * nv]);
        self.resume(py, |step| step.impulse_jacobian(contact, [&mut dq, &mut dv, &mut dtau]))?;
        Ok((to_matrix(py, 3, nv, dq)?, to_matrix(py, 3, nv, dv)?, to_matrix(py, 3, nv, dtau)?))
    }

    /// Derivatives of the readings of the model's sensors with respect to q, v, tau, ctrl and act (dict of name to
    /// SensorJacobian), for all names in Step.sensors.
    ///
    /// Where a reading has a kink, they are those of the side on which the step lies. Raises StaleStep, GradientError.
    fn sensor_jacobian<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let work = |step: &mut slipstick::Step, memory: &mut _| sensor_gradient::blocks(self.model(), step, memory);
        let all = py.detach(|| self.origin.resume(work))?;
        Ok(sensor_gradient::to_dict(py, all)?)
    }

    fn __reduce__(&self) -> PyResult<Py<PyAny>> {
        Err(PyTypeError::new_err(
            "a Step cannot be pickled or copied: its derivatives are in the memory of its Simulator; keep its arrays, or \
             Simulator.state and Simulator.warm_start(), which repeat it",
        ))
    }

    fn __repr__(&self) -> String {
        let (time, n, status) = (self.time, self.contacts.len(), self.report.status.name());
        format!("<slipstick.Step: time={time}, {n} contacts, {status}>")
    }
}
