//! `slipstick models`: what is built in.

use crate::output::say;
use serde_json::json;

/// Arguments of `slipstick models`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick models --json")]
pub struct Arguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn main(arguments: &Arguments) -> Result<(), String> {
    let mut rows = Vec::new();
    for name in slipstick::builtin_names() {
        let m = slipstick::builtin(name).map_err(|e| e.to_string())?;
        rows.push((name, m.nq(), m.nv(), m.nu(), m.n_bodies() - 1, m.geoms().len(), m.total_mass()));
    }
    if arguments.json {
        let entries: Vec<_> = rows
            .iter()
            .map(|(name, nq, nv, nu, bodies, geoms, mass)| {
                json!({ "name": name, "nq": nq, "nv": nv, "nu": nu, "bodies": bodies, "geoms": geoms, "mass": mass })
            })
            .collect();
        say!("{:#}", json!({ "format": "slipstick-models", "version": 1, "models": entries }));
        return Ok(());
    }
    say!("{:<20} {:>3} {:>3} {:>3} {:>7} {:>6} {:>10}", "name", "nq", "nv", "nu", "bodies", "geoms", "mass (kg)");
    for (name, nq, nv, nu, bodies, geoms, mass) in rows {
        say!("{name:<20} {nq:>3} {nv:>3} {nu:>3} {bodies:>7} {geoms:>6} {mass:>10.3}");
    }
    Ok(())
}
