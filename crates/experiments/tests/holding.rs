//! Torques that hold a pose.

use slipstick_experiments::holding::{
    Feedback, HANDSTAND, PAYLOAD, PUSH_UP, Proof, STAND, Stance, Start, Task, Way, hold,
};
use slipstick_experiments::{Claim, Drives, Settings, run};

/// Looks for torques and hands them to `look`.
fn with_task(stance: &Stance, limits: Option<f64>, look: impl Fn(Task)) {
    let model = stance.robot(None).unwrap();
    let rest = stance.find(&model).unwrap();
    let mut drives = Drives::of(&model);
    if let Some(limit) = limits {
        drives.limits.fill([-limit, limit]);
    }
    look(Task { model: &model, drives: &drives, q: &rest.q, limited: limits.is_some() });
}

#[test]
fn every_pose_is_held_by_torques_found_from_zero_and_from_random_ones() {
    for stance in [STAND, PAYLOAD, HANDSTAND, PUSH_UP] {
        with_task(&stance, None, |task| {
            let exact = task.search(Way::Exact, Start::Zero).unwrap();
            assert!(exact.iterations_to(1e-5).is_some_and(|n| n <= 10), "{}: {:?}", stance.name, exact.errors);
            for start in [Start::Zero, Start::Random(1), Start::Random(2)] {
                let found = task.search(Way::Central, start).unwrap();
                assert!(found.error() < 1e-10, "{}, {start:?}: {:?}", stance.name, found.errors);
                assert!(found.errors.len() == found.seconds.len() && found.seconds.is_sorted(), "{found:?}");
                let proof = Proof::of(task.model, task.drives, task.q, &found.torques).unwrap();
                assert!(proof.velocity < 1e-8 && proof.residual < 1e-9, "{}: {proof:?}", stance.name);
                assert!(proof.least_normal() > 0.0 && proof.most_friction() < 1.0 + 1e-9, "{}: {proof:?}", stance.name);
                // of 500 N; a step from a cold start shares the load of two points on an edge in its own way
                assert!(proof.imbalance < 1e-5, "{}: {proof:?}", stance.name);
            }
        });
    }
}

#[test]
fn a_payload_is_carried_by_the_feet() {
    let bare = STAND.robot(None).unwrap().total_mass();
    with_task(&PAYLOAD, None, |task| {
        let found = task.search(Way::Exact, Start::Zero).unwrap();
        let proof = Proof::of(task.model, task.drives, task.q, &found.torques).unwrap();
        let pressed: f64 = proof.forces.iter().map(|f| f.normal).sum();
        assert!((pressed - 9.81 * (bare + 10.0)).abs() < 1e-6, "{pressed}");
    });
}

#[test]
fn torques_stay_within_limits_that_a_free_search_leaves() {
    let limit = 7.0;
    let largest = |torques: &[f64]| torques.iter().fold(0.0, |m: f64, t| m.max(t.abs()));
    with_task(&STAND, None, |task| {
        let free = task.search(Way::Exact, Start::Random(2)).unwrap();
        assert!(free.error() < 1e-10 && largest(&free.torques) > limit, "{:?}", free.torques);
    });
    with_task(&STAND, Some(limit), |task| {
        for start in [Start::Zero, Start::Random(2), Start::Random(3)] {
            let held = task.search(Way::Central, start).unwrap();
            assert!(held.error() < 1e-10 && largest(&held.torques) <= limit, "{start:?}: {held:?}");
        }
    });
}

#[test]
fn limits_that_cannot_hold_the_robot_leave_an_error() {
    with_task(&STAND, Some(2.0), |task| {
        let weak = task.search(Way::Central, Start::Zero).unwrap();
        assert!(weak.error() > 1e-3 && weak.torques.iter().all(|t| t.abs() <= 2.0), "{weak:?}");
    });
}

#[test]
fn wrong_torques_do_not_pass_for_right_ones() {
    with_task(&STAND, None, |task| {
        let mut torques = task.search(Way::Exact, Start::Zero).unwrap().torques;
        torques[2] += 1e-3;
        let proof = Proof::of(task.model, task.drives, task.q, &torques).unwrap();
        assert!(proof.velocity > 1e-7 && proof.imbalance > 1e-4, "{proof:?}");
    });
}

#[test]
fn feedback_holds_what_constant_torques_let_go() {
    with_task(&HANDSTAND, None, |task| {
        let mut torques = task.search(Way::Central, Start::Zero).unwrap().torques;
        torques[1] += 0.01; // a front thigh
        let held = |feedback| hold(task.model, task.drives, task.q, &torques, feedback, 0.5).unwrap();
        let constant = held(Feedback::default());
        let stiff = held(Feedback { stiffness: 100.0, damping: 5.0 });
        assert!(constant.joints > 20.0 * stiff.joints, "{:e} against {:e}", constant.joints, stiff.joints);
        assert_eq!(stiff.trajectory.steps(), 500);
    });
}

#[test]
fn the_handstand_reports_that_all_its_claims_hold() {
    let mut lines = Vec::new();
    let report = run("quadruped-handstand", &Settings::default(), &mut |line| lines.push(line.to_string())).unwrap();
    let failed: Vec<&Claim> = report.claims.iter().filter(|c| !c.holds()).collect();
    assert!(report.holds(), "{failed:?}");
    assert!(lines.len() == 7 && report.summary.iter().any(|l| l.contains("out of balance")), "{:?}", report.summary);
    assert_eq!(report.figures.len(), 3);
    assert!(report.figures.iter().all(|(_, svg)| svg.starts_with("<svg")));
    assert!(report.motion.is_some_and(|m| m.trajectory.steps() == 1000));
    assert_eq!(report.data["torques"].as_array().map(Vec::len), Some(12));
}

#[test]
fn a_folder_without_robots_is_named() {
    let mut settings = Settings::default();
    settings.models = Some("no such folder".into());
    let error = run("biped-push-up", &settings, &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains("no such folder"), "{error}");
}
