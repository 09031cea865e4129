"""Analytic derivatives against Pinocchio's (composite-free models, see `oracles.py`) and against central differences.

Errors are relative to the largest entry of the matrix: 1e-8 to Pinocchio, 1e-6 to differences, whose own error here is
about 1e-10 (`test_oracle_agreement.py`). Derivatives by q are in the tangent space, d/de f(q ⊕ e). With wrenches only
differences can judge: ours are constant in world axes, Pinocchio's in body axes.
"""

import numpy as np
import pinocchio as pin
import slipstick

from finite_differences import STEP, along_q, along_vector
from states import assert_close, random_states
from wrenches import random_wrenches

ANALYTIC = 1e-8
DIFFERENCES = 1e-6


# Accelerations of light links far from the root (Atlas's hands) are rounded at 1e-12 of the largest one, since all spatial
# vectors of a tree are taken at its root: differences of them need a longer step than those of torques.
OF_ACCELERATIONS = 1e-3


def by_q(model, function, q, step=STEP):
    return along_q(function, q, model.nv, lambda q, e: slipstick.dynamics.integrate(model, q, e), step)


def symmetric(upper):
    return np.triu(upper) + np.triu(upper, 1).T


# ---------------------------------------------------------------------- against Pinocchio


def test_derivatives_of_inverse_dynamics_are_pinocchios(robot, model, oracle):
    for q, v, a, _ in random_states(model, robot):
        dq, dv, M = pin.computeRNEADerivatives(oracle.model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(a))
        dtau_dq, dtau_dv, dtau_da = slipstick.dynamics.rnea_derivatives(model, q, v, a)
        assert_close(dtau_dq, oracle.matrix(dq), ANALYTIC, "dtau_dq")
        assert_close(dtau_dv, oracle.matrix(dv), ANALYTIC, "dtau_dv")
        assert_close(dtau_da, oracle.matrix(symmetric(M)), ANALYTIC, "M")


def test_derivatives_of_forward_dynamics_are_pinocchios(robot, model, oracle):
    for q, v, tau, _ in random_states(model, robot):
        dq, dv, dtau = pin.computeABADerivatives(oracle.model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(tau))
        da_dq, da_dv, da_dtau = slipstick.dynamics.aba_derivatives(model, q, v, tau)
        assert_close(da_dq, oracle.matrix(dq), ANALYTIC, "da_dq")
        assert_close(da_dv, oracle.matrix(dv), ANALYTIC, "da_dv")
        assert_close(da_dtau, oracle.matrix(symmetric(dtau)), ANALYTIC, "da_dtau")


# ---------------------------------------------------------------------- against differences


def test_derivatives_of_inverse_dynamics_match_differences(robot, model):
    for q, v, a, _ in random_states(model, robot, count=2):
        dtau_dq, dtau_dv, dtau_da = slipstick.dynamics.rnea_derivatives(model, q, v, a)
        assert_close(dtau_dq, by_q(model, lambda q: slipstick.dynamics.rnea(model, q, v, a), q), DIFFERENCES, "dtau_dq")
        assert_close(dtau_dv, along_vector(lambda v: slipstick.dynamics.rnea(model, q, v, a), v), DIFFERENCES, "dtau_dv")
        assert_close(dtau_da, along_vector(lambda a: slipstick.dynamics.rnea(model, q, v, a), a), DIFFERENCES, "M")


def test_derivatives_of_forward_dynamics_match_differences(robot, model):
    for q, v, tau, _ in random_states(model, robot, count=2):
        da_dq, da_dv, da_dtau = slipstick.dynamics.aba_derivatives(model, q, v, tau)
        fd_q = by_q(model, lambda q: slipstick.dynamics.aba(model, q, v, tau), q, OF_ACCELERATIONS)
        fd_v = along_vector(lambda v: slipstick.dynamics.aba(model, q, v, tau), v, OF_ACCELERATIONS)
        assert_close(da_dq, fd_q, DIFFERENCES, "da_dq")
        assert_close(da_dv, fd_v, DIFFERENCES, "da_dv")
        # linear in tau: a long step costs nothing and drowns the rounding of light links far from the root
        fd = along_vector(lambda tau: slipstick.dynamics.aba(model, q, v, tau), tau, step=1.0)
        assert_close(da_dtau, fd, DIFFERENCES, "da_dtau")


def test_wrenches_stay_constant_in_world_axes_when_inverse_dynamics_is_differentiated(robot, model, oracle):
    for q, v, a, rng in random_states(model, robot, count=2):
        wrenches = 10.0 * random_wrenches(oracle, model, rng)
        torque = lambda q, v: slipstick.dynamics.rnea(model, q, v, a, wrenches=wrenches)
        dtau_dq, dtau_dv, _ = slipstick.dynamics.rnea_derivatives(model, q, v, a, wrenches=wrenches)
        assert_close(dtau_dq, by_q(model, lambda q: torque(q, v), q), DIFFERENCES, "dtau_dq")
        assert_close(dtau_dv, along_vector(lambda v: torque(q, v), v), DIFFERENCES, "dtau_dv")


