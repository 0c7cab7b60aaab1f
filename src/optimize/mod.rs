//! Optimisation.
mod feasible;
mod list;
mod zone;
