"""Training: iterations, evaluations, logs, checkpoints; what is not finite ends it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from . import checkpoint
from .checkpoint import Run
from .environment import Environment
from .evaluation import Evaluator
from .log import Clock, Log, line_of, read, row_of
from .ppo import Ppo
from .settings import ShacSettings
from .shac import Shac


class NotFinite(RuntimeError):
    """A number of a run is not finite; `path` has the state before the iteration."""

    def __init__(self, path: Path, iteration: int, names: list[str]) -> None:
        self.path = path
        super().__init__(
            f"iteration {iteration}: not finite: {', '.join(names)}. The state before it is in {path}; "
            f"to see it again: python -m slipstick.learn resume {path}"
        )


def algorithm_of(run: Run, env: Environment) -> Shac | Ppo:
    s = run.settings
    return Shac(env, s, run.iterations) if isinstance(s, ShacSettings) else Ppo(env, s, run.iterations)


class Trainer:
    """Runs of one task and algorithm, whose programs are compiled once for all seeds."""

    def __init__(self, run: Run, *, evaluate_every: int = 25_600, threads: int = 1, quiet: bool = False) -> None:
        self.run, self.quiet = run, quiet
        self.env = Environment(run.spec, threads=threads)
        self.algorithm: Any = algorithm_of(run, self.env)
        self.evaluate = Evaluator(self.env)
        self.block = max(1, evaluate_every // run.settings.window)

    def compile(self) -> float:
        """Seconds that compilation takes: one iteration, which is thrown away."""
        started = time.perf_counter()
        self.algorithm.iterate(self.first(self.run.seed), Clock())
        return time.perf_counter() - started

    def first(self, seed: int) -> Any:
        return self.algorithm.first(jax.random.key(seed))

    def train(self, run: Run, folder: Path, state: Any = None, progress: dict[str, Any] | None = None) -> Any:
        """The state at the end; `folder` gets log.csv, last.npz and best.npz. A state given is that of a checkpoint."""
        folder.mkdir(parents=True, exist_ok=True)
        resumed = state is not None
        state = state if resumed else self.first(run.seed)
        progress = dict(progress or {"wall": 0.0, "best": [-1.0, -np.inf]})
        done = int(state.iteration)
        log = Log(folder / "log.csv", _rows_until(folder / "log.csv", done * run.settings.window) if resumed else None)
        if not resumed:
            self._record(run, folder, log, state, [], Clock(), progress)
        while done < run.iterations:
            until = min(run.iterations, (done // self.block + 1) * self.block)
            clock, figures = Clock(), []
            while done < until:
                state, seen = self._iterate(run, folder, state, clock, progress)
                figures.append(seen)
                done += 1
            self._record(run, folder, log, state, figures, clock, progress)
        return state

    def _iterate(self, run: Run, folder: Path, state: Any, clock: Clock, progress: dict[str, Any]) -> Any:
        clock.start()
        after, figures = self.algorithm.iterate(state, clock)
        figures = jax.device_get(figures)
        broken = [name for name, x in figures.items() if not np.isfinite(x)]
        if not broken:
            return after, figures
        path = folder / f"failure-{int(state.iteration)}.npz"
        checkpoint.save(path, run, state, progress)
        raise NotFinite(path, int(state.iteration), broken)

    def _record(
        self, run: Run, folder: Path, log: Log, state: Any, figures: Any, clock: Clock, progress: dict[str, Any]
    ) -> None:
        progress["wall"] += sum(clock.seconds.values())
        samples = int(state.iteration) * run.settings.window
        evaluation = self.evaluate(state.actor, state.moments)
        row = row_of(samples, progress["wall"], evaluation, figures, clock, run.settings.window)
        log.add(row)
        if not self.quiet:
            print(line_of(row), flush=True)
        rank = [float(row["good"]), float(row["return"])]
        if rank > progress["best"]:  # the most starts that end well, then the highest return
            progress["best"] = rank
            checkpoint.save(folder / "best.npz", run, state, progress)
        checkpoint.save(folder / "last.npz", run, state, progress)


def resume(path: Path, *, folder: Path | None = None, trainer: Trainer | None = None, **options: Any) -> Any:
    """Goes on with a checkpoint, in its folder unless another is given."""
    run, about, leaves = checkpoint.load(path)
    for change in checkpoint.versions_that_differ(about):
        print(f"warning: {change}: the run may differ in its last bits from one that was not interrupted", flush=True)
    trainer = trainer or Trainer(run, **options)
    print(f"{run.task}, {run.algorithm}, seed {run.seed}: compiled in {trainer.compile():.1f} s", flush=True)
    state = checkpoint.restore(trainer.first(run.seed), leaves)
    return trainer.train(run, folder or path.parent, state, about["progress"])


def _rows_until(path: Path, samples: int) -> list[dict[str, Any]]:
    return [{**row} for row in read(path) if row["samples"] <= samples] if path.is_file() else []
