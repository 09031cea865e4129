//! Derivatives with respect to the poses of mocap bodies, against differences of the step.

use slipstick_core::gradient::OutputGrad;
use slipstick_core::model::{
    Actuator, Equality, EqualityKind, FrameId, GeomSpec, JointId, JointKind, JointSpec, Shape, Transmission,
};
use slipstick_core::random::Rng;
use slipstick_core::spatial::*;
use slipstick_core::*;

const BALL: BodyInertia =
    BodyInertia { mass: 1.3, com: vec3(0.01, -0.02, 0.03), about_com: Sym3::diagonal(vec3(0.02, 0.03, 0.04)) };

/// What a mocap body does to the others.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tie {
    Contact,
    Weld,
    Connect,
    /// It carries a pendulum of two links.
    Joint,
    /// Drives act between its sites, those of what it carries and those of the ball.
    Drives,
    All,
}

/// A mocap plate, and a ball that touches it, is tied to it or hangs on it. A second mocap body does nothing.
fn scene(tie: Tie) -> Model {
    let mut b = ModelBuilder::new("mocap");
    b.add_geom(ModelBuilder::WORLD, GeomSpec::new("floor", Shape::Plane));
    b.add_mocap("idle", Pose::translation(vec3(3.0, 0.0, 0.0)), BodyInertia::default());
    let plate = b.add_mocap("plate", Pose::translation(vec3(0.0, 0.0, 0.5)), BALL);
    if matches!(tie, Tie::Joint | Tie::Drives | Tie::All) {
        let shoulder = JointKind::Revolute { axis: Vec3::UNITS[1] };
        // too weak for the weight that its drive should carry, with controls
        let joint =
            |name| JointSpec { driven_compensation: true, effort: [-0.1, 0.1], ..JointSpec::new(name, shoulder) };
        let hinge = |name| vec![joint(name)];
        let upper = b.add_link(plate, "upper", Pose::translation(vec3(0.1, 0.3, 0.0)), BALL, hinge("shoulder"));
        let ball = |name| vec![JointSpec::new(name, JointKind::Spherical)];
        b.add_link(upper, "lower", Pose::translation(vec3(0.0, 0.1, -0.3)), BALL, ball("elbow"));
        b.add_link(plate, "second", Pose::translation(vec3(-0.2, 0.3, 0.0)), BALL, ball("hip"));
        [plate, upper].into_iter().for_each(|link| b.compensate_gravity(link, 0.7));
    }
    let free = vec![JointSpec::new("root", JointKind::Free)];
    let ball = b.add_link(ModelBuilder::WORLD, "ball", Pose::translation(vec3(0.1, 0.0, 0.649)), BALL, free);
    if matches!(tie, Tie::Contact | Tie::All) {
        b.add_geom(plate, GeomSpec::new("plate", Shape::Box { half_size: vec3(0.5, 0.5, 0.05) }));
        b.add_geom(ball, GeomSpec::new("ball", Shape::Sphere { radius: 0.1 }));
    }
    if tie == Tie::Drives {
        add_drives(&mut b);
    }
    let frames = [plate, ball];
    let tie = match tie {
        Tie::Weld => {
            let pose = Pose::new(vec3(0.1, 0.0005, 0.149), Quat::exp(vec3(0.001, 0.002, -0.001)));
            Some(EqualityKind::Weld { frames, pose, anchor: vec3(0.1, 0.0, -0.1), torque_scale: 0.7 })
        }
        Tie::Connect => {
            Some(EqualityKind::Connect { frames, points: [vec3(0.1, 0.0, 0.2), vec3(0.0, 0.0005, 0.0505)] })
        }
        _ => None,
    };
    if let Some(kind) = tie {
        b.add_equality(Equality { name: "tie".into(), active: true, kind });
    }
    b.options.tolerance = 1e-14;
    b.options.contact_distance = 0.01;
    let _: FrameId = plate;
    b.build().expect("sound")
}

