//! What files show: shapes, colors, meshes for pictures. Loading never fails because of them.

use slipstick_core::Model;
use slipstick_core::model::{MeshSource, Pattern, TextureSource, Visual, VisualShape};
use slipstick_core::spatial::vec3;
use slipstick_io::{
    LoadOptions, content_hash, load_mjcf_str, load_urdf_str, load_visual_mesh, to_mjcf, to_mjcf_with_warnings,
};
use std::path::{Path, PathBuf};

fn mjcf(inner: &str) -> Model {
    load_mjcf_str("folder/robot.xml", &format!("<mujoco>{inner}</mujoco>"), &LoadOptions::default()).unwrap()
}

fn shapes(model: &Model) -> &[Visual] {
    &model.visuals().shapes
}

fn file(visual: &Visual) -> Option<PathBuf> {
    let VisualShape::Mesh(source) = &visual.shape else { return None };
    if let MeshSource::File(file) = &**source { Some(file.path.clone()) } else { None }
}

#[test]
fn visual_meshes_keep_path_scale_material_and_group_and_are_not_read() {
    let model = mjcf(
        r#"<compiler meshdir="m" texturedir="t"/>
        <default><default class="v"><geom group="2" contype="0" conaffinity="0" type="mesh"/><material specular="0.1"/></default></default>
        <asset><mesh name="arm" file="a.stl" scale="2 2 2" refpos="1 0 0"/><texture name="skin" type="2d" file="s.png"/>
          <material name="shell" texture="skin" rgba="1 0 0 1" texrepeat="2 3" class="v"/></asset>
        <worldbody><body><freejoint/><geom size="0.1" group="3"/>
          <geom class="v" mesh="arm" material="shell" pos="0 0 1" mass="0"/></body></worldbody>"#,
    );
    assert_eq!((model.geoms().len(), shapes(&model).len()), (1, 2));
    let arm = &shapes(&model)[1];
    assert_eq!((arm.group, arm.body.0, arm.pose.position), (2, 1, vec3(0.0, 0.0, 1.0)));
    assert_eq!(file(arm), Some("folder/m/a.stl".into()));
    let material = arm.look.material.as_ref().unwrap();
    assert_eq!((material.rgba, material.repeat, material.specular), ([1.0, 0.0, 0.0, 1.0], [2.0, 3.0], 0.1));
    let texture = material.texture.as_ref().unwrap();
    assert_eq!((texture.cube, &texture.source), (false, &TextureSource::File("folder/t/s.png".into())));
    assert!(arm.is_shown() && !shapes(&model)[0].is_shown(), "group 3 is hidden");
    let VisualShape::Mesh(source) = &arm.shape else { panic!() };
    assert!(load_visual_mesh(source).unwrap_err().to_string().contains("folder/m/a.stl"));
}

#[test]
fn builtin_textures_and_colors_of_geoms_are_kept() {
    let model = mjcf(
        r#"<default><geom rgba="0 1 0 1"/></default>
        <asset><texture name="t" builtin="checker" rgb1="1 0 0" rgb2="0 0 1"/><material name="m" texture="t"/></asset>
        <worldbody><geom size="1"/><geom size="1" rgba="0.5 0.5 0.5 1" material="m"/></worldbody>"#,
    );
    let looks = &model.visuals().geoms;
    assert_eq!((looks[0].rgba(), looks[1].rgba()), ([0.0, 1.0, 0.0, 1.0], [1.0; 4]));
    let texture = looks[1].material.as_ref().unwrap().texture.as_ref().unwrap();
    let expected =
        TextureSource::Pattern { pattern: Pattern::Checker, first: [1.0, 0.0, 0.0], second: [0.0, 0.0, 1.0] };
    assert_eq!((texture.cube, &texture.source), (true, &expected));
}

