//! Schedules that are better than those that ran, by the models of what ran. docs/measured.md has the tables.
//!
//! `tests/traces/gpu/better` has what `bubbleproof optimize` found, with certificates, and the model of each. A model is
//! computed here. With `WRITE_MODELS` set, the tests write it; the folder's README says how a schedule is found for it.

use std::env;
use std::fmt::Write as _;
use std::fs;

use bubbleproof::catalog;
use bubbleproof::certificate::{Claim, Objective, check, lower_bound};
use bubbleproof::model::{Costs, Memory, Model, Placement, Stage, Ticks, Units, parse, print};
use bubbleproof::replay::replay;
use bubbleproof::schedule;
use bubbleproof::trace::fit::profile;
use bubbleproof::trace::statistics::quantile;

use crate::traces::figures::{milliseconds, signed};
use crate::traces::gpu::table;
use crate::traces::published::{folder, trace};

/// What a committed schedule does, and what its certificate proves.
pub struct Found {
    pub makespan: i64,
    /// No schedule within the memory of the model is shorter.
    pub bound: i64,
    /// An exhaustive search is said to have found none shorter.
    pub is_searched: bool,
    pub peak: i64,
}

/// The committed schedule for a model, whose file must be what is computed. Its certificate is checked, and so replayed.
pub fn committed(name: &str, model: &Model) -> Found {
    let path = folder().join("better").join(name);
    let of_model = path.with_extension("toml");
    if env::var_os("WRITE_MODELS").is_some() {
        fs::write(&of_model, print(model)).expect("a model file");
    }
    let text = fs::read_to_string(&of_model).expect("a model file");
    assert_eq!(text, print(model), "{name}: the model is computed anew");
    assert_eq!(parse(&text).as_ref(), Ok(model), "{name}");
    let text = fs::read_to_string(path.with_extension("json")).expect("a schedule file");
    let schedule = schedule::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let checked = check(&schedule, Some(model)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let of = |claim: fn(&Claim) -> Option<i64>| checked.claims.iter().find_map(claim);
    let makespan = |claim: &Claim| if let Claim::Runs { value } = claim { Some(value.0) } else { None };
    let bound = |claim: &Claim| if let Claim::LowerBound { value } = claim { Some(value.0) } else { None };
    let searched = |claim: &Claim| {
        if let Claim::Searched { none_below, .. } = claim { Some(none_below.0) } else { None }
    };
    let makespan = of(makespan).expect("it runs");
    Found {
        makespan,
        bound: of(bound).expect("a bound"),
        is_searched: of(searched) == Some(makespan),
        peak: checked.verdict.peak_memory_max().0,
    }
}

/// What layers take on the devices that ran them. What the first and the last stage take beyond that is not of their layers.
struct Network {
    /// F and B of a unit of layers on each device, times `parts`.
    device: Vec<[i64; 2]>,
    parts: i64,
    first: [i64; 2],
    last: [i64; 2],
    delay: Ticks,
    microbatches: u32,
}

fn median(values: impl Iterator<Item = i64>) -> i64 {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    quantile(&values, 1, 2).expect("inner stages")
}

impl Network {
    /// Of a profile whose stages have so many units of layers each. With one stage on each device, each device keeps its own
    /// speed, and the last one, of which nobody knows what the head takes, has the median of the inner ones.
    fn of(model: &Model, units: i64) -> Self {
        let (costs, stages) = (model.costs(), model.stages() as usize);
        let lists = [&costs.forward, &costs.backward_input];
        let inner = lists.map(|list| median(list[1..stages - 1].iter().map(|ticks| ticks.0)));
        let at = |stage: usize| lists.map(|list| list[stage].0);
        let beyond = |stage: usize| [at(stage)[0] - inner[0], at(stage)[1] - inner[1]];
        let is_linear = model.devices() == model.stages();
        let device = (0..model.devices() as usize)
            .map(|device| if is_linear && device + 1 < stages { at(device) } else { inner })
            .collect();
        let delay: i64 = costs.communication.iter().map(|ticks| ticks.0).sum();
        Self {
            device,
            parts: units,
            first: if is_linear { [0; 2] } else { beyond(0) },
            last: beyond(stages - 1),
            delay: Ticks(delay / i64::try_from(costs.communication.len()).expect("a few")),
            microbatches: model.microbatches(),
        }
    }

    /// The model of stages with so many units of layers, each of which a stage holds from F to B.
    fn cut(&self, name: &str, source: &str, placement: &Placement, units: &[i64], memory: i64) -> Model {
        let last = units.len() - 1;
        let of = |kind: usize| {
            let stage = |stage: Stage| {
                let device = placement.device_of(stage).index();
                let layers = self.device[device][kind] * units[stage.index()] / self.parts;
                let first = if stage.index() == 0 { self.first[kind] } else { 0 };
                let last = if stage.index() == last { self.last[kind] } else { 0 };
                Ticks(layers + first + last)
            };
            Stage::all(placement.stages()).map(stage).collect()
        };
        let costs = Costs {
            unit: "ns".to_owned(),
            forward: of(0),
            backward_input: of(1),
            backward_weight: vec![Ticks::ZERO; units.len()],
            communication: vec![self.delay; last],
        };
        let memory = Memory {
            unit: "layer-activation".to_owned(),
            activation: units.iter().map(|&units| Units(units)).collect(),
            retained_for_weight: vec![Units::ZERO; units.len()],
            checkpoint: None,
            weights: vec![Units::ZERO; units.len()],
            capacity: vec![Some(Units(memory)); placement.devices() as usize],
        };
        let (name, source) = (name.to_owned(), Some(source.to_owned()));
        Model::new(name, source, placement.clone(), self.microbatches, costs, memory).expect("a model")
    }
}

/// The model of what ran, with a capacity of what its own order holds, and that order's makespan.
fn own(name: &str, files: &[&str]) -> (Model, i64) {
    let traces: Vec<_> = files.iter().map(|file| trace(file)).collect();
    let fitted = profile(name, &traces).expect("a model").without_step().without_messages().model;
    let schedule = &traces[0].schedule;
    let ran = replay(&fitted, schedule);
    assert!(ran.is_valid(), "{name}: {:?}", ran.violations);
    let capacity = ran.peak_memory_max();
    let model = fitted.with_uniform_capacity(capacity).expect("a capacity");
    (model, ran.timing.expect("it runs").metrics.makespan.0)
}

/// A row of the table: a run as predicted, and the best that was found instead.
fn line(report: &mut String, what: [&str; 2], peak: i64, ran: i64, found: i64, bound: i64, proof: &str) {
    let [run, instead] = what;
    let gain = if found == ran { "none".to_owned() } else { format!("{} %", signed(found - ran, ran)) };
    writeln!(
        report,
        "| {run} | {instead} | {peak} | {} | {} | {gain} | {} | {proof} |",
        milliseconds(ran),
        milliseconds(found),
        milliseconds(bound),
    )
    .expect("a string");
}

#[test]
fn what_ran_could_be_shorter_within_its_memory_as_the_page_says() {
    let mut report = String::new();
    let st = ["bytedance-st-dp0.json", "bytedance-st-dp1.json"];
    let ar = ["bytedance-ar-dp0.json", "bytedance-ar-dp1.json"];
    for (run, files) in [
        ("ByteDance ST", st.as_slice()),
        ("ByteDance AR", ar.as_slice()),
        ("Primus, 1F1B", &["primus-1f1b.json"]),
    ] {
        let (model, ran) = own("measured", files);
        let bound = lower_bound(&model, Objective::Makespan).value.0;
        assert_eq!(bound, ran, "{run}: nothing is shorter");
        let peak = model.capacity(bubbleproof::model::Device(0)).expect("a capacity").0;
        line(&mut report, [run, "its own cut"], peak, ran, ran, bound, "certificate");
    }
    for (run, file, name) in [
        ("Primus, interleaved", "primus-interleaved.json", "primus-interleaved"),
        ("MegatronApp", "megatronapp-interleaved.json", "megatronapp"),
    ] {
        let (model, ran) = own(name, &[file]);
        let found = committed(name, &model);
        let proof = if found.is_searched { "exhaustive search" } else { "open" };
        line(&mut report, [run, "its own cut"], found.peak, ran, found.makespan, found.bound, proof);
    }
    report.push_str(&other_cuts());
    insta::assert_snapshot!("better", report);
    assert_eq!(report, table("better"), "docs/measured.md has other figures");
}

/// What other cuts of the same layers would do, as predicted from what ran, within its memory.
fn other_cuts() -> String {
    let mut report = String::new();
    let (primus, ran) = own("measured", &["primus-1f1b.json"]);
    let network = Network::of(&primus, 8);
    let own_cut = network.cut("own", "", primus.placement(), &[8; 8], 64);
    for kind in [&own_cut.costs().forward, &own_cut.costs().backward_input] {
        let measured = if *kind == own_cut.costs().forward {
            &primus.costs().forward
        } else {
            &primus.costs().backward_input
        };
        assert_eq!(kind, measured, "its own cut takes what it took");
    }
    let (layers, cut, makespan) = by_moves(&network, primus.placement(), &[8; 8], 64);
    let bound = lower_bound(&cut, Objective::Makespan).value.0;
    let proof = if makespan == bound { "certificate" } else { "open" };
    let listed: Vec<String> = layers.iter().map(i64::to_string).collect();
    let instead = format!("{} layers, still 1F1B", listed.join(" "));
    line(&mut report, ["Primus, 1F1B", &instead], 8, ran, makespan, bound, proof);
    let v = Placement::v(8).expect("a placement");
    let source = "primus-1f1b.json: its layers in 16 stages, each rank as fast as it was, and the head of rank 7 on rank 0";
    let model = network.cut("primus-v", source, &v, &[4; 16], 64);
    let found = committed("primus-v", &model);
    let proof = if found.makespan == found.bound { "certificate" } else { "open" };
    line(
        &mut report,
        ["Primus, 1F1B", "V, 4 layers in each of 16 stages"],
        found.peak / 8,
        ran,
        found.makespan,
        found.bound,
        proof,
    );

    let (megatron, ran) = own("measured", &["megatronapp-interleaved.json"]);
    let network = Network::of(&megatron, 1);
    let v = Placement::v(4).expect("a placement");
    let source = "megatronapp-interleaved.json: its 16 chunks without the head are units of layers, and all inner ones are alike";
    let model = network.cut("megatronapp-v", source, &v, &MEGATRON, 19);
    let found = committed("megatronapp-v", &model);
    let proof = if found.makespan == found.bound { "certificate" } else { "open" };
    let cut = "V, 2 2 3 3 2 2 2 0 of its 16 chunks in 8 stages";
    line(&mut report, ["MegatronApp", cut], found.peak, ran, found.makespan, found.bound, proof);
    report
}

/// The cut at which moves of single layers no longer shorten 1F1B within the memory, with its model and makespan.
fn by_moves(network: &Network, placement: &Placement, from: &[i64], memory: i64) -> (Vec<i64>, Model, i64) {
    let makespan = |layers: &[i64]| {
        let model = network.cut("cut", "", placement, layers, memory);
        let schedule = catalog::find("1f1b").expect("a known name").generate(&model).ok()?;
        let ran = replay(&model, &schedule);
        ran.is_valid().then(|| ran.timing.expect("it runs").metrics.makespan.0)
    };
    let mut best = (makespan(from).expect("it fits"), from.to_vec());
    loop {
        let here = best.1.clone();
        for from in 0..here.len() {
            for to in (0..here.len()).filter(|&to| to != from && here[from] > 0) {
                let mut layers = here.clone();
                layers[from] -= 1;
                layers[to] += 1;
                if let Some(found) = makespan(&layers).filter(|&found| found < best.0) {
                    best = (found, layers);
                }
            }
        }
        if best.1 == here {
            let model = network.cut("cut", "", placement, &here, memory);
            return (here, model, best.0);
        }
    }
}

/// How many of the 16 chunks of MegatronApp each of 8 stages gets. The last one has the head alone.
const MEGATRON: [i64; 8] = [2, 2, 3, 3, 2, 2, 2, 0];

/// What would be left to gain for ST, whose last stage takes 1.6 times as long as the others, if its work could be divided at will.
#[test]
fn balanced_stages_would_shorten_st_as_the_page_says() {
    let (model, ran) = own("measured", &["bytedance-st-dp0.json", "bytedance-st-dp1.json"]);
    let even = |of: &[Ticks]| {
        let sum: i64 = of.iter().map(|ticks| ticks.0).sum();
        vec![Ticks(sum / i64::from(model.stages())); of.len()]
    };
    let costs = model.costs();
    let (forward, backward_input) = (even(&costs.forward), even(&costs.backward_input));
    let balanced =
        model.with_costs(Costs { forward, backward_input, ..costs.clone() }).expect("as much work");
    let schedule = catalog::find("1f1b").expect("a known name").generate(&balanced).expect("it fits");
    let makespan = replay(&balanced, &schedule).timing.expect("it runs").metrics.makespan.0;
    let text = format!(
        "{} instead of {} ms ({} %)",
        milliseconds(makespan),
        milliseconds(ran),
        signed(makespan - ran, ran)
    );
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/measured.md")).expect("a page");
    assert!(page.contains(&text), "docs/measured.md lacks: {text}");
}
