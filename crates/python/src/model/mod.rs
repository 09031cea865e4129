//! `Model`: a robot, its sizes and the names of what it has.

pub mod builder;
pub mod edits;
pub mod gradient_options;
pub mod load;
pub mod named;
mod numbers;
pub mod options;
pub mod pickle;
pub mod scene;

use crate::arguments::arg;
use crate::arrays::{Input, to_matrix};
use crate::dynamics::workspaces::Workspaces;
use crate::errors::Failure;
use named::{Actuator, Body, Frame, Geom, Joint, Key};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use scene::{Equality, ModelWarning, Sensor, Tendon};
use slipstick::dynamics::Workspace;
use std::sync::{Arc, OnceLock};

/// A robot and its world: immutable, shared by threads. Made by load() and builtin().
///
/// q (nq,) and v (nv,) are MuJoCo's qpos and qvel. Body 0 is the world. Arrays are fresh copies.
#[pyclass(frozen, module = "slipstick")]
pub struct Model {
    pub inner: slipstick::Model,
    workspaces: Arc<Workspaces>,
    remarks: Arc<Remarks>,
    /// Made when first asked for.
    hash: Arc<OnceLock<String>>,
}

/// What was said while the file was read. Kept here, so that a pickle carries it along.
pub struct Remarks {
    pub warnings: Vec<ModelWarning>,
    pub notes: Vec<String>,
}

/// A named state of a model: q (nq,), v (nv,), ctrl (nu,), act (na,), mocap (n, 7): poses of the mocap bodies.
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct Keyframe {
    name: String,
    q: Py<PyArray1<f64>>,
    v: Py<PyArray1<f64>>,
    ctrl: Py<PyArray1<f64>>,
    act: Py<PyArray1<f64>>,
    mocap: Py<PyArray2<f64>>,
}

impl Model {
    pub fn new(inner: slipstick::Model) -> Model {
        let warnings = inner.warnings().iter().cloned().map(ModelWarning).collect();
        let remarks = Arc::new(Remarks { warnings, notes: inner.notes().to_vec() });
        Model { inner, workspaces: Arc::default(), remarks, hash: Arc::default() }
    }

    /// A model whose hash is known already.
    pub fn restored(inner: slipstick::Model, hash: String) -> Model {
        Model { hash: Arc::new(OnceLock::from(hash)), ..Model::new(inner) }
    }

    /// This structure with other numbers: workspaces fit both.
    fn derived(&self, inner: slipstick::Model) -> Model {
        Model { inner, workspaces: self.workspaces.clone(), remarks: self.remarks.clone(), hash: Arc::default() }
    }

    /// The very same model: what it holds is shared.
    fn shared(&self) -> Model {
        Model { hash: self.hash.clone(), ..self.derived(self.inner.clone()) }
    }

    /// Calls the dynamics without the interpreter's lock.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&slipstick::Model, &mut Workspace) -> Result<T, Failure> + Send,
    ) -> Result<T, Failure> {
        self.workspaces.run(py, &self.inner, |workspace| work(&self.inner, workspace))
    }
}

#[pymethods]
impl Model {
    /// Name of the model.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// Number of coordinates of a configuration.
    #[getter]
    fn nq(&self) -> usize {
        self.inner.nq()
    }

    /// Number of degrees of freedom.
    #[getter]
    fn nv(&self) -> usize {
        self.inner.nv()
    }

    /// Number of controls.
    #[getter]
    fn nu(&self) -> usize {
        self.inner.nu()
    }

    /// Number of activations: of actuators with dynamics.
    #[getter]
    fn na(&self) -> usize {
        self.inner.na()
    }

    /// Names of the actuators with an activation, in the order of act (list of str).
    #[getter]
    fn act_names(&self) -> Vec<String> {
        self.inner.activated().iter().map(|id| self.inner.actuators()[id.0].name.clone()).collect()
    }

    /// Number of bodies, the world included.
    #[getter]
    fn n_bodies(&self) -> usize {
        self.inner.n_bodies()
    }

    /// Number of joints.
    #[getter]
    fn n_joints(&self) -> usize {
        self.inner.joints().len()
    }

    /// Number of frames: links (also those merged over fixed joints) and sites.
    #[getter]
    fn n_frames(&self) -> usize {
        self.inner.frames().len()
    }

