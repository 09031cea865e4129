//! The laws of contact, impulse by impulse: Newton's second, Signorini's, Coulomb's, and no work done by contact.
//! Free velocities come from the same step without pairs, Jacobians from kinematics.

use super::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::spatial::*;
use slipstick_core::*;

/// The run's model without any pair, to see what would happen without contact.
struct Ghost {
    model: Model,
    data: Data,
    next: State,
}

impl Ghost {
    fn new(run: &Run) -> Ghost {
        let model = run.model.with_pair_rule(PairRule::List(Vec::new())).expect("no pairs are a sound list");
        Ghost { data: Data::new(&model), next: State::neutral(&model), model }
    }

    fn free_velocity(&mut self, x: &State) -> Vec<f64> {
        step(&self.model, &mut self.data, x, &Input::default(), &mut self.next).expect("a finite step");
        self.next.v.clone()
    }
}

/// Rows of a contact: velocity of body 2 against body 1 at the point, along (T, T, N), per unit of v.
fn rows(run: &mut Run, q: &[f64], c: &ContactView) -> [Vec<f64>; 3] {
    let nv = run.model.nv();
    let mut rows = [vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]];
    for (body, sign) in c.bodies.into_iter().zip([-1.0, 1.0]) {
        if body == BodyId::WORLD {
            continue;
        }
        let frame = run.model.bodies()[body.0].link;
        let mut jacobian = vec![0.0; 6 * nv];
        run.work.jacobian(&run.model, q, frame, &mut jacobian).expect("a sound state");
        let arm = c.point - run.work.frame_pose(&run.model, frame).expect("a frame of the model").position;
        for j in 0..nv {
            let column = |k: usize| vec3(jacobian[k * nv + j], jacobian[(k + 1) * nv + j], jacobian[(k + 2) * nv + j]);
            let velocity = c.frame.tmul(column(0) + column(3).cross(arm));
            (0..3).for_each(|k| rows[k][j] += sign * velocity[k]);
        }
    }
    rows
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Checks one step of a run against all the laws. Returns its largest impulse [N·s].
fn lawful_step(run: &mut Run, ghost: &mut Ghost) -> f64 {
    let (x, options) = (run.x.clone(), run.model.options().clone());
    let free = ghost.free_velocity(&x);
    let said = run.step();
    let (nv, after) = (run.model.nv(), run.x.v.clone());
    let change: Vec<f64> = after.iter().zip(&free).map(|(a, f)| a - f).collect();
    let mut mass = vec![0.0; nv * nv];
    run.work.crba(&run.model, &x.q, &mut mass).expect("a sound state");
    let damping = run.model.damping().iter().enumerate();
    damping.for_each(|(j, d)| mass[j * (nv + 1)] += options.dt * d); // taken at the end of the step
    let mut left: Vec<f64> = mass.chunks(nv).map(|row| dot(row, &change)).collect();
    let (mut work, mut most) = (0.0, 0.0_f64);
    let shift = said.report.compliance_shift;
    for c in &said.contacts {
        let rows = rows(run, &x.q, c);
        let lambda = c.frame.tmul(c.impulse);
        let velocity = Vec3::from([0, 1, 2].map(|k| dot(&rows[k], &after)));
        let before = Vec3::from([0, 1, 2].map(|k| dot(&rows[k], &free)));
        assert!((velocity - c.velocity).norm() < 1e-10, "{velocity:?} {:?}", c.velocity);
        left.iter_mut().enumerate().for_each(|(j, l)| *l -= (0..3).map(|k| rows[k][j] * lambda[k]).sum::<f64>());
        work += 0.5 * lambda.dot(before + velocity);
        most = most.max(lambda.norm());
        coulomb(c, lambda, shift, &options);
    }
    assert!(largest(&left) < 1e-11, "momentum without an impulse: {:e}", largest(&left));
    assert!(work <= 1e-12, "contact did {work:e} J of work at {} s", x.time);
    most
}

