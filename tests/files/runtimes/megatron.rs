//! Megatron-LM's layout string, unrolled and divided as its user guide says.

use bubbleproof::catalog;
use bubbleproof::interchange::{CannotRun, megatron};
use bubbleproof::model::{Kind, Model, Pass, Placement};
use bubbleproof::schedule::Schedule;

/// The letters of every stage of a layout: `,` means nothing, `x*n` is n times x, `|` divides stages.
fn stages(layout: &str) -> Vec<String> {
    let mut unrolled = String::new();
    let mut letters = layout.chars().filter(|&letter| letter != ',').peekable();
    while let Some(letter) = letters.next() {
        let mut count = String::new();
        if letters.next_if_eq(&'*').is_some() {
            while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                count.push(digit);
            }
        }
        let count = if count.is_empty() { 1 } else { count.parse().expect("a number") };
        unrolled.extend(std::iter::repeat_n(letter, count));
    }
    unrolled.split('|').map(str::to_owned).collect()
}

fn own(placement: Placement, microbatches: u32) -> Schedule {
    let name = if placement.chunks() == Some(1) { "1f1b" } else { "interleaved-1f1b" };
    let model = Model::unit(placement, microbatches).expect("a model");
    catalog::find(name).expect("a name").generate(&model).expect("it has the placement")
}

fn layout_of(placement: Placement, microbatches: u32, layers: &[u32]) -> Result<Vec<String>, CannotRun> {
    let schedule = own(placement, microbatches);
    let arguments = megatron::arguments(&schedule, Some(layers), Some(&schedule))?;
    let layout = arguments.lines().find_map(|line| line.strip_prefix("--pipeline-model-parallel-layout="));
    Ok(stages(layout.expect("a layout")))
}

#[test]
fn a_layout_has_the_layers_of_every_stage_in_order() {
    let linear = |devices| Placement::linear(devices).expect("a placement");
    let looped = |devices, chunks| Placement::looped(devices, chunks).expect("a placement");
    for (placement, microbatches, layers, expected) in [
        (linear(2), 3, &[1, 2][..], &["Et", "ttL"][..]),
        (linear(3), 3, &[4], &["Etttt", "tttt", "ttttL"]),
        (linear(4), 8, &[0, 11, 12, 0], &["E", "ttttttttttt", "tttttttttttt", "L"]),
        (looped(2, 2), 4, &[0, 3, 10, 1], &["E", "ttt", "tttttttttt", "tL"]),
    ] {
        let found = layout_of(placement, microbatches, layers).expect("it runs");
        assert_eq!(found, expected);
    }
}

#[test]
fn input_and_weight_gradient_in_one_go_are_a_full_backward() {
    let whole = own(Placement::linear(3).expect("a placement"), 5);
    let split = |pass: &Pass| match pass.kind {
        Kind::B => vec![pass.with_kind(Kind::I), pass.with_kind(Kind::W)],
        _ => vec![*pass],
    };
    let orders = whole.orders().iter().map(|order| order.iter().flat_map(split).collect()).collect();
    let schedule = Schedule::new(whole.placement().clone(), 5, orders).expect("a schedule");
    assert_eq!(
        megatron::arguments(&schedule, Some(&[2]), Some(&whole)),
        megatron::arguments(&whole, Some(&[2]), Some(&whole))
    );
}

#[test]
fn interleaving_takes_a_multiple_of_the_devices() {
    let looped = || Placement::looped(4, 2).expect("a placement");
    for (microbatches, runs) in [(3, false), (4, true), (6, false), (8, true), (12, true)] {
        let outcome = layout_of(looped(), microbatches, &[1]);
        assert_eq!(outcome.is_ok(), runs, "{microbatches}: {outcome:?}");
    }
}

#[test]
fn without_its_own_order_for_this_size_nothing_is_accepted() {
    let schedule = own(Placement::linear(3).expect("a placement"), 5);
    let shorter = own(Placement::linear(3).expect("a placement"), 4);
    for own in [None, Some(&shorter)] {
        assert_eq!(megatron::arguments(&schedule, Some(&[2]), own), Err(CannotRun::OwnOrderUnknown));
    }
}
