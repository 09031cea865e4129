"""An argument of a wrong type is refused by name: every argument of every public function, class and method."""

import functools
import inspect
import re
import types
import warnings

import numpy as np
import pytest
import slipstick
from slipstick import collision, dynamics, gradient, ncp, optimize, options

MODULES = [slipstick, collision, dynamics, gradient, ncp, optimize, options, slipstick.types]
# words of converters, which name no argument and speak of the wrong things
RAW = re.compile(
    r"object is not an instance|Can't extract|cannot be converted|cannot be interpreted as an integer|real number, not"
    r"|object is not iterable|not callable|failed to extract|setting an array element|could not convert|bytes or os.PathLike"
    r"|too large to convert|can't convert|no attribute"
)
WRONG = [object(), {"key": object()}, [object()], 2.5, "nonsense", -3, 10**30, np.zeros((2, 2, 2, 2)), 1j]


class Scene:
    """Valid arguments by name, and things that have methods."""

    def __init__(self):
        self.model = slipstick.builtin("quadruped")
        home = self.model.keyframe("home")
        nv = self.model.nv
        self.ball, self.pose = collision.Sphere(0.1), np.eye(4)
        zeros = np.zeros(nv)
        self.arguments = {
            "model": self.model, "q": home.q, "v": zeros, "a": zeros, "tau": zeros, "w": zeros, "dv": zeros,
            "q0": home.q, "q1": home.q, "B": zeros, "ctrl": home.ctrl, "frame": self.model.frame_names[0], "steps": 2, "n": 2,
        }

    @functools.cached_property
    def simulator(self):
        return slipstick.Simulator(self.model)

    @functools.cached_property
    def step(self):
        return slipstick.step(self.model, self.arguments["q"], self.arguments["v"], ctrl=self.arguments["ctrl"])

    @functools.cached_property
    def trajectory(self):
        return self.simulator.rollout(2)

    @functools.cached_property
    def batch(self):
        batch = slipstick.Batch(self.model, 2)
        batch.step(self.arguments["q"], self.arguments["v"])
        return batch

    @functools.cached_property
    def batch_rollout(self):
        return self.batch.rollout(self.arguments["q"], self.arguments["v"], 2, record=True)

    @functools.cached_property
    def rollout(self):
        rollout = gradient.RolloutGradient(self.model, 2)
        rollout.run(self.arguments["q"], self.arguments["v"])
        return rollout

    @functools.cached_property
    def solution(self):
        return ncp.solve(**CONTACT)

    @functools.cached_property
    def builder(self):
        builder = slipstick.ModelBuilder("robot")
        builder.add_link("base")
        return builder

    @functools.cached_property
    def control_step(self):
        return gradient.ControlStep(self.model, 2)

    @functools.cached_property
    def replay(self):
        return slipstick.Replay(self.model)

    @functools.cached_property
    def other(self):
        return slipstick.Replay(self.model)


