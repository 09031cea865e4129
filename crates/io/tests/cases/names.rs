//! Names that a model does not have: the error proposes the nearest one, or lists some.

use crate::mjcf;
use slipstick_core::error::NameHint;
use slipstick_core::sensors::Sensors;
use slipstick_core::{InputError, State};

const LEG: &str = r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/>
    <body name="thigh"><joint name="hip"/><geom name="bone" size="0.1"/><site name="mark"/></body></worldbody>
    <actuator><motor name="push" joint="hip"/></actuator>
    <sensor><jointpos name="angle" joint="hip"/></sensor>
    <keyframe><key name="home" qpos="0.1"/></keyframe></mujoco>"#;

#[test]
fn unknown_names_come_with_the_nearest_one() {
    let model = mjcf(LEG).unwrap();
    let near = |what, name: &str, near: &str| InputError::UnknownName {
        what,
        name: name.into(),
        hint: Box::new(NameHint::Nearest(near.into())),
    };
    assert_eq!(model.body("thihg").unwrap_err(), near("body", "thihg", "thigh"));
    assert_eq!(model.joint("Hip").unwrap_err(), near("joint", "Hip", "hip"));
    assert_eq!(model.frame("marks").unwrap_err(), near("frame", "marks", "mark"));
    assert_eq!(model.geom("bon").unwrap_err(), near("geom", "bon", "bone"));
    assert_eq!(model.actuator("pusch").unwrap_err(), near("actuator", "pusch", "push"));
    assert_eq!(State::keyframe(&model, "hom").unwrap_err(), near("keyframe", "hom", "home"));
    let error = Sensors::new(&model).named("angel").unwrap_err().to_string();
    assert_eq!(error, "the model has no sensor named 'angel' (did you mean 'angle'?)");
}

#[test]
fn where_no_name_is_near_some_are_listed() {
    let model = mjcf(LEG).unwrap();
    let error = model.joint("shoulder").unwrap_err().to_string();
    assert_eq!(error, "the model has no joint named 'shoulder' (it has: hip)");
    let bare = mjcf("<mujoco><worldbody><geom size=\"1\"/></worldbody></mujoco>").unwrap();
    let error = bare.geom("").unwrap_err().to_string();
    assert_eq!(error, "the model has no geom named '' (it has none with a name)");
}
