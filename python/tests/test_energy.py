"""Constraint impulses take energy and never add any: ½ v⁺ᵀM̂v⁺ ≤ ½ v_freeᵀM̂v_free where nothing overlaps.

`SLIPSTICK_POSES` is the number of poses per robot; docs/math/contact.md (contact-16) has the figure of 1,500.
"""

import os

import numpy as np
import pytest
import slipstick

import coulomb
from states import generator
from stepping import Stepper

ROBOTS = ["hopper", "half_cheetah", "walker2d", "ant", "humanoid", "quadruped", "biped", "atlas"]
HEIGHT = {"hopper": 1, "walker2d": 1}  # place of the height in q, 2 for free roots
POSES = int(os.environ.get("SLIPSTICK_POSES", "40"))
TOLERANCE = 1e-9  # of the energy
GAP = 0.001  # m, at most, below what is lowest
FAR = 1.0  # m, within which the ground is looked for


def within_limits(model, q):
    """The configuration with every hinge and slide moved to within its limits."""
    for name, kind in zip(model.joint_names, model.joint_types):
        if kind in ("revolute", "prismatic"):
            j, i = model.joint(name).v.start, model.joint(name).q.start
            q[i] = np.clip(q[i], model.lower[j], model.upper[j])
    return q


def ground_distance(model, q):
    return min((c.distance for c in slipstick.collision.detect(model, q) if "world" in c.bodies), default=FAR)


def states_without_overlap(model, name):
    """Poses around home, put on the ground with a gap of at most 1 mm, sinking at the speeds of a crawl, a walk and a crash."""
    rng, home, height = generator(f"energy {name}"), model.keyframe("home").q, HEIGHT.get(name, 2)
    far = model.with_options(contact_distance=FAR)
    while True:
        q = within_limits(model, slipstick.dynamics.integrate(model, home, 0.2 * rng.normal(size=model.nv)))
        q[height] += rng.uniform(0.0, GAP) - ground_distance(far, q)
        if all(c.distance >= 0.0 for c in slipstick.collision.detect(model, q)):
            v = rng.choice([0.1, 1.0, 5.0]) * rng.normal(size=model.nv)
            v[height] = -abs(v[height])
            yield q, v


@pytest.mark.parametrize("name", ROBOTS)
def test_constraint_impulses_add_no_energy(name):
    model = slipstick.builtin(name).with_options(integrator="euler", implicit="damping")
    simulator, touched = Stepper(model), 0
    for _, (q, v) in zip(range(POSES), states_without_overlap(model, name)):
        simulator.clear_warm_start()
        step, problem = simulator.step(q, v), coulomb.StepProblem(model, q, v, [])
        mass = np.linalg.inv(problem.inverse)
        free, after = (0.5 * x @ mass @ x for x in (problem.v_free, step.v))
        assert after <= free + TOLERANCE * max(1.0, free), (q, v, free, after, step.status)
        touched += after < free * (1.0 - TOLERANCE)
    assert touched > POSES // 4, f"only {touched} of {POSES} states had impulses"
