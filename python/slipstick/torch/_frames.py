"""Poses and velocities of frames, and the center of mass, as functions of tensors."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from slipstick import Model, _native
from slipstick._content import by_content

from ._function import Map, Tensors, apply
from ._tensors import common_lead, like, rows, spread, tensor

PER_FRAME = 18  # position, rotation, velocity


class Frames(NamedTuple):
    """Frames in world axes: position (..., k, 3) (m), rotation (..., k, 3, 3), velocity (..., k, 6): [linear; angular];
    center_of_mass (..., 3) of the robot (m)."""

    position: torch.Tensor
    rotation: torch.Tensor
    velocity: torch.Tensor
    center_of_mass: torch.Tensor


def frames(model: Model, q: Any, names: Sequence[str] | str = (), v: Any = None) -> Frames:
    """Frames (links and sites) by name, and the center of mass: q (..., nq), v (..., nv), default zero."""
    names = (names,) if isinstance(names, str) else tuple(names)
    q = tensor("q", q)
    v = torch.zeros(*q.shape[:-1], model.nv, dtype=q.dtype) if v is None else tensor("v", v)
    lead, kind = common_lead({"q": q, "v": v}), torch.promote_types(q.dtype, v.dtype)
    states = spread("q", q, lead, model.nq), spread("v", v, lead, model.nv)
    values = apply(_map(model, names), *states)[0].to(kind)
    each = values[..., :-3].reshape(*lead, len(names), PER_FRAME)
    rotation = each[..., 3:12].reshape(*lead, len(names), 3, 3)
    return Frames(each[..., :3], rotation, each[..., 12:], values[..., -3:])


@by_content
def _map(key: int, model: Model, names: tuple[str, ...]) -> Map:
    """(q, v) → values of all frames, and the center of mass."""
    _native._xla_frames(key, model, list(names))
    nq = model.nq

    def call(operands: Tensors, derivatives: bool) -> list[np.ndarray]:
        q, v = (rows(x) for x in operands)
        return list(_native._xla_frames_values(key, q, v, derivatives))

    def value(*operands: Any) -> Tensors:
        return (like(call(operands, False)[0], operands[0].shape[:-1]),)

    def matrix(operands: Any) -> torch.Tensor:
        return like(call(operands, True)[1], operands[0].shape[:-1])

    def tangent(operands: Any, changes: Any) -> Tensors:
        still = (torch.zeros_like(x) if dx is None else dx for x, dx in zip(operands, changes))
        return ((matrix(operands) @ torch.cat(list(still), -1)[..., None])[..., 0],)

    def cotangent(operands: Any, weights: Any) -> Tensors:
        both = (weights[0][..., None, :] @ matrix(operands))[..., 0, :]
        return both[..., :nq], both[..., nq:]

    return Map(value, tangent, cotangent, outputs=1)
