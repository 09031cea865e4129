//! Errors of Rust as exceptions of Python, with the same text.

use pyo3::create_exception;
use pyo3::exceptions::{
    PyArithmeticError, PyException, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyUserWarning,
    PyValueError,
};
use pyo3::prelude::*;
use slipstick::check::grad_check::GradCheckError;
use slipstick::collision::CollisionError;
use slipstick::files::{BuiltinError, LoadTrajectoryError, SaveError};
use slipstick::interrupt::Interrupted;
use slipstick::pinocchio::MapError;
use slipstick::sensors::SensorError;
use slipstick::{InputError, StepError};
use slipstick_view::ViewError;

create_exception!(
    slipstick.errors,
    LoadError,
    PyException,
    "A file that makes no model. Attributes: file (str), line (int, 0: the whole file), hint (str, may be empty)."
);
create_exception!(
    slipstick.errors,
    LoadWarning,
    PyUserWarning,
    "A file says something that its model does not represent and that changes the motion; Model.warnings has all of it."
);
create_exception!(
    slipstick.errors,
    StepWarning,
    PyUserWarning,
    "A step that did not converge, or was given less than its position correction. Raised once per Simulator."
);
create_exception!(
    slipstick.errors,
    DynamicsError,
    PyArithmeticError,
    "Forward dynamics without an answer: the joint-space inertia is singular. Attributes: body (str), dof (int)."
);
create_exception!(
    slipstick.errors,
    DivergenceError,
    PyArithmeticError,
    "A step whose result is not finite. Attributes: body (str), quantity (str), time (float, s)."
);

create_exception!(
    slipstick.errors,
    GradientError,
    PyArithmeticError,
    "A derivative that does not exist or is not finite. For a contact problem without a solution it has the attributes \
     status (str) and residual (float)."
);
create_exception!(
    slipstick.errors,
    ContactGradientError,
    GradientError,
    "A contact that does not depend smoothly on the poses of its shapes. Attributes: geoms (two str)."
);
create_exception!(
    slipstick.errors,
    UnsupportedGradientError,
    GradientError,
    "A derivative for which there is no formula. Attributes: what (str)."
);
create_exception!(
    slipstick.errors,
    StaleStep,
    PyRuntimeError,
    "A derivative of a step whose Simulator has stepped on, or of a Batch without a step: the memory it needs holds \
     another step, or none."
);

create_exception!(
    slipstick.errors,
    FormatError,
    PyValueError,
    "Saved bytes or a file that cannot be taken: damaged, in the form of another version, or of another model."
);
create_exception!(
    slipstick.errors,
    ForkError,
    PyRuntimeError,
    "An object with threads in a process that os.fork made: its threads stayed behind. Make a new one there, or start \
     processes by 'spawn'."
);
create_exception!(
    slipstick.errors,
    BatchError,
    PyArithmeticError,
    "Environments of a Batch without an answer. Attributes: environments (list of int), errors (list of the exceptions \
     that a Simulator would raise), result: what would have been returned, with good rows for all other environments."
);

/// Everything that can go wrong behind a Python function.
#[derive(Debug)]
pub enum Failure {
    Input(InputError),
    Dynamics(slipstick::error::DynamicsError),
    Step(StepError),
    Gradient(slipstick::GradientError),
    Load(slipstick::LoadError),
    Builtin(BuiltinError),
    Map(MapError),
    Collision(CollisionError),
    Save(SaveError),
    LoadTrajectory(LoadTrajectoryError),
    Sensor(SensorError),
    View(ViewError),
    /// A simulator that is in another thread's step.
    Busy,
    /// A step whose memory holds another one.
    Stale,
    Python(PyErr),
}

macro_rules! failures {
    ($($error:ty => $variant:ident),*) => {
        $(impl From<$error> for Failure {
            fn from(e: $error) -> Failure {
                Failure::$variant(e)
            }
        })*
    };
}
failures!(InputError => Input, slipstick::error::DynamicsError => Dynamics, StepError => Step,
    slipstick::GradientError => Gradient, slipstick::LoadError => Load, BuiltinError => Builtin, MapError => Map,
    CollisionError => Collision, SaveError => Save, LoadTrajectoryError => LoadTrajectory, SensorError => Sensor,
    ViewError => View, PyErr => Python);

impl From<GradCheckError> for Failure {
    fn from(e: GradCheckError) -> Failure {
        match e {
            GradCheckError::Input(e) => e.into(),
            GradCheckError::Dynamics(e) => e.into(),
            GradCheckError::Step(e) => e.into(),
            GradCheckError::Gradient(e) => e.into(),
            GradCheckError::Interrupted => Interrupted.into(),
            e => PyArithmeticError::new_err(e.to_string()).into(),
        }
    }
}

