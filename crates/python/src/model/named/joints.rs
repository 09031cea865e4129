//! Joints, and the actuators that drive them.

use super::{effort_limit, element_class, slice};
use crate::arrays::Vector;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PySlice;
use slipstick::Model;
use slipstick::model::{Dynamics, JointKind, ParameterGroup, Transmission};

element_class! {
    /// A joint.
    ///
    /// Attributes: name, index, type ("revolute", …), body (name of the body that it moves), axis (3,) in the body's axes or
    /// None, q and v (slices into configuration and velocity), range (two floats or None), armature, damping, stiffness,
    /// dry_friction (of its first dof), effort_limit, velocity_limit (inf: unlimited).
    Joint
}

element_class! {
    /// An actuator: force = gain · ctrl + bias[0] + bias[1] · length + bias[2] · velocity.
    ///
    /// Attributes: name, index (into ctrl), joint (name or None), tendon (number or None), gear (6,), gain, bias (3,),
    /// ctrl_range, force_range (two floats or None).
    Actuator
}

impl Joint {
    fn inner(&self) -> &slipstick::model::Joint {
        &self.model.joints()[self.index]
    }

    /// What a group says of its first dof.
    fn first(&self, group: ParameterGroup) -> f64 {
        self.model.parameters().group(group)[self.inner().v.start]
    }
}

#[pymethods]
impl Joint {
    #[getter]
    fn name(&self) -> &str {
        &self.inner().name
    }

    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    #[getter]
    fn r#type(&self) -> &'static str {
        self.inner().kind.name()
    }

    #[getter]
    fn body(&self) -> &str {
        &self.model.bodies()[self.inner().body.0].name
    }

    #[getter]
    fn axis<'py>(&self, py: Python<'py>) -> Option<Vector<'py>> {
        match self.inner().kind {
            JointKind::Revolute { axis } | JointKind::Prismatic { axis } => {
                Some(PyArray1::from_slice(py, &axis.to_array()))
            }
            _ => None,
        }
    }

    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        slice(py, self.inner().q.clone())
    }

    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        slice(py, self.inner().v.clone())
    }

    #[getter]
    fn range(&self) -> Option<(f64, f64)> {
        self.inner().range.map(|[lower, upper]| (lower, upper))
    }

    #[getter]
    fn armature(&self) -> f64 {
        self.first(ParameterGroup::Armature)
    }

    #[getter]
    fn damping(&self) -> f64 {
        self.first(ParameterGroup::Damping)
    }

    #[getter]
    fn stiffness(&self) -> f64 {
        self.first(ParameterGroup::Stiffness)
    }

    #[getter]
    fn dry_friction(&self) -> f64 {
        self.first(ParameterGroup::DryFriction)
    }

    #[getter]
    fn effort_limit(&self) -> f64 {
        effort_limit(self.inner())
    }

    #[getter]
    fn velocity_limit(&self) -> f64 {
        self.inner().velocity
    }

    fn __repr__(&self) -> String {
        let (j, body) = (self.inner(), self.body());
        let range = j.range.map_or(String::new(), |[lower, upper]| format!(", range {lower:.4} to {upper:.4}"));
        let (q, v) = (&j.q, &j.v);
        format!("<slipstick.types.Joint '{}': {} of '{body}', q[{q:?}], v[{v:?}]{range}>", j.name, j.kind.name())
            .replace("..", ":")
    }
}

impl Actuator {
    fn inner(&self) -> &slipstick::model::Actuator {
        &self.model.actuators()[self.index]
    }
}

#[pymethods]
impl Actuator {
    #[getter]
    fn name(&self) -> &str {
        &self.inner().name
    }

    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    #[getter]
    fn joint(&self) -> Option<&str> {
        match self.inner().transmission {
            Transmission::Joint(id) | Transmission::JointInParent(id) => Some(&self.model.joints()[id.0].name),
            _ => None,
        }
    }

    #[getter]
    fn site(&self) -> Option<&str> {
        self.inner().transmission.frames().next().map(|f| self.model.frames()[f.0].name.as_str())
    }

    #[getter]
    fn reference(&self) -> Option<&str> {
        self.inner().transmission.frames().nth(1).map(|f| self.model.frames()[f.0].name.as_str())
    }

    #[getter]
    fn tendon(&self) -> Option<usize> {
        match self.inner().transmission {
            Transmission::Tendon(number) => Some(number),
            _ => None,
        }
    }

    #[getter]
    fn gear<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.inner().gear)
    }

    /// Parameters may differ from what the file gave.
    #[getter]
    fn gain(&self) -> f64 {
        self.model.parameters().group(ParameterGroup::Actuator)[4 * self.index]
    }

    #[getter]
    fn bias<'py>(&self, py: Python<'py>) -> Vector<'py> {
        let numbers = &self.model.parameters().group(ParameterGroup::Actuator)[4 * self.index + 1..4 * self.index + 4];
        PyArray1::from_slice(py, numbers)
    }

    #[getter]
    fn ctrl_range(&self) -> Option<(f64, f64)> {
        self.inner().ctrl_range.map(|[lower, upper]| (lower, upper))
    }

    /// How its activation follows the control: "integrator", "filter", "filterexact", or None.
    #[getter]
    fn dynamics(&self) -> Option<&'static str> {
        self.inner().activation.map(|a| match a.dynamics {
            Dynamics::Filter { .. } => "filter",
            Dynamics::ExactFilter { .. } => "filterexact",
            _ => "integrator",
        })
    }

    /// Time constant of its filter (s).
    #[getter]
    fn time_constant(&self) -> Option<f64> {
        match self.inner().activation?.dynamics {
            Dynamics::Filter { time_constant } | Dynamics::ExactFilter { time_constant } => Some(time_constant),
            _ => None,
        }
    }

    #[getter]
    fn act_range(&self) -> Option<(f64, f64)> {
        self.inner().activation?.range.map(|[lower, upper]| (lower, upper))
    }

    /// Whether it acts at all.
    #[getter]
    fn enabled(&self) -> bool {
        self.inner().enabled
    }

    #[getter]
    fn force_range(&self) -> Option<(f64, f64)> {
        self.inner().force_range.map(|[lower, upper]| (lower, upper))
    }

    fn __repr__(&self) -> String {
        let on = match (self.joint(), self.tendon(), self.site()) {
            (Some(joint), ..) => format!("joint '{joint}'"),
            (_, Some(tendon), _) => format!("tendon {tendon}"),
            (.., Some(site)) => format!("site '{site}'"),
            _ => "nothing".into(),
        };
        let range = self.ctrl_range().map_or("unlimited".into(), |(lower, upper)| format!("{lower:.4} to {upper:.4}"));
        let (name, index) = (self.name(), self.index);
        format!("<slipstick.types.Actuator '{name}' on {on}: ctrl[{index}], {range}>")
    }
}
