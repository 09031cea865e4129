"""jax.grad through frictional contact: controls that make the hopper run, found by gradient ascent through the rollout."""

import jax
import jax.numpy as jnp
import slipstick
import slipstick.jax as sj

jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
model = slipstick.builtin("hopper")
home, hold, steps = model.keyframe("home"), 8, 60  # 60 control steps of 8 engine steps


def distance(ctrl: jax.Array) -> jax.Array:
    """How far it comes (m), less what it spends, and less what it falls."""
    run = sj.rollout(model, home.q, home.v, jnp.tanh(ctrl), hold=hold)
    return run.q[-1, 0] - 0.5 * jnp.mean(jnp.maximum(1.0 - run.q[:, 1], 0.0)) - 1e-3 * jnp.mean(ctrl**2)


ascend = jax.jit(jax.value_and_grad(distance))
ctrl = jnp.zeros((steps, model.nu))
first, _ = ascend(ctrl)
best = first
for iteration in range(60):
    value, gradient = ascend(ctrl)
    best = jnp.maximum(best, value)
    ctrl = ctrl + 0.05 * gradient / (jnp.abs(gradient).mean() + 1e-9)
    if iteration % 10 == 0:
        print(f"{iteration:2d}: {value:.3f}")
print(f"from {first:.3f} to {best:.3f}")
assert best > first + 0.1
