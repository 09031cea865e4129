"""Where the robots of the loading tests come from: no source is empty, and what is left out has its reason."""

import pytest
import slipstick

from catalog import DM_CONTROL, EXAMPLE_URDF, NO_MODELS, REFUSED, REFUSED_ROBOTS, SOURCES, parameters
from robots import SHARED


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_of_robots_is_there(source):
    if "SLIPSTICK_MODELS" in source and not SHARED.is_dir():
        pytest.skip(f"robots folder {SHARED} not found (set SLIPSTICK_MODELS)")
    assert SOURCES[source], f"{source} holds no robot"


def test_example_robot_data_is_complete():
    assert len(EXAMPLE_URDF) == 69


def test_every_robot_that_is_listed_as_refused_is_there():
    assert set(REFUSED) == {robot.name for robot in REFUSED_ROBOTS}


@pytest.mark.parametrize("robot", parameters(REFUSED_ROBOTS))
def test_a_robot_without_a_model_is_refused_with_its_reason(robot):
    with pytest.raises(slipstick.LoadError, match=REFUSED[robot.name]):
        slipstick.load(robot.path)


@pytest.mark.parametrize("name", NO_MODELS)
def test_a_file_that_is_left_out_exists(name):
    assert (DM_CONTROL.parent / name).is_file()
