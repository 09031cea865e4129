"""Questions about shapes alone: forms of poses, stacks, copies, refusals; and rays against numpy and MuJoCo."""

import copy
import pickle

import mujoco
import numpy as np
import pytest
from slipstick import collision

from solids import KINDS, pose, random_rotation, random_shape, unit
from states import generator, random_quaternion

SOLIDS = [
    collision.Plane(),
    collision.Sphere(0.1),
    collision.Capsule(0.1, 0.2),
    collision.Cylinder(0.1, 0.2),
    collision.Cone(0.1, 0.2),
    collision.Box([0.1, 0.2, 0.3]),
    collision.Ellipsoid([0.1, 0.2, 0.3]),
    collision.Hull(np.vstack([np.eye(3), np.zeros(3)])),
]
AT = lambda *position: (position, (1.0, 0.0, 0.0, 0.0))


def quaternion_pose(rng):
    """The same pose in both forms."""
    p, q = rng.uniform(-1, 1, 3), random_quaternion(rng)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, q)
    return (p, q), pose(R.reshape(3, 3), p)


# ------------------------------------------------------------------ arguments


def test_shapes_tell_their_sizes():
    assert collision.Sphere(0.3).radius == 0.3
    for cls in (collision.Capsule, collision.Cylinder, collision.Cone):
        assert (cls(0.1, 0.2).radius, cls(0.1, 0.2).half_length) == (0.1, 0.2)
        assert repr(cls(0.1, 0.2)) == f"{cls.__name__}(0.1, 0.2)"
    assert collision.Box([1, 2, 3]).half_size.tolist() == [1, 2, 3]
    assert collision.Ellipsoid((1, 2, 3)).radii.tolist() == [1, 2, 3]


def test_a_hull_keeps_the_corners_only():
    cube = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
    hull = collision.Hull(np.vstack([cube, [[0.5, 0.5, 0.5], [0.5, 0.5, 0.0]]]))
    assert sorted(hull.points.tolist()) == sorted(cube.tolist())


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda s: type(s).__name__)
def test_copies_and_pickles_are_the_same_shape(solid):
    for other in (copy.copy(solid), copy.deepcopy(solid), pickle.loads(pickle.dumps(solid))):
        assert type(other) is type(solid) and repr(other) == repr(solid)
        ball = collision.Sphere(0.05)
        assert collision.distance(other, AT(0, 0, 0), ball, AT(0.5, 0.4, 0.9)) == collision.distance(
            solid, AT(0, 0, 0), ball, AT(0.5, 0.4, 0.9)
        )


def test_both_forms_of_a_pose_mean_the_same():
    rng = generator("forms")
    box, cone = collision.Box([0.1, 0.2, 0.3]), collision.Cone(0.2, 0.3)
    for _ in range(10):
        (pair_a, X_a), (pair_b, X_b) = quaternion_pose(rng), quaternion_pose(rng)
        longer = (pair_b[0], 3.0 * pair_b[1])  # quaternions are normalized
        reference = collision.distance(box, X_a, cone, X_b)
        for a, b in [(pair_a, pair_b), (X_a, pair_b), (pair_a, longer), (X_a.tolist(), X_b)]:
            assert collision.distance(box, a, cone, b) == pytest.approx(reference, abs=1e-14)


def test_stacks_give_the_numbers_of_single_calls():
    rng = generator("stacks")
    a, b = collision.Cylinder(0.1, 0.2), collision.Box([0.1, 0.2, 0.3])
    pairs, matrices = zip(*[quaternion_pose(rng) for _ in range(7)])
    stack = (np.array([p for p, _ in pairs]), np.array([q for _, q in pairs]))
    one = matrices[0]
    singles = [collision.closest_points(a, X, b, one) for X in matrices]
    for X_a, X_b in [(np.array(matrices), one), (np.array(matrices), np.array([one] * 7))]:
        found = collision.closest_points(a, X_a, b, X_b)
        assert found.distance.shape == (7,) and found.normal.shape == (7, 3) and found.points.shape == (7, 2, 3)
        assert found.converged.dtype == bool and found.converged.shape == (7,)
        for name in ("distance", "normal", "points", "converged"):
            assert np.array_equal(getattr(found, name), [getattr(s, name) for s in singles])
    assert np.allclose(collision.distance(a, stack, b, one), [s.distance for s in singles], atol=1e-14)
    assert collision.distance(b, one, a, np.zeros((0, 4, 4))).shape == (0,)


