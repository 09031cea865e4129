"""Sensors of a step beside MuJoCo's sensordata: the same state, the same accelerations."""

import mujoco
import numpy as np
import pytest
import slipstick

from oracles import enable, rigid_only
from robots import OWN
from states import assert_close, generator, layout_of_model, random_q
from stepping import Stepper

HINGES = ["rail", "pan", "lift", "elbow", "crank", "drum", "cable"]
BALLS = ["socket", "spinner"]
SITES = ["lens", "grip", "tip"]
BODIES = ["carriage", "bracket", "shoulder", "hand", "counterweight", "drone", "antenna", "hook"]
ACTUATORS = ["push", "aim", "hoist", "bend", "turn", "reel", "pull", "hold"]


def sensors():
    """One of each kind on everything that can have it: (name, element)."""
    for joint in HINGES:
        for kind in ["jointpos", "jointvel", "jointactuatorfrc"]:
            yield f"{kind} {joint}", f'<{kind} joint="{joint}"'
    for joint in BALLS:
        for kind in ["ballquat", "ballangvel"]:
            yield f"{kind} {joint}", f'<{kind} joint="{joint}"'
    for actuator in ACTUATORS:
        for kind in ["actuatorpos", "actuatorvel", "actuatorfrc"]:
            yield f"{kind} {actuator}", f'<{kind} actuator="{actuator}"'
    for site in SITES:
        for kind in ["accelerometer", "gyro", "velocimeter", "force", "torque", "magnetometer"]:
            yield f"{kind} {site}", f'<{kind} site="{site}"'
    objects = [("site", site) for site in SITES] + [("xbody", body) for body in BODIES]
    for objtype, name in objects:
        for kind in ["pos", "quat", "xaxis", "yaxis", "zaxis", "linvel", "angvel", "linacc", "angacc"]:
            yield f"{kind} {objtype} {name}", f'<frame{kind} objtype="{objtype}" objname="{name}"'
        for kind in ["pos", "quat", "xaxis", "linvel", "angvel"]:
            reference = 'reftype="site" refname="lens"'
            yield f"{kind} {objtype} {name} in lens", f'<frame{kind} objtype="{objtype}" objname="{name}" {reference}'
    for body in BODIES:
        for kind in ["pos", "linvel", "angvel", "linacc", "angacc"]:
            yield f"{kind} of the center of {body}", f'<frame{kind} objtype="body" objname="{body}"'
        for kind in ["subtreecom", "subtreelinvel", "subtreeangmom"]:
            yield f"{kind} {body}", f'<{kind} body="{body}"'
    for kind in ["clock", "e_potential", "e_kinetic"]:
        yield kind, f"<{kind}"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The robot with every kind of joint, full of sensors, and nothing that constrains it."""
    text = (OWN / "all_joints.xml").read_text().replace('range="-2 2" frictionloss="0.1"', "")
    text = text.replace("<default>", '<default><geom contype="0" conaffinity="0"/>')
    tip = '<site name="tip" pos="0.1 0.2 -0.1" euler="0.3 0.1 0.2"/>'
    text = text.replace('<body name="hook"', f'{tip}<body name="hook"')
    lines = "".join(f'{element} name="{name}"/>' for name, element in sensors())
    path = tmp_path_factory.mktemp("sensors") / "measured.xml"
    path.write_text(text.replace("</mujoco>", f"<sensor>{lines}</sensor></mujoco>"))
    return path


@pytest.fixture(scope="module")
def mj(path):
    bit = mujoco.mjtDisableBit
    mj = rigid_only(mujoco.MjModel.from_xml_path(str(path)))
    return enable(mj, bit.mjDSBL_SPRING, bit.mjDSBL_DAMPER, bit.mjDSBL_ACTUATION)


@pytest.fixture(scope="module")
def model(path):
    """Without implicit terms: the acceleration of a step is then that of forward dynamics."""
    model = slipstick.load(path).with_options(implicit="none", integrator="euler")
    assert len(model.pairs) == 0 and not model.dry_friction.any() and not np.isfinite(model.lower).any()
    return model


def moments(model, mj, count=4):
    """(our readings, MuJoCo's data) at random states under random controls."""
    rng, simulator, data = generator("sensors"), Stepper(model), mujoco.MjData(mj)
    for _ in range(count):
        q = random_q(layout_of_model(model), model.neutral(), rng)
        v, ctrl = rng.uniform(-1, 1, model.nv), rng.uniform(-1, 1, model.nu)
        data.qpos[:], data.qvel[:], data.ctrl[:], data.time = q, v, ctrl, rng.uniform(0, 9)
        mujoco.mj_forward(mj, data)
        step = simulator.step(q, v, ctrl=ctrl, time=data.time)
        assert_close(step.acceleration, data.qacc, 1e-8, "acceleration")
        yield step.sensors, data


def test_all_kinds_of_sensors_read_as_in_mujoco(model, mj):
    """1e-8 on the scale of each kind: accelerations are differences of velocities over a millisecond."""
    names = [name for name, _ in sensors()]
    for ours, data in moments(model, mj):
        assert list(ours) == names
        for name in names:
            theirs = data.sensor(name).data
            # a quaternion and its opposite are the same rotation
            same = -1.0 if "quat" in name and ours[name] @ theirs < 0.0 else 1.0
            assert_close(same * ours[name], theirs, 1e-8, name)


def test_readings_have_the_size_that_the_model_says(model):
    step = slipstick.step(model, model.neutral(), np.zeros(model.nv))
    sizes = {sensor.name: (sensor.size,) for sensor in model.sensors}
    assert {name: reading.shape for name, reading in step.sensors.items()} == sizes


def test_a_rollout_records_its_sensors(model):
    ctrl, steps = np.full(model.nu, 0.1), 20
    trajectory = Stepper(model).rollout(model.neutral(), np.zeros(model.nv), steps, ctrl=ctrl)
    simulator = Stepper(model)
    for k in range(steps):
        step = simulator.step(trajectory.q[k], trajectory.v[k], ctrl=ctrl, time=trajectory.time[k])
        for name, reading in step.sensors.items():
            assert np.array_equal(trajectory.sensors[name][k], reading), name
    assert {x.shape[0] for x in trajectory.sensors.values()} == {steps}


def test_an_imu_at_rest_on_the_floor_feels_gravity(tmp_path):
    """Held up by contact: the accelerometer of a body at rest shows g upwards, in its own axes."""
    path = tmp_path / "box.xml"
    path.write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="box" pos="0 0 0.1"><freejoint/>'
        '<geom type="box" size="0.1 0.1 0.1"/><site name="imu" euler="90 0 0"/></body></worldbody>'
        '<sensor><accelerometer name="feel" site="imu"/><gyro site="imu"/></sensor></mujoco>'
    )
    model = slipstick.load(path)
    step = slipstick.step(model, model.neutral(), np.zeros(6))
    assert_close(step.sensors["feel"], [0.0, 9.81, 0.0], 1e-6)
    assert_close(step.sensors["1"], np.zeros(3), 1e-9)  # without a name it goes by its number
    off = slipstick.step(model, model.neutral() + [0, 0, 1, 0, 0, 0, 0], np.zeros(6))
    assert_close(off.sensors["feel"], np.zeros(3), 1e-9)  # in free fall it feels nothing


def test_models_without_sensors_have_no_readings():
    model = slipstick.builtin("cube")
    assert slipstick.step(model, model.neutral(), np.zeros(6)).sensors == {}
