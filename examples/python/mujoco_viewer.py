"""MuJoCo's viewer shows a motion of slipstick: q is MuJoCo's qpos. With --show it opens a window."""

import sys
import time

import mujoco  # type: ignore[import-untyped]
import mujoco.viewer  # type: ignore[import-untyped]
import numpy as np
import slipstick
from slipstick import dynamics

model = slipstick.builtin("quadruped")
home = model.keyframe("home")
run = slipstick.Simulator(model).rollout(1000, ctrl=lambda t, q, v: home.ctrl + 0.3 * np.sin(12.0 * t))

mj = mujoco.MjModel.from_xml_string(model.to_mjcf())
data = mujoco.MjData(mj)
for q in run.q[::100]:
    data.qpos = q
    mujoco.mj_kinematics(mj, data)
    assert np.allclose(data.xpos, dynamics.kinematics(model, q).position, atol=1e-9)
print(f"{len(run)} steps, the same poses in MuJoCo")

if "--show" in sys.argv:
    with mujoco.viewer.launch_passive(mj, data) as viewer:
        for q in run.q[::16]:
            data.qpos = q
            mujoco.mj_forward(mj, data)
            viewer.sync()
            time.sleep(16 * model.dt)
