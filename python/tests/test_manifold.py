"""`integrate` and `difference` on the configuration manifold, and their derivatives."""

import numpy as np
import pinocchio as pin
import pytest
import slipstick
from slipstick import dynamics

from finite_differences import along_q, along_vector
from states import assert_close, random_states

DIFFERENCES = 1e-6


def by_q(model, function, q):
    return along_q(function, q, model.nv, lambda q, e: slipstick.dynamics.integrate(model, q, e))


def test_difference_undoes_integrate(robot, model):
    """Rotations below half a turn, where the difference is unique: |step| ≤ 1.5·√3 < π."""
    for q, _, _, rng in random_states(model, robot):
        for size in [1.5, 1e-3, 1e-7, 0.0]:
            step = size * rng.uniform(-1, 1, model.nv)
            moved = slipstick.dynamics.integrate(model, q, step)
            assert_close(slipstick.dynamics.difference(model, q, moved), step, 1e-12, f"step of size {size}")
            assert_close(slipstick.dynamics.difference(model, moved, q), -step, 1e-12, f"way back of size {size}")


def test_a_quaternion_and_its_negative_are_the_same_rotation(robot, model):
    for q, v, a, _ in random_states(model, robot, count=1):
        turned = q.copy()
        for name, kind in zip(model.joint_names, model.joint_types):
            if kind in ("free", "spherical"):
                stop = model.joint(name).q.stop
                turned[stop - 4 : stop] *= -1.0
        assert_close(slipstick.dynamics.difference(model, q, turned), np.zeros(model.nv), 1e-12)
        assert_close(slipstick.dynamics.rnea(model, turned, v, a), slipstick.dynamics.rnea(model, q, v, a), 1e-12)


def test_integrated_quaternions_stay_of_unit_length(robot, model):
    for q, v, _, _ in random_states(model, robot, count=1):
        for _ in range(100):
            q = slipstick.dynamics.integrate(model, q, v)
        for name, kind in zip(model.joint_names, model.joint_types):
            if kind in ("free", "spherical"):
                stop = model.joint(name).q.stop
                assert abs(np.linalg.norm(q[stop - 4 : stop]) - 1.0) < 1e-14, name


def test_derivatives_of_integrate(robot, model, oracle):
    for q, step, _, _ in random_states(model, robot, count=2):
        moved = slipstick.dynamics.integrate(model, q, step)
        from_moved = lambda q, step: slipstick.dynamics.difference(model, moved, slipstick.dynamics.integrate(model, q, step))
        dq, dstep = slipstick.dynamics.integrate_derivatives(model, q, step)
        assert_close(dq, by_q(model, lambda q: from_moved(q, step), q), DIFFERENCES, "by q")
        assert_close(dstep, along_vector(lambda step: from_moved(q, step), step), DIFFERENCES, "by the step")
        theirs = pin.dIntegrate(oracle.model, oracle.q(q), oracle.v(step))
        assert_close(dq, oracle.matrix(theirs[0]), 1e-9, "by q, Pinocchio")
        assert_close(dstep, oracle.matrix(theirs[1]), 1e-9, "by the step, Pinocchio")


def test_derivatives_of_difference(robot, model, oracle):
    for q0, _, _, rng in random_states(model, robot, count=2):
        q1 = slipstick.dynamics.integrate(model, q0, rng.uniform(-1.2, 1.2, model.nv))
        d0, d1 = slipstick.dynamics.difference_derivatives(model, q0, q1)
        assert_close(d0, by_q(model, lambda q0: slipstick.dynamics.difference(model, q0, q1), q0), DIFFERENCES, "by q0")
        assert_close(d1, by_q(model, lambda q1: slipstick.dynamics.difference(model, q0, q1), q1), DIFFERENCES, "by q1")
        theirs = pin.dDifference(oracle.model, oracle.q(q0), oracle.q(q1))
        assert_close(d0, oracle.matrix(theirs[0]), 1e-9, "by q0, Pinocchio")
        assert_close(d1, oracle.matrix(theirs[1]), 1e-9, "by q1, Pinocchio")


def test_derivatives_at_a_zero_step_are_the_identity(robot, model):
    """The series that replaces the closed form near zero."""
    identity = np.eye(model.nv)
    for q, _, _, _ in random_states(model, robot, count=1):
        dq, dstep = slipstick.dynamics.integrate_derivatives(model, q, np.zeros(model.nv))
        d0, d1 = slipstick.dynamics.difference_derivatives(model, q, q)
        for matrix, expected in [(dq, identity), (dstep, identity), (d0, -identity), (d1, identity)]:
            assert_close(matrix, expected, 1e-12)


def test_stacks_are_loops_bit_for_bit():
    model, rng, n = slipstick.builtin("quadruped"), np.random.default_rng(4), 5
    home = model.keyframe("home").q
    dv, v, dv1 = rng.normal(size=(3, n, model.nv))
    frame = model.frame_names[3]
    q = dynamics.integrate(model, home, dv)
    q1 = dynamics.integrate(model, q, dv1)
    assert q.shape == (n, model.nq) and np.array_equal(q[2], dynamics.integrate(model, home, dv[2]))
    single = {name: (getattr(dynamics, name), args) for name, args in {
        "integrate": (q, dv), "difference": (q, q1), "integrate_derivatives": (q, dv), "difference_derivatives": (q, q1),
        "center_of_mass": (q,), "jacobian": (q, frame), "velocity": (q, v, frame),
    }.items()}
    for name, (function, args) in single.items():
        stacked = function(model, *args)
        for i in range(n):
            alone = function(model, *(x if isinstance(x, str) else x[i] for x in args))
            for a, b in zip(stacked if isinstance(stacked, tuple) else [stacked], alone if isinstance(alone, tuple) else [alone]):
                assert a.shape == (n, *b.shape) and np.array_equal(a[i], b), name
    all_poses, alone = dynamics.kinematics(model, q), dynamics.kinematics(model, q[1])
    for name in ("rotation", "position", "frame_rotation", "frame_position"):
        assert np.array_equal(getattr(all_poses, name)[1], getattr(alone, name)) and len(getattr(all_poses, name)) == n
    assert "of 5 configurations, 14 bodies" in repr(all_poses)
    assert "configurations" not in repr(alone)
    assert dynamics.difference(model, q[:0], home).shape == (0, model.nv)
    for call, words in [
        (lambda: dynamics.difference(model, q, q1[:2]), "q0 and q1: expected stacks of one length, got 5 and 2"),
        (lambda: dynamics.integrate(model, q[:, :3], dv), r"q: expected \(19,\) or \(n, 19\), got an array of shape \(5, 3\)"),
        (lambda: dynamics.center_of_mass(model, q * np.inf), "q"),
        (lambda: dynamics.kinematics(model, q[None]), "q: expected"),
        (lambda: dynamics.jacobian(model, 0.0 * q, frame), "quaternion"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
