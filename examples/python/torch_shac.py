"""SHAC in PyTorch: a hopper learns from short windows that are differentiated through contact, with a critic for what follows.

    python torch_shac.py                                    # seconds: it falls later than before
    python torch_shac.py --samples 256000 --seed 0          # minutes: it hops; docs/guide/torch.md has the figures
"""

import argparse
import copy
import time
from types import SimpleNamespace

import numpy as np
import slipstick.torch as st
import torch
from slipstick.envs import make_spec

ENVS, HORIZON, STARTS = 64, 16, 16
GAMMA, LAMBDA, KEPT, CUT = 0.99, 0.95, 0.2, 4.0  # KEPT: of the target critic; CUT: of gradients, in medians of their norms
RATES, PASSES, PARTS = (2e-3, 1e-5), 16, 4
NOT_CONVERGED = st.STATUS.index("not_converged")
Pair = tuple[torch.Tensor, torch.Tensor]

spec = make_spec("hopper")
# tasks are written for numpy and jax.numpy; these are the functions that they take from there
xp = SimpleNamespace(where=torch.where, clip=torch.clip, abs=torch.abs, isfinite=torch.isfinite)
xp.concatenate = lambda parts, axis: torch.cat(parts, axis)  # PyTorch before 2.0 has no concatenate


def network(sizes: list[int]) -> torch.nn.Sequential:
    layers: list[torch.nn.Module] = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [torch.nn.Linear(a, b), torch.nn.ELU(), torch.nn.LayerNorm(b)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-2], sizes[-1]))


def starts(rng: np.random.Generator, n: int) -> Pair:
    q, v = spec.start(np, rng.random((n, spec.start_size)))
    return torch.from_numpy(q), torch.from_numpy(v)


