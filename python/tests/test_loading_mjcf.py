"""Every MJCF file of the robots folder, gymnasium and dm_control: what is in the model, against MuJoCo's compiler.

Bodies, frames and geoms are matched by their place in the file, so that those without a name are compared as well.
"""

import mujoco
import numpy as np
import pytest
import slipstick

from catalog import ALL_MJCF, compiled, loaded, parameters, rigid_mujoco_of
from oracles import enable, mujoco_mass_matrix, rotation
from states import assert_close, random_states

TOLERANCE = 1e-8  # of the largest number compared


@pytest.fixture(params=parameters(ALL_MJCF))
def robot(request):
    return request.param


@pytest.fixture
def model(robot):
    return loaded(robot)


@pytest.fixture
def mj(robot):
    return compiled(robot)


def moving(mj):
    """Bodies of MuJoCo with joints of their own and mocap bodies, after the world: ours, in the same order."""
    return [0] + [b for b in range(1, mj.nbody) if mj.body_jntnum[b] or mj.body_mocapid[b] >= 0]


def pose_in(mj, body, ancestor):
    """Rotation and position of a body in one that it is welded to."""
    R, p = np.eye(3), np.zeros(3)
    while body != ancestor:
        turn = rotation(mj.body_quat[body])
        R, p = turn @ R, mj.body_pos[body] + turn @ p
        body = mj.body_parentid[body]
    return R, p


def inertial_parameters(mj, body):
    """The ten numbers of `body_inertia`, summed over the links that are welded to a body."""
    total = np.zeros(10)
    for link in np.flatnonzero(mj.body_weldid == body):
        R, p = pose_in(mj, link, body)
        mass, center = mj.body_mass[link], p + R @ mj.body_ipos[link]
        axes = R @ rotation(mj.body_iquat[link])
        inertia = axes @ np.diag(mj.body_inertia[link]) @ axes.T
        inertia += mass * (center @ center * np.eye(3) - np.outer(center, center))
        total += [mass, *(mass * center), *(inertia[i, k] for i, k in [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)])]
    return total


# ---------------------------------------------------------------------- counts, names, masses


def test_counts_are_mujocos(robot, model, mj):
    assert (model.nq, model.nv, model.n_joints) == (mj.nq, mj.nv, mj.njnt)
    assert model.n_bodies == len(moving(mj))
    # MuJoCo fills up to `nkey` with nameless keys in the neutral pose
    keys = [k for k in range(mj.nkey) if mj.key(k).name or not np.array_equal(mj.key_qpos[k], mj.qpos0)]
    assert len(model.keyframe_names) == len(keys)
    named_sites = sum(bool(mj.site(s).name) for s in range(mj.nsite))
    assert model.n_frames >= mj.nbody + named_sites


def test_every_name_of_the_file_is_there(robot, model, mj):
    """In the order of the file; links without a joint are frames, whatever they are merged into."""
    for b in range(1, mj.nbody):
        if mj.body(b).name:
            assert model.frame_names[b] == mj.body(b).name
    for ours, b in zip(model.body_names[1:], moving(mj)[1:]):
        assert ours == mj.body(b).name or not mj.body(b).name
    for j, name in enumerate(model.joint_names):
        assert name == mj.joint(j).name or not mj.joint(j).name
    sites = [mj.site(s).name for s in range(mj.nsite) if mj.site(s).name]
    assert [name for name in model.frame_names[mj.nbody :] if name in sites] == sites


def test_every_link_keeps_its_own_mass(robot, model, mj):
    assert_close(model.frame_masses[: mj.nbody], mj.body_mass, TOLERANCE)


def test_inertias_of_bodies_hold_those_of_the_links_welded_to_them(robot, model, mj):
    for name, body in zip(model.body_names[1:], moving(mj)[1:]):
        expected = inertial_parameters(mj, body)
        scale = max(1e-3, np.abs(expected).max())  # small parts are judged on their own scale
        assert_close(model.body(name).inertial / scale, expected / scale, TOLERANCE, name)


