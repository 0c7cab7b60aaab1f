use super::*;
use crate::block::BlockViolation;
use crate::kernel::asap;
use crate::kernel::device_peak;
use crate::model::{Costs, Kind, Memory, Stage, Ticks};
use crate::replay::replay;

/// A placement of every kind the catalogue knows.
fn placements(devices: u32) -> Vec<Placement> {
    let looped = (2..=4).map(|chunks| Placement::looped(devices, chunks));
    // Chimera and DualPipe need an even number of devices.
    let two_way = devices.is_multiple_of(2).then(|| Placement::bidirectional(devices));
    [Placement::linear(devices), Placement::v(devices)]
        .into_iter()
        .chain(looped)
        .chain(two_way)
        .map(|placement| placement.expect("a placement"))
        .collect()
}

/// Durations F, I, W and latency.
const COSTS: [[i64; 4]; 6] =
    [[1, 1, 1, 0], [3, 4, 2, 0], [3, 4, 2, 1], [18_522, 18_086, 9_337, 601], [5, 1, 0, 3], [0, 1, 4, 7]];

fn model(placement: Placement, microbatches: u32, [f, i, w, c]: [i64; 4]) -> Model {
    let (stages, devices) = (placement.stages() as usize, placement.devices() as usize);
    let costs = Costs {
        unit: "tick".to_owned(),
        forward: vec![Ticks(f); stages],
        backward_input: vec![Ticks(i); stages],
        backward_weight: vec![Ticks(w); stages],
        communication: vec![Ticks(c); stages - 1],
    };
    let memory = Memory {
        unit: "unit".to_owned(),
        activation: vec![Units(11); stages],
        retained_for_weight: vec![Units(4); stages],
        checkpoint: Some(vec![Units(2); stages]),
        weights: vec![Units(0); stages],
        capacity: vec![None; devices],
    };
    Model::new("test".to_owned(), None, placement, microbatches, costs, memory).expect("a model")
}

#[test]
fn every_schedule_runs_at_every_size_under_every_cost() {
    for devices in 1..=9 {
        for placement in placements(devices) {
            for microbatches in 1..=3 * devices {
                // All costs at every size would take minutes; each size has one of them.
                let costs = COSTS[(devices + microbatches) as usize % COSTS.len()];
                let model = model(placement.clone(), microbatches, costs);
                for entry in entries().iter().filter(|entry| entry.needs.met_by(&placement)) {
                    let schedule = entry.generate(&model).expect(entry.name);
                    let verdict = replay(&model, &schedule);
                    let what = format!("{} d={devices} m={microbatches} {costs:?}", entry.name);
                    assert_eq!(verdict.violations, [], "{what}");
                    let held: Vec<Units> =
                        Device::all(devices).map(|device| device_peak(&model, &schedule, device)).collect();
                    assert_eq!(verdict.peak_memory, held, "{what}");
                }
            }
        }
    }
}

#[test]
fn stages_of_different_cost_are_scheduled_too() {
    for placement in placements(4) {
        let base = model(placement.clone(), 9, COSTS[0]);
        let uneven = |list: &[Ticks]| {
            list.iter().zip(0..).map(|(&ticks, at)| ticks + Ticks(at * 7 % 5)).collect::<Vec<Ticks>>()
        };
        let costs = Costs {
            unit: "tick".to_owned(),
            forward: uneven(&base.costs().forward),
            backward_input: uneven(&base.costs().backward_input),
            backward_weight: uneven(&base.costs().backward_weight),
            communication: uneven(&base.costs().communication),
        };
        let memory = Memory {
            activation: (0..placement.stages()).map(|stage| Units(i64::from(5 + stage * 3 % 4))).collect(),
            ..base.memory().clone()
        };
        let model = Model::new("uneven".to_owned(), None, placement, 9, costs, memory).expect("a model");
        for entry in entries().iter().filter(|entry| entry.needs.met_by(model.placement())) {
            let schedule = entry.generate(&model).expect(entry.name);
            assert_eq!(replay(&model, &schedule).violations, [], "{}", entry.name);
        }
    }
}

