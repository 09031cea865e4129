//! Shapes fitted to a mesh. Expected numbers are MuJoCo 4.0's, whose vertices have single precision.

use crate::mjcf;
use slipstick_core::Model;
use slipstick_core::model::Shape;
use slipstick_core::spatial::{Vec3, vec3};

const VERTICES: &str = "1.03 2.1 2.7 1.4 1.9 3.1 0.6 2.05 2.95 1.1 1.7 3.05 0.9 2.3 3.2 1.05 2.0 2.55 1.2 2.2 3.0";

fn fitted(compiler: &str, geom: &str) -> Result<Model, String> {
    let asset = format!(r#"<asset><mesh name="m" vertex="{VERTICES}"/></asset>"#);
    let body = format!(r#"<body><freejoint/><geom mesh="m" pos="0.1 0.2 0.3" euler="20 30 40" {geom}/></body>"#);
    let xml = format!("<mujoco><compiler {compiler}/>{asset}<worldbody>{body}</worldbody></mujoco>");
    mjcf(&xml).map_err(|e| e.to_string())
}

/// The axes (columns) of the geom, the same for all shapes.
const AXES: [Vec3; 3] = [
    vec3(-0.41142875, 0.90774842, 0.081970622),
    vec3(0.28247171, 0.041485204, 0.95837817),
    vec3(0.8665657, 0.41745871, -0.27348146),
];

#[test]
fn simple_shapes_fit_the_inertia_or_the_bounds_of_a_mesh() {
    let inertial = vec3(1.1363187, 1.3114287, 3.6968711);
    let bounded = vec3(1.1424902, 1.2741569, 3.6744645);
    for (kind, aabb, size, mass) in [
        ("sphere", false, vec![0.2988655], 111.81909),
        ("capsule", false, vec![0.26782151, 0.22704271], 182.79252),
        ("cylinder", false, vec![0.26782151, 0.36095347], 162.67544),
        ("box", false, vec![0.23193151, 0.30371151, 0.36095347], 203.40527),
        ("ellipsoid", false, vec![0.23193151, 0.30371151, 0.36095347], 106.50275),
        ("sphere", true, vec![0.60479857], 926.66097),
        ("capsule", true, vec![0.52560093, 0.079197641], 745.68366),
        ("cylinder", true, vec![0.52560093, 0.60479857], 1049.7911),
        ("box", true, vec![0.35484938, 0.52560093, 0.60479857], 902.4038),
        ("ellipsoid", true, vec![0.35484938, 0.52560093, 0.60479857], 472.49753),
    ] {
        let model = fitted(&format!("fitaabb='{aabb}'"), &format!("type='{kind}' fitscale='1.5'")).unwrap();
        let geom = &model.geoms()[0];
        assert_eq!(geom.shape.name(), kind);
        let close = geom.shape.size().iter().zip(&size).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close && geom.shape.n_sizes() == size.len(), "{kind} {aabb}: {:?}", geom.shape);
        let center = if aabb { bounded } else { inertial };
        assert!((geom.pose.position - center).norm() < 1e-6, "{kind} {aabb}: {:?}", geom.pose);
        // an axis may point either way
        let along = |k: usize| (geom.pose.rotation * Vec3::UNITS[k]).dot(AXES[k]).abs();
        assert!((0..3).all(|k| (along(k) - 1.0).abs() < 1e-7), "{kind} {aabb}: {:?}", geom.pose);
        assert!((geom.pose.rotation.determinant() - 1.0).abs() < 1e-12);
        assert!((model.total_mass() / mass - 1.0).abs() < 1e-5, "{kind} {aabb}: {}", model.total_mass());
    }
}

#[test]
fn a_mesh_of_its_own_type_is_not_fitted_and_a_short_capsule_is_a_sphere() {
    let model = fitted("fitaabb='true'", "type='mesh' fitscale='2'").unwrap();
    assert!(matches!(model.geoms()[0].shape, Shape::Mesh { .. }));
    let cube = "<mujoco><compiler fitaabb='true'/><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1 1 1 0 1 0 1 0 1 1 1 1 1'/></asset>
        <worldbody><body><freejoint/><geom type='capsule' mesh='m'/></body></worldbody></mujoco>";
    let Shape::Sphere { radius } = mjcf(cube).unwrap().geoms()[0].shape else { panic!("a sphere") };
    assert!((radius - 0.5).abs() < 1e-12);
}

#[test]
fn what_cannot_be_fitted_is_told() {
    for (geom, text) in [
        ("type='plane'", "type: expected one of sphere, capsule, cylinder, box, ellipsoid, got 'plane'"),
        ("type='capsule' fitscale='-1'", "fitscale: expected a positive number, got '-1'"),
        ("type='capsule' fromto='0 0 0 1 0 0'", "fromto: expected no fromto in a geom with a mesh"),
    ] {
        let error = fitted("", geom).unwrap_err();
        assert!(error.contains(text), "{error}");
    }
}
