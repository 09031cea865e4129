//! Good inputs, from which damaged ones are made: written here, exported from built-in robots, and found in earlier runs.

use crate::target::Target;
use crate::tree;
use slipstick::files::{TrajectoryFormat, to_mjcf, to_urdf};
use slipstick::random::Rng;
use slipstick::{Input, Simulator, Trajectory, builtin};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

const URDF: &str = r#"<robot name="r"><link name="a"><inertial><origin xyz="0 0 1" rpy="0 0 1"/><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial><collision><geometry><box size="1 2 3"/></geometry></collision>
</link><link name="b"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1"/></inertial><visual><geometry><sphere radius="1"/>
</geometry></visual></link><joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 2 3"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.1"/></joint><link name="c"><inertial>
<mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="k" type="continuous"><parent link="b"/>
<child link="c"/><mimic joint="j" multiplier="2" offset="0.1"/></joint></robot>"#;
const STL: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet
facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1e0\nendloop\nendfacet\nendsolid a\n";
const OBJ: &str = "# part\no a\nv 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\ng x\nf 1 3 2\nf 1/1 2/2 4/4\nf -4 -1 -2\nf 2//1 3//1 4//1\nf 1 2 3 4\n";
const DAE: &str = r##"<COLLADA><asset><unit meter="0.1"/><up_axis>Y_UP</up_axis></asset><library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array><technique_common><accessor source="#a" count="4"
stride="3"/></technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices><polylist count="4">
<input semantic="VERTEX" source="#v" offset="0"/><vcount>3 3 3 3</vcount><p>0 2 1 0 1 3 0 3 2 1 2 3</p></polylist></mesh></geometry>
</library_geometries><library_visual_scenes><visual_scene id="s"><node><matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix>
<rotate>0 0 1 90</rotate><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes></COLLADA>"##;
const GLTF: &str = r##"{"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"scale":[1,2,3],"children":[1]},
{"mesh":0,"translation":[0,0,1],"rotation":[0,0,0,1]}],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}],
"bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":24}],"accessors":[
{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}],
"buffers":[{"byteLength":72,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAACAAEAAAABAAMAAAADAAIAAQACAAMA"}]}"##;

/// Inputs by the name of their target.
type Inputs = HashMap<&'static str, Vec<Vec<u8>>>;

static GOOD: LazyLock<Mutex<Inputs>> = LazyLock::new(Mutex::default);

/// Good inputs of a target; at least one. They are made once.
pub fn good(target: Target) -> Vec<Vec<u8>> {
    let mut kept = GOOD.lock().expect("no panic while inputs are made");
    kept.entry(target.name()).or_insert_with(|| [made(target), found(target)].concat()).clone()
}

fn made(target: Target) -> Vec<Vec<u8>> {
    let text = |t: &str| t.as_bytes().to_vec();
    match target {
        Target::Mjcf => robots(&["cube", "double_pendulum", "arm", "hopper", "quadruped"], to_mjcf)
            .into_iter()
            .chain((0..20).map(|seed| tree::mjcf(Rng(seed)).into_bytes()))
            .collect(),
        Target::Urdf => [vec![text(URDF)], robots(&["arm", "quadruped"], |m| to_urdf(m).0)].concat(),
        Target::Stl => vec![text(STL), binary_stl()],
        Target::Obj => vec![text(OBJ)],
        Target::Dae => vec![text(DAE)],
        Target::Gltf => vec![text(GLTF), glb()],
        Target::Trajectory => vec![archive()],
        Target::WarmStart => vec![fallen(40).warm_start().to_bytes(), fallen(400).warm_start().to_bytes()],
        Target::Pairs => vec![
            text(r#"[["floor", "foot"], ["torso", "foot"]]"#),
            text(r#"{"geometries": [{"name": "floor", "type": "Plane"}, {"name": "foot"}], "pairs": [[0, 1]]}"#),
        ],
        Target::Controller => vec![text("# two\n0.1, 0.2 0.3\n1 2 3\n\n-1;0;1\n"), motion_as_text()],
        Target::Tree | Target::Png | Target::Collision | Target::Ncp => vec![Vec::new()],
    }
}

/// Inputs that were findings once: `fuzz/corpus/TARGET`, taken in the order of their names.
pub fn found(target: Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name());
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|f| f.path()).collect();
    files.sort();
    files.into_iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

fn robots(names: &[&str], write: impl Fn(&slipstick::Model) -> String) -> Vec<Vec<u8>> {
    names.iter().filter_map(|name| builtin(name).ok()).map(|model| write(&model).into_bytes()).collect()
}

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend(2u32.to_le_bytes());
    for corner in [[0.0f32, 0.0, 1.0], [0.5, 2.0, 0.0]] {
        bytes.extend([0; 12]);
        bytes.extend([[0.0; 3], [1.0, 0.0, 0.0], corner].as_flattened().iter().flat_map(|x: &f32| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// The binary form of a glTF: a head, its JSON and its numbers.
fn glb() -> Vec<u8> {
    let mut json = r#"{"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}],"nodes":[{"mesh":0}],
"scenes":[{"nodes":[0]}],"bufferViews":[{"buffer":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":24}],"accessors":[
{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}],
"buffers":[{"byteLength":72}]}"#
        .as_bytes()
        .to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let corners = [[0.0f32; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut data: Vec<u8> = corners.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
    data.extend([0u16, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3].map(u16::to_le_bytes).as_flattened());
    let total = 12 + 8 + json.len() + 8 + data.len();
    let mut bytes = b"glTF".to_vec();
    bytes.extend([2, total as u32, json.len() as u32].map(u32::to_le_bytes).concat());
    bytes.extend(b"JSON");
    bytes.extend(json);
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(data);
    bytes
}

/// The hopper after some steps without control: it lies on the floor.
fn fallen(steps: usize) -> Simulator {
    let mut sim = Simulator::new(&builtin("hopper").expect("a built-in robot"));
    for _ in 0..steps {
        sim.step(&Input::default()).expect("a hopper falls");
    }
    sim
}

fn motion() -> Trajectory {
    let mut sim = fallen(40);
    let ctrl = vec![0.1; sim.model().nu()];
    let mut recorded = Trajectory::new(sim.model()).with_contacts();
    sim.rollout_into(4, &ctrl[..], &mut recorded).expect("a hopper falls");
    recorded
}

fn archive() -> Vec<u8> {
    let mut bytes = Vec::new();
    motion().write(TrajectoryFormat::Npz, &mut bytes).expect("memory takes all");
    bytes
}

fn motion_as_text() -> Vec<u8> {
    let mut bytes = Vec::new();
    motion().write(TrajectoryFormat::Csv, &mut bytes).expect("memory takes all");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_a_finding_is_none_any_more() {
        let found: Vec<_> =
            Target::ALL.into_iter().flat_map(|t| found(t).into_iter().map(move |input| (t, input))).collect();
        assert!(!found.is_empty(), "the folder of findings is not where it was");
        for (target, input) in found {
            assert!(target.run(&input).is_ok(), "{}: {}", target.name(), String::from_utf8_lossy(&input));
        }
    }

    #[test]
    fn good_inputs_are_accepted() {
        for target in Target::ALL
            .into_iter()
            .filter(|t| !matches!(t, Target::Tree | Target::Png | Target::Collision | Target::Ncp))
        {
            for input in made(target) {
                let answer = target.run(&input);
                assert_eq!(
                    answer,
                    Ok(crate::case::Answer::Accepted),
                    "{}: {}",
                    target.name(),
                    String::from_utf8_lossy(&input)
                );
            }
        }
    }
}