#[test]
fn peak_memory_is_what_the_entry_states() {
    for devices in 1..=9 {
        let d = i64::from(devices);
        for placement in placements(devices) {
            let v = i64::from(placement.chunks().expect("equally many") / placement.directions());
            let microbatches = 4 * devices;
            let m = i64::from(microbatches);
            let model = Model::unit(placement.clone(), microbatches).expect("a model");
            for entry in entries().iter().filter(|entry| entry.needs.met_by(&placement)) {
                let found = replay(&model, &entry.generate(&model).expect(entry.name)).peak_memory;
                let each = |formula: &dyn Fn(i64) -> i64| -> Vec<Units> {
                    (0..d).map(|device| Units(formula(device))).collect()
                };
                let most = found.iter().copied().max().unwrap_or_default();
                let what = format!("{} d={d} v={v}", entry.name);
                match entry.name {
                    "gpipe" | "looped-bfs" => assert_eq!(found, each(&|_| v * m), "{what}"),
                    "dualpipe" => assert_eq!(found, each(&|_| d + 1), "{what}"),
                    "dualpipe-v" => assert_eq!(found, each(&|_| 2 * d + 1), "{what}"),
                    "chimera" => {
                        let inner = |i: i64| i.min(d - 1 - i);
                        assert_eq!(found, each(&|i| d / 2 + 1 + inner(i)), "{what}");
                    }
                    "gems" => assert_eq!(found, each(&|_| 1), "{what}"),
                    "1f1b" => assert_eq!(found, each(&|i| d - i), "{what}"),
                    "eager-1f1b" => assert_eq!(found, each(&|i| 2 * (d - i) - 1), "{what}"),
                    "1f1b-r" => assert_eq!(found, each(&|_| 1), "{what}"),
                    "zb-h1" => assert_eq!(found, each(&|_| d), "{what}"),
                    "zb-h2" => assert_eq!(found, each(&|_| 2 * d - 1), "{what}"),
                    "zb-1p" => assert!(most <= Units(d), "{what}: {most}"),
                    "zb-2p" => assert!(most <= Units(2 * d), "{what}: {most}"),
                    "interleaved-1f1b" => {
                        assert_eq!(found, each(&|i| 2 * (d - 1 - i) + (v - 1) * d + 1), "{what}");
                    }
                    "interleaved-1f1b-uniform" => {
                        let steady = block(entry.name, &placement).expect("a block").steady_peak(&model);
                        assert!(found.iter().zip(&steady).all(|(found, steady)| found <= steady), "{what}");
                    }
                    "1f1b-v" => assert_eq!(most, Units((4 * d + 4) / 3), "{what}"),
                    "v-min" => assert_eq!(most, Units((d + 4) / 3 * 2), "{what}"),
                    "v-half" => assert_eq!(most, Units(d / 2 * 2 + 2), "{what}"),
                    "v-zb" => assert_eq!(most, Units(2 * d), "{what}"),
                    other => panic!("`{other}` states no memory that is tested"),
                }
            }
        }
    }
}

#[test]
fn blocks_have_no_faults_and_the_peaks_that_were_proved() {
    for devices in 1..=64 {
        let d = i64::from(devices);
        for placement in placements(devices) {
            let model = Model::unit(placement.clone(), 1).expect("a model");
            for entry in entries() {
                let Some(block) = block(entry.name, &placement) else { continue };
                let what = format!("{} d={d}", entry.name);
                assert_eq!(block.faults(&model), [], "{what}");
                let peaks = block.steady_peak(&model);
                for (i, peak) in (0..d).zip(&peaks) {
                    // Stage activations; on V placement of the fullest device, see below.
                    match entry.name {
                        "1f1b" => assert_eq!(peak.0, d - i, "{what}"),
                        "eager-1f1b" => assert_eq!(peak.0, 2 * (d - i) - 1, "{what}"),
                        "zb-h1" => assert_eq!(peak.0, d, "{what}"),
                        "zb-h2" => assert_eq!(peak.0, 2 * d - 1, "{what}"),
                        "v-min" => {
                            let less = if d % 3 == 2 && i % 3 == 0 { 2 } else { 0 };
                            assert_eq!(peak.0, (d + 4) / 3 * 2 - less, "{what} i={i}");
                        }
                        "v-half" => assert_eq!(peak.0, d / 2 * 2 + 2, "{what} i={i}"),
                        "v-zb" => assert_eq!(peak.0, 2 * d, "{what} i={i}"),
                        _ => {}
                    }
                }
                if entry.name == "1f1b-v" {
                    assert_eq!(peaks.iter().max(), Some(&Units((4 * d + 4) / 3)), "{what}");
                }
            }
        }
    }
}

