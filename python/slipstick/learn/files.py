"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A name to write to, which becomes that of the file in the end: a process that is killed leaves the old file or the new one."""
    partial = path.with_name(f".{path.stem}-{os.getpid()}.partial{path.suffix}")
    try:
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
