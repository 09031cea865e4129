"""Names for `gymnasium.make` and `gymnasium.make_vec`."""

from __future__ import annotations

from gymnasium.envs.registration import register as register_one
from gymnasium.envs.registration import registry

from ..envs import make_spec, names


def environment_id(name: str) -> str:
    """What gymnasium calls a task: hopper is slipstick/Hopper-v0."""
    word = "".join(part.capitalize() for part in name.split("_"))
    return f"slipstick/{word}-v{make_spec(name).version}"


def register() -> None:
    """All tasks, once."""
    for name in names():
        if environment_id(name) not in registry:
            register_one(
                id=environment_id(name),
                entry_point="slipstick.gym.single:TimeLimitedEnv",
                vector_entry_point="slipstick.gym.vector:RobotVectorEnv",
                max_episode_steps=make_spec(name).length,
                kwargs={"name": name},
            )
