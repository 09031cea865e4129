//! Recorded motions, warm starts, lists of pairs and tables of controls.

use super::assets::file;
use super::checksum::crc32;
use crate::case::{Answer, Verdict, finite};
use crate::{corpus, mutate};
use slipstick::control::{Control, Controller, Table};
use slipstick::files::{PairChoice, with_pairs};
use slipstick::random::Rng;
use slipstick::{Input, Model, Simulator, Trajectory, WarmStart, builtin};
use std::sync::LazyLock;

/// The robot of which all of them are.
pub static ROBOT: LazyLock<Model> = LazyLock::new(|| builtin("hopper").expect("a built-in robot"));

/// An archive of numpy: one of its files is damaged and its checksum made right, or the whole is damaged.
pub fn trajectory(rng: &mut Rng) -> Vec<u8> {
    let good = corpus::good(super::Target::Trajectory);
    let mut bytes = good[0].clone();
    if rng.chance(0.2) {
        return mutate::damage(rng, &bytes, &good[0]);
    }
    let starts: Vec<usize> = (0..bytes.len() - 4).filter(|&k| bytes[k..].starts_with(b"PK\x03\x04")).collect();
    for _ in 0..=rng.below(3) {
        let entry = starts[rng.below(starts.len())];
        damage_entry(rng, &mut bytes, entry);
    }
    bytes
}

/// Damages the contents of one file of an archive; its length stays.
fn damage_entry(rng: &mut Rng, bytes: &mut [u8], head: usize) {
    let number = |bytes: &[u8], at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let name = usize::from(u16::from_le_bytes([bytes[head + 26], bytes[head + 27]]));
    let extra = usize::from(u16::from_le_bytes([bytes[head + 28], bytes[head + 29]]));
    let (old, size) = (number(bytes, head + 14), number(bytes, head + 18) as usize);
    let (start, long) = (head + 30 + name + extra, size.max(1));
    if start + size > bytes.len() || size == 0 {
        return;
    }
    // half of the time in the text that says what the numbers are
    let at = start + if rng.chance(0.5) { rng.below(long.min(128)) } else { rng.below(long) };
    let new = mutate::damage(rng, &bytes[at..start + size], b"0123456789(),'descr<f8");
    let length = (start + size - at).min(new.len()).min(8);
    bytes[at..at + length].copy_from_slice(&new[..length]);
    let crc = crc32(&bytes[start..start + size]).to_le_bytes();
    // the checksum stands before the file and in the list at the end
    let places: Vec<usize> = (0..bytes.len() - 4).filter(|&k| bytes[k..k + 4] == old.to_le_bytes()).collect();
    places.into_iter().for_each(|k| bytes[k..k + 4].copy_from_slice(&crc));
}

pub fn read_trajectory(input: &[u8]) -> Verdict {
    match Trajectory::from_npz(input, &ROBOT) {
        Err(error) if error.to_string().is_empty() => Err("an error without a message".into()),
        Err(_) => Ok(Answer::Refused),
        Ok(t) => {
            let [nq, nv, nu] = t.sizes;
            let (states, steps) = (t.states(), t.steps());
            let lengths = [
                t.q.len() == states * nq,
                t.v.len() == states * nv,
                t.ctrl.len() == steps * nu,
                t.status.len() == steps,
            ];
            if lengths.contains(&false) {
                Err("arrays of a trajectory do not fit each other".into())
            } else {
                Ok(Answer::Accepted)
            }
        }
    }
}

pub fn warm_start(input: &[u8]) -> Verdict {
    let Ok(warm) = WarmStart::from_bytes(input) else { return Ok(Answer::Refused) };
    let mut sim = Simulator::new(&ROBOT);
    if sim.restore(&warm).is_err() {
        return Ok(Answer::Refused);
    }
    let ctrl = vec![0.0; ROBOT.nu()];
    for _ in 0..3 {
        let step = sim.step(&Input::ctrl(&ctrl)).map_err(|e| format!("a step from a restored warm start: {e}"))?;
        finite("v_next", step.v_next())?;
    }
    match sim.warm_start().to_bytes().len() {
        0 => Err("a warm start without bytes".into()),
        _ => Ok(Answer::Accepted),
    }
}

pub fn pairs(input: &[u8]) -> Verdict {
    let path = file("case.json", input)?;
    match with_pairs(&ROBOT, &PairChoice::File(path)) {
        Ok(model) => super::steps(&model, 2).map(|()| Answer::Accepted),
        Err(_) => Ok(Answer::Refused),
    }
}

/// As `slipstick run --controller` reads it.
pub fn controller(input: &[u8]) -> Verdict {
    let Ok(table) = Table::parse(&ROBOT, &String::from_utf8_lossy(input)) else { return Ok(Answer::Refused) };
    let (mut controller, mut sim) = (Controller::Table(table), Simulator::new(&ROBOT));
    let mut command = slipstick::control::Command::new(&ROBOT);
    for _ in 0..3 {
        controller.command(&ROBOT, sim.state(), &mut command);
        finite("ctrl", &command.ctrl)?;
        if let Ok(step) = sim.step(&command.input()) {
            finite("v_next", step.v_next())?;
        }
    }
    Ok(Answer::Accepted)
}
