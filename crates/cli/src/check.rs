//! `slipstick check`: what is wrong with a robot file, what is doubtful, and what to do about it.

use crate::output::say;
use crate::overlap;
use crate::sanity;
use crate::source::{self, Source, Trouble};
use serde_json::{Value, json};
use slipstick::{LoadError, Model};
use std::process::ExitCode;

/// Arguments of `slipstick check`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick check robot.urdf --package-dir ~/robots\n         \
                        slipstick check robot.xml --strict --json\n\n\
                        Exit codes: 0 no errors, 1 errors (with --strict also warnings), 2 usage error.")]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// There is no model.
    Error,
    /// The model differs from the file, or a number is implausible.
    Warning,
    /// Good to know.
    Note,
}

/// Something to tell about a robot.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub level: Level,
    /// File and line, where known.
    pub place: String,
    pub text: String,
    /// What to do; may be empty.
    pub hint: String,
}

impl Level {
    const fn word(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

pub fn main(arguments: &Arguments) -> Result<ExitCode, String> {
    let mut options = arguments.source.options.clone();
    options.strict = false; // to see all that there is, and not only the first kind of trouble
    let (model, mut findings) = match source::load_named(&arguments.source.model, &options) {
        Ok(model) => {
            let findings = of_model(&model);
            (Some(model), findings)
        }
        Err(Trouble::Name(text)) => (None, vec![finding(Level::Error, "", text, "")]),
        Err(Trouble::Load(error)) => (None, vec![of_error(&error)]),
    };
    findings.sort_by_key(|f| f.level);
    if arguments.json {
        say!("{:#}", to_json(&arguments.source.model, model.as_ref(), &findings));
    } else {
        print(&arguments.source.model, model.as_ref(), &findings);
    }
    let worst = if arguments.source.options.strict { Level::Warning } else { Level::Error };
    Ok(if findings.iter().any(|f| f.level <= worst) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

pub fn finding(level: Level, place: &str, text: impl Into<String>, hint: &str) -> Finding {
    Finding { level, place: place.into(), text: text.into(), hint: hint.into() }
}

/// An error, with its place and its hint apart from its text.
fn of_error(error: &LoadError) -> Finding {
    let (place, hint) = (error.place().to_string(), error.hint().to_string());
    let whole = error.to_string();
    let text = whole.strip_prefix(&format!("{place}: ")).unwrap_or(&whole);
    let text = text.strip_suffix(&format!("; {hint}")).unwrap_or(text);
    finding(Level::Error, &place, text, &hint)
}

fn of_model(model: &Model) -> Vec<Finding> {
    let warnings = model.warnings().iter().map(|w| {
        let text = format!("{}: {}", w.what, w.effect);
        finding(Level::Warning, &w.place, text, hint(&w.effect))
    });
    let notes = model.notes().iter().map(|n| finding(Level::Note, "", n, ""));
    warnings.chain(sanity::check(model)).chain(overlap::check(model)).chain(notes).collect()
}

/// What to do about a warning, by the words in it.
fn hint(effect: &str) -> &'static str {
    let hints = [
        ("negative principal moment", "check the unit (kg·m²), the signs and the frame of the inertia"),
        ("A + B ≥ C", "check the unit and the frame: each moment of a body is at most the sum of the other two"),
        ("moves no inertia", "give the link a mass and an inertia, or make the joint fixed"),
        ("no <limit>", "add <limit lower=… upper=… effort=… velocity=…>, or make the joint continuous"),
        ("neither lower nor upper", "give lower and upper, or make the joint continuous"),
        ("to mimic", "remove <mimic>, or name a joint of the file"),
        ("velocity limit", "give the rated speed, or remove the limit"),
        ("negative effort", "give the largest force as a positive number"),
        ("does not collide", "give the link another collision shape, or convert the mesh to STL or OBJ"),
        ("called 'world'", "give the link another name"),
    ];
    hints.iter().find(|(words, _)| effect.contains(words)).map_or("", |(_, hint)| hint)
}

fn count(findings: &[Finding], level: Level) -> usize {
    findings.iter().filter(|f| f.level == level).count()
}

fn print(name: &str, model: Option<&Model>, findings: &[Finding]) {
    for f in findings {
        let place = if f.place.is_empty() { String::new() } else { format!("{}: ", f.place) };
        say!("{}: {place}{}", f.level.word(), f.text);
        if !f.hint.is_empty() {
            say!("  hint: {}", f.hint);
        }
    }
    if let Some(m) = model {
        let (nv, bodies, pairs) = (m.nv(), m.n_bodies() - 1, m.pairs().len());
        say!("{name}: loads as {nv} dofs, {bodies} moving bodies, {:.4} kg, {pairs} collision pairs", m.total_mass());
    }
    let n = |level| count(findings, level);
    say!("{} errors, {} warnings, {} notes", n(Level::Error), n(Level::Warning), n(Level::Note));
}

fn to_json(name: &str, model: Option<&Model>, findings: &[Finding]) -> Value {
    let entries =
        findings.iter().map(|f| json!({ "level": f.level.word(), "where": f.place, "text": f.text, "hint": f.hint }));
    json!({
        "format": "slipstick-check", "version": 1, "model": name, "loads": model.is_some(),
        "errors": count(findings, Level::Error), "warnings": count(findings, Level::Warning),
        "notes": count(findings, Level::Note), "findings": entries.collect::<Vec<_>>(),
    })
}
