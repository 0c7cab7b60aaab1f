//! What waits for what, and cycles of it that are claimed.

use super::*;
use crate::block::family::{Formula, Variable, parse};
use crate::prove::expected::Expected;
use crate::prove::squeeze::cycle::{Attained, along};
use crate::prove::squeeze::graph::{Classes, Constraint, Where};
use crate::prove::squeeze::quasi::Quasi;
use crate::prove::squeeze::question::{Questions, Twin};

/// Each of I and W comes so many more intervals after what it waits for as there are devices.
fn late(forward: &str) -> Classes {
    let text = format!(
        r#"
            name = "late"
            placement = "linear"
            interval = 6
            durations = {{ F = 1, I = 1, W = 1 }}
            pass = [
                {{ kind = "F", at = "{forward}" }},
                {{ kind = "I", at = "12*d - 6*i + 3" }},
                {{ kind = "W", at = "18*d - 6*i + 2" }},
            ]
        "#
    );
    Classes::of(&parse(&text).expect("a family")).expect("regular")
}

/// The passes, the rounds between them at least, and whether there are never more.
fn waits(constraints: &[Constraint], classes: &Classes, place: Where) -> Vec<(String, String, i128, bool)> {
    let name = |(pass, _): (usize, i128)| classes.passes[pass].name();
    let waits = constraints.iter().filter(|one| one.wait && one.place == place);
    waits.map(|wait| (name(wait.from), name(wait.to), wait.rounds, wait.exact)).collect()
}

#[test]
fn rounds_are_the_fewest_on_any_device_that_is_there() {
    let classes = late("0");
    let constraints = classes.constraints(0).expect("they do not collide");
    let wait = |from: &str, to: &str, rounds, exact| (from.to_owned(), to.to_owned(), rounds, exact);
    // One device is the fewest. There, W comes one round after I, and I two after F.
    assert_eq!(
        waits(&constraints, &classes, Where::Anywhere),
        [wait("F0", "F0", 0, true), wait("I0", "I0", 1, true), wait("I0", "W0", 1, false)]
    );
    assert_eq!(waits(&constraints, &classes, Where::Last), [wait("F0", "I0", 2, false)]);
}

/// Of an odd number of devices, one is the fewest; an odd device is there from three on.
#[test]
fn rounds_are_those_of_devices_with_a_residue() {
    let classes = late("i mod 2");
    let constraints = classes.constraints(1).expect("they do not collide");
    let weight = |one: &&Constraint| one.wait && classes.passes[one.to.0].name() == "W0";
    let rounds: Vec<(i128, i128)> =
        constraints.iter().filter(weight).map(|one| (one.to.1, one.rounds)).collect();
    assert_eq!(rounds, [(0, 1), (1, 3)]);
}

#[test]
fn a_cycle_lasts_only_by_steps_that_are_the_same_on_every_larger_number_of_devices() {
    let classes = late("0");
    let constraints = classes.constraints(0).expect("they do not collide");
    let rounds = |devices, cycle: &[(&str, i128)]| {
        let cycle = cycle.iter().map(|&(pass, device)| (pass.to_owned(), device)).collect();
        let steps = along(&classes, 0, &constraints, &Attained { devices, cycle })?;
        Some(steps.iter().map(|step| step.rounds).sum::<i128>())
    };
    // The order of a device.
    let round = [("F0", 0), ("W0", 0), ("I0", 0)];
    assert_eq!(
        [1, 4, 4096, 4097, 0, -1].map(|devices| rounds(devices, &round)),
        [Some(1), Some(1), Some(1), None, None, None]
    );
    // Down the devices and back: what waits on the last of them, waits ever longer with more of them.
    assert_eq!(rounds(1, &[("F0", -1), ("I0", -1)]), None);
    assert_eq!(rounds(1, &[("I0", -1), ("W0", -1)]), None);
}

#[test]
fn the_first_pass_is_the_forward_of_chunk_0_wherever_it_is_listed() {
    let text = r#"
        name = "backward-first"
        placement = "linear"
        interval = 3
        durations = { F = 1, I = 1, W = 1 }
        pass = [{ kind = "B", at = "3*d - 2 - 2*i" }, { kind = "F", at = "i" }]
    "#;
    let classes = Classes::of(&parse(text).expect("a family")).expect("regular");
    assert_eq!(classes.first_pass(), Ok(1));
}

