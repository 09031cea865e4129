"""Identities that hold for any robot, on random trees with every joint kind; and the oracles on the same trees."""

import numpy as np
import pinocchio as pin
import pytest
import slipstick

from finite_differences import along_q, along_vector, differentiate
from oracles import PinocchioOracle, load_mujoco
from random_trees import random_tree
from states import assert_close, random_states

SEEDS = range(12)
GRAVITY = [0.4, -0.3, -9.7]
DIFFERENCES = 1e-8  # of energies and momenta of about 100 in time: the five-point formula leaves up to 1e-9


@pytest.fixture
def make_tree(tmp_path):
    def make(seed, free_root=None, gravity=GRAVITY):
        path = tmp_path / f"tree_{seed}.xml"
        path.write_text(random_tree(seed, seed % 2 == 0 if free_root is None else free_root, gravity))
        return path, slipstick.load(str(path))

    return make


def along_the_motion(model, function, q, v, a):
    """d/dt function(q, v) while q̇ = v and v̇ = a."""
    moved = lambda t: function(slipstick.dynamics.integrate(model, q, t[0] * v), v + t[0] * a)
    return differentiate(moved, 1)[..., 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_and_inverse_dynamics_undo_each_other(make_tree, seed):
    _, model = make_tree(seed)
    for q, v, tau, rng in random_states(model, f"inverse {seed}"):
        wrenches = rng.uniform(-5, 5, (model.n_bodies, 6)) * (model.body_masses > 0)[:, None]
        wrenches[0] = 0.0
        a = slipstick.dynamics.aba(model, q, v, tau, wrenches=wrenches)
        assert_close(slipstick.dynamics.rnea(model, q, v, a, wrenches=wrenches), tau, 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mass_matrix_is_symmetric_positive_and_inverted(make_tree, seed):
    _, model = make_tree(seed)
    for q, v, a, _ in random_states(model, f"mass {seed}"):
        M = slipstick.dynamics.crba(model, q)
        assert np.array_equal(M, M.T)
        assert np.linalg.eigvalsh(M)[0] > 0
        assert_close(slipstick.dynamics.mass_inverse(model, q) @ M, np.eye(model.nv), 1e-9)
        assert_close(M @ slipstick.dynamics.solve(model, q, np.eye(model.nv)), np.eye(model.nv), 1e-9)
        assert_close(M @ a + slipstick.dynamics.bias(model, q, v), slipstick.dynamics.rnea(model, q, v, a), 1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_power_of_the_torques_is_the_change_of_energy(make_tree, seed):
    """dE/dt = tau·v, by a difference in time of the two energies."""
    _, model = make_tree(seed)
    for q, v, tau, _ in random_states(model, f"power {seed}"):
        a = slipstick.dynamics.aba(model, q, v, tau)
        power = along_the_motion(model, lambda q, v: sum(slipstick.dynamics.energy(model, q, v)), q, v, a)
        assert_close(power, tau @ v, DIFFERENCES)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_floating_robot_keeps_its_momenta_whatever_its_motors_do(make_tree, seed):
    """Without gravity, torques on inner joints change neither linear nor angular momentum."""
    _, model = make_tree(seed, free_root=True, gravity=[0.0, 0.0, 0.0])
    for q, v, tau, _ in random_states(model, f"momentum {seed}"):
        tau[:6] = 0.0
        a = slipstick.dynamics.aba(model, q, v, tau)
        change = along_the_motion(model, lambda q, v: slipstick.dynamics.momentum(model, q, v), q, v, a)
        assert_close(change, np.zeros(6), DIFFERENCES)


@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_pulls_the_whole_tree_at_its_center_of_mass(make_tree, seed):
    """The first three rows of a free root's bias at rest are minus the weight; the center of mass moves as J says."""
    _, model = make_tree(seed, free_root=True)
    for q, v, _, _ in random_states(model, f"weight {seed}"):
        weight = slipstick.dynamics.bias(model, q, np.zeros(model.nv))[:3]
        assert_close(weight, -model.total_mass * np.array(GRAVITY), 1e-12)
        velocity = along_the_motion(model, lambda q, v: slipstick.dynamics.center_of_mass(model, q), q, v, np.zeros(model.nv))
        assert_close(slipstick.dynamics.momentum(model, q, v)[:3], model.total_mass * velocity, 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_adjoint_identity_holds(make_tree, seed):
    """⟨w, D rnea · d⟩ = ⟨D rnea* · w, d⟩ for random w and d, the left side by differences."""
    _, model = make_tree(seed)
    for q, v, a, rng in random_states(model, f"adjoint {seed}"):
        w, dq, dv, da = rng.normal(size=(4, model.nv))
        torque = lambda t: slipstick.dynamics.rnea(model, slipstick.dynamics.integrate(model, q, t[0] * dq), v + t[0] * dv, a + t[0] * da)
        forward = w @ differentiate(torque, 1)[:, 0]
        by_q, by_v, by_a = slipstick.dynamics.rnea_vjp(model, q, v, a, w)
        assert_close(by_q @ dq + by_v @ dv + by_a @ da, forward, DIFFERENCES)


@pytest.mark.parametrize("seed", SEEDS)
def test_dynamics_and_derivatives_of_a_random_tree_are_pinocchios(make_tree, seed):
    path, model = make_tree(seed)
    oracle = PinocchioOracle.from_mujoco(load_mujoco(path))
    for q, v, tau, _ in random_states(model, f"tree {seed}"):
        q_pin = oracle.q(q)
        assert_close(slipstick.dynamics.rnea(model, q, v, tau), pin.rnea(oracle.model, oracle.data, q_pin, v, tau), 1e-9)
        assert_close(slipstick.dynamics.aba(model, q, v, tau), pin.aba(oracle.model, oracle.data, q_pin, v, tau), 1e-9)
        dq, dv, dtau = pin.computeABADerivatives(oracle.model, oracle.data, q_pin, v, tau)
        da_dq, da_dv, da_dtau = slipstick.dynamics.aba_derivatives(model, q, v, tau)
        assert_close(da_dq, dq, 1e-8, "da_dq")
        assert_close(da_dv, dv, 1e-8, "da_dv")
        assert_close(da_dtau, np.triu(dtau) + np.triu(dtau, 1).T, 1e-8, "da_dtau")


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_a_random_tree_match_differences(make_tree, seed):
    _, model = make_tree(seed)
    integrate = lambda q, e: slipstick.dynamics.integrate(model, q, e)
    for q, v, a, _ in random_states(model, f"differences {seed}", count=1):
        dtau_dq, dtau_dv, _ = slipstick.dynamics.rnea_derivatives(model, q, v, a)
        by_q = along_q(lambda q: slipstick.dynamics.rnea(model, q, v, a), q, model.nv, integrate)
        assert_close(dtau_dq, by_q, 1e-6, "dtau_dq")
        assert_close(dtau_dv, along_vector(lambda v: slipstick.dynamics.rnea(model, q, v, a), v), 1e-6, "dtau_dv")
