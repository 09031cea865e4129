//! `<sensor>`: what the file wants to have measured. A sensor does not change the motion, but one that cannot be kept is a
//! warning: somebody asked for its reading.

use super::index::Index;
use super::sensor_geoms;
use super::tendon::Tendons;
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::names::Names;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use slipstick_core::model::{ActuatorId, FrameId, Quantity, RayData, Sensor, SensorObject};
use std::collections::HashMap;

/// What the sensors of a file refer to.
pub(super) struct Objects<'b> {
    pub index: &'b Index<'b>,
    pub tendons: &'b Tendons,
    /// Actuators by name; `None` for those that the model cannot have.
    pub actuators: &'b HashMap<String, Option<ActuatorId>>,
    /// Whether any geom is a mesh.
    pub has_meshes: bool,
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
    /// A site, along its z axis.
    Ray,
    /// An object with a frame, which may be inside a site.
    Inside,
}

/// The effect of a sensor on a geom, a camera, a spatial tendon or an actuator that was dropped.
const NO_OBJECT: &str = "the model does not have what this sensor is attached to: its reading is missing";

/// The effect of a user sensor: its callback is a program that no file has.
const NO_PROGRAM: &str = "a user sensor is computed by a program, which slipstick does not call: it reads zeros";
const RAYS_MISS_PICTURES: &str =
    "meshes and height fields for pictures only are not in the model: rays pass through them";
const RAYS_MEET_HULLS: &str = "rays meet the convex hulls of meshes, not their triangles";

const KINDS: [(&str, On, Quantity); 41] = [
    ("clock", On::Nothing, Quantity::Clock),
    ("e_potential", On::Nothing, Quantity::PotentialEnergy),
    ("e_kinetic", On::Nothing, Quantity::KineticEnergy),
    ("magnetometer", On::Site, Quantity::Magnetometer),
    ("rangefinder", On::Ray, Quantity::RangeFinder(RayData::DISTANCE)),
    ("insidesite", On::Inside, Quantity::InsideSite),
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
        if objects.is_camera_image(element) {
            continue; // told about by the comparison with the list of elements, as are unknown kinds
        }
        let read = match element.name() {
            "user" => Some(user(element, warnings)?),
            "contact" | "distance" | "normal" | "fromto" => sensor_geoms::read(element, objects.index)?,
            _ => match KINDS.iter().find(|(kind, ..)| *kind == element.name()) {
                Some((_, on, quantity)) => objects.measured(element, *on, *quantity, warnings)?,
                None => continue,
            },
        };
        match read {
            Some(sensor) => builder.add_sensor(Sensor { name, cutoff: cutoff(element)?, ..sensor }),
            None => warnings.add(element, NO_OBJECT),
        }
    }
    Ok(())
}

fn cutoff(e: Element) -> Result<f64, LoadError> {
    let Some(cutoff) = e.attribute("cutoff").filter(|_| e.name() != "user") else { return Ok(0.0) };
    let x = cutoff.float()?;
    let unit = matches!(e.name(), "ballquat" | "framequat" | "framexaxis" | "frameyaxis" | "framezaxis");
    match x {
        _ if x < 0.0 => Err(cutoff.wrong("zero or a positive number")),
        _ if x > 0.0 && unit => Err(cutoff.wrong("no cutoff on a direction or a quaternion")),
        _ => Ok(x),
    }
}

/// The zeros that MuJoCo has as well where no callback writes anything.
fn user(e: Element, warnings: &mut Warnings) -> Result<Sensor, LoadError> {
    let dim = e.required("dim")?;
    let size = usize::try_from(e.integer("dim", 1)?).ok().filter(|n| *n > 0);
    let size = size.ok_or_else(|| dim.wrong("a positive number of numbers"))?;
    warnings.add_once(e, NO_PROGRAM);
    Ok(Sensor::new("", Quantity::User(size), SensorObject::World))
}

impl Objects<'_> {
    /// A range finder on a camera, whose reading is an image.
    fn is_camera_image(&self, e: Element) -> bool {
        e.name() == "rangefinder" && e.attribute("camera").is_some()
    }

    /// A sensor without name; `None` where the model lacks what it is attached to.
    fn measured(
        &self,
        e: Element,
        on: On,
        quantity: Quantity,
        warnings: &mut Warnings,
    ) -> Result<Option<Sensor>, LoadError> {
        let Some((object, reference)) = self.attached(e, on)? else { return Ok(None) };
        let mut sensor = Sensor { reference, ..Sensor::new("", quantity, object) };
        if let On::Ray = on {
            let kinds = sensor_geoms::kinds(e, &RayData::ALL)?;
            let data = kinds.into_iter().reduce(RayData::with).unwrap_or(RayData::DISTANCE);
            sensor.quantity = Quantity::RangeFinder(data);
            if self.index.lacks_geoms() {
                warnings.add_once(e, RAYS_MISS_PICTURES);
            }
            if self.has_meshes {
                warnings.add_once(e, RAYS_MEET_HULLS);
            }
        }
        Ok(Some(sensor))
    }

    fn attached(&self, e: Element, on: On) -> Result<Option<(SensorObject, Option<FrameId>)>, LoadError> {
        let object = match on {
            On::Nothing => Some(SensorObject::World),
            On::Joint => Some(SensorObject::Joint(self.index.joint(e.required("joint")?)?.0)),
            On::Tendon => self.tendons.find(e.required("tendon")?)?.map(SensorObject::Tendon),
            On::Actuator => self.actuator(e.required("actuator")?)?.map(SensorObject::Actuator),
            On::Site | On::Ray => Some(SensorObject::Frame(self.index.site(e.required("site")?)?.frame)),
            On::Inside => {
                let object = self.framed(e.required("objtype")?, e.required("objname")?)?;
                let site = self.index.site(e.required("site")?)?.frame;
                return Ok(object.map(|object| (object, Some(site))));
            }
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
