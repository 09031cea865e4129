//! Small classes of numbers with names: options that are more than a word.

/// A frozen class with the attributes in its list: made from them, compared, shown and pickled by them.
macro_rules! option_class {
    ($(#[$doc:meta])* $module:literal $name:ident { $($field:ident: $type:ty $(= $default:literal)?),* }) => {
        $(#[$doc])*
        #[pyclass(frozen, eq, get_all, module = $module)]
        #[derive(Clone, Copy, PartialEq)]
        pub struct $name { $(pub $field: $type),* }

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = ($($field $(= $default)?),*))]
            fn new($(#[pyo3(from_py_with = $crate::arguments::arg::$field)] $field: $type),*) -> $name {
                $name { $($field),* }
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, pyo3::types::PyType>, ($($type,)*)) {
                (py.get_type::<$name>(), ($(self.$field,)*))
            }

            fn __repr__(&self) -> String {
                let fields = [$(format!("{}={:?}", stringify!($field), self.$field)),*];
                format!("{}({})", stringify!($name), fields.join(", "))
            }
        }
    };
}
pub(crate) use option_class;
