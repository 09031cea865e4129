"""Tasks of `slipstick.envs` as environments of gymnasium.

    import slipstick.gym
    env = slipstick.gym.make("hopper", render_mode="rgb_array")
    envs = slipstick.gym.make_vec("hopper", num_envs=64, threads=2)
    env = gymnasium.make("slipstick/Hopper-v0")              # by gymnasium's own functions, too

Names of tasks: `slipstick.envs.names()`; options are those of `slipstick.envs.make_spec`.
It needs gymnasium 1.1 or newer: `pip install slipstick[gym]`.
"""

try:
    from gymnasium.vector import AutoresetMode as _  # which 1.0 lacks
except ImportError as _missing:
    raise ImportError("slipstick.gym needs gymnasium 1.1 or newer: pip install slipstick[gym]") from _missing

from .registration import environment_id, register
from .render import Camera
from .single import RobotEnv
from .single import RobotEnv as make
from .vector import RobotVectorEnv
from .vector import RobotVectorEnv as make_vec

__all__ = ["Camera", "RobotEnv", "RobotVectorEnv", "environment_id", "make", "make_vec"]

register()
