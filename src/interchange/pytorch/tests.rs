use proptest::prelude::*;

use super::*;
use crate::comm::Action;
use crate::model::{Device, Kind, Pass, Shape};

fn orders(text: &str) -> Vec<Vec<String>> {
    let file = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    file.schedule().orders().iter().map(|order| order.iter().map(Pass::to_string).collect()).collect()
}

#[test]
fn blank_cells_are_skipped_and_any_line_end_is_read() {
    let expected = [vec!["0F0", "0F1", "0B0", "0B1"], vec!["1F0", "1I0", "1W0", "1F1", "1B1"]];
    for text in [
        "0F0,0F1,,,0B0,0B1\r\n,1F0,1I0,1W0,1F1,1B1,\r\n",
        "0F0,0F1,0B0,0B1\n1F0,1I0,1W0,1F1,1B1\n",
        " 0F0,\t0F1 , 0B0,0B1\r\n1F0,1I0,1W0,1F1,1B1",
    ] {
        assert_eq!(orders(text), expected, "{text}");
    }
}

#[test]
fn the_placement_follows_from_the_rows() {
    for (text, shape, lists) in [
        ("0F0,0B0\n1F0,1B0\n", Shape::Linear, vec![vec![0], vec![1]]),
        ("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n", Shape::V, vec![vec![0, 3], vec![1, 2]]),
        ("0F0,2F0,2B0,0B0\n1F0,3F0,3B0,1B0\n", Shape::Looped, vec![vec![0, 2], vec![1, 3]]),
        ("0F0,1F0,1B0,0B0\n2F0,2B0\n", Shape::Explicit, vec![vec![0, 1], vec![2]]),
        ("1F0,1B0\n0F0,0B0\n", Shape::Explicit, vec![vec![1], vec![0]]),
    ] {
        let file = parse(text).expect(text);
        let schedule = file.schedule();
        let found: Vec<Vec<u32>> = schedule
            .placement()
            .lists()
            .iter()
            .map(|stages| stages.iter().map(|stage| stage.0).collect())
            .collect();
        assert_eq!((schedule.placement().shape(), found), (shape, lists), "{text}");
    }
}

#[test]
fn the_dialect_is_told_from_the_letters() {
    for (text, dialect, passes) in [
        ("0F0,0B0", Dialect::Current, vec!["0F0", "0B0"]),
        ("0F0,0I0,0W0", Dialect::Current, vec!["0F0", "0I0", "0W0"]),
        ("0F0,0F1,0I0,0W0,0B1", Dialect::Current, vec!["0F0", "0F1", "0I0", "0W0", "0B1"]),
        ("0F0,0BW0", Dialect::Of2024, vec!["0F0", "0B0"]),
        ("0F0,0F1,0B0,0W0,0BW1", Dialect::Of2024, vec!["0F0", "0F1", "0I0", "0W0", "0B1"]),
        ("0F0,0B0,0W0", Dialect::Of2024, vec!["0F0", "0I0", "0W0"]),
        // One B without its W: not a schedule of 2024; for the verifier to complain about.
        ("0F0,0F1,0B0,0W0,0B1", Dialect::Current, vec!["0F0", "0F1", "0B0", "0W0", "0B1"]),
    ] {
        let found = parse(text).expect(text).dialect;
        assert_eq!((found, orders(text)), (dialect, vec![passes.iter().map(ToString::to_string).collect()]));
    }
}

#[test]
fn every_action_is_read_and_written_as_pytorch_writes_it() {
    let text = "0UNSHARD,0F0,0SEND_F0,2RECV_F0,(2F0;0B0)OVERLAP_F_B,0WAIT_SEND_F0,2SEND_B0,0RECV_B0,2RESHARD,\
                0REDUCE_GRAD,0WAIT_REDUCE_GRAD,2WAIT_SEND_B0\r\n1RECV_F0,1F0\r\n";
    let file = parse(text).expect("every action");
    assert_eq!((file.form, file.dialect), (Form::ComputeComms, Dialect::Current));
    assert_eq!(file.print(), text);
    let plan = file.plan().expect("it has messages");
    assert_eq!(print_plan(plan).as_deref(), Ok(text));
    let row = plan.row(Device(0));
    let (Action::Send(sent), Action::Receive(received)) = (row[2], row[3]) else { panic!("{row:?}") };
    assert_eq!((sent.from(), sent.to()), (Stage(0), Stage(1)));
    assert_eq!((received.from(), received.to()), (Stage(1), Stage(2)));
    let (Action::Send(sent), Action::Receive(received)) = (row[6], row[7]) else { panic!("{row:?}") };
    assert_eq!((sent.from(), sent.to()), (Stage(2), Stage(1)));
    assert_eq!((received.from(), received.to()), (Stage(1), Stage(0)));
    assert_eq!(file.schedule().overlaps(Device(0)), [1]);
}

