//! Files beside each other: includes, meshes, packages.

use slipstick_core::model::Shape;
use slipstick_io::{LoadOptions, load, load_with};
use std::path::{Path, PathBuf};

/// An empty folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A tetrahedron with three edges of length one along the axes.
const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

#[test]
fn included_files_are_found_beside_the_main_file_or_beside_each_other() {
    let dir = folder("include");
    write(
        &dir.join("main.xml"),
        "<mujoco><include file='parts/robot.xml'/><worldbody><include file='ball.xml'/></worldbody></mujoco>",
    );
    write(
        &dir.join("ball.xml"),
        "<mujocoinclude><geom name='first' size='1'/><geom name='second' size='1'/></mujocoinclude>",
    );
    write(&dir.join("parts/robot.xml"), "<mujoco><include file='leg.xml'/></mujoco>");
    write(
        &dir.join("parts/leg.xml"),
        "<mujoco><worldbody><body name='leg'><joint/><geom size='1'/></body></worldbody></mujoco>",
    );
    let model = load(dir.join("main.xml")).unwrap();
    assert_eq!((model.nv(), model.geoms().len()), (1, 3));
}

/// The largest coordinate of the only mesh of a robot whose asset is named in `parts/mesh.xml`, as MuJoCo 4.0 finds it.
fn largest(dir: &Path, compiler: &str) -> Result<f64, String> {
    let body = "<worldbody><geom type='mesh' mesh='tetra'/></worldbody>";
    write(&dir.join("main.xml"), &format!("<mujoco>{compiler}<include file='parts/mesh.xml'/>{body}</mujoco>"));
    let asset = "<mujoco><asset><mesh file='shapes/tetra.obj'/></asset></mujoco>";
    write(&dir.join("parts/mesh.xml"), asset);
    let model = load(dir.join("main.xml")).map_err(|e| e.to_string())?;
    Ok(model.meshes()[0].vertices.iter().flat_map(|v| v.to_array()).fold(0.0, f64::max))
}

#[test]
fn meshes_are_found_beside_the_main_file_or_beside_the_included_file_that_names_them() {
    let dir = folder("include_mesh");
    let meshdir = "<compiler meshdir='assets'/>";
    let put = |file: &str, size: usize| {
        let (vertices, faces) = TETRAHEDRON.split_at(TETRAHEDRON.find('f').unwrap());
        write(&dir.join(file), &(vertices.replace('1', &size.to_string()) + faces));
    };
    let error = largest(&dir, meshdir).unwrap_err();
    assert!(error.contains("assets/shapes/tetra.obj and ") && error.contains("parts/shapes/tetra.obj: "), "{error}");
    put("parts/assets/shapes/tetra.obj", 2);
    put("shapes/tetra.obj", 3);
    assert!(largest(&dir, meshdir).is_err(), "meshdir belongs to the main file's folder, and replaces it");
    put("parts/shapes/tetra.obj", 4);
    assert_eq!(largest(&dir, meshdir), Ok(4.0));
    assert_eq!(largest(&dir, ""), Ok(3.0), "the main file's folder comes first");
    put("assets/shapes/tetra.obj", 5);
    assert_eq!(largest(&dir, meshdir), Ok(5.0));
    std::fs::remove_file(dir.join("assets/shapes/tetra.obj")).unwrap();
    let error = largest(&dir, "<compiler meshdir='assets' strippath='true'/>").unwrap_err();
    assert!(error.contains("assets/tetra.obj: "), "stripped paths are looked for in one place: {error}");
}

#[test]
fn an_attached_model_brings_the_meshes_of_its_included_files() {
    let dir = folder("attach_include_mesh");
    write(
        &dir.join("main.xml"),
        "<mujoco><asset><model name='m' file='arm/arm.xml'/></asset>
         <worldbody><attach model='m' prefix='a_'/></worldbody></mujoco>",
    );
    write(
        &dir.join("arm/arm.xml"),
        "<mujoco><include file='parts/mesh.xml'/><worldbody><geom type='mesh' mesh='tetra'/></worldbody></mujoco>",
    );
    write(&dir.join("arm/parts/mesh.xml"), "<mujoco><asset><mesh file='tetra.obj'/></asset></mujoco>");
    write(&dir.join("arm/parts/tetra.obj"), TETRAHEDRON);
    assert_eq!(load(dir.join("main.xml")).unwrap().meshes()[0].name, "a_tetra");
}

