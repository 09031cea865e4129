"""The robots the oracles run on, and where their files are.

Three sources: the built-in models (`models/NAME.xml` in this repository), the MJCF files that come with gymnasium, and
the robots folder (`../shared/models` beside the repository, or wherever the environment variable SLIPSTICK_MODELS
points), which holds the six robots of the paper's table. A missing folder is reported, never passed over in silence.
"""

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BUILTINS = REPOSITORY / "models"
SHARED = Path(os.environ.get("SLIPSTICK_MODELS", REPOSITORY.parent / "shared" / "models"))
OWN = Path(__file__).resolve().parent / "robots"


def gymnasium_assets():
    """The folder of gymnasium's MJCF files. Found without importing its mujoco module, which wants a renderer."""
    package = importlib.util.find_spec("gymnasium")
    return Path(package.origin).parent / "envs" / "mujoco" / "assets"


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
    Robot(f"gymnasium/{name}", gymnasium_assets() / f"{name}.xml")
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

# The paper's table. UR5 stands on a fixed base; the other URDFs get a free root.
PAPER_ROBOTS = [
    Robot("paper/half_cheetah", SHARED / "half_cheetah/paper_scene.xml"),
    Robot("paper/humanoid", SHARED / "humanoid/humanoid.xml"),
    Robot("paper/ur5", SHARED / "ur5/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"),
    Robot("paper/go1", SHARED / "go1/example-robot-data/robots/go1_description/urdf/go1.urdf", free_root=True),
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

ROBOTS = BUILTIN_ROBOTS + OWN_ROBOTS + GYMNASIUM_ROBOTS + PAPER_ROBOTS + SHARED_ROBOTS
MJCF_ROBOTS = [robot for robot in ROBOTS if robot.is_mjcf]
URDF_ROBOTS = [robot for robot in ROBOTS if not robot.is_mjcf]


def robot_named(name):
    return next(robot for robot in ROBOTS if robot.name == name)