#[test]
fn the_gaps_of_v_min_and_v_half_are_needed() {
    for (name, devices, gap) in [("v-min", 3, 2), ("v-half", 2, 3)] {
        let placement = Placement::v(devices).expect("a placement");
        let good = block(name, &placement).expect("a block");
        let offsets: Vec<_> = good
            .passes()
            .map(|(pass, at)| {
                let late = matches!(pass.kind, Kind::I | Kind::W);
                (pass.stage, pass.kind, if late { at - Ticks(gap) } else { at })
            })
            .collect();
        let without = crate::block::Block::new(placement.clone(), Ticks(6), offsets).expect("a block");
        let model = Model::unit(placement, 1).expect("a model");
        let collides = |fault: &BlockViolation| matches!(fault, BlockViolation::Collision { .. });
        assert!(without.faults(&model).iter().any(collides), "{name} without its gap");
    }
}

#[test]
fn orders_of_linear_schedules_read_as_in_the_papers() {
    let model = Model::unit(Placement::linear(3).expect("a placement"), 4).expect("a model");
    for (name, device, expected) in [
        ("gpipe", 1, "1F0 1F1 1F2 1F3 1B0 1B1 1B2 1B3"),
        ("1f1b", 0, "0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3"),
        ("1f1b", 2, "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3"),
        ("eager-1f1b", 1, "1F0 1F1 1F2 1B0 1F3 1B1 1B2 1B3"),
        ("1f1b-r", 1, "1F0 1F1 1R0 1B0 1F2 1R1 1B1 1F3 1R2 1B2 1R3 1B3"),
        ("zb-h1", 0, "0F0 0F1 0F2 0I0 0W0 0F3 0I1 0W1 0I2 0W2 0I3 0W3"),
        ("zb-h1", 2, "2F0 2I0 2F1 2I1 2F2 2I2 2W0 2F3 2I3 2W1 2W2 2W3"),
        ("zb-h2", 1, "1F0 1F1 1F2 1I0 1F3 1I1 1I2 1W0 1I3 1W1 1W2 1W3"),
    ] {
        let schedule = find(name).expect("a known name").generate(&model).expect(name);
        let order: Vec<String> = schedule.order(Device(device)).iter().map(Pass::to_string).collect();
        assert_eq!(order.join(" "), expected, "{name}, device {device}");
    }
}

#[test]
fn a_schedule_that_interleaves_single_chunks_has_the_name_of_the_linear_one_that_it_is() {
    let model =
        Model::equal_stages(Placement::linear(4).expect("a placement"), 12, [3, 4, 2, 1]).expect("a model");
    let orders = |name: &str| {
        let proposal = find(name).expect("a name").unimproved(&model).expect("a linear placement");
        proposal.schedule(&model).orders().to_vec()
    };
    for entry in entries().iter().filter(|entry| entry.needs == Needs::Looped) {
        let name = entry.name_on(model.placement());
        assert_ne!(name, entry.name);
        assert_eq!(
            orders(entry.name),
            orders(name.strip_suffix(", improved").unwrap_or(name)),
            "{}",
            entry.name
        );
        let looped = Placement::looped(4, 2).expect("a placement");
        assert_eq!(entry.name_on(&looped), entry.name);
    }
    let eager = find("eager-1f1b").expect("a name");
    assert_eq!(eager.name_on(model.placement()), "eager-1f1b");
}

#[test]
fn interleaved_order_goes_through_the_chunks_in_groups() {
    let placement = Placement::looped(2, 2).expect("a placement");
    for (microbatches, expected) in [
        (4, "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3"),
        (3, "0F0 0F1 2F0 2F1 0F2 2B0 2B1 2F2 0B0 0B1 2B2 0B2"),
    ] {
        let model = Model::unit(placement.clone(), microbatches).expect("a model");
        let schedule = find("interleaved-1f1b").expect("a known name").generate(&model).expect("it fits");
        let order: Vec<String> = schedule.order(Device(0)).iter().map(Pass::to_string).collect();
        assert_eq!(order.join(" "), expected);
    }
}

