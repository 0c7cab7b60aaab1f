//! The edges of what is accepted: the last value that is, and the first that is not.

use bubbleproof_core::certificate::{
    Bound, BoundError, BoundReason, Objective, Repetition, Window, critical_path, holds, interval_bound,
    lower_bound, lower_bound_of, lower_bound_within, steady_bound,
};
use bubbleproof_core::comm::{
    self, Action, ActionWait, CommunicationPlan, Ending, Message, Payload, Semantics,
};
use bubbleproof_core::model::{
    Device, Kind, Microbatch, Model, ModelError, Pass, Placement, PlacementError, Stage, Ticks, Units,
    reading,
};
use bubbleproof_core::schedule::{self, Place, Schedule, ScheduleError, prerequisites};

fn linear(devices: u32) -> Placement {
    Placement::linear(devices).expect("a placement")
}

fn unit(placement: Placement, microbatches: u32) -> Model {
    Model::unit(placement, microbatches).expect("a model")
}

fn passes(order: &str) -> Vec<Pass> {
    order.split_whitespace().map(|pass| pass.parse().expect("a pass")).collect()
}

#[test]
fn of_placements() {
    let most = u32::try_from(Placement::MAX_STAGES).expect("it fits");
    assert_eq!(Placement::looped(1, most).map(|placement| placement.stages()), Ok(most));
    assert_eq!(Placement::looped(1, most + 1), Err(PlacementError::TooManyStages(u64::from(most) + 1)));
    assert_eq!(Placement::v(most / 2).map(|placement| placement.devices()), Ok(most / 2));
    assert_eq!(Placement::v(most / 2 + 1), Err(PlacementError::TooManyStages(u64::from(most) + 2)));
    assert_eq!(Placement::new(vec![vec![]; 2]), Err(PlacementError::EmptyDevice(Device(0))));

    let lists =
        |stages: &[&[u32]]| stages.iter().map(|list| list.iter().copied().map(Stage).collect()).collect();
    // Nearly linear, looped and V.
    let nearly: [&[&[u32]]; 8] = [
        &[&[0], &[2], &[1]],
        &[&[0, 2], &[1, 4], &[3, 5]],
        &[&[0, 4], &[1, 3], &[5, 2]],
        &[&[0, 3], &[2, 1]],
        &[&[3, 0], &[1, 2]],
        &[&[0, 2, 4], &[1, 5, 3]],
        &[&[0, 1, 2, 3]],
        &[&[0, 2, 3], &[1]],
    ];
    let shapes: Vec<String> = nearly
        .iter()
        .map(|stages| {
            let placement = Placement::new(lists(stages)).expect("a placement");
            let resized: Vec<Option<u32>> = [1, 2, 3, 5]
                .map(|devices| placement.resized(devices)?.ok().map(|resized| resized.stages()))
                .to_vec();
            let chunk_of: Vec<usize> =
                Stage::all(placement.stages()).map(|stage| placement.chunk_of(stage)).collect();
            format!("{} {:?} {resized:?} {chunk_of:?}", placement.shape(), placement.chunks())
        })
        .collect();
    assert_eq!(
        shapes,
        [
            "explicit Some(1) [None, None, Some(3), None] [0, 0, 0]",
            "explicit Some(2) [None, None, Some(6), None] [0, 0, 1, 0, 1, 1]",
            "explicit Some(2) [None, None, Some(6), None] [0, 0, 1, 1, 1, 0]",
            "explicit Some(2) [None, Some(4), None, None] [0, 1, 0, 1]",
            "explicit Some(2) [None, Some(4), None, None] [1, 0, 1, 0]",
            "explicit Some(3) [None, Some(6), None, None] [0, 0, 1, 2, 2, 1]",
            "looped Some(4) [Some(4), Some(8), Some(12), Some(20)] [0, 1, 2, 3]",
            "explicit None [None, Some(4), None, None] [0, 0, 1, 2]",
        ]
    );
    for (placement, neighbours) in [
        (linear(2), [(None, Some(1)), (Some(0), None)].to_vec()),
        (
            Placement::bidirectional(2).expect("a placement"),
            [(None, Some(1)), (Some(0), None), (None, Some(3)), (Some(2), None)].to_vec(),
        ),
    ] {
        let found: Vec<_> = Stage::all(placement.stages())
            .map(|stage| {
                (placement.stage_before(stage).map(|it| it.0), placement.stage_after(stage).map(|it| it.0))
            })
            .collect();
        assert_eq!(found, neighbours);
    }
}

