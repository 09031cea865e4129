"""Tensors in and out of the engine: checked, with common leading axes, 64 bits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]


def tensor(what: str, x: Any) -> torch.Tensor:
    """A tensor of floats on the CPU."""
    x = torch.as_tensor(x)
    if x.device.type != "cpu":
        raise ValueError(f"{what}: expected a tensor on the CPU, got one on {x.device}; move it with .cpu()")
    if x.dtype not in (torch.float32, torch.float64):
        if x.is_complex():
            raise TypeError(f"{what}: expected real numbers, got {x.dtype}")
        x = x.to(torch.float64 if x.dtype != torch.float16 and x.dtype != torch.bfloat16 else torch.float32)
    return x


def spread(what: str, x: torch.Tensor, lead: Sequence[int], width: int) -> torch.Tensor:
    """An operand (*lead, width) of 64 bits."""
    try:
        if x.shape[-1:] == (width,):
            return x.expand(*lead, width).to(torch.float64)
    except RuntimeError:
        pass
    raise ValueError(f"{what}: expected a tensor of shape {(*lead, width)}, got {tuple(x.shape)}")


def common_lead(operands: dict[str, torch.Tensor]) -> tuple[int, ...]:
    """Leading axes to which all operands can be spread."""
    shapes = {what: tuple(x.shape[:-1]) for what, x in operands.items()}
    try:
        return tuple(torch.broadcast_shapes(*shapes.values()))
    except RuntimeError:
        listed = ", ".join(f"{what} {shape}" for what, shape in shapes.items())
        raise ValueError(f"leading axes: expected ones that broadcast, got {listed}") from None


def rows(x: torch.Tensor | None) -> Any:
    """All leading axes as one, an array of numpy; None stays."""
    return None if x is None else x.detach().reshape(-1, x.shape[-1]).numpy()


def like(x: np.ndarray, lead: Sequence[int]) -> torch.Tensor:
    """Rows with their leading axes again."""
    return torch.from_numpy(np.ascontiguousarray(x)).reshape((*lead, *x.shape[1:]))
