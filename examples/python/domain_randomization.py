"""Many robots at once, each with masses and friction of its own: one call, one gradient for all of them."""

import jax
import jax.numpy as jnp
import numpy as np
import slipstick
import slipstick.jax as sj

jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
model, n = slipstick.builtin("quadruped"), 32
home, rng = model.keyframe("home"), np.random.default_rng(0)

parameters = np.tile(model.parameters, (n, 1))
groups = model.parameter_groups
parameters[:, groups["friction"]] *= rng.uniform(0.5, 1.5, (n, 1))
parameters[:, groups["inertial"]] *= rng.uniform(0.8, 1.2, (n, 1))  # masses with their moments

q, v = np.tile(home.q, (n, 1)), np.zeros((n, model.nv))


def height(ctrl: jax.Array) -> jax.Array:
    """Mean height of all robots after 40 ms under one control (m)."""
    after = sj.step(model, q, v, jnp.broadcast_to(ctrl, (n, model.nu)), hold=40, parameters=parameters)
    return after.q[:, 2].mean()


value, gradient = jax.jit(jax.value_and_grad(height))(home.ctrl)
print("mean height:", round(float(value), 5), "m; its gradient with respect to the targets:\n", np.asarray(gradient).round(4))

after = sj.step(model, q, v, np.tile(home.ctrl, (n, 1)), hold=40, parameters=parameters)
print("heights from", float(after.q[:, 2].min()), "to", float(after.q[:, 2].max()))
print("all solved:", all(sj.STATUS[k] == "solved" for k in np.asarray(after.status)))
raised = height(home.ctrl + 1e-3 * gradient / jnp.abs(gradient).max())
assert raised > value
