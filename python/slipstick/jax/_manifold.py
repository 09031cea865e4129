"""The configuration manifold in JAX."""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from slipstick import Model


def integrate(model: Model, q: ArrayLike, dv: ArrayLike) -> jax.Array:
    """q ⊕ dv: the configuration (..., nq) along a tangent (..., nv); quaternions are normalized."""
    q, dv = jnp.asarray(q), jnp.asarray(dv)
    lead = jnp.broadcast_shapes(q.shape[:-1], dv.shape[:-1])
    q, dv = jnp.broadcast_to(q, (*lead, model.nq)), jnp.broadcast_to(dv, (*lead, model.nv))
    parts = []
    for index in range(model.n_joints):
        joint = model.joint(index)
        x, dx = q[..., joint.q], dv[..., joint.v]
        if joint.type == "free":
            parts += [x[..., :3] + dx[..., :3], _turn(x[..., 3:], dx[..., 3:])]
        elif joint.type == "spherical":
            parts.append(_turn(x, dx))
        else:
            parts.append(x + dx)
    return jnp.concatenate(parts, -1)


def _turn(p: jax.Array, w: jax.Array) -> jax.Array:
    """The quaternion p exp(w / 2) of norm one."""
    p = p / jnp.linalg.norm(p, axis=-1, keepdims=True)
    square = jnp.sum(w * w, -1, keepdims=True)
    small = square < 1e-8
    angle = jnp.sqrt(jnp.where(small, 1.0, square))  # the derivative of a root at zero is not finite
    scale = jnp.where(small, 0.5 - square / 48.0, jnp.sin(0.5 * angle) / angle)
    real = jnp.where(small, 1.0 - square / 8.0, jnp.cos(0.5 * angle))
    x, u = p[..., 1:], scale * w
    real_out = p[..., :1] * real - jnp.sum(x * u, -1, keepdims=True)
    return jnp.concatenate([real_out, p[..., :1] * u + real * x + jnp.cross(x, u)], -1)
