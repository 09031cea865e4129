//! Sections that set something for the whole file.

use super::Class::{Picture, Read, Record, Softness, Unless, Unsupported};
use super::{Group, Spec};

pub static COMPILER_LENGTHRANGE: Spec = Spec::unread("lengthrange", Record);

pub static COMPILER: Spec = Spec {
    name: "compiler",
    class: Read,
    attributes: &[
        Group(
            Read,
            "alignfree angle assetdir autolimits balanceinertia boundinertia boundmass coordinate \
          discardvisual eulerseq fitaabb fusestatic inertiafromgeom inertiagrouprange meshdir \
          settotalmass strippath",
        ),
        Group(Picture, "convexhull texturedir"),
        Group(Record, "passthrough savecanonical savecompiled saveinertial usethread"),
        Group(Unless("false", "the inertia of a mesh follows its own attribute"), "exactmeshinertia"),
        Group(Unless("warning", "options of attached models are ignored: those of the main model hold"), "conflict"),
    ],
    children: &[&COMPILER_LENGTHRANGE],
};

pub static OPTION_FLAG: Spec = Spec {
    name: "flag",
    class: Read,
    attributes: &[
        Group(
            Read,
            "actuation clampctrl constraint contact damper equality filterparent frictionloss gravity limit passive spring",
        ),
        Group(
            Softness,
            "autoreset diagexact energy eulerdamp fwdinv invdiscrete ipc island midphase multiccd \
          nativeccd refsafe sensor sleep speculative warmstart",
        ),
        Group(Record, "sensornoise"),
        Group(Unless("disable", "contact override is not supported and is ignored"), "override"),
    ],
    children: &[],
};

pub static OPTION: Spec = Spec {
    name: "option",
    class: Read,
    attributes: &[
        Group(Read, "actuatorgroupdisable gravity magnetic timestep"),
        Group(
            Softness,
            "apirate ccd_iterations ccd_tolerance cone impratio integrator iterations jacobian \
          ls_iterations ls_tolerance mpr_iterations mpr_tolerance noslip_iterations \
          noslip_tolerance o_friction o_margin o_solimp o_solref sdf_initpoints sdf_iterations \
          sleep_tolerance solver tolerance",
        ),
        Group(Record, "wind"),
        Group(Unsupported("fluid forces (density, viscosity) are not supported and are ignored"), "density viscosity"),
        Group(
            Unless("all", "the masks of geoms and the list of pairs both decide, as with collision=\"all\""),
            "collision",
        ),
    ],
    children: &[&OPTION_FLAG],
};

pub static SIZE: Spec = Spec::unread("size", Record);

pub static STATISTIC: Spec = Spec::unread("statistic", Picture);

pub static VISUAL: Spec = Spec::unread("visual", Picture);

pub static CUSTOM: Spec = Spec::unread("custom", Record);

pub static KEYFRAME_KEY: Spec = Spec {
    name: "key",
    class: Read,
    attributes: &[Group(Read, "act ctrl mpos mquat name qpos qvel"), Group(Record, "plastic time")],
    children: &[],
};

pub static KEYFRAME: Spec = Spec { name: "keyframe", class: Read, attributes: &[], children: &[&KEYFRAME_KEY] };

pub static EXTENSION: Spec = Spec::unread("extension", Unsupported("plugins are not supported and are ignored"));
