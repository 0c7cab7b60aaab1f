//! Laws of the tables, bounds and witnesses of families that nobody chose.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::block::family::parse;
use crate::model::{Kind, Microbatch, Pass, Placement};
use crate::prove::squeeze::cycle::{microbatch_steps, on_devices};
use crate::prove::squeeze::form::LinearForm;
use crate::prove::squeeze::graph::{Classes, Constraint, Node};
use crate::prove::squeeze::makespan::LastEnd;
use crate::prove::squeeze::quasi::End;
use crate::schedule::prerequisites;

/// How a chunk goes through the devices.
#[derive(Debug, Clone)]
struct Chunk {
    /// By how much more than its duration each hop moves on: forward and backward.
    hops: (i64, i64),
    /// How long it waits for the chunk before, forward and backward.
    gaps: (i64, i64),
    is_split: bool,
    /// How long after its I the W of a split backward comes; else its offset is left out.
    weight: Option<i64>,
    is_recomputed: bool,
}

fn chunk() -> impl Strategy<Value = Chunk> {
    let is_recomputed = prop::bool::weighted(0.2);
    let parts = ((0..3_i64, 0..3_i64), (0..4_i64, 0..4_i64), any::<bool>(), prop::option::of(0..3_i64));
    (parts, is_recomputed).prop_map(|((hops, gaps, is_split, weight), is_recomputed)| Chunk {
        hops,
        gaps,
        is_split,
        weight,
        is_recomputed,
    })
}

/// The text of a family whose passes start no sooner than what they need has ended. If the passes of all devices are
/// to have the same order, every device is so much behind the one before, modulo the interval.
fn text(
    layout: &str,
    chunks: &[Chunk],
    [forward, input, weight]: [i64; 3],
    slack: i64,
    behind: Option<i64>,
) -> String {
    let interval = (i64::try_from(chunks.len()).expect("few") * (forward + input + weight) + slack).max(1);
    let mut text = format!(
        "name = \"random\"\nplacement = \"{layout}\"\nchunks = {}\ninterval = {interval}\n\
         [durations]\nF = {forward}\nI = {input}\nW = {weight}\n",
        chunks.len()
    );
    let mut pass = |kind: Kind, chunk: usize, at: String| {
        writeln!(text, "[[pass]]\nkind = \"{kind}\"\nchunk = {chunk}\nat = \"{at}\"").expect("texts grow");
    };
    // A way down the devices, or up, in hops of at least so many ticks.
    let hop = |least: i64, is_down: bool| {
        let residue = |behind: i64| if is_down { behind } else { -behind };
        least + behind.map_or(0, |behind| (residue(behind) - least).rem_euclid(interval))
    };
    let way = |is_down: bool| if is_down { "i" } else { "(d - 1 - i)" };
    // Where a chunk begins: so much for each device, and so much more.
    let (mut slope, mut constant) = (0, 0);
    for (position, chunk) in chunks.iter().enumerate() {
        let is_down = layout != "v" || position == 0;
        let hop = hop(forward + chunk.hops.0, is_down);
        pass(Kind::F, position, format!("{slope}*d + {constant} + {hop}*{}", way(is_down)));
        slope += hop;
        constant += forward - hop + chunk.gaps.0;
    }
    for (position, chunk) in chunks.iter().enumerate().rev() {
        let is_down = layout == "v" && position == 1;
        let length = if chunk.is_split { input } else { input + weight };
        let hop = hop(length + chunk.hops.1, is_down);
        let at = |constant: i64| format!("{slope}*d + {constant} + {hop}*{}", way(is_down));
        if chunk.is_recomputed {
            pass(Kind::R, position, at(constant));
            constant += forward;
        }
        pass(if chunk.is_split { Kind::I } else { Kind::B }, position, at(constant));
        if let Some(later) = chunk.weight.filter(|_| chunk.is_split) {
            pass(Kind::W, position, at(constant + input + later));
        }
        slope += hop;
        constant += length - hop + chunk.gaps.1;
    }
    text
}

