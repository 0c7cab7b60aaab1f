//! Optimises a grid of problems and prints what was found beside the best schedule of the catalogue
//! that keeps to the same capacities: makespan, lower bound, gap, what proves it, seconds, and after how many of these half
//! of what narrowed the gap was done. Totals come last.
//!
//! Every schedule is written with its certificate into a folder, for a build without any solver to
//! check; `make bench-table` does both.
//!
//! ```sh
//! cargo run --release --example bench_table -- target/bench-table 3
//! ```
//!
//! A third argument leaves out all problems whose names do not contain it: `+` leaves those that say more than
//! passes and latencies, and `plain` leaves all others. With `long`, all problems are others: pipelines of 64 and 128
//! devices.

#[path = "grid/mod.rs"]
mod grid;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use bubbleproof::catalog;
use bubbleproof::certificate::Optimality;
use bubbleproof::files;
use bubbleproof::model::{
    self, Costs, Device, Kind, Links, Memory, Messages, Model, Offload, Overlap, PairDurations, Placement,
    Recompute, RecomputeLevel, Stage, StepEnd, Ticks, Transient, Units, Workspace,
};
use bubbleproof::optimize::{OptimizeError, Options, Progress, Solution, optimize};
use bubbleproof::replay::{Rate, replay};
use bubbleproof::schedule;
use bubbleproof::stop::Stop;

use grid::{SIZES, TIMES};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "target/bench-table".to_owned()));
    let seconds = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let only = arguments.next().unwrap_or_default();
    let threads = thread::available_parallelism()?;
    let limit = Duration::from_secs(seconds);
    fs::create_dir_all(&folder)?;
    println!(
        "| problem | d | m | capacity | makespan | bound | gap | proved by | s | half after | best of the catalogue | longer |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | --- | ---: |");
    let mut totals = Totals::default();
    let problems = if only.starts_with(LONG) { long()? } else { problems()? };
    for (name, model) in problems.into_iter().filter(|(name, _)| is_asked(name, &only)) {
        for capacity in grid::capacities(&model) {
            let model = model.with_uniform_activation_capacity(Some(capacity))?;
            let begin = Instant::now();
            let stop = Stop::after(limit);
            let options = Options { stop, threads, use_all_time: true, ..Options::default() };
            let mut narrowing = Narrowing::default();
            let mut tell = |state: &Progress| narrowing.take(state, begin.elapsed());
            let solution = match optimize(&model, &options, &mut tell) {
                Ok(solution) => solution,
                Err(reason @ (OptimizeError::Infeasible(_) | OptimizeError::NoneFound(_))) => {
                    let is_known = matches!(reason, OptimizeError::Infeasible(_));
                    println!(
                        "| {name} | {} | {} | {capacity} | {} |",
                        model.devices(),
                        model.microbatches(),
                        if is_known { "infeasible" } else { "none found" },
                    );
                    continue;
                }
                Err(defect) => return Err(defect.into()),
            };
            let took = begin.elapsed();
            narrowing.reach(solution.value() - solution.lower_bound(), took);
            print_row(&name, &model, capacity, &solution, took, narrowing.half_after());
            totals.add(&solution, limit, narrowing.half_after());
            let file = folder.join(format!("{}.json", grid::name_with_size(&name, &model, capacity)));
            files::write_with(&file, |out| schedule::write(&solution.schedule, out))?;
        }
    }
    totals.print(limit);
    Ok(())
}

/// Whether the table has the problem of this name where only some are asked for.
fn is_asked(name: &str, only: &str) -> bool {
    if only == "plain" { !name.contains('+') } else { name.contains(only) }
}

/// By how much the best schedule is longer than the lower bound, whenever that has become less.
#[derive(Default)]
struct Narrowing(Vec<(Duration, Ticks)>);

impl Narrowing {
    fn take(&mut self, state: &Progress, at: Duration) {
        if let Some(best) = state.best.filter(|_| !state.is_inner) {
            self.reach(best - state.bound, at);
        }
    }

    fn reach(&mut self, gap: Ticks, at: Duration) {
        if self.0.last().is_none_or(|&(_, last)| gap < last) {
            self.0.push((at, gap));
        }
    }

    /// After what time at least half of all narrowing was done; nothing where the first schedule was the last one.
    fn half_after(&self) -> Option<Duration> {
        let ((_, first), (_, last)) = (self.0.first()?, self.0.last()?);
        let is_half = |&&(_, gap): &&(Duration, Ticks)| (*first - gap) >= (gap - *last);
        self.0.iter().skip(1).find(is_half).map(|&(at, _)| at)
    }
}

