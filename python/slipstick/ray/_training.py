"""Trainings of `slipstick.learn` as work for a cluster: a seed for a worker, which goes on where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ray  # type: ignore[import-not-found,unused-ignore]

if TYPE_CHECKING:
    from slipstick.learn import Run, Trainer

_trainers: dict[str, Trainer] = {}
"""Of a worker: programs are compiled once for all seeds."""


class Trained(NamedTuple):
    """A training at its end: where its log and checkpoints are, and its last evaluation over 16 starts."""

    seed: int
    folder: Path
    samples: int
    mean_return: float
    good: int


def train(
    run: Run,
    seeds: Sequence[int],
    *,
    folder: str | Path,
    evaluate_every: int = 25_600,
    threads: int = 1,
    retries: int = 3,
) -> list[Trained]:
    """Trains `run` (a `slipstick.learn.Run`) with each of the seeds on the cluster; results in the order of the seeds.

    folder: on a disk that all machines share; seed k has folder/seed-k with log.csv, last.npz and best.npz, as
    `python -m slipstick.learn train` makes them. What is there is gone on with: after a killed worker by itself, up to `retries`
    times, after a killed program by the next call. The bits are those of a training that was not stopped.
    evaluate_every: samples between evaluations, each of which writes a checkpoint. threads: of the engine, and cores per seed.
    """
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds: expected different ones, got {list(seeds)}")
    if not ray.is_initialized():
        raise RuntimeError("train: expected a running cluster, got none; call ray.init() before")
    task = ray.remote(num_cpus=threads, max_retries=retries)(_train)
    paths = [Path(folder).absolute() / f"seed-{seed}" for seed in seeds]
    waiting = [
        task.remote(replace(run, seed=seed), path, evaluate_every, threads) for seed, path in zip(seeds, paths)
    ]
    rows = ray.get(waiting)
    return [Trained(seed, path, *row) for seed, path, row in zip(seeds, paths, rows)]


def _train(run: Run, folder: Path, evaluate_every: int, threads: int) -> tuple[int, float, int]:
    """On a worker."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from slipstick.learn import checkpoint, log, resume

    last, ended = folder / "last.npz", folder / "ended.json"
    if last.is_file():
        known, _, _ = checkpoint.load(last)
        if known != run:
            raise ValueError(f"folder: expected {last} to be a checkpoint of {run}, got one of {known}")
    if not ended.is_file():
        trainer = _trainer(run, evaluate_every, threads)
        if last.is_file():
            resume(last, trainer=trainer)
        else:
            trainer.train(run, folder)
        row = log.read(folder / "log.csv")[-1]
        partial = ended.with_suffix(".partial")
        partial.write_text(json.dumps([int(row["samples"]), row["return"], int(row["good"])]))
        partial.replace(ended)  # whole or not at all
    samples, mean_return, good = json.loads(ended.read_text())
    return samples, mean_return, good


def _trainer(run: Run, evaluate_every: int, threads: int) -> Trainer:
    from slipstick.learn import Trainer

    about: dict[str, Any] = dict(run=repr(replace(run, seed=0)), evaluate_every=evaluate_every, threads=threads)
    key = json.dumps(about)
    if key not in _trainers:
        _trainers[key] = Trainer(run, evaluate_every=evaluate_every, threads=threads, quiet=True)
    return _trainers[key]
