"""One feature of MJCF per file, each against MuJoCo: counts, masses, placements, M, bias, passive and actuator forces."""

import mujoco
import numpy as np
import pytest
import slipstick

from oracles import enable, mujoco_mass_matrix, rigid_only, rotation
from states import assert_close, random_states
from test_loading_mjcf import inertial_parameters, moving, mujoco_placements, placements

TOLERANCE = 1e-8
ARM = """<body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0"/><geom name="u" type="capsule" size="0.05 0.2"/>
<body name="lower" pos="0 0 -0.4"><joint name="elbow" axis="1 0 0"/><geom name="l" type="box" size="0.05 0.04 0.2" pos="0 0.01 -0.2"/>
</body></body>"""


def file(world=ARM, head="", tail=""):
    return f"<mujoco>{head}<worldbody>{world}</worldbody>{tail}</mujoco>"


def jointed(geom="", joint="", body=""):
    return file(f'<body name="b" pos="0.1 0.2 0.3" {body}><joint name="j" axis="1 2 3" {joint}/><geom {geom}/></body>')


def oriented(how):
    return file(f'<body name="b" {how}><joint axis="0 1 0"/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" {how}/></body>')


def fitted(geom):
    mesh = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 0.7 0 0 0 0.3 0.4 0.4 0.4" scale="0.2 -0.3 0.4"/></asset>'
    return file(f'<body><joint axis="0 1 0"/><geom mesh="m" {geom}/></body>', head=mesh)


