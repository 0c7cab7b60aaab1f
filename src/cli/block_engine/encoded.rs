//! What the engines that share an encoding have in common.

use super::{Found, Goal, Limit, Optimality, infeasible};
use crate::block::Passes;
use crate::cli::error::Error;
use crate::cli::number::Interval;
use crate::encode::Objective;
use crate::encode::{Bound, EncodeError, Outcome};

/// The goal as the encodings name it.
pub fn objective(goal: Goal) -> Objective {
    match goal {
        Goal::LeastMemory { interval } => Objective::LeastMemory { interval },
        Goal::LeastInterval => Objective::LeastInterval,
    }
}

/// What the outcome of an engine says.
pub fn found(outcome: Result<Outcome, EncodeError>, goal: Goal, period: u32) -> Result<Found, Error> {
    let block = |block, optimality| Ok(Found::Block { block, optimality, notes: Vec::new() });
    match outcome {
        Ok(Outcome::Optimal(answer)) => block(answer.block, Optimality::Proved),
        Ok(Outcome::Bounded { answer: Some(answer), bound }) => {
            let limit = match bound {
                Bound::Memory(units) => Limit::Memory(units.0),
                Bound::Interval(ticks) => Limit::Interval(Interval(ticks)),
            };
            block(answer.block, Optimality::Bound(limit))
        }
        Ok(Outcome::Bounded { answer: None, .. }) => Ok(Found::Nothing),
        Ok(Outcome::Infeasible) => Ok(Found::Infeasible(infeasible(Passes::SPLIT, goal, period))),
        Err(
            error @ (EncodeError::NoDuration(_)
            | EncodeError::TooManyStages(_)
            | EncodeError::Period { .. }
            | EncodeError::NotPositive(_)
            | EncodeError::Overflow
            | EncodeError::Smt(_)),
        ) => Err(Error::Usage { message: error.to_string(), help: None }),
        Err(error) => Err(Error::Defect(format!("internal error: {error}"))),
    }
}