/// A call that ended early raises what the handler of the signal raised; this is for calls that nobody watched.
impl From<Interrupted> for Failure {
    fn from(e: Interrupted) -> Failure {
        PyKeyboardInterrupt::new_err(e.to_string()).into()
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Input(e) => input(&e),
            Failure::Dynamics(e) => dynamics(e),
            Failure::Step(e) => step(e),
            Failure::Gradient(e) => gradient(e),
            Failure::Load(e) | Failure::Builtin(BuiltinError::Load(e)) => load(e),
            Failure::Builtin(e) => PyValueError::new_err(e.to_string()),
            Failure::Map(e) => PyValueError::new_err(e.to_string()),
            Failure::Collision(CollisionError::Input(e)) => PyValueError::new_err(e.to_string()),
            Failure::Collision(e) => PyArithmeticError::new_err(e.to_string()),
            Failure::Save(e @ SaveError::Io { .. }) => PyOSError::new_err(e.to_string()),
            Failure::Save(e) => PyValueError::new_err(e.to_string()),
            Failure::LoadTrajectory(e @ LoadTrajectoryError::Io { .. }) => PyOSError::new_err(e.to_string()),
            Failure::LoadTrajectory(
                e @ (LoadTrajectoryError::Damaged { .. } | LoadTrajectoryError::WrongModel { .. }),
            ) => FormatError::new_err(e.to_string()),
            Failure::LoadTrajectory(e) => PyValueError::new_err(e.to_string()),
            Failure::Sensor(SensorError::Gradient(e)) => gradient(e),
            Failure::Sensor(e) => PyValueError::new_err(e.to_string()),
            Failure::View(e @ ViewError::Io { .. }) => PyOSError::new_err(e.to_string()),
            Failure::View(ViewError::Gradient(e)) => Failure::from(e).into(),
            Failure::View(e) => PyValueError::new_err(e.to_string()),
            Failure::Busy => {
                PyRuntimeError::new_err("this Simulator is in a step of another thread; make one per thread")
            }
            Failure::Stale => StaleStep::new_err(
                "the Simulator has stepped on; ask for derivatives before the next step, or keep a Simulator for each",
            ),
            Failure::Python(e) => e,
        }
    }
}

fn dynamics(e: slipstick::error::DynamicsError) -> PyErr {
    let text = e.to_string();
    match e {
        slipstick::error::DynamicsError::SingularMass { body, dof } => {
            with_attributes(DynamicsError::new_err(text), |e| {
                e.setattr("body", body)?;
                e.setattr("dof", dof)
            })
        }
        slipstick::error::DynamicsError::Input(e) => input(&e),
        _ => PyValueError::new_err(text),
    }
}

fn input(e: &InputError) -> PyErr {
    match e {
        InputError::Memory { .. } => PyMemoryError::new_err(e.to_string()),
        InputError::Version { .. } | InputError::Damaged { .. } | InputError::OtherModel { .. } => {
            FormatError::new_err(e.to_string())
        }
        _ => PyValueError::new_err(e.to_string()),
    }
}

fn step(e: StepError) -> PyErr {
    let text = e.to_string();
    match e {
        StepError::Diverged { body, quantity, value, limit, time, status } => {
            with_attributes(DivergenceError::new_err(text), |e| {
                e.setattr("body", body)?;
                e.setattr("quantity", quantity)?;
                e.setattr("value", value)?;
                e.setattr("limit", limit)?;
                e.setattr("time", time)?;
                e.setattr("status", status.name())
            })
        }
        StepError::SingularMass { body, dof } => dynamics(slipstick::error::DynamicsError::SingularMass { body, dof }),
        _ => PyValueError::new_err(text),
    }
}

fn gradient(e: slipstick::GradientError) -> PyErr {
    let text = e.to_string();
    match e {
        slipstick::GradientError::Input(e) => input(&e),
        slipstick::GradientError::Contact { geoms: [a, b], .. } => {
            with_attributes(ContactGradientError::new_err(text), |e| e.setattr("geoms", (a, b)))
        }
        slipstick::GradientError::Unsupported { what } => {
            with_attributes(UnsupportedGradientError::new_err(text), |e| e.setattr("what", what))
        }
        slipstick::GradientError::NotConverged { status, residual } => {
            with_attributes(GradientError::new_err(text), |e| {
                e.setattr("status", status.name())?;
                e.setattr("residual", residual)
            })
        }
        slipstick::GradientError::FailedStep { residual } => with_attributes(GradientError::new_err(text), |e| {
            e.setattr("status", slipstick::Status::NotConverged.name())?;
            e.setattr("residual", residual)
        }),
        _ => GradientError::new_err(text),
    }
}

fn load(e: slipstick::LoadError) -> PyErr {
    with_attributes(LoadError::new_err(e.to_string()), |error| {
        error.setattr("file", &e.place().file)?;
        error.setattr("line", e.place().line)?;
        error.setattr("hint", e.hint())
    })
}

/// An exception that also says in parts what its text says.
fn with_attributes(error: PyErr, set: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) -> PyErr {
    Python::attach(|py| match set(error.value(py).as_any()) {
        Ok(()) => error,
        Err(other) => other,
    })
}
