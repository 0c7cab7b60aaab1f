use std::collections::BTreeMap;

use itertools::iproduct;

use super::free::{LINEAR_STEPS, V_STEPS, Window};
use super::v_min::CASES;
use super::{library, squeezed};
use crate::block::Block;
use crate::block::family::shipped;
use crate::model::{Kind, Microbatch, Model, Pass, Placement, Stage, Ticks};
use crate::prove::expression::Expression;
use crate::prove::script::Script;
use crate::stop::Stop;

/// That of the families here with V placement.
const INTERVAL: Ticks = Ticks(6);

/// The values of the names of a question; true is 1.
type Values = BTreeMap<String, i128>;

/// The value of an expression, by the definitions of SMT-LIB.
fn value(expression: &Expression, values: &Values) -> i128 {
    let parts = match expression {
        Expression::Word(word) => {
            return word.parse().unwrap_or_else(|_| *values.get(word).unwrap_or_else(|| panic!("{word}")));
        }
        Expression::List(parts) => parts,
    };
    let Expression::Word(operator) = &parts[0] else { panic!("no operator") };
    let of: Vec<i128> = parts[1..].iter().map(|part| value(part, values)).collect();
    let chain =
        |holds: fn(&i128, &i128) -> bool| i128::from(of.windows(2).all(|two| holds(&two[0], &two[1])));
    match operator.as_str() {
        "+" => of.iter().sum(),
        "-" if of.len() == 1 => -of[0],
        "-" => of[0] - of[1..].iter().sum::<i128>(),
        "*" => of.iter().product(),
        "<=" => chain(i128::le),
        ">=" => chain(i128::ge),
        "<" => chain(i128::lt),
        ">" => chain(i128::gt),
        "=" => chain(i128::eq),
        "and" => i128::from(of.iter().all(|&part| part == 1)),
        "or" => i128::from(of.contains(&1)),
        "not" => 1 - of[0],
        "=>" => i128::from(of[0] == 0 || of[1] == 1),
        "ite" => of[if of[0] == 1 { 1 } else { 2 }],
        operator => panic!("no operator of these questions: {operator}"),
    }
}

/// The assertions that are false for these values of the declared names.
fn broken(script: &Script, values: &mut Values) -> Vec<Expression> {
    let mut broken = Vec::new();
    for command in script.commands() {
        let Expression::List(parts) = command else { panic!("a command is a list") };
        match parts.as_slice() {
            [Expression::Word(command), Expression::Word(name), _, _, body] if command == "define-fun" => {
                let defined = value(body, values);
                values.insert(name.clone(), defined);
            }
            [Expression::Word(command), fact] if command == "assert" => {
                if value(fact, values) == 0 {
                    broken.push(fact.clone());
                }
            }
            [Expression::Word(command), Expression::Word(name), _] => {
                assert!(command == "declare-const" && values.contains_key(name), "{name} has no value");
            }
            _ => panic!("no command of these questions"),
        }
    }
    broken
}

/// The values of a window's names in a block: the offsets, and how copies are put off.
fn values_in(block: &Block, window: Window) -> Values {
    let mut values = Values::new();
    for device in 0..window.devices {
        let at = |step: &str| {
            let kind = match &step[..1] {
                "F" => Kind::F,
                "I" => Kind::I,
                _ => Kind::W,
            };
            let stages = block.placement().stages_of(crate::model::Device(device));
            let stage = stages[step[1..].parse::<usize>().expect("a chunk")];
            i128::from(block.offset(Pass::new(stage, kind, Microbatch(0))).expect("it has an offset").0)
        };
        for (position, first) in window.steps.iter().enumerate() {
            values.insert(format!("{first}_{device}"), at(first));
            for second in &window.steps[position + 1..] {
                let k = -(at(second) - at(first)).div_euclid(window.interval.into());
                values.insert(format!("k_{first}_{second}_{device}"), k);
            }
        }
    }
    values
}

/// A block of a family with the copies of some passes put off by whole intervals, which keeps it valid.
fn put_off(family: &str, devices: u32, [f1, i1, i0, w]: [i64; 4]) -> Block {
    let block = shipped(family).expect("it is shipped").block(devices).expect("within the domain");
    let later = |pass: Pass| {
        let down = pass.stage.0 < devices;
        match pass.kind {
            Kind::F => {
                if down {
                    0
                } else {
                    f1
                }
            }
            Kind::I => f1 + i1 + if down { i0 } else { 0 },
            _ => f1 + i1 + i0 + w,
        }
    };
    let moved = block.passes().map(|(pass, at)| (pass.stage, pass.kind, at + INTERVAL * later(pass)));
    Block::new(block.placement().clone(), INTERVAL, moved).expect("a block")
}

