"""Everything that slipstick raises, besides ValueError for arguments that do not fit a model.

- LoadError: a file that is not a valid model.
- DynamicsError: a singular inertia. DivergenceError: a step without finite result. GradientError: a derivative that does not
  exist, with ContactGradientError and UnsupportedGradientError. All are ArithmeticErrors.
- BatchError (an ArithmeticError): some environments of a Batch failed; it has the results of the others.
- FormatError (a ValueError): saved bytes or a file that is damaged, of another version, or of another model.
- ForkError (a RuntimeError): a Batch or ControlStep with threads in a process that os.fork made.
- StaleStep (a RuntimeError): a derivative of a Step whose Simulator has stepped on.
- LoadWarning (a UserWarning): a file of which the model does not represent all; Model.warnings says what.
- StepWarning (a UserWarning): a step that did not converge or was given less than its position correction.
"""

from ._native import (
    BatchError,
    ContactGradientError,
    DivergenceError,
    DynamicsError,
    ForkError,
    FormatError,
    GradientError,
    LoadError,
    LoadWarning,
    StaleStep,
    StepWarning,
    UnsupportedGradientError,
)

__all__ = [
    "BatchError",
    "ContactGradientError",
    "DivergenceError",
    "DynamicsError",
    "ForkError",
    "FormatError",
    "GradientError",
    "LoadError",
    "LoadWarning",
    "StaleStep",
    "StepWarning",
    "UnsupportedGradientError",
]
