"""`Replay.show`: inline in a notebook, else in the browser."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from pathlib import Path

from ._native import Replay


def in_notebook() -> bool:
    """Whether IPython runs with a front end that shows HTML, as Jupyter's kernels do."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and shell.has_trait("kernel")


def show(replay: Replay) -> str | None:
    """The path of the page, unless a notebook shows it."""
    if in_notebook():
        from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

        display(replay)
        return None
    page = Path(tempfile.mkdtemp(prefix="slipstick-")) / "replay.html"
    replay.save(page)
    if not webbrowser.open(page.as_uri()):
        print(f"no browser was opened: open {page} in one", file=sys.stderr)
    return str(page)
