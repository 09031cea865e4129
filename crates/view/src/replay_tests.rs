//! What is recorded, and what is refused.

use super::*;
use slipstick::control::{Controller, Random};
use slipstick::{Data, Input, Simulator, builtin, step};

fn stands() -> (Model, State) {
    let model = builtin("quadruped").unwrap();
    let x = State::keyframe(&model, "home").unwrap();
    (model, x)
}

#[test]
fn ten_seconds_of_a_quadruped_are_small() {
    let (model, _) = stands();
    let mut sim = Simulator::new(&model);
    let trajectory = sim.rollout(10_000, &mut Controller::Random(Random::new(1))).unwrap();
    let mut replay = Replay::new(&model);
    replay.record_trajectory(&trajectory).unwrap();
    assert_eq!(replay.frames(), 601);
    let bytes = replay.to_json().to_string().len();
    assert!(bytes < 900_000, "{bytes} bytes");
}

#[test]
fn a_step_is_recorded_with_the_forces_that_carry_the_robot() {
    let (model, x) = stands();
    let (mut data, mut next, mut replay) = (Data::new(&model), x.clone(), Replay::new(&model));
    replay.record_state(&x).unwrap();
    let mut done = step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
    let contacts = done.contacts().count();
    replay.record(&mut done, &next).unwrap();
    assert_eq!((replay.frames(), contacts), (2, 4));
    let told = &replay.to_json()["frames"]["contacts"];
    assert_eq!(told["ends"], crate::encode::integers(&[0, 4]));
    assert_eq!(told["modes"], crate::encode::base64(&[1; 4]));
}

#[test]
fn steps_that_all_begin_at_time_zero_follow_each_other() {
    let (model, x) = stands();
    let (mut data, mut replay, dt) = (Data::new(&model), Replay::new(&model), model.options().dt);
    let (mut from, mut next) = (x.clone(), x.clone());
    for _ in 0..200 {
        from.time = 0.0;
        let mut done = step(&model, &mut data, &from, &Input::default(), &mut next).unwrap();
        replay.record(&mut done, &next).unwrap();
        std::mem::swap(&mut from, &mut next);
    }
    assert_eq!(replay.frames(), (200.0 * dt * FRAME_RATE).floor() as usize + 1);
}

#[test]
fn what_cannot_be_shown_is_refused_and_leaves_no_frame() {
    let (model, x) = stands();
    let mut replay = Replay::new(&model);
    let error = |result: Result<(), ViewError>| result.unwrap_err().to_string();
    let changed = |change: fn(&mut State)| {
        let mut y = x.clone();
        change(&mut y);
        y
    };
    let short = changed(|x| _ = x.q.pop());
    assert_eq!(error(replay.record_state(&short)), "replay: q: expected 19 numbers, got 18");
    let broken = changed(|x| x.q[2] = f64::NAN);
    assert_eq!(error(replay.record_state(&broken)), "replay: q[2] is not a finite number");
    let timeless = changed(|x| x.time = f64::NAN);
    assert_eq!(error(replay.record_state(&timeless)), "replay: time: expected a finite number, got NaN");
    let far = changed(|x| x.q[0] = 1e50);
    assert_eq!(error(replay.record_state(&far)), "replay: body 'trunk' is too far away to be shown at 0 s");
    assert_eq!(error(replay.record_contacts(&x, [], 0.0)), "replay: dt: expected a positive number, got 0");
    assert_eq!(replay.frames(), 0);
    assert!(Replay::new(&model).with_frame_rate(f64::NAN).is_err_and(|e| e.to_string().contains("frame rate")));
}

#[test]
fn a_page_needs_frames_and_a_place_to_be_written() {
    let (model, x) = stands();
    let mut replay = Replay::new(&model).with_title("a \"b\" </title>");
    let empty = replay.to_html().unwrap_err().to_string();
    assert_eq!(empty, "replay of 'quadruped': expected at least one frame, got none");
    replay.record_state(&x).unwrap();
    let page = replay.to_html().unwrap();
    assert!(page.contains("<title>a \"b\" &lt;/title&gt;</title>"));
    assert!((300_000..2_000_000).contains(&page.len()), "{} bytes", page.len());
    let error = replay.save("/nowhere/at/all.html").unwrap_err();
    assert!(matches!(error, ViewError::Io { .. }) && error.to_string().contains("cannot be written"), "{error}");
}
