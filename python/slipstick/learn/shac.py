"""SHAC: short-horizon actor-critic, with exact gradients through contact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped,import-not-found,unused-ignore]

from .environment import Environment, Softening, State
from .moments import Moments, first_moments, updated
from .networks import Actor, Layers, first_log_std, norm_of, orthogonal, torch_like, value
from .settings import Curve, ShacSettings
from .targets import td_lambda
from .window import Window, cotangents, cut, weights_gradient

SATURATED = 0.95


class ShacState(NamedTuple):
    """A run between two iterations."""

    actor: Actor
    critic: Layers
    target: Layers
    actor_memory: Any
    """Of the optimizer."""
    critic_memory: Any
    moments: Moments
    env: State
    key: jax.Array
    iteration: jax.Array


class Shac:
    """`first(key)` and `iterate(state)`."""

    def __init__(self, env: Environment, settings: ShacSettings, iterations: int) -> None:
        self.env, self.settings, self.iterations = env, settings, iterations
        s = settings
        updates = iterations * s.critic_passes * s.minibatches
        self.actor_optimizer = _adam(s.actor_rate, iterations, s)
        self.critic_optimizer = _adam(s.critic_rate, updates, s)
        self._simulate = jax.jit(self.simulate)
        self._learn = jax.jit(self.learn)

    def first(self, key: jax.Array) -> ShacState:
        env, s = self.env, self.settings
        sizes = env.spec.observation_size, env.spec.action_size
        key, a, c, e = jax.random.split(key, 4)
        actor = Actor(torch_like(a, [sizes[0], *s.actor, sizes[1]]), first_log_std(sizes[1]))
        critic = orthogonal(c, [sizes[0], *s.critic, 1])
        memories = self.actor_optimizer.init(actor), self.critic_optimizer.init(critic)
        state = env.reset(e, s.envs, scatter=True)
        return ShacState(actor, critic, critic, *memories, first_moments(sizes[0]), state, key, jnp.asarray(0))

    def iterate(self, state: ShacState, clock: Callable[[str, Any], Any]) -> tuple[ShacState, dict[str, jax.Array]]:
        """One iteration; `clock(part, x)` is told when a part has been started, and waits for it."""
        lam, seen, env_state, key = clock("simulation", self._simulate(state))
        return clock("networks", self._learn(state, lam, seen, env_state, key))

    def simulate(self, state: ShacState) -> tuple[jax.Array, Window, State, jax.Array]:
        """A window and the cotangents of its actions."""
        s, spec = self.settings, self.env.spec
        key, draw = jax.random.split(state.key)
        noise = jax.random.normal(draw, (s.horizon, s.envs, spec.action_size), jnp.float32)
        share = state.iteration / self.iterations
        softening = Softening(at(s.smoothing, share), at(s.compliance, share))
        given = (state.actor, state.target, state.moments, state.env, noise)
        _, lam, env_state, seen = cotangents(self.env, s.gamma, *given, softening)
        return lam, seen, env_state, key

    def learn(
        self, state: ShacState, lam: jax.Array, seen: Window, env_state: State, key: jax.Array
    ) -> tuple[ShacState, dict[str, jax.Array]]:
        """A step of the actor, and passes of the critic."""
        s = self.settings
        lam_cut, norms = cut(lam, s.cut)
        gradient = weights_gradient(state.actor, seen, lam_cut)
        change, actor_memory = self.actor_optimizer.update(gradient, state.actor_memory)
        actor = optax.apply_updates(state.actor, change)
        returns = td_lambda(seen.reward, seen.value_next, seen.end, s.gamma, s.lam)
        critic, critic_memory, critic_loss = self._fit_critic(state, seen.x, returns)
        target = jax.tree.map(lambda a, b: s.alpha * a + (1 - s.alpha) * b, state.target, critic)
        after = ShacState(
            actor,
            critic,
            target,
            actor_memory,
            critic_memory,
            updated(state.moments, seen.obs_end),
            env_state,
            key,
            state.iteration + 1,
        )
        figures = {
            **_of_cotangents(lam, norms, s.cut),
            **of_window(seen, actor),
            "norm": norm_of(gradient),
            "critic_loss": critic_loss,
            "value": seen.value_next.mean(),
            "value_error": (seen.value_next[:-1] - returns[1:]).mean(where=~seen.end[:-1]),
        }
        return after, figures

    def _fit_critic(self, state: ShacState, x: jax.Array, returns: jax.Array) -> tuple[Layers, Any, jax.Array]:
        """Passes over minibatches in the order of the window: shuffling costs time and gains nothing."""
        s = self.settings
        xs = x.reshape(s.minibatches, -1, x.shape[-1])
        ys = returns.astype(jnp.float32).reshape(s.minibatches, -1)

        def go(carry: Any, batch: Any) -> Any:
            critic, memory = carry
            x, y = batch
            loss, gradient = jax.value_and_grad(lambda c: ((value(c, x) - y) ** 2).mean())(critic)
            change, memory = self.critic_optimizer.update(gradient, memory)
            return (optax.apply_updates(critic, change), memory), loss

        def one_pass(carry: Any, _: None) -> Any:
            return jax.lax.scan(go, carry, (xs, ys))

        start = state.critic, state.critic_memory
        (critic, memory), losses = jax.lax.scan(one_pass, start, None, length=s.critic_passes)
        return critic, memory, losses[-1].mean()


def at(curve: Curve, share: jax.Array) -> jax.Array | None:
    """A curve's value at a share of the samples."""
    if not curve:
        return None
    shares, values = zip(*curve)
    return jnp.interp(share, jnp.asarray(shares), jnp.asarray(values))


def of_window(seen: Any, actor: Actor) -> dict[str, jax.Array]:
    """Figures of a window, for logs."""
    return {
        "reward": seen.reward.mean(),
        "failed": seen.failed.sum(),
        "terminated": seen.terminated.sum(),
        "saturated": (abs(seen.action) > SATURATED).mean(),
        "std": jnp.exp(actor.log_std).mean(),
        "contacts": seen.report[..., 0].mean(),
        "mode_changes": seen.report[..., 1].mean(),
        "flagged": (seen.report[..., 6] > 0).mean(),
    }


def _of_cotangents(lam: jax.Array, norms: jax.Array, medians: float) -> dict[str, jax.Array]:
    n = norms.shape[0]
    by_step = jnp.sqrt((lam**2).sum((1, 2))) * n
    q = jnp.quantile(norms, jnp.asarray([0.5, 0.9, 0.99, 1.0])) * n
    names = ("lambda_50", "lambda_90", "lambda_99", "lambda_max")
    share = (norms > medians * jnp.median(norms)).mean() if medians > 0 else jnp.asarray(0.0)
    first, half = by_step[0], by_step[lam.shape[0] // 2]
    return {**dict(zip(names, q)), "cut_share": share, "lambda_first": first, "lambda_half": half}


def _adam(rate: float, updates: int, s: ShacSettings) -> optax.GradientTransformation:
    last = min(rate, s.last_rate)
    schedule = optax.linear_schedule(rate, last, updates)
    # one array for all weights: many small ones cost more than the arithmetic
    return optax.flatten(optax.chain(optax.clip_by_global_norm(s.clip), optax.adam(schedule, *s.betas)))
