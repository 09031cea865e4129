"""Transmissions beside MuJoCo's: lengths, velocities, moments, forces and free accelerations at random states."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
import slipstick

from oracles import enable, rigid_only
from states import assert_close, generator, layout_of_model, random_q
from stepping import Stepper

TREE = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0.3 -0.4 -9"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="station" pos="0.3 -0.2 0.5" euler="0.4 0.9 -0.3"/>
    <body name="base" pos="0.1 0.2 1" euler="0.1 0.2 0.3"><freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05" pos="0.02 0.01 0"/>
      <site name="rotor" pos="0.2 0.1 0.1" euler="0.2 -0.3 0.5"/>
      <body name="mast" pos="0 0 0.1" euler="0.5 0 0.2"><geom type="capsule" size="0.02 0.1"/>
        <site name="top" pos="0.05 0 0.2" euler="-0.4 0.1 0.9"/></body>
      <body name="upper" pos="0.2 0 0"><joint name="shoulder" axis="0.2 1 0.3" ref="0.2"/>
        <geom type="capsule" size="0.03 0.1" pos="0.1 0 0"/>
        <body name="lower" pos="0.3 0 0"><joint name="elbow" axis="0 1 0" pos="0.01 0 0.02"/><joint name="slide" type="slide" axis="1 0 0.2"/>
          <geom type="box" size="0.1 0.02 0.03" pos="0.1 0 0"/>
          <site name="hand" pos="0.2 0.01 0" euler="0.3 0.3 0.3"/>
          <body name="ball" pos="0.25 0 0"><joint name="wrist" type="ball"/><geom type="box" size="0.05 0.02 0.04" pos="0.03 0.01 0"/>
            <site name="finger" pos="0.05 0.02 0" euler="0.7 0.1 0"/></body></body></body>
    </body>
    <body name="crank" pos="1 0 0.3"><joint name="wheel" axis="0 1 0"/><geom type="cylinder" size="0.1 0.02"/>
      <site name="pin" pos="0.08 0 0.02"/></body>
    <body name="cart" pos="1.5 0.1 0.3"><joint name="rail" type="slide" axis="1 0 0"/><geom type="box" size="0.1 0.1 0.05"/>
      <site name="guide" euler="0 1.4 0.1"/>
      <body pos="0 0 0.1"><joint name="tilt" axis="1 0 0"/><geom type="capsule" size="0.02 0.1"/><site name="pole" pos="0 0.02 0.1"/></body></body>
  </worldbody>
  <actuator>
    <motor name="thrust" site="rotor" gear="0.1 -0.2 1 0.05 0.3 -0.02"/>
    <motor name="push" site="finger" gear="1 0.5 -0.3 0.2 0.1 0.4"/>
    <general name="drag" site="hand" gear="1 0.5 -0.3 0.2 0.1 0.4" gainprm="2" biastype="affine" biasprm="0.3 -1 -0.4"/>
    <position name="reach" site="finger" refsite="rotor" kp="3" kv="0.4" gear="1 0.2 -0.5 0 0 0"/>
    <position name="aim" site="finger" refsite="station" kp="3" kv="0.4" gear="0 0 0 0.4 1 -0.6"/>
    <position name="both" site="hand" refsite="top" kp="3" kv="0.4" gear="0.3 1 0.2 0.5 -0.2 0.7"/>
    <position name="far" site="pole" refsite="finger" kp="2" gear="1 0 0.3 0.1 0 0.2"/>
    <position name="inside" site="top" refsite="rotor" kp="2" gear="1 0 0.3 0.1 0 0.2"/>
    <motor name="pull" site="station" refsite="hand" gear="1 0 0 0 0.3 0"/>
    <position name="rod" cranksite="pin" slidersite="guide" cranklength="1.5" kp="4" kv="0.2" gear="1.3"/>
    <position name="arm" cranksite="hand" slidersite="rotor" cranklength="2" kp="4" kv="0.2" gear="-0.7"/>
    <position name="short" cranksite="pole" slidersite="rotor" cranklength="0.1" kp="4" kv="0.2"/>
    <position name="twist" joint="wrist" kp="2" gear="0.5 1 -0.3"/>
    <position name="turn" jointinparent="wrist" kp="2" kv="0.3" gear="0.5 1 -0.3"/>
    <motor name="spin" jointinparent="root" gear="0.5 1 -0.3 0.2 0.8 0.1"/>
    <motor name="bend" jointinparent="elbow" gear="2"/>
  </actuator>
</mujoco>
"""
NAMES = ["thrust", "push", "drag", "reach", "aim", "both", "far", "inside", "pull", "rod", "arm", "short", "twist", "turn", "spin", "bend"]
KINDS = ["actuatorpos", "actuatorvel", "actuatorfrc"]