/// Families of every layout that have tables.
fn families() -> impl Strategy<Value = (Family, Classes)> {
    prop_oneof![Just("linear"), Just("v"), Just("looped")].prop_flat_map(|layout| {
        let durations = [0..3_i64, 0..3_i64, 0..3_i64];
        let choices = ([chunk(), chunk()], durations, 0..5_i64, prop::option::weighted(0.8, 0..9_i64));
        choices.prop_filter_map("no such family, or no tables", move |(chunks, durations, slack, behind)| {
            let chunks = if layout == "linear" { &chunks[..1] } else { &chunks };
            // No device is without work.
            let family = parse(&text(layout, chunks, durations, slack, behind)).ok()?;
            let classes = Classes::of(&family).ok().filter(|_| durations != [0; 3])?;
            (0..classes.residues).try_for_each(|s| classes.constraints(s).map(|_| ())).ok()?;
            Some((family, classes))
        })
    })
}

/// Those whose order does not contradict the dependencies.
fn witnesses() -> impl Strategy<Value = (Family, Classes, Witness)> {
    families().prop_filter_map("no interval is possible", |(family, classes)| {
        let witness = Witness::of(&family, &Stop::default()).ok()?;
        Some((family, classes, witness))
    })
}

/// The pass of a class on a device.
fn pass_of(classes: &Classes, placement: &Placement, class: usize, device: i128) -> Pass {
    let (kind, chunk) = (classes.passes[class].kind, classes.passes[class].chunk);
    let device = Device(u32::try_from(device).expect("small"));
    Pass::new(placement.stages_of(device)[chunk as usize], kind, Microbatch(0))
}

