"""Augmented random search: a hopper learns to move on with a linear policy, within seconds, through gymnasium's interface."""

import numpy as np
import slipstick.gym
from numpy.typing import NDArray

DIRECTIONS, ELITE, STEP, NOISE = 32, 12, 0.05, 0.1
envs = slipstick.gym.make_vec("hopper", 2 * DIRECTIONS, max_episode_steps=200)
inputs, outputs = envs.task.observation_size, envs.task.action_size
rng = np.random.default_rng(0)


def returns(policies: NDArray[np.float64]) -> NDArray[np.float64]:
    """The return of an episode in each environment, each with its own matrix (outputs, inputs)."""
    observation, _ = envs.reset()
    total, alive = np.zeros(envs.num_envs), np.ones(envs.num_envs, dtype=bool)
    while alive.any():
        action = np.einsum("eoi,ei->eo", policies, observation)
        observation, reward, terminated, truncated, _ = envs.step(action)  # beyond ±1 counts as ±1
        total += reward * alive
        alive &= ~(terminated | truncated)
    return total


envs.reset(seed=0)
policy = np.zeros((outputs, inputs))
first = returns(np.tile(policy, (envs.num_envs, 1, 1))).mean()
for update in range(1, 41):
    direction = rng.normal(size=(DIRECTIONS, outputs, inputs))
    values = returns(policy + NOISE * np.concatenate([direction, -direction])).reshape(2, DIRECTIONS)
    best = np.argsort(values.max(0))[-ELITE:]
    gain = (values[0, best] - values[1, best]) / values[:, best].std()
    policy += STEP / ELITE * np.einsum("e,eoi->oi", gain, direction[best])
    if update % 10 == 0:
        print(f"after {update} updates: return {values.mean():.0f} on average, {values.max():.0f} at best")
last = returns(np.tile(policy, (envs.num_envs, 1, 1))).mean()
print(f"return over 200 control steps: {first:.0f} before, {last:.0f} after")
assert last > first + 100
