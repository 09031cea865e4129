"""A sample of bench/coverage.py: models of gymnasium and dm_control load, and move freely as in MuJoCo."""

import importlib.util
import sys

import pytest

from robots import REPOSITORY

PROGRAM = REPOSITORY / "bench" / "coverage.py"
SAMPLE = {
    "gymnasium": ["ant.xml", "half_cheetah.xml", "humanoid.xml", "inverted_pendulum.xml", "walker2d_v5.xml"],
    "dm_control suite": ["acrobot.xml", "cheetah.xml", "hopper.xml", "humanoid.xml", "point_mass.xml"],
}


@pytest.fixture(scope="module")
def coverage():
    spec = importlib.util.spec_from_file_location("coverage_of_models", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(coverage):
    found = {}
    for collection, names in SAMPLE.items():
        folder = coverage.packaged()[collection]
        models = [model for model in coverage.models(folder) if model[0] in names]
        found[collection] = [coverage.examine(*model, seconds=0.0) for model in models]
    return found


@pytest.mark.parametrize("collection", SAMPLE)
def test_the_sample_loads_and_moves_as_in_mujoco(rows, collection):
    assert len(rows[collection]) == len(SAMPLE[collection])
    for row in rows[collection]:
        assert not row.error and row.sizes, f"{row.name}: {row.error}"
        assert row.free is not None
        assert row.is_free or row.warnings, f"{row.name}: differs by {row.free:.1e} and nothing is said about it"


def test_a_resting_body_is_held(coverage, tmp_path):
    (tmp_path / "block.xml").write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .1"><freejoint/>'
        '<geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>'
    )
    [model] = coverage.models(tmp_path)
    row = coverage.examine(*model, seconds=0.2)
    assert row.is_held and row.is_free and row.depth > 0.0


def test_a_page_keeps_what_is_around_the_table(coverage, rows, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{coverage.BEGIN}\nold\n{coverage.END}\nafter\n")
    coverage.write(page, coverage.page(rows, 0.0))
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert "| gymnasium | 5 | 5 | 5 |" in text


def test_kinds_of_warnings_have_no_names(coverage):
    kind = coverage.kind_of("a/b.xml:3: <motor name=\"x\">: acts on 'y' (and 2 more places)")
    assert kind == ("<motor>: acts on '…'", 3)
    kind = coverage.kind_of("/a/b.xml: 2 pairs of geoms that overlap at the start: contact pushes them apart: 'x' and 'y' (3 mm)")
    assert kind == ("geoms that overlap at the start", 2)
