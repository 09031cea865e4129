//! `Step`: what a finished step shows, and its derivatives.

use crate::arrays::{Input, Matrix, Vector, to_matrix, vector};
use crate::errors::Failure;
use crate::gradient::corners::Corners;
use crate::gradient::sensors as sensor_gradient;
use crate::gradient::step::{Blocks, Direction, Groups, StepJacobian, Weights, contact_number, group, numbers};
use crate::simulate::memory::Origin;
use crate::simulate::sensors::{self, Reading};
use crate::simulate::views::{ConstraintView, ContactView, SolveReport};
use numpy::{IntoPyArray, PyArray1};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::gradient::InputGrad;
use slipstick::model::ParameterGroup;
use slipstick::{GradientError, Model, State};

/// A finished step.
///
/// Attributes: q (nq,) and v (nv,) at its end, time (s) at its end, acceleration (nv,), which is the change of v
/// divided by dt, contacts (list of ContactView: points of the pairs of shapes that the velocities could close at its
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
    time: f64,
    #[pyo3(get)]
    acceleration: Py<PyArray1<f64>>,
    #[pyo3(get)]
    mode_key: u64,
    report: slipstick::SolveReport,
    contacts: Vec<slipstick::step::ContactView>,
    sensors: Vec<Reading>,
    actuated: bool,
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
    pub origin: Origin,
}

impl Step {
    pub fn new(py: Python<'_>, done: Finished) -> Step {
        let kept = |x: Vec<f64>| x.into_pyarray(py).unbind();
        Step {
            q: kept(done.next.q),
            v: kept(done.next.v),
            time: done.next.time,
            acceleration: kept(done.acceleration),
            mode_key: done.mode_key,
            report: done.report,
            contacts: done.contacts,
            sensors: done.sensors,
            actuated: done.actuated,
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

    /// The state at its end.
    pub fn next(&self, py: Python<'_>) -> Result<State, Failure> {
        let (q, v) = (vector("q", self.q.bind(py))?, vector("v", self.v.bind(py))?);
        let mut x = State::new(self.model(), &q, &v)?;
        x.time = self.time;
        Ok(x)
    }

    /// Takes the step up again, without the interpreter's lock.
    fn resume<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut slipstick::Step) -> Result<T, GradientError> + Send,
    ) -> Result<T, Failure> {
        py.detach(|| self.origin.resume(|step, _| work(step)))
    }

    fn weights(&self, q: Option<Input>, v: Option<Input>, impulses: Option<Input>) -> Result<Weights, Failure> {
        Weights::new(self.model().nv(), self.contacts.len(), q, v, impulses)
    }

    /// Controls are part of the step only if it was made with them.
    fn controls(&self, ctrl: Option<Input>) -> Result<Vec<f64>, Failure> {
        if ctrl.is_some() && !self.actuated {
            return Err(PyValueError::new_err("ctrl: expected None for a step made without ctrl, got an array").into());
        }
        numbers("ctrl", ctrl, self.model().nu())
    }

    /// Zeros for gradients with respect to q, v, tau and ctrl.
    fn gradients(&self) -> [Vec<f64>; 4] {
        let (nv, nu) = (self.model().nv(), if self.actuated { self.model().nu() } else { 0 });
        [nv, nv, nv, nu].map(|n| vec![0.0; n])
    }

    fn to_arrays<'py>(&self, py: Python<'py>, [q, v, tau, ctrl]: [Vec<f64>; 4]) -> Gradients<'py> {
        let ctrl = self.actuated.then(|| ctrl.into_pyarray(py));
        (q.into_pyarray(py), v.into_pyarray(py), tau.into_pyarray(py), ctrl)
    }

    fn parameter_gradient(&self, py: Python<'_>, w: &Weights, group: ParameterGroup) -> Result<Vec<f64>, Failure> {
        let mut out = vec![0.0; self.model().parameters().group(group).len()];
        self.resume(py, |step| step.vjp_parameters(w.borrow(), group, &mut out))?;
        Ok(out)
    }
}

/// Gradients with respect to q, v, tau and, if the step had controls, ctrl.
type Gradients<'py> = (Vector<'py>, Vector<'py>, Vector<'py>, Option<Vector<'py>>);

fn borrowed([q, v, tau, ctrl]: &mut [Vec<f64>; 4]) -> InputGrad<'_> {
    InputGrad { q, v, tau, ctrl }
}

/// An array for one group; for several, or for all, a dict of arrays by their names.
fn by_group<'py>(
    py: Python<'py>,
    group: Option<Groups>,
    gradient: impl Fn(ParameterGroup) -> Result<Vec<f64>, Failure>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let groups = match group {
        Some(Groups::One(name)) => {
            return Ok(gradient(self::group(&name)?)?.into_pyarray(py).into_bound_py_any(py)?);
        }
        Some(Groups::Several(names)) => names.iter().map(|n| self::group(n)).collect::<Result<Vec<_>, _>>()?,
        None => ParameterGroup::ALL.to_vec(),
    };
    let all = PyDict::new(py);
    for group in groups {
        all.set_item(group.name(), gradient(group)?.into_pyarray(py))?;
    }
    Ok(all.into_any())
}

