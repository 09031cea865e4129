"""Random states, placements by name, and the one way in which the tests compare numbers."""

import os
import zlib

import mujoco
import numpy as np

ANGLE = 1.5  # joint positions within ±1.5 rad (or m) of the neutral one
FULL = "SLIPSTICK_FULL" in os.environ  # set by `cargo xtask test --full`: all states instead of the first
SPEED = 2.0  # velocities within ±2 rad/s (or m/s)


def generator(label):
    """A seeded generator per label (robot and test), so that a new test leaves the states of the others alone."""
    return np.random.default_rng(zlib.crc32(str(label).encode()))


def layout_of_model(model):
    """(kind, first index in q) of every joint of a slipstick model."""
    return [(kind, model.joint(name).q.start) for name, kind in zip(model.joint_names, model.joint_types)]


def layout_of_mujoco(mj):
    """The same for a MuJoCo model, whose qpos is laid out like q."""
    kinds = {
        mujoco.mjtJoint.mjJNT_FREE: "free",
        mujoco.mjtJoint.mjJNT_BALL: "spherical",
        mujoco.mjtJoint.mjJNT_SLIDE: "prismatic",
        mujoco.mjtJoint.mjJNT_HINGE: "revolute",
    }
    return [(kinds[mujoco.mjtJoint(kind)], int(start)) for kind, start in zip(mj.jnt_type, mj.jnt_qposadr)]


def random_quaternion(rng):
    """Uniform over all rotations, (w, x, y, z)."""
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def random_q(layout, neutral, rng):
    """A configuration around the neutral one, with every rotation of a quaternion joint equally likely."""
    q = np.array(neutral, dtype=float)
    for kind, start in layout:
        if kind == "free":
            q[start : start + 3] += rng.uniform(-1.0, 1.0, 3)
            q[start + 3 : start + 7] = random_quaternion(rng)
        elif kind == "spherical":
            q[start : start + 4] = random_quaternion(rng)
        else:
            width = 3 if kind == "planar" else 1
            q[start : start + width] += rng.uniform(-ANGLE, ANGLE, width)
    return q


def random_states(model, label, count=3):
    """(q, v, a, rng) for `count` random states of a slipstick model in a full run, else for the first of them."""
    rng = generator(label)
    layout, neutral = layout_of_model(model), model.neutral()
    for _ in range(count if FULL else 1):
        q = random_q(layout, neutral, rng)
        v = rng.uniform(-SPEED, SPEED, model.nv)
        a = rng.uniform(-SPEED, SPEED, model.nv)
        yield q, v, a, rng


def placement_of(model, kinematics, name):
    """Rotation and position of a body, or of a link or site that is a frame of one."""
    if name in model.body_names:
        body = model.body_names.index(name)
        return kinematics.rotation[body], kinematics.position[body]
    frame = model.frame_names.index(name)
    return kinematics.frame_rotation[frame], kinematics.frame_position[frame]


def relative_error(actual, expected):
    """Largest difference over max(1, largest entry expected): small entries are judged on the scale of the whole."""
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"
    if expected.size == 0:
        return 0.0
    difference = np.max(np.abs(actual - expected))
    return np.inf if np.isnan(difference) else difference / max(1.0, np.max(np.abs(expected)))


def assert_close(actual, expected, tolerance, what=""):
    """Fails with the error, the worst entry and both its values."""
    error = relative_error(actual, expected)
    if error <= tolerance:
        return
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    worst = np.unravel_index(np.nanargmax(np.abs(actual - expected)), expected.shape) if np.isfinite(error) else ()
    at = f", worst at {tuple(int(i) for i in worst)}: {actual[worst]!r}, expected {expected[worst]!r}" if worst else ""
    raise AssertionError(f"{what} relative error {error:.2e} > {tolerance:.0e}{at}")
