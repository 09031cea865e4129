"""Spaces of a task."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from ..envs import Spec, make_spec
from .worlds import Floats


def task(name: str | Spec, options: dict[str, Any]) -> Spec:
    """A task by its name, or the one that is given."""
    if isinstance(name, Spec):
        if options:
            hint = "use dataclasses.replace(spec, …)"
            raise TypeError(f"options {', '.join(options)}: expected none beside a Spec; {hint}")
        return name
    return make_spec(name, **options)


def action_space(spec: Spec) -> gymnasium.Space[Floats]:
    return gymnasium.spaces.Box(-1.0, 1.0, (spec.action_size,), np.float64)


def observation_space(spec: Spec) -> gymnasium.Space[Floats]:
    return gymnasium.spaces.Box(-np.inf, np.inf, (spec.observation_size,), np.float64)