#[test]
fn one_f_one_b_in_a_v_leaves_at_most_six_units_per_device() {
    for devices in 2..=16 {
        let (d, m) = (i64::from(devices), 3 * devices);
        let model = Model::unit(Placement::v(devices).expect("a placement"), m).expect("a model");
        let schedule = find("1f1b-v").expect("a known name").generate(&model).expect("no capacity");
        let span = replay(&model, &schedule).timing.expect("it runs").metrics.device_span;
        assert!(span.0 - 6 * i64::from(m) <= 6 * d, "d={d}: {span}");
    }
}

#[test]
fn equal_durations_leave_the_bubbles_that_the_papers_state() {
    for devices in 2..=8 {
        let (d, m) = (i64::from(devices), 3 * devices);
        for (name, placement, idle) in [
            ("gpipe", Placement::linear(devices), 3 * (d - 1)),
            ("1f1b", Placement::linear(devices), 3 * (d - 1)),
            ("eager-1f1b", Placement::linear(devices), 3 * (d - 1)),
            ("zb-h1", Placement::linear(devices), d - 1),
            ("zb-h2", Placement::linear(devices), 0),
            ("zb-2p", Placement::linear(devices), 0),
            ("interleaved-1f1b", Placement::looped(devices, 2), 3 * (d - 1)),
            ("interleaved-1f1b", Placement::looped(devices, 3), 3 * (d - 1)),
            ("looped-bfs", Placement::looped(devices, 2), 3 * (d - 1)),
        ] {
            let model = Model::unit(placement.expect("a placement"), m).expect("a model");
            let schedule = find(name).expect("a known name").generate(&model).expect(name);
            let timing = replay(&model, &schedule).timing.expect("it runs");
            let work = model.most_work() * i64::from(m);
            assert_eq!(timing.metrics.device_span - work, Ticks(idle), "{name} d={d}");
        }
    }
}

#[test]
fn improving_is_never_worse_than_left_shifting_the_copies_of_the_block() {
    for devices in 1..=8 {
        for costs in COSTS {
            let placement = Placement::v(devices).expect("a placement");
            let model = model(placement.clone(), 3 * devices, costs);
            for name in ["1f1b-v", "v-min", "v-half", "v-zb"] {
                let block = block(name, &placement).expect("a block");
                let plain = asap(&model, &block.expand(&model, model.microbatches()).expect("a schedule"))
                    .expect("it runs");
                let schedule = find(name).expect("a known name").generate(&model).expect(name);
                let metrics = replay(&model, &schedule).timing.expect("it runs").metrics;
                assert!(metrics.device_span <= plain.largest_span(&model), "{name} {devices} {costs:?}");
            }
        }
    }
}

#[test]
fn v_half_meets_the_bound_of_the_paper() {
    // 6n + 6p - 3k - 1 unit passes (arXiv 2405.15362, appendix, Figure 13); one above at p = 8, 16.
    for (devices, above) in [(3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 1), (12, 0), (16, 1)] {
        let (p, n) = (i64::from(devices), i64::from(4 * devices));
        let k = p / 2 * 2 + 2;
        let model = Model::unit(Placement::v(devices).expect("a placement"), 4 * devices).expect("a model");
        let schedule = find("v-half").expect("a known name").generate(&model).expect("no capacity");
        let span = replay(&model, &schedule).timing.expect("it runs").metrics.device_span;
        assert_eq!(span, Ticks(6 * n + 6 * p - 3 * k - 1 + above), "p = {p}");
    }
}

#[test]
fn another_placement_is_refused_by_name() {
    let linear = Model::unit(Placement::linear(4).expect("a placement"), 8).expect("a model");
    let error = find("v-half").expect("a known name").generate(&linear).expect_err("not linear");
    assert_eq!(error.to_string(), "`v-half` is a schedule for v placement, but the model's is linear");
    assert!(block("v-half", linear.placement()).is_none());
    assert!(block("no such name", linear.placement()).is_none());
    assert!(find("no such name").is_none());
}

