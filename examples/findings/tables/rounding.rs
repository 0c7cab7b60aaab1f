//! Where the least interval is a proper fraction, and what a whole number of ticks loses.

use bubbleproof::block::Passes;
use bubbleproof::model::{Model, Placement};
use bubbleproof::optimize::zone;
use bubbleproof::stop::Stop;
use num_rational::Ratio;

use super::{Row, Table, Takes, Times, all_times, limited, listed};

/// The durations of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durations {
    /// All from 1 to 6.
    Small,
    /// As many, drawn from 1 to 99.
    Drawn,
}

impl Durations {
    const fn name(self) -> &'static str {
        match self {
            Self::Small => "all from 1 to 6",
            Self::Drawn => "216 drawn from 1 to 99",
        }
    }

    fn all(self) -> Vec<Times> {
        match self {
            Self::Small => all_times().collect(),
            Self::Drawn => {
                let mut random = fastrand::Rng::with_seed(0);
                (0..216).map(|_| [0; 3].map(|_| random.i64(1..=99))).collect()
            }
        }
    }
}

pub fn table() -> Table {
    let small = (2..=8_u32).flat_map(|devices| [0, 1, 2].map(|latency| (Durations::Small, devices, latency)));
    let drawn =
        [4, 6].into_iter().flat_map(|devices| [0, 10].map(|latency| (Durations::Drawn, devices, latency)));
    let rows = small.chain(drawn).map(|(durations, devices, latency)| {
        let takes = if devices <= 3 || (devices, latency) == (4, 1) { Takes::Little } else { Takes::Long };
        let problem = vec![durations.name().to_owned(), devices.to_string(), latency.to_string()];
        Row::new(problem, takes, move || row(durations, devices, latency))
    });
    Table {
        name: "rounding",
        head: "| F,I,W | d | latency | problems | proper fractions | largest denominator | most lost | at F,I,W | capacity |\n\
               | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |",
        rows: rows.collect(),
    }
}

/// Over all capacities from 2 to 2d chunk activations.
fn row(durations: Durations, devices: u32, latency: i64) -> Vec<String> {
    let (mut problems, mut fractions, mut denominator) = (0, 0, 1);
    let mut worst = None;
    let placement = Placement::v(devices).expect("a placement");
    for times in durations.all() {
        let [forward, input, weight] = times;
        let model =
            Model::equal_stages(placement.clone(), 1, [forward, input, weight, latency]).expect("a model");
        for capacity in 2..=2 * i64::from(devices) {
            let model = limited(&model, capacity);
            let best = zone::least_interval(&model, Passes::SPLIT, &Stop::default()).expect("a block");
            problems += 1;
            if best.interval.is_integer() {
                // Its offsets are whole ticks as well: halves or thirds of a tick gain nothing.
                assert_eq!(best.block.parts(), 1, "{times:?} {latency} {capacity}");
                continue;
            }
            fractions += 1;
            denominator = denominator.max(*best.interval.denom());
            let loss: Ratio<i64> = best.interval.ceil() / best.interval;
            if worst.is_none_or(|(most, _, _)| loss > most) {
                worst = Some((loss, times, capacity));
            }
        }
    }
    let mut cells = [problems, fractions, denominator].map(|number| number.to_string()).to_vec();
    cells.extend(match worst {
        Some((loss, times, capacity)) => [loss.to_string(), listed(times), capacity.to_string()],
        None => ["nothing".to_owned(), String::new(), String::new()],
    });
    cells
}
