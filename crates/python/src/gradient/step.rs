//! Derivatives of a step: what goes in, checked by its Python names, and the arrays that come out.

use crate::arrays::{Input, matrix, to_matrix, vector, wrong_shape};
use crate::errors::Failure;
use crate::model::gradient_options::Choice;
use crate::model::options::unknown;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipstick::gradient::{InputDirection, OutputGrad};
use slipstick::linalg::MatRef;
use slipstick::model::ParameterGroup;
use slipstick::{Data, GradientError, InputError, State, Step};

/// All derivatives of a step; rows are outputs, configurations count as tangents.
///
/// Attributes: dq_dq, dq_dv, dq_dtau, dv_dq, dv_dv, dv_dtau (nv, nv), dq_dctrl, dv_dctrl (nv, nu; without columns if
/// the step was made without ctrl): of q and v at the end of the step with respect to q, v, tau and ctrl; dq_dact, dv_dact
/// (nv, na), dact_dact (na, na), dact_dctrl (na, nu): those of activations. A (2nv + na, 2nv + na): all of (q, v, act);
/// B: with respect to ctrl (…, nu) or, without ctrl, tau (…, nv); both as MuJoCo's mjd_transitionFD has them. dq_dmocap, dv_dmocap
/// (nv, 6 n): with respect to the poses of n mocap bodies, position in world axes and rotation in the axes of the body, without columns
/// where sides are asked for. contradicts (nv,), bool: columns with respect to q that are a choice, because the constraints that hold
/// cannot all go on holding along them; Step.corners() tells of all columns with two sides.
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct StepJacobian {
    dq_dq: Py<PyArray2<f64>>,
    dq_dv: Py<PyArray2<f64>>,
    dq_dtau: Py<PyArray2<f64>>,
    dq_dctrl: Py<PyArray2<f64>>,
    dv_dq: Py<PyArray2<f64>>,
    dv_dv: Py<PyArray2<f64>>,
    dv_dtau: Py<PyArray2<f64>>,
    dv_dctrl: Py<PyArray2<f64>>,
    dq_dact: Py<PyArray2<f64>>,
    dv_dact: Py<PyArray2<f64>>,
    dact_dact: Py<PyArray2<f64>>,
    dact_dctrl: Py<PyArray2<f64>>,
    A: Py<PyArray2<f64>>,
    B: Py<PyArray2<f64>>,
    contradicts: Py<PyArray1<bool>>,
    dq_dmocap: Py<PyArray2<f64>>,
    dv_dmocap: Py<PyArray2<f64>>,
}

#[pymethods]
impl StepJacobian {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = |x: &Py<PyArray2<f64>>| x.bind(py).getattr("shape")?.extract::<(usize, usize)>();
        Ok(format!("<slipstick.types.StepJacobian: A {:?}, B {:?}>", shape(&self.A)?, shape(&self.B)?))
    }
}

/// Numbers row by row, rows and columns.
type Block = (Vec<f64>, usize, usize);

/// The blocks of a Jacobian, taken out of the memory of the step.
pub struct Blocks {
    of_q: [Block; 4],
    of_v: [Block; 4],
    /// dq_dact, dv_dact, dact_dact, dact_dctrl.
    of_act: [Block; 4],
    A: Block,
    B: Block,
    contradicts: Vec<bool>,
    of_mocap: [Block; 2],
}

impl Blocks {
    /// The Jacobian or, with a length, that of the mean of both sides.
    pub fn of(step: &mut Step, length: Option<f64>) -> Result<Blocks, GradientError> {
        let of_mocap = by_mocap(step, length)?;
        let J = match length {
            None => step.jacobian()?,
            Some(length) => step.jacobian_of_sides(length)?,
        };
        let block = |m: MatRef| ((0..m.rows()).flat_map(|i| m.row(i)).copied().collect(), m.rows(), m.cols());
        let n = 2 * J.dv_dv.rows() + J.dact_dact.rows();
        let inputs = if J.dv_dctrl.cols() > 0 { J.dv_dctrl.cols() } else { J.dv_dtau.cols() };
        let (mut A, mut B) = (vec![0.0; n * n], vec![0.0; n * inputs]);
        J.copy_a(&mut A)?;
        J.copy_b(&mut B)?;
        Ok(Blocks {
            of_q: [J.dq_dq, J.dq_dv, J.dq_dtau, J.dq_dctrl].map(block),
            of_v: [J.dv_dq, J.dv_dv, J.dv_dtau, J.dv_dctrl].map(block),
            of_act: [J.dq_dact, J.dv_dact, J.dact_dact, J.dact_dctrl].map(block),
            A: (A, n, n),
            B: (B, n, inputs),
            contradicts: J.contradicts.to_vec(),
            of_mocap,
        })
    }

    pub fn into_python(self, py: Python<'_>) -> PyResult<StepJacobian> {
        let array = |(numbers, rows, columns): Block| Ok::<_, PyErr>(to_matrix(py, rows, columns, numbers)?.unbind());
        let ([dq_dq, dq_dv, dq_dtau, dq_dctrl], [dv_dq, dv_dv, dv_dtau, dv_dctrl]) = (self.of_q, self.of_v);
        let [dq_dact, dv_dact, dact_dact, dact_dctrl] = self.of_act;
        let [dq_dmocap, dv_dmocap] = self.of_mocap;
        Ok(StepJacobian {
            dq_dmocap: array(dq_dmocap)?,
            dv_dmocap: array(dv_dmocap)?,
            dq_dq: array(dq_dq)?,
            dq_dv: array(dq_dv)?,
            dq_dtau: array(dq_dtau)?,
            dq_dctrl: array(dq_dctrl)?,
            dv_dq: array(dv_dq)?,
            dv_dv: array(dv_dv)?,
            dv_dtau: array(dv_dtau)?,
            dv_dctrl: array(dv_dctrl)?,
            dq_dact: array(dq_dact)?,
            dv_dact: array(dv_dact)?,
            dact_dact: array(dact_dact)?,
            dact_dctrl: array(dact_dctrl)?,
            A: array(self.A)?,
            B: array(self.B)?,
            contradicts: self.contradicts.into_pyarray(py).unbind(),
        })
    }
}

