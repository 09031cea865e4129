"""Model and dynamics against MuJoCo 4.0, for every MJCF robot: q and v are qpos and qvel, number by number."""

import mujoco
import numpy as np
import slipstick

from oracles import enable, load_mujoco, mujoco_mass_matrix
from states import assert_close, placement_of, random_states

# Masses and inertias come from our own reader here and from MuJoCo's compiler there: a formula evaluated in another
# order costs some digits, hence not tighter.
TOLERANCE = 1e-8


def forward(mj, data, q, v):
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(mj, data)


def dofs_of_joints(mj, values):
    """One value per joint → one value per dof."""
    return np.asarray(values)[mj.dof_jntid]


def named(names):
    return [name for name in names if name]


# ---------------------------------------------------------------------- the model


def test_coordinates_are_mujocos(mjcf_robot, model, mj):
    assert (model.nq, model.nv, model.nu) == (mj.nq, mj.nv, mj.nu)
    assert_close(model.neutral(), mj.qpos0, 1e-15)
    joints = [mj.joint(j) for j in range(mj.njnt) if mj.joint(j).name]
    assert [name for name in model.joint_names if name in {joint.name for joint in joints}] == [j.name for j in joints]
    for joint in joints:
        assert model.joint(joint.name).q.start == joint.qposadr[0]
        assert model.joint(joint.name).v.start == joint.dofadr[0]


def test_names_and_order_of_bodies_and_actuators_are_the_files(mjcf_robot, model, mj):
    bodies = named(mj.body(b).name for b in range(1, mj.nbody) if mj.body_jntnum[b])
    assert model.body_names[0] == "world"
    assert [name for name in model.body_names if name in bodies] == bodies
    for name in named(mj.body(b).name for b in range(1, mj.nbody) if not mj.body_jntnum[b]):
        assert name in model.frame_names, f"{name} has no joint: it stays as a frame"
    for name in named(mj.site(s).name for s in range(mj.nsite)):
        assert name in model.frame_names
    actuators = named(mj.actuator(a).name for a in range(mj.nu))
    assert [name for name in model.actuator_names if name in actuators] == actuators


def test_masses_are_mujocos(mjcf_robot, model, mj):
    """Links without a joint count in the body they are welded to, and keep their own mass as a frame."""
    for b in range(1, mj.nbody):
        name = mj.body(b).name
        if name and mj.body_jntnum[b]:
            mass = mj.body_mass[mj.body_weldid == b].sum()
            assert_close(model.body_masses[model.body_names.index(name)], mass, TOLERANCE, name)
        elif name:
            assert_close(model.frame_masses[model.frame_names.index(name)], mj.body_mass[b], TOLERANCE, name)
    if not mj.body_mass[mj.body_weldid == 0].any():
        assert_close(model.total_mass, mj.body_mass.sum(), TOLERANCE)


def test_joint_properties_are_mujocos(mjcf_robot, model, mj):
    assert_close(model.armature, mj.dof_armature, 1e-14)
    assert_close(model.damping, mj.dof_damping, 1e-14)
    assert_close(model.dry_friction, mj.dof_frictionloss, 1e-14)
    assert_close(model.stiffness, dofs_of_joints(mj, mj.jnt_stiffness), 1e-14)
    assert_close(model.spring_reference, mj.qpos_spring, 1e-14)
    scalar = np.isin(mj.jnt_type, [mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE])
    limited, unlimited = scalar & (mj.jnt_limited == 1), scalar & (mj.jnt_limited == 0)
    assert_close(model.lower[mj.jnt_dofadr[limited]], mj.jnt_range[limited, 0], 1e-12)
    assert_close(model.upper[mj.jnt_dofadr[limited]], mj.jnt_range[limited, 1], 1e-12)
    assert np.all(model.lower[mj.jnt_dofadr[unlimited]] == -np.inf)
    assert np.all(model.upper[mj.jnt_dofadr[unlimited]] == np.inf)
    forced = scalar & (mj.jnt_actfrclimited == 1)
    assert_close(model.effort_limit[mj.jnt_dofadr[forced]], mj.jnt_actfrcrange[forced, 1], 1e-14)


def test_options_and_keyframes_are_the_files(mjcf_robot, model, mj):
    assert model.dt == mj.opt.timestep
    assert_close(model.gravity, mj.opt.gravity, 1e-15)
    for k in range(mj.nkey):
        if mj.key(k).name:
            key = model.keyframe(mj.key(k).name)
            assert_close(key.q, mj.key_qpos[k], 1e-14)
            assert_close(key.v, mj.key_qvel[k], 1e-14)
            assert_close(key.ctrl, mj.key_ctrl[k], 1e-14)


# ---------------------------------------------------------------------- the dynamics


def test_mass_matrix_and_bias_are_mujocos(mjcf_robot, model, mj, mj_data):
    for q, v, _, _ in random_states(model, mjcf_robot):
        forward(mj, mj_data, q, v)
        assert_close(slipstick.dynamics.crba(model, q), mujoco_mass_matrix(mj, mj_data), TOLERANCE, "M")
        assert_close(slipstick.dynamics.bias(model, q, v), mj_data.qfrc_bias, TOLERANCE, "bias")