#[test]
fn blanks_of_a_file_stay_where_they_were() {
    for text in [",,0F0,,0B0\r\n1F0,1B0,,\r\n", ",0F0,0B0\r\n"] {
        assert_eq!(parse(text).expect("blanks are idle").print(), text);
    }
    assert_eq!(parse("0F0, 0B0\n").expect("a file").print(), "0F0,0B0\r\n");
}

#[test]
fn passes_and_actions_are_found_in_their_columns() {
    let passes = parse("0F0,,(0F1;0B0)OVERLAP_F_B,,0B1,\n").expect("a file");
    let of = |position| Place { device: Device(0), position };
    let columns = [0, 1, 2, 3, 4].map(|position| passes.column_of_pass(of(position)));
    assert_eq!(columns, [Some(0), Some(2), Some(2), Some(4), None]);
    let all = parse("0F0,0SEND_F0,0F1\n1RECV_F0,1F0\n").expect("a file");
    assert_eq!(all.column_of_pass(of(1)), Some(2));
    assert_eq!(all.column_of_action(of(1)), Some(1));
    assert_eq!(all.column_of_action(Place { device: Device(2), position: 0 }), None);
}

#[test]
fn malformed_files_are_refused_at_their_cell() {
    let long = "[".repeat(200);
    let cases = [
        ("", (1, 1), "", "the file is empty"),
        ("\r\n", (1, 1), "", "rank 0 runs nothing"),
        ("0F0,0B0\n , \n1F0,1B0", (2, 1), " , ", "rank 1 runs nothing"),
        ("0F0,0B0\n\n", (2, 1), "", "rank 1 runs nothing"),
        ("0F0,0F0junk", (1, 2), "0F0junk", "after the letters comes the microbatch"),
        ("0F0,0B0\r\n1F0, 1B", (2, 2), "1B", "after the letters comes the microbatch"),
        ("0F0,0B0\r\r\n", (1, 2), "0B0\r", "after the letters comes the microbatch"),
        ("0F0,0F-1", (1, 2), "0F-1", "after the letters comes the microbatch"),
        ("0F0;0B0", (1, 1), ";", "separated by `;`"),
        ("0F0;0B0\n1F0,1B0\n", (1, 1), ";", "separated by `;`"),
        ("0F0,0F1;0B0", (1, 2), ";", "separated by `;`"),
        ("(0F4;7B0)OVERLAP_F_B;0F1", (1, 1), ";", "separated by `;`"),
        ("0F0\t0B0\n", (1, 1), "\t", "separated by tabs"),
        ("rank,actions\n0F0,0B0\n", (1, 1), "rank,actions", "column names"),
        (",0,1\r\n0,0F0,0B0\r\n", (1, 1), ",0,1", "column names"),
        ("rank,0F0\n1F0,1B0", (1, 1), "rank", "does not begin with a stage number"),
        ("F0", (1, 1), "F0", "does not begin with a stage number"),
        ("-1F0", (1, 1), "-1F0", "does not begin with a stage number"),
        ("\u{feff}0F0", (1, 1), "\u{feff}0F0", "does not begin with a stage number"),
        ("\"0F0\"", (1, 1), "\"0F0\"", "does not begin with a stage number"),
        ("0f0", (1, 1), "0f0", "after the stage comes one of F, I, W, B, as in `3F0`, or a word"),
        ("0R0", (1, 1), "0R0", "after the stage comes one of F, I, W, B, as in `3F0`, or a word"),
        ("0FF0", (1, 1), "0FF0", "after the stage comes one of F, I, W, B, as in `3F0`, or a word"),
        ("7", (1, 1), "7", "after the stage comes one of F, I, W, B, as in `3F0`, or a word"),
        ("0é0", (1, 1), "0é0", "after the stage comes one of F, I, W, B, as in `3F0`, or a word"),
        ("0F4294967295", (1, 1), "0F4294967295", "too large"),
        ("0F4294967296", (1, 1), "0F4294967296", "too large"),
        ("4294967296F0", (1, 1), "4294967296F0", "too large"),
        ("0F300000000,0B0", (1, 1), "0F300000000", "more passes than"),
        ("0F0,0SEND_F", (1, 2), "0SEND_F", "after the letters comes the microbatch"),
        ("0F0,0SEND_F0x", (1, 2), "0SEND_F0x", "after the letters comes the microbatch"),
        ("0F0,0SEND_A0", (1, 2), "0SEND_A0", "after the stage comes one of"),
        ("0F0,0OVERLAP_F_B", (1, 2), "0OVERLAP_F_B", "after the stage comes one of"),
        ("0F0,0SEND_F4294967295", (1, 2), "0SEND_F4294967295", "too large"),
        ("0UNSHARD,0F0, 0UNSHARD1", (1, 3), "0UNSHARD1", "of a stage and all its microbatches"),
        ("0F0,0B0,0REDUCE_GRAD0", (1, 3), "0REDUCE_GRAD0", "of a stage and all its microbatches"),
        ("0F0,0RECV_F0", (1, 2), "0RECV_F0", "no stage before the first one"),
        ("0F0,0SEND_B0", (1, 2), "0SEND_B0", "no stage before the first one"),
        ("0F0,,0SEND_F0\n1RECV_F0,1F0", (1, 2), "", "this cell is blank"),
        ("0F0,0SEND_F0\n1RECV_F0, ,1F0", (2, 2), " ", "this cell is blank"),
        ("0F0,0SEND_F0,\n1RECV_F0,1F0", (1, 3), "", "the row ends in a blank cell"),
        ("0F0,0SEND_F0\n1RECV_F0,1F0, ,", (2, 3), " ", "the row ends in 2 blank cells"),
        ("0F0,0SEND_F0\n0WAIT_SEND_F0,1F0", (2, 1), "0WAIT_SEND_F0", "stage 0 is on rank 0 already"),
        ("(0F1;0B0)", (1, 1), "(0F1;0B0)", "is not an overlapped pair"),
        ("(0F1;0B0)OVERLAP", (1, 1), "(0F1;0B0)OVERLAP", "is not an overlapped pair"),
        ("(0F1)OVERLAP_F_B", (1, 1), "(0F1)OVERLAP_F_B", "is not an overlapped pair"),
        (
            "(0F1;0B0;0F2)OVERLAP_F_B",
            (1, 1),
            "(0F1;0B0;0F2)OVERLAP_F_B",
            "after the letters comes the microbatch",
        ),
        ("(0F1;0F0)OVERLAP_F_B", (1, 1), "(0F1;0F0)OVERLAP_F_B", "is not an overlapped pair"),
        ("(0F1;0W0)OVERLAP_F_B", (1, 1), "(0F1;0W0)OVERLAP_F_B", "is not an overlapped pair"),
        ("(0F1;0SEND_F0)OVERLAP_F_B", (1, 1), "(0F1;0SEND_F0)OVERLAP_F_B", "is not an overlapped pair"),
        ("(0F1;)OVERLAP_F_B", (1, 1), "(0F1;)OVERLAP_F_B", "does not begin with a stage number"),
        ("(0F1;3B0)OVERLAP_F_B,0BW1", (1, 1), "(0F1;3B0)OVERLAP_F_B", "nothing is overlapped"),
        (
            "0F0,0I0,0W0,0F1,0BW1",
            (1, 2),
            "0I0",
            "`0I0` and BW, which another cell has, belong to different dialects",
        ),
        (&long, (1, 1), &long, "[[… (200 characters)`"),
        ("0F0,0B0\n1F0,0B1", (2, 2), "0B1", "stage 0 is on rank 0 already, and cannot be on rank 1 too"),
        ("0F0,0B0\n2F0,2B0", (2, 1), "2F0", "stage 2 is here, but stage 1 is in no row"),
    ];
    for (text, place, marked, message) in cases {
        let error = parse(text).expect_err(text);
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert_eq!((error.row, error.column), place, "{text}: {error}");
        assert_eq!(text.get(error.span.clone()), Some(marked), "{text}: {error}");
    }
    insta::assert_snapshot!(parse("0F0,0B0\n1F0,1X0").expect_err("1X0"), @"row 2, column 2: `1X0` is not an action: after the stage comes one of F, I, W, B, as in `3F0`, or a word such as SEND_F");
}