#[test]
fn of_models_and_schedules() {
    let most = u32::try_from(Model::MAX_CELLS).expect("it fits");
    let (stages, microbatches) = (2, most / 2 + 1);
    assert_eq!(unit(linear(1), most).microbatches(), most);
    assert_eq!(Model::unit(linear(2), microbatches), Err(ModelError::TooManyPasses { stages, microbatches }));
    assert_eq!(Schedule::check_size(&linear(2), most / 2), Ok(()));
    assert_eq!(
        Schedule::check_size(&linear(2), microbatches),
        Err(ScheduleError::TooManyPasses { stages, microbatches })
    );
    assert_eq!(Schedule::check_size(&linear(2), 0), Err(ScheduleError::NoMicrobatch));

    let unit_model = unit(linear(2), 3);
    let with = |unit: &str| {
        let mut costs = unit_model.costs().clone();
        unit.clone_into(&mut costs.unit);
        costs.nanoseconds_per_tick()
    };
    assert_eq!(
        ["ns", "us", "ms", "s", "tick"].map(with),
        [Some(1), Some(1_000), Some(1_000_000), Some(1_000_000_000), None]
    );
    // The last capacity, and the last sum of activations and weights.
    assert!(unit_model.with_uniform_capacity(Units(Model::MAX_TOTAL)).is_ok());
    assert_eq!(
        unit_model.with_uniform_capacity(Units(Model::MAX_TOTAL + 1)),
        Err(ModelError::CapacityOverflow(Units(Model::MAX_TOTAL + 1)))
    );
    assert!(unit_model.with_uniform_capacity(Units(0)).is_ok());
    assert!(unit_model.with_uniform_capacity(Units(-1)).is_err());
    let weighing = |activation: i64, weights: i64| {
        let mut memory = unit_model.memory().clone();
        memory.activation[0] = Units(activation);
        memory.weights[1] = Units(weights);
        memory.retained_for_weight.fill(Units(0));
        Model::new(String::new(), None, linear(2), 1, unit_model.costs().clone(), memory)
    };
    assert!(weighing(Model::MAX_TOTAL / 2, Model::MAX_TOTAL / 2 - 1).is_ok());
    assert_eq!(weighing(Model::MAX_TOTAL / 2, Model::MAX_TOTAL / 2), Err(ModelError::MemoryOverflow));

    let schedule = |orders: [&str; 2]| Schedule::new(linear(2), 1, orders.map(passes).to_vec());
    let empty = schedule(["", ""]).expect("nothing is a schedule");
    assert_eq!((empty.is_empty(), empty.len()), (true, 0));
    let half = schedule(["0F0", ""]).expect("a schedule");
    assert_eq!((half.is_empty(), half.len()), (false, 1));
    let named = half.named("half");
    assert_eq!(named.name.as_deref(), Some("half"));
    assert_eq!(
        Schedule::new(linear(2), 1, vec![passes("0F0")]),
        Err(ScheduleError::Orders { orders: 1, devices: 2 })
    );
    let paired = |positions: Vec<usize>| {
        let schedule =
            Schedule::new(linear(1), 3, vec![passes("0F0 0F1 0B0 0F2 0I1 0W1 0B2")]).expect("orders");
        schedule.with_overlaps(vec![positions]).map(|schedule| {
            let steps = schedule.steps(Device(0)).map(<[Pass]>::len).collect::<Vec<_>>();
            (schedule.overlap_count(), steps)
        })
    };
    let refused = |position| Err(ScheduleError::NoPair { device: Device(0), position });
    assert_eq!(paired(vec![1, 3]), Ok((2, vec![1, 2, 2, 1, 1])));
    assert_eq!(paired(vec![2]), Ok((1, vec![1, 1, 2, 1, 1, 1])));
    assert_eq!(paired(vec![1, 2]), refused(2));
    assert_eq!(paired(vec![3, 1]), refused(1));
    assert_eq!(paired(vec![0]), refused(0));
    assert_eq!(paired(vec![4]), refused(4));
    assert_eq!(paired(vec![6]), refused(6));
    assert_eq!(paired(vec![usize::MAX - 1]), refused(usize::MAX - 1));
    assert_eq!(
        Schedule::new(linear(1), 1, vec![passes("0F0 0B0")]).expect("orders").with_overlaps(vec![]),
        Err(ScheduleError::Orders { orders: 0, devices: 1 })
    );
}

