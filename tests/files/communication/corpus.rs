//! The corpus: plans that must be refused, each for its reason, and some that only some runtimes can run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use bubbleproof::comm::{self, CommunicationPlan, PlanViolation, Semantics};
use bubbleproof::interchange::pytorch;
use bubbleproof::lowering::{self, Nearest};
use bubbleproof::model::Model;
use bubbleproof::replay::replay;
use serde::Deserialize;

use crate::communication::runtime::{self, Failure};
use crate::index;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    /// Why it is there.
    why: String,
    /// The exit status of the tool.
    status: u8,
    /// The rules that it breaks.
    #[serde(default)]
    rules: BTreeSet<String>,
    /// If it breaks none: the messages with which it deadlocks nevertheless.
    #[serde(default)]
    hangs: BTreeSet<String>,
    /// What becomes of it in PyTorch's runtime.
    pytorch: Option<String>,
}

/// The index, with the text of every file.
fn index() -> Vec<(Entry, String)> {
    let entries = index::entries("communication", |entry: &Entry| &entry.file);
    let read = |entry: Entry| {
        let text = fs::read_to_string(index::folder("communication").join(&entry.file)).expect("a text");
        (entry, text)
    };
    entries.into_iter().map(read).collect()
}

/// The nearest orders that can run, under unit times.
fn nearest_of(plan: &CommunicationPlan) -> Option<Nearest> {
    let schedule = plan.schedule();
    let model = Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a model");
    lowering::nearest(&model, schedule)
}

/// What is wrong with the passes of a plan and with its messages: rules and messages.
fn complaints(plan: &CommunicationPlan) -> (Vec<(String, String)>, bool) {
    let schedule = plan.schedule();
    let model = Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a unit model");
    let verdict = replay(&model, schedule);
    let faults = comm::verify(plan);
    let of_passes = verdict.violations.iter().map(|fault| (fault.rule().to_owned(), fault.to_string()));
    let of_messages = faults.iter().map(|fault| (fault.rule().to_owned(), fault.to_string()));
    (of_passes.chain(of_messages).collect(), verdict.is_valid())
}

#[test]
fn every_file_is_judged_as_the_index_says_with_a_message_that_says_where() {
    let mut report = String::new();
    for (Entry { file, why, status, rules, hangs, .. }, text) in index() {
        writeln!(report, "{file}: {why}").expect("writing to a string");
        let (found, messages) = match pytorch::parse(&text) {
            Err(error) => (2, vec![error.to_string()]),
            Ok(read) => {
                let plan = read.plan().expect("it has actions other than passes");
                let (complaints, _) = complaints(plan);
                let broken: BTreeSet<String> = complaints.iter().map(|(rule, _)| rule.clone()).collect();
                assert_eq!(broken, rules, "{file}: {complaints:?}");
                let stuck: Vec<String> = Semantics::ALL
                    .into_iter()
                    .filter_map(|semantics| {
                        let waits = comm::deadlock(plan, semantics)?;
                        (semantics >= Semantics::PairStreams && broken.is_empty())
                            .then(|| comm::PlanViolation::Deadlock { semantics, waits }.to_string())
                    })
                    .collect();
                if broken.is_empty() {
                    let hanging: BTreeSet<String> = Semantics::ALL
                        .into_iter()
                        .filter(|&semantics| comm::deadlock(plan, semantics).is_some())
                        .map(|semantics| semantics.name().to_owned())
                        .collect();
                    assert_eq!(hanging, hangs, "{file}");
                }
                let messages = complaints.into_iter().map(|(rule, message)| format!("{rule}: {message}"));
                (u8::from(!broken.is_empty()), messages.chain(stuck).collect())
            }
        };
        assert_eq!(found, status, "{file}: {messages:?}");
        for message in messages {
            writeln!(report, "    {message}").expect("writing to a string");
        }
    }
    insta::assert_snapshot!(report);
}

#[test]
fn every_rule_of_communication_is_broken_by_a_file() {
    let broken: BTreeSet<String> = index().into_iter().flat_map(|(entry, _)| entry.rules).collect();
    let known = [
        "communication-deadlock",
        "duplicate-action",
        "gathered-for-nothing",
        "needless-message",
        "never-received",
        "never-reduced",
        "never-resharded",
        "never-sent",
        "never-waited",
        "no-neighbour",
        "no-reduction",
        "reduced-early",
        "reduction-not-waited",
        "sent-before-made",
        "sharded",
        "sharding-twice",
        "swapped-messages",
        "used-before-received",
        "waited-before-sent",
    ];
    for rule in known {
        assert!(broken.contains(rule), "{rule}");
    }
}

#[test]
fn a_runtime_fails_on_every_file_that_is_refused_and_ends_where_it_is_said_to() {
    for (entry, text) in index() {
        let Ok(read) = pytorch::parse(&text) else { continue };
        let plan = read.plan().expect("it has actions other than passes");
        let ends = Semantics::ALL.map(|semantics| runtime::run(plan, semantics));
        if entry.status == 0 {
            for (semantics, end) in Semantics::ALL.into_iter().zip(ends) {
                let expected =
                    if entry.hangs.contains(semantics.name()) { Err(Failure::Hang) } else { Ok(()) };
                assert_eq!(end, expected, "{}: {semantics}", entry.file);
            }
        } else if !entry.rules.contains("missing-pass") {
            // Without a pass the gradients are as wrong as they are said to be, but nothing says so.
            assert!(ends.iter().any(Result::is_err), "{}", entry.file);
        }
    }
}

#[test]
fn what_can_be_mended_by_lowering_the_passes_anew_is() {
    let mut mended = 0;
    for (entry, text) in index() {
        let Ok(read) = pytorch::parse(&text) else { continue };
        let plan = read.plan().expect("it has actions other than passes");
        let (_, passes_are_valid) = complaints(plan);
        if passes_are_valid {
            let again = lowering::lower(plan.schedule()).expect("the passes can run");
            let faults = comm::verify(&again);
            if entry.rules.contains("losses-out-of-order") {
                assert!(matches!(faults[..], [PlanViolation::LossesOutOfOrder { .. }]), "{}", entry.file);
                continue;
            }
            assert_eq!(faults, [], "{}", entry.file);
            mended += 1;
        } else if let Some(nearest) = nearest_of(plan).filter(|_| entry.rules.contains("deadlock")) {
            assert!(lowering::lower(&nearest.schedule).is_ok(), "{}", entry.file);
            assert!(nearest.is_changed(), "{}", entry.file);
        }
    }
    assert!(mended >= 30, "{mended}");
}

#[test]
fn the_index_says_what_pytorch_does_in_words_that_the_suite_knows() {
    let mut shown = BTreeSet::new();
    for (entry, _) in index() {
        if let Some(outcome) = entry.pytorch {
            assert!(["refused", "hangs", "wrong gradients", "ends"].contains(&outcome.as_str()), "{outcome}");
            shown.insert(outcome);
        }
    }
    assert_eq!(shown.len(), 4, "{shown:?}");
}
