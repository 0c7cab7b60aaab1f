//! x
mod search;
mod veripb;
pub use search::*;
pub use veripb::translate;
#[derive(Debug, thiserror::Error)]
/// x
pub enum ProofError {
    #[error("{0}")]
    /// x
    Log(String),
}
