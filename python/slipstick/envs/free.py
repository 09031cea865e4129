"""Robots on a free joint, whose pose is the torso's: ant, humanoid, quadruped."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any, ClassVar

import numpy as np

from . import quaternions
from .planar import effort
from .spec import Array, RobotModel, Spec, Terms

ROOT = (("height", 1), ("quaternion", 4), ("velocity (world)", 3), ("spin (body)", 3))


def observations_of(joints: int) -> tuple[tuple[str, int], ...]:
    return (*ROOT, ("joints − home", joints), ("joint speeds / 10", joints), ("up", 1), ("heading", 1))


@dataclass(frozen=True, kw_only=True)
class FreeRobot(Spec):
    """Forward along x, upright: DiffRL's pattern.

    `up` and `heading` are cosines of the torso's z and x axes with the world's.
    """

    lowest: float
    """An episode ends below this height of the torso (m)."""
    lift: float = 0.0
    """Starts are so much above the keyframe `home` (m)."""
    position_noise: float = 0.1
    tilt_noise: float = pi / 24
    """Half the range of the start's rotation about each axis (rad)."""
    joint_noise: float = 0.2
    """Half the range of start angles (rad)."""
    velocity_noise: float = 0.25

    def moved(self, xp: Any, noise: Array) -> Array:
        home = xp.asarray(self.home)
        place = home[:3] + self.position_noise * noise[..., :3] + xp.asarray([0.0, 0.0, self.lift])
        turn = quaternions.exponential(xp, self.tilt_noise * noise[..., 3:6])
        joints = home[7:] + self.joint_noise * noise[..., 6:]
        return xp.concatenate([place, turn, joints], axis=-1)

    def observation(self, xp: Any, q: Array, v: Array) -> Array:
        turn = q[..., 3:7]
        directions = xp.stack([quaternions.up_z(xp, turn), quaternions.forward_x(xp, turn)], axis=-1)
        joints = q[..., 7:] - xp.asarray(self.home[7:])
        return xp.concatenate([q[..., 2:7], v[..., :6], joints, 0.1 * v[..., 6:], directions], axis=-1)

    def reward_terms(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Terms:
        turn = q_next[..., 3:7]
        return {
            "velocity": v_next[..., 0],
            "up": 0.1 * quaternions.up_z(xp, turn),
            "heading": quaternions.forward_x(xp, turn),
            "height": q_next[..., 2] - self.lowest,
        }

    def fallen(self, xp: Any, q: Array, v: Array) -> Array:
        return q[..., 2] < self.lowest


@dataclass(frozen=True, kw_only=True)
class Ant(FreeRobot):
    name: str = "ant"
    description: str = "Walk forward on four legs of two joints."
    model: RobotModel = "ant"
    lowest: float = 0.27
    lift: float = 0.2
    position_noise: float = 0.05

    observations: ClassVar = observations_of(8)
    rewards: ClassVar = {"velocity": "ẋ", "up": "0.1 up", "heading": "heading", "height": "z − 0.27"}
    ends: ClassVar = "z < 0.27"
    starts: ClassVar = "keyframe `home`, 0.2 m higher; place ± 0.05, rotation ± 7.5°, joints ± 0.2, speeds ± 0.25"


@dataclass(frozen=True, kw_only=True)
class Humanoid(FreeRobot):
    name: str = "humanoid"
    description: str = "Run forward on two legs, with arms."
    model: RobotModel = "humanoid"
    lowest: float = 0.74
    lift: float = 0.2
    position_noise: float = 0.05

    observations: ClassVar = observations_of(21)
    rewards: ClassVar = {
        "velocity": "ẋ",
        "up": "0.1 up",
        "heading": "heading",
        "height": "Δ = clip(z − 0.84, −1, 0.1); 10 Δ where Δ ≥ 0, −200 Δ² below",
        "effort": "−0.002 |a|²",
    }
    ends: ClassVar = "z < 0.74"
    starts: ClassVar = "keyframe `home`, 0.2 m higher; place ± 0.05, rotation ± 7.5°, joints ± 0.2, speeds ± 0.25"

    def reward_terms(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Terms:
        above = xp.clip(q_next[..., 2] - (self.lowest + 0.1), -1.0, 0.1)
        terms = FreeRobot.reward_terms(self, xp, q, v, action, q_next, v_next)
        height = xp.where(above < 0, -200 * above**2, 10 * above)
        return {**terms, "height": height, "effort": -0.002 * effort(action)}


@dataclass(frozen=True, kw_only=True)
class Quadruped(FreeRobot):
    """Actions move the targets of the position servos about the keyframe `home`."""

    name: str = "quadruped"
    description: str = "Walk forward on four legs with position servos."
    model: RobotModel = "quadruped"
    action_scale: float = 0.5
    lowest: float = 0.17
    lift: float = 0.05
    position_noise: float = 0.02
    joint_noise: float = 0.1

    observations: ClassVar = observations_of(12)
    rewards: ClassVar = {
        "velocity": "ẋ",
        "up": "0.1 up",
        "heading": "heading",
        "height": "z − 0.17",
        "effort": "−0.005 |a|²",
    }
    ends: ClassVar = "z < 0.17"
    starts: ClassVar = "keyframe `home`, 0.05 m higher; place ± 0.02, rotation ± 7.5°, joints ± 0.1, speeds ± 0.25"

    def controls(self, xp: Any, action: Array) -> Array:
        """Targets (rad): home + 0.5 a, within the servos' range."""
        home = xp.asarray(np.asarray(self.robot.keyframe("home").ctrl))
        return xp.clip(home + self.action_scale * action, self.robot.ctrl_lower, self.robot.ctrl_upper)

    def reward_terms(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Terms:
        terms = FreeRobot.reward_terms(self, xp, q, v, action, q_next, v_next)
        return {**terms, "effort": -0.005 * effort(action)}
