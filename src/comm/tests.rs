use super::*;

fn schedule(lists: &[&[u32]], microbatches: u32, orders: &[&str]) -> Schedule {
    let stages_of = lists.iter().map(|stages| stages.iter().copied().map(Stage).collect()).collect();
    let read = |order: &&str| order.split_whitespace().map(|pass| pass.parse().expect("a pass")).collect();
    let placement = Placement::new(stages_of).expect("a placement");
    Schedule::new(placement, microbatches, orders.iter().map(read).collect()).expect("a schedule")
}

fn rows(programme: &Programme) -> Vec<String> {
    let text = |row: &Vec<Action>| row.iter().map(Action::to_string).collect::<Vec<_>>().join(" ");
    programme.rows().iter().map(text).collect()
}

#[test]
fn one_forward_one_backward_is_lowered() {
    let schedule = schedule(&[&[0], &[1]], 2, &["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"]);
    let programme = lower(&schedule).expect("it can run");
    assert_eq!(verify(&programme), []);
    insta::assert_snapshot!(rows(&programme).join("\n"), @"");
}

#[test]
fn neighbouring_stages_on_one_device_exchange_nothing() {
    let programme =
        lower(&schedule(&[&[0, 1]], 1, &["0F0 1F0 1I0 1W0 0B0"])).expect("it can run");
    let messages = programme.actions().filter(|(_, action)| matches!(action, Action::Send(_) | Action::Receive(_)));
    assert_eq!(messages.count(), 0);
    assert_eq!(verify(&programme), []);
}

#[test]
fn weights_are_gathered_for_the_next_three_stages() {
    let lists: &[&[u32]] = &[&[0, 1, 2, 3]];
    let programme = lower(&schedule(lists, 1, &["0F0 1F0 2F0 3F0 3B0 2B0 1B0 0B0"])).expect("it can run");
    insta::assert_snapshot!(rows(&programme).join("\n"), @"");
}

#[test]
fn orders_that_cannot_run_are_not_lowered() {
    let stuck = schedule(&[&[0], &[1]], 2, &["0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1"]);
    let error = lower(&stuck).expect_err("it cannot run").to_string();
    assert_eq!(error, "no device can go on: device 0 waits at `0B0` for `1B0`; device 1 waits at `1F1` for `0F1`");
    let nearest = nearest(&stuck).expect("other orders can");
    let [(at, pass, to)] = nearest.moved[..] else { panic!("{:?}", nearest.moved) };
    assert_eq!((at, pass.to_string(), to), (Place { device: Device(0), position: 2 }, "0F1".to_owned(), 1));
    assert!(lower(&nearest.schedule).is_ok());
}

#[test]
fn a_pair_that_stands_in_the_way_is_taken_apart() {
    let apart = schedule(&[&[0], &[1]], 2, &["0F0 0F1 0B0 0B1", "1F0 1F1 1B0 1B1"]);
    let paired = apart.with_overlaps(vec![vec![1], vec![1]]).expect("pairs");
    let nearest = nearest(&paired).expect("apart they can");
    assert_eq!((nearest.moved.len(), nearest.parted.len()), (0, 1));
    assert_eq!(nearest.parted[0].1.to_string(), "0F1");
    assert_eq!(nearest.schedule.overlap_count(), 1);
}

#[test]
fn without_all_passes_no_order_is_near() {
    for order in ["0F0 0W0", "0F0 0F0 0B0"] {
        assert_eq!(nearest(&schedule(&[&[0]], 1, &[order])), None, "{order}");
    }
}
