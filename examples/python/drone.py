"""A drone finds back from a throw and hovers: a regulator from the exact derivatives of a step, and a page that plays it."""

import sys
from pathlib import Path

import numpy as np
import slipstick
from numpy.typing import NDArray

Array = NDArray[np.float64]
MJCF = Path(__file__).parents[1] / "robots" / "drone.xml"
out = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

drone = slipstick.load(MJCF)
hover = drone.keyframe("hover")

# thrusts turn with the drone: the derivative by q has what a tilt does to them
J = slipstick.step(drone, hover.q, hover.v, ctrl=hover.ctrl).jacobian()
A, B = J.A, J.B
Q, R = np.diag([10.0] * 3 + [1.0] * 3 + [2.0] * 3 + [0.1] * 3), 0.1 * np.eye(4)
P = Q
for _ in range(3000):  # the discrete Riccati equation, by iteration
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    P = Q + A.T @ P @ (A - B @ K)


def thrusts(time: float, q: Array, v: Array) -> Array:
    error = np.concatenate([slipstick.dynamics.difference(drone, hover.q, q), v])
    wanted: Array = np.clip(hover.ctrl - K @ error, 0.0, 4.0)
    return wanted


sim = slipstick.Simulator(drone)
tilt = np.radians(50.0)
sim.reset(q=[0.8, -0.5, 1.4, np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0], v=[1.0, 0.5, -0.5, 1.0, -2.0, 1.0])
run = sim.rollout(1000, ctrl=thrusts)
off = slipstick.dynamics.difference(drone, hover.q, run.q[-1])
print("after 5 s:", np.abs(off).max().round(5), "m or rad from the goal; thrusts", run.ctrl[-1].round(3))
assert np.abs(off).max() < 0.01 and np.abs(run.v[-1]).max() < 0.01

replay = slipstick.Replay(drone, title="A drone finds back from a throw")
replay.record_trajectory(run)
replay.save(out / "drone.html")
print(replay, f"open {out / 'drone.html'}")
