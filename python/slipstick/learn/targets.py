"""Estimates of returns from windows of rewards. Arrays are (steps, n).

`value_next` is the value of the state that a step led to, before a reset: zero where an episode ended early.
`end`: the return is cut after the step, and `value_next` stands for all that would follow.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp


def td_lambda(
    reward: jax.Array, value_next: jax.Array, end: jax.Array, gamma: float, lam: float
) -> jax.Array:
    """G_t = r_t + γ ((1 − λ) V_{t+1} + λ G_{t+1}), and r_t + γ V_{t+1} at ends. The last step must be an end."""

    def back(G: jax.Array, x: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
        r, V, cut = x
        G = r + gamma * jnp.where(cut, V, (1 - lam) * V + lam * G)
        return G, G

    return jax.lax.scan(back, jnp.zeros_like(reward[0]), (reward, value_next, end), reverse=True)[1]


def gae(
    reward: jax.Array, value: jax.Array, value_next: jax.Array, end: jax.Array, gamma: float, lam: float
) -> jax.Array:
    """Generalized advantages: A_t = δ_t + γ λ A_{t+1}, δ_t at ends, with δ_t = r_t + γ V_{t+1} − V_t."""
    delta = reward + gamma * value_next - value

    def back(A: jax.Array, x: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
        d, cut = x
        A = d + gamma * lam * jnp.where(cut, 0.0, A)
        return A, A

    return jax.lax.scan(back, jnp.zeros_like(delta[0]), (delta, end), reverse=True)[1]
