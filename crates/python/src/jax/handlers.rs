//! What XLA calls: control steps with and without their derivatives, their tangents and cotangents, and frames.

use super::registry::{CONTROL_STEPS, FRAMES};
use super::xla::{Call, CallFrame, Handler, XlaError, handle};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use slipstick::rollout::{Inputs, InputsGrad};
use std::ffi::{CStr, CString};

/// Defines a handler that runs a function of a call.
macro_rules! handlers {
    ($($name:ident => $run:ident),*) => {
        $(
            #[allow(unsafe_code)] // a C interface
            unsafe extern "C" fn $name(frame: *mut CallFrame) -> *mut XlaError {
                // SAFETY: XLA calls handlers with its own frames.
                unsafe { handle(frame, $run) }
            }
        )*

        const HANDLERS: &[(&str, Handler)] = &[$((stringify!($name), $name)),*];
    };
}
handlers!(slipstick_step => step, slipstick_tangent => tangent, slipstick_cotangent => cotangent,
    slipstick_frames => frames);

/// Names of the targets and the capsules that jax.ffi.register_ffi_target takes (dict), for version 0.3 of XLA's interface.
#[pyfunction]
#[pyo3(name = "_xla_targets")]
pub fn targets(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    const NAME: &CStr = c"xla._CUSTOM_CALL_TARGET";
    let all = PyDict::new(py);
    for (name, handler) in HANDLERS {
        all.set_item(name, capsule(py, *handler, NAME.into())?)?;
    }
    Ok(all)
}

#[allow(unsafe_code)] // a C interface
fn capsule(py: Python<'_>, handler: Handler, name: CString) -> PyResult<Bound<'_, PyCapsule>> {
    let pointer = std::ptr::NonNull::new(handler as *mut std::ffi::c_void);
    let pointer = pointer.ok_or_else(|| pyo3::exceptions::PyRuntimeError::new_err("a handler without address"))?;
    // SAFETY: the pointer is that of a function, which lives as long as the module; the capsule owns its name.
    unsafe { PyCapsule::new_with_pointer(py, pointer, Box::leak(name.into_boxed_c_str())) }
}

/// The first six arguments: q, v, ctrl, tau, parameters, smoothing.
macro_rules! inputs {
    ($call:ident, $first:literal, $inputs:ident) => {
        let all = [0, 1, 2, 3, 4, 5].map(|k| $call.argument($first + k));
        let [q, v, ctrl, tau, parameters, smoothing] = all;
        let (q, v, ctrl, tau) = (q?, v?, ctrl?, tau?);
        let (parameters, smoothing) = (parameters?, smoothing?);
        let $inputs = Inputs { q: &q, v: &v, ctrl: &ctrl, tau: &tau, parameters: &parameters, smoothing: &smoothing };
    };
}

/// Results: q, v, status, report and, if there are six, A and B.
fn step(call: &mut Call) -> Result<(), String> {
    let control_step = CONTROL_STEPS.find(call.attribute("key")?)?;
    inputs!(call, 0, inputs);
    let (mut q, mut v, status, mut report) = (call.result(0)?, call.result(1)?, call.integers(2)?, call.result(3)?);
    let states = [q.numbers(), v.numbers()];
    if call.attribute("jacobian")? == 0 {
        return control_step.step(&inputs, states, report.numbers(), status).map_err(|e| e.to_string());
    }
    let (mut A, mut B) = (call.result(4)?, call.result(5)?);
    let blocks = [A.numbers(), B.numbers()];
    control_step.step_and_jacobian(&inputs, states, report.numbers(), blocks, status).map_err(|e| e.to_string())
}

/// Arguments: inputs, then their changes. Results: changes of q and v.
fn tangent(call: &mut Call) -> Result<(), String> {
    let control_step = CONTROL_STEPS.find(call.attribute("key")?)?;
    inputs!(call, 0, inputs);
    let [dq, dv, dctrl, dtau, dparameters] = [6, 7, 8, 9, 10].map(|k| call.argument(k));
    let (dq, dv, dctrl, dtau, dparameters) = (dq?, dv?, dctrl?, dtau?, dparameters?);
    let changes = Inputs { q: &dq, v: &dv, ctrl: &dctrl, tau: &dtau, parameters: &dparameters, smoothing: &[] };
    let (mut q, mut v) = (call.result(0)?, call.result(1)?);
    let mut status = vec![0; q.numbers().len() / control_step.model().nq().max(1)];
    control_step.jvp(&inputs, &changes, [q.numbers(), v.numbers()], &mut status).map_err(|e| e.to_string())
}

/// Arguments: inputs, then gradients with respect to q and v after the step. Results: gradients with respect to q, v, ctrl, tau, parameters.
fn cotangent(call: &mut Call) -> Result<(), String> {
    let control_step = CONTROL_STEPS.find(call.attribute("key")?)?;
    inputs!(call, 0, inputs);
    let (wq, wv) = (call.argument(6)?, call.argument(7)?);
    let (mut q, mut v, mut ctrl) = (call.result(0)?, call.result(1)?, call.result(2)?);
    let (mut tau, mut parameters) = (call.result(3)?, call.result(4)?);
    let mut status = vec![0; q.numbers().len() / control_step.model().nq().max(1)];
    let out = InputsGrad {
        q: q.numbers(),
        v: v.numbers(),
        ctrl: ctrl.numbers(),
        tau: tau.numbers(),
        parameters: parameters.numbers(),
    };
    control_step.vjp(&inputs, [&wq, &wv], out, &mut status).map_err(|e| e.to_string())
}

/// Arguments: q, v. Results: positions, rotations, velocities, center of mass, and their derivatives with respect to (q, v).
fn frames(call: &mut Call) -> Result<(), String> {
    let frames = FRAMES.find(call.attribute("key")?)?;
    let (q, v) = (call.argument(0)?, call.argument(1)?);
    let (mut values, mut derivatives) = (call.result(0)?, call.result(1)?);
    frames.evaluate(&q, &v, values.numbers(), derivatives.numbers()).map_err(|e| e.to_string())
}
