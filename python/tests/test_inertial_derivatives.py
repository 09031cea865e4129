"""Dependence on the ten inertial parameters of each body: [m, m·c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz], about the body's
origin in body axes (Pinocchio's order). Torques are linear in them, tau = Y·pi + armature·a."""

import numpy as np
import pinocchio as pin
import slipstick

from finite_differences import differentiate
from states import assert_close, random_states


def stacked_parameters(model):
    return np.concatenate([model.body(name).inertial for name in model.body_names[1:]])


def columns_of(body):
    """Columns of the regressor that belong to body number `body` (the world has none)."""
    return slice(10 * (body - 1), 10 * body)


def pseudo_inertia(parameters):
    """4 × 4 matrix [[Σ, h], [hᵀ, m]], Σ = ½ tr(I)·1 − I: under a change of frame X it becomes X P Xᵀ."""
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = parameters
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    P = np.empty((4, 4))
    P[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    P[:3, 3] = P[3, :3] = hx, hy, hz
    P[3, 3] = m
    return P


def parameters_of(P):
    inertia = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    pairs = [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]
    return np.array([P[3, 3], *P[:3, 3], *[inertia[pair] for pair in pairs]])


def change_of_frame(X):
    """10 × 10: inertial parameters in frame b → in frame a, for a placement X of b in a."""
    return np.stack([parameters_of(X.homogeneous @ pseudo_inertia(e) @ X.homogeneous.T) for e in np.eye(10)], axis=1)


def bodies_in_oracle(model, oracle, q):
    """(number, joint of the oracle, placement of the body in that joint) of every body the oracle knows by name.

    The placement is the same in every configuration: Pinocchio's joint frame sits at the anchor, ours at the origin."""
    pin.forwardKinematics(oracle.model, oracle.data, oracle.q(q))
    kinematics = slipstick.dynamics.kinematics(model, q)
    for i, name in enumerate(model.body_names):
        joint = oracle.joint_of(name)
        if i > 0 and joint:
            body = pin.SE3(kinematics.rotation[i], kinematics.position[i])
            yield i, joint, oracle.data.oMi[joint].inverse() * body


def test_body_inertias_are_pinocchios(robot, model, oracle):
    q = model.neutral()
    bodies = list(bodies_in_oracle(model, oracle, q))
    assert bodies
    for i, joint, X in bodies:
        expected = change_of_frame(X.inverse()) @ oracle.model.inertias[joint].toDynamicParameters()
        assert_close(model.body(model.body_names[i]).inertial, expected, 1e-9, model.body_names[i])


def test_the_regressor_gives_the_torques(robot, model):
    pi = stacked_parameters(model)
    for q, v, a, _ in random_states(model, robot):
        Y = slipstick.dynamics.regressor(model, q, v, a)
        assert Y.shape == (model.nv, 10 * (model.n_bodies - 1))
        assert_close(Y @ pi + model.armature * a, slipstick.dynamics.rnea(model, q, v, a), 1e-10)


def test_the_regressor_is_pinocchios(robot, model, oracle):
    for q, v, a, _ in random_states(model, robot):
        Y = slipstick.dynamics.regressor(model, q, v, a)
        theirs = pin.computeJointTorqueRegressor(oracle.model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(a))
        theirs = theirs.copy()
        for i, joint, X in bodies_in_oracle(model, oracle, q):
            expected = np.empty((model.nv, 10))
            expected[oracle.dof] = theirs[:, columns_of(joint)] @ change_of_frame(X)
            assert_close(Y[:, columns_of(i)], expected, 1e-9, model.body_names[i])


def test_inertial_derivatives_of_forward_dynamics_follow_from_the_regressor(robot, model):
    """M(pi) a + b(pi) = tau: da/dpi = −M⁻¹ Y(q, v, a)."""
    for q, v, tau, _ in random_states(model, robot):
        a = slipstick.dynamics.aba(model, q, v, tau)
        expected = -slipstick.dynamics.solve(model, q, slipstick.dynamics.regressor(model, q, v, a))
        assert_close(slipstick.dynamics.aba_inertial_derivatives(model, q, v, tau), expected, 1e-9)


def inertial_group(model):
    """Where the bodies' inertial parameters stand in the flat vector; the world's, if it has any, come first."""
    group = model.parameter_groups["inertial"]
    return slice(group.stop - 10 * (model.n_bodies - 1), group.stop)


def parameter_scales(pi):
    """Sizes of the ten parameters of one body: mass m, radius of gyration r; m, m·r (3), m·r² (6)."""
    mass, trace = pi[0], pi[4] + pi[6] + pi[9]
    radius = np.sqrt(trace / (2.0 * mass))
    return mass * np.array([1.0] + 3 * [radius] + 6 * [radius**2])


def test_inertial_derivatives_of_forward_dynamics_match_differences(robot, model):
    """Through `with_parameters`, with steps of 1e-4 of each parameter's size, for bodies that have mass."""
    group = inertial_group(model)
    assert_close(model.parameters[group], stacked_parameters(model), 1e-12, "parameters")
    q, v, tau, _ = next(random_states(model, robot))
    exact = slipstick.dynamics.aba_inertial_derivatives(model, q, v, tau)
    massive = [i for i in range(1, model.n_bodies) if model.body_masses[i] > 1e-3]
    for i in massive:
        scales = parameter_scales(model.body(model.body_names[i]).inertial)

        def acceleration(e):
            parameters = model.parameters.copy()
            parameters[group][columns_of(i)] += scales * e
            return slipstick.dynamics.aba(model.with_parameters(parameters), q, v, tau)

        expected = differentiate(acceleration, 10)
        assert_close(exact[:, columns_of(i)] * scales, expected, 1e-6, model.body_names[i])
