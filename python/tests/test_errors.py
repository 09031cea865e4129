"""Bad input is refused with an exception that names the thing: what, where, expected, got."""

import numpy as np
import pytest
import slipstick
from stepping import Stepper

MODEL_XML = """<mujoco model="small"><worldbody><body name="trunk"><freejoint name="root"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<body name="leg"><joint name="knee" axis="0 1 0"/><inertial pos="0 0 -0.1" mass="1" diaginertia="1 1 1"/></body>
</body></worldbody><actuator><motor name="push" joint="knee"/></actuator></mujoco>"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "small.xml"
    path.write_text(MODEL_XML)
    return slipstick.load(str(path))


@pytest.fixture
def arguments(model):
    nv = model.nv
    return {"q": model.neutral(), "v": np.zeros(nv), "a": np.zeros(nv), "tau": np.zeros(nv)}


# Function, and the names of its array arguments after the model.
FUNCTIONS = [
    (slipstick.dynamics.rnea, ["q", "v", "a"]),
    (slipstick.dynamics.aba, ["q", "v", "tau"]),
    (slipstick.dynamics.crba, ["q"]),
    (slipstick.dynamics.bias, ["q", "v"]),
    (slipstick.dynamics.mass_inverse, ["q"]),
    (slipstick.dynamics.kinematics, ["q"]),
    (slipstick.dynamics.rnea_derivatives, ["q", "v", "a"]),
    (slipstick.dynamics.aba_derivatives, ["q", "v", "tau"]),
    (slipstick.dynamics.aba_inertial_derivatives, ["q", "v", "tau"]),
    (slipstick.dynamics.regressor, ["q", "v", "a"]),
    (slipstick.dynamics.center_of_mass, ["q"]),
    (slipstick.dynamics.energy, ["q", "v"]),
    (slipstick.dynamics.momentum, ["q", "v"]),
    (slipstick.dynamics.passive, ["q", "v"]),
]
CASES = [
    pytest.param(function, names, bad, id=f"{function.__name__}-{bad}")
    for function, names in FUNCTIONS
    for bad in names
]


@pytest.mark.parametrize("function, names, bad", CASES)
def test_a_wrong_length_is_refused_with_both_lengths(model, arguments, function, names, bad):
    expected = len(arguments[bad])
    for got in [expected - 1, expected + 2, 0]:
        values = {**arguments, bad: np.zeros(got)}
        with pytest.raises(ValueError) as error:
            function(model, *[values[name] for name in names])
        assert bad in str(error.value) and str(expected) in str(error.value) and str(got) in str(error.value)


@pytest.mark.parametrize("function, names, bad", CASES)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_refused_with_its_place(model, arguments, function, names, bad, value):
    values = {name: array.copy() for name, array in arguments.items()}
    values[bad][2] = value
    with pytest.raises(ValueError) as error:
        function(model, *[values[name] for name in names])
    assert bad in str(error.value) and "2" in str(error.value)


@pytest.mark.parametrize("function, names", FUNCTIONS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_zero_quaternion_is_refused_with_the_name_of_its_joint(model, arguments, function, names):
    arguments["q"][3:7] = 0.0
    with pytest.raises(ValueError, match="(?i)quaternion.*root|root.*quaternion"):
        function(model, *[arguments[name] for name in names])


def test_a_matrix_in_the_place_of_a_vector_is_refused(model, arguments):
    with pytest.raises((ValueError, TypeError)):
        slipstick.dynamics.crba(model, np.zeros((model.nq, 1)))


def test_a_quaternion_of_another_length_is_normalized(model, arguments):
    q = arguments["q"].copy()
    q[3:7] = 3.0 * np.array([0.5, 0.5, -0.5, 0.5])
    unit = q.copy()
    unit[3:7] /= 3.0
    assert np.allclose(slipstick.dynamics.crba(model, q), slipstick.dynamics.crba(model, unit), rtol=0.0, atol=1e-13)


def test_wrenches_need_one_row_per_body(model, arguments):
    q, v, a, tau = (arguments[name] for name in ["q", "v", "a", "tau"])
    for shape in [(model.n_bodies - 1, 6), (model.n_bodies, 3)]:
        with pytest.raises(ValueError, match="wrenches"):
            slipstick.dynamics.rnea(model, q, v, a, wrenches=np.zeros(shape))
        with pytest.raises(ValueError, match="wrenches"):
            slipstick.dynamics.aba_derivatives(model, q, v, tau, wrenches=np.zeros(shape))
    bad = np.zeros((model.n_bodies, 6))
    bad[1, 2] = np.nan
    with pytest.raises(ValueError, match="wrenches"):
        slipstick.dynamics.aba(model, q, v, tau, wrenches=bad)


def test_other_arguments_are_checked_too(model, arguments):
    q, v = arguments["q"], arguments["v"]
    with pytest.raises(ValueError, match="ctrl"):
        slipstick.dynamics.actuate(model, q, v, np.zeros(model.nu + 1))
    with pytest.raises(ValueError, match="ctrl"):
        slipstick.dynamics.actuate_derivatives(model, q, v, np.array([np.nan]))
    with pytest.raises(ValueError, match="dv"):
        slipstick.dynamics.integrate(model, q, np.zeros(model.nv + 1))
    with pytest.raises(ValueError, match="q1"):
        slipstick.dynamics.difference(model, q, np.zeros(model.nq - 1))
    with pytest.raises(ValueError, match="w"):
        slipstick.dynamics.rnea_vjp(model, q, v, v, np.zeros(model.nv - 1))
    with pytest.raises(ValueError, match="B"):
        slipstick.dynamics.solve(model, q, np.zeros((model.nv + 1, 2)))
    with pytest.raises(ValueError, match="parameters"):
        model.with_parameters(np.zeros(len(model.parameters) + 1))


def test_unknown_names_are_refused_by_name(model, arguments):
    q, v = arguments["q"], arguments["v"]
    with pytest.raises(ValueError, match="no_such_frame"):
        slipstick.dynamics.jacobian(model, q, "no_such_frame")
    with pytest.raises(ValueError, match="no_such_frame"):
        slipstick.dynamics.velocity_derivatives(model, q, v, "no_such_frame")
    with pytest.raises(ValueError, match="no_such_joint"):
        model.joint("no_such_joint").q
    with pytest.raises(ValueError, match="no_such_body"):
        model.body("no_such_body").inertial
    with pytest.raises(ValueError, match="no_such_pose"):
        model.keyframe("no_such_pose")
    with pytest.raises(ValueError, match="no_such_robot"):
        slipstick.builtin("no_such_robot")


def test_the_simulator_checks_its_input(model, arguments):
    simulator = Stepper(model)
    q, v = arguments["q"], arguments["v"]
    with pytest.raises(ValueError, match="tau"):
        simulator.step(q, v, tau=np.zeros(model.nv + 1))
    with pytest.raises(ValueError, match="ctrl"):
        simulator.step(q, v, ctrl=np.zeros(model.nu + 1))
    with pytest.raises(ValueError, match="v"):
        simulator.step(q, np.full(model.nv, np.nan))
    for dt in [0.0, -1e-3, np.nan]:
        with pytest.raises(ValueError, match="dt"):
            Stepper(model, dt=dt)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(slipstick.LoadError, match="nowhere.xml"):
        slipstick.load(str(tmp_path / "nowhere.xml"))


BROKEN_FILES = {
    "not xml at all": ("this is not xml", None),
    "unclosed element": ('<mujoco>\n<worldbody>\n<body name="trunk">\n</worldbody></mujoco>', "body|4"),
    "neither mjcf nor urdf": ("<html><body/></html>", "html"),
    "unknown joint type": (MODEL_XML.replace('name="knee"', 'name="knee" type="elastic"'), "elastic"),
    "number that is none": (MODEL_XML.replace('pos="0 0 -0.1"', 'pos="0 zero -0.1"'), "zero"),
    "negative mass": (MODEL_XML.replace('pos="0 0 -0.1" mass="1"', 'pos="0 0 -0.1" mass="-1"'), "mass"),
    "actuator on an unknown joint": (MODEL_XML.replace('joint="knee"', 'joint="hip"'), "hip"),
    "urdf with an unknown link": (
        '<robot name="r"><link name="a"/><joint name="j" type="fixed"><parent link="a"/><child link="ghost"/></joint>'
        "</robot>",
        "ghost",
    ),
}


@pytest.mark.parametrize("what", BROKEN_FILES)
def test_a_broken_file_is_refused_with_its_name_and_the_culprit(tmp_path, what):
    text, culprit = BROKEN_FILES[what]
    path = tmp_path / "broken.xml"
    path.write_text(text)
    with pytest.raises(slipstick.LoadError, match=culprit) as error:
        slipstick.load(str(path))
    assert "broken.xml" in str(error.value)
