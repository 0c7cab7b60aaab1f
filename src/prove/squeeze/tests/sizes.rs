//! Witnesses whose times are counted otherwise than they are derived.

use super::*;
use crate::block::family::parse;
use crate::prove::squeeze::form::LinearForm;
use crate::prove::squeeze::graph::Classes;
use crate::prove::squeeze::potential::Starts;

/// The witness of a family with a makespan that is exact for some numbers of devices.
fn witness() -> Witness {
    let witness = Witness::of(&family("v-min"), &Stop::default()).expect("regular");
    assert!(witness.makespans().iter().any(|makespan| makespan.rotor.is_some()));
    witness
}

/// All start times of a witness.
fn all_starts(witness: &mut Witness) -> impl Iterator<Item = &mut Starts> {
    let Witness { intervals, makespans, .. } = witness;
    let terms =
        intervals.iter_mut().flat_map(|intervals| &mut intervals.cases).flat_map(|case| &mut case.terms);
    terms.flat_map(|term| &mut term.starts).chain(makespans.iter_mut().map(|makespan| &mut makespan.starts))
}

/// Writes start times over a denominator that is so many times as large.
fn refine(starts: &mut Starts, factor: i128) {
    for value in [&mut starts.scale, &mut starts.lambda, &mut starts.tilt]
        .into_iter()
        .chain(starts.by_pass.iter_mut().flatten())
    {
        *value *= factor;
    }
}

/// The same of a bound on the makespan.
fn refine_bound(bound: &mut Makespan, factor: i128) {
    refine(&mut bound.starts, factor);
    for value in [&mut bound.per_devices, &mut bound.constant, &mut bound.fewest] {
        *value *= factor;
    }
}

#[test]
fn times_over_a_larger_denominator_prove_the_same() {
    let (original, mut altered) = (witness(), witness());
    for starts in altered
        .intervals
        .iter_mut()
        .flat_map(|one| &mut one.cases)
        .flat_map(|case| &mut case.terms)
        .flat_map(|term| &mut term.starts)
    {
        refine(starts, 3);
    }
    altered.makespans.iter_mut().for_each(|bound| refine_bound(bound, 3));
    assert_eq!(altered.check(), original.check());
}

#[test]
fn times_from_another_instant_prove_the_same() {
    let (original, mut altered) = (witness(), witness());
    all_starts(&mut altered).flat_map(|starts| &mut starts.by_pass).flatten().for_each(|start| *start += 5);
    assert_eq!(altered.check(), original.check());
}

/// Everything is divided by the scale, and with 0 times anything every inequality holds.
#[test]
fn times_without_a_scale_prove_nothing() {
    let original = witness();
    let mut altered = original.clone();
    refine(&mut altered.intervals[0].cases[0].terms[0].starts[0], 0);
    assert!(matches!(altered.check(), Err(WitnessRejection::Lambda { residue: 0, .. })));
    let mut altered = original;
    refine_bound(&mut altered.makespans[0], 0);
    assert!(matches!(altered.check(), Err(WitnessRejection::Bound { residue: 0, .. })));
}

/// 1F1B on one stage per device, where the backward comes so many intervals later for each device.
fn stretched(rounds: i128) -> Family {
    let text = format!(
        r#"
            name = "stretched"
            placement = "linear"
            interval = 3
            durations = {{ F = 1, I = 1, W = 1 }}
            pass = [{{ kind = "F", at = "0" }}, {{ kind = "B", at = "3*({rounds}*(d - i)) + 1" }}]
        "#
    );
    parse(&text).expect("a family")
}

