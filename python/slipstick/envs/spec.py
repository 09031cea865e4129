"""What a task is: a robot, a clock, and functions of its states, written once for numpy and jax.numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._native import Model, builtin

Array = Any
"""An array of numpy or of JAX, as `xp` makes them."""
Terms = dict[str, Array]
RobotModel = str | Callable[[], Model]
"""Name of a built-in robot, or what makes one."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A task without a state of its own. All arrays have leading axes of environments.

    `xp` is numpy or jax.numpy. Actions are in [-1, 1], (…, action_size). Nothing branches on a value: functions may be
    compiled, batched and differentiated. The reward belongs to the state after the control step.
    """

    name: str
    """Word for `make_spec`."""
    rules: str = "smooth"
    """Where reward, observation, ends and starts are from: "smooth" (DiffRL, the paper) or "gymnasium" (its v5)."""
    version: int = 0
    """Grows when numbers change for the same states and actions."""
    description: str = ""
    """One sentence."""
    model: RobotModel
    """The robot: a name or a function."""
    dt: float = 1 / 240
    """An engine step (s)."""
    hold: int = 4
    """Engine steps in a control step."""
    length: int = 1000
    """Control steps in an episode."""
    action_scale: float = 1.0
    """Controls per action."""
    largest_speed: float = 1e3
    """An environment with a faster degree of freedom has diverged (m/s, rad/s)."""
    position_noise: float = 0.0
    """Half the range of start coordinates (m, rad)."""
    velocity_noise: float = 0.0
    """Half the range of start velocities (m/s, rad/s)."""

    observations: ClassVar[tuple[tuple[str, int], ...]] = ()
    """What an observation has, in order: name and size."""
    rewards: ClassVar[dict[str, str]] = {}
    """Formulas of the terms of the reward."""
    ends: ClassVar[str] = "–"
    """When an episode ends early, in words."""
    starts: ClassVar[str] = ""
    """How an episode starts, in words."""

    @cached_property
    def robot(self) -> Model:
        """The model, at this engine step."""
        model = builtin(self.model) if isinstance(self.model, str) else self.model()
        return model.with_options(dt=self.dt)

    @property
    def period(self) -> float:
        """A control step (s)."""
        return self.dt * self.hold

    @property
    def action_size(self) -> int:
        return self.robot.nu

    @property
    def observation_size(self) -> int:
        return sum(size for _, size in self.observations)

    @property
    def start_size(self) -> int:
        """How many uniform numbers a start takes."""
        return 2 * self.robot.nv

    @cached_property
    def home(self) -> NDArray[np.float64]:
        """Coordinates about which episodes start, (nq,)."""
        return self.robot.keyframe("home").q

    @cached_property
    def joint_range(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper limits of all coordinates, (nq,) each: those of a free joint are infinite."""
        model = self.robot
        unlimited = np.full(model.nq - model.nv, np.inf)
        return np.concatenate([-unlimited, model.lower]), np.concatenate([unlimited, model.upper])

    def controls(self, xp: Any, action: Array) -> Array:
        """What the engine is given for an action: (…, nu)."""
        return self.action_scale * action

    def start(self, xp: Any, uniform: Array) -> tuple[Array, Array]:
        """q and v at the start of an episode, from numbers in [0, 1): (…, start_size). Joints keep their limits."""
        nv = self.robot.nv
        noise = 2 * uniform - 1
        q = self.moved(xp, noise[..., :nv])
        return xp.clip(q, *self.joint_range), self.velocity_noise * noise[..., nv:]

    def moved(self, xp: Any, noise: Array) -> Array:
        """`home`, moved by noise in [-1, 1), (…, nv), times its range."""
        return xp.asarray(self.home) + self.position_noise * noise

    def observation(self, xp: Any, q: Array, v: Array) -> Array:
        """What a policy sees: (…, observation_size)."""
        raise NotImplementedError

    def reward_terms(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Terms:
        """The reward by terms, (…) each."""
        raise NotImplementedError

    def reward(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Array:
        """The reward of a control step from (q, v) to (q_next, v_next): (…)."""
        return sum(self.reward_terms(xp, q, v, action, q_next, v_next).values())

    def fallen(self, xp: Any, q: Array, v: Array) -> Array:
        """Whether the task has failed: (…) of bool."""
        return xp.zeros(q.shape[:-1], dtype=bool)

    def diverged(self, xp: Any, q: Array, v: Array) -> Array:
        """Whether a state is beyond physics: (…) of bool."""
        return ~(xp.abs(v) < self.largest_speed).all(-1) | ~xp.isfinite(q).all(-1)

    def terminated(self, xp: Any, q: Array, v: Array) -> Array:
        """Whether an episode ends early in this state, after which nothing is to be gained: (…) of bool."""
        return self.fallen(xp, q, v) | self.diverged(xp, q, v)
