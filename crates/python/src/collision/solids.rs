//! Shapes without a model, and questions about them: distance, nearest points, contact, rays.

use crate::arguments::arg;
use crate::arrays::{Input, array, vector, wrong_shape};
use crate::collision::poses::{pose, poses};
use crate::errors::Failure;
use crate::interrupt::interruptible;
use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipstick::collision::{self, Points};
use slipstick::model::{Mesh, Shape};
use slipstick::spatial::Vec3;
use slipstick::{InputError, interrupt};

/// A shape that questions can be asked about. Made by Plane, Sphere, Capsule, Cylinder, Cone, Box, Ellipsoid and Hull.
#[pyclass(frozen, subclass, module = "slipstick.collision")]
pub struct Solid {
    inner: collision::Solid,
    /// Corners of a hull; empty for other shapes.
    corners: Vec<Vec3>,
}

#[pymethods]
impl Solid {
    #[new]
    fn new(#[pyo3(from_py_with = arg::kind)] kind: &str, numbers: Input) -> Result<Solid, Failure> {
        if kind == "hull" {
            return hull(numbers);
        }
        let sizes = vector(sizes_of(kind), numbers)?;
        let inner = collision::Solid::new(primitive(kind, &sizes)?)?;
        Ok(Solid { inner, corners: Vec::new() })
    }

    /// Sizes in the order of the constructor (m): (n,).
    #[getter]
    fn _sizes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let shape = self.inner.shape();
        PyArray1::from_slice(py, &shape.size()[..shape.n_sizes()])
    }

    /// Corners of a hull (m): (n, 3).
    #[getter]
    fn _corners<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        Array2::from_shape_fn((self.corners.len(), 3), |(i, k)| self.corners[i].to_array()[k]).into_pyarray(py)
    }
}

/// Names of the sizes of a shape.
fn sizes_of(kind: &str) -> &'static str {
    match kind {
        "sphere" => "radius",
        "box" => "half_size",
        "ellipsoid" => "radii",
        _ => "radius and half_length",
    }
}

fn primitive(kind: &str, sizes: &[f64]) -> Result<Shape, Failure> {
    let shape = match kind {
        "plane" => Shape::Plane,
        "sphere" => Shape::Sphere { radius: 1.0 },
        "capsule" => Shape::Capsule { radius: 1.0, half_length: 1.0 },
        "cylinder" => Shape::Cylinder { radius: 1.0, half_length: 1.0 },
        "cone" => Shape::Cone { radius: 1.0, half_length: 1.0 },
        "box" => Shape::Box { half_size: Vec3::ZERO },
        "ellipsoid" => Shape::Ellipsoid { radii: Vec3::ZERO },
        other => {
            return Err(PyValueError::new_err(format!("kind of shape: expected a known one, got '{other}'")).into());
        }
    };
    let (expected, got) = (shape.n_sizes(), sizes.len());
    if expected != got {
        return Err(InputError::Length { what: sizes_of(kind), expected, got }.into());
    }
    let size = |k: usize| sizes.get(k).copied().unwrap_or(0.0);
    Ok(shape.with_size([size(0), size(1), size(2)]))
}

fn hull(points: Input) -> Result<Solid, Failure> {
    let (numbers, shape) = array("points", points)?;
    let [_, 3] = *shape else { return Err(wrong_shape("points", "(n, 3)", &shape).into()) };
    let points: Vec<Vec3> = numbers.chunks_exact(3).map(Vec3::from_slice).collect();
    let made = slipstick::files::convex_hull(&points);
    let hull = made.map_err(|e| PyValueError::new_err(format!("points: expected some with a volume, got {e}")))?;
    let mesh = Mesh { name: String::new(), vertices: hull.vertices, triangles: hull.triangles };
    Ok(Solid { inner: collision::Solid::hull(&mesh)?, corners: mesh.vertices })
}

/// Nearest points of two shapes; of overlapping ones, the points that must part along the shortest way out.
///
/// Attributes: distance (float, m; negative when they overlap), normal (3,) from the first shape to the second, points
/// (2, 3) on the two surfaces (the second minus the first is distance · normal), converged (bool). With a stack of n
/// poses: (n,), (n, 3), (n, 2, 3), (n,).
#[pyclass(frozen, get_all, module = "slipstick.collision")]
pub struct ClosestPoints {
    distance: Py<PyAny>,
    normal: Py<PyAny>,
    points: Py<PyAny>,
    converged: Py<PyAny>,
}

