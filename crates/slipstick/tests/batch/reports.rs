//! What batches tell about their last call.

use super::scene::{Scene, row};
use slipstick::rollout::{EnvironmentReport, Memory};
use slipstick::*;

/// Environments whose last ones solve badly: a single factorization is not enough for what lands.
fn some_do_not_converge() -> Scene {
    let mut scene = Scene::falling("quadruped", 4, false);
    let (mut options, home) = (scene.models[0].options().clone(), Simulator::new(&scene.models[0]).state().clone());
    options.max_iterations = 1;
    (2..4).for_each(|i| scene.models[i] = scene.models[i].with_options(options.clone()).unwrap());
    let nq = scene.models[0].nq();
    for q in scene.q.chunks_exact_mut(nq) {
        q[..3].copy_from_slice(&home.q[..3]);
        q[2] -= 0.02;
    }
    scene
}

/// Growths are of the memory that made the step, which environments share.
fn without_growths(mut report: SolveReport) -> SolveReport {
    report.growths = 0;
    report
}

fn reports(batch: &Batch) -> Vec<EnvironmentReport> {
    batch.reports().copied().collect()
}

#[test]
fn a_step_has_the_reports_of_single_steps() {
    let mut scene = some_do_not_converge();
    let (mut batch, mut sims, (ctrl, tau)) = (scene.batch(2), scene.simulators(), scene.input());
    assert!(batch.reports().all(|r| *r == EnvironmentReport::default() && r.is_converged()));
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    batch.step(&scene.q, &scene.v, &Input::tau(&tau).with_ctrl(&ctrl), &mut q, &mut v).unwrap();
    for (i, (sim, report)) in sims.iter_mut().zip(batch.reports()).enumerate() {
        let input = Input::tau(row(&tau, 4, i)).with_ctrl(row(&ctrl, 4, i));
        let expected = *sim.step(&input).unwrap().report();
        assert_eq!(without_growths(report.worst), without_growths(expected));
        let failed = expected.status == Status::NotConverged;
        assert_eq!(failed, i >= 2, "environment {i}: {expected:?}");
        assert_eq!((report.steps, report.not_converged, report.contacts), (1, usize::from(failed), expected.contacts));
        assert_eq!((report.is_converged(), report.status_name()), (!failed, expected.status.name()));
    }
}

#[test]
fn a_rollout_has_the_worst_of_its_steps_and_the_last_contacts() {
    let (scene, steps) = (some_do_not_converge(), 30);
    for memory in [None, Some(Memory::Recompute)] {
        let (mut batch, mut sims) = (scene.batch(2), scene.simulators());
        let (mut q, mut v) = (vec![0.0; scene.q.len() * (steps + 1)], vec![0.0; scene.v.len() * (steps + 1)]);
        let start = [&scene.q[..], &scene.v[..]];
        batch.rollout(steps, memory, start, &Input::default(), [&mut q, &mut v]).unwrap();
        for (sim, report) in sims.iter_mut().zip(batch.reports()) {
            let all: Vec<_> = (0..steps).map(|_| *sim.step(&Input::default()).unwrap().report()).collect();
            let not_converged = all.iter().filter(|r| r.status == Status::NotConverged).count();
            assert_eq!((report.steps, report.not_converged), (steps, not_converged));
            assert_eq!(report.contacts, all[steps - 1].contacts);
            let most = |f: fn(&SolveReport) -> f64| all.iter().map(f).fold(0.0, f64::max);
            assert_eq!(report.worst.residual, most(|r| r.residual));
            assert_eq!(f64::from(report.worst.iterations), most(|r| f64::from(r.iterations)));
            assert_eq!(report.worst.degenerate as f64, most(|r| r.degenerate as f64));
            assert_eq!(report.worst.margin, all.iter().fold(f64::INFINITY, |least, r| least.min(r.margin)));
            assert_eq!(Some(report.worst.status), all.iter().map(|r| r.status).max());
        }
        assert!(reports(&batch)[..2].iter().all(EnvironmentReport::is_converged));
        assert!(reports(&batch)[2..].iter().all(|r| r.not_converged > 0));
    }
}

#[test]
fn environments_that_fail_have_a_status_of_their_own() {
    let scene = Scene::falling("quadruped", 3, false);
    let (mut batch, nv) = (scene.batch(1), scene.models[0].nv());
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    let mut broken = scene.v.clone();
    broken[nv] = f64::NAN;
    assert!(batch.step(&scene.q, &broken, &Input::default(), &mut q, &mut v).is_err());
    let told: Vec<_> = batch.reports().map(|r| (r.status_name(), r.is_converged(), r.steps)).collect();
    assert_eq!(told, [("converged", true, 1), ("failed", false, 0), ("converged", true, 1)]);
    // in the third step of a rollout
    let mut tau = vec![0.0; 3 * 5 * nv];
    tau[5 * nv + 2 * nv] = f64::NAN;
    let (mut q, mut v) = (vec![0.0; scene.q.len() * 6], vec![0.0; scene.v.len() * 6]);
    assert!(batch.rollout(5, None, [&scene.q, &scene.v], &Input::tau(&tau), [&mut q, &mut v]).is_err());
    let report = reports(&batch)[1];
    assert!(report.failed && report.steps == 2 && report.worst.residual.is_nan() && report.worst.margin.is_nan());
    assert_eq!((report.not_converged, report.contacts, report.worst.iterations), (0, 0, 0));
    // what is refused as a whole was not done
    let before = reports(&batch)[0];
    assert!(batch.step(&[], &[], &Input::default(), &mut [], &mut []).is_err());
    assert_eq!(reports(&batch)[0], before);
}
