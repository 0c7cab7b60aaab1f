//! The cuts of the shipped jobs: the even one, the peer's and ours, for the schedules that the peer knows; and the best plan.

use std::fmt::Write as _;
use std::fs;

use bubbleproof::catalog;
use bubbleproof::certificate::lower_bound_over_cuts;
use bubbleproof::job::{self, Choice, ChoicePlacement, Cut, Job, Layers};
use bubbleproof::model::Ticks;
use bubbleproof::optimize::Options;
use bubbleproof::plan::{Partition, cut_for, optimize_cut};
use bubbleproof::replay::replay;
use bubbleproof::stop::Stop;

use super::peer::{self, Peer, PeerSchedule};

/// The shipped jobs with the pipelines that are compared.
const JOBS: &[(&str, u32)] = &[("llama-32", 8)];

fn read(name: &str) -> Job {
    let text = fs::read_to_string(format!("models/jobs/{name}.toml")).expect("a job");
    job::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The layers without a memory limit, which the peer does not know.
fn unlimited(job: &Job, pipeline: u32, placement: ChoicePlacement) -> Layers {
    let choices = job.choices().expect("choices");
    let choice = choices.iter().find(|choice| choice.pipeline == pipeline).expect("it is open");
    let layers = job.layers(&Choice { placement, ..*choice }).expect("layers");
    Layers { capacity: None, ..layers }
}

/// How long a named schedule is at a cut, as replay says.
fn replayed(layers: &Layers, schedule: &str, cut: &Cut) -> Ticks {
    let model = layers.model(cut).expect("a model");
    let schedule = catalog::find(schedule).expect("its name").generate(&model).expect("a schedule");
    let verdict = replay(&model, &schedule);
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
fn seconds(ticks: Ticks) -> String {
    let thousandths = (ticks.0 + 500_000) / 1_000_000;
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

#[test]
fn no_cut_of_the_peer_is_better_for_its_own_schedules_than_ours() {
    let mut report = String::new();
    for &(name, pipeline) in JOBS {
        let job = read(name);
        for (schedule, placement, peers) in [
            ("1f1b", ChoicePlacement::Linear, PeerSchedule::OneForwardOneBackward),
            ("interleaved-1f1b", ChoicePlacement::Looped(2), PeerSchedule::Interleaved { chunks: 2 }),
        ] {
            let layers = unlimited(&job, pipeline, placement);
            let theirs = cut_of_peer(&layers, peers);
            let entry = catalog::find(schedule).expect("its name");
            let (ours, cut) = cut_for(&layers, entry, &[], &Stop::default()).expect("it runs");
            assert_eq!(replayed(&layers, schedule, &cut), ours);
            let (even, of_peer) =
                (replayed(&layers, schedule, &layers.even()), replayed(&layers, schedule, &theirs));
            assert!(ours <= of_peer, "{name} {schedule}: {ours} with {cut}, {of_peer} with {theirs}");
            let bound = lower_bound_over_cuts(&layers, ours).expect("a bound");
            writeln!(
                report,
                "| `{name}` | {schedule} | {} | {} | {} | `{cut}` | {} |",
                seconds(even),
                seconds(of_peer),
                seconds(ours),
                seconds(bound)
            )
            .expect("a string takes everything");
        }
    }
    insta::assert_snapshot!("cuts_for_named_schedules", report);
    assert_eq!(report, table("named schedules"), "docs/jobs.md has other figures");
}

#[test]
fn the_best_cut_with_its_schedule_is_shorter_than_the_even_one() {
    let mut report = String::new();
    for &(name, pipeline) in JOBS {
        let job = read(name);
        for placement in [ChoicePlacement::Linear, ChoicePlacement::V] {
            let choices = job.choices().expect("choices");
            let choice = choices.iter().find(|one| one.pipeline == pipeline && one.placement == placement);
            let layers = job.layers(choice.expect("it is open")).expect("layers");
            let options = Options { effort: 40_000_000, exact_effort: 0, ..Options::default() };
            let [even, best] = [Partition::Even, Partition::Auto]
                .map(|partition| optimize_cut(&layers, &partition, &options, &mut |_| ()).expect("a plan"));
            let (value, bound) = (best.solution.value(), best.none_below());
            assert!(value <= even.solution.value() && bound <= value);
            let hundredths = ((value.0 - bound.0) * 10_000 + bound.0 / 2) / bound.0;
            writeln!(
                report,
                "| `{name}` | {placement} | {} | {} | `{}` | {} | {}.{:02} % |",
                seconds(even.solution.value()),
                seconds(value),
                best.cut,
                seconds(bound),
                hundredths / 100,
                hundredths % 100
            )
            .expect("a string takes everything");
        }
    }
    insta::assert_snapshot!("cuts_with_their_schedules", report);
    assert_eq!(report, table("cuts"), "docs/jobs.md has other figures");
}

/// The rows of a table of the page, without its head.
fn table(name: &str) -> String {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/jobs.md")).expect("a page");
    let (_, table) = page.split_once(&format!("<!-- table: {name} -->\n")).expect("a table");
    let rows = table.lines().take_while(|line| line.starts_with('|')).skip(2);
    rows.flat_map(|row| [row, "\n"]).collect()
}
