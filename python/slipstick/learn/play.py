"""`play`: a policy's episode as a replay page, and what it does in figures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import jax
import numpy as np

import slipstick
from slipstick.envs import Spec

from . import checkpoint
from .environment import Environment
from .evaluation import STARTS, first_state
from .moments import normalized
from .networks import deterministic
from .training import algorithm_of


def policy_of(path: Path) -> tuple[checkpoint.Run, Any]:
    """A checkpoint's run and state."""
    run, _, leaves = checkpoint.load(path)
    state = algorithm_of(run, Environment(run.spec)).first(jax.random.key(run.seed))
    return run, checkpoint.restore(state, leaves)


def episode(spec: Spec, state: Any, start: int, replay: slipstick.Replay) -> dict[str, float]:
    """One episode without noise from one of the fixed starts, recorded with its contacts."""
    act = jax.jit(lambda obs: deterministic(state.actor, normalized(state.moments, obs)))
    first = first_state(Environment(spec), start)
    sim = slipstick.Simulator(spec.robot)
    sim.reset(q=np.asarray(first.q[0]), v=np.asarray(first.v[0]))
    total, saturated, length, touching, sliding = 0.0, 0.0, 0, 0, 0
    x = sim.state.q[0]
    while length < spec.length:
        q, v = np.array(sim.state.q), np.array(sim.state.v)
        action = np.asarray(act(spec.observation(np, q, v)), float)
        for _ in range(spec.hold):
            step = sim.step(ctrl=spec.controls(np, action))
            replay.record(step)
            modes = {contact.mode for contact in step.contacts} - {"break"}
            touching += bool(modes)
            sliding += "slide" in modes
        total += float(spec.reward(np, q, v, action, sim.state.q, sim.state.v))
        saturated += float((abs(action) > 0.95).mean())
        length += 1
        if spec.terminated(np, sim.state.q, sim.state.v):
            break
    return {
        "return": total,
        "control steps": length,
        "seconds": length * spec.period,
        "mean speed (m/s)": (sim.state.q[0] - x) / (length * spec.period),
        "engine steps with contact (%)": 100 * touching / (length * spec.hold),
        "engine steps that slide (%)": 100 * sliding / (length * spec.hold),
        "saturated actions (%)": 100 * saturated / length,
    }


def _play(given: argparse.Namespace) -> None:
    if not 0 <= given.start < STARTS:
        raise ValueError(f"start: expected a number from 0 to {STARTS - 1}, got {given.start}")
    run, state = policy_of(given.checkpoint)
    spec = run.spec
    samples = int(state.iteration) * run.settings.window
    title = f"{run.task}, {run.algorithm}, seed {run.seed}, {samples} samples"
    replay = slipstick.Replay(spec.robot, title=title)
    figures = episode(spec, state, given.start, replay)
    page = given.out or given.checkpoint.with_suffix(".html")
    replay.save(page)
    print(title)
    for name, number in figures.items():
        print(f"  {name}: {number:.4g}")
    print(f"  replay: {page}")


def add_command(commands: Any) -> None:
    parser = commands.add_parser("play", help="a replay page of a checkpoint's policy")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--start", type=int, default=0, help="which of the 16 fixed starts (default: 0)")
    parser.add_argument("--out", type=Path, help="the page (default: beside the checkpoint)")
    parser.set_defaults(command=_play)