#[test]
fn of_what_passes_need() {
    let placement = Placement::bidirectional(2).expect("a placement");
    let needs = |pass: &str, present: &str| -> Vec<String> {
        let present = passes(present);
        let pass = pass.parse().expect("a pass");
        prerequisites(pass, &placement, |other| present.contains(&other))
            .map(|need| need.to_string())
            .collect()
    };
    let none: [&str; 0] = [];
    assert_eq!(needs("0F0", ""), none);
    assert_eq!(needs("1F0", ""), ["0F0"]);
    assert_eq!(needs("2F1", ""), none);
    assert_eq!(needs("0I0", "1B0"), ["1B0", "0F0"]);
    assert_eq!(needs("0B0", "1I0 0R0"), ["1I0", "0F0", "0R0"]);
    assert_eq!(needs("1B0", "2B0"), ["1F0"]);
    assert_eq!(needs("3I1", ""), ["3F1"]);
    assert_eq!(needs("2I1", ""), ["3I1", "2F1"]);
    assert_eq!(needs("0W0", ""), ["0I0"]);
    assert_eq!(needs("0R0", ""), ["0F0"]);
    assert!(
        placement.leads_through(Stage(2), Microbatch(1)) && !placement.leads_through(Stage(2), Microbatch(2))
    );
    assert_eq!([Kind::I, Kind::B, Kind::W].map(Kind::yields_input_gradient), [true, true, false]);
}

/// A model on three devices with little memory, which nothing recomputes.
fn limited() -> Model {
    let model = Model::equal_stages(linear(3), 6, [1, 1, 1, 0]).expect("a model");
    model.with_uniform_capacity(Units(2)).expect("a capacity")
}

#[test]
fn of_bounds_about_devices_that_are_not_there() {
    let model = limited();
    for objective in [Objective::Makespan, Objective::DeviceSpan] {
        let of = |devices: &[u32], steps| {
            lower_bound_of(&model, objective, &devices.iter().copied().map(Device).collect::<Vec<_>>(), steps)
        };
        assert!(of(&[0], 100_000).is_some() && of(&[0, 2], 100_000).is_some());
        for wrong in [&[][..], &[3], &[0, 3], &[1, 0], &[0, 0]] {
            assert_eq!(of(wrong, 100_000), None, "{wrong:?}");
        }
        assert_eq!(of(&[0, 1, 2], 0), None);
        let Some(right) = of(&[0, 2], 100_000) else { panic!("a bound") };
        let subset = |devices: &[u32], repetition| Bound {
            value: right.value,
            reason: BoundReason::Subset {
                devices: devices.iter().copied().map(Device).collect(),
                repetition,
            },
        };
        let refused = |bound: &Bound| holds(&model, objective, bound).expect_err("it is wrong");
        assert!(matches!(refused(&subset(&[], None)), BoundError::Order));
        assert!(matches!(refused(&subset(&[2, 0], None)), BoundError::Order));
        assert!(matches!(refused(&subset(&[0, 0], None)), BoundError::Order));
        assert!(matches!(
            refused(&subset(&[0, 3], None)),
            BoundError::Device { device: Device(3), devices: 3 }
        ));
        for after in [0, 1, 6, 7, u32::MAX] {
            for period in [0, 1, 2, 7, u32::MAX] {
                for growth in [-1, 0, 2, 3, 100] {
                    let repetition = Some(Repetition { after, period, growth: Ticks(growth) });
                    if let Ok(()) = holds(&model, objective, &subset(&[0, 2], repetition)) {
                        assert_eq!(right.reason, subset(&[0, 2], repetition).reason);
                    }
                }
            }
        }
        let device = Device(3);
        let (held, turn, work, head, tail) = (1, Ticks(1), Ticks(18), Ticks(0), Ticks(0));
        let (first, last) = (Window::default(), Window::default());
        for reason in [
            BoundReason::Windows { device, work, first, last },
            BoundReason::Chain { device, work, head, tail },
            BoundReason::Turnover { device, held, turn },
            BoundReason::Area { device },
        ] {
            let bound = Bound { value: Ticks(18), reason };
            assert!(matches!(refused(&bound), BoundError::Device { device: Device(3), devices: 3 }));
        }
    }
}

