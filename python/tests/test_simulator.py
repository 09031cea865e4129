"""A Simulator owns its state, clock and warm start; `slipstick.step` owns nothing."""

import pickle
import warnings

import numpy as np
import pytest
import slipstick
from slipstick import errors, options

from states import assert_close


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


@pytest.fixture
def home(model):
    return model.keyframe("home")


def test_it_begins_at_home_and_keeps_its_state_and_clock(model, home):
    sim = slipstick.Simulator(model, dt=0.002)
    assert np.array_equal(sim.state.q, home.q) and sim.time == 0.0 and sim.model.dt == 0.002
    for k in range(1, 6):
        step = sim.step(ctrl=home.ctrl)
        assert sim.time == step.time == pytest.approx(0.002 * k, abs=1e-15)
        q, v = sim.state
        assert np.array_equal(q, step.q) and np.array_equal(v, step.v)


def test_a_rollout_goes_on_where_the_last_one_ended(model, home):
    one, two = slipstick.Simulator(model), slipstick.Simulator(model)
    whole = one.rollout(50, ctrl=home.ctrl)
    halves = [two.rollout(20, ctrl=home.ctrl), two.rollout(30, ctrl=home.ctrl)]
    assert np.array_equal(np.vstack([halves[0].q, halves[1].q[1:]]), whole.q)
    assert np.array_equal(np.append(halves[0].time, halves[1].time[1:]), whole.time)


def test_a_reset_starts_again(model, home):
    sim = slipstick.Simulator(model)
    first = sim.rollout(30, ctrl=home.ctrl)
    stale = sim.step(ctrl=home.ctrl)
    for reset in [lambda: sim.reset(), lambda: sim.reset("home"), lambda: sim.reset(q=home.q, v=home.v)]:
        reset()
        assert sim.time == 0.0 and np.array_equal(sim.rollout(30, ctrl=home.ctrl).q, first.q)
    with pytest.raises(errors.StaleStep):
        stale.jacobian()
    sim.reset(v=np.ones(18), time=2.0)
    assert sim.time == 2.0 and np.array_equal(sim.state.q, home.q) and np.array_equal(sim.state.v, np.ones(18))


def test_resets_that_do_not_fit_change_nothing(model, home):
    sim = slipstick.Simulator(model)
    step = sim.step(ctrl=home.ctrl)
    for wrong, message in [
        (dict(keyframe="nowhere"), "nowhere"),
        (dict(keyframe="home", q=home.q), "keyframe: expected None where q, v or act is given"),
        (dict(q=home.q[:-1]), "q"),
        (dict(v=np.full(18, np.nan)), "v"),
        (dict(time=np.inf), "time.*finite"),
    ]:
        with pytest.raises(ValueError, match=message):
            sim.reset(**wrong)
    assert np.array_equal(sim.state.q, step.q) and step.jacobian().A.shape == (36, 36)


def test_a_pure_step_is_the_first_step_of_a_simulator(model, home):
    sim = slipstick.Simulator(model)
    sim.rollout(20, ctrl=home.ctrl)
    (q, v), time, warm = sim.state, sim.time, sim.warm_start()
    step = sim.step(ctrl=home.ctrl)
    pure = slipstick.step(model, q, v, ctrl=home.ctrl, time=time, warm_start=pickle.loads(pickle.dumps(warm)))
    assert np.array_equal(pure.q, step.q) and np.array_equal(pure.v, step.v) and pure.time == step.time
    cold = slipstick.step(model, q, v, ctrl=home.ctrl)
    assert_close(cold.v, step.v, 1e-8)


def test_pure_steps_do_not_end_each_other(model, home):
    one = slipstick.step(model, home.q, home.v, ctrl=home.ctrl)
    A = one.jacobian().A
    slipstick.step(model, home.q, np.ones(18), ctrl=home.ctrl)
    assert np.array_equal(one.jacobian().A, A) and one.explain()


