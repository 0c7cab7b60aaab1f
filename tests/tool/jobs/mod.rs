//! Cuts of layers into stages, compared with those of others.

mod peer;
