"""How a step is differentiated: options that are set, read, pickled, refused, and what they do."""

import pickle

import numpy as np
import pytest
import slipstick
from slipstick import options

from states import assert_close
from step_differences import SCENES
from stepping import Stepper

GRADIENTS = ["exact", options.Central(1e-3), options.ExactForwardCentral(2e-4)]
COLLISION_GRADIENTS = [
    "exact",
    options.Smoothed(1e-3),
    options.Randomized(1e-2, 50, 2**63 + 1, 0),
    options.Randomized(1e-2, 50, 7, 1),
    "frozen",
]
CHANGED = [("gradient", x) for x in GRADIENTS] + [("collision_gradient", x) for x in COLLISION_GRADIENTS]


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


def test_exact_is_the_default(model):
    assert model.options.gradient == model.options.collision_gradient == "exact"


@pytest.mark.parametrize("name, value", CHANGED)
def test_choices_are_kept_shown_and_pickled(model, name, value):
    changed = model.with_options(**{name: value})
    other = {"gradient": "collision_gradient", "collision_gradient": "gradient"}[name]
    assert getattr(changed.options, name) == value and getattr(changed.options, other) == "exact"
    assert (changed.options == model.options) == (value == "exact")
    assert f" {name}={value!r}" in repr(changed.options)
    assert Stepper(model, **{name: value}).options == changed.options
    assert changed.with_options(dt=0.01).options.dt == 0.01
    assert getattr(changed.with_options(dt=0.01).options, name) == value
    again = pickle.loads(pickle.dumps(changed))
    assert again.options == changed.options and getattr(again.options, name) == value


@pytest.mark.parametrize(
    "bad, message",
    [
        ({"gradient": "approximate"}, "gradient.*'exact'.*Central.*'approximate'"),
        ({"gradient": "central"}, "gradient.*kappa.*'central'"),
        ({"gradient": ("central",)}, "gradient.*kappa"),
        ({"gradient": ("central", "much")}, "gradient.*kappa.*much"),
        ({"gradient": options.Central(0.0)}, "kappa.*0"),
        ({"gradient": options.ExactForwardCentral(np.nan)}, "kappa"),
        ({"gradient": 1.0}, "gradient.*1.0"),
        ({"collision_gradient": "rough"}, "collision_gradient.*'frozen'.*'rough'"),
        ({"collision_gradient": "smoothed"}, "collision_gradient.*eps"),
        ({"collision_gradient": options.Smoothed(-1.0)}, "eps.*-1"),
        ({"collision_gradient": ("randomized", 1e-2)}, "collision_gradient.*samples, seed, order"),
        ({"collision_gradient": options.Randomized(1e-2, 0, 1, 1)}, "samples.*0"),
        ({"collision_gradient": ("randomized", 1e-2, -5, 1, 1)}, "collision_gradient.*-5"),
        ({"collision_gradient": options.Randomized(1e-2, 10, 1, 2)}, "order.*0 or 1.*2"),
    ],
)
def test_choices_without_sense_are_refused(model, bad, message):
    with pytest.raises((TypeError, ValueError), match=message):
        model.with_options(**bad)
    with pytest.raises((TypeError, ValueError), match=message):
        Stepper(model, **bad)


def test_the_central_path_changes_the_step_and_only_the_forward_exact_one_does_not():
    scene = SCENES["quadruped standing"]()
    exact, soft = scene.step(), scene.step(gradient=options.Central(1e-3))
    forward = scene.step(gradient=options.ExactForwardCentral(1e-3))
    assert np.array_equal(forward.v, exact.v) and not np.array_equal(soft.v, exact.v)
    assert not np.allclose(forward.jacobian().dv_dq, exact.jacobian().dv_dq, rtol=1e-6)


def test_smoothing_vanishes_with_kappa():
    for name in ["quadruped pushed", "half_cheetah running", "sphere rolling"]:
        scene = SCENES[name]()
        exact = scene.step().jacobian().dv_dv
        soft = [scene.step(gradient=options.ExactForwardCentral(kappa)).jacobian().dv_dv for kappa in [1e-5, 1e-7, 1e-10]]
        gaps = [np.max(np.abs(x - exact)) for x in soft]
        assert gaps[0] > 20.0 * gaps[1] and gaps[1] >= gaps[2] and gaps[2] < 1e-6, (name, gaps)


def test_smoothed_products_are_consistent():
    for mode in [options.Central(1e-3), options.ExactForwardCentral(1e-3)]:
        scene = SCENES["quadruped pushed"]()
        step, rng = scene.step(gradient=mode), np.random.default_rng(3)
        w, dx, J = rng.normal(size=36), rng.normal(size=36), step.jacobian()
        dq, dv = step.jvp(q=dx[:18], v=dx[18:])
        assert_close(np.concatenate([dq, dv]), J.A @ dx, 1e-11)
        gq, gv, _, _ = step.vjp(q=w[:18], v=w[18:])
        assert_close(np.concatenate([gq, gv]), w @ J.A, 1e-9)


