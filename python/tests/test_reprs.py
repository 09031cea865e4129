"""Every object says what it is: none shows its address."""

import numpy as np
import pytest
import slipstick
from slipstick import collision, dynamics, gradient, ncp, optimize, options

CLASSES = [
    getattr(module, name)
    for module in [slipstick, slipstick.types, gradient, collision, ncp, optimize, options, slipstick.pinocchio]
    for name in module.__all__
    if isinstance(getattr(module, name), type) and not issubclass(getattr(module, name), Exception) and name != "Solid"  # a base class
]


def test_every_class_has_a_repr_of_its_own():
    assert len(CLASSES) > 40
    assert [c.__name__ for c in CLASSES if c.__repr__ is object.__repr__] == []


def test_reprs_are_one_short_line():
    model = slipstick.builtin("quadruped")
    home, sim = model.keyframe("home"), slipstick.Simulator(model)
    step = sim.step(ctrl=home.ctrl)
    shown = [model, sim, step, step.report, step.contacts[0], step.constraints[0], sim.state, sim.warm_start(), home]
    shown += [sim.rollout(3), dynamics.kinematics(model, home.q), collision.detect(model, home.q)[0]]
    shown += [*collision.derivatives(model, home.q)[:1], *model.sensors[:1], ncp.solve(np.eye(3), [0, 0, -1], [0.5])]
    shown += [gradient.bundled_jacobian(model, home.q, home.v, sigma=1e-3, samples=4)]
    for x in shown:
        assert repr(x).startswith("<slipstick.") and " at 0x" not in repr(x)
        assert "\n" not in repr(x) and len(repr(x)) < 250, repr(x)


@pytest.mark.parametrize("name", slipstick.builtin_names())
def test_parts_of_a_model_say_what_they_are(name):
    model = slipstick.builtin(name)
    parts = [*model.sensors, *model.tendons, *model.equalities]
    parts += [model.geom(k) for k in range(model.n_geoms)] + [model.actuator(k) for k in range(model.nu)]
    for part in parts:
        assert type(part).__name__ in repr(part) and " at 0x" not in repr(part)
