use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::residues::Residues;
use super::survey::Sample;
use super::term::{Place, Term};
use super::*;
use crate::block::family::{
    Durations, Family, Layout, Offset, SHIPPED, Variable, parse, parse_condition, parse_formula, shipped,
};
use crate::model::{Device, Kind, Ticks};
use crate::stop::Stop;

/// Asserts that what the files say is what the block algebra says, for up to this many devices.
fn assert_agreement(family: &Family, most: u32) {
    let theorems = theorems(family).expect("well formed");
    for sample in (1..=most).filter_map(|devices| Sample::of(family, devices)) {
        let devices = sample.devices();
        for theorem in &theorems {
            // Where there is no block, only what says so is about the same thing.
            if sample.no_block().is_some() && theorem.subject != TheoremSubject::Room {
                continue;
            }
            let first = Device::all(devices).find(|&device| theorem.holds(device, devices) == Some(false));
            let found = sample.violation(&theorem.subject).map(|counterexample| counterexample.device);
            assert_eq!(first, found, "d = {devices}: {}: {}", theorem.name, theorem.statement);
        }
    }
}

#[test]
fn the_files_of_shipped_families_say_what_the_block_algebra_says() {
    for (name, _) in SHIPPED {
        let family = shipped(name).expect("it is shipped");
        assert_agreement(&family, SURVEYED);
    }
}

fn family(name: &str, text: &str) -> Family {
    Family { name: name.to_owned(), ..parse(text).expect("a family") }
}

fn text_of(name: &str) -> &'static str {
    SHIPPED.into_iter().find(|(other, _)| *other == name).expect("it is shipped").1
}

#[test]
fn a_theorem_is_a_file_that_states_it_in_words() {
    let theorems = theorems(&shipped("1f1b").expect("it is shipped")).expect("well formed");
    let collisions = theorems.iter().find(|theorem| theorem.subject == TheoremSubject::Collisions);
    insta::assert_snapshot!(collisions.expect("there is one").smt_lib(Expected::Unsat));
}

#[test]
fn no_name_escapes_from_the_comments_of_a_file() {
    let family = family("x\n(assert false)\r(exit)", text_of("1f1b"));
    for theorem in theorems(&family).expect("well formed") {
        let text = theorem.smt_lib(Expected::Unknown);
        let asserted = text.lines().filter(|line| line.starts_with("(assert")).count();
        let script = text::script(&theorem, &[]);
        let meant = script.commands().iter().filter(|command| command.operator() == Some("assert")).count();
        assert_eq!(asserted, meant, "{text}");
        assert!(!text.contains("\n(assert false)") && !text.contains("\n(exit)") && !text.contains('\r'));
    }
}

#[test]
fn a_family_for_no_number_of_devices_has_no_theorems() {
    let domain = parse_condition("d mod 2 = 0 and d mod 2 = 1", &[Variable::Devices]).expect("a condition");
    let family = Family { domain: domain.clone(), ..shipped("1f1b").expect("it is shipped") };
    let error =
        prove(&family, &Stop::default(), Duration::from_secs(1), |_| ()).expect_err("nothing to prove");
    assert_eq!(error, ProveError::EmptyDomain { domain, most: 4096 });
}