def test_frozen_contacts_have_another_derivative_and_the_same_step():
    """A sphere on a floor: the point moves along with it, unless it is frozen; the distance is exact in any case."""
    scene = SCENES["sphere rolling"]()
    exact, frozen = scene.step(), scene.step(collision_gradient="frozen")
    assert np.array_equal(exact.v, frozen.v)
    assert not np.allclose(exact.jacobian().dv_dq, frozen.jacobian().dv_dq, rtol=1e-6)
    assert np.allclose(exact.jacobian().dv_dv, frozen.jacobian().dv_dv, rtol=1e-12)


def test_randomized_derivatives_repeat_with_their_seed():
    scene = SCENES["cube on an edge"]()
    A = [scene.step(collision_gradient=options.Randomized(1e-2, 20, seed, 1)).jacobian().A for seed in [1, 1, 2]]
    assert np.array_equal(A[0], A[1]) and not np.array_equal(A[0], A[2]) and np.isfinite(A[0]).all()


def test_a_speed_is_a_kappa_for_the_time_step_of_the_model(model):
    for choice in (options.Central, options.ExactForwardCentral):
        soft = choice(speed=0.05)
        assert soft.speed == 0.05 and soft.kappa is None and choice(1.0).speed is None
        assert repr(soft) == f"{choice.__name__}(speed=0.05)" and pickle.loads(pickle.dumps(soft)) == soft
        for dt in (1e-3, 4e-3):
            found = model.with_options(dt=dt, gradient=soft).options.gradient
            assert found == choice((0.05 / (9.81 * dt)) ** 2)
        for bad, words in [(dict(), "kappa.*speed.*neither"), (dict(kappa=1.0, speed=1.0), "both")]:
            with pytest.raises(TypeError, match=words):
                choice(**bad)
        with pytest.raises(ValueError, match="speed: expected a positive number, got -1"):
            choice(speed=-1.0)


def test_a_call_may_have_a_mode_of_its_own(model):
    home, rng = model.keyframe("home"), np.random.default_rng(3)
    v, w = 0.3 * rng.normal(size=model.nv), rng.normal(size=model.nv)
    for mode in (options.ExactForwardCentral(1.0), options.ExactForwardCentral(speed=0.1)):
        step = slipstick.step(model, home.q, v, ctrl=home.ctrl)
        smooth = slipstick.step(model.with_options(gradient=mode), home.q, v, ctrl=home.ctrl)
        exact = step.jacobian().dv_dq
        assert np.array_equal(step.jacobian(gradient=mode).dv_dq, smooth.jacobian().dv_dq)
        assert np.array_equal(step.vjp(v=w, gradient=mode).q, smooth.vjp(v=w).q)
        by_friction = step.vjp(v=w, parameters="friction", gradient=mode).parameters["friction"]
        assert np.array_equal(by_friction, smooth.vjp(v=w, parameters="friction").parameters["friction"])
        assert np.array_equal(step.jvp(v=w, gradient=mode)[1], smooth.jvp(v=w)[1])
        assert np.array_equal(step.jacobian().dv_dq, exact) and not np.array_equal(exact, smooth.jacobian().dv_dq)
        assert np.array_equal(smooth.jacobian(gradient="exact").dv_dq, exact)
        batch = slipstick.Batch(model, 2)
        batch.step(home.q, v, ctrl=home.ctrl)
        assert np.array_equal(batch.jacobian(gradient=mode).dv_dq[0], smooth.jacobian().dv_dq)
        run = batch.rollout(home.q, v, 3, ctrl=home.ctrl, record=True, warm=False)
        other = slipstick.Batch(model.with_options(gradient=mode), 2).rollout(home.q, v, 3, ctrl=home.ctrl, record=True)
        assert np.array_equal(run.vjp(v=np.tile(w, (2, 1)), gradient=mode).q, other.vjp(v=np.tile(w, (2, 1))).q)
        assert np.array_equal(run.jacobian(gradient=mode).dv_dq, other.jacobian().dv_dq)
    step = slipstick.step(model, home.q, v, ctrl=home.ctrl)
    for wrong, words in [
        (options.Central(1.0), "Model.with_options"),
        ("smooth", "gradient: expected 'exact' or options.ExactForwardCentral.*'smooth'"),
        (options.ExactForwardCentral(-1.0), "gradient.kappa"),
    ]:
        with pytest.raises(ValueError, match=words):
            step.jacobian(gradient=wrong)
        with pytest.raises(ValueError, match=words):
            batch.vjp(v=w, gradient=wrong)
    with pytest.raises(ValueError, match="impulses: expected None where gradient is given"):
        step.vjp(impulses=np.zeros((4, 3)), gradient="exact")
    central = slipstick.step(model.with_options(gradient=options.Central(1.0)), home.q, v)
    with pytest.raises(ValueError, match="central path"):
        central.jacobian(gradient="exact")
