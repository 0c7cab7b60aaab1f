//! What offloading is worth under a memory limit, beside the best schedules without it.

use bubbleproof::catalog;
use bubbleproof::model::{self, Kind, Model, Offload, Stage, Ticks};
use bubbleproof::optimize::{Options, Solution, optimize};
use bubbleproof::replay::replay;
use num_rational::Ratio;

use super::{Row, Table, Takes, limited};

const PROFILE: &str = include_str!("../../../models/profiles/zb-1.5b-p8-m24.toml");

/// The limits: quarters of what 1F1B needs, d activations of a stage.
const QUARTERS: [(i64, &str); 3] = [(2, "1/2"), (3, "3/4"), (4, "1")];

pub fn table() -> Table {
    let rows = QUARTERS.into_iter().map(|(quarters, share)| {
        // Where memory is not short, the bound ends the search soon.
        let takes = if quarters == 4 { Takes::Little } else { Takes::Long };
        Row::new(vec![share.to_owned()], takes, move || row(quarters))
    });
    Table {
        name: "offloading",
        head: "| memory of 1F1B | best named, ms | without copies, ms | with copies, ms | offloaded | at most above the optimum |\n\
               | --- | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

/// The profile with a limit, and with copies that together take as long as the passes of a stage.
fn problem(quarters: i64) -> [Model; 2] {
    let model = model::parse(PROFILE).expect("a model");
    let all = model.activation(Stage(0)).0 * i64::from(model.devices());
    let without = limited(&model, all * quarters / 4);
    let stages = model.stages() as usize;
    let both = model.duration(Stage(0), Kind::F) + model.duration(Stage(0), Kind::B);
    let offload = Offload {
        moved: vec![model.activation(Stage(0)); stages],
        to_host: vec![Ticks(both.0 - both.0 / 2); stages],
        from_host: vec![Ticks(both.0 / 2); stages],
    };
    let with = without.with_offload(Some(offload)).expect("a model");
    [without, with]
}

fn row(quarters: i64) -> Vec<String> {
    let [without, with] = problem(quarters);
    let solved = |model: &Model| -> Solution {
        optimize(model, &Options::default(), &mut |_| ()).expect("one microbatch fits")
    };
    let named = catalog::entries().iter().filter_map(|entry| {
        let schedule = entry.generate(&without).ok()?;
        let verdict = replay(&without, &schedule);
        Some((verdict.is_valid().then_some(verdict.timing)??.metrics.makespan, entry.name))
    });
    let named = named
        .min()
        .map_or_else(|| "none fits".to_owned(), |(makespan, name)| format!("{name} {}", ms(makespan)));
    let (apart, copied) = (solved(&without), solved(&with));
    assert!(!apart.is_cut_short && !copied.is_cut_short, "without a limit on the time, all effort is spent");
    let activations = with.stages() * with.microbatches();
    vec![
        named,
        ms(apart.value()),
        ms(copied.value()),
        format!("{} of {activations}", copied.schedule.offload_count()),
        percent(copied.gap()),
    ]
}

/// Microseconds as milliseconds to one decimal.
pub fn ms(Ticks(us): Ticks) -> String {
    let tenths = (us + 50) / 100;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A share in percent to two decimals.
pub fn percent(share: Ratio<i128>) -> String {
    let hundredths = (share * 10_000).round().to_integer();
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}