FEATURES = {
    "sphere": jointed('size="0.1"'),
    "capsule": jointed('type="capsule" size="0.1 0.3" pos="0.1 0 0"'),
    "cylinder": jointed('type="cylinder" size="0.1 0.3" pos="0.1 0 0"'),
    "box": jointed('type="box" size="0.1 0.2 0.3" pos="0.1 0 0"'),
    "ellipsoid": jointed('type="ellipsoid" size="0.1 0.2 0.3" pos="0.1 0 0"'),
    "capsule fromto": jointed('type="capsule" size="0.1" fromto="0 0 0 0.3 0.2 0.1"'),
    "box fromto": jointed('type="box" size="0.1 0.1" fromto="0 0 0 0.3 0.2 0.1"'),
    "ellipsoid fromto": jointed('type="ellipsoid" size="0.1" fromto="0 0 0 0.3 0.2 -0.1"'),
    "density": jointed('size="0.1" density="300"'),
    "mass": jointed('size="0.1" mass="3"'),
    "euler": oriented('euler="10 20 30"'),
    "axisangle": oriented('axisangle="1 2 3 40"'),
    "xyaxes": oriented('xyaxes="1 1 0 -1 1 0.5"'),
    "zaxis": oriented('zaxis="1 2 3"'),
    "quat that is not unit": oriented('quat="1 1 0 0.5"'),
    "joint pos": jointed('size="0.1" pos="0 0 0.2"', 'pos="0.1 0.2 0.3"'),
    "joint ref": jointed('size="0.1" pos="0 0 0.2"', 'ref="30" range="-20 50"'),
    "springref": jointed('size="0.1" pos="0 0 0.2"', 'springref="30" stiffness="3" damping="0.3" armature="0.2"'),
    "springdamper": jointed('size="0.1" pos="0 0 0.2"', 'springdamper="0.1 0.5"'),
    "slide ref": jointed('size="0.1" pos="0 0 0.2"', 'type="slide" ref="0.3" range="-1 1" stiffness="2"'),
    "gravcomp": jointed('size="0.1" pos="0 0 0.2"', body='gravcomp="0.7"'),
    "ball with spring": file(
        '<body><joint type="ball" pos="0 0 0.1" stiffness="2" damping="0.2" range="0 50"/><geom size="0.1" pos="0.2 0 0"/></body>'
    ),
    "joint type free with defaults": file(
        '<body pos="1 2 3" quat="1 1 0 0"><joint type="free"/><geom size="0.1" pos="0.2 0 0"/></body>',
        head='<default><joint damping="0.3" armature="0.2"/></default>',
    ),
    "freejoint with defaults": file(
        '<body pos="1 2 3"><freejoint/><geom size="0.1" pos="0.2 0 0"/></body>',
        head='<default><joint damping="0.3" armature="0.2"/></default>',
    ),
    "several joints in a body": file(
        '<body pos="0 0 1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1" ref="1"/>'
        '<joint axis="0 1 0" pos="0 0 0.2"/><joint axis="1 1 0"/><geom size="0.1" pos="0.2 0 0"/></body>'
    ),
    "fixed links with mass": file(
        '<body name="a"><joint axis="0 1 0"/><geom size="0.1"/><body name="f" pos="0 0 0.3" euler="0 40 0"><geom size="0.2"/>'
        '<site name="s" pos="0.1 0 0"/><body name="c" pos="0.2 0 0"><joint axis="1 0 0"/><geom size="0.1" pos="0 0.1 0"/></body>'
        '</body></body><body name="post" pos="1 0 0"><geom size="0.1"/></body>'
    ),
    "classes": file(
        '<body childclass="limb"><joint axis="0 1 0"/><geom/><body><joint axis="1 0 0" class="stiff"/><geom class="limb"/></body></body>',
        head='<default><geom size="0.1"/><default class="limb"><joint damping="1"/><geom type="capsule" size="0.05 0.2" pos="0.1 0 0"/>'
        '<default class="stiff"><joint stiffness="5"/></default></default></default>',
    ),
    "compiler radian": file(
        '<body euler="0.3 0.2 0.1"><joint axis="0 1 0" range="-1 1" ref="0.2"/><geom size="0.1" pos="0 0 0.2"/></body>',
        head='<compiler angle="radian"/>',
    ),
    "eulerseq": file(
        '<body euler="30 20 10"><joint axis="0 1 0"/><geom type="box" size="0.1 0.2 0.3" pos="0 0.1 0.2"/></body>',
        head='<compiler eulerseq="ZYx"/>',
    ),
    "autolimits off": file(
        '<body><joint axis="0 1 0" range="-10 10" limited="false"/><geom size="0.1"/></body>',
        head='<compiler autolimits="false"/>',
    ),
    "settotalmass": file(head='<compiler settotalmass="7"/>'),
    "inertiafromgeom": file(
        '<body><joint axis="0 1 0"/><inertial pos="0 0 0" mass="9" diaginertia="1 1 1"/><geom size="0.1" pos="0 0 0.2"/></body>',
        head='<compiler inertiafromgeom="true"/>',
    ),
    "inertiagrouprange": file(
        '<body><joint axis="0 1 0"/><geom size="0.1" pos="0 0 0.2"/><geom size="0.2" group="3"/></body>',
        head='<compiler inertiagrouprange="0 2"/>',
    ),
    "boundmass": file(
        '<body><joint axis="0 1 0"/><geom size="0.01" pos="0 0 0.2"/></body>',
        head='<compiler boundmass="0.1" boundinertia="0.01"/>',
    ),
    "balanceinertia": file(
        '<body><joint axis="0 1 0"/><inertial pos="0 0 0.1" mass="1" diaginertia="1 1 3"/></body>',
        head='<compiler balanceinertia="true"/>',
    ),
    "full inertia": file(
        '<body><joint axis="0 1 0"/><inertial pos="0.1 0 0.1" mass="2" fullinertia="1 1.2 1.4 0.1 0.2 -0.1"/></body>'
    ),
    "turned inertia": file(
        '<body><joint axis="0 1 0"/><inertial pos="0.1 0 0.1" euler="30 0 20" mass="2" diaginertia="1 1.2 1.4"/></body>'
    ),
    "frame": file(
        '<frame pos="0 0 1" euler="0 30 0"><body><joint axis="0 1 0"/><frame euler="20 0 0"><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>'
        '<site name="s" pos="0.1 0.2 0.3"/></frame></body></frame>'
    ),
    "replicate": file(
        '<replicate count="3" euler="0 0 30" offset="0.1 0 0"><body name="b" pos="1 0 0"><joint name="j" axis="0 1 0"/>'
        '<geom size="0.1" pos="0 0 0.2"/></body></replicate>'
    ),
    "option": file(head='<option timestep="0.003" gravity="1 2 -3"/>'),
    "no gravity": file(head='<option><flag gravity="disable"/></option>'),
    "box fitted to a mesh": fitted('type="box" fitscale="1.2" pos="0.1 0 0" euler="0 0 30"'),
    "capsule fitted to a mesh": fitted('type="capsule" mass="2"'),
    "cylinder fitted to a mesh": fitted('type="cylinder"'),
    "ellipsoid fitted to a mesh": fitted('type="ellipsoid"'),
    "sphere fitted to a mesh": fitted('type="sphere" fitscale="0.5"'),
    "mesh from points": file(
        '<body><joint axis="0 1 0"/><geom type="mesh" mesh="m" pos="0.1 0 0" euler="0 0 30"/></body>',
        head='<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1 0.4 0.4 0.4" scale="0.2 -0.3 0.4"/></asset>',
    ),
    "fixed tendon with spring": file(
        tail='<tendon><fixed name="t" stiffness="3" damping="0.4" springlength="0.1"><joint joint="shoulder" coef="0.5"/>'
        '<joint joint="elbow" coef="-2"/></fixed></tendon>'
    ),
    "tendon with a dead band": file(
        tail='<tendon><fixed name="t" stiffness="3" springlength="-0.2 0.3"><joint joint="shoulder" coef="0.5"/>'
        '<joint joint="elbow" coef="-2"/></fixed></tendon>'
    ),
    "tendon transmission": file(
        tail='<tendon><fixed name="t"><joint joint="shoulder" coef="0.5"/><joint joint="elbow" coef="-2"/></fixed></tendon>'
        '<actuator><position tendon="t" kp="3" kv="0.2" gear="2"/></actuator>'
    ),
    "motor": file(tail='<actuator><motor joint="elbow" gear="3" ctrlrange="-1 1" forcerange="-0.5 0.7"/></actuator>'),
    "position": file(tail='<actuator><position joint="elbow" kp="3" kv="0.2" gear="2"/></actuator>'),
    "position with dampratio": file(tail='<actuator><position joint="elbow" kp="3" dampratio="0.8"/></actuator>'),
    "position with inheritrange": file(
        ARM.replace('name="elbow"', 'name="elbow" range="-40 60"'),
        tail='<actuator><position joint="elbow" kp="3" inheritrange="0.9"/></actuator>',
    ),
    "velocity": file(tail='<actuator><velocity joint="elbow" kv="3"/></actuator>'),
    "general": file(
        tail='<actuator><general joint="elbow" gainprm="2" biastype="affine" biasprm="0.1 -3 -0.2" gear="1.5"/></actuator>'
    ),
    "motor on a ball": file(
        '<body><joint name="b" type="ball"/><geom size="0.1" pos="0.2 0 0"/></body>',
        tail='<actuator><motor joint="b" gear="1 2 3"/></actuator>',
    ),
    "actuatorfrcrange": file(
        ARM.replace('name="elbow"', 'name="elbow" actuatorfrcrange="-0.3 0.4"'),
        tail='<actuator><motor joint="elbow"/><motor joint="elbow" gear="2"/></actuator>',
    ),
}


