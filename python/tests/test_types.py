"""The type stubs say what the compiled module has, and programs of users pass a strict type checker."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples" / "python"
ALLOWED = REPOSITORY / "python" / "stubtest-allowlist.txt"

pytest.importorskip("mypy")
in_repository = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the tests run outside the repository")


def check(*arguments, folder):
    """A tool of mypy, with its cache where nobody else writes."""
    environment = {**os.environ, "MYPY_CACHE_DIR": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )


@in_repository
def test_stubs_and_module_agree(tmp_path):
    done = check("mypy.stubtest", "slipstick", "--allowlist", str(ALLOWED), folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_learning_passes_the_type_checker(tmp_path):
    pytest.importorskip("jax")
    done = check("mypy", "-p", "slipstick.learn", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@in_repository
def test_examples_pass_the_strict_type_checker(tmp_path):
    there = importlib.util.find_spec("torch") is not None
    programs = [path for path in sorted(EXAMPLES.glob("*.py")) if there or "import torch\n" not in path.read_text()]
    done = check("mypy", "--strict", *map(str, programs), folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
