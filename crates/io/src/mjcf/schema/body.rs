//! The tree of bodies.

use super::Class::{Picture, Read, Record, Softness, Unsupported};
use super::{Group, Spec};

pub static INERTIAL: Spec = Spec {
    name: "inertial",
    class: Read,
    attributes: &[Group(Read, "axisangle diaginertia euler fullinertia mass pos quat xyaxes zaxis")],
    children: &[],
};

pub static JOINT: Spec = Spec {
    name: "joint",
    class: Read,
    attributes: &[
        Group(
            Read,
            "actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis class damping frictionloss \
          limited name pos range ref springdamper springref stiffness type",
        ),
        Group(Softness, "margin solimpfriction solimplimit solreffriction solreflimit"),
        Group(Picture, "group"),
        Group(Record, "user"),
        Group(Unsupported("springyield is not supported: the spring stays elastic"), "springyield"),
    ],
    children: &[],
};

pub static FREEJOINT: Spec = Spec {
    name: "freejoint",
    class: Read,
    attributes: &[Group(Read, "align name"), Group(Picture, "group")],
    children: &[],
};

pub static GEOM: Spec = Spec {
    name: "geom",
    class: Read,
    attributes: &[
        Group(
            Read,
            "axisangle class conaffinity condim contype density euler fitscale friction fromto group \
          hfield margin mass material mesh name pos priority quat rgba shellinertia size type xyaxes zaxis",
        ),
        Group(Softness, "gap solimp solmix solref"),
        Group(Picture, "castshadow"),
        Group(Record, "fluidcoef fluidshape user"),
        Group(Unsupported("adhesion is not supported: surfaces do not adhere"), "adhesion"),
        Group(Unsupported("moving surfaces are not supported: the surface is at rest"), "surfacevel"),
    ],
    children: &[&PLUGIN],
};

pub static SITE: Spec = Spec {
    name: "site",
    class: Read,
    attributes: &[
        Group(Read, "axisangle class euler fromto name pos quat size type xyaxes zaxis"),
        Group(Picture, "group material mesh rgba"),
        Group(Record, "user"),
    ],
    children: &[],
};

pub static CAMERA: Spec = Spec::unread("camera", Picture);

pub static LIGHT: Spec = Spec::unread("light", Picture);

pub static FLEXCOMP: Spec =
    Spec::unread("flexcomp", Unsupported("flexible bodies are not supported: the element was dropped"));

pub static PLUGIN: Spec = Spec::unread("plugin", Unsupported("plugins are not supported: the plugin is ignored"));

pub static COMPOSITE: Spec =
    Spec::unread("composite", Unsupported("composite bodies are not supported: the element was dropped"));

pub static ATTACH: Spec =
    Spec { name: "attach", class: Read, attributes: &[Group(Read, "body frame model prefix")], children: &[] };

static INSIDE: [&Spec; 14] = [
    &INERTIAL, &JOINT, &FREEJOINT, &GEOM, &SITE, &CAMERA, &LIGHT, &FLEXCOMP, &PLUGIN, &COMPOSITE, &ATTACH, &FRAME,
    &REPLICATE, &BODY,
];

pub static FRAME: Spec = Spec {
    name: "frame",
    class: Read,
    attributes: &[Group(Read, "name childclass pos quat axisangle xyaxes zaxis euler")],
    children: &INSIDE,
};

pub static REPLICATE: Spec = Spec {
    name: "replicate",
    class: Read,
    // MuJoCo passes over a prefix
    attributes: &[Group(Read, "count offset euler sep childclass"), Group(Record, "prefix")],
    children: &INSIDE,
};

pub static BODY: Spec = Spec {
    name: "body",
    class: Read,
    attributes: &[
        Group(Read, "axisangle childclass euler gravcomp mocap name pos quat xyaxes zaxis"),
        Group(Softness, "sleep"),
        Group(Record, "fuse simple user"),
    ],
    children: &INSIDE,
};

pub static WORLDBODY: Spec = Spec { name: "worldbody", class: Read, attributes: &[], children: &INSIDE };