#[test]
fn of_bounds_with_two_directions() {
    let model = unit(Placement::bidirectional(2).expect("a placement"), 4);
    let alone = lower_bound(&model.with_microbatches(1).expect("a model"), Objective::Makespan);
    assert_eq!((alone.value, &alone.reason), (critical_path(&model), &BoundReason::Alone));
    assert_eq!(holds(&model, Objective::Makespan, &alone), Ok(()));
    // Each device runs three passes of each of four microbatches, and is where some of them begin.
    let (device, work, head, tail) = (Device(0), Ticks(12), Ticks::ZERO, Ticks::ZERO);
    for objective in [Objective::Makespan, Objective::DeviceSpan] {
        let bound = lower_bound(&model, objective);
        assert_eq!(bound, Bound { value: work, reason: BoundReason::Work { device, work, head, tail } });
        assert_eq!(holds(&model, objective, &bound), Ok(()));
        let more = Bound { value: Ticks(13), ..bound };
        assert!(matches!(holds(&model, objective, &more), Err(BoundError::Value { .. })));
        for (device, work) in [(Device(2), Ticks(12)), (Device(1), Ticks(13))] {
            let other = Bound { value: work, reason: BoundReason::Work { device, work, head, tail } };
            assert!(holds(&model, objective, &other).is_err());
        }
    }
    assert_eq!((interval_bound(&model), steady_bound(&model, 1000)), (0.into(), 0.into()));
    assert_eq!(lower_bound_of(&model, Objective::Makespan, &[Device(0)], 1000), None);
    let area = Bound { value: alone.value, reason: BoundReason::Area { device: Device(0) } };
    assert!(matches!(holds(&model, Objective::Makespan, &area), Err(BoundError::Directions(2))));
}

#[test]
fn of_repetitions() {
    let repetition = Repetition { after: 9, period: 2, growth: Ticks(7) };
    assert_eq!((*repetition.pace().numer(), *repetition.pace().denom()), (7, 2));
    assert_eq!(Window { length: Ticks(9), work: Ticks(4) }.idle(), Ticks(5));
}

/// Memory that holds nothing at all, and passes that need none.
#[test]
fn of_bounds_without_memory() {
    let model = limited();
    let none = model.with_uniform_capacity(Units(0)).expect("a capacity");
    let work = Bound { value: model.most_work() * 6, ..lower_bound_within(&none, Objective::Makespan, 1000) };
    assert!(lower_bound_within(&none, Objective::Makespan, 1000).value >= work.value);
    assert_eq!(interval_bound(&none), 3.into());
    assert_eq!(lower_bound_of(&none, Objective::Makespan, &[Device(0)], 1000), None);
    let mut memory = none.memory().clone();
    memory.activation.fill(Units(0));
    memory.retained_for_weight.fill(Units(0));
    let free =
        Model::new("free".to_owned(), None, linear(3), 6, none.costs().clone(), memory).expect("a model");
    assert_eq!(interval_bound(&free), 3.into());
    let unlimited = unit(linear(3), 6);
    for objective in [Objective::Makespan, Objective::DeviceSpan] {
        assert_eq!(
            lower_bound_within(&free, objective, 0).value,
            lower_bound_within(&unlimited, objective, 0).value
        );
    }
    // One unit of memory is one microbatch at a time: nothing overlaps on the first device.
    let single = model.with_uniform_capacity(Units(1)).expect("a capacity");
    assert_eq!(steady_bound(&single, 0), Ticks(7).0.into());
    assert_eq!(lower_bound_within(&single, Objective::Makespan, 0).value, Ticks(6 * 7));
}

