"""Convex shapes as the tests see them: supports and surfaces in numpy, beside slipstick's solid and coal's geometry.

The gap of two shapes along a unit vector n (from a to b) is s(n) = min over b of n·x − max over a of n·x. The signed
distance is the largest gap over all n, so that every s(n) is a lower bound of it, whoever proposes n.
"""

import functools
import itertools
from dataclasses import dataclass

import coal
import numpy as np
from scipy.spatial import ConvexHull, QhullError
from slipstick import collision

KINDS = ["plane", "sphere", "capsule", "cylinder", "cone", "box", "ellipsoid", "hull"]
COMBINATIONS = [pair for pair in itertools.combinations_with_replacement(KINDS, 2) if pair != ("plane", "plane")]
CURVED = {"cylinder", "cone", "ellipsoid"}


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def rotation_between(a, b, spin):
    """A rotation that takes the unit vector a to b, turned about b by an angle."""

    def basis(n):
        t = unit(np.cross(n, np.eye(3)[np.argmin(np.abs(n))]))
        return np.column_stack([t, np.cross(n, t), n])

    c, s = np.cos(spin), np.sin(spin)
    return basis(b) @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ basis(a).T


def random_rotation(rng):
    w, x, y, z = unit(rng.normal(size=4))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def pose(rotation, position):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = rotation, position
    return X


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape in its own frame. `sizes` as slipstick's constructors take them; `corners` of a hull."""

    kind: str
    sizes: tuple = ()
    corners: np.ndarray | None = None

    def __repr__(self):
        return f"hull({self.corners.tolist()})" if self.kind == "hull" else f"{self.kind}{self.sizes}"

    @functools.cached_property
    def solid(self):
        match self.kind:
            case "plane":
                return collision.Plane()
            case "sphere" | "capsule" | "cylinder" | "cone":
                return getattr(collision, self.kind.capitalize())(*self.sizes)
            case "box":
                return collision.Box(self.sizes)
            case "ellipsoid":
                return collision.Ellipsoid(self.sizes)
        return collision.Hull(self.corners)

    @functools.cached_property
    def geometry(self):
        """Coal's shape; its lengths are whole where ours are half."""
        s = self.sizes
        match self.kind:
            case "plane":
                return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
            case "sphere":
                return coal.Sphere(s[0])
            case "capsule":
                return coal.Capsule(s[0], 2 * s[1])
            case "cylinder":
                return coal.Cylinder(s[0], 2 * s[1])
            case "cone":
                return coal.Cone(s[0], 2 * s[1])
            case "box":
                return coal.Box(*(2 * x for x in s))
            case "ellipsoid":
                return coal.Ellipsoid(*s)
        points = coal.StdVec_Vec3s()
        points.extend(list(self.corners))
        return coal.Convex.convexHull(points, True, "")

    @functools.cached_property
    def faces(self):
        """Triangles of a hull (corner numbers) and outward planes (normal, offset)."""
        hull = ConvexHull(self.corners)
        return hull.simplices, hull.equations

    @functools.cached_property
    def size(self):
        match self.kind:
            case "plane":
                return 0.0
            case "capsule":
                return sum(self.sizes)
            case "hull":
                return np.linalg.norm(self.corners, axis=1).max()
        return np.linalg.norm(self.sizes)

    def support(self, d):
        """max d·x over the shape, for d (..., 3) of any length. A plane is asked along its normal only."""
        s = self.sizes
        flat = np.hypot(d[..., 0], d[..., 1])
        match self.kind:
            case "plane":
                return np.zeros(d.shape[:-1])
            case "sphere":
                return s[0] * np.linalg.norm(d, axis=-1)
            case "capsule":
                return s[0] * np.linalg.norm(d, axis=-1) + s[1] * np.abs(d[..., 2])
            case "cylinder":
                return s[0] * flat + s[1] * np.abs(d[..., 2])
            case "cone":
                return np.maximum(s[1] * d[..., 2], s[0] * flat - s[1] * d[..., 2])
            case "box":
                return np.abs(d) @ np.array(s)
            case "ellipsoid":
                return np.linalg.norm(d * np.array(s), axis=-1)
        return (d @ self.corners.T).max(axis=-1)

    def outside(self, x):
        """How far points (..., 3) lie outside the shape (m), at most 0 inside."""
        s, z = self.sizes, x[..., 2]
        flat = np.hypot(x[..., 0], x[..., 1])
        match self.kind:
            case "plane":
                return z
            case "sphere":
                return np.linalg.norm(x, axis=-1) - s[0]
            case "capsule":
                return np.hypot(flat, np.maximum(np.abs(z) - s[1], 0.0)) - s[0]
            case "cylinder":
                return np.maximum(flat - s[0], np.abs(z) - s[1])
            case "cone":
                side = (2 * s[1] * flat + s[0] * (z - s[1])) / np.hypot(2 * s[1], s[0])
                return np.maximum(side, -s[1] - z)
            case "box":
                return (np.abs(x) - np.array(s)).max(axis=-1)
            case "ellipsoid":
                return (np.linalg.norm(x / np.array(s), axis=-1) - 1.0) * min(s)
        planes = self.faces[1]
        return (x @ planes[:, :3].T + planes[:, 3]).max(axis=-1)

    def feature(self, rng):
        """A random point of the surface and a unit normal there; edges and corners have many."""
        return _FEATURES[self.kind](self, rng)

    def directions(self):
        """Normals of faces and directions of edges of a polytope."""
        if self.kind == "box":
            return np.eye(3), np.eye(3)
        triangles, planes = self.faces
        edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
        edges = np.unique(np.sort(edges, axis=1), axis=0)
        return planes[:, :3], unit(self.corners[edges[:, 0]] - self.corners[edges[:, 1]])


