//! Short inputs that ask for a lot: each is refused before memory or time is spent on it, with the name of the limit.

use crate::mjcf;
use slipstick_core::{Data, Input, State, step};
use slipstick_io::{Limits, LoadError, LoadOptions, load, load_mesh_file, load_mjcf_str, load_urdf_str, load_with};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const FREE: &str = "<body pos='0 0 1'><freejoint/><geom size='.1'/></body>";

/// An empty folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The limit that stopped a load. That takes no time: what is refused was not done.
fn stopped_by<T>(load: impl FnOnce() -> Result<T, LoadError>) -> String {
    let begin = Instant::now();
    let error = load().err().expect("must be refused");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}: {error}", begin.elapsed());
    match error {
        LoadError::Limit { limit, .. } => limit.into(),
        other => other.to_string(),
    }
}

fn field(attributes: &str) -> String {
    format!(
        "<mujoco><asset><hfield name='f' {attributes} size='1 1 1 1'/></asset>
         <worldbody><geom type='hfield' hfield='f'/></worldbody></mujoco>"
    )
}

fn replicate(count: usize, inside: &str) -> String {
    format!("<mujoco><worldbody><replicate count='{count}' offset='.3 0 0'>{inside}</replicate></worldbody></mujoco>")
}

#[test]
fn height_fields_of_terabytes_are_refused() {
    assert_eq!(stopped_by(|| mjcf(&field("nrow='1048575' ncol='1048575'"))), "heights");
    assert_eq!(stopped_by(|| mjcf(&field("nrow='18446744073709551615' ncol='2'"))), "heights");
    // ten that are allowed are not allowed together
    let many: String =
        (0..10).map(|k| format!("<hfield name='f{k}' nrow='2000' ncol='2000' size='1 1 1 1'/>")).collect();
    let geoms: String = (0..10).map(|k| format!("<geom type='hfield' hfield='f{k}'/>")).collect();
    let xml = format!("<mujoco><asset>{many}</asset><worldbody>{geoms}</worldbody></mujoco>");
    let error = mjcf(&xml).unwrap_err().to_string();
    assert!(error.contains("got 2000 rows of 2000, beside 32000000 of other height fields"), "{error}");
}

#[test]
fn pictures_of_billions_of_pixels_are_refused_by_their_header() {
    let (dir, mut bomb) = (folder("limits-picture"), Vec::new());
    let mut encoder = png::Encoder::new(&mut bomb, 60_000, 60_000);
    encoder.set_color(png::ColorType::Grayscale);
    drop(encoder.write_header().unwrap());
    std::fs::write(dir.join("bomb.png"), bomb).unwrap();
    std::fs::write(dir.join("main.xml"), field("file='bomb.png'")).unwrap();
    assert_eq!(stopped_by(|| load(dir.join("main.xml"))), "heights");
}

#[test]
fn a_hundred_thousand_attributes_are_refused_before_they_are_compared() {
    let attributes: String = (0..100_000).map(|k| format!(" a{k}='1'")).collect();
    assert_eq!(
        stopped_by(|| mjcf(&format!("<mujoco><worldbody><geom{attributes}/></worldbody></mujoco>"))),
        "attributes"
    );
    assert_eq!(
        stopped_by(|| load_urdf_str("r", &format!("<robot{attributes}/>"), &LoadOptions::default())),
        "attributes"
    );
}

#[test]
fn bodies_nested_without_measure_are_refused() {
    let xml =
        format!("<mujoco><worldbody>{}{}</worldbody></mujoco>", "<body>".repeat(20_000), "</body>".repeat(20_000));
    assert_eq!(stopped_by(|| mjcf(&xml)), "depth");
}

#[test]
fn copies_of_copies_are_refused() {
    assert_eq!(stopped_by(|| mjcf(&replicate(1_000_000_000, FREE))), "elements");
    let nested = (0..6).fold(FREE.to_string(), |inside, _| format!("<replicate count='1000'>{inside}</replicate>"));
    assert_eq!(stopped_by(|| mjcf(&replicate(2, &nested))), "elements");
    let many = "<replicate count='1'><geom size='.1'/></replicate>".repeat(10_001);
    assert_eq!(stopped_by(|| mjcf(&format!("<mujoco><worldbody>{many}</worldbody></mujoco>"))), "copies");
}

