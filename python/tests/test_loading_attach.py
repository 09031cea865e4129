"""`<attach>` and `<replicate>` beside MuJoCo: the same joints, keyframes, masses and references."""

import mujoco
import numpy as np
import pytest
import slipstick

from oracles import mujoco_mass_matrix
from states import assert_close

KID = """<mujoco model="Kid"><default><default class="c"><joint type="ball"/></default></default><worldbody><body name="a">
<joint name="j1"/><geom size=".1"/><body name="b" childclass="c" pos="0 0 1"><joint/><geom size=".1"/></body></body>
<body name="z"><freejoint/><geom size=".1"/></body></worldbody><actuator><motor joint="j1" name="m"/></actuator><keyframe>
<key name="home" qpos=".1 1 0 0 .2 5 6 7 1 0 0 0" qvel="1 2 3 4 5 6 7 8 9 10" ctrl=".7"/>
<key name="second" qpos=".5 1 0 0 .2 5 6 7"/></keyframe></mujoco>"""
MID = """<mujoco model="Mid"><asset><model file="kid.xml"/></asset><worldbody><body name="q"><joint name="s" type="slide"/>
<geom size=".1"/><attach model="Kid" body="a" prefix="in_"/></body></worldbody>
<keyframe><key name="mk" qpos="1 .2 1 0 0 .3"/></keyframe></mujoco>"""
CLASSES = """<mujoco model="Classes"><default><geom size=".3"/><default class="s"><joint type="slide"/><geom size=".2"/></default>
</default><worldbody><body childclass="s"><body name="x"><joint name="x"/><geom name="g"/></body></body>
<body name="w"><joint/><geom name="gw"/></body></worldbody></mujoco>"""
HILL = """<mujoco model="Hill"><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 .1" elevation="0 1 0 0"/>
<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><geom type="hfield" hfield="h"/>
<body name="t"><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
HELD = """<mujoco model="Held"><default><material rgba="1 1 1 0"/></default><asset><material name="glass"/>
<material name="wood" rgba="1 0 0 1"/></asset><worldbody><body name="a"><joint name="j"/><geom name="ga" size=".1" pos="0 0 -2" material="glass"/>
<geom name="wood" size=".1" pos="0 0 3" material="wood"/></body><body name="m" mocap="true" pos="1 2 3"><geom name="gm" size=".1"/>
<site name="s" pos="0 0 -.2"/></body><frame pos="0 0 5"><body name="n" mocap="true" pos="1 0 0"><geom size=".1"/></body></frame></worldbody>
<sensor><rangefinder site="s" name="rf"/><contact geom1="ga" name="c"/><contact subtree1="a" name="ct"/><distance geom1="wood" geom2="gm" cutoff="20"/>
<distance body1="a" body2="m" cutoff="20"/><e_kinetic/><e_potential/><clock name="cl"/><insidesite site="s" objtype="xbody" objname="m"/><user dim="2"/>
<magnetometer site="s" name="mag"/></sensor><keyframe><key name="k" qpos=".3" mpos="0 0 9 4 5 6" mquat="0 1 0 0 0 0 1 0"/>
<key name="k2" mpos="1 1 1"/></keyframe></mujoco>"""
ASSET = '<asset><model file="kid.xml"/><model file="classes.xml"/><model name="Given" file="kid.xml"/><model file="mid.xml"/><model file="hill.xml"/><model file="held.xml"/></asset>'
OWN = """<default><geom size=".7"/><default class="s"><joint type="slide"/><geom size=".2"/></default><default class="t"><geom size=".9"/>
</default></default><worldbody><body name="o" childclass="s"><frame name="f" euler="0 0 90"><geom name="h"/><body name="x">
<joint name="x"/><geom name="g" pos="1 0 0"/></body></frame><geom/></body><body childclass="t"><joint/><geom/><frame pos="2 0 0">
<attach {what}="{name}" prefix="p_"/></frame></body></worldbody><contact><exclude body1="world" body2="x"/><exclude body1="o" body2="x"/>
</contact><sensor><jointpos joint="x" name="jp"/><framepos objtype="xbody" objname="x" reftype="xbody" refname="o"/></sensor>
<actuator><motor joint="x"/></actuator>"""

CASES = {
    "by the name in its file": '<worldbody><attach model="Kid" prefix="p_"/></worldbody>',
    "by the name of the asset": '<worldbody><attach model="Given" prefix="p_"/></worldbody>',
    "two bodies": '<worldbody><body><joint type="slide"/><geom size=".1"/><attach model="Kid" body="a" prefix="p_"/></body>'
    '<attach model="Kid" body="z" prefix="r_"/></worldbody><keyframe><key name="mine" qpos="3"/></keyframe>',
    "one body twice": '<worldbody><attach model="Kid" body="a" prefix="p_"/><attach model="Kid" body="a" prefix="r_"/></worldbody>',
    "a model in a model": '<worldbody><attach model="Mid" prefix="out_"/></worldbody>',
    "replicated": '<worldbody><replicate count="2" offset="1 0 0"><attach model="Kid" body="a" prefix="p_"/></replicate></worldbody>',
    "classes": '<default><geom size=".7"/></default><worldbody><attach model="Classes" body="x" prefix="p_"/>'
    '<attach model="Classes" body="w" prefix="q_"/></worldbody>',
    "height fields": '<worldbody><attach model="Hill" prefix="p_"/></worldbody>',
    "mocap bodies and sensors": '<worldbody><geom type="plane" size="9 9 1"/><body name="own" mocap="true" pos="9 9 9"/><frame pos="0 0 2">'
    '<attach model="Held" prefix="p_"/></frame></worldbody><keyframe><key name="mine" mpos="3 3 3"/></keyframe>',
    "parts with mocap bodies": '<worldbody><attach model="Held" body="n" prefix="p_"/><attach model="Held" body="m" prefix="q_"/></worldbody>',
    "own frame": OWN.format(what="frame", name="f"),
    "own body": OWN.format(what="body", name="x"),
    "constraints of copies": '<worldbody><body name="o"><joint name="jo"/><geom size=".1"/></body><replicate count="2" prefix="A">'
    '<body name="b"><joint name="j"/><geom name="g" size=".1"/></body></replicate></worldbody><equality>'
    '<joint joint1="j" joint2="jo"/><joint joint1="j"/><weld body1="b" body2="world"/><connect body1="b" body2="o" anchor="0 0 0"/>'
    '</equality><tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="jo" coef="1"/></fixed></tendon>'
    '<actuator><motor tendon="t"/><motor joint="jo"/></actuator><sensor>'
    '<framepos objtype="xbody" objname="o" reftype="xbody" refname="b"/></sensor>',
}


def named(ours, theirs):
    """The names of MuJoCo's model, where it has one."""
    return [our for our, their in zip(ours, theirs, strict=True) if their] == [name for name in theirs if name]


