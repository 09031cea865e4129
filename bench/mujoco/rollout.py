"""Steps per second of `mujoco.rollout`: `rollout.py SCENE.xml STATES STEPS REPEATS THREADS…`; one JSON object on stdout.

STATES has a line `state q v tau` per environment; forces stay as they are for STEPS steps. The best of REPEATS counts, for each number of
threads.
"""

import json
import sys
import time

import mujoco
import numpy as np
from mujoco import rollout

FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS


def initial_states(model, rows):
    data = mujoco.MjData(model)
    states = np.zeros((len(rows), mujoco.mj_stateSize(model, FULL)))
    for row, state in zip(rows, states):
        data.qpos, data.qvel = row[: model.nq], row[model.nq : model.nq + model.nv]
        mujoco.mj_getState(model, data, state, FULL)
    return states


def rate(model, states, forces, threads, repeats):
    data = [mujoco.MjData(model) for _ in range(threads)]
    best = 0.0
    # without threads of its own it runs on the one that calls
    with rollout.Rollout(nthread=threads if threads > 1 else 0) as pool:
        for _ in range(repeats):
            start = time.perf_counter()
            pool.rollout(model, data, states, forces, control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED))
            best = max(best, forces.shape[0] * forces.shape[1] / (time.perf_counter() - start))
    return best


def main():
    scene, states, steps, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    model = mujoco.MjModel.from_xml_path(scene)
    rows = np.array([line.split()[1:] for line in open(states)], dtype=float)
    forces = np.repeat(rows[:, None, model.nq + model.nv :], steps, axis=1)
    initial = initial_states(model, rows)
    rates = [rate(model, initial, forces, int(threads), repeats) for threads in sys.argv[5:]]
    print(json.dumps({"peer": "mujoco", "version": mujoco.__version__, "steps_per_s": rates}))


if __name__ == "__main__":
    main()
