//! Sensors.

use super::Class::{Read, Record, Unsupported};
use super::{Group, Spec};

/// How a reading is spoiled or kept; nothing here reads it.
const NOTED: Group = Group(Record, "interp noise nsample user");
/// When it is taken.
const LATE: Group =
    Group(Unsupported("readings are those of the step itself, not late or at intervals"), "delay interval");
const CUTOFF: Group = Group(Read, "cutoff");
const SITE: &[Group] = &[Group(Read, "name site"), CUTOFF, LATE, NOTED];
const JOINT: &[Group] = &[Group(Read, "joint name"), CUTOFF, LATE, NOTED];
const TENDON: &[Group] = &[Group(Read, "name tendon"), CUTOFF, LATE, NOTED];
const ACTUATOR: &[Group] = &[Group(Read, "actuator name"), CUTOFF, LATE, NOTED];
const FRAME: &[Group] = &[Group(Read, "name objname objtype refname reftype"), CUTOFF, LATE, NOTED];
const FRAME_ALONE: &[Group] = &[Group(Read, "name objname objtype"), CUTOFF, LATE, NOTED];
const BODY: &[Group] = &[Group(Read, "body name"), CUTOFF, LATE, NOTED];
const RAY: &[Group] = &[
    Group(Read, "data name site"),
    Group(Unsupported("depth images of cameras are not supported: the reading is missing"), "camera"),
    CUTOFF,
    LATE,
    NOTED,
];
const INSIDE: &[Group] = &[Group(Read, "name objname objtype site"), CUTOFF, LATE, NOTED];
const PAIR: &[Group] = &[Group(Read, "body1 body2 geom1 geom2 name"), CUTOFF, LATE, NOTED];
const CONTACT: &[Group] =
    &[Group(Read, "body1 body2 data geom1 geom2 name num reduce site subtree1 subtree2"), CUTOFF, LATE, NOTED];
const USER: &[Group] =
    &[Group(Read, "dim name"), Group(Record, "cutoff datatype needstage noise objname objtype user")];
const NOTHING: &[Group] = &[Group(Read, "name"), CUTOFF, LATE, NOTED];

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
        &sensor("magnetometer", SITE),
        &left_out!("camprojection"),
        &sensor("rangefinder", RAY),
        &sensor("insidesite", INSIDE),
        &sensor("distance", PAIR),
        &sensor("normal", PAIR),
        &sensor("fromto", PAIR),
        &sensor("contact", CONTACT),
        &sensor("e_potential", NOTHING),
        &sensor("e_kinetic", NOTHING),
        &left_out!("tactile"),
        &sensor("user", USER),
        &left_out!("plugin"),
    ],
};