#[test]
fn errors_in_included_files_name_those_files() {
    let dir = folder("include_error");
    write(&dir.join("main.xml"), "<mujoco>\n<include file='bad.xml'/></mujoco>");
    write(&dir.join("bad.xml"), "<mujoco>\n\n<option timestep='-1'/></mujoco>");
    let error = load(dir.join("main.xml")).unwrap_err();
    assert!(error.place().file.ends_with("bad.xml") && error.place().line == 3, "{error}");
}

#[test]
fn files_that_include_themselves_are_refused() {
    let dir = folder("include_cycle");
    write(&dir.join("a.xml"), "<mujoco><include file='b.xml'/></mujoco>");
    write(&dir.join("b.xml"), "<mujoco><include file='./a.xml'/></mujoco>");
    let error = load(dir.join("a.xml")).unwrap_err().to_string();
    assert!(error.contains("expected a file that is not included yet, got './a.xml'"), "{error}");
}

#[test]
fn the_mass_of_a_mesh_is_that_of_its_volume() {
    let dir = folder("mesh");
    write(&dir.join("assets/tetra.obj"), TETRAHEDRON);
    let xml = "<mujoco><compiler meshdir='assets'/><asset><mesh file='tetra.obj' scale='2 -1 1'/></asset><worldbody>
               <body><joint/><geom type='mesh' mesh='tetra' density='6' pos='1 0 0'/></body></worldbody></mujoco>";
    write(&dir.join("main.xml"), xml);
    let model = load(dir.join("main.xml")).unwrap();
    let body = model.inertias()[1];
    assert!((body.mass - 2.0).abs() < 1e-14);
    assert!((body.com.x - 1.5).abs() < 1e-14 && (body.com.y + 0.25).abs() < 1e-14);
    assert_eq!(model.meshes()[0].vertices.len(), 4);
    assert!(matches!(model.geoms()[0].shape, Shape::Mesh { .. }));
}

#[test]
fn packages_are_found_above_the_file_or_where_the_caller_says() {
    let dir = folder("packages");
    let robot = "<robot name='r'><link name='a'><collision><geometry><mesh filename='package://gripper/meshes/t.obj'/>
                 </geometry></collision></link></robot>";
    write(&dir.join("gripper/meshes/t.obj"), TETRAHEDRON);
    write(&dir.join("gripper/urdf/inside.urdf"), robot);
    assert_eq!(load(dir.join("gripper/urdf/inside.urdf")).unwrap().meshes().len(), 1);
    std::fs::rename(dir.join("gripper"), dir.join("elsewhere")).unwrap();
    write(&dir.join("out/robot.urdf"), robot);
    let error = load(dir.join("out/robot.urdf")).unwrap_err().to_string();
    assert!(error.contains("was not found; looked for") && error.contains("package_dirs"), "{error}");
    std::fs::create_dir_all(dir.join("elsewhere/in")).unwrap();
    std::fs::rename(dir.join("elsewhere/meshes"), dir.join("elsewhere/in/meshes")).unwrap();
    std::fs::rename(dir.join("elsewhere/in"), dir.join("elsewhere/gripper")).unwrap();
    let mut options = LoadOptions::default();
    for place in ["elsewhere", "elsewhere/gripper"] {
        options.package_dirs = vec![dir.join(place)];
        assert_eq!(load_with(dir.join("out/robot.urdf"), &options).unwrap().meshes().len(), 1);
    }
}

#[test]
fn other_formats_are_refused_by_name() {
    let dir = folder("formats");
    write(&dir.join("a.sdf"), "<?xml version='1.0'?><sdf version='1.9'/>");
    write(&dir.join("b.txt"), "hello");
    for (file, part) in [
        ("a.sdf", "got SDF; convert it to URDF or MJCF first"),
        ("scene.usda", "got USD; convert it to URDF or MJCF first"),
        ("robot.xacro", "got a xacro macro file; expand it first"),
        ("b.txt", "not well-formed XML"),
        ("none_such.xml", "cannot read the file"),
    ] {
        let error = load(dir.join(file)).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains(file), "{error}");
    }
}
