"""Distances, normals and points of all combinations of shapes, from far apart to deep overlap.

Oracles: the gap s(n) along the returned normal (a lower bound of the distance, see solids.py), the gap along coal's
normal, a search over all directions, the exact answer for polytopes, and for shapes apart the points themselves, whose
distance is an upper bound.
"""

import functools
import itertools
from dataclasses import dataclass

import coal
import numpy as np
import pytest
from slipstick import collision

from solids import COMBINATIONS, CURVED, Shape, box_as_hull, gap, largest_gap, polytope_distance, pose, random_rotation
from solids import random_shape, rotation_between, unit, world_support
from states import generator

DEPTHS = {
    "apart": (1e-3, 0.3),
    "touching": (0.0, 0.0),
    "grazing": (-1e-3, -1e-6),
    "shallow": (-2e-2, -1e-3),
    "deep": (-0.12, -0.03),
}
SHAPES, POSES = 8, 10  # per combination: pairs of sizes; per pair, depth and way of placing: poses
COAL_TOLERANCE = 1e-5


@dataclass
class Batch:
    """Two shapes in N poses, what was aimed at, and what slipstick says."""

    a: Shape
    b: Shape
    X_a: np.ndarray
    X_b: np.ndarray
    target: np.ndarray
    label: list

    @functools.cached_property
    def found(self):
        return collision.closest_points(self.a.solid, self.X_a, self.b.solid, self.X_b)

    @functools.cached_property
    def gap(self):
        return gap(self.a, self.X_a, self.b, self.X_b, self.found.normal)

    @property
    def scale(self):
        return max(1.0, self.a.size, self.b.size)

    def rows(self, chosen):
        return Batch(
            self.a, self.b, self.X_a[chosen], self.X_b[chosen], self.target[chosen], list(np.array(self.label)[chosen])
        )


def tolerance(a, b):
    """1e-9 where there is a closed form or both are polytopes, else 1e-7 (m)."""
    kinds = {a.kind, b.kind}
    return 1e-7 if kinds & CURVED and not kinds & {"plane", "sphere"} else 1e-9


def check(batch, error, bound, what):
    """Fails with a case that can be pasted into a session."""
    error = np.where(np.isfinite(error), error, np.inf)
    k = int(np.argmax(error))
    if error[k] > bound:
        raise AssertionError(
            f"{what}: {error[k]:.3e} > {bound:.0e} in {np.sum(error > bound)} of {len(error)} ({batch.label[k]})\n"
            f"a = {batch.a!r}\nX_a = np.array({batch.X_a[k].tolist()})\n"
            f"b = {batch.b!r}\nX_b = np.array({batch.X_b[k].tolist()})\n"
            f"distance {batch.found.distance[k]!r}, normal {batch.found.normal[k].tolist()}, gap {batch.gap[k]!r}"
        )


def placed_by_features(a, b, target, rng):
    """Poses in which a feature of b lies opposite to one of a: for target ≥ 0 the distance is the target."""
    (point_a, n_a), (point_b, n_b) = a.feature(rng), b.feature(rng)
    R_a = random_rotation(rng)
    spin = rng.choice([0.0, np.pi / 2, rng.uniform(0, 2 * np.pi)])
    R_b = rotation_between(n_b, -R_a @ n_a, spin)
    p_a = rng.uniform(-1, 1, 3)
    x = p_a + R_a @ point_a + target * (R_a @ n_a)
    return pose(R_a, p_a), pose(R_b, x - R_b @ point_b)


def placed_by_moving(a, b, target, rng):
    """Poses at random, b moved along the normal that is returned for them, until the target is reached."""
    R_a, p_a = random_rotation(rng), rng.uniform(-1, 1, 3)
    away = R_a @ [0.0, 0.0, 1.0] if a.kind == "plane" else unit(rng.normal(size=3))
    R_b = random_rotation(rng)
    if b.kind == "plane":
        R_b = rotation_between(np.array([0.0, 0.0, 1.0]), -away, rng.uniform(0, 2 * np.pi))
    p_b = p_a + away * (a.size + b.size + 0.1) + 0.1 * rng.normal(size=3) * (a.kind == "plane" or b.kind == "plane")
    found = collision.closest_points(a.solid, pose(R_a, p_a), b.solid, pose(R_b, p_b))
    return pose(R_a, p_a), pose(R_b, p_b + (target - found.distance) * found.normal)


