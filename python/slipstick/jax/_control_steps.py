"""Control steps that compiled programs refer to by a key, and how callbacks find them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from slipstick import Model, _native
from slipstick._content import by_content
from slipstick.gradient import ControlStep

from ._ffi import rows

control_steps: dict[int, ControlStep] = {}


@by_content
def key_of(key: int, model: Model, hold: int, threads: int | None) -> int:
    """The key of the control step of a model."""
    control_steps[key] = ControlStep(model, hold, threads=threads)
    _native._xla_control_step(key, control_steps[key])
    return key


def arguments(operands: Sequence[np.ndarray]) -> tuple[list[Any], dict[str, Any]]:
    """q, v, ctrl and the others as ControlStep takes them: without numbers they were left out."""
    q, v, ctrl, tau, parameters, smoothing = (rows(x) if x.shape[-1] else None for x in operands)
    return [q, v, ctrl], dict(tau=tau, parameters=parameters, smoothing=None if smoothing is None else smoothing[:, 0])
