//! Mesh files of every kind, and those of real robots.

use slipstick_core::spatial::{Vec3, vec3};
use slipstick_io::{LoadError, LoadOptions, load_mesh_file, load_with};
use std::path::{Path, PathBuf};

/// Where robots lie, if they are there at all.
fn robots() -> Option<PathBuf> {
    let folder = std::env::var_os("SLIPSTICK_MODELS").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| super::repository().join("../shared/models"));
    if folder.is_dir() {
        return Some(folder);
    }
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "skipped: no robots in {}", folder.display());
    None
}

fn options() -> LoadOptions {
    let mut options = LoadOptions::default();
    options.cache = false;
    options
}

/// How far points reach in a direction.
fn support(points: &[Vec3], d: Vec3) -> f64 {
    points.iter().map(|p| p.dot(d)).fold(f64::MIN, f64::max)
}

/// 10,000 directions that cover the sphere evenly (a spiral of golden angles).
fn directions() -> Vec<Vec3> {
    let direction = |k: u32| {
        let (z, turn) = (1.0 - (2.0 * f64::from(k) + 1.0) / 10_000.0, 2.399963229728653 * f64::from(k));
        let r = (1.0 - z * z).sqrt();
        vec3(r * turn.cos(), r * turn.sin(), z)
    };
    (0..10_000).map(direction).collect()
}

/// Corners of hulls as qhull counts them.
const UR5: &[(&str, usize, usize)] = &[
    ("base", 283, 96),
    ("shoulder", 341, 163),
    ("upperarm", 598, 171),
    ("forearm", 537, 220),
    ("wrist1", 355, 174),
    ("wrist2", 355, 180),
    ("wrist3", 233, 72),
];
const H1: &[(&str, usize)] = &[
    ("pelvis", 1020),
    ("left_ankle_link", 918),
    ("right_ankle_link", 918),
    ("left_shoulder_roll_link", 733),
    ("right_shoulder_roll_link", 733),
    ("left_hip_yaw_link", 640),
    ("right_hip_yaw_link", 640),
    ("torso_link", 541),
    ("logo_link", 74),
];

/// The hull in a model has the support of the points in the file, to 1e-9 of their size.
fn same_support(file: &Path, hull: &[Vec3]) {
    let raw = load_mesh_file(file, vec3(1.0, 1.0, 1.0)).unwrap().vertices;
    let size = raw.iter().map(|p| (*p - raw[0]).norm()).fold(0.0, f64::max);
    for d in directions() {
        let gap = (support(&raw, d) - support(hull, d)).abs();
        assert!(gap <= 1e-9 * size, "{}: {gap:e} m", file.display());
    }
}

#[test]
fn hulls_of_the_ur5_have_the_corners_that_qhull_finds() {
    let Some(robots) = robots() else { return };
    let folder = robots.join("ur5/example-robot-data/robots/ur_description");
    let model = load_with(folder.join("urdf/ur5_robot.urdf"), &options()).unwrap();
    assert_eq!(model.meshes().len(), 7);
    for (name, raw, corners) in UR5 {
        let file = folder.join(format!("meshes/ur5/collision/{name}.stl"));
        assert_eq!(load_mesh_file(&file, vec3(1.0, 1.0, 1.0)).unwrap().vertices.len(), *raw);
        let mesh = model.meshes().iter().find(|m| m.name == *name).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (*corners, 2 * corners - 4), "{name}");
        same_support(&file, &mesh.vertices);
    }
}

#[test]
fn hulls_of_the_h1_have_the_corners_that_qhull_finds() {
    let Some(robots) = robots() else { return };
    let folder = robots.join("h1/unitree_ros/h1_description");
    let model = load_with(folder.join("urdf/h1_paper.urdf"), &options()).unwrap();
    assert_eq!(model.meshes().len(), 21);
    let total: usize = model.meshes().iter().map(|m| m.vertices.len()).sum();
    assert_eq!((total as f64 / 21.0).round(), 544.0);
    for (name, corners) in H1 {
        let mesh = model.meshes().iter().find(|m| m.name == *name).unwrap();
        assert_eq!(mesh.vertices.len(), *corners, "{name}");
    }
    // the smallest and the largest; all of them would take a minute
    for name in ["logo_link", "right_elbow_link"] {
        let mesh = model.meshes().iter().find(|m| m.name == name).unwrap();
        same_support(&folder.join(format!("meshes/{name}.STL")), &mesh.vertices);
    }
}

#[test]
fn collada_and_stl_of_the_same_part_agree() {
    let Some(robots) = robots() else { return };
    let folder = robots.join("h1/unitree_ros/h1_description/meshes");
    let one = vec3(1.0, 1.0, 1.0);
    for name in ["left_ankle_link", "logo_link"] {
        let read = |ending: &str| load_mesh_file(folder.join(format!("{name}.{ending}")), one).unwrap().vertices;
        let (dae, stl) = (read("dae"), read("STL"));
        for d in Vec3::UNITS.into_iter().chain(Vec3::UNITS.map(|d| -d)) {
            assert!((support(&dae, d) - support(&stl, d)).abs() < 1e-4, "{name}");
        }
    }
}

