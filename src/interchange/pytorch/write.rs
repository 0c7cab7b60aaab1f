//! Writing CSVs as PyTorch does: commas, no quotes, a carriage return before each line feed.

use super::Dialect;
use super::error::ExportError;
use crate::comm::{Action, CommunicationPlan};
use crate::model::{Device, Kind, Pass, Stage};
use crate::schedule::Schedule;

/// The CSV of a schedule in the `compute_only` form. Reading it gives the same schedule, up to its name and
/// the order in which an explicit placement lists the stages of a device.
///
/// # Errors
/// When the file could not say the same as the schedule.
pub fn print(schedule: &Schedule) -> Result<String, ExportError> {
    check(schedule)?;
    let rows = Device::all(schedule.devices()).map(|device| {
        schedule.steps(device).map(|step| match *step {
            [first, second] => Action::Overlap([first, second]),
            _ => Action::Run(step[0]),
        })
    });
    let mut text = String::new();
    for row in rows {
        line(row.map(Some), Dialect::Current, &mut text);
    }
    Ok(text)
}

/// The CSV of a plan in the `compute_comms` form. Reading it gives the same plan, up to its name
/// and the order in which an explicit placement lists the stages of a device.
///
/// # Errors
/// When the file could not say the same as the plan.
pub fn print_plan(plan: &CommunicationPlan) -> Result<String, ExportError> {
    check(plan.schedule())?;
    let mut text = String::new();
    for row in plan.rows() {
        line(row.iter().copied().map(Some), Dialect::Current, &mut text);
    }
    Ok(text)
}

/// Appends a row. A cell without an action is blank. In the dialect of 2024, only passes are written that mean the same
/// there but for the full backward.
pub(super) fn line(cells: impl Iterator<Item = Option<Action>>, dialect: Dialect, text: &mut String) {
    use std::fmt::Write as _;
    for (column, cell) in cells.enumerate() {
        if column > 0 {
            text.push(',');
        }
        let written = match cell {
            None => Ok(()),
            Some(Action::Run(Pass { stage, kind: Kind::B, microbatch })) if dialect == Dialect::Of2024 => {
                write!(text, "{stage}BW{microbatch}")
            }
            Some(action) => write!(text, "{action}"),
        };
        written.expect("writing to a string cannot fail");
    }
    text.push_str("\r\n");
}

/// Whether placement and microbatches follow from the passes, as they must in a file.
fn check(schedule: &Schedule) -> Result<(), ExportError> {
    let placement = schedule.placement();
    if placement.directions() > 1 {
        return Err(ExportError::TwoDirections);
    }
    let mut seen = vec![false; placement.stages() as usize];
    let mut found = 0;
    for device in Device::all(schedule.devices()) {
        if let Some(offloaded) = schedule.offloads(device).first() {
            return Err(ExportError::Offloaded { device, pass: offloaded.pass });
        }
        for (position, &pass) in schedule.order(device).iter().enumerate() {
            if pass.kind == Kind::R {
                return Err(ExportError::Recomputation { device, position, pass });
            }
            if !placement.stages_of(device).contains(&pass.stage) {
                return Err(ExportError::Misplaced { device, position, pass });
            }
            seen[pass.stage.index()] = true;
            found = found.max(u64::from(pass.microbatch.0) + 1);
        }
    }
    if let Some(unseen) = seen.iter().position(|&seen| !seen) {
        return Err(ExportError::StageUnseen(Stage::at(unseen)));
    }
    let stated = schedule.microbatches();
    if found != u64::from(stated) {
        return Err(ExportError::Microbatches { stated, found });
    }
    lone_inputs(schedule)
}

/// Whether letters that mean something else in the dialect of 2024 could be taken for those.
pub(super) fn lone_inputs(schedule: &Schedule) -> Result<(), ExportError> {
    let all = || schedule.orders().iter().flatten();
    let has = |kind| all().any(|pass| pass.kind == kind);
    let overlapped = schedule.overlap_count() > 0;
    if overlapped || has(Kind::I) || !has(Kind::B) || !has(Kind::W) {
        return Ok(());
    }
    let weights: std::collections::BTreeSet<Pass> =
        all().filter(|pass| pass.kind == Kind::W).copied().collect();
    let paired =
        all().filter(|pass| pass.kind == Kind::B).all(|&pass| weights.contains(&pass.with_kind(Kind::W)));
    if paired { Err(ExportError::LooksOld) } else { Ok(()) }
}