#[test]
fn a_formula_divided_by_nothing_is_refused() {
    let device = || Box::new(Formula::Variable(Variable::Device));
    for divisor in [0, -2] {
        let divided = [Formula::Quotient(device(), divisor), Formula::Remainder(device(), divisor)];
        assert!(divided.iter().all(|formula| Quasi::of(formula) == Err(Irregular::Overflow)), "{divisor}");
    }
}

#[test]
fn formulas_repeat_after_at_most_so_many_devices() {
    let residues = |period: i128| {
        let text = format!(
            "name = \"late\"\nplacement = \"linear\"\ninterval = 1\n[durations]\nF = 0\nI = 0\nW = 0\n\
             [[pass]]\nkind = \"F\"\nat = \"i mod {period}\"\n[[pass]]\nkind = \"B\"\nat = \"0\"\n"
        );
        Classes::of(&parse(&text).expect("a family")).map(|classes| classes.residues)
    };
    assert_eq!([360, 361].map(residues), [Ok(360), Err(Irregular::Residues(361))]);
}

#[test]
fn a_condition_holds_where_any_or_where_all_of_its_parts_do() {
    for (words, holds) in [
        (
            "i mod 2 = 0 or d mod 2 = 0",
            &(|i: i64, d: i64| i % 2 == 0 || d % 2 == 0) as &dyn Fn(i64, i64) -> bool,
        ),
        ("i mod 2 = 0 and d mod 2 = 0", &|i, d| i % 2 == 0 && d % 2 == 0),
    ] {
        let text = format!(
            "name = \"parts\"\nplacement = \"linear\"\ninterval = 6\n[durations]\nF = 1\nI = 1\nW = 1\n\
             [[pass]]\nkind = \"F\"\nat = \"if({words}, 1, 0)\"\n[[pass]]\nkind = \"B\"\nat = \"3\"\n"
        );
        let classes = Classes::of(&parse(&text).expect("a family")).expect("regular");
        for (device, devices) in
            (1..5_i64).flat_map(|devices| (0..devices).map(move |device| (device, devices)))
        {
            let offset = classes.passes[0].offset.value(device.into(), devices.into());
            assert_eq!(offset, i128::from(holds(device, devices)), "{words}: {device} of {devices}");
        }
    }
}

#[test]
fn a_term_without_microbatches_is_refused() {
    let mut witness = Witness::of(&family("zb-h1"), &Stop::default()).expect("regular");
    let terms = &mut witness.intervals[0].cases[0].terms;
    assert_eq!(terms.len(), 1, "its rays do not depend on other terms");
    terms[0].rate.copies = 0;
    assert!(matches!(witness.check(), Err(WitnessRejection::Rays { residue: 0, .. })));
}

/// On the last device of a V, the forwards of both chunks come around with every microbatch, too, but they take less than the
/// interval.
#[test]
fn a_rotor_fills_the_interval_with_one_microbatch() {
    let mut witness = Witness::of(&family("v-min"), &Stop::default()).expect("regular");
    assert!(witness.check().is_ok());
    let rotor = witness.makespans.iter_mut().find_map(|makespan| makespan.rotor.as_mut());
    rotor.expect("some are exact").cycle = vec![("F0".to_owned(), -1), ("F1".to_owned(), -1)];
    assert_eq!(witness.check(), Err(WitnessRejection::Cycle("the rotor".to_owned())));
}

/// A solver is asked about every step of a cycle, the last of which leads back to the first pass.
#[test]
fn a_question_about_a_cycle_names_every_step() {
    let family = family("zb-h1");
    let witness = Witness::of(&family, &Stop::default()).expect("regular");
    let questions = Questions::of(&family).expect("regular");
    let case = &witness.intervals()[0].cases[0];
    let attained = case.terms[0].attained.as_ref().expect("it is reached");
    let script = questions.lower(case, attained, Twin::No).expect("a question");
    let text = script.text(Expected::Unsat);
    for (pass, _) in &attained.cycle {
        assert!(text.contains(&format!("{pass}_mod")), "{text}");
    }
}