#[test]
fn chains_whose_inertia_has_no_room_are_refused() {
    let link = |i: usize| {
        format!(
            "<link name='l{i}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>
             <joint name='j{i}' type='continuous'><parent link='l{}'/><child link='l{i}'/></joint>",
            i - 1
        )
    };
    let chain = |n: usize| format!("<robot name='c'><link name='l0'/>{}</robot>", (1..n).map(link).collect::<String>());
    assert_eq!(stopped_by(|| load_urdf_str("r", &chain(20_000), &LoadOptions::default())), "inertia_numbers");
    let model = load_urdf_str("r", &chain(1000), &LoadOptions::default()).unwrap();
    assert_eq!(model.nv(), 999);
}

#[test]
fn pairs_of_geoms_are_counted_before_their_list_is_made() {
    assert_eq!(stopped_by(|| mjcf(&replicate(20_000, FREE))), "pairs");
    // the same bodies, of which few may touch
    let alone = FREE.replace("size", "contype='0' conaffinity='0' size");
    let model = mjcf(&replicate(20_000, &alone)).unwrap();
    assert_eq!((model.pairs().len(), model.pair_bound()), (0, 0));
}

#[test]
fn the_bound_of_pairs_is_their_number_where_nothing_is_excluded() {
    for inside in [FREE.to_string(), format!("{FREE}<geom size='.1'/>"), FREE.replace("size", "contype='2' size")] {
        let model = mjcf(&replicate(30, &inside)).unwrap();
        assert_eq!(model.pairs().len(), model.pair_bound());
    }
}

#[test]
fn thousands_of_things_that_do_not_move_cost_nothing_beside_one_that_does() {
    let geoms: String = (0..30_000).map(|k| format!("<geom size='.01' pos='{} {} -3'/>", k % 200, k / 200)).collect();
    let begin = Instant::now();
    let model = mjcf(&format!("<mujoco><worldbody>{FREE}{geoms}</worldbody></mujoco>")).unwrap();
    assert_eq!(model.pairs().len(), 30_000);
    let (mut data, x) = (Data::new(&model), State::neutral(&model));
    let mut next = x.clone();
    step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn a_few_lines_that_place_a_mesh_thousands_of_times_are_refused() {
    let dir = folder("limits-meshes");
    let points: String = (0..20_000).map(|k| format!("{k} 0 0 ")).collect();
    let dae = format!(
        "<COLLADA><library_geometries><geometry id='g'><mesh><source id='p'><float_array id='a'>{points}</float_array></source>
         <vertices id='v'><input semantic='POSITION' source='#p'/></vertices>
         <triangles><input semantic='VERTEX' source='#v' offset='0'/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>
         <library_visual_scenes><visual_scene>{}</visual_scene></library_visual_scenes></COLLADA>",
        "<node><instance_geometry url='#g'/></node>".repeat(2000)
    );
    std::fs::write(dir.join("many.dae"), dae).unwrap();
    let one = slipstick_core::spatial::vec3(1.0, 1.0, 1.0);
    assert_eq!(stopped_by(|| load_mesh_file(dir.join("many.dae"), one)), "mesh_points");
    let nodes = vec![r#"{"mesh":0}"#; 50_000].join(",");
    let roots = (0..50_000).map(|k| k.to_string()).collect::<Vec<_>>().join(",");
    let zeros = "A".repeat(16_000); // 1000 points
    let gltf = format!(
        r#"{{"scenes":[{{"nodes":[{roots}]}}],"nodes":[{nodes}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
           "accessors":[{{"bufferView":0,"componentType":5126,"count":1000,"type":"VEC3"}}],
           "bufferViews":[{{"buffer":0,"byteLength":12000}}],"buffers":[{{"uri":"data:a;base64,{zeros}"}}]}}"#
    );
    std::fs::write(dir.join("many.gltf"), gltf).unwrap();
    assert_eq!(stopped_by(|| load_mesh_file(dir.join("many.gltf"), one)), "mesh_points");
}