#[test]
fn schedules_that_a_file_could_not_state_are_not_written() {
    let schedule = |placement: Placement, microbatches, order: &[&str]| {
        let order = order.iter().map(|pass| pass.parse().expect("a pass")).collect();
        Schedule::new(placement, microbatches, vec![order]).expect("a schedule")
    };
    let one = || Placement::linear(1).expect("a placement");
    let two = || Placement::looped(1, 2).expect("a placement");
    for (schedule, message) in [
        (schedule(one(), 1, &["0F0", "0R0", "0B0"]), "device 0, position 1: `0R0` recomputes"),
        (schedule(one(), 1, &["0F0", "1F0"]), "device 0, position 1: `1F0` belongs on another device"),
        (schedule(two(), 1, &["0F0", "0B0"]), "stage 1 has no pass"),
        (schedule(one(), 2, &["0F0", "0B0"]), "has 2 microbatches, but its passes have 1"),
        (schedule(one(), 1, &["0F0", "0B1"]), "has 1 microbatches, but its passes have 2"),
        (schedule(one(), 1, &["0F0", "0B0", "0W0"]), "would be read as the letters of 2024"),
    ] {
        let error = print(&schedule).expect_err(message).to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// Schedules whose every stage has a full set of passes, in any order.
fn any_schedule() -> impl Strategy<Value = Schedule> {
    (1..5_u32, 1..4_u32, 0..3_u32, 1..5_u32, any::<bool>()).prop_flat_map(
        |(devices, chunks, shape, microbatches, fused)| {
            let placement = match shape {
                0 => Placement::v(devices),
                1 => Placement::looped(devices, chunks),
                _ => Placement::new((0..devices).rev().map(|device| vec![Stage(device)]).collect()),
            }
            .expect("a placement");
            let kinds: &[Kind] = if fused { &[Kind::F, Kind::B] } else { &[Kind::F, Kind::I, Kind::W] };
            let orders: Vec<_> = placement
                .lists()
                .iter()
                .map(|stages| {
                    let passes: Vec<Pass> = stages
                        .iter()
                        .flat_map(|&stage| kinds.iter().map(move |&kind| (stage, kind)))
                        .flat_map(|(stage, kind)| {
                            Microbatch::all(microbatches)
                                .map(move |microbatch| Pass::new(stage, kind, microbatch))
                        })
                        .collect();
                    Just(passes).prop_shuffle()
                })
                .collect();
            orders.prop_map(move |orders| {
                Schedule::new(placement.clone(), microbatches, orders).expect("one order per device")
            })
        },
    )
}

proptest! {
    #[test]
    fn reading_what_was_written_gives_the_same_schedule(schedule in any_schedule()) {
        let text = print(&schedule).expect("it has no recomputation");
        prop_assert!(text.ends_with("\r\n"));
        let file = parse(&text).expect("it was written");
        prop_assert_eq!((file.schedule(), file.dialect, file.form), (&schedule, Dialect::Current, Form::ComputeOnly));
        prop_assert_eq!(file.print(), text.as_str());
        prop_assert_eq!(parse(&text.replace("\r\n", "\n")), Ok(file));
    }

    #[test]
    fn a_schedule_in_the_letters_of_2024_reads_as_the_same(schedule in any_schedule()) {
        // With a B alone, nothing tells the dialects apart.
        let text = print(&schedule).expect("it has no recomputation").replace('B', "BW").replace('I', "B");
        let file = parse(&text).expect("it was written");
        prop_assert_eq!((file.schedule(), file.dialect), (&schedule, Dialect::Of2024));
    }

    #[test]
    fn reading_any_text_does_not_panic_and_what_reads_is_written_so_that_it_reads_the_same(
        cells in prop::collection::vec(
            "[0-3](F|I|W|B|BW|SEND_F|SEND_B|RECV_F|RECV_B|WAIT_SEND_F)[0-2]|[01]UNSHARD|\\([01]F[01];[01]B[01]\\)OVERLAP_F_B|||\r\n|[0-9FWB_;()]{0,4}",
            0..9,
        )
    ) {
        if let Ok(file) = parse(&cells.join(",")) {
            let again = parse(&file.print()).expect("it was written");
            prop_assert_eq!((again.form, again.print()), (file.form, file.print()));
            if file.dialect == Dialect::Current {
                prop_assert_eq!(again, file);
            }
        }
    }

    #[test]
    fn reading_any_letters_does_not_panic(text in "[0-9FIWBR_,;() \r\n]{0,60}") {
        let _ = parse(&text);
    }
}

/// Found by fuzzing.
#[test]
fn a_full_backward_beside_a_weight_gradient_is_printed_such_that_it_is_read_as_one() {
    let file = parse("0F0,0W0,,0BW0").expect("it is a file of 2024");
    assert_eq!(file.print(), "0F0,0W0,,0BW0\r\n");
    let again = parse(&file.print()).expect("what is printed reads");
    assert_eq!(again.schedule(), file.schedule());
}
