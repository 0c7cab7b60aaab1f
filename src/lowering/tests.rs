use super::*;
use crate::comm::{Action, CommunicationPlan, verify};
use crate::model::{Device, Model, Placement, Stage};
use crate::replay::replay;
use crate::schedule::{Place, Schedule};

fn schedule(lists: &[&[u32]], microbatches: u32, orders: &[&str]) -> Schedule {
    let stages_of = lists.iter().map(|stages| stages.iter().copied().map(Stage).collect()).collect();
    let read = |order: &&str| order.split_whitespace().map(|pass| pass.parse().expect("a pass")).collect();
    let placement = Placement::new(stages_of).expect("a placement");
    Schedule::new(placement, microbatches, orders.iter().map(read).collect()).expect("a schedule")
}

fn rows(plan: &CommunicationPlan) -> Vec<String> {
    let text = |row: &Vec<Action>| row.iter().map(Action::to_string).collect::<Vec<_>>().join(" ");
    plan.rows().iter().map(text).collect()
}

/// The nearest orders under unit times.
fn nearest_of(schedule: &Schedule) -> Option<Nearest> {
    let model = Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a model");
    nearest(&model, schedule)
}

#[test]
fn one_forward_one_backward_is_lowered() {
    let schedule = schedule(&[&[0], &[1]], 2, &["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"]);
    let plan = lower(&schedule).expect("it can run");
    assert_eq!(verify(&plan), []);
    assert_eq!(
        rows(&plan),
        [
            "0UNSHARD 0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0WAIT_SEND_F0 0RECV_B1 0B1 0WAIT_SEND_F1 \
             0REDUCE_GRAD 0WAIT_REDUCE_GRAD 0RESHARD",
            "1UNSHARD 1RECV_F0 1F0 1RECV_F1 1B0 1SEND_B0 1F1 1B1 1SEND_B1 1REDUCE_GRAD 1WAIT_REDUCE_GRAD \
             1RESHARD 1WAIT_SEND_B0 1WAIT_SEND_B1",
        ]
    );
}

#[test]
fn neighbouring_stages_on_one_device_exchange_nothing() {
    let plan = lower(&schedule(&[&[0, 1]], 1, &["0F0 1F0 1I0 1W0 0B0"])).expect("it can run");
    let messages =
        plan.actions().filter(|(_, action)| matches!(action, Action::Send(_) | Action::Receive(_)));
    assert_eq!(messages.count(), 0);
    assert_eq!(verify(&plan), []);
}

#[test]
fn weights_are_gathered_for_the_next_three_stages() {
    let lists: &[&[u32]] = &[&[0, 1, 2, 3]];
    let plan = lower(&schedule(lists, 1, &["0F0 1F0 2F0 3F0 3B0 2B0 1B0 0B0"])).expect("it can run");
    let reduced = |stage| format!("{stage}B0 {stage}REDUCE_GRAD {stage}WAIT_REDUCE_GRAD");
    let backwards = [3, 2, 1, 0].map(reduced);
    assert_eq!(
        rows(&plan),
        [format!(
            "0UNSHARD 1UNSHARD 2UNSHARD 0F0 0RESHARD 3UNSHARD 1F0 2F0 3F0 {} 3RESHARD 0UNSHARD {} 2RESHARD {} \
             1RESHARD {} 0RESHARD",
            backwards[0], backwards[1], backwards[2], backwards[3]
        )]
    );
}

#[test]
fn orders_that_cannot_run_are_not_lowered() {
    let stuck = schedule(&[&[0], &[1]], 2, &["0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1"]);
    let error = lower(&stuck).expect_err("it cannot run").to_string();
    assert_eq!(
        error,
        "no device can go on: device 0 waits at `0B0` for `1B0`; device 1 waits at `1F1` for `0F1`"
    );
    let nearest = nearest_of(&stuck).expect("other orders can");
    let [(at, pass, to)] = nearest.moved[..] else { panic!("{:?}", nearest.moved) };
    assert_eq!((at, pass.to_string(), to), (Place { device: Device(0), position: 2 }, "0F1".to_owned(), 1));
    assert!(lower(&nearest.schedule).is_ok());
}

#[test]
fn a_pair_that_stands_in_the_way_is_taken_apart() {
    let apart = schedule(&[&[0], &[1]], 2, &["0F0 0F1 0B0 0B1", "1F0 1F1 1B0 1B1"]);
    let paired = apart.with_overlaps(vec![vec![1], vec![1]]).expect("pairs");
    let nearest = nearest_of(&paired).expect("apart they can");
    assert_eq!((nearest.moved.len(), nearest.parted.len()), (0, 1));
    assert_eq!(nearest.parted[0].1.to_string(), "0F1");
    assert_eq!(nearest.schedule.overlap_count(), 1);
}

#[test]
fn without_all_passes_no_order_is_near() {
    for order in ["0F0 0W0", "0F0 0F0 0B0"] {
        assert_eq!(nearest_of(&schedule(&[&[0]], 1, &[order])), None, "{order}");
    }
}

/// One forward, one backward on two devices, with as many microbatches as make a difference.
fn longer(first: &str) -> Schedule {
    schedule(&[&[0], &[1]], 4, &[first, "1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3"])
}

#[test]
fn of_a_swapped_pair_one_pass_moves() {
    let swapped = longer("0F0 0F1 0B0 0B2 0B1 0F3 0F2 0B3");
    let nearest = nearest_of(&swapped).expect("other orders can");
    assert_eq!(nearest.displaced(&swapped).len(), 1, "{:?}", nearest.moved);
    assert!(lower(&nearest.schedule).is_ok());
}

#[test]
fn a_displaced_pass_goes_back_to_where_the_schedule_is_shortest() {
    let good = longer("0F0 0F1 0B0 0F2 0B1 0F3 0B2 0B3");
    let makespan = |schedule: &Schedule| {
        let model = Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a model");
        replay(&model, schedule).timing.expect("it runs").metrics.makespan
    };
    let displaced = longer("0F0 0B0 0B1 0B2 0B3 0F1 0F2 0F3");
    assert!(nearest_of(&displaced).is_some_and(|nearest| lower(&nearest.schedule).is_ok()));
    for (order, pass) in [
        ("0F0 0F1 0B0 0B1 0F3 0B2 0B3 0F2", "0F2"),
        ("0B2 0F0 0F1 0B0 0F2 0B1 0F3 0B3", "0B2"),
        ("0F0 0B0 0F2 0B1 0F3 0B2 0B3 0F1", "0F1"),
    ] {
        let displaced = longer(order);
        assert!(lower(&displaced).is_err(), "{order}");
        let nearest = nearest_of(&displaced).expect("other orders can");
        let [moved] = nearest.displaced(&displaced)[..] else { panic!("{order}: {:?}", nearest.moved) };
        assert_eq!(moved.pass.to_string(), pass);
        assert_eq!(makespan(&nearest.schedule), makespan(&good), "{order}");
    }
}

#[test]
fn two_passes_of_two_devices_move_where_one_is_not_enough() {
    let stuck =
        schedule(&[&[0], &[1]], 4, &["0F0 0B0 0F1 0B1 0F2 0F3 0B2 0B3", "1F0 1F1 1B0 1B1 1F2 1B3 1B2 1F3"]);
    let nearest = nearest_of(&stuck).expect("other orders can");
    assert_eq!(nearest.displaced(&stuck).len(), 2);
    assert!(lower(&nearest.schedule).is_ok());
}