/// A plan for one microbatch with these rows.
fn plan(devices: u32, rows: &[&[Action]]) -> CommunicationPlan {
    let rows = rows.iter().map(|row| row.to_vec()).collect();
    CommunicationPlan::new(linear(devices), 1, rows).expect("a row for each device")
}

/// What is said of it.
fn faults(devices: u32, rows: &[&[Action]]) -> Vec<String> {
    comm::verify(&plan(devices, rows)).iter().map(ToString::to_string).collect()
}

#[test]
fn of_actions_about_stages_that_are_not_there() {
    let [forward, backward] = ["0F0", "0B0"].map(|pass| Action::Run(pass.parse().expect("a pass")));
    let reduced = [Action::ReduceGradients(Stage(0)), Action::WaitReduce(Stage(0))];
    let whole = [forward, backward, reduced[0], reduced[1]];
    assert_eq!(faults(1, &[&whole]), [""; 0]);
    let beyond = [forward, backward, reduced[0], reduced[1], Action::ReduceGradients(Stage(1))];
    assert_eq!(faults(1, &[&beyond]), ["device 0, action 4: nothing waits for `1REDUCE_GRAD`"]);
    // Replay says that there is no such pass.
    let pass = Action::Run(Pass::new(Stage(1), Kind::F, Microbatch(0)));
    let row = [forward, backward, reduced[0], reduced[1], pass];
    assert_eq!(faults(1, &[&row]), [""; 0]);
    assert_eq!(comm::deadlock(&plan(1, &[&row]), Semantics::Rendezvous), None);
    let pass = Action::Run(Pass::new(Stage(2), Kind::I, Microbatch(0)));
    assert_eq!(comm::deadlock(&plan(2, &[&[], &[pass]]), Semantics::Rendezvous), None);
}

#[test]
fn of_forwards_of_the_last_stage_out_of_order() {
    let found = |order: &str| {
        let row = order.split(' ').map(|pass| Action::Run(pass.parse().expect("a pass"))).collect();
        let plan = CommunicationPlan::new(linear(1), 4, vec![row]).expect("a row for each device");
        let faults = comm::verify(&plan);
        let late = faults.iter().filter(|fault| fault.rule() == "losses-out-of-order");
        late.map(ToString::to_string).collect::<Vec<_>>()
    };
    let late = |at, pass, later_at, later| {
        format!(
            "device 0, action {at}: `{pass}` comes after `{later}` at device 0, action {later_at}: PyTorch would take the \
             loss of one microbatch for that of another"
        )
    };
    assert_eq!(found("0F0 0B0 0F1 0F2 0B2 0B1 0F3"), [""; 0]);
    // Replay reports a pass that is missing, or there twice.
    assert_eq!(found("0F0 0F2 0F2 0F3"), [""; 0]);
    assert_eq!(found("0F0 0F2 0B2 0F1 0F3"), [late(3, "0F1", 1, "0F2")]);
    // Only the first one is reported.
    assert_eq!(found("0F3 0F2 0F1 0F0"), [late(1, "0F2", 0, "0F3")]);
    // The order of other stages is their own affair.
    let rows = [["0F1", "0F0"], ["1F0", "1F1"]];
    let rows = rows.map(|row| row.map(|pass| Action::Run(pass.parse().expect("a pass"))).to_vec());
    let plan = CommunicationPlan::new(linear(2), 2, rows.to_vec()).expect("a row for each device");
    assert!(comm::verify(&plan).iter().all(|fault| fault.rule() != "losses-out-of-order"));
}

