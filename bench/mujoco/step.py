"""Prepares a robot for timings of whole steps: `step.py NAME FILE OUT [PAIRS.json]`.

Writes OUT/NAME.xml: the file's robot and floor with exactly the pairs of PAIRS.json, if given, and with what every engine
models alike. Friction 0.8, steps of 1 ms, no joint limits, dry friction, motors, springs of tendons or equalities; armature and
damping of the file, but at least so much that explicit gains are stable. OUT/NAME.motors.xml is the same with a motor on every
joint. Prints as JSON the start of a fall and of standing, the gains that hold the pose and the number of pairs. All engines start
from this file, so that they get the same work.
"""

import json
import pathlib
import sys

import mujoco
import numpy as np

from scene import DT, FALL, PRESS, ROBOTS, home, listed_pairs, restrict, tested_pairs

FRICTION = 0.8
DROPPED = ("actuators", "sensors", "keys", "tendons", "equalities", "pairs")
SINGLE = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
SOFTNESS = dict(solref=[0.02, 1], solimp=[0.9, 0.95, 0.001, 0.5, 2])  # MuJoCo's defaults, whatever the file says


def normalize_geom(geom):
    geom.condim, geom.priority = 3, 0
    geom.friction = [FRICTION, 0.005, 0.0001]
    geom.margin = geom.gap = 0
    geom.solref, geom.solimp = SOFTNESS["solref"], SOFTNESS["solimp"]


def normalize_joint(joint, robot):
    joint.limited = joint.actfrclimited = 0
    joint.frictionloss = 0
    if joint.type in SINGLE:
        damping = np.atleast_1d(np.array(joint.damping, dtype=float))  # linear, and terms of higher order if there are any
        damping[0] = max(damping[0], robot.get("damping", 0.0))
        joint.damping = damping if np.ndim(joint.damping) else damping[0]
        joint.armature = max(joint.armature, robot.get("armature", 0.0))


def normalize_options(option):
    option.timestep = DT
    option.gravity = [0, 0, -9.81]
    option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    option.iterations, option.tolerance = 100, 1e-8


def add_motors(spec):
    for number, joint in enumerate(spec.joints):
        if joint.type in SINGLE:
            joint.name = joint.name or f"joint {number}"
            motor = spec.add_actuator(target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            motor.gear[0] = 1
            motor.ctrllimited = motor.forcelimited = 0


def write_scene(file, out, robot, pairs_file):
    """Returns the pairs that are wanted, `None` for all that MuJoCo's filters leave."""
    spec = mujoco.MjSpec.from_file(str(file))
    for geom in spec.geoms:
        normalize_geom(geom)
    for kind in DROPPED:
        for element in list(getattr(spec, kind)):
            spec.delete(element)
    for joint in spec.joints:
        normalize_joint(joint, robot)
    normalize_options(spec.option)
    wanted = None
    if pairs_file:
        wanted = listed_pairs(spec.compile(), json.loads(pairs_file.read_text()))
        restrict(spec, wanted)
    spec.meshdir = str((file.parent / spec.meshdir).resolve())
    spec.compile()
    out.write_text(spec.to_xml())
    add_motors(spec)
    spec.compile()
    out.with_suffix(".motors.xml").write_text(spec.to_xml())
    return wanted


def main():
    name, file, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    pairs_file = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    out.mkdir(parents=True, exist_ok=True)
    scene, robot = out / f"{name}.xml", ROBOTS[name]
    # the pose of a stand-in is a keyframe, which the scene no longer has
    original = mujoco.MjModel.from_xml_path(str(file))
    starts = {kind: list(home(original, robot, clearance)) for kind, clearance in (("drop", FALL), ("hold", -PRESS))}
    wanted = write_scene(file, scene, robot, pairs_file)
    model = mujoco.MjModel.from_xml_path(str(scene))
    pairs = tested_pairs(model)
    if wanted is not None and pairs != wanted:
        sys.exit(f"{file}: MuJoCo tests {len(pairs)} pairs, {len(wanted)} are listed")
    print(json.dumps({"pairs": len(pairs), "kp": robot["kp"], "kd": robot["kd"], **starts}))


if __name__ == "__main__":
    main()
