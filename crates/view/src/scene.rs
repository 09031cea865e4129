//! What is shown: bodies, geoms, meshes. Sizes in meters, quaternions (x, y, z, w).

use crate::encode;
use crate::frames::seven;
use crate::visuals::Appearance;
use serde_json::{Value, json};
use slipstick::Model;
use slipstick::files::convex_hull;
use slipstick::model::{Geom, GeomId, HeightField, JointKind, Mesh, ParameterGroup, Shape};
use slipstick::spatial::Vec3;

const FORMAT: &str = "slipstick-replay";
const VERSION: u32 = 2;

/// What the data begin with.
pub(crate) fn head(title: &str, model: &Model) -> Value {
    json!({ "format": FORMAT, "version": VERSION, "title": title, "model": model.name() })
}

/// The robot and what stands around it.
pub(crate) fn robot(model: &Model, appearance: &Appearance) -> Value {
    json!({
        "bodies": bodies(model),
        "joints": joints(model),
        "geoms": model.geoms().iter().enumerate().map(|(k, g)| geom(model, GeomId(k), g)).collect::<Vec<_>>(),
        "meshes": model.meshes().iter().enumerate().map(|(k, m)| mesh(m, scale(model, k))).collect::<Vec<_>>(),
        "fields": model.fields().iter().map(field).collect::<Vec<_>>(),
        "visuals": appearance.json,
    })
}

/// Name of each body, the one that carries it and where it is in that before its joints move, depth below the root and
/// number of the tree; colors go by the last two. `com` is its center of mass. The world comes first.
fn bodies(model: &Model) -> Vec<Value> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut trees = 0;
    for body in model.bodies() {
        places.push(match body.parent.0 {
            0 => {
                trees += 1;
                (0, trees - 1)
            }
            parent => (places[parent].0 + 1, places[parent].1),
        });
    }
    // the world is its own parent and no tree
    let all = model.bodies().iter().zip(model.placements()).zip(places).zip(model.inertias());
    let told = all.map(|(((body, place), (depth, tree)), inertia)| {
        json!({
            "name": body.name,
            "parent": body.parent.0,
            "place": place.position.to_array(),
            "depth": depth,
            "tree": tree.saturating_sub(1),
            "com": inertia.com.to_array(),
        })
    });
    told.collect()
}

/// Joints with one axis: where that is in the frame of their body, and the number of their dof.
fn joints(model: &Model) -> Vec<Value> {
    let told = model.joints().iter().filter_map(|joint| {
        let (axis, turns) = match joint.kind {
            JointKind::Revolute { axis } => (axis, true),
            JointKind::Prismatic { axis } => (axis, false),
            _ => return None,
        };
        let (anchor, axis) = (joint.anchor.to_array(), axis.to_array());
        Some(json!({
            "name": joint.name,
            "body": joint.body.0,
            "dof": joint.v.start,
            "anchor": anchor,
            "axis": axis,
            "turns": turns,
        }))
    });
    told.collect()
}

fn geom(model: &Model, id: GeomId, geom: &Geom) -> Value {
    let shape = model.shape(id);
    let mut value = json!({
        "name": geom.name,
        "body": geom.body.0,
        "kind": shape.name(),
        "size": shape.size(),
        "pose": seven(&geom.pose),
    });
    match shape {
        Shape::Mesh { mesh } | Shape::Terrain { mesh } => value["mesh"] = json!(mesh.0),
        Shape::HeightField { field } => value["field"] = json!(field.0),
        _ => {}
    }
    value
}

fn scale(model: &Model, mesh: usize) -> Vec3 {
    Vec3::from_slice(&model.parameters().group(ParameterGroup::MeshScale)[3 * mesh..])
}

/// Corners and outward triangles. A bare cloud of points is shown by its hull; one without a hull by nothing.
fn mesh(mesh: &Mesh, scale: Vec3) -> Value {
    let hull = if mesh.triangles.is_empty() { convex_hull(&mesh.vertices).ok() } else { None };
    let (vertices, triangles) = match &hull {
        Some(hull) => (&hull.vertices, &hull.triangles),
        None => (&mesh.vertices, &mesh.triangles),
    };
    let mirrored = scale.x * scale.y * scale.z < 0.0;
    let corners = triangles.iter().flat_map(|&[a, b, c]| if mirrored { [a, c, b] } else { [a, b, c] });
    let points = vertices.iter().flat_map(|p| [p.x * scale.x, p.y * scale.y, p.z * scale.z]).map(|x| x as f32);
    json!({
        "vertices": encode::floats(&points.collect::<Vec<_>>()),
        "triangles": encode::integers(&corners.collect::<Vec<_>>()),
    })
}

