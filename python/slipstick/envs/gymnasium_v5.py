"""Rewards, observations, ends, starts and clocks of gymnasium's MuJoCo environments, version 5, on our robots.

What gymnasium takes from MuJoCo's internals is left out: contact forces of ant and humanoid (observation and cost), and
inertias, velocities of links and actuator forces of the humanoid's observation. The humanoid's speed is its torso's, not
that of its center of mass. Starts have gymnasium's ranges; where its speeds are
normal, ours are uniform with the same deviation.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, ClassVar

from .free import Ant, Humanoid
from .planar import HalfCheetah, Hopper, Walker2d, effort
from .spec import Array, RobotModel, Spec, Terms


@dataclass(frozen=True, kw_only=True)
class V5(Spec):
    """What the environments of gymnasium have in common: mean speed, a bonus for health, a cost of actions.

    Fields of every Spec come before those of a robot: tasks repeat what they take from theirs.
    """

    rules: str = "gymnasium"
    forward_weight: float = 1.0
    healthy_reward: float = 1.0
    ctrl_cost: float = 1e-3
    lowest: float = -inf
    highest: float = inf
    """Healthy heights (m), in the coordinates of the robot."""
    largest_pitch: float = inf
    """Healthy pitch (rad)."""
    observed_speed: float = inf
    """Speeds are observed up to this one."""

    ends: ClassVar = "unhealthy"

    def healthy(self, xp: Any, q: Array, v: Array) -> Array:
        height, pitch = q[..., 1], q[..., 2]
        return (self.lowest < height) & (height < self.highest) & (xp.abs(pitch) < self.largest_pitch)

    def observation(self, xp: Any, q: Array, v: Array) -> Array:
        return xp.concatenate([q[..., 1:], xp.clip(v, -self.observed_speed, self.observed_speed)], axis=-1)

    def reward_terms(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Terms:
        speed = (q_next[..., 0] - q[..., 0]) / self.period
        return {
            "forward": self.forward_weight * speed,
            "ctrl": -self.ctrl_cost * effort(action),
            "survive": xp.where(self.healthy(xp, q_next, v_next), self.healthy_reward, 0.0),
        }

    def fallen(self, xp: Any, q: Array, v: Array) -> Array:
        return ~self.healthy(xp, q, v)


@dataclass(frozen=True, kw_only=True)
class HopperV5(V5, Hopper):
    name: str = Hopper.name
    description: str = Hopper.description
    model: RobotModel = Hopper.model
    dt: float = 0.002
    hold: int = 4
    lowest: float = 0.7
    largest_pitch: float = 0.2
    largest_state: float = 100.0
    """Healthy coordinates and speeds, but for x and height."""
    observed_speed: float = 10.0
    position_noise: float = 5e-3
    velocity_noise: float = 5e-3

    rewards: ClassVar = {"forward": "Δx / period", "ctrl": "−0.001 |a|²", "survive": "1 while healthy"}
    ends: ClassVar = "z ≤ 0.7, |pitch| ≥ 0.2, or another coordinate or speed of 100 or more"
    starts: ClassVar = "legs straight, every coordinate and speed ± 0.005, joints within their limits"

    def healthy(self, xp: Any, q: Array, v: Array) -> Array:
        # gymnasium's state[2:] begins with the pitch
        bounded = (xp.abs(q[..., 2:]) < self.largest_state).all(-1) & (xp.abs(v) < self.largest_state).all(-1)
        return V5.healthy(self, xp, q, v) & bounded


@dataclass(frozen=True, kw_only=True)
class Walker2dV5(V5, Walker2d):
    name: str = Walker2d.name
    description: str = Walker2d.description
    model: RobotModel = Walker2d.model
    dt: float = 0.002
    hold: int = 4
    lowest: float = 0.8
    highest: float = 2.0
    largest_pitch: float = 1.0
    observed_speed: float = 10.0
    position_noise: float = 5e-3
    velocity_noise: float = 5e-3

    rewards: ClassVar = {"forward": "Δx / period", "ctrl": "−0.001 |a|²", "survive": "1 while healthy"}
    ends: ClassVar = "z outside (0.8, 2), or |pitch| ≥ 1"
    starts: ClassVar = "legs straight, every coordinate and speed ± 0.005, joints within their limits"


@dataclass(frozen=True, kw_only=True)
class HalfCheetahV5(V5, HalfCheetah):
    name: str = HalfCheetah.name
    description: str = HalfCheetah.description
    model: RobotModel = HalfCheetah.model
    dt: float = 0.01
    hold: int = 5
    ctrl_cost: float = 0.1
    position_noise: float = 0.1
    velocity_noise: float = 0.1 * sqrt(3)

    rewards: ClassVar = {"forward": "Δx / period", "ctrl": "−0.1 |a|²"}
    ends: ClassVar = "–"
    starts: ClassVar = "keyframe `home`, 0.15 m higher; every coordinate ± 0.1, speeds of deviation 0.1"

    def reward_terms(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Terms:
        terms = V5.reward_terms(self, xp, q, v, action, q_next, v_next)
        return {name: terms[name] for name in self.rewards}


@dataclass(frozen=True, kw_only=True)
class FreeV5(V5):
    """On a free joint: the pose begins with x, y, z."""

    tilt_noise: float = 0.1
    joint_noise: float = 0.1
    position_noise: float = 0.1

    def healthy(self, xp: Any, q: Array, v: Array) -> Array:
        return (self.lowest <= q[..., 2]) & (q[..., 2] <= self.highest)

    def observation(self, xp: Any, q: Array, v: Array) -> Array:
        return xp.concatenate([q[..., 2:], v], axis=-1)


@dataclass(frozen=True, kw_only=True)
class AntV5(FreeV5, Ant):
    name: str = Ant.name
    description: str = Ant.description
    model: RobotModel = Ant.model
    dt: float = 0.01
    hold: int = 5
    ctrl_cost: float = 0.5
    lowest: float = 0.2
    highest: float = 1.0
    velocity_noise: float = 0.1 * sqrt(3)

    observations: ClassVar = (("z", 1), ("quaternion", 4), ("joint angles", 8), ("v", 14))
    rewards: ClassVar = {"forward": "Δx / period", "ctrl": "−0.5 |a|²", "survive": "1 while healthy"}
    ends: ClassVar = "z outside [0.2, 1]"
    starts: ClassVar = "keyframe `home`, 0.2 m higher; every coordinate ± 0.1, speeds of deviation 0.1"


@dataclass(frozen=True, kw_only=True)
class HumanoidV5(FreeV5, Humanoid):
    name: str = Humanoid.name
    description: str = Humanoid.description
    model: RobotModel = Humanoid.model
    dt: float = 0.003
    hold: int = 5
    forward_weight: float = 1.25
    healthy_reward: float = 5.0
    ctrl_cost: float = 0.1
    action_scale: float = 0.4
    lowest: float = 1.0
    highest: float = 2.0
    lift: float = 0.01
    position_noise: float = 0.01
    tilt_noise: float = 0.01
    joint_noise: float = 0.01
    velocity_noise: float = 0.01

    observations: ClassVar = (("z", 1), ("quaternion", 4), ("joint angles", 21), ("v", 27))
    rewards: ClassVar = {"forward": "1.25 Δx / period", "ctrl": "−0.1 |0.4 a|²", "survive": "5 while healthy"}
    ends: ClassVar = "z outside (1, 2)"
    starts: ClassVar = "keyframe `home`, 0.01 m higher; every coordinate and speed ± 0.01, joints within their limits"

    def healthy(self, xp: Any, q: Array, v: Array) -> Array:
        return (self.lowest < q[..., 2]) & (q[..., 2] < self.highest)

    def reward_terms(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Terms:
        # gymnasium's actions are controls in ±0.4
        return FreeV5.reward_terms(self, xp, q, v, self.action_scale * action, q_next, v_next)
