//! Conversions to Pinocchio's coordinates against what defines them: same motion, same power, derivative of velocity.

use slipstick::linalg::MatRef;
use slipstick::model::{JointKind, JointSpec};
use slipstick::pinocchio::{Map, MapError, PinJoint, PinKind};
use slipstick::spatial::{BodyInertia, Pose, Sym3, vec3};
use slipstick::{Model, ModelBuilder};

/// One joint of every kind; the slide is described at 0.3.
fn all_joints() -> Model {
    let mut b = ModelBuilder::new("all joints");
    let inertia = BodyInertia { mass: 1.0, com: vec3(0.1, 0.0, 0.0), about_com: Sym3::diagonal(vec3(1.0, 1.0, 1.0)) };
    let y = vec3(0.0, 1.0, 0.0);
    let slide = JointSpec { reference: 0.3, ..JointSpec::new("slide", JointKind::Prismatic { axis: y }) };
    let joints = [
        JointSpec::new("root", JointKind::Free),
        JointSpec::new("hinge", JointKind::Revolute { axis: y }),
        slide,
        JointSpec::new("ball", JointKind::Spherical),
        JointSpec::new("table", JointKind::Planar),
        JointSpec::new("wheel", JointKind::Revolute { axis: y }),
    ];
    let mut parent = ModelBuilder::WORLD;
    for joint in joints {
        let name = format!("{} link", joint.name);
        parent = b.add_link(parent, name, Pose::translation(vec3(0.2, 0.0, 0.1)), inertia, vec![joint]);
    }
    b.build().unwrap()
}

fn pin(name: &str, kind: PinKind, idx_q: usize, idx_v: usize, parent: Option<usize>) -> PinJoint {
    PinJoint { name: name.into(), kind, idx_q, idx_v, parent }
}

/// The robot in another order, its root a free-flyer under Pinocchio's name.
fn free_flyer() -> Vec<PinJoint> {
    vec![
        pin("ball", PinKind::Spherical, 0, 0, None),
        pin("root_joint", PinKind::FreeFlyer, 4, 3, None),
        pin("wheel", PinKind::RevoluteUnbounded, 11, 9, None),
        pin("table", PinKind::Planar, 13, 10, None),
        pin("slide", PinKind::Prismatic, 17, 13, None),
        pin("hinge", PinKind::Revolute, 18, 14, None),
    ]
}

/// The robot with its root as translation and rotation, the latter last.
fn split_root() -> Vec<PinJoint> {
    vec![
        pin("ball", PinKind::Spherical, 0, 0, None),
        pin("root_position", PinKind::Translation, 4, 3, None),
        pin("wheel", PinKind::RevoluteUnbounded, 7, 6, None),
        pin("table", PinKind::Planar, 9, 7, None),
        pin("slide", PinKind::Prismatic, 13, 10, None),
        pin("hinge", PinKind::Revolute, 14, 11, None),
        pin("root", PinKind::Spherical, 15, 12, Some(1)),
    ]
}

fn state(model: &Model) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let wave = |n: usize, phase: f64| (0..n).map(|i| (1.7 * i as f64 + phase).sin()).collect::<Vec<f64>>();
    let mut q = wave(model.nq(), 0.4);
    model.normalize_q(&mut q).unwrap();
    (q, wave(model.nv(), 1.1), wave(model.nv(), 2.3))
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= tolerance, "{worst:e} > {tolerance:e}\n{a:?}\n{b:?}");
}

#[test]
fn coordinates_stand_in_pinocchios_order_and_form() {
    let model = all_joints();
    let (q, _, _) = state(&model);
    let p = Map::new(&model, &free_flyer()).unwrap().q_to(&q).unwrap();
    let at = |name: &str| model.joints()[model.joint(name).unwrap().0].q.start;
    let (ball, root, wheel, table) = (at("ball"), at("root"), at("wheel"), at("table"));
    assert_close(&p[0..4], &[q[ball + 1], q[ball + 2], q[ball + 3], q[ball]], 1e-15);
    assert_close(&p[4..7], &q[root..root + 3], 1e-15);
    assert_close(&p[7..11], &[q[root + 4], q[root + 5], q[root + 6], q[root + 3]], 1e-15);
    assert_close(&p[11..13], &[q[wheel].cos(), q[wheel].sin()], 1e-15);
    assert_close(&p[13..17], &[q[table], q[table + 1], q[table + 2].cos(), q[table + 2].sin()], 1e-15);
    assert_close(&p[17..19], &[q[at("slide")] - 0.3, q[at("hinge")]], 1e-15);
}

#[test]
fn every_conversion_has_its_inverse() {
    let model = all_joints();
    let (q, v, a) = state(&model);
    for joints in [free_flyer(), split_root()] {
        let map = Map::new(&model, &joints).unwrap();
        let (p, pv) = (map.q_to(&q).unwrap(), map.v_to(&q, &v).unwrap());
        let pa = map.a_to(&q, &v, &a).unwrap();
        assert_close(&map.q_from(&p).unwrap(), &q, 1e-14);
        assert_close(&map.v_from(&p, &pv).unwrap(), &v, 1e-14);
        assert_close(&map.a_from(&p, &pv, &pa).unwrap(), &a, 1e-14);
        assert_close(&map.tau_from(&p, &map.tau_to(&q, &a).unwrap()).unwrap(), &a, 1e-14);
        let rows = [v.clone(), a.clone()].concat();
        let there = map.jacobian_to(&q, MatRef::new(&rows, 2, model.nv())).unwrap();
        assert_close(&map.jacobian_from(&p, MatRef::new(&there, 2, model.nv())).unwrap(), &rows, 1e-14);
    }
}

