use super::super::solid_exact;
use super::*;
use slipstick_core::spatial::vec3;

/// Points that any file here may have.
const MANY: usize = 1000;

/// A tetrahedron with edges 1, 2 and 3 along the axes, written as `primitive`, in a scene of `nodes`.
fn file(asset: &str, primitive: &str, nodes: &str) -> String {
    format!(
        "<?xml version='1.0'?><COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema'><asset>{asset}</asset>
         <library_geometries><geometry id='g'><mesh><source id='p'><float_array id='a' count='12'>0 0 0 1 0 0 0 2 0 0 0 3
         </float_array><technique_common><accessor source='#a' count='4' stride='3'/></technique_common></source>
         <vertices id='v'><input semantic='POSITION' source='#p'/></vertices>{primitive}</mesh></geometry>
         </library_geometries><library_nodes><node id='part'><instance_geometry url='#g'/></node></library_nodes>
         <library_visual_scenes><visual_scene id='s'>{nodes}</visual_scene></library_visual_scenes>
         <scene><instance_visual_scene url='#s'/></scene></COLLADA>"
    )
}

const TRIANGLES: &str = "<triangles count='4'><input semantic='VERTEX' source='#v' offset='0'/>
                         <p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>";
const ONE: &str = "<node><instance_geometry url='#g'/></node>";

fn volume(text: &str) -> f64 {
    let mesh = read(text.as_bytes(), MANY).unwrap();
    solid_exact(&mesh.vertices, &mesh.triangles).unwrap().volume
}

#[test]
fn every_way_to_write_faces_gives_the_same_body() {
    let input = "<input semantic='NORMAL' source='#v' offset='0'/><input semantic='VERTEX' source='#v' offset='1'/>";
    let pairs = "9 0 9 2 9 1 9 0 9 1 9 3 9 0 9 3 9 2 9 1 9 2 9 3";
    let triples = ["9 0 9 2 9 1", "9 0 9 1 9 3", "9 0 9 3 9 2"].map(|p| format!("<p>{p}</p>")).concat();
    for primitive in [
        TRIANGLES.to_string(),
        format!("<polylist count='4'>{input}<vcount>3 3 3 3</vcount><p>{pairs}</p></polylist>"),
        format!("<polygons count='4'>{input}{triples}<ph><p>9 1 9 2 9 3</p><h>9 0</h></ph></polygons>"),
        format!("<trifans>{input}<p>9 0 9 2 9 1 9 3 9 2</p><p>9 1 9 2 9 3</p></trifans>"),
        format!("<tristrips>{input}<p>9 0 9 2 9 1 9 3 9 0 9 2</p></tristrips>"),
    ] {
        let mesh = read(file("", &primitive, ONE).as_bytes(), MANY).unwrap();
        assert_eq!(mesh.vertices.len(), 4);
        assert!((volume(&file("", &primitive, ONE)) - 1.0).abs() < 1e-14, "{primitive}");
    }
}

#[test]
fn units_count_and_the_up_axis_does_not() {
    let text = file("<unit meter='0.001' name='mm'/><up_axis>Y_UP</up_axis>", TRIANGLES, ONE);
    let mesh = read(text.as_bytes(), MANY).unwrap();
    assert!(mesh.vertices.contains(&vec3(0.0, 0.002, 0.0)), "{:?}", mesh.vertices);
}

#[test]
fn nodes_place_parts_in_the_order_of_their_transformations() {
    let node = "<node><translate>10 0 0</translate><rotate>0 0 1 90</rotate><node><scale>1 1 -2</scale>
                <instance_geometry url='#g'/></node></node>";
    let mesh = read(file("", TRIANGLES, node).as_bytes(), MANY).unwrap();
    let near = |p: Vec3| mesh.vertices.iter().any(|v| (*v - p).norm() < 1e-14);
    assert!(near(vec3(10.0, 1.0, 0.0)) && near(vec3(8.0, 0.0, 0.0)) && near(vec3(10.0, 0.0, -6.0)));
    // mirrored, and outward all the same
    assert!((volume(&file("", TRIANGLES, node)) - 2.0).abs() < 1e-13);
    let matrix = "<node><matrix>0 -1 0 10 1 0 0 0 0 0 1 5 0 0 0 1</matrix><instance_node url='#part'/></node>";
    let mesh = read(file("", TRIANGLES, matrix).as_bytes(), MANY).unwrap();
    assert!(mesh.vertices.contains(&vec3(10.0, 1.0, 5.0)) && mesh.vertices.contains(&vec3(8.0, 0.0, 5.0)));
}

#[test]
fn broken_files_are_refused_with_their_line() {
    let cycle = file("", TRIANGLES, "<node id='n'><instance_node url='#n'/></node>");
    let corner = TRIANGLES.replace("1 2 3<", "1 2 4<");
    let short =
        "<polylist><input semantic='VERTEX' source='#v'/><vcount>3 4000000000</vcount><p>0 1 2 3</p></polylist>";
    for (text, part) in [
        ("<COLLADA>".to_string(), "not well-formed"),
        ("<svg/>".to_string(), "expected <COLLADA>, got <svg>"),
        (cycle, "contain themselves"),
        (file("", &corner, ONE), "corner 4 is none of the 4 points"),
        (file("", short, ONE), "<vcount> asks for more"),
        (file("", TRIANGLES, "<node><instance_geometry url='#h'/></node>"), "nothing with the address '#h'"),
        (file("", TRIANGLES, "<node><scale>1 1</scale></node>"), "<scale>: expected 3 numbers, got 2"),
        (file("", TRIANGLES, "<node><instance_controller url='#g'/></node>"), "skinned"),
        (file("<unit meter='0'/>", TRIANGLES, ONE), "meter: expected a positive number"),
        (file("", &TRIANGLES.replace("#v", "#w"), ONE), "no source '#w'"),
        (file("", TRIANGLES, ONE).replace("0 0 3", "0 0 nan"), "expected finite numbers"),
    ] {
        let defect = read(text.as_bytes(), MANY).unwrap_err();
        assert!(defect.got.contains(part), "{defect:?} instead of {part}");
    }
}