proptest! {
    #[test]
    fn tables_have_the_offsets_of_the_block((family, classes) in families(), devices in 1..9_u32) {
        let block = family.block(devices).expect("a block");
        let passes = block.passes().count();
        prop_assert_eq!(classes.passes.len() * devices as usize, passes);
        for device in 0..i128::from(devices) {
            for (class, pass) in classes.passes.iter().enumerate() {
                let offset = block.offset(pass_of(&classes, block.placement(), class, device));
                let found = pass.offset.value(device, devices.into());
                prop_assert_eq!(offset.map(|offset| offset.0.into()), Some(found), "{} on {}", pass.name(), device);
                let round = found.div_euclid(family.interval.0.into());
                prop_assert_eq!(pass.round.value(device, devices.into()), round);
            }
        }
    }

    #[test]
    fn what_waits_in_the_tables_is_what_needs_another_pass((family, classes) in families(), devices in 1..9_u32) {
        let (block, s) = (family.block(devices).expect("a block"), i128::from(devices) % classes.residues);
        let placement = block.placement();
        let mut expected = BTreeSet::new();
        for (pass, _) in block.passes() {
            for needs in prerequisites(pass, placement, |other| block.offset(other).is_some()) {
                // I and B wait for the F of their stage by way of all stages above.
                let above = pass.stage.0 + 1 < placement.stages();
                if !(above && matches!(pass.kind, Kind::I | Kind::B) && needs.kind == Kind::F) {
                    expected.insert((needs, pass));
                }
            }
        }
        let constraints = classes.constraints(s).expect("regular");
        let there = on_devices(&constraints, classes.residues, devices.into());
        let mut found = BTreeSet::new();
        for Constraint { from, to, ticks, rounds, exact, .. } in there.iter().filter(|one| one.wait) {
            let [needs, pass] = [from, to].map(|node| pass_of(&classes, placement, node.0, node.1));
            prop_assert!(found.insert((needs, pass)), "{} and {} twice", needs, pass);
            let round = |(class, device): Node| classes.passes[class].round.value(device, devices.into());
            let between = round(*to) - round(*from);
            prop_assert!(*rounds <= between && (!exact || *rounds == between), "{} after {}", pass, needs);
            let duration = LinearForm::duration(needs.kind);
            let sent = from.1 != to.1;
            // On one device, too, the way from the last device to the first is counted as one.
            prop_assert!(*ticks == duration.plus(LinearForm::LATENCY) || !sent && *ticks == duration);
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn steps_of_a_microbatch_lead_to_what_comes_later((family, classes) in families(), devices in 1..7_u32) {
        let (block, s) = (family.block(devices).expect("a block"), i128::from(devices) % classes.residues);
        // The same with so many more devices.
        let more = devices + u32::try_from(2 * classes.residues).expect("few");
        let larger = family.block(more).expect("a block");
        for end in End::BOTH {
            for step in microbatch_steps(&classes, s, devices.into(), end).expect("regular") {
                prop_assert!(step.exact && (0..=1).contains(&step.rounds));
                for (block, shift) in [(&block, 0), (&larger, if end == End::Last { more - devices } else { 0 })] {
                    let placement = block.placement();
                    let [from, to] =
                        [step.from, step.to].map(|(class, device)| pass_of(&classes, placement, class, device + i128::from(shift)));
                    if step.wait {
                        let mut needs = prerequisites(to, placement, |other| block.offset(other).is_some());
                        prop_assert!(step.rounds == 0 && needs.any(|needs| needs == from), "{} after {}", to, from);
                    } else {
                        let [one, other] = [from, to].map(|pass| i128::from(block.offset(pass).expect("a pass").0));
                        prop_assert_eq!(placement.device_of(from.stage), placement.device_of(to.stage));
                        prop_assert!(one < other + step.rounds * classes.interval, "{} after {}", to, from);
                    }
                }
            }
        }
    }

    #[test]
    fn the_peak_of_the_tables_is_that_of_every_block((family, classes) in families(), devices in 1..9_u32) {
        if let Ok(peak) = peak::peak(&classes) {
            let expected = family.block(devices).expect("a block").steady_peak(&family.model(devices, 1).expect("a model"));
            for (device, expected) in (0..).zip(expected) {
                prop_assert_eq!(peak.value(device, devices.into()), i128::from(expected.0), "device {}", device);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_family_takes_longer_than_its_witness_says((family, _, witness) in witnesses()) {
        prop_assert!(witness.check().is_ok());
        hold_against_replay(&family, &witness, 1..=7, &[1, 2, 3, 5, 8]);
    }

    /// Whatever the tilt and wherever time begins.
    #[test]
    fn the_last_end_is_that_of_some_pass(
        (_, classes, witness) in witnesses(), tilt in -4..5_i128, begin in -9..10_i128, which in any::<prop::sample::Index>(),
    ) {
        let makespan = which.get(witness.makespans());
        let (s, mut starts) = (makespan.residue, makespan.starts.clone());
        starts.tilt = tilt;
        starts.by_pass.iter_mut().flatten().for_each(|start| *start += begin);
        let found = LastEnd::of(&classes, s, &starts).expect("regular");
        let first = classes.first_pass().expect("it has F");
        let start = |class: usize, device: i128, devices: i128| {
            let residue = usize::try_from(device % classes.residues).expect("small");
            starts.lambda * classes.passes[class].round.value(device, devices) + starts.by_pass[class][residue] + tilt * device
        };
        let end = |class: usize, device: i128, devices: i128| {
            let duration = LinearForm::duration(classes.passes[class].kind).at(starts.point);
            start(class, device, devices) + starts.scale * duration - start(first, 0, devices)
        };
        // A W waits for the passes before it alone, and may end sooner than its start time says.
        let straight = (0..classes.passes.len()).filter(|&class| classes.passes[class].kind != Kind::W).collect::<Vec<_>>();
        let is_all = straight.len() == classes.passes.len();
        for b in i128::from(s == 0)..4 {
            let devices = classes.residues * b + s;
            let last = (0..devices).flat_map(|device| straight.iter().map(move |&class| (class, device)));
            let last = last.map(|(class, device)| end(class, device, devices)).max().expect("there are passes");
            let bound = if b == 0 { found.fewest } else { found.per_devices * b + found.constant };
            prop_assert!(last <= bound, "{} devices: {} > {}", devices, last, bound);
            prop_assert!(!is_all || b > 1 || last == bound, "{} devices: {} < {}", devices, last, bound);
        }
    }
}