#[test]
fn nodes_that_contain_themselves_a_thousand_times_do_not_fill_the_memory() {
    let dir = folder("limits-nodes");
    let children = vec!["0"; 90_000].join(",");
    let gltf = format!(r#"{{"scenes":[{{"nodes":[0]}}],"nodes":[{{"children":[{children}]}}]}}"#);
    std::fs::write(dir.join("self.gltf"), gltf).unwrap();
    let one = slipstick_core::spatial::vec3(1.0, 1.0, 1.0);
    assert!(stopped_by(|| load_mesh_file(dir.join("self.gltf"), one)).contains("contain themselves"));
}

#[test]
fn default_classes_inside_each_other_are_not_searched_without_end() {
    let nested = (0..2000).fold(String::new(), |inside, k| format!("<default class='d{k}'>{inside}</default>"));
    let xml = format!("<mujoco><default>{nested}</default><worldbody><geom class='d0' size='1'/></worldbody></mujoco>");
    assert!(mjcf(&xml).unwrap_err().to_string().contains("expected at most 1000 defaults for an element"));
}

#[test]
fn geoms_of_one_body_and_meshes_are_not_compared_with_each_other() {
    let geoms: String = (0..50_000).map(|_| "<geom size='.1'/>").collect();
    let begin = Instant::now();
    let model = mjcf(&format!("<mujoco><worldbody><body><joint/>{geoms}</body></worldbody></mujoco>")).unwrap();
    assert_eq!((model.pairs().len(), model.pair_bound()), (0, 0));
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn files_beyond_their_size_are_refused() {
    let path = folder("limits-size").join("main.xml");
    std::fs::write(&path, "<mujoco/>").unwrap();
    let mut options = LoadOptions::default();
    options.limits.file_bytes = 8;
    assert_eq!(stopped_by(|| load_with(&path, &options)), "file_bytes");
    options.limits.file_bytes = 9;
    assert!(load_with(&path, &options).is_ok());
}

#[test]
fn limits_can_be_raised() {
    let mut options = LoadOptions::default();
    options.limits = Limits::default();
    options.limits.heights = 3;
    let xml = field("nrow='2' ncol='2'");
    let error = load_mjcf_str("f.xml", &xml, &options).unwrap_err().to_string();
    let expected = "f.xml:1: <hfield name=\"f\">: expected at most 3 heights of height fields, got 2 rows of 2; \
                    the limit 'heights' can be raised";
    assert_eq!(error, expected);
    *options.limits.by_name("heights").unwrap() = 4;
    assert!(load_mjcf_str("f.xml", &xml, &options).is_ok());
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_folders_are_no_files() {
    let dir = folder("limits-pipes");
    let pipe = |name: &str| {
        let path = dir.join(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    };
    let error = |path: &Path| load(path).unwrap_err().to_string();
    let (robot, list) = (pipe("robot.xml"), pipe("pairs.json"));
    for path in [&*robot, Path::new("/dev/zero"), Path::new("/dev/full")] {
        assert!(error(path).contains("it is a pipe, a socket or a device, not a file"), "{}", error(path));
    }
    assert!(error(&dir).contains("it is a folder"));
    std::fs::write(dir.join("main.xml"), "<mujoco/>").unwrap();
    let mut options = LoadOptions::default();
    options.pairs = slipstick_io::PairChoice::File(list);
    let wrong = load_with(dir.join("main.xml"), &options).unwrap_err().to_string();
    assert!(wrong.contains("not a file"), "{wrong}");
    std::fs::write(dir.join("main.xml"), "<mujoco><include file='robot.xml'/></mujoco>").unwrap();
    assert!(error(&dir.join("main.xml")).contains("a file that exists"));
    std::fs::write(dir.join("main.xml"), field(&format!("file='{}'", pipe("a.png").display()))).unwrap();
    assert!(error(&dir.join("main.xml")).contains("not a file"));
}

#[test]
fn negative_principal_moments_are_refused_as_in_mujoco() {
    let body = |inertia: &str| {
        format!(
            "<mujoco><worldbody>\n<body name='a'><freejoint/><inertial pos='0 0 0' mass='1' {inertia}/></body></worldbody></mujoco>"
        )
    };
    for inertia in ["diaginertia='1 1 -0.5'", "fullinertia='1 1 1 2 0 0'"] {
        let error = mjcf(&body(inertia)).unwrap_err().to_string();
        let begin = "test.xml:2: <body name=\"a\">: expected principal moments that are not negative, got -";
        assert!(error.starts_with(begin), "{error}");
    }
    assert!(mjcf(&body("diaginertia='1 1 -1e-9'")).is_ok(), "rounding in files");
    let trunk = body("diaginertia='1 1 1'");
    let frame = "<body><inertial pos='0 0 0' mass='1e-3' diaginertia='1 1 -1e-3'/></body></body>";
    assert!(mjcf(&trunk.replace("</body>", frame)).is_ok(), "all is well with the body that carries it");
}
