"""A robot from a URDF: load it, give its joints servos, let it wipe the floor with its hand."""

from pathlib import Path

import numpy as np
import slipstick

URDF = Path(__file__).parents[1] / "robots" / "arm.urdf"

arm = slipstick.load(URDF, ground=True)  # the base is fixed; free_root=True for robots that walk
print(arm, arm.joint_names, arm.body("fore").mass, "kg")
arm = arm.with_servos(kp=200.0, kd=20.0)  # URDF has no actuators: a position servo for every joint


def targets(time: float) -> list[float]:
    """Angles (rad) that press the hand onto the floor and draw it in."""
    return [0.3, 0.4 + 0.4 * time]


sim = slipstick.Simulator(arm, dt=0.002)
run = sim.rollout(500, ctrl=lambda time, q, v: targets(time))
print("angles after 1 s:", run.q[-1].round(4), "steps that did not converge:", run.not_converged)

step = sim.step(ctrl=targets(sim.time))
for contact in step.contacts:
    print(contact.bodies, contact.mode, "force", contact.force.round(2), "N")
print(step.explain())

through = step.jacobian().dv_dctrl  # velocities with respect to targets, through the contact
print("d(velocities)/d(targets):\n", through.round(6))
assert step.contacts[0].mode == "slide" and step.contacts[0].force[2] > 10.0 and np.abs(through).max() > 0.1
