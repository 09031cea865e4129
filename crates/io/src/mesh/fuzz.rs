//! Damaged mesh files are refused or read, and never worse.

use super::file::parse;
use super::physics::{Recipe, make};
use super::{Format, TriangleMesh};
use crate::LoadOptions;
use slipstick_core::random::Rng;
use slipstick_core::spatial::vec3;
use std::path::Path;

const OBJ: &str =
    "# part\no a\nv 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\ng x\nf 1 3 2\nf 1/1 2/2 4/4\nf -4 -1 -2\nf 2//1 3//1 4//1\n";
const STL: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet
facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1e0\nendloop\nendfacet\nendsolid a\n";
const DAE: &str = "<COLLADA><asset><unit meter='0.1'/></asset><library_geometries><geometry id='g'><mesh><source id='p'>
<float_array id='a'>0 0 0 1 0 0 0 2 0 0 0 3</float_array><technique_common><accessor source='#a' count='4' stride='3'/>
</technique_common></source><vertices id='v'><input semantic='POSITION' source='#p'/></vertices><polylist count='4'>
<input semantic='VERTEX' source='#v' offset='0'/><vcount>3 3 3 3</vcount><p>0 2 1 0 1 3 0 3 2 1 2 3</p></polylist></mesh>
</geometry></library_geometries><library_visual_scenes><visual_scene id='s'><node><rotate>0 0 1 90</rotate>
<instance_geometry url='#g'/></node></visual_scene></library_visual_scenes></COLLADA>";
const GLTF: &str = r##"{"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"scale":[1,2,3],"children":[1]},{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":36}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],"buffers":[{"byteLength":36,
"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]}"##;

fn binary_stl() -> Vec<u8> {
    let mut bytes = b"solid but binary".to_vec();
    bytes.resize(80, 0);
    bytes.extend(2u32.to_le_bytes());
    for corner in [[0.0f32, 0.0, 1.0], [0.5, 2.0, 0.0]] {
        bytes.extend([0; 12]);
        bytes.extend([[0.0; 3], [1.0, 0.0, 0.0], corner].as_flattened().iter().flat_map(|x: &f32| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn msh() -> Vec<u8> {
    let mut bytes: Vec<u8> = [4i32, 0, 4, 4].into_iter().flat_map(i32::to_le_bytes).collect();
    let corners = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.5]];
    bytes.extend(corners.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend([0; 32]);
    bytes.extend([0i32, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3].into_iter().flat_map(i32::to_le_bytes));
    bytes
}

fn sound(mesh: &TriangleMesh) -> bool {
    let inside = |t: &[u32; 3]| t.iter().all(|i| (*i as usize) < mesh.vertices.len());
    mesh.vertices.iter().all(|v| v.is_finite()) && mesh.triangles.iter().all(inside)
}

#[test]
fn damaged_files_never_panic() {
    let mut draw = Rng(1);
    let mut random = |n: usize| draw.below(n);
    let options = LoadOptions { cache: false, ..LoadOptions::default() };
    let recipe = Recipe::new(vec3(1.0, 1.0, 1.0), &options);
    let files = [
        (Format::Obj, OBJ.as_bytes().to_vec()),
        (Format::Stl, STL.as_bytes().to_vec()),
        (Format::Stl, binary_stl()),
        (Format::Collada, DAE.as_bytes().to_vec()),
        (Format::Gltf, GLTF.as_bytes().to_vec()),
        (Format::Msh, msh()),
    ];
    for (format, good) in files {
        let mesh = parse(Path::new("good"), format, &good, &options.limits).unwrap();
        assert!(sound(&mesh) && !mesh.triangles.is_empty(), "{format:?}");
        for _ in 0..3000 {
            let mut bytes = good.clone();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                match random(4) {
                    0 => bytes[at] = random(256) as u8,
                    1 => bytes[at] = b"0123456789-.e'<>/#[]{},\""[random(24)],
                    2 => bytes.truncate(at.max(1)),
                    _ => drop(bytes.splice(at..at, b"99999999".iter().copied())),
                }
            }
            if let Ok(mesh) = parse(Path::new("bad"), format, &bytes, &options.limits) {
                assert!(sound(&mesh), "{format:?}: {}", String::from_utf8_lossy(&bytes));
                make(mesh, &recipe);
            }
        }
    }
}
