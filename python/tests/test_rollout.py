"""Rollouts are steps one after the other, and what they record."""

import json

import numpy as np
import pytest
import slipstick
from stepping import Stepper

STEPS = 50


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


@pytest.fixture
def home(model):
    return model.keyframe("home")


def by_hand(model, q, v, controls, forces=None, wrenches=None):
    """The same with single steps."""
    simulator, states, steps = Stepper(model), [(q, v)], []
    for k, ctrl in enumerate(controls):
        step = simulator.step(q, v, ctrl=ctrl, tau=None if forces is None else forces[k], wrenches=wrenches)
        q, v = step.q, step.v
        states.append((q, v))
        steps.append(step)
    return states, steps


def assert_same(trajectory, states, steps):
    assert np.array_equal(trajectory.q, [q for q, _ in states])
    assert np.array_equal(trajectory.v, [v for _, v in states])
    assert np.array_equal(trajectory.residual, [s.report.residual for s in steps])
    assert np.array_equal(trajectory.iterations, [s.report.iterations for s in steps])
    assert np.array_equal(trajectory.contacts, [s.report.contacts for s in steps])
    assert np.array_equal(trajectory.compliance_shift, [s.report.compliance_shift for s in steps])
    assert trajectory.status == [s.report.status for s in steps]
    assert trajectory.stage == [s.report.stage for s in steps]
    deepest = [max([-c.distance for c in s.contacts if c.distance < 0.0], default=0.0) for s in steps]
    assert np.array_equal(trajectory.penetration, deepest)


def test_a_rollout_is_its_steps(model, home):
    rng = np.random.default_rng(1)
    ctrl, tau = home.ctrl + 0.1 * rng.normal(size=(STEPS, model.nu)), rng.normal(size=(STEPS, model.nv))
    wrenches = rng.normal(size=(model.n_bodies, 6))
    trajectory = Stepper(model).rollout(home.q, home.v, STEPS, ctrl=ctrl, tau=tau, wrenches=wrenches)
    assert_same(trajectory, *by_hand(model, home.q, home.v, ctrl, tau, wrenches))
    assert np.array_equal(trajectory.ctrl, ctrl) and np.array_equal(trajectory.tau, tau)
    assert trajectory.contacts.max() == 4


def test_controls_may_be_constant_or_absent(model, home):
    constant = Stepper(model).rollout(home.q, home.v, STEPS, ctrl=home.ctrl)
    assert_same(constant, *by_hand(model, home.q, home.v, [home.ctrl] * STEPS))
    assert np.array_equal(constant.ctrl, [home.ctrl] * STEPS) and not constant.tau.any()
    absent = Stepper(model).rollout(home.q, home.v, STEPS)
    assert_same(absent, *by_hand(model, home.q, home.v, [None] * STEPS))
    assert absent.ctrl.shape == (STEPS, model.nu) and not absent.ctrl.any()


def test_a_function_may_steer(model, home):
    seen = []

    def controller(time, q, v):
        seen.append((time, q, v))
        return home.ctrl + 0.1 * np.sin(10.0 * time) - 0.01 * v[6:]

    trajectory = Stepper(model).rollout(home.q, home.v, STEPS, ctrl=controller, time=2.0)
    assert len(seen) == STEPS
    for k, (time, q, v) in enumerate(seen):
        assert time == trajectory.time[k]
        assert np.array_equal(q, trajectory.q[k]) and np.array_equal(v, trajectory.v[k])
    assert_same(trajectory, *by_hand(model, home.q, home.v, trajectory.ctrl))


def test_time_is_recorded(model, home):
    trajectory = Stepper(model, dt=0.002).rollout(home.q, home.v, 5, time=1.0)
    assert np.allclose(trajectory.time, 1.0 + 0.002 * np.arange(6), rtol=0.0, atol=1e-15)


def test_shapes_without_steps(model, home):
    trajectory = Stepper(model).rollout(home.q, home.v, 0)
    assert len(trajectory) == 0 and trajectory.status == []
    assert trajectory.q.shape == (1, model.nq) and trajectory.v.shape == (1, model.nv)
    assert trajectory.ctrl.shape == (0, model.nu) and trajectory.residual.shape == (0,)


