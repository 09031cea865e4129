"""PPO: proximal policy optimization, the baseline without derivatives of the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped,import-not-found,unused-ignore]

from .environment import Environment, State
from .moments import Moments, first_moments, normalized, updated
from .networks import Actor, Layers, first_log_std, log_density, mlp, norm_of, orthogonal, value
from .settings import PpoSettings
from .shac import of_window
from .targets import gae


class PpoState(NamedTuple):
    """A run between two iterations."""

    actor: Actor
    critic: Layers
    memory: Any
    moments: Moments
    env: State
    key: jax.Array
    iteration: jax.Array


class Seen(NamedTuple):
    """A window, (steps, n, ...)."""

    x: jax.Array
    draw: jax.Array
    """Before tanh."""
    log_density: jax.Array
    action: jax.Array
    reward: jax.Array
    value: jax.Array
    value_next: jax.Array
    done: jax.Array
    terminated: jax.Array
    failed: jax.Array
    obs_end: jax.Array
    report: jax.Array


class Ppo:
    """`first(key)` and `iterate(state)`."""

    def __init__(self, env: Environment, settings: PpoSettings, iterations: int) -> None:
        self.env, self.settings, self.iterations = env, settings, iterations
        steps = optax.chain(optax.clip_by_global_norm(settings.clip), optax.adam(settings.rate))
        self.optimizer = optax.flatten(steps)
        self._simulate = jax.jit(self.simulate)
        self._learn = jax.jit(self.learn)

    def first(self, key: jax.Array) -> PpoState:
        env, s = self.env, self.settings
        sizes = env.spec.observation_size, env.spec.action_size
        key, a, c, e = jax.random.split(key, 4)
        # small output weights: the first policy is noise about zero
        actor = Actor(orthogonal(a, [sizes[0], *s.actor, sizes[1]], last=0.01), first_log_std(sizes[1]))
        critic = orthogonal(c, [sizes[0], *s.critic, 1])
        state = env.reset(e, s.envs, scatter=True)
        memory = self.optimizer.init((actor, critic))
        return PpoState(actor, critic, memory, first_moments(sizes[0]), state, key, jnp.asarray(0))

    def iterate(self, state: PpoState, clock: Callable[[str, Any], Any]) -> tuple[PpoState, dict[str, jax.Array]]:
        """One iteration; `clock(part, x)` is told when a part has been started, and waits for it."""
        seen, env_state, key = clock("simulation", self._simulate(state))
        return clock("networks", self._learn(state, seen, env_state, key))

    def simulate(self, state: PpoState) -> tuple[Seen, State, jax.Array]:
        s, env, actor = self.settings, self.env, state.actor
        key, draws = jax.random.split(state.key)
        std = jnp.exp(actor.log_std)

        def go(carry: State, draw: jax.Array) -> tuple[State, Seen]:
            x = normalized(state.moments, env.observation(carry))
            mean = mlp(actor.mean, x)
            u = mean + std * jax.random.normal(draw, mean.shape, jnp.float32)
            action = jnp.tanh(u)
            carry, out = env.step(carry, action)
            V_next = jnp.where(out.terminated, 0.0, value(state.critic, normalized(state.moments, out.obs_end)))
            return carry, Seen(
                x,
                u,
                log_density(actor, mean, u),
                action,
                out.reward,
                value(state.critic, x),
                V_next,
                out.terminated | out.truncated,
                out.terminated,
                out.failed,
                out.obs_end,
                out.report,
            )

        env_state, seen = jax.lax.scan(go, state.env, jax.random.split(draws, s.horizon))
        return seen, env_state, key

    def learn(
        self, state: PpoState, seen: Seen, env_state: State, key: jax.Array
    ) -> tuple[PpoState, dict[str, jax.Array]]:
        s = self.settings
        key, shuffles = jax.random.split(key)
        reward = (s.reward_scale * seen.reward).astype(jnp.float32)
        advantage = gae(reward, seen.value, seen.value_next, seen.done, s.gamma, s.lam)
        columns = (seen.x, seen.draw, seen.log_density, advantage, advantage + seen.value)
        flat = [x.reshape(-1, *x.shape[2:]) for x in columns]

        def minibatch(carry: Any, rows: jax.Array) -> Any:
            networks, memory = carry
            figures, gradient = jax.value_and_grad(self.loss, has_aux=True)(networks, *[x[rows] for x in flat])
            change, memory = self.optimizer.update(gradient, memory)
            return (optax.apply_updates(networks, change), memory), (figures[1], norm_of(gradient))

        def epoch(carry: Any, shuffle: jax.Array) -> Any:
            rows = jax.random.permutation(shuffle, s.window).reshape(-1, s.minibatch)
            return jax.lax.scan(minibatch, carry, rows)

        start = (state.actor, state.critic), state.memory
        ((actor, critic), memory), (losses, norms) = jax.lax.scan(epoch, start, jax.random.split(shuffles, s.epochs))
        moments = updated(state.moments, seen.obs_end)
        after = PpoState(actor, critic, memory, moments, env_state, key, state.iteration + 1)
        figures = {
            **of_window(seen, actor),
            "norm": norms.mean(),
            "critic_loss": losses[-1].mean(),
            "value": seen.value_next.mean() / s.reward_scale,
            "value_error": -advantage.mean() / s.reward_scale,
        }
        return after, figures

    def loss(
        self, networks: tuple[Actor, Layers], x: Any, u: Any, old: Any, advantage: Any, returns: Any
    ) -> tuple[jax.Array, jax.Array]:
        s, (actor, critic) = self.settings, networks
        ratio = jnp.exp(log_density(actor, mlp(actor.mean, x), u) - old)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        bounded = jnp.clip(ratio, 1 - s.ratio, 1 + s.ratio)
        policy = -jnp.minimum(ratio * advantage, bounded * advantage).mean()
        squares = ((value(critic, x) - returns) ** 2).mean()
        return policy + s.value_weight * squares, squares
