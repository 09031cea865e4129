"""Derivatives that cannot be had: of steps that are gone, of what does not fit, of what has none."""

import threading

import numpy as np
import pytest
import slipstick

from states import generator
from stepping import Stepper


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


@pytest.fixture
def simulator(model):
    return Stepper(model)


def stand(simulator, model, ctrl=True):
    home = model.keyframe("home")
    return simulator.step(home.q, home.v, ctrl=home.ctrl if ctrl else None)


ASKED = {
    "jacobian": lambda step: step.jacobian(),
    "jvp": lambda step: step.jvp(v=np.ones(18)),
    "vjp": lambda step: step.vjp(v=np.ones(18)),
    "vjp of parameters": lambda step: step.vjp(v=np.ones(18), parameters="friction"),
    "parameter_jacobian": lambda step: step.parameter_jacobian("gravity"),
    "impulse_jacobian": lambda step: step.impulse_jacobian(0),
    "constraints": lambda step: step.constraints,
    "explain": lambda step: step.explain(),
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_step_whose_simulator_has_stepped_on_is_stale(model, simulator, asked):
    ask, first = ASKED[asked], stand(simulator, model)
    ask(first)
    second = simulator.step(first.q, first.v)
    with pytest.raises(slipstick.errors.StaleStep, match="stepped on"):
        ask(first)
    ask(second)
    assert issubclass(slipstick.errors.StaleStep, RuntimeError)


def test_what_a_stale_step_showed_it_still_shows(model, simulator):
    first = stand(simulator, model)
    q, forces, key = first.q.copy(), [c.force for c in first.contacts], first.mode_key
    simulator.step(first.q, first.v)
    assert np.array_equal(first.q, q) and first.mode_key == key
    assert all(np.array_equal(c.force, f) for c, f in zip(first.contacts, forces)) and first.report.contacts


def test_rollouts_and_failed_steps_make_stale_too(model, simulator):
    step = stand(simulator, model)
    simulator.rollout(step.q, step.v, 1)
    with pytest.raises(slipstick.errors.StaleStep):
        step.jacobian()
    wild = Stepper(slipstick.builtin("sphere"), dt=1e25, speed_limit=1e60)
    calm = wild.step([0, 0, 1e3, 1, 0, 0, 0], np.zeros(6))
    with pytest.raises(slipstick.DivergenceError):
        wild.step([0, 0, 1, 1, 0, 0, 0], np.full(6, 1e59), tau=np.full(6, 1e59))
    with pytest.raises(slipstick.errors.StaleStep):
        calm.jacobian()


def test_a_refused_step_and_another_simulator_leave_a_step_alone(model, simulator):
    step = stand(simulator, model)
    J = step.jacobian()
    with pytest.raises(ValueError):
        simulator.reset(q=step.q, v=step.v[:-1])
    with pytest.raises(ValueError):
        simulator.simulator.step(tau=[])
    stand(Stepper(model), model)
    assert np.array_equal(step.jacobian().A, J.A)


def test_warm_starts_come_and_go_without_changing_a_derivative(model):
    """Also of one that has not been asked for before."""
    found = []
    for disturb in [lambda s: None, lambda s: s.clear_warm_start(), lambda s: s.restore(s.warm_start())]:
        simulator = Stepper(model)
        step = stand(simulator, model)
        disturb(simulator)
        found.append(step.jacobian().A)
        simulator.clear_warm_start()
        assert np.array_equal(step.jacobian().A, found[0])
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_a_step_outlives_the_name_of_its_simulator(model):
    step = stand(Stepper(model), model)
    assert np.isfinite(step.jacobian().A).all()


def test_threads_differentiate_at_the_same_time(model):
    rng, home = generator("threads"), model.keyframe("home")
    starts = [rng.normal(size=model.nv) for _ in range(4)]
    alone = [slipstick.step(model, home.q, v, ctrl=home.ctrl).jacobian().A for v in starts]
    found = [None] * len(starts)

    def work(k):
        simulator = Stepper(model)
        for _ in range(20):
            simulator.clear_warm_start()
            found[k] = simulator.step(home.q, starts[k], ctrl=home.ctrl).jacobian().A

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(starts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(alone, found))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda s: s.jvp(q=np.zeros(19)), "q.*18.*19"),  # a tangent, not a configuration
        (lambda s: s.jvp(v=np.zeros(17)), "v.*18.*17"),
        (lambda s: s.jvp(tau=[]), "tau.*18.*0"),
        (lambda s: s.jvp(tau=np.zeros((18, 2))), "tau.*vector.*18, 2"),
        (lambda s: s.jvp(ctrl=np.zeros(11)), "ctrl.*12.*11"),
        (lambda s: s.jvp(q=np.full(18, np.nan)), "q.*finite"),
        (lambda s: s.vjp(q=np.zeros(19)), "q.*18.*19"),
        (lambda s: s.vjp(v=[]), "v.*18.*0"),
        (lambda s: s.vjp(impulses=np.zeros(12)), "impulses.*matrix.*12"),
        (lambda s: s.vjp(impulses=np.zeros((3, 3))), r"impulses.*\(4, 3\).*\(3, 3\)"),
        (lambda s: s.vjp(impulses=np.full((4, 3), np.inf)), "impulses.*finite"),
        (lambda s: s.vjp(v=np.zeros(18), parameters="frictions"), "group.*'friction'.*'frictions'"),
        (lambda s: s.vjp(v=np.zeros(18), parameters=["gravity", "age"]), "group.*'age'"),
        (lambda s: s.vjp(v=np.zeros(3), parameters="gravity"), "v.*18.*3"),
        (lambda s: s.parameter_jacobian("age"), "group.*'age'"),
        (lambda s: s.impulse_jacobian(4), "contact.*4"),
        (lambda s: s.impulse_jacobian(-1), "contact.*-1"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(model, simulator, call, message):
    step = stand(simulator, model)
    assert len(step.contacts) == 4
    with pytest.raises(ValueError, match=message):
        call(step)


def test_controls_belong_to_steps_made_with_them(model, simulator):
    step = stand(simulator, model, ctrl=False)
    with pytest.raises(ValueError, match="ctrl.*without ctrl"):
        step.jvp(ctrl=np.zeros(12))
    assert step.vjp(v=np.ones(18)).ctrl is None and step.jacobian().B.shape == (36, 18)
    step = stand(simulator, model)
    assert step.vjp(v=np.ones(18)).ctrl.shape == (12,) and step.jacobian().B.shape == (36, 12)


def test_a_contact_without_derivative_names_its_shapes(tmp_path):
    """Two balls in the same place: any direction may be the normal."""
    path = tmp_path / "balls.xml"
    path.write_text(
        '<mujoco><worldbody><geom name="one" size="0.1"/><body name="ball"><freejoint/>'
        '<geom name="other" size="0.1" mass="1"/></body></worldbody></mujoco>'
    )
    model = slipstick.load(path)
    step = slipstick.step(model, model.neutral(), np.zeros(6))
    for ask in [lambda: step.jacobian(), lambda: step.jvp(q=np.ones(6)), lambda: step.vjp(v=np.ones(6))]:
        with pytest.raises(slipstick.errors.ContactGradientError, match="'one' and 'other'.*curvature") as error:
            ask()
        assert error.value.geoms == ("one", "other")
    assert issubclass(slipstick.errors.ContactGradientError, slipstick.GradientError)


def test_what_has_no_formula_is_an_error_and_no_zero(tmp_path):
    """The scale of terrain moves its contacts in ways nobody has written down."""
    path = tmp_path / "hill.xml"
    path.write_text(
        '<mujoco><asset><mesh name="hill" vertex="-1 -1 0 1 -1 0 1 1 0 -1 1 0 0 0 0.1" '
        'face="0 1 4 1 2 4 2 3 4 3 0 4 0 2 1 0 3 2"/></asset><worldbody><geom name="hill" type="mesh" mesh="hill"/>'
        '<body name="ball" pos="0.3 0.2 0.165"><freejoint/><geom name="ball" size="0.1" mass="1"/></body>'
        "</worldbody></mujoco>"
    )
    model = slipstick.load(path, terrain=["hill"])
    step = slipstick.step(model, model.neutral(), [0, 0, -1, 0, 0, 0])
    assert any(c.mode != "break" for c in step.contacts)
    with pytest.raises(slipstick.errors.UnsupportedGradientError, match="hill.*scale") as error:
        step.vjp(v=np.ones(6), parameters="mesh_scale")
    assert "hill" in error.value.what
    assert issubclass(slipstick.errors.UnsupportedGradientError, slipstick.GradientError)
    assert issubclass(slipstick.GradientError, ArithmeticError)
    assert np.isfinite(step.vjp(v=np.ones(6), parameters="friction").parameters["friction"]).all()
