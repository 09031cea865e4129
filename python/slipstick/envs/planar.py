"""Robots in the x-z plane whose first coordinates are x, height and pitch of the torso: hopper, walker, half-cheetah."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .spec import Array, RobotModel, Spec, Terms


def observations_of(joints: int) -> tuple[tuple[str, int], ...]:
    place = (("height", 1), ("pitch", 1), ("joint angles", joints))
    return (*place, ("ẋ", 1), ("ż", 1), ("pitch rate", 1), ("joint speeds", joints))


def posture(xp: Any, pitch: Array) -> Array:
    """1 upright, 0 at 30°, on downwards without a bound."""
    return 1 - (pitch / (pi / 6)) ** 2


def effort(action: Array) -> Array:
    return (action**2).sum(-1)


@dataclass(frozen=True, kw_only=True)
class Hopper(Spec):
    """The task of the paper's appendix. Where it leaves a number open, DiffRL's is taken: start and control period."""

    name: str = "hopper"
    description: str = "Hop forward on one leg, in a plane."
    model: RobotModel = "hopper"
    standing: float = 1.25
    """Height of the torso on a straight leg: heights are relative to it (m)."""
    lowest: float = -0.45
    """An episode ends below this height (m)."""
    position_noise: float = 0.05
    velocity_noise: float = 0.05

    observations: ClassVar = observations_of(3)
    rewards: ClassVar = {
        "velocity": "ẋ",
        "height": "Δ = clip(height + 0.3, −1, 0.3); Δ where Δ ≥ 0, −200 Δ² below",
        "posture": "1 − (pitch / 30°)²",
        "effort": "−0.1 |a|²",
    }
    ends: ClassVar = "height < −0.45"
    starts: ClassVar = "legs straight, every coordinate and speed ± 0.05, joints within their limits"

    @cached_property
    def home(self) -> NDArray[np.float64]:
        q = np.zeros(self.robot.nq)
        q[1] = self.standing
        return q

    def height(self, q: Array) -> Array:
        return q[..., 1] - self.standing

    def observation(self, xp: Any, q: Array, v: Array) -> Array:
        return xp.concatenate([self.height(q)[..., None], q[..., 2:], v], axis=-1)

    def reward_terms(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Terms:
        above = xp.clip(self.height(q_next) + 0.3, -1.0, 0.3)
        return {
            "velocity": v_next[..., 0],
            "height": xp.where(above < 0, -200 * above**2, above),
            "posture": posture(xp, q_next[..., 2]),
            "effort": -0.1 * effort(action),
        }

    def fallen(self, xp: Any, q: Array, v: Array) -> Array:
        return self.height(q) < self.lowest


@dataclass(frozen=True, kw_only=True)
class Walker2d(Hopper):
    """The hopper's task on two legs."""

    name: str = "walker2d"
    description: str = "Walk forward on two legs, in a plane."
    model: RobotModel = "walker2d"

    observations: ClassVar = observations_of(6)


@dataclass(frozen=True, kw_only=True)
class HalfCheetah(Spec):
    """DiffRL's task with a term for the posture and an early end: without them it learns to slide on its back."""

    name: str = "half_cheetah"
    description: str = "Run forward on two legs, in a plane."
    model: RobotModel = "half_cheetah_planar"
    steepest: float = 1.0
    """An episode ends beyond this pitch (rad)."""
    position_noise: float = 0.1
    velocity_noise: float = 0.25

    observations: ClassVar = observations_of(6)
    rewards: ClassVar = {"velocity": "ẋ", "posture": "1 − (pitch / 30°)²", "effort": "−0.1 |a|²"}
    ends: ClassVar = "|pitch| > 1 rad"
    starts: ClassVar = "keyframe `home`, 0.15 m higher; every coordinate ± 0.1, every speed ± 0.25"

    @cached_property
    def home(self) -> NDArray[np.float64]:
        # noise may lower the torso by 0.1 m and a foot by some more
        q = self.robot.keyframe("home").q.copy()
        q[1] += 0.15
        return q

    def observation(self, xp: Any, q: Array, v: Array) -> Array:
        return xp.concatenate([q[..., 1:], v], axis=-1)

    def reward_terms(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Terms:
        return {
            "velocity": v_next[..., 0],
            "posture": posture(xp, q_next[..., 2]),
            "effort": -0.1 * effort(action),
        }

    def fallen(self, xp: Any, q: Array, v: Array) -> Array:
        return xp.abs(q[..., 2]) > self.steepest