#[pymethods]
impl ClosestPoints {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = |x: &Py<PyAny>| x.bind(py).repr().map(|r| r.to_string());
        Ok(format!(
            "<slipstick.collision.ClosestPoints: distance={}, normal={}>",
            text(&self.distance)?,
            text(&self.normal)?
        ))
    }
}

impl ClosestPoints {
    pub fn one(py: Python<'_>, c: &collision::ClosestPoints) -> PyResult<ClosestPoints> {
        let points = Array2::from_shape_fn((2, 3), |(i, k)| c.points[i].to_array()[k]);
        Ok(ClosestPoints {
            distance: c.distance.into_pyobject(py)?.into_any().unbind(),
            normal: PyArray1::from_slice(py, &c.normal.to_array()).into_any().unbind(),
            points: points.into_pyarray(py).into_any().unbind(),
            converged: c.converged.into_pyobject(py)?.to_owned().into_any().unbind(),
        })
    }

    fn stack(py: Python<'_>, all: &[collision::ClosestPoints]) -> ClosestPoints {
        let n = all.len();
        let normal = Array2::from_shape_fn((n, 3), |(i, k)| all[i].normal.to_array()[k]);
        let points = Array3::from_shape_fn((n, 2, 3), |(i, side, k)| all[i].points[side].to_array()[k]);
        ClosestPoints {
            distance: PyArray1::from_iter(py, all.iter().map(|c| c.distance)).into_any().unbind(),
            normal: normal.into_pyarray(py).into_any().unbind(),
            points: points.into_pyarray(py).into_any().unbind(),
            converged: PyArray1::from_iter(py, all.iter().map(|c| c.converged)).into_any().unbind(),
        }
    }
}

/// Nearest points of two shapes.
///
/// a, b: Solid; X_a, X_b: their poses in the world, each a 4×4 matrix, a tuple (position (3,), quaternion (4,) as
/// w, x, y, z), or a stack of n such: (n, 4, 4) or ((n, 3), (n, 4)). One pose goes with all of a stack.
/// Returns a ClosestPoints.
#[pyfunction]
pub fn closest_points(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::a)] a: &Solid,
    X_a: Input,
    #[pyo3(from_py_with = arg::b)] b: &Solid,
    X_b: Input,
) -> Result<ClosestPoints, Failure> {
    let (X_a, X_b) = (poses("X_a", X_a)?, poses("X_b", X_b)?);
    let ask = |k: usize| collision::closest_points(&a.inner, X_a.at(k), &b.inner, X_b.at(k));
    match X_a.together(&X_b)? {
        None => Ok(ClosestPoints::one(py, &ask(0)?)?),
        Some(n) => {
            let all = interruptible(py, || (0..n).map(|k| asked(&ask, k)).collect::<Result<Vec<_>, Failure>>())?;
            Ok(ClosestPoints::stack(py, &all))
        }
    }
}

/// One of many answers, unless the call is to end.
fn asked<T>(ask: &impl Fn(usize) -> Result<T, InputError>, k: usize) -> Result<T, Failure> {
    interrupt::check()?;
    Ok(ask(k)?)
}

/// Signed distance of two shapes, negative when they overlap (m).
///
/// a, b: Solid; X_a, X_b: their poses, or stacks of poses, as in closest_points. Returns a float, or (n,) for stacks.
#[pyfunction]
pub fn distance(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::a)] a: &Solid,
    X_a: Input,
    #[pyo3(from_py_with = arg::b)] b: &Solid,
    X_b: Input,
) -> Result<Py<PyAny>, Failure> {
    let (X_a, X_b) = (poses("X_a", X_a)?, poses("X_b", X_b)?);
    let ask = |k: usize| collision::distance(&a.inner, X_a.at(k), &b.inner, X_b.at(k));
    match X_a.together(&X_b)? {
        None => Ok(ask(0)?.into_pyobject(py).map_err(PyErr::from)?.into_any().unbind()),
        Some(n) => {
            let all = interruptible(py, || (0..n).map(|k| asked(&ask, k)).collect::<Result<Vec<_>, Failure>>())?;
            Ok(all.into_pyarray(py).into_any().unbind())
        }
    }
}

