"""A cart with a range finder that stops before a wall: feedback of a reading, and the reading's derivative. With a folder as argument,
also a page that plays the motion."""

import sys
from pathlib import Path

import numpy as np
import slipstick

SCENE = """
<mujoco model="cart before a wall">
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <geom name="wall" type="box" size="0.1 1 0.5" pos="3 0 0.5"/>
    <body name="cart" pos="0 0 0.2">
      <joint name="rail" type="slide" axis="1 0 0" damping="1"/>
      <geom name="cart" type="box" size="0.2 0.15 0.1" mass="2"/>
      <site name="eye" pos="0.2 0 0.05" euler="0 90 0"/>
    </body>
  </worldbody>
  <actuator><motor name="drive" joint="rail" ctrlrange="-10 10"/></actuator>
  <sensor><rangefinder name="range" site="eye"/><velocimeter name="speed" site="eye"/></sensor>
</mujoco>
"""
GAP = 0.5  # where to stop before the wall (m)

model = slipstick.loads(SCENE)
sim = slipstick.Simulator(model)
replay = slipstick.Replay(model, title="A cart stops before a wall")
push = 0.0
for _ in range(1600):
    step = sim.step(ctrl=[push])
    gap, forward = step.sensors["range"][0], step.sensors["speed"][2]  # the site looks along its z axis
    push = float(np.clip(8.0 * (gap - GAP) - 8.0 * forward, -10.0, 10.0))
    replay.record(step)

by_place = step.sensor_jacobian()["range"].dq[0, 0]
print(f"the cart stands {gap:.4f} m before the wall; the range changes by {by_place:.3f} m per meter")
assert abs(gap - GAP) < 1e-3 and abs(step.v[0]) < 1e-3 and abs(by_place + 1.0) < 1e-12
if len(sys.argv) > 1:
    replay.save(Path(sys.argv[1]) / "range_finder.html")