class Moments:
    """Running mean and variance of observations."""

    def __init__(self, size: int) -> None:
        self.mean, self.var, self.count = torch.zeros(size), torch.ones(size), 1e-4

    def add(self, x: torch.Tensor) -> None:
        n, change = len(x), x.mean(0) - self.mean
        share = n / (self.count + n)
        self.var = (1 - share) * self.var + share * x.var(0, unbiased=False) + share * (1 - share) * change**2
        self.mean, self.count = self.mean + share * change, self.count + n

    def __call__(self, q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        observed: torch.Tensor = spec.observation(xp, q, v)
        return ((observed - self.mean) / torch.sqrt(self.var + 1e-5)).float()


class Shac:
    def __init__(self, seed: int, iterations: int) -> None:
        torch.manual_seed(seed)
        self.rng, inputs = np.random.default_rng(seed), spec.observation_size
        self.actor, self.critic = network([inputs, 128, 64, 32, spec.action_size]), network([inputs, 64, 64, 1])
        self.log_std = torch.nn.Parameter(-torch.ones(spec.action_size))
        self.target, self.seen = copy.deepcopy(self.critic), Moments(inputs)
        groups = [[*self.actor.parameters(), self.log_std], list(self.critic.parameters())]
        self.optimizers = [torch.optim.Adam(group, RATES[0], betas=(0.7, 0.95)) for group in groups]
        self.share, self.iterations = 0.0, iterations
        self.state, self.clock = starts(self.rng, ENVS), self.rng.integers(0, spec.length, ENVS)

    def iterate(self) -> None:
        """A window, a step of the actor along its gradient, and passes of the critic."""
        for optimizer in self.optimizers:
            optimizer.param_groups[0]["lr"] = RATES[0] + self.share * (RATES[1] - RATES[0])
        self.share += 1 / self.iterations
        delta = torch.zeros(HORIZON, ENVS, spec.action_size, requires_grad=True)
        noise = torch.randn(delta.shape)
        gain, x, reward, value, end, observed = self.window(noise, delta)
        (by_action,) = torch.autograd.grad(-gain / (ENVS * HORIZON), delta)  # through 64 engine steps and their contacts
        norms = by_action.pow(2).sum((0, 2)).sqrt()
        by_action *= (CUT * norms.median() / norms.clamp(min=1e-30)).clamp(max=1)[:, None]
        self.descend(0, ((self.actor(x) + self.log_std.exp() * noise) * by_action).sum())
        returns, total = torch.zeros_like(reward), torch.zeros(ENVS)
        for t in reversed(range(HORIZON)):
            following = torch.where(end[t], value[t], (1 - LAMBDA) * value[t] + LAMBDA * total)
            returns[t] = total = reward[t] + GAMMA * following
        for _ in range(PASSES):
            for part in zip(x.flatten(0, 1).chunk(PARTS), returns.flatten().chunk(PARTS)):
                self.descend(1, (self.critic(part[0])[:, 0] - part[1]).pow(2).mean())
        with torch.no_grad():
            for old, new in zip(self.target.parameters(), self.critic.parameters()):
                old.lerp_(new, 1 - KEPT)
        self.seen.add(observed)

    def window(self, noise: torch.Tensor, delta: torch.Tensor) -> list[torch.Tensor]:
        """The sum of returns, differentiable by what is added to actions; a reset cuts the gradient."""
        (q, v), discount, gain, rows = (x.detach() for x in self.state), torch.ones(ENVS), torch.zeros(()), []
        for t in range(HORIZON):
            x = self.seen(q, v)
            action = torch.tanh(self.actor(x) + self.log_std.exp() * noise[t] + delta[t]).double()
            after = st.step(spec.robot, q, v, spec.controls(xp, action), hold=spec.hold)
            reward = spec.reward(xp, q, v, action, after.q, after.v).float()
            self.clock += 1
            fallen = spec.terminated(xp, after.q, after.v) | (after.status >= NOT_CONVERGED)
            done = fallen | torch.from_numpy(self.clock >= spec.length)
            end = done if t < HORIZON - 1 else torch.ones_like(done)
            value = torch.where(fallen, torch.zeros(()), self.target(self.seen(after.q, after.v))[:, 0])
            gain = gain + (discount * (reward + torch.where(end, GAMMA * value, torch.zeros(())))).sum()
            discount = torch.where(done, torch.ones(()), GAMMA * discount)
            rows.append([x.detach(), reward.detach(), value.detach(), end, spec.observation(xp, after.q, after.v).detach()])
            fresh, self.clock = starts(self.rng, ENVS), np.where(done, 0, self.clock)
            q, v = (torch.where(done[:, None], new, old) for new, old in zip(fresh, after[:2]))
        self.state = q, v
        *columns, observed = (torch.stack(column) for column in zip(*rows))
        return [gain, *columns, observed.flatten(0, 1).float()]

    def descend(self, which: int, loss: torch.Tensor) -> None:
        optimizer = self.optimizers[which]
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
        optimizer.step()

    @torch.no_grad()
    def evaluate(self) -> tuple[float, int]:
        """Mean return of 16 fixed starts without noise, and how many are up at the end."""
        (q, v), total, alive = starts(np.random.default_rng(1000), STARTS), 0.0, torch.ones(STARTS, dtype=torch.bool)
        for _ in range(spec.length):
            action = torch.tanh(self.actor(self.seen(q, v))).double()
            after = st.step(spec.robot, q, v, spec.controls(xp, action), hold=spec.hold)
            total += float((spec.reward(xp, q, v, action, after.q, after.v) * alive).sum()) / STARTS
            alive &= ~(spec.terminated(xp, after.q, after.v) | (after.status >= NOT_CONVERGED))
            q, v = after[:2]
        return total, int(alive.sum())


parser = argparse.ArgumentParser(description="SHAC in PyTorch: a hopper learns to hop.")
parser.add_argument("--samples", type=int, default=25_600, help="control steps of training")
parser.add_argument("--seed", type=int, default=0)
given = parser.parse_args()
torch.set_num_threads(1)  # the networks are small
iterations = max(1, given.samples // (ENVS * HORIZON))
run, started = Shac(given.seed, iterations), time.perf_counter()
first, _ = run.evaluate()
for k in range(1, iterations + 1):
    run.iterate()
    if k % 25 == 0 or k == iterations:
        last, up = run.evaluate()
        print(f"{k * ENVS * HORIZON:7d} samples, {time.perf_counter() - started:5.0f} s: return {last:6.0f}, {up:2d} of {STARTS} up", flush=True)
assert last > first + 100, f"return {first:.0f} before, {last:.0f} after"