#[pymethods]
impl Step {
    /// Contacts, by rising numbers of their pairs (list of ContactView).
    #[getter]
    fn contacts(&self) -> Vec<ContactView> {
        self.contacts.iter().map(|c| ContactView { view: *c, model: self.model().clone() }).collect()
    }

    /// How contact was solved (SolveReport). Where several impulses give the same motion, degenerate and margin are those of
    /// their center while the Simulator holds the step, else those of the impulses found.
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
    /// ConstraintView). Raises StaleStep.
    #[getter]
    fn constraints(&self, py: Python<'_>) -> Result<Vec<ConstraintView>, Failure> {
        self.resume(py, |step| Ok(step.constraints().into_iter().map(ConstraintView).collect()))
    }

    /// A sentence per constraint, one to a line (str): what it does, with what force, how far it is from doing
    /// otherwise. Raises StaleStep.
    fn explain(&self, py: Python<'_>) -> Result<String, Failure> {
        self.resume(py, |step| Ok(step.explain()))
    }

    /// All derivatives of (q, v) at the end with respect to q, v, tau and ctrl (StepJacobian).
    ///
    /// Computed once per step; asked for again it is only copied. sides="mean", length=h (m or rad): difference quotients
    /// instead, each column the mean of both sides over changes that move its dof by h within the step; nearer to the
    /// step where it has corners, at the price of two small contact problems per column. Raises StaleStep, and
    /// GradientError where there is no derivative.
    #[pyo3(signature = (*, sides=None, length=None))]
    fn jacobian(&self, py: Python<'_>, sides: Option<&str>, length: Option<f64>) -> Result<StepJacobian, Failure> {
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
        Ok(self.resume(py, |step| Blocks::of(step, length))?.into_python(py)?)
    }

    /// Columns of the Jacobian that are not the derivative on both of their sides (Corners).
    ///
    /// The step has a corner where something is about to slip, lift off or meet a limit, where another feature of a shape
    /// is about to touch, where a control or force reaches the end of its range, or where more constraints hold than
    /// the motion has directions. jvp(one_sided=True) is right on either side. Costs some ten steps where the step
    /// plainly does what its Jacobian says, else two or more for each column. Raises StaleStep, GradientError.
    fn corners(&self, py: Python<'_>) -> Result<Corners, Failure> {
        Ok(Corners::new(py, py.detach(|| self.origin.resume(|step, _| slipstick::check::Corners::of(step)))?))
    }

