//! What is explained: a model, for which a schedule is to be found, or a schedule that is given.

use std::path::Path;

use super::ExplainArgs;
use crate::cli::error::Error;
use crate::cli::input::Input;
use crate::cli::schedule_input::{ScheduleInput, ScheduleInputArgs};
use crate::cli::size::passes_alone;
use crate::interchange;
use crate::model::Model;
use crate::schedule::Schedule;

/// A model, and the schedule that is given under it.
pub(super) struct Given {
    /// The model.
    pub model: Model,
    /// The schedule; without one, a search is to find it.
    pub schedule: Option<Schedule>,
    /// Remarks on how the schedule was read, which have been printed.
    pub notes: Vec<String>,
}

/// Reads what the command line names: a model, a schedule, or a block family.
///
/// # Errors
/// When a file or an option is wrong, or, without a schedule, the model says more than searches for patterns know.
pub(super) fn read(args: &ExplainArgs) -> Result<Given, Error> {
    if let Some(schedule) = &args.schedule {
        let subject = ScheduleInputArgs::new(
            schedule.clone(),
            Some(args.subject.clone()),
            args.size,
            args.memory_limit.clone(),
        );
        return judged(subject.read()?);
    }
    let input = Input::read(&args.subject)?;
    if input.is_family() || is_schedule(&args.subject, &input) {
        let subject = ScheduleInputArgs::new(
            args.subject.clone(),
            args.model.clone(),
            args.size,
            args.memory_limit.clone(),
        );
        return judged(subject.of_input(&input)?);
    }
    if args.model.is_some() {
        return Err(Error::usage(
            "--model is the model of a schedule or of a block family, but MODEL is given already",
            "to explain a schedule of yours: `bubbleproof explain SCHEDULE --model MODEL`",
        ));
    }
    let model = args.memory_limit.apply(args.size.apply(input.model()?)?)?;
    Ok(Given { model: passes_alone(model)?, schedule: None, notes: Vec::new() })
}

/// A schedule with its model, unless it is not what was asked for.
fn judged(subject: ScheduleInput) -> Result<Given, Error> {
    let ScheduleInput { schedule, model, complaints, notes, .. } = subject;
    match complaints.into_iter().next() {
        Some(complaint) => Err(Error::Usage { message: complaint.message, help: None }),
        None => Ok(Given { model, schedule: Some(schedule), notes }),
    }
}

/// Whether a file is meant as a schedule: by its name, or because it is JSON or reads as one.
fn is_schedule(path: &Path, input: &Input) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "toml" => false,
        "json" | "csv" => true,
        _ => input.is_json() || interchange::read(input.text()).is_ok(),
    }
}