CONTACT = {"G": np.eye(3), "g": np.array([0.3, 0.0, -1.0]), "mu": [0.5]}
SHAPES = {"a": "ball", "X_a": "pose", "b": "ball", "X_b": "pose"}
ROWS = {"q": np.tile([0.0, 0.0, 0.3, 1.0] + 15 * [0.0], (2, 1)), "v": np.zeros((2, 18))}
SEARCH = {"residual": lambda x: x, "x0": [1.0]}
RAY = {"origin": [0.0, 0.0, 1.0], "direction": [0.0, 0.0, -1.0]}
# what has methods, and where the scene has one
OWNERS = {
    "Batch": "batch", "BatchRollout": "batch_rollout", "Model": "model", "ModelBuilder": "builder", "Replay": "replay", "RolloutGradient": "rollout",
    "ControlStep": "control_step", "Simulator": "simulator", "Solution": "solution", "Step": "step", "Trajectory": "trajectory", "WarmStart": None,
}
# required arguments that are not those of the scene
GIVEN = {
    "Batch.set_model": {"environment": 0}, "Batch.set_warm_start": {"warm_starts": []}, "Batch.reset": {"q": np.zeros((2, 19)), "v": np.zeros((2, 18))},
    "Model.body": {"body": "trunk"}, "Model.joint": {"joint": 0}, "Model.actuator": {"actuator": 0}, "Model.geom": {"geom": 0},
    "Model.frame": {"frame": 0}, "Model.parameter_index": {"name": "gravity/x"}, "Model.with_mass": {"masses": {"trunk": 1.0}},
    "Model.with_friction": {"friction": 0.5}, "Model.with_servos": {"kp": 1.0, "kd": 0.1}, "loads": {"text": "<mujoco/>"},
    "ModelBuilder": {"name": "robot"}, "ModelBuilder.add_link": {"name": "link"}, "ModelBuilder.add_joint": {"link": "base", "name": "j"},
    "ModelBuilder.add_geom": {"link": "base", "type": "sphere", "size": [0.1]}, "ModelBuilder.add_keyframe": {"name": "home"},
    "ModelBuilder.add_site": {"link": "base", "name": "site"}, "ModelBuilder.add_actuator": {"type": "motor", "joint": "j"},
    "Trajectory.load": {"path": "run.npz"}, "ControlStep.step": ROWS, "ControlStep.jacobian": ROWS,
    "ControlStep.jvp": {**ROWS, "dq": np.zeros((2, 19)), "dv": np.zeros((2, 18))},
    "ControlStep.vjp": {**ROWS, "wq": np.zeros((2, 19)), "wv": np.zeros((2, 18))},
    "Model.keyframe": {"name": "home"}, "Model.with_parameters": {"parameters": []},
    "Simulator.set_mocap": {"name": "target"},
    "Replay.record": {"step": "step"}, "Replay.record_trajectory": {"trajectory": "trajectory"}, "Replay.save": {"path": "replay.html"},
    "Replay.gradient_of": {"quantity": "velocity", "body": "trunk", "axis": "x"}, "Replay.add_beside": {"other": "other", "offset": np.ones(3)},
    "RolloutGradient.set_warm_start": {"warm_start": None}, "Simulator.restore": {"warm_start": None},
    "Simulator": {"dt": None}, "Simulator.reset": {"q": None, "v": None},
    "Step.impulse_jacobian": {"contact": 0}, "Step.parameter_jacobian": {"group": "friction"},
    "Trajectory.contacts_of": {"step": 0}, "Trajectory.save": {"path": "motion.npz"}, "WarmStart.from_bytes": {"data": b""},
    "builtin": {"name": "cube"}, "load": {"path": "absent.xml"},
    "Box": {"half_size": np.ones(3)}, "ncp.Box": {"bound": 1.0}, "Friction": {"mu": 1.0}, "Central": {"kappa": 1.0},
    "Capsule": {"radius": 1.0, "half_length": 1.0}, "Cone": {"radius": 1.0, "half_length": 1.0},
    "Cylinder": {"radius": 1.0, "half_length": 1.0}, "Ellipsoid": {"radii": np.ones(3)}, "Hull": {"points": np.eye(4, 3)},
    "Sphere": {"radius": 1.0}, "Correction": {"full_depth": 1.0, "beta": 0.2, "max_speed": 1.0},
    "ExactForwardCentral": {"kappa": 1.0}, "Randomized": {"sigma": 1.0}, "Smoothed": {"eps": 1.0},
    "ModelWarning": {"what": "", "where": "", "effect": ""},
    "closest_points": SHAPES, "contact": SHAPES, "collision.distance": SHAPES, "raycast": {"solid": "ball", "X": "pose", **RAY},
    "geom_distance": {"a": 0, "b": 1}, "raycast_model": RAY, "bundled_jacobian": {"sigma": 1e-3, "samples": 2},
    "ncp.solve": CONTACT, "ncp.residual": {**CONTACT, "impulse": np.zeros(3)}, "least_squares": SEARCH,
    "Batch": {"n": 2}, "Step.jvp": {"v": np.zeros(18)},
}
OBJECTS = {"ball", "pose", "step", "trajectory", "other"}  # of the scene
SKIPPED = {"Solid"}  # the base class of shapes


def public():
    """Names of all that can be called, as in the tables above, and what they stand for."""
    found = {}
    for module in MODULES:
        for name in module.__all__:
            x = getattr(module, name)
            if isinstance(x, types.ModuleType) or (inspect.isclass(x) and issubclass(x, BaseException)) or name in SKIPPED:
                continue
            short = name if name not in found or found[name] is x else f"{module.__name__.split('.')[-1]}.{name}"
            short = {"solve": "solve", "residual": "ncp.residual", "distance": "collision.distance"}.get(short, short)
            short = f"ncp.{name}" if module is ncp and name in ("solve", "Box") else short
            found[short] = x
            if inspect.isclass(x):
                methods = [m for m, f in inspect.getmembers(x, callable) if not m.startswith("_")]
                found.update({f"{name}.{m}": getattr(x, m) for m in methods})
    return found


PUBLIC = public()
CASES = [
    (name, argument)
    for name, x in PUBLIC.items()
    for argument, parameter in inspect.signature(x).parameters.items()
    if argument != "self" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
]


