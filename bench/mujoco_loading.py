"""Times MuJoCo's compiler on files: `mujoco_loading.py REPEATS FILE…` prints JSON (seconds; null where it refuses).

MuJoCo keeps processed meshes in memory from one load to the next: `cached` with that cache, `fresh` after clearing it.
"""

import json
import statistics
import sys
import time

import mujoco

mujoco.set_mju_user_warning(lambda message: None)


def load(path, fresh):
    if fresh:
        mujoco.mj_clearCache(mujoco.mj_getCache())
    start = time.perf_counter()
    mujoco.MjModel.from_xml_path(path)
    return time.perf_counter() - start


def timed(path, repeats):
    try:
        both = {name: [load(path, name == "fresh") for _ in range(repeats)] for name in ("fresh", "cached")}
    except ValueError as error:
        print(f"{path}: {str(error).splitlines()[0]}", file=sys.stderr)
        return None
    return {name: {"min": min(times), "median": statistics.median(times)} for name, times in both.items()}


repeats, files = int(sys.argv[1]), sys.argv[2:]
print(json.dumps({"version": mujoco.__version__, "files": {path: timed(path, repeats) for path in files}}))
