//! Assets, contacts, tendons, constraints.

use super::Class::{Picture, Read, Record, Softness, Unsupported};
use super::body::PLUGIN;
use super::{Group, Spec};

pub static ASSET_MESH: Spec = Spec {
    name: "mesh",
    class: Read,
    attributes: &[
        Group(Read, "builtin class content_type face file inertia maxhullvert name params refpos refquat scale vertex"),
        Group(Picture, "material normal smoothnormal texcoord"),
    ],
    children: &[&PLUGIN],
};

pub static ASSET_HFIELD: Spec = Spec {
    name: "hfield",
    class: Read,
    attributes: &[Group(Read, "elevation file name ncol nrow size"), Group(Record, "content_type")],
    children: &[],
};

pub static ASSET_SKIN: Spec = Spec::unread("skin", Picture);

pub static ASSET_TEXTURE: Spec = Spec::unread("texture", Picture);

pub static ASSET_MATERIAL: Spec = Spec::unread("material", Picture);

pub static ASSET_MODEL: Spec = Spec {
    name: "model",
    class: Read,
    attributes: &[Group(Read, "file name"), Group(Record, "content_type")],
    children: &[],
};

pub static ASSET: Spec = Spec {
    name: "asset",
    class: Read,
    attributes: &[],
    children: &[&ASSET_MESH, &ASSET_HFIELD, &ASSET_SKIN, &ASSET_TEXTURE, &ASSET_MATERIAL, &ASSET_MODEL],
};

pub static CONTACT_PAIR: Spec = Spec {
    name: "pair",
    class: Read,
    attributes: &[
        Group(Read, "class condim friction geom1 geom2 margin name"),
        Group(Softness, "gap solimp solref solreffriction"),
        Group(Unsupported("adhesion is not supported: surfaces do not adhere"), "adhesion"),
    ],
    children: &[],
};

pub static CONTACT_EXCLUDE: Spec =
    Spec { name: "exclude", class: Read, attributes: &[Group(Read, "body1 body2 name")], children: &[] };

pub static CONTACT: Spec =
    Spec { name: "contact", class: Read, attributes: &[], children: &[&CONTACT_PAIR, &CONTACT_EXCLUDE] };

pub static TENDON_SPATIAL: Spec = Spec::unread(
    "spatial",
    Unsupported("spatial tendons are not supported: the tendon's limit, spring, damper and friction are ignored"),
);

pub static TENDON_FIXED_JOINT: Spec =
    Spec { name: "joint", class: Read, attributes: &[Group(Read, "coef joint")], children: &[] };

pub static TENDON_FIXED: Spec = Spec {
    name: "fixed",
    class: Read,
    attributes: &[
        Group(
            Read,
            "actuatorfrclimited actuatorfrcrange class damping frictionloss limited name range \
          springlength stiffness",
        ),
        Group(Softness, "margin solimpfriction solimplimit solreffriction solreflimit"),
        Group(Picture, "group"),
        Group(Record, "user"),
        Group(Unsupported("armature of a tendon is not supported and is ignored"), "armature"),
        Group(Unsupported("springyield is not supported: the spring stays elastic"), "springyield"),
    ],
    children: &[&TENDON_FIXED_JOINT],
};

pub static TENDON: Spec =
    Spec { name: "tendon", class: Read, attributes: &[], children: &[&TENDON_SPATIAL, &TENDON_FIXED] };

pub static EQUALITY_CONNECT: Spec = Spec {
    name: "connect",
    class: Read,
    attributes: &[Group(Read, "active anchor body1 body2 class name site1 site2"), Group(Softness, "solimp solref")],
    children: &[],
};

pub static EQUALITY_WELD: Spec = Spec {
    name: "weld",
    class: Read,
    attributes: &[
        Group(Read, "active anchor body1 body2 class name relpose site1 site2 torquescale"),
        Group(Softness, "solimp solref"),
    ],
    children: &[],
};

pub static EQUALITY_JOINT: Spec = Spec {
    name: "joint",
    class: Read,
    attributes: &[Group(Read, "active class joint1 joint2 name polycoef"), Group(Softness, "solimp solref")],
    children: &[],
};

pub static EQUALITY_TENDON: Spec = Spec {
    name: "tendon",
    class: Read,
    attributes: &[Group(Read, "active class name polycoef tendon1 tendon2"), Group(Softness, "solimp solref")],
    children: &[],
};

pub static EQUALITY_FLEX: Spec =
    Spec::unread("flex", Unsupported("flexible bodies are not supported: the constraint is ignored"));

pub static EQUALITY_FLEXSTRAIN: Spec =
    Spec::unread("flexstrain", Unsupported("flexible bodies are not supported: the constraint is ignored"));

pub static EQUALITY: Spec = Spec {
    name: "equality",
    class: Read,
    attributes: &[],
    children: &[
        &EQUALITY_CONNECT,
        &EQUALITY_WELD,
        &EQUALITY_JOINT,
        &EQUALITY_TENDON,
        &EQUALITY_FLEX,
        &EQUALITY_FLEXSTRAIN,
    ],
};

pub static DEFORMABLE_FLEX: Spec =
    Spec::unread("flex", Unsupported("flexible bodies are not supported: the element was dropped"));

pub static DEFORMABLE_SKIN: Spec = Spec::unread("skin", Picture);

pub static DEFORMABLE: Spec =
    Spec { name: "deformable", class: Read, attributes: &[], children: &[&DEFORMABLE_FLEX, &DEFORMABLE_SKIN] };

pub static DEFAULT_EQUALITY: Spec = Spec {
    name: "equality",
    class: Read,
    attributes: &[Group(Read, "active"), Group(Softness, "solimp solref")],
    children: &[],
};

pub static DEFAULT_TENDON: Spec = Spec {
    name: "tendon",
    class: Read,
    attributes: &[
        Group(Read, "actuatorfrclimited actuatorfrcrange damping frictionloss limited range springlength stiffness"),
        Group(Softness, "margin solimpfriction solimplimit solreffriction solreflimit"),
        Group(Picture, "group material rgba width"),
        Group(Record, "user"),
        Group(Unsupported("armature of a tendon is not supported and is ignored"), "armature"),
        Group(Unsupported("springyield is not supported: the spring stays elastic"), "springyield"),
    ],
    children: &[],
};
