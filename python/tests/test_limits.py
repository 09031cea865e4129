"""Hostile inputs: a typed error within 20 s and 4 GB, each in a process of its own, so that an abort is seen."""

import json
import os
import subprocess
import sys
import time

import pytest

CAP = 4 << 30  # address space [bytes]
SECONDS = 20.0

PREPARE = f"""
import json, sys, warnings
if sys.platform == "linux":
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({CAP}, {CAP}))
import numpy as np
import slipstick
warnings.simplefilter("ignore")
def work():
    {{work}}
try:
    work()
    print(json.dumps(["", ""]))
except Exception as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""

FREE = '<body pos="0 0 1"><freejoint/><geom size=".1"/></body>'
LINK = (
    '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="j{0}" type="continuous"><parent link="l{1}"/><child link="l{0}"/></joint>'
)


def run(folder, *works):
    """What became of the works: name and text of their exceptions, empty without one. They run side by side."""
    environment = {**os.environ, "SLIPSTICK_CACHE": "", "RAYON_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
    begin = time.monotonic()

    def start(work):
        code = PREPARE.format(work=work.replace("\n", "\n    "))
        command = [sys.executable, "-c", code]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=folder, env=environment, text=True, **pipes)

    processes, out = [start(work) for work in works], []
    for work, process in zip(works, processes, strict=True):
        try:
            text, noise = process.communicate(timeout=max(0.1, SECONDS - (time.monotonic() - begin)))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            pytest.fail(f"no answer within {SECONDS} s: {work}")
        assert process.returncode == 0, f"{work}: ended with {process.returncode}: {noise[:500]}"
        out.append(tuple(json.loads(text)))
    return out


def world(inside):
    return f"<mujoco><worldbody>{inside}</worldbody></mujoco>"


def replicate(count, inside=FREE):
    return world(f'<replicate count="{count}" offset=".3 0 0">{inside}</replicate>')


def field(attributes):
    return (
        f'<mujoco><asset><hfield name="f" {attributes} size="1 1 1 1"/></asset>'
        '<worldbody><geom type="hfield" hfield="f"/></worldbody></mujoco>'
    )


def test_files_that_ask_for_too_much_are_refused_with_the_name_of_the_limit(tmp_path):
    chain = "".join(LINK.format(k, k - 1) for k in range(1, 20000))
    attributes = " ".join(f'a{k}="1"' for k in range(10**5))
    files = {
        "heights.xml": (field('nrow="1048575" ncol="1048575"'), "heights"),
        "attributes.xml": (world(f"<geom {attributes}/>"), "attributes"),
        "deep.xml": (world("<body>" * 20000 + "</body>" * 20000), "depth"),
        "copies.xml": (replicate(10**9), "elements"),
        "bodies.xml": (replicate(20000), "pairs"),
        "chain.urdf": (f'<robot name="c"><link name="l0"/>{chain}</robot>', "inertia_numbers"),
    }
    for name, (text, _) in files.items():
        (tmp_path / name).write_text(text)
    results = run(tmp_path, *(f"slipstick.load({name!r})" for name in files))
    for (name, (_, limit)), (kind, text) in zip(files.items(), results, strict=True):
        assert kind == "LoadError" and f"the limit '{limit}' can be raised" in text, (name, kind, text[:300])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_and_devices_end_at_once(tmp_path):
    for name in ("pipe.xml", "pipe.json", "pipe.npz"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "robot.xml").write_text(world(FREE))
    results = run(
        tmp_path,
        "slipstick.load('pipe.xml')",
        "slipstick.load('/dev/zero')",
        "slipstick.load('.')",
        "slipstick.load('robot.xml', pairs='pipe.json')",
        "slipstick.Trajectory.load('pipe.npz', slipstick.builtin('cube'))",
    )
    for kind, text in results:
        assert kind in ("LoadError", "OSError") and ("not a file" in text or "folder" in text or "regular file" in text), text


def test_numbers_beyond_all_measure_are_typed_errors(tmp_path):
    cube = "m = slipstick.builtin('cube')\n"
    expected = {
        cube + "slipstick.Batch(m, 10**9)": "MemoryError",
        cube + "b = slipstick.Batch(m, 2); b.rollout(*b.reset(), 10**9)": "MemoryError",
        cube + "slipstick.gradient.RolloutGradient(m, 10**9).run(m.neutral(), np.zeros(6))": "MemoryError",
        cube + "slipstick.Simulator(m).rollout(10**9)": "MemoryError",
        cube + "slipstick.Simulator(m).rollout(10**12)": "ValueError",
        cube + "slipstick.gradient.compliance_schedule(m, m.neutral(), levels=10**9)": "ValueError",
        cube
        + "slipstick.gradient.bundled_jacobian(m, m.neutral(), np.zeros(6), sigma=1e-3, samples=8, seed=1, threads=10**9)": "",
        cube + "slipstick.dynamics.crba(m, m.neutral() + 1j)": "TypeError",
    }
    results = run(tmp_path, *expected)
    for (work, kind), (got, text) in zip(expected.items(), results, strict=True):
        assert got == kind, f"{work}: {got}: {text}"
    texts = [text for _, text in results]
    assert "expected at most 4294967295, got 1000000000000" in texts[4]
    assert "real numbers" in texts[7]


def test_thousands_of_free_bodies_load_and_step(tmp_path):
    floor = '<geom type="plane" size="5 5 1" contype="0"/>'
    body = FREE.replace("size", 'conaffinity="0" size')  # a list of 12.5 million pairs would take most of the time
    (tmp_path / "bodies.xml").write_text(replicate(5000, body).replace("<worldbody>", "<worldbody>" + floor))
    begin = "m = slipstick.load('bodies.xml'); s = slipstick.Simulator(m)\nstep = s.step(); assert np.isfinite(step.v).all()\n"
    stepped, differentiated, dense = run(
        tmp_path, begin, begin + "step.jacobian()", begin + "slipstick.dynamics.crba(m, m.neutral())"
    )
    assert stepped == ("", "")
    assert differentiated == ("MemoryError", "derivatives of a step: there is no room for 50400000000 bytes")
    assert dense == ("MemoryError", "joint-space inertia: there is no room for 7200000000 bytes")


def test_limits_are_arguments_of_load(tmp_path):
    import slipstick

    (tmp_path / "hills.xml").write_text(field('nrow="3" ncol="3"'))
    with pytest.raises(slipstick.LoadError, match="at most 8 heights of height fields, got 3 rows of 3; the limit 'heights'"):
        slipstick.load(tmp_path / "hills.xml", limits={"heights": 8})
    assert slipstick.loads(field('nrow="3" ncol="3"'), limits={"heights": 9}).name == "text"
    with pytest.raises(ValueError, match="limits: expected .*'heights'.*, got 'height'"):
        slipstick.load(tmp_path / "hills.xml", limits={"height": 8})
    for wrong in (3, {"heights": -1}, {"heights": "many"}):
        with pytest.raises(TypeError, match="limits: expected a dict of names to ints from 0 on"):
            slipstick.load(tmp_path / "hills.xml", limits=wrong)
