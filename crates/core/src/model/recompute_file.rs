//! Recomputation in model files.

use super::print::one_or_list;
use super::quantities::Quantities;
use super::reading::{FileError, Table, TomlProblem};
use super::{Placement, Recompute, RecomputeLevel};

/// What the `[recompute]` table says.
pub(super) fn read(
    recompute: &Table<'_>,
    placement: &Placement,
    quantities: &Quantities,
) -> Result<Recompute, FileError> {
    recompute.only(&["checkpoint", "fused", "level"])?;
    let stages = placement.stages() as usize;
    let fused = recompute.get("fused").map(|value| value.truth()).transpose()?.unwrap_or_default();
    let Some(value) = recompute.get("level") else {
        let checkpoint = quantities.all_units(&recompute.require("checkpoint")?, stages, "stages")?;
        return Ok(Recompute { levels: vec![RecomputeLevel { checkpoint, duration: None }], fused });
    };
    if let Some(checkpoint) = recompute.get("checkpoint") {
        return Err(checkpoint.error(TomlProblem::Contradiction {
            key: checkpoint.key(),
            value: "there".to_owned(),
            other: "`level` says what is kept at each level; state one of the two".to_owned(),
        }));
    }
    let list =
        value.list().ok_or_else(|| value.wrong_type("a list of tables, each headed [[recompute.level]]"))?;
    let mut levels = Vec::with_capacity(list.len().min(Recompute::MAX_LEVELS));
    // Of a list that is too long, no more is read than it takes to refuse it.
    for entry in list.iter().take(Recompute::MAX_LEVELS + 1) {
        let level = entry.table()?;
        level.only(&["checkpoint", "duration"])?;
        let checkpoint = quantities.all_units(&level.require("checkpoint")?, stages, "stages")?;
        let duration = level.get("duration");
        let duration = duration.map(|value| quantities.all_ticks(&value, stages, "stages")).transpose()?;
        levels.push(RecomputeLevel { checkpoint, duration });
    }
    Ok(Recompute { levels, fused })
}

/// The bytes of a file in which a level says what it keeps.
pub(super) fn span_of_level(recompute: &Table<'_>, level: usize) -> Option<std::ops::Range<usize>> {
    let list = recompute.get("level")?.list()?;
    let checkpoint = list.get(level)?.table().ok()?.get("checkpoint")?;
    Some(checkpoint.span())
}

/// The lines that read as this, with their headings.
pub(super) fn lines(recompute: &Recompute) -> Vec<String> {
    let Recompute { levels, fused } = recompute;
    let checkpoint = |level: &RecomputeLevel| {
        format!("checkpoint = {}", one_or_list(level.checkpoint.iter().map(|units| units.0)))
    };
    let mut lines = Vec::new();
    let is_short = matches!(levels.as_slice(), [RecomputeLevel { duration: None, .. }]);
    if *fused || is_short {
        lines.push("\n[recompute]".to_owned());
    }
    if *fused {
        lines.push("fused = true".to_owned());
    }
    for level in levels {
        if !is_short {
            lines.push("\n[[recompute.level]]".to_owned());
        }
        lines.push(checkpoint(level));
        let duration = level.duration.iter();
        lines.extend(
            duration.map(|ticks| format!("duration = {}", one_or_list(ticks.iter().map(|ticks| ticks.0)))),
        );
    }
    lines
}
