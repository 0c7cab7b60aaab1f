//! Cuts of layers into stages, compared with those of others.

mod compare;
mod peer;
mod shipped;
