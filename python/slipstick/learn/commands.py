"""Commands of `python -m slipstick.learn`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import jax

from slipstick import envs

from . import assess, compare, diagnose, play
from .checkpoint import Run
from .settings import ALGORITHMS, PRESETS, changed, settings_for
from .training import NotFinite, Trainer, resume

EXAMPLES = """examples:
  python -m slipstick.learn train hopper --seeds 0-4 --samples 500000 --out runs/hopper
  python -m slipstick.learn train hopper --algo ppo --samples 1500000 --out runs/hopper-ppo
  python -m slipstick.learn train hopper --set envs=32 horizon=32 smoothing=0:0.3,0.5:0 --out runs/smoothed
  python -m slipstick.learn play runs/hopper/seed-0/best.npz
  python -m slipstick.learn assess runs/hopper/seed-*/best.npz
  python -m slipstick.learn compare runs/hopper runs/hopper-ppo --out curves
  python -m slipstick.learn diagnose runs/hopper/seed-0/best.npz"""


def main(arguments: list[str] | None = None) -> int:
    jax.config.update("jax_enable_x64", True)
    given = _parser().parse_args(arguments)
    try:
        given.command(given)
    except NotFinite as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except (ValueError, TypeError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; last.npz in the run's folder is resumed by: python -m slipstick.learn resume", file=sys.stderr)
        return 130
    return 0


def _train(given: argparse.Namespace) -> None:
    if given.task not in envs.names():
        envs.make_spec(given.task)  # says what is known
    settings = changed(settings_for(given.algo, given.task, given.preset), given.set)
    run = Run(
        task=given.task, algorithm=given.algo, settings=settings, seed=0, samples=given.samples, task_changes={}
    )
    seeds = seeds_of(given.seeds)
    trainer = Trainer(run, evaluate_every=given.evaluate_every, threads=given.threads)
    print(f"{given.task}, {given.algo}: compiled in {trainer.compile():.1f} s", flush=True)
    for seed in seeds:
        folder = given.out / f"seed-{seed}"
        print(f"seed {seed}: {run.iterations} × {settings.window} samples → {folder}", flush=True)
        trainer.train(replace(run, seed=seed), folder)


def _resume(given: argparse.Namespace) -> None:
    resume(given.checkpoint, folder=given.out, evaluate_every=given.evaluate_every, threads=given.threads)


def seeds_of(text: str) -> list[int]:
    """"3": this seed; "0-4": five of them; "0,7": these."""
    try:
        if "-" in text:
            first, last = map(int, text.split("-"))
            seeds = list(range(first, last + 1))
        else:
            seeds = [int(part) for part in text.split(",")]
    except ValueError:
        seeds = []
    if not seeds or min(seeds) < 0:
        raise ValueError(f"seeds: expected a number, a range 0-4 or a list 0,7, got {text!r}")
    return seeds


def _samples(text: str) -> int:
    """Whole numbers, also as 5e5."""
    number = float(text)
    if not number >= 1 or number != int(number):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m slipstick.learn",
        description="Policy learning with exact gradients through contact (SHAC), and PPO.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    train = commands.add_parser("train", help="train policies, one after the other by seeds")
    train.add_argument("task", help=f"one of {', '.join(envs.names())}")
    train.add_argument("--algo", choices=list(ALGORITHMS), default="shac")
    train.add_argument("--seeds", default="0", help="a seed, a range 0-4 or a list 0,7 (default: 0)")
    train.add_argument("--samples", type=_samples, default=500_000, help="control steps in all (default: 500000)")
    train.add_argument("--preset", choices=PRESETS, default="default", help="paper: the numbers that the paper states")
    train.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="changes of settings: horizon=32")
    train.add_argument("--out", type=Path, required=True, help="folder; each seed gets one in it")
    _speed_options(train)
    train.set_defaults(command=_train)

    again = commands.add_parser("resume", help="go on with a checkpoint, bit for bit")
    again.add_argument("checkpoint", type=Path)
    again.add_argument("--out", type=Path, help="folder for what is to come (default: that of the checkpoint)")
    _speed_options(again)
    again.set_defaults(command=_resume)

    for module in (play, assess, compare, diagnose):
        module.add_command(commands)
    return parser


def _speed_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--evaluate-every", type=_samples, default=25_600, metavar="SAMPLES")
    parser.add_argument("--threads", type=int, default=1, help="of the engine (default: 1)")
