"""The contact problem as a layer: impulses and velocities, differentiable by G, g, mu and compliance."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from slipstick import _ncp_rows

from ._function import Map, apply
from ._tensors import tensor


class Contacts(NamedTuple):
    """impulse and velocity (..., m); residual (...): how well the problem is solved, without derivatives."""

    impulse: torch.Tensor
    velocity: torch.Tensor
    residual: torch.Tensor


def ncp(
    G: Any, g: Any, mu: Any, compliance: Any = None, *, kinds: Sequence[str] | None = None, tolerance: float = 1e-10
) -> Contacts:
    """Solves contact problems as `slipstick.ncp.solve`; leading axes are problems.

    G (..., m, m) inverse inertia, g (..., m) velocity without impulses, mu (..., k) coefficient of friction or bound of each
    constraint, compliance (..., k), default zero; kinds: "friction" (3 rows), "unilateral", "box", "bilateral" (1 row each),
    default friction alone. A derivative of a problem that was not solved raises GradientError.
    """
    given = [tensor(what, x) for what, x in zip(("G", "g", "mu"), (G, g, mu))]
    size = given[1].shape[-1] if given[1].ndim else 0
    kinds = _ncp_rows.checked_kinds(kinds, size)
    given.append(tensor("compliance", np.zeros(len(kinds)) if compliance is None else compliance))
    shapes = [(size, size), (size,), (len(kinds),), (len(kinds),)]
    names = ("G", "g", "mu", "compliance")
    for what, x, shape in zip(names, given, shapes):
        if tuple(x.shape[x.ndim - len(shape) :]) != shape:
            raise ValueError(f"{what}: expected a tensor of shape (..., {', '.join(map(str, shape))}), got {tuple(x.shape)}")
    lead = torch.broadcast_shapes(*(x.shape[: x.ndim - len(shape)] for x, shape in zip(given, shapes)))
    operands = [x.expand(*lead, *shape).to(torch.float64) for x, shape in zip(given, shapes)]
    kind = torch.promote_types(given[0].dtype, given[1].dtype)
    impulse, velocity, residual = apply(_map(kinds, tolerance), *operands)
    return Contacts(impulse.to(kind), velocity.to(kind), residual)


def _map(kinds: tuple[str, ...], tolerance: float) -> Map:
    def arrays(operands: Any) -> list[np.ndarray]:
        lead = operands[1].ndim - 1
        return [x.detach().reshape(-1, *x.shape[lead:]).numpy() for x in operands]

    def value(*operands: Any) -> Any:
        found = _ncp_rows.values(kinds, tolerance, *arrays(operands))
        return tuple(torch.from_numpy(x).reshape((*operands[1].shape[:-1], *x.shape[1:])) for x in found)

    def tangent(operands: Any, changes: Any) -> Any:
        still = [torch.zeros_like(x) if dx is None else dx for x, dx in zip(operands, changes)]
        found = _ncp_rows.tangents(kinds, tolerance, arrays(operands), arrays(still))
        return tuple(torch.from_numpy(x).reshape(operands[1].shape) for x in found)

    def cotangent(operands: Any, weights: Any) -> Any:
        rows = [w.detach().reshape(-1, w.shape[-1]).numpy() for w in weights]
        found = _ncp_rows.cotangents(kinds, tolerance, arrays(operands), *rows)
        return tuple(torch.from_numpy(x).reshape(like.shape) for x, like in zip(found, operands))

    return Map(value, tangent, cotangent, outputs=2)
