"""Keys of what compiled functions refer to: they follow from the content of a model."""

import functools
import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

from slipstick import Model

T = TypeVar("T")


def by_content(make: Callable[..., T]) -> Callable[..., T]:
    """Keeps what was made for a key, a model and other arguments. The key follows from these, whatever the process: programs that
    JAX takes from a cache on disk find the model that they were compiled for."""
    made: dict[int, T] = {}

    @functools.wraps(make)
    def find(model: Model, *others: Any) -> T:
        content = repr((model.content_hash, *others)).encode()
        key = int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little", signed=True)
        if key not in made:
            made[key] = make(key, model, *others)
        return made[key]

    return find
