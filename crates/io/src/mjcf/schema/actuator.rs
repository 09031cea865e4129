//! Actuators.

use super::Class::{Read, Record, Unsupported};
use super::{Group, Spec};

pub static ACTUATOR_GENERAL: Spec = Spec {
    name: "general",
    class: Read,
    attributes: &[
        Group(
            Read,
            "actearly actlimited actrange armature biasprm biastype body class cranklength cranksite \
          ctrllimited ctrlrange damping dynprm dyntype forcelimited forcerange gainprm gaintype gear \
          group inheritrange joint jointinparent name refsite site slidersite tendon",
        ),
        Group(Record, "actdim ffrange input interp lengthrange nsample user velrange"),
        Group(Unsupported("delay of an actuator is not supported: control acts at once"), "delay"),
    ],
    children: &[],
};

pub static ACTUATOR_MOTOR: Spec = Spec {
    name: "motor",
    class: Read,
    attributes: &[
        Group(
            Read,
            "armature class cranklength cranksite ctrllimited ctrlrange damping forcelimited forcerange gear \
          group joint jointinparent name refsite site slidersite tendon",
        ),
        Group(Record, "interp lengthrange nsample user"),
        Group(Unsupported("delay of an actuator is not supported: control acts at once"), "delay"),
    ],
    children: &[],
};

pub static ACTUATOR_POSITION: Spec = Spec {
    name: "position",
    class: Read,
    attributes: &[
        Group(
            Read,
            "armature class cranklength cranksite ctrllimited ctrlrange damping dampratio forcelimited \
          forcerange gear group inheritrange joint jointinparent kp kv name refsite site slidersite \
          tendon timeconst",
        ),
        Group(Record, "interp lengthrange nsample user"),
        Group(Unsupported("delay of an actuator is not supported: control acts at once"), "delay"),
    ],
    children: &[],
};

pub static ACTUATOR_VELOCITY: Spec = Spec {
    name: "velocity",
    class: Read,
    attributes: &[
        Group(
            Read,
            "armature class cranklength cranksite ctrllimited ctrlrange damping forcelimited forcerange gear \
          group joint jointinparent kv name refsite site slidersite tendon",
        ),
        Group(Record, "interp lengthrange nsample user"),
        Group(Unsupported("delay of an actuator is not supported: control acts at once"), "delay"),
    ],
    children: &[],
};

pub static ACTUATOR_INTVELOCITY: Spec = Spec {
    name: "intvelocity",
    class: Read,
    attributes: &[
        Group(
            Read,
            "actlimited actrange armature class cranklength cranksite ctrllimited ctrlrange damping \
          dampratio forcelimited forcerange gear group inheritrange joint jointinparent kp kv name \
          refsite site slidersite tendon",
        ),
        Group(Record, "interp lengthrange nsample user"),
        Group(Unsupported("delay of an actuator is not supported: control acts at once"), "delay"),
    ],
    children: &[],
};

pub static ACTUATOR_ORIENTATION: Spec = Spec::unread(
    "orientation",
    Unsupported(
        "<orientation> is not supported: the actuator was dropped, and ctrl is one entry shorter than in MuJoCo",
    ),
);

pub static ACTUATOR_PID: Spec = Spec::unread(
    "pid",
    Unsupported("<pid> is not supported: the actuator was dropped, and ctrl is one entry shorter than in MuJoCo"),
);

pub static ACTUATOR_DAMPER: Spec = Spec {
    name: "damper",
    class: Read,
    attributes: &[
        Group(
            Read,
            "armature class cranklength cranksite ctrlrange damping forcelimited forcerange gear group joint \
          jointinparent kv name refsite site slidersite tendon",
        ),
        Group(Record, "interp lengthrange nsample user"),
        Group(Unsupported("delay of an actuator is not supported: control acts at once"), "delay"),
    ],
    children: &[],
};

pub static ACTUATOR_CYLINDER: Spec = Spec {
    name: "cylinder",
    class: Read,
    attributes: &[
        Group(
            Read,
            "area armature bias class cranklength cranksite ctrllimited ctrlrange damping diameter \
          forcelimited forcerange gear group joint jointinparent name refsite site slidersite tendon \
          timeconst",
        ),
        Group(Record, "interp lengthrange nsample user"),
        Group(Unsupported("delay of an actuator is not supported: control acts at once"), "delay"),
    ],
    children: &[],
};

pub static ACTUATOR_MUSCLE: Spec = Spec::unread(
    "muscle",
    Unsupported("<muscle> is not supported: the actuator was dropped, and ctrl is one entry shorter than in MuJoCo"),
);

pub static ACTUATOR_ADHESION: Spec = Spec::unread(
    "adhesion",
    Unsupported("<adhesion> is not supported: the actuator was dropped, and ctrl is one entry shorter than in MuJoCo"),
);

pub static ACTUATOR_DCMOTOR: Spec = Spec::unread(
    "dcmotor",
    Unsupported("<dcmotor> is not supported: the actuator was dropped, and ctrl is one entry shorter than in MuJoCo"),
);

pub static ACTUATOR_PLUGIN: Spec = Spec::unread(
    "plugin",
    Unsupported("<plugin> is not supported: the actuator was dropped, and ctrl is one entry shorter than in MuJoCo"),
);

pub static ACTUATOR: Spec = Spec {
    name: "actuator",
    class: Read,
    attributes: &[],
    children: &[
        &ACTUATOR_GENERAL,
        &ACTUATOR_MOTOR,
        &ACTUATOR_POSITION,
        &ACTUATOR_VELOCITY,
        &ACTUATOR_INTVELOCITY,
        &ACTUATOR_ORIENTATION,
        &ACTUATOR_PID,
        &ACTUATOR_DAMPER,
        &ACTUATOR_CYLINDER,
        &ACTUATOR_MUSCLE,
        &ACTUATOR_ADHESION,
        &ACTUATOR_DCMOTOR,
        &ACTUATOR_PLUGIN,
    ],
};