/// Servos of every kind between the mocap plate (link 2), the pendulum it carries (3) and the ball (6).
fn add_drives(b: &mut ModelBuilder) {
    let first = b.site_frame(0).0;
    for (k, link) in [2, 3, 6].into_iter().enumerate() {
        let pose = Pose::new(vec3(0.1, -0.2, 0.05 * k as f64), Quat::exp(vec3(0.3, 0.2 * k as f64, -0.4)));
        b.add_site(FrameId(link), format!("site{k}"), pose);
    }
    let [plate, arm, ball] = [0, 1, 2].map(|k| FrameId(first + k));
    let kinds = [
        Transmission::Site { site: ball, reference: Some(plate) },
        Transmission::Site { site: plate, reference: Some(arm) },
        Transmission::Site { site: plate, reference: None },
        Transmission::SliderCrank { crank: ball, slider: plate, rod: 3.0 },
        Transmission::SliderCrank { crank: plate, slider: arm, rod: 2.0 },
        Transmission::JointInParent(JointId(1)),
    ];
    for (k, transmission) in kinds.into_iter().enumerate() {
        let gear = [0.5, -0.3, 0.8, 0.1, 0.4, -0.2];
        let servo = Actuator::position(format!("drive{k}"), JointId(0), 1.0 + k as f64, 0.2);
        b.add_actuator(Actuator { transmission, gear, ..servo });
    }
}

struct Lab {
    model: Model,
    data: Data,
    x: State,
    next: State,
    mocap: Vec<f64>,
}

impl Lab {
    fn new(tie: Tie, draw: &mut Rng) -> Lab {
        let model = scene(tie);
        let mut x = State::neutral(&model);
        x.v.iter_mut().for_each(|v| *v = draw.between(-0.5, 0.5));
        let mut mocap = model.mocap_poses();
        if tie != Tie::Contact && tie != Tie::All {
            // errors that are corrected more slowly than max_speed: faster ones do not depend on the pose
            moved(&mut mocap, 1, &[0.001, -0.0005, 0.0003, 0.001, -0.001, 0.002]);
        } else {
            // the ball falls onto the plate
            moved(&mut mocap, 1, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.3]);
            x.v[model.nv() - 4] = -0.3;
        }
        Lab { data: Data::new(&model), next: x.clone(), x, model, mocap }
    }

    fn step(&mut self) -> Step<'_> {
        let Lab { model, data, x, next, mocap } = self;
        let ctrl = vec![0.4; model.nu()];
        step(model, data, x, &Input::ctrl(&ctrl).with_mocap(mocap), next).expect("a step")
    }

    /// The velocity after a step with the second mocap body moved along one of its directions, from a cold start.
    fn velocity(&mut self, body: usize, direction: usize, h: f64) -> Vec<f64> {
        let before = self.mocap.clone();
        let mut change = [0.0; 6];
        change[direction] = h;
        moved(&mut self.mocap, body, &change);
        self.step();
        self.mocap = before;
        self.next.v.clone()
    }
}

/// Moves a pose: position in world axes, rotation in its own.
fn moved(poses: &mut [f64], body: usize, by: &[f64; 6]) {
    let pose = &mut poses[7 * body..7 * body + 7];
    (0..3).for_each(|k| pose[k] += by[k]);
    let turn = Quat::from_slice(&pose[3..]).compose(Quat::exp(Vec3::from_slice(&by[3..])));
    pose[3..].copy_from_slice(&turn.to_array());
}

