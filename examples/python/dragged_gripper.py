"""A mocap body drags a gripper, which lifts a cube. Writes a page that plays the motion if a folder is given."""

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

import slipstick

MODEL = Path(__file__).parents[1] / "robots" / "dragged_gripper.xml"
# times (s), positions of the target (m), and how far the fingers close (m)
TIMES = [0.0, 1.0, 1.4, 2.4, 3.0]
PLACES = np.array([[0, 0, 0.3], [0, 0, 0.125], [0, 0, 0.125], [0.2, 0.1, 0.3], [0.2, 0.1, 0.3]])
CLOSED = [0.0, 0.0, 0.03, 0.03, 0.03]


def at(times: list[float], rows: npt.ArrayLike, time: float) -> npt.NDArray[np.float64]:
    """Between the two rows around a time."""
    return np.array([np.interp(time, times, column) for column in np.atleast_2d(np.transpose(rows))])


model = slipstick.load(MODEL)
sim = slipstick.Simulator(model)
replay = slipstick.Replay(model, title="A mocap body drags a gripper")
lag = 0.0
for _ in range(1500):
    sim.mocap_pos[0] = at(TIMES, PLACES, sim.time)
    step = sim.step(ctrl=at(TIMES, CLOSED, sim.time))
    lag = max(lag, float(np.linalg.norm(step.q[:3] - sim.mocap_pos[0])))
    replay.record(step)

cube = step.q[model.joint("cube").q][:3]
print(f"the palm is never farther than {1e3 * lag:.2f} mm from its target; the cube ends at {cube.round(3)}")
assert lag < 0.004, "the palm does not follow"
assert np.allclose(cube[:2], [0.2, 0.1], atol=0.01) and cube[2] > 0.15, "the cube was lost"
if len(sys.argv) > 1:
    replay.save(Path(sys.argv[1]) / "dragged_gripper.html")
