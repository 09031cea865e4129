"""What a call costs through a layer, beside the bare call of ControlStep: PyTorch, JAX and Ray, whichever are there.

    python bench/layer_overhead.py [--environments 1 64] [--robot hopper]

A control step of 4 engine steps, on one thread, and its gradient by state and controls. The least of many times (µs).
"""

import argparse
import time

import numpy as np
import slipstick
from slipstick.gradient import ControlStep

HOLD = 4


def least(call, seconds=1.0):
    """The least of the times that fit in so many seconds (µs)."""
    call()
    best, end = np.inf, time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        call()
        best = min(best, time.perf_counter() - start)
    return 1e6 * best


def bare(model, q, v, ctrl):
    step, w = ControlStep(model, HOLD, threads=1), np.ones_like(v)

    def gradient():
        step.step(q, v, ctrl)
        step.vjp(q, v, ctrl, wq=0 * q, wv=w)

    return lambda: step.step(q, v, ctrl), gradient


def in_torch(model, *state):
    import slipstick.torch as st
    import torch

    torch.set_num_threads(1)
    plain = [torch.tensor(x) for x in state]
    recorded = [torch.tensor(x, requires_grad=True) for x in state]
    step = lambda rows: st.step(model, *rows, hold=HOLD, threads=1)  # noqa: E731
    return lambda: step(plain), lambda: torch.autograd.grad(step(recorded).v.sum(), recorded)


def in_jax(model, *state):
    import jax
    import slipstick.jax as sj

    jax.config.update("jax_enable_x64", True)
    rows = [jax.numpy.asarray(x) for x in state]
    step = jax.jit(lambda *x: sj.step(model, *x, hold=HOLD, threads=1)[:2])
    gradient = jax.jit(jax.grad(lambda *x: sj.step(model, *x, hold=HOLD, threads=1).v.sum(), argnums=(0, 1, 2)))
    return lambda: jax.block_until_ready(step(*rows)), lambda: jax.block_until_ready(gradient(*rows))


def in_ray(model, q, v, ctrl):
    import ray
    from slipstick.ray import Workers

    if not ray.is_initialized():
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    workers, w = Workers(model, shard=len(q)), np.ones_like(v)
    rollout = lambda: workers.rollout(q, v, ctrl[None], hold=HOLD)  # noqa: E731
    return rollout, lambda: workers.vjp(q, v, ctrl[None], hold=HOLD, wq=0 * q, wv=w)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environments", type=int, nargs="*", default=[1, 64])
    parser.add_argument("--robot", default="hopper")
    given = parser.parse_args()
    model, rng = slipstick.builtin(given.robot), np.random.default_rng(0)
    home = model.keyframe("home")
    print("| layer | environments | step (µs) | above the bare call | step and gradient (µs) | above the bare calls |")
    print("|---|---|---|---|---|---|")
    for n in given.environments:
        state = np.tile(home.q, (n, 1)), 0.1 * rng.normal(size=(n, model.nv)), np.tile(home.ctrl, (n, 1))
        base = [least(call) for call in bare(model, *state)]
        print(f"| bare | {n} | {base[0]:.1f} | | {base[1]:.1f} | |", flush=True)
        for layer in (in_torch, in_jax, in_ray):
            try:
                calls = layer(model, *state)
            except ImportError as error:
                print(f"| {layer.__name__[3:]} | {n} | not run: {error} | | | |")
                continue
            times = [least(call) for call in calls]
            over = [f"{t:.1f} | {t - b:.1f}" for t, b in zip(times, base)]
            print(f"| {layer.__name__[3:]} | {n} | {' | '.join(over)} |", flush=True)


if __name__ == "__main__":
    main()
