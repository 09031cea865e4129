//! Typed errors: what, where, expected, got. Nothing here prints.

pub use crate::names::{NameHint, nearest_name};

use crate::constraint::Status;
use core::fmt;

/// What a caller handed in does not fit the model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputError {
    /// A vector has the wrong length.
    Length {
        /// Which vector.
        what: &'static str,
        /// Length that the model needs.
        expected: usize,
        /// Length that came.
        got: usize,
    },
    /// A number is NaN or infinite.
    NotFinite {
        /// Which vector.
        what: &'static str,
        /// Index of the number.
        index: usize,
    },
    /// A number is so large that results would not be finite.
    TooLarge {
        /// Which vector.
        what: &'static str,
        /// Index of the number.
        index: usize,
        /// The number.
        got: f64,
    },
    /// A quaternion has no direction.
    ZeroQuaternion {
        /// Joint it belongs to.
        joint: String,
    },
    /// The quaternion of a mocap body has no direction.
    ZeroMocapQuaternion {
        /// The body.
        body: String,
    },
    /// A name that the model does not have.
    UnknownName {
        /// Kind of thing asked for.
        what: &'static str,
        /// Name asked for.
        name: String,
        /// The nearest name, or names that there are.
        hint: Box<NameHint>,
    },
    /// An index that the model does not have.
    OutOfRange {
        /// Kind of thing asked for.
        what: &'static str,
        /// Number of such things.
        count: usize,
        /// Index that came.
        got: usize,
    },
    /// A solve before any factorization, or after a method that overwrote it.
    NotFactored,
    /// Parameters of another model.
    WrongLayout,
    /// Memory made for another model.
    WrongModel {
        /// Which memory.
        what: &'static str,
        /// Name of the model that came.
        got: String,
    },
    /// Something that was saved, or made, for another model.
    OtherModel {
        /// Which thing.
        what: &'static str,
        /// Key of the structure that it is for.
        expected: u64,
        /// Key of the model's structure.
        got: u64,
    },
    /// Saved bytes in the form of another version.
    Version {
        /// What was saved.
        what: &'static str,
        /// Version that is read.
        expected: u64,
        /// Version of the bytes.
        got: u64,
    },
    /// Saved bytes that are not as they were written.
    Damaged {
        /// What was expected.
        what: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// Something that carries no activations, for a model that has them.
    Activations {
        /// Which thing.
        what: &'static str,
        /// Actuators with an activation.
        actuators: Vec<String>,
    },
    /// A result that takes more memory than there is, or than a single call should take.
    Memory {
        /// Which result.
        what: &'static str,
        /// Bytes needed.
        bytes: usize,
    },
    /// A number outside the values that make sense.
    Value {
        /// Which number.
        what: String,
        /// What it must be.
        expected: &'static str,
        /// Value that came.
        got: f64,
    },
}

impl InputError {
    /// A name that none of `names` is, with a hint.
    pub fn unknown_name<'a>(what: &'static str, name: &str, names: impl IntoIterator<Item = &'a str>) -> InputError {
        InputError::UnknownName { what, name: name.into(), hint: Box::new(NameHint::new(name, names)) }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Length { what, expected, got } => write!(f, "{what}: expected {expected} numbers, got {got}"),
            InputError::NotFinite { what, index } => write!(f, "{what}[{index}] is not a finite number"),
            InputError::TooLarge { what, index, got } => {
                write!(f, "{what}[{index}]: expected a number below 1e60 in magnitude, got {got:e}")
            }
            InputError::OtherModel { what, expected, got } => {
                write!(f, "{what}: it belongs to another model (structure {expected:016x}, got {got:016x})")
            }
            InputError::Version { what, expected, got } => {
                let saved = "it was saved by another version";
                write!(f, "{what}: expected version {expected} of the format, got {got}: {saved}")
            }
            InputError::Damaged { what, found } => write!(f, "{what}: expected bytes as they were saved, got {found}"),
            InputError::ZeroMocapQuaternion { body } => {
                write!(f, "mocap: the quaternion of body '{body}' is zero, expected one with a direction")
            }
            InputError::ZeroQuaternion { joint } => {
                write!(f, "q: the quaternion of joint '{joint}' is zero and describes no rotation")
            }
            InputError::UnknownName { what, name, hint } => {
                write!(f, "the model has no {what} named '{name}' ({hint})")
            }
            InputError::OutOfRange { what, count, got } => {
                write!(f, "{what} {got} does not exist: the model has {count}")
            }
            InputError::NotFactored => {
                f.write_str("there is no factored mass matrix: call factor right before the solves")
            }
            InputError::WrongLayout => f.write_str("these parameters belong to another model"),
            InputError::WrongModel { what, got } => {
                write!(f, "this {what} was made for another model than '{got}'")
            }
            InputError::Memory { what, bytes } => write!(f, "{what}: there is no room for {bytes} bytes"),
            InputError::Value { what, expected, got } => write!(f, "{what}: expected {expected}, got {got}"),
            InputError::Activations { what, actuators } => {
                let names = actuators.join("', '");
                write!(f, "{what}: expected a model without activations, got one with those of the actuators '{names}'")
            }
        }
    }
}

