"""The configuration manifold on tensors."""

from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from slipstick import Model

from ._tensors import common_lead, spread, tensor


def integrate(model: Model, q: Any, dv: Any) -> torch.Tensor:
    """q ⊕ dv: the configuration (..., nq) along a tangent (..., nv); quaternions are normalized."""
    q, dv = tensor("q", q), tensor("dv", dv)
    lead, kind = common_lead({"q": q, "dv": dv}), torch.promote_types(q.dtype, dv.dtype)
    q, dv = spread("q", q, lead, model.nq), spread("dv", dv, lead, model.nv)
    parts = []
    for index in range(model.n_joints):
        joint = model.joint(index)
        x, dx = q[..., joint.q], dv[..., joint.v]
        if joint.type == "free":
            parts += [x[..., :3] + dx[..., :3], _turn(x[..., 3:], dx[..., 3:])]
        elif joint.type == "spherical":
            parts.append(_turn(x, dx))
        else:
            parts.append(x + dx)
    return torch.cat(parts, -1).to(kind)


def _turn(p: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The quaternion p exp(w / 2) of norm one."""
    p = p / torch.linalg.norm(p, dim=-1, keepdim=True)
    square = (w * w).sum(-1, keepdim=True)
    small = square < 1e-8
    angle = torch.sqrt(torch.where(small, torch.ones_like(square), square))  # the derivative of a root at zero is not finite
    scale = torch.where(small, 0.5 - square / 48, torch.sin(0.5 * angle) / angle)
    real = torch.where(small, 1 - square / 8, torch.cos(0.5 * angle))
    x, u = p[..., 1:], scale * w
    real_out = p[..., :1] * real - (x * u).sum(-1, keepdim=True)
    return torch.cat([real_out, p[..., :1] * u + real * x + torch.cross(x, u, dim=-1)], -1)
