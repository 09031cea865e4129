"""A page that plays a motion of an own robot, with its contacts; and the motion as a file."""

import sys
from pathlib import Path

import slipstick

URDF = Path(__file__).parents[1] / "robots" / "arm.urdf"
out = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

arm = slipstick.load(URDF, ground=True).with_servos(kp=200.0, kd=20.0)
sim = slipstick.Simulator(arm, dt=0.002)
run = sim.rollout(800, ctrl=lambda time, q, v: [0.3, 0.4 + 0.4 * time])

replay = slipstick.Replay(arm, title="An arm touches the floor")
replay.record_trajectory(run)
replay.save(out / "arm.html")
run.save(out / "arm.npz")
again = slipstick.Trajectory.load(out / "arm.npz", arm)
print(replay, again, f"open {out / 'arm.html'}")
