"""Shapes of a robot as nodes of a scene, and their places."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from typing import Any

import numpy as np
import trimesh  # type: ignore[import-not-found,import-untyped,unused-ignore]
import viser  # type: ignore[import-not-found,unused-ignore]
from numpy.typing import ArrayLike, NDArray

from .. import dynamics
from .._native import Geom, Model, StepContact

Array = NDArray[np.float64]
FIXED, COLORS = (150, 156, 162), ((74, 111, 165), (231, 142, 75), (96, 163, 120), (176, 110, 168), (202, 172, 82))
FORCE = (200, 40, 40)
LONGEST = 1.0
"""Arrow of a force (m)."""
FRAME_TIME = 1 / 60
"""Between pictures (s)."""


class View:
    """Serves one robot; `server`: a viser.ViserServer with other things in its scene, in place of one of its own."""

    def __init__(self, model: Model, *, host: str = "127.0.0.1", port: int = 8080, server: Any = None) -> None:
        self.model = model
        self.server = viser.ViserServer(host=host, port=port, verbose=False) if server is None else server
        self.bodies, self.shapes = [], {}
        self.mocap = {model.body(name).index: k for k, name in enumerate(model.mocap_names)}
        with self.server.atomic():
            for i in range(model.n_bodies):
                self.bodies.append(self.server.scene.add_frame(f"/robot/{i}", show_axes=False))
            for k in range(model.n_geoms):
                self.shapes[k] = self._shape(model.geom(k))
            self.forces = self.server.scene.add_arrows(
                "/forces", np.zeros((1, 2, 3)), FORCE, shaft_radius=0.008, head_radius=0.02, head_length=0.04, visible=False
            )
        weight = model.total_mass * float(np.linalg.norm(model.gravity))
        self.length_of_force = 0.5 / weight if weight > 0 else 1.0  # the robot's weight is half a meter
        q = model.keyframe("home").q if "home" in model.keyframe_names else model.neutral()
        self.show(q)
        self._look_at_all(q)

    @property
    def url(self) -> str:
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def poses(self, q: ArrayLike, mocap: ArrayLike | None = None) -> tuple[Array, Array]:
        """Rotations (n, 3, 3) and positions (n, 3) of all bodies; mocap (k, 7): positions and quaternions of mocap bodies, by
        default those of the file."""
        at = dynamics.kinematics(self.model, q)
        R, p = at.rotation.copy(), at.position.copy()
        given = np.zeros((0, 7)) if mocap is None else np.asarray(mocap, float).reshape(-1, 7)
        if mocap is not None and len(given) != len(self.mocap):
            raise ValueError(f"mocap: expected {len(self.mocap)} poses of 7 numbers, got an array of shape {np.shape(mocap)}")
        moved: dict[int, tuple[Array, Array]] = {}  # what a mocap body carries goes along
        for i, parent in enumerate(self.model.parents):
            if mocap is not None and i in self.mocap:
                pose = given[self.mocap[i]]
                turn = viser.transforms.SO3(pose[3:] / np.linalg.norm(pose[3:])).as_matrix() @ R[i].T
                moved[i] = turn, pose[:3] - turn @ p[i]
            elif i and int(parent) in moved:
                moved[i] = moved[int(parent)]
            if i in moved:
                turn, shift = moved[i]
                R[i], p[i] = turn @ R[i], turn @ p[i] + shift
        return R, p

    def show(self, q: ArrayLike, *, contacts: Sequence[StepContact] = (), mocap: ArrayLike | None = None) -> None:
        """Puts the robot where q (nq,) says, with arrows for the forces of contacts."""
        R, p = self.poses(q, mocap)
        quaternions = viser.transforms.SO3.from_matrix(R).wxyz
        with self.server.atomic():
            for node, position, quaternion in zip(self.bodies, p, quaternions):
                node.position, node.wxyz = position, quaternion
            self._show_forces(contacts)

    def play(self, q: ArrayLike, time: ArrayLike, *, speed: float = 1.0, seconds: float | None = None) -> None:
        """Configurations (n, nq) at times (n,), again and again, for so many seconds or until Ctrl-C."""
        states, times = np.atleast_2d(np.asarray(q, float)), np.asarray(time, float)
        if len(states) != len(times) or len(times) == 0:
            raise ValueError(f"time: expected one for each of {len(states)} configurations, got {len(times)}")
        first, last = float(times[0]), float(times[-1])
        gui: Any = self.server.gui
        slider = gui.add_slider("time (s)", first, max(last, first + 1e-9), 1e-3, first)
        playing = gui.add_checkbox("play", True)
        end, before = np.inf if seconds is None else clock.monotonic() + seconds, clock.monotonic()
        try:
            while (now := clock.monotonic()) < end:
                if playing.value:
                    at = slider.value + speed * (now - before)
                    slider.value = first if at > last else at
                before = now
                self.show(states[min(int(np.searchsorted(times, slider.value)), len(times) - 1)])
                clock.sleep(FRAME_TIME)
        finally:
            slider.remove()
            playing.remove()

    def close(self) -> None:
        self.server.stop()

    def _show_forces(self, contacts: Sequence[StepContact]) -> None:
        starts = np.array([contact.point for contact in contacts]).reshape(-1, 3)
        forces = np.array([contact.force for contact in contacts]).reshape(-1, 3)
        self.forces.visible = len(starts) > 0
        if len(starts):
            arrows = self.length_of_force * forces
            arrows *= np.minimum(1.0, LONGEST / np.maximum(np.linalg.norm(arrows, axis=1, keepdims=True), 1e-12))
            self.forces.points = np.stack([starts, starts + arrows], 1).astype(np.float32)

    def _shape(self, geom: Geom) -> Any:
        body = self.model.body(geom.body).index
        name = f"/robot/{body}/{geom.index}"
        place: dict[str, Any] = dict(position=geom.position, wxyz=geom.quaternion)
        if geom.type == "plane":
            return self.server.scene.add_grid(name, 40.0, 40.0, cell_size=1.0, section_size=5.0, plane_opacity=0.4, **place)
        color = FIXED if body == 0 else COLORS[body % len(COLORS)]
        vertices, faces = triangles(geom)
        flat = geom.type in ("box", "mesh")
        return self.server.scene.add_mesh_simple(name, vertices, faces, color=color, flat_shading=flat, **place)

    def _look_at_all(self, q: ArrayLike) -> None:
        places = self.poses(q)[1][1:]
        center = places.mean(0) if len(places) else np.zeros(3)
        size = 0.3 + float(np.abs(places - center).max(initial=0.0))
        self.server.scene.set_up_direction("+z")
        self.server.initial_camera.look_at = center
        self.server.initial_camera.position = center + size * np.array([1.2, -2.4, 0.9])


def triangles(geom: Geom) -> tuple[Array, NDArray[np.int64]]:
    """Corners (n, 3) and triangles (m, 3) of a shape, in its axes (m)."""
    if geom.mesh is not None:
        return geom.mesh
    size, make = geom.size, trimesh.creation
    if geom.type == "sphere":
        shape = make.icosphere(subdivisions=3, radius=size[0])
    elif geom.type == "ellipsoid":
        shape = make.icosphere(subdivisions=3).apply_scale(size)
    elif geom.type == "box":
        shape = make.box(extents=2 * size)
    elif geom.type == "capsule":
        shape = make.capsule(radius=size[0], height=2 * size[1])
    elif geom.type == "cylinder":
        shape = make.cylinder(radius=size[0], height=2 * size[1])
    else:  # a cone, whose tip is above
        shape = make.cone(radius=size[0], height=2 * size[1]).apply_translation([0, 0, -size[1]])
    return np.asarray(shape.vertices, float), np.asarray(shape.faces, np.int64)
