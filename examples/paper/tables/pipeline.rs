//! Pure pipeline parallelism: one stage or two chunks on each device, no replicas, no tensor parallelism (Table 4 of the paper).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use bubbleproof::job::{self, Choice, Job, Layers};
use bubbleproof::model::{Device, Ticks, Units};
use bubbleproof::plan::Figures;
use bubbleproof::replay::{Rate, replay};
use num_rational::Ratio;

use super::contenders::{self, Contender};
use super::published::{self, Range};
use super::{Row, Table, Takes, decimal, gigabytes, percent, signed, signed_percent};

/// A model of Table 4 on its devices, with the samples of its microbatches.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    name: &'static str,
    job: &'static str,
    samples: u32,
}

pub const SETTINGS: [Setting; 3] = [
    Setting { name: "9.6B", job: "cm-9.6b", samples: 4 },
    Setting { name: "21B", job: "cm-21b", samples: 2 },
    Setting { name: "38.5B", job: "cm-38.5b", samples: 1 },
];

/// Microbatches by device. That those of 38.5B on 32 devices go up to 512 is published; which others the paper has is not known.
pub const PER_DEVICE: [u32; 4] = [1, 2, 4, 16];

/// What a schedule comes to.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// The share of its time in which the device with the most work does none.
    pub bubble: Rate,
    /// The most that a device holds beyond weights, in bytes.
    pub activations: i64,
    /// The most that a device holds, in bytes.
    pub memory: i64,
    /// Model FLOPs utilisation.
    pub utilisation: Ratio<i128>,
    /// How long an iteration takes, in ns, if the next one follows without a barrier.
    pub span: Ticks,
}

impl Setting {
    fn job(self) -> Job {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/jobs");
        let text = fs::read_to_string(folder.join(format!("{}.toml", self.job))).expect("a shipped job");
        job::parse(&text).expect("a shipped job")
    }

    /// Computes a cell; each is computed once.
    pub fn cell(self, contender: Contender, per_device: u32) -> Cell {
        type Key = (&'static str, &'static str, u32);
        static KNOWN: LazyLock<Mutex<BTreeMap<Key, Cell>>> = LazyLock::new(Mutex::default);
        let known = || KNOWN.lock().expect("no one panics with it");
        let key = (self.name, contender.name, per_device);
        if let Some(&cell) = known().get(&key) {
            return cell;
        }
        let cell = self.computed(contender, per_device);
        known().insert(key, cell);
        cell
    }

    fn computed(self, contender: Contender, per_device: u32) -> Cell {
        let mut job = self.job();
        let devices = job.machine.devices;
        let microbatches = per_device * devices;
        job.choices.global_batch = microbatches * self.samples;
        let choice = Choice {
            pipeline: devices,
            tensor: 1,
            microbatch_size: self.samples,
            placement: contender.placement,
            saving: contender.saving(),
            data: 1,
            microbatches,
        };
        // Without a limit: schedules that need more memory than there is are compared too.
        let layers = Layers { capacity: None, ..job.layers(&choice).expect("layers") };
        let model = contender.limited(layers.model(&layers.even()).expect("a model"));
        let schedule = contender.entry().generate(&model).expect("a schedule");
        let verdict = replay(&model, &schedule);
        assert!(verdict.is_valid(), "{}: {:?}", contender.name, verdict.violations);
        let span = verdict.timing.as_ref().expect("it is valid").metrics.device_span;
        let work = |device: Device| -> Ticks {
            schedule.steps(device).map(|step| schedule.step_duration(&model, step)).sum()
        };
        let most = Device::all(devices).map(work).max().expect("a device");
        let beyond_weights = |(device, &peak): (Device, &Units)| (peak - model.resident(device)).0;
        let held = Device::all(devices).zip(&verdict.peak_memory);
        Cell {
            bubble: Rate::from_integer(1) - Rate::new(i128::from(most.0), i128::from(span.0)),
            activations: held.map(beyond_weights).max().expect("a device"),
            memory: verdict.peak_memory_max().0,
            utilisation: Figures::of(&job, &choice, span).utilisation.expect("operations and a peak"),
            span,
        }
    }
}

fn setting(name: &str) -> Setting {
    *SETTINGS.iter().find(|setting| setting.name == name).expect("a model of the paper")
}

/// By how much a schedule is faster than 1F1B, as a share of its throughput.
fn gain(setting: Setting, contender: Contender, per_device: u32) -> Ratio<i128> {
    let span = |contender| i128::from(setting.cell(contender, per_device).span.0);
    Ratio::new(span(contenders::named("1F1B")), span(contender)) - 1
}