def test_accelerations_are_mujocos(mjcf_robot, model, mj, mj_data):
    for q, v, a, rng in random_states(model, mjcf_robot):
        tau = slipstick.dynamics.rnea(model, q, v, a) + rng.uniform(-1, 1, model.nv)
        mj_data.qfrc_applied[:] = tau
        forward(mj, mj_data, q, v)
        assert_close(slipstick.dynamics.aba(model, q, v, tau), mj_data.qacc, TOLERANCE)


def test_wrenches_act_like_xfrc_applied(mjcf_robot, model, mj):
    """Force and torque in world axes at the center of mass. Only for bodies to which no other link is welded."""
    data, alone = mujoco.MjData(mj), np.bincount(mj.body_weldid, minlength=mj.nbody) == 1
    for q, v, _, rng in random_states(model, mjcf_robot):
        wrenches = np.zeros((model.n_bodies, 6))
        for b in range(1, mj.nbody):
            if mj.body_jntnum[b] and alone[b] and mj.body(b).name:
                data.xfrc_applied[b] = rng.uniform(-5, 5, 6)
                wrenches[model.body_names.index(mj.body(b).name)] = data.xfrc_applied[b]
        forward(mj, data, q, v)
        acceleration = slipstick.dynamics.aba(model, q, v, np.zeros(model.nv), wrenches=wrenches)
        assert_close(acceleration, data.qacc, TOLERANCE)


def test_placements_are_mujocos(mjcf_robot, model, mj, mj_data):
    bodies = named(mj.body(b).name for b in range(1, mj.nbody))
    sites = [name for name in named(mj.site(s).name for s in range(mj.nsite)) if name not in bodies]
    for q, v, _, _ in random_states(model, mjcf_robot):
        forward(mj, mj_data, q, v)
        kinematics = slipstick.dynamics.kinematics(model, q)
        for found in [mj_data.body(name) for name in bodies] + [mj_data.site(name) for name in sites]:
            rotation, position = placement_of(model, kinematics, found.name)
            assert_close(position, found.xpos, TOLERANCE, found.name)
            assert_close(rotation, found.xmat.reshape(3, 3), TOLERANCE, found.name)


def test_springs_and_dampers_are_mujocos(mjcf_robot, model):
    bit = mujoco.mjtDisableBit
    mj = enable(load_mujoco(mjcf_robot.path), bit.mjDSBL_SPRING, bit.mjDSBL_DAMPER)
    data = mujoco.MjData(mj)
    for q, v, _, _ in random_states(model, mjcf_robot):
        forward(mj, data, q, v)
        assert_close(slipstick.dynamics.passive(model, q, v), data.qfrc_passive, TOLERANCE)


def test_actuators_are_mujocos(mjcf_robot, model):
    """Controls half as wide again as their range, so that some of them are clamped, and forces with them."""
    mj = enable(load_mujoco(mjcf_robot.path), mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    data = mujoco.MjData(mj)
    span = np.where(mj.actuator_ctrllimited == 1, np.abs(mj.actuator_ctrlrange).max(axis=1, initial=0.0), 2.0)
    for q, v, _, rng in random_states(model, mjcf_robot, count=5):
        data.ctrl[:] = rng.uniform(-1.5, 1.5, mj.nu) * span
        forward(mj, data, q, v)
        assert_close(slipstick.dynamics.actuate(model, q, v, data.ctrl.copy()), data.qfrc_actuator, TOLERANCE)


def test_integration_is_mujocos(mjcf_robot, model, mj):
    for q, v, _, _ in random_states(model, mjcf_robot):
        for length in [1e-9, 1e-3, 0.3]:
            moved = q.copy()
            mujoco.mj_integratePos(mj, moved, v, length)
            assert_close(slipstick.dynamics.integrate(model, q, length * v), moved, 1e-12)
            velocity = np.zeros(mj.nv)
            mujoco.mj_differentiatePos(mj, velocity, length, q, moved)
            assert_close(slipstick.dynamics.difference(model, q, moved), length * velocity, 1e-12)


def test_energies_change_as_mujocos_do(mjcf_robot, model):
    """Joint springs count; potential energy up to a constant: links fixed to the world may or may not count."""
    mj = enable(load_mujoco(mjcf_robot.path), mujoco.mjtDisableBit.mjDSBL_SPRING)
    mj_data = mujoco.MjData(mj)
    potentials = []
    for q, v, _, _ in random_states(model, mjcf_robot):
        forward(mj, mj_data, q, v)
        mujoco.mj_energyPos(mj, mj_data)
        mujoco.mj_energyVel(mj, mj_data)
        kinetic, potential = slipstick.dynamics.energy(model, q, v)
        assert_close(kinetic, mj_data.energy[1], TOLERANCE, "kinetic")
        potentials.append((potential, mj_data.energy[0]))
    ours, theirs = np.diff(np.array(potentials), axis=0).T
    assert_close(ours, theirs, TOLERANCE, "potential")
