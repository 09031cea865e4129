"""The Python blocks of README.md and docs run as they are printed, page by page, each page in one namespace."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    """The source of each block, preceded by as many empty lines as stand before it: errors name the line of the page."""
    text = page.read_text(encoding="utf-8")
    return ["\n" * text[: match.start(1)].count("\n") + match.group(1) for match in BLOCK.finditer(text)]


PAGES = [page for page in [REPOSITORY / "README.md", *sorted(DOCS.rglob("*.md"))] if page.is_file() and blocks(page)]


@pytest.mark.skipif(not DOCS.is_dir(), reason=f"{DOCS} is absent: the tests run outside the repository")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for package in ("ray", "torch", "viser"):  # torch: the part of this name of the gate runs it
        if re.search(rf"^(import|from) (slipstick\.)?{package}\b", page.read_text(encoding="utf-8"), re.MULTILINE):
            pytest.importorskip(package)
    names = {"__name__": page.stem}
    for source in blocks(page):
        exec(compile(source, str(page), "exec"), names)


@pytest.mark.skipif(not DOCS.is_dir(), reason=f"{DOCS} is absent: the tests run outside the repository")
def test_the_pages_are_found():
    assert {"README", "python", "gradients", "contact", "batch_and_rollouts", "replays"} <= {page.stem for page in PAGES}
