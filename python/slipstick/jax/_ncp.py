"""The contact problem as a layer: impulses and velocities, differentiable by G, g, mu and compliance."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from slipstick import _ncp_rows

from ._ffi import Shape, dtype


class Contacts(NamedTuple):
    """impulse and velocity (..., m); residual (...): how well the problem is solved, without derivatives."""

    impulse: jax.Array
    velocity: jax.Array
    residual: jax.Array


class _Static(NamedTuple):
    kinds: tuple[str, ...]
    tolerance: float


def ncp(
    G: ArrayLike,
    g: ArrayLike,
    mu: ArrayLike,
    compliance: ArrayLike | None = None,
    *,
    kinds: Sequence[str] | None = None,
    tolerance: float = 1e-10,
) -> Contacts:
    """Solves contact problems as `slipstick.ncp.solve`; leading axes are problems. Through a callback: `jit` and `vmap` work,
    derivatives are first ones in reverse mode.

    G (..., m, m) inverse inertia, g (..., m) velocity without impulses, mu (..., k) coefficient of friction or bound of each
    constraint, compliance (..., k), default zero; kinds: "friction" (3 rows), "unilateral", "box", "bilateral" (1 row each),
    default friction alone. A derivative of a problem that was not solved raises GradientError.
    """
    G, g, mu = jnp.asarray(G), jnp.asarray(g), jnp.asarray(mu)
    size = g.shape[-1] if g.ndim else 0
    kinds = _ncp_rows.checked_kinds(kinds, size)
    compliance = jnp.zeros(len(kinds)) if compliance is None else jnp.asarray(compliance)
    shapes = [(size, size), (size,), (len(kinds),), (len(kinds),)]
    given = [G, g, mu, compliance]
    for what, x, shape in zip(("G", "g", "mu", "compliance"), given, shapes):
        if x.shape[x.ndim - len(shape) :] != shape:
            raise ValueError(f"{what}: expected an array of shape (..., {', '.join(map(str, shape))}), got {x.shape}")
    lead = jnp.broadcast_shapes(*(x.shape[: x.ndim - len(shape)] for x, shape in zip(given, shapes)))
    operands = [jnp.broadcast_to(x, lead + shape).astype(dtype()) for x, shape in zip(given, shapes)]
    kind = jnp.result_type(G, g, float)
    impulse, velocity, residual = _solve(_Static(kinds, tolerance), *operands)
    return Contacts(impulse.astype(kind), velocity.astype(kind), residual)


def _rows(lead: int, operands: Sequence[Any]) -> list[np.ndarray]:
    return [np.asarray(x, float).reshape(-1, *np.shape(x)[lead:]) for x in operands]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _solve(static: _Static, *operands: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    def call(*given: Any) -> Any:
        lead = given[1].shape[:-1]
        found = _ncp_rows.values(*static, *_rows(len(lead), given))
        return tuple(np.asarray(x.reshape(lead + x.shape[1:]), dtype()) for x in found)

    g = operands[1]
    shapes = (Shape(g.shape, g.dtype), Shape(g.shape, g.dtype), Shape(g.shape[:-1], g.dtype))
    return jax.pure_callback(call, shapes, *operands, vmap_method="broadcast_all")


def _forward(static: _Static, *operands: jax.Array) -> Any:
    return _solve(static, *operands), operands


def _backward(static: _Static, operands: Any, weights: Any) -> Any:
    def call(*given: Any) -> Any:
        lead = len(given[1].shape) - 1
        rows = _rows(lead, given)
        found = _ncp_rows.cotangents(*static, rows[:4], *rows[4:])
        return tuple(np.asarray(x.reshape(like.shape), dtype()) for x, like in zip(found, given))

    shapes = tuple(Shape(x.shape, x.dtype) for x in operands)
    return jax.pure_callback(call, shapes, *operands, *weights[:2], vmap_method="broadcast_all")


_solve.defvjp(_forward, _backward)
