"""A policy in PyTorch: short windows of many hoppers, differentiated through contact, and a value for what comes after."""

import slipstick
import slipstick.torch as st
import torch

torch.manual_seed(0)
model = slipstick.builtin("hopper")
home, n, window, gamma = model.keyframe("home"), 32, 16, 0.97


def network(outputs: int) -> torch.nn.Sequential:
    return torch.nn.Sequential(torch.nn.Linear(11, 64), torch.nn.ELU(), torch.nn.Linear(64, outputs)).double()


def observed(q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.cat([q[:, 1:], 0.1 * v], -1)


def start() -> tuple[torch.Tensor, torch.Tensor]:
    q = torch.tensor(home.q).repeat(n, 1) + 0.02 * torch.randn(n, model.nq, dtype=torch.float64)
    return q, 0.1 * torch.randn(n, model.nv, dtype=torch.float64)


def rewarded(q: torch.Tensor, v: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
    """Forward, upright, gently."""
    return v[:, 0] + 2 * (q[:, 1] - 1).clamp(max=0) - 0.1 * (action**2).sum(-1)


def score() -> float:
    """Mean reward of 80 control steps without noise."""
    (q, v), total = start(), 0.0
    with torch.no_grad():
        for _ in range(80):
            action = torch.tanh(policy(observed(q, v)))
            q, v = st.step(model, q, v, action, hold=4)[:2]
            total += float(rewarded(q, v, action).mean()) / 80
    return total


policy, value = network(model.nu), network(1)
first = score()
learn, fit = torch.optim.Adam(policy.parameters(), 3e-3), torch.optim.Adam(value.parameters(), 3e-3)
(q, v), clock, rewards = start(), 0, []
for iteration in range(60):
    q, v, total, seen = q.detach(), v.detach(), torch.zeros(()), []
    for step in range(window):
        action = torch.tanh(policy(observed(q, v)) + 0.2 * torch.randn(n, model.nu))
        after = st.step(model, q, v, action, hold=4)
        reward = rewarded(after.q, after.v, action)
        seen.append((observed(q, v).detach(), reward.detach()))
        q, v, total = after.q, after.v, total + gamma**step * reward.mean()
    loss = -(total + gamma**window * value(observed(q, v)).mean()) / window
    learn.zero_grad()
    loss.backward()  # through 64 engine steps and their contacts
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    learn.step()
    target = value(observed(q, v)).detach()[:, 0]
    for x, reward in reversed(seen):
        target = reward + gamma * target
        fit.zero_grad()
        ((value(x)[:, 0] - target) ** 2).mean().backward()
        fit.step()
    rewards.append(float(torch.stack([reward.mean() for _, reward in seen]).mean()))
    clock += 1
    if clock == 10:  # episodes of 160 control steps
        (q, v), clock = start(), 0
    if iteration % 20 == 19:
        print(f"{iteration + 1:3d}: reward per step {sum(rewards[-10:]) / 10:.3f}")
last = score()
print(f"reward per step without noise: {first:.2f} before, {last:.2f} after")
assert last > first + 0.3
