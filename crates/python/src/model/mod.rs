//! `Model`: names, sizes and numbers of a robot.

pub mod gradient_options;
pub mod load;
pub mod options;
pub mod pickle;
pub mod scene;

use crate::arrays::{Input, Vector, vector};
use crate::dynamics::workspaces::Workspaces;
use crate::errors::Failure;
use gradient_options::{Collision, Gradient};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use options::{Changes, Options};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};
use scene::{Equality, ModelWarning, Sensor, Tendon};
use slipstick::InputError;
use slipstick::dynamics::Workspace;
use slipstick::model::{Joint, JointKind, ParameterGroup};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A robot and its world: immutable, shared by threads. Made by load() and builtin().
///
/// q (nq,) and v (nv,) are MuJoCo's qpos and qvel. Body 0 is the world. Arrays are fresh copies.
#[pyclass(frozen, module = "slipstick")]
pub struct Model {
    pub inner: slipstick::Model,
    workspaces: Arc<Workspaces>,
    remarks: Arc<Remarks>,
    /// Made when first asked for. A pickle carries it: text rounds poses in the last bit, which makes no other robot.
    hash: Arc<OnceLock<String>>,
}

/// What was said while the file was read. Kept here, so that a pickle carries it along.
pub struct Remarks {
    pub warnings: Vec<ModelWarning>,
    pub notes: Vec<String>,
}

/// A named state of a model: q (nq,), v (nv,), ctrl (nu,).
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct Keyframe {
    name: String,
    q: Py<PyArray1<f64>>,
    v: Py<PyArray1<f64>>,
    ctrl: Py<PyArray1<f64>>,
}

impl Model {
    pub fn new(inner: slipstick::Model) -> Model {
        let warnings = inner.warnings().iter().cloned().map(ModelWarning).collect();
        let remarks = Arc::new(Remarks { warnings, notes: inner.notes().to_vec() });
        Model { inner, workspaces: Arc::default(), remarks, hash: Arc::default() }
    }

    /// A model of which everything is known already.
    pub fn restored(inner: slipstick::Model, remarks: Remarks, hash: String) -> Model {
        let hash = Arc::new(OnceLock::from(hash));
        Model { inner, workspaces: Arc::default(), remarks: Arc::new(remarks), hash }
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

    fn joint(&self, name: &str) -> Result<&Joint, InputError> {
        Ok(&self.inner.joints()[self.inner.joint(name)?.0])
    }

    /// One number per dof, from its joint.
    fn per_dof(&self, value: impl Fn(&Joint) -> f64) -> Vec<f64> {
        let joints = self.inner.joints().iter();
        joints.flat_map(|j| std::iter::repeat_n(value(j), j.v.len())).collect()
    }

    fn group<'py>(&self, py: Python<'py>, group: ParameterGroup) -> Vector<'py> {
        PyArray1::from_slice(py, self.inner.parameters().group(group))
    }
}

