//! Columns of numbers as bytes, from which the package makes arrays without a loop over their elements.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// 64-bit integers, in the byte order of the machine.
pub fn wide(py: Python<'_>, values: impl IntoIterator<Item = i64>) -> Bound<'_, PyBytes> {
    let bytes: Vec<u8> = values.into_iter().flat_map(i64::to_ne_bytes).collect();
    PyBytes::new(py, &bytes)
}

/// 32-bit integers without a sign, likewise.
pub fn narrow(py: Python<'_>, values: impl IntoIterator<Item = u32>) -> Bound<'_, PyBytes> {
    let bytes: Vec<u8> = values.into_iter().flat_map(u32::to_ne_bytes).collect();
    PyBytes::new(py, &bytes)
}
