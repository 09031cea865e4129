"""Calls of the compiled handlers from XLA, or of the same functions through callbacks."""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax
import numpy as np

from slipstick import _native

Shape = jax.ShapeDtypeStruct


@functools.cache
def backend() -> Literal["ffi", "callback"]:
    """How XLA calls slipstick: "ffi", compiled handlers, or "callback", through Python, which is slower."""
    jax.devices("cpu")  # targets registered before there is a backend are refused later, and take the backend with them
    try:
        for name, target in _native._xla_targets().items():
            jax.ffi.register_ffi_target(name, target, platform="cpu")
    except Exception as error:  # another version of XLA's interface, whatever it raises
        text = f"jaxlib {jax.lib.__version__} does not take the compiled handlers ({error}): callbacks are used, which are slower"
        warnings.warn(text, stacklevel=2)
        return "callback"
    return "ffi"


def dtype() -> Any:
    """The widest floats that JAX has now."""
    return jax.dtypes.canonicalize_dtype(np.float64)


class Target:
    """A handler of XLA, and the function that a callback calls in its place."""

    def __init__(self, name: str, callback: Callable[..., Sequence[np.ndarray]]) -> None:
        self.name, self.callback = name, callback

    def __call__(self, results: Sequence[Shape], *operands: jax.Array, **attributes: int) -> list[jax.Array]:
        """Arrays of the shapes of `results`; operands share their leading axes, which vmap adds to."""
        if backend() == "ffi":
            call = jax.ffi.ffi_call(self.name, list(results), vmap_method="broadcast_all")
            return list(call(*operands, **{key: np.int64(value) for key, value in attributes.items()}))

        rank = operands[0].ndim - 1

        def run(*given: Any) -> list[np.ndarray]:
            found = self.callback(*(np.asarray(x, np.float64) for x in given), **attributes)
            lead = given[0].shape[:-1]
            return [np.asarray(x, r.dtype).reshape(lead + r.shape[rank:]) for x, r in zip(found, results)]

        return list(jax.pure_callback(run, list(results), *operands, vmap_method="broadcast_all"))


def rows(x: np.ndarray) -> np.ndarray:
    """All leading axes as one."""
    return x.reshape(-1, x.shape[-1]) if x.size else np.zeros((int(np.prod(x.shape[:-1])), x.shape[-1]))
