"""`kill -9` while files are written again and again: each is whole, the old one or the new one."""

import random
import subprocess
import sys
import time

import numpy as np
import pytest
import slipstick

KILLS = 10

SAVE = """
import sys
import slipstick
model = slipstick.builtin("cube")
run = slipstick.Simulator(model).rollout(20_000)
print("ready", flush=True)
while True:
    run.save(sys.argv[1])
"""

CHECKPOINT = """
import sys
from pathlib import Path
import numpy as np
from slipstick.learn.checkpoint import Run, save
from slipstick.learn.log import Log
from slipstick.learn.settings import ShacSettings
run = Run(task="cartpole_swingup", algorithm="shac", settings=ShacSettings(), seed=0, samples=1, task_changes={})
log, state = Log(Path(sys.argv[1]).with_suffix(".csv")), [np.arange(1_000_000.0)]
save(Path(sys.argv[1]), run, state, {})
print("ready", flush=True)
while True:
    save(Path(sys.argv[1]), run, state, {})
    log.add({"iteration": len(log.rows), "return": 1.0})
"""


def killed(program, path, seconds):
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.kill()


@pytest.mark.parametrize("name", ["run.npz", "run.csv", "run.json"])
def test_a_trajectory_is_whole(tmp_path, name):
    path, draw = tmp_path / name, random.Random(name)
    model = slipstick.builtin("cube")
    run = slipstick.Simulator(model).rollout(20_000)
    run.save(path)
    whole = path.read_bytes()
    for _ in range(KILLS):
        killed(SAVE, path, draw.uniform(0.0, 0.3))
        assert path.read_bytes() == whole


def test_a_checkpoint_and_its_log_are_whole(tmp_path):
    learn = pytest.importorskip("slipstick.learn.checkpoint")
    path, draw = tmp_path / "last.npz", random.Random(5)
    for _ in range(KILLS // 3):
        killed(CHECKPOINT, path, draw.uniform(0.0, 0.3))
        _, _, leaves = learn.load(path)
        assert np.array_equal(leaves[0], np.arange(1_000_000.0))
        table = path.with_suffix(".csv")
        assert not table.exists() or table.read_text().startswith("iteration,return\n") and table.read_text().endswith("\n")