fn slice(py: Python<'_>, range: Range<usize>) -> Bound<'_, PySlice> {
    PySlice::new(py, range.start as isize, range.end as isize, 1)
}

/// Bounds of a joint with one dof. The range of a spherical joint is an angle, no bound of a single dof.
fn bounds(joint: &Joint) -> Option<[f64; 2]> {
    match joint.kind {
        JointKind::Revolute { .. } | JointKind::Prismatic { .. } => joint.range,
        _ => None,
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

    /// What the file wants to have measured (list of Sensor).
    #[getter]
    fn sensors(&self) -> Vec<Sensor> {
        scene::sensors(&self.inner)
    }

    /// Coordinates of a joint: a slice into q.
    fn joint_q<'py>(&self, py: Python<'py>, name: &str) -> Result<Bound<'py, PySlice>, Failure> {
        Ok(slice(py, self.joint(name)?.q.clone()))
    }

    /// Degrees of freedom of a joint: a slice into v.
    fn joint_v<'py>(&self, py: Python<'py>, name: &str) -> Result<Bound<'py, PySlice>, Failure> {
        Ok(slice(py, self.joint(name)?.v.clone()))
    }

    /// Body that carries each body, -1 for the world: (n_bodies,) int64.
    #[getter]
    fn parents<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let bodies = self.inner.bodies().iter().enumerate();
        bodies.map(|(i, b)| if i == 0 { -1 } else { b.parent.0 as i64 }).collect::<Vec<_>>().into_pyarray(py)
    }

    /// Masses of the bodies, merged links included: (n_bodies,) (kg).
    #[getter]
    fn body_masses<'py>(&self, py: Python<'py>) -> Vector<'py> {
        let masses = (0..self.inner.n_bodies()).map(|i| self.inner.inertias()[i].mass);
        masses.collect::<Vec<_>>().into_pyarray(py)
    }

    /// Masses of the links as the file gives them, 0 for sites: (n_frames,) (kg).
    #[getter]
    fn frame_masses<'py>(&self, py: Python<'py>) -> Vector<'py> {
        let masses = self.inner.frames().iter().map(|f| f.inertia.map_or(0.0, |i| i.mass));
        masses.collect::<Vec<_>>().into_pyarray(py)
    }

    /// Mass of all moving bodies (kg).
    #[getter]
    fn total_mass(&self) -> f64 {
        self.inner.total_mass()
    }

    /// Inertial parameters of a body: (10,), m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin, body axes.
    fn body_inertia<'py>(&self, py: Python<'py>, name: &str) -> Result<Vector<'py>, Failure> {
        let body = self.inner.body(name)?;
        let all = self.inner.parameters().group(ParameterGroup::Inertial);
        let ten = body.0.checked_sub(1).map_or(&[0.0; 10][..], |i| &all[10 * i..10 * i + 10]); // the world has none
        Ok(PyArray1::from_slice(py, ten))
    }

    /// Inertia of the drive of each dof, part of M: (nv,).
    #[getter]
    fn armature<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.group(py, ParameterGroup::Armature)
    }

    /// Force per velocity of each dof: (nv,).
    #[getter]
    fn damping<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.group(py, ParameterGroup::Damping)
    }

    /// Force per displacement of each dof: (nv,).
    #[getter]
    fn stiffness<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.group(py, ParameterGroup::Stiffness)
    }

    /// Where springs rest, one number per coordinate of q (quaternions for spherical and free joints): (nq,).
    #[getter]
    fn spring_reference<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.group(py, ParameterGroup::SpringReference)
    }

    /// Largest force of dry friction of each dof: (nv,).
    #[getter]
    fn dry_friction<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.group(py, ParameterGroup::DryFriction)
    }

    /// Smallest coordinate of each dof: (nv,), -inf where unlimited and for joints with several dofs.
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.per_dof(|j| bounds(j).map_or(f64::NEG_INFINITY, |[lower, _]| lower)).into_pyarray(py)
    }

    /// Largest coordinate of each dof: (nv,), inf where unlimited and for joints with several dofs.
    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.per_dof(|j| bounds(j).map_or(f64::INFINITY, |[_, upper]| upper)).into_pyarray(py)
    }

    /// Largest force that actuators may put on each dof, in either direction: (nv,), inf where unlimited.
    #[getter]
    fn effort_limit<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.per_dof(|j| j.effort[1].max(-j.effort[0])).into_pyarray(py)
    }

    /// Rated speed of each dof (reported, not enforced): (nv,), inf where unlimited.
    #[getter]
    fn velocity_limit<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.per_dof(|j| j.velocity).into_pyarray(py)
    }

    /// Time step (s).
    #[getter]
    fn dt(&self) -> f64 {
        self.inner.options().dt
    }

    /// Gravity in world axes: (3,) [m/s²].
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.inner.options().gravity)
    }

    /// Pairs of shapes nearer than this are contacts (m).
    #[getter]
    fn contact_distance(&self) -> f64 {
        self.inner.options().contact_distance
    }

    /// The named state with a name: an object with q (nq,), v (nv,), ctrl (nu,).
    fn keyframe(&self, py: Python<'_>, name: &str) -> Result<Keyframe, Failure> {
        let k = self.inner.keyframe(name)?;
        let array = |x: &[f64]| PyArray1::from_slice(py, x).unbind();
        Ok(Keyframe { name: k.name.clone(), q: array(&k.q), v: array(&k.v), ctrl: array(&k.ctrl) })
    }

    /// Neutral configuration: (nq,), joints at their reference, free bodies where the file puts them.
    fn neutral<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, self.inner.neutral())
    }

    /// Every number that can be differentiated, in one vector: (n_parameters,).
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, self.inner.parameters().values())
    }

    /// Where the groups of parameters lie: dict of name to slice into parameters.
    #[getter]
    fn parameter_groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (groups, layout) = (PyDict::new(py), self.inner.parameters().layout());
        for group in ParameterGroup::ALL {
            groups.set_item(group.name(), slice(py, layout.range(group)))?;
        }
        Ok(groups)
    }

    /// This robot with other numbers: parameters (n_parameters,), ordered as Model.parameters.
    fn with_parameters(&self, parameters: Input) -> Result<Model, Failure> {
        Ok(self.derived(with_numbers(&self.inner, &vector("parameters", parameters)?)?))
    }

    /// Numerical choices of a simulation of this model (Options).
    #[getter]
    fn options(&self) -> Options {
        Options(self.inner.options().clone())
    }

    /// This robot with other numerical options; what is left out stays. See Options.
    ///
    /// dt (s), gravity (3,) [m/s²], contact_distance (m), implicit (str), integrator (str), solver (str), tolerance, max_iterations
    /// (int), correction (full_depth, beta, max_speed), restitution_threshold [m/s], patch_compliance, speed_limit, gradient (str or
    /// tuple), collision_gradient (str or tuple).
    #[pyo3(signature = (*, dt=None, gravity=None, contact_distance=None, implicit=None, integrator=None, solver=None, tolerance=None,
        max_iterations=None, correction=None, restitution_threshold=None, patch_compliance=None, speed_limit=None,
        gradient=None, collision_gradient=None, gradient_of_failed_steps=None))]
    fn with_options(
        &self,
        dt: Option<f64>,
        gravity: Option<Input>,
        contact_distance: Option<f64>,
        implicit: Option<&str>,
        integrator: Option<&str>,
        solver: Option<&str>,
        tolerance: Option<f64>,
        max_iterations: Option<i64>,
        correction: Option<Input>,
        restitution_threshold: Option<f64>,
        patch_compliance: Option<f64>,
        speed_limit: Option<f64>,
        gradient: Option<Gradient>,
        collision_gradient: Option<Collision>,
        gradient_of_failed_steps: Option<bool>,
    ) -> Result<Model, Failure> {
        let changes = Changes {
            dt,
            gravity,
            contact_distance,
            implicit,
            integrator,
            solver,
            tolerance,
            max_iterations,
            correction,
            restitution_threshold,
            patch_compliance,
            speed_limit,
            gradient,
            collision_gradient,
            gradient_of_failed_steps,
        };
        Ok(self.derived(self.inner.with_options(changes.apply(self.inner.options())?)?))
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, pickle::State)> {
        let restore = py.import("slipstick._native")?.getattr("_restore")?;
        Ok((restore, pickle::state(&self.inner, &self.remarks, self.content_hash(py))))
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

/// This structure with other numbers.
pub fn with_numbers(model: &slipstick::Model, numbers: &[f64]) -> Result<slipstick::Model, InputError> {
    let mut all = model.parameters().clone();
    let (expected, got) = (all.values().len(), numbers.len());
    if got != expected {
        return Err(InputError::Length { what: "parameters", expected, got });
    }
    all.values_mut().copy_from_slice(numbers);
    model.with_parameters(all)
}
