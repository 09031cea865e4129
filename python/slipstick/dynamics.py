"""Rigid-body dynamics and kinematics: functions of a model and of arrays.

    from slipstick import dynamics
    tau = dynamics.rnea(model, q, v, a)          # inverse dynamics: generalized forces of an acceleration
    a = dynamics.aba(model, q, v, tau)           # forward dynamics
    M = dynamics.crba(model, q)                  # joint-space inertia
    J = dynamics.jacobian(model, q, "foot")      # (6, nv): [linear; angular] velocity of a frame
    q = dynamics.integrate(model, q, dq)         # along a tangent, (nv,); difference() is its inverse

Contacts, limits and dry friction are no part of these: see slipstick.step. `tau` is the plain generalized force, without
damping, springs and dry friction.
"""

from ._native import (
    aba,
    aba_derivatives,
    aba_inertial_derivatives,
    actuate,
    actuate_derivatives,
    bias,
    center_of_mass,
    crba,
    difference,
    difference_derivatives,
    energy,
    integrate,
    integrate_derivatives,
    jacobian,
    kinematics,
    mass_inverse,
    momentum,
    passive,
    regressor,
    rnea,
    rnea_derivatives,
    rnea_vjp,
    solve,
    velocity,
    velocity_derivatives,
)

__all__ = [
    "aba",
    "aba_derivatives",
    "aba_inertial_derivatives",
    "actuate",
    "actuate_derivatives",
    "bias",
    "center_of_mass",
    "crba",
    "difference",
    "difference_derivatives",
    "energy",
    "integrate",
    "integrate_derivatives",
    "jacobian",
    "kinematics",
    "mass_inverse",
    "momentum",
    "passive",
    "regressor",
    "rnea",
    "rnea_derivatives",
    "rnea_vjp",
    "solve",
    "velocity",
    "velocity_derivatives",
]
