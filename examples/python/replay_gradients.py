"""Derivatives on the picture: a quadruped is pushed; what would make it faster, and how would it move if it began faster?"""

import sys
from pathlib import Path

import numpy as np

import slipstick

out = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
model = slipstick.builtin("quadruped")
home = model.keyframe("home")
trunk = model.body_names.index("trunk")

sim, replay = slipstick.Simulator(model), slipstick.Replay(model, title="A quadruped is pushed")
replay.gradient_of("velocity", "trunk", "x")  # arrows: forces on bodies, torques of joints
faster = np.eye(model.nv)[0]
replay.perturb(v=faster, name="begins 1 m/s faster")  # a ghost with a slider
replay.record_state(home.q)

push = np.zeros((model.n_bodies, 6))
push[trunk, :2] = [60.0, 25.0]  # (N)
slope = faster  # of the velocity at the end by that at the start
dq = np.zeros(model.nv)
for k in range(600):
    step = sim.step(ctrl=home.ctrl, wrenches=push if 200 <= k < 300 else None)
    dq, slope = step.jvp(q=dq, v=slope)
    replay.record(step, gradients={"kinetic energy": step.vjp(v=slipstick.dynamics.crba(model, step.q) @ step.v, parameters="friction")})
replay.save(out / "pushed.html")

# the ghost is right: the same motion, begun a little faster
h, ends = 1e-6, []
for sign in (1, -1):
    other = slipstick.Simulator(model)
    other.reset(q=home.q, v=sign * h * faster)
    for k in range(600):
        step = other.step(ctrl=home.ctrl, wrenches=push if 200 <= k < 300 else None)
    ends.append(step.q)
difference = slipstick.dynamics.difference(model, ends[1], ends[0]) / (2 * h)
error = np.abs(difference - dq).max() / np.abs(dq).max()
print(f"{replay}; change of the end by the start: relative error {error:.1e}; open {out / 'pushed.html'}")
assert error < 1e-2 and not replay.warnings
