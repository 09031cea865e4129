"""`assess`: a checkpoint's policy from many starts that training and the choice of the best have not seen."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from .environment import Environment
from .evaluation import KEY, Evaluator
from .play import policy_of


def _assess(given: argparse.Namespace) -> None:
    if given.starts < 1:
        raise ValueError(f"starts: expected at least 1, got {given.starts}")
    if given.key == KEY:
        raise ValueError(f"key: expected another number than {KEY}, which makes the starts of training's evaluations")
    for path in given.checkpoints:
        run, state = policy_of(path)
        found = Evaluator(Environment(run.spec), given.starts, given.key)(state.actor, state.moments)
        good, returns = int(found.good.sum()), found.returns
        print(
            f"{path}: {run.task}, {run.algorithm}, seed {run.seed}, {int(state.iteration) * run.settings.window} samples: "
            f"good {good} of {given.starts}, return {returns.mean():.0f} ± {returns.std():.0f}, lowest {np.min(returns):.0f}",
            flush=True,
        )


def add_command(commands: Any) -> None:
    parser = commands.add_parser("assess", help="a policy from many other starts: how often it does the task")
    parser.add_argument("checkpoints", type=Path, nargs="+", metavar="CHECKPOINT")
    parser.add_argument("--starts", type=int, default=256)
    parser.add_argument("--key", type=int, default=2000, help="makes the starts (default: 2000)")
    parser.set_defaults(command=_assess)