fn agrees(tie: Tie, seed: u64) {
    let mut draw = Rng(seed);
    let mut lab = Lab::new(tie, &mut draw);
    let (nv, n) = (lab.model.nv(), 12);
    let (mut dq, mut dv) = (vec![0.0; n * nv], vec![0.0; n * nv]);
    let report = *lab.step().report();
    assert!(report.residual < 1e-10, "{tie:?}: {report:?}");
    assert!(
        matches!(tie, Tie::Weld | Tie::Connect | Tie::Joint | Tie::Drives) || report.contacts == 1,
        "{tie:?}: {report:?}"
    );
    lab.step().mocap_jacobian(&mut dq, &mut dv).expect("a derivative");
    let scale = dv.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
    assert!(scale > 0.01, "{tie:?}: the pose has no effect");
    let h = 1e-5;
    for j in 0..n {
        let [plus, minus] = [h, -h].map(|h| lab.velocity(j / 6, j % 6, h));
        for i in 0..nv {
            let difference = (plus[i] - minus[i]) / (2.0 * h);
            let error = (dv[i * n + j] - difference).abs();
            assert!(error < 2e-6 * scale, "{tie:?}: dv[{i}]/d{j} is {}, not {difference}", dv[i * n + j]);
        }
    }
    // jvp and vjp are those of the matrix
    let along: Vec<f64> = (0..n).map(|_| draw.between(-1.0, 1.0)).collect();
    let weights: Vec<f64> = (0..nv).map(|_| draw.between(-1.0, 1.0)).collect();
    let (mut jq, mut jv, mut back) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; n]);
    lab.step().jvp_mocap(&along, &mut jq, &mut jv).expect("a derivative");
    let w = OutputGrad { q: &weights, v: &weights, impulses: &[], act: &[] };
    lab.step().vjp_mocap(w, &mut back).expect("a derivative");
    let dot = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
    for i in 0..nv {
        assert!((jq[i] - dot(&dq[i * n..(i + 1) * n], &along)).abs() < 1e-9 * scale);
        assert!((jv[i] - dot(&dv[i * n..(i + 1) * n], &along)).abs() < 1e-9 * scale);
    }
    let forward = dot(&jq, &weights) + dot(&jv, &weights);
    assert!((dot(&back, &along) - forward).abs() < 1e-9 * scale, "{tie:?}: the adjoint differs");
}

#[test]
fn what_a_mocap_body_touches_holds_or_carries_follows_its_pose() {
    for tie in [Tie::Contact, Tie::Weld, Tie::Connect, Tie::Joint, Tie::Drives, Tie::All] {
        (1..6).for_each(|seed| agrees(tie, seed));
    }
}

#[test]
fn a_given_pose_takes_the_place_of_that_of_the_file() {
    use slipstick_core::model::ParameterGroup::JointPlacement;
    let mut lab = Lab::new(Tie::Weld, &mut Rng(1));
    let weights = vec![1.0; lab.model.nv()];
    let w = OutputGrad { v: &weights, ..OutputGrad::default() };
    let mut gradient = vec![0.0; lab.model.parameters().group(JointPlacement).len()];
    lab.step().vjp_parameters(w, JointPlacement, &mut gradient).unwrap();
    // six numbers of each mocap body come first
    assert!(gradient[..12].iter().all(|x| *x == 0.0), "{gradient:?}");
    // without a pose, those of the model and of its parameters are the same
    lab.mocap.clear();
    lab.step().vjp_parameters(w, JointPlacement, &mut gradient).unwrap();
    let mut by_pose = vec![0.0; 12];
    lab.step().vjp_mocap(w, &mut by_pose).unwrap();
    assert!(gradient.iter().zip(&by_pose).all(|(a, b)| (a - b).abs() < 1e-12), "{gradient:?} {by_pose:?}");
    assert!(by_pose[6..].iter().any(|x| x.abs() > 1e-3));
}

#[test]
fn poses_that_make_no_sense_are_refused() {
    let mut lab = Lab::new(Tie::Weld, &mut Rng(1));
    let Lab { model, data, x, next, mocap } = &mut lab;
    let mut refused = |mocap: &[f64]| step(model, data, x, &Input::default().with_mocap(mocap), next).unwrap_err();
    assert_eq!(refused(&mocap[1..]).to_string(), "mocap: expected 14 numbers, got 13");
    mocap[2] = f64::NAN;
    assert_eq!(refused(mocap).to_string(), "mocap[2] is not a finite number");
    mocap[2] = 0.0;
    mocap[10..].fill(0.0);
    let error = refused(mocap).to_string();
    assert_eq!(error, "mocap: the quaternion of body 'plate' is zero, expected one with a direction");
    let error = lab.model.mocap("plat").unwrap_err().to_string();
    assert!(error.contains("mocap body named 'plat'") && error.contains("plate"), "{error}");
}
