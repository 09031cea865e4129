"""Environments in JAX: a `Spec`, many robots, and resets that cut gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import slipstick.jax as sj
from slipstick.envs import Spec
from slipstick.gradient import compliance_schedule

NOT_CONVERGED = sj.STATUS.index("not_converged")
"""From this status on a step has no derivatives."""


class State(NamedTuple):
    """Where all environments are."""

    q: jax.Array
    """(n, nq)"""
    v: jax.Array
    """(n, nv)"""
    clock: jax.Array
    """Control steps since the start of the episode, (n,)."""
    key: jax.Array
    """For the starts to come."""


class Out(NamedTuple):
    """What a control step gave, (n, ...)."""

    obs: jax.Array
    """Of the next state: after a reset, of the start."""
    reward: jax.Array
    terminated: jax.Array
    """The episode ended early: nothing is to be gained after it."""
    truncated: jax.Array
    """The episode ended by its clock: it would have gone on from `obs_end`."""
    obs_end: jax.Array
    """Of the state before the reset."""
    failed: jax.Array
    """The engine found no solution: such an episode is terminated, and the step has no derivatives."""
    report: jax.Array
    """Columns `slipstick.jax.REPORT`."""


class Softening(NamedTuple):
    """How contact is softened during training; numbers may be traced."""

    smoothing: Any = None
    """Speed (m/s) of smoothed derivatives; None: exact ones."""
    compliance: Any = None
    """Compliance added to each geom, as a share of its inverse inertia; None: rigid contact."""


RIGID = Softening()


class Environment:
    """`reset(key, n)` and `step(state, action)`, pure functions that may be compiled and differentiated.

    Physics has 64 bits: jax_enable_x64 must be on. A step starts cold: it depends on its arguments only.
    """

    def __init__(self, spec: Spec, *, threads: int = 1) -> None:
        if not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
            raise RuntimeError(
                "environment: expected physics in 64 bits, got 32; call jax.config.update('jax_enable_x64', True)"
            )
        self.spec, self.threads = spec, threads

    def reset(self, key: jax.Array, n: int, *, scatter: bool = False) -> State:
        """n starts. scatter: their clocks show random times, so that episodes do not all end together."""
        key, starts, clocks = jax.random.split(key, 3)
        q, v = self._starts(starts, n)
        latest = self.spec.length if scatter else 1
        return State(q, v, jax.random.randint(clocks, (n,), 0, latest, jnp.int32), key)

    def observation(self, state: State) -> jax.Array:
        return self.spec.observation(jnp, state.q, state.v)

    def step(self, state: State, action: jax.Array, softening: Softening = RIGID) -> tuple[State, Out]:
        """A control step under actions (n, action_size); environments whose episode ended are put to a new start."""
        spec, n = self.spec, state.q.shape[0]
        if action.shape != (n, spec.action_size):
            raise ValueError(f"action: expected an array of shape {(n, spec.action_size)}, got {action.shape}")
        action = action.astype(state.q.dtype)
        after = self._engine(state, action, softening)
        failed = after.status >= NOT_CONVERGED
        reward = spec.reward(jnp, state.q, state.v, action, after.q, after.v)
        terminated = spec.terminated(jnp, after.q, after.v) | failed
        clock = state.clock + 1
        truncated = (clock >= spec.length) & ~terminated
        done = terminated | truncated
        key, starts = jax.random.split(state.key)
        q, v = self._starts(starts, n)
        next_state = State(
            jnp.where(done[:, None], q, after.q),
            jnp.where(done[:, None], v, after.v),
            jnp.where(done, 0, clock),
            key,
        )
        obs_end = spec.observation(jnp, after.q, after.v)
        out = Out(self.observation(next_state), reward, terminated, truncated, obs_end, failed, after.report)
        return next_state, out

    def _starts(self, key: jax.Array, n: int) -> tuple[jax.Array, jax.Array]:
        return self.spec.start(jnp, jax.random.uniform(key, (n, self.spec.start_size), jnp.float64))

    def _engine(self, state: State, action: jax.Array, softening: Softening) -> sj.Result:
        spec, model = self.spec, self.spec.robot
        options: dict[str, Any] = {}
        if softening.compliance is not None:
            options["parameters"] = jnp.asarray(model.parameters) + softening.compliance * self._softer()
        if softening.smoothing is not None:
            options["smoothing"] = jnp.broadcast_to(softening.smoothing, state.q.shape[:1])
        ctrl = spec.controls(jnp, action)
        return sj.step(model, state.q, state.v, ctrl, hold=spec.hold, threads=self.threads, **options)

    def _softer(self) -> jax.Array:
        """What a compliance of one whole inverse inertia adds to the model's parameters."""
        model = self.spec.robot
        soft = compliance_schedule(model, self.spec.home, softest=1.0, stiffest=1.0, levels=1)[0]
        return jnp.asarray(soft.parameters - model.parameters)