def test_of_two_half_spaces_there_is_no_distance():
    with pytest.raises(ValueError, match="planes.*at most one.*got 2"):
        collision.closest_points(collision.Plane(), AT(0, 0, 0), collision.Plane(), AT(0, 0, 1))


TILTED = np.eye(4)
TILTED[0, 1] = 0.1
REFUSED = [
    (lambda: collision.Sphere(0.0), "size of the sphere.*positive.*got 0"),
    (lambda: collision.Sphere(np.nan), "size of the sphere.*positive.*NaN"),
    (lambda: collision.Capsule(0.1, -1.0), "size of the capsule.*positive.*-1"),
    (lambda: collision.Box([1, 2]), "expected 3.*got 2"),
    (lambda: collision.Box([1, 2, np.inf]), "size of the box.*positive.*inf"),
    (lambda: collision.Ellipsoid([1, 2, 0]), "size of the ellipsoid.*positive.*got 0"),
    (lambda: collision.Hull([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), "points.*fewer than 4"),
    (lambda: collision.Hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), "points.*flat"),
    (lambda: collision.Hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, np.nan]]), "points.*infinite"),
    (lambda: collision.Hull([0, 1, 2]), r"points.*\(n, 3\).*\(3,\)"),
    (lambda: collision.distance(SOLIDS[1], np.eye(3), SOLIDS[1], np.eye(4)), r"X_a.*\(4, 4\).*\(3, 3\)"),
    (lambda: collision.distance(SOLIDS[1], np.eye(4), SOLIDS[1], TILTED), "pose.*rotation"),
    (lambda: collision.distance(SOLIDS[1], np.eye(4), SOLIDS[1], -np.eye(4)), "X_b.*last row"),
    (lambda: collision.distance(SOLIDS[1], np.eye(4), SOLIDS[1], np.diag([1, 1, -1, 1])), "pose.*rotation"),
    (lambda: collision.distance(SOLIDS[1], AT(0, 0, np.nan), SOLIDS[1], np.eye(4)), "pose.*finite"),
    (lambda: collision.distance(SOLIDS[1], ([0, 0, 0], [0, 0, 0, 0]), SOLIDS[1], np.eye(4)), "X_a.*quaternion.*zero"),
    (lambda: collision.distance(SOLIDS[1], ([0, 0], [1, 0, 0, 0]), SOLIDS[1], np.eye(4)), "X_a.*position"),
    (lambda: collision.distance(SOLIDS[1], ([0, 0, 0], [1, 0, 0]), SOLIDS[1], np.eye(4)), "X_a.*quaternion"),
    (
        lambda: collision.distance(SOLIDS[1], np.array([np.eye(4)] * 2), SOLIDS[1], np.array([np.eye(4)] * 3)),
        "X_a and X_b.*got 2 and 3",
    ),
    (lambda: collision.contact(SOLIDS[1], np.eye(4)[None], SOLIDS[1], np.eye(4)), "X_a.*one pose"),
    (lambda: collision.contact(SOLIDS[1], np.eye(4), SOLIDS[1], np.eye(4), points="two"), "'patch' or 'one'.*'two'"),
    (
        lambda: collision.contact(SOLIDS[1], np.eye(4), SOLIDS[1], np.eye(4), contact_distance=np.nan),
        "contact_distance.*NaN",
    ),
    (lambda: collision.raycast(SOLIDS[1], np.eye(4), [0, 0], [0, 0, 1]), "origin.*expected 3.*got 2"),
    (lambda: collision.raycast(SOLIDS[1], np.eye(4), [0, 0, 0], [0, 0, 0]), "direction.*positive"),
    (lambda: collision.raycast(SOLIDS[1], np.eye(4), [0, 0, 0], [0, 0, np.nan]), "direction.*finite"),
    (lambda: collision.raycast(SOLIDS[1], np.eye(4), [0, 0, 0], [0, 0, 1], max_distance=-1.0), "max_distance.*-1"),
]


@pytest.mark.parametrize("call, message", REFUSED, ids=[message for _, message in REFUSED])
def test_what_makes_no_sense_is_refused_with_what_and_expected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ------------------------------------------------------------------ rays


