//! Sensors.

use super::Class::{Read, Record, Unsupported};
use super::{Group, Spec};

/// How a reading is spoiled or kept; nothing here reads it.
const NOTED: Group = Group(Record, "cutoff delay interp interval noise nsample user");
const SITE: &[Group] = &[Group(Read, "name site"), NOTED];
const JOINT: &[Group] = &[Group(Read, "joint name"), NOTED];
const TENDON: &[Group] = &[Group(Read, "name tendon"), NOTED];
const ACTUATOR: &[Group] = &[Group(Read, "actuator name"), NOTED];
const FRAME: &[Group] = &[Group(Read, "name objname objtype refname reftype"), NOTED];
const FRAME_ALONE: &[Group] = &[Group(Read, "name objname objtype"), NOTED];
const BODY: &[Group] = &[Group(Read, "body name"), NOTED];
const NOTHING: &[Group] = &[Group(Read, "name"), NOTED];

const fn sensor(name: &'static str, attributes: &'static [Group]) -> Spec {
    Spec { name, class: Read, attributes, children: &[] }
}

/// A kind of sensor that the model does not have.
macro_rules! left_out {
    ($name:literal) => {
        Spec::unread($name, Unsupported(concat!("<", $name, "> is not supported: its reading is missing")))
    };
}

pub static SENSOR: Spec = Spec {
    name: "sensor",
    class: Read,
    attributes: &[],
    children: &[
        &sensor("touch", SITE),
        &sensor("accelerometer", SITE),
        &sensor("velocimeter", SITE),
        &sensor("gyro", SITE),
        &sensor("force", SITE),
        &sensor("torque", SITE),
        &sensor("jointpos", JOINT),
        &sensor("jointvel", JOINT),
        &sensor("tendonpos", TENDON),
        &sensor("tendonvel", TENDON),
        &sensor("actuatorpos", ACTUATOR),
        &sensor("actuatorvel", ACTUATOR),
        &sensor("actuatorfrc", ACTUATOR),
        &sensor("jointactuatorfrc", JOINT),
        &sensor("tendonactuatorfrc", TENDON),
        &sensor("ballquat", JOINT),
        &sensor("ballangvel", JOINT),
        &sensor("jointlimitpos", JOINT),
        &sensor("jointlimitvel", JOINT),
        &sensor("jointlimitfrc", JOINT),
        &sensor("tendonlimitpos", TENDON),
        &sensor("tendonlimitvel", TENDON),
        &sensor("tendonlimitfrc", TENDON),
        &sensor("framepos", FRAME),
        &sensor("framequat", FRAME),
        &sensor("framexaxis", FRAME),
        &sensor("frameyaxis", FRAME),
        &sensor("framezaxis", FRAME),
        &sensor("framelinvel", FRAME),
        &sensor("frameangvel", FRAME),
        &sensor("framelinacc", FRAME_ALONE),
        &sensor("frameangacc", FRAME_ALONE),
        &sensor("subtreecom", BODY),
        &sensor("subtreelinvel", BODY),
        &sensor("subtreeangmom", BODY),
        &sensor("clock", NOTHING),
        &left_out!("magnetometer"),
        &left_out!("camprojection"),
        &left_out!("rangefinder"),
        &left_out!("insidesite"),
        &left_out!("distance"),
        &left_out!("normal"),
        &left_out!("fromto"),
        &left_out!("contact"),
        &left_out!("e_potential"),
        &left_out!("e_kinetic"),
        &left_out!("tactile"),
        &left_out!("user"),
        &left_out!("plugin"),
    ],
};
