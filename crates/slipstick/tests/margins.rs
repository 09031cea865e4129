//! Margins of patches and of redundant supports: those of the center of all loads that go with the motion.

use crate::corners::{BOX, FLOOR, scene};
use slipstick::step::Margins;
use slipstick::{Data, Input, Model, State, builtin, step};

fn margins(model: &Model, tau: &[f64]) -> Margins {
    let (mut data, x) = (Data::new(model), State::neutral(model));
    let mut next = x.clone();
    step(model, &mut data, &x, &Input::tau(tau), &mut next).unwrap().margins()
}

/// Thresholds of a box of 1 kg, 0.2 m wide, with friction 0.5 under 10 m/s²: pushed at its center, at the floor, tipped, lifted,
/// turned.
const THRESHOLDS: [[f64; 6]; 4] = [
    [5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [5.0, 0.0, 0.0, 0.0, -0.5, 0.0],
    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 10.0, 0.0, 0.0, 0.0],
];

#[test]
fn a_patch_about_to_slip_tip_or_lift_has_the_margin_of_the_whole() {
    let model = scene(&format!("{FLOOR}{BOX}"));
    let rest = margins(&model, &[0.0; 6]);
    assert!(rest.degenerate == 0 && rest.margin > 1e-3 && rest.margin < 0.1, "{rest:?}");
    for at in THRESHOLDS {
        let exact = margins(&model, &at);
        assert!(exact.degenerate > 0 && exact.margin < 1e-7, "{at:?}: {exact:?}");
        let below = |share: f64| margins(&model, &at.map(|x| (1.0 - share) * x)).margin;
        let [near, far] = [below(1e-4), below(1e-2)];
        assert!(near > 1e-7 && near < 1e-5, "{at:?}: {near:e}");
        assert!((far / near - 100.0).abs() < 20.0, "{at:?}: margins {near:e}, {far:e} grow with the distance");
    }
}

#[test]
fn loads_of_redundant_supports_do_not_depend_on_the_warm_start() {
    let model = builtin("quadruped").unwrap();
    let home = State::keyframe(&model, "home").unwrap();
    let ctrl = model.keyframes().iter().find(|k| k.name == "home").unwrap().ctrl.clone();
    let (mut data, mut x) = (Data::new(&model), home);
    let mut next = x.clone();
    for _ in 0..1500 {
        step(&model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).unwrap();
        std::mem::swap(&mut x, &mut next);
    }
    let mut views = [false, true].map(|cold| {
        if cold {
            data.clear_warm_start();
        }
        step(&model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).unwrap().constraints()
    });
    let [warm, cold] = &mut views;
    assert!(warm.len() == cold.len() && !warm.is_empty());
    for (a, b) in warm.iter().zip(cold.iter()) {
        let far = a.impulse.iter().zip(b.impulse).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-6 && a.mode == b.mode, "{a:?} {b:?}");
    }
}
