"""Pictures of robots without a graphics card: rays through the pixels near each geom, in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin, tan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import dynamics
from .._native import Model
from .shapes import Floats, Shape, shape_of

SKY = np.array([[232, 239, 246], [178, 205, 230]], dtype=np.float32)  # at the horizon, above
GROUND = np.array([[205, 211, 216], [186, 194, 201]], dtype=np.float32)  # two kinds of tiles
PALETTE = np.array([[74, 111, 165], [231, 142, 75], [96, 163, 120], [176, 110, 168], [202, 172, 82]], dtype=np.float32)
FIXED = np.array([120, 126, 132], dtype=np.float32)  # what belongs to the world
LIGHT = np.array([-0.35, -0.5, 0.8], dtype=np.float32) / np.float32(np.linalg.norm([-0.35, -0.5, 0.8]))
SHADE = np.float32(0.62)  # of the ground where the light does not reach
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
HAZE = 18.0  # tiles fade within so many meters
RENDER_MODES = ("rgb_array",)
FINE = 2  # rays per pixel, along each side, where there are geoms

Vector = NDArray[np.float64]
Block = tuple[slice, slice]
Placed = tuple[Shape, Vector, Vector]


def check_render_mode(mode: str | None) -> None:
    if mode not in (None, *RENDER_MODES):
        raise ValueError(
            f"render_mode: expected 'rgb_array' or None, got {mode!r}: there is no window. "
            "To look at an episode in a browser: slipstick.gym.make(…), then env.replay().save('episode.html')"
        )


@dataclass(frozen=True)
class Camera:
    """Looks at the robot and goes with it."""

    distance: float
    """From the robot's center (m)."""
    azimuth: float = 20.0
    """From the view along y, to which x is to the right (degrees)."""
    elevation: float = 10.0
    """Above the horizontal (degrees)."""
    field_of_view: float = 45.0
    """Vertical (degrees)."""


