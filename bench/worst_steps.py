"""Times the slowest of many random states of robots beside MuJoCo: `worst_steps.py [--states N] [--seed S] FILE…`.

Joints are uniform within their limits (within half a turn or 1 m where they have none), bases anywhere near the floor in any
orientation, so that many states overlap deeply. Every step starts without warm start. The slowest twenty are timed again, the
least of ten each, and given to MuJoCo in the same way.
"""

import argparse
import time

import mujoco
import numpy as np
import slipstick

SLOWEST, REPEATS = 20, 10


def random_state(model, rng):
    q = model.neutral().copy()
    for kind, name in zip(model.joint_types, model.joint_names):
        at, dofs = model.joint(name).q, model.joint(name).v
        if kind in ("free", "spherical"):
            quaternion = rng.normal(size=4)
            q[at.stop - 4:at.stop] = quaternion / np.linalg.norm(quaternion)
            q[at.start:at.stop - 4] += rng.uniform(-0.3, 0.3, at.stop - 4 - at.start)
        else:
            reach = 1.0 if kind == "prismatic" else np.pi
            q[at] = rng.uniform(np.maximum(model.lower[dofs], -reach), np.minimum(model.upper[dofs], reach))
    return q, rng.normal(size=model.nv)


def our_time(simulator, q, v):
    simulator.clear_warm_start()
    start = time.perf_counter()
    step = simulator.step(q, v)
    return time.perf_counter() - start, step.report


def mujoco_time(model, data, q, v):
    mujoco.mj_resetData(model, data)
    data.qpos[:], data.qvel[:] = q, v
    start = time.perf_counter()
    mujoco.mj_step(model, data)
    return time.perf_counter() - start


def measure(path, states, seed):
    model = slipstick.load(path)
    simulator = slipstick.Simulator(model)
    peer = mujoco.MjModel.from_xml_path(path)
    data, rng = mujoco.MjData(peer), np.random.default_rng(seed)
    times, statuses, most = np.empty(states), {}, 0
    kept = []
    for k in range(states):
        q, v = random_state(model, rng)
        times[k], report = our_time(simulator, q, v)
        statuses[report.status] = statuses.get(report.status, 0) + 1
        most = max(most, report.iterations)
        kept.append((times[k], k, q, v))
        if len(kept) > 10 * SLOWEST:
            kept = sorted(kept, reverse=True, key=lambda x: x[0])[:SLOWEST]
    kept = sorted(kept, reverse=True, key=lambda x: x[0])[:SLOWEST]
    pairs = []
    for _, _, q, v in kept:
        ours = min(our_time(simulator, q, v)[0] for _ in range(REPEATS))
        theirs = min(mujoco_time(peer, data, q, v) for _ in range(REPEATS))
        pairs.append((ours, theirs))
    pairs = np.array(pairs)
    ratios, worst, median = pairs[:, 0] / pairs[:, 1], pairs[:, 0].max(), np.median(times)
    counts = ", ".join(f"{name} {count}" for name, count in sorted(statuses.items()))
    name = path.rsplit("/", 1)[-1].removesuffix(".xml")
    print(f"| {name} | {1e6 * median:.0f} | {1e3 * worst:.2f} | {worst / median:.0f} | {most} "
          f"| {np.median(ratios):.1f} | {ratios.max():.1f} | {counts} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, default=100_000, help="random states per robot (default: 100000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    print("| robot | median step (µs) | slowest (ms) | slowest / median | most factorizations "
          "| slowest twenty / MuJoCo: median | largest | statuses |")
    print("|---|---|---|---|---|---|---|---|")
    for path in args.files:
        measure(path, args.states, args.seed)


if __name__ == "__main__":
    main()
