//! The robots that are compiled in.

use slipstick::files::BuiltinError;
use slipstick::{State, builtin, builtin_names};

/// Names in `models/`, read at test time: a file that nobody embedded is found.
fn files() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models");
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut names: Vec<String> = entries
        .filter(|p| p.extension().is_some_and(|e| e == "xml"))
        .map(|p| p.file_stem().unwrap().to_str().unwrap().to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn every_file_of_the_models_folder_is_built_in() {
    let mut names: Vec<&str> = builtin_names().collect();
    names.sort_unstable();
    assert_eq!(names, files());
}

#[test]
fn every_robot_loads_under_its_name_without_warnings_and_has_a_home() {
    for name in builtin_names() {
        let model = builtin(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(model.name(), name);
        assert!(model.warnings().is_empty(), "{name}: {:?}", model.warnings());
        let home = State::keyframe(&model, "home").unwrap();
        assert_eq!((home.q.len(), home.v.len()), (model.nq(), model.nv()), "{name}");
    }
}

/// The columns nq, nv, nu and mass of `models/README.md`.
#[test]
fn sizes_and_masses_are_those_of_the_readme() {
    let readme = include_str!("../models/README.md");
    let rows = readme.lines().filter(|line| line.starts_with("| ")).skip(1);
    let mut n_rows = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let model = builtin(cells[1]).unwrap();
        let sizes = [model.nq(), model.nv(), model.nu()].map(|n| n.to_string());
        assert_eq!(sizes, [cells[2], cells[3], cells[4]], "{}", cells[1]);
        assert_eq!(format!("{:.3}", model.total_mass()), cells[5], "{}", cells[1]);
        n_rows += 1;
    }
    assert_eq!(n_rows, builtin_names().count());
}

#[test]
fn a_name_that_no_robot_has_is_refused_with_the_names_there_are() {
    let error = builtin("nope").unwrap_err();
    assert_eq!(error, BuiltinError::UnknownName { name: "nope".into() });
    let text = error.to_string();
    assert!(text.contains("'nope'") && builtin_names().all(|name| text.contains(name)), "{text}");
}