#[test]
fn a_family_that_is_none_is_refused() {
    let good = shipped("1f1b").expect("it is shipped");
    let without_f = Family { passes: good.passes[1..].to_vec(), ..good.clone() };
    let at_once = Family { interval: Ticks::ZERO, ..good.clone() };
    let mut of_peak = good;
    of_peak.passes[0].at = crate::block::family::Formula::Variable(Variable::Peak);
    for (family, message) in [
        (without_f, "`0F0` has no offset"),
        (at_once, "a block needs a positive interval"),
        (of_peak, "the formula of F0 has no meaning: `peak` has no value here"),
    ] {
        let error = prove(&family, &Stop::default(), Duration::from_secs(1), |_| ()).expect_err(message);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_refutation_draws_its_device_modulo_the_interval() {
    let tight = family("tight", &text_of("v-min").replace("if(d mod 3 = 0, 2, 0)", "0"));
    let sample = Sample::of(&tight, 3).expect("within the domain");
    let found = sample.violation(&TheoremSubject::Collisions).expect("it collides");
    insta::assert_snapshot!(format!("{}\n{}", found.violation, found.drawing().expect("there is a block")));
}

#[test]
fn what_fails_for_few_devices_is_refuted_without_a_solver() {
    let tight = family("tight", &text_of("v-half").replace("if(d mod 2 = 0, 3, 0)", "0"));
    let decided = prove(&tight, &Stop::default(), Duration::from_nanos(1), |_| ()).expect("well formed");
    let verdict = |subject: &TheoremSubject| {
        let found = decided.iter().find(|judgement| judgement.theorem.subject == *subject);
        found.expect("it is there").verdict.clone()
    };
    assert!(matches!(verdict(&TheoremSubject::Collisions), TheoremVerdict::Refuted(counterexample)
        if (counterexample.devices, counterexample.device.0) == (2, 0)));
    let reason = if has_solver() { UnknownReason::Time } else { UnknownReason::NoSolver };
    assert_eq!(verdict(&TheoremSubject::Room), TheoremVerdict::Unknown(reason));
    // What speaks of a W that was left out rests on its place.
    let rests = UnknownReason::Premise("tight.room".to_owned());
    assert_eq!(verdict(&TheoremSubject::Lifespans), TheoremVerdict::Unknown(rests));
}

#[test]
fn every_theorem_has_its_own_smallest_counterexample() {
    // With one device, I comes before the end of F; with two, W has no room.
    let early = family(
        "early",
        "name = \"early\"\nplacement = \"linear\"\ninterval = 4\ndomain = \"d >= 1\"\n\n\
         [durations]\nF = 3\nI = 1\nW = 1\n\n[[pass]]\nkind = \"F\"\nat = \"i\"\n\n\
         [[pass]]\nkind = \"I\"\nat = \"2*d - 1 - i + if(d >= 3, -1, 0)\"\n",
    );
    let decided = prove(&early, &Stop::default(), Duration::from_secs(10), |_| ()).expect("well formed");
    let mut smallest = BTreeMap::new();
    for DecidedTheorem { theorem, verdict, .. } in &decided {
        let TheoremVerdict::Refuted(counterexample) = verdict else { continue };
        let devices = counterexample.devices;
        smallest.insert(theorem.name.as_str(), devices);
        for fewer in 1..devices {
            let sample = Sample::of(&early, fewer).expect("within the domain");
            assert_eq!(sample.violation(&theorem.subject), None, "{}: d = {fewer}", theorem.name);
        }
    }
    assert_eq!(smallest.get("early.room"), Some(&2), "{smallest:?}");
    assert_eq!(smallest.get("early.dependencies"), Some(&1), "{smallest:?}");
}

/// An offset that is near `i` times a slope, with a jump somewhere.
fn any_offset() -> impl Strategy<Value = String> {
    (-3..4_i64, -1..7_i64, -5..9_i64, 1..4_i64, 0..3_i64).prop_map(
        |(slope, per_device, start, every, jump)| {
            format!("{start} + {per_device}*d + {slope}*i + if((i + d) mod {every} = 0, {jump}, 0)")
        },
    )
}

fn any_family() -> impl Strategy<Value = Family> {
    let promise =
        prop::sample::select(vec!["peak <= d", "2*peak <= peak_1f1b + i", "bubble >= 0", "peak < d - i + 2"]);
    (
        0..3_usize,
        1..14_i64,
        (0..4_i64, 0..4_i64, 0..4_i64),
        prop::collection::vec(any_offset(), 12),
        prop::collection::vec(0..5_u8, 3),
        promise,
        any::<bool>(),
    )
        .prop_map(
            |(layout, interval, (forward, backward_input, backward_weight), at, kinds, promise, long)| {
                let layout = [Layout::Linear, Layout::V, Layout::Looped(3)][layout];
                let mut passes = Vec::new();
                for chunk in 0..layout.chunks() {
                    let kinds: &[Kind] = match kinds[chunk as usize] {
                        0 => &[Kind::F, Kind::B],
                        1 => &[Kind::F, Kind::R, Kind::B],
                        2 => &[Kind::F, Kind::I, Kind::W],
                        3 => &[Kind::F, Kind::R, Kind::I],
                        _ => &[Kind::F, Kind::I],
                    };
                    for &kind in kinds {
                        let at = parse_formula(&at[passes.len()], &[Variable::Device, Variable::Devices])
                            .expect("a formula");
                        passes.push(Offset { kind, chunk, at });
                    }
                }
                Family {
                    name: "any".to_owned(),
                    source: None,
                    layout,
                    // Beyond the intervals whose instants are tried one by one.
                    interval: Ticks(if long { interval + 24 } else { interval }),
                    domain: parse_condition("d >= 1", &[Variable::Devices]).expect("a condition"),
                    promises: vec![parse_condition(promise, &Variable::ALL).expect("a condition")],
                    bubble_free: Vec::new(),
                    durations: Durations {
                        forward: Ticks(forward),
                        backward_input: Ticks(backward_input),
                        // A model without any duration is none.
                        backward_weight: Ticks(if forward + backward_input == 0 {
                            1
                        } else {
                            backward_weight
                        }),
                    },
                    passes,
                }
            },
        )
}

/// Asserts that the quotients of all theorems are what the tables of their residues say, far beyond the
/// residues themselves; and how many theorems have tables.
fn assert_told_by_residues(family: &Family) -> usize {
    let mut told = 0;
    for theorem in theorems(family).expect("well formed") {
        let Some(residues) = Residues::of(&theorem) else { continue };
        assert_ne!(theorem.subject, TheoremSubject::Dependencies, "it speaks of other devices");
        told += 1;
        let period = residues.period;
        for (row, (r, s, constants)) in residues.rows().enumerate() {
            assert_eq!(row, usize::try_from(s * period + r).expect("a position"));
            for (quotient, constant) in residues.quotients.iter().zip(constants) {
                for (a, b) in [(0, 0), (1, 0), (0, 1), (5, 9)] {
                    let place = Place {
                        device: period * a + r,
                        devices: period * b + s,
                        definitions: &theorem.definitions,
                        known: &RefCell::new(BTreeMap::new()),
                    };
                    let exact = Term::Quotient(Box::new(quotient.of.clone()), quotient.divisor).value(place);
                    let table = quotient.per_device * a + quotient.per_devices * b + constant;
                    assert_eq!(exact, Some(table), "{}: a = {a}, b = {b}, r = {r}, s = {s}", theorem.name);
                }
            }
        }
    }
    told
}

#[test]
fn the_tables_of_shipped_families_have_the_quotients() {
    for (name, _) in SHIPPED {
        let told = assert_told_by_residues(&shipped(name).expect("it is shipped"));
        // Collisions and the peak at least.
        assert!(told >= 2, "{name}");
    }
}

#[test]
fn what_grows_unevenly_or_needs_too_many_residues_has_no_table() {
    for (at, told) in [("i", true), ("if(i < 2, i, 3*i)", false), ("i + i div 29", false)] {
        let family = family("changed", &text_of("1f1b").replacen("at = \"i\"", &format!("at = \"{at}\""), 1));
        let theorems = theorems(&family).expect("well formed");
        let collisions = theorems.iter().find(|theorem| theorem.subject == TheoremSubject::Collisions);
        assert_eq!(Residues::of(collisions.expect("there is one")).is_some(), told, "{at}");
    }
}

proptest! {
    // A table has up to some hundred rows, each evaluated at several places.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_tables_of_any_family_have_the_quotients(family in any_family()) {
        assert_told_by_residues(&family);
    }
}

proptest! {
    #[test]
    fn the_files_of_any_family_say_what_the_block_algebra_says(family in any_family()) {
        assert_agreement(&family, 7);
    }
}

#[test]
fn what_time_or_memory_did_not_suffice_for_may_be_decided_later() {
    use crate::smt::SmtError;
    let died =
        SmtError::Died { program: "z3".to_owned(), status: "signal".to_owned(), last_words: String::new() };
    for (reason, expected) in [
        (UnknownReason::Time, true),
        (UnknownReason::Solver("memout".to_owned()), true),
        (UnknownReason::Failed(died), true),
        (UnknownReason::NoSolver, false),
        (UnknownReason::TooManyDevices(1 << 40), false),
    ] {
        assert_eq!(reason.is_out_of_time(), expected, "{reason}");
    }
}
