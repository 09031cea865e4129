"""Shards sent to workers, results put together in order."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import ray  # type: ignore[import-not-found,unused-ignore]

from slipstick import Model

from . import _shards

_models: dict[str, Model] = {}
"""Of a worker, by their content: a model travels once."""


class Rollout(NamedTuple):
    """States of T control steps, the first included: q (T + 1, n, nq), v (T + 1, n, nv); status (T, n): numbers of the words in
    gradient.ControlStep.STATUS; report (T, n, 7): columns gradient.ControlStep.REPORT."""

    q: np.ndarray
    v: np.ndarray
    status: np.ndarray
    report: np.ndarray


class Gradient(NamedTuple):
    """By the first state and the controls: q (n, nq), v (n, nv), ctrl (T, n, nu); by parameters (n_parameters,), summed over the
    environments, or None; and the rollout."""

    q: np.ndarray
    v: np.ndarray
    ctrl: np.ndarray
    parameters: np.ndarray | None
    run: Rollout


class Workers:
    """The workers of the cluster that `ray.init` has found.

    shard: environments of a piece of work; results depend on it in no bit but for sums over environments. threads: of the engine
    in each worker. retries: how often a piece is done again after its worker was killed; -1: without end.
    """

    def __init__(self, model: Model, *, shard: int = 64, threads: int = 1, retries: int = 3) -> None:
        for name, number in (("shard", shard), ("threads", threads)):
            if number < 1:
                raise ValueError(f"{name}: expected at least 1, got {number}")
        if not ray.is_initialized():
            raise RuntimeError("Workers: expected a running cluster, got none; call ray.init() before")
        self.model, self.shard, self.threads = model, shard, threads
        self._content, self._ref = model.content_hash, ray.put(model)
        self._task = ray.remote(num_cpus=threads, max_retries=retries)(_work)

    def rollout(
        self, q: Any, v: Any, ctrl: Any, *, hold: int = 1, parameters: Any = None, smoothing: Any = None
    ) -> Rollout:
        """Control steps from states q (n, nq), v (n, nv) under ctrl (T, n, nu), each held for `hold` engine steps."""
        rows = self._rows(q, v, ctrl)
        pieces = self._run("rollout", rows, hold, {}, parameters, smoothing)
        return _joined(pieces)

    def vjp(
        self, q: Any, v: Any, ctrl: Any, *, wq: Any, wv: Any, hold: int = 1, parameters: Any = None, smoothing: Any = None
    ) -> Gradient:
        """The rollout, and gradients of numbers whose gradients by its states are wq (T + 1, n, nq) and wv (T + 1, n, nv), or by
        its last state alone (n, nq) and (n, nv)."""
        rows = self._rows(q, v, ctrl)
        steps = len(rows["ctrl"])
        weights = {"wq": _weights("wq", wq, steps, rows["q"].shape), "wv": _weights("wv", wv, steps, rows["v"].shape)}
        pieces = self._run("vjp", rows, hold, weights, parameters, smoothing)
        sums = [piece["by_parameters"] for piece in pieces if piece["by_parameters"] is not None]
        by_parameters = None
        for part in sums:  # in the order of the shards, whichever was done first
            by_parameters = part if by_parameters is None else by_parameters + part
        by_q, by_v = (np.concatenate([piece[name] for piece in pieces]) for name in ("by_q", "by_v"))
        by_ctrl = np.concatenate([piece["by_ctrl"] for piece in pieces], 1)
        return Gradient(by_q, by_v, by_ctrl, by_parameters, _joined(pieces))

    def map(self, function: Callable[[Model, Any], Any], items: Sequence[Any], *, folder: str | Path | None = None) -> list[Any]:
        """function(model, item) for every item, on the workers, in the order of the items.

        folder: each result is written there as soon as it is known; items that have one are not done again.
        """
        kept = None if folder is None else Path(folder)
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
        paths = [None if kept is None else kept / f"item-{k:06}.pickle" for k in range(len(items))]
        left = [k for k, path in enumerate(paths) if path is None or not path.is_file()]
        waiting = {self._task.remote(self._content, [self._ref], None, (function, items[k])): k for k in left}
        found: dict[int, Any] = {}
        while waiting:
            (done,), _ = ray.wait(list(waiting), num_returns=1)
            k = waiting.pop(done)
            found[k] = ray.get(done)
            _keep(paths[k], found[k])
        return [found[k] if k in found else pickle.loads(path.read_bytes()) for k, path in enumerate(paths)]  # type: ignore[union-attr]

    def _run(
        self, name: str, rows: dict[str, np.ndarray], hold: int, weights: dict[str, Any], parameters: Any, smoothing: Any
    ) -> list[dict[str, Any]]:
        n = len(rows["q"])
        given = {"parameters": parameters, "smoothing": smoothing}
        options = {what: np.asarray(x, float) for what, x in given.items() if x is not None}
        waiting = []
        for first in range(0, n, self.shard):
            part = slice(first, min(n, first + self.shard))
            cut = {what: rows[what][part] for what in ("q", "v")} | {what: w[:, part] for what, w in weights.items()}
            # one row for all, or a row for each
            own = {what: x[part] if x.ndim == (2 if what == "parameters" else 1) else x for what, x in options.items()}
            arguments = dict(hold=hold, threads=self.threads, ctrl=rows["ctrl"][:, part], **cut, options=own)
            waiting.append(self._task.remote(self._content, [self._ref], name, arguments))
        return list(ray.get(waiting))

    def _rows(self, q: Any, v: Any, ctrl: Any) -> dict[str, np.ndarray]:
        n, m = len(q), self.model
        steps = len(ctrl)
        shapes = {"q": (n, m.nq), "v": (n, m.nv), "ctrl": (steps, n, m.nu)}
        return {what: _array(what, x, shape) for (what, shape), x in zip(shapes.items(), (q, v, ctrl))}


def _work(content: str, ref: list[Any], name: str | None, arguments: Any) -> Any:
    """On a worker: a shard, or a function of the user."""
    if content not in _models:
        _models[content] = ray.get(ref[0])
    model = _models[content]
    if name is None:
        function, item = arguments
        return function(model, item)
    return getattr(_shards, name)(model, **arguments)


def _array(what: str, x: Any, shape: tuple[int, ...]) -> np.ndarray:
    x = np.asarray(x, float)
    if x.shape != shape:
        raise ValueError(f"{what}: expected an array of shape {shape}, got {x.shape}")
    return x


def _weights(what: str, w: Any, steps: int, shape: tuple[int, ...]) -> np.ndarray:
    """For all states; those of the last one alone stand for zeros before."""
    w = np.asarray(w, float)
    if w.shape == shape:
        return np.concatenate([np.zeros((steps, *shape)), w[None]])
    return _array(what, w, (steps + 1, *shape))


def _joined(pieces: list[dict[str, Any]]) -> Rollout:
    return Rollout(*(np.concatenate([piece[name] for piece in pieces], 1) for name in Rollout._fields))


def _keep(path: Path | None, result: Any) -> None:
    """Whole or not at all: a killed program leaves the old file or none."""
    if path is not None:
        partial = path.with_suffix(".partial")
        partial.write_bytes(pickle.dumps(result))
        partial.replace(path)
