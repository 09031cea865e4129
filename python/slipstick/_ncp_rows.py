"""Contact problems in rows, for layers of JAX and PyTorch: arrays in, arrays out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from slipstick import ncp

KINDS = ("friction", "unilateral", "box", "bilateral")
ROWS = {"friction": 3, "unilateral": 1, "box": 1, "bilateral": 1}


def checked_kinds(kinds: Sequence[str] | None, size: int) -> tuple[str, ...]:
    """Kinds of all constraints of a problem with `size` rows; None: contacts with friction."""
    if kinds is None:
        if size % 3:
            raise ValueError(f"g: expected three rows for each contact, got {size}; other constraints need kinds=")
        return ("friction",) * (size // 3)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ValueError(f"kinds: expected words of {', '.join(KINDS)}, got {unknown[0]!r}")
    rows = sum(ROWS[kind] for kind in kinds)
    if rows != size:
        raise ValueError(f"kinds: expected constraints of {size} rows as in g, got {rows}")
    return tuple(kinds)


def solve_row(kinds: tuple[str, ...], tolerance: float, G: Any, g: Any, mu: Any, compliance: Any) -> ncp.Solution:
    """One problem; mu has the coefficient of friction or the bound of each constraint, and any number where it has none."""
    cones: list[Any] = [
        ncp.Friction(m) if kind == "friction" else ncp.Box(m) if kind == "box" else kind for kind, m in zip(kinds, mu)
    ]
    return ncp.solve(G, g, cones=cones, compliance=compliance, tolerance=tolerance)


def values(kinds: tuple[str, ...], tolerance: float, *operands: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Impulses, velocities and residuals of rows of problems: G (n, m, m), g (n, m), mu (n, k), compliance (n, k)."""
    found = [solve_row(kinds, tolerance, *row) for row in zip(*operands)]
    size = operands[1].shape[1:]
    return (
        np.array([x.impulse for x in found]).reshape(-1, *size),
        np.array([x.velocity for x in found]).reshape(-1, *size),
        np.array([x.residual for x in found], float),
    )


def cotangents(
    kinds: tuple[str, ...], tolerance: float, operands: Sequence[np.ndarray], impulse: np.ndarray, velocity: np.ndarray
) -> list[np.ndarray]:
    """Gradients by G, g, mu and compliance of weights times impulses and velocities, row by row."""
    grads = [
        solve_row(kinds, tolerance, *row).vjp(impulse=wi, velocity=wv)
        for row, wi, wv in zip(zip(*operands), impulse, velocity)
    ]
    names = ("G", "g", "mu", "compliance")
    return [
        np.array([getattr(grad, name) for grad in grads]).reshape(x.shape) for name, x in zip(names, operands)
    ]


def jacobians(kinds: tuple[str, ...], tolerance: float, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
    """What `values` returns, and the Jacobians of impulses and velocities by g (n, 2 m, m), mu and compliance (n, 2 m, k)."""
    found = [solve_row(kinds, tolerance, *row) for row in zip(*operands)]
    size, count = operands[1].shape[1], len(kinds)
    stacks: list[list[np.ndarray]] = [[], [], []]
    for J in (x.jacobian() for x in found):
        stacks[0].append(np.vstack([J.dimpulse_dg, J.dvelocity_dg]))
        stacks[1].append(np.vstack([J.dimpulse_dmu, J.dvelocity_dmu]))
        stacks[2].append(np.vstack([J.dimpulse_dcompliance, J.dvelocity_dcompliance]))
    impulse, velocity = (np.array([getattr(x, name) for x in found]).reshape(-1, size) for name in ("impulse", "velocity"))
    residual = np.array([x.residual for x in found], float)
    by = [np.array(stack).reshape(-1, 2 * size, width) for stack, width in zip(stacks, (size, count, count))]
    return impulse, velocity, residual, *by


def tangents(
    kinds: tuple[str, ...], tolerance: float, operands: Sequence[np.ndarray], changes: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Changes of impulses and velocities along changes of G, g, mu and compliance, row by row."""
    names = ("G", "g", "mu", "compliance")
    found = [
        solve_row(kinds, tolerance, *row).jvp(**dict(zip(names, along))) for row, along in zip(zip(*operands), zip(*changes))
    ]
    return [np.array(part).reshape(operands[1].shape) for part in zip(*found)] if found else [np.zeros_like(operands[1])] * 2