#[test]
fn colliding_meshes_are_shown_with_all_their_triangles() {
    let model = mjcf(
        r#"<asset><mesh name="w" vertex="0 0 0  1 0 0  0 1 0  0 0 1" face="0 2 1  0 1 3"/></asset>
        <worldbody><geom type="mesh" mesh="w" rgba="1 0 0 1"/></worldbody>"#,
    );
    let VisualShape::Mesh(source) = &shapes(&model)[0].shape else { panic!() };
    assert_eq!(load_visual_mesh(source).unwrap().parts[0].triangles.len(), 2);
    assert_eq!(model.visuals().geoms[0].rgba(), [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn what_is_wrong_with_pictures_is_a_warning_of_theirs() {
    let model = mjcf(
        r#"<asset><material name="a" texture="none"/><mesh name="arm" file="a.stl"/></asset>
        <worldbody><body><freejoint/><geom size="0.1" material="b"/>
        <geom type="mesh" mesh="arm" contype="0" conaffinity="0" mass="0" pos="0 0"/></body></worldbody>"#,
    );
    let warnings = &model.visuals().warnings;
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    for (warning, part) in warnings.iter().zip(["texture named 'none'", "material named 'b'", "pos: expected 3"]) {
        assert!(warnings.iter().any(|w| w.contains(part)), "{part}: {warning}");
    }
}

#[test]
fn replicated_and_attached_bodies_bring_their_visuals() {
    let model = mjcf(
        r#"<asset><mesh name="arm" file="a.stl"/></asset>
        <worldbody><replicate count="3" offset="1 0 0"><body name="b"><freejoint/><geom size="0.1" group="3"/>
          <geom type="mesh" mesh="arm" contype="0" conaffinity="0" mass="0"/></body></replicate></worldbody>"#,
    );
    let shown: Vec<usize> = shapes(&model).iter().filter(|v| v.is_shown()).map(|v| v.body.0).collect();
    assert_eq!(shown, [1, 2, 3]);
    let folder = std::env::temp_dir().join(format!("slipstick-visual-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("part")).unwrap();
    let part = r#"<mujoco model="part"><compiler texturedir="pictures"/><asset><texture name="t" type="2d" file="t.png"/>
        <material name="m" texture="t"/></asset><worldbody><body name="hand"><joint/><geom size="0.1" material="m"/>
        </body></worldbody></mujoco>"#;
    std::fs::write(folder.join("part/part.xml"), part).unwrap();
    let whole = r#"<mujoco><asset><model name="part" file="part/part.xml"/></asset><worldbody>
        <body><freejoint/><geom size="0.1"/><attach model="part" body="hand" prefix="left_"/></body></worldbody></mujoco>"#;
    std::fs::write(folder.join("whole.xml"), whole).unwrap();
    let model = slipstick_io::load(folder.join("whole.xml")).unwrap();
    let look = &model.visuals().geoms[1];
    let texture = look.material.as_ref().unwrap().texture.as_ref().unwrap().clone();
    let TextureSource::File(path) = &texture.source else { panic!() };
    assert!(path.ends_with(Path::new("part/pictures/t.png")), "{path:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}

const URDF: &str = r#"<robot name="r"><material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><mesh filename="package://none/a.dae" scale="2 2 2"/></geometry>
      <material name="red"/></visual>
    <visual name="knob"><geometry><cylinder radius="0.1" length="0.4"/></geometry>
      <material name="blue"><color rgba="0 0 1 0.5"/></material></visual>
    <visual><geometry><box size="1 1"/></geometry></visual>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"#;

#[test]
fn visuals_of_urdf_have_shapes_materials_and_files_that_may_be_missing() {
    let model = load_urdf_str("robot.urdf", URDF, &LoadOptions::default()).unwrap();
    let [mesh, knob] = shapes(&model) else { panic!("{:?}", shapes(&model)) };
    assert_eq!((mesh.name.as_str(), mesh.look.rgba()), ("base_visual_0", [1.0, 0.0, 0.0, 1.0]));
    assert_eq!(mesh.pose.position, vec3(0.0, 0.0, 1.0));
    assert!(file(mesh).unwrap().ends_with("none/a.dae"));
    assert_eq!((knob.name.as_str(), knob.look.rgba()), ("knob", [0.0, 0.0, 1.0, 0.5]));
    let warnings = &model.visuals().warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("size"), "{warnings:?}");
}

#[test]
fn looks_survive_changes_and_are_no_part_of_the_robot() {
    let model = load_urdf_str("robot.urdf", URDF, &LoadOptions::default()).unwrap();
    let heavier =
        model.with_parameters(model.parameters().clone()).unwrap().with_options(model.options().clone()).unwrap();
    assert_eq!(heavier.visuals(), model.visuals());
    let bare = load_urdf_str("robot.urdf", &URDF.replace("visual", "verbose"), &LoadOptions::default());
    let bare = bare.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(content_hash(&bare), content_hash(&model));
    let told = to_mjcf_with_warnings(&model).1;
    assert!(told.iter().any(|w| w.effect.contains("visual shapes are not written")), "{told:?}");
}

#[test]
fn colors_are_written_and_do_not_change_the_hash() {
    let xml = |rgba: &str| mjcf(&format!("<worldbody><body><freejoint/><geom size='1' {rgba}/></body></worldbody>"));
    let (plain, red) = (xml(""), xml("rgba='1 0 0 1'"));
    assert_eq!(content_hash(&plain), content_hash(&red));
    let back = load_mjcf_str("back", &to_mjcf(&red), &LoadOptions::default()).unwrap();
    assert_eq!(back.visuals().geoms[0].rgba(), [1.0, 0.0, 0.0, 1.0]);
}