/// A description that makes no model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// Two things of one kind have the same name.
    DuplicateName {
        /// Kind of thing.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A reference to something that was not added.
    Unknown {
        /// What refers, for example `actuator 'hip'`.
        owner: String,
        /// Kind of thing it refers to.
        what: &'static str,
    },
    /// A number is outside the values that make sense.
    Value {
        /// Whose number, for example `joint 'hip': armature`.
        what: String,
        /// What it must be.
        expected: &'static str,
        /// What came.
        got: String,
    },
    /// A body moves but nothing resists: no mass below the joint and no armature.
    NoInertia {
        /// The body.
        body: String,
        /// Its joint.
        joint: String,
    },
    /// Ground that is not fixed to the world.
    MovingTerrain {
        /// The geom.
        geom: String,
        /// The body that carries it.
        body: String,
    },
    /// A free joint that shares its body with other joints.
    FreeJointNotAlone {
        /// The body.
        body: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::DuplicateName { what, name } => write!(f, "two {what}s are named '{name}'"),
            BuildError::Unknown { owner, what } => write!(f, "{owner} refers to a {what} that does not exist"),
            BuildError::Value { what, expected, got } => write!(f, "{what}: expected {expected}, got {got}"),
            BuildError::NoInertia { body, joint } => write!(
                f,
                "body '{body}' moves in joint '{joint}' without mass or armature: give it (or a body below it) a mass"
            ),
            BuildError::MovingTerrain { geom, body } => {
                write!(f, "geom '{geom}' is ground and must be fixed to the world, but moves with body '{body}'")
            }
            BuildError::FreeJointNotAlone { body } => {
                write!(f, "body '{body}' has a free joint and other joints: a free joint must be alone")
            }
        }
    }
}

/// A step that gave no state.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// The input does not fit the model.
    Input(InputError),
    /// The mass matrix of the step is not positive definite.
    SingularMass {
        /// Body whose dof has no inertia.
        body: String,
        /// The dof.
        dof: usize,
    },
    /// A number of the next state is beyond all bounds: `Options::speed_limit` for velocities.
    Diverged {
        /// Body that moves with it.
        body: String,
        /// Which quantity.
        quantity: &'static str,
        /// The number (m/s or rad/s; m or rad).
        value: f64,
        /// Its bound.
        limit: f64,
        /// Time at the beginning of the step (s).
        time: f64,
        /// How contact was solved in it.
        status: Status,
    },
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepError::Input(e) => e.fmt(f),
            StepError::SingularMass { body, dof } => {
                DynamicsError::SingularMass { body: body.clone(), dof: *dof }.fmt(f)
            }
            StepError::Diverged { body, quantity, value, limit, time, status } => {
                write!(f, "the {quantity} of body '{body}' has diverged after the step from t = {time} s: ")?;
                write!(f, "expected at most {limit:e} (m, rad, s), got {value:e}; contact: {}", status.name())
            }
        }
    }
}

/// Forward dynamics that have no solution.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DynamicsError {
    /// The input does not fit the model.
    Input(InputError),
    /// The joint-space inertia is not positive definite.
    SingularMass {
        /// Body whose dof has no inertia.
        body: String,
        /// The dof.
        dof: usize,
    },
}

impl fmt::Display for DynamicsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DynamicsError::Input(e) => e.fmt(f),
            DynamicsError::SingularMass { body, dof } => {
                write!(f, "the joint-space inertia is not positive definite at dof {dof} of body '{body}'")
            }
        }
    }
}

impl From<InputError> for StepError {
    fn from(e: InputError) -> StepError {
        StepError::Input(e)
    }
}
impl From<DynamicsError> for StepError {
    fn from(e: DynamicsError) -> StepError {
        match e {
            DynamicsError::Input(e) => StepError::Input(e),
            DynamicsError::SingularMass { body, dof } => StepError::SingularMass { body, dof },
        }
    }
}
impl From<InputError> for DynamicsError {
    fn from(e: InputError) -> DynamicsError {
        DynamicsError::Input(e)
    }
}

impl std::error::Error for InputError {}
impl std::error::Error for BuildError {}
impl std::error::Error for StepError {}
impl std::error::Error for DynamicsError {}
