//! All solvers agree where the answer is unique.

use super::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::model::{GeomSpec, JointKind, JointSpec, Shape, Solver};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// Steps the run with the default solver and every step also with the others; returns how many contacts had impulses.
fn compare(run: &mut Run, steps: usize, tolerance: f64) -> usize {
    let others = [Solver::Cold, Solver::Admm, Solver::Pgs].map(|solver| {
        let mut o = run.model.options().clone();
        (o.solver, o.max_iterations) = (solver, 20_000);
        Run::new(run.model.with_options(o).expect("sound options"))
    });
    let mut others = others;
    let mut loaded = 0;
    for _ in 0..steps {
        for other in &mut others {
            other.x = run.x.clone();
        }
        let said = run.step();
        loaded += said.contacts.iter().filter(|c| c.impulse.norm() > 0.0).count();
        for other in &mut others {
            let solver = other.model.options().solver;
            let report = other.attempt(&Input::default()).report;
            assert!(report.residual < 1e-8, "{solver:?} at {} s: {report:?}", run.x.time);
            let off = run.x.v.iter().zip(&other.x.v).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(off < tolerance, "{solver:?} differs by {off:e} m/s at {} s: {report:?}", run.x.time);
        }
    }
    loaded
}

#[test]
fn solvers_agree_on_balls_that_roll_and_hit() {
    for seed in 0..4 {
        let mut rng = Rng::new(1100 + seed);
        let mut w = World::new();
        let s = surface(rng.uniform(0.1, 0.8), 0.3);
        w.plane(Pose::IDENTITY, s);
        let mut v = Vec::new();
        for k in 0..4 {
            let (sin, cos) = (std::f64::consts::FRAC_PI_2 * k as f64).sin_cos();
            let radius = rng.uniform(0.05, 0.1);
            let at = vec3(0.25 * cos, 0.25 * sin, radius + rng.uniform(0.0, 0.01));
            w.ball(&format!("ball{k}"), rng.uniform(0.2, 2.0), radius, at, s);
            v.extend([-cos, -sin, 0.0]);
            v.extend(rng.vec3(5.0).to_array());
        }
        let mut run = w.run().thrown(&v);
        assert!(compare(&mut run, 400, 1e-7) > 500);
    }
}

#[test]
fn solvers_agree_on_three_feet() {
    for seed in 0..4 {
        let mut rng = Rng::new(1200 + seed);
        let mut w = World::new();
        let s = surface(rng.uniform(0.1, 0.8), 0.0);
        w.plane(Pose::IDENTITY, s);
        w.tripod(1.0, 0.06, Pose::new(vec3(0.0, 0.0, 0.08), Quat::exp(rng.vec3(0.03))), s);
        let mut run = w.run().thrown(&[rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), 0.0, 0.0, 0.0, 2.0]);
        assert!(compare(&mut run, 300, 1e-7) > 300);
    }
}

#[test]
fn solvers_agree_on_an_arm_that_scrapes_along_the_ground() {
    let mut w = World::new();
    let s = surface(0.5, 0.0);
    w.plane(Pose::IDENTITY, s);
    let inertia = BodyInertia { com: vec3(0.2, 0.0, 0.0), ..solid_box(1.0, vec3(0.2, 0.03, 0.03)) };
    let joint = |name: &str, axis| JointSpec {
        range: Some([-1.2, 1.2]),
        dry_friction: 0.05,
        damping: 0.1,
        ..JointSpec::new(name, JointKind::Revolute { axis })
    };
    let turn = joint("turn", Vec3::UNITS[2]);
    let lift = joint("lift", Vec3::UNITS[1]);
    let bend = joint("bend", Vec3::UNITS[1]);
    let at = Pose::translation(vec3(0.0, 0.0, 0.2));
    let upper = w.0.add_link(ModelBuilder::WORLD, "upper", at, inertia, vec![turn, lift]);
    let lower = w.0.add_link(upper, "lower", Pose::translation(vec3(0.4, 0.0, 0.0)), inertia, vec![bend]);
    let pose = Pose::translation(vec3(0.4, 0.0, 0.0));
    w.0.add_geom(lower, GeomSpec { pose, surface: s, ..GeomSpec::new("tip", Shape::Sphere { radius: 0.04 }) });
    let mut run = w.run().thrown(&[2.0, 0.0, 0.0]);
    assert!(compare(&mut run, 800, 1e-7) > 100);
}
