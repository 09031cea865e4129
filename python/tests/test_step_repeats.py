"""Warm starts: forgotten, restored and pickled, and steps that repeat bit for bit."""

import pickle

import numpy as np
import pytest
import slipstick

from states import assert_close, generator
from stepping import Stepper

ROBOTS = ["cube", "ant", "humanoid", "quadruped", "biped", "atlas"]


def fall(simulator, model, steps=120):
    """A shaken robot lands: its state, with many contacts and a warm start in the simulator."""
    rng, home = generator(model.name), model.keyframe("home")
    q = slipstick.dynamics.integrate(model, home.q, 0.01 * rng.normal(size=model.nv))
    trajectory = simulator.rollout(q, 0.3 * rng.normal(size=model.nv), steps, ctrl=home.ctrl)
    return trajectory.q[-1], trajectory.v[-1], home.ctrl


def same(one, two):
    """Every number of two steps, bit for bit."""

    def numbers(step):
        return [x for c in step.contacts for x in (c.impulse, c.point, c.velocity, c.frame, [c.distance, c.margin])]

    return (
        np.array_equal(one.q, two.q)
        and np.array_equal(one.v, two.v)
        and len(numbers(one)) == len(numbers(two))
        and all(np.array_equal(a, b) for a, b in zip(numbers(one), numbers(two)))
        and one.report.iterations == two.report.iterations
        and one.report.residual == two.report.residual
    )


@pytest.fixture(params=ROBOTS)
def model(request):
    return slipstick.builtin(request.param)


def test_two_runs_are_the_same_bit_for_bit(model):
    home, runs = model.keyframe("home"), []
    for _ in range(2):
        rng = generator(model.name)
        q = slipstick.dynamics.integrate(model, home.q, 0.02 * rng.normal(size=model.nv))
        runs.append(Stepper(model).rollout(q, rng.normal(size=model.nv), 300, ctrl=home.ctrl))
    one, two = runs
    assert one.contacts.max() > 0
    for attribute in ["q", "v", "residual", "iterations", "contacts"]:
        assert np.array_equal(getattr(one, attribute), getattr(two, attribute)), attribute


def test_a_restored_warm_start_repeats_a_step_bit_for_bit(model):
    simulator = Stepper(model)
    q, v, ctrl = fall(simulator, model)
    warm = simulator.warm_start()
    first = simulator.step(q, v, ctrl=ctrl)
    for _ in range(5):
        simulator.step(first.q, first.v, ctrl=ctrl)
    simulator.restore(warm)
    assert simulator.warm_start() == warm
    assert same(simulator.step(q, v, ctrl=ctrl), first)


def test_a_pickled_warm_start_repeats_a_step_in_another_simulator(model):
    simulator, other = Stepper(model), Stepper(model)
    q, v, ctrl = fall(simulator, model)
    text = pickle.dumps((q, v, simulator.warm_start()))
    first = simulator.step(q, v, ctrl=ctrl)
    q, v, warm = pickle.loads(text)
    other.restore(warm)
    assert same(other.step(q, v, ctrl=ctrl), first)


def test_a_forgetful_simulator_is_as_new(model):
    simulator = Stepper(model)
    q, v, ctrl = fall(simulator, model)
    simulator.clear_warm_start()
    assert simulator.warm_start() == Stepper(model).warm_start()
    assert same(simulator.step(q, v, ctrl=ctrl), slipstick.step(model, q, v, ctrl=ctrl))


def test_a_warm_start_saves_iterations_and_keeps_the_motion():
    """Point feet, whose impulses are unique: only the way to the answer differs."""
    model = slipstick.builtin("ant")
    simulator = Stepper(model)
    q, v, ctrl = fall(simulator, model, steps=400)
    warm = simulator.step(q, v, ctrl=ctrl)
    simulator.clear_warm_start()
    cold = simulator.step(q, v, ctrl=ctrl)
    assert warm.report.iterations < cold.report.iterations
    assert_close(warm.v, cold.v, 1e-8)


def test_warm_starts_compare_by_their_contents(model):
    simulator = Stepper(model)
    empty = simulator.warm_start()
    fall(simulator, model)
    full = simulator.warm_start()
    assert full == simulator.warm_start() and full != empty
    assert slipstick.types.WarmStart.from_bytes(full.to_bytes()) == full
    assert pickle.loads(pickle.dumps(full)) == full


def test_bytes_that_are_no_warm_start_are_refused():
    model = slipstick.builtin("cube")
    simulator = Stepper(model)
    fall(simulator, model)
    good = simulator.warm_start().to_bytes()
    not_finite = good[:-40] + b"\xff" * 40
    for bad in [b"", b"slip", b"\0" * 64, good[:-8], good[:-3], good + b"\0" * 8, good[8:], not_finite]:
        with pytest.raises(ValueError, match="warm start"):
            slipstick.types.WarmStart.from_bytes(bad)


def test_a_warm_start_of_another_robot_does_no_harm():
    """It names contacts that the model does not have: refused, or of no effect but on the search."""
    quadruped, cube = Stepper(slipstick.builtin("quadruped")), slipstick.builtin("cube")
    fall(quadruped, slipstick.builtin("quadruped"))
    simulator, home = Stepper(cube), cube.keyframe("home")
    try:
        simulator.restore(quadruped.warm_start())
    except ValueError as error:
        assert "warm start" in str(error)
    step = simulator.step(home.q, home.v)
    assert step.report.status == "converged" and np.all(np.isfinite(step.v))