class Picture:
    """Draws states of a model."""

    def __init__(self, model: Model, width: int = 480, height: int = 360, camera: Camera | None = None) -> None:
        if not (isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0):
            raise ValueError(f"width, height: expected whole numbers of at least 1, got {width!r}, {height!r}")
        self.model = model
        self.size = (height, width)
        bodies = {name: k for k, name in enumerate(model.body_names)}
        geoms = [model.geom(k) for k in range(model.n_geoms)]
        self.shapes = [shape_of(geom, bodies[geom.body]) for geom in geoms if geom.type != "plane"]
        # a robot on a limited rail is seen from a fixed place
        self.follows = not np.isfinite(model.lower[0])
        self.center = self._center(self._home())
        self.camera = camera or self._default_camera()
        floors = [float(geom.position[2]) for geom in geoms if geom.type == "plane"]
        self.floor = floors[0] if floors else self.center[2] - 0.55 * self.camera.distance * 0.5
        self._colors = self._colors_of_bodies()
        self._aim()

    def draw(self, q: NDArray[np.float64]) -> NDArray[np.uint8]:
        """The robot at q, (height, width, 3)."""
        if self.follows:
            self.center[:2] = self._center(q)[:2]
        eye = self.center + self.offset
        image = self._background(eye)
        pose = dynamics.kinematics(self.model, q)
        placed = [_placed(shape, pose) for shape in self.shapes]
        for shape, position, rotation in placed:
            if shape.body:
                self._shadow(image, eye, shape, position, rotation)
        self._robot(image, eye, placed)
        return np.clip(image, 0, 255).astype(np.uint8)

    def _home(self) -> NDArray[np.float64]:
        names = self.model.keyframe_names
        return self.model.keyframe("home" if "home" in names else names[0]).q if names else self.model.neutral()

    def _center(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array(dynamics.center_of_mass(self.model, q))

    def _default_camera(self) -> Camera:
        """Far enough to see the robot at home with room around it."""
        pose = dynamics.kinematics(self.model, self._home())
        reach = [np.linalg.norm(_placed(shape, pose)[1] - self.center) + shape.radius for shape in self.shapes]
        around = float(max(reach, default=1.0))
        if "free" in self.model.joint_types:
            return Camera(3.4 * around, azimuth=35.0, elevation=18.0)
        return Camera((3.4 if self.follows else 2.2) * around)

    def _colors_of_bodies(self) -> Floats:
        """By depth in the tree, as in replays."""
        depth = [0]
        for parent in self.model.parents[1:]:
            depth.append(depth[parent] + 1)
        colors = PALETTE[(np.array(depth) - 1) % len(PALETTE)]
        colors[0] = FIXED
        return np.asarray(colors, dtype=np.float32)

    def _aim(self) -> None:
        """Rays through pixels, which do not change: the camera moves without turning."""
        view, (height, width) = self.camera, self.size
        a, e = radians(view.azimuth), radians(view.elevation)
        self.forward = np.array([-sin(a) * cos(e), cos(a) * cos(e), -sin(e)])
        self.right = np.array([cos(a), sin(a), 0.0])
        self.up = np.cross(self.right, self.forward)
        self.offset = -view.distance * self.forward
        self.focal = 0.5 * height / tan(radians(view.field_of_view) / 2)
        self.rays = self._rays(height, width, 1)
        self.fine_rays = self._rays(height, width, FINE)
        down = self.rays[..., 2]
        self.per_height = np.where(down < -1e-3, 1 / np.minimum(down, -1e-3), 0).astype(np.float32)

    def _rays(self, height: int, width: int, fine: int) -> Floats:
        x = (np.arange(fine * width) + 0.5) / fine - width / 2
        y = height / 2 - (np.arange(fine * height) + 0.5) / fine
        rays = self.forward + (x[None, :, None] * self.right + y[:, None, None] * self.up) / self.focal
        return np.asarray(rays / np.linalg.norm(rays, axis=-1, keepdims=True), dtype=np.float32)

    def _background(self, eye: Vector) -> Floats:
        """Sky, and a ground of tiles that fade into it."""
        image = SKY[0] + np.clip(4 * self.rays[..., 2:], 0, 1) * (SKY[1] - SKY[0])
        t = self.per_height * np.float32(self.floor - eye[2])
        rows = np.flatnonzero((t > 0).any(1))
        if rows.size:
            block, t = slice(rows[0], None), t[rows[0] :]
            along = _single(eye[:2]) + t[..., None] * self.rays[block, :, :2]
            # as wide as the footprint of a pixel, so that distant tiles do not flicker
            width = np.maximum(t / np.float32(self.focal), 1e-3) / np.maximum(-self.rays[block, :, 2], 0.05)
            tile = 0.5 - 0.5 * _stripes(along[..., 0], width) * _stripes(along[..., 1], width)
            color = GROUND[0] + tile[..., None] * (GROUND[1] - GROUND[0])
            haze = np.where(t > 0, np.exp(-((t / HAZE) ** 2)), 0)[..., None]
            image[block] = image[block] + haze * (color - image[block])
        return np.asarray(image, dtype=np.float32)

    def _block(self, eye: Vector, corners: Vector) -> Block | None:
        """Pixels that may see what lies between these points."""
        relative = corners - eye
        depth = relative @ self.forward
        if depth.min() < 0.05:
            return None
        x = self.focal * (relative @ self.right) / depth + self.size[1] / 2
        y = self.size[0] / 2 - self.focal * (relative @ self.up) / depth
        rows = slice(max(0, int(y.min()) - 1), min(self.size[0], int(y.max()) + 2))
        columns = slice(max(0, int(x.min()) - 1), min(self.size[1], int(x.max()) + 2))
        return (rows, columns) if rows.stop > rows.start and columns.stop > columns.start else None

    def _shadow(self, image: Floats, eye: Vector, shape: Shape, position: Vector, rotation: Vector) -> None:
        """Darkens the ground from which a ray to the light meets the shape."""
        corners = _corners(shape, position, rotation)
        block = self._block(eye, corners - LIGHT * ((corners[:, 2:] - self.floor) / LIGHT[2]))
        if block is None:
            return
        rays = self.rays[block]
        t = self.per_height[block] * np.float32(self.floor - eye[2])
        ground = _single(eye) + t[..., None] * rays
        origin = _single((ground - position).reshape(-1, 3) @ rotation)
        toward = np.broadcast_to(_single(LIGHT @ rotation), origin.shape)
        dark = np.isfinite(shape.meet(origin, toward, shape.size)[0]).reshape(t.shape) & (t > 0)
        floor = np.float32(SHADE) * GROUND.mean(0)
        fade = np.exp(-((t / np.float32(HAZE)) ** 2))[..., None]
        darkened = np.minimum(image[block], floor + (1 - fade) * (SKY[0] - floor))
        image[block] = np.where(dark[..., None], darkened, image[block])

    def _robot(self, image: Floats, eye: Vector, placed: list[Placed]) -> None:
        """All geoms, by several rays per pixel."""
        blocks = [self._block(eye, _corners(*each)) for each in placed]
        around = _around([block for block in blocks if block])
        if around is None:
            return
        fine = np.repeat(np.repeat(image[around], FINE, 0), FINE, 1)
        depth = np.full(fine.shape[:2], np.inf, dtype=np.float32)
        for each, block in zip(placed, blocks):
            if block:
                rays = self.fine_rays[_times(block, (0, 0))]
                inside = _times(block, (around[0].start, around[1].start))
                self._geom(fine[inside], depth[inside], rays, eye, each)
        height, width = fine.shape[0] // FINE, fine.shape[1] // FINE
        image[around] = fine.reshape(height, FINE, width, FINE, 3).mean((1, 3))

    def _geom(self, image: Floats, depth: Floats, rays: Floats, eye: Vector, placed: Placed) -> None:
        """Draws a geom where it is nearer than what is there."""
        shape, position, rotation = placed
        direction = rays.reshape(-1, 3) @ _single(rotation)
        origin = np.broadcast_to(_single((eye - position) @ rotation), direction.shape)
        t, normal = shape.meet(origin, direction, shape.size)
        t = t.reshape(depth.shape)
        seen = t < depth
        facing = normal[seen.ravel()] @ _single(rotation.T)
        facing /= np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-9)
        image[seen] = _shaded(self._colors[shape.body], facing, rays[seen])
        depth[seen] = t[seen]


