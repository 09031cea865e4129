"""slipstick.ray.train: seeds on workers, and trainings that go on after their program or a worker was killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from slipstick import learn
from slipstick.learn import checkpoint, log

ray = pytest.importorskip("ray")

from slipstick.ray import train  # noqa: E402

SEEDS = [3, 0]  # results come in this order
SMALL = dict(envs=8, horizon=8, actor=(8,), critic=(8,), critic_passes=2)
EVERY = 128

# kills itself when the first seed has written its third row, and the second was not begun or is under way
DRIVER = """
import os, sys, threading, time
from pathlib import Path
import ray
sys.path.insert(0, {tests!r})
import test_ray_training as t
from slipstick.ray import train

def watch():
    log = Path({folder!r}) / "seed-3" / "log.csv"
    while not log.is_file() or len(log.read_text().splitlines()) < 4:
        time.sleep(0.002)
    os.kill(os.getpid(), 9)

ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env={{"env_vars": {variables!r}}})
threading.Thread(target=watch, daemon=True).start()
train(t.a_run(), t.SEEDS, folder={folder!r}, evaluate_every=t.EVERY)
"""


def a_run():
    settings = learn.settings_for("shac", "cartpole_swingup", **SMALL)
    return learn.Run(task="cartpole_swingup", algorithm="shac", settings=settings, seed=0, samples=1280, task_changes={})


def bits(trained):
    return [x.tobytes() for x in checkpoint.load(trained.folder / "last.npz")[2]]


def kill_the_worker(log_file):
    """The process of this cluster that trains, when its log has three rows."""
    while not log_file.is_file() or len(log_file.read_text().splitlines()) < 4:
        time.sleep(0.002)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.joinpath("cmdline").read_bytes().startswith(b"ray::_train") and is_ours(int(process.name)):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:  # a process that ended meanwhile
            pass


def is_ours(process):
    """Whether this process is one of its ancestors."""
    while process > 1:
        if process == os.getpid():
            return True
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return False


@pytest.fixture(scope="module")
def variables(tmp_path_factory):
    """Workers compile once: others find the programs on the disk."""
    cache = str(tmp_path_factory.mktemp("compiled"))
    return {"JAX_COMPILATION_CACHE_DIR": cache, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}


@pytest.fixture(scope="module")
def cluster(variables):
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": variables})
    yield
    ray.shutdown()


def test_trainings_go_on_after_their_program_or_a_worker_was_killed(cluster, variables, tmp_path):
    whole = train(a_run(), SEEDS, folder=tmp_path / "whole", evaluate_every=EVERY)
    assert [(x.seed, x.samples) for x in whole] == [(3, 1280), (0, 1280)] and bits(whole[0]) != bits(whole[1])
    stopped = tmp_path / "stopped"
    code = DRIVER.format(tests=os.path.dirname(__file__), folder=str(stopped), variables=variables)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (stopped / "seed-0" / "ended.json").exists(), "nothing was left to do"
    ended = train(a_run(), SEEDS, folder=stopped, evaluate_every=EVERY)
    for a, b in zip(whole, ended):
        assert bits(a) == bits(b) and a[2:] == b[2:]
        assert [row["return"] for row in log.read(a.folder / "log.csv")] == [row["return"] for row in log.read(b.folder / "log.csv")]

    kicked = tmp_path / "kicked"
    watcher = threading.Thread(target=kill_the_worker, args=(kicked / "seed-3" / "log.csv",), daemon=True)
    watcher.start()
    (survivor,) = train(a_run(), SEEDS[:1], folder=kicked, evaluate_every=EVERY)
    watcher.join(1)
    assert not watcher.is_alive(), "nobody was killed"
    assert bits(survivor) == bits(whole[0])

    again = train(a_run(), SEEDS[::-1], folder=stopped, evaluate_every=EVERY)  # nothing is done twice
    assert again == ended[::-1]
    with pytest.raises(ValueError, match="folder: expected .* to be a checkpoint of Run"):
        train(replace(a_run(), samples=2560), SEEDS, folder=stopped)
    with pytest.raises(ValueError, match=r"seeds: expected different ones, got \[1, 1\]"):
        train(a_run(), [1, 1], folder=stopped)
