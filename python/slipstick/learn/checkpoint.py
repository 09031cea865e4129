"""Checkpoints: the whole state of a run as one npz file, which `resume` continues bit for bit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import jax
import numpy as np

import slipstick
from slipstick.envs import Spec, make_spec

from .files import replaced
from .settings import Settings, as_plain, from_plain

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run is, apart from its state."""

    task: str
    algorithm: str
    settings: Settings
    seed: int
    samples: int
    """Control steps of training, evaluations not counted."""
    task_changes: dict[str, Any]
    """Fields of the task that differ from its own, as make_spec takes them."""

    @property
    def spec(self) -> Spec:
        return make_spec(self.task, **self.task_changes)

    @property
    def iterations(self) -> int:
        return max(1, self.samples // self.settings.window)


def save(path: Path, run: Run, state: Any, progress: dict[str, Any]) -> None:
    """progress: numbers that go on in a resumed run's log, as the time used."""
    leaves, _ = jax.tree.flatten(jax.tree.map(_plain_key, state, is_leaf=_is_key))
    spec = run.spec
    about = {
        "format": FORMAT,
        "task": run.task,
        "task_changes": run.task_changes,
        "task_version": spec.version,
        "algorithm": run.algorithm,
        "settings": as_plain(run.settings),
        "seed": run.seed,
        "samples": run.samples,
        "model": spec.robot.content_hash,
        "versions": _versions(),
        "progress": progress,
    }
    numbers: dict[str, Any] = {f"leaf{k:04}": np.asarray(leaf) for k, leaf in enumerate(leaves)}
    with replaced(path) as new:
        np.savez(new, about=json.dumps(about), **numbers)


def load(path: Path) -> tuple[Run, dict[str, Any], list[np.ndarray]]:
    """The run, what else was noted about it, and the leaves of its state."""
    if not path.is_file():
        raise FileNotFoundError(f"checkpoint {path}: expected a file, found none")
    try:
        with np.load(path) as file:
            about = json.loads(str(file["about"]))
            leaves = [file[f"leaf{k:04}"] for k in range(len(file.files) - 1)]
    except (ValueError, KeyError, EOFError, BadZipFile) as error:
        raise ValueError(f"checkpoint {path}: expected a file that slipstick.learn saved, got another ({error})") from None
    if about["format"] != FORMAT:
        raise ValueError(f"checkpoint {path}: expected format {FORMAT}, got {about['format']}")
    run = Run(
        task=about["task"],
        algorithm=about["algorithm"],
        settings=from_plain(about["algorithm"], about["settings"]),
        seed=about["seed"],
        samples=about["samples"],
        task_changes=about["task_changes"],
    )
    _check_model(path, run.spec, about)
    return run, about, leaves


def restore(like: Any, leaves: list[np.ndarray]) -> Any:
    """A state of the same structure with the numbers of a checkpoint."""
    old, structure = jax.tree.flatten(like, is_leaf=_is_key)
    if len(old) != len(leaves):
        raise ValueError(f"checkpoint: expected {len(old)} arrays, got {len(leaves)}")
    return jax.tree.unflatten(structure, [_like(x, leaf) for x, leaf in zip(old, leaves)])


def versions_that_differ(about: dict[str, Any]) -> list[str]:
    """Packages whose versions are others now: bits may differ then."""
    now = _versions()
    return [f"{name} {old} → {now[name]}" for name, old in about["versions"].items() if now[name] != old]


def _check_model(path: Path, spec: Spec, about: dict[str, Any]) -> None:
    pairs = [("model", spec.robot.content_hash), ("task_version", spec.version)]
    for what, now in pairs:
        if about[what] != now:
            raise ValueError(f"checkpoint {path}: expected {what} {now} of task {spec.name!r}, got {about[what]}")


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("jax", "jaxlib", "optax", "numpy")}
    return {"slipstick": slipstick.__version__, **packages}


def _is_key(x: Any) -> bool:
    return isinstance(x, jax.Array) and jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)


def _plain_key(x: Any) -> Any:
    return jax.random.key_data(x) if _is_key(x) else x


def _like(old: Any, leaf: np.ndarray) -> Any:
    if _is_key(old):
        return jax.random.wrap_key_data(jax.numpy.asarray(leaf))
    if old.shape != leaf.shape or old.dtype != leaf.dtype:
        raise ValueError(f"checkpoint: expected an array {old.dtype}{old.shape}, got {leaf.dtype}{leaf.shape}")
    return jax.numpy.asarray(leaf)
