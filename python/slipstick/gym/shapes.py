"""Where rays meet shapes.

Origins and directions (k, 3) are in the axes of the shape. Results: distance (k,), infinite where a ray misses, and a normal (k, 3)
of any length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._native import Geom

Floats = NDArray[np.float32]
Hit = tuple[Floats, Floats]
Meet = Callable[[Floats, Floats, Floats], Hit]
NEVER = np.float32(np.inf)


@dataclass(frozen=True)
class Shape:
    """A geom as rays see it: its place on its body, its size, and half the edges of the box around it."""

    body: int
    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    size: Floats
    half: Floats
    meet: Meet

    @property
    def radius(self) -> float:
        """Of a sphere around it."""
        return float(np.linalg.norm(self.half))


def shape_of(geom: Geom, body: int) -> Shape:
    """Meshes and other shapes without a formula are drawn as the ellipsoid in their bounding box."""
    size, position = np.asarray(geom.size, dtype=np.float32), geom.position
    meet = MEETS.get(geom.type)
    if meet is None:
        corners = geom.mesh[0] if geom.mesh is not None else np.zeros((1, 3))
        low, high = corners.min(0), corners.max(0)
        position = position + geom.rotation @ ((low + high) / 2)
        size, meet = ((high - low) / 2 + 1e-3).astype(np.float32), ellipsoid
    return Shape(body, position, geom.rotation, size, _half(geom.type, size), meet)


def _half(kind: str, size: Floats) -> Floats:
    if kind == "sphere":
        return np.repeat(size, 3)
    if kind in ("capsule", "cylinder"):
        return np.array([size[0], size[0], size[1] + (size[0] if kind == "capsule" else 0)], dtype=np.float32)
    return size


def ellipsoid(origin: Floats, direction: Floats, size: Floats) -> Hit:
    o, d = origin / size, direction / size
    t, _ = sphere(o, d, np.ones(1, dtype=np.float32))
    return t, (o + _finite(t)[:, None] * d) / size


def sphere(origin: Floats, direction: Floats, size: Floats) -> Hit:
    t = _first_root(_dot(direction, direction), _dot(origin, direction), _dot(origin, origin) - size[0] ** 2)
    return t, origin + _finite(t)[:, None] * direction


def capsule(origin: Floats, direction: Floats, size: Floats) -> Hit:
    """Radius and half length of the straight part, along z."""
    radius, half = size
    side, normal = _side(origin, direction, radius, half)
    for end in (-half, half):
        offset = origin - np.array([0, 0, end], dtype=np.float32)
        cap, outward = sphere(offset, direction, size)
        side, normal = _nearer(side, normal, cap, outward)
    return side, normal


def cylinder(origin: Floats, direction: Floats, size: Floats) -> Hit:
    """Radius and half length, along z."""
    radius, half = size
    t, normal = _side(origin, direction, radius, half)
    for end in (-half, half):
        cap = _divide(end - origin[:, 2], direction[:, 2])
        x = origin[:, :2] + _finite(cap)[:, None] * direction[:, :2]
        cap = np.where((cap > 0) & (_dot(x, x) < radius**2), cap, NEVER)
        t, normal = _nearer(t, normal, cap, np.broadcast_to(np.array([0, 0, np.sign(end)], np.float32), normal.shape))
    return t, normal


def box(origin: Floats, direction: Floats, size: Floats) -> Hit:
    """Half lengths."""
    enter = _divide(-np.sign(direction) * size - origin, direction)
    leave = _divide(np.sign(direction) * size - origin, direction)
    axis = enter.argmax(1)
    t = enter.max(1)
    t = np.where((t > 0) & (t <= leave.min(1)), t, NEVER).astype(np.float32)
    normal = -np.sign(direction) * (np.arange(3) == axis[:, None])
    return t, normal.astype(np.float32)


def _side(origin: Floats, direction: Floats, radius: np.float32, half: np.float32) -> Hit:
    o, d = origin[:, :2], direction[:, :2]
    t = _first_root(_dot(d, d), _dot(o, d), _dot(o, o) - radius**2)
    point = origin + _finite(t)[:, None] * direction
    t = np.where(np.abs(point[:, 2]) <= half, t, NEVER)
    return t, point * np.array([1, 1, 0], dtype=np.float32)


def _first_root(a: Floats, b: Floats, c: Floats) -> Floats:
    """The least positive root of a t² + 2 b t + c, seen from outside."""
    inside = b * b - a * c
    t = _divide(-b - np.sqrt(np.maximum(inside, 0)), a)
    return np.where((inside > 0) & (t > 0), t, NEVER).astype(np.float32)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", a, b), dtype=np.float32)


def _nearer(t: Floats, normal: Floats, other: Floats, outward: Floats) -> Hit:
    closer = other < t
    return np.where(closer, other, t), np.where(closer[:, None], outward, normal)


def _finite(t: Floats) -> Floats:
    return np.where(t < NEVER, t, np.float32(0))


def _divide(a: Floats, b: Floats) -> Floats:
    # a ray along a face is moved off it by a millionth
    return np.asarray(a / np.where(np.abs(b) < 1e-6, np.float32(1e-6), b), dtype=np.float32)


MEETS: dict[str, Meet] = {"sphere": sphere, "capsule": capsule, "cylinder": cylinder, "box": box, "ellipsoid": ellipsoid}