@pytest.fixture(params=FEATURES)
def feature(request, tmp_path):
    path = tmp_path / "feature.xml"
    path.write_text(FEATURES[request.param])
    return request.param, slipstick.load(path), mujoco.MjModel.from_xml_path(str(path))


def test_a_feature_means_what_it_means_to_mujoco(feature):
    name, model, mj = feature
    assert model.warnings == []
    assert (model.nq, model.nv, model.nu, len(model.tendons)) == (mj.nq, mj.nv, mj.nu, mj.ntendon)
    assert model.n_geoms == mj.ngeom and model.dt == mj.opt.timestep
    assert_close(model.frame_masses[: mj.nbody], mj.body_mass, TOLERANCE, "masses")
    for body, theirs in zip(model.body_names[1:], moving(mj)[1:]):
        assert_close(model.body(body).inertial, inertial_parameters(mj, theirs), TOLERANCE, "inertia")
    limited = np.repeat(mj.jnt_limited == 1, [{0: 6, 1: 3}.get(int(kind), 1) for kind in mj.jnt_type])
    assert np.array_equal(np.isfinite(model.lower), limited & (mj.jnt_type[mj.dof_jntid] > 1))
    bit = mujoco.mjtDisableBit
    mj = enable(rigid_only(mj), bit.mjDSBL_SPRING, bit.mjDSBL_DAMPER, bit.mjDSBL_ACTUATION)
    data = mujoco.MjData(mj)
    for q, v, _, rng in random_states(model, name):
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, rng.uniform(-2, 2, mj.nu)
        mujoco.mj_forward(mj, data)
        assert_close(placements(model, q), mujoco_placements(mj, data), TOLERANCE, "placements")
        assert_close(slipstick.dynamics.crba(model, q), mujoco_mass_matrix(mj, data), TOLERANCE, "M")
        assert_close(slipstick.dynamics.bias(model, q, v), data.qfrc_bias, TOLERANCE, "bias")
        assert_close(slipstick.dynamics.passive(model, q, v), data.qfrc_passive, TOLERANCE, "passive forces")
        assert_close(slipstick.dynamics.actuate(model, q, v, data.ctrl.copy()), data.qfrc_actuator, TOLERANCE, "actuators")


