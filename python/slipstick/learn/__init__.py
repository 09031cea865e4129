"""Policy learning on `slipstick.envs`: SHAC with exact gradients through contact, and PPO.

    python -m slipstick.learn train hopper --seeds 0-4 --samples 500000 --out runs/hopper
    python -m slipstick.learn play runs/hopper/seed-0/best.npz

    import jax
    from slipstick import envs, learn
    jax.config.update("jax_enable_x64", True)               # physics in 64 bits, networks in 32
    env = learn.Environment(envs.make_spec("hopper"))
    state = env.reset(jax.random.key(0), 64)
    state, out = env.step(state, action)                    # out.obs, reward, terminated, truncated, obs_end, failed
    settings = learn.settings_for("shac", "hopper", horizon=32)
    run = learn.Run(task="hopper", algorithm="shac", settings=settings, seed=0, samples=100_000, task_changes={})
    learn.Trainer(run).train(run, Path("runs/mine"))

A rerun has the same bits, and so has a resumed one, on one machine with the same versions of the packages.
"""

try:
    import jax as _jax  # noqa: F401
    import optax as _optax  # type: ignore[import-untyped,import-not-found,unused-ignore]  # noqa: F401
except ImportError as error:
    raise ImportError("slipstick.learn needs JAX and optax: pip install 'slipstick[learn]'") from error

from .checkpoint import Run
from .environment import Environment, Out, Softening, State
from .evaluation import Evaluation, Evaluator
from .ppo import Ppo
from .settings import PpoSettings, ShacSettings, settings_for
from .shac import Shac
from .training import NotFinite, Trainer, resume

__all__ = [
    "Environment",
    "Evaluation",
    "Evaluator",
    "NotFinite",
    "Out",
    "Ppo",
    "PpoSettings",
    "Run",
    "Shac",
    "ShacSettings",
    "Softening",
    "State",
    "Trainer",
    "resume",
    "settings_for",
]
