//! Geoms that overlap at the start, and mocap bodies in files.

use slipstick_core::Model;
use slipstick_io::{LoadError, LoadOptions, OverlapChoice, load_mjcf_str, overlaps, to_mjcf, to_urdf};

const BASE: &str = r#"<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1"/>
    <body name="base" pos="0 0 0.01"><joint axis="0 0 1"/><geom name="hull" type="box" size="0.1 0.1 0.05"/></body></worldbody>
    <keyframe><key name="home" qpos="1"/></keyframe></mujoco>"#;

fn load(xml: &str, overlap: OverlapChoice) -> Result<Model, LoadError> {
    let mut options = LoadOptions::default();
    options.overlap = overlap;
    load_mjcf_str("robot.xml", xml, &options)
}

#[test]
fn a_base_in_the_floor_is_found_warned_of_excluded_or_refused() {
    let model = load(BASE, OverlapChoice::Keep).unwrap();
    let found = overlaps(&model).unwrap();
    assert!(found.len() == 1 && found[0].always && (found[0].depth - 0.04).abs() < 1e-9, "{found:?}");
    assert_eq!(found[0].poses, ["", "home"]);
    assert_eq!(model.warnings().len(), 1);
    let without = load(BASE, OverlapChoice::Exclude).unwrap();
    assert!(without.pairs().is_empty() && without.warnings().is_empty());
    assert!(to_mjcf(&without).contains(r#"<exclude body1="world" body2="base"/>"#));
    let error = load(BASE, OverlapChoice::Error).unwrap_err();
    assert!(matches!(&error, LoadError::Overlap { pairs, .. } if pairs.len() == 1), "{error}");
    assert!(error.to_string().ends_with("got 1: 'floor' and 'hull' (40.0 mm, in every pose)"), "{error}");
}

#[test]
fn contacts_at_rest_do_not_count() {
    let resting = BASE.replace("0 0 0.01", "0 0 0.046");
    let model = load(&resting, OverlapChoice::Error).unwrap();
    assert!(overlaps(&model).unwrap().is_empty());
}

#[test]
fn mocap_bodies_are_read_and_written() {
    let xml = r#"<mujoco><worldbody><body name="target" mocap="true" pos="1 2 3" quat="0 1 0 0"><geom name="tip" size="0.1"/>
        </body><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody>
        <keyframe><key name="there" mpos="4 5 6" mquat="0 0 3 0"/></keyframe></mujoco>"#;
    let model = load(xml, OverlapChoice::Keep).unwrap();
    assert!(model.warnings().is_empty() && model.n_mocap() == 1);
    let expected = [1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0];
    assert!(model.mocap_poses().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{:?}", model.mocap_poses());
    assert_eq!(model.keyframes()[0].mocap, [4.0, 5.0, 6.0, 0.0, 0.0, 3.0, 0.0]);
    let again = load(&to_mjcf(&model), OverlapChoice::Keep).unwrap();
    assert!(again.mocap_poses().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
    assert_eq!(again.keyframes(), model.keyframes());
    let losses = to_urdf(&model).1;
    assert!(losses.iter().any(|w| w.effect.contains("mocap") && w.what.contains("target")), "{losses:?}");
    for bad in ["mpos=\"1 2 3 4\"", "mquat=\"nan 0 0 0\"", "mpos=\"x\""] {
        assert!(
            load(&xml.replace("mpos=\"4 5 6\"", "").replace("mquat=\"0 0 3 0\"", bad), OverlapChoice::Keep).is_err()
        );
    }
}