@pytest.mark.parametrize("case", CASES)
def test_copies_are_mujocos(case, tmp_path):
    for name, text in {"kid": KID, "mid": MID, "classes": CLASSES, "hill": HILL, "held": HELD}.items():
        (tmp_path / f"{name}.xml").write_text(text)
    path = tmp_path / "main.xml"
    path.write_text(f"<mujoco>{ASSET}{CASES[case]}</mujoco>")
    mj, model = mujoco.MjModel.from_xml_path(str(path)), slipstick.load(path)
    expected = ("at the start", "a user sensor")  # copies at one place overlap; nothing computes user sensors
    assert all(any(part in str(warning) for part in expected) for warning in model.warnings)
    sizes = (model.nq, model.nv, model.nu, model.n_geoms, len(model.sensors), len(model.equalities), len(model.tendons))
    assert sizes == (mj.nq, mj.nv, mj.nu, mj.ngeom, mj.nsensor, mj.neq, mj.ntendon)
    assert named(model.joint_names, [mj.joint(i).name for i in range(mj.njnt)])
    assert named(model.actuator_names, [mj.actuator(i).name for i in range(mj.nu)])
    assert [e.kind for e in model.equalities] == [
        {"mjEQ_JOINT": "joint", "mjEQ_WELD": "weld", "mjEQ_CONNECT": "connect"}[mujoco.mjtEq(kind).name] for kind in mj.eq_type
    ]
    assert list(model.keyframe_names) == [mj.key(i).name for i in range(mj.nkey)]
    for i in range(mj.nkey):
        key = model.keyframe(mj.key(i).name)
        assert_close(key.q, mj.key_qpos[i], 1e-14)
        assert_close(key.v, mj.key_qvel[i], 0.0)
        assert_close(key.ctrl, mj.key_ctrl[i], 0.0)
        assert_close(key.mocap, np.hstack([mj.key_mpos[i].reshape(-1, 3), mj.key_mquat[i].reshape(-1, 4)]), 1e-14)
    data = mujoco.MjData(mj)
    for i in range(mj.nkey if mj.nmocap else 0):
        mujoco.mj_resetDataKeyframe(mj, data, i)
        mujoco.mj_forward(mj, data)
        step = slipstick.step(model, mj.key_qpos[i], mj.key_qvel[i], mocap=model.keyframe(mj.key(i).name).mocap)
        assert_close(np.concatenate(list(step.sensors.values())), data.sensordata, 1e-9)
    mujoco.mj_resetData(mj, data)
    mujoco.mj_forward(mj, data)
    assert_close(model.neutral(), mj.qpos0, 1e-14)
    assert_close(slipstick.dynamics.crba(model, mj.qpos0), mujoco_mass_matrix(mj, data), 1e-9)
    kinematics = slipstick.dynamics.kinematics(model, mj.qpos0)
    for i in range(1, mj.nbody):
        if mj.body(i).name:
            at = list(model.frame_names).index(mj.body(i).name)
            assert_close(kinematics.frame_position[at], data.xpos[i], 1e-12)


def test_options_of_attached_models_are_told_where_they_would_be_merged(tmp_path):
    (tmp_path / "kid.xml").write_text(KID)
    path = tmp_path / "main.xml"
    path.write_text(
        '<mujoco><compiler conflict="merge"/><asset><model file="kid.xml"/></asset>'
        '<worldbody><attach model="Kid" prefix="p_"/></worldbody></mujoco>'
    )
    assert "options of attached models are ignored" in str(slipstick.load(path).warnings[0])


def test_a_prefix_of_replicate_is_passed_over_as_in_mujoco():
    xml = '<mujoco><worldbody><replicate count="2" prefix="A"><geom name="g" size="1"/></replicate></worldbody></mujoco>'
    mj, model = mujoco.MjModel.from_xml_string(xml), slipstick.loads(xml)
    assert [mj.geom(i).name for i in range(2)] == [model.geom(i).name for i in range(2)] == ["g0", "g1"]
