use super::*;
use slipstick_core::spatial::{Quat, vec3};
use std::path::PathBuf;
use std::time::SystemTime;

/// An empty folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("slipstick-physics-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A cube of edge two with a pit from the middle of its upper side to its center.
const PITTED: &str = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\nv 0 0 0
f 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\nf 5 6 9\nf 6 7 9\nf 7 8 9\nf 8 5 9\n";

fn recipe(store: Store) -> Recipe {
    Recipe {
        reference: Pose::IDENTITY,
        scale: vec3(1.0, 1.0, 1.0),
        like_mujoco: false,
        decompose: false,
        max_corners: None,
        format: None,
        store,
        limits: Limits::default(),
    }
}

#[test]
fn each_rule_weighs_a_pitted_cube_in_its_own_way() {
    let dir = folder("rules");
    std::fs::write(dir.join("pit.obj"), PITTED).unwrap();
    let mesh = load(&dir.join("pit.obj"), &recipe(Store::off())).unwrap();
    let volume = |rule| mesh.solid(rule).unwrap().volume;
    // the pit is a pyramid of 2 × 2 × 1 / 3
    assert!((volume(MassRule::Exact) - (8.0 - 4.0 / 3.0)).abs() < 1e-13);
    assert!((volume(MassRule::Convex) - 8.0).abs() < 1e-13);
    assert!((volume(MassRule::Shell) - (20.0 + 4.0 * 2f64.sqrt())).abs() < 1e-13);
    assert!(volume(MassRule::Legacy) >= volume(MassRule::Exact));
    let shapes = mesh.shapes.unwrap();
    assert_eq!((shapes.len(), shapes[0].vertices.len(), shapes[0].triangles.len()), (1, 8, 12));
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn the_cache_answers_for_the_same_bytes_scale_and_options_only() {
    let dir = folder("cache");
    let (file, store) = (dir.join("pit.obj"), Store::at(dir.join("cache")));
    std::fs::write(&file, PITTED).unwrap();
    let entries = || std::fs::read_dir(dir.join("cache")).map_or(0, Iterator::count);
    let first = load(&file, &recipe(store.clone())).unwrap();
    assert_eq!(entries(), 1);
    assert_eq!(load(&file, &recipe(store.clone())).unwrap(), first);
    assert_eq!(entries(), 1);
    let mirrored = Recipe { scale: vec3(1.0, -1.0, 1.0), ..recipe(store.clone()) };
    let split = Recipe { decompose: true, ..recipe(store.clone()) };
    let single = Recipe { like_mujoco: true, ..recipe(store.clone()) };
    let few = Recipe { max_corners: Some(6), ..recipe(store.clone()) };
    let moved = Recipe { reference: Pose::translation(vec3(1.0, 0.0, 0.0)), ..recipe(store.clone()) };
    for (k, other) in [mirrored, split, single, few, moved].iter().enumerate() {
        let made = load(&file, other).unwrap();
        assert_eq!(entries(), k + 2);
        assert_eq!(load(&file, other).unwrap(), made);
        assert_eq!(made, load(&file, &Recipe { store: Store::off(), ..other.clone() }).unwrap());
    }
    std::fs::write(&file, PITTED.replace("v 0 0 0", "v 0 0 0.5")).unwrap();
    assert_ne!(load(&file, &recipe(store)).unwrap(), first);
    assert_eq!(entries(), 7);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2, "nothing beside the model");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn entries_are_used_and_damaged_ones_are_made_again() {
    let dir = folder("damaged");
    let (file, store) = (dir.join("pit.obj"), Store::at(dir.join("cache")));
    std::fs::write(&file, PITTED).unwrap();
    let first = load(&file, &recipe(store.clone())).unwrap();
    let entry = std::fs::read_dir(dir.join("cache")).unwrap().next().unwrap().unwrap().path();
    let modified = || std::fs::metadata(&entry).unwrap().modified().unwrap();
    let long_ago = SystemTime::UNIX_EPOCH;
    std::fs::File::options().write(true).open(&entry).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(load(&file, &recipe(store.clone())).unwrap(), first);
    assert_eq!(modified(), long_ago, "a good entry is read, not written");
    std::fs::write(&entry, b"garbage").unwrap();
    assert_eq!(load(&file, &recipe(store.clone())).unwrap(), first);
    assert!(std::fs::metadata(&entry).unwrap().len() > 100, "a bad entry is replaced");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_mirrored_mesh_has_an_outward_hull() {
    let dir = folder("mirror");
    std::fs::write(dir.join("pit.obj"), PITTED).unwrap();
    let scale = vec3(-2.0, 1.0, 0.5);
    let mesh = load(&dir.join("pit.obj"), &Recipe { scale, ..recipe(Store::off()) }).unwrap();
    assert!((mesh.solid(MassRule::Exact).unwrap().volume - (8.0 - 4.0 / 3.0)).abs() < 1e-13);
    let hull = &mesh.shapes.as_ref().unwrap()[0];
    assert!((solid_exact(&hull.vertices, &hull.triangles).unwrap().volume - 8.0).abs() < 1e-13);
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn meshes_without_volume_are_refused_by_file() {
    let dir = folder("flat");
    let flat = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 4 3\n";
    let few = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 1 0\nf 1 2 3\n";
    for (text, part) in
        [(flat, "lie in one plane"), (few, "fewer than 4 different vertices"), ("# empty", "fewer than 4")]
    {
        std::fs::write(dir.join("sheet.obj"), text).unwrap();
        let error = load_shapes(&dir.join("sheet.obj"), &recipe(Store::off())).unwrap_err();
        assert!(matches!(error, LoadError::Structure { .. }));
        let error = error.to_string();
        assert!(error.contains("sheet.obj: expected a mesh with a volume") && error.contains(part), "{error}");
    }
    // a sheet weighs something as a shell all the same
    std::fs::write(dir.join("sheet.obj"), flat).unwrap();
    let sheet = load(&dir.join("sheet.obj"), &recipe(Store::off())).unwrap();
    assert!((sheet.solid(MassRule::Shell).unwrap().volume - 1.0).abs() < 1e-15);
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn points_without_faces_stand_for_their_hull() {
    let dir = folder("points");
    let points: String = PITTED.lines().filter(|l| l.starts_with('v')).map(|l| format!("{l}\n")).collect();
    std::fs::write(dir.join("points.obj"), points).unwrap();
    let mesh = load(&dir.join("points.obj"), &recipe(Store::off())).unwrap();
    assert!((mesh.solid(MassRule::Legacy).unwrap().volume - 8.0).abs() < 1e-13);
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn vertices_that_no_triangle_uses_count_for_mujoco_only() {
    let dir = folder("loose");
    std::fs::write(dir.join("pit.obj"), format!("{PITTED}v 0 0 5\n")).unwrap();
    let corners = |like_mujoco| {
        let mesh = load(&dir.join("pit.obj"), &Recipe { like_mujoco, ..recipe(Store::off()) }).unwrap();
        mesh.shapes.unwrap()[0].vertices.len()
    };
    assert_eq!((corners(false), corners(true)), (8, 9));
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn the_reference_frame_comes_before_the_scale() {
    let dir = folder("reference");
    std::fs::write(dir.join("pit.obj"), PITTED).unwrap();
    let quarter_turn = Quat::exp(vec3(0.0, 0.0, std::f64::consts::FRAC_PI_2)); // x of the frame is y of the file
    let reference = Pose::new(vec3(0.0, 3.0, 0.0), quarter_turn);
    let mesh = load(&dir.join("pit.obj"), &Recipe { reference, scale: vec3(10.0, 1.0, 1.0), ..recipe(Store::off()) });
    let center = mesh.unwrap().solid(MassRule::Convex).unwrap().center;
    assert!((center - vec3(-30.0, 0.0, 0.0)).norm() < 1e-12, "{center:?}");
    std::fs::remove_dir_all(dir).unwrap();
}
