//! Errors of the library as exceptions of the package, with the place in the file.

use bubbleproof::fault::Fault;
use bubbleproof::model::reading::TomlProblem;
use pyo3::prelude::*;

/// An exception of `bubbleproof._errors`, by its name there.
#[derive(Debug, Clone, Copy)]
pub enum Class {
    /// What was given is wrong.
    Value,
    /// No schedule keeps to the limits.
    Infeasible,
    /// Nothing was found, and whether there is something is not known.
    NoAnswer,
    /// A certificate that does not hold.
    Certificate,
    /// Two parts of this program contradict each other.
    Defect,
}

impl Class {
    const fn name(self) -> &'static str {
        match self {
            Self::Value => "InputError",
            Self::Infeasible => "InfeasibleError",
            Self::NoAnswer => "NoAnswerError",
            Self::Certificate => "CertificateError",
            Self::Defect => "DefectError",
        }
    }
}

/// An exception with a message, and advice where there is any.
pub fn raise(py: Python<'_>, class: Class, message: &str, help: Option<String>) -> PyErr {
    from_python(py, class.name(), (message, help))
}

/// An exception about an argument.
pub fn in_argument(py: Python<'_>, field: &str, message: &str) -> PyErr {
    from_python(py, Class::Value.name(), (message, None::<&str>, field))
}

/// An exception about a file: its name, the text, and the fault in it.
pub fn in_file(py: Python<'_>, name: Option<&str>, text: &str, fault: Fault, field: Option<String>) -> PyErr {
    let (line, column) = fault.place(text);
    from_python(py, "FileError", (fault.message, name, line, column, fault.help, field))
}

fn from_python<'py>(py: Python<'py>, class: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = py
        .import("bubbleproof._errors")
        .and_then(|errors| errors.getattr(class))
        .and_then(|class| class.call1(arguments));
    // Where not even that works, the reason is what there is to say.
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The key that a problem is about, where it is about one.
pub fn field(problem: &TomlProblem) -> Option<String> {
    match problem {
        TomlProblem::Control { key, .. }
        | TomlProblem::UnknownKey { key, .. }
        | TomlProblem::MissingKey(key)
        | TomlProblem::Type { key, .. }
        | TomlProblem::Negative { key, .. }
        | TomlProblem::Range { key, .. }
        | TomlProblem::Length { key, .. }
        | TomlProblem::Name { key, .. }
        | TomlProblem::Contradiction { key, .. }
        | TomlProblem::Placement { key, .. }
        | TomlProblem::Unit { key, .. }
        | TomlProblem::Quantity { key, .. }
        | TomlProblem::Rule { key, .. } => Some(key.clone()),
        _ => None,
    }
}
