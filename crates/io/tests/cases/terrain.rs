//! Height fields, and meshes that are ground.

use slipstick_core::Model;
use slipstick_core::collision::{ContactSet, detect, raycast_model};
use slipstick_core::error::BuildError;
use slipstick_core::model::Shape;
use slipstick_core::spatial::{Pose, vec3};
use slipstick_io::{LoadError, LoadOptions, load_mjcf_str, load_urdf_str, to_mjcf, to_mjcf_with_warnings};

const HILLS: &str = r#"<mujoco><asset>
  <hfield name="hills" nrow="3" ncol="4" size="1.5 1 0.5 0.2" elevation="0 1 2 3  10 11 12 13  20 21 22 24"/></asset>
  <worldbody><body pos="0 0 -0.1"><geom name="ground" type="hfield" hfield="hills" pos="0 0 0.1"/></body>
  <body name="ball" pos="0 0 3"><freejoint/><geom type="sphere" size="0.05"/></body></worldbody></mujoco>"#;

const PIT: &str = r#"<mujoco><asset>
  <mesh name="pit" vertex="-1 -1 0  1 -1 0  1 1 0  -1 1 0  0 0 -0.5" face="0 1 4  1 2 4  2 3 4  3 0 4"/></asset>
  <worldbody><geom name="bottom" type="mesh" mesh="pit"/>
  <body name="ball" pos="0 0 3"><freejoint/><geom type="sphere" size="0.05"/></body></worldbody></mujoco>"#;

fn terrain(names: &[&str]) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.terrain = names.iter().map(|n| n.to_string()).collect();
    options
}

/// Height of the first thing below a point.
fn height(model: &Model, x: f64, y: f64) -> Option<f64> {
    let poses = [Pose::IDENTITY, Pose::translation(vec3(0.0, 0.0, 100.0))];
    let hit =
        raycast_model(model, &poses[..model.n_bodies()], vec3(x, y, 10.0), vec3(0.0, 0.0, -1.0), 50.0).expect("a ray");
    hit.map(|(_, h)| h.point.z)
}

#[test]
fn heights_are_where_mujoco_puts_them() {
    let model = load_mjcf_str("hills.xml", HILLS, &LoadOptions::default()).unwrap();
    assert!(model.warnings().is_empty(), "{:?}", model.warnings());
    assert!(matches!(model.geoms()[0].shape, Shape::HeightField { .. }));
    // the first row of the text is the one at +y; the numbers are those of MuJoCo's hfield_data
    for (x, y, share) in [(-1.5, 1.0, 0.0), (1.5, 1.0, 0.125), (-1.5, -1.0, 10.0 / 12.0), (1.5, -1.0, 1.0)] {
        let found = height(&model, 0.999999 * x, 0.999999 * y).expect("over the ground");
        assert!((found - 0.5 * share).abs() < 1e-5, "{found} {share}");
    }
    // in the square from (0.5, −1) to (1.5, 0) the diagonal rises from the lower left to the upper right corner
    let corners = [22.0, 24.0, 12.0, 13.0].map(|h| 0.5 * h / 24.0);
    let middle = height(&model, 1.0, -0.5).expect("over the ground");
    assert!((middle - 0.5 * (corners[0] + corners[3])).abs() < 1e-9, "{middle}");
    assert_eq!(height(&model, 1.6, 0.0), None);
}

#[test]
fn a_ball_lies_on_a_height_field_of_a_file() {
    let model = load_mjcf_str("hills.xml", HILLS, &LoadOptions::default()).unwrap();
    let mut set = ContactSet::new(&model);
    let at = |z: f64| [Pose::IDENTITY, Pose::translation(vec3(0.4, 0.3, z))];
    let ground = height(&model, 0.4, 0.3).expect("over the ground");
    detect(&model, &at(ground + 0.04), &mut set).unwrap();
    let [contact] = set.contacts() else { panic!("{} contacts", set.contacts().len()) };
    assert!(contact.normal().z > 0.8 && contact.distance < -0.01 && contact.distance > -0.05);
    detect(&model, &at(ground + 0.1), &mut set).unwrap();
    assert!(set.contacts().is_empty());
}

#[test]
fn height_fields_survive_writing() {
    let model = load_mjcf_str("hills.xml", HILLS, &LoadOptions::default()).unwrap();
    let again = load_mjcf_str("again.xml", &to_mjcf(&model), &LoadOptions::default()).unwrap();
    let (a, b) = (&model.fields()[0], &again.fields()[0]);
    assert_eq!((&a.name, a.rows, a.columns, a.half_size, a.base), (&b.name, b.rows, b.columns, b.half_size, b.base));
    assert!(a.heights.iter().zip(&b.heights).all(|(x, y)| (x - y).abs() < 1e-15));
    assert_eq!(model.geoms()[0].shape, again.geoms()[0].shape);
}

#[test]
fn ground_on_a_moving_body_is_refused() {
    let moving = HILLS.replace(
        "<body pos=\"0 0 -0.1\">",
        "<body name=\"ship\"><freejoint/><inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>",
    );
    match load_mjcf_str("ship.xml", &moving, &LoadOptions::default()) {
        Err(LoadError::Model { error: BuildError::MovingTerrain { geom, body }, .. }) => {
            assert_eq!((geom.as_str(), body.as_str()), ("ground", "ship"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_mesh_named_as_terrain_keeps_its_hollow() {
    let hull = load_mjcf_str("pit.xml", PIT, &LoadOptions::default()).unwrap();
    assert!(height(&hull, 0.0, 0.0).expect("a lid").abs() < 1e-9);
    for name in ["pit", "bottom"] {
        let model = load_mjcf_str("pit.xml", PIT, &terrain(&[name])).unwrap();
        assert!((height(&model, 0.0, 0.0).expect("the bottom") + 0.5).abs() < 1e-9);
        let (text, losses) = to_mjcf_with_warnings(&model);
        assert_eq!(losses.len(), 1);
        let again = load_mjcf_str("again.xml", &text, &terrain(&["bottom"])).unwrap();
        assert!((height(&again, 0.0, 0.0).expect("the bottom") + 0.5).abs() < 1e-9);
    }
    let error = load_mjcf_str("pit.xml", PIT, &terrain(&["moon"])).unwrap_err().to_string();
    assert!(error.contains("'moon'"), "{error}");
}

#[test]
fn a_urdf_may_have_ground_of_triangles_too() {
    let folder = std::env::temp_dir().join(format!("slipstick-terrain-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let obj = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv 0 0 -0.5\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n";
    std::fs::write(folder.join("pit.obj"), obj).unwrap();
    let urdf = r#"<robot name="pit"><link name="base"><collision><geometry><mesh filename="pit.obj"/></geometry></collision></link></robot>"#;
    let file = folder.join("pit.urdf").display().to_string();
    let model = load_urdf_str(&file, urdf, &terrain(&["pit"])).unwrap();
    assert!((height(&model, 0.0, 0.0).expect("the bottom") + 0.5).abs() < 1e-9);
    std::fs::remove_dir_all(&folder).unwrap();
}
