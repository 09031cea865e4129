//! Trajectories as text: a table, or JSON.

use super::{Trajectory, TrajectoryFormat};
use std::io::{self, Write};

/// One row per state; the columns of a step stand in the row of the state that it begins in.
pub(super) fn write_csv(t: &Trajectory, out: &mut impl Write) -> io::Result<()> {
    let head = format!("# {} {} of '{}', dt {} s", TrajectoryFormat::NAME, TrajectoryFormat::VERSION, t.model, t.dt);
    writeln!(out, "{}", head.replace(['\n', '\r'], " "))?;
    let [q, v, ctrl] = &t.names;
    let forces = v.iter().map(|n| n.replacen("v:", "tau:", 1));
    let of_steps =
        ["contacts", "penetration", "residual", "compliance_shift", "correction", "iterations", "status", "stage"];
    let names =
        q.iter().chain(v).chain(&t.act_names).chain(ctrl).cloned().chain(forces).chain(of_steps.map(String::from));
    write!(out, "time")?;
    // readers that know nothing of quotes need no quotes
    names.into_iter().try_for_each(|n| write!(out, ",{}", n.replace([',', '"', '\n', '\r'], "_")))?;
    writeln!(out)?;
    let [nq, nv, nu] = t.sizes;
    for k in 0..t.states() {
        write!(out, "{:?}", t.time[k])?;
        numbers(out, row(&t.q, nq, k))?;
        numbers(out, row(&t.v, nv, k))?;
        numbers(out, row(&t.act, t.na(), k))?;
        if k < t.steps() {
            numbers(out, row(&t.ctrl, nu, k))?;
            numbers(out, row(&t.tau, nv, k))?;
            write!(out, ",{}", t.contacts[k])?;
            numbers(out, &[t.penetration[k], t.residual[k], t.compliance_shift[k], t.correction[k]])?;
            write!(out, ",{},{},{}", t.iterations[k], t.status[k].name(), t.stage[k].name())?;
        } else {
            write!(out, "{}", ",".repeat(nu + nv + of_steps.len()))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn row(x: &[f64], width: usize, k: usize) -> &[f64] {
    &x[width * k..width * (k + 1)]
}

fn numbers(out: &mut impl Write, x: &[f64]) -> io::Result<()> {
    x.iter().try_for_each(|x| write!(out, ",{x:?}"))
}

/// An object with a list per quantity, of lists where a state or step has several numbers.
pub(super) fn write_json(t: &Trajectory, out: &mut impl Write) -> io::Result<()> {
    let (format, version) = (TrajectoryFormat::NAME, TrajectoryFormat::VERSION);
    write!(out, "{{\"format\":\"{format}\",\"version\":{version},\"model\":{},\"dt\":{:?}", quoted(&t.model), t.dt)?;
    let [q, v, ctrl] = &t.names;
    for (key, names) in [("q_names", q), ("v_names", v), ("ctrl_names", ctrl)] {
        let bare = |n: &String| quoted(n.split_once(':').map_or(n, |(_, name)| name));
        write!(out, ",\n\"{key}\":[{}]", names.iter().map(bare).collect::<Vec<_>>().join(","))?;
    }
    let [nq, nv, nu] = t.sizes;
    let (states, steps) = (t.states(), t.steps());
    list(out, "time", states, |out, k| number(out, t.time[k]))?;
    let rows =
        [("q", &t.q, nq, states), ("v", &t.v, nv, states), ("ctrl", &t.ctrl, nu, steps), ("tau", &t.tau, nv, steps)];
    let act = (t.na() > 0).then_some(("act", &t.act, t.na(), states));
    for (key, x, width, n) in rows.into_iter().chain(act) {
        list(out, key, n, |out, k| {
            write!(out, "[")?;
            for (i, x) in row(x, width, k).iter().enumerate() {
                write!(out, "{}", if i > 0 { "," } else { "" })?;
                number(out, *x)?;
            }
            write!(out, "]")
        })?;
    }
    list(out, "contacts", steps, |out, k| write!(out, "{}", t.contacts[k]))?;
    for (key, x) in [
        ("penetration", &t.penetration),
        ("residual", &t.residual),
        ("compliance_shift", &t.compliance_shift),
        ("correction", &t.correction),
    ] {
        list(out, key, steps, |out, k| number(out, x[k]))?;
    }
    list(out, "iterations", steps, |out, k| write!(out, "{}", t.iterations[k]))?;
    list(out, "status", steps, |out, k| write!(out, "\"{}\"", t.status[k].name()))?;
    list(out, "stage", steps, |out, k| write!(out, "\"{}\"", t.stage[k].name()))?;
    writeln!(out, "}}")
}

/// A list with a key before it.
fn list<W: Write>(
    out: &mut W,
    key: &str,
    n: usize,
    mut entry: impl FnMut(&mut W, usize) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, ",\n\"{key}\":[")?;
    for k in 0..n {
        write!(out, "{}", if k > 0 { "," } else { "" })?;
        entry(out, k)?;
    }
    write!(out, "]")
}

/// JSON has no infinity and no NaN.
fn number(out: &mut impl Write, x: f64) -> io::Result<()> {
    if x.is_finite() { write!(out, "{x:?}") } else { write!(out, "null") }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use crate::control::Controller;
    use crate::files::TrajectoryFormat;
    use crate::{Simulator, Trajectory, builtin};

    fn short() -> Trajectory {
        let model = builtin("cartpole").unwrap();
        Simulator::at_keyframe(&model, "upright").unwrap().rollout(2, &mut Controller::Zero).unwrap()
    }

    fn text(t: &Trajectory, format: TrajectoryFormat) -> String {
        let mut bytes = Vec::new();
        t.write(format, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn tables_have_a_row_per_state_and_numbers_that_read_back() {
        let t = short();
        let csv = text(&t, TrajectoryFormat::Csv);
        let lines: Vec<Vec<&str>> = csv.lines().skip(1).map(|l| l.split(',').collect()).collect();
        assert!(csv.starts_with("# slipstick-trajectory 1 of 'cartpole', dt 0.01 s\n"), "{csv}");
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|l| l.len() == lines[0].len()), "{csv}");
        let back: Vec<f64> = lines[1..].iter().map(|l| l[2].parse().unwrap()).collect();
        assert_eq!(back, t.q.iter().skip(1).step_by(2).copied().collect::<Vec<_>>());
        assert_eq!(lines[3].last(), Some(&""), "no step begins in the last state");
    }

    #[test]
    fn json_says_what_it_is_and_escapes_names() {
        let mut t = short();
        t.model = "a \"b\"\n".into();
        t.residual[0] = f64::NAN;
        let json = text(&t, TrajectoryFormat::Json);
        let head = r#"{"format":"slipstick-trajectory","version":1,"model":"a \"b\"\u000a","dt":0.01,"#;
        assert!(json.starts_with(head), "{json}");
        assert!(json.contains("\"residual\":[null,"), "{json}");
        assert!(json.contains(r#""status":["converged","converged"]"#), "{json}");
    }

    #[test]
    fn a_name_without_a_known_ending_is_refused() {
        let error = short().save("trajectory.txt").unwrap_err().to_string();
        assert_eq!(error, "trajectory.txt: expected a name that ends in .npz, .csv or .json");
        assert!(short().save("/nowhere/at/all.npz").unwrap_err().to_string().contains("cannot be written"));
    }
}
