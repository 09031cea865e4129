"""Collision queries: distances, contacts and rays, for single shapes and for whole models.

    from slipstick import collision
    ball, slab = collision.Sphere(0.1), collision.Box([0.5, 0.5, 0.05])
    collision.distance(ball, ([0, 0, 0.2], [1, 0, 0, 0]), slab, ([0, 0, 0], [1, 0, 0, 0]))  # 0.05
    contacts = collision.detect(model, model.keyframe("home").q)

A pose is a 4×4 matrix or a tuple (position, quaternion), quaternions (w, x, y, z). Normals point from the first shape to
the second; distances are negative where shapes overlap.
"""

from numpy.typing import ArrayLike

from ._native import (
    ClosestPoints,
    Contact,
    ContactDerivatives,
    ContactPoint,
    ModelHit,
    RayHit,
    Solid,
    closest_points,
    contact,
    derivatives,
    detect,
    distance,
    geom_distance,
    raycast,
    raycast_model,
)

__all__ = [
    "Box",
    "Capsule",
    "ClosestPoints",
    "Cone",
    "Contact",
    "ContactDerivatives",
    "ContactPoint",
    "Cylinder",
    "Ellipsoid",
    "Hull",
    "ModelHit",
    "Plane",
    "RayHit",
    "Solid",
    "Sphere",
    "closest_points",
    "contact",
    "derivatives",
    "detect",
    "distance",
    "geom_distance",
    "raycast",
    "raycast_model",
]


class Plane(Solid):
    """The half-space below z = 0."""

    __slots__ = ()

    def __new__(cls):
        return super().__new__(cls, "plane", ())

    def __repr__(self):
        return "Plane()"

    def __getnewargs__(self):
        return ()


class Sphere(Solid):
    """A ball around the origin. radius (m)."""

    __slots__ = ()

    def __new__(cls, radius: float):
        return super().__new__(cls, "sphere", [radius])

    @property
    def radius(self) -> float:
        return float(self._sizes[0])

    def __repr__(self):
        return f"Sphere({self.radius})"

    def __getnewargs__(self):
        return (self.radius,)


class _Upright(Solid):
    """A shape along z with a radius and half a length."""

    __slots__ = ()
    _kind: str

    def __new__(cls, radius: float, half_length: float):
        return super().__new__(cls, cls._kind, [radius, half_length])

    @property
    def radius(self) -> float:
        return float(self._sizes[0])

    @property
    def half_length(self) -> float:
        return float(self._sizes[1])

    def __repr__(self):
        return f"{type(self).__name__}({self.radius}, {self.half_length})"

    def __getnewargs__(self):
        return (self.radius, self.half_length)


class Capsule(_Upright):
    """All points nearer than radius (m) to a segment from z = -half_length to half_length (m)."""

    __slots__ = ()
    _kind = "capsule"


class Cylinder(_Upright):
    """A cylinder along z with a radius (m), from z = -half_length to half_length (m)."""

    __slots__ = ()
    _kind = "cylinder"


class Cone(_Upright):
    """A cone along z: a base with a radius (m) at z = -half_length, the apex at z = half_length (m)."""

    __slots__ = ()
    _kind = "cone"


class Box(Solid):
    """A box around the origin. half_size (3,): half the edge lengths (m)."""

    __slots__ = ()

    def __new__(cls, half_size: ArrayLike):
        return super().__new__(cls, "box", half_size)

    @property
    def half_size(self):
        return self._sizes

    def __repr__(self):
        return f"Box({self.half_size.tolist()})"

    def __getnewargs__(self):
        return (self.half_size,)


class Ellipsoid(Solid):
    """An ellipsoid around the origin. radii (3,) along x, y, z (m)."""

    __slots__ = ()

    def __new__(cls, radii: ArrayLike):
        return super().__new__(cls, "ellipsoid", radii)

    @property
    def radii(self):
        return self._sizes

    def __repr__(self):
        return f"Ellipsoid({self.radii.tolist()})"

    def __getnewargs__(self):
        return (self.radii,)


class Hull(Solid):
    """The smallest convex body around points (n, 3) (m). Raises ValueError for points in one plane."""

    __slots__ = ()

    def __new__(cls, points: ArrayLike):
        return super().__new__(cls, "hull", points)

    @property
    def points(self):
        """The vertices of the hull: (n, 3) (m)."""
        return self._corners

    def __repr__(self):
        return f"<slipstick.collision.Hull with {len(self.points)} vertices>"

    def __getnewargs__(self):
        return (self.points,)
