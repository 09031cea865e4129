"""Dynamics against Pinocchio 4.1, for every robot.

The bound is 1e-9 of the largest entry. Both sides compute in double precision; what separates them is the order of the
sums, and for accelerations the condition of the mass matrix (up to about 1e6 for the robots here).
"""

import numpy as np
import pinocchio as pin
import slipstick

from states import assert_close, placement_of, random_states
from wrenches import external_forces, random_wrenches

TOLERANCE = 1e-9
WORLD_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def symmetric(upper):
    """Pinocchio fills the upper triangle only."""
    return np.triu(upper) + np.triu(upper, 1).T


def test_inverse_dynamics(robot, model, oracle):
    for q, v, a, _ in random_states(model, robot):
        expected = pin.rnea(oracle.model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(a))
        assert_close(slipstick.dynamics.rnea(model, q, v, a), oracle.vector(expected), TOLERANCE)


def test_inverse_dynamics_with_wrenches(robot, model, oracle):
    for q, v, a, rng in random_states(model, robot):
        wrenches = random_wrenches(oracle, model, rng)
        forces = external_forces(oracle, model, q, wrenches)
        expected = pin.rnea(oracle.model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(a), forces)
        assert_close(slipstick.dynamics.rnea(model, q, v, a, wrenches=wrenches), oracle.vector(expected), TOLERANCE)


def test_forward_dynamics(robot, model, oracle):
    for q, v, tau, _ in random_states(model, robot):
        expected = pin.aba(oracle.model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(tau))
        assert_close(slipstick.dynamics.aba(model, q, v, tau), oracle.vector(expected), TOLERANCE)


def test_forward_dynamics_with_wrenches(robot, model, oracle):
    for q, v, tau, rng in random_states(model, robot):
        wrenches = random_wrenches(oracle, model, rng)
        forces = external_forces(oracle, model, q, wrenches)
        expected = pin.aba(oracle.model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(tau), forces)
        assert_close(slipstick.dynamics.aba(model, q, v, tau, wrenches=wrenches), oracle.vector(expected), TOLERANCE)


def test_mass_matrix_and_its_inverse(robot, model, oracle):
    for q, _, _, rng in random_states(model, robot):
        M = oracle.matrix(symmetric(pin.crba(oracle.model, oracle.data, oracle.q(q), pin.Convention.WORLD)))
        M_inverse = oracle.matrix(symmetric(pin.computeMinverse(oracle.model, oracle.data, oracle.q(q))))
        B = rng.normal(size=(model.nv, 3))
        assert_close(slipstick.dynamics.crba(model, q), M, TOLERANCE, "M")
        assert_close(slipstick.dynamics.mass_inverse(model, q), M_inverse, TOLERANCE, "inverse of M")
        assert_close(slipstick.dynamics.solve(model, q, B), M_inverse @ B, TOLERANCE, "solve")


def test_bias(robot, model, oracle):
    for q, v, _, _ in random_states(model, robot):
        expected = pin.nonLinearEffects(oracle.model, oracle.data, oracle.q(q), oracle.v(v))
        assert_close(slipstick.dynamics.bias(model, q, v), oracle.vector(expected), TOLERANCE)


def test_placements(robot, model, oracle):
    for q, _, _, _ in random_states(model, robot):
        pin.framesForwardKinematics(oracle.model, oracle.data, oracle.q(q))
        kinematics = slipstick.dynamics.kinematics(model, q)
        for name, frame in oracle.frames():
            rotation, position = placement_of(model, kinematics, name)
            assert_close(position, oracle.data.oMf[frame].translation, TOLERANCE, name)
            assert_close(rotation, oracle.data.oMf[frame].rotation, TOLERANCE, name)


def test_jacobians_and_velocities_of_bodies_links_and_sites(robot, model, oracle):
    for q, v, _, _ in random_states(model, robot, count=2):
        for name, frame in oracle.frames():
            J = pin.computeFrameJacobian(oracle.model, oracle.data, oracle.q(q), frame, WORLD_AXES)
            expected = oracle.columns(J)
            assert_close(slipstick.dynamics.jacobian(model, q, name), expected, TOLERANCE, name)
            assert_close(slipstick.dynamics.velocity(model, q, v, name), expected @ v, TOLERANCE, name)


def test_center_of_mass_and_momentum(robot, model, oracle):
    for q, v, _, _ in random_states(model, robot):
        center = pin.centerOfMass(oracle.model, oracle.data, oracle.q(q))
        assert_close(slipstick.dynamics.center_of_mass(model, q), center, TOLERANCE, "center of mass")
        momentum = pin.computeCentroidalMomentum(oracle.model, oracle.data, oracle.q(q), oracle.v(v))
        assert_close(slipstick.dynamics.momentum(model, q, v), momentum.vector, TOLERANCE, "momentum")


def spring_energy(model, q):
    """½ Σ k x², x the displacement of every dof from where its spring rests."""
    x = slipstick.dynamics.difference(model, model.spring_reference, q)
    return 0.5 * np.sum(model.stiffness * x**2)


def test_energies(robot, model, oracle):
    """Kinetic energy ½ vᵀMv; potential energy of gravity (up to a constant) and of joint springs.

    Not Pinocchio's computeKineticEnergy, which counts armature for joints about x, y, z but not about other axes."""
    potentials = []
    for q, v, _, _ in random_states(model, robot):
        kinetic, potential = slipstick.dynamics.energy(model, q, v)
        M = oracle.matrix(symmetric(pin.crba(oracle.model, oracle.data, oracle.q(q), pin.Convention.WORLD)))
        assert_close(kinetic, 0.5 * v @ M @ v, TOLERANCE, "kinetic")
        gravity = pin.computePotentialEnergy(oracle.model, oracle.data, oracle.q(q))
        potentials.append((potential, gravity + spring_energy(model, q)))
    ours, theirs = np.diff(np.array(potentials), axis=0).T
    assert_close(ours, theirs, TOLERANCE, "potential")


def test_integration_and_difference(robot, model, oracle):
    for q, v, _, _ in random_states(model, robot):
        moved = slipstick.dynamics.integrate(model, q, v)
        expected = pin.integrate(oracle.model, oracle.q(q), oracle.v(v))
        assert_close(pin.difference(oracle.model, expected, oracle.q(moved)), np.zeros(model.nv), 1e-12, "integrate")
        back = pin.difference(oracle.model, oracle.q(q), oracle.q(moved))
        assert_close(slipstick.dynamics.difference(model, q, moved), oracle.vector(back), TOLERANCE, "difference")


def test_urdf_masses_are_pinocchios(urdf_robot, model):
    root = [pin.JointModelFreeFlyer()] if urdf_robot.free_root else []
    expected = pin.buildModelFromUrdf(str(urdf_robot.path), *root)
    moving = sum(expected.inertias[j].mass for j in range(1, expected.njoints))
    assert_close(np.sum(model.body_masses[1:]), moving, 1e-12)
    for name in model.joint_names:
        joint = expected.joints[expected.getJointId(name)] if expected.existJointName(name) else None
        if joint is not None and joint.nv == 1:
            dof = model.joint(name).v.start
            assert_close(model.lower[dof], expected.lowerPositionLimit[joint.idx_q], 1e-12, name)
            assert_close(model.upper[dof], expected.upperPositionLimit[joint.idx_q], 1e-12, name)
            assert_close(model.effort_limit[dof], expected.upperEffortLimit[joint.idx_v], 1e-12, name)
            assert_close(model.velocity_limit[dof], expected.upperVelocityLimit[joint.idx_v], 1e-12, name)
