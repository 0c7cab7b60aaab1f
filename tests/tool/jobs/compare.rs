//! The cuts of the shipped jobs: the even one, the peer's and ours, for the schedules that the peer knows; and the best plan.

use std::fmt::Write as _;
use std::fs;

use bubbleproof::certificate::lower_bound_over_cuts;
use bubbleproof::job::{self, Choice, ChoicePlacement, Cut, Job, Layers};
use bubbleproof::model::{Kind, Microbatch, Model, Pass, Stage, Ticks};
use bubbleproof::optimize::Options;
use bubbleproof::plan::{Partition, cut_for_schedule, optimize_cut};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use bubbleproof::stop::Stop;

use super::peer::{self, Action, Peer, PeerSchedule};
use crate::common::long;

/// The shipped jobs with the pipelines that are compared.
pub const JOBS: &[(&str, u32)] = &[
    ("llama-32", 8),
    ("llama-3-8b", 4),
    ("llama-3-70b", 8),
    ("deepseek-moe-16b", 8),
    ("cm-9.6b", 8),
    ("cm-21b", 24),
    ("cm-38.5b", 32),
    ("cm-98.5b", 10),
];

/// The schedules that the peer knows.
const SCHEDULES: &[(&str, ChoicePlacement, PeerSchedule)] = &[
    ("1F1B", ChoicePlacement::Linear, PeerSchedule::OneForwardOneBackward),
    ("interleaved 1F1B", ChoicePlacement::Looped(2), PeerSchedule::Interleaved { chunks: 2 }),
    (
        "interleaved zero bubble",
        ChoicePlacement::Looped(2),
        PeerSchedule::InterleavedZeroBubble { chunks: 2 },
    ),
];

pub fn text(name: &str) -> String {
    fs::read_to_string(format!("models/jobs/{name}.toml")).expect("a job")
}

