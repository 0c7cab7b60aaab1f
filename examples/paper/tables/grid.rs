//! The grid search over tensor, data and pipeline degrees and microbatch sizes for the 98.5B model (Table 3 of the paper).

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use bubbleproof::job::{self, Choice, Job};
use bubbleproof::model::{Device, Model};
use bubbleproof::plan::Figures;
use bubbleproof::replay::replay;
use bubbleproof::transformer::Attained;
use num_rational::Ratio;

use super::contenders::{self, Contender};
use super::published::best_utilisation;
use super::{Row, Table, Takes, decimal, gigabytes, percent, signed};
use crate::transformers;

/// Samples of so many tokens in a batch of so many, in microbatches of one of these sizes. The last batch is an assumption.
const SEARCHES: [(u32, u32, &[u32]); 3] =
    [(1024, 160, &[1, 2, 4]), (3072, 640, &[1, 2, 4]), (16_384, 160, &[1])];

/// The tensor degrees within a node.
const TENSOR: [u32; 4] = [1, 2, 4, 8];

/// The most of the peak, in hundredths of a percent, that passes may attain without the communication of tensor parallelism so that
/// 1F1B attains no more than is published for it in its best published plan: 2 replicas, 4 tensor ranks, 5 stages, 2 samples.
pub static SHARE: LazyLock<i128> = LazyLock::new(|| {
    let published = best_utilisation(1024, "1F1B").expect("it is published") / 100;
    let (mut least, mut most) = (1, 10_000);
    while most - least > 1 {
        let middle = i128::midpoint(least, most);
        if attained(middle) > published {
            most = middle;
        } else {
            least = middle;
        }
    }
    least
});

/// What 1F1B attains in that plan if passes attain this share of the peak.
pub fn attained(share: i128) -> Ratio<i128> {
    let admits = |choice: &Choice| (choice.tensor, choice.pipeline, choice.microbatch_size) == (4, 5, 2);
    search(&job_at(SEARCHES[0], share), contenders::named("1F1B"), admits).expect("it fits").utilisation
}

/// The plan that is best for a schedule.
#[derive(Debug, Clone)]
pub struct Best {
    /// What was chosen.
    pub choice: Choice,
    /// Model FLOPs utilisation.
    pub utilisation: Ratio<i128>,
    /// The most that a device holds, in bytes.
    pub memory: i64,
}

/// The job of a search: samples of so many tokens, every tensor degree and microbatch size at the same share of the peak, and
/// on top of it the time in which tensor ranks sum activations.
fn job_at((sequence, batch, sizes): (u32, u32, &[u32]), share: i128) -> Job {
    let mut model = transformers::read("cm-98.5b");
    model.dimensions.sequence = sequence;
    let all = TENSOR.iter().flat_map(|&tensor| sizes.iter().map(move |&size| (tensor, size)));
    // The shipped file leaves this pair open, so it has costs wherever they are needed.
    let shipped = std::iter::once((4, 2)).filter(|(_, size)| !sizes.contains(size));
    model.attained = all
        .chain(shipped)
        .map(|(tensor, microbatch_size)| Attained {
            tensor,
            microbatch_size,
            share: Ratio::new(share, 10_000),
        })
        .collect();
    let mut job = job::parse(&model.job().expect("it fits")).expect("an estimated job");
    let near = job.machine.near.clone();
    for (&(tensor, size), profile) in &mut job.profiles {
        let block = profile.layers.get_mut("block").expect("blocks");
        let once = transformers::sum(&model.dimensions, &near, tensor, size);
        block.forward += 2 * once;
        block.backward_input += 2 * once;
    }
    job.choices.global_batch = batch;
    job.choices.tensor = TENSOR.to_vec();
    job.choices.microbatch_size = sizes.to_vec();
    job.choices.pipeline = None;
    job
}

/// The best plan of a schedule among those that fit the memory, cut evenly; of those with these tensor degrees and microbatch
/// sizes.
fn search(job: &Job, contender: Contender, admits: impl Fn(&Choice) -> bool) -> Option<Best> {
    let mut job = job.clone();
    job.choices.placement = vec![contender.placement];
    job.choices.recompute = vec![contender.saving().recompute];
    let utilisation =
        |choice: &Choice, time| Figures::of(&job, choice, time).utilisation.expect("operations and a peak");
    // No plan is faster than its busiest device.
    let mut plans: Vec<(Ratio<i128>, Choice, Model)> = Vec::new();
    for choice in job.choices().expect("choices").into_iter().filter(|choice| admits(choice)) {
        let layers = job.layers(&choice).expect("layers");
        let Ok(model) = layers.model(&layers.even()) else { continue };
        let model = contender.limited(model);
        let work = Device::all(model.devices()).map(|device| model.work(device)).max().expect("a device");
        plans.push((utilisation(&choice, work * i64::from(choice.microbatches)), choice, model));
    }
    plans.sort_by_key(|&(most, choice, _)| (std::cmp::Reverse(most), choice));
    let mut best: Option<Best> = None;
    for (most, choice, model) in plans {
        if best.as_ref().is_some_and(|best| best.utilisation >= most) {
            break;
        }
        let Ok(schedule) = contender.entry().generate(&model) else { continue };
        let verdict = replay(&model, &schedule);
        let Some(timing) = verdict.timing.as_ref().filter(|_| verdict.is_valid()) else { continue };
        let utilisation = utilisation(&choice, timing.metrics.device_span);
        if best.as_ref().is_none_or(|best| best.utilisation < utilisation) {
            best = Some(Best { choice, utilisation, memory: verdict.peak_memory_max().0 });
        }
    }
    best
}

