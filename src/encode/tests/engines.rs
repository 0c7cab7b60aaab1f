//! The engines against each other and against enumeration.

use std::time::Duration;

use proptest::prelude::*;

use super::cases::small_models;
use super::*;

fn v(devices: u32) -> Placement {
    Placement::v(devices).expect("a placement")
}

const AMPLE: Duration = Duration::from_secs(60);

fn all(model: &Model, objective: BlockObjective) -> [BlockOutcome; 3] {
    [by_milp, smt::solve, by_lcg]
        .map(|solve| solve(model, objective, &Stop::after(AMPLE)).expect("an outcome"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn all_engines_find_the_least_memory_that_enumeration_finds(model in small_models(), spare in 0..=1_i64) {
        let interval = model.most_work().0 + spare;
        let objective = BlockObjective::LeastMemory { interval: Ticks(interval) };
        let [milp, smt, lcg] = all(&model, objective).map(|outcome| said(&outcome, objective));
        prop_assert_eq!([milp, lcg], [smt; 2]);
        if brute::is_affordable(&model, 1, interval) {
            prop_assert_eq!(smt, brute::least_memory(&model, 1, interval).map(Ratio::from_integer));
        }
    }

    #[test]
    fn all_engines_find_the_least_interval_that_enumeration_finds(model in small_models()) {
        let [milp, smt, lcg] = all(&model, BlockObjective::LeastInterval)
            .map(|outcome| said(&outcome, BlockObjective::LeastInterval));
        prop_assert_eq!([milp, lcg], [smt; 2]);
        // A whole interval is feasible from the least one on, and no earlier.
        let least = smt.map_or(model.most_work().0, |interval| interval.ceil().to_integer());
        for interval in [least - 1, least] {
            if brute::is_affordable(&model, 1, interval) {
                let feasible = interval >= model.most_work().0 && brute::least_memory(&model, 1, interval).is_some();
                prop_assert_eq!(feasible, smt.is_some() && interval == least);
            }
        }
    }
}

#[test]
fn all_engines_find_blocks_of_the_same_shortest_length() {
    let looped = Placement::looped(2, 2).expect("a placement");
    // The second and third were once called optimal by HiGHS three and four ticks too early.
    for (placement, times) in
        [(v(3), [1, 1, 1, 0]), (v(3), [2, 3, 2, 1]), (v(3), [3, 4, 2, 1]), (looped, [3, 4, 2, 1])]
    {
        let model = uniform(&placement, times);
        let objective = BlockObjective::LeastMemory { interval: model.most_work() };
        let [milp, smt, lcg] = all(&model, objective).map(|outcome| {
            let answer = outcome.best().expect("a block");
            (answer.peak_max(), answer.length(&model))
        });
        assert_eq!([milp, lcg], [smt; 2], "{times:?}");
    }
}

#[test]
fn no_presolve_calls_infeasible_what_has_a_block() {
    // HiGHS 1.15.0 does, where it merges parallel columns.
    for (times, least) in
        [([[2, 1], [1, 2]], 8), ([[2, 2], [1, 1]], 8), ([[2, 2], [1, 4]], 6), ([[2, 4], [4, 2]], 6)]
    {
        let [forward, input] = times.map(|times| times.to_vec());
        let times = [forward, input, vec![0, 0], vec![2]];
        let placement = Placement::linear(2).expect("a placement");
        let model = model(placement, times, [vec![2, 1], vec![0, 0]], vec![None; 2]);
        let objective = BlockObjective::LeastMemory { interval: model.most_work() };
        for outcome in all(&model, objective) {
            assert_eq!(said(&outcome, objective), Some(Ratio::from_integer(least)), "{model:?}");
        }
    }
}

#[test]
fn no_presolve_loses_the_block_of_least_interval() {
    // HiGHS 1.15.0 calls 10 ticks the least, where it probes and does not merge parallel columns.
    let placement = Placement::looped(2, 2).expect("a placement");
    let times = [vec![1; 4], vec![1; 4], vec![0, 1, 0, 1], vec![2, 2, 0]];
    let model = model(placement, times, [vec![1; 4], vec![0; 4]], vec![Some(3), Some(2)]);
    for outcome in all(&model, BlockObjective::LeastInterval) {
        assert_eq!(said(&outcome, BlockObjective::LeastInterval), Some(Ratio::from_integer(8)));
    }
}

#[test]
fn a_least_interval_need_not_be_whole() {
    for (devices, times, capacity, expected) in
        [(2, [1, 1, 1, 1], 2, (7, 2)), (3, [1, 1, 1, 1], 3, (11, 3)), (3, [1, 2, 4, 1], 2, (17, 2))]
    {
        let model = uniform(&Placement::linear(devices).expect("a placement"), times);
        let model = model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a model");
        for outcome in all(&model, BlockObjective::LeastInterval) {
            let expected = Ratio::new(expected.0, expected.1);
            assert_eq!(said(&outcome, BlockObjective::LeastInterval), Some(expected));
            let block = &outcome.best().expect("a block").block;
            assert_eq!(block.interval(), expected);
        }
    }
}

#[test]
fn amounts_of_bytes_are_as_exact_as_small_ones() {
    // Two sizes without a common divisor, far beyond 32 bits.
    let sizes = vec![30_000_000_001, 20_000_000_003, 30_000_000_001, 20_000_000_003];
    let retained = sizes.iter().map(|size| size - 7).collect();
    let times = [vec![1; 4], vec![1; 4], vec![1; 4], vec![1; 3]];
    let model = model(v(2), times, [sizes, retained], vec![None; 2]);
    let objective = BlockObjective::LeastMemory { interval: Ticks(6) };
    let expected = brute::least_memory(&model, 1, 6).expect("a block");
    let smt = smt::solve(&model, objective, &Stop::after(AMPLE)).expect("an outcome");
    assert_eq!(said(&smt, objective), Some(Ratio::from_integer(expected)));
    // 32 bits cannot either, but what they let pass is excluded.
    let lcg = by_lcg(&model, objective, &Stop::after(AMPLE)).expect("an outcome");
    assert_eq!(said(&lcg, objective), Some(Ratio::from_integer(expected)));
    // HiGHS cannot tell such sizes apart to the byte, and says so.
    match by_milp(&model, objective, &Stop::after(AMPLE)).expect("an outcome") {
        BlockOutcome::Bounded { best: Some(answer), bound: BlockBound::Memory(bound) }
        | BlockOutcome::Claimed { best: Some(answer), bound: BlockBound::Memory(bound), .. } => {
            assert!(bound.0 <= expected && expected <= answer.peak_max().0);
        }
        BlockOutcome::Optimal(answer) => assert_eq!(answer.peak_max(), Units(expected)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn amounts_that_32_bits_do_not_tell_apart_are_told_apart_all_the_same() {
    let (a, b) = ((1 << 40) + 1, (1 << 40) + 3);
    let placement = Placement::looped(2, 2).expect("a placement");
    let least = |capacity| {
        let times = [vec![1; 4], vec![1; 4], vec![1; 4], vec![2; 3]];
        let held = [vec![a, b, b, a], vec![a, 0, 0, a]];
        let model = model(placement.clone(), times, held, vec![Some(capacity); 2]);
        let objective = BlockObjective::LeastInterval;
        let [smt, lcg] = [smt::solve, by_lcg].map(|solve| {
            said(&solve(&model, objective, &Stop::after(AMPLE)).expect("an outcome"), objective)
        });
        assert_eq!(lcg, smt, "{capacity}");
        smt
    };
    // Room for so many activations of either size, and for one unit less.
    let mut differ = 0;
    for (of_a, of_b) in itertools::iproduct!(1..=3, 1..=3) {
        let all = of_a * a + of_b * b;
        differ += i32::from(least(all - 1) != least(all));
    }
    assert!(differ > 0, "one unit matters somewhere");
}

#[test]
fn lazy_clause_generation_takes_what_fits_into_32_bits_and_refuses_the_rest() {
    let placement = Placement::looped(2, 2).expect("a placement");
    for (latency, one, many) in
        [(1, true, true), (1 << 20, true, false), (1 << 28, false, false), (1 << 55, false, false)]
    {
        let times = [vec![1; 4], vec![1; 4], vec![1; 4], vec![latency; 3]];
        let model = model(placement.clone(), times, [vec![1; 4], vec![0; 4]], vec![Some(4); 2]);
        let objective = BlockObjective::LeastInterval;
        // With 64 microbatches per interval, as many as can be encoded.
        let accepted = [1, 64].map(|period| lcg::accepts(&model, period, objective));
        assert_eq!(accepted, [one, many], "{latency}");
        if one {
            let [smt, lcg] = [smt::solve, by_lcg].map(|solve| {
                said(&solve(&model, objective, &Stop::after(AMPLE)).expect("an outcome"), objective)
            });
            assert_eq!(lcg, smt, "{latency}");
        }
        // An interval beyond all times.
        assert!(!lcg::accepts(&model, 1, BlockObjective::LeastMemory { interval: Ticks(i64::MAX) }));
    }
}

#[test]
fn what_cannot_be_is_infeasible_for_all() {
    let model = uniform(&v(3), [3, 4, 2, 0]);
    let short = BlockObjective::LeastMemory { interval: Ticks(17) };
    let tight = model.with_uniform_activation_capacity(Some(Units(3))).expect("a model");
    let limited = BlockObjective::LeastMemory { interval: Ticks(18) };
    let overfull = model.with_uniform_activation_capacity(Some(Units(1))).expect("a model");
    for (model, objective) in [(&model, short), (&tight, limited), (&overfull, BlockObjective::LeastInterval)]
    {
        let [by_milp, by_smt, by_lcg] = all(model, objective);
        assert_eq!(said(&by_milp, objective), None);
        assert_eq!([by_smt, by_lcg], [const { BlockOutcome::Infeasible }; 2]);
    }
    let never = BlockObjective::LeastMemory { interval: Ticks(0) };
    for solve in [by_milp, smt::solve, by_lcg] {
        let refused = solve(&model, never, &Stop::after(AMPLE));
        assert_eq!(refused, Err(EncodeError::NotPositive(Ticks(0))));
    }
}

#[test]
fn memory_that_does_not_fit_64_bits_is_an_error() {
    // Some 2^56 / 3 microbatches are under way at a time.
    let far = [vec![1; 2], vec![1; 2], vec![1; 2], vec![1 << 55]];
    let placement = Placement::linear(2).expect("a placement");
    let model = model(placement, far, [vec![1 << 40; 2], vec![1 << 40; 2]], vec![None; 2]);
    for solve in [by_milp, smt::solve, by_lcg] {
        let found = solve(&model, BlockObjective::LeastMemory { interval: Ticks(3) }, &Stop::after(AMPLE));
        assert_eq!(found, Err(EncodeError::Overflow));
    }
}

#[test]
fn a_capacity_that_nothing_keeps_to_is_infeasible_though_another_device_has_none() {
    let times = [vec![1; 2], vec![1; 2], vec![1; 2], vec![0]];
    let placement = Placement::linear(2).expect("a placement");
    let model = model(placement, times, [vec![1; 2], vec![1; 2]], vec![Some(1), None]);
    let objective = BlockObjective::LeastMemory { interval: Ticks(3) };
    assert_eq!(all(&model, objective), [const { BlockOutcome::Infeasible }; 3]);
}

#[test]
fn without_time_there_is_still_a_true_bound() {
    let model =
        uniform(&v(6), [3, 4, 2, 0]).with_uniform_activation_capacity(Some(Units(8))).expect("a model");
    let memory = BlockObjective::LeastMemory { interval: Ticks(18) };
    for solve in [by_milp, smt::solve, by_lcg] {
        match solve(&model, memory, &Stop::after(Duration::ZERO)).expect("an outcome") {
            BlockOutcome::Bounded { bound: BlockBound::Memory(bound), .. } => assert!(bound <= Units(8)),
            other => panic!("{other:?}"),
        }
        match solve(&model, BlockObjective::LeastInterval, &Stop::after(Duration::ZERO)).expect("an outcome")
        {
            BlockOutcome::Bounded { bound: BlockBound::Interval(bound), .. } => {
                assert!(bound >= Ratio::from_integer(18) - Ratio::new(1, 100));
                assert!(bound <= Ratio::from_integer(21));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn running_out_of_time_anywhere_is_no_error() {
    let model = uniform(&v(10), [9261, 9043, 4669, 601])
        .with_uniform_activation_capacity(Some(Units(9)))
        .expect("a model");
    for milliseconds in [20, 50, 90, 140, 200] {
        let limit = Duration::from_millis(milliseconds);
        for solve in [by_milp, smt::solve, by_lcg] {
            match solve(&model, BlockObjective::LeastInterval, &Stop::after(limit)).expect("an outcome") {
                BlockOutcome::Optimal(_) => {}
                BlockOutcome::Bounded { best, bound: BlockBound::Interval(bound) } => {
                    assert!(best.is_none_or(|best| bound <= best.interval));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn the_same_question_has_the_same_answer() {
    let model =
        uniform(&v(4), [3, 4, 2, 1]).with_uniform_activation_capacity(Some(Units(4))).expect("a model");
    let [first, second] = [(); 2].map(|()| all(&model, BlockObjective::LeastInterval));
    assert_eq!(first, second);
}
