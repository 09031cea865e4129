"""Numerical choices of a model: set, read, pickled, refused."""

import pickle

import numpy as np
import pytest
import slipstick
from slipstick import options
from stepping import Stepper

CHANGED = {
    "dt": 0.00123,
    "gravity": [0.1, 0.2, -1.62],
    "contact_distance": 0.02,
    "implicit": "all",
    "solver": "pgs",
    "tolerance": 1e-8,
    "max_iterations": 321,
    "correction": options.Correction(2e-4, 0.1, 0.5),
    "restitution_threshold": 0.03,
    "patch_compliance": 1e-5,
}


def value(options, name):
    x = getattr(options, name)
    return x.tolist() if isinstance(x, np.ndarray) else x


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


def test_defaults_are_the_documented_ones(model):
    options = model.options
    assert (options.dt, options.contact_distance) == (0.001, 0.01)
    assert (options.solver, options.implicit, options.tolerance) == ("auto", "velocity", 1e-10)
    assert options.correction == slipstick.options.Correction(1e-4, 0.2, 1.0)
    assert (options.restitution_threshold, options.patch_compliance) == (0.01, 1e-6)


@pytest.mark.parametrize("name", CHANGED)
def test_one_option_changes_and_the_others_stay(model, name):
    changed = model.with_options(**{name: CHANGED[name]})
    for other in CHANGED:
        expected = CHANGED[name] if other == name else value(model.options, other)
        assert value(changed.options, other) == expected
    assert value(model.options, name) != CHANGED[name], "the model itself stays"
    simulator = Stepper(model, **{name: CHANGED[name]})
    assert simulator.options == changed.options != model.options
    assert Stepper(changed).options == changed.options


def test_all_options_survive_a_pickle(model):
    changed = model.with_options(**CHANGED)
    again = pickle.loads(pickle.dumps(changed))
    for name, expected in CHANGED.items():
        assert value(again.options, name) == expected
    assert again.options == changed.options


@pytest.mark.parametrize(
    "bad, message",
    [
        ({"dt": 0.0}, "dt"),
        ({"dt": np.nan}, "dt"),
        ({"gravity": [0.0, 0.0]}, "gravity.*3.*2"),
        ({"contact_distance": -1.0}, "contact_distance"),
        ({"implicit": "sometimes"}, "implicit.*'none'.*'all'.*'sometimes'"),
        ({"solver": "lemke"}, "solver.*'auto'.*'pgs'.*'lemke'"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"max_iterations": -1}, "max_iterations.*-1"),
        ({"correction": (1e-4, 0.2)}, "correction: expected options.Correction.*0.0001, 0.2"),
        ({"correction": options.Correction(1e-4, 1.2, 1.0)}, "correction.beta.*1.2"),
        ({"correction": options.Correction(-1e-4, 0.2, 1.0)}, "correction.full_depth"),
        ({"correction": options.Correction(1e-4, 0.2, np.nan)}, "correction.max_speed"),
        ({"restitution_threshold": np.inf}, "restitution_threshold"),
        ({"patch_compliance": -1e-6}, "patch_compliance"),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)
def test_options_without_sense_are_refused_by_name(model, bad, message):
    with pytest.raises((TypeError, ValueError), match=message):
        model.with_options(**bad)
    with pytest.raises((TypeError, ValueError), match=message):
        Stepper(model, **bad)
