"""Robots in moving contact, away from changes of mode: where differences see what derivatives do."""

import functools

import numpy as np
import slipstick
from slipstick.gradient import ControlStep

ARM = """
<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="upper" pos="0 0 0.55"><joint name="shoulder" axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" mass="1"/>
    <body name="fore" pos="0.4 0 0"><joint name="elbow" axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="0.6"/>
      <body name="left" pos="0.3 0.06 0"><joint name="left" type="slide" axis="0 1 0" range="-0.05 0.05"/><geom type="box" size="0.04 0.01 0.02" pos="0.04 0 0" mass="0.1"/></body>
      <body name="right" pos="0.3 -0.06 0"><joint name="right" type="slide" axis="0 1 0" range="-0.05 0.05"/><geom type="box" size="0.04 0.01 0.02" pos="0.04 0 0" mass="0.1"/></body>
    </body></body>
  <body name="stone" pos="0.74 0 0.55"><freejoint/><geom type="box" size="0.03 0.045 0.03" mass="0.2"/></body>
</worldbody><actuator>
  <position joint="shoulder" kp="80" kv="8"/><position joint="elbow" kp="80" kv="8"/>
  <motor joint="left"/><motor joint="right"/>
</actuator><keyframe><key name="home" qpos="0 0 -0.004 0.004 0.74 0 0.55 1 0 0 0"/></keyframe></mujoco>
"""


@functools.cache
def robot(name):
    return slipstick.loads(ARM) if name == "gripper" else slipstick.builtin(name)


def states(name, n, seed=0, speed=0.4):
    """Moving states near home, with controls."""
    model, rng = robot(name), np.random.default_rng(seed)
    home = model.keyframe("home")
    q = [slipstick.dynamics.integrate(model, home.q, 0.02 * rng.normal(size=model.nv)) for _ in range(n)]
    return np.array(q), speed * rng.normal(size=(n, model.nv)), home.ctrl + 0.1 * rng.normal(size=(n, model.nu))


def far_from_changes(name, wanted, margin=1e-4):
    """States with contacts whose margin is larger than what a difference sees."""
    q, v, ctrl = states(name, 40 * wanted, seed=3)
    report = ControlStep(robot(name)).step(q, v, ctrl).report
    good = (report[:, 0] > 0) & (report[:, 3] > margin) & (report[:, 6] == 0)
    assert good.sum() >= wanted, f"{name}: {good.sum()}"
    return [x[good][:wanted] for x in (q, v, ctrl)]
