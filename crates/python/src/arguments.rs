//! Arguments of Python functions to values of Rust. An argument of a wrong type is a TypeError that says which one, what it
//! should be and what it is.

use crate::batch::Models;
use crate::collision::solids::Solid;
use crate::gradient::smoothing::Spread;
use crate::gradient::step::Groups;
use crate::model::Model;
use crate::model::edits::{Frictions, Numbers};
use crate::model::named::Key;
use crate::simulate::step::Step;
use crate::simulate::trajectory::Trajectory;
use crate::simulate::warm_start::WarmStart;
use pyo3::PyTypeInfo;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What an argument can be.
pub trait Argument<'a, 'py>: Sized {
    /// In the words of the user.
    fn expected(py: Python<'_>) -> String;
    /// The value; `None` for a wrong type.
    fn of(x: &'a Bound<'py, PyAny>) -> Option<Self>;
}

/// The value of the argument `what`.
pub fn checked<'a, 'py, T: Argument<'a, 'py>>(what: &str, x: &'a Bound<'py, PyAny>) -> PyResult<T> {
    T::of(x).ok_or_else(|| wrong_type(what, &T::expected(x.py()), x))
}

/// A function.
pub fn function<'a, 'py>(what: &str, x: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyAny>> {
    if x.is_callable() { Ok(x) } else { Err(wrong_type(what, "a function", x)) }
}

/// Two things, as a tuple or a list.
pub fn pair<'py>(what: &str, expected: &str, x: &Bound<'py, PyAny>) -> PyResult<[Bound<'py, PyAny>; 2]> {
    let both = x.extract::<Vec<Bound<PyAny>>>().ok().and_then(|both| both.try_into().ok());
    both.ok_or_else(|| wrong_type(what, expected, x))
}

/// The exception for an argument of a wrong type.
pub fn wrong_type(what: &str, expected: &str, got: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("{what}: expected {expected}, got {}", shown(got)))
}

/// A thing as the user would write it, if that is short, else its type.
fn shown(x: &Bound<'_, PyAny>) -> String {
    const LONG: usize = 60;
    match x.repr() {
        Ok(text) if text.to_string_lossy().chars().count() <= LONG => text.to_string(),
        _ => named_with_article(&x.get_type()),
    }
}

fn named_with_article(class: &Bound<'_, pyo3::types::PyType>) -> String {
    let name = class.name().map_or_else(|_| "object".into(), |name| name.to_string());
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Conversions for `#[pyo3(from_py_with = arg::…)]`, one for each name: they are not told which argument they convert.
macro_rules! names {
    ($($name:ident)*) => {
        pub mod arg {
            use super::{Argument, checked};
            use pyo3::{Bound, PyAny, PyResult};
            $(pub fn $name<'a, 'py, T: Argument<'a, 'py>>(x: &'a Bound<'py, PyAny>) -> PyResult<T> {
                checked(stringify!($name).trim_start_matches("r#"), x)
            })*
        }
    };
}
names! {
    a actuator armature b beta body bound cache changes compliance cones contact contact_distance contacts ctrl
    ctrl_range damping data decompose difference_step dry_friction dt effect effort_limit environment eps
    every folder force_range frame frame_rate free_root friction full_depth gear geom gradient_of_failed_steps
    gradient_tolerance gradients ground group implicit hold initial integrator joint joints kappa kd keyframe kind kp length
    levels line_search link mass masses max_distance max_iterations max_speed memory method mode model mu n
    name names one_sided order other overlap package_dirs pairs parameters parent patch_compliance path points quantity range
    rank_tolerance rate reference restitution restitution_threshold samples seed sensors sides sigma softest
    solid solver speed speed_limit spring_reference step step_tolerance steps stiffest stiffness strict tau terrain
    text threads time title tolerance trajectory r#type unknowns warm warm_start warm_starts what r#where without
}

macro_rules! numbers {
    ($($type:ty: $words:expr),*) => {
        $(impl Argument<'_, '_> for $type {
            fn expected(_py: Python<'_>) -> String {
                $words.into()
            }

            fn of(x: &Bound<'_, PyAny>) -> Option<$type> {
                x.extract().ok()
            }
        })*
    };
}
numbers!(i64: "an int", f64: "a float", bool: "a bool", PathBuf: "a str or a path", String: "a str",
    u8: "an int from 0 to 255", u32: format!("an int from 0 to {}", u32::MAX), u64: format!("an int from 0 to {}", u64::MAX));

macro_rules! classes {
    ($($class:ty),*) => {
        $(impl<'a> Argument<'a, '_> for &'a $class {
            fn expected(py: Python<'_>) -> String {
                named_with_article(&<$class>::type_object(py))
            }

            fn of(x: &'a Bound<'_, PyAny>) -> Option<&'a $class> {
                Some(x.cast::<$class>().ok()?.get())
            }
        })*
    };
}
classes!(Model, WarmStart, Step, Trajectory, Solid);

impl<'a, 'py, T: PyTypeInfo> Argument<'a, 'py> for &'a Bound<'py, T> {
    fn expected(py: Python<'_>) -> String {
        named_with_article(&T::type_object(py))
    }

    fn of(x: &'a Bound<'py, PyAny>) -> Option<Self> {
        x.cast().ok()
    }
}