def failing(model):
    """One iteration is not enough for a body that lands."""
    sim = slipstick.Simulator(model, max_iterations=1)
    for _ in range(3000):
        step = sim.step()
        if step.report.status == "not_converged":
            return step
    raise AssertionError("every step converged in one iteration")


def test_a_step_that_did_not_converge_warns_once_and_has_no_derivative():
    humanoid = slipstick.builtin("humanoid")
    with pytest.warns(errors.StepWarning, match="did not converge.*Step.report") as caught:
        step = failing(humanoid)
    assert len([w for w in caught if issubclass(w.category, errors.StepWarning)]) == 1
    with pytest.raises(slipstick.GradientError, match="gradient_of_failed_steps") as refused:
        step.jacobian()
    assert refused.value.status == "not_converged" and refused.value.residual == step.report.residual
    for ask in [step.vjp, step.jvp, step.corners, lambda: step.parameter_jacobian("friction")]:
        with pytest.raises(slipstick.GradientError):
            ask()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.StepWarning)
        assert np.isfinite(failing(humanoid.with_options(gradient_of_failed_steps=True)).jacobian().A).all()


def test_a_rollout_warns_once_and_counts():
    humanoid = slipstick.builtin("humanoid")
    sim = slipstick.Simulator(humanoid, max_iterations=1)
    with pytest.warns(errors.StepWarning):
        run = sim.rollout(2000)
    assert run.not_converged == run.status.count("not_converged") > 1
    assert f"{run.not_converged} not converged" in repr(run)
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.StepWarning)
        sim.rollout(500)


def test_a_well_solved_run_warns_of_nothing(model, home):
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.StepWarning)
        run = slipstick.Simulator(model).rollout(300, ctrl=home.ctrl)
    assert run.not_converged == 0 and "converged" not in repr(run)


def test_the_obvious_loop_makes_a_whole_replay(model, home):
    sim, replay = slipstick.Simulator(model, dt=1 / 60), slipstick.Replay(model)
    for _ in range(100):
        replay.record(sim.step(ctrl=home.ctrl))
    assert len(replay) == 100


def test_a_trajectory_has_the_contacts_of_its_steps_unless_told_otherwise(model, home):
    sim = slipstick.Simulator(model)
    run = sim.rollout(20, ctrl=home.ctrl)
    again = slipstick.Simulator(model)
    for k in range(20):
        step = again.step(ctrl=home.ctrl)
        assert [(c.geoms, c.mode) for c in run.contacts_of(k)] == [(c.geoms, c.mode) for c in step.contacts]
        assert all(np.array_equal(a.impulse, b.impulse) for a, b in zip(run.contacts_of(k), step.contacts))
    with pytest.raises(ValueError, match="step: expected.*20"):
        run.contacts_of(20)
    with pytest.raises(ValueError, match="contacts=True"):
        slipstick.Simulator(model).rollout(3, contacts=False).contacts_of(0)


def test_options_are_classes_that_compare_show_and_pickle(model):
    for option in [
        options.Central(1e-3),
        options.ExactForwardCentral(1e-3),
        options.Smoothed(0.01),
        options.Randomized(0.01, samples=20, seed=3, order=0),
        options.Correction(1e-3, 0.2, 1.0),
    ]:
        assert pickle.loads(pickle.dumps(option)) == option
        assert eval(repr(option), vars(options)) == option
    assert slipstick.Simulator(model, gradient=options.Central(1e-3)).options.gradient == options.Central(1e-3)


def test_roots_have_few_names():
    on_demand = {"envs", "gym", "jax", "learn", "mujoco", "ray", "torch", "viser"}  # modules that are imported by their names
    names = [name for name in dir(slipstick) if not name.startswith("_") and name not in on_demand]
    assert sorted(slipstick.__all__) == sorted(names) and len(names) <= 25
    for module in [slipstick.errors, slipstick.gradient, slipstick.options, slipstick.types]:
        classes = [getattr(module, name) for name in module.__all__ if isinstance(getattr(module, name), type)]
        assert all(c.__module__ in ("slipstick", module.__name__) for c in classes)
