//! Designs held against their records: every way in which a design can change. Our own catalogue is held against
//! its records in `tests/library/records.rs`.

#[cfg(unix)]
mod action;
mod examples;
mod formats;
mod manifests;
mod outcomes;
mod scene;
