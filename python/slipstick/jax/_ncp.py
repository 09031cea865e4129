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
    derivatives are first ones, forward and reverse.

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


def _callback(static: _Static, operands: Sequence[jax.Array], jacobians: bool) -> tuple[jax.Array, ...]:
    """Impulse, velocity and residual; and the Jacobians of [impulse; velocity] by g, mu and compliance."""
    G, _, mu, _ = operands
    lead, m, k = G.shape[:-2], G.shape[-1], mu.shape[-1]
    shapes = [(m,), (m,), ()] + ([(2 * m, m), (2 * m, k), (2 * m, k)] if jacobians else [])

    def call(*given: Any) -> Any:
        here = given[1].shape[:-1]
        rows = _rows(len(here), given)
        found = (_ncp_rows.jacobians if jacobians else _ncp_rows.values)(*static, *rows)
        return tuple(np.asarray(x.reshape(here + shape), dtype()) for x, shape in zip(found, shapes))

    results = tuple(Shape(lead + shape, G.dtype) for shape in shapes)
    return tuple(jax.pure_callback(call, results, *operands, vmap_method="broadcast_all"))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _solve(static: _Static, *operands: jax.Array) -> tuple[jax.Array, ...]:
    return _callback(static, operands, jacobians=False)


@_solve.defjvp
def _tangent(static: _Static, primals: Any, tangents: Any) -> Any:
    """Linear in the tangents, so that reverse mode is its transpose."""
    impulse, velocity, residual, *by = _callback(static, primals, jacobians=True)
    dG, dg, dmu, dcompliance = tangents
    # the velocity is G impulse + g: a change of G acts as a change of g does
    along = (dg + jnp.einsum("...ij,...j->...i", dG, impulse), dmu, dcompliance)
    both = jnp.einsum("...ij,...j->...i", jnp.concatenate(by, -1), jnp.concatenate(along, -1))
    size = impulse.shape[-1]
    return (impulse, velocity, residual), (both[..., :size], both[..., size:], jnp.zeros_like(residual))
