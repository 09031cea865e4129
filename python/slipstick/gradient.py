"""Derivatives of many steps, and smoothed ones of a single step.

- `RolloutGradient`: a rollout of one model and its derivatives. `Batch.rollout(…, record=True)` has them for many.
- `ControlStep`: control steps of many robots as a function of arrays, with derivatives in the numbers of q.
- `bundled_jacobian`: the derivative of a step, averaged over random inputs.
- `compliance_schedule`: models from soft to rigid contact, for continuation.
- `Gradient`: what every `vjp` returns.

Derivatives of one step are methods of `slipstick.Step`; how steps are differentiated is an option (`slipstick.options`).
"""

from ._native import BundledJacobian, ControlStep, Gradient, RolloutGradient, bundled_jacobian, compliance_schedule

__all__ = ["BundledJacobian", "ControlStep", "Gradient", "RolloutGradient", "bundled_jacobian", "compliance_schedule"]
