"""Friction and mass from data: a box slides under a push, derivatives by parameters find what it is made of."""

import numpy as np
import slipstick
from numpy.typing import NDArray
from slipstick import optimize
from slipstick.gradient import RolloutGradient

Array = NDArray[np.float64]
STEPS, SEEN = 150, slice(10, None, 10)  # its place is measured in every tenth state
PUSH = [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]  # along x (N)
cube = slipstick.builtin("cube")
start, speed = cube.keyframe("home").q, np.array([2.0, 0.5, 0.0, 0.0, 0.0, 0.0])


def slide(x: Array) -> tuple[slipstick.Model, RolloutGradient, Array]:
    """Motion of a box with one friction for all geoms, x[0], and a mass, x[1] (kg)."""
    model = cube.with_friction(x[0]).with_mass({"cube": x[1]})
    rollout = RolloutGradient(model, STEPS, parameters=["friction", "inertial"])
    return model, rollout, rollout.run(start, speed, tau=PUSH).q


def residual(x: Array) -> Array:
    return (slide(x)[2][SEEN, :2] - data).ravel()


def jacobian(x: Array) -> Array:
    """One forward pass through the rollout for each unknown."""
    model, rollout, _ = slide(x)
    friction, inertial = model.parameter_groups["friction"], model.parameter_groups["inertial"]
    along = [
        {"friction": np.ones(len(model.parameters[friction]))},  # all geoms alike
        {"inertial": model.parameters[inertial] / x[1]},  # mass, first and second moments are in proportion to the mass
    ]
    return np.stack([rollout.jvp(parameters=by)[0][SEEN, :2].ravel() for by in along], axis=1)


data = slide(np.array([0.35, 1.7]))[2][SEEN, :2]
found = optimize.least_squares(residual, [0.6, 1.0], jacobian=jacobian)
print("friction and mass:", found.x.round(9), "in", len(found.iterations) - 1, "iterations, error", found.error)
assert np.allclose(found.x, [0.35, 1.7], atol=1e-6)
