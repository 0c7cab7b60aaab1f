use std::fmt::Write as _;
use std::ops::RangeInclusive;

use num_rational::Ratio;
use proptest::prelude::*;

use super::*;
use crate::block::family::{Family, Promise, SHIPPED, parse_promise, shipped};
use crate::model::{Costs, Device, Model, Ticks};
use crate::replay::replay;
use crate::stop::Stop;

mod exact;
mod families;
mod sizes;
mod waits;

fn family(name: &str) -> Family {
    shipped(name).expect("it is shipped")
}

/// The family's own model with other durations and a latency.
fn model(
    family: &Family,
    devices: u32,
    microbatches: u32,
    [forward, input, weight, latency]: [i64; 4],
) -> Model {
    let own = family.model(devices, microbatches).expect("within the domain");
    let stages = own.placement().stages() as usize;
    let costs = Costs {
        forward: vec![Ticks(forward); stages],
        backward_input: vec![Ticks(input); stages],
        backward_weight: vec![Ticks(weight); stages],
        communication: vec![Ticks(latency); stages - 1],
        ..own.costs().clone()
    };
    let memory = own.memory().clone();
    Model::new(own.name().to_owned(), None, own.placement().clone(), microbatches, costs, memory)
        .expect("a model")
}

/// What replay says of the squeezed order.
fn makespan(family: &Family, devices: u32, microbatches: u32, durations: [i64; 4]) -> i128 {
    let own = family.model(devices, microbatches).expect("within the domain");
    let schedule = family.block(devices).expect("a block").expand(&own, microbatches).expect("small");
    let verdict = replay(&model(family, devices, microbatches, durations), &schedule);
    verdict.timing.expect("it does not deadlock").metrics.makespan.0.into()
}

