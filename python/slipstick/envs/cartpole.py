"""Swing a pole up and hold it, from a cart on a rail with hard ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .spec import Array, RobotModel, Spec, Terms


@dataclass(frozen=True, kw_only=True)
class CartpoleSwingup(Spec):
    """The task of the paper's appendix. Where it leaves a number open, DiffRL's is taken: start and control period."""

    name: str = "cartpole_swingup"
    description: str = "Swing up the pole of a cart on a rail of ±2 m, and hold it."
    model: RobotModel = "cartpole"
    dt: float = 1 / 120
    hold: int = 2
    length: int = 240
    position_noise: float = 1.5707963267948966
    velocity_noise: float = 0.25

    observations: ClassVar = (("x", 1), ("ẋ", 1), ("sin θ", 1), ("cos θ", 1), ("θ̇", 1))
    rewards: ClassVar = {"angle": "−θ²", "spin": "−0.1 θ̇²", "position": "−0.05 x²", "speed": "−0.01 ẋ²"}
    starts: ClassVar = "x = 0, θ = π (hanging), each ± π/2; speeds ± 0.25"

    def observation(self, xp: Any, q: Array, v: Array) -> Array:
        x, angle = q[..., 0], q[..., 1]
        return xp.stack([x, v[..., 0], xp.sin(angle), xp.cos(angle), v[..., 1]], axis=-1)

    def reward_terms(self, xp: Any, q: Array, v: Array, action: Array, q_next: Array, v_next: Array) -> Terms:
        x, angle = q_next[..., 0], q_next[..., 1]
        angle = xp.arctan2(xp.sin(angle), xp.cos(angle))  # 0 upright, ±π hanging, whatever turns lie behind
        return {
            "angle": -(angle**2),
            "spin": -0.1 * v_next[..., 1] ** 2,
            "position": -0.05 * x**2,
            "speed": -0.01 * v_next[..., 0] ** 2,
        }
