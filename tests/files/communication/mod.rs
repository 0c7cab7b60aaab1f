//! Communication: the verifier of plans against a runtime that carries them out, and a corpus of plans
//! that must be refused.

mod corpus;
mod directions;
mod laws;
mod runtime;
