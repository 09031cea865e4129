//! Sensors as MJCF.

use super::mjcf::Writer;
use super::xml::Attributes;
use slipstick_core::model::{FrameId, Quantity, SensorObject};

impl Writer<'_> {
    pub(super) fn sensors(&mut self) {
        if self.model.sensors().is_empty() {
            return;
        }
        self.xml.open("sensor", Attributes::new());
        for s in self.model.sensors() {
            let a = Attributes::new().name("name", &s.name);
            let Some((tag, a)) = self.attached(s.quantity, s.object, a) else {
                self.lose(format!("sensor '{}'", s.name), "MJCF has no equivalent sensor");
                continue;
            };
            let a = match s.reference {
                Some(frame) => {
                    let (kind, name) = self.frame(frame);
                    a.text("reftype", kind).text("refname", &name)
                }
                None => a,
            };
            self.xml.leaf(tag, a);
        }
        self.xml.close("sensor");
    }

    /// Element and attributes for a quantity of an object.
    fn attached(&self, quantity: Quantity, object: SensorObject, a: Attributes) -> Option<(&'static str, Attributes)> {
        let model = self.model;
        Some(match object {
            SensorObject::World => ("clock", a),
            SensorObject::Joint(id) => (of_joint(quantity)?, a.text("joint", &model.joints()[id.0].name)),
            SensorObject::Tendon(i) => (of_tendon(quantity)?, a.text("tendon", &self.tendon_name(i))),
            // without a name it cannot be referred to
            SensorObject::Actuator(id) if model.actuators()[id.0].name.is_empty() => return None,
            SensorObject::Actuator(id) => (of_actuator(quantity)?, a.text("actuator", &model.actuators()[id.0].name)),
            SensorObject::Inertial(f) => {
                (of_frame(quantity)?, a.text("objtype", "body").text("objname", &model.frames()[f.0].name))
            }
            SensorObject::Frame(f) => {
                let (kind, name) = self.frame(f);
                match (of_site(quantity), of_subtree(quantity)) {
                    (Some(tag), _) if kind == "site" => (tag, a.text("site", &name)),
                    (_, Some(tag)) if kind == "xbody" => (tag, a.text("body", &name)),
                    _ => (of_frame(quantity)?, a.text("objtype", kind).text("objname", &name)),
                }
            }
            _ => return None,
        })
    }

    fn frame(&self, f: FrameId) -> (&'static str, String) {
        let frame = &self.model.frames()[f.0];
        (if frame.inertia.is_some() { "xbody" } else { "site" }, frame.name.clone())
    }
}

fn of_joint(quantity: Quantity) -> Option<&'static str> {
    Some(match quantity {
        Quantity::Position => "jointpos",
        Quantity::Velocity => "jointvel",
        Quantity::ActuatorForce => "jointactuatorfrc",
        Quantity::Quaternion => "ballquat",
        Quantity::AngularVelocity => "ballangvel",
        Quantity::LimitPosition => "jointlimitpos",
        Quantity::LimitVelocity => "jointlimitvel",
        Quantity::LimitForce => "jointlimitfrc",
        _ => return None,
    })
}

fn of_tendon(quantity: Quantity) -> Option<&'static str> {
    Some(match quantity {
        Quantity::Position => "tendonpos",
        Quantity::Velocity => "tendonvel",
        Quantity::ActuatorForce => "tendonactuatorfrc",
        Quantity::LimitPosition => "tendonlimitpos",
        Quantity::LimitVelocity => "tendonlimitvel",
        Quantity::LimitForce => "tendonlimitfrc",
        _ => return None,
    })
}

fn of_actuator(quantity: Quantity) -> Option<&'static str> {
    Some(match quantity {
        Quantity::Position => "actuatorpos",
        Quantity::Velocity => "actuatorvel",
        Quantity::ActuatorForce => "actuatorfrc",
        _ => return None,
    })
}

fn of_site(quantity: Quantity) -> Option<&'static str> {
    Some(match quantity {
        Quantity::Accelerometer => "accelerometer",
        Quantity::Velocimeter => "velocimeter",
        Quantity::Gyro => "gyro",
        Quantity::Force => "force",
        Quantity::Torque => "torque",
        Quantity::Touch => "touch",
        _ => return None,
    })
}

fn of_subtree(quantity: Quantity) -> Option<&'static str> {
    Some(match quantity {
        Quantity::SubtreeCenterOfMass => "subtreecom",
        Quantity::SubtreeLinearVelocity => "subtreelinvel",
        Quantity::SubtreeAngularMomentum => "subtreeangmom",
        _ => return None,
    })
}

fn of_frame(quantity: Quantity) -> Option<&'static str> {
    Some(match quantity {
        Quantity::Position => "framepos",
        Quantity::Quaternion => "framequat",
        Quantity::XAxis => "framexaxis",
        Quantity::YAxis => "frameyaxis",
        Quantity::ZAxis => "framezaxis",
        Quantity::LinearVelocity => "framelinvel",
        Quantity::AngularVelocity => "frameangvel",
        Quantity::LinearAcceleration => "framelinacc",
        Quantity::AngularAcceleration => "frameangacc",
        _ => return None,
    })
}
