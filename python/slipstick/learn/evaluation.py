"""Evaluation: one episode from each of 16 fixed starts, without noise, apart from training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from slipstick.envs import Spec

from .environment import Environment, State
from .moments import Moments, normalized
from .networks import Actor, deterministic

STARTS = 16
KEY = 1000
"""Makes the fixed starts; seeds of training do not."""
LAST = 1.0
"""What is asked for at the end of an episode is asked for so long (s)."""
UPRIGHT = 0.2
"""A pole that is held is less than this from upright (rad)."""


@dataclass(frozen=True)
class Evaluation:
    """(starts,) each."""

    returns: np.ndarray
    lengths: np.ndarray
    good: np.ndarray
    """The episode lasted to the end of the clock, and the task was done through its last second."""
    speed: np.ndarray
    """Mean speed of the first coordinate (m/s)."""


def done_well(spec: Spec, q: jax.Array) -> jax.Array:
    """Whether a state is what the task wants: a pole upright; else any state that does not end an episode."""
    if spec.name != "cartpole_swingup":
        return jnp.ones(q.shape[:-1], bool)
    return abs(jnp.arctan2(jnp.sin(q[..., 1]), jnp.cos(q[..., 1]))) < UPRIGHT


class Evaluator:
    """Called with an actor and the moments of its observations."""

    def __init__(self, env: Environment, starts: int = STARTS, key: int = KEY) -> None:
        self.env, self.starts, self.key = env, starts, key
        self._run = jax.jit(self._episodes)

    def __call__(self, actor: Actor, moments: Moments) -> Evaluation:
        return Evaluation(*map(np.asarray, self._run(actor, moments)))

    def _episodes(self, actor: Actor, moments: Moments) -> Any:
        spec, env = self.env.spec, self.env
        start = env.reset(jax.random.key(self.key), self.starts)
        zero = jnp.zeros(self.starts)
        last = spec.length - round(LAST / spec.period)

        def go(carry: Any, t: jax.Array) -> Any:
            state, alive, returns, lengths, good, x = carry
            action = deterministic(actor, normalized(moments, env.observation(state)))
            after, out = env.step(state, action)
            returns, lengths = returns + alive * out.reward, lengths + alive
            # the clock ends all episodes at once, in the last step: what is before the reset is known by obs_end only
            x = jnp.where(alive > 0, state.q[:, 0], x)
            good = good & ((t < last) | done_well(spec, state.q))
            return (after, alive * ~out.terminated, returns, lengths, good, x), None

        first = (start, zero + 1, zero, zero, zero == 0, start.q[:, 0])
        (_, alive, returns, lengths, good, x), _ = jax.lax.scan(go, first, jnp.arange(spec.length))
        speed = (x - start.q[:, 0]) / (jnp.maximum(lengths - 1, 1) * spec.period)
        return returns, lengths, good & (alive > 0), speed


def first_state(env: Environment, start: int = 0) -> State:
    """One of the fixed starts, alone."""
    state = env.reset(jax.random.key(KEY), STARTS)
    row = slice(start, start + 1)
    return State(state.q[row], state.v[row], state.clock[row], state.key)