@functools.cache
def batches(kinds):
    """All pairs of a combination."""
    rng, made = generator(f"distance {kinds}"), []
    for k in range(SHAPES):
        a, b = (random_shape(kind, rng) for kind in (kinds if k % 2 == 0 else kinds[::-1]))
        cases = []
        for depth, (low, high) in DEPTHS.items():
            for place in (placed_by_features, placed_by_moving):
                for _ in range(POSES):
                    target = rng.uniform(low, high) if high > 0 or low < -0.1 else -np.exp(rng.uniform(-14, -4))
                    target = float(np.clip(target, low, high))
                    cases.append((*place(a, b, target, rng), target, f"{depth}, {place.__name__}"))
        X_a, X_b, target, label = zip(*cases)
        made.append(Batch(a, b, np.array(X_a), np.array(X_b), np.array(target), list(label)))
    return made


everywhere = pytest.mark.parametrize("kinds", COMBINATIONS, ids="-".join)


def test_there_are_twenty_thousand_pairs_and_more():
    assert SHAPES * POSES * 2 * len(DEPTHS) * len(COMBINATIONS) >= 20_000


@everywhere
def test_normals_are_finite_and_of_length_one_and_every_search_ends(kinds):
    for batch in batches(kinds):
        check(batch, np.abs(np.linalg.norm(batch.found.normal, axis=1) - 1.0), 1e-12, "length of the normal")
        check(batch, np.where(batch.found.converged, 0.0, 1.0), 0.5, "not converged")


@everywhere
def test_the_distance_is_the_gap_along_the_normal(kinds):
    for batch in batches(kinds):
        bound = tolerance(batch.a, batch.b)
        check(batch, np.abs(batch.found.distance - batch.gap), bound, "distance − s(n)")
        for shape, n in [(batch.a, batch.X_a[:, :3, 2]), (batch.b, -batch.X_b[:, :3, 2])]:
            if shape.kind == "plane":
                check(batch, np.linalg.norm(batch.found.normal - n, axis=1), 1e-12, "normal of the plane")


@everywhere
def test_points_lie_on_the_surfaces_and_the_normal_joins_them(kinds):
    for batch in batches(kinds):
        found, bound = batch.found, tolerance(batch.a, batch.b)
        joined = found.points[:, 1] - found.points[:, 0] - found.distance[:, None] * found.normal
        check(batch, np.linalg.norm(joined, axis=1), bound, "x_b − x_a − distance·n")
        for side, (shape, X) in enumerate([(batch.a, batch.X_a), (batch.b, batch.X_b)]):
            own = np.einsum("nij,ni->nj", X[:, :3, :3], found.points[:, side] - X[:, :3, 3])
            check(batch, shape.outside(own), bound, f"point {side} outside its shape")
            n = found.normal if side == 0 else -found.normal
            height = np.einsum("ni,ni->n", n, found.points[:, side])
            check(batch, np.abs(height - world_support(shape, X, n)), bound, f"point {side} below its surface")


@everywhere
def test_shapes_placed_apart_or_touching_are_as_far_apart_as_they_were_placed(kinds):
    for batch in batches(kinds):
        known = batch.target >= 0.0
        check(batch.rows(known), np.abs(batch.found.distance - batch.target)[known], tolerance(batch.a, batch.b), "distance")
        check(batch, batch.target - batch.found.distance, tolerance(batch.a, batch.b), "deeper than placed")


def request():
    """Coal as exact as it gets."""
    r = coal.DistanceRequest()
    r.gjk_tolerance = r.epa_tolerance = 1e-9
    r.gjk_max_iterations = r.epa_max_iterations = 1000
    return r


