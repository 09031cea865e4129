"""Running mean and variance of observations."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

FLOOR = 1e-5
"""Added to variances: of observations that hardly move."""


class Moments(NamedTuple):
    mean: jax.Array
    var: jax.Array
    samples: jax.Array


def first_moments(size: int) -> Moments:
    return Moments(jnp.zeros(size), jnp.ones(size), jnp.asarray(1e-4))


def updated(old: Moments, x: jax.Array) -> Moments:
    """With observations (..., size) added."""
    x = x.reshape(-1, x.shape[-1])
    n, total = x.shape[0], old.samples + x.shape[0]
    change = x.mean(0) - old.mean
    squares = old.var * old.samples + x.var(0) * n + change**2 * old.samples * n / total
    return Moments(old.mean + change * n / total, squares / total, total)


def normalized(moments: Moments, x: jax.Array) -> jax.Array:
    """What networks are given: 32 bits, mean about 0, deviation about 1."""
    return ((x - moments.mean) / jnp.sqrt(moments.var + FLOOR)).astype(jnp.float32)