def test_a_trajectory_is_saved_for_numpy_and_as_text(model, home, tmp_path):
    trajectory = Stepper(model).rollout(home.q, home.v, STEPS, ctrl=home.ctrl)
    trajectory.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as saved:
        assert saved["format"] == "slipstick-trajectory" and saved["model"] == model.name
        for name in ["time", "q", "v", "ctrl", "tau", "contacts", "penetration", "residual", "iterations"]:
            assert np.array_equal(saved[name], getattr(trajectory, name)), name
        assert [str(saved["status_names"][k]) for k in saved["status"]] == trajectory.status
        assert [str(saved["stage_names"][k]) for k in saved["stage"]] == trajectory.stage
    trajectory.save(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text())["q"] == trajectory.q.tolist()
    trajectory.save(str(tmp_path / "run.csv"))
    assert len((tmp_path / "run.csv").read_text().splitlines()) >= STEPS + 2
    with pytest.raises(ValueError, match="run.txt"):
        trajectory.save(tmp_path / "run.txt")
    with pytest.raises(OSError, match="nowhere"):
        trajectory.save(tmp_path / "nowhere" / "run.npz")


def test_a_rollout_goes_on_with_the_warm_start(model, home):
    one, two = Stepper(model), Stepper(model)
    whole = one.rollout(home.q, home.v, 2 * STEPS, ctrl=home.ctrl)
    half = two.rollout(home.q, home.v, STEPS, ctrl=home.ctrl)
    rest = two.rollout(half.q[-1], half.v[-1], STEPS, ctrl=home.ctrl)
    assert np.array_equal(np.vstack([half.q, rest.q[1:]]), whole.q)
    assert one.warm_start() == two.warm_start()


def test_bad_drives_are_refused_by_name(model, home):
    simulator = Stepper(model)
    for bad, message in [
        ({"ctrl": np.zeros(model.nu + 1)}, rf"ctrl.*\({model.nu},\).*\({model.nu + 1},\)"),
        ({"ctrl": np.zeros((STEPS - 1, model.nu))}, "ctrl"),
        ({"ctrl": np.full(model.nu, np.nan)}, "ctrl"),
        ({"tau": np.zeros((STEPS, model.nv - 1))}, "tau"),
        ({"ctrl": lambda time, q, v: np.zeros(3)}, "ctrl.*12.*3"),
        ({"ctrl": lambda time, q, v: np.full(model.nu, np.inf)}, "ctrl"),
        ({"tau": lambda time, q, v: "much"}, "much"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            simulator.rollout(home.q, home.v, STEPS, **bad)
    with pytest.raises(ValueError, match="steps.*-1"):
        simulator.rollout(home.q, home.v, -1)


def test_errors_of_a_controller_come_through(model, home):
    class Stop(Exception):
        pass

    def controller(time, q, v):
        if time > 0.01:
            raise Stop
        return home.ctrl

    simulator = Stepper(model)
    with pytest.raises(Stop) as caught:
        simulator.rollout(home.q, home.v, STEPS, ctrl=controller)
    done = caught.value.trajectory
    assert 0 < len(done) < STEPS and simulator.time == done.time[-1], "what came before is kept"
    assert np.array_equal(simulator.state.q, done.q[-1])
    assert simulator.step(home.q, home.v).report.status == "converged", "it goes on after that"


def test_a_rollout_that_diverges_names_body_and_time(tmp_path):
    path = tmp_path / "spring.xml"
    path.write_text(
        '<mujoco><option timestep="0.1" gravity="0 0 0"/><worldbody><body name="bob">'
        '<joint type="slide" stiffness="500"/><geom size="0.1" mass="1"/></body></worldbody></mujoco>'
    )
    model = slipstick.load(path)
    with pytest.raises(slipstick.DivergenceError) as error:
        Stepper(model).rollout([0.1], [0.0], 1000, time=5.0)
    assert error.value.body == "bob" and error.value.time > 5.0


def test_a_controller_cannot_step_its_own_simulator(model, home):
    simulator = Stepper(model)
    with pytest.raises(RuntimeError, match="Simulator"):
        simulator.rollout(home.q, home.v, STEPS, ctrl=lambda time, q, v: simulator.step(q, v).v[6:])
