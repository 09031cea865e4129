"""Derivatives of a step with respect to the numbers of the model: central differences, and forward against reverse."""

import functools
from dataclasses import replace

import numpy as np
import pytest
import slipstick

from states import assert_close, generator
from step_differences import SCENES
from stepping import Stepper

GROUPS = ["armature", "damping", "stiffness", "gravity", "friction", "restitution", "joint_placement", "shape_size"]
CASES = {
    "cube sliding": [*GROUPS, "inertial"],
    "cube on an edge": [*GROUPS, "inertial"],
    "sphere rolling": [*GROUPS, "inertial"],
    "ant crawling": [*GROUPS, "inertial"],
    "quadruped pushed": [*GROUPS, "inertial", "actuator", "dry_friction"],
    "half_cheetah running": [*GROUPS, "inertial", "actuator"],
}
STEPS = [10.0**-k for k in range(2, 9)]  # in units of the largest number of a group
TOLERANCE = {"friction": 1e-4}  # the larger of two equal coefficients counts: no second derivative


@functools.cache
def made(name):
    """With softer patches: what divides a load among their points, a solver finds to its tolerance over the compliance."""
    s = SCENES[name]()
    return replace(s, model=s.model.with_options(patch_compliance=1e-4))


def stepped(s, model, warm):
    simulator = Stepper(model, tolerance=1e-13)
    if warm is not None:
        simulator.restore(warm)
    step = simulator.step(s.q, s.v, s.tau, s.ctrl, s.wrenches)
    return simulator, step


def has_two_sides(group, number):
    """Zeros below which a number means nothing, or something else."""
    positive = ["armature", "damping", "stiffness", "restitution", "dry_friction", "actuator"]
    return number != 0.0 or group not in positive


def difference(s, k, h, base, warm):
    """dv⁺ of the k-th number by a central difference; None across a switch of modes or for numbers without sense."""
    pair = []
    for sign in (1.0, -1.0):
        numbers = s.model.parameters
        numbers[k] += sign * h
        try:
            model = s.model.with_parameters(numbers)
            pair.append(stepped(s, model, warm)[1])
        except (ValueError, slipstick.errors.DynamicsError):
            return None
    same = {base.mode_key} == {step.mode_key for step in pair}
    return (pair[0].v - pair[1].v) / (2.0 * h) if same else None


@pytest.mark.parametrize("name, group", [(name, group) for name, groups in CASES.items() for group in groups])
def test_parameters_are_differentiated_as_differences_say(name, group):
    s = made(name)
    warm = stepped(s, s.model, None)[0].warm_start()
    _, base = stepped(s, s.model, warm)
    where, (_, dv) = s.model.parameter_groups[group], base.parameter_jacobian(group)
    numbers = s.model.parameters[where]
    unit = np.max(np.abs(numbers), initial=1e-2)
    scale, known = max(np.max(np.abs(dv), initial=0.0), 1e-3), 0
    for k in (k for k, number in enumerate(numbers) if has_two_sides(group, number)):
        candidates = [difference(s, where.start + k, h * unit, base, warm) for h in STEPS]
        errors = [np.max(np.abs(dv[:, k] - c)) for c in candidates if c is not None]
        if errors:
            assert min(errors) < TOLERANCE.get(group, 1e-6) * scale, f"number {k}: {min(errors):.1e} of {scale:.1e}"
            known += 1
    if group in ["inertial", "gravity", "friction"]:
        assert known > 0.9 * len(numbers)


@pytest.mark.parametrize("name", CASES)
def test_forward_and_reverse_agree_on_parameters(name):
    """And q⁺ = q ⊕ dt v⁺ says how it follows v⁺."""
    s, rng = made(name), generator(name)
    step = s.step()
    _, turn = slipstick.dynamics.integrate_derivatives(s.model, s.q, s.model.dt * step.v)
    for group, where in s.model.parameter_groups.items():
        dq, dv = step.parameter_jacobian(group)
        assert dq.shape == dv.shape == (s.model.nv, where.stop - where.start)
        assert_close(dq, s.model.dt * turn @ dv, 1e-12)
        wq, wv = rng.normal(size=s.model.nv), rng.normal(size=s.model.nv)
        assert_close(step.vjp(q=wq, v=wv, parameters=group).parameters[group], wq @ dq + wv @ dv, 1e-9, group)


def test_several_groups_are_a_dict():
    s, rng = made("quadruped pushed"), generator("groups")
    step = s.step()
    w = {"q": rng.normal(size=18), "v": rng.normal(size=18), "impulses": rng.normal(size=(len(step.contacts), 3))}
    everything = step.vjp(**w, parameters="all").parameters
    assert list(everything) == list(s.model.parameter_groups)
    for name, where in s.model.parameter_groups.items():
        assert everything[name].shape == (where.stop - where.start,)
        assert np.array_equal(everything[name], step.vjp(**w, parameters=name).parameters[name])
    some = step.vjp(**w, parameters=["friction", "inertial"]).parameters
    assert list(some) == ["friction", "inertial"] and np.array_equal(some["friction"], everything["friction"])
    assert step.vjp(**w, parameters=[]).parameters == {}


def test_a_heavier_cube_slides_as_far():
    """Truths without differences: mass cancels on a floor, friction brakes by g dt, gravity by μ dt."""
    s = made("cube sliding")
    step = s.step()
    along = step.v[:2] / np.linalg.norm(step.v[:2])
    _, by_friction = step.parameter_jacobian("friction")
    _, by_inertia = step.parameter_jacobian("inertial")
    assert abs(along @ by_inertia[:2, 0]) < 1e-6
    brake = along @ by_friction[:2].sum(axis=1)
    assert brake == pytest.approx(-9.81 * s.model.dt, rel=0.05)  # it turns as well: friction is not quite along v
