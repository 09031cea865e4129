"""Ctrl-C in long calls: each is made in a process of its own, which gets SIGINT after it has begun and says how long it went on."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

# seconds from the signal to the exception; measured are hundredths, the rest is for machines that do other work as well
LIMIT = 1.0

# a shell that starts this in the background makes its children ignore SIGINT
PREPARE = """
import sys, threading, time, os, json, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import slipstick
from slipstick import gradient, optimize, dynamics, collision, errors

def model(name="quadruped"):
    return slipstick.builtin(name)

def heap(n):
    '''Boxes in a heap: steps take milliseconds.'''
    boxes = "".join(f'<body pos="{0.11 * (k % 4)} {0.11 * (k // 4 % 4)} {0.06 + 0.11 * (k // 16)}"><freejoint/>'
                    f'<geom type="box" size=".05 .05 .05"/></body>' for k in range(n))
    return slipstick.loads(f'<mujoco><worldbody><geom type="plane" size="0 0 1"/>{boxes}</worldbody></mujoco>')

def states(m, n):
    q = np.tile(m.keyframe("home").q, (n, 1))
    return q, np.zeros((n, m.nv))
"""

WATCH = """
began = time.perf_counter()
print("ready", flush=True)
try:
    call()
    outcome = "returned"
except KeyboardInterrupt:
    outcome = "interrupted"
print(json.dumps({"outcome": outcome, "at": time.time(), "took": time.perf_counter() - began}), flush=True)
after = globals().get("after")
if after:
    after()
    print("usable", flush=True)
"""

CALLS = {
    "Simulator.rollout": """
sim = slipstick.Simulator(heap(32))
call = lambda: sim.rollout(10**6)
after = lambda: sim.rollout(2)
""",
    "Simulator.rollout, function": """
m = model()
sim = slipstick.Simulator(m)
call = lambda: sim.rollout(10**6, ctrl=lambda t, q, v: np.zeros(m.nu))
after = lambda: sim.rollout(2)
""",
    "Batch.step": """
m = model()
batch = slipstick.Batch(m, 400, threads=2)
q, v = states(m, 400)
call = lambda: batch.step(q, v, hold=10_000)
def after():
    try:
        batch.vjp(v=np.ones((400, m.nv)))
        raise SystemExit("derivatives of a step that was interrupted")
    except errors.StaleStep:
        pass
    fresh = slipstick.Batch(m, 400, threads=2)
    assert np.array_equal(batch.step(q, v)[1], fresh.step(q, v)[1])
""",
    "Batch.rollout": """
m = model()
batch = slipstick.Batch(m, 8, threads=2)
q, v = states(m, 8)
call = lambda: batch.rollout(q, v, 200_000)
def after():
    fresh = slipstick.Batch(m, 8, threads=2)
    assert np.array_equal(batch.rollout(q, v, 5).v, fresh.rollout(q, v, 5).v)
""",
    "Batch.rollout, last environments": """
# two environments on two threads: the one that calls is done at once and waits for the other
m = model("cube")
batch = slipstick.Batch(m, 2, threads=2)
q, v = np.tile(m.neutral(), (2, 1)), np.zeros((2, m.nv))
q[0, 0] = np.nan
call = lambda: batch.rollout(q, v, 2_000_000)
""",
    "BatchRollout.vjp": """
m = model()
batch = slipstick.Batch(m, 16, threads=2)
q, v = states(m, 16)
run = batch.rollout(q, v, 1000, record=True)
def call():
    while True:
        run.vjp(v=np.ones((16, m.nv)), parameters="all")
after = lambda: run.vjp(v=np.ones((16, m.nv)))
""",
    "BatchRollout.jacobian": """
m = model()
batch = slipstick.Batch(m, 16, threads=2)
q, v = states(m, 16)
run = batch.rollout(q, v, 400, record=True)
def call():
    while True:
        run.jacobian()
after = lambda: run.vjp(v=np.ones((16, m.nv)))
""",
    "RolloutGradient.run": """
m = model()
throws = gradient.RolloutGradient(m, 200_000)
call = lambda: throws.run(m.keyframe("home").q, np.zeros(m.nv))
def after():
    try:
        throws.vjp(v=np.ones(m.nv))
        raise SystemExit("derivatives of a run that was interrupted")
    except RuntimeError:
        pass
""",
    "RolloutGradient.sensitivities": """
m = model()
throws = gradient.RolloutGradient(m, 600)
throws.run(m.keyframe("home").q, np.zeros(m.nv))
def call():
    while True:
        throws.sensitivities()
after = lambda: throws.vjp(v=np.ones(m.nv))
""",
    "RolloutGradient.vjp": """