#[test]
fn capacities_are_honoured_or_refused_with_the_amounts() {
    let limited = |capacity| {
        let model = model(Placement::linear(4).expect("a placement"), 12, COSTS[2]);
        model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
    };
    for capacity in 11..=44 {
        let model = limited(capacity);
        for name in ["zb-1p", "zb-2p"] {
            let schedule = find(name).expect("a known name").generate(&model).expect("room for one");
            assert_eq!(replay(&model, &schedule).violations, [], "{name} within {capacity}");
        }
    }
    let refused = |name: &str, capacity| {
        find(name).expect("a known name").generate(&limited(capacity)).expect_err(name).to_string()
    };
    let v = model(Placement::v(4).expect("a placement"), 12, COSTS[2]);
    for capacity in 0..100 {
        let v = v.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity");
        for entry in entries().iter().filter(|entry| entry.needs == Needs::V) {
            match entry.generate(&v) {
                Ok(schedule) => assert_eq!(replay(&v, &schedule).violations, [], "{} {capacity}", entry.name),
                Err(CatalogError::OverCapacity { holds, .. }) => assert!(holds > Units(capacity)),
                Err(other) => panic!("{}: {other}", entry.name),
            }
        }
    }
    assert_eq!(refused("1f1b", 43), "`1f1b` holds 44 units on device 0, more than its limit of 43 units");
    assert_eq!(
        refused("zb-1p", 10),
        "`zb-1p` may hold 10 units on device 0, but one microbatch of its stage holds 11"
    );
}

#[test]
fn recomputation_needs_a_checkpoint() {
    let placement = Placement::linear(2).expect("a placement");
    let known = model(placement.clone(), 4, COSTS[0]);
    let memory = Memory { checkpoint: None, ..known.memory().clone() };
    let unknown =
        Model::new("plain".to_owned(), None, placement, 4, known.costs().clone(), memory).expect("a model");
    let entry = find("1f1b-r").expect("a known name");
    assert_eq!(entry.generate(&unknown), Err(CatalogError::RecomputeUnknown("1f1b-r")));
    // Two checkpoints of 2 on device 0, and the 9 that R adds to one of them.
    let schedule = entry.generate(&known).expect("it fits");
    assert_eq!(replay(&known, &schedule).peak_memory, [Units(13), Units(11)]);
}

#[test]
fn generating_twice_gives_the_same_schedule() {
    for placement in placements(5) {
        let model = model(placement, 11, COSTS[3]);
        for entry in entries().iter().filter(|entry| entry.needs.met_by(model.placement())) {
            assert_eq!(entry.generate(&model), entry.generate(&model), "{}", entry.name);
        }
    }
}

#[test]
fn the_memory_of_1f1b_counts_all_chunks_of_a_device() {
    for (placement, expected) in [
        (Placement::linear(4), 4),
        (Placement::v(4), 8),
        (Placement::looped(4, 3), 12),
        (Placement::new(vec![vec![Stage(0), Stage(2)], vec![Stage(1)]]), 4),
    ] {
        let model = Model::unit(placement.expect("a placement"), 9).expect("a model");
        assert_eq!(one_f_one_b_memory(&model), Units(expected));
    }
}

#[test]
fn names_are_unique_and_every_entry_says_where_it_comes_from() {
    for (at, entry) in entries().iter().enumerate() {
        assert!(entries()[..at].iter().all(|other| other.name != entry.name), "{} twice", entry.name);
        assert!(entry.source.contains("arXiv"), "the source of {} names the paper: arXiv NUMBER", entry.name);
        assert_eq!(find(entry.name).map(|found| found.summary), Some(entry.summary));
    }
}