impl<'a, 'py, T: Argument<'a, 'py>> Argument<'a, 'py> for Option<T> {
    fn expected(py: Python<'_>) -> String {
        T::expected(py)
    }

    fn of(x: &'a Bound<'py, PyAny>) -> Option<Option<T>> {
        if x.is_none() { Some(None) } else { T::of(x).map(Some) }
    }
}

impl<'a> Argument<'a, '_> for &'a str {
    fn expected(_py: Python<'_>) -> String {
        "a str".into()
    }

    fn of(x: &'a Bound<'_, PyAny>) -> Option<&'a str> {
        x.cast::<PyString>().ok()?.to_str().ok()
    }
}

impl<'a> Argument<'a, '_> for &'a [u8] {
    fn expected(_py: Python<'_>) -> String {
        "bytes".into()
    }

    fn of(x: &'a Bound<'_, PyAny>) -> Option<&'a [u8]> {
        Some(x.cast::<PyBytes>().ok()?.as_bytes())
    }
}

impl<'py> Argument<'_, 'py> for Vec<PyRef<'py, WarmStart>> {
    fn expected(_py: Python<'_>) -> String {
        "a list with a WarmStart for each environment".into()
    }

    fn of(x: &Bound<'py, PyAny>) -> Option<Self> {
        x.extract().ok()
    }
}

/// A single one stands for a list of one.
macro_rules! lists {
    ($($type:ty: $words:literal),*) => {
        $(impl Argument<'_, '_> for Vec<$type> {
            fn expected(_py: Python<'_>) -> String {
                $words.into()
            }

            fn of(x: &Bound<'_, PyAny>) -> Option<Vec<$type>> {
                x.extract::<$type>().map(|one| vec![one]).or_else(|_| x.extract()).ok()
            }
        })*
    };
}
lists!(String: "a list of str", PathBuf: "a list of str or paths");

impl<'py> Argument<'_, 'py> for Vec<Bound<'py, PyAny>> {
    fn expected(_py: Python<'_>) -> String {
        "a list".into()
    }

    fn of(x: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
        x.extract().ok()
    }
}

impl Argument<'_, '_> for Groups {
    fn expected(_py: Python<'_>) -> String {
        "names of groups of parameters, or 'all'".into()
    }

    fn of(x: &Bound<'_, PyAny>) -> Option<Groups> {
        match x.extract() {
            Ok(name) => Some(Groups::One(name)),
            Err(_) => x.extract().map(Groups::Several).ok(),
        }
    }
}

impl Argument<'_, '_> for Spread {
    fn expected(_py: Python<'_>) -> String {
        "a float, or a dict of floats with names 'q', 'v', 'tau', 'ctrl'".into()
    }

    fn of(x: &Bound<'_, PyAny>) -> Option<Spread> {
        match x.extract() {
            Ok(one) => Some(Spread::One(one)),
            Err(_) => x.extract::<BTreeMap<String, f64>>().map(Spread::Named).ok(),
        }
    }
}

impl<'py> Argument<'_, 'py> for Models<'py> {
    fn expected(_py: Python<'_>) -> String {
        "a Model, or a list with a Model for each environment".into()
    }

    fn of(x: &Bound<'py, PyAny>) -> Option<Models<'py>> {
        if let Ok(model) = x.cast::<Model>() {
            return Some(Models::One(model.clone()));
        }
        let all: Vec<Bound<PyAny>> = x.extract().ok()?;
        let models = all.into_iter().map(|model| model.cast_into().ok());
        models.collect::<Option<_>>().map(Models::Several)
    }
}

impl Argument<'_, '_> for Key {
    fn expected(_py: Python<'_>) -> String {
        "a name or a number from 0 on".into()
    }

    fn of(x: &Bound<'_, PyAny>) -> Option<Key> {
        x.extract().map(Key::Name).or_else(|_| x.extract().map(Key::Number)).ok()
    }
}

impl Argument<'_, '_> for Numbers {
    fn expected(_py: Python<'_>) -> String {
        "a dict of names to floats".into()
    }

    fn of(x: &Bound<'_, PyAny>) -> Option<Numbers> {
        x.extract().map(Numbers).ok()
    }
}

impl Argument<'_, '_> for Frictions {
    fn expected(_py: Python<'_>) -> String {
        "a float, or a dict of names to floats".into()
    }

    fn of(x: &Bound<'_, PyAny>) -> Option<Frictions> {
        x.extract().map(Frictions::All).or_else(|_| x.extract().map(|named| Frictions::Named(Numbers(named)))).ok()
    }
}

/// Two floats.
impl Argument<'_, '_> for [f64; 2] {
    fn expected(_py: Python<'_>) -> String {
        "two floats".into()
    }

    fn of(x: &Bound<'_, PyAny>) -> Option<[f64; 2]> {
        x.extract().ok()
    }
}

/// Joints of a Pinocchio model, as `slipstick.pinocchio` lists them.
impl Argument<'_, '_> for Vec<crate::pinocchio::JointTuple> {
    fn expected(_py: Python<'_>) -> String {
        "a list of joints".into()
    }

    fn of(x: &Bound<'_, PyAny>) -> Option<Self> {
        x.extract().ok()
    }
}