def _single(x: NDArray[Any]) -> Floats:
    return np.asarray(x, dtype=np.float32)


def _placed(shape: Shape, pose: Any) -> Placed:
    rotation = pose.rotation[shape.body]
    return shape, pose.position[shape.body] + rotation @ shape.position, rotation @ shape.rotation


def _corners(shape: Shape, position: Vector, rotation: Vector) -> Vector:
    return position + (CORNERS * shape.half) @ rotation.T


def _around(blocks: list[Block]) -> Block | None:
    """The rectangle that holds all blocks."""
    if not blocks:
        return None
    rows, columns = zip(*blocks)
    return (
        slice(min(s.start for s in rows), max(s.stop for s in rows)),
        slice(min(s.start for s in columns), max(s.stop for s in columns)),
    )


def _times(block: Block, origin: tuple[int, int]) -> Block:
    """A block in fine pixels, counted from an origin."""
    rows, columns = (slice(FINE * (s.start - o), FINE * (s.stop - o)) for s, o in zip(block, origin))
    return rows, columns


def _stripes(x: NDArray[Any], width: NDArray[Any]) -> Floats:
    """±1 in turn for each meter, averaged over a width."""

    def integral(at: NDArray[Any]) -> NDArray[Any]:
        return np.abs((at / 2) % 1 - np.float32(0.5))

    return np.asarray(2 * (integral(x - width / 2) - integral(x + width / 2)) / width, dtype=np.float32)


def _shaded(color: Floats, normal: Floats, ray: Floats) -> Floats:
    """Light from the sun and the sky, and a soft reflection."""
    sun = np.maximum(normal @ LIGHT, 0)[:, None]
    sky = 0.5 + 0.5 * normal[:, 2:]
    reflected = LIGHT - ray
    gloss = np.maximum(np.einsum("ij,ij->i", normal, reflected) / np.linalg.norm(reflected, axis=1), 0)[:, None] ** 40
    return np.asarray(color * (0.34 + 0.2 * sky + 0.52 * sun) + 60 * gloss, dtype=np.float32)
