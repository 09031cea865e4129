"""The oracles agree with each other: Pinocchio's model, built by `oracles.py`, against MuJoCo itself.

This does not touch slipstick. It shows that a disagreement found elsewhere is not a mistake in building the oracle, and
that the central differences of `finite_differences.py` reach the accuracy that the derivative tests rely on.
"""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from finite_differences import along_q, along_vector
from oracles import PinocchioOracle, load_mujoco, mujoco_mass_matrix
from robots import PAPER_ROBOTS, SHARED, robot_named
from states import SPEED, assert_close, generator, layout_of_mujoco, random_q

SAME = 1e-12  # both compute in double precision from the same numbers; the worst robot shows 1e-14
PRINTED = 2e-6  # paper_scene.xml prints about seven digits of what the URDF says


def states(mj, label, count=3):
    rng = generator(label)
    for _ in range(count):
        q = random_q(layout_of_mujoco(mj), mj.qpos0, rng)
        yield q, rng.uniform(-SPEED, SPEED, mj.nv), rng.uniform(-SPEED, SPEED, mj.nv)


def forward(mj, data, q, v):
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(mj, data)


@pytest.fixture
def pinocchio(mj):
    return PinocchioOracle.from_mujoco(mj)


def test_the_mass_matrix_of_pinocchio_is_mujocos(mjcf_robot, mj, mj_data, pinocchio):
    for q, v, _ in states(mj, mjcf_robot):
        forward(mj, mj_data, q, v)
        M = pin.crba(pinocchio.model, pinocchio.data, pinocchio.q(q), pin.Convention.WORLD)
        assert_close(np.triu(M) + np.triu(M, 1).T, mujoco_mass_matrix(mj, mj_data), SAME)


def test_the_bias_and_acceleration_of_pinocchio_are_mujocos(mjcf_robot, mj, mj_data, pinocchio):
    for q, v, tau in states(mj, mjcf_robot):
        mj_data.qfrc_applied[:] = tau
        forward(mj, mj_data, q, v)
        model, data, q = pinocchio.model, pinocchio.data, pinocchio.q(q)
        assert_close(pin.nonLinearEffects(model, data, q, v), mj_data.qfrc_bias, SAME)
        assert_close(pin.aba(model, data, q, v, tau), mj_data.qacc, 1e-11)


def test_the_placements_of_pinocchio_are_mujocos(mjcf_robot, mj, mj_data, pinocchio):
    for q, v, _ in states(mj, mjcf_robot):
        forward(mj, mj_data, q, v)
        pin.framesForwardKinematics(pinocchio.model, pinocchio.data, pinocchio.q(q))
        for name, frame in pinocchio.frames():
            placement = pinocchio.data.oMf[frame]
            found = mj_data.body(name) if name in pinocchio.bodies else mj_data.site(name)
            assert_close(placement.translation, found.xpos, SAME, name)
            assert_close(placement.rotation, found.xmat.reshape(3, 3), SAME, name)


def test_integration_on_the_manifold_is_the_same_in_both(mjcf_robot, mj, pinocchio):
    for q, v, _ in states(mj, mjcf_robot):
        moved = q.copy()
        mujoco.mj_integratePos(mj, moved, v, 1.0)
        ours = pin.integrate(pinocchio.model, pinocchio.q(q), v)
        back = pin.difference(pinocchio.model, ours, pinocchio.q(moved))
        assert_close(back, np.zeros(mj.nv), 1e-12)


@pytest.mark.parametrize("name", ["builtin/humanoid", "builtin/ant", "tests/all_joints", "builtin/atlas"])
def test_differences_on_the_manifold_reach_the_analytic_derivatives_of_pinocchio(name):
    oracle = PinocchioOracle.from_mujoco(load_mujoco(robot_named(name).path))
    model, data = oracle.model, oracle.data
    rng = generator(name)
    q, v, tau = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)), *rng.uniform(-2, 2, (2, model.nv))
    pin.computeABADerivatives(model, data, q, v, tau)
    exact = data.ddq_dq.copy(), data.ddq_dv.copy(), data.Minv.copy()
    integrate = lambda q, e: pin.integrate(model, q, e)
    by_q = along_q(lambda q: pin.aba(model, data, q, v, tau), q, model.nv, integrate)
    by_v = along_vector(lambda v: pin.aba(model, data, q, v, tau), v)
    assert_close(by_q, exact[0], 1e-8)
    assert_close(by_v, exact[1], 1e-8)
    assert_close(np.triu(exact[2]) + np.triu(exact[2], 1).T, np.linalg.inv(oracle_mass(oracle, q)), 1e-9)


def oracle_mass(oracle, q):
    M = pin.crba(oracle.model, oracle.data, q, pin.Convention.WORLD)
    return np.triu(M) + np.triu(M, 1).T


@pytest.mark.parametrize("urdf", [robot for robot in PAPER_ROBOTS if not robot.is_mjcf], ids=str)
def test_a_urdf_read_by_pinocchio_has_the_dynamics_of_its_mujoco_import(urdf):
    scene = SHARED / urdf.name.removeprefix("paper/") / "paper_scene.xml"
    if not (urdf.is_present and scene.is_file()):
        pytest.skip(f"robots folder {SHARED} not found (set SLIPSTICK_MODELS)")
    mj = load_mujoco(scene)
    data = mujoco.MjData(mj)
    joints = [mj.joint(j).name for j in range(mj.njnt) if mj.jnt_type[j] != mujoco.mjtJoint.mjJNT_FREE]
    oracle = PinocchioOracle.from_urdf(urdf.path, urdf.free_root, joints)
    for q, v, _ in states(mj, urdf):
        forward(mj, data, q, v)
        assert_close(oracle.matrix(oracle_mass(oracle, oracle.q(q))), mujoco_mass_matrix(mj, data), PRINTED)
        bias = pin.nonLinearEffects(oracle.model, oracle.data, oracle.q(q), oracle.v(v))
        assert_close(oracle.vector(bias), data.qfrc_bias, PRINTED)
