use std::collections::BTreeMap;

use serde_json::Value;

use super::*;
use crate::block::family;
use crate::model::{Kind, Links, Memory, Messages, Offload, StepEnd};
use crate::replay::replay;
use crate::schedule::Offloaded;

/// The schedule of a shipped family, with F, I and W of these durations and latencies in this unit.
fn problem(name: &str, devices: u32, times: [i64; 4], unit: &str) -> (Model, Schedule) {
    let block = family::shipped(name).expect("it is shipped").block(devices).expect("within the domain");
    let equal = Model::equal_stages(block.placement().clone(), 9, times).expect("a model");
    let costs = Costs { unit: unit.to_owned(), ..equal.costs().clone() };
    let (placement, memory) = (equal.placement().clone(), equal.memory().clone());
    let model = Model::new("m".to_owned(), None, placement, 9, costs, memory).expect("a model");
    let schedule = block.expand(&model, 9).expect("a schedule").named(name);
    (model, schedule)
}

fn trace((model, schedule): &(Model, Schedule)) -> Result<String, TraceError> {
    let verdict = replay(model, schedule);
    assert!(verdict.is_valid());
    let mut text = Vec::new();
    write(model, schedule, &verdict.timing.expect("it runs"), &mut text)?;
    Ok(String::from_utf8(text).expect("UTF-8"))
}

fn events(trace: &Value, phase: &str) -> Vec<Value> {
    let events = trace["traceEvents"].as_array().expect("a list").iter();
    events.filter(|event| event["ph"] == phase).cloned().collect()
}

/// A time in nanoseconds.
fn nanoseconds(value: &Value) -> i64 {
    let text = value.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let part: i64 = format!("{part:0<3}").parse().expect("three decimals");
    whole.parse::<i64>().expect("a number") * 1_000 + part
}

#[test]
fn a_trace_reads_as_it_should() {
    let (model, schedule) = problem("v-half", 2, [3, 4, 2, 1], "ns");
    let schedule = Schedule::new(
        schedule.placement().clone(),
        1,
        schedule.orders().iter().map(|order| first_microbatch(order)).collect(),
    );
    insta::assert_snapshot!(trace(&(model, schedule.expect("a schedule"))).expect("a trace"));
}

fn first_microbatch(order: &[Pass]) -> Vec<Pass> {
    order.iter().copied().filter(|pass| pass.microbatch.0 == 0).collect()
}

/// A pass of a thread: start, end and name.
type Event = (i64, i64, String);

