"""slipstick.jax and MJX on the same scenes and states, each in a process of its own: `jax_peers.py [--states N] [--page FILE]`.

Robots are built-in ones, written as MJCF for MJX. States are random ones near the keyframe "home" that touch the floor. Timed per state over all
states at once, compiled, the least of five: a step, and the gradient of |v_next|² with respect to q, v and ctrl. Each library
has its own precision and defaults: slipstick 64 bits, MJX 32 bits with 4 iterations of Newton's method and 8 of line search, as its examples have.
Where reverse mode does not pass, the derivative along one direction (jvp) is timed and counted instead, and said so.
"""

import argparse
import os
import subprocess
import sys
import time
import warnings

import jax
import numpy as np

ROBOTS = ["hopper", "half_cheetah", "ant", "quadruped"]
REPEATS = 5
PATIENCE = 240  # seconds for a row


def random_states(slipstick, model, n, seed=0):
    """States with contact: random ones near home, those that touch nothing lowered onto the floor."""
    home, rng = model.keyframe("home"), np.random.default_rng(seed)
    from slipstick.gradient import ControlStep

    q, v, ctrl = [], [], []
    step = ControlStep(model)
    while sum(map(len, q)) < n:
        drawn = [slipstick.dynamics.integrate(model, home.q, 0.1 * rng.normal(size=model.nv)) for _ in range(n)]
        speeds, controls = rng.normal(size=(n, model.nv)), home.ctrl + 0.3 * rng.normal(size=(n, model.nu))
        touches = step.step(np.array(drawn), speeds, controls).report[:, 0] > 0
        for x, new in zip((q, v, ctrl), (np.array(drawn), speeds, controls)):
            x.append(new[touches])
    return [np.concatenate(x)[:n] for x in (q, v, ctrl)]


def timed(function, *arguments):
    """Seconds to compile, seconds of a call, and the result."""
    start = time.perf_counter()
    result = jax.block_until_ready(function(*arguments))
    compiled = time.perf_counter() - start
    calls = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        calls.append(time.perf_counter() - start)
    return compiled - min(calls), min(calls), result


def broken(result, n):
    """States whose derivative has a number that is not finite."""
    bad = np.zeros(n, bool)
    for x in jax.tree.leaves(result):
        bad |= ~np.isfinite(np.asarray(x, float).reshape(n, -1)).all(1)
    return int(bad.sum())


def ours(slipstick, model, states):
    import slipstick.jax as sj

    n = len(states[0])
    step = jax.jit(lambda q, v, u: sj.step(model, q, v, u).v)
    gradient = jax.jit(jax.grad(lambda q, v, u: (sj.step(model, q, v, u).v ** 2).sum(), argnums=(0, 1, 2)))
    first, second = timed(step, *states), timed(gradient, *states)
    return ["slipstick", first[0], second[0], 1e6 * first[1] / n, 1e6 * second[1] / n, "reverse", broken(second[2], n)]


def mjx_of(model, states):
    import jax.numpy as jnp
    import mujoco
    from mujoco import mjx

    n, narrow = len(states[0]), [jnp.asarray(x, jnp.float32) for x in states]
    mj = mujoco.MjModel.from_xml_string(model.to_mjcf())
    mj.opt.iterations, mj.opt.ls_iterations = 4, 8
    device = mjx.put_model(mj)
    blank = mjx.make_data(device)

    def velocity(q, v, u):
        return mjx.step(device, blank.replace(qpos=q, qvel=v, ctrl=u)).qvel

    step = jax.jit(jax.vmap(velocity))
    first = timed(step, *narrow)
    loss = lambda q, v, u: (velocity(q, v, u) ** 2).sum()  # noqa: E731
    try:
        kind = "reverse"
        second = timed(jax.jit(jax.vmap(jax.grad(loss, argnums=(0, 1, 2)))), *narrow)
    except ValueError:  # reverse mode does not pass loops of unknown length
        kind = "forward, one direction"
        along = jax.jit(jax.vmap(lambda q, v, u: jax.jvp(loss, (q, v, u), (q, v, u))[1]))
        second = timed(along, *narrow)
    return ["MJX", first[0], second[0], 1e6 * first[1] / n, 1e6 * second[1] / n, kind, broken(second[2], n)]


def measure(library, robot, n):
    """Cells of a row, in a process of its own."""
    import slipstick

    jax.config.update("jax_enable_x64", library == "slipstick")
    model = slipstick.builtin(robot)
    states = random_states(slipstick, model, n)
    name, *numbers, mode, bad = ours(slipstick, model, states) if library == "slipstick" else mjx_of(model, states)
    cells = [f"{robot} ({model.nv})", name, *(f"{x:.2f}" for x in numbers[:2]), *(f"{x:.1f}" for x in numbers[2:])]
    return f"| {' | '.join(cells)} | {mode} | {bad} of {n} |"


def row(library, robot, n):
    """The row of another process, or that it did not end."""
    command = [sys.executable, __file__, "--measure", library, robot, "--states", str(n)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"| {robot} | {library} | not done in {PATIENCE} s | | | | | |"
    if done.returncode:
        return f"| {robot} | {library} | {done.stderr.strip().splitlines()[-1]} | | | | | |"
    return done.stdout.strip().splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=1000)
    parser.add_argument("--page", help="file for the table")
    parser.add_argument("--measure", nargs=2, metavar=("LIBRARY", "ROBOT"), help="a single row, in this process")
    arguments = parser.parse_args()
    if arguments.measure:
        print(measure(*arguments.measure, arguments.states))
        return
    lines = [
        "| robot (dofs) | library | compile step (s) | compile gradient (s) | step (µs) | gradient (µs) | mode | not finite |",
        "|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for robot in ROBOTS:
        for library in ("slipstick", "MJX"):
            lines.append(row(library, robot, arguments.states))
            print(lines[-1], flush=True)
    if arguments.page:
        with open(arguments.page, "w", encoding="utf-8") as page:
            page.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    main()
