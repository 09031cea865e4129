"""n environments of one task, stepped by one call of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..envs import Spec
from ..gradient import ControlStep

Floats = NDArray[np.float64]
STATUS = np.array([*ControlStep.STATUS, "diverged"])
FAILED, DIVERGED = ControlStep.STATUS.index("failed"), len(ControlStep.STATUS)


@dataclass(frozen=True)
class Transition:
    """A control step of k environments: the state after it, and what it was worth. First axis: environments."""

    observation: Floats
    reward: Floats
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    info: dict[str, Any]
    """Arrays: `status` (words: `ControlStep.STATUS` and "diverged"), a `reward_…` per term, `report` (`ControlStep.REPORT`)."""


class Worlds:
    """States and clocks of n environments. Rows are numbers of environments."""

    def __init__(self, spec: Spec, n: int, *, threads: int | None, steps: float) -> None:
        if not steps >= 1:
            raise ValueError(f"max_episode_steps: expected at least 1, got {steps!r}")
        self.spec = spec
        self.steps = steps
        self.engine = ControlStep(spec.robot, hold=spec.hold, threads=threads)
        self.q = np.zeros((n, spec.robot.nq))
        self.v = np.zeros((n, spec.robot.nv))
        self.clock = np.zeros(n, dtype=np.int64)

    def reset(self, rows: NDArray[np.int64], generators: Sequence[np.random.Generator]) -> Floats:
        """Starts of these environments, each from its own generator; their observations."""
        uniform = np.array([generators[row].random(self.spec.start_size) for row in rows])
        q, v = self.spec.start(np, uniform)
        return self.put(rows, q, v)

    def put(self, rows: NDArray[np.int64], q: Floats, v: Floats) -> Floats:
        """These environments are in these states, at the beginning of an episode; their observations."""
        self.q[rows], self.v[rows], self.clock[rows] = q, v, 0
        return np.asarray(self.spec.observation(np, self.q[rows], self.v[rows]))

    def step(self, rows: NDArray[np.int64], actions: Floats) -> Transition:
        """A control step of these environments. Actions beyond ±1 count as ±1."""
        spec, action = self.spec, np.clip(actions, -1.0, 1.0)
        q, v = self.q[rows], self.v[rows]
        after = self.engine.step(q, v, spec.controls(np, action))
        self.q[rows], self.v[rows] = after.q, after.v
        self.clock[rows] += 1
        diverged = spec.diverged(np, after.q, after.v)
        status = np.where((after.status != FAILED) & diverged, DIVERGED, after.status)
        # what comes after a failed step is not known, and a diverged state means nothing: the episode ends with the reward 0
        lost = status >= FAILED
        terms = spec.reward_terms(np, q, v, action, after.q, after.v)
        terms = {name: np.where(lost, 0.0, term) for name, term in terms.items()}
        return Transition(
            observation=np.asarray(spec.observation(np, after.q, after.v)),
            reward=np.asarray(sum(terms.values())),
            terminated=spec.fallen(np, after.q, after.v) | lost,
            truncated=self.clock[rows] >= self.steps,
            info={
                "status": STATUS[status],
                "report": after.report,
                **{f"reward_{name}": term for name, term in terms.items()},
            },
        )


def checked_actions(actions: Any, shape: tuple[int, ...]) -> Floats:
    return _checked("action", actions, shape)


def chosen_state(spec: Spec, options: dict[str, Any], leading: tuple[int, ...]) -> tuple[Floats, Floats]:
    """The state in options["q"] and options["v"], by default at rest in the middle of the starts."""
    q = options.get("q", np.broadcast_to(spec.home, (*leading, spec.home.size)))
    v = options.get("v", np.zeros((*leading, spec.robot.nv)))
    return (
        _checked("options['q']", q, (*leading, spec.robot.nq)),
        _checked("options['v']", v, (*leading, spec.robot.nv)),
    )


def _checked(what: str, x: Any, shape: tuple[int, ...]) -> Floats:
    """Floats of this shape, all finite."""
    try:
        given = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{what}: expected numbers of shape {shape}, got {x!r}") from None
    if given.shape != shape:
        raise ValueError(f"{what}: expected shape {shape}, got {given.shape}")
    if not np.isfinite(given).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(given))[0])
        raise ValueError(f"{what}: expected finite numbers, got {given[where]} at {where}")
    return given