def _around(angle):
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def _ball_feature(shape, rng):
    n = unit(rng.normal(size=3))
    return shape.sizes[0] * n, n


def _capsule_feature(shape, rng):
    radius, half = shape.sizes
    if rng.random() < 0.5:
        n = _around(rng.uniform(0, 2 * np.pi))
        return radius * n + [0.0, 0.0, rng.uniform(-half, half)], n
    n = unit(rng.normal(size=3))
    return radius * n + [0.0, 0.0, np.copysign(half, n[2])], n


def _disc(radius, z, rng):
    return radius * np.sqrt(rng.random()) * _around(rng.uniform(0, 2 * np.pi)) + [0.0, 0.0, z]


def _cylinder_feature(shape, rng):
    radius, half = shape.sizes
    radial, up = _around(rng.uniform(0, 2 * np.pi)), rng.choice([-1.0, 1.0])
    match rng.integers(3):
        case 0:
            return radius * radial + [0.0, 0.0, rng.uniform(-half, half)], radial
        case 1:
            return _disc(radius, up * half, rng), np.array([0.0, 0.0, up])
    blend = rng.uniform(0, np.pi / 2)
    return radius * radial + [0.0, 0.0, up * half], np.cos(blend) * radial + [0.0, 0.0, up * np.sin(blend)]


def _cone_feature(shape, rng):
    radius, half = shape.sizes
    radial, slope = _around(rng.uniform(0, 2 * np.pi)), np.arctan2(radius, 2 * half)
    lean = lambda angle: np.cos(angle) * radial + [0.0, 0.0, np.sin(angle)]
    match rng.integers(4):
        case 0:
            t = rng.random()
            return t * radius * radial + [0.0, 0.0, half - 2 * t * half], lean(slope)
        case 1:
            return _disc(radius, -half, rng), np.array([0.0, 0.0, -1.0])
        case 2:
            return np.array([0.0, 0.0, half]), lean(rng.uniform(slope, np.pi / 2))
    return radius * radial + [0.0, 0.0, -half], lean(rng.uniform(-np.pi / 2, slope))


def _box_feature(shape, rng):
    """Signs fix one, two or three coordinates: a face, an edge or a corner."""
    half, fixed = np.array(shape.sizes), rng.permutation(3) < rng.integers(1, 4)
    signs = rng.choice([-1.0, 1.0], 3)
    point = np.where(fixed, signs, rng.uniform(-1, 1, 3)) * half
    return point, unit(np.where(fixed, signs * np.abs(rng.normal(size=3)), 0.0))


def _ellipsoid_feature(shape, rng):
    n, radii = unit(rng.normal(size=3)), np.array(shape.sizes)
    return radii**2 * n / np.linalg.norm(radii * n), n


def _hull_feature(shape, rng):
    triangles, planes = shape.faces
    k = rng.integers(len(triangles))
    match rng.integers(3):
        case 0:
            return rng.dirichlet(np.ones(3)) @ shape.corners[triangles[k]], planes[k, :3]
        case 1:
            edge = set(rng.permutation(triangles[k])[:2])
            both = planes[[edge <= set(t) for t in triangles], :3]
            t = rng.random()
            return np.array([t, 1 - t]) @ shape.corners[list(edge)], unit(rng.dirichlet(np.ones(len(both))) @ both)
    corner = rng.choice(triangles[k])
    around = planes[(triangles == corner).any(axis=1), :3]
    return shape.corners[corner], unit(rng.dirichlet(np.ones(len(around))) @ around)


_FEATURES = {
    "plane": lambda shape, rng: (np.append(rng.uniform(-0.3, 0.3, 2), 0.0), np.array([0.0, 0.0, 1.0])),
    "sphere": _ball_feature,
    "capsule": _capsule_feature,
    "cylinder": _cylinder_feature,
    "cone": _cone_feature,
    "box": _box_feature,
    "ellipsoid": _ellipsoid_feature,
    "hull": _hull_feature,
}


