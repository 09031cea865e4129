//! Arrays of other libraries (PyTorch, JAX, CuPy) by the protocol DLPack: memory of the CPU is read where it lies.

use crate::arguments::wrong_type;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

/// Devices whose memory the CPU reads, by their numbers in DLPack: CPU, pinned memory of CUDA and ROCm, managed memory.
const HOST: [i32; 4] = [1, 3, 11, 13];
/// Names of others.
const OTHERS: [(i32, &str); 7] =
    [(2, "CUDA"), (4, "OpenCL"), (7, "Vulkan"), (8, "Metal"), (10, "ROCm"), (14, "oneAPI"), (15, "WebGPU")];

/// Numpy's view of an array of another library, without a copy. Other objects come back as they are.
pub fn seen<'py>(what: &str, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    if let Ok(array) = x.cast::<PyUntypedArray>() {
        check_type(what, array)?;
        return Ok(x.clone());
    }
    let Some(device) = x.getattr_opt(intern!(py, "__dlpack_device__"))? else { return Ok(x.clone()) };
    check_device(what, &device)?;
    check_gradient(what, x)?;
    // what numpy has no type for (bfloat16) is left to the conversions of the other library
    let Ok(view) = py.import("numpy")?.call_method1(intern!(py, "from_dlpack"), (x,)) else { return Ok(x.clone()) };
    check_type(what, view.cast()?)?;
    Ok(view)
}

/// Numpy would drop imaginary parts and read words and dates as numbers.
fn check_type(what: &str, array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    match array.dtype().kind() {
        b'c' | b'm' | b'M' | b'S' | b'U' => {
            Err(wrong_type(what, &format!("an array of real numbers, not of {}", array.dtype()), array.as_any()))
        }
        _ => Ok(()),
    }
}

fn check_device(what: &str, device: &Bound<'_, PyAny>) -> PyResult<()> {
    match device.call0().and_then(|device| device.extract::<(i32, i32)>()) {
        Ok((kind, index)) if !HOST.contains(&kind) => {
            let name = OTHERS.iter().find(|(number, _)| *number == kind);
            let name = name.map_or_else(|| format!("device type {kind} of DLPack"), |(_, name)| name.to_string());
            let copy = "copy it first: .cpu() in PyTorch, jax.device_get, cupy.asnumpy";
            let text =
                format!("{what}: expected an array in memory of the CPU, got one on {name}, device {index}; {copy}");
            Err(PyValueError::new_err(text))
        }
        _ => Ok(()),
    }
}

/// A tensor that records its gradient would lose it here.
fn check_gradient(what: &str, x: &Bound<'_, PyAny>) -> PyResult<()> {
    let recorded = x.getattr_opt(intern!(x.py(), "requires_grad"))?;
    match recorded.is_some_and(|flag| flag.is_truthy().unwrap_or(false)) {
        true => {
            let text = "expected numbers without a gradient, got a tensor with requires_grad=True";
            let way = "call .detach(), or slipstick.torch, which has derivatives";
            Err(PyValueError::new_err(format!("{what}: {text}; {way}")))
        }
        false => Ok(()),
    }
}