#[test]
fn schedules_in_two_directions_leave_the_bubbles_that_their_papers_state() {
    for (devices, [f, i, w]) in
        [(2, [1, 1, 1]), (4, [2, 1, 1]), (6, [1, 1, 1]), (8, [3, 3, 3]), (8, [2, 1, 1])]
    {
        let (d, m) = (i64::from(devices), 4 * i64::from(devices));
        let idle = |name: &str, placement: Placement| {
            let microbatches = u32::try_from(m).expect("few");
            let model = Model::equal_stages(placement.clone(), microbatches, [f, i, w, 0]).expect("a model");
            let schedule = find(name).expect("a known name").generate(&model).expect(name);
            let timing = replay(&model, &schedule).timing.expect("it runs");
            let per_device = i64::from(placement.depth()) / d * m * (f + i + w);
            timing.metrics.device_span.0 - per_device
        };
        let two_ways = || Placement::bidirectional(devices).expect("a placement");
        let b = i + w;
        if f == i {
            // Of DualPipe's authors, where an overlapped pair takes as long as its passes.
            let dualpipe = f + b + b - 3 * w;
            assert_eq!(idle("dualpipe", two_ways()), (d / 2 - 1) * dualpipe, "d={d} {f},{i},{w}");
            let v = Placement::v(devices).expect("a placement");
            assert_eq!(idle("dualpipe-v", v), (d - 1) * dualpipe, "d={d} {f},{i},{w}");
        }
        assert_eq!(idle("gems", two_ways()), m * (d - 1) * b, "d={d} {f},{i},{w}");
        if f == b {
            // (D-2)/(2N+D-2) of the time (Chimera, arXiv 2107.06925, Table 2).
            assert_eq!(idle("chimera", two_ways()), (d / 2 - 1) * (f + b), "d={d} {f},{i},{w}");
        }
    }
}

/// Places of microbatches that do not exist are not gone through: here there would be 10^10 and more.
#[test]
fn far_more_devices_than_microbatches_are_no_obstacle() {
    let devices = 100_000;
    for (placement, name) in [
        (Placement::linear(devices), "interleaved-1f1b"),
        (Placement::v(devices), "dualpipe-v"),
        (Placement::bidirectional(devices), "dualpipe"),
    ] {
        let model = Model::unit(placement.expect("a placement"), 1).expect("a model");
        let schedule = find(name).expect("a known name").generate(&model).expect("a schedule");
        let count = |kind| schedule.orders().iter().flatten().filter(|pass| pass.kind == kind).count();
        assert_eq!(count(Kind::F), model.placement().depth() as usize, "{name}");
    }
}

/// Microbatches that do not exist leave gaps in the order, and change nothing else.
#[test]
fn fewer_microbatches_keep_the_order_of_a_full_round() {
    for devices in [2, 4, 6, 10] {
        for (placement, name, full) in [
            (Placement::linear(devices), "interleaved-1f1b", 2 * devices),
            (Placement::looped(devices, 3), "interleaved-1f1b", 2 * devices),
            (Placement::v(devices), "dualpipe-v", 2 * devices),
            (Placement::bidirectional(devices), "dualpipe", 2 * devices),
        ] {
            let of = |microbatches| {
                let placement = placement.clone().expect("a placement");
                let model = Model::unit(placement, microbatches).expect("a model");
                find(name).expect("a known name").generate(&model).expect("a schedule")
            };
            let round = of(full);
            for microbatches in 1..full {
                let kept = |order: &Vec<Pass>| {
                    order.iter().copied().filter(|pass| pass.microbatch.0 < microbatches).collect()
                };
                let expected: Vec<Vec<Pass>> = round.orders().iter().map(kept).collect();
                assert_eq!(of(microbatches).orders(), expected, "{name} d={devices} m={microbatches}");
            }
        }
    }
}

#[test]
fn dualpipe_and_chimera_need_an_even_number_of_devices() {
    let model = Model::unit(Placement::bidirectional(3).expect("a placement"), 6).expect("a model");
    for name in ["dualpipe", "chimera"] {
        let error = find(name).expect("a known name").generate(&model).expect_err("odd");
        assert_eq!(error, CatalogError::OddDevices { name, devices: 3 });
    }
    assert!(find("gems").expect("a known name").generate(&model).is_ok());
}

#[test]
fn the_second_copy_of_the_weights_counts() {
    let memory = |placement: Placement, name: &str| {
        let model = Model::equal_stages(placement, 8, [1, 1, 1, 0]).expect("a model");
        let memory = Memory { weights: vec![Units(100); model.stages() as usize], ..model.memory().clone() };
        let (placement, costs) = (model.placement().clone(), model.costs().clone());
        let model = Model::new("heavy".to_owned(), None, placement, 8, costs, memory).expect("a model");
        replay(&model, &find(name).expect("a known name").generate(&model).expect(name)).peak_memory_max()
    };
    assert_eq!(memory(Placement::linear(4).expect("a placement"), "1f1b"), Units(104));
    assert_eq!(memory(Placement::bidirectional(4).expect("a placement"), "chimera"), Units(204));
}