    /// Number of shapes.
    #[getter]
    fn n_geoms(&self) -> usize {
        self.inner.geoms().len()
    }

    /// Names of the bodies (list of str), "world" first.
    #[getter]
    fn body_names(&self) -> Vec<&str> {
        self.inner.bodies().iter().map(|b| b.name.as_str()).collect()
    }

    /// Names of the joints (list of str), in the order of q and v.
    #[getter]
    fn joint_names(&self) -> Vec<&str> {
        self.inner.joints().iter().map(|j| j.name.as_str()).collect()
    }

    /// "revolute", "prismatic", "spherical", "planar" or "free" for each joint (list of str).
    #[getter]
    fn joint_types(&self) -> Vec<&str> {
        self.inner.joints().iter().map(|j| j.kind.name()).collect()
    }

    /// Names of links, then sites (list of str).
    #[getter]
    fn frame_names(&self) -> Vec<&str> {
        self.inner.frames().iter().map(|f| f.name.as_str()).collect()
    }

    /// Names of the actuators (list of str), in the order of ctrl.
    #[getter]
    fn actuator_names(&self) -> Vec<&str> {
        self.inner.actuators().iter().map(|a| a.name.as_str()).collect()
    }

    /// Names of the keyframes (list of str).
    #[getter]
    fn keyframe_names(&self) -> Vec<&str> {
        self.inner.keyframes().iter().map(|k| k.name.as_str()).collect()
    }

    /// What the file says and the model does not represent, although it would change the motion (list of ModelWarning).
    #[getter]
    fn warnings(&self) -> Vec<ModelWarning> {
        self.remarks.warnings.clone()
    }

