//! The same run twice is the same run, bit for bit, also from the middle on.

use super::scene::*;
use slipstick_core::model::Solver;
use slipstick_core::spatial::*;
use slipstick_core::*;

#[test]
fn two_runs_are_the_same_to_the_last_bit() {
    for solver in Solver::ALL {
        let trace = || {
            let mut run = tumbling(1000, 3, 0.5, |o| o.solver = solver);
            let one = |_| {
                let said = run.attempt(&Input::default());
                let impulses = said.contacts.iter().flat_map(|c| c.impulse.to_array());
                (bits(&run.x), impulses.map(f64::to_bits).collect::<Vec<u64>>())
            };
            (0..if solver == Solver::Auto { 1500 } else { 300 }).map(one).collect::<Vec<_>>()
        };
        assert!(trace() == trace(), "{solver:?}");
    }
}

#[test]
fn a_state_and_a_warm_start_repeat_the_rest_of_a_run() {
    let mut run = tumbling(1001, 3, 0.5, |_| ());
    for at in [50, 250, 300, 600] {
        while run.x.time < 1e-3 * at as f64 {
            run.step();
        }
        let (x, warm) = (run.x.clone(), run.data.warm_start());
        let first: Vec<_> = (0..100).map(|_| (run.step().report.iterations, bits(&run.x))).collect();

        // on the used memory
        run.data.restore(&warm).expect("its own warm start");
        run.x = x.clone();
        let again: Vec<_> = (0..100).map(|_| (run.step().report.iterations, bits(&run.x))).collect();
        assert!(first == again, "restored at {at} ms");

        // on fresh memory, from bytes
        let copy = WarmStart::from_bytes(&warm.to_bytes()).expect("bytes of a warm start");
        assert!(copy == warm);
        let mut fresh = Run::new(run.model.clone());
        fresh.data.restore(&copy).expect("a warm start of the same model");
        fresh.x = x;
        let there: Vec<_> = (0..100).map(|_| (fresh.step().report.iterations, bits(&fresh.x))).collect();
        assert!(first == there, "carried over at {at} ms");
    }
}

#[test]
fn cleared_memory_is_like_new_memory() {
    let mut run = tumbling(1002, 2, 0.5, |_| ());
    run.go(500);
    run.data.clear_warm_start();
    let mut fresh = Run::new(run.model.clone());
    fresh.x = run.x.clone();
    for _ in 0..200 {
        run.step();
        fresh.step();
        assert!(bits(&run.x) == bits(&fresh.x), "at {} s", run.x.time);
    }
}

/// Largest difference between steps from a warm start and steps without one [m/s].
fn difference(mut warm: Run, steps: usize) -> f64 {
    let mut cold = Run::new(warm.model.clone());
    let mut most = 0.0_f64;
    for _ in 0..steps {
        cold.x = warm.x.clone();
        cold.data.clear_warm_start();
        warm.step();
        cold.step();
        most = warm.x.v.iter().zip(&cold.x.v).fold(most, |m, (a, b)| m.max((a - b).abs()));
    }
    most
}

#[test]
fn a_warm_start_does_not_change_the_solution() {
    let mut w = World::new();
    let s = surface(0.3, 0.0);
    w.plane(Pose::IDENTITY, s);
    w.tripod(1.0, 0.06, Pose::new(vec3(0.0, 0.0, 0.1), Quat::exp(vec3(0.05, -0.02, 0.3))), s);
    let off = difference(w.run().thrown(&[1.0, 0.5, 0.0, 0.0, 0.0, 3.0]), 600);
    assert!(off < 1e-8, "three points: {off:e} m/s");
    // four points share their load by a compliance of 1e-6, which the tolerance of 1e-10 resolves to four digits
    let off = difference(tumbling(1003, 1, 0.6, |_| ()), 1000);
    assert!(off < 2e-5, "four points: {off:e} m/s");
}

#[test]
fn broken_bytes_are_no_warm_start() {
    let mut run = tumbling(1004, 2, 0.5, |_| ());
    run.go(400);
    let bytes = run.data.warm_start().to_bytes();
    for cut in [0, 1, 7, bytes.len() / 2, bytes.len() - 1] {
        if let Ok(warm) = WarmStart::from_bytes(&bytes[..cut]) {
            // a shorter warm start may be read, but then it is not the same one
            assert!(warm != run.data.warm_start(), "{cut} of {} bytes", bytes.len());
        }
    }
}
