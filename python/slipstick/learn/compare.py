"""`compare`: learning curves of several folders of runs, as a figure and a table."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .figure import Band, figure
from .log import read


@dataclass(frozen=True)
class Curves:
    """Evaluations of some seeds at the samples that all have."""

    name: str
    samples: np.ndarray
    """(rows,)"""
    returns: np.ndarray
    """(seeds, rows): means over the fixed starts."""
    good: np.ndarray
    """(seeds, rows): starts that end well."""
    wall: np.ndarray
    """(seeds, rows): seconds of training."""

    def first_at(self, wanted: float) -> list[float]:
        """Samples to the first evaluation of at least this return, by seeds; infinite if there is none."""
        reached = [np.flatnonzero(row >= wanted) for row in self.returns]
        return [float(self.samples[rows[0]]) if len(rows) else np.inf for rows in reached]


def curves_of(folder: Path) -> Curves:
    """Of all `seed-*/log.csv` in a folder."""
    paths = sorted(folder.glob("seed-*/log.csv"), key=lambda path: int(path.parent.name[5:]))
    if not paths:
        raise FileNotFoundError(f"{folder}: expected folders seed-0, seed-1, … with log.csv, found none")
    logs = [{row["samples"]: row for row in read(path)} for path in paths]
    samples = sorted(set.intersection(*map(set, logs)))
    table = lambda column: np.array([[log[x][column] for x in samples] for log in logs])  # noqa: E731
    return Curves(folder.name, np.array(samples), table("return"), table("good"), table("wall"))


def table_of(all_curves: list[Curves], wanted: float | None) -> str:
    """Markdown."""
    head = ["run", "seeds", "samples", "last return", "best", "good at the end", "best: good", "seconds"]
    head += [f"samples to {wanted:g}"] if wanted is not None else []
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for c in all_curves:
        last, best = c.returns[:, -1], c.returns.max(1)
        cells = [
            c.name,
            str(len(last)),
            f"{c.samples[-1]:,.0f}",
            f"{last.mean():.0f} ± {last.std():.0f} ({last.min():.0f} … {last.max():.0f})",
            f"{best.mean():.0f}",
            ", ".join(f"{x:.0f}" for x in c.good[:, -1]),
            ", ".join(f"{x:.0f}" for x in c.good.max(1)),
            f"{c.wall[:, -1].mean():.0f}",
        ]
        if wanted is not None:
            cells.append(", ".join(f"{x:,.0f}" if np.isfinite(x) else "–" for x in c.first_at(wanted)))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def csv_of(all_curves: list[Curves]) -> str:
    """One row per evaluation: mean, deviation and range over seeds."""
    lines = ["run,samples,seeds,mean,sd,lowest,highest,good_lowest"]
    for c in all_curves:
        for k, samples in enumerate(c.samples):
            r = c.returns[:, k]
            numbers = (r.mean(), r.std(), r.min(), r.max())
            text = ",".join(f"{x:.1f}" for x in numbers)
            lines.append(f"{c.name},{samples:.0f},{len(r)},{text},{c.good[:, k].min():.0f}")
    return "\n".join(lines) + "\n"


def _compare(given: argparse.Namespace) -> None:
    found = [curves_of(folder) for folder in given.folders]
    bands = [Band(c.name, c.samples, c.returns.mean(0), c.returns.std(0)) for c in found]
    table = table_of(found, given.reach)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.with_suffix(".svg").write_text(figure(bands, given.title, "samples", "return"))
    given.out.with_suffix(".csv").write_text(csv_of(found))
    given.out.with_suffix(".md").write_text(table + "\n")
    print(table)
    print(f"{given.out}.svg, .csv, .md")


def add_command(commands: Any) -> None:
    parser = commands.add_parser("compare", help="mean and deviation over seeds: a figure and a table")
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR", help="folders that `train --out` made")
    parser.add_argument("--reach", type=float, help="a return: the table says after how many samples it is reached")
    parser.add_argument("--title", default="Return over 16 fixed starts: mean ± deviation over seeds")
    parser.add_argument("--out", type=Path, default=Path("compare"), help="name of the files (default: compare)")
    parser.set_defaults(command=_compare)