    /// What the file says and makes no difference to the motion here (list of str).
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.remarks.notes.clone()
    }

    /// Names of the shapes (list of str); may be empty.
    #[getter]
    fn geom_names(&self) -> Vec<&str> {
        self.inner.geoms().iter().map(|g| g.name.as_str()).collect()
    }

    /// "plane", "sphere", "capsule", "cylinder", "cone", "box", "ellipsoid" or "mesh" for each shape (list of str).
    #[getter]
    fn geom_types(&self) -> Vec<&str> {
        self.inner.geoms().iter().map(|g| g.shape.name()).collect()
    }

    /// Body that each shape moves with: (n_geoms,) int64.
    #[getter]
    fn geom_bodies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, self.inner.geoms().iter().map(|g| g.body.0 as i64))
    }

    /// Pairs of shapes that may touch: (n, 2) int64, by rising numbers, the lower number of a pair first.
    #[getter]
    fn pairs<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        scene::pairs(py, &self.inner)
    }

    /// Constraints that hold at all times (list of Equality).
    #[getter]
    fn equalities(&self, py: Python<'_>) -> Vec<Equality> {
        scene::equalities(py, &self.inner)
    }

    /// Fixed tendons (list of Tendon).
    #[getter]
    fn tendons(&self, py: Python<'_>) -> Vec<Tendon> {
        scene::tendons(py, &self.inner)
    }

    /// Names of the mocap bodies, whose poses are inputs of a step (list of str).
    #[getter]
    fn mocap_names(&self) -> Vec<String> {
        self.inner.mocap_bodies().map(|b| self.inner.bodies()[b.0].name.clone()).collect()
    }

    /// What the file wants to have measured (list of Sensor).
    #[getter]
    fn sensors(&self) -> Vec<Sensor> {
        scene::sensors(&self.inner)
    }

    /// The named state with a name: an object with q (nq,), v (nv,), ctrl (nu,), act (na,).
    fn keyframe(&self, py: Python<'_>, #[pyo3(from_py_with = arg::name)] name: &str) -> Result<Keyframe, Failure> {
        let k = self.inner.keyframe(name)?;
        let array = |x: &[f64]| PyArray1::from_slice(py, x).unbind();
        let poses = if k.mocap.is_empty() { self.inner.mocap_poses() } else { k.mocap.clone() };
        let mocap = to_matrix(py, self.inner.n_mocap(), 7, poses)?.unbind();
        Ok(Keyframe {
            name: k.name.clone(),
            q: array(&k.q),
            v: array(&k.v),
            ctrl: array(&k.ctrl),
            act: array(&k.act),
            mocap,
        })
    }

    /// A body by name or number (types.Body): mass, center of mass, joints, …
    fn body(&self, #[pyo3(from_py_with = arg::body)] body: Key) -> Result<Body, Failure> {
        let m = &self.inner;
        Ok(Body::new(m, body.number("body", m.n_bodies(), |name| m.body(name).map(|id| id.0))?))
    }

    /// A joint by name or number (types.Joint): q, v (slices), range, damping, …
    fn joint(&self, #[pyo3(from_py_with = arg::joint)] joint: Key) -> Result<Joint, Failure> {
        let m = &self.inner;
        Ok(Joint::new(m, joint.number("joint", m.joints().len(), |name| m.joint(name).map(|id| id.0))?))
    }

    /// An actuator by name or number (types.Actuator): ctrl_range, gain, …
    fn actuator(&self, #[pyo3(from_py_with = arg::actuator)] actuator: Key) -> Result<Actuator, Failure> {
        let m = &self.inner;
        Ok(Actuator::new(m, actuator.number("actuator", m.nu(), |name| m.actuator(name).map(|id| id.0))?))
    }

    /// A shape by name or number (types.Geom): pose, size, mesh, friction, …
    fn geom(&self, #[pyo3(from_py_with = arg::geom)] geom: Key) -> Result<Geom, Failure> {
        let m = &self.inner;
        Ok(Geom::new(m, geom.number("geom", m.geoms().len(), |name| m.geom(name).map(|id| id.0))?))
    }

    /// What the file shows (list of types.Visual): shapes, colors and meshes for pictures. Physics never reads them.
    #[getter]
    fn visuals(&self) -> Vec<named::Visual> {
        named::visuals::all(&self.inner)
    }

    /// A link or site by name or number (types.Frame): body, pose.
    fn frame(&self, #[pyo3(from_py_with = arg::frame)] frame: Key) -> Result<Frame, Failure> {
        let m = &self.inner;
        Ok(Frame::new(m, frame.number("frame", m.frames().len(), |name| m.frame(name).map(|id| id.0))?))
    }

    /// The model as the text of a MJCF file that loads to the same dynamics (str).
    fn to_mjcf(&self, py: Python<'_>) -> String {
        py.detach(|| slipstick::files::to_mjcf(&self.inner))
    }

    /// A hash of everything in the model, the same on every machine (str).
    #[getter]
    fn content_hash(&self, py: Python<'_>) -> String {
        py.detach(|| self.hash.get_or_init(|| slipstick::files::content_hash(&self.inner)).clone())
    }

    fn __copy__(&self) -> Model {
        self.shared()
    }

    fn __deepcopy__(&self, _memo: Input) -> Model {
        self.shared()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, pickle::State<'py>)> {
        let restore = py.import("slipstick._native")?.getattr("_restore")?;
        Ok((restore, (PyBytes::new(py, &self.inner.to_bytes()), self.content_hash(py))))
    }

    fn __repr__(&self) -> String {
        let m = &self.inner;
        let (name, bodies) = (m.name(), m.n_bodies());
        let warnings = match m.warnings().len() {
            0 => String::new(),
            1 => ", 1 warning".to_string(),
            n => format!(", {n} warnings"),
        };
        format!("<slipstick.Model '{name}': nq={}, nv={}, nu={}, n_bodies={bodies}{warnings}>", m.nq(), m.nv(), m.nu())
    }
}

#[pymethods]
impl Keyframe {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let parts = [&self.q, &self.v, &self.ctrl, &self.act].map(|x| x.bind(py).as_any().clone());
        let name = self.name.as_str().into_pyobject(py)?.into_any();
        let all = [name].into_iter().chain(parts).chain([self.mocap.bind(py).as_any().clone()]);
        let restore = py.import("slipstick._native")?.getattr("_restore_keyframe")?;
        Ok((restore, PyTuple::new(py, all.collect::<Vec<_>>())?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let [q, v, ctrl] = [&self.q, &self.v, &self.ctrl].map(|x| x.bind(py).len());
        Ok(format!("<slipstick.types.Keyframe '{}': q ({},), v ({},), ctrl ({},)>", self.name, q?, v?, ctrl?))
    }
}