def random_ray(shape, rng, inside):
    """A ray in the shape's frame: from within, or from outside towards somewhere near."""
    if inside:
        center = shape.corners.mean(axis=0) if shape.kind == "hull" else np.zeros(3)
        return center + shape.outside(center) * rng.uniform(-0.5, 0.5, 3), unit(rng.normal(size=3))
    origin = rng.normal(size=3) * (shape.size + 0.5)
    if shape.kind == "plane":
        origin[2] = np.abs(origin[2]) + 0.01
    while shape.outside(origin) <= 0.01:
        origin = origin * 2.0 + 0.1
    return origin, unit(rng.normal(size=3) * max(shape.size, 0.3) * 0.7 - origin)


@pytest.mark.parametrize(
    "kind, inside",
    [(kind, inside) for kind in KINDS for inside in (False, True) if (kind, inside) != ("plane", True)],
    ids=lambda x: x if isinstance(x, str) else "from inside" if x else "from outside",
)
def test_a_ray_meets_the_surface_where_it_first_crosses_it(kind, inside):
    rng = generator(f"rays {kind} {inside}")
    hits = 0
    for _ in range(300):
        shape = random_shape(kind, rng)
        origin, direction = random_ray(shape, rng, inside)
        R, p = random_rotation(rng), rng.uniform(-2, 2, 3)
        hit = collision.raycast(shape.solid, pose(R, p), R @ origin + p, 3.0 * (R @ direction))
        reach = 20.0 if hit is None else hit.distance
        steps = np.linspace(0.0, 1.0, 401)[1:-1] * reach
        heights = shape.outside(origin + steps[:, None] * direction)
        if inside:
            assert np.all(heights <= 1e-9), f"{shape}: the surface lies nearer"
        else:
            assert np.all(heights >= -1e-9), f"{shape}: the surface lies nearer, or is missed"
        if hit is None:
            assert not inside, f"{shape}: no way out"
            continue
        hits += 1
        assert np.allclose(hit.point, R @ (origin + hit.distance * direction) + p, atol=1e-12)
        x, n = R.T @ (hit.point - p), R.T @ hit.normal
        assert abs(shape.outside(x)) < 1e-9, f"{shape}: the point is not on the surface"
        assert abs(np.linalg.norm(n) - 1) < 1e-12
        if kind != "plane":
            assert n @ x == pytest.approx(shape.support(n), abs=1e-9), f"{shape}: normal {n} at {x}"
        else:
            assert np.allclose(n, [0, 0, 1])
        assert n @ direction >= -1e-12 if inside else n @ direction <= 1e-12
    assert hits > 50


GEOM_TYPES = {
    "plane": mujoco.mjtGeom.mjGEOM_PLANE,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
}


@pytest.mark.parametrize("kind", GEOM_TYPES)
def test_rays_meet_what_mujocos_rays_meet(kind):
    rng = generator(f"mujoco rays {kind}")
    met = 0
    for k in range(300):
        shape = random_shape(kind, rng)
        origin, direction = random_ray(shape, rng, inside=k % 3 == 0 and kind != "plane")  # MuJoCo's planes have a front
        R, p, size = random_rotation(rng), rng.uniform(-2, 2, 3), np.zeros(3)
        size[: len(shape.sizes)] = shape.sizes
        expected = mujoco.mju_rayGeom(p, R.flatten(), size, R @ origin + p, R @ direction, int(GEOM_TYPES[kind]))
        hit = collision.raycast(shape.solid, pose(R, p), R @ origin + p, R @ direction)
        assert (hit is None) == (expected < 0)
        if hit is not None:
            met += 1
            assert hit.distance == pytest.approx(expected, abs=1e-9)
    assert met > 100


def test_planes_are_seen_from_above_only():
    plane = collision.Plane()
    assert collision.raycast(plane, AT(0, 0, 1), [0, 0, 2], [0, 0, -1]).distance == 1.0
    assert collision.raycast(plane, AT(0, 0, 1), [0, 0, 0], [0, 0, 1]) is None


def test_a_ray_ends_at_its_greatest_distance():
    ball, origin, direction = collision.Sphere(0.5), [2.0, 0.0, 0.0], [-1.0, 0.0, 0.0]
    assert collision.raycast(ball, np.eye(4), origin, direction).distance == 1.5
    assert collision.raycast(ball, np.eye(4), origin, direction, max_distance=1.5) is not None
    assert collision.raycast(ball, np.eye(4), origin, direction, max_distance=1.499) is None
    assert collision.raycast(ball, np.eye(4), origin, [1.0, 0.0, 0.0]) is None
