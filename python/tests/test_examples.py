"""The programs of examples/python run as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason=f"{EXAMPLES} is absent: the tests run outside the repository")
def test_the_examples_are_found():
    assert {"gym_learner", "identify", "ilqr_hopper", "lqr", "own_robot", "range_finder", "replay_own_robot"} <= {program.stem for program in PROGRAMS}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_an_example_ends_well_and_says_something(program, tmp_path):
    for package in [name for name in ("torch",) if f"import {name}\n" in program.read_text()]:
        pytest.importorskip(package)
    done = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and not done.stderr.strip()