m = model()
throws = gradient.RolloutGradient(m, 4000, parameters="all")
throws.run(m.keyframe("home").q, np.zeros(m.nv))
def call():
    while True:
        throws.vjp(v=np.ones(m.nv))
after = lambda: throws.vjp(v=np.ones(m.nv))
""",
    "bundled_jacobian": """
m = model()
q, v = m.keyframe("home").q, np.zeros(m.nv)
call = lambda: gradient.bundled_jacobian(m, q, v, sigma=1e-3, samples=10**7, threads=2)
""",
    "ControlStep.step": """
m = model()
step = gradient.ControlStep(m, hold=10_000)
q, v = states(m, 400)
call = lambda: step.step(q, v)
after = lambda: gradient.ControlStep(m, hold=2).step(q[:2], v[:2])
""",
    "ControlStep.jacobian": """
m = model()
step = gradient.ControlStep(m, hold=1000)
q, v = states(m, 400)
call = lambda: step.jacobian(q, v)
""",
    "Step.corners": """
sim = slipstick.Simulator(heap(32))
step = sim.step()
def call():
    while True:
        step.corners()
""",
    "compliance_schedule": """
m = heap(64)
def call():
    while True:
        gradient.compliance_schedule(m, m.neutral(), levels=1000)
""",
    "least_squares": """
def residual(x):
    return np.sin(np.outer(np.arange(400), x)).sum(axis=1) - 1.0
call = lambda: optimize.least_squares(residual, np.full(40, 0.3), tolerance=1e-300, max_iterations=10**6,
                                      gradient_tolerance=0.0, step_tolerance=0.0)
def call(once=call):
    while True:
        once()
""",
    "dynamics.kinematics": """
m = model("atlas")
q = np.tile(m.neutral(), (40_000, 1))
call = lambda: [dynamics.kinematics(m, q) for _ in range(1000)]
""",
    "collision.distance": """
box = collision.Box(half_size=[0.1, 0.2, 0.3])
n = 1_000_000
rng = np.random.default_rng(0)
there = (rng.normal(size=(n, 3)), rng.normal(size=(n, 4)))
call = lambda: [collision.distance(box, (np.zeros(3), np.array([1.0, 0, 0, 0])), box, there) for _ in range(100)]
""",
    "load": """
import math, pathlib, tempfile
folder = pathlib.Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
n = 200
points = [(math.cos(6.2832 * j / n) * (2 + math.cos(6.2832 * i / n)), math.sin(6.2832 * j / n) * (2 + math.cos(6.2832 * i / n)),
           math.sin(6.2832 * i / n)) for i in range(n) for j in range(n)]
at = lambda i, j: (i % n) * n + j % n + 1
faces = [f for i in range(n) for j in range(n)
         for f in ((at(i, j), at(i, j + 1), at(i + 1, j)), (at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)))]
lines = [f"v {x} {y} {z}" for x, y, z in points] + [f"f {a} {b} {c}" for a, b, c in faces]
(folder / "ring.obj").write_text("\\n".join(lines))
text = ('<mujoco><asset><mesh name="ring" file="ring.obj"/></asset><worldbody><body><freejoint/>'
        '<geom type="mesh" mesh="ring"/></body></worldbody></mujoco>')
def call():
    while True:
        slipstick.loads(text, folder=folder, decompose=True, cache=False)
""",
}


def interrupted(name: str) -> float:
    """Seconds between the signal and the exception in a process that makes a call."""
    program = PREPARE + CALLS[name] + WATCH
    environment = {**os.environ, "SLIPSTICK_CACHE": ""}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.4)
            sent = time.time()
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        except BaseException:
            process.kill()
            raise
    said = json.loads(out.splitlines()[0])
    assert said["outcome"] == "interrupted", f"{name} {said['outcome']} after {said['took']:.2f} s"
    assert process.returncode == 0, out
    assert ("after" not in CALLS[name]) or out.splitlines()[1] == "usable"
    return float(said["at"]) - sent


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_long_call(name: str) -> None:
    delay = interrupted(name)
    print(f"{name}: {1000 * delay:.0f} ms")
    assert delay < LIMIT, f"{name} went on for {delay:.2f} s"


def test_other_threads_finish_their_work() -> None:
    """No handler of signals runs in them, and what they compute does not depend on one that runs elsewhere."""
    program = PREPARE + """
m = model("cube")
out = []
worker = threading.Thread(target=lambda: out.append(slipstick.Simulator(m).rollout(20_000).q.shape[0]))
worker.start()
worker.join()
print(out)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[20001]\n", done.stderr