/// The law of a single contact without restitution.
fn coulomb(c: &ContactView, lambda: Vec3, shift: f64, options: &Options) {
    let (pull, slip) = (lambda.x.hypot(lambda.y), c.velocity.x.hypot(c.velocity.y));
    // the solver's tolerance in units of velocity; `shift` is what compliance adds to the normal
    let small = 1e-9;
    let gap = c.velocity.z + demanded(c.distance, options);
    assert!(lambda.z >= 0.0 && pull <= c.friction * lambda.z + small, "{lambda:?} leaves its cone");
    assert!(gap >= -shift - small, "it sinks in with {gap:e} m/s");
    assert!(lambda.z.min(gap - shift) < small, "{lambda:?} over a gap that opens with {gap:e} m/s");
    if slip > 1e-6 && lambda.z > 1e-6 {
        let along = (lambda.x * c.velocity.x + lambda.y * c.velocity.y) / slip;
        assert!((along + c.friction * lambda.z).abs() < 1e-6 * (1.0 + pull), "{lambda:?} against {:?}", c.velocity);
    }
}

/// Velocity that the distance demands along the normal, with the sign of a gap.
fn demanded(distance: f64, o: &Options) -> f64 {
    let Correction { full_depth, beta, max_speed } = o.correction;
    let depth = if distance >= -full_depth { distance } else { -full_depth + beta * (distance + full_depth) };
    (depth / o.dt).max(-max_speed)
}

fn without_correction(o: &mut Options) {
    o.correction.full_depth = 0.0;
    o.correction.beta = 0.0;
}

#[test]
fn impulses_of_a_tumbling_box_obey_newton_and_coulomb_and_do_no_work() {
    for seed in 0..8 {
        let mut run = tumbling(500 + seed, 1, [0.0, 0.2, 0.6, 2.0][seed as usize % 4], without_correction);
        let mut ghost = Ghost::new(&run);
        let most = (0..1000).map(|_| lawful_step(&mut run, &mut ghost)).fold(0.0, f64::max);
        assert!(most > 0.1, "nothing happened");
    }
}

#[test]
fn impulses_among_boxes_obey_newton_and_coulomb_and_do_no_work() {
    for seed in 0..3 {
        let mut run = tumbling(600 + seed, 4, 0.5, without_correction);
        let mut ghost = Ghost::new(&run);
        let most = (0..1000).map(|_| lawful_step(&mut run, &mut ghost)).fold(0.0, f64::max);
        assert!(most > 0.1, "nothing happened");
    }
}

#[test]
fn impulses_on_a_jointed_arm_obey_newton_and_coulomb_and_do_no_work() {
    let mut rng = Rng(7);
    for _ in 0..4 {
        let mut w = World::new();
        let s = surface(rng.uniform(0.2, 1.0), 0.0);
        w.plane(Pose::IDENTITY, s);
        let mut parent = ModelBuilder::WORLD;
        for k in 0..4 {
            let kind = match k {
                0 => JointKind::Free,
                2 => JointKind::Spherical,
                _ => JointKind::Revolute { axis: rng.vec3(1.0).normalized().expect("not zero") },
            };
            let at = if k == 0 { vec3(0.0, 0.0, 0.6) } else { vec3(0.3, 0.0, 0.0) };
            let inertia = BodyInertia { com: vec3(0.15, 0.0, 0.0), ..solid_box(1.0, vec3(0.15, 0.03, 0.03)) };
            let damping = if k == 3 { 0.5 } else { 0.0 };
            let joint = JointSpec { damping, ..JointSpec::new(format!("joint{k}"), kind) };
            parent = w.0.add_link(parent, format!("link{k}"), Pose::translation(at), inertia, vec![joint]);
            let pose = Pose::new(inertia.com, Quat::exp(vec3(0.0, std::f64::consts::FRAC_PI_2, 0.0)));
            let shape = Shape::Capsule { radius: 0.03, half_length: 0.1 };
            w.0.add_geom(parent, GeomSpec { pose, surface: s, ..GeomSpec::new(format!("link{k}"), shape) });
        }
        let mut run = Run::new(w.build(without_correction));
        let v = rng.vector(11, 1.0);
        run.x.v.copy_from_slice(&v);
        let mut ghost = Ghost::new(&run);
        let most = (0..1000).map(|_| lawful_step(&mut run, &mut ghost)).fold(0.0, f64::max);
        assert!(most > 0.1, "nothing happened");
    }
}

#[test]
fn with_correction_and_default_options_only_the_gap_may_do_work() {
    // laws of the single contact hold as well when overlaps are taken back
    for seed in 0..4 {
        let mut run = tumbling(700 + seed, 2, 0.5, |_| ());
        for _ in 0..1000 {
            let said = run.step();
            let options = run.model.options().clone();
            for c in &said.contacts {
                coulomb(c, c.frame.tmul(c.impulse), said.report.compliance_shift, &options);
            }
        }
    }
}