def coal_normals(batch):
    r, result, normals = request(), coal.DistanceResult(), []
    for X_a, X_b in zip(batch.X_a, batch.X_b):
        result.clear()
        poses = [coal.Transform3s(X[:3, :3], X[:3, 3]) for X in (X_a, X_b)]
        coal.distance(batch.a.geometry, poses[0], batch.b.geometry, poses[1], r, result)
        normals.append(result.normal.copy())
    normals = np.array(normals)
    usable = np.abs(np.linalg.norm(normals, axis=1) - 1.0) < 1e-6
    return unit(np.where(usable[:, None], normals, [0.0, 0.0, 1.0])), usable


@everywhere
def test_coal_knows_no_direction_with_a_larger_gap(kinds):
    """Whatever coal's own errors, the gap along its normal is a lower bound of the distance."""
    deficits, n_usable = [], 0
    for batch in batches(kinds):
        normals, usable = coal_normals(batch)
        n_usable += usable.sum()
        deficit = np.where(usable, gap(batch.a, batch.X_a, batch.b, batch.X_b, normals) - batch.found.distance, 0.0)
        check(batch, deficit, COAL_TOLERANCE, "coal's gap is larger")
        deficits.append((batch, deficit))
    for batch, deficit in deficits:
        check(batch, deficit, tolerance(batch.a, batch.b), "coal's gap is larger")
    assert n_usable > 0.9 * SHAPES * POSES * 2 * len(DEPTHS), "coal gives too few normals to compare with"


@everywhere
def test_no_direction_has_a_larger_gap(kinds):
    """A search over the sphere, where shapes overlap. Apart, the points already prove it."""
    for batch in batches(kinds):
        if "plane" in kinds:
            continue  # one direction only
        overlapping = batch.rows(batch.found.distance < 0.0)
        largest = largest_gap(overlapping.a, overlapping.X_a, overlapping.b, overlapping.X_b, overlapping.found.normal)
        check(overlapping, largest - overlapping.found.distance, tolerance(batch.a, batch.b), "a larger gap exists")


@pytest.mark.parametrize("kinds", [("box", "box"), ("box", "hull"), ("hull", "hull")], ids="-".join)
def test_overlaps_of_polytopes_are_the_least_over_faces_and_pairs_of_edges(kinds):
    for batch in batches(kinds):
        overlapping = batch.rows(batch.found.distance < 0.0)
        exact = [polytope_distance(batch.a, X_a, batch.b, X_b) for X_a, X_b in zip(overlapping.X_a, overlapping.X_b)]
        check(overlapping, np.abs(overlapping.found.distance - exact), 1e-9, "exact overlap")


@everywhere
def test_distance_is_that_of_the_closest_points_bit_by_bit(kinds):
    batch = batches(kinds)[0]
    distance = collision.distance(batch.a.solid, batch.X_a, batch.b.solid, batch.X_b)
    assert np.array_equal(distance, batch.found.distance)
    again = [collision.distance(batch.a.solid, X_a, batch.b.solid, X_b) for X_a, X_b in zip(batch.X_a, batch.X_b)]
    assert np.array_equal(distance, again), "one by one and in stacks"


@everywhere
def test_exchange_turns_the_normal_round(kinds):
    for batch in batches(kinds):
        other = collision.closest_points(batch.b.solid, batch.X_b, batch.a.solid, batch.X_a)
        bound = tolerance(batch.a, batch.b)
        check(batch, np.abs(other.distance - batch.found.distance), bound, "exchanged")
        # where the normal is not unique it may be another one, with the same gap
        gaps = gap(batch.a, batch.X_a, batch.b, batch.X_b, -other.normal)
        check(batch, np.abs(gaps - batch.found.distance), bound, "gap along the exchanged normal")


