//! Sensors as MJCF.

use super::mjcf::Writer;
use super::xml::Attributes;
use slipstick_core::model::{
    ContactData, ContactReport, FrameId, GeomSet, Quantity, RayData, Reduce, Sensor, SensorObject,
};

impl Writer<'_> {
    pub(super) fn sensors(&mut self) {
        if self.model.sensors().is_empty() {
            return;
        }
        self.xml.open("sensor", Attributes::new());
        for s in self.model.sensors() {
            let a = Attributes::new().name("name", &s.name);
            let Some((tag, a)) = self.element(s, a) else {
                self.lose(format!("sensor '{}'", s.name), "MJCF has no equivalent sensor");
                continue;
            };
            let a = a.number("cutoff", s.cutoff, 0.0);
            let a = match s.reference {
                Some(frame) if s.quantity != Quantity::InsideSite => {
                    let (kind, name) = self.frame(frame);
                    a.text("reftype", kind).text("refname", &name)
                }
                _ => a,
            };
            self.xml.leaf(tag, a);
        }
        self.xml.close("sensor");
    }

    /// Element and attributes of a sensor.
    fn element(&self, s: &Sensor, a: Attributes) -> Option<(&'static str, Attributes)> {
        match (s.object, s.quantity) {
            (SensorObject::World, what) => of_world(what, a),
            (SensorObject::Geoms(sets), what) => self.of_geoms(what, sets, a),
            (object, Quantity::InsideSite) => {
                let (kind, name) = match object {
                    SensorObject::Frame(f) => self.frame(f),
                    SensorObject::Inertial(f) => ("body", self.model.frames()[f.0].name.clone()),
                    _ => return None,
                };
                let ("site", site) = self.frame(s.reference?) else { return None };
                Some(("insidesite", a.text("objtype", kind).text("objname", &name).text("site", &site)))
            }
            (SensorObject::Frame(f), Quantity::RangeFinder(data)) => match self.frame(f) {
                ("site", name) => Some(("rangefinder", ray_data(data, a.text("site", &name)))),
                _ => None,
            },
            (object, what) => self.attached(what, object, a),
        }
    }

    fn of_geoms(&self, what: Quantity, sets: [GeomSet; 2], a: Attributes) -> Option<(&'static str, Attributes)> {
        let (tag, a) = match what {
            Quantity::Distance => ("distance", a),
            Quantity::Normal => ("normal", a),
            Quantity::FromTo => ("fromto", a),
            Quantity::Contact(report) => ("contact", contact_report(report, a)),
            _ => return None,
        };
        let [first, second] = sets;
        let a = self.side(first, ["geom1", "body1", "subtree1"], a)?;
        Some((tag, self.side(second, ["geom2", "body2", "subtree2"], a)?))
    }

    fn side(&self, set: GeomSet, [geom, link, subtree]: [&str; 3], a: Attributes) -> Option<Attributes> {
        let frame = |f: FrameId| &self.model.frames()[f.0].name;
        Some(match set {
            GeomSet::Any => a,
            // without a name it cannot be referred to
            GeomSet::Geom(id) if self.geom_names[id.0].is_empty() => return None,
            GeomSet::Geom(id) => a.text(geom, &self.geom_names[id.0]),
            GeomSet::Link(id) => a.text(link, frame(id)),
            GeomSet::Subtree(id) => a.text(subtree, frame(id)),
            GeomSet::Inside(id) => a.text("site", frame(id)),
        })
    }

    /// Element and attributes for a quantity of an object.
    fn attached(&self, quantity: Quantity, object: SensorObject, a: Attributes) -> Option<(&'static str, Attributes)> {
        let model = self.model;
        Some(match object {
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

fn of_world(what: Quantity, a: Attributes) -> Option<(&'static str, Attributes)> {
    Some(match what {
        Quantity::Clock => ("clock", a),
        Quantity::PotentialEnergy => ("e_potential", a),
        Quantity::KineticEnergy => ("e_kinetic", a),
        Quantity::User(size) => ("user", a.number("dim", size as f64, 0.0)),
        _ => return None,
    })
}

fn ray_data(data: RayData, a: Attributes) -> Attributes {
    let kinds = RayData::ALL.into_iter().filter(|(_, kind)| data.contains(*kind));
    words("data", kinds.map(|(word, _)| word), "dist", a)
}

fn contact_report(report: ContactReport, a: Attributes) -> Attributes {
    let kinds = ContactData::ALL.into_iter().filter(|(_, kind)| report.data.contains(*kind));
    let a = words("data", kinds.map(|(word, _)| word), "found", a).number("num", report.slots as f64, 1.0);
    let reduce = Reduce::ALL.into_iter().filter(|(_, reduce)| *reduce == report.reduce);
    words("reduce", reduce.map(|(word, _)| word), "none", a)
}

/// A list of words, unless it is the one that holds anyway.
fn words<'w>(name: &str, list: impl Iterator<Item = &'w str>, default: &str, a: Attributes) -> Attributes {
    let text = list.collect::<Vec<_>>().join(" ");
    if text == default { a } else { a.text(name, &text) }
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
        Quantity::Magnetometer => "magnetometer",
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
