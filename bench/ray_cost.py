"""What a call of slipstick.ray costs, and what a thousand workers would make of it.

    python bench/ray_cost.py [--workers 2] [--robot quadruped] [--steps 20]

Measured: a task that does nothing; rollouts and gradients of a shard in one process, and through workers; bytes that
travel. From these a schedule is simulated: a driver that hands out and collects pieces one after the other, and workers
that take the time of a shard for each.
"""

import argparse
import heapq
import pickle
import time

import numpy as np
import ray
import slipstick
from slipstick.ray import Workers, _shards

HOLD = 4


def nothing(model, item):
    return item


def timed(work, repeats=5):
    """The least of several times (s)."""
    work()
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def driver_time(work, repeats=5):
    """Processor time of this process (s), a mean."""
    start = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - start) / repeats


def problem(model, n, steps):
    home, rng = model.keyframe("home"), np.random.default_rng(0)
    q, v = np.tile(home.q, (n, 1)), 0.1 * rng.normal(size=(n, model.nv))
    ctrl = home.ctrl + 0.1 * rng.normal(size=(steps, n, model.nu))
    return q, v, ctrl, rng.normal(size=(steps + 1, n, model.nq)), rng.normal(size=(steps + 1, n, model.nv))


def schedule(pieces, workers, each, handling):
    """Seconds until all pieces are collected: the driver takes `handling` for each piece, a worker `each`."""
    free, sent, done = [0.0] * min(workers, pieces), 0.0, []
    heapq.heapify(free)
    for _ in range(pieces):
        sent += handling / 2
        end = max(sent, heapq.heappop(free)) + each
        heapq.heappush(free, end)
        done.append(end)
    driver = sent
    for end in sorted(done):
        driver = max(driver, end) + handling / 2
    return driver


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--robot", default="quadruped")
    parser.add_argument("--steps", type=int, default=20, help="control steps of 4 engine steps")
    given = parser.parse_args()
    ray.init(num_cpus=given.workers, include_dashboard=False, log_to_driver=False)
    model = slipstick.builtin(given.robot)
    workers = Workers(model, shard=64)
    tasks = 200
    handling = timed(lambda: workers.map(nothing, list(range(tasks)))) / tasks
    one = timed(lambda: workers.map(nothing, [0]))
    print(f"{given.robot}, {given.steps} control steps of {HOLD} engine steps, {given.workers} workers")
    print(f"a task that does nothing: {1e3 * one:.2f} ms alone, {1e3 * handling:.2f} ms of many")
    print("| shard | what | one process (ms) | one piece by a worker (ms) | 8 pieces (ms) | sent, brought back (MB) |")
    print("|" + "---|" * 6)
    simulated = []
    for shard in (16, 64, 256):
        q, v, ctrl, wq, wv = problem(model, shard, given.steps)
        eight = [np.concatenate([x] * 8, axis) for x, axis in zip((q, v, ctrl, wq, wv), (0, 0, 1, 1, 1))]
        workers = Workers(model, shard=shard)
        alone = {
            "rollout": timed(lambda: _shards.rollout(model, HOLD, 1, q, v, ctrl, {})),
            "gradient": timed(lambda: _shards.vjp(model, HOLD, 1, q, v, ctrl, wq, wv, {})),
        }
        by_worker = {
            "rollout": timed(lambda: workers.rollout(q, v, ctrl, hold=HOLD)),
            "gradient": timed(lambda: workers.vjp(q, v, ctrl, wq=wq, wv=wv, hold=HOLD)),
        }
        q, v, ctrl, wq, wv = eight
        by_eight = {
            "rollout": timed(lambda: workers.rollout(q, v, ctrl, hold=HOLD)),
            "gradient": timed(lambda: workers.vjp(q, v, ctrl, wq=wq, wv=wv, hold=HOLD)),
        }
        back = _shards.vjp(model, HOLD, 1, *(x[:shard] if k < 2 else x[:, :shard] for k, x in enumerate(eight)), {})
        sizes = {"rollout": [x[:shard] if k < 2 else x[:, :shard] for k, x in enumerate(eight[:3])]}
        sizes["gradient"] = [*sizes["rollout"], wq[:, :shard], wv[:, :shard]]
        for what in alone:
            sent = len(pickle.dumps(sizes[what])) / 1e6
            parts = {k: x for k, x in back.items() if what == "gradient" or not k.startswith("by_")}
            brought = len(pickle.dumps(parts)) / 1e6
            times = (alone[what], by_worker[what], by_eight[what])
            cells = " | ".join(f"{1e3 * t:.1f}" for t in times)
            print(f"| {shard} | {what} | {cells} | {sent:.2f}, {brought:.2f} |", flush=True)
        cost = driver_time(lambda: workers.vjp(q, v, ctrl, wq=wq, wv=wv, hold=HOLD)) / 8
        simulated.append((f"gradients of {shard}", alone["gradient"], cost))
    cost = driver_time(lambda: workers.map(nothing, list(range(tasks)))) / tasks
    simulated += [(f"items of {seconds} s by map", float(seconds), cost) for seconds in (1, 10)]
    counts = (1, 10, 100, 1000)
    heads = " | ".join(f"{n} workers (s)" for n in counts)
    print(f"\n| 4000 pieces, simulated | driver per piece (ms) | {heads} |", "|" + "---|" * 6, sep="\n")
    for name, each, cost in simulated:
        times = [schedule(4000, count, each, cost) for count in counts]
        cells = " | ".join(f"{t:.1f} ({100 * 4000 * each / (count * t):.0f} % busy)" for count, t in zip(counts, times))
        print(f"| {name} | {1e3 * cost:.2f} | {cells} |")


if __name__ == "__main__":
    main()
