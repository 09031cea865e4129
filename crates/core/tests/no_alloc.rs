//! After construction nothing in the hot path allocates: every allocation of this binary is counted.

mod counting;

use counting::allocations;
use slipstick_core::dynamics::{Workspace, Wrench};
use slipstick_core::model::{
    Actuator, BodyId, FrameId, GeomSpec, JointId, JointKind, JointSpec, Mesh, Quantity, Sensor, SensorObject, Shape,
    Solver, Transmission,
};
use slipstick_core::sensors::Sensors;
use slipstick_core::spatial::*;
use slipstick_core::*;

/// A floating body with a ball, a planar joint, hinges and slides, springs and actuators.
fn model() -> Model {
    let mut b = ModelBuilder::new("all joints");
    let inertia = BodyInertia { mass: 1.0, com: vec3(0.1, 0.0, 0.2), about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let mut parent = ModelBuilder::WORLD;
    let kinds = [
        JointKind::Free,
        JointKind::Spherical,
        JointKind::Planar,
        JointKind::Revolute { axis: vec3(0.0, 1.0, 0.0) },
        JointKind::Revolute { axis: vec3(0.6, 0.0, 0.8) },
        JointKind::Prismatic { axis: vec3(1.0, 0.0, 0.0) },
    ];
    for (k, kind) in kinds.into_iter().enumerate() {
        let joint = JointSpec { stiffness: 1.0, damping: 0.1, ..JointSpec::new(format!("joint{k}"), kind) };
        parent = b.add_link(parent, format!("link{k}"), Pose::translation(vec3(0.0, 0.3, 0.1)), inertia, vec![joint]);
        b.add_actuator(Actuator::position(format!("drive{k}"), JointId(k), 10.0, 1.0));
    }
    // between bodies, and about axes of a parent
    let idle = Actuator { gear: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], ..Actuator::position("", JointId(0), 2.0, 0.1) };
    let (site, slider) = (parent, FrameId(2));
    for (k, transmission) in [
        Transmission::Site { site, reference: None },
        Transmission::Site { site, reference: Some(slider) },
        Transmission::SliderCrank { crank: site, slider, rod: 3.0 },
        Transmission::JointInParent(JointId(1)),
    ]
    .into_iter()
    .enumerate()
    {
        b.add_actuator(Actuator { name: format!("between{k}"), transmission, ..idle.clone() });
    }
    let measured = [Quantity::Force, Quantity::Accelerometer, Quantity::Quaternion, Quantity::SubtreeAngularMomentum];
    for quantity in measured {
        b.add_sensor(Sensor::new("", quantity, SensorObject::Frame(parent)));
    }
    b.build().expect("sound")
}

#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(vec![0.0; 100])) > 0);
}

#[test]
fn hot_algorithms_do_not_allocate() {
    let model = model();
    let (nv, nu, n) = (model.nv(), model.nu(), 10 * (model.n_bodies() - 1));
    let (q, v, a) = (model.neutral().to_vec(), vec![0.3; nv], vec![0.1; nv]);
    let wrenches = [Wrench::new(BodyId(3), vec3(1.0, 2.0, 3.0), vec3(0.1, 0.2, 0.3))];
    let (mut work, mut data, x) = (Workspace::new(&model), Data::new(&model), State::new(&model, &q, &v).unwrap());
    let (mut next, ctrl) = (x.clone(), vec![0.1; nu]);
    let (mut tau, mut one, mut two, mut three) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
    let (mut square, mut six, mut six2) = (vec![0.0; nv * nv], vec![0.0; 6 * nv], vec![0.0; 6 * nv]);
    let (mut wide, columns) = (vec![0.0; nv * n], vec![1.0; nv * 8]);
    let (mut solved, mut square2, mut to_ctrl) = (vec![0.0; nv * 8], vec![0.0; nv * nv], vec![0.0; nv * nu]);
    let (frame, mut sensors) = (FrameId(4), Sensors::new(&model));
    for round in 0..2 {
        let count = allocations(|| {
            work.rnea(&model, &q, &v, &a, &wrenches, &mut tau).unwrap();
            work.aba(&model, &q, &v, &tau, &wrenches, &mut one).unwrap();
            work.bias(&model, &q, &v, &mut one).unwrap();
            work.crba(&model, &q, &mut square).unwrap();
            work.factor(&model, &q).unwrap();
            work.solve(&model, &mut one).unwrap();
            work.solve_columns(&model, 8, &columns, &mut solved).unwrap();
            work.mass_inverse(&model, &q, &mut square).unwrap();
            work.kinematics(&model, &q).unwrap();
            work.frame_pose(&model, frame).unwrap();
            work.jacobian(&model, &q, frame, &mut six).unwrap();
            work.velocity(&model, &q, &v, frame).unwrap();
            work.velocity_derivatives(&model, &q, &v, frame, &mut six, &mut six2).unwrap();
            work.kinematics_derivatives(&model, &q, &v, &a).unwrap();
            work.rnea_derivatives(&model, &q, &v, &a, &wrenches).unwrap();
            work.aba_derivatives(&model, &q, &v, &tau, &wrenches).unwrap();
            work.rnea_vjp(&model, &q, &v, &a, &wrenches, &v, [&mut one, &mut two, &mut three]).unwrap();
            work.regressor(&model, &q, &v, &a, &mut wide).unwrap();
            work.aba_inertial_derivatives(&model, &q, &v, &tau, &mut wide).unwrap();
            work.center_of_mass(&model, &q).unwrap();
            work.energy(&model, &q, &v).unwrap();
            work.momentum(&model, &q, &v).unwrap();
            work.passive(&model, &q, &v, &mut tau).unwrap();
            work.actuate(&model, &q, &v, &ctrl, &mut tau).unwrap();
            let out = [&mut square[..], &mut square2[..], &mut to_ctrl[..]];
            work.actuate_derivatives(&model, &q, &v, &ctrl, out).unwrap();
            step(&model, &mut data, &x, &Input::tau(&a).with_wrenches(&wrenches), &mut next).unwrap();
            let done = step(&model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).unwrap();
            done.sensors(&mut sensors).unwrap();
        });
        assert_eq!(count, 0, "round {round}");
    }
}

