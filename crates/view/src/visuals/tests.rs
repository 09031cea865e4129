use super::*;
use slipstick::LoadOptions;
use slipstick::files::load_mjcf_str;

const ROBOT: &str = r#"<mujoco>
  <default><default class="visual"><geom group="2" contype="0" conaffinity="0" material="metal"/></default></default>
  <asset><material name="metal" rgba="0.1 0.2 0.3 1" shininess="0.9"/><mesh name="arm" file="not/there.stl"/>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
  <worldbody><geom type="plane" size="1 1 1"/><body><freejoint/>
    <geom type="mesh" mesh="arm" class="visual" mass="0"/><geom class="visual" size="0.1" rgba="1 0 0 1"/>
    <geom type="mesh" mesh="wedge" class="visual" mass="0"/><geom type="capsule" size="0.1 0.2" group="3"/>
  </body></worldbody></mujoco>"#;

fn appearance(xml: &str) -> Appearance {
    Appearance::of(&load_mjcf_str("robot", xml, &LoadOptions::default()).unwrap())
}

#[test]
fn visual_shapes_are_told_with_their_colors_and_collision_shapes_apart() {
    let Appearance { json, warnings } = appearance(ROBOT);
    let shapes = json["shapes"].as_array().unwrap();
    assert_eq!(shapes.len(), 3, "{json}");
    assert_eq!(shapes[0]["look"]["rgba"], json!([0.1, 0.2, 0.3, 1.0]));
    assert_eq!(shapes[1]["look"]["rgba"], json!([1.0, 0.0, 0.0, 1.0]));
    assert_eq!(json["touching"], json!([3]), "the capsule");
    assert_eq!(json["meshes"][1]["parts"][0]["count"], json!(4));
    assert!(warnings.len() == 1 && warnings[0].contains("not/there.stl"), "{warnings:?}");
}

#[test]
fn robots_without_visuals_of_their_own_have_one_look() {
    let json = appearance(
        r#"<mujoco><worldbody><body><freejoint/><geom size="1"/><geom size="1" rgba="0 1 0 1"/></body></worldbody></mujoco>"#,
    )
    .json;
    assert_eq!((&json["shapes"], &json["touching"]), (&json!([]), &json!([0, 1])));
    assert_eq!((&json["geoms"][0], &json["geoms"][1]["rgba"]), (&Value::Null, &json!([0.0, 1.0, 0.0, 1.0])));
}
