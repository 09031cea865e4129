"""Every robot file that the loading tests read: the robots folder, gymnasium, dm_control and example-robot-data.

Folders are searched, so that a file that is added there is tested without being listed here. What is listed are the
exceptions, each with its reason.
"""

import functools

import mujoco
import pytest
import slipstick

from oracles import obey_flags, rigid_only
from robots import DM_CONTROL, EXAMPLE_ROBOTS, GYMNASIUM, SHARED, Robot


# Not robots: parts that other files include, files that tests of dm_control want to be broken, schemas.
NO_MODELS = {
    "dm_control/locomotion/walkers/assets/dog_v2/scene.xml": "to be included after another floor",
    "dm_control/locomotion/walkers/assets/build_fruitfly/assets/drosophila.xml": "its meshes are elsewhere",
    "dm_control/locomotion/walkers/assets/build_fruitfly/floor.xml": "its meshes are elsewhere",
    "dm_control/locomotion/walkers/assets/build_fruitfly/fruitfly.xml": "its meshes are elsewhere",
    "dm_control/mjcf/schema.xml": "a schema",
    "dm_control/mjcf/test_assets/attribute_test_schema.xml": "a schema",
    "dm_control/mjcf/test_assets/included_with_invalid_filenames.xml": "names files that do not exist",
    "dm_control/mjcf/test_assets/model_with_invalid_filenames.xml": "names files that do not exist",
    "dm_control/mujoco/testing/assets/model_with_assets.xml": "names files that do not exist",
    "dm_control/mjcf/test_assets/test_model.xml": "a moving body without mass, which MuJoCo refuses",
}

# Robots that no model can be made of, with the words of the error.
REFUSED_URDF = {
    "example-robot-data/ur_description/urdf/ur3.urdf": "link",  # an empty <robot>
}


def found(folder, pattern, prefix):
    return [Robot(f"{prefix}/{p.relative_to(folder).as_posix()}", p) for p in sorted(folder.rglob(pattern))]


SHARED_MJCF, SHARED_URDF = found(SHARED, "*.xml", "shared"), found(SHARED, "*.urdf", "shared")
GYMNASIUM_MJCF = found(GYMNASIUM, "*.xml", "gymnasium")
DM_CONTROL_FILES = found(DM_CONTROL, "*.xml", "dm_control")
DM_CONTROL_MJCF = [robot for robot in DM_CONTROL_FILES if robot.name not in NO_MODELS]
EXAMPLE_URDF = found(EXAMPLE_ROBOTS, "*.urdf", "example-robot-data")

ALL_MJCF = SHARED_MJCF + GYMNASIUM_MJCF + DM_CONTROL_MJCF
ALL_URDF = SHARED_URDF + [robot for robot in EXAMPLE_URDF if robot.name not in REFUSED_URDF]

REFUSED = REFUSED_URDF
REFUSED_ROBOTS = [robot for robot in DM_CONTROL_FILES + EXAMPLE_URDF if robot.name in REFUSED]

# name of a source → its files: an empty one is reported by test_loading_sources.py
SOURCES = {
    "robots folder (SLIPSTICK_MODELS)": SHARED_MJCF + SHARED_URDF,
    "gymnasium": GYMNASIUM_MJCF,
    "dm_control": DM_CONTROL_MJCF,
    "example-robot-data": EXAMPLE_URDF,
}


def parameters(robots):
    return [pytest.param(robot, id=robot.name) for robot in robots]


def without_visual_meshes(path):
    """MuJoCo's model of a file whose visual meshes are absent: mesh geoms that can touch nothing are taken out.

    Only right where links give their inertia themselves, as those of the robots folder do."""
    spec = mujoco.MjSpec.from_file(str(path))
    for geom in list(spec.geoms):
        if geom.type == mujoco.mjtGeom.mjGEOM_MESH:
            assert geom.contype == 0 and geom.conaffinity == 0, f"{path}: a mesh that can touch is absent"
            spec.delete(geom)
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    return spec.compile()


def mujoco_of(robot):
    """MuJoCo's model with everything in it, as the file says; visual meshes may be absent in the robots folder."""
    try:
        return mujoco.MjModel.from_xml_path(str(robot.path))
    except ValueError as error:
        if robot.path.is_relative_to(SHARED) and "opening file" in str(error):
            return without_visual_meshes(robot.path)
        raise


@functools.cache
def loaded(robot):
    """Our model of a file, read once."""
    return slipstick.load(robot.path)


@functools.cache
def compiled(robot):
    """MuJoCo's model of a file without what its flags switch off, compiled once: to be read, not to be changed."""
    return obey_flags(mujoco_of(robot))


def rigid_mujoco_of(robot):
    """The same, rigid-body dynamics only."""
    return rigid_only(mujoco_of(robot))