/// Ten shapes of every kind thrown together over a floor, each free.
fn heap() -> Model {
    let mut b = ModelBuilder::new("heap");
    let corners = (0..8).map(|k| vec3((k & 1) as f64, (k >> 1 & 1) as f64, (k >> 2) as f64) * 0.2).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let mesh = b.add_mesh(Mesh { name: "cube".into(), vertices: corners, triangles });
    b.add_geom(ModelBuilder::WORLD, GeomSpec::new("floor", Shape::Plane));
    let inertia = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let shapes = [
        Shape::Sphere { radius: 0.1 },
        Shape::Capsule { radius: 0.05, half_length: 0.1 },
        Shape::Cylinder { radius: 0.1, half_length: 0.1 },
        Shape::Cone { radius: 0.1, half_length: 0.1 },
        Shape::Box { half_size: vec3(0.1, 0.12, 0.08) },
        Shape::Ellipsoid { radii: vec3(0.1, 0.12, 0.08) },
        Shape::Mesh { mesh },
    ];
    for k in 0..10 {
        let joint = JointSpec::new(format!("joint{k}"), JointKind::Free);
        let link = b.add_link(ModelBuilder::WORLD, format!("link{k}"), Pose::IDENTITY, inertia, vec![joint]);
        b.add_geom(link, GeomSpec::new(format!("geom{k}"), shapes[k % shapes.len()]));
    }
    b.build().expect("sound")
}

#[test]
fn detection_allocates_only_when_its_memory_grows_and_repeats_itself() {
    use slipstick_core::collision::{CollisionGradient, ContactSet, contact_derivatives, detect};
    let model = heap();
    let mut set = ContactSet::new(&model);
    let poses = |t: f64| -> Vec<Pose> {
        let place = |k: usize| {
            let a = k as f64;
            let turn = Quat::exp(vec3((a + t).sin(), (2.0 * a - t).cos(), (3.0 * a + 2.0 * t).sin()) * 2.0);
            Pose::new(vec3(0.2 * (a * 1.7).sin(), 0.2 * (a * 2.3).cos(), 0.1 + 0.05 * (a + t).sin()), turn)
        };
        std::iter::once(Pose::IDENTITY).chain((0..10).map(place)).collect()
    };
    let mut most = 0;
    for round in 0..2 {
        for k in 0..200 {
            let bodies = poses(0.05 * k as f64);
            let before = set.growths();
            let used = allocations(|| detect(&model, &bodies, &mut set).expect("sound"));
            assert!(used == 0 || set.growths() > before || k == 0, "{used} allocations in round {round}, pose {k}");
            assert!(round == 0 || used == 0, "after warm-up nothing grows");
            most = most.max(set.contacts().len());
            let first = allocations(|| {
                let _ = contact_derivatives(&model, &bodies, &mut set, 0, &CollisionGradient::Exact);
            });
            assert_eq!(first, 0);
            let again = set.contacts().to_vec();
            detect(&model, &bodies, &mut set).expect("sound");
            assert_eq!(again.len(), set.contacts().len(), "the search repeats itself");
        }
    }
    assert!(most > 30, "a heap has many contacts, not {most}");
    // from scratch, and after forgetting, the same bits
    let bodies = poses(1.0);
    let mut fresh = ContactSet::new(&model);
    detect(&model, &bodies, &mut fresh).expect("sound");
    set.clear_searches();
    detect(&model, &bodies, &mut set).expect("sound");
    assert_eq!(fresh.contacts(), set.contacts());
}

#[test]
fn steps_of_a_heap_allocate_only_when_memory_grows_and_repeat_themselves_bit_for_bit() {
    for solver in Solver::ALL {
        let mut options = heap().options().clone();
        (options.solver, options.max_iterations) = (solver, 60);
        let model = heap().with_options(options).expect("sound");
        let mut start = State::neutral(&model);
        for k in 0..10 {
            let a = k as f64;
            let place = [0.3 * (a * 1.7).sin(), 0.3 * (a * 2.3).cos(), 0.3 + 0.25 * a];
            start.q[7 * k..7 * k + 3].copy_from_slice(&place);
        }
        let (mut data, mut growths, mut ends) = (Data::new(&model), 0, Vec::new());
        for round in 0..2 {
            data.clear_warm_start();
            let (mut x, mut next) = (start.clone(), start.clone());
            for k in 0..600 {
                let before = growths;
                let used = allocations(|| {
                    let done = step(&model, &mut data, &x, &Input::default(), &mut next).expect("sound");
                    growths = done.report().growths;
                });
                assert!(used == 0 || growths > before, "{}: {used} allocations in step {k}", solver.name());
                assert!(used == 0 || round == 0, "{}: {used} allocations after warm-up, step {k}", solver.name());
                std::mem::swap(&mut x, &mut next);
            }
            ends.push(x);
        }
        assert_eq!(ends[0], ends[1], "{}", solver.name());
    }
}