def test_wrenches_stay_constant_in_world_axes_when_forward_dynamics_is_differentiated(robot, model, oracle):
    for q, v, tau, rng in random_states(model, robot, count=2):
        wrenches = 10.0 * random_wrenches(oracle, model, rng)
        acceleration = lambda q, v: slipstick.dynamics.aba(model, q, v, tau, wrenches=wrenches)
        da_dq, da_dv, da_dtau = slipstick.dynamics.aba_derivatives(model, q, v, tau, wrenches=wrenches)
        assert_close(da_dq, by_q(model, lambda q: acceleration(q, v), q, OF_ACCELERATIONS), DIFFERENCES, "da_dq")
        assert_close(da_dv, along_vector(lambda v: acceleration(q, v), v), DIFFERENCES, "da_dv")
        assert_close(da_dtau, slipstick.dynamics.mass_inverse(model, q), 1e-9, "da_dtau")


def test_derivatives_of_velocities_match_differences(robot, model, oracle):
    """Every named frame at one state: bodies, links merged into a body or into the world, sites."""
    for q, v, _, _ in random_states(model, robot, count=1):
        for name, _ in oracle.frames():
            dV_dq, dV_dv = slipstick.dynamics.velocity_derivatives(model, q, v, name)
            expected = by_q(model, lambda q: slipstick.dynamics.velocity(model, q, v, name), q)
            assert_close(dV_dq, expected, DIFFERENCES, f"dV_dq of {name}")
            assert_close(dV_dv, slipstick.dynamics.jacobian(model, q, name), 1e-11, f"dV_dv of {name}")


def test_jacobians_are_derivatives_of_placements(robot, model, oracle):
    """Linear rows: motion of the origin. Angular rows: ω× = dR Rᵀ."""
    for q, _, _, _ in random_states(model, robot, count=1):
        kinematics = slipstick.dynamics.kinematics(model, q)
        dposition = by_q(model, lambda q: slipstick.dynamics.kinematics(model, q).position, q)
        drotation = by_q(model, lambda q: slipstick.dynamics.kinematics(model, q).rotation, q)
        for i, name in enumerate(model.body_names):
            if i > 0 and oracle.joint_of(name):
                J = slipstick.dynamics.jacobian(model, q, name)
                spin = np.einsum("ijn,kj->ikn", drotation[i], kinematics.rotation[i])
                angular = np.stack([spin[2, 1], spin[0, 2], spin[1, 0]])
                assert_close(J, np.concatenate([dposition[i], angular]), DIFFERENCES, name)


def test_actuator_derivatives_match_differences(mjcf_robot, model):
    """Controls reach past their ranges, so that clamped actuators are among them (their derivative is zero)."""
    for q, v, _, rng in random_states(model, mjcf_robot):
        ctrl = rng.uniform(-1.5, 1.5, model.nu)
        torque = lambda q, v, ctrl: slipstick.dynamics.actuate(model, q, v, ctrl)
        dtau_dq, dtau_dv, dtau_dctrl = slipstick.dynamics.actuate_derivatives(model, q, v, ctrl)
        assert dtau_dctrl.shape == (model.nv, model.nu)
        assert_close(dtau_dq, by_q(model, lambda q: torque(q, v, ctrl), q), DIFFERENCES, "dtau_dq")
        assert_close(dtau_dv, along_vector(lambda v: torque(q, v, ctrl), v), DIFFERENCES, "dtau_dv")
        if model.nu > 0:
            expected = along_vector(lambda ctrl: torque(q, v, ctrl), ctrl)
            assert_close(dtau_dctrl, expected, DIFFERENCES, "dtau_dctrl")


# ---------------------------------------------------------------------- the adjoint


def test_the_adjoint_of_inverse_dynamics_is_its_transposed_derivative(robot, model, oracle):
    """Same formulas in another order: only rounding separates them."""
    for q, v, a, rng in random_states(model, robot):
        w = rng.normal(size=model.nv)
        for wrenches in [None, random_wrenches(oracle, model, rng)]:
            matrices = slipstick.dynamics.rnea_derivatives(model, q, v, a, wrenches=wrenches)
            adjoints = slipstick.dynamics.rnea_vjp(model, q, v, a, w, wrenches=wrenches)
            for name, matrix, adjoint in zip(["q", "v", "a"], matrices, adjoints, strict=True):
                scale = max(1.0, np.max(np.abs(matrix)) * np.linalg.norm(w))
                assert_close(adjoint / scale, w @ matrix / scale, 1e-11, f"adjoint by {name}")
