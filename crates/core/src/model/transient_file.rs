//! Workspaces and buffers in model files.

use super::print::one_or_list;
use super::quantities::Quantities;
use super::reading::{FileError, Table, Value};
use super::{Kind, Placement, Transient, Units, Workspace};

/// What the `[memory]` table says of them.
pub(super) fn read(
    memory: Option<&Table<'_>>,
    placement: &Placement,
    quantities: &Quantities,
) -> Result<Transient, FileError> {
    let get = |key| memory.and_then(|table| table.get(key));
    let stages = placement.stages() as usize;
    let units = |value: Value<'_>, count, of| quantities.all_units(&value, count, of);
    let workspace = match get("workspace") {
        Some(value) => {
            let table = value.table()?;
            table.only(&["forward", "backward_input", "backward_weight", "backward", "recompute"])?;
            let of_kind = |key| table.get(key).map(|value| units(value, stages, "stages")).transpose();
            let or_nothing = |list: Option<Vec<Units>>| list.unwrap_or_else(|| vec![Units::ZERO; stages]);
            let forward = or_nothing(of_kind("forward")?);
            let backward_input = or_nothing(of_kind("backward_input")?);
            let backward_weight = or_nothing(of_kind("backward_weight")?);
            let backward = of_kind("backward")?
                .unwrap_or_else(|| Workspace::larger_of_split(&backward_input, &backward_weight));
            let recompute = of_kind("recompute")?.unwrap_or_else(|| forward.clone());
            Some(Workspace { forward, backward_input, backward_weight, backward, recompute })
        }
        None => None,
    };
    let receive = get("receive").map(|value| units(value, stages - 1, "stage boundaries")).transpose()?;
    Ok(Transient { workspace, receive })
}

/// The lines of the `[memory]` table that read as this.
pub(super) fn lines(transient: &Transient) -> Vec<String> {
    let Transient { workspace, receive } = transient;
    let list = |units: &[Units]| one_or_list(units.iter().map(|units| units.0));
    let workspace = workspace.iter().map(|workspace| {
        // It need not be said where it is what it is without being said.
        let is_said = |kind| kind != Kind::R || workspace.recompute != workspace.forward;
        let lists = workspace.lists().into_iter().filter(|&(_, kind, _)| is_said(kind));
        let lists: Vec<String> = lists
            .map(|(key, _, units)| {
                format!("{} = {}", key.strip_prefix("memory.workspace.").unwrap_or(key), list(units))
            })
            .collect();
        format!("workspace = {{ {} }}", lists.join(", "))
    });
    workspace.chain(receive.iter().map(|units| format!("receive = {}", list(units)))).collect()
}
