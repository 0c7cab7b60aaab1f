//! Designs held against their records: our own catalogue, and every way in which a design can change.

mod catalogue;
mod examples;
mod manifests;
mod outcomes;
mod scene;
