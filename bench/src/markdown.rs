//! The page of the documentation that shows a run, with how it was made. Plots go to files beside it.

use crate::growth::Growth;
use crate::table::Table;
use std::fmt::Write;

/// Folder of the plots, beside the page.
pub const FIGURES: &str = "figures";

const HEAD: &str = "\
# Benchmarks

Speed is a ratio measured in one run, on the same robots and states, with one thread. slipstick is built as users get it. That is
the plain release profile, AVX2 chosen at run time, no `target-cpu` flag. Peers are built with their fastest options.

This page is written by `cargo xtask bench table`, which runs `slipstick-bench table` and all peers, each in its own environment. The
former alone needs no other program and, without a models folder, no file. Other pages measure single parts:
[dynamics and loading](benchmarks-dynamics.md), [collision detection](benchmarks-collision.md), [the step](benchmarks-step.md),
[its gradients](benchmarks-gradient.md).
";

const PROTOCOL: &str = "\
## How it is measured

Robots:

- The six of the table of [the paper](math/notation.md#terms) from a models folder, with the paper's lists of pairs, else built-in ones of the same kind.
- Friction 0.8, steps of 1 ms, no dry friction. Armature and damping are those of the file, but at least such that explicit gains are stable.
- Without peers joint limits stay. Scenes for peers have no limits, motors or tendons. Other robots are timed as their files describe them.

Motions: in `drop` a limp robot falls from 2 cm above the floor; in `hold` it stands under joint gains. Both have seeded noise on the joints. Rows of the
table are over the states of both; the JSON lists them separately.

Figures:

- Every n-th step is timed. A figure is the least time over all repeats and rounds. Robots and engines alternate, so that a slow phase of the machine affects all.
- Mean, standard deviation, median and least are over the states: the spread of the table is that of the work, not of the clock. The noise of the clock is in the notes.
- For long measurements the time that the thread waited for a CPU core is subtracted.

| row | what is timed |
|---|---|
| simulation | `step`, with the warm start of the step before, through its checked interface, default options |
| implicit gradients | what `Step::jacobian` adds to it: all of ∂(q⁺, v⁺)/∂(q, v, τ) |
| vector-Jacobian product | what `Step::vjp` adds to a step |
| finite differences | `finite_differences`, central, 1 + 6 nv steps |
| MuJoCo | `mj_step` and `mjd_transitionFD`: C API of the wheel, Newton, Euler, elliptic cones; A and B, a motor on every joint |
| Pinocchio baseline | the paper's step and gradient rebuilt from Pinocchio and coal, ∂v⁺ only; and `computeABADerivatives` alone |
| Nimble | through Python, without armature, with its own pairs, cylinders as capsules, hulls as boxes |
| MJX | jax on the processor, single precision, 4 iterations of Newton; one state at a time and all at once; jvp along one direction and jacfwd |

MuJoCo is timed twice: from our states, with shapes inflated by 5e-5 m so that contacts resting at a distance of zero are active, and along its own
trajectory, unmodified. For a peer that is not available the reason is given.

Throughput: a `Batch` of 256 environments, started from states of both motions, does 25 steps with constant forces from a cold start. Steps alone are
timed, and steps each with `vjp`; best of five runs. `single` is one simulation after the other on one thread. MuJoCo runs `mujoco.rollout` from these
states on as many threads. The paper's figures for MJX on an A100 are listed for the same robots.

Growth: medians over nine states of the least of five repeats, under small random forces. The power is the slope of a straight line through the upper
half of the sizes on logarithmic axes. The steepest segment between neighboring sizes is listed too, so that the fit hides no jump. In a stack every box
stands on the one below (one island); in a pile no box touches another (as many islands as bodies).
";

/// The page; its plots are [`figures`].
pub fn page(table: &Table, growth: Option<&Growth>) -> String {
    let mut out = format!("{HEAD}\n{PROTOCOL}\n## Timings (µs)\n\n{}\n", rows(&table.lines()));
    let ratios = table.ratio_lines();
    if !ratios.is_empty() {
        let _ = writeln!(
            out,
            "Against peers, motion by motion; the goals are this project's own:\n\n{}",
            rows(&transposed(&ratios))
        );
    }
    let throughput = table.throughput_lines();
    if !throughput.is_empty() {
        let _ = writeln!(out, "## Throughput\n\n{}", rows(&throughput));
    }
    let _ = writeln!(out, "```text\n{}\n```", table.notes());
    if let Some(growth) = growth {
        let _ = writeln!(out, "\n## Growth\n\n```text\n{}\n```\n", growth.to_text());
        for (name, _) in figures(growth) {
            let _ = writeln!(out, "![{name}]({FIGURES}/{name})");
        }
    }
    out
}

/// Names and contents of the plots.
pub fn figures(growth: &Growth) -> impl Iterator<Item = (String, String)> + '_ {
    growth.pictures().map(|(name, svg)| (format!("growth-{name}.svg"), svg))
}

/// A table whose first line is its head.
fn rows(lines: &[Vec<String>]) -> String {
    let mut out = String::new();
    for (k, line) in lines.iter().enumerate() {
        let _ = writeln!(out, "| {} |", line.iter().map(|c| c.trim()).collect::<Vec<_>>().join(" | "));
        if k == 0 {
            let _ = writeln!(out, "|{}", "---|".repeat(line.len()));
        }
    }
    out
}

fn transposed(lines: &[Vec<String>]) -> Vec<Vec<String>> {
    (0..lines[0].len()).map(|k| lines.iter().map(|line| line[k].clone()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_turned_over_has_its_columns_as_lines() {
        let text = |s: &str| s.to_string();
        let lines = vec![vec![text("a"), text("b")], vec![text("1"), text("2")]];
        assert_eq!(rows(&transposed(&lines)), "| a | 1 |\n|---|---|\n| b | 2 |\n");
    }
}