FLAGS = ["constraint", "equality", "frictionloss", "limit", "contact", "damper", "spring", "gravity", "clampctrl", "actuation", "filterparent"]


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_switches_off_what_it_does_in_mujoco(flag, tmp_path):
    """Accelerations without constraints, in which only the flag's own forces differ, and the pairs of geoms."""
    path = tmp_path / "flag.xml"
    joints = ARM.replace("<joint ", '<joint damping="0.3" stiffness="2" springref="20" frictionloss="0.1" ')
    path.write_text(file(
        joints.replace("<body name=\"upper\"", "<body name=\"upper\" gravcomp=\"0.3\""),
        head=f'<option><flag {flag}="disable"/></option>',
        tail='<tendon><fixed stiffness="3" damping="0.5"><joint joint="elbow" coef="2"/></fixed></tendon>'
        '<actuator><motor joint="elbow" ctrlrange="-1 1"/><position joint="shoulder" kp="3" kv="0.2"/></actuator>',
    ))
    model, mj = slipstick.load(path, strict=True), mujoco.MjModel.from_xml_path(str(path))
    assert flag == "gravity" or any(flag in note for note in model.notes)
    assert len(model.pairs) == (flag == "filterparent")
    data = mujoco.MjData(mj)
    for q, v, _, rng in random_states(model, flag):
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, rng.uniform(-2, 2, mj.nu)
        mujoco.mj_forward(mj, data)
        tau = slipstick.dynamics.passive(model, q, v) + slipstick.dynamics.actuate(model, q, v, data.ctrl.copy())
        assert_close(slipstick.dynamics.aba(model, q, v, tau), data.qacc_smooth, TOLERANCE, flag)


@pytest.mark.parametrize("fitaabb", ["false", "true"])
@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "box", "ellipsoid"])
def test_shapes_fit_random_meshes_as_in_mujoco(kind, fitaabb, tmp_path):
    """To the single precision in which MuJoCo keeps vertices; an axis of a geom may point either way."""
    rng, path = np.random.default_rng(7), tmp_path / "fitted.xml"
    for _ in range(20):
        vertices = " ".join(f"{x:.9g}" for x in (rng.normal(size=(12, 3)) * [0.1, 0.2, 0.5] + rng.normal(size=3)).ravel())
        path.write_text(file(
            f'<geom name="g" type="{kind}" mesh="m" pos="0.1 0.2 0.3" euler="20 30 40" fitscale="{rng.uniform(0.5, 2)}"/>',
            head=f'<compiler fitaabb="{fitaabb}"/><asset><mesh name="m" vertex="{vertices}"/></asset>',
        ))
        geom, mj = slipstick.load(path, strict=True).geom("g"), mujoco.MjModel.from_xml_path(str(path))
        size = np.asarray(geom.size)
        assert_close(size, mj.geom_size[0][: size.size], 1e-6, "size")
        assert_close(geom.position, mj.geom_pos[0], 1e-6, "position")
        assert_close(np.abs(np.diag(geom.rotation.T @ rotation(mj.geom_quat[0]))), np.ones(3), 1e-6, "axes")


EQUALITIES = file(
    tail="""<tendon><fixed name="t"><joint joint="shoulder" coef="0.5"/></fixed><fixed name="s"><joint joint="elbow" coef="2"/></fixed></tendon>
<equality><joint name="a" joint1="shoulder" joint2="elbow" polycoef="0.1 2 -0.3 0.4 0.5"/><joint joint1="elbow" active="false"/>
<tendon name="c" tendon1="t" tendon2="s" polycoef="0 2"/><connect name="d" body1="upper" body2="lower" anchor="0.1 0.2 0.3"/>
<connect body1="lower" anchor="0 0 0.1"/><weld name="e" body1="lower" body2="upper" torquescale="3" anchor="0.1 0 0"/>
<weld body1="lower"/></equality>"""
)


def test_equality_constraints_have_mujocos_numbers(tmp_path):
    path = tmp_path / "equalities.xml"
    path.write_text(EQUALITIES)
    model, mj = slipstick.load(path, strict=True), mujoco.MjModel.from_xml_path(str(path))
    kinds = ["joint", "joint", "tendon", "connect", "connect", "weld", "weld"]
    assert [e.kind for e in model.equalities] == kinds
    assert [e.name for e in model.equalities] == [mj.equality(k).name for k in range(mj.neq)]
    assert [e.active for e in model.equalities] == list(mj.eq_active0.astype(bool))
    for k, equality in enumerate(model.equalities):
        data = mj.eq_data[k]
        if equality.kind in ("joint", "tendon"):
            assert_close(equality.coefficients, data[:5], 1e-12)
        elif equality.kind == "connect":
            assert_close(equality.points, data[:6].reshape(2, 3), TOLERANCE)
        else:
            position, quaternion = equality.pose
            met = position + rotation(quaternion) @ equality.anchor  # MuJoCo stores where the anchor is
            assert_close(met, data[3:6], TOLERANCE)
            assert_close(abs(quaternion @ data[6:10]), np.linalg.norm(data[6:10]), TOLERANCE)
            assert_close(equality.anchor, data[:3], TOLERANCE)
            assert_close(equality.torque_scale, data[10], TOLERANCE)
    assert model.equalities[0].joints == ["shoulder", "elbow"] and model.equalities[1].joints == ["elbow"]
    assert model.equalities[2].tendons == [0, 1]
    assert [e.frames for e in model.equalities[3:]] == [
        ["upper", "lower"], ["lower", "world"], ["lower", "upper"], ["lower", "world"]
    ]
