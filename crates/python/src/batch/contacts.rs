//! What the last step of a `Batch` shows: contacts as padded arrays, and sensors.

use super::failure::{failed, finish};
use super::rows::zeros;
use super::{Batch, shaped};
use crate::errors::Failure;
use crate::interrupt::interruptible;
use crate::simulate::sensors::name;
use numpy::ndarray::Array3;
use numpy::{IntoPyArray, PyArray1, PyArray3, PyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::Mode;
use slipstick::sensors::Sensors;
use slipstick::spatial::Vec3;
use slipstick::step::ContactView;

/// Contacts of the last step of every environment of a Batch, padded to k, the largest count.
///
/// Attributes: count (n,); geoms (n, k, 2): numbers of the shapes; point (n, k, 3) (m), normal (n, k, 3) from the first shape to the second;
/// distance (n, k) (m; negative when they overlap); impulse (n, k, 3) [N·s] and force (n, k, 3) (N) on the second body, world axes; mode (n, k) of
/// str: "break", "stick" or "slide". Behind the count of an environment geoms are -1, distance is inf, mode "", all else zero.
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct BatchContacts {
    count: Py<PyArray1<i64>>,
    geoms: Py<PyArray3<i64>>,
    point: Py<PyArrayDyn<f64>>,
    normal: Py<PyArrayDyn<f64>>,
    distance: Py<PyArrayDyn<f64>>,
    impulse: Py<PyArrayDyn<f64>>,
    force: Py<PyArrayDyn<f64>>,
    mode: Py<PyAny>,
}

#[pymethods]
impl BatchContacts {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (n, all) = (self.count.bind(py).len()?, self.count.bind(py).call_method0("sum")?);
        Ok(format!("<slipstick.types.BatchContacts: {all} contacts of {n} environments>"))
    }
}

/// One place per environment and contact: numbers of what is there, else of what is not.
fn padded<T, const W: usize>(
    batch: &slipstick::Batch,
    k: usize,
    none: [T; W],
    of: impl Fn(&ContactView, f64) -> [T; W],
) -> Vec<T>
where
    T: Copy,
{
    let mut all = Vec::with_capacity(batch.len() * k * W);
    for (i, contacts) in batch.contacts().enumerate() {
        let dt = batch.model(i).map_or(1.0, |model| model.options().dt);
        contacts.iter().for_each(|contact| all.extend(of(contact, dt)));
        (contacts.len()..k).for_each(|_| all.extend(none));
    }
    all
}

fn to_python(py: Python<'_>, batch: &slipstick::Batch) -> PyResult<BatchContacts> {
    let counts: Vec<i64> = batch.contacts().map(|contacts| contacts.len() as i64).collect();
    let (n, k) = (batch.len(), batch.contacts().map(<[_]>::len).max().unwrap_or(0));
    let vectors = |of: fn(&ContactView, f64) -> Vec3| {
        let numbers = padded(batch, k, [0.0; 3], |c, dt| of(c, dt).to_array());
        Ok::<_, PyErr>(shaped(py, &[n, k, 3], numbers)?.unbind())
    };
    let geoms = padded(batch, k, [-1; 2], |c, _| c.geoms.map(|id| id.0 as i64));
    let geoms = Array3::from_shape_vec((n, k, 2), geoms).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let distance = padded(batch, k, [f64::INFINITY], |c, _| [c.distance]);
    const MODES: [Mode; 3] = [Mode::Break, Mode::Stick, Mode::Slide];
    let number = |mode: Mode| MODES.iter().position(|m| *m == mode).unwrap_or(MODES.len()) as i64;
    let modes = padded(batch, k, [MODES.len() as i64], |c, _| [number(c.mode)]);
    let words = MODES.iter().map(|mode| mode.name()).chain([""]).collect::<Vec<_>>();
    let words = py.import("numpy")?.call_method1("array", (words,))?;
    let mode = words.call_method1("take", (modes.into_pyarray(py),))?.call_method1("reshape", ((n, k),))?;
    Ok(BatchContacts {
        count: counts.into_pyarray(py).unbind(),
        geoms: geoms.into_pyarray(py).unbind(),
        point: vectors(|c, _| c.point)?,
        normal: vectors(|c, _| Vec3 { x: c.frame.at(0, 2), y: c.frame.at(1, 2), z: c.frame.at(2, 2) })?,
        distance: shaped(py, &[n, k], distance)?.unbind(),
        impulse: vectors(|c, _| c.impulse)?,
        force: vectors(|c, dt| Vec3 { x: c.impulse.x / dt, y: c.impulse.y / dt, z: c.impulse.z / dt })?,
        mode: mode.unbind(),
    })
}

#[pymethods]
impl Batch {
    /// Contacts of the last step, of a control step or rollout those of its last engine step (BatchContacts). An environment whose step
    /// failed has none. Raises StaleStep before the first step.
    fn contacts<'py>(&self, py: Python<'py>) -> Result<Bound<'py, BatchContacts>, Failure> {
        let mut inner = self.enter()?;
        let batch = &mut inner.batch;
        let done = interruptible(py, || Ok::<_, Failure>(batch.read_contacts()))?;
        let contacts = Bound::new(py, to_python(py, batch)?)?;
        let all_failed = failed(&done).len() == self.n;
        if all_failed { finish(py, self.n, done, contacts) } else { Ok(contacts) }
    }

    /// Readings of the models' sensors in the last step, of a control step or rollout in its last engine step (dict of name to
    /// array (n, size)). Sensors without a name go by their number; those that cannot be read are left out. NaN for an
    /// environment whose step failed. Raises StaleStep before the first step.
    #[getter]
    fn sensors<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let n = self.n;
        let (done, rows, model) = interruptible(py, || {
            let mut inner = self.enter()?;
            let width = inner.batch.readings_per_environment();
            let mut rows = zeros(&[n, width])?;
            let done = inner.batch.sensors(&mut rows);
            failed(&done).into_iter().for_each(|i| rows[i * width..(i + 1) * width].fill(f64::NAN));
            Ok::<_, Failure>((done, rows, inner.batch.model(0).cloned()))
        })?;
        let dict = PyDict::new(py);
        let width = rows.len() / n;
        for model in model.iter() {
            let sensors = Sensors::new(model);
            let readable = sensors.ranges().iter().enumerate().filter(|(k, _)| sensors.get(*k).is_ok());
            for (k, range) in readable {
                let numbers = rows.chunks_exact(width).flat_map(|row| &row[range.clone()]).copied().collect();
                dict.set_item(name(model, k), shaped(py, &[n, range.len()], numbers)?)?;
            }
        }
        let all_failed = failed(&done).len() == n;
        if all_failed { finish(py, n, done, dict) } else { Ok(dict) }
    }
}
