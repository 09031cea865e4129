//! A trajectory as arrays for numpy.

use super::{Trajectory, TrajectoryFormat, contacts, npy::ArrayWriter};
use slipstick_core::Status;
use slipstick_core::constraint::Stage;
use std::io::{self, Write};

/// Arrays `time`, `q`, `v`, `act` (of models with activations), `ctrl`, `tau`, `mocap` where there are mocap bodies, `contacts`, `penetration`,
/// `residual`, `compliance_shift`, `correction`,
/// `iterations`, `status`, `stage` (numbers of the words in `status_names` and `stage_names`), those of contacts if they
/// were kept, and `format`, `version`, `model`, `dt`.
pub(super) fn write(t: &Trajectory, out: &mut impl Write) -> io::Result<()> {
    let ([nq, nv, nu], states, steps) = (t.sizes, t.states(), t.steps());
    let mut arrays = ArrayWriter::new(out);
    arrays.words("format", &[TrajectoryFormat::NAME], true)?;
    arrays.integers("version", &[], &[TrajectoryFormat::VERSION as usize])?;
    arrays.words("model", &[&t.model], true)?;
    arrays.floats("dt", &[], &[t.dt])?;
    for (name, names) in NAMES.into_iter().zip(&t.names) {
        arrays.words(name, &names.iter().map(|n| bare(n)).collect::<Vec<_>>(), false)?;
    }
    arrays.floats("time", &[states], &t.time)?;
    arrays.floats("q", &[states, nq], &t.q)?;
    arrays.floats("v", &[states, nv], &t.v)?;
    if t.na() > 0 {
        arrays.words("act_names", &t.act_names.iter().map(|n| bare(n)).collect::<Vec<_>>(), false)?;
        arrays.floats("act", &[states, t.na()], &t.act)?;
    }
    arrays.floats("ctrl", &[steps, nu], &t.ctrl)?;
    arrays.floats("tau", &[steps, nv], &t.tau)?;
    if !t.mocap.is_empty() {
        arrays.floats("mocap", &[steps, t.mocap.len() / steps], &t.mocap)?;
    }
    arrays.floats("penetration", &[steps], &t.penetration)?;
    arrays.floats("residual", &[steps], &t.residual)?;
    arrays.floats("compliance_shift", &[steps], &t.compliance_shift)?;
    arrays.floats("correction", &[steps], &t.correction)?;
    let iterations: Vec<usize> = t.iterations.iter().map(|n| *n as usize).collect();
    for (name, x) in [
        ("contacts", &t.contacts),
        ("iterations", &iterations),
        ("status", &places(&t.status, &Status::ALL)),
        ("stage", &places(&t.stage, &Stage::ALL)),
    ] {
        arrays.integers(name, &[steps], x)?;
    }
    arrays.words("status_names", &Status::ALL.map(Status::name), false)?;
    arrays.words("stage_names", &Stage::ALL.map(Stage::name), false)?;
    if let Some(kept) = &t.views {
        contacts::write(kept, &mut arrays)?;
    }
    arrays.finish()
}

/// Arrays with the names of the numbers of q, v and ctrl.
pub(super) const NAMES: [&str; 3] = ["q_names", "v_names", "ctrl_names"];

/// A name without the `q:`, `v:`, `act:` or `ctrl:` before it.
pub(super) fn bare(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, name)| name)
}

/// Where words stand in the list of all.
pub(super) fn places<T: PartialEq>(words: &[T], all: &[T]) -> Vec<usize> {
    words.iter().map(|w| all.iter().position(|x| x == w).unwrap_or(usize::MAX)).collect()
}
