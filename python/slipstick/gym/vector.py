"""Many environments of gymnasium in one call of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ..envs import Spec
from .render import RENDER_MODES, Camera, Picture, check_render_mode
from .spaces import action_space, observation_space, task
from .worlds import Floats, Transition, Worlds, checked_actions, chosen_state

Bools = NDArray[np.bool_]
Result = tuple[Floats, Floats, Bools, Bools, dict[str, Any]]


class RobotVectorEnv(gymnasium.vector.VectorEnv[Floats, Floats, NDArray[Any]]):
    """A task as gymnasium's VectorEnv. Each environment computes what it would alone, bit for bit.

    name: a task or a Spec; options: of `envs.make_spec`; render_mode: None or "rgb_array"; threads: of the engine,
    None: as many as there are cores; autoreset_mode: what happens to an environment whose episode has ended, as in
    gymnasium (`metadata["autoreset_mode"]` says which):

    - "NextStep" (default): its next step resets it, ignores its action and has the reward 0;
    - "SameStep": it is reset at once; `info["final_obs"]` and `info["final_info"]` have what it ended with;
    - "Disabled": its next step goes on from there; `reset(options={"reset_mask": mask})` resets environments.
    """

    def __init__(
        self,
        name: str | Spec,
        num_envs: int = 1,
        *,
        threads: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: float | None = None,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 360,
        camera: Camera | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(num_envs, int) or num_envs < 1:
            raise ValueError(f"num_envs: expected a whole number of at least 1, got {num_envs!r}")
        check_render_mode(render_mode)
        self.task = task(name, options)
        self.render_mode = render_mode
        self._picture = Picture(self.task.robot, width, height, camera) if render_mode else None
        self.num_envs = num_envs
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": round(1 / self.task.period),
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_action_space = action_space(self.task)
        self.single_observation_space = observation_space(self.task)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        steps = self.task.length if max_episode_steps is None else max_episode_steps
        self._worlds = Worlds(self.task, num_envs, threads=threads, steps=steps)
        self._rows = np.arange(num_envs)
        self._generators: list[np.random.Generator] = []
        self._ended = np.zeros(num_envs, dtype=np.bool_)

    @property
    def q(self) -> Floats:
        """Coordinates, (num_envs, nq)."""
        return self._worlds.q.copy()

    @property
    def v(self) -> Floats:
        """Velocities, (num_envs, nv)."""
        return self._worlds.v.copy()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """New episodes in all environments, or in those of options["reset_mask"].

        They start in random states, or in options["q"] (num_envs, nq) and options["v"] (num_envs, nv).

        seed: environment i takes seed + i, or its own of a list; None: their generators go on.
        """
        chosen = (options or {}).get("reset_mask")
        mask = np.ones(self.num_envs, dtype=np.bool_) if chosen is None else self._checked_mask(chosen)
        given = options if options and ("q" in options or "v" in options) else None
        state = chosen_state(self.task, given, (self.num_envs,)) if given else None
        self._seed(self._seeds(seed), mask)
        rows = self._rows[mask]
        self._worlds.reset(rows, self._generators)
        if state is not None:
            self._worlds.put(rows, state[0][rows], state[1][rows])
        self._ended[rows] = False
        return self._observation(), {}

    def step(self, actions: Floats) -> Result:
        """A control step of all environments: observations, rewards, terminated, truncated, info."""
        if not self._generators:
            raise gymnasium.error.ResetNeeded("step before the first reset: call env.reset() first")
        given = checked_actions(actions, (self.num_envs, self.task.action_size))
        if self.autoreset_mode is AutoresetMode.NEXT_STEP and self._ended.any():
            return self._step_some(given)
        done = self._worlds.step(self._rows, given)
        info = {**done.info, **{f"_{name}": np.ones(self.num_envs, dtype=np.bool_) for name in done.info}}
        self._ended = done.terminated | done.truncated
        observation = done.observation
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._ended.any():
            observation, info = self._begin_again(done)
        return observation, done.reward, done.terminated, done.truncated, info

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture of each environment, (height, width, 3) of uint8; None without a render_mode."""
        if self._picture is None:
            gymnasium.logger.warn("render() without a render_mode: make the environment with render_mode='rgb_array'")
            return None
        return tuple(self._picture.draw(q) for q in self._worlds.q)

    def _step_some(self, actions: Floats) -> Result:
        """Environments that have ended begin anew, the others make a step."""
        alive = ~self._ended
        self._worlds.reset(self._rows[self._ended], self._generators)
        self._ended = np.zeros(self.num_envs, dtype=np.bool_)
        reward = np.zeros(self.num_envs)
        terminated, truncated = self._ended.copy(), self._ended.copy()
        info: dict[str, Any] = {}
        if alive.any():
            done = self._worlds.step(self._rows[alive], actions[alive])
            reward[alive], terminated[alive], truncated[alive] = done.reward, done.terminated, done.truncated
            info = _spread(done.info, alive)
        self._ended = terminated | truncated
        return self._observation(), reward, terminated, truncated, info

    def _begin_again(self, done: Transition) -> tuple[Floats, dict[str, Any]]:
        """Environments that have ended begin anew at once; info has what they ended with."""
        ended, rows = self._ended, self._rows[self._ended]
        observation = done.observation.copy()
        observation[rows] = self._worlds.reset(rows, self._generators)
        final = np.full(self.num_envs, None, dtype=object)
        for row in rows:
            final[row] = done.observation[row]
        last = _spread({name: value[ended] for name, value in done.info.items()}, ended)
        going = _spread({name: value[~ended] for name, value in done.info.items()}, ~ended) if not ended.all() else {}
        return observation, {
            **going,
            "final_obs": final,
            "_final_obs": ended.copy(),
            "final_info": last,
            "_final_info": ended.copy(),
        }

    def _observation(self) -> Floats:
        return np.asarray(self.task.observation(np, self._worlds.q, self._worlds.v))

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"seed: expected a number or a list of {self.num_envs}, got a list of {len(seed)}")
        return list(seed)

    def _seed(self, seeds: list[int | None], mask: Bools) -> None:
        if not self._generators:
            if not mask.all():
                raise gymnasium.error.ResetNeeded("the first reset is of all environments: expected no reset_mask")
            self._generators = [seeding.np_random(seed)[0] for seed in seeds]
            return
        for row in self._rows[mask]:
            if seeds[row] is not None:
                self._generators[row] = seeding.np_random(seeds[row])[0]

    def _checked_mask(self, mask: Any) -> Bools:
        fits = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)
        if not fits or not mask.any():
            expected = f"expected an array of {self.num_envs} bool with a True among them"
            raise ValueError(f"options['reset_mask']: {expected}, got {mask!r}")
        return np.asarray(mask)


def _mode(given: str | AutoresetMode) -> AutoresetMode:
    words = [mode.value for mode in AutoresetMode]
    if not isinstance(given, AutoresetMode) and given not in words:
        raise ValueError(f"autoreset_mode: expected one of {', '.join(words)}, got {given!r}")
    return AutoresetMode(given)


def _spread(info: dict[str, Any], where: Bools) -> dict[str, Any]:
    """Rows of some environments among all, with gymnasium's masks: `_name` says which environments have `name`."""
    out: dict[str, Any] = {}
    for name, value in info.items():
        out[name] = np.zeros((where.size, *value.shape[1:]), dtype=value.dtype)
        out[name][where] = value
        out[f"_{name}"] = where.copy()
    return out
