use super::super::solid_exact;
use super::*;
use slipstick_core::spatial::vec3;

/// Points that any file here may have.
const MANY: usize = 1000;

/// Positions of a tetrahedron with edges 1, 2 and 3 along the axes, then its 12 corner numbers as bytes.
fn binary() -> Vec<u8> {
    let points: [f32; 12] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0];
    let mut bytes: Vec<u8> = points.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]);
    bytes
}

fn json(nodes: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"buffers":[{{"byteLength":60}}],
        "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":12}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
                     {{"bufferView":1,"componentType":5121,"count":12,"type":"SCALAR"}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}},{{"attributes":{{}},"mode":1}}]}}],
        "scenes":[{{"nodes":[0]}}],"nodes":[{nodes}]}}"#
    )
}

fn glb(json: &str) -> Vec<u8> {
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend([0; 4]);
    for (chunk, kind) in [(json.as_bytes(), b"JSON"), (&binary()[..], b"BIN\0")] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

#[test]
fn a_node_is_placed_and_up_becomes_z() {
    let mesh = read(&glb(&json(r#"{"mesh":0,"translation":[10,0,0]}"#)), MANY).unwrap();
    assert_eq!(
        mesh.vertices,
        [vec3(10.0, 0.0, 0.0), vec3(11.0, 0.0, 0.0), vec3(10.0, 0.0, 2.0), vec3(10.0, -3.0, 0.0)]
    );
    assert!((solid_exact(&mesh.vertices, &mesh.triangles).unwrap().volume - 1.0).abs() < 1e-13);
}

#[test]
fn mirrors_and_matrices_within_nodes_keep_the_outside_outside() {
    let matrix = r#"{"children":[1],"scale":[1,-2,1]},{"mesh":0,"matrix":[0,1,0,0, -1,0,0,0, 0,0,1,0, 0,0,5,1]}"#;
    let mesh = read(&glb(&json(matrix)), MANY).unwrap();
    let solid = solid_exact(&mesh.vertices, &mesh.triangles).unwrap();
    assert!((solid.volume - 2.0).abs() < 1e-13);
    // (1, 0, 0) → matrix (0, 1, 5) → scale (0, −2, 5) → z-up (0, −5, −2)
    assert!(mesh.vertices.contains(&vec3(0.0, -5.0, -2.0)));
}

#[test]
fn buffers_may_stand_in_the_json() {
    // one triangle at (0,0,0), (1,0,0), (0,1,0), without indices
    let text = r#"{"buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],
        "bufferViews":[{"buffer":0,"byteLength":36}],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}]}"#;
    let mesh = read(text.as_bytes(), MANY).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
    assert_eq!(mesh.vertices[2], vec3(0.0, 0.0, 1.0));
}

#[test]
fn broken_files_are_refused() {
    let good = json(r#"{"mesh":0}"#);
    let with = |a: &str, b: &str| glb(&good.replacen(a, b, 1));
    for (bytes, part) in [
        (b"{".to_vec(), "not a glTF file"),
        (b"glTF\x01\0\0\0".to_vec(), "only version 2"),
        (glb(&good)[..200].to_vec(), "shorter than its header says"),
        (with("\"count\":4", "\"count\":4000000000"), "beyond its buffer"),
        (with("\"count\":12", "\"count\":18446744073709551615"), "beyond its buffer"),
        (with("\"byteLength\":48", "\"byteLength\":480"), "beyond its buffer"),
        (with("\"count\":4", "\"count\":3"), "corner 3 is none of the 3 vertices"),
        (with("{\"mesh\":0}", "{\"mesh\":7}"), "mesh 7 is missing"),
        (with("{\"mesh\":0}", "{\"children\":[0]}"), "contain themselves"),
        (with("{\"mesh\":0}", "{\"children\":[3]}"), "a node is missing"),
        (with("{\"mesh\":0}", "{\"mesh\":0,\"scale\":[1]}"), "scale of a node: expected 3 numbers"),
        (with("5126", "5122"), "expected three floats"),
        (with("{\"byteLength\":60}", "{\"uri\":\"a.bin\"}"), "export the mesh as one .glb file"),
        (with("\"asset\"", "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"],\"asset\""), "KHR_draco"),
    ] {
        let defect = read(&bytes, MANY).unwrap_err();
        assert!(defect.got.contains(part), "{defect:?} instead of {part}");
    }
}