fn field(field: &HeightField) -> Value {
    json!({
        "half_size": field.half_size,
        "rows": field.rows,
        "columns": field.columns,
        "heights": encode::floats(&field.heights.iter().map(|h| *h as f32).collect::<Vec<_>>()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick::LoadOptions;
    use slipstick::files::load_mjcf_str;
    use slipstick::model::Parameters;

    const ZOO: &str = r#"<mujoco model="zoo"><asset><mesh name="pyramid" vertex="0 0 0  1 0 0  0 1 0  0 0 2"/>
      <hfield name="hills" nrow="2" ncol="3" size="3 1 0.5 0.1" elevation="0 1 2  3 4 5"/></asset>
      <worldbody><geom type="plane" size="1 1 1"/><geom type="hfield" hfield="hills" pos="0 9 0"/>
        <body name="first"><freejoint/><geom name="ball" type="sphere" size="0.1" pos="1 2 3"/>
          <geom type="capsule" size="0.1 0.2"/><geom type="cylinder" size="0.1 0.3"/>
          <body name="child" pos="0 0 0.5"><joint/><geom type="box" size="0.1 0.2 0.3" quat="0 1 0 0"/></body></body>
        <body name="second"><freejoint/><geom type="ellipsoid" size="0.1 0.2 0.3"/>
          <geom type="mesh" mesh="pyramid"/></body></worldbody></mujoco>"#;

    fn zoo() -> Model {
        load_mjcf_str("zoo", ZOO, &LoadOptions::default()).unwrap()
    }

    fn told(model: &Model) -> Value {
        robot(model, &Appearance::of(model))
    }

    #[test]
    fn every_kind_of_shape_is_told_with_its_size() {
        let data = told(&zoo());
        let kinds: Vec<(&str, &Value)> =
            data["geoms"].as_array().unwrap().iter().map(|g| (g["kind"].as_str().unwrap(), &g["size"])).collect();
        let expected = [
            ("plane", [0.0, 0.0, 0.0]),
            ("hfield", [0.0, 0.0, 0.0]),
            ("sphere", [0.1, 0.0, 0.0]),
            ("capsule", [0.1, 0.2, 0.0]),
            ("cylinder", [0.1, 0.3, 0.0]),
            ("box", [0.1, 0.2, 0.3]),
            ("ellipsoid", [0.1, 0.2, 0.3]),
            ("mesh", [0.0, 0.0, 0.0]),
        ];
        assert_eq!(kinds.len(), expected.len(), "{kinds:?}");
        for ((kind, size), (name, numbers)) in kinds.iter().zip(expected) {
            assert_eq!((*kind, *size), (name, &json!(numbers)));
        }
    }

    #[test]
    fn geoms_keep_their_place_and_bodies_their_tree() {
        let data = told(&zoo());
        assert_eq!(data["geoms"][2]["pose"], json!([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]));
        assert_eq!(data["geoms"][5]["pose"], json!([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]));
        assert_eq!((&data["geoms"][2]["name"], &data["geoms"][5]["body"]), (&json!("ball"), &json!(2)));
        assert_eq!((&data["bodies"][2]["parent"], &data["bodies"][2]["place"]), (&json!(1), &json!([0.0, 0.0, 0.5])));
        let places = |k: usize| (data["bodies"][k]["depth"].as_u64(), data["bodies"][k]["tree"].as_u64());
        assert_eq!([1, 2, 3].map(places), [(Some(0), Some(0)), (Some(1), Some(0)), (Some(0), Some(1))]);
    }

    #[test]
    fn meshes_and_fields_come_with_their_numbers() {
        let data = told(&zoo());
        let mesh = &data["meshes"][0];
        assert_eq!(mesh["vertices"].as_str().map(str::len), Some(4 * 3 * 4 / 3 * 4));
        assert_eq!(mesh["triangles"].as_str().map(str::len), Some(4 * 3 * 4 / 3 * 4));
        assert_eq!((&data["fields"][0]["rows"], &data["fields"][0]["columns"]), (&json!(2), &json!(3)));
        // a file begins with the row at +y, the model with that at −y
        let heights = [3.0, 4.0, 5.0, 0.0, 1.0, 2.0].map(|k: f64| (0.5 * k / 5.0) as f32);
        assert_eq!(data["fields"][0]["heights"], json!(encode::floats(&heights)));
    }

    #[test]
    fn sizes_and_scales_are_those_of_the_parameters() {
        let model = zoo();
        let mut parameters: Parameters = model.parameters().clone();
        parameters.group_mut(ParameterGroup::ShapeSize)[3 * 2] = 0.7;
        parameters.group_mut(ParameterGroup::MeshScale)[0] = 2.0;
        let other = told(&model.with_parameters(parameters).unwrap());
        assert_eq!(other["geoms"][2]["size"][0], json!(0.7));
        assert_ne!(other["meshes"][0]["vertices"], told(&model)["meshes"][0]["vertices"]);
    }

    #[test]
    fn a_bare_cloud_of_points_is_shown_by_its_hull() {
        let corner = |k: usize| Vec3::new((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64);
        let cloud = |points: Vec<Vec3>| Mesh { name: "cloud".into(), vertices: points, triangles: Vec::new() };
        let one = Vec3::new(1.0, 1.0, 1.0);
        let cube = mesh(&cloud((0..8).map(corner).collect()), one);
        assert_eq!(cube["triangles"].as_str().map(str::len), Some(12 * 3 * 4 / 3 * 4), "twelve triangles");
        assert_eq!(mesh(&cloud(vec![Vec3::ZERO; 2]), one)["triangles"], json!(""), "two points have none");
    }

    #[test]
    fn mirrored_meshes_keep_their_outside_outside() {
        let tetrahedron = Mesh {
            name: "t".into(),
            vertices: vec![Vec3::ZERO, Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        };
        let mirrored = mesh(&tetrahedron, Vec3::new(1.0, 1.0, -1.0));
        assert_eq!(mirrored["triangles"], json!(encode::integers(&[0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2])));
    }
}
