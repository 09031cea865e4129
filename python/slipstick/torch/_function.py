"""Functions of rows with first derivatives, forward and reverse, for versions of PyTorch before and after torch.func."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch  # type: ignore[import-not-found,unused-ignore]

NEW = hasattr(torch.autograd.Function, "setup_context")  # from PyTorch 2.0 on
Tensors = tuple[torch.Tensor | None, ...]


class Map(NamedTuple):
    """A function of tensors with common leading axes, and its derivatives."""

    value: Callable[..., Tensors]
    """Of the operands; None where one was left out."""
    tangent: Callable[[Tensors, Tensors], Tensors]
    """Changes of the first outputs along changes of the operands."""
    cotangent: Callable[[Tensors, Tensors], Tensors]
    """Gradients with respect to the operands, of the first outputs times weights."""
    outputs: int
    """How many outputs have derivatives: the first ones."""


def apply(map: Map, *operands: torch.Tensor | None) -> Any:
    """The outputs of a map, differentiable once."""
    return _Value.apply(map, *operands)


def _in_front(info: Any, in_dims: Any, operands: Any) -> list[Any]:
    """Operands whose first axis is that of vmap: it becomes one of the leading axes."""
    front = []
    for axis, x in zip(in_dims, operands):
        if x is not None:
            x = x.expand(info.batch_size, *x.shape) if axis is None else x.movedim(axis, 0)
        front.append(x)
    return front


class _Rule(torch.autograd.Function):
    """A function of a map and operands, under vmap as well."""

    generate_vmap_rule = False

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, map: Any, *operands: Any) -> Any:
        out = cls.apply(map, *_in_front(info, in_dims[1:], operands))
        return out, tuple(None if x is None else 0 for x in out)


class _Value(_Rule):
    @staticmethod
    def forward(map: Map, *operands: Any) -> Any:
        return map.value(*operands)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.map, operands = inputs[0], inputs[1:]
        ctx.save_for_backward(*operands)
        if hasattr(ctx, "save_for_forward"):
            ctx.save_for_forward(*operands)
        ctx.others = [x.shape for x in output[ctx.map.outputs :]]
        ctx.mark_non_differentiable(*output[ctx.map.outputs :])

    @staticmethod
    def backward(ctx: Any, *weights: Any) -> Any:
        return None, *_Cotangent.apply(ctx.map, *weights[: ctx.map.outputs], *ctx.saved_tensors)

    @staticmethod
    def jvp(ctx: Any, _: Any, *changes: Any) -> Any:
        # versions before 2.0 want a change of what has no derivative, too
        still = (None if NEW else torch.zeros(shape, dtype=torch.float64) for shape in ctx.others)
        return *_Tangent.apply(ctx.map, *ctx.saved_tensors, *changes), *still


class _Derivative(_Rule):
    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *weights: Any) -> Any:
        raise NotImplementedError("slipstick.torch has first derivatives only: this is a derivative of a derivative of the simulator")

    jvp = backward


class _Tangent(_Derivative):
    @staticmethod
    def forward(map: Map, *both: Any) -> Any:
        half = len(both) // 2
        return map.tangent(both[:half], both[half:])


class _Cotangent(_Derivative):
    @staticmethod
    def forward(map: Map, *both: Any) -> Any:
        return map.cotangent(both[map.outputs :], both[: map.outputs])


def _for_old_versions(rule: Any) -> Any:
    """Before PyTorch 2.0 `forward` has the context, too."""

    def forward(ctx: Any, *inputs: Any) -> Any:
        output = rule.forward(*inputs)
        rule.setup_context(ctx, inputs, output)
        return output

    return type(rule.__name__, (rule,), {"forward": staticmethod(forward)})


if not NEW:
    _Value, _Tangent, _Cotangent = map(_for_old_versions, (_Value, _Tangent, _Cotangent))  # type: ignore[misc]
