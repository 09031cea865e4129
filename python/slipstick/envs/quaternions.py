"""Unit quaternions (w, x, y, z) on any array namespace, (…, 4)."""

from __future__ import annotations

from typing import Any

Array = Any


def product(xp: Any, a: Array, b: Array) -> Array:
    """First b, then a."""
    aw, ax, ay, az = (a[..., k] for k in range(4))
    bw, bx, by, bz = (b[..., k] for k in range(4))
    return xp.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def exponential(xp: Any, rotation: Array) -> Array:
    """The rotation by a vector (…, 3): axis times angle (rad)."""
    angle = xp.sqrt((rotation * rotation).sum(-1, keepdims=True))
    # sinc(x) is sin(pi x) / (pi x), which is defined at zero
    imaginary = 0.5 * xp.sinc(angle / (2 * xp.pi)) * rotation
    return xp.concatenate([xp.cos(angle / 2), imaginary], axis=-1)


def forward_x(xp: Any, quaternion: Array) -> Array:
    """Component along the world's x of a body's x axis: 1 where it heads along x."""
    y, z = quaternion[..., 2], quaternion[..., 3]
    return 1 - 2 * (y * y + z * z)


def up_z(xp: Any, quaternion: Array) -> Array:
    """Component along the world's z of a body's z axis: 1 upright, -1 upside down."""
    x, y = quaternion[..., 1], quaternion[..., 2]
    return 1 - 2 * (x * x + y * y)
