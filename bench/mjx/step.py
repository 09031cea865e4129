"""MJX on the processor, from our states: `step.py SCENE.xml STATES EVERY REPEATS PATIENCE MARGIN`; one JSON object on stdout.

STATES has lines `state q v tau`, of which every EVERY-th is taken. Timed, compiled and in single precision as is usual: a step alone and
all states at once (per state), its derivative in one direction (jvp) and its whole Jacobian (jacfwd) with respect to q, v and forces;
the least of REPEATS. Reverse mode does not pass MJX's solver, a loop of unknown length. Shapes are thicker by MARGIN (m), as for
MuJoCo. What is not done PATIENCE seconds after a compilation is left out (null); a compilation that takes ten times that ends the run,
and what was measured before it counts.
"""

import importlib.metadata
import json
import os
import sys
import threading
import time

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from mujoco import mjx

ITERATIONS, LINE_SEARCH = 4, 8  # of Newton's method and inside it: what MJX's own examples take
COMPILING = 10  # times PATIENCE, for each compilation


class Report:
    """What has been measured so far; printed once, in time or when time is up."""

    def __init__(self, n):
        self.n, self.times, self.contacts, self.first, self.notes = n, {}, [None] * n, [], ["single precision"]
        self.lock = threading.Lock()
        self.watchdog = None

    def give(self, seconds, what):
        if self.watchdog:
            self.watchdog.cancel()
        self.watchdog = threading.Timer(seconds, self.stop, [f"{what} took longer than {seconds:.0f} s"])
        self.watchdog.daemon = True
        self.watchdog.start()

    def stop(self, why=None):
        with self.lock:
            if why:
                self.notes.append(why)
            if not self.times:
                print(why, file=sys.stderr, flush=True)
                os._exit(1)
            version = f"{importlib.metadata.version('mujoco-mjx')} (jax {jax.__version__})"
            print(json.dumps({"peer": "mjx", "version": version, "note": ", ".join(self.notes), "times": self.times,
                              "contacts": self.contacts, "first_velocity": self.first}), flush=True)  # fmt: skip
            os._exit(0)  # a compilation under way would not let the interpreter end


def read_states(path, model, every):
    rows = [line.split()[1:] for line in open(path) if line.startswith("state")][::every]
    numbers = np.array(rows, dtype=np.float32)
    return numbers[:, : model.nq], numbers[:, model.nq : model.nq + model.nv], numbers[:, model.nq + model.nv :]


def load(path, margin, report):
    model = mujoco.MjModel.from_xml_path(path)
    model.opt.iterations, model.opt.ls_iterations = ITERATIONS, LINE_SEARCH
    model.geom_margin[:] = margin
    try:
        return model, mjx.put_model(model)
    except NotImplementedError as error:
        if "cone" not in str(error).lower():
            raise
    model.opt.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    report.notes.append("pyramidal friction cone")
    return model, mjx.put_model(model)


def least(repeats, run):
    """Least time in µs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - start)
    return 1e6 * min(times)


def main():
    scene, states = sys.argv[1:3]
    every, repeats, patience, margin = int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6])
    report = Report(0)
    model, on_device = load(scene, margin, report)
    q, v, tau = read_states(states, model, every)
    report.n, report.contacts = len(q), [None] * len(q)
    data = mjx.make_data(model)

    def step(q, v, tau):
        after = mjx.step(on_device, data.replace(qpos=q, qvel=v, qfrc_applied=tau))
        return after.qpos, after.qvel

    ones = tuple(jnp.ones(x.shape[1]) for x in (q, v, tau))
    whole = {
        "step": step,
        "jvp": lambda *x: jax.jvp(step, x, ones),
        "jacobian": lambda *x: jax.jacfwd(step, argnums=(0, 1, 2))(*x),
    }

    def compiled(name, run, arguments):
        report.give(COMPILING * patience, f"compiling {name}")
        run = jax.jit(run)
        result = jax.block_until_ready(run(*arguments))
        report.give(10 * patience, name)
        return run, result

    for name, function in whole.items():
        run, result = compiled(name, function, (q[0], v[0], tau[0]))
        if name == "step":
            report.first = [float(x) for x in result[1]]
        report.times[name] = [None] * len(q)
        start = time.monotonic()
        for k in range(len(q)):
            if time.monotonic() - start > patience:
                break
            report.times[name][k] = least(repeats, lambda: run(q[k], v[k], tau[k]))
        if name == "step":
            run, _ = compiled("a batch of steps", jax.vmap(step), (q, v, tau))
            report.times["step_in_batch"] = [least(repeats, lambda: run(q, v, tau)) / len(q)] * len(q)
    report.stop()


if __name__ == "__main__":
    main()
