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
    use crate::certificate::Objective;
    use crate::model::{Model, Placement};
    use crate::optimize::exact::{ExactError, Limits, solve_with};
    use crate::optimize::feasible::serial;
    use crate::stop::Stop;

    /// What `check` takes for a claim that an engine can make is what the engine takes for a question.
    #[test]
    fn an_engine_minimises_what_certificates_say() {
        let model = Model::unit(Placement::linear(2).expect("a placement"), 3).expect("a model");
        let start = serial(&model, false);
        let limits = Limits { stop: Stop::default(), effort: 1_000_000 };
        for &engine in Engine::ALL {
            for objective in [Objective::Makespan, Objective::DeviceSpan] {
                let answer = solve_with(&[engine], &model, objective, &start, &limits);
                let is_asked = answer != Err(ExactError::DeviceSpan);
                assert_eq!(in_certificates(engine).minimises(objective), is_asked, "{engine:?}, {objective}");
            }
        }
    }

    #[test]
    fn an_engine_has_one_name() {
        for &engine in Engine::ALL {
            assert_eq!(in_certificates(engine).name(), engine.name());
        }
    }
}
