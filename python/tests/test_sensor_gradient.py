"""Derivatives of sensor readings on a standing quadruped: central differences in numpy, products, errors."""

import dataclasses

import numpy as np
import pytest
import slipstick

from robots import BUILTINS
from states import assert_close, generator
from step_differences import Differences, Scene, error
from stepping import Stepper

SENSORS = """
  <sensor>
    <accelerometer name="accelerometer" site="imu"/>
    <gyro name="gyro" site="imu"/>
    <framequat name="attitude" objtype="xbody" objname="trunk"/>
    <force name="force" site="FL_foot"/>
    <torque name="torque" site="FL_foot"/>
    <touch name="touch" site="RR_foot"/>
    <jointlimitfrc name="stop" joint="FL_calf_joint"/>
    <actuatorfrc name="effort" actuator="FR_calf"/>
    <subtreecom name="center" body="trunk"/>
    <subtreeangmom name="spin" body="trunk"/>
    <jointpos joint="RL_hip_joint"/>
    <framequat name="blind" objtype="body" objname="trunk"/>
  </sensor>
"""
NAMES = ["accelerometer", "gyro", "attitude", "force", "torque", "touch", "stop", "effort", "center", "spin", "10"]


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """On four feet, a knee pressed against its stop. Without dry friction the loads of the legs are decided."""
    text = (BUILTINS / "quadruped.xml").read_text()
    text = text.replace('frictionloss="0.2"', "").replace('size="0.005"', 'size="0.03"')
    text = text.replace('<joint name="FL_calf_joint"', '<joint name="FL_calf_joint" range="-1.78 -0.888"')
    path = tmp_path_factory.mktemp("sensors") / "measured.xml"
    path.write_text(text.replace("</mujoco>", f"{SENSORS}</mujoco>"))
    model = slipstick.load(path)
    home, push = model.keyframe("home"), 0.3 * generator("sensor gradient").normal(size=model.nv)
    run = Stepper(model).rollout(home.q, home.v, 300, ctrl=home.ctrl, tau=push)
    return Scene(model, run.q[-1], run.v[-1], push, home.ctrl, np.zeros((model.n_bodies, 6)))


def test_readings_have_the_derivatives_of_their_central_differences(scene):
    differences = Differences(scene)
    base, left_out = differences.base, []
    assert [c.mode for c in base.contacts] == 4 * ["stick"]
    assert base.sensors["stop"] > 0.1 and base.sensors["touch"] > 1.0
    jacobians = base.sensor_jacobian()
    assert list(jacobians) == list(base.sensors) == NAMES, "what cannot be read is left out"
    ends = np.cumsum([len(base.sensors[name]) for name in NAMES])
    for what in ["q", "v", "tau", "ctrl"]:
        found = differences.blocks(what, lambda step: np.concatenate([step.sensors[name] for name in NAMES]))
        for name, end in zip(NAMES, ends):
            actual = getattr(jacobians[name], f"d{what}")
            rows = slice(end - len(actual), end)
            # accelerations and forces are differences of velocities over a millisecond
            scale = max(np.max(np.abs(actual)), differences.mobility if what in ("tau", "ctrl") else 1.0)
            worst, unknown = error(actual, [block[rows] for block in found], scale)
            assert worst < 1e-5, f"{name} by {what}: {worst:.1e} of its largest entry"
            left_out.append(unknown)
    assert np.mean(left_out) < 0.1


def test_gradients_of_weighted_readings_are_products_with_their_jacobians(scene):
    step, rng = scene.step(), generator("weights of readings")
    weights = {name: rng.normal(size=len(reading)) for name, reading in step.sensors.items()}
    jacobians, gradients = step.sensor_jacobian(), step.vjp(sensors=weights)
    for what, actual in zip(["q", "v", "tau", "ctrl"], gradients):
        blocks = {name: getattr(J, f"d{what}") for name, J in jacobians.items()}
        size = max(np.max(np.abs(block), initial=1.0) for block in blocks.values())
        expected = sum(weights[name] @ block for name, block in blocks.items())
        assert_close(actual / size, expected / size, 1e-10, what)
    assert all(np.array_equal(g, 0 * g) for g in step.vjp(sensors={}))


def test_a_step_without_controls_has_no_columns_for_them(scene):
    simulator = Stepper(scene.model)
    step = simulator.step(scene.q, scene.v)
    assert step.sensor_jacobian()["force"].dctrl.shape == (3, 0)
    assert step.vjp(sensors={"force": [1, 0, 0]}).ctrl is None
    simulator.step(scene.q, scene.v)
    for ask in [step.sensor_jacobian, lambda: step.vjp(sensors={})]:
        with pytest.raises(slipstick.errors.StaleStep):
            ask()


def test_weights_that_do_not_fit_are_refused_by_name(scene):
    step = scene.step()
    for weights, words in [
        ({"nobody": [1.0]}, "nobody"),
        ({"force": [1.0, 2.0]}, r"sensors\['force'\]: expected 3"),
        ({"force": [1.0, 2.0, np.nan]}, r"sensors\['force'\]: expected 3 finite"),
        ({"blind": np.ones(4)}, "'blind' cannot be read"),
    ]:
        with pytest.raises(ValueError, match=words):
            step.vjp(sensors=weights)


GROUPS = ["gravity", "inertial", "actuator", "damping", "armature", "joint_placement"]


def other_model(model, group, direction, h):
    """The model with a group of parameters moved along a direction."""
    parameters = model.parameters.copy()
    parameters[model.parameter_groups[group]] += h * direction
    return model.with_parameters(parameters)


