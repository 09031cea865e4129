//! Which geoms may touch: rules and lists. The robots are those of the shared folder, where it is present.

use crate::robots::shared_models;
use crate::{mjcf, repository};
use slipstick_core::Model;
use slipstick_core::model::{GeomId, PairRule};
use slipstick_io::{LoadError, LoadOptions, PairChoice, load_mjcf_str, load_with};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const UR5: &str = "ur5/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf";
const GO1: &str = "go1/example-robot-data/robots/go1_description/urdf/go1.urdf";
const H1: &str = "h1/unitree_ros/h1_description/urdf/h1_paper.urdf";
const ATLAS: &str = "atlas/roboschool/atlas_v4_with_multisense.urdf";

fn options(pairs: PairChoice, free_root: bool, ground: bool) -> LoadOptions {
    let mut options = LoadOptions::default();
    (options.pairs, options.free_root, options.ground) = (pairs, free_root, ground);
    options
}

fn pairs(model: &Model) -> BTreeSet<[GeomId; 2]> {
    model.pairs().iter().map(|p| p.geoms).collect()
}

/// Pairs by rule and pairs of the list in `paper_pairs.json`, as numbers of geoms of the same robot.
fn by_rule_and_by_list(
    folder: &Path,
    file: &str,
    free: bool,
    ground: bool,
) -> (Model, BTreeSet<[GeomId; 2]>, BTreeSet<[GeomId; 2]>) {
    let load = |choice| load_with(folder.join(file), &options(choice, free, ground)).unwrap_or_else(|e| panic!("{e}"));
    let list = folder.join(file.split('/').next().unwrap_or_default()).join("paper_pairs.json");
    let (rule, listed) = (load(PairChoice::Paper), load(PairChoice::File(list)));
    assert_eq!(rule.pair_rule(), &PairRule::Paper);
    let (a, b) = (pairs(&rule), pairs(&listed));
    (rule, a, b)
}

#[test]
fn the_papers_rule_gives_exactly_the_papers_lists() {
    let Some(folder) = shared_models() else { return };
    let cases =
        [("half_cheetah/half_cheetah.xml", 27), ("half_cheetah/paper_scene.xml", 27), ("humanoid/humanoid.xml", 161)];
    for (file, n) in cases {
        let (_, rule, list) = by_rule_and_by_list(&folder, file, false, false);
        assert_eq!(rule.len(), n, "{file}");
        assert_eq!(rule, list, "{file}");
    }
    // H1 has 259 and Atlas 3415 before those nearer than 1 cm in the neutral configuration are left out
    for (file, n) in [(GO1, 494), (H1, 255), (ATLAS, 3399)] {
        let (_, rule, list) = by_rule_and_by_list(&folder, file, true, true);
        assert_eq!(rule.len(), n, "{file}");
        assert_eq!(rule, list, "{file}");
    }
}

#[test]
fn the_arms_list_lacks_the_one_pair_of_floor_and_first_link() {
    let Some(folder) = shared_models() else { return };
    let (model, rule, list) = by_rule_and_by_list(&folder, UR5, false, true);
    assert_eq!((rule.len(), list.len()), (27, 26));
    let names: Vec<_> = rule.difference(&list).map(|p| p.map(|g| model.geoms()[g.0].name.as_str())).collect();
    assert_eq!(names, [["floor", "shoulder_link_0"]]);
    assert!(list.is_subset(&rule));
}

