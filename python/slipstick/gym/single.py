"""One environment of gymnasium."""

from __future__ import annotations

from math import inf
from typing import Any

import gymnasium
import numpy as np

from .._native import Replay
from ..envs import Spec
from .render import RENDER_MODES, Camera, Picture, check_render_mode
from .spaces import action_space, observation_space, task
from .worlds import Floats, Worlds, checked_actions, chosen_state

ROW = np.zeros(1, dtype=np.int64)


class RobotEnv(gymnasium.Env[Floats, Floats]):
    """A task as gymnasium's Env.

    name: a task (`slipstick.envs.names()`) or a Spec; render_mode: None or "rgb_array"; options: of `envs.make_spec`;
    max_episode_steps: control steps after which an episode is truncated, default: those of the task, `math.inf`: never.
    `reset(options={"q": q, "v": v})` starts in a state of choice.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 60}

    def __init__(
        self,
        name: str | Spec,
        *,
        render_mode: str | None = None,
        max_episode_steps: float | None = None,
        width: int = 480,
        height: int = 360,
        camera: Camera | None = None,
        **options: Any,
    ) -> None:
        check_render_mode(render_mode)
        self.task = task(name, options)
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": round(1 / self.task.period)}
        self.action_space = action_space(self.task)
        self.observation_space = observation_space(self.task)
        steps = self.task.length if max_episode_steps is None else max_episode_steps
        self._worlds = Worlds(self.task, 1, threads=1, steps=steps)
        self._picture = Picture(self.task.robot, width, height, camera) if render_mode else None
        self._began = False
        self._episode: list[Floats] = []
        self._previous: list[Floats] = []

    @property
    def q(self) -> Floats:
        """Coordinates, (nq,)."""
        return np.array(self._worlds.q[0])

    @property
    def v(self) -> Floats:
        """Velocities, (nv,)."""
        return np.array(self._worlds.v[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """A new episode, from a random start or from options["q"] and options["v"]."""
        super().reset(seed=seed)
        observation = self._worlds.reset(ROW, [self.np_random])
        if options and ("q" in options or "v" in options):
            observation = self._worlds.put(ROW, *chosen_state(self.task, options, ()))
        self._began = True
        if len(self._episode) > 1:
            self._previous = self._episode
        self._episode = [self.q]
        return observation[0], {}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """A control step: observation, reward, terminated, truncated, info."""
        if not self._began:
            raise gymnasium.error.ResetNeeded("step before the first reset: call env.reset() first")
        actions = checked_actions(action, self.action_space.shape or ())[None]
        done = self._worlds.step(ROW, actions)
        self._episode.append(self.q)
        info = {name: value[0] for name, value in done.info.items()}
        info["status"] = str(info["status"])
        return done.observation[0], float(done.reward[0]), bool(done.terminated[0]), bool(done.truncated[0]), info

    def render(self) -> Any:
        """A picture, (height, width, 3) of uint8; None without a render_mode."""
        if self._picture is None:
            gymnasium.logger.warn("render() without a render_mode: make the environment with render_mode='rgb_array'")
            return None
        if not self._began:
            raise gymnasium.error.ResetNeeded("render before the first reset: call env.reset() first")
        return self._picture.draw(self._worlds.q[0])

    def replay(self) -> Replay:
        """The episode so far, or just after a reset the one before it: `env.replay().save("episode.html")`."""
        frames = self._previous if len(self._episode) <= 1 and self._previous else self._episode
        replay = Replay(self.task.robot, title=self.task.name, frame_rate=1 / self.task.period)
        for k, q in enumerate(frames):
            replay.record_state(q, time=k * self.task.period)
        return replay


class TimeLimitedEnv(RobotEnv):
    """What `gymnasium.make` wraps in its own TimeLimit: no clock of its own."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_episode_steps=inf, **options)
