"""Poses and velocities of frames, and the center of mass, as JAX functions."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from slipstick import Model, _native
from slipstick._content import by_content

from ._ffi import Shape, Target, dtype, rows

PER_FRAME = 18  # position, rotation, velocity


class Frames(NamedTuple):
    """Frames in world axes: position (..., k, 3) (m), rotation (..., k, 3, 3), velocity (..., k, 6): [linear; angular];
    center_of_mass (..., 3) of the robot (m)."""

    position: jax.Array
    rotation: jax.Array
    velocity: jax.Array
    center_of_mass: jax.Array


class _Static(NamedTuple):
    key: int
    nq: int
    nv: int
    width: int


@by_content
def _static(key: int, model: Model, names: tuple[str, ...]) -> _Static:
    width = _native._xla_frames(key, model, list(names))
    return _Static(key, model.nq, model.nv, width)


def frames(model: Model, q: ArrayLike, names: Sequence[str] | str = (), v: ArrayLike | None = None) -> Frames:
    """Frames (links and sites) by name, and the center of mass: q (..., nq), v (..., nv), default zero."""
    names = (names,) if isinstance(names, str) else tuple(names)
    q = jnp.asarray(q)
    v = jnp.zeros((*q.shape[:-1], model.nv), q.dtype) if v is None else jnp.asarray(v)
    given, lead = jnp.result_type(q, v, float), jnp.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    for what, x, width in [("q", q, model.nq), ("v", v, model.nv)]:
        if x.shape[-1:] != (width,):
            raise ValueError(f"{what}: expected an array of shape {(*lead, width)}, got {x.shape}")
    static = _static(model, names)
    states = [jnp.broadcast_to(x, (*lead, x.shape[-1])).astype(dtype()) for x in (q, v)]
    values = _values(static, *states).astype(given)
    each = values[..., :-3].reshape(*lead, len(names), PER_FRAME)
    rotation = each[..., 3:12].reshape(*lead, len(names), 3, 3)
    return Frames(each[..., :3], rotation, each[..., 12:], values[..., -3:])


def _callback(q: np.ndarray, v: np.ndarray, *, key: int, derivatives: int) -> Sequence[np.ndarray]:
    return _native._xla_frames_values(key, rows(q), rows(v), bool(derivatives))


_target = Target("slipstick_frames", _callback)


def _call(static: _Static, derivatives: bool, q: jax.Array, v: jax.Array) -> list[jax.Array]:
    lead = q.shape[:-1]
    width = static.width if derivatives else 0
    shapes = [Shape((*lead, static.width), q.dtype), Shape((*lead, width, static.nq + static.nv), q.dtype)]
    return _target(shapes, q, v, key=static.key, derivatives=int(derivatives))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _values(static: _Static, q: jax.Array, v: jax.Array) -> jax.Array:
    return _call(static, False, q, v)[0]


@_values.defjvp
def _values_jvp(static: _Static, primals: Any, tangents: Any) -> Any:
    values, derivatives = _call(static, True, *primals)
    return values, jnp.einsum("...ij,...j->...i", derivatives, jnp.concatenate(tangents, -1))