#[test]
fn passes_are_at_most_so_many_intervals_apart() {
    let classes = |rounds: i128| Classes::of(&stretched(rounds)).map(|classes| classes.residues);
    assert_eq!(
        [65_536, 65_537, -65_536, -65_537].map(classes),
        [Ok(1), Err(Irregular::Overflow), Ok(1), Err(Irregular::Overflow)]
    );
    // The product fits 128 bits; its multiples, and differences of two, do not.
    let large = "9223372036854775806*(9223372036854775806*";
    for [forward, input] in [
        ["i)".to_owned(), "0".to_owned()],
        ["d)".to_owned(), "0".to_owned()],
        ["2)".to_owned(), format!("-{large}2)")],
    ] {
        let text = format!(
            r#"
                name = "large"
                placement = "linear"
                interval = 3
                durations = {{ F = 1, I = 1, W = 1 }}
                pass = [{{ kind = "F", at = "{large}{forward}" }}, {{ kind = "I", at = "{input} + 1" }}]
            "#
        );
        assert_eq!(Witness::of(&parse(&text).expect("a family"), &Stop::default()), Err(Irregular::Overflow));
    }
}

/// Each formula repeats after a prime number of devices, and all of them together only after more than 128 bits count.
#[test]
fn formulas_that_repeat_together_too_late_are_refused() {
    let primes = (257..=359).filter(|&number| (2..20).all(|divisor| number % divisor != 0));
    let mut text = "name = \"late\"\nplacement = \"looped\"\nchunks = 8\ninterval = 1\n\
        [durations]\nF = 1\nI = 1\nW = 1\n"
        .to_owned();
    for (position, prime) in (0..16).zip(primes) {
        let (kind, chunk) = (["F", "B"][position % 2], position / 2);
        writeln!(text, "[[pass]]\nkind = \"{kind}\"\nchunk = {chunk}\nat = \"i mod {prime}\"")
            .expect("texts grow");
    }
    let found = Classes::of(&parse(&text).expect("a family")).map(|classes| classes.residues);
    assert_eq!(found, Err(Irregular::Overflow));
}

/// With latency the interval of 1F1B is that of a round trip between two devices, divided by the intervals that it has time for.
#[test]
fn forms_that_count_too_much_are_not_derived() {
    let intervals = |rounds: i128| squeezed_intervals(&stretched(rounds), true, &Stop::default());
    let forms = intervals(999).expect("regular").cases[0].rates();
    assert_eq!(forms[1], Rate { ticks: LinearForm([1, 1, 1, 2]), copies: 999 });
    assert_eq!(intervals(1_001), Err(Irregular::Overflow));
}

#[test]
fn numbers_are_accepted_up_to_a_limit_and_refused_beyond() {
    const MOST: [i128; 3] = [1_000, 1_000_000_000, 1 << 60];
    let original = witness();
    let check = |change: &dyn Fn(&mut Witness)| {
        let mut altered = original.clone();
        change(&mut altered);
        altered.check().map(|claims| Ok(claims) == original.check())
    };
    for more in [0, 1] {
        let [counted, scaled, ticks] = MOST.map(|most| most + more);
        let expected = if more == 0 { Ok(true) } else { Err(WitnessRejection::Large) };
        // 2tF + 2tI + 2tW, with each number so many times as large.
        let of_rate = check(&|altered| {
            let rate = &mut altered.intervals[0].cases[0].terms[0].rate;
            assert_eq!((rate.ticks.0, rate.copies), ([2, 2, 2, 0], 1));
            *rate = Rate { ticks: rate.ticks.times(counted / 2 + more), copies: counted / 2 + more };
        });
        let of_interval = check(&|altered| {
            let starts = &mut altered.intervals[0].cases[0].terms[0].starts[0];
            assert_eq!(starts.scale, 1);
            refine(starts, scaled);
        });
        let of_bound = check(&|altered| {
            assert_eq!(altered.makespans[0].starts.scale, 1);
            refine_bound(&mut altered.makespans[0], scaled);
        });
        let of_times = [false, true].map(|is_bound| {
            check(&|altered| {
                let starts = if is_bound {
                    &mut altered.makespans[0].starts
                } else {
                    &mut altered.intervals[0].cases[0].terms[0].starts[0]
                };
                let last = starts.by_pass.iter().flatten().max().copied().expect("there are passes");
                starts.by_pass.iter_mut().flatten().for_each(|start| *start += ticks - last);
            })
        });
        for found in [of_rate, of_interval, of_bound].into_iter().chain(of_times) {
            assert_eq!(found, expected);
        }
    }
}
