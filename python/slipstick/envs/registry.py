"""Tasks by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from . import gymnasium_v5
from .cartpole import CartpoleSwingup
from .free import Ant, Humanoid, Quadruped
from .planar import HalfCheetah, Hopper, Walker2d
from .spec import Spec

SMOOTH: dict[str, type[Spec]] = {
    "cartpole_swingup": CartpoleSwingup,
    "hopper": Hopper,
    "half_cheetah": HalfCheetah,
    "walker2d": Walker2d,
    "ant": Ant,
    "humanoid": Humanoid,
    "quadruped": Quadruped,
}
GYMNASIUM: dict[str, type[Spec]] = {
    "hopper": gymnasium_v5.HopperV5,
    "half_cheetah": gymnasium_v5.HalfCheetahV5,
    "walker2d": gymnasium_v5.Walker2dV5,
    "ant": gymnasium_v5.AntV5,
    "humanoid": gymnasium_v5.HumanoidV5,
}
FIXED = ("name", "rules", "version", "description")
RULES = {"smooth": SMOOTH, "gymnasium": GYMNASIUM}


def names(reward: str = "smooth") -> list[str]:
    """Names of all tasks, or of those that have these rules."""
    return list(_rules(reward))


def make_spec(name: str, *, reward: str = "smooth", **changes: Any) -> Spec:
    """A task by its name.

    reward: "smooth" (DiffRL and the paper) or "gymnasium" (observations, ends, starts and clock too);
    changes: fields of the spec, e.g. hold=8, length=500.
    """
    rules = _rules(reward)
    if name not in rules:
        expected = f"expected one of {', '.join(rules)}{_hint(name, rules)}"
        raise ValueError(f"task {name!r} with reward {reward!r}: {expected}")
    known = [field.name for field in fields(rules[name]) if field.name not in FIXED]
    for word in changes:
        if word not in known:
            expected = f"expected one of {', '.join(known)}{_hint(word, known)}"
            raise TypeError(f"task {name!r} has no option {word!r}: {expected}")
    spec = rules[name](**changes)
    _check(spec)
    return spec


def _check(spec: Spec) -> None:
    for word, given in (("hold", spec.hold), ("length", spec.length)):
        if not isinstance(given, int) or isinstance(given, bool) or given < 1:
            raise ValueError(f"{word}: expected a whole number of at least 1, got {given!r}")


def _rules(reward: str) -> dict[str, type[Spec]]:
    if reward not in RULES:
        raise ValueError(f"reward: expected one of {', '.join(RULES)}, got {reward!r}{_hint(reward, RULES)}")
    return RULES[reward]


def _hint(word: Any, known: Iterable[str]) -> str:
    nearest = get_close_matches(str(word), list(known), n=1)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""