def random_shape(kind, rng, scale=1.0):
    """Sizes between 5 and 30 cm, times `scale`."""
    s = tuple(float(x) for x in scale * rng.uniform(0.05, 0.3, 3))
    match kind:
        case "plane":
            return Shape("plane")
        case "sphere":
            return Shape("sphere", s[:1])
        case "capsule" | "cylinder" | "cone":
            return Shape(kind, s[:2])
        case "box" | "ellipsoid":
            return Shape(kind, s)
    while True:  # few points now and then make a needle that qhull refuses
        points = rng.normal(size=(rng.integers(4, 24), 3)) * s
        try:
            return Shape("hull", corners=points[ConvexHull(points).vertices])
        except QhullError:
            continue


def box_as_hull(half):
    return Shape("hull", corners=np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * half)


def world_support(shape, X, n):
    """max n·x over the shape at poses X (N, 4, 4), for n (N, ..., 3). A plane is asked along its own normal."""
    R, p = X[:, :3, :3], X[:, :3, 3]
    if shape.kind == "plane":
        return np.einsum("ni,ni->n", R[:, :, 2], p)[(...,) + (None,) * (n.ndim - 2)] + np.zeros(n.shape[:-1])
    return shape.support(np.einsum("nij,n...i->n...j", R, n)) + np.einsum("n...i,ni->n...", n, p)


def gap(a, X_a, b, X_b, n):
    """s(n) for n (N, ..., 3). Where a or b is a plane, n is taken to be its normal."""
    if a.kind == "plane":
        n = X_a[:, :3, 2] + np.zeros_like(n)
    if b.kind == "plane":
        n = -X_b[:, :3, 2] + np.zeros_like(n)
    center = X_a[:, :3, 3]  # heights are counted from here: far from the origin digits would be lost
    moved = [X.copy() for X in (X_a, X_b)]
    for X in moved:
        X[:, :3, 3] -= center
    return -world_support(b, moved[1], -n) - world_support(a, moved[0], n)


def _sphere_points(count):
    k = np.arange(count) + 0.5
    z, angle = 1 - 2 * k / count, np.pi * (1 + np.sqrt(5)) * k
    return np.column_stack([np.sqrt(1 - z * z) * np.cos(angle), np.sqrt(1 - z * z) * np.sin(angle), z])


def largest_gap(a, X_a, b, X_b, n, steps=45):
    """The largest s(n) that a search over the sphere finds, also around the given n (N, 3): a lower bound."""
    grid = np.concatenate([_sphere_points(200), np.eye(3), -np.eye(3)])
    grid = np.broadcast_to(grid, (len(n), *grid.shape))
    heights = gap(a, X_a, b, X_b, grid)
    best = np.argsort(-heights, axis=1)[:, :3]
    at = np.concatenate([np.take_along_axis(grid, best[..., None], axis=1), n[:, None]], axis=1)  # (N, 4, 3)
    value = gap(a, X_a, b, X_b, at)
    for k in range(steps):
        angles = np.arange(12) * (2 * np.pi / 12) + 0.7 * k
        t = unit(np.cross(at, np.eye(3)[np.argmin(np.abs(at), axis=-1)]))
        tangents = np.cos(angles)[:, None] * t[..., None, :] + np.sin(angles)[:, None] * np.cross(at, t)[..., None, :]
        near = unit(at[..., None, :] + 0.3 * 0.6**k * tangents)  # (N, 4, 12, 3)
        heights = gap(a, X_a, b, X_b, near.reshape(len(n), -1, 3)).reshape(near.shape[:-1])
        winner = np.argmax(heights, axis=-1)
        found = np.take_along_axis(heights, winner[..., None], axis=-1)[..., 0]
        step = np.take_along_axis(near, winner[..., None, None], axis=-2)[..., 0, :]
        at, value = np.where((found > value)[..., None], step, at), np.maximum(found, value)
    return value.max(axis=-1)


def polytope_distance(a, X_a, b, X_b):
    """Largest gap of two overlapping polytopes: at a face normal of either or the cross product of two edges."""
    (faces_a, edges_a), (faces_b, edges_b) = a.directions(), b.directions()
    R_a, R_b = X_a[:3, :3], X_b[:3, :3]
    crosses = np.cross((edges_a @ R_a.T)[:, None], (edges_b @ R_b.T)[None]).reshape(-1, 3)
    lengths = np.linalg.norm(crosses, axis=1)
    crosses = crosses[lengths > 1e-9] / lengths[lengths > 1e-9, None]
    axes = np.concatenate([faces_a @ R_a.T, faces_b @ R_b.T, crosses])
    return gap(a, X_a[None], b, X_b[None], np.concatenate([axes, -axes])[None]).max()