    /// The change of (q, v) at the end along a change of q (nv,), v (nv,), tau (nv,) and ctrl (nu,): Jacobian times
    /// vector.
    ///
    /// What is left out does not change; ctrl is for steps made with ctrl. one_sided: the derivative of the side to which
    /// the change leads, where something is about to slip, open or close or more is held than the motion has. length:
    /// the difference quotient of the true step for a change so many times as long as the one given, as far as
    /// contacts stay where they are; it implies one_sided. Returns (dq, dv), (nv,) each. Raises StaleStep,
    /// GradientError, also where the step jams or jumps along the change.
    #[pyo3(signature = (*, q=None, v=None, tau=None, ctrl=None, one_sided=false, length=None))]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        q: Option<Input>,
        v: Option<Input>,
        tau: Option<Input>,
        ctrl: Option<Input>,
        one_sided: bool,
        length: Option<f64>,
    ) -> Result<(Vector<'py>, Vector<'py>), Failure> {
        let nv = self.model().nv();
        let (q, v, tau) = (numbers("q", q, nv)?, numbers("v", v, nv)?, numbers("tau", tau, nv)?);
        let along = Direction { q, v, tau, ctrl: self.controls(ctrl)? };
        let (mut dq, mut dv) = (vec![0.0; nv], vec![0.0; nv]);
        self.resume(py, |step| match one_sided || length.is_some() {
            true => step.jvp_one_sided(along.borrow(), length, &mut dq, &mut dv),
            false => step.jvp(along.borrow(), &mut dq, &mut dv),
        })?;
        Ok((dq.into_pyarray(py), dv.into_pyarray(py)))
    }

    /// The gradient of a number with respect to what the step was made from: vector times Jacobian, by one adjoint
    /// solve.
    ///
    /// q (nv,), v (nv,): the number's gradient with respect to q and v at the end; impulses (contacts, 3): to the
    /// impulses of Step.contacts, world axes. What is left out counts as zero. Returns fresh arrays (gq, gv, gtau,
    /// gctrl): (nv,) each, gctrl (nu,), or None for a step made without ctrl. Raises StaleStep, GradientError.
    #[pyo3(signature = (*, q=None, v=None, impulses=None))]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        q: Option<Input>,
        v: Option<Input>,
        impulses: Option<Input>,
    ) -> Result<Gradients<'py>, Failure> {
        let (w, mut out) = (self.weights(q, v, impulses)?, self.gradients());
        self.resume(py, |step| step.vjp(w.borrow(), borrowed(&mut out)))?;
        Ok(self.to_arrays(py, out))
    }

    /// The gradient of a number with respect to parameters of the model.
    ///
    /// group: a name in Model.parameter_groups, several names, or None for all groups; q (nv,), v (nv,), impulses
    /// (contacts, 3) as in vjp. Returns an array as long as the group or, for several, a dict of name to array. Raises
    /// StaleStep, GradientError.
    #[pyo3(signature = (group=None, *, q=None, v=None, impulses=None))]
    fn vjp_parameters<'py>(
        &self,
        py: Python<'py>,
        group: Option<Groups>,
        q: Option<Input>,
        v: Option<Input>,
        impulses: Option<Input>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let w = self.weights(q, v, impulses)?;
        by_group(py, group, |group| self.parameter_gradient(py, &w, group))
    }

    /// Derivatives of (q, v) at the end with respect to a group of n parameters of the model.
    ///
    /// group: a name in Model.parameter_groups. Returns (dq, dv), (nv, n) each. Costs an adjoint solve per dof. Raises
    /// StaleStep, GradientError.
    fn parameter_jacobian<'py>(&self, py: Python<'py>, group: &str) -> Result<(Matrix<'py>, Matrix<'py>), Failure> {
        let group = self::group(group)?;
        let (nv, n) = (self.model().nv(), self.model().parameters().group(group).len());
        let (mut dq, mut dv) = (vec![0.0; nv * n], vec![0.0; nv * n]);
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
        contact: i64,
    ) -> Result<(Matrix<'py>, Matrix<'py>, Matrix<'py>), Failure> {
        let (contact, nv) = (contact_number(contact)?, self.model().nv());
        let [mut dq, mut dv, mut dtau] = [(); 3].map(|()| vec![0.0; 3 * nv]);
        self.resume(py, |step| step.impulse_jacobian(contact, [&mut dq, &mut dv, &mut dtau]))?;
        Ok((to_matrix(py, 3, nv, dq)?, to_matrix(py, 3, nv, dv)?, to_matrix(py, 3, nv, dtau)?))
    }

    /// Derivatives of the readings of the model's sensors with respect to q, v, tau and ctrl (dict of name to
    /// SensorJacobian), for all names in Step.sensors.
    ///
    /// Where a reading has a kink, they are those of the side on which the step lies. Raises StaleStep, GradientError.
    fn sensor_jacobian<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let work = |step: &mut slipstick::Step, memory: &mut _| sensor_gradient::blocks(self.model(), step, memory);
        let all = py.detach(|| self.origin.resume(work))?;
        Ok(sensor_gradient::to_dict(py, all)?)
    }

    /// The gradient of a weighted sum of readings with respect to what the step was made from, by at most one adjoint
    /// solve.
    ///
    /// weights: dict of names in Step.sensors to arrays as long as their readings; sensors left out count as zero.
    /// Returns fresh arrays (gq, gv, gtau, gctrl) as vjp does. Raises StaleStep, GradientError.
    fn sensor_vjp<'py>(&self, py: Python<'py>, weights: &Bound<'py, PyDict>) -> Result<Gradients<'py>, Failure> {
        let (w, mut out) = (sensor_gradient::weights(self.model(), weights)?, self.gradients());
        py.detach(|| self.origin.resume(|step, memory| step.sensor_vjp(&w, borrowed(&mut out), memory)))?;
        Ok(self.to_arrays(py, out))
    }

    /// The gradient of a weighted sum of readings with respect to parameters of the model, by at most one adjoint solve for
    /// each group.
    ///
    /// weights: as in sensor_vjp; group: a name in Model.parameter_groups, several names, or None for all groups. Returns an
    /// array as long as the group or, for several, a dict of name to array. Raises StaleStep, GradientError.
    #[pyo3(signature = (weights, group=None))]
    fn sensor_vjp_parameters<'py>(
        &self,
        py: Python<'py>,
        weights: &Bound<'py, PyDict>,
        group: Option<Groups>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let w = sensor_gradient::weights(self.model(), weights)?;
        by_group(py, group, |group| {
            let mut out = vec![0.0; self.model().parameters().group(group).len()];
            let work =
                |step: &mut slipstick::Step, memory: &mut _| step.sensor_vjp_parameters(&w, group, memory, &mut out);
            py.detach(|| self.origin.resume(work))?;
            Ok(out)
        })
    }

    fn __repr__(&self) -> String {
        let (time, n, status) = (self.time, self.contacts.len(), self.report.status.name());
        format!("<slipstick.Step: time={time}, {n} contacts, {status}>")
    }
}
