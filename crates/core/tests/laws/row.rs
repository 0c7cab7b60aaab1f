//! Rows of actions as text: what `Display` writes of an action, read by another program.

use bubbleproof_core::comm::{Action, CommunicationPlan, Message, Payload};
use bubbleproof_core::model::{Device, Kind, Microbatch, Pass, Placement, Stage};

/// An action: `2F0`, `(1F1;2B0)OVERLAP_F_B`, `1RECV_F0`, `1UNSHARD`.
fn action(text: &str) -> Option<Action> {
    if let Some(pair) = text.strip_prefix('(') {
        let (first, second) = pair.strip_suffix(")OVERLAP_F_B")?.split_once(';')?;
        return Some(Action::Overlap([pass(first)?, pass(second)?]));
    }
    if let Some(pass) = pass(text) {
        return Some(Action::Run(pass));
    }
    let (stage, rest) = number(text)?;
    let what = rest.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let own = Stage(stage);
    let message = |sends: bool| {
        let microbatch = Microbatch(rest[what.len()..].parse().ok()?);
        let payload = if what.ends_with('F') { Payload::Activation } else { Payload::Gradient };
        // An activation goes up and a gradient down: the boundary is named by the lower of the two stages.
        let goes_up = payload == Payload::Activation;
        let boundary = Stage(if goes_up == sends { stage } else { stage.checked_sub(1)? });
        Some(Message { payload, boundary, microbatch })
    };
    Some(match what {
        "SEND_F" | "SEND_B" => Action::Send(message(true)?),
        "RECV_F" | "RECV_B" => Action::Receive(message(false)?),
        "WAIT_SEND_F" | "WAIT_SEND_B" => Action::WaitSend(message(true)?),
        "UNSHARD" => Action::Unshard(own),
        "RESHARD" => Action::Reshard(own),
        "REDUCE_GRAD" => Action::ReduceGradients(own),
        "WAIT_REDUCE_GRAD" => Action::WaitReduce(own),
        _ => return None,
    })
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn pass(text: &str) -> Option<Pass> {
    let (stage, rest) = number(text)?;
    let kind = Kind::ALL.into_iter().find(|kind| rest.starts_with(&kind.to_string()))?;
    let (microbatch, rest) = number(&rest[1..])?;
    rest.is_empty().then(|| Pass::new(Stage(stage), kind, Microbatch(microbatch)))
}

/// A plan of rows of actions with commas between them. Its stages are where they run.
pub fn plan(text: &str) -> Option<CommunicationPlan> {
    let row = |line: &str| {
        let cells = line.split(',').map(str::trim).filter(|cell| !cell.is_empty());
        cells.map(action).collect::<Option<Vec<Action>>>()
    };
    let rows: Vec<Vec<Action>> = text.lines().map(row).collect::<Option<_>>()?;
    let stages = rows.iter().map(|row| {
        let mut stages: Vec<Stage> = row.iter().flat_map(Action::passes).map(|pass| pass.stage).collect();
        stages.sort_unstable();
        stages.dedup();
        stages
    });
    let placement = Placement::new(stages.collect()).ok()?;
    let microbatches =
        rows.iter().flatten().flat_map(Action::passes).map(|pass| pass.microbatch.0 + 1).max()?;
    CommunicationPlan::new(placement, microbatches, rows).ok()
}

/// The rows as text.
pub fn text(plan: &CommunicationPlan) -> String {
    let row = |device| plan.row(device).iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let devices = Device::all(plan.schedule().devices());
    devices.map(row).collect::<Vec<_>>().join("\n")
}