def test_readings_have_the_derivatives_of_models_with_other_parameters(scene):
    model, rng = scene.model, generator("readings by parameters")
    base = scene.step()
    weights = {name: rng.normal(size=len(reading)) for name, reading in base.sensors.items()}
    gradients = base.vjp(sensors=weights, parameters=GROUPS).parameters
    for group, gradient in gradients.items():
        # what is zero may not be negative
        direction = rng.normal(size=len(gradient)) * model.parameters[model.parameter_groups[group]]

        def loss(h):
            sensors = dataclasses.replace(scene, model=other_model(model, group, direction, h)).step().sensors
            return sum(weights[name] @ (sensors[name] - base.sensors[name]) for name in weights)

        size = max(1.0, np.max(np.abs(gradient * direction)))
        steps = (1e-4, 1e-5, 1e-6, 1e-7)
        worst = min(abs((loss(h) - loss(-h)) / (2 * h) - gradient @ direction) for h in steps)
        assert worst < 1e-5 * size, f"{group}: {worst / size:.1e}"


def test_groups_of_parameters_may_be_asked_for_one_by_one(scene):
    step = scene.step()
    weights = {"touch": [1.0], "force": [1.0, 2.0, 3.0]}
    everything = step.vjp(sensors=weights, parameters="all").parameters
    assert list(everything) == list(scene.model.parameter_groups)
    for group, gradient in everything.items():
        assert np.array_equal(gradient, step.vjp(sensors=weights, parameters=group).parameters[group]), group
    for wrong, words in [
        (lambda: step.vjp(sensors=weights, parameters="color"), "group.*'color'"),
        (lambda: step.vjp(sensors={"nobody": [1.0]}, parameters="gravity"), "nobody"),
        (lambda: step.vjp(sensors={"blind": np.ones(4)}, parameters="gravity"), "'blind' cannot be read"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong()


STEPS = 30


def readings_of(scene, model, q, v, ctrl, names):
    """Readings of a rollout (steps, size), and what repeats of it share."""
    rollout = slipstick.gradient.RolloutGradient(model, STEPS, parameters=["damping", "gravity"])
    sensors = rollout.run(q, v, ctrl=ctrl, tau=scene.tau).sensors
    return rollout, {name: sensors[name] for name in names}


def test_a_loss_on_the_readings_of_a_rollout_has_the_gradient_of_its_differences(scene):
    model, rng = scene.model.with_options(tolerance=1e-13), generator("readings of a rollout")
    ctrl = scene.ctrl + 0.02 * rng.normal(size=(STEPS, model.nu))
    rollout, base = readings_of(scene, model, scene.q, scene.v, ctrl, NAMES)
    same = Stepper(model).rollout(scene.q, scene.v, STEPS, ctrl=ctrl, tau=scene.tau).sensors
    assert all(np.array_equal(base[name], same[name]) for name in NAMES) and list(base) == list(same)
    weights = {name: rng.normal(size=readings.shape) for name, readings in base.items()}
    gradient = rollout.vjp(sensors=weights)
    d_q, d_v, d_ctrl = rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=ctrl.shape)

    def loss(model=model, q=scene.q, v=scene.v, ctrl=ctrl):
        now = readings_of(scene, model, q, v, ctrl, NAMES)[1]
        return sum(np.sum(weights[name] * (now[name] - base[name])) for name in NAMES)

    damping, gravity = (model.parameters[model.parameter_groups[group]] for group in ["damping", "gravity"])
    for what, expected, moved in [
        ("q", gradient.q * d_q, lambda h: loss(q=slipstick.dynamics.integrate(model, scene.q, 0.1 * h * d_q)) / 0.1),
        ("v", gradient.v * d_v, lambda h: loss(v=scene.v + h * d_v)),
        ("ctrl", gradient.ctrl * d_ctrl, lambda h: loss(ctrl=ctrl + h * d_ctrl)),
        (
            "damping",
            gradient.parameters["damping"] * damping,
            lambda h: loss(other_model(model, "damping", damping, h)),
        ),
        (
            "gravity",
            gradient.parameters["gravity"] * gravity,
            lambda h: loss(other_model(model, "gravity", gravity, h)),
        ),
    ]:
        size = max(1.0, np.max(np.abs(expected)))
        worst = min(abs((moved(h) - moved(-h)) / (2 * h) - np.sum(expected)) for h in 10.0 ** np.arange(-8, -2))
        assert worst < 1e-5 * size, f"{what}: {worst / size:.1e}"


def test_weights_of_readings_of_a_rollout_are_checked(scene):
    rollout, base = readings_of(scene, scene.model, scene.q, scene.v, scene.ctrl, NAMES)
    for sensors, words in [
        ({"nobody": np.ones((STEPS, 1))}, "nobody"),
        ({"force": np.ones(3)}, r"sensors\['force'\]: expected finite numbers of shape \(30, 3\), got .*\[3\]"),
        ({"force": np.full((STEPS, 3), np.nan)}, "'force'.*finite"),
        ({"blind": np.ones((STEPS, 4))}, "'blind' cannot be read"),
    ]:
        with pytest.raises(ValueError, match=words):
            rollout.vjp(sensors=sensors)
    assert np.array_equal(rollout.vjp(sensors={}).q, np.zeros(scene.model.nv))
    stored = slipstick.gradient.RolloutGradient(scene.model, STEPS, memory="store")
    stored.run(scene.q, scene.v)
    with pytest.raises(ValueError, match="recompute"):
        stored.vjp(sensors={"force": np.ones((STEPS, 3))})


def test_the_jacobian_of_a_sensor_shows_its_shapes(scene):
    assert repr(scene.step().sensor_jacobian()["gyro"]) == "<slipstick.types.SensorJacobian: dq (3, 18), dctrl (3, 12)>"
