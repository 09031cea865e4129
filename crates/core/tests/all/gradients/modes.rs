//! What a step says about its modes: how far each is from a switch, and where a derivative holds for one side only.

use super::oracle::*;
use super::puck::{DT, MASS, puck};
use crate::physics::scene::*;
use slipstick_core::spatial::*;
use slipstick_core::step::ConstraintView;
use slipstick_core::*;

const MU: f64 = 0.3;

/// What the one contact of a puck says about itself.
fn contact(lab: &mut Lab) -> ConstraintView {
    let mut all: Vec<ConstraintView> =
        lab.step().constraints().into_iter().filter(|c| c.name.starts_with("contact")).collect();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn at(v: [f64; 3], tau: [f64; 3]) -> Lab {
    Lab::new(&puck(surface(MU, 0.0), |_| ()), &[0.0; 3], &v).tau(&tau)
}

#[test]
fn margins_are_the_changes_of_velocity_that_switch_the_mode() {
    // held: the weight of a step opens it, what friction has left makes it slip
    let pull = 0.5 * MU * MASS * G;
    let c = contact(&mut at([0.0; 3], [pull, 0.0, 0.0]));
    assert_eq!(c.mode, Mode::Stick);
    assert!((c.opening - G * DT).abs() < 1e-12, "{c:?}");
    assert!((c.slipping - 0.5 * MU * G * DT).abs() < 1e-12, "{c:?}");
    assert!(!c.degenerate);
    // sliding: its speed makes it stick
    let c = contact(&mut at([0.3, 0.4, 0.0], [0.0; 3]));
    assert_eq!(c.mode, Mode::Slide);
    assert!((c.slipping - (0.5 - MU * G * DT)).abs() < 1e-12, "{c:?}");
    assert!(!c.degenerate);
    // lifted: what is left of the pull closes it
    let c = contact(&mut at([0.0; 3], [0.0, 0.0, 1.5 * MASS * G]));
    assert_eq!(c.mode, Mode::Break);
    assert!((c.opening - 0.5 * G * DT).abs() < 1e-12, "{c:?}");
    assert!(!c.degenerate);
}

#[test]
fn what_is_undecided_says_so() {
    for tau in [[0.0, 0.0, MASS * G], [MU * MASS * G, 0.0, 0.0]] {
        let mut lab = at([0.0; 3], tau);
        assert!(contact(&mut lab).degenerate, "{tau:?}");
        assert!(lab.jacobian().is_finite(), "one of the sides");
        assert!(lab.step().explain().contains("one side"), "{}", lab.step().explain());
    }
}

#[test]
fn points_of_a_patch_that_sticks_are_not_undecided() {
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.5, 0.0));
    let half = vec3(0.1, 0.15, 0.05);
    w.block("box", MASS, half, Pose::translation(vec3(0.0, 0.0, 0.05)), surface(0.5, 0.0));
    let mut run = w.run();
    (0..50).for_each(|_| drop(run.attempt(&Input::default())));
    let mut lab = Lab::new(&run.model, &run.x.q, &run.x.v);
    assert_eq!(lab.step().constraints().len(), 4);
    assert!(lab.step().constraints().iter().all(|c| c.mode == Mode::Stick && !c.degenerate));
    assert!(lab.step().explain().lines().count() >= 4, "a sentence per contact: {}", lab.step().explain());
}