#[test]
fn a_quarter_turn_swaps_the_axes_of_linear_velocity() {
    let model = all_joints();
    let map = Map::new(&model, &free_flyer()).unwrap();
    let mut q = model.neutral().to_vec();
    let half = 0.5_f64.sqrt();
    q[3..7].copy_from_slice(&[half, 0.0, 0.0, half]); // about z: the body's x is the world's y
    let mut v = vec![0.0; model.nv()];
    v[..6].copy_from_slice(&[0.0, 2.0, 0.0, 0.1, 0.2, 0.3]);
    assert_close(&map.v_to(&q, &v).unwrap()[3..9], &[2.0, 0.0, 0.0, 0.1, 0.2, 0.3], 1e-15);
}

#[test]
fn power_and_task_velocities_are_the_same_in_both() {
    let model = all_joints();
    let (q, v, a) = state(&model);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for joints in [free_flyer(), split_root()] {
        let map = Map::new(&model, &joints).unwrap();
        let pv = map.v_to(&q, &v).unwrap();
        assert!((dot(&map.tau_to(&q, &a).unwrap(), &pv) - dot(&a, &v)).abs() < 1e-13);
        let row = map.jacobian_to(&q, MatRef::new(&a, 1, model.nv())).unwrap();
        assert!((dot(&row, &pv) - dot(&a, &v)).abs() < 1e-13);
    }
}

/// Along q(t) = q ⊕ t v, v(t) = v + t a Pinocchio's velocity changes by its acceleration.
#[test]
fn accelerations_are_derivatives_of_velocities() {
    let model = all_joints();
    let (q, v, a) = state(&model);
    for joints in [free_flyer(), split_root()] {
        let map = Map::new(&model, &joints).unwrap();
        let velocity = |t: f64| {
            let along: Vec<f64> = v.iter().map(|v| t * v).collect();
            let mut moved = vec![0.0; model.nq()];
            model.integrate(&q, &along, &mut moved).unwrap();
            let faster: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + t * a).collect();
            map.v_to(&moved, &faster).unwrap()
        };
        let h = 1e-5;
        let (ahead, behind) = (velocity(h), velocity(-h));
        let slope: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        assert_close(&map.a_to(&q, &v, &a).unwrap(), &slope, 1e-8); // truncation of the difference, h² |ω|³
    }
}

#[test]
fn with_a_split_root_velocities_are_only_reordered() {
    let model = all_joints();
    let (q, v, _) = state(&model);
    let pv = Map::new(&model, &split_root()).unwrap().v_to(&q, &v).unwrap();
    assert_close(&pv[3..6], &v[..3], 0.0);
    assert_close(&pv[12..15], &v[3..6], 0.0);
}

#[test]
fn joints_without_partner_or_of_another_kind_are_named() {
    let model = all_joints();
    let refused = |change: &dyn Fn(&mut Vec<PinJoint>)| {
        let mut joints = free_flyer();
        change(&mut joints);
        Map::new(&model, &joints).unwrap_err()
    };
    assert_eq!(refused(&|j| j.truncate(5)), MapError::MissingInPinocchio { joint: "hinge".into() });
    let extra = pin("tail", PinKind::Revolute, 19, 15, None);
    assert_eq!(refused(&|j| j.push(extra.clone())), MapError::MissingInModel { joint: "tail".into() });
    assert_eq!(refused(&|j| j[4].idx_v = 15), MapError::Layout { joint: "slide".into() });
    let kind = refused(&|j| j[5].kind = PinKind::Prismatic);
    assert_eq!(kind.to_string(), "joint 'hinge' is revolute here and prismatic in the Pinocchio model");
    let two_roots = |j: &mut Vec<PinJoint>| j.push(pin("other", PinKind::FreeFlyer, 19, 15, None));
    assert_eq!(refused(&two_roots), MapError::MissingInPinocchio { joint: "root".into() });
}

#[test]
fn wrong_lengths_and_numbers_are_refused() {
    let model = all_joints();
    let (q, v, _) = state(&model);
    let map = Map::new(&model, &free_flyer()).unwrap();
    assert_eq!(map.q_from(&q[1..]).unwrap_err().to_string(), "pin_q: expected 19 numbers, got 16");
    assert_eq!(map.v_to(&q, &v[1..]).unwrap_err().to_string(), "v: expected 15 numbers, got 14");
    let broken = [&[f64::NAN], &v[1..]].concat();
    assert_eq!(map.tau_to(&q, &broken).unwrap_err().to_string(), "tau[0] is not a finite number");
    assert!(map.q_from(&[0.0; 19]).unwrap_err().to_string().contains("quaternion"));
    let narrow = MatRef::new(&v, 1, 14);
    assert_eq!(map.jacobian_to(&q, narrow).unwrap_err().to_string(), "row of J: expected 15 numbers, got 14");
}
