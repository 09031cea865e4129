//! A step with something wrong: saved as a text, and taken again from it.

use super::checks::Wrong;
use super::energy::{Balance, Before};
use super::episode::{Blow, step};
use super::robot;
use super::table::Tally;
use crate::case::numbers;
use slipstick::{Simulator, State, WarmStart};
use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

/// What is saved.
pub struct Saved<'a> {
    pub robot: &'a str,
    pub seed: u64,
    pub case: u64,
    pub step: usize,
    pub wrong: &'a Wrong,
    pub before: &'a Before,
    pub blow: &'a Blow,
}

/// Writes the step into a file, and tells where.
pub fn save(s: &Saved, out: &Path) {
    let folder = out.join("chaos");
    let file = folder.join(format!("seed{}-episode{}-step{}", s.seed, s.case, s.step));
    let row = |x: &[f64]| x.iter().map(|x| x.to_bits().to_string()).collect::<Vec<_>>().join(" ");
    let hex: String = s.before.warm.to_bytes().iter().map(|b| format!("{b:02x}")).collect();
    let ctrl = s.blow.ctrl.as_deref().map_or("off".into(), row);
    let (x, b) = (&s.before.state, s.blow);
    let text = format!(
        "wrong {:?} {}\nrobot {}\nseed {}\nepisode {}\nstep {}\nq {}\nv {}\nact {}\ntau {}\nctrl {ctrl}\nwarm {hex}\n",
        s.wrong.kind,
        s.wrong.text,
        s.robot,
        s.seed,
        s.case,
        s.step,
        row(&x.q),
        row(&x.v),
        row(&x.act),
        row(&b.tau)
    );
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, text));
    let place = if written.is_ok() { file.display().to_string() } else { "not saved".into() };
    println!(
        "FINDING chaos {} seed {} episode {} step {}: {:?}: {}\n  {place}",
        s.robot, s.seed, s.case, s.step, s.wrong.kind, s.wrong.text
    );
}

/// Takes the step of a file again.
pub fn main(path: &str) -> Result<ExitCode, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let fields: HashMap<&str, &str> = text.lines().filter_map(|l| l.split_once(' ')).collect();
    let field = |name: &str| fields.get(name).copied().ok_or_else(|| format!("{path}: there is no line '{name}'"));
    let whole = |name: &str| field(name)?.parse::<u64>().map_err(|e| format!("{path}: {name}: {e}"));
    let model = robot::robot(field("robot")?)?.model(&mut numbers(whole("seed")?, "chaos", whole("episode")?));
    let refused = |e: slipstick::InputError| format!("{path}: {e}");
    let row = |name: &str| fields.get(name).map_or(Ok(Vec::new()), |text| floats(text));
    let state =
        State::new(&model, &row("q")?, &row("v")?).and_then(|s| s.with_act(&model, &row("act").unwrap_or_default()));
    let mut sim = Simulator::new(&model);
    sim.set_state(state.map_err(refused)?).map_err(refused)?;
    let warm = WarmStart::from_bytes(&bytes(fields.get("warm").unwrap_or(&""))).map_err(refused)?;
    sim.restore(&warm).map_err(refused)?;
    let ctrl = if field("ctrl").is_ok_and(|c| c == "off") { None } else { Some(row("ctrl")?) };
    let blow = Blow { tau: row("tau")?, ctrl };
    let (mut balance, mut tally) = (Balance::new(&model), Tally::default());
    let found = step(&mut sim, &mut balance, &blow, true, &mut tally);
    println!("robot {} of {} dofs, dt {:e} s", field("robot")?, model.nv(), model.options().dt);
    println!("{}", sim.last_step().map_or("no step".into(), |s| format!("{:?}", s.report())));
    Ok(match found {
        Some(wrong) => {
            println!("{:?}: {}", wrong.kind, wrong.text);
            ExitCode::FAILURE
        }
        None => {
            println!("nothing is wrong");
            ExitCode::SUCCESS
        }
    })
}

fn floats(text: &str) -> Result<Vec<f64>, String> {
    let bits = text.split_whitespace().map(str::parse::<u64>);
    bits.map(|b| b.map(f64::from_bits).map_err(|e| e.to_string())).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks_exact(2).map(|d| (16 * d[0] + d[1]) as u8).collect()
}
