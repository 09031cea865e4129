"""`diagnose`: how noisy a policy's gradient is, by horizon, engine step and smoothing."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from slipstick.envs import Spec, make_spec

from .environment import Environment, Softening, State
from .moments import normalized
from .networks import mlp
from .play import policy_of
from .window import cut

WARM_UP = 60
"""Control steps before the measured ones: away from the start."""


class Gradients:
    """Gradients of returns with respect to actions, one by one for many environments, from common states."""

    def __init__(self, spec: Spec, state: Any, n: int, seed: int = 5) -> None:
        self.spec, self.policy, self.n = spec, state, n
        self.std = jnp.exp(state.actor.log_std)
        self.key = jax.random.key(seed)
        self.start = jax.jit(self._warm_up)()

    def of(self, env: Environment, horizon: int, smoothing: float) -> np.ndarray:
        """(horizon, n, action_size); no values of a critic, no steps after the end of an episode."""
        noise = jax.random.normal(self.key, (horizon, self.n, env.spec.action_size), jnp.float32)
        softening = Softening(smoothing if smoothing > 0 else None)

        def total(delta: jax.Array) -> jax.Array:
            def go(carry: Any, step: Any) -> Any:
                state, alive = carry
                state, out = env.step(state, self._act(env, state, *step), softening)
                gain = alive * out.reward
                return (state, alive * ~(out.terminated | out.truncated)), gain

            return jax.lax.scan(go, (self.start, jnp.ones(self.n)), (noise, delta))[1].sum()

        return np.asarray(jax.jit(jax.grad(total))(jnp.zeros_like(noise)))

    def _act(self, env: Environment, state: State, noise: jax.Array, delta: Any) -> jax.Array:
        x = normalized(self.policy.moments, env.observation(state))
        return jnp.tanh(mlp(self.policy.actor.mean, x) + self.std * noise + delta)

    def _warm_up(self) -> State:
        env = Environment(self.spec)
        noise = jax.random.normal(self.key, (WARM_UP, self.n, self.spec.action_size), jnp.float32)
        go = lambda state, eps: (env.step(state, self._act(env, state, eps, 0.0))[0], None)  # noqa: E731
        return jax.lax.scan(go, env.reset(self.key, self.n), noise)[0]


def signal_to_noise(g: np.ndarray) -> float:
    """Norm of the mean gradient over the norm of its standard error."""
    n = g.shape[1]
    error = g.std(1, ddof=1) / np.sqrt(n)
    return float(np.sqrt((g.mean(1) ** 2).sum() / max((error**2).sum(), 1e-300)))


def measure(label: str, g: np.ndarray, medians: float) -> str:
    """A row of the table."""
    cut_g, norms = cut(jnp.asarray(g), medians)
    quantiles = " | ".join(f"{x:.3g}" for x in np.quantile(np.asarray(norms), [0.5, 0.9, 0.99, 1.0]))
    return f"| {label} | {quantiles} | {signal_to_noise(g):.2f} | {signal_to_noise(np.asarray(cut_g)):.2f} |"


def _diagnose(given: argparse.Namespace) -> None:
    run, state = policy_of(given.checkpoint)
    spec = run.spec
    gradients = Gradients(spec, state, given.envs)
    head = f"| | norm 50 % | 90 % | 99 % | largest | snr | snr, cut at {given.cut:g} medians |"
    print(f"{run.task}, {given.checkpoint}: {given.envs} environments, snr = |mean| / standard error of the mean")
    print(head, "|" + "---|" * 7, sep="\n", flush=True)
    env = Environment(spec)
    for horizon in given.horizons:
        print(measure(f"horizon {horizon}", gradients.of(env, horizon, 0.0), given.cut), flush=True)
    longest = given.horizons[-1]
    for hold in given.holds:
        # the same control period in more or fewer engine steps
        other = Environment(make_spec(run.task, hold=hold, dt=spec.period / hold))
        label = f"horizon {longest}, {hold} engine steps of {1e3 * spec.period / hold:.2g} ms"
        print(measure(label, gradients.of(other, longest, 0.0), given.cut), flush=True)
    for speed in given.smoothing:
        label = f"horizon {longest}, smoothing {speed:g} m/s"
        print(measure(label, gradients.of(env, longest, speed), given.cut), flush=True)


def add_command(commands: Any) -> None:
    parser = commands.add_parser("diagnose", help="signal-to-noise of a policy's gradient")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--horizons", type=int, nargs="+", default=[4, 8, 16, 32])
    parser.add_argument("--holds", type=int, nargs="*", default=[1, 4, 16])
    parser.add_argument("--smoothing", type=float, nargs="*", default=[0.03, 0.1, 0.3], help="speeds (m/s)")
    parser.add_argument("--cut", type=float, default=4.0, help="medians")
    parser.set_defaults(command=_diagnose)
