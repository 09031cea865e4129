"""The robots the oracles run on, and where their files are.

Three sources: the built-in models (`crates/slipstick/models/NAME.xml`), the files that come with the packages
gymnasium, dm_control and example-robot-data, and the robots folder (`../shared/models` beside the repository, or wherever
the environment variable SLIPSTICK_MODELS points), which holds the six robots of the paper's table. A clone without that
folder tests third-party robots from the packages. A missing file is reported, never passed over in silence.
"""

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BUILTINS = REPOSITORY / "crates" / "slipstick" / "models"
SHARED = Path(os.environ.get("SLIPSTICK_MODELS", REPOSITORY.parent / "shared" / "models"))
OWN = Path(__file__).resolve().parent / "robots"


def package_folder(name):
    """The folder of an installed package, found without importing it; a folder that is not there if it is absent."""
    package = importlib.util.find_spec(name)
    return Path(package.origin).parent if package else Path(f"package {name} is not installed")


GYMNASIUM = package_folder("gymnasium") / "envs" / "mujoco" / "assets"
DM_CONTROL = package_folder("dm_control")
EXAMPLE_ROBOTS = package_folder("cmeel").parent / "cmeel.prefix" / "share" / "example-robot-data" / "robots"


@dataclass(frozen=True)
class Robot:
    """One robot file. `free_root` puts a free joint under the root link of a URDF."""

    name: str
    path: Path
    builtin: bool = False
    free_root: bool = False

    @property
    def is_mjcf(self):
        return self.path.suffix == ".xml"

    @property
    def is_present(self):
        return self.path.is_file()

    def __str__(self):
        return self.name


BUILTIN_ROBOTS = [
    Robot(f"builtin/{name}", BUILTINS / f"{name}.xml", builtin=True)
    for name in [
        "cube",
        "sphere",
        "double_pendulum",
        "cartpole",
        "hopper",
        "half_cheetah",
        "half_cheetah_planar",
        "walker2d",
        "ant",
        "humanoid",
        "quadruped",
        "arm",
        "biped",
        "atlas",
    ]
]

# Written for these tests: every joint kind, several joints per body, offset anchors, references, fixed links with mass.
OWN_ROBOTS = [Robot("tests/all_joints", OWN / "all_joints.xml")]

GYMNASIUM_ROBOTS = [
    Robot(f"gymnasium/{name}", GYMNASIUM / f"{name}.xml")
    for name in [
        "ant",
        "half_cheetah",
        "hopper",
        "humanoid",
        "humanoidstandup",
        "inverted_double_pendulum",
        "inverted_pendulum",
        "point",
        "pusher",
        "pusher_v5",
        "reacher",
        "swimmer",
        "walker2d",
        "walker2d_v5",
    ]
]

DM_CONTROL_ROBOTS = [
    Robot("dm_control/humanoid", DM_CONTROL / "suite/humanoid.xml"),
    Robot("dm_control/cheetah", DM_CONTROL / "suite/cheetah.xml"),
    Robot("dm_control/jaco_arm", DM_CONTROL / "third_party/kinova/jaco_arm.xml"),
]

EXAMPLE_URDF_ROBOTS = [
    Robot("example-robot-data/g1", EXAMPLE_ROBOTS / "g1_description/urdf/g1_29dof_rev_1_0.urdf", free_root=True),
    Robot("example-robot-data/talos", EXAMPLE_ROBOTS / "talos_data/robots/talos_full_v2.urdf", free_root=True),
]


def of_example_robot_data(name, folder, path, **options):
    """A robot of the folder that is a copy of a file of example-robot-data, which stands in where there is no folder."""
    copy = SHARED / folder / "example-robot-data" / "robots" / path
    return Robot(name, copy if SHARED.is_dir() else EXAMPLE_ROBOTS / path, **options)


# The paper's table. UR5 stands on a fixed base; the other URDFs get a free root.
PAPER_ROBOTS = [
    Robot("paper/half_cheetah", SHARED / "half_cheetah/paper_scene.xml"),
    Robot("paper/humanoid", SHARED / "humanoid/humanoid.xml"),
    of_example_robot_data("paper/ur5", "ur5", "ur_description/urdf/ur5_robot.urdf"),
    of_example_robot_data("paper/go1", "go1", "go1_description/urdf/go1.urdf", free_root=True),
    Robot("paper/h1", SHARED / "h1/unitree_ros/h1_description/urdf/h1_paper.urdf", free_root=True),
    Robot("paper/atlas", SHARED / "atlas/roboschool/atlas_v4_with_multisense.urdf", free_root=True),
]

# MuJoCo opens visual meshes, which the robots folder leaves out: hence the files without visuals.
SHARED_ROBOTS = [
    Robot(f"shared/{path.removesuffix('.xml')}", SHARED / path)
    for path in [
        "ant/ant.xml",
        "cartpole/cartpole_swingup.xml",
        "half_cheetah/half_cheetah.xml",
        "hopper/hopper.xml",
        "humanoid_gym/humanoid.xml",
        "inverted_pendulum/inverted_pendulum.xml",
        "inverted_pendulum/inverted_double_pendulum.xml",
        "walker2d/walker2d.xml",
        "walker2d/walker2d_v5.xml",
        "go1/menagerie/go1_novisual.xml",
        "h1/menagerie/h1_novisual.xml",
        "ur5e/ur5e_novisual.xml",
        "ur5/paper_scene.xml",
        "go1/paper_scene.xml",
        "h1/paper_scene.xml",
        "atlas/paper_scene.xml",
    ]
]

PACKAGE_ROBOTS = GYMNASIUM_ROBOTS + DM_CONTROL_ROBOTS + EXAMPLE_URDF_ROBOTS
ROBOTS = BUILTIN_ROBOTS + OWN_ROBOTS + PACKAGE_ROBOTS + PAPER_ROBOTS + SHARED_ROBOTS
MJCF_ROBOTS = [robot for robot in ROBOTS if robot.is_mjcf]
URDF_ROBOTS = [robot for robot in ROBOTS if not robot.is_mjcf]


def robot_named(name):
    return next(robot for robot in ROBOTS if robot.name == name)