pub fn memory_and_bubble() -> Table {
    let rows = SETTINGS.iter().flat_map(|&setting| {
        contenders::ALL.iter().map(move |&contender| {
            let problem = vec![setting.name.to_owned(), contender.name.to_owned()];
            Row::new(problem, takes(setting, contender), move || {
                let cell = |per_device| setting.cell(contender, per_device);
                // Enough microbatches for the most that a schedule holds.
                let full = cell(4);
                let mut answer = vec![gigabytes(full.activations), gigabytes(full.memory)];
                answer.extend(PER_DEVICE.map(|per_device| percent(cell(per_device).bubble, 1)));
                answer
            })
        })
    });
    Table {
        name: "memory and bubble",
        head: "| model | schedule | activations, GB | in all, GB | bubble, %: m = p | 2p | 4p | 16p |\n\
               | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

/// What is improved takes long on many devices.
fn takes(setting: Setting, contender: Contender) -> Takes {
    if setting.name != "9.6B" && contender.entry().takes_improving() { Takes::Long } else { Takes::Little }
}

/// The ranges of Table 4 over all models, and ours from 2p microbatches on: with p of them no 1F1B has as small a bubble as published.
pub fn ranges() -> Table {
    let known = published::table_4()
        .into_iter()
        .filter(|range| range.model == "all" && !range.metric.contains("mfu"));
    let rows = known.map(|range| {
        let problem = vec![
            range.schedules.join(", "),
            range.metric.replace("_pct", ", %").replace("_GB", ", GB").replace('_', " "),
        ];
        let is_quick = range.schedules.iter().all(|name| !contenders::named(name).entry().takes_improving());
        Row::new(problem, if is_quick { Takes::Little } else { Takes::Long }, move || {
            let (least, most) = computed_range(&range);
            vec![format!("{} to {}", range.low, range.high), format!("{least} to {most}")]
        })
    });
    Table {
        name: "ranges",
        head: "| schedules | of all cells | published | computed |\n| --- | --- | --- | --- |",
        rows: rows.collect(),
    }
}

fn computed_range(range: &Range) -> (String, String) {
    let mut values: Vec<Ratio<i128>> = Vec::new();
    for setting in SETTINGS {
        for name in &range.schedules {
            for &per_device in &PER_DEVICE[1..] {
                let cell = setting.cell(contenders::named(name), per_device);
                let bytes = |bytes: i64| Ratio::new(i128::from(bytes), 1_000_000_000);
                values.push(match range.metric.as_str() {
                    "bubble_rate_pct" => cell.bubble * 100,
                    "activation_memory_GB" => bytes(cell.activations),
                    "total_memory_GB" => bytes(cell.memory),
                    other => panic!("`{other}` is not computed"),
                });
            }
        }
    }
    let [least, most] = [values.iter().min(), values.iter().max()].map(|value| *value.expect("a cell"));
    (decimal(least, 1), decimal(most, 1))
}

/// The row of 38.5B with 512 microbatches, whose utilisation is published for five schedules.
pub fn measured() -> Table {
    let cells = published::table_4().into_iter().filter(|range| range.model == "38.5B");
    let mut measured: Vec<(String, Ratio<i128>)> =
        cells.map(|cell| (cell.schedules[0].clone(), published::exact(&cell.low))).collect();
    measured.sort_by_key(|&(_, value)| std::cmp::Reverse(value));
    let of_1f1b = measured.iter().find(|(name, _)| name == "1F1B").expect("1F1B is among them").1;
    let rows = measured.into_iter().map(|(name, value)| {
        let (setting, contender) = (setting("38.5B"), contenders::named(&name));
        Row::new(vec![name, decimal(value, 1)], takes(setting, contender), move || {
            let cell = setting.cell(contender, 16);
            vec![
                percent(cell.utilisation, 1),
                signed_percent(value / of_1f1b - 1, 1),
                signed_percent(gain(setting, contender, 16), 1),
            ]
        })
    });
    Table {
        name: "measured",
        head: "| schedule | published, % | predicted, % | against 1F1B, %: published | predicted |\n\
               | --- | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

/// Throughput against 1F1B.
pub fn gains() -> Table {
    let names = ["ZB-1P", "V-Min", "V-Half", "V-ZB"];
    let rows = SETTINGS.iter().flat_map(|&setting| {
        names.into_iter().map(move |name| {
            let contender = contenders::named(name);
            Row::new(vec![setting.name.to_owned(), name.to_owned()], takes(setting, contender), move || {
                let gain = |per_device| gain(setting, contender, per_device);
                PER_DEVICE.map(|per_device| signed(decimal(gain(per_device) * 100, 1))).to_vec()
            })
        })
    });
    Table {
        name: "gains",
        head: "| model | schedule | m = p | 2p | 4p | 16p |\n| --- | --- | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}