/// Derivatives of q and v with respect to the poses of the mocap bodies; no columns where there are none or where sides are asked for.
fn by_mocap(step: &mut Step, length: Option<f64>) -> Result<[Block; 2], GradientError> {
    let (nv, n) = (step.model().nv(), if length.is_some() { 0 } else { 6 * step.model().n_mocap() });
    let (mut dq, mut dv) = (vec![0.0; nv * n], vec![0.0; nv * n]);
    if n > 0 {
        step.mocap_jacobian(&mut dq, &mut dv)?;
    }
    Ok([(dq, nv, n), (dv, nv, n)])
}

/// A change of what a step is made from; what is left out is empty.
pub struct Direction {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub tau: Vec<f64>,
    pub ctrl: Vec<f64>,
    pub act: Vec<f64>,
}

impl Direction {
    pub fn borrow(&self) -> InputDirection<'_> {
        InputDirection { q: &self.q, v: &self.v, tau: &self.tau, ctrl: &self.ctrl, act: &self.act }
    }
}

/// The gradient of a number with respect to what comes out of a step; what is left out is empty.
pub struct Weights {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub impulses: Vec<f64>,
    pub act: Vec<f64>,
}

impl Weights {
    /// q (nv,), v (nv,), impulses (contacts, 3).
    pub fn new(
        nv: usize,
        contacts: usize,
        q: Option<Input>,
        v: Option<Input>,
        impulses: Option<Input>,
    ) -> Result<Weights, Failure> {
        let (q, v) = (numbers("q", q, nv)?, numbers("v", v, nv)?);
        let Some(impulses) = impulses else { return Ok(Weights { q, v, impulses: Vec::new(), act: Vec::new() }) };
        let (impulses, shape) = matrix("impulses", impulses)?;
        if shape != [contacts, 3] {
            let expected = format!("({contacts}, 3), a row for each contact");
            return Err(wrong_shape("impulses", &expected, &shape).into());
        }
        Ok(Weights { q, v, impulses: finite("impulses", impulses)?, act: Vec::new() })
    }

    pub fn borrow(&self) -> OutputGrad<'_> {
        OutputGrad { q: &self.q, v: &self.v, impulses: &self.impulses, act: &self.act }
    }
}

/// Numbers of a known count, or none. Checked here: to a step, empty means none.
pub fn numbers(what: &'static str, x: Option<Input>, expected: usize) -> Result<Vec<f64>, Failure> {
    let Some(x) = x else { return Ok(Vec::new()) };
    let numbers = vector(what, x)?;
    if numbers.len() != expected {
        return Err(InputError::Length { what, expected, got: numbers.len() }.into());
    }
    finite(what, numbers)
}

/// Numbers that are all finite.
pub fn finite(what: &'static str, numbers: Vec<f64>) -> Result<Vec<f64>, Failure> {
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(InputError::NotFinite { what, index }.into()),
        None => Ok(numbers),
    }
}

/// Names of groups of parameters, or "all".
pub enum Groups {
    One(String),
    Several(Vec<String>),
}

impl Groups {
    pub fn all(self) -> Result<Vec<ParameterGroup>, Failure> {
        match self {
            Groups::One(name) if name == "all" => Ok(ParameterGroup::ALL.to_vec()),
            Groups::One(name) => Ok(vec![group(&name)?]),
            Groups::Several(names) => names.iter().map(|name| group(name)).collect(),
        }
    }
}

/// The group with a name.
pub fn group(name: &str) -> Result<ParameterGroup, Failure> {
    let found = ParameterGroup::ALL.into_iter().find(|g| g.name() == name);
    found.ok_or_else(|| unknown("group", ParameterGroup::ALL.map(ParameterGroup::name), name))
}

/// The number of a contact; whether there are as many is for the step to say.
pub fn contact_number(contact: i64) -> PyResult<usize> {
    let wrong = |_| PyValueError::new_err(format!("contact: expected its number in Step.contacts, got {contact}"));
    usize::try_from(contact).map_err(wrong)
}

/// Calls `work` with a step whose derivatives are in the mode of a call, if it has one: for that the step is made again, from a cold
/// start in memory of its own.
pub fn in_mode<T, E: Into<Failure>>(
    step: &mut Step,
    gradient: Option<Choice>,
    work: impl FnOnce(&mut Step) -> Result<T, E>,
) -> Result<T, Failure> {
    let other = gradient.map(|Choice(choice)| choice.model(step.model())).transpose()?.flatten();
    let Some(model) = other else { return work(step).map_err(E::into) };
    let (q, v) = step.start();
    let x = State::new(&model, q, v)?.with_act(&model, step.act())?;
    let (mut data, mut next) = (Data::new(&model), x.clone());
    let mut again = slipstick::step::step(&model, &mut data, &x, &step.input(), &mut next)?;
    work(&mut again).map_err(E::into)
}
