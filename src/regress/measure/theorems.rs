//! The theorems and the promises of a block family: decided for every number of devices, and then stated as facts.

use std::time::Duration;

use super::error::{MeasureError, go_on};
use super::facts::Facts;
use crate::block::family::Family;
use crate::prove::{
    self, BubbleFreedom, Counterexample, DecidedTheorem, FamilyVerdict, SqueezedOrder, TheoremSubject,
    UnknownReason, WitnessClaim,
};
use crate::regress::fact::{RecordedVerdict, Value, What};
use crate::stop::Stop;

/// Decides every theorem of a family and every promise, each within a time limit.
///
/// # Errors
/// When the theorems cannot be stated, this program contradicts itself, or it is asked to end.
pub(super) fn decide(family: &Family, limit: Duration, stop: &Stop) -> Result<FamilyVerdict, MeasureError> {
    go_on(stop)?;
    let verdict = prove::verdict(family, stop, limit, |_| ())?;
    // What was cut short says nothing about the family.
    go_on(stop)?;
    Ok(verdict)
}

/// States what is known of a family as facts.
pub(super) fn record(family: &Family, verdict: &FamilyVerdict, facts: &mut Facts) {
    for judgement in &verdict.decided {
        record_judgement(family, judgement, facts);
    }
    let promised = |promise: &dyn ToString| What::Promise(promise.to_string());
    match &verdict.squeezed {
        SqueezedOrder::NoBlock => {
            for promise in &family.bubble_free {
                let why = "there is no block that could be squeezed".to_owned();
                facts.whole(promised(promise), Value::Verdict(RecordedVerdict::Refuted, why));
            }
        }
        SqueezedOrder::Unknown(reason) => {
            facts.timed_out |= reason.is_out_of_time();
            let unknown = || Value::Verdict(RecordedVerdict::Unknown, reason.to_string());
            facts.whole(What::Theorem("squeezed interval".to_owned()), unknown());
            for promise in &family.bubble_free {
                facts.whole(promised(promise), unknown());
            }
        }
        SqueezedOrder::Known(theorems) => {
            for WitnessClaim { name, statement, .. } in &theorems.claims {
                let name = (*name).to_owned();
                let proved = Value::Verdict(RecordedVerdict::Proved, String::new());
                facts.whole(What::Theorem(name.clone()), proved);
                facts.whole(What::Claim(name), Value::Text(statement.clone()));
            }
            for (promise, found) in &theorems.bubble_free {
                record_bubble_freedom(&promise.to_string(), found, facts);
            }
        }
    }
}

fn record_judgement(
    family: &Family,
    DecidedTheorem { theorem, verdict, .. }: &DecidedTheorem,
    facts: &mut Facts,
) {
    let (name, what) = if let TheoremSubject::Promise(position) = &theorem.subject {
        let promise = family.promises[*position].to_string();
        (promise.clone(), What::Promise(promise))
    } else {
        let prefix = format!("{}.", family.name);
        let short = theorem.name.strip_prefix(&prefix).unwrap_or(&theorem.name).to_owned();
        (short.clone(), What::Theorem(short))
    };
    let (word, rest) = match verdict {
        prove::TheoremVerdict::Proved => (RecordedVerdict::Proved, String::new()),
        prove::TheoremVerdict::Refuted(_) => (RecordedVerdict::Refuted, String::new()),
        prove::TheoremVerdict::Unknown(reason) => {
            facts.timed_out |= reason.is_out_of_time();
            match open(reason) {
                RecordedVerdict::Undecided => {
                    (RecordedVerdict::Undecided, format!("holds for d <= {}", prove::SURVEYED))
                }
                verdict => (verdict, reason.to_string()),
            }
        }
    };
    facts.whole(what, Value::Verdict(word, rest));
    if matches!(theorem.subject, TheoremSubject::Delay { .. }) {
        facts.whole(What::Claim(name.clone()), Value::Text(theorem.statement.clone()));
    }
    if let prove::TheoremVerdict::Refuted(counterexample) = verdict {
        record_counterexample(&name, counterexample, facts);
    }
}

/// What an open question is called: whether this build could have answered it.
fn open(reason: &UnknownReason) -> RecordedVerdict {
    match reason {
        UnknownReason::NoSolver => RecordedVerdict::Undecided,
        // What it rests on is open for want of a solver too.
        UnknownReason::Premise(_) if !prove::has_solver() => RecordedVerdict::Undecided,
        _ => RecordedVerdict::Unknown,
    }
}

fn record_counterexample(name: &str, counterexample: &Counterexample, facts: &mut Facts) {
    let passes: Vec<String> = counterexample.violation.passes().iter().map(ToString::to_string).collect();
    let passes = if passes.is_empty() { String::new() } else { format!(", passes {}", passes.join(" ")) };
    let fewest = if counterexample.smallest { "" } else { " (perhaps not the fewest devices)" };
    let (devices, device) = (counterexample.devices, counterexample.device);
    let text = format!("d = {devices}, i = {device}{passes}{fewest}: {}", counterexample.violation);
    facts.whole(What::Counterexample(name.to_owned()), Value::Text(text));
    if let Some(drawing) = counterexample.drawing() {
        let text = format!("device {device} modulo {}: {drawing}", counterexample.interval());
        facts.whole(What::Drawing(name.to_owned()), Value::Text(text));
    }
}

fn record_bubble_freedom(promise: &str, found: &BubbleFreedom, facts: &mut Facts) {
    let (verdict, rest) = match found {
        BubbleFreedom::Proved => (RecordedVerdict::Proved, String::new()),
        BubbleFreedom::Refuted(slow) => {
            let text = format!("d = {}: {slow}", slow.devices);
            facts.whole(What::Counterexample(promise.to_owned()), Value::Text(text));
            (RecordedVerdict::Refuted, String::new())
        }
        BubbleFreedom::Unknown(rate) => {
            (RecordedVerdict::Unknown, format!("no cycle is known to take {rate}"))
        }
    };
    facts.whole(What::Promise(promise.to_owned()), Value::Verdict(verdict, rest));
}
