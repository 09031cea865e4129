//! The page that shows the figures of a run, with how they were made.

use super::report::Figures;
use crate::machine::Machine;
use crate::motion_arguments::GradientArguments;

/// As Markdown.
pub fn write(arguments: &GradientArguments, machine: &Machine, figures: &Figures) -> String {
    let (m, every) = (&arguments.motions, arguments.every);
    let states = (m.count * m.steps).div_ceil(every);
    let peers: Vec<&str> = figures.peers.iter().map(String::as_str).collect();
    format!(
        "# Benchmarks of gradients

This page is written by `cargo xtask bench gradient`. It times the derivatives of the step of slipstick and its peers in one run, with one thread,
engines in turns; `--quick` is a short run. The first run compiles the Pinocchio baseline (minutes).

Scenes and phases are those of [benchmarks-step.md](benchmarks-step.md): six robots of the paper's table, `drop` and `hold`, {count} motions of {steps}
steps of 1 ms each. Derivatives are timed at every {every}th step, {states} states per row. A figure is the least time of {repeats} repeats in each of
{rounds} rounds at each state (our own finite differences: one per round). From finite differences, which take long, the time that the thread waited for
a CPU core is subtracted.

- **step**: our `step`, with the warm start of the step before, through its checked interface, default options.
- **jacobian**: what `Step::jacobian` adds to that finished step: ∂(q⁺, v⁺)/∂(q, v, τ), 2 nv × 3 nv numbers, dq⁺ included.
- **vjp**: what `Step::vjp` adds to a finished step without a Jacobian. It is the gradient of a scalar with respect to (q, v, τ), given the scalar's
  gradient with respect to (q⁺, v⁺).
- **forward, central differences**: this matrix by `finite_differences`: 1 + 3 nv and 1 + 6 nv steps of our own, each from the warm start that the first leaves.
- **MuJoCo**: `mjd_transitionFD` with eps 1e-6 (C API of the wheel, Newton, Euler), A and B together.
  - A has 2 nv columns. B has one per motor; the scene has a motor on every hinge and slide, none on a free root: fewer columns than our 3 nv.
  - MuJoCo does not repeat collision detection for columns of velocities and controls.
  - *From our states* its shapes are inflated by {thicker:e} m, so that contacts resting at a distance of zero are active. Its *own trajectory* is unmodified.
- **Pinocchio's ABA derivatives**: `computeABADerivatives` alone at our q, v and τ: the smooth part only, no contact, no q⁺. Bodies with several joints
  are chains of single ones, a free root with armature is a translation and a ball. The lesser of two calls in a row.
- **Baseline**: the paper's derivative rebuilt from Pinocchio and coal ([`bench/pinocchio/recipe_gradient.hpp`](../bench/pinocchio/recipe_gradient.hpp)),
  after a step of the baseline; ∂v⁺ only.
  - It has ABA derivatives under the contact forces, derivatives of the contacts' velocities, terms of collision detection, and QR of the reduced contact problem.
  - Collision detection is differentiated by a simple closed form: the normal turns with the first shape, the point rolls over the second. It has the
    structure of the paper's terms but is approximate, and cheaper than the paper's sampling.

{machine}; peers: {peers}.

{tables}",
        count = m.count,
        steps = m.steps,
        repeats = m.repeats,
        rounds = m.rounds,
        thicker = m.thicker,
        machine = machine.describe(),
        peers = peers.join(", "),
        tables = figures.to_markdown(),
    )
}
