//! Published traces of GPUs: the index says what each is, and what reads the published forms makes the same of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use bubbleproof::analysis::Span;
use bubbleproof::catalog;
use bubbleproof::model::Model;
use bubbleproof::trace::{Iteration, Trace, file};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub file: String,
    pub kind: String,
    pub source: String,
    pub commit: String,
    pub path: String,
    pub licence: String,
    pub text: String,
    pub what: String,
    pub derived: String,
    pub iterations: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    file: Vec<Entry>,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/gpu")
}

/// What the index says.
pub fn entries() -> Vec<Entry> {
    let text = fs::read_to_string(folder().join("INDEX.toml")).expect("an index");
    toml::from_str::<Index>(&text).expect("the form of an index").file
}

pub fn trace(name: &str) -> Trace {
    let text = fs::read_to_string(folder().join(name)).expect("a file");
    file::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The number of an iteration in the source.
pub fn numbers(name: &str) -> Vec<u32> {
    entries().into_iter().find(|entry| entry.file == name).expect("an entry").iterations
}

#[test]
fn every_published_trace_has_its_source_and_its_licence() {
    let mut listed = BTreeSet::new();
    for entry in entries() {
        let trace = trace(&entry.file);
        assert_eq!(trace.origin.to_string(), entry.kind, "{}", entry.file);
        assert_eq!(trace.iterations.len(), entry.iterations.len(), "{}", entry.file);
        let mut written = Vec::new();
        file::write(&trace, &mut written).expect("writing to memory");
        let again =
            file::parse(&String::from_utf8(written).expect("JSON is text")).expect("what is written reads");
        assert!(again == trace, "{}: what is written is something else", entry.file);
        assert!(entry.iterations.is_sorted(), "{}", entry.file);
        assert!(entry.commit.len() == 40 && entry.source.starts_with("github.com/"), "{}", entry.file);
        for text in [&entry.path, &entry.licence, &entry.what, &entry.derived] {
            assert!(!text.is_empty(), "{}", entry.file);
        }
        assert!(folder().join(&entry.text).is_file(), "{}: the text of its licence", entry.file);
        assert!(listed.insert(entry.file));
    }
    let there: BTreeSet<String> = fs::read_dir(folder())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "json"))
        .collect();
    assert_eq!(listed, there, "the index lists every trace once");
}

/// The orders in the traces are what ran. They are those that the catalogue makes of the name of the schedule.
#[test]
fn published_runs_had_the_order_of_the_named_schedule() {
    for entry in entries() {
        let Trace { schedule, .. } = trace(&entry.file);
        let model = Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a model");
        let name = schedule.name.as_deref().expect("a name");
        let declared = catalog::find(name).expect("a known name").generate(&model).expect("no capacity");
        assert_eq!(declared.orders(), schedule.orders(), "{}", entry.file);
    }
}

/// What the tool makes of a published file, as `trace compare --json` reports it.
fn reported(files: &[&str]) -> serde_json::Value {
    let run = Command::cargo_bin("bubbleproof")
        .expect("the tool is built")
        .args(["trace", "compare", "--json"])
        .args(files)
        .current_dir(folder().join("published"))
        .output()
        .expect("the tool runs");
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).expect("one object")
}

/// The passes of an iteration from its first start.
fn from_begin(iteration: &Iteration) -> Vec<Vec<Span>> {
    let begun = iteration.first_start();
    let moved = |span: &Span| Span { pass: span.pass, start: span.start - begun, end: span.end - begun };
    iteration.passes.iter().map(|row| row.iter().map(moved).collect()).collect()
}

#[test]
fn dumps_of_primus_make_the_committed_trace() {
    use bubbleproof::trace::clocks::OffsetChoice;
    use bubbleproof::trace::primus::{gather, parse, parse_config};

    let of =
        |name: &str| fs::read_to_string(folder().join("published/primus-1f1b").join(name)).expect("a file");
    let config = parse_config(&of("config.json")).expect("a configuration");
    let dumps: Vec<_> =
        (0..8).map(|rank| parse(&of(&format!("pp_rank_{rank}.json"))).expect("a dump")).collect();
    let read = gather(config, &dumps, None, &OffsetChoice::Auto).expect("a trace");
    let committed = trace("primus-1f1b.json");
    let at = |number: u32| {
        let numbers = numbers("primus-1f1b.json");
        committed.iterations[numbers.iter().position(|&other| other == number).expect("there")].clone()
    };
    assert!(read.iterations == [at(7), at(8)], "the committed iterations differ from those that are read");
    assert_eq!(read.schedule.orders(), committed.schedule.orders());
    assert_eq!(read.origin, committed.origin);

    let error =
        |config, dumps: &[_]| gather(config, dumps, None, &OffsetChoice::Auto).expect_err("a rank less");
    let message = error(config, &dumps[1..]).to_string();
    assert_eq!(message, "there are dumps of 7 ranks, but `config.json` says that the pipeline has 8");
    let more = bubbleproof::trace::primus::Config { microbatches: 17, ..config };
    assert_eq!(error(more, &dumps).to_string(), "rank 0, iteration 7: `0F16` is missing");
    let mut twice = dumps.clone();
    twice[1] = parse(&of("pp_rank_1.json").replace("\"8\": ", "\"9\": ")).expect("a dump");
    assert_eq!(error(config, &twice).to_string(), "rank 1 has no iteration 8, but another rank has");
}