#[test]
fn directions_are_written_only_where_there_are_two() {
    let written = |placement: Placement| {
        let orders = vec![Vec::new(); 2];
        let schedule = Schedule::new(placement, 1, orders).expect("orders for two devices");
        let mut text = Vec::new();
        schedule::write(&schedule, &mut text).expect("a text");
        String::from_utf8(text).expect("a text").contains("\"directions\"")
    };
    assert!(!written(linear(2)) && written(Placement::bidirectional(2).expect("a placement")));
}

#[test]
fn of_waits_for_what_nobody_does() {
    let message = Message { payload: Payload::Activation, boundary: Stage(0), microbatch: Microbatch(0) };
    let [at, needs_at] = [0, 1].map(|position| Place { device: Device(0), position });
    let wait = |action, needs| ActionWait { at, action, needs, needs_at };
    let (send, receive) = (Action::Send(message), Action::Receive(message));
    let run = Action::Run("0F0".parse().expect("a pass"));
    let said = |waits: &[ActionWait]| Ending::Alone(waits.to_vec()).to_string();
    assert_eq!(
        said(&[wait(Action::WaitSend(message), send)]),
        "device 0 waits at `0WAIT_SEND_F0` forever: no receive meets `0SEND_F0`"
    );
    assert_eq!(said(&[wait(run, receive)]), "device 0 waits at `0F0` forever: no send meets `1RECV_F0`");
    assert_eq!(
        said(&[wait(run, run), wait(run, receive)]),
        "device 0 waits at `0F0` for its own `0F0`; device 0 waits at `0F0` for its own `1RECV_F0`: no send meets \
         `1RECV_F0`"
    );
}

#[test]
fn of_one_value_in_the_place_of_a_list() {
    let document = reading::document("one = 1\nmany = [1, 2]\nnone = []").expect("TOML");
    let root = reading::root(&document);
    let count = |key: &str| root.require(key).expect("it is there").one_or_many().len();
    assert_eq!([count("one"), count("many"), count("none")], [1, 2, 0]);
}

/// Replay says it, and nothing says it again.
#[test]
fn of_a_pass_on_the_wrong_device() {
    let run = |pass: &str| Action::Run(pass.parse().expect("a pass"));
    let rows: [&[Action]; 2] = [&[run("0F0"), run("1F0"), run("1B0"), run("0B0")], &[]];
    let said = faults(2, &rows);
    assert!(!said.is_empty() && said.iter().all(|fault| fault.contains("missing")), "{said:?}");
}

#[test]
fn of_what_passes_make_for_each_other() {
    for placement in [linear(3), Placement::bidirectional(2).expect("a placement")] {
        for (stage, microbatch) in Stage::all(placement.stages())
            .flat_map(|stage| [0, 1].map(|microbatch| (stage, Microbatch(microbatch))))
        {
            let pass = |kind, stage| Pass::new(stage, kind, microbatch);
            let after = placement.stage_after(stage);
            let above = |kind| after.map(|after| pass(kind, after));
            let made = Message::out_of_pass(pass(Kind::F, stage), &placement);
            assert_eq!(made, above(Kind::F).and_then(|above| Message::into_pass(above, &placement)));
            for kind in [Kind::I, Kind::B] {
                let received = Message::into_pass(pass(kind, stage), &placement);
                assert_eq!(received, above(kind).and_then(|above| Message::out_of_pass(above, &placement)));
                assert_eq!(received.is_some(), after.is_some());
            }
        }
    }
}

#[test]
fn of_capacities() {
    let model = unit(linear(2), 1);
    assert!(model.with_uniform_activation_capacity(Some(Units(0))).is_ok());
    assert!(model.with_uniform_activation_capacity(Some(Units(-1))).is_err());
}

#[test]
fn of_what_is_no_pass() {
    let error = serde_json::from_str::<Pass>("3").expect_err("a number");
    assert!(error.to_string().contains("expected a pass such as \"3F0\""), "{error}");
}