pub fn read(name: &str) -> Job {
    job::parse(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The layers without a memory limit, which the peer does not know.
fn unlimited(job: &Job, pipeline: u32, placement: ChoicePlacement) -> Layers {
    let choices = job.choices().expect("choices");
    let choice = choices.iter().find(|choice| choice.pipeline == pipeline).expect("it is open");
    let layers = job.layers(&Choice { placement, ..*choice }).expect("layers");
    Layers { capacity: None, ..layers }
}

/// The schedule of PyTorch as the peer has it: the same orders whatever the model.
fn orders(schedule: PeerSchedule, model: &Model) -> Schedule {
    let (devices, microbatches) = (model.devices() as usize, model.microbatches() as usize);
    let pass = |action: Action| {
        let kind = match action.kind {
            peer::Kind::F => Kind::F,
            peer::Kind::B => Kind::B,
            peer::Kind::I => Kind::I,
            peer::Kind::W => Kind::W,
            other => panic!("{other:?} is no pass"),
        };
        Pass::new(Stage::at(action.stage), kind, Microbatch(u32::try_from(action.microbatch).expect("few")))
    };
    let rows = peer::orders(schedule, devices, microbatches);
    let orders = rows.into_iter().map(|row| row.into_iter().flatten().map(pass).collect()).collect();
    Schedule::new(model.placement().clone(), model.microbatches(), orders).expect("whole orders")
}

/// How long the schedule is at a cut, as replay says.
fn replayed(layers: &Layers, schedule: PeerSchedule, cut: &Cut) -> Ticks {
    let model = layers.model(cut).expect("a model");
    let verdict = replay(&model, &orders(schedule, &model));
    assert!(verdict.is_valid(), "{:?}", verdict.violations);
    verdict.timing.expect("it is valid").metrics.makespan
}

fn cut_of_peer(layers: &Layers, schedule: PeerSchedule) -> Cut {
    let of = |of: fn(&job::Atom) -> Ticks| layers.atoms.iter().map(|atom| of(atom).0).collect::<Vec<i64>>();
    let forward = of(|atom| atom.forward);
    let backward = of(|atom| atom.backward_input + atom.backward_weight);
    let input = of(|atom| atom.backward_input);
    let inner = &layers.messages[1..layers.atoms.len()];
    let communication: Vec<i64> = inner.iter().map(|[near, _]| near.0).collect();
    let costs = peer::Layers {
        forward: &forward,
        backward: &backward,
        backward_input: Some(&input),
        communication: &communication,
    };
    let (devices, microbatches) = (layers.placement.devices() as usize, layers.microbatches as usize);
    let cut = Peer::new(costs, devices, microbatches, schedule).search().cut;
    Cut::new(cut.into_iter().map(|layers| u32::try_from(layers).expect("few")).collect())
}

/// Seconds with three decimals, rounded half up.
pub fn seconds(ticks: Ticks) -> String {
    let thousandths = (ticks.0 + 500_000) / 1_000_000;
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

/// A share in percent with two decimals, rounded half up.
pub fn percent(part: Ticks, whole: Ticks) -> String {
    let hundredths = (part.0 * 10_000 + whole.0 / 2) / whole.0;
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

#[test]
fn no_cut_of_the_peer_is_better_for_its_own_schedules_than_ours() {
    let mut report = String::new();
    for &(name, pipeline) in JOBS {
        let job = read(name);
        for &(name_of_schedule, placement, schedule) in SCHEDULES {
            let layers = unlimited(&job, pipeline, placement);
            let theirs = cut_of_peer(&layers, schedule);
            let (ours, cut) =
                cut_for_schedule(&layers, &|model| Some(orders(schedule, model)), &[], &Stop::default())
                    .expect("it runs");
            let [of_ours, even, of_peer] =
                [&cut, &layers.even(), &theirs].map(|cut| replayed(&layers, schedule, cut));
            assert_eq!(of_ours, ours);
            assert!(ours <= of_peer, "{name} {schedule:?}: {ours} with {cut}, {of_peer} with {theirs}");
            let bound = lower_bound_over_cuts(&layers, ours).expect("a bound");
            writeln!(
                report,
                "| `{name}` | {name_of_schedule} | {} | {} | {} | {} | {} |",
                seconds(even),
                seconds(of_peer),
                seconds(ours),
                percent(of_peer - ours, of_peer),
                seconds(bound)
            )
            .expect("a string takes everything");
        }
    }
    insta::assert_snapshot!("cuts_for_named_schedules", report);
    assert_eq!(report, table("named schedules"), "docs/jobs.md has other figures");
}

/// With V placement, only where tests are to take long: that search takes longer than all other tests here.
#[test]
fn the_best_cut_with_its_schedule_is_shorter_than_the_even_one() {
    let (name, pipeline) = JOBS[0];
    let job = read(name);
    let choices = job.choices().expect("choices");
    let placements = [ChoicePlacement::Linear, ChoicePlacement::V];
    let rows = table("cuts");
    assert_eq!(rows.lines().count(), placements.len());
    for (placement, row) in placements.into_iter().zip(rows.lines()).take(if long() { 2 } else { 1 }) {
        let choice = choices.iter().find(|one| one.pipeline == pipeline && one.placement == placement);
        let layers = job.layers(choice.expect("it is open")).expect("layers");
        let options = Options { effort: 10_000_000, exact_effort: 0, ..Options::default() };
        let [even, best] = [Partition::Even, Partition::Auto]
            .map(|partition| optimize_cut(&layers, &partition, &options, &mut |_| ()).expect("a plan"));
        let (value, bound) = (best.solution.value(), best.none_below());
        assert!(value <= even.solution.value() && bound <= value);
        let computed = format!(
            "| `{name}` | {placement} | {} | {} | `{}` | {} | {} |",
            seconds(even.solution.value()),
            seconds(value),
            best.cut,
            seconds(bound),
            percent(value - bound, bound)
        );
        assert_eq!(computed, row, "docs/jobs.md has other figures");
    }
}

/// The rows of a table of the page, without its head.
pub fn table(name: &str) -> String {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/jobs.md")).expect("a page");
    let (_, table) = page.split_once(&format!("<!-- table: {name} -->\n")).expect("a table");
    let rows = table.lines().take_while(|line| line.starts_with('|')).skip(2);
    rows.flat_map(|row| [row, "\n"]).collect()
}
