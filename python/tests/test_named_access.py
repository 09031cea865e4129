"""Elements by name: numbers of MuJoCo, changes of masses, friction and servos, and errors that help."""

import mujoco
import numpy as np
import pytest
import slipstick

ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" friction="0.7"/>
    <body name="upper" pos="0 0 0.5" quat="0.6 0 0.8 0">
      <inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.2 0.25 0.3 0.01 0.02 0.03"/>
      <joint name="shoulder" axis="0 1 0" range="-1 2" limited="true" damping="0.5" armature="0.01" frictionloss="0.2"/>
      <geom name="sleeve" type="box" size="0.1 0.2 0.3" pos="0.1 0 0" quat="0.8 0 0.6 0" friction="0.4"/>
      <body name="fore" pos="0.4 0 0">
        <joint name="slide" type="slide" axis="1 0 0" stiffness="3"/>
        <geom name="ball" type="sphere" size="0.05" mass="1" friction="0.9"/>
        <site name="tip" pos="0.3 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="servo" joint="shoulder" kp="20" kv="2" ctrlrange="-0.5 0.5" forcerange="-9 9"/>
    <motor name="push" joint="slide" gear="3"/>
  </actuator>
  <keyframe><key name="home" qpos="0.1 0.2"/></keyframe>
</mujoco>
"""


@pytest.fixture(scope="module")
def arm():
    return slipstick.loads(ARM)


@pytest.fixture(scope="module")
def mj():
    return mujoco.MjModel.from_xml_string(ARM)


def test_bodies_have_the_numbers_of_mujoco(arm, mj):
    for name in ["upper", "fore"]:
        body, other = arm.body(name), mj.body(name)
        assert (body.name, body.index, body.parent) == (name, arm.body_names.index(name), mj.body(other.parentid[0]).name)
        assert body.mass == pytest.approx(other.mass[0])
        assert np.allclose(body.center_of_mass, other.ipos, atol=1e-12)
        assert np.allclose(body.position, other.pos) and np.allclose(body.quaternion, other.quat)
        assert np.allclose(np.linalg.eigvalsh(body.inertia), np.sort(other.inertia), atol=1e-12)
    assert arm.body("upper").joints == ["shoulder"] and arm.body(0).parent is None
    assert [arm.geom(i).name for i in arm.body("upper").geoms] == ["sleeve"]


def test_joints_and_actuators_have_the_numbers_of_the_file(arm):
    shoulder = arm.joint("shoulder")
    assert (shoulder.type, shoulder.body, shoulder.range) == ("revolute", "upper", (-1.0, 2.0))
    assert (shoulder.damping, shoulder.armature, shoulder.dry_friction) == (0.5, 0.01, 0.2)
    assert np.array_equal(shoulder.axis, [0, 1, 0]) and arm.joint("slide").stiffness == 3.0
    assert arm.keyframe("home").q[arm.joint("slide").q] == [0.2]
    servo = arm.actuator("servo")
    assert (servo.joint, servo.ctrl_range, servo.force_range, servo.gain) == ("shoulder", (-0.5, 0.5), (-9.0, 9.0), 20.0)
    assert np.array_equal(servo.bias, [0, -20, -2]) and arm.actuator("push").gear[0] == 3.0
    assert np.array_equal(arm.ctrl_lower, [-0.5, -np.inf]) and np.array_equal(arm.ctrl_upper, [0.5, np.inf])
    assert arm.actuator(1).name == "push" and arm.actuator("push").ctrl_range is None


def test_geoms_and_frames_have_their_poses(arm, mj):
    for name in ["floor", "sleeve", "ball"]:
        geom, other = arm.geom(name), mj.geom(name)
        assert np.allclose(geom.position, other.pos) and np.allclose(geom.quaternion, other.quat)
        assert geom.friction == other.friction[0] and geom.mesh is None
    assert np.array_equal(arm.geom("sleeve").size, [0.1, 0.2, 0.3]) and arm.geom("ball").size == [0.05]
    assert (arm.frame("tip").body, arm.frame("tip").position[0]) == ("fore", 0.3)


def test_a_mesh_has_corners_and_triangles():
    cube = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T * 0.1
    text = " ".join(map(str, cube.ravel()))
    xml = f'<mujoco><asset><mesh name="cube" vertex="{text}"/></asset><worldbody><body><freejoint/>'
    model = slipstick.loads(xml + '<geom name="cube" type="mesh" mesh="cube"/></body></worldbody></mujoco>')
    corners, triangles = model.geom("cube").mesh
    assert corners.shape == (8, 3) and triangles.shape == (12, 3)
    a, b, c = corners[triangles].transpose(1, 0, 2)
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(0.2**3)


@pytest.mark.parametrize("name", slipstick.builtin_names())
def test_every_parameter_has_a_name(name):
    model = slipstick.builtin(name)
    names = model.parameter_names
    assert len(names) == len(model.parameters)
    for group, place in model.parameter_groups.items():
        assert all(name.startswith(group) for name in names[place])
    assert names[model.parameter_index(names[-1])] == names[-1]


def test_masses_change_by_name(arm):
    heavy = arm.with_mass({"fore": 3.0})
    assert heavy.body("fore").mass == 3.0 and heavy.body("upper").mass == arm.body("upper").mass
    assert np.allclose(heavy.body("fore").inertia, 3.0 * arm.body("fore").inertia)
    file = slipstick.loads(ARM.replace('mass="1"', 'mass="3"'))
    assert np.allclose(heavy.parameters, file.parameters, atol=1e-14)
    assert arm.body("fore").mass == 1.0


def test_friction_changes_by_name_and_for_all(arm):
    assert arm.with_friction({"ball": 0.2}).geom("ball").friction == 0.2
    smooth = arm.with_friction(0.1)
    assert all(smooth.geom(i).friction == 0.1 for i in range(smooth.n_geoms))


def test_servos_drive_joints_without_actuators(arm):
    bare = slipstick.loads(ARM[: ARM.index("<actuator>")] + "</mujoco>")
    assert bare.with_servos(5.0, 0.5, joints=["slide"]).actuator_names == ["slide"]
    driven = bare.with_servos(kp=20.0, kd=2.0)
    assert driven.actuator_names == ["shoulder", "slide"] and bare.nu == 0
    step = slipstick.step(driven, [0.0, 0.0], [0.0, 0.0], ctrl=[0.3, 0.0])
    wanted = slipstick.step(arm, [0.0, 0.0], [0.0, 0.0], ctrl=[0.3, 0.0])
    assert step.v[0] == pytest.approx(wanted.v[0], abs=1e-12)
    assert driven.actuator("shoulder").ctrl_range == (-1.0, 2.0)


WRONG = [
    (lambda m: m.body("uper"), "no body named 'uper' .*'upper'"),
    (lambda m: m.body(9), "body 9 does not exist: the model has 3"),
    (lambda m: m.body(-1), "expected a name or a number from 0 on, got -1"),
    (lambda m: m.joint("sholder"), "no joint named 'sholder' .*'shoulder'"),
    (lambda m: m.joint("knee"), "no joint named 'knee' .*slide"),
    (lambda m: m.actuator(2.5), "expected a name or a number from 0 on, got 2.5"),
    (lambda m: m.geom("flor"), "'floor'"),
    (lambda m: m.frame("tipp"), "'tip'"),
    (lambda m: m.keyframe("hom"), "'home'"),
    (lambda m: m.parameter_index("friction/bal"), "'friction/ball'"),
    (lambda m: m.with_mass({"uper": 1.0}), "'upper'"),
    (lambda m: m.with_mass({"upper": -1.0}), "upper.*-1"),
    (lambda m: m.with_friction({"bal": 1.0}), "'ball'"),
    (lambda m: m.with_friction(-1.0), "-1"),
    (lambda m: m.with_servos(1.0, 0.0), "servo"),
    (lambda m: m.with_servos(1.0, 0.0, joints=["slide"]), "joint 'slide': actuators: expected none yet"),
    (lambda m: slipstick.builtin("double_pendulum").with_servos(-1.0, 0.0), "-1"),
    (lambda m: m.with_servos(1.0, 0.0, joints=["knee"]), "knee"),
]


@pytest.mark.parametrize("ask, message", WRONG)
def test_wrong_names_get_a_hint(arm, ask, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ask(arm)


def test_all_elements_say_what_they_are(arm):
    shown = [arm.body("upper"), arm.joint("shoulder"), arm.actuator("servo"), arm.geom("ball"), arm.frame("tip"), arm.keyframe("home")]
    for element in shown:
        assert repr(element).startswith(f"<slipstick.types.{type(element).__name__} ")
        assert element.name in repr(element)


def test_texts_and_names_of_files_are_not_mixed_up(tmp_path):
    with pytest.raises(ValueError, match="loads"):
        slipstick.load(ARM)
    with pytest.raises(ValueError, match="load\\(\\) takes the name of a file"):
        slipstick.loads("robot.xml")
    (tmp_path / "part.xml").write_text('<mujoco><worldbody><body name="here"/></worldbody></mujoco>')
    model = slipstick.loads('<mujoco><include file="part.xml"/></mujoco>', folder=tmp_path)
    assert "here" in model.frame_names
