"""Derivatives of contacts of a model, chained with Jacobians, against differences of detection."""

import numpy as np
import pytest
import slipstick
from slipstick import collision

from finite_differences import along_q, differentiate
from states import assert_close, generator

MODES = ["exact", "smoothed", "randomized", "frozen"]
STEP = 1e-5  # of the differences: features reach farther than that
ROBOTS = ["cube", "sphere", "half_cheetah", "quadruped", "arm", "humanoid", "biped"]


def body_jacobian(model, q, body, point):
    """Displacement of the point of a body that lies at `point`, and rotation, world axes: (6, nv)."""
    if body == "world":
        return np.zeros((6, model.nv))
    J = slipstick.dynamics.jacobian(model, q, body)
    origin = slipstick.dynamics.kinematics(model, q).position[model.body_names.index(body)]
    J[:3] += np.cross(J[3:].T, point - origin).T
    return J


def chained(model, q, d):
    """Derivatives with respect to q of distance (1, nv), normal and point (3, nv)."""
    J = np.concatenate([body_jacobian(model, q, body, d.contact.point) for body in d.contact.bodies])
    stacked = lambda x: np.concatenate([x[0], x[1]], axis=-1) @ J
    return stacked(d.distance)[None], stacked(d.normal), stacked(d.point)


def state(model, label):
    """A generic state with contacts: home, a little moved, sunk into the floor by 2 mm where it is free to."""
    rng = generator(label)
    q = slipstick.dynamics.integrate(model, model.keyframe("home").q, 0.02 * rng.normal(size=model.nv))
    if "free" in model.joint_types:
        q[2] -= 0.002 + max((c.distance for c in collision.detect(model, q)), default=0.0)
    return q


@pytest.fixture(params=ROBOTS)
def model(request):
    return slipstick.builtin(request.param).with_options(contact_distance=0.02)


def test_distances_move_with_the_normal_velocity_in_every_mode(model):
    """dΦ = n·(velocity of body 2 − velocity of body 1), at the contact point."""
    q = state(model, f"normal velocity {model.name}")
    for mode in MODES:
        for d in collision.derivatives(model, q, mode, samples=20):
            n = d.contact.normal
            expected = np.array([np.concatenate([-n, np.zeros(3)]), np.concatenate([n, np.zeros(3)])])
            assert_close(d.distance, expected, 1e-9, mode)


def test_exact_derivatives_are_those_of_detection(model):
    """Contacts whose features change within the step of the differences have a kink there and are left out."""
    q = state(model, f"exact {model.name}")
    found = collision.derivatives(model, q)
    assert found, "something touches"

    def numbers(moved):
        contacts = {(c.pair, c.feature): c for c in collision.detect(model, moved)}
        rows = np.full((len(found), 7), np.nan)
        for row, d in zip(rows, found):
            if (c := contacts.get((d.contact.pair, d.contact.feature))) is not None:
                row[:] = c.distance, *c.normal, *c.point
        return rows

    expected = along_q(numbers, q, model.nv, lambda q, e: slipstick.dynamics.integrate(model, q, e), STEP)
    smooth = np.isfinite(expected).all(axis=(1, 2))
    assert smooth.sum() >= len(found) / 2
    for d, rows in zip(np.array(found)[smooth], expected[smooth]):
        distance, normal, point = chained(model, q, d)
        assert_close(distance, rows[:1], 1e-6, "distance")
        assert_close(normal, rows[1:4], 1e-6, "normal")
        assert_close(point, rows[4:], 1e-6, "point")


def test_frozen_contacts_keep_point_and_normal(model):
    for d in collision.derivatives(model, state(model, "frozen"), "frozen"):
        assert not d.normal.any() and not d.point.any()


def test_a_motion_of_both_bodies_carries_the_contact_along(model):
    """Translations move the point, rotations about it turn the normal: for every mode that moves the contact at all."""
    q = state(model, f"both {model.name}")
    for mode in ("exact", "smoothed"):
        for d in collision.derivatives(model, q, mode):
            assert_close(d.point.sum(axis=0)[:, :3], np.eye(3), 1e-9, f"{mode} point")
            assert_close(d.point.sum(axis=0)[:, 3:], np.zeros((3, 3)), 1e-9, f"{mode} point")
            n = d.contact.normal
            spin = np.array([[0, n[2], -n[1]], [-n[2], 0, n[0]], [n[1], -n[0], 0]])  # ω × n
            assert_close(d.normal.sum(axis=0)[:, :3], np.zeros((3, 3)), 1e-9, f"{mode} normal")
            assert_close(d.normal.sum(axis=0)[:, 3:], spin, 1e-9, f"{mode} normal")


def test_random_smoothing_is_reproducible_and_follows_its_seed():
    model = slipstick.builtin("cube")
    q = state(model, "seeds")
    run = lambda seed: [d.point for d in collision.derivatives(model, q, "randomized", samples=30, seed=seed, order=0)]
    assert all(np.array_equal(a, b) for a, b in zip(run(1), run(1)))
    assert any(not np.array_equal(a, b) for a, b in zip(run(1), run(2)))


def test_a_lone_ball_turns_its_normal_on_a_ball_as_geometry_says(tmp_path):
    """Centers 0.3 m apart: a shift of one by e across turns the normal by e / 0.3."""
    path = tmp_path / "balls.xml"
    path.write_text(
        """<mujoco><worldbody><geom size="0.1"/><body pos="0 0 0.3"><freejoint/><geom size="0.2"/></body>
        </worldbody></mujoco>"""
    )
    model = slipstick.load(path)
    (d,) = collision.derivatives(model, model.neutral())
    assert d.contact.distance == pytest.approx(0.0, abs=1e-15)
    across = np.diag([1.0, 1.0, 0.0]) / 0.3
    assert np.allclose(d.normal[1, :, :3], across, atol=1e-12)
    assert np.allclose(d.normal[0, :, :3], -across, atol=1e-12)
    by_hand = differentiate(
        lambda x: collision.detect(model, np.concatenate([[0, 0, 0.3] + x, [1, 0, 0, 0]]))[0].normal, 3
    )
    assert np.allclose(by_hand, across, atol=1e-7)
