//! The map to Pinocchio's coordinates. `slipstick.pinocchio.Map` reads the joints of a Pinocchio model for it.

use crate::arguments::arg;
use crate::arrays::{Input, Matrix, Vector, matrix, to_matrix, vector};
use crate::errors::Failure;
use crate::model::Model;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipstick::linalg::MatRef;
use slipstick::pinocchio::{Map, PinJoint, PinKind};

/// Conversions between a model's coordinates and Pinocchio's; see slipstick.pinocchio.Map.
///
/// joints: list of (name, shortname, idx_q, idx_v, parent), parent a place in this list or None.
#[pyclass(frozen, subclass, module = "slipstick._native")]
pub struct PinocchioMap {
    map: Map,
    model: String,
}

/// name, shortname, idx_q, idx_v, parent
pub type JointTuple = (String, String, usize, usize, Option<usize>);

fn pin_joint((name, shortname, idx_q, idx_v, parent): JointTuple) -> PyResult<PinJoint> {
    let kind = PinKind::from_shortname(&shortname).ok_or_else(|| {
        PyValueError::new_err(format!(
            "joint '{name}' of the Pinocchio model is a {shortname}, which has no counterpart"
        ))
    })?;
    Ok(PinJoint { name, kind, idx_q, idx_v, parent })
}

#[pymethods]
impl PinocchioMap {
    #[new]
    fn new(
        #[pyo3(from_py_with = arg::model)] model: &Model,
        #[pyo3(from_py_with = arg::joints)] joints: Vec<JointTuple>,
    ) -> Result<PinocchioMap, Failure> {
        let joints = joints.into_iter().map(pin_joint).collect::<PyResult<Vec<_>>>()?;
        Ok(PinocchioMap { map: Map::new(&model.inner, &joints)?, model: model.inner.name().into() })
    }

    fn __repr__(&self) -> String {
        format!("<slipstick.pinocchio.Map of '{}'>", self.model)
    }

    /// Pinocchio's configuration: q (nq,). Returns (pin_model.nq,), quaternions of norm one.
    fn q_to<'py>(&self, py: Python<'py>, q: Input) -> Result<Vector<'py>, Failure> {
        Ok(self.map.q_to(&vector("q", q)?)?.into_pyarray(py))
    }

    /// Our configuration: pin_q (pin_model.nq,). Returns (nq,), quaternions of norm one.
    fn q_from<'py>(&self, py: Python<'py>, pin_q: Input) -> Result<Vector<'py>, Failure> {
        Ok(self.map.q_from(&vector("pin_q", pin_q)?)?.into_pyarray(py))
    }

    /// Pinocchio's velocity: q (nq,), v (nv,). Returns (nv,).
    fn v_to<'py>(&self, py: Python<'py>, q: Input, v: Input) -> Result<Vector<'py>, Failure> {
        Ok(self.map.v_to(&vector("q", q)?, &vector("v", v)?)?.into_pyarray(py))
    }

    /// Our velocity: pin_q (pin_model.nq,), pin_v (nv,). Returns (nv,).
    fn v_from<'py>(&self, py: Python<'py>, pin_q: Input, pin_v: Input) -> Result<Vector<'py>, Failure> {
        Ok(self.map.v_from(&vector("pin_q", pin_q)?, &vector("pin_v", pin_v)?)?.into_pyarray(py))
    }

    /// Pinocchio's acceleration: q (nq,), v (nv,), a (nv,). Returns (nv,).
    fn a_to<'py>(&self, py: Python<'py>, q: Input, v: Input, a: Input) -> Result<Vector<'py>, Failure> {
        Ok(self.map.a_to(&vector("q", q)?, &vector("v", v)?, &vector("a", a)?)?.into_pyarray(py))
    }

    /// Our acceleration: pin_q (pin_model.nq,), pin_v (nv,), pin_a (nv,). Returns (nv,).
    fn a_from<'py>(&self, py: Python<'py>, pin_q: Input, pin_v: Input, pin_a: Input) -> Result<Vector<'py>, Failure> {
        let (q, v, a) = (vector("pin_q", pin_q)?, vector("pin_v", pin_v)?, vector("pin_a", pin_a)?);
        Ok(self.map.a_from(&q, &v, &a)?.into_pyarray(py))
    }

    /// Pinocchio's generalized forces: q (nq,), tau (nv,). Returns (nv,).
    fn tau_to<'py>(&self, py: Python<'py>, q: Input, tau: Input) -> Result<Vector<'py>, Failure> {
        Ok(self.map.tau_to(&vector("q", q)?, &vector("tau", tau)?)?.into_pyarray(py))
    }

    /// Our generalized forces: pin_q (pin_model.nq,), pin_tau (nv,). Returns (nv,).
    fn tau_from<'py>(&self, py: Python<'py>, pin_q: Input, pin_tau: Input) -> Result<Vector<'py>, Failure> {
        Ok(self.map.tau_from(&vector("pin_q", pin_q)?, &vector("pin_tau", pin_tau)?)?.into_pyarray(py))
    }

    /// A Jacobian for Pinocchio's velocities: q (nq,), J (k, nv). Returns (k, nv).
    #[allow(non_snake_case)]
    fn jacobian_to<'py>(&self, py: Python<'py>, q: Input, J: Input) -> Result<Matrix<'py>, Failure> {
        let (numbers, [rows, columns]) = matrix("J", J)?;
        let out = self.map.jacobian_to(&vector("q", q)?, MatRef::new(&numbers, rows, columns))?;
        Ok(to_matrix(py, rows, columns, out)?)
    }

    /// A Jacobian for our velocities: pin_q (pin_model.nq,), pin_J (k, nv). Returns (k, nv).
    #[allow(non_snake_case)]
    fn jacobian_from<'py>(&self, py: Python<'py>, pin_q: Input, pin_J: Input) -> Result<Matrix<'py>, Failure> {
        let (numbers, [rows, columns]) = matrix("pin_J", pin_J)?;
        let out = self.map.jacobian_from(&vector("pin_q", pin_q)?, MatRef::new(&numbers, rows, columns))?;
        Ok(to_matrix(py, rows, columns, out)?)
    }
}