@everywhere
def test_a_motion_of_both_changes_nothing(kinds):
    rng = generator(f"motion {kinds}")
    for batch in batches(kinds):
        X = pose(random_rotation(rng), rng.uniform(-3, 3, 3))
        moved = collision.distance(batch.a.solid, X @ batch.X_a, batch.b.solid, X @ batch.X_b)
        check(batch, np.abs(moved - batch.found.distance), tolerance(batch.a, batch.b), "moved")


@everywhere
def test_separation_makes_the_distance_grow(kinds):
    """Apart, along the normal, by the whole length; from an overlap at least by that, as another way out may open."""
    for batch in batches(kinds):
        for step in (1e-6, 1e-2):
            X_b = batch.X_b.copy()
            X_b[:, :3, 3] += step * batch.found.normal
            growth = collision.distance(batch.a.solid, batch.X_a, batch.b.solid, X_b) - batch.found.distance - step
            check(batch, -growth, tolerance(batch.a, batch.b), "growth")
            apart = batch.found.distance >= 0.0
            check(batch.rows(apart), np.abs(growth[apart]), tolerance(batch.a, batch.b), "growth of those apart")


# ------------------------------------------------------------------ lattices: shared faces, edges, corners


def box_distance(offset, half_a, half_b):
    """Boxes with parallel axes."""
    between = np.abs(offset) - half_a - half_b
    return np.linalg.norm(np.maximum(between, 0.0), axis=-1) + np.minimum(between.max(axis=-1), 0.0)


def lattice(a, b, half_a, half_b, X):
    """b on a lattice around a: every combination of apart, flush, overlapping and level, along each axis."""
    steps = [[-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5]] * 3
    aligned = [half_a - half_b, half_b - half_a]
    offsets = np.concatenate([np.array(list(itertools.product(*steps))) * (half_a + half_b), aligned])
    X_a = np.broadcast_to(X, (len(offsets), 4, 4)).copy()
    X_b = np.array([X @ pose(np.eye(3), offset) for offset in offsets])
    expected = box_distance(offsets, half_a, half_b)
    return Batch(a, b, X_a, X_b, expected, [f"offset {o.tolist()}" for o in offsets])


@pytest.mark.parametrize("frame", ["own", "turned", "far away"])
@pytest.mark.parametrize("kinds", [("box", "box"), ("box", "hull"), ("hull", "box"), ("hull", "hull")], ids="-".join)
def test_boxes_on_a_lattice_share_faces_edges_and_corners(kinds, frame):
    make = {"box": lambda half: Shape("box", tuple(half)), "hull": box_as_hull}
    rng = generator("lattice")
    X = pose(np.eye(3) if frame == "own" else random_rotation(rng), np.zeros(3) if frame != "far away" else [3e3, -2e3, 1e3])
    for half_a, half_b in [([0.1, 0.1, 0.1], [0.1, 0.1, 0.1]), ([0.1, 0.2, 0.05], [0.05, 0.1, 0.1])]:
        half_a, half_b = np.array(half_a), np.array(half_b)
        batch = lattice(make[kinds[0]](half_a), make[kinds[1]](half_b), half_a, half_b, X)
        check(batch, np.abs(batch.found.distance - batch.target), 1e-9, "distance on the lattice")
        check(batch, np.abs(np.linalg.norm(batch.found.normal, axis=1) - 1.0), 1e-12, "length of the normal")
        check(batch, np.abs(batch.found.distance - batch.gap), 1e-9, "distance − s(n)")


# ------------------------------------------------------------------ coincidence


OVERLAP = {
    "sphere": lambda s: 2 * s[0],
    "capsule": lambda s: 2 * s[0],
    "cylinder": lambda s: 2 * min(s),
    "box": lambda s: 2 * min(s),
    "ellipsoid": lambda s: 2 * min(s),
}


