"""A Simulator that runs beside the clock on the wall, driven and dragged from the browser."""

from __future__ import annotations

import time as clock
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import dynamics
from .._native import DivergenceError, Simulator, Step
from ..errors import DynamicsError
from ._view import FRAME_TIME, View

Array = NDArray[np.float64]
STIFFNESS = 100.0
"""Of the spring that drags, per kilogram of the robot (1/s²)."""
STRONGEST = 3.0
"""Of its force, in weights of the robot."""
WITHOUT_RANGE = 1.0
"""Sliders of controls without a range go so far beyond their start."""


class Live:
    """Steps a Simulator and shows it. `advance` makes one picture, `run` many.

    view: what shows it, by default a new View with the options that are left.
    """

    def __init__(self, sim: Simulator, view: View | None = None, **options: Any) -> None:
        self.sim, self.model = sim, sim.model
        self.view = View(self.model, **options) if view is None else view
        self.server = self.view.server
        self.body: int | None = None
        """Which one is dragged."""
        self.last: Step | None = None
        gui: Any = self.server.gui
        names = self.model.keyframe_names
        self.start = self.model.keyframe("home") if "home" in names else None
        self.running = gui.add_checkbox("run", True)
        self.speed = gui.add_slider("speed", 0.05, 2.0, 0.05, 1.0)
        self.with_forces = gui.add_checkbox("contact forces", True)
        self.message = gui.add_markdown("")
        # callbacks come on other threads: they leave a word, or the number of a body to be grabbed, for the next picture
        self._wanted: SimpleQueue[str | int] = SimpleQueue()
        for word in ("step", "reset", "let go"):
            gui.add_button(word).on_click(partial(self._want, word))
        with gui.add_folder("controls", visible=self.model.nu > 0):
            self.sliders = [self._slider(k) for k in range(self.model.nu)]
        add = self.server.scene.add_transform_controls
        self.handle = add("/handle", scale=0.25, disable_rotations=True, depth_test=False, visible=False)
        self.mocap = [add(f"/mocap/{k}", scale=0.25, depth_test=False) for k in range(len(self.model.mocap_names))]
        self._place_mocap()
        for k, shape in self.view.shapes.items():
            body = self.model.body(self.model.geom(k).body).index
            if body and body not in self.view.mocap:
                shape.on_click(partial(self._want, body))

    def grab(self, body: int | str | None) -> None:
        """Puts the handle to a body; None takes it away."""
        index = None if body is None else self.model.body(body).index
        self.handle.visible = index is not None
        if index is not None:
            self.handle.position = self._center(index)[0]
        self.body = index

    def run(self, seconds: float | None = None) -> None:
        """Pictures beside the clock on the wall, for so many seconds or until Ctrl-C."""
        before = clock.monotonic()
        end = np.inf if seconds is None else before + seconds
        while (now := clock.monotonic()) < end:
            self.advance(now - before)
            before = now
            clock.sleep(max(0.0, FRAME_TIME - (clock.monotonic() - now)))

    def advance(self, seconds: float = FRAME_TIME) -> int:
        """Steps for so much time of the wall, at most for three pictures' worth: a slow robot falls behind the clock. Returns
        how many were made."""
        single = self._obey()
        time = min(seconds, 3 * FRAME_TIME) * self.speed.value
        steps = max(1, round(time / self.sim.dt)) if self.running.value else single
        for k, handle in enumerate(self.mocap):
            self.sim.set_mocap(self.model.mocap_names[k], pos=handle.position, quat=handle.wxyz)
        done = self._steps(steps)
        self._show()
        return done

    def reset(self) -> None:
        """To the keyframe `home`, if there is one, else to the neutral configuration."""
        self.sim.reset(keyframe=None if self.start is None else "home")
        self.last, self.message.content = None, ""
        self._place_mocap()
        for k, slider in enumerate(self.sliders):
            slider.value = float(np.clip(self._first_control(k), slider.min, slider.max))

    def _want(self, word: str | int, _: Any) -> None:
        self._wanted.put(word)

    def _obey(self) -> int:
        """Does what was wanted since the last picture; returns how many single steps are."""
        steps = 0
        while not self._wanted.empty():
            word = self._wanted.get()
            if word == "step":
                steps += 1
            elif word == "reset":
                self.reset()
            else:
                self.grab(None if word == "let go" else word)
        return steps

    def _steps(self, count: int) -> int:
        ctrl = np.array([slider.value for slider in self.sliders])
        for k in range(count):
            try:
                self.last = self.sim.step(ctrl=ctrl, wrenches=self._spring())
            except (DivergenceError, DynamicsError) as error:
                self.running.value, self.message.content = False, f"**stopped**: {error}"
                return k
        return count

    def _spring(self) -> Array | None:
        """The wrench of the handle on the body that it drags, at the body's center of mass."""
        if self.body is None:
            return None
        m, total = self.model.body_masses[self.body], self.model.total_mass
        center, velocity = self._center(self.body)
        force = STIFFNESS * total * (self.handle.position - center) - 2 * np.sqrt(STIFFNESS * total * m) * velocity
        strongest = STRONGEST * total * max(float(np.linalg.norm(self.model.gravity)), 1.0)
        wrenches = np.zeros((self.model.n_bodies, 6))
        wrenches[self.body, :3] = force * min(1.0, strongest / max(float(np.linalg.norm(force)), 1e-12))
        return wrenches

    def _center(self, body: int) -> tuple[Array, Array]:
        """Place and velocity of a body's center of mass."""
        q, v = self.sim.state.q, self.sim.state.v
        at, own = dynamics.kinematics(self.model, q), self.model.body(body)
        arm = at.rotation[body] @ own.center_of_mass
        velocity = dynamics.velocity(self.model, q, v, own.name)
        return at.position[body] + arm, velocity[:3] + np.cross(velocity[3:], arm)

    def _show(self) -> None:
        contacts = self.last.contacts if self.last is not None and self.with_forces.value else ()
        mocap = np.hstack([self.sim.mocap_pos, self.sim.mocap_quat]) if self.mocap else None
        self.view.show(self.sim.state.q, contacts=contacts, mocap=mocap)

    def _place_mocap(self) -> None:
        for handle, position, quaternion in zip(self.mocap, self.sim.mocap_pos, self.sim.mocap_quat):
            handle.position, handle.wxyz = position, quaternion

    def _first_control(self, k: int) -> float:
        return 0.0 if self.start is None else float(self.start.ctrl[k])

    def _slider(self, k: int) -> Any:
        first, low, high = self._first_control(k), float(self.model.ctrl_lower[k]), float(self.model.ctrl_upper[k])
        low = low if np.isfinite(low) else first - WITHOUT_RANGE
        high = high if np.isfinite(high) else first + WITHOUT_RANGE
        name = self.model.actuator_names[k] or f"control {k}"
        return self.server.gui.add_slider(name, low, high, (high - low) / 1000, float(np.clip(first, low, high)))
