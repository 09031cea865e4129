//! Laws of actuators: what stands between control and force, variable gains, groups that are switched off.

use crate::mjcf;
use slipstick_core::Model;
use slipstick_core::model::{Activation, Actuator, Dynamics, JointId};
use slipstick_io::{LoadOptions, content_hash, load_mjcf_str, to_mjcf_with_warnings};

fn load(xml: &str) -> Model {
    mjcf(xml).unwrap_or_else(|e| panic!("{e}\n{xml}"))
}

/// A pendulum with some actuators.
fn robot(options: &str, actuators: &str, rest: &str) -> String {
    format!(
        r#"<mujoco><compiler angle="radian"/><option actuatorgroupdisable="{options}"/><default><general dynprm="0.5"/><default class="slow">
        <position kp="7" timeconst="0.2"/></default><default class="brake"><damper kv="4" ctrlrange="0 3"/></default></default>
        <worldbody><body><joint name="j" range="-1 2" limited="true"/><geom size="1"/></body></worldbody>
        <actuator>{actuators}</actuator>{rest}</mujoco>"#
    )
}

#[test]
fn laws_are_those_of_their_elements_and_classes() {
    let text = robot(
        "2 4",
        r#"<position class="slow" joint="j" kv="1"/><damper class="brake" joint="j"/><damper class="brake" joint="j" kv="5" group="2"/>
           <intvelocity joint="j" kp="3" inheritrange="1"/><general joint="j" dyntype="filter"/>
           <general joint="j" dyntype="filterexact" dynprm="-1 3 4" actearly="true" actlimited="true" actrange="-2 1"/>
           <general joint="j" gaintype="affine" gainprm="1 2 3 4 5" biastype="affine" biasprm="5"/>
           <cylinder joint="j" area="3" bias="1 2 3" timeconst="0.3"/><motor class="slow" joint="j" group="4"/>"#,
        "",
    );
    let model = load(&text);
    assert_eq!((model.nu(), model.na(), model.warnings().len()), (9, 5, 0), "{:?}", model.warnings());
    let a = model.actuators();
    let (on, exact) = (JointId(0), |time_constant| Activation::new(Dynamics::ExactFilter { time_constant }));
    let filter = |time_constant| Activation::new(Dynamics::Filter { time_constant });
    assert_eq!(a[0], Actuator::position("", on, 7.0, 1.0).with_activation(exact(0.2)));
    assert_eq!(a[1], Actuator::damper("", on, 4.0, 3.0));
    assert_eq!(a[2], Actuator { enabled: false, ..Actuator::damper("", on, 5.0, 3.0) });
    let integrator = Activation { range: Some([-1.0, 2.0]), ..Activation::new(Dynamics::Integrator) };
    assert_eq!(a[3], Actuator::position("", on, 3.0, 0.0).with_activation(integrator));
    assert_eq!(a[4], Actuator::motor("", on, 1.0).with_activation(filter(0.5)));
    let early = Activation { early: true, range: Some([-2.0, 1.0]), ..exact(0.0) };
    assert_eq!(a[5], Actuator::motor("", on, 1.0).with_activation(early));
    assert_eq!(a[6], Actuator { gain_slopes: [2.0, 3.0], bias: [5.0, 0.0, 0.0], ..Actuator::motor("", on, 1.0) });
    let cylinder = Actuator { gain: 3.0, bias: [1.0, 2.0, 3.0], ..Actuator::motor("", on, 1.0) };
    assert_eq!(a[7], cylinder.with_activation(filter(0.3)));
    assert_eq!(a[8], Actuator { enabled: false, ..Actuator::motor("", on, 1.0) });
}

#[test]
fn laws_and_activations_are_written_and_read_back() {
    let text = robot(
        "1",
        r#"<position name="a" joint="j" kp="2" timeconst="0.1" ctrlrange="-1 1"/><damper name="b" joint="j" kv="1" ctrlrange="0 1"/>
           <intvelocity name="c" joint="j" kp="1" actrange="-1 1" group="1"/>
           <general name="d" joint="j" dyntype="filter" dynprm="0.3" actearly="true" gaintype="affine" gainprm="1 2 3"/>"#,
        r#"<keyframe><key name="k" act="0.1 0.2 0.3" ctrl="1 2 3 4"/><key name="l"/></keyframe>"#,
    );
    let model = load(&text);
    let (written, losses) = to_mjcf_with_warnings(&model);
    assert!(losses.is_empty(), "{losses:?}");
    let back = load_mjcf_str("back.xml", &written, &LoadOptions::default()).unwrap();
    assert_eq!(model.actuators().len(), back.actuators().len());
    for (a, b) in model.actuators().iter().zip(back.actuators()) {
        assert_eq!((a.activation, a.gain_slopes, a.enabled), (b.activation, b.gain_slopes, b.enabled), "{written}");
    }
    assert_eq!(model.keyframes(), back.keyframes());
    assert_eq!(model.keyframe("k").unwrap().act, [0.1, 0.2, 0.3]);
    assert_eq!(content_hash(&model), content_hash(&back));
    let other = load(&text.replace("timeconst=\"0.1\"", "timeconst=\"0.2\""));
    assert_ne!(content_hash(&model), content_hash(&other));
}

#[test]
fn activations_of_dropped_actuators_are_left_out_of_keyframes() {
    let actuators = r#"<position name="a" joint="j" timeconst="0.1"/><muscle joint="j"/><general joint="j" dyntype="user" actdim="2"/>
        <motor joint="j"/><general name="b" joint="j" dyntype="integrator"/>"#;
    let model = load(&robot("", actuators, r#"<keyframe><key name="k" act="1 2 3 4 5"/></keyframe>"#));
    assert_eq!((model.na(), model.nu(), model.warnings().len()), (2, 3, 2));
    assert_eq!(model.keyframe("k").unwrap().act, [1.0, 5.0]);
}

#[test]
fn what_makes_no_law_is_refused() {
    let refused = |options: &str, actuators: &str| {
        load_mjcf_str("test.xml", &robot(options, actuators, ""), &LoadOptions::default()).unwrap_err().to_string()
    };
    let groups = refused("31", r#"<motor joint="j"/>"#);
    assert!(groups.contains("expected whole numbers from 0 to 30"), "{groups}");
    let groups = refused("1.5", r#"<motor joint="j"/>"#);
    assert!(groups.contains("expected whole numbers from 0 to 30"), "{groups}");
    for (actuator, told) in [
        (r#"<general joint="j" actlimited="true" actrange="-1 1"/>"#, "expected dyntype, as actrange asks"),
        (r#"<damper joint="j" kv="1"/>"#, "ctrlrange"),
        (r#"<damper joint="j" kv="-1" ctrlrange="0 1"/>"#, "zero or a positive number"),
        (r#"<position joint="j" timeconst="-1"/>"#, "zero or a positive number"),
        (r#"<general joint="j" dyntype="filter" dynprm="x"/>"#, "dynprm"),
    ] {
        let error = refused("", actuator);
        assert!(error.starts_with("test.xml") && error.contains(told), "{error}");
    }
}