@everywhere
def test_at_the_same_pose_there_is_still_a_normal(kinds):
    rng = generator(f"same {kinds}")
    for _ in range(10):
        a, b = (random_shape(kind, rng) for kind in kinds)
        if kinds[0] == kinds[1]:
            b = a
        X = np.array([np.eye(4), pose(random_rotation(rng), rng.uniform(-1, 1, 3))])
        X_b = np.concatenate([X, X @ pose(np.diag([1.0, -1.0, -1.0]), np.zeros(3))])
        batch = Batch(a, b, np.concatenate([X, X]), X_b, np.zeros(4), ["same pose", "turned"] * 2)
        check(batch, np.abs(np.linalg.norm(batch.found.normal, axis=1) - 1.0), 1e-12, "length of the normal")
        check(batch, np.abs(batch.found.distance - batch.gap), tolerance(a, b), "distance − s(n)")
        if "plane" in kinds:
            continue
        largest = largest_gap(a, batch.X_a, b, batch.X_b, batch.found.normal)
        check(batch, largest - batch.found.distance, tolerance(a, b), "a larger gap exists")
        if a is b and a.kind in OVERLAP:
            check(batch, np.abs(batch.found.distance + OVERLAP[a.kind](a.sizes)), tolerance(a, b), "overlap with itself")


# ------------------------------------------------------------------ extreme sizes and places


def stretched(shape, factors):
    """The same kind of shape, thinner, longer, smaller or larger."""
    if shape.kind == "hull":
        return Shape("hull", corners=shape.corners * factors)
    return Shape(shape.kind, tuple(float(s * f) for s, f in zip(shape.sizes, factors)))


EXTREMES = {
    "plate": ((1.0, 1.0, 1e-4), (1.0, 1.0, 1.0)),
    "needle": ((1e-3, 1e-3, 5.0), (1.0, 1.0, 1.0)),
    "two needles": ((1e-3, 1e-3, 5.0), (1e-3, 1e-3, 5.0)),
    "tiny": ((1e-4, 1e-4, 1e-4), (1e-4, 1e-4, 1e-4)),
    "huge and tiny": ((1e3, 1e3, 1e3), (1e-3, 1e-3, 1e-3)),
    "huge": ((1e3, 1e3, 1e3), (1e3, 1e3, 1e3)),
}


@pytest.mark.parametrize("extreme", EXTREMES)
@everywhere
def test_extreme_sizes(kinds, extreme):
    rng, (first, second) = generator(f"extreme {kinds} {extreme}"), EXTREMES[extreme]
    for _ in range(4):
        a, b = stretched(random_shape(kinds[0], rng), first), stretched(random_shape(kinds[1], rng), second)
        small = min(s.size for s in (a, b) if s.kind != "plane")
        cases = []
        for share in (0.0, 0.3, 3.0, -1e-3, -0.05):
            for _ in range(4):
                cases.append((*placed_by_features(a, b, share * small, rng), share * small, f"{extreme}, {share} of the size"))
        X_a, X_b, target, label = zip(*cases)
        batch = Batch(a, b, np.array(X_a), np.array(X_b), np.array(target), list(label))
        bound = tolerance(a, b) * batch.scale
        check(batch, np.abs(np.linalg.norm(batch.found.normal, axis=1) - 1.0), 1e-12, "length of the normal")
        check(batch, np.abs(batch.found.distance - batch.gap), bound, "distance − s(n)")
        apart = batch.target >= 0.0
        check(batch.rows(apart), np.abs(batch.found.distance - batch.target)[apart], bound, "distance")
        check(batch, batch.target - batch.found.distance, bound, "deeper than placed")


@everywhere
def test_far_from_the_origin_nothing_is_lost_but_the_digits_of_the_poses(kinds):
    """At 10 km a pose has digits down to 2e-12 m."""
    for batch in batches(kinds)[:2]:
        X_a, X_b = batch.X_a.copy(), batch.X_b.copy()
        for X in (X_a, X_b):
            X[:, :3, 3] += [1e4, -8e3, 9e3]
        rounding = 1e-11
        far = collision.closest_points(batch.a.solid, X_a, batch.b.solid, X_b)
        check(batch, np.abs(far.distance - batch.found.distance), tolerance(batch.a, batch.b) + rounding, "far away")
