"""A window of SHAC: what its objective changes by per action, environment by environment."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .environment import Environment, Softening, State
from .moments import Moments, normalized
from .networks import Actor, Layers, mlp, value


class Window(NamedTuple):
    """What was seen in a window, (steps, n, ...)."""

    x: jax.Array
    """Normalized observations, 32 bits."""
    noise: jax.Array
    action: jax.Array
    reward: jax.Array
    value_next: jax.Array
    """Of the state before a reset, by the target critic; zero where an episode ended early."""
    end: jax.Array
    """The piece of an episode ends here: by a fall, by the clock or by the window."""
    terminated: jax.Array
    failed: jax.Array
    obs_end: jax.Array
    report: jax.Array


def objective(
    env: Environment,
    gamma: float,
    actor: Actor,
    target: Layers,
    moments: Moments,
    state: State,
    noise: jax.Array,
    delta: jax.Array,
    softening: Softening,
) -> tuple[jax.Array, tuple[State, Window]]:
    """Minus the mean discounted return per step, where values stand for what follows; delta is added before tanh.

    A reset cuts the gradient, because a start does not depend on what was before. An early end is not punished but by
    the lost future.
    """
    horizon, n = noise.shape[:2]
    std = jnp.exp(actor.log_std)

    def go(carry: tuple[State, jax.Array], step: Any) -> Any:
        (state, discount), (t, eps, d) = carry, step
        x = normalized(moments, env.observation(state))
        action = jnp.tanh(mlp(actor.mean, x) + std * eps + d)
        state, out = env.step(state, action, softening)
        V = jnp.where(out.terminated, 0.0, value(target, normalized(moments, out.obs_end)))
        done = out.terminated | out.truncated
        end = done | (t == horizon - 1)
        gain = discount * (out.reward + jnp.where(end, gamma * V, 0.0))
        seen = Window(
            x, eps, action, out.reward, V, end, out.terminated, out.failed, out.obs_end, out.report
        )
        return (state, jnp.where(done, 1.0, gamma * discount)), (gain, seen)

    (state, _), (gain, seen) = jax.lax.scan(go, (state, jnp.ones(n)), (jnp.arange(horizon), noise, delta))
    return -gain.sum() / (n * horizon), (state, jax.lax.stop_gradient(seen))


def cotangents(
    env: Environment,
    gamma: float,
    actor: Actor,
    target: Layers,
    moments: Moments,
    state: State,
    noise: jax.Array,
    softening: Softening,
) -> tuple[jax.Array, jax.Array, State, Window]:
    """The objective and its gradient with respect to every action before tanh, closed loop: (steps, n, action_size).

    Not with respect to weights: their gradient is one product of matrices afterwards, and the cotangents are where
    single environments can be cut, weighed and looked at.
    """
    def of_delta(delta: jax.Array) -> tuple[jax.Array, tuple[State, Window]]:
        return objective(env, gamma, actor, target, moments, state, noise, delta, softening)

    (loss, (after, seen)), lam = jax.value_and_grad(of_delta, has_aux=True)(jnp.zeros_like(noise))
    return loss, lam, after, seen


def cut(lam: jax.Array, medians: float) -> tuple[jax.Array, jax.Array]:
    """Cotangents, cut per environment at so many medians of their norms (0: not at all); and the norms, (n,)."""
    norms = jnp.sqrt((lam**2).sum((0, 2)))
    limit = medians * jnp.median(norms)
    scale = jnp.where((limit > 0) & (norms > limit), limit / jnp.maximum(norms, 1e-30), 1.0)
    return lam * scale[None, :, None], norms


def weights_gradient(actor: Actor, seen: Window, lam: jax.Array) -> Actor:
    """The gradient of the actor's weights from the cotangents of its actions: one batched product."""
    pull = jax.vjp(lambda layers: mlp(layers, seen.x), actor.mean)[1]
    return Actor(pull(lam)[0], (lam * seen.noise).sum((0, 1)) * jnp.exp(actor.log_std))