/// What is said of all problems together.
#[derive(Default)]
struct Totals {
    problems: i128,
    proved: usize,
    /// The sum of all gaps, in billionths.
    gaps: i128,
    /// The problems in which the first schedule was not the last word.
    narrowed: usize,
    /// Those of them in which half of that took a tenth of the time limit.
    soon: usize,
}

impl Totals {
    fn add(&mut self, solution: &Solution, limit: Duration, half_after: Option<Duration>) {
        self.problems += 1;
        self.proved += usize::from(solution.gap() == Rate::default());
        self.gaps += (solution.gap() * Rate::from_integer(BILLION)).to_integer();
        self.narrowed += usize::from(half_after.is_some());
        self.soon += usize::from(half_after.is_some_and(|after| after <= limit / 10));
    }

    fn print(&self, limit: Duration) {
        let Self { problems, proved, gaps, narrowed, soon } = *self;
        let mean = percentage(Rate::new(gaps, BILLION * problems.max(1)));
        let seconds = limit.as_secs();
        println!("\n{proved} of {problems} problems are proved optimal; the mean gap is {mean}.");
        println!(
            "In {narrowed} of them the search narrowed the gap that its first schedule left. In {soon} of these, half of that was \
             done within a tenth of {seconds} s."
        );
    }
}

const BILLION: i128 = 1_000_000_000;

fn print_row(
    name: &str,
    model: &Model,
    capacity: Units,
    solution: &Solution,
    took: Duration,
    half_after: Option<Duration>,
) {
    let proof = match &solution.optimality {
        Optimality::Open => "",
        Optimality::Bound => "bound",
        Optimality::Search { engine, .. } => engine.name(),
    };
    // To generate all named schedules of a long pipeline takes longer than to search for a better one.
    let of_catalogue = if name.starts_with(LONG) { None } else { best_of_the_catalogue(model) };
    let (best, longer) = match of_catalogue {
        Some((other, makespan)) => {
            let longer = Rate::new((makespan - solution.value()).0.into(), solution.value().0.max(1).into());
            (format!("{other} {makespan}"), percentage(longer))
        }
        None if name.starts_with(LONG) => ("not generated".to_owned(), String::new()),
        None => ("none fits".to_owned(), String::new()),
    };
    let half = half_after.map_or_else(String::new, |after| format!("{:.1}", after.as_secs_f64()));
    println!(
        "| {name} | {} | {} | {capacity} | {} | {} | {} | {} | {:.1} | {half} | {best} | {longer} |",
        model.devices(),
        model.microbatches(),
        solution.value(),
        solution.lower_bound(),
        percentage(solution.gap()),
        proof,
        took.as_secs_f64(),
    );
}

/// A rate as a percentage with two decimals.
fn percentage(rate: Rate) -> String {
    let hundredths = (rate * Rate::from_integer(10_000)).round().to_integer();
    let (sign, size) = (if hundredths < 0 { "-" } else { "" }, hundredths.unsigned_abs());
    format!("{sign}{}.{:02} %", size / 100, size % 100)
}

/// The shortest schedule of the catalogue that keeps to the capacities.
fn best_of_the_catalogue(model: &Model) -> Option<(&'static str, Ticks)> {
    let valid = catalog::entries().iter().filter_map(|entry| {
        let schedule = entry.generate(model).ok()?;
        let verdict = replay(model, &schedule);
        let makespan = verdict.is_valid().then_some(verdict.timing)??.metrics.makespan;
        Some((entry.name, makespan))
    });
    valid.min_by_key(|&(_, makespan)| makespan)
}

