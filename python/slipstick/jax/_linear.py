"""The derivative of a control step as a linear map that makes the step again: a primitive and its transpose."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ._control_steps import arguments, control_steps
from ._ffi import Shape, Target, rows

# operands: six that the step is made from (q, v, ctrl, tau, parameters, smoothing), then changes or weights
GIVEN = 6


def linear_map(static: Any, primals: Sequence[jax.Array], changes: Sequence[jax.Array]) -> list[jax.Array]:
    """Changes of q and v after the step along changes of q, v, ctrl, tau and parameters; those without numbers are zero."""
    return _tangent.bind(*primals, *changes, static=static)


def _arrays(x: np.ndarray) -> np.ndarray | None:
    return rows(x) if x.shape[-1] else None


def _tangent_callback(*operands: np.ndarray, key: int) -> Sequence[np.ndarray]:
    (q, v, ctrl), options = arguments(operands[:GIVEN])
    names = ("dq", "dv", "dctrl", "dtau", "dparameters")
    changes: dict[str, Any] = dict(zip(names, (_arrays(x) for x in operands[GIVEN:])))
    return control_steps[key].jvp(q, v, ctrl, **changes, **options)


def _cotangent_callback(*operands: np.ndarray, key: int, **widths: int) -> Sequence[np.ndarray]:
    states, options = arguments(operands[:GIVEN])
    grad = control_steps[key].vjp(*states, wq=rows(operands[GIVEN]), wv=rows(operands[GIVEN + 1]), **options)
    none = np.zeros((len(grad.q), 0))
    found = [grad.ctrl, grad.tau, grad.parameters.get("all")]
    wanted = [widths["nctrl"], widths["ntau"], widths["nparameters"]]
    return [grad.q, grad.v, *(x if width and x is not None else none for x, width in zip(found, wanted))]


_tangent_target = Target("slipstick_tangent", _tangent_callback)
_cotangent_target = Target("slipstick_cotangent", _cotangent_callback)


def _call_tangent(*operands: jax.Array, static: Any) -> list[jax.Array]:
    q, v = operands[0], operands[1]
    shapes = [Shape(x.shape, x.dtype) for x in (q, v)]
    return _tangent_target(shapes, *operands, key=static.key)


def _call_cotangent(*operands: jax.Array, static: Any, widths: tuple[int, int, int]) -> list[jax.Array]:
    q, v = operands[0], operands[1]
    sizes = [static.nq, static.nv, *widths]
    shapes = [Shape((*q.shape[:-1], n), v.dtype) for n in sizes]
    names = dict(zip(("nctrl", "ntau", "nparameters"), widths))
    return _cotangent_target(shapes, *operands, key=static.key, **names)


def _primitive(name: str, call: Any) -> Primitive:
    """A primitive that is compiled as the call, whose operands share their leading axes."""
    primitive = Primitive(name)
    primitive.multiple_results = True
    primitive.def_impl(lambda *operands, **static: jax.jit(lambda *x: call(*x, **static))(*operands))
    primitive.def_abstract_eval(
        lambda *avals, **static: [
            jax.core.ShapedArray(x.shape, x.dtype)
            for x in jax.eval_shape(lambda *x: call(*x, **static), *(Shape(a.shape, a.dtype) for a in avals))
        ]
    )
    mlir.register_lowering(primitive, mlir.lower_fun(call, multiple_results=True))

    def batch(operands: Any, axes: Any, **static: Any) -> Any:
        size = next(x.shape[axis] for x, axis in zip(operands, axes) if axis is not None)
        spread = [
            jnp.broadcast_to(x, (size, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)
            for x, axis in zip(operands, axes)
        ]
        out = primitive.bind(*spread, **static)
        return out, [0] * len(out)

    def jvp(primals: Any, tangents: Any, **static: Any) -> Any:
        if any(type(t) is not ad.Zero for t in tangents[:GIVEN]):
            raise NotImplementedError("slipstick.jax has first derivatives only: this is a derivative of a derivative of a step")
        out = primitive.bind(*primals, **static)
        changes = [ad.instantiate_zeros(t) for t in tangents[GIVEN:]]
        return out, primitive.bind(*primals[:GIVEN], *changes, **static)

    batching.primitive_batchers[primitive] = batch
    ad.primitive_jvps[primitive] = jvp
    return primitive


_tangent = _primitive("slipstick_tangent", _call_tangent)
_cotangent = _primitive("slipstick_cotangent", _call_cotangent)


def _transpose_tangent(weights: Any, *operands: Any, static: Any) -> list[Any]:
    changes = operands[GIVEN:]
    widths = tuple(x.aval.shape[-1] if ad.is_undefined_primal(x) else 0 for x in changes[2:])
    weights = [ad.instantiate_zeros(w) for w in weights]
    found = _cotangent.bind(*operands[:GIVEN], *weights, static=static, widths=widths)
    return [None] * GIVEN + [g if ad.is_undefined_primal(x) else None for x, g in zip(changes, found)]


def _transpose_cotangent(changes: Any, *operands: Any, static: Any, widths: Any) -> list[Any]:
    found = _tangent.bind(*operands[:GIVEN], *(ad.instantiate_zeros(x) for x in changes), static=static)
    return [None] * GIVEN + list(found)


ad.primitive_transposes[_tangent] = _transpose_tangent
ad.primitive_transposes[_cotangent] = _transpose_cotangent