/// Pairs after masks, exclusions and the tree: measured with MuJoCo (README of the models).
#[test]
fn mujocos_rule_gives_mujocos_counts() {
    let Some(folder) = shared_models() else { return };
    let cases = [
        ("half_cheetah/half_cheetah.xml", 8),
        ("half_cheetah/paper_scene.xml", 27),
        ("humanoid/humanoid.xml", 159),
        ("humanoid_gym/humanoid.xml", 126),
        ("hopper/hopper.xml", 7),
        ("walker2d/walker2d_v5.xml", 7),
        ("ant/ant.xml", 13),
        ("inverted_pendulum/inverted_pendulum.xml", 0),
        ("inverted_pendulum/inverted_double_pendulum.xml", 0),
        ("ur5e/ur5e_novisual.xml", 21),
        ("go1/menagerie/go1_novisual.xml", 655),
        ("h1/menagerie/h1_novisual.xml", 428),
    ];
    for (file, n) in cases {
        let model = load_with(folder.join(file), &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(model.pair_rule(), &PairRule::Mujoco);
        assert_eq!(model.pairs().len(), n, "{file}");
    }
    let model = load_with(folder.join(UR5), &options(PairChoice::Mujoco, false, true)).unwrap();
    assert_eq!(model.pairs().len(), 28);
    let model = load_with(folder.join(UR5), &options(PairChoice::FileDefault, false, true)).unwrap();
    assert_eq!((model.pair_rule(), model.pairs().len()), (&PairRule::Paper, 27));
}

const TWO: &str = r#"<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body><freejoint/><geom name="a" size="1"/></body><body><freejoint/><geom name="b" size="1"/></body>
  </worldbody></mujoco>"#;

/// Loads `TWO` with a list of pairs.
fn with_list(name: &str, json: &str) -> Result<Model, LoadError> {
    let path = std::env::temp_dir().join(format!("slipstick-pairs-{}-{name}.json", std::process::id()));
    std::fs::write(&path, json).unwrap();
    let model = load_mjcf_str("two.xml", TWO, &options(PairChoice::File(path.clone()), false, false));
    std::fs::remove_file(path).unwrap();
    model
}

#[test]
fn a_list_names_geoms_or_numbers_them() {
    assert_eq!(mjcf(TWO).unwrap().pairs().len(), 3);
    let cases = [
        ("names", r#"[["b", "a"]]"#, vec![[1, 2]]),
        ("numbers", "[[0, 1], [1, 0]]", vec![[0, 1]]),
        (
            "object",
            r#"{"geometries": [{"name": "b", "type": "Sphere"}, {"name": "floor"}], "pairs": [[0, 1]]}"#,
            vec![[0, 2]],
        ),
        ("empty", "[]", vec![]),
    ];
    for (name, json, expected) in cases {
        let model = with_list(name, json).unwrap_or_else(|e| panic!("{e}"));
        let got: Vec<_> = model.pairs().iter().map(|p| p.geoms.map(|g| g.0)).collect();
        assert_eq!(got, expected, "{name}");
    }
}

#[test]
fn mistakes_in_a_list_are_named() {
    let cases = [
        ("syntax", "[[", "not well-formed JSON"),
        ("kind", "3", "expected a list [[\"geom a\", \"geom b\"], …] or an object with geometries and pairs"),
        ("name", r#"[["a", "c"]]"#, "there is no geom named 'c'"),
        ("number", "[[0, 7]]", "expected a number below 3, got 7"),
        ("same", "[[1, 1]]", "expected two different geoms per pair, got [1, 1]"),
        ("three", "[[0, 1, 2]]", "expected two geoms per pair, got [0,1,2]"),
        (
            "type",
            r#"{"geometries": [{"name": "a", "type": "Box"}], "pairs": []}"#,
            "geom 'a' to be a box, got a sphere",
        ),
    ];
    for (name, json, expected) in cases {
        let error = with_list(&format!("bad-{name}"), json).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let missing = options(PairChoice::File(PathBuf::from("none/such.json")), false, false);
    let error = load_mjcf_str("two.xml", TWO, &missing).unwrap_err();
    assert!(matches!(error, LoadError::Read { .. }), "{error}");
}

#[test]
fn strict_loading_lists_every_warning() {
    let apart = TWO.replacen("<body>", "<body pos=\"0 0 2\">", 1).replacen("<body>", "<body pos=\"5 0 2\">", 1);
    let text = apart
        .replace("<worldbody>", "<option density=\"1\"/><worldbody>")
        .replace("name=\"a\"", "name=\"a\" condim=\"6\"");
    assert_eq!(mjcf(&text).unwrap().warnings().len(), 2);
    let mut strict = LoadOptions::default();
    strict.strict = true;
    let error = load_mjcf_str("two.xml", &text, &strict).unwrap_err();
    let LoadError::Strict { warnings, .. } = &error else { panic!("{error}") };
    assert_eq!(warnings.len(), 2);
    assert!(
        error.to_string().starts_with("two.xml: strict loading allows no warnings, got 2\n  two.xml:1: "),
        "{error}"
    );
    assert!(load_mjcf_str("two.xml", &apart, &strict).is_ok());
    assert!(load_with(repository().join("crates/slipstick/models/quadruped.xml"), &strict).is_ok());
}
