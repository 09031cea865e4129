"""Settings of SHAC and PPO, presets for tasks, and changes by name."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

Curve = tuple[tuple[float, float], ...]
"""A number that changes during training: (share of the samples, value), linear between, constant beyond."""


@dataclass(frozen=True, kw_only=True)
class ShacSettings:
    """Short-horizon actor-critic. Defaults: those of tasks with contact."""

    envs: int = 64
    horizon: int = 16
    """Control steps in a window."""
    actor: tuple[int, ...] = (128, 64, 32)
    critic: tuple[int, ...] = (64, 64)
    actor_rate: float = 2e-3
    critic_rate: float = 2e-3
    last_rate: float = 1e-5
    """Both rates fall to it linearly; a rate below it stays constant."""
    betas: tuple[float, float] = (0.7, 0.95)
    """Of Adam."""
    gamma: float = 0.99
    lam: float = 0.95
    alpha: float = 0.2
    """Share of the old target critic that is kept in an iteration."""
    critic_passes: int = 16
    minibatches: int = 4
    cut: float = 4.0
    """Gradients of single environments are cut at so many medians of their norms; 0: not at all."""
    clip: float = 1.0
    """Largest norm of a step's gradient, of actor and critic."""
    smoothing: Curve = ()
    """Speed of smoothed derivatives (m/s); empty: exact derivatives."""
    compliance: Curve = ()
    """Compliance of contact during training, as a share of inverse inertias; empty: rigid contact."""

    @property
    def window(self) -> int:
        """Samples in an iteration."""
        return self.envs * self.horizon


@dataclass(frozen=True, kw_only=True)
class PpoSettings:
    """Proximal policy optimization. Defaults: the paper's, for the hopper."""

    envs: int = 256
    horizon: int = 32
    minibatch: int = 1024
    """Samples."""
    epochs: int = 10
    actor: tuple[int, ...] = (128, 64, 32)
    critic: tuple[int, ...] = (64, 64)
    rate: float = 3e-4
    gamma: float = 0.99
    lam: float = 0.95
    ratio: float = 0.2
    """How far the probability of an action may move in an iteration before its gradient ends."""
    value_weight: float = 2.0
    clip: float = 1.0
    reward_scale: float = 0.01

    @property
    def window(self) -> int:
        return self.envs * self.horizon


Settings = ShacSettings | PpoSettings
ALGORITHMS: dict[str, type[ShacSettings] | type[PpoSettings]] = {"shac": ShacSettings, "ppo": PpoSettings}
PRESETS = ("default", "paper")

_CARTPOLE = dict(actor=(64, 64))
_PAPER_SHAC = dict(
    envs=16, horizon=20, actor_rate=3e-4, critic_rate=3e-4, last_rate=3e-4, alpha=0.99, cut=0.0
)
_TASKS: dict[tuple[str, str, str], dict[str, Any]] = {
    ("shac", "default", "cartpole_swingup"): dict(
        actor=(128, 128), critic=(128, 128), envs=32, horizon=32, actor_rate=2e-3, critic_rate=1e-3, alpha=0.8, cut=0.0
    ),
    ("shac", "paper", "cartpole_swingup"): dict(**_CARTPOLE, **_PAPER_SHAC),
    ("ppo", "default", "cartpole_swingup"): dict(**_CARTPOLE, envs=128, horizon=240, minibatch=3840),
    ("ppo", "paper", "cartpole_swingup"): dict(**_CARTPOLE, envs=128, horizon=240, minibatch=3840),
}


def settings_for(algorithm: str, task: str, preset: str = "default", **changes: Any) -> Settings:
    """Settings of a task: preset "paper" has the numbers of the paper where it states them."""
    _known("algorithm", algorithm, ALGORITHMS)
    _known("preset", preset, PRESETS)
    kind = ALGORITHMS[algorithm]
    general = _PAPER_SHAC if (algorithm, preset) == ("shac", "paper") else {}
    for word in changes:
        _known("setting", word, [field.name for field in fields(kind)])
    settings = kind(**{**_TASKS.get((algorithm, preset, task), general), **changes})
    _check(settings)
    return settings


def changed(settings: Settings, words: list[str]) -> Settings:
    """Changed by words as on the command line: horizon=32 actor=64,64 smoothing=0:0.3,0.5:0."""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        _known("setting", name, [field.name for field in fields(settings)])
        if not equals:
            raise ValueError(f"setting {name}: expected {name}=VALUE, got {word!r}")
        values[name] = _parsed(name, text, getattr(settings, name))
    settings = replace(settings, **values)
    _check(settings)
    return settings


def as_plain(settings: Settings) -> dict[str, Any]:
    """For files."""
    return asdict(settings)


def from_plain(algorithm: str, plain: dict[str, Any]) -> Settings:
    return ALGORITHMS[algorithm](**{name: _tuples(x) for name, x in plain.items()})


def _tuples(x: Any) -> Any:
    return tuple(_tuples(y) for y in x) if isinstance(x, (list, tuple)) else x


def _parsed(name: str, text: str, example: Any) -> Any:
    try:
        if name in ("smoothing", "compliance"):
            return _curve(text)
        if isinstance(example, tuple):
            return tuple(type(example[0])(part) for part in text.split(",") if part)
        return type(example)(text)
    except ValueError:
        raise ValueError(f"setting {name}: expected a value like {example!r}, got {text!r}") from None


def _curve(text: str) -> Curve:
    """"0.1" is constant, "0:0.3,0.5:0" falls from 0.3 to 0 in the first half, "" or "none" is nothing."""
    if text in ("", "none"):
        return ()
    if ":" not in text:
        return ((0.0, float(text)),)
    points = [part.split(":") for part in text.split(",")]
    return tuple(sorted((float(share), float(number)) for share, number in points))


def _check(settings: Settings) -> None:
    for name in ("envs", "horizon", "epochs", "minibatch", "critic_passes", "minibatches"):
        number = getattr(settings, name, 1)
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"setting {name}: expected a whole number of at least 1, got {number!r}")
    for name in ("gamma", "lam", "alpha"):
        number = getattr(settings, name, 0.5)
        if not 0 <= number <= 1:
            raise ValueError(f"setting {name}: expected a number from 0 to 1, got {number!r}")
    parts = settings.minibatches if isinstance(settings, ShacSettings) else settings.minibatch
    if settings.window % parts:
        name = "minibatches" if isinstance(settings, ShacSettings) else "minibatch"
        raise ValueError(f"setting {name}: expected a divisor of envs · horizon = {settings.window}, got {parts}")


def _known(what: str, word: str, known: Any) -> None:
    if word in known:
        return
    nearest = get_close_matches(str(word), list(known), n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    raise ValueError(f"{what} {word!r}: expected one of {', '.join(known)}{hint}")