#[test]
fn the_theorems_of_the_shipped_families() {
    let mut text = String::new();
    for (name, _) in SHIPPED {
        let claims =
            Witness::of(&family(name), &Stop::default()).expect("regular").check().expect("it holds");
        for claim in claims {
            writeln!(text, "{name}: {}: {claim}", claim.name).expect("texts grow");
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_peak_of_the_tables_is_that_of_the_block_algebra() {
    for (name, _) in SHIPPED {
        let family = family(name);
        let peaks = peak::peak(&graph::Classes::of(&family).expect("regular")).expect("regular");
        for devices in 1..=24 {
            let block = family.block(devices).expect("a block");
            let expected = block.steady_peak(&family.model(devices, 1).expect("a model"));
            for device in Device::all(devices) {
                let found = peaks.value(device.0.into(), devices.into());
                assert_eq!(found, expected[device.index()].0.into(), "{name}: device {device} of {devices}");
            }
        }
    }
}

/// Holds the bounds on the makespan against replay: those that are exact must be reached.
fn hold_against_replay(
    family: &Family,
    witness: &Witness,
    devices: RangeInclusive<u32>,
    microbatches: &[u32],
) {
    let residues = witness.intervals()[0].residues;
    let durations = makespan::point(family.durations).map(|value| i64::try_from(value).expect("small"));
    for devices in devices {
        let s = i128::from(devices) % residues;
        let Some(bound) = witness.makespans().iter().find(|bound| bound.residue == s) else { continue };
        let (slope, constant) = bound.line(residues);
        for &microbatches in microbatches {
            let line = slope * i128::from(devices) + constant;
            let one = bound.exception().filter(|_| i128::from(devices) == s).unwrap_or(line);
            let at = one + bound.interval() * i128::from(microbatches - 1);
            let found = Ratio::from_integer(makespan(family, devices, microbatches, durations));
            let exact = bound.rotor.as_ref().is_some_and(|rotor| i128::from(devices) >= rotor.devices);
            let name = &family.name;
            let message = format!("{name}: d = {devices}, m = {microbatches}: {found}, bound {at}");
            assert!(if exact { found == at } else { found <= at }, "{message}");
        }
    }
}

#[test]
fn no_makespan_is_above_its_bound_and_a_rotor_reaches_it() {
    for (name, _) in SHIPPED {
        let family = family(name);
        let witness = Witness::of(&family, &Stop::default()).expect("regular");
        let microbatches: Vec<u32> = (1..=12).chain([29]).collect();
        hold_against_replay(&family, &witness, 1..=13, &microbatches);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn the_interval_is_what_replay_repeats_with(
        which in 0..SHIPPED.len(),
        devices in 1..11_u32,
        forward in 0..7_i64,
        input in 0..7_i64,
        weight in 0..7_i64,
        latency in prop_oneof![Just(0_i64), 0..5_i64],
    ) {
        // A device without any work is no model.
        prop_assume!(forward + input + weight > 0);
        let family = family(SHIPPED[which].0);
        let intervals = squeezed_intervals(&family, latency > 0, &Stop::default()).expect("regular");
        let s = i128::from(devices) % intervals.residues;
        let case = intervals.cases.iter().find(|case| case.residue == s).expect("it occurs");
        let point = [forward, input, weight, latency];
        let wide = point.map(i128::from);
        let largest = case.rates().iter().map(|rate| rate.at(wide)).max().expect("there is one");
        // Long after the transient, over as many microbatches as any cycle here advances.
        let (from, more) = (120_u32, 12_u32);
        let grown = makespan(&family, devices, from + more, point) - makespan(&family, devices, from, point);
        let rate = Ratio::new(grown, more.into());
        prop_assert!(rate <= largest, "{}: {rate} > {largest}", family.name);
        let there = |term: &&IntervalTerm| term.attained.as_ref().is_some_and(|at| at.devices <= devices.into());
        if let Some(attained) = case.terms.iter().filter(there).map(|term| term.rate.at(wide)).max() {
            prop_assert!(rate >= attained, "{}: {rate} < {attained}", family.name);
        }
    }
}

/// Every change of a number in a witness that a check could be blind to.
#[test]
fn altered_witnesses_are_rejected() {
    let witness = Witness::of(&family("v-min"), &Stop::default()).expect("regular");
    let original = serde_json::to_value(&witness).expect("it can be written");
    let mut changed = 0;
    let mut paths = Vec::new();
    numbers(&original, &mut Vec::new(), &mut paths);
    // One number in many, everywhere in the file.
    for path in paths.iter().step_by(41) {
        for by in [-1, 1] {
            let mut altered = original.clone();
            let place = path.iter().fold(&mut altered, |place, step| match step {
                Step::Key(key) => &mut place[key.as_str()],
                Step::Position(position) => &mut place[*position],
            });
            *place = (place.as_i64().expect("a number") + by).into();
            let Ok(altered) = serde_json::from_value::<Witness>(altered) else { continue };
            changed += 1;
            let claims = altered.check();
            // A start that is earlier or later within its slack proves the same.
            assert!(claims.is_err() || claims == witness.check(), "{path:?} by {by}");
        }
    }
    assert!(changed > 100, "{changed}");
}

#[derive(Debug, Clone)]
enum Step {
    Key(String),
    Position(usize),
}

/// The paths to all numbers.
fn numbers(value: &serde_json::Value, path: &mut Vec<Step>, paths: &mut Vec<Vec<Step>>) {
    match value {
        serde_json::Value::Number(_) => paths.push(path.clone()),
        serde_json::Value::Array(values) => {
            for (position, value) in values.iter().enumerate() {
                path.push(Step::Position(position));
                numbers(value, path, paths);
                path.pop();
            }
        }
        serde_json::Value::Object(values) => {
            for (key, value) in values {
                path.push(Step::Key(key.clone()));
                numbers(value, path, paths);
                path.pop();
            }
        }
        _ => {}
    }
}

/// What a false claim is rejected for.
#[test]
fn a_false_witness_is_rejected_for_the_right_reason() {
    let original = serde_json::to_value(Witness::of(&family("v-min"), &Stop::default()).expect("regular"))
        .expect("it can be written");
    let rejected = |mut altered: serde_json::Value, path: &str, value: serde_json::Value| {
        *altered.pointer_mut(path).expect("it is there") = value;
        let witness: Witness = serde_json::from_value(altered).expect("the form is kept");
        witness.check().expect_err("it is false").to_string()
    };
    let text = original["family"].as_str().expect("a text");
    let pop = |path: &str| {
        let mut list = original.pointer(path).expect("it is there").clone();
        list.as_array_mut().expect("a list").pop();
        list
    };
    let one_term_less = pop("/periods/0/cases/0/terms");
    let reasons = [
        ("/family", text.replace("if(d mod 3 = 0, 2, 0)", "0").into()),
        ("/format", "bubbleproof-witness-0".into()),
        ("/peak/constants/7", 1.into()),
        ("/periods/0/cases", pop("/periods/0/cases")),
        ("/periods/0/cases/0/terms", one_term_less),
        ("/periods/0/cases/0/terms", Vec::<serde_json::Value>::new().into()),
        ("/periods/0/cases/0/terms/1/rate/ticks/1", 5.into()),
        ("/periods/0/cases/0/terms/1/rate/copies", u64::MAX.into()),
        ("/periods/0/cases/0/terms/0/starts/1/by_pass/0/0", 999.into()),
        ("/periods/0/cases/0/terms/0/starts/1/tilt", 9.into()),
        ("/periods/0/cases/0/terms/0/starts/1/lambda", 9.into()),
        ("/periods/0/cases/0/terms/1/starts/0/scale", u64::MAX.into()),
        ("/periods/0/cases/0/terms/1/attained/devices", 0.into()),
        ("/periods/0/cases/0/terms/1/attained/cycle/0/1", 1.into()),
        ("/makespans/4/starts/by_pass", pop("/makespans/4/starts/by_pass")),
        ("/makespans/4/constant", 0.into()),
        ("/makespans/4/rotor/cycle/0/0", "W0".into()),
    ]
    .map(|(path, value)| rejected(original.clone(), path, value));
    insta::assert_snapshot!(reasons.join("\n"));
}

#[test]
fn promises_about_all_durations_are_decided_by_the_intervals() {
    let free = "tW + 2*tI >= 2*tF and tW + 2*tF >= 2*tI";
    for (name, when, expected) in [
        ("v-half", free, "proved"),
        ("v-half", "tF = tI", "proved"),
        ("v-half", "tF = tI or 2*tW >= 4*tI + 4*tF", "proved"),
        (
            "v-half",
            "tW + 2*tI >= 2*tF",
            "d = 2: with tF = 0, tI = 1, tW = 0 a microbatch takes 4 ticks in the long run, and a device works 2 for it",
        ),
        (
            "v-min",
            free,
            "d = 3: with tF = 1, tI = 1, tW = 0 a microbatch takes 6 ticks in the long run, and a device works 4 for it",
        ),
        ("v-min", "tI + tW >= 2*tF and tF + tW >= 2*tI", "proved"),
        ("v-zb", "tF >= 0", "proved"),
        ("1f1b", "0 <= tW", "proved"),
        (
            "linear-half",
            "tF >= 0",
            "d = 2: with tF = 0, tI = 1, tW = 0 a microbatch takes 2 ticks in the long run, and a device works 1 for it",
        ),
        ("linear-half", "tW >= tF + tI", "proved"),
        ("interleaved-1f1b-2", "tF >= 0", "not attained: 3tF"),
    ] {
        let family = family(name);
        let promise = parse_promise(&format!("bubble = 0 when {when}"));
        let Ok(Promise::BubbleFree(promise)) = promise else { panic!("{when}: {promise:?}") };
        let intervals = squeezed_intervals(&family, false, &Stop::default()).expect("regular");
        let found = match bubble_freedom(&family, &promise, &intervals).expect("replay agrees") {
            BubbleFreedom::Proved => "proved".to_owned(),
            BubbleFreedom::Refuted(slow) => format!("d = {}: {slow}", slow.devices),
            BubbleFreedom::Unknown(rate) => format!("not attained: {rate}"),
        };
        assert_eq!(found, expected, "{name}: {when}");
    }
}