/// The best plan of a schedule in a search; each is looked for once.
fn best_of(search_of: (u32, u32, &'static [u32]), contender: Contender) -> Option<Best> {
    type Key = (u32, &'static str);
    static KNOWN: LazyLock<Mutex<BTreeMap<Key, Option<Best>>>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().expect("no one panics with it");
    let key = (search_of.0, contender.name);
    if let Some(best) = known().get(&key) {
        return best.clone();
    }
    let best = search(&job_at(search_of, *SHARE), contender, |_| true);
    known().insert(key, best.clone());
    best
}

pub fn best() -> Table {
    let rows = SEARCHES.into_iter().flat_map(|search| {
        contenders::IN_THE_GRID.into_iter().map(move |name| {
            let contender = contenders::named(name);
            Row::new(vec![search.0.to_string(), name.to_owned()], Takes::Little, move || {
                let published = best_utilisation(search.0, name);
                let shown = published.map_or_else(|| "-".to_owned(), |value| decimal(value, 2));
                let Some(best) = best_of(search, contender) else {
                    return vec![
                        shown,
                        "none fits".to_owned(),
                        "-".to_owned(),
                        "-".to_owned(),
                        "-".to_owned(),
                    ];
                };
                let predicted = best.utilisation * 100;
                let Choice { data, tensor, pipeline, microbatch_size, .. } = best.choice;
                vec![
                    shown,
                    decimal(predicted, 2),
                    published.map_or_else(|| "-".to_owned(), |value| signed(decimal(predicted - value, 2))),
                    format!("d{data} t{tensor} p{pipeline} b{microbatch_size}"),
                    gigabytes(best.memory),
                ]
            })
        })
    });
    Table {
        name: "grid",
        head: "| tokens | schedule | published, % | predicted, % | difference | predicted best plan | its memory, GB |\n\
               | ---: | --- | ---: | ---: | ---: | --- | ---: |",
        rows: rows.collect(),
    }
}

/// Schedules by their utilisation, the best first.
fn ordered(values: &[(&'static str, Ratio<i128>)]) -> String {
    let mut values = values.to_vec();
    values.sort_by_key(|&(_, value)| std::cmp::Reverse(value));
    values.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", ")
}

pub fn order() -> Table {
    let rows = SEARCHES.into_iter().map(|search| {
        Row::new(vec![search.0.to_string()], Takes::Little, move || {
            let predicted: Vec<(&str, Ratio<i128>)> = contenders::IN_THE_GRID
                .into_iter()
                .filter_map(|name| Some((name, best_of(search, contenders::named(name))?.utilisation)))
                .collect();
            let published: Vec<(&str, Ratio<i128>)> = contenders::IN_THE_GRID
                .into_iter()
                .filter_map(|name| Some((name, best_utilisation(search.0, name)?)))
                .collect();
            if published.is_empty() {
                return vec!["-".to_owned(), ordered(&predicted), "-".to_owned()];
            }
            let value =
                |name: &str| predicted.iter().find(|&&(other, _)| other == name).map(|&(_, value)| value);
            let (mut right, mut pairs) = (0, 0);
            for (at, (one, better)) in published.iter().enumerate() {
                for (other, worse) in &published[..at] {
                    pairs += 1;
                    right += u32::from((better > worse) == (value(one) > value(other)));
                }
            }
            vec![ordered(&published), ordered(&predicted), format!("{right} of {pairs}")]
        })
    });
    Table {
        name: "order",
        head: "| tokens | published, best first | predicted | pairs in the right order |\n| ---: | --- | --- | ---: |",
        rows: rows.collect(),
    }
}

/// Utilisation by tensor degree and microbatch size, in the first search.
pub fn degrees() -> Table {
    let names = ["1F1B", "ZB-1P", "V-Min", "V-Half", "V-ZB"];
    let search_of = SEARCHES[0];
    let pairs =
        TENSOR.into_iter().flat_map(move |tensor| search_of.2.iter().map(move |&size| (tensor, size)));
    let rows = pairs.map(|(tensor, size)| {
        let takes = if tensor < 4 { Takes::Long } else { Takes::Little };
        Row::new(vec![tensor.to_string(), size.to_string()], takes, move || {
            let job = job_at(search_of, *SHARE);
            let best = |name| {
                let admits = |choice: &Choice| (choice.tensor, choice.microbatch_size) == (tensor, size);
                search(&job, contenders::named(name), admits)
            };
            names
                .map(|name| best(name).map_or_else(|| "-".to_owned(), |best| percent(best.utilisation, 1)))
                .to_vec()
        })
    });
    Table {
        name: "degrees",
        head: "| tensor degree | microbatch size | 1F1B, % | ZB-1P | V-Min | V-Half | V-ZB |\n\
               | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}
