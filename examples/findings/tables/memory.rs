//! What families whose steady phase has no bubble hold, against the least memory of such a phase.

use bubbleproof::block::Passes;
use bubbleproof::model::Model;
use num_rational::Ratio;

use super::{Row, Table, Takes, Times, all_times, decimals, least_memory, linear, v};

/// A family without bubbles in the steady phase.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    pub name: &'static str,
    passes: Passes,
    model: fn(u32, Times) -> Model,
    /// What it holds, in activations of its stages.
    memory: fn(i64) -> i64,
}

pub const FAMILIES: [Family; 3] = [
    Family { name: "1f1b", passes: Passes::FUSED, model: linear, memory: |d| d },
    Family { name: "zb-h1", passes: Passes::SPLIT, model: linear, memory: |d| d },
    Family { name: "v-zb", passes: Passes::SPLIT, model: v, memory: |d| 2 * d },
];

pub fn table() -> Table {
    let rows = FAMILIES.into_iter().flat_map(|family| {
        [4_u32, 6, 8].map(|devices| {
            let holds = (family.memory)(devices.into());
            let problem = vec![family.name.to_owned(), devices.to_string(), holds.to_string()];
            Row::new(problem, Takes::Little, move || row(family, devices, holds))
        })
    });
    Table {
        name: "memory",
        head: "| family | d | holds | optimal of 216 | least: smallest | mean | largest | at 1,1,1 | at 3,4,2 |\n\
               | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

fn row(family: Family, devices: u32, holds: i64) -> Vec<String> {
    let least = |times: Times| {
        let work = family.passes.most_work(&(family.model)(devices, times));
        least_memory(&(family.model)(devices, times), family.passes, work.0)
    };
    let all: Vec<i64> = all_times().map(least).collect();
    let [smallest, largest] = [all.iter().min(), all.iter().max()].map(|end| end.expect("216").to_string());
    vec![
        all.iter().filter(|&&least| least == holds).count().to_string(),
        smallest,
        decimals(Ratio::new(all.iter().sum::<i64>().into(), 216)),
        largest,
        least(super::UNIT).to_string(),
        least(super::UNEQUAL).to_string(),
    ]
}