#[test]
fn a_packed_chrome_trace_of_megatronapp_makes_the_committed_iteration() {
    use std::io::Read as _;

    let packed = fs::File::open(folder().join("published/megatronapp-merged.json.gz")).expect("a file");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("what gzip wrote");
    let runs = bubbleproof::trace::megatron::parse(&text).expect("runs");
    let threads: Vec<&str> = runs.iter().map(|run| run.thread.as_str()).collect();
    assert_eq!(threads, ["0", "1"]);
    let choice = bubbleproof::trace::clocks::OffsetChoice::Auto;
    let first = runs.into_iter().next().expect("a run");
    let (read, _) = bubbleproof::trace::gather::gather(first.recordings, None, &choice).expect("a trace");
    let committed = trace("megatronapp-interleaved.json");
    let at = numbers("megatronapp-interleaved.json").iter().position(|&number| number == 10).expect("there");
    let same = from_begin(&read.iterations[0]) == from_begin(&committed.iterations[at]);
    assert!(same, "the committed iteration differs from the one that is read");
    assert_eq!(read.schedule.orders(), committed.schedule.orders());
}

#[test]
fn the_tool_reads_the_published_forms_themselves() {
    let mut files: Vec<String> =
        (0..8).rev().map(|rank| format!("primus-1f1b/pp_rank_{rank}.json")).collect();
    files.push("primus-1f1b/config.json".to_owned());
    let primus = reported(&files.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(primus["traces"].as_array().map(Vec::len), Some(1));
    assert_eq!(primus["traces"][0]["origin"], "rocm");
    assert_eq!(primus["traces"][0]["findings"].as_array().map(Vec::len), Some(0));

    let megatron = reported(&["megatronapp-merged.json.gz"]);
    let names: Vec<&str> = megatron["traces"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|trace| trace["file"].as_str().unwrap_or(""))
        .collect();
    assert_eq!(names, ["megatronapp-merged.json.gz, tid 0", "megatronapp-merged.json.gz, tid 1"]);
    assert_eq!(megatron["traces"][0]["origin"], "cuda");
}

/// What allocators had reserved on the ranks of 1F1B predicts what those of the interleaved run had.
#[test]
fn reserved_memory_of_one_schedule_predicts_that_of_the_other() {
    let last = |name: &str| {
        let trace = trace(name);
        let reserved = trace.iterations.last().and_then(|last| last.reserved.clone()).expect("recorded");
        reserved.into_iter().map(|units| units.0).collect::<Vec<i64>>()
    };
    let (plain, interleaved) = (last("primus-1f1b.json"), last("primus-interleaved.json"));
    // Rank r of p has p - r microbatches in flight. The first and the last rank hold an embedding and a head too.
    let per_microbatch = (plain[1] - plain[6]) / 5;
    // Interleaved, rank r holds 2 (p - 1 - r) + (c - 1) p + 1 halves, with c = 2 chunks and p = 8.
    let mib = 1 << 20;
    let mut report = String::from("rank  1F1B  interleaved  predicted  error, MiB\n");
    for rank in 0..8 {
        let r = i64::try_from(rank).expect("small");
        let halves = 2 * (7 - r) + 8 + 1;
        let predicted = plain[rank] + per_microbatch * (halves - 2 * (8 - r)) / 2;
        let error = (predicted - interleaved[rank]) / mib;
        let [plain, interleaved, predicted] = [plain[rank], interleaved[rank], predicted].map(|of| of / mib);
        writeln!(report, "{rank:>4}  {plain:>6}  {interleaved:>6}  {predicted:>6}  {error:>+6}")
            .expect("a string");
        assert!(error.abs() * 20 < interleaved, "rank {rank}: within 5 %");
    }
    insta::assert_snapshot!("reserved_memory", report);
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/measured.md")).expect("a page");
    assert!(page.contains(&report), "docs/measured.md has other figures of memory");
}
