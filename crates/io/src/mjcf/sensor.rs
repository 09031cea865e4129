//! `<sensor>`: what the file wants to have measured. A sensor does not change the motion, but one that cannot be kept is a
//! warning: somebody asked for its reading.

use super::index::Index;
use super::tendon::Tendons;
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::names::Names;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use slipstick_core::model::{ActuatorId, FrameId, Quantity, Sensor, SensorObject};
use std::collections::HashMap;

/// What the sensors of a file refer to.
pub(super) struct Objects<'b> {
    pub index: &'b Index<'b>,
    pub tendons: &'b Tendons,
    /// Actuators by name; `None` for those that the model cannot have.
    pub actuators: &'b HashMap<String, Option<ActuatorId>>,
}

/// What a kind of sensor is attached to.
#[derive(Clone, Copy)]
enum On {
    Nothing,
    Joint,
    Tendon,
    Actuator,
    Site,
    /// Any object with a frame, seen from another one.
    Frame,
    /// A body and all that it carries.
    Subtree,
}

/// The effect of a sensor on a geom, a camera, a spatial tendon or an actuator that was dropped.
const NO_OBJECT: &str = "the model does not have what this sensor is attached to: its reading is missing";

const KINDS: [(&str, On, Quantity); 36] = [
    ("clock", On::Nothing, Quantity::Clock),
    ("jointpos", On::Joint, Quantity::Position),
    ("jointvel", On::Joint, Quantity::Velocity),
    ("jointactuatorfrc", On::Joint, Quantity::ActuatorForce),
    ("ballquat", On::Joint, Quantity::Quaternion),
    ("ballangvel", On::Joint, Quantity::AngularVelocity),
    ("jointlimitpos", On::Joint, Quantity::LimitPosition),
    ("jointlimitvel", On::Joint, Quantity::LimitVelocity),
    ("jointlimitfrc", On::Joint, Quantity::LimitForce),
    ("tendonpos", On::Tendon, Quantity::Position),
    ("tendonvel", On::Tendon, Quantity::Velocity),
    ("tendonactuatorfrc", On::Tendon, Quantity::ActuatorForce),
    ("tendonlimitpos", On::Tendon, Quantity::LimitPosition),
    ("tendonlimitvel", On::Tendon, Quantity::LimitVelocity),
    ("tendonlimitfrc", On::Tendon, Quantity::LimitForce),
    ("actuatorpos", On::Actuator, Quantity::Position),
    ("actuatorvel", On::Actuator, Quantity::Velocity),
    ("actuatorfrc", On::Actuator, Quantity::ActuatorForce),
    ("accelerometer", On::Site, Quantity::Accelerometer),
    ("velocimeter", On::Site, Quantity::Velocimeter),
    ("gyro", On::Site, Quantity::Gyro),
    ("force", On::Site, Quantity::Force),
    ("torque", On::Site, Quantity::Torque),
    ("touch", On::Site, Quantity::Touch),
    ("framepos", On::Frame, Quantity::Position),
    ("framequat", On::Frame, Quantity::Quaternion),
    ("framexaxis", On::Frame, Quantity::XAxis),
    ("frameyaxis", On::Frame, Quantity::YAxis),
    ("framezaxis", On::Frame, Quantity::ZAxis),
    ("framelinvel", On::Frame, Quantity::LinearVelocity),
    ("frameangvel", On::Frame, Quantity::AngularVelocity),
    ("framelinacc", On::Frame, Quantity::LinearAcceleration),
    ("frameangacc", On::Frame, Quantity::AngularAcceleration),
    ("subtreecom", On::Subtree, Quantity::SubtreeCenterOfMass),
    ("subtreelinvel", On::Subtree, Quantity::SubtreeLinearVelocity),
    ("subtreeangmom", On::Subtree, Quantity::SubtreeAngularMomentum),
];

/// Adds the sensors, with a warning for each one that cannot be kept.
pub(super) fn read(
    root: Element,
    objects: &Objects,
    warnings: &mut Warnings,
    builder: &mut ModelBuilder,
) -> Result<(), LoadError> {
    let mut names = Names::new("sensor", root);
    for element in root.all("sensor").flat_map(|section| section.children()) {
        let name = element.text("name").map(|n| names.given(n, element)).transpose()?.unwrap_or_default();
        let known = KINDS.iter().find(|(kind, ..)| *kind == element.name());
        // other kinds are told about by the comparison with the list of elements
        let Some((_, on, quantity)) = known else { continue };
        match objects.attached(element, *on)? {
            Some((object, reference)) => {
                builder.add_sensor(Sensor { name, quantity: *quantity, object, reference });
            }
            None => warnings.add(element, NO_OBJECT),
        }
    }
    Ok(())
}

impl Objects<'_> {
    fn attached(&self, e: Element, on: On) -> Result<Option<(SensorObject, Option<FrameId>)>, LoadError> {
        let object = match on {
            On::Nothing => Some(SensorObject::World),
            On::Joint => Some(SensorObject::Joint(self.index.joint(e.required("joint")?)?.0)),
            On::Tendon => self.tendons.find(e.required("tendon")?)?.map(SensorObject::Tendon),
            On::Actuator => self.actuator(e.required("actuator")?)?.map(SensorObject::Actuator),
            On::Site => Some(SensorObject::Frame(self.index.site(e.required("site")?)?.frame)),
            On::Subtree => Some(SensorObject::Frame(self.index.link(e.required("body")?)?.id)),
            On::Frame => self.framed(e.required("objtype")?, e.required("objname")?)?,
        };
        let reference = match (e.attribute("reftype"), e.attribute("refname")) {
            (Some(kind), Some(name)) => self.framed(kind, name)?,
            _ => return Ok(object.map(|o| (o, None))),
        };
        Ok(match (object, reference) {
            (Some(object), Some(SensorObject::Frame(frame))) => Some((object, Some(frame))),
            _ => None,
        })
    }

    fn actuator(&self, name: Attribute) -> Result<Option<ActuatorId>, LoadError> {
        self.actuators.get(name.value).copied().ok_or_else(|| name.element.unknown("actuator", name.value))
    }

    /// An object with a frame; `None` for kinds that the model has no frames of.
    fn framed(&self, kind: Attribute, name: Attribute) -> Result<Option<SensorObject>, LoadError> {
        Ok(match kind.value {
            "body" => Some(SensorObject::Inertial(self.index.link(name)?.id)),
            "xbody" => Some(SensorObject::Frame(self.index.link(name)?.id)),
            "site" => Some(SensorObject::Frame(self.index.site(name)?.frame)),
            "geom" | "camera" => None,
            _ => return Err(kind.wrong("one of body, xbody, site, geom, camera")),
        })
    }
}
