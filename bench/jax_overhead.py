"""What a control step costs inside lax.scan, beside the same steps of a Batch: `jax_overhead.py`. One engine thread, the least of seven."""

import time

import jax
import numpy as np
import slipstick
import slipstick.jax as sj

REPEATS = 7
# robot, environments, engine steps in a control step, control steps
SCENES = [("hopper", 1, 1, 200), ("hopper", 16, 4, 32), ("quadruped", 16, 4, 32)]


def least(function):
    function()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def scene(name, n, hold, steps):
    """Microseconds per control step: Batch, scan, and gradients with both kinds of residuals."""
    model, rng = slipstick.builtin(name), np.random.default_rng(0)
    home = model.keyframe("home")
    q, v = np.tile(home.q, (n, 1)), 0.1 * rng.normal(size=(n, model.nv))
    ctrl = home.ctrl + 0.1 * rng.normal(size=(steps, n, model.nu))
    batch, repeated = slipstick.Batch(model, n, threads=1), np.repeat(ctrl.transpose(1, 0, 2), hold, axis=1)
    run = jax.jit(lambda q, v, u: sj.rollout(model, q, v, u, hold=hold, threads=1))
    calls = [
        lambda: batch.rollout(q, v, hold * steps, ctrl=repeated),
        lambda: jax.block_until_ready(run(q, v, ctrl)),
    ]
    for residuals in ("stored", "recompute"):

        def loss(q, v, u, residuals=residuals):
            return (sj.rollout(model, q, v, u, hold=hold, residuals=residuals, threads=1).v[-1] ** 2).sum()

        gradient = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))
        calls.append(lambda gradient=gradient: jax.block_until_ready(gradient(q, v, ctrl)))
    return [1e6 * least(call) / steps for call in calls]


def main():
    jax.config.update("jax_enable_x64", True)
    print("| robot | environments × engine steps | Batch | lax.scan | gradient, stored | gradient, recompute | samples/s with gradients |")
    print("|---|---|---|---|---|---|---|")
    for name, n, hold, steps in SCENES:
        times = scene(name, n, hold, steps)
        cells = [name, f"{n} × {hold}", *(f"{t:.1f}" for t in times), f"{1e6 * n / min(times[2:]):,.0f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
