"""Fixtures: every robot with its slipstick model and its oracles. Models are loaded once per session."""

import functools
import warnings

import mujoco
import pytest

from oracles import PinocchioOracle, load_mujoco
from robots import MJCF_ROBOTS, ROBOTS, SHARED, URDF_ROBOTS


def present_or_skipped(robots):
    absent = f"its file is absent (robots folder: {SHARED}, or set SLIPSTICK_MODELS)"
    return [
        pytest.param(robot, id=robot.name, marks=() if robot.is_present else pytest.mark.skip(reason=absent))
        for robot in robots
    ]


def missing():
    return [robot.name for robot in ROBOTS if not robot.is_present]


def pytest_report_header():
    state = "found" if SHARED.is_dir() else "NOT FOUND: third-party robots are those of packages"
    return f"robots folder: {SHARED} ({state})"


FIGURES = []  # measured beside a peer, shown at the end


@pytest.fixture
def figure():
    """Call it with a line to be shown at the end of the run."""
    return FIGURES.append


def pytest_sessionfinish(session):
    """A process of pytest-xdist hands its figures to the one that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["figures"] = FIGURES


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    FIGURES.extend(getattr(node, "workeroutput", {}).get("figures", []))


def pytest_terminal_summary(terminalreporter):
    if FIGURES:
        terminalreporter.section("figures")
        terminalreporter.write_line("\n".join(FIGURES))
    if missing():
        terminalreporter.section("robots not tested: file absent", red=True, bold=True)
        terminalreporter.write_line(", ".join(missing()))


@functools.cache
def slipstick_model(robot):
    import slipstick

    if robot.builtin:
        return slipstick.builtin(robot.path.stem)
    return slipstick.load(str(robot.path), free_root=robot.free_root)


@functools.cache
def mujoco_model(robot):
    return load_mujoco(robot.path)


@functools.cache
def pinocchio_oracle(robot):
    if robot.is_mjcf:
        return PinocchioOracle.from_mujoco(mujoco_model(robot))
    model = slipstick_model(robot)
    order = [name for name, kind in zip(model.joint_names, model.joint_types) if kind != "free"]
    return PinocchioOracle.from_urdf(robot.path, robot.free_root, order)


@pytest.fixture(params=present_or_skipped(ROBOTS))
def robot(request):
    return request.param


@pytest.fixture(params=present_or_skipped(MJCF_ROBOTS))
def mjcf_robot(request):
    return request.param


@pytest.fixture(params=present_or_skipped(URDF_ROBOTS))
def urdf_robot(request):
    return request.param


@pytest.fixture
def model(request):
    """The slipstick model of whichever robot fixture the test uses."""
    names = ("robot", "mjcf_robot", "urdf_robot")
    return slipstick_model(next(request.getfixturevalue(name) for name in names if name in request.fixturenames))


@pytest.fixture
def oracle(robot):
    return pinocchio_oracle(robot)


@pytest.fixture
def mj(mjcf_robot):
    """MuJoCo's model, rigid-body dynamics only. Shared: tests that change it load their own."""
    return mujoco_model(mjcf_robot)


@pytest.fixture
def mj_data(mj):
    return mujoco.MjData(mj)


@pytest.fixture(scope="session", autouse=True)
def tell_about_missing_robots():
    if missing():
        warnings.warn(f"robot files absent, not tested: {', '.join(missing())}", stacklevel=1)


def pytest_configure(config):
    # robots of others have parts that are not supported; the tests of warnings ask for theirs
    config.addinivalue_line("filterwarnings", "ignore::slipstick.errors.LoadWarning")
