//! Everything that reads a text: what is read is written, and reads as the same.

use bubbleproof::block::family;
use bubbleproof::certificate::{self, Claim};
use bubbleproof::comm::{self, Semantics};
use bubbleproof::interchange::{self, pytorch};
use bubbleproof::lowering;
use bubbleproof::model::{self, Kind, Model};
use bubbleproof::regress::{self, Record};
use bubbleproof::replay::replay;
use bubbleproof::schedule::{self, Schedule};
use bubbleproof::trace::{self, clocks, gather, profiler};

use super::{execution, machine};

/// Schedules with more passes than this are read, but not run.
const MOST_PASSES: usize = 200;

/// Models, families, manifests and records.
pub fn tables(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(model) = model::parse(text) {
        let printed = model::print(&model);
        assert_eq!(model::parse(&printed).as_ref(), Ok(&model), "{printed}");
        assert!(model.most_work().0 > 0);
    }
    if let Ok(family) = family::parse(text) {
        let printed = family::print(&family);
        let again = family::parse(&printed).expect("what is printed reads");
        assert_eq!(family::print(&again), printed);
        if family.layout.chunks() <= 4 {
            for devices in 1..5 {
                repeats(&family, devices);
            }
        }
    }
    if let Ok(manifest) = regress::parse(text) {
        let mut names: Vec<&str> = manifest.designs.iter().map(|design| design.name.as_str()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "records are told apart by their names");
        assert!(manifest.designs.iter().all(|design| text.get(design.span.clone()).is_some()));
    }
    if let Ok(record) = Record::parse(text) {
        let printed = record.to_string();
        assert_eq!(Record::parse(&printed).as_ref(), Ok(&record), "{printed}");
    }
    if let Ok(promise) = family::parse_promise(text) {
        assert_eq!(
            family::parse_promise(&promise.to_string()).map(|again| again.to_string()),
            Ok(promise.to_string())
        );
    }
}

/// A block without a fault can be repeated: what it is expanded to runs.
fn repeats(family: &family::Family, devices: u32) {
    let (Ok(model), Ok(block)) = (family.model(devices, 3), family.block(devices)) else { return };
    if block.faults(&model).is_empty()
        && let Ok(schedule) = block.expand(&model, 3)
    {
        let verdict = replay(&model, &schedule);
        assert!(verdict.is_valid(), "{:?}", verdict.violations);
        assert!(execution::starts(&model, &schedule).is_some());
    }
    drop(family.broken_promises(devices));
}

/// Schedule files and PyTorch's, with what they carry: communication and certificates.
pub fn schedules(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(file) = interchange::read(text) else { return };
    let schedule = file.schedule;
    let mut written = Vec::new();
    schedule::write(&schedule, &mut written).expect("writing to memory");
    let written = String::from_utf8(written).expect("JSON is text");
    assert_eq!(schedule::parse(&written).expect("what is written reads"), schedule);
    if let Some(csv) = &file.csv {
        let again = pytorch::parse(&csv.print()).expect("what is printed reads");
        assert_eq!((again.schedule(), again.plan()), (csv.schedule(), csv.plan()));
        if let Some(plan) = csv.plan() {
            let faults = comm::verify(plan);
            assert!(faults.iter().all(|fault| !fault.to_string().is_empty()));
            let ends = Semantics::ALL.map(|semantics| comm::deadlock(plan, semantics).is_none());
            assert!(
                ends.is_sorted_by(|one, other| one >= other),
                "each lets less happen than the one before it"
            );
        }
    }
    check(&schedule);
    if schedule.len() <= MOST_PASSES && schedule.microbatches() <= 100 && schedule.placement().stages() <= 100
    {
        verify(&schedule);
    }
}

/// Whether a schedule names levels of recomputation or offloads, of which the naive executors know nothing.
fn has_side_tables(schedule: &Schedule) -> bool {
    !schedule.levels().is_empty() || schedule.offload_count() > 0
}

fn check(schedule: &Schedule) {
    let Ok(checked) = certificate::check(schedule, None) else { return };
    assert!(matches!(checked.claims.first(), Some(Claim::Runs { .. })), "it runs, or it is refused");
    let problem = &checked.problem;
    let is_known = problem.recompute_levels() <= 1 && !problem.recomputes_in_backward();
    if schedule.len() <= MOST_PASSES && is_known && !has_side_tables(schedule) {
        let ran = machine::run(&checked.problem, schedule);
        assert_eq!(checked.verdict.timing.map(|timing| timing.starts), ran.map(|ran| ran.starts));
    }
}

/// Verifies under unit times, and carries what runs to other forms and back.
fn verify(schedule: &Schedule) {
    let Ok(model) = Model::unit(schedule.placement().clone(), schedule.microbatches()) else { return };
    let verdict = replay(&model, schedule);
    assert!(verdict.violations.iter().all(|violation| !violation.to_string().is_empty()));
    let recomputes = schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::R);
    if schedule.overlap_count() == 0 && !recomputes && !has_side_tables(schedule) {
        let starts = execution::starts(&model, schedule);
        assert_eq!(verdict.is_valid(), starts.is_some(), "{:?}", verdict.violations);
        assert_eq!(verdict.timing.as_ref().map(|timing| &timing.starts), starts.as_ref());
    }
    if let Ok(plan) = lowering::lower(schedule) {
        assert_eq!(plan.schedule().orders(), schedule.orders());
        if verdict.is_valid() {
            let faults = comm::verify(&plan);
            assert!(faults.iter().all(|fault| fault.rule() == "losses-out-of-order"), "{faults:?}");
        }
        if let Ok(csv) = pytorch::print_plan(&plan) {
            let again = pytorch::parse(&csv).expect("what is printed reads");
            assert_eq!(again.schedule().orders(), schedule.orders());
        }
    }
    if let Ok(csv) = pytorch::print(schedule) {
        let again = pytorch::parse(&csv).expect("what is printed reads");
        assert_eq!(again.schedule().orders(), schedule.orders());
    }
}

/// Traces, and recordings of PyTorch's profiler.
pub fn traces(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(trace) = trace::file::parse(text) {
        assert!(trace::file::is_trace(text));
        let mut written = Vec::new();
        trace::file::write(&trace, &mut written).expect("writing to memory");
        let written = String::from_utf8(written).expect("JSON is text");
        assert_eq!(trace::file::parse(&written).expect("what is written reads"), trace);
        for finding in trace::matching::findings(&trace) {
            assert!(!finding.to_string().is_empty());
        }
        drop(trace::matching::early(&trace));
        drop(trace::fit::profile("fuzzed", std::slice::from_ref(&trace)));
        assert!(trace.iterations.iter().all(|iteration| iteration.first_start() <= iteration.last_end()));
    }
    if let Ok(recording) = profiler::parse(text) {
        assert!(profiler::is_recording(text));
        assert!(recording.spans().is_sorted_by_key(|span| span.start));
        let choice = clocks::OffsetChoice::default();
        drop(gather::gather(vec![recording], None, &choice));
    }
    let choice = clocks::OffsetChoice::default();
    for run in trace::megatron::parse(text).into_iter().flatten() {
        drop(gather::gather(run.recordings, None, &choice));
    }
    if let Ok(dump) = trace::primus::parse(text) {
        let config = trace::primus::Config { ranks: 1, chunks: 1, microbatches: 2 };
        drop(trace::primus::gather(config, &[dump], None, &choice));
    }
}