def pair(tmp_path, text, sensors=()):
    """The file in both programs, with sensors of all its actuators."""
    lines = "".join(f'<{kind} name="{kind} {name}" actuator="{name}"/>' for name in sensors for kind in KINDS)
    path = tmp_path / "robot.xml"
    path.write_text(text.replace("</mujoco>", f"<sensor>{lines}</sensor></mujoco>"))
    bit = mujoco.mjtDisableBit
    mj = enable(rigid_only(mujoco.MjModel.from_xml_path(str(path))), bit.mjDSBL_SPRING, bit.mjDSBL_DAMPER, bit.mjDSBL_ACTUATION)
    return slipstick.load(path).with_options(implicit="none", integrator="euler"), mj


def states(model, mj, label, count=20):
    rng, data = generator(label), mujoco.MjData(mj)
    for _ in range(count):
        q = random_q(layout_of_model(model), model.neutral(), rng)
        v, ctrl = rng.uniform(-1, 1, model.nv), rng.uniform(-9, 9, model.nu)
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, ctrl
        mujoco.mj_forward(mj, data)
        yield q, v, ctrl, data


def moment(mj, data):
    dense = np.zeros((mj.nu, mj.nv))
    mujoco.mju_sparse2dense(dense, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind)
    return dense


def test_drives_between_bodies_are_mujocos(tmp_path):
    model, mj = pair(tmp_path, TREE, NAMES)
    assert not model.warnings
    simulator = Stepper(model)
    for q, v, ctrl, data in states(model, mj, "transmissions"):
        readings = simulator.step(q, v, ctrl=ctrl).sensors
        for name, reading in readings.items():
            assert_close(reading, data.sensor(name).data, 1e-8, name)
        tau = slipstick.dynamics.actuate(model, q, v, ctrl)
        assert_close(tau, data.qfrc_actuator, 1e-8, "force")
        by_ctrl = slipstick.dynamics.actuate_derivatives(model, q, v, ctrl)[2]
        gains = np.array([model.actuator(name).gain for name in NAMES])
        assert_close(by_ctrl / gains, moment(mj, data).T, 1e-8, "moment")
        assert_close(simulator.step(q, v, ctrl=ctrl).acceleration, data.qacc, 1e-8, "acceleration")


def test_actuate_has_the_derivatives_of_its_differences(tmp_path):
    model, mj = pair(tmp_path, TREE)
    for q, v, ctrl, _ in states(model, mj, "differences", 6):
        def tau(dq, dv, dctrl):
            return slipstick.dynamics.actuate(model, slipstick.dynamics.integrate(model, q, dq), v + dv, ctrl + dctrl)

        h, zero = 1e-6, [np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nu)]
        for k, exact in enumerate(slipstick.dynamics.actuate_derivatives(model, q, v, ctrl)):
            for j in range(exact.shape[1]):
                steps = [x.copy() for x in zero]
                steps[k][j] = h
                plus, minus = tau(*steps), tau(*[-x for x in steps])
                assert_close(exact[:, j], (plus - minus) / (2 * h), 1e-6, f"input {k}, column {j}")


