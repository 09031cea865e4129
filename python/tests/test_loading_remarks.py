"""Honesty: what MuJoCo simulates and we do not is a warning (an error when strict), what only tells MuJoCo's solver how
to work, or how to draw, is one note per file."""

import pickle
import warnings

import pytest
import slipstick

ROBOT = """<mujoco>{top}<worldbody>{world}<body name="trunk"><freejoint name="root"/>{body}
<geom name="ball" size="0.1" {geom}/><site name="tip"/>
<body name="leg" pos="0 0 -0.2"><joint name="knee" axis="0 1 0" {joint}/><geom name="shin" size="0.05"/><site name="toe"/></body>
</body></worldbody>{end}</mujoco>"""
PARTS = {"top": "", "world": "", "body": "", "geom": "", "joint": "", "end": ""}

# What is not represented: the part of the file, and words of the warning.
CHANGES_MOTION = {
    "fluid": ({"top": '<option density="1.2" viscosity="1e-5"/>'}, "fluid"),
    "wind": ({"top": '<option wind="1 0 0" density="1"/>'}, "fluid|wind"),
    "rolling friction": ({"geom": 'condim="6"'}, "condim"),
    "spatial tendon": (
        {"end": '<tendon><spatial stiffness="1"><site site="tip"/><site site="toe"/></spatial></tendon>'},
        "spatial",
    ),
    "muscle": ({"end": '<actuator><muscle joint="knee"/></actuator>'}, "muscle"),
    "adhesion": ({"end": '<actuator><adhesion body="leg" ctrlrange="0 1"/></actuator>'}, "adhesion"),
    "actuator with a state": (
        {"end": '<actuator><general joint="knee" dyntype="user"/></actuator>'},
        "dyntype|user",
    ),
    "body transmission": ({"end": '<actuator><general body="foot"/></actuator>'}, "body"),
    "flex or composite": (
        {"body": '<composite type="cable" count="5 1 1" size="1" curve="s"><geom type="capsule" size="0.01"/></composite>'},
        "composite",
    ),
    "contact override": ({"top": '<option><flag override="enable"/></option>'}, "override"),
}

# What only tells MuJoCo's solver how to work.
SOFTNESS = {
    "solref of a geom": {"geom": 'solref="0.01 1"'},
    "solimp of a joint": {"joint": 'solimplimit="0.9 0.95 0.001"'},
    "cone and impratio": {"top": '<option cone="elliptic" impratio="10"/>'},
    "integrator and iterations": {"top": '<option integrator="implicitfast" iterations="5"/>'},
}

# What makes no difference to the motion.
IRRELEVANT = {
    "camera and light": {"world": '<camera pos="0 0 1"/><light pos="0 0 1"/>'},
    "visual and statistic": {"top": '<visual><global offwidth="10"/></visual><statistic extent="2"/>'},
    "texture and material": {
        "top": '<asset><texture name="t" type="2d" builtin="flat" width="2" height="2"/>'
        '<material name="m" texture="t"/></asset>',
        "geom": 'material="m" rgba="1 0 0 1"',
    },
    "custom and size": {"top": '<size memory="1M"/><custom><numeric name="a" data="1"/></custom>'},
}


@pytest.fixture
def write(tmp_path):
    def write(parts):
        path = tmp_path / "robot.xml"
        path.write_text(ROBOT.format(**{**PARTS, **parts}))
        return path

    return write


@pytest.mark.parametrize("what", CHANGES_MOTION)
def test_what_changes_the_motion_is_a_warning_and_an_error_when_strict(write, what):
    parts, words = CHANGES_MOTION[what]
    path = write(parts)
    try:
        model = slipstick.load(path)
    except slipstick.LoadError as error:  # refused in words is as honest
        assert any(word in str(error) for word in words.split("|"))
        return
    found = [w for w in model.warnings if any(word in str(w) for word in words.split("|"))]
    assert found, [str(w) for w in model.warnings]
    assert found[0].what and found[0].effect and "robot.xml:" in found[0].where
    assert str(found[0]) == f"{found[0].where}: {found[0].what}: {found[0].effect}"
    with pytest.raises(slipstick.LoadError, match=words) as error:
        slipstick.load(path, strict=True)
    assert error.value.file.endswith("robot.xml")


@pytest.mark.parametrize("what", SOFTNESS)
def test_softness_and_solver_settings_are_one_note(write, what):
    path = write(SOFTNESS[what])
    model = slipstick.load(path, strict=True)
    assert model.warnings == []
    assert len(model.notes) == 1 and isinstance(model.notes[0], str)


@pytest.mark.parametrize("what", IRRELEVANT)
def test_what_makes_no_difference_is_no_warning(write, what):
    model = slipstick.load(write(IRRELEVANT[what]), strict=True)
    assert model.warnings == [] and len(model.notes) <= 1


def test_a_file_with_everything_that_makes_no_difference_has_one_note(write):
    parts = {}
    for some in [*SOFTNESS.values(), *IRRELEVANT.values()]:
        parts = {key: parts.get(key, "") + " " + some.get(key, "") for key in PARTS}
    model = slipstick.load(write(parts), strict=True)
    assert len(model.notes) == 1 and "solref" in model.notes[0] and "camera" in model.notes[0]


def test_a_plain_file_has_nothing_to_say(write):
    model = slipstick.load(write({}), strict=True)
    assert model.warnings == [] and model.notes == []


def test_what_a_model_does_not_represent_is_said_once(write):
    suckers = "".join(f'<general name="a{k}" body="foot"/>' for k in range(5))
    path = write({"end": f"<actuator>{suckers}</actuator>"})
    with pytest.warns(slipstick.errors.LoadWarning) as caught:
        model = slipstick.load(path)
    (said,) = [str(w.message) for w in caught]
    assert len(model.warnings) == 5 and model.nu == 0
    assert f"{path}: 5 warnings" in said and said.count("a0") >= 1 and "and 2 more" in said
    assert repr(model).endswith(", 5 warnings>") and issubclass(slipstick.errors.LoadWarning, UserWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(slipstick.errors.LoadWarning):
            slipstick.load(path)
        slipstick.builtin("cube")


def test_warnings_are_values(write):
    model = slipstick.load(write(CHANGES_MOTION["fluid"][0]))
    (warning,) = model.warnings
    assert warning == model.warnings[0] and warning == pickle.loads(pickle.dumps(warning))
    assert "fluid" in repr(warning)
    with pytest.raises(AttributeError):
        warning.what = "nothing"


URDF = """<robot name="r"><link name="base"><inertial><mass value="1"/>{inertia}</inertial></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def test_an_inertia_that_no_body_can_have_is_a_warning(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(URDF.format(inertia='<inertia ixx="1" iyy="1" izz="1" ixy="1" ixz="1" iyz="1"/>'))
    model = slipstick.load(path, free_root=True)
    assert any("base" in w.what or "base" in str(w) for w in model.warnings)
    with pytest.raises(slipstick.LoadError, match="base"):
        slipstick.load(path, free_root=True, strict=True)
    path.write_text(URDF.format(inertia='<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'))
    assert slipstick.load(path, free_root=True, strict=True).warnings == []


@pytest.mark.parametrize("suffix, text", [("sdf", '<sdf version="1.9"/>'), ("usda", "#usda 1.0"), ("xacro", "<robot/>")])
def test_formats_that_are_not_read_are_named(tmp_path, suffix, text):
    path = tmp_path / f"robot.{suffix}"
    path.write_text(text)
    with pytest.raises(slipstick.LoadError, match="(?i)" + suffix[:3]) as error:
        slipstick.load(path)
    assert error.value.hint
