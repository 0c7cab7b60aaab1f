//! What pairs are worth under a memory limit: the pair that was measured for DeepSeek-V3, with pairs and without.

use std::thread::available_parallelism;

use bubbleproof::catalog;
use bubbleproof::certificate;
use bubbleproof::model::{self, Model, Overlap};
use bubbleproof::optimize::{Options, Solution, optimize};
use bubbleproof::replay::replay;

use super::offloading::{ms, percent};
use super::{Row, Table, Takes, limited};

const PROFILE: &str = include_str!("../../../models/profiles/deepseek-pair-v.toml");

/// A tenth of the usual one.
const EFFORT: usize = 40_000_000;

/// Chunks that a device has room for.
const CAPACITIES: [i64; 6] = [18, 16, 14, 12, 10, 8];

pub fn table() -> Table {
    let rows = CAPACITIES.into_iter().map(|capacity| {
        let takes = if capacity == CAPACITIES[0] { Takes::Little } else { Takes::Long };
        Row::new(vec![capacity.to_string()], takes, move || row(capacity))
    });
    Table {
        name: "pairs",
        head: "| room | dualpipe-v, ms | without pairs, ms | with pairs, ms | bound, ms | at most above the optimum |\n\
               | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

fn row(capacity: i64) -> Vec<String> {
    let with = limited(&model::parse(PROFILE).expect("a model"), capacity);
    let without = with.with_overlap(Overlap::default()).expect("a pair takes as long as its passes");
    // It is refused where it does not fit.
    let named = catalog::find("dualpipe-v").expect("a name").generate(&with).ok();
    let named = named.map(|named| replay(&with, &named).timing.expect("it runs").metrics.makespan);
    let (apart, paired) = (solved(&without), solved(&with));
    vec![
        named.map_or_else(|| "does not fit".to_owned(), ms),
        ms(apart.value()),
        ms(paired.value()),
        ms(paired.lower_bound()),
        percent(paired.gap()),
    ]
}

fn solved(model: &Model) -> Solution {
    let threads = available_parallelism().expect("threads");
    let options = Options { effort: EFFORT, exact_effort: 0, threads, ..Options::default() };
    let solution = optimize(model, &options, &mut |_| ()).expect("one microbatch fits");
    certificate::check(&solution.schedule, Some(model)).expect("a certificate");
    solution
}