@pytest.fixture(scope="module")
def scene():
    return Scene()


def call(scene, name, argument, wrong):
    """Calls it with valid arguments, but for one."""
    function = PUBLIC[name]
    owner = name.split(".")[0] if "." in name else None
    if owner in OWNERS and OWNERS[owner]:
        function = getattr(getattr(scene, OWNERS[owner]), name.split(".")[1])
    given = {key: getattr(scene, x) if isinstance(x, str) and x in OBJECTS else x for key, x in GIVEN.get(name, {}).items()}
    for key, parameter in inspect.signature(function).parameters.items():
        if parameter.default is inspect.Parameter.empty and key not in given and key in scene.arguments:
            given[key] = scene.arguments[key]
    return function(**{**given, argument: wrong})


@pytest.mark.parametrize("name, argument", CASES)
def test_a_wrong_type_is_refused_by_the_name_of_its_argument(scene, tmp_path, monkeypatch, name, argument):
    monkeypatch.chdir(tmp_path)
    for wrong in WRONG:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call(scene, name, argument, wrong)
        except Exception as error:
            text = str(error)
            assert not RAW.search(text), f"{type(error).__name__}: {text}"
            assert not isinstance(error, TypeError) or re.search(rf"\b{argument}\b", text), text
            assert type(wrong) is not object or isinstance(error, TypeError), f"{type(error).__name__}: {text}"
        else:
            assert type(wrong) is not object, "it was taken"


def test_all_that_can_be_called_is_called(scene):
    assert len(CASES) > 150
    for name in ("Batch.rollout", "rnea", "ncp.solve", "least_squares", "Simulator.rollout", "load"):
        assert name in PUBLIC, name


def test_messages_say_what_was_expected_and_what_came(scene):
    for wrong, words in [
        (lambda: slipstick.Batch("cube", 2), "model: expected a Model, or a list with a Model for each environment, got 'cube'"),
        (lambda: slipstick.Batch(scene.model, 2.0), "n: expected an int, got 2.0"),
        (lambda: dynamics.crba(3, [0.0]), "model: expected a Model, got 3"),
        (lambda: slipstick.pinocchio.Map(scene.model, 3), "pin_model: expected a pinocchio.Model, got 3"),
        (lambda: slipstick.builtin(4), "name: expected a str, got 4"),
        (lambda: slipstick.load(5), "path: expected a str or a path, got 5"),
        (lambda: scene.simulator.rollout(2, contacts=1), "contacts: expected a bool, got 1"),
        (lambda: scene.trajectory.contacts_of("0"), "step: expected an int, got '0'"),
        (lambda: dynamics.crba(scene.model, ["x"]), "q: expected an array of numbers, got ['x']"),
        (lambda: options.Randomized(1e-3, samples=-1), "samples: expected an int from 0 to 4294967295, got -1"),
        (lambda: optimize.least_squares(1.0, [1.0]), "residual: expected a function, got 1.0"),
        (lambda: scene.step.vjp(parameters=3), "parameters: expected names of groups of parameters, or 'all', got 3"),
        (lambda: scene.step.vjp(sensors=[1.0]), "sensors: expected a dict, got [1.0]"),
    ]:
        with pytest.raises(TypeError) as caught:
            wrong()
        assert str(caught.value) == words


def test_numbers_beyond_their_range_are_refused_with_it(scene):
    for steps, words in [(-1, "zero or more, got -1"), (2**32, "at most 4294967295, got 4294967296")]:
        with pytest.raises(ValueError, match=f"steps: expected {words}"):
            scene.simulator.rollout(steps)
    with pytest.raises(TypeError, match="steps: expected an int, got 1267650600228229401496703205376"):
        scene.simulator.rollout(2**100)


def test_a_name_stands_for_a_list_of_one(scene):
    q, v = scene.arguments["q"], scene.arguments["v"]
    results = []
    for parameters in ("friction", ["friction"], ("friction",)):
        rollout = gradient.RolloutGradient(scene.model, 3, parameters=parameters)
        rollout.run(q, v)
        results.append(rollout.vjp(v=np.ones(scene.model.nv)).parameters)
    assert all(list(r) == ["friction"] and np.array_equal(r["friction"], results[0]["friction"]) for r in results)
    assert np.array_equal(scene.step.vjp(v=v, parameters="friction").parameters["friction"], 0 * results[0]["friction"])
    with pytest.raises(ValueError, match="group.*'color'"):
        gradient.RolloutGradient(scene.model, 3, parameters="color")