/// The model with each table that says more than passes and latencies, and with all of them: what makes each name. A stage
/// holds two units from F to W.
fn beyond(plain: &Model) -> Result<Vec<(&'static str, Model)>, Box<dyn Error>> {
    let (stages, boundaries) = (plain.stages() as usize, plain.stages() as usize - 1);
    let [forward, backward] = [Kind::F, Kind::B].map(|kind| plain.duration(Stage(0), kind).0);
    // A pair hides half of its shorter pass, a message and a reduction take as long as a third of an F and two Fs.
    let pair = Ticks(forward + backward - forward.min(backward) / 2);
    let overlap = Overlap { forward_backward: PairDurations::Uniform(pair), ..Overlap::default() };
    let occupancy = vec![Ticks((forward / 3).max(1)); boundaries];
    let half = plain.devices() / 2;
    let nodes = [(0..half), (half..plain.devices())].map(|node| node.map(Device).collect());
    let links = Messages { occupancy, links: Links::Pair };
    let cards = Messages { links: Links::Nodes(nodes.into()), ..links.clone() };
    let step = StepEnd { reduce: vec![Ticks(2 * forward); stages], optimizer: vec![Ticks(forward); stages] };
    let list = |units| vec![Units(units); stages];
    let workspace = Workspace {
        forward: list(1),
        backward_input: list(1),
        backward_weight: list(0),
        backward: list(1),
        recompute: list(1),
    };
    let transient = Transient { workspace: Some(workspace), receive: Some(vec![Units(1); boundaries]) };
    let with_memory = |model: &Model| {
        let memory = Memory { activation: list(2), retained_for_weight: list(3), ..model.memory().clone() };
        model.with_plain_memory(memory).and_then(|model| model.with_transient(transient.clone()))
    };
    // All of an activation again takes as long as F, and half of it half as long.
    let level =
        |kept, ticks| RecomputeLevel { checkpoint: list(kept), duration: Some(vec![Ticks(ticks); stages]) };
    let levels = Recompute { levels: vec![level(0, forward), level(1, forward / 2)], fused: false };
    let again = Recompute { levels: vec![level(0, forward)], fused: false };
    // Copies together take as long as the passes of a stage.
    let copy = vec![Ticks(i64::midpoint(forward, backward)); stages];
    let offload = Offload { moved: list(2), to_host: copy.clone(), from_host: copy };
    let beside = with_memory(plain)?
        .with_messages(Some(links.clone()))?
        .with_step(Some(step.clone()))?
        .with_low_ends(Costs { forward: vec![Ticks(forward - 1); stages], ..plain.costs().clone() })?;
    let all = beside
        .with_overlap(overlap.clone())?
        .with_recompute(Some(levels.clone()))?
        .with_offload(Some(offload.clone()))?;
    let twice = plain.with_plain_memory(Memory { activation: list(2), ..plain.memory().clone() })?;
    Ok(vec![
        ("pairs", plain.with_overlap(overlap)?),
        ("links", plain.with_messages(Some(links))?),
        ("cards", plain.with_messages(Some(cards))?),
        ("step", plain.with_step(Some(step))?),
        ("memory", with_memory(plain)?),
        ("recompute", twice.with_recompute(Some(again))?),
        ("levels", twice.with_recompute(Some(levels))?),
        ("offload", twice.with_offload(Some(offload))?),
        // Without what gives `optimize` something more to choose, and with it.
        ("beside", beside),
        ("all", all),
    ])
}

/// What the names of long pipelines begin with.
const LONG: &str = "long";

/// Equal stages under every placement on many devices.
fn long() -> Result<Vec<(String, Model)>, Box<dyn Error>> {
    let mut problems = Vec::new();
    for (devices, microbatches) in [(64, 1000), (128, 1000), (64, 10_000)] {
        for times in [[1, 1, 1, 0], [3, 4, 2, 1]] {
            for (shape, placement) in [
                ("v", Placement::v(devices)?),
                ("linear", Placement::linear(devices)?),
                ("looped", Placement::looped(devices, 2)?),
            ] {
                let [forward, input, weight, latency] = times;
                let name = format!("{LONG}-{shape}-{forward}-{input}-{weight}-{latency}");
                problems.push((name, Model::equal_stages(placement, microbatches, times)?));
            }
        }
    }
    Ok(problems)
}

/// Equal stages under every placement, and the shipped profiles.
fn problems() -> Result<Vec<(String, Model)>, Box<dyn Error>> {
    let mut problems = grid::equal_stages(&SIZES)?;
    for (shape, placement, microbatches) in [
        ("v", Placement::v(4)?, 16),
        ("linear", Placement::linear(4)?, 16),
        ("v", Placement::v(8)?, 32),
        ("v", Placement::v(16)?, 64),
    ] {
        let plain = Model::equal_stages(placement, microbatches, TIMES[1])?;
        let named = beyond(&plain)?.into_iter();
        problems.extend(named.map(|(what, model)| (format!("{shape}-3-4-2-0+{what}"), model)));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/profiles");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.sort();
    for file in files {
        let model = model::parse(&fs::read_to_string(&file)?)?;
        problems.push((model.name().to_owned(), model));
    }
    Ok(problems)
}
