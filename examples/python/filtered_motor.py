"""A pendulum balanced by a motor that lags behind its control: the activation is a state of the regulator like the others."""

import sys
from pathlib import Path

import numpy as np
import slipstick
from numpy.typing import NDArray

Array = NDArray[np.float64]
MJCF = """
<mujoco><option timestep="0.005"/><worldbody>
  <body pos="0 0 1"><joint name="hinge" axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0 0 0.6" mass="1"/></body>
</worldbody><actuator>
  <general name="motor" joint="hinge" dyntype="filterexact" dynprm="0.4" ctrlrange="-20 20" ctrllimited="true"/>
</actuator></mujoco>
"""
out = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
model = slipstick.loads(MJCF)

# A has a row and a column for the activation, behind those of q and v, as in mjd_transitionFD
J = slipstick.step(model, [0.0], [0.0], ctrl=[0.0]).jacobian()
A, B = J.A, J.B
assert A.shape == (3, 3) and model.na == 1
Q, R = np.diag([10.0, 1.0, 0.0]), np.array([[0.01]])
P = Q
for _ in range(2000):  # the discrete Riccati equation, by iteration
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    P = Q + A.T @ P @ (A - B @ K)

sim = slipstick.Simulator(model)
sim.reset(q=[0.15], v=[0.0])
replay = slipstick.Replay(model, title="A pendulum on a motor with a lag of 0.4 s")
for _ in range(600):
    x: Array = np.concatenate([sim.state.q, sim.state.v, sim.act])
    replay.record(sim.step(ctrl=-K @ x))
print("after 3 s:", f"angle {sim.state.q[0]:.1e} rad, activation {sim.act[0]:.1e} N m")
assert abs(sim.state.q[0]) < 1e-3

# a regulator that does not know of the lag falls over
A, B = J.A[:2, :2], J.A[:2, 2:]
P = Q[:2, :2]
for _ in range(2000):
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    P = Q[:2, :2] + A.T @ P @ (A - B @ K)
sim.reset(q=[0.15], v=[0.0])
run = sim.rollout(1000, ctrl=lambda time, q, v: np.asarray(-K @ np.concatenate([q, v])))
print("without the activation in its state:", f"{np.abs(run.q).max():.1f} rad at the farthest")
assert np.abs(run.q).max() > 1.0

if len(sys.argv) > 1:
    replay.save(out / "filtered_motor.html")
