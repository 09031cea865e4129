"""Many environments on the workers of a Ray cluster: rollouts, gradients through them, and sweeps.

    import ray, slipstick
    from slipstick.ray import Workers
    ray.init()                                                # this machine; or address="auto" on a cluster
    workers = Workers(slipstick.builtin("quadruped"), shard=64)
    run = workers.rollout(q, v, ctrl, hold=4)                 # q (n, nq), v (n, nv), ctrl (T, n, nu); run.q (T + 1, n, nq)
    grad = workers.vjp(q, v, ctrl, hold=4, wq=wq, wv=wv)      # of numbers whose gradients by the last state are wq, wv
    results = workers.map(measure, items, folder="sweep")     # measure(model, item) for each; what is done is kept in the folder
    ended = slipstick.ray.train(run, seeds, folder="runs")    # trainings of slipstick.learn, a seed for a worker

- Environments are cut into shards of a fixed size, reductions go in the order of the shards: results have the same bits for any
  number of workers.
- Work is without state: every control step starts cold, and what a killed worker had begun is done again by another.
- `map` with a folder and `train` go on where they were stopped, also when the program itself was killed.
"""

try:
    import ray as _ray  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
except ImportError as error:
    raise ImportError("slipstick.ray needs Ray: pip install 'slipstick[ray]'") from error

from ._training import Trained, train
from ._workers import Gradient, Rollout, Workers

__all__ = ["Gradient", "Rollout", "Trained", "Workers", "train"]