/// What the importer of the Perfetto UI and the format ask for.
#[test]
fn events_of_a_thread_nest_and_every_flow_binds_to_its_passes() {
    for name in ["1f1b", "zb-h2", "v-min", "v-half", "interleaved-1f1b-2"] {
        for (times, unit) in
            [([1, 1, 1, 0], "tick"), ([3, 4, 2, 1], "ns"), ([18_522, 18_086, 9_337, 601], "us")]
        {
            let problem = problem(name, 4, times, unit);
            let (model, schedule) = &problem;
            let trace: Value = serde_json::from_str(&trace(&problem).expect("a trace")).expect("JSON");
            let passes = events(&trace, "X");
            assert_eq!(passes.len(), schedule.len(), "{name}");
            let known = ["M", "X", "C", "s", "f"];
            let all = trace["traceEvents"].as_array().expect("a list");
            assert_eq!(known.iter().map(|phase| events(&trace, phase).len()).sum::<usize>(), all.len());

            // By process and thread, in order: each ends before the next one starts.
            let mut threads: BTreeMap<(i64, i64), Vec<Event>> = BTreeMap::new();
            for pass in &passes {
                let key = (pass["pid"].as_i64().expect("a number"), pass["tid"].as_i64().expect("a number"));
                let start = nanoseconds(&pass["ts"]);
                let name = pass["name"].as_str().expect("a name").to_owned();
                threads.entry(key).or_default().push((start, start + nanoseconds(&pass["dur"]), name));
            }
            assert_eq!(threads.len(), schedule.devices() as usize);
            for (key, passes) in &threads {
                assert!(passes.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{name}: {key:?}");
            }

            // The process is the device that holds the stage.
            for pass in &passes {
                let parsed: Pass = pass["name"].as_str().expect("a name").parse().expect("a pass");
                let device = model.placement().device_of(parsed.stage);
                assert_eq!(pass["pid"], device.0, "{parsed}");
                assert_eq!(pass["args"]["microbatch"], parsed.microbatch.0);
            }

            // A flow begins within the pass that sends and finishes where the one that receives starts.
            let enclosing = |event: &Value| -> &str {
                let at = nanoseconds(&event["ts"]);
                let key =
                    (event["pid"].as_i64().expect("a number"), event["tid"].as_i64().expect("a number"));
                let found = threads[&key].iter().find(|(start, end, _)| *start <= at && at < *end);
                &found.expect("a pass runs then").2
            };
            let (begins, ends) = (events(&trace, "s"), events(&trace, "f"));
            assert_eq!(begins.len(), ends.len());
            let boundaries = (1..model.stages()).filter(|&stage| {
                model.placement().device_of(Stage(stage - 1)) != model.placement().device_of(Stage(stage))
            });
            assert_eq!(begins.len(), 2 * boundaries.count() * 9, "{name}: an activation and a gradient each");
            for (begin, end) in begins.iter().zip(&ends) {
                assert_eq!(begin["id"], end["id"]);
                assert_eq!((&begin["name"], &begin["cat"]), (&end["name"], &end["cat"]));
                assert_eq!(end["bp"], "e");
                let (sender, receiver) = (enclosing(begin), enclosing(end));
                assert_eq!(
                    (&begin["args"]["from"], &begin["args"]["to"]),
                    (&sender.into(), &receiver.into())
                );
                let (sender, receiver): (Pass, Pass) =
                    (sender.parse().expect("a pass"), receiver.parse().expect("a pass"));
                assert_eq!(sender.microbatch, receiver.microbatch);
                let is_forward = sender.kind == Kind::F;
                assert_eq!(begin["name"], if is_forward { "activation" } else { "gradient" });
                let next = if is_forward { sender.stage.0 + 1 } else { sender.stage.0 - 1 };
                assert_eq!((receiver.stage.0, receiver.kind), (next, sender.kind));
                assert!(nanoseconds(&begin["ts"]) < nanoseconds(&end["ts"]));
                assert_ne!(begin["pid"], end["pid"]);
            }

            // Counters rise to the peak of replay and end at nothing, in the order of time.
            let peaks = replay(model, schedule).peak_memory;
            for (device, peak) in peaks.iter().enumerate() {
                let counters: Vec<(i64, i64)> = events(&trace, "C")
                    .iter()
                    .filter(|event| event["pid"] == device)
                    .map(|event| (nanoseconds(&event["ts"]), event["args"]["stage-activation"].as_i64()))
                    .map(|(at, live)| (at, live.expect("an amount")))
                    .collect();
                assert_eq!(counters.iter().map(|&(_, live)| live).max(), Some(peak.0));
                assert_eq!(counters.last().map(|&(_, live)| live), Some(0));
                assert!(counters.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            }
            assert_eq!(events(&trace, "M").len(), 3 * schedule.devices() as usize);
        }
    }
}

#[test]
fn weights_are_in_memory_from_the_beginning_to_the_end() {
    let (model, schedule) = problem("1f1b", 2, [1, 1, 1, 0], "us");
    let memory = Memory { weights: vec![Units(5); 2], ..model.memory().clone() };
    let (placement, costs) = (model.placement().clone(), model.costs().clone());
    let model = Model::new("m".to_owned(), None, placement, 9, costs, memory).expect("a model");
    let text = trace(&(model, schedule)).expect("a trace");
    let trace: Value = serde_json::from_str(&text).expect("JSON");
    let of_device = |device: u32| -> Vec<(i64, Value)> {
        let counters = events(&trace, "C").into_iter().filter(|event| event["pid"] == device);
        let live = |event: Value| (nanoseconds(&event["ts"]), event["args"]["stage-activation"].clone());
        counters.map(live).collect()
    };
    assert_eq!(of_device(0)[0], (0, 6.into()), "the first pass acquires at once");
    assert_eq!(of_device(1)[..2], [(0, 5.into()), (1_000, 6.into())]);
    assert!((0..2).all(|device| of_device(device).last().is_some_and(|(_, live)| *live == 5)));
}

#[test]
fn ticks_keep_their_length_where_they_have_one() {
    for (unit, shown, statement) in [
        ("ns", "0.003", "1 tick is 1 ns, shown as 0.001 us"),
        ("us", "3", "1 tick is 1 us, shown as 1 us"),
        ("ms", "3000", "1 tick is 1 ms, shown as 1000 us"),
        ("s", "3000000", "1 tick is 1 s, shown as 1000000 us"),
        ("tick", "3", "1 tick is 1 tick, which has no length in seconds; shown as 1 us"),
    ] {
        let text = trace(&problem("1f1b", 2, [3, 4, 2, 1], unit)).expect("a trace");
        let trace: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(trace["otherData"]["ticks"], statement);
        assert!(text.contains(&format!("\"ts\":0,\"dur\":{shown},")), "{unit}");
    }
}

#[test]
fn what_cannot_be_said_exactly_is_refused() {
    let long = trace(&problem("1f1b", 2, [1 << 40, 1, 1, 0], "us")).expect_err("too long");
    assert!(matches!(long, TraceError::TooLong { .. }), "{long}");
    let (model, schedule) = problem("1f1b", 2, [1, 1, 1, 0], "us");
    let mut memory = model.memory().clone();
    memory.activation = vec![Units(1 << 53); 2];
    memory.retained_for_weight = vec![Units(1 << 53); 2];
    let (placement, costs) = (model.placement().clone(), model.costs().clone());
    let model = Model::new("m".to_owned(), None, placement, 9, costs, memory).expect("a model");
    let much = trace(&(model, schedule)).expect_err("too much");
    assert!(matches!(much, TraceError::TooMuch(_)), "{much}");
}

/// Every task beside the passes is an event of its own thread: those of links, of copies, of collective streams, and the
/// optimiser steps on the threads of passes.
#[test]
fn what_runs_beside_the_passes_is_in_the_trace() {
    let (model, schedule) = problem("1f1b", 2, [3, 2, 2, 0], "us");
    let messages = Messages { occupancy: vec![Ticks(2)], links: Links::Pair };
    let offload =
        Offload { moved: vec![Units(1); 2], to_host: vec![Ticks(1); 2], from_host: vec![Ticks(1); 2] };
    let step = StepEnd { reduce: vec![Ticks(3), Ticks(2)], optimizer: vec![Ticks(4), Ticks(5)] };
    let model = model.with_messages(Some(messages)).and_then(|model| model.with_offload(Some(offload)));
    let model = model.and_then(|model| model.with_step(Some(step))).expect("a model");
    let second = "0F1".parse().expect("a pass");
    let backward =
        schedule.order(Device(0)).iter().position(|&pass| pass == Pass { kind: Kind::I, ..second });
    let offloaded = Offloaded { pass: second, freed: 2, fetched: backward.expect("it is there") };
    let schedule = schedule.with_offloads(vec![vec![offloaded], Vec::new()]).expect("offloads");
    let verdict = replay(&model, &schedule);
    let timing = verdict.timing.clone().expect("it runs");
    let trace: Value =
        serde_json::from_str(&trace(&(model, schedule.clone())).expect("a trace")).expect("JSON");
    let events = events(&trace, "X");
    let of = |category: &str| -> Vec<(i64, i64, String, i64, i64)> {
        let events = events.iter().filter(|event| event["cat"] == category);
        let number = |value: &Value| value.as_i64().expect("a number");
        events
            .map(|event| {
                let (start, end) = (number(&event["args"]["start_tick"]), number(&event["args"]["end_tick"]));
                assert_eq!(nanoseconds(&event["ts"]), start * 1000);
                assert_eq!(nanoseconds(&event["dur"]), (end - start) * 1000);
                let name = event["name"].as_str().expect("a name").to_owned();
                (number(&event["pid"]), number(&event["tid"]), name, start, end)
            })
            .collect()
    };
    let [first, last] = [0, 1].map(|stage: usize| &timing.step[stage]);
    let job = |process: i64, thread: i64, name: &str, during: &std::ops::Range<Ticks>| {
        (process, thread, name.to_owned(), during.start.0, during.end.0)
    };
    assert_eq!(
        of("reduction"),
        [job(0, 4, "gradients of stage 0", &first.reduce), job(1, 4, "gradients of stage 1", &last.reduce)]
    );
    assert_eq!(
        of("optimizer"),
        [
            job(0, 0, "optimiser step of stage 0", &first.optimizer),
            job(1, 0, "optimiser step of stage 1", &last.optimizer)
        ]
    );
    let copies = &timing.copies[0];
    assert_eq!(
        of("copy"),
        [
            job(0, 2, "activation of 0F1", &copies.to_host[0].1),
            job(0, 3, "activation of 0F1", &copies.from_host[0].1)
        ]
    );
    let sent = timing.links.iter().zip(2..).flat_map(|(link, process)| {
        link.messages.iter().map(move |(by, during)| {
            let what = if by.kind == Kind::F { "activation" } else { "gradient" };
            job(process, 0, &format!("{what} of {by}"), during)
        })
    });
    let sent: Vec<_> = sent.collect();
    assert_eq!(of("link"), sent);
    assert_eq!(events.len(), schedule.len() + 2 + 2 + 2 + sent.len());
}
