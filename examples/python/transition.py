"""A and B of a step where mjd_transitionFD was: exact, and without a step size to choose."""

import mujoco  # type: ignore[import-untyped]
import numpy as np
import slipstick

model = slipstick.builtin("double_pendulum")
mj = mujoco.MjModel.from_xml_string(model.to_mjcf())  # the robot as MuJoCo has it
data, nv = mujoco.MjData(mj), model.nv

q, v, ctrl = np.array([0.4, -0.7]), np.array([1.0, 0.5]), np.full(model.nu, 0.1)
J = slipstick.step(model, q, v, ctrl=ctrl).jacobian()

data.qpos, data.qvel, data.ctrl = q, v, ctrl
A, B = np.zeros((2 * nv, 2 * nv)), np.zeros((2 * nv, model.nu))
mujoco.mjd_transitionFD(mj, data, 1e-6, True, A, B, None, None)

print("A:\n", J.A.round(5))
print("B:\n", J.B.round(5))
print("largest difference to mjd_transitionFD:", np.abs(J.A - A).max(), np.abs(J.B - B).max())
assert np.abs(J.A - A).max() < 1e-3 and np.abs(J.B - B).max() < 1e-3
