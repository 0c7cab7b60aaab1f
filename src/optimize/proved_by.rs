//! What proved a schedule optimal, as certificates name it.

use super::exact::Engine;
use crate::certificate::SearchEngine;

/// The name of an engine in certificates.
pub(super) const fn in_certificates(engine: Engine) -> SearchEngine {
    match engine {
        Engine::Lcg => SearchEngine::ClauseGeneration,
        Engine::Branch => SearchEngine::BranchAndBound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_has_one_name() {
        for &engine in Engine::ALL {
            assert_eq!(in_certificates(engine).name(), engine.name());
        }
    }
}