/// An empty folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// An L of two bars of 3 × 1 × 1 that share a cube, and an inner point that no face uses.
const ANGLE: &str = "v 0 0 0\nv 3 0 0\nv 3 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\nv 0 0 1\nv 3 0 1\nv 3 1 1\nv 1 1 1\nv 1 3 1
v 0 3 1\nv 0.5 0.5 0.5\nf 6 5 4 1\nf 4 3 2 1\nf 7 10 11 12\nf 7 8 9 10\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11
f 6 1 7 12\n";

#[test]
fn a_model_holds_the_hull_and_weighs_the_raw_mesh() {
    let dir = folder("mesh_rules");
    std::fs::write(dir.join("angle.obj"), ANGLE).unwrap();
    // volume of the L and of its hull; area of its surface
    for (rule, mass) in [("exact", 5.0), ("convex", 7.0), ("shell", 22.0)] {
        let xml = format!(
            "<mujoco><asset><mesh name='m' file='angle.obj' inertia='{rule}' scale='1 -1 1'/></asset><worldbody><body>
             <freejoint/><geom type='mesh' mesh='m' density='1'/></body></worldbody></mujoco>"
        );
        std::fs::write(dir.join("angle.xml"), xml).unwrap();
        let model = load_with(dir.join("angle.xml"), &options()).unwrap();
        assert!((model.inertias()[1].mass - mass).abs() < 1e-12, "{rule}: {}", model.inertias()[1].mass);
        assert_eq!((model.meshes()[0].vertices.len(), model.meshes()[0].triangles.len()), (10, 16));
    }
    let bad = "<mujoco><asset><mesh name='m' file='angle.obj' inertia='soft'/></asset><worldbody><body><freejoint/>
               <geom type='mesh' mesh='m'/></body></worldbody></mujoco>";
    std::fs::write(dir.join("angle.xml"), bad).unwrap();
    let error = load_with(dir.join("angle.xml"), &options()).unwrap_err().to_string();
    assert!(error.contains("inertia: expected one of legacy, exact, convex, shell"), "{error}");
}

#[test]
fn a_mesh_is_split_on_request_only() {
    let dir = folder("mesh_split");
    std::fs::write(dir.join("angle.obj"), ANGLE).unwrap();
    let collision = "<collision><geometry><mesh filename='angle.obj'/></geometry></collision>";
    std::fs::write(dir.join("a.urdf"), format!("<robot name='r'><link name='a'>{collision}</link></robot>")).unwrap();
    let xml = "<mujoco><asset><mesh file='angle.obj'/></asset><worldbody><geom name='g' type='mesh' mesh='angle'/>
               </worldbody></mujoco>";
    std::fs::write(dir.join("a.xml"), xml).unwrap();
    for file in ["a.urdf", "a.xml"] {
        let whole = load_with(dir.join(file), &options()).unwrap();
        assert_eq!((whole.geoms().len(), whole.meshes().len()), (1, 1));
        let mut options = options();
        options.decompose = true;
        let split = load_with(dir.join(file), &options);
        if cfg!(not(feature = "decompose")) {
            let refused = |e| matches!(e, LoadError::Feature { option: "decompose", feature: "decompose", .. });
            assert!(split.is_err_and(refused));
            continue;
        }
        let split = split.unwrap();
        let parts = split.meshes().len();
        assert!(parts > 1 && split.geoms().len() == parts, "{parts} parts");
        let note = format!("mesh 'angle' was split into {parts} convex parts");
        assert!(split.notes().contains(&note), "{:?}", split.notes());
        assert!(split.geoms()[1].name.ends_with("_part2"));
    }
}

#[test]
fn a_flat_mesh_is_refused_by_the_name_of_its_file() {
    let dir = folder("mesh_flat");
    std::fs::write(dir.join("sheet.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 4 3\n").unwrap();
    let collision = "<collision><geometry><mesh filename='sheet.obj'/></geometry></collision>";
    std::fs::write(dir.join("a.urdf"), format!("<robot name='r'><link name='a'>{collision}</link></robot>")).unwrap();
    let xml = "<mujoco><asset><mesh file='sheet.obj'/></asset><worldbody><geom type='mesh' mesh='sheet'/></worldbody></mujoco>";
    std::fs::write(dir.join("a.xml"), xml).unwrap();
    for file in ["a.urdf", "a.xml"] {
        let error = load_with(dir.join(file), &options()).unwrap_err().to_string();
        assert!(error.contains("sheet.obj: expected a mesh with a volume, got a flat one"), "{error}");
    }
}