def test_joints_are_mujocos(robot, model, mj):
    for ours, theirs in [
        (model.armature, mj.dof_armature),
        (model.damping, mj.dof_damping),
        (model.dry_friction, mj.dof_frictionloss),
        (model.stiffness, mj.jnt_stiffness[mj.dof_jntid]),
        (model.spring_reference, mj.qpos_spring),
        (model.neutral(), mj.qpos0),
    ]:
        assert_close(ours, theirs, 1e-12)
    scalar = np.isin(mj.jnt_type, [mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE])
    limited = scalar & (mj.jnt_limited == 1)
    assert_close(model.lower[mj.jnt_dofadr[limited]], mj.jnt_range[limited, 0], 1e-12)
    assert_close(model.upper[mj.jnt_dofadr[limited]], mj.jnt_range[limited, 1], 1e-12)
    assert np.all(np.isinf(model.lower[mj.jnt_dofadr[scalar & ~limited]]))


def test_options_and_keyframes_are_the_files(robot, model, mj):
    assert model.dt == mj.opt.timestep
    weightless = bool(mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    assert_close(model.gravity, np.zeros(3) if weightless else mj.opt.gravity, 1e-15)
    for k in range(mj.nkey):
        if mj.key(k).name:
            key = model.keyframe(mj.key(k).name)
            assert_close(key.q, mj.key_qpos[k], 1e-12)
            assert_close(key.v, mj.key_qvel[k], 1e-12)
            if model.nu == mj.nu:
                assert_close(key.ctrl, mj.key_ctrl[k], 1e-12)


# ---------------------------------------------------------------------- dynamics


def forward(mj, data, q, v):
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(mj, data)


def test_dynamics_are_mujocos(robot, model):
    mj = rigid_mujoco_of(robot)
    data = mujoco.MjData(mj)
    for q, v, tau, _ in random_states(model, robot, count=2):
        data.qfrc_applied[:] = tau
        forward(mj, data, q, v)
        assert_close(slipstick.dynamics.crba(model, q), mujoco_mass_matrix(mj, data), TOLERANCE, "M")
        assert_close(slipstick.dynamics.bias(model, q, v), data.qfrc_bias, TOLERANCE, "bias")
        compensation = data.qfrc_passive  # springs and dampers are off: gravity compensation remains
        assert_close(slipstick.dynamics.aba(model, q, v, tau + compensation), data.qacc, TOLERANCE, "acceleration")
        assert_close(placements(model, q), mujoco_placements(mj, data), TOLERANCE, "placements")


def placements(model, q):
    kinematics = slipstick.dynamics.kinematics(model, q)
    return np.concatenate([kinematics.position, kinematics.rotation.reshape(-1, 9)], axis=1)


def mujoco_placements(mj, data):
    bodies = moving(mj)
    return np.concatenate([data.xpos[bodies], data.xmat[bodies]], axis=1)


def test_passive_forces_are_mujocos(robot, model):
    """Springs and dampers of joints and of fixed tendons, and gravity compensation."""
    bit = mujoco.mjtDisableBit
    mj = enable(rigid_mujoco_of(robot), bit.mjDSBL_SPRING, bit.mjDSBL_DAMPER)
    if any(mj.wrap_type[mj.tendon_adr[t]] != mujoco.mjtWrap.mjWRAP_JOINT for t in pulling_tendons(mj)):
        assert any("spatial" in str(warning) for warning in model.warnings)
        pytest.skip("a spatial tendon pulls: warned of")
    data = mujoco.MjData(mj)
    for q, v, _, _ in random_states(model, robot, count=2):
        forward(mj, data, q, v)
        assert_close(slipstick.dynamics.passive(model, q, v), data.qfrc_passive, TOLERANCE)


def pulling_tendons(mj):
    return np.flatnonzero((mj.tendon_stiffness != 0) | (mj.tendon_damping != 0))
