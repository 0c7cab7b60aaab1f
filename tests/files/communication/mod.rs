//! Communication: the verifier of programmes against a runtime that carries them out, and a corpus of programmes
//! that must be refused.

mod corpus;
mod directions;
mod laws;
mod runtime;
