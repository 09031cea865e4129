"""Policies and value functions: multilayer perceptrons of 32 bits, with ELU and layer normalization as in DiffRL."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

Layers = list[tuple[jax.Array, jax.Array]]
LAYER_NORM_FLOOR = 1e-5
FIRST_LOG_STD = -1.0


class Actor(NamedTuple):
    """A Gaussian before tanh; its deviation does not depend on the state."""

    mean: Layers
    log_std: jax.Array


def torch_like(key: jax.Array, sizes: list[int]) -> Layers:
    """Uniform weights, as PyTorch makes them."""
    init = jax.nn.initializers.variance_scaling(1 / 3, "fan_in", "uniform")
    return _layers(key, sizes, [init] * (len(sizes) - 1))


def orthogonal(key: jax.Array, sizes: list[int], last: float = 1.0) -> Layers:
    """Orthogonal weights of gain √2, `last` in the output layer."""
    gains = [2**0.5] * (len(sizes) - 2) + [last]
    return _layers(key, sizes, [jax.nn.initializers.orthogonal(gain) for gain in gains])


def _layers(key: jax.Array, sizes: list[int], inits: list[Any]) -> Layers:
    keys = jax.random.split(key, len(inits))
    shapes = zip(sizes[:-1], sizes[1:])
    return [
        (init(k, shape, jnp.float32), jnp.zeros(shape[1], jnp.float32)) for k, shape, init in zip(keys, shapes, inits)
    ]


def mlp(layers: Layers, x: jax.Array) -> jax.Array:
    for w, b in layers[:-1]:
        x = jax.nn.elu(x @ w + b)
        x = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + LAYER_NORM_FLOOR)
    w, b = layers[-1]
    return x @ w + b


def value(layers: Layers, x: jax.Array) -> jax.Array:
    """(...) of observations (..., size)."""
    return mlp(layers, x)[..., 0]


def deterministic(actor: Actor, x: jax.Array) -> jax.Array:
    """The action without noise, in (-1, 1)."""
    return jnp.tanh(mlp(actor.mean, x))


def first_log_std(size: int) -> jax.Array:
    return jnp.full(size, FIRST_LOG_STD, jnp.float32)


def log_density(actor: Actor, mean: jax.Array, u: jax.Array) -> jax.Array:
    """Of a draw before tanh, up to a constant: (...)."""
    return (-0.5 * ((u - mean) * jnp.exp(-actor.log_std)) ** 2 - actor.log_std).sum(-1)


def norm_of(tree: Any) -> jax.Array:
    """Of all numbers of a tree."""
    return jnp.sqrt(sum((jnp.asarray(x) ** 2).sum() for x in jax.tree.leaves(tree)))
