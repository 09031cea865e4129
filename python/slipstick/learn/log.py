"""What a run writes: one CSV row and one printed line per block of iterations."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .evaluation import Evaluation
from .files import replaced

LARGEST = ("norm", "lambda_99", "lambda_max", "cut_share")
"""Of these figures a block's row has the largest number, too."""
SUMS = ("failed", "terminated")


class Clock:
    """Seconds that parts of iterations took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def start(self) -> None:
        self._last = time.perf_counter()

    def __call__(self, part: str, x: Any) -> Any:
        x = jax.block_until_ready(x)
        now = time.perf_counter()
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self._last
        self._last = now
        return x


def row_of(
    samples: int, wall: float, evaluation: Evaluation, block: list[dict[str, Any]], clock: Clock, window: int
) -> dict[str, Any]:
    """A row: the evaluation, and figures of the iterations since the last row."""
    row: dict[str, Any] = {
        "samples": samples,
        "wall": round(wall, 3),
        "return": evaluation.returns.mean(),
        "return_sd": evaluation.returns.std(),
        "return_worst": evaluation.returns.min(),
        "length": evaluation.lengths.mean(),
        "good": int(evaluation.good.sum()),
        "speed": evaluation.speed.mean(),
    }
    total = sum(clock.seconds.values())
    row["samples_per_second"] = len(block) * window / total if total else 0.0
    for part in ("simulation", "networks"):
        row[f"ms_{part}"] = 1e3 * clock.seconds.get(part, 0.0) / max(1, len(block))
    for name in block[0] if block else ():
        numbers = np.array([float(figures[name]) for figures in block])
        row[name] = numbers.sum() if name in SUMS else np.median(numbers)
        if name in LARGEST:
            row[f"{name}_largest"] = numbers.max()
    return row


def line_of(row: dict[str, Any]) -> str:
    """For the terminal."""
    text = (
        f"{row['samples']:>9} samples {row['wall']:6.1f} s  return {row['return']:8.1f} ± {row['return_sd']:<6.1f} "
        f"good {row['good']:>2}  length {row['length']:6.1f}"
    )
    if "norm" not in row:
        return text
    text += f"  {row['samples_per_second']:6.0f} samples/s (ms {row['ms_simulation']:.1f} + {row['ms_networks']:.1f})"
    if "lambda_50" in row:
        numbers = " ".join(f"{row[name]:.2g}" for name in ("lambda_50", "lambda_90", "lambda_99", "lambda_max"))
        text += f"  λ {numbers}"
    return text + f"  failed {row['failed']:.0f} flagged {100 * row['flagged']:.2f} %"


class Log:
    """A CSV file that grows; columns are those of its longest row, so that the first row waits for the second."""

    def __init__(self, path: Path, rows: list[dict[str, Any]] | None = None) -> None:
        self.path, self.rows = path, rows or []

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        with replaced(self.path) as new, new.open("w", newline="") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows({name: _short(x) for name, x in row.items()} for row in self.rows)


def read(path: Path) -> list[dict[str, float]]:
    """Rows of a log; empty cells are left out."""
    with path.open(newline="") as file:
        return [{name: float(x) for name, x in row.items() if x} for row in csv.DictReader(file)]


def _short(x: Any) -> Any:
    return x if isinstance(x, (int, str)) else f"{x:.6g}"
