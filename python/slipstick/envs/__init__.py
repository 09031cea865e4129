"""Tasks for policy learning as pure functions, shared by `slipstick.gym` and by environments in JAX.

    from slipstick import envs
    spec = envs.make_spec("hopper")                         # names: envs.names()
    q, v = spec.start(np, rng.random((16, spec.start_size)))
    spec.observation(np, q, v)                              # (16, 11); the same with jax.numpy in place of np
    spec.reward(np, q, v, action, q_next, v_next)           # (16,)
    spec.terminated(np, q_next, v_next)                     # (16,) of bool

A `Spec` is a frozen dataclass: model, clock, scales and bounds are fields, which `make_spec("hopper", hold=8)` changes.
`reward="gymnasium"` has rewards, observations, ends, starts and clocks of gymnasium's MuJoCo environments, version 5.
"""

from .registry import make_spec, names
from .spec import Spec
from .tables import tables

__all__ = ["Spec", "make_spec", "names", "tables"]