#[test]
fn the_questions_about_v_min_hold_of_blocks_and_their_memory_is_that_of_the_block_algebra() {
    for (family, devices, moves) in
        iproduct!(["v-min", "v-half", "v-zb"], 3..15_u32, iproduct!(0..2, 0..2, 0..2, 0..2))
    {
        let case = CASES[devices as usize % 3];
        let block = put_off(family, devices, moves.into());
        let model = shipped(family).expect("it is shipped").model(devices, 1).expect("within the domain");
        assert_eq!(block.faults(&model), [], "{family}, d = {devices}, {moves:?}");
        let peaks = block.steady_peak(&model);
        for more in -2..3 {
            let mut values = values_in(&block, case.window());
            values.insert("e".to_owned(), (i128::from(devices) - i128::from(case.residue)) / 3);
            let broken = broken(&case.script(more), &mut values).len();
            let most = 2 * ((i64::from(devices) + 4) / 3) + more;
            let over = peaks.iter().take(case.window as usize).filter(|peak| peak.0 > most).count();
            // Nothing of a valid block is ruled out but what the memory rules out.
            assert_eq!(broken, over, "{family}, d = {devices}, {moves:?}, {most}");
        }
    }
}

#[test]
fn blocks_that_break_a_dependency_or_collide_are_ruled_out() {
    let case = CASES[2];
    let good = put_off("v-half", 5, [0, 0, 0, 0]);
    let model = shipped("v-half").expect("it is shipped").model(5, 1).expect("within the domain");
    for (stage, kind) in iproduct!([0, 1, 2, 7, 8, 9].map(Stage), [Kind::F, Kind::I, Kind::W]) {
        for by in [-60, -1, 1, 60].map(Ticks) {
            let moved = good.passes().map(|(pass, at)| {
                let own = (pass.stage, pass.kind) == (stage, kind);
                (pass.stage, pass.kind, if own { at + by } else { at })
            });
            let block = Block::new(good.placement().clone(), INTERVAL, moved).expect("a block");
            let mut values = values_in(&block, case.window());
            values.insert("e".to_owned(), 1);
            let allowed = broken(&case.script(1000), &mut values).is_empty();
            assert_eq!(allowed, block.faults(&model).is_empty(), "{stage} {kind} by {by}");
        }
    }
}

#[test]
fn the_questions_about_1f1b_count_what_the_block_algebra_counts() {
    let window = Window { steps: &LINEAR_STEPS, interval: 3, devices: 2 };
    for (family, devices) in iproduct!(["1f1b", "eager-1f1b", "zb-h1", "zb-h2"], 2..12) {
        let family = shipped(family).expect("it is shipped");
        let (block, model) = (family.block(devices), family.model(devices, 1));
        let (block, model) = (block.expect("within the domain"), model.expect("within the domain"));
        let values = values_in(&block, window);
        for device in 0..window.devices {
            let live = value(&window.live(0, device).into(), &values);
            assert_eq!(live, i128::from(block.steady_peak(&model)[device as usize].0), "{}", family.name);
        }
    }
    assert_eq!(V_STEPS.len(), 6);
}

#[test]
fn no_small_linear_block_holds_less_than_1f1b() {
    let placement = Placement::linear(2).expect("a placement");
    let model = Model::unit(placement.clone(), 1).expect("a model");
    let mut least = [i64::MAX; 2];
    let mut seen = 0;
    for (f, i1, i0, w1, w0) in iproduct!(1..7, 1..7, 1..7, 1..7, 1..7) {
        let (first, second) = (Stage(0), Stage(1));
        let at = [
            (first, Kind::F, Ticks(0)),
            (second, Kind::F, Ticks(f)),
            (second, Kind::I, Ticks(f + i1)),
            (first, Kind::I, Ticks(f + i1 + i0)),
            (second, Kind::W, Ticks(f + i1 + w1)),
            (first, Kind::W, Ticks(f + i1 + i0 + w0)),
        ];
        let block = Block::new(placement.clone(), Ticks(3), at.to_vec()).expect("a block");
        if block.faults(&model).is_empty() {
            seen += 1;
            for (least, peak) in least.iter_mut().zip(block.steady_peak(&model)) {
                *least = (*least).min(peak.0);
            }
        }
    }
    assert!(seen > 100);
    assert_eq!(least, [2, 1]);
}

#[test]
fn no_files_are_made_when_it_is_time_to_stop() {
    let stop = Stop::after(std::time::Duration::ZERO);
    assert!(library(&stop).expect("it is no error").is_none());
    assert_eq!(squeezed::intervals(&stop).expect("it is no error").len(), 0);
}