GEARED = """
<mujoco>
  <option gravity="0.3 -0.4 -9"/>
  <default><geom contype="0" conaffinity="0"/><general armature="0.02"/></default>
  <worldbody>
    <body name="a" gravcomp="0.8"><joint name="lift" axis="0 1 0" actuatorgravcomp="true" actuatorfrcrange="-2 2"/>
      <geom type="capsule" size="0.03 0.1" pos="0.1 0 0"/>
      <body name="b" pos="0.3 0 0" gravcomp="1"><joint name="swing" axis="0 0.3 1" actuatorgravcomp="true"/><joint name="slide" type="slide" axis="1 0 0"/>
        <geom type="box" size="0.1 0.02 0.03" pos="0.1 0 0"/>
        <body name="c" pos="0.25 0 0" gravcomp="0.5"><joint name="ball" type="ball" actuatorgravcomp="true"/>
          <geom type="box" size="0.05 0.02 0.04" pos="0.03 0.01 0"/></body></body></body>
  </worldbody>
  <tendon><fixed name="line" actuatorfrcrange="-1.5 1"><joint joint="lift" coef="2"/><joint joint="slide" coef="-0.5"/></fixed></tendon>
  <actuator>
    <motor name="geared" joint="lift" gear="3"/>
    <position name="servo" joint="swing" kp="2" gear="1.5" armature="0.01" damping="0.3"/>
    <position name="ratio" joint="slide" kp="20" dampratio="0.7" armature="0.4"/>
    <motor name="turner" joint="ball" gear="2 1 0" armature="0.03" damping="0.2"/>
    <motor name="winch" tendon="line" forcerange="-1.2 3" armature="0"/>
  </actuator>
  <sensor><jointactuatorfrc name="lift" joint="lift"/><jointactuatorfrc name="swing" joint="swing"/>
    <tendonactuatorfrc name="line" tendon="line"/></sensor>
</mujoco>
"""


def test_drives_carry_weight_inertia_and_damping_as_in_mujoco(tmp_path):
    model, mj = pair(tmp_path, GEARED)
    assert not model.warnings, model.warnings
    simulator = Stepper(model)
    for q, v, ctrl, data in states(model, mj, "geared"):
        step = simulator.step(q, v, ctrl=ctrl)
        assert_close(slipstick.dynamics.actuate(model, q, v, ctrl), data.qfrc_actuator, 1e-8, "force")
        assert_close(slipstick.dynamics.passive(model, q, v), data.qfrc_passive, 1e-8, "passive")
        assert_close(step.acceleration, data.qacc, 1e-8, "acceleration")
        for name in ["lift", "swing", "line"]:
            assert_close(step.sensors[name], data.sensor(name).data, 1e-8, name)


@pytest.mark.parametrize("text, names", [(TREE, NAMES), (GEARED, [])], ids=["between bodies", "geared"])
def test_what_is_written_acts_as_what_was_read(tmp_path, text, names):
    model, _ = pair(tmp_path, text, names)
    again = slipstick.loads(model.to_mjcf())
    rng = generator("written")
    for _ in range(5):
        q = random_q(layout_of_model(model), model.neutral(), rng)
        v, ctrl = rng.uniform(-1, 1, model.nv), rng.uniform(-9, 9, model.nu)
        for of in (slipstick.dynamics.actuate, lambda m, q, v, _: slipstick.dynamics.passive(m, q, v)):
            assert_close(of(again, q, v, ctrl), of(model, q, v, ctrl), 1e-12)


def test_names_say_on_what_an_actuator_acts(tmp_path):
    model, _ = pair(tmp_path, TREE)
    assert (model.actuator("aim").site, model.actuator("aim").reference, model.actuator("aim").joint) == ("finger", "station", None)
    assert (model.actuator("rod").site, model.actuator("rod").reference) == ("pin", "guide")
    assert "on site 'rotor'" in repr(model.actuator("thrust")) and model.actuator("turn").joint == "wrist"


def test_a_drone_hovers_on_a_quarter_of_its_weight_per_rotor():
    robots = Path(__file__).resolve().parents[2] / "examples" / "robots"
    if not robots.is_dir():
        pytest.skip("the tests run outside the repository")
    drone = slipstick.load(robots / "drone.xml")
    hover = drone.keyframe("hover")
    step = slipstick.step(drone, hover.q, hover.v, ctrl=hover.ctrl)
    assert_close(step.acceleration, np.zeros(6), 1e-12)