/// A point where two shapes touch or nearly touch.
///
/// Attributes: point (3,) (m), normal (3,) from the first shape to the second, distance (float, m; negative when they
/// overlap), feature (int: the same while the same corners, edges and faces touch).
#[pyclass(frozen, get_all, module = "slipstick.collision")]
pub struct ContactPoint {
    point: Py<PyArray1<f64>>,
    normal: Py<PyArray1<f64>>,
    distance: f64,
    feature: u64,
}

#[pymethods]
impl ContactPoint {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let point = self.point.bind(py).repr()?;
        Ok(format!("<slipstick.collision.ContactPoint: distance={}, point={point}>", self.distance))
    }
}

/// Points where two shapes touch, or would soon.
///
/// a, b: Solid; X_a, X_b: their poses as in closest_points, one of each; contact_distance (m): shapes farther apart have
/// no points; points: "patch" (up to four that span the touching surface, with one normal) or "one" (the deepest).
/// Returns a list of ContactPoint.
#[pyfunction]
#[pyo3(signature = (a, X_a, b, X_b, *, contact_distance=0.01, points="patch"))]
pub fn contact(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::a)] a: &Solid,
    X_a: Input,
    #[pyo3(from_py_with = arg::b)] b: &Solid,
    X_b: Input,
    #[pyo3(from_py_with = arg::contact_distance)] contact_distance: f64,
    #[pyo3(from_py_with = arg::points)] points: &str,
) -> Result<Vec<ContactPoint>, Failure> {
    let points = match points {
        "patch" => Points::Patch,
        "one" => Points::One,
        other => return Err(PyValueError::new_err(format!("points: expected 'patch' or 'one', got '{other}'")).into()),
    };
    let (X_a, X_b) = (pose("X_a", X_a)?, pose("X_b", X_b)?);
    let found = collision::contact(&a.inner, &X_a, &b.inner, &X_b, contact_distance, points)?;
    let point = |c: &collision::ContactPoint| ContactPoint {
        point: kept(py, c.point),
        normal: kept(py, c.normal),
        distance: c.distance,
        feature: c.feature,
    };
    Ok(found.iter().map(point).collect())
}

/// Where a ray meets a shape.
///
/// Attributes: distance (float, m) from the ray's origin, point (3,) (m), normal (3,): outward, of the shape.
#[pyclass(frozen, get_all, module = "slipstick.collision")]
pub struct RayHit {
    distance: f64,
    point: Py<PyArray1<f64>>,
    normal: Py<PyArray1<f64>>,
}

#[pymethods]
impl RayHit {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let point = self.point.bind(py).repr()?;
        Ok(format!("<slipstick.collision.RayHit: distance={}, point={point}>", self.distance))
    }
}

/// A vector that an object keeps.
pub fn kept(py: Python<'_>, x: Vec3) -> Py<PyArray1<f64>> {
    PyArray1::from_slice(py, &x.to_array()).unbind()
}

/// Three numbers.
pub fn three(what: &'static str, x: Input) -> Result<Vec3, Failure> {
    let numbers = vector(what, x)?;
    match *numbers {
        [x, y, z] => Ok(Vec3::new(x, y, z)),
        _ => Err(InputError::Length { what, expected: 3, got: numbers.len() }.into()),
    }
}

/// Where a ray first meets a shape.
///
/// solid: Solid; X: its pose as in closest_points; origin (3,) (m), direction (3,) of any length, max_distance (m).
/// A ray that starts inside meets the far side; planes are seen from above only. Returns a RayHit, or None if there is
/// nothing to meet.
#[pyfunction]
#[pyo3(
    signature = (solid, X, origin, direction, *, max_distance=f64::INFINITY),
    text_signature = "(solid, X, origin, direction, *, max_distance=1e999)"
)]
pub fn raycast(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::solid)] solid: &Solid,
    X: Input,
    origin: Input,
    direction: Input,
    #[pyo3(from_py_with = arg::max_distance)] max_distance: f64,
) -> Result<Option<RayHit>, Failure> {
    let (X, origin, direction) = (pose("X", X)?, three("origin", origin)?, three("direction", direction)?);
    let hit = collision::raycast(&solid.inner, &X, origin, direction, max_distance)?;
    Ok(hit.map(|h| RayHit { distance: h.distance, point: kept(py, h.point), normal: kept(py, h.normal) }))
}
