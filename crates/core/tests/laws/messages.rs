//! Messages that keep links busy: replay against a plain execution, orders of links against communication plans, and bounds
//! against every order of tiny problems.

use std::collections::BTreeMap;

use bubbleproof::certificate::{
    Bound, BoundReason, Objective, critical_path, holds, interval_bound, lower_bound, lower_bound_within,
    steady_bound,
};
use bubbleproof::comm::Message;
use bubbleproof::model::{Device, Link, Links, Messages, Model, Pass, Placement, Ticks};
use bubbleproof::replay::{Timing, replay};
use bubbleproof::schedule::Schedule;
use proptest::prelude::*;

use crate::choices::Choices;
use crate::{beyond, naive, problems, random, step};

/// The message that a pass makes for another device, and how long that keeps a link busy; none that does not.
fn message(model: &Model, pass: Pass) -> Option<(Message, i64)> {
    let message = Message::out_of_pass(pass, model.placement())?;
    let occupancy = &model.messages().expect("a model with messages").occupancy;
    let occupancy = occupancy[message.boundary.index()].0;
    (message.crosses(model.placement()) && occupancy > 0).then_some((message, occupancy))
}

/// The link of a message, from the table alone.
fn link(model: &Model, message: Message) -> Link {
    let [from, to] = [message.from(), message.to()].map(|stage| model.placement().device_of(stage));
    match &model.messages().expect("a model with messages").links {
        Links::Pair => Link::Pair { from, to },
        Links::Nodes(nodes) => {
            let node_of = |device| nodes.iter().position(|node| node.contains(&device)).expect("in a node");
            match (node_of(from), node_of(to)) {
                (node, other) if node == other => Link::Pair { from, to },
                (node, _) => Link::Card { node },
            }
        }
    }
}

/// The starts of passes and messages, given the messages of each link in order: whatever is too early is put off until
/// nothing is.
fn run(
    model: &Model,
    schedule: &Schedule,
    links: &BTreeMap<Link, Vec<Pass>>,
) -> (BTreeMap<Pass, i64>, BTreeMap<Pass, i64>) {
    let all: Vec<Pass> = schedule.orders().iter().flatten().copied().collect();
    let mut passes: BTreeMap<Pass, i64> = all.iter().map(|&pass| (pass, 0)).collect();
    let mut sent: BTreeMap<Pass, i64> = links.values().flatten().map(|&by| (by, 0)).collect();
    loop {
        let before = (passes.clone(), sent.clone());
        for order in schedule.orders() {
            let mut free = 0;
            for &pass in order {
                let mut start = passes[&pass].max(free);
                for need in naive::needs(pass, model, &all) {
                    let is_own =
                        model.placement().device_of(need.stage) == model.placement().device_of(pass.stage);
                    let yields = match message(model, need) {
                        Some((_, occupancy)) if !is_own => sent[&need] + occupancy,
                        _ => passes[&need] + naive::duration(model, need),
                    };
                    start = start.max(yields + naive::latency(model, need, pass));
                }
                passes.insert(pass, start);
                free = start + naive::duration(model, pass);
            }
        }
        for messages in links.values() {
            let mut free = 0;
            for by in messages {
                let start = sent[by].max(free).max(passes[by] + naive::duration(model, *by));
                sent.insert(*by, start);
                free = start + message(model, *by).expect("it is a message").1;
            }
        }
        if before == (passes.clone(), sent.clone()) {
            return (passes, sent);
        }
    }
}

/// The messages of each link as replay sends them.
fn sent(timing: &Timing) -> BTreeMap<Link, Vec<Pass>> {
    let passes = |messages: &Vec<(Pass, _)>| messages.iter().map(|&(by, _)| by).collect();
    timing.links.iter().map(|times| (times.link, passes(&times.messages))).collect()
}

#[test]
fn replay_sends_messages_as_a_plain_execution_does() {
    let (mut seen, mut waits, mut cards) = (0, 0, 0);
    for seed in 0..800 {
        let row = random(seed, 24 + seed % 160);
        let choices = &mut Choices::new(&row);
        let Some(plain) = problems::model(choices, 12) else { continue };
        let schedule = problems::schedule(&plain, choices);
        let table = beyond::messages(&plain, &mut Choices::new(&random(seed + 1_000_000, 64)));
        let model = plain.with_messages(Some(table)).expect("messages");
        let [verdict, without] = [&model, &plain].map(|model| replay(model, &schedule));
        assert_eq!((&verdict.violations, &verdict.peak_memory), (&without.violations, &without.peak_memory));
        let (Some(timing), Some(without)) = (verdict.timing, without.timing) else { continue };
        assert!(without.links.is_empty());
        let order = sent(&timing);
        // Every message is on its link once.
        let mut on_links: BTreeMap<Link, Vec<Pass>> = BTreeMap::new();
        for &pass in schedule.orders().iter().flatten() {
            if let Some((message, _)) = message(&model, pass) {
                on_links.entry(link(&model, message)).or_default().push(pass);
            }
        }
        // Those of a pair are in the order of its sender, those of a card as they are made with links of their own.
        let free = model.with_own_links();
        let own = naive::run(&free, &schedule).expect("it runs");
        let ends: BTreeMap<Pass, i64> = schedule
            .orders()
            .iter()
            .flatten()
            .zip(own.iter().flatten())
            .map(|(&pass, start)| (pass, start.0 + naive::duration(&model, pass)))
            .collect();
        for (link, messages) in &mut on_links {
            if matches!(link, Link::Card { .. }) {
                // Of those made at once, the lower device comes first, and on one device the earlier pass.
                messages.sort_by_key(|by| ends[by]);
                cards += 1;
            }
        }
        assert_eq!(order, on_links);
        let (passes, messages) = run(&model, &schedule, &on_links);
        let expected: Vec<Vec<Ticks>> = schedule
            .orders()
            .iter()
            .map(|order| order.iter().map(|pass| Ticks(passes[pass])).collect())
            .collect();
        assert_eq!(timing.starts, expected);
        for (by, during) in timing.links.iter().flat_map(|times| &times.messages) {
            let occupancy = message(&model, *by).expect("it is a message").1;
            assert_eq!((during.start.0, during.end.0), (messages[by], messages[by] + occupancy));
            waits += usize::from(during.start.0 > passes[by] + naive::duration(&model, *by));
        }
        // No schedule is later where every message has a link of its own.
        assert!(own.iter().flatten().zip(timing.starts.iter().flatten()).all(|(own, start)| own <= start));
        seen += 1;
    }
    assert!(seen > 150 && waits > 60 && cards > 60, "{seen}, {waits}, {cards}");
}

/// The least makespan over all orders of two devices; nothing when none is valid.
fn optimum(model: &Model) -> Option<Ticks> {
    let mut least = None;
    for one in &step::orders(model, Device(0)) {
        for other in &step::orders(model, Device(1)) {
            let orders = vec![one.clone(), other.clone()];
            let schedule = Schedule::new(model.placement().clone(), model.microbatches(), orders);
            let verdict = replay(model, &schedule.expect("two orders"));
            if let Some(timing) = verdict.timing.filter(|_| verdict.violations.is_empty()) {
                least = Some(least.unwrap_or(timing.metrics.makespan).min(timing.metrics.makespan));
            }
        }
    }
    least
}

#[test]
fn no_bound_is_above_the_best_of_all_orders_and_that_of_a_link_is_reached() {
    let (mut valid, mut of_links, mut reached) = (0, 0, 0);
    for seed in 0..120 {
        let plain = step::tiny(seed);
        let choices = &random(seed + 77, 64);
        let mut table = beyond::messages(&plain, &mut Choices::new(choices));
        if seed % 2 == 0 {
            table.occupancy.iter_mut().for_each(|ticks| ticks.0 *= 10);
        }
        let model = plain.with_messages(Some(table)).expect("messages");
        let model = if seed % 3 == 0 { model } else { model.with_step(None).expect("a model") };
        let Some(best) = optimum(&model) else { continue };
        valid += 1;
        let makespan = Objective::Makespan;
        for bound in [lower_bound(&model, makespan), lower_bound_within(&model, makespan, 0)] {
            assert!(bound.value <= best, "{bound:?} but {best}, {model:?}");
            assert_eq!(holds(&model, makespan, &bound), Ok(()));
            assert!(bound.value >= critical_path(&model));
        }
        let bound = lower_bound(&model, makespan);
        let is_of_link = serde_json::to_string(&bound.reason).expect("a reason").contains("link");
        of_links += usize::from(is_of_link);
        reached += usize::from(is_of_link && bound.value == best);
    }
    assert!(valid > 60 && of_links > 8 && reached > 8, "{valid}, {of_links}, {reached}");
}

#[test]
fn a_bound_of_a_link_can_be_computed_by_hand() {
    let placement = Placement::linear(2).expect("a placement");
    let model = Model::equal_stages(placement, 2, [1, 1, 1, 0]).expect("a model");
    let messages = Messages { occupancy: vec![Ticks(5)], links: Links::Pair };
    let model = model.with_messages(Some(messages)).expect("messages");
    let bound = lower_bound(&model, Objective::Makespan);
    // F, two activations, then F, I, a gradient, I and W of the last microbatch.
    assert_eq!(bound.value, Ticks(1 + 2 * 5 + 1 + 1 + 5 + 1 + 1));
    let BoundReason::Link { link, work, head, tail } = &bound.reason else { panic!("{bound:?}") };
    let down = Link::Pair { from: Device(0), to: Device(1) };
    assert_eq!((*link, *work, *head, *tail), (down, Ticks(10), Ticks(1), Ticks(9)));
    assert_eq!(
        bound.reason.to_string(),
        "messages keep the link from device 0 to device 1 busy for 10 ticks in all; none can be sent in the first 1 tick, and at \
         least another 9 ticks follow the last one"
    );
    assert_eq!(optimum(&model), Some(bound.value));
    assert_eq!((interval_bound(&model), steady_bound(&model, 1000)), (5.into(), 5.into()));
    // No figure of it can be changed.
    for (work, head, tail, value) in [(11, 1, 9, 20), (10, 2, 9, 20), (10, 1, 10, 20), (10, 1, 9, 19)] {
        let [work, head, tail, value] = [work, head, tail, value].map(Ticks);
        let other = Bound { value, reason: BoundReason::Link { link: down, work, head, tail } };
        assert!(holds(&model, Objective::Makespan, &other).is_err(), "{other:?}");
    }
    let other = Link::Pair { from: Device(0), to: Device(0) };
    let claimed =
        Bound { reason: BoundReason::Link { link: other, work: *work, head: *head, tail: *tail }, ..bound };
    assert!(holds(&model, Objective::Makespan, &claimed).is_err());
}

#[test]
fn activations_and_gradients_give_each_link_its_bound() {
    let placement = Placement::linear(2).expect("a placement");
    let model = Model::equal_stages(placement, 2, [1, 2, 3, 4]).expect("a model");
    let messages = Messages { occupancy: vec![Ticks(5)], links: Links::Pair };
    let model = model.with_messages(Some(messages)).expect("messages");
    for (from, to, head, tail) in [
        // F of stage 0; then F and I of stage 1, a gradient, I and W of stage 0.
        (0, 1, 1, 4 + 1 + 2 + (5 + 4) + 2 + 3),
        // F, an activation, F and I; then I and W of stage 0.
        (1, 0, 1 + (5 + 4) + 1 + 2, 4 + 2 + 3),
    ] {
        let holds_with = |head, tail| {
            let link = Link::Pair { from: Device(from), to: Device(to) };
            let reason = BoundReason::Link { link, work: Ticks(10), head: Ticks(head), tail: Ticks(tail) };
            holds(&model, Objective::Makespan, &Bound { value: Ticks(head + 10 + tail), reason }).is_ok()
        };
        let moved = [(head, tail), (head - 1, tail), (head + 1, tail), (head, tail - 1), (head, tail + 1)];
        assert_eq!(moved.map(|(head, tail)| holds_with(head, tail)), [true, false, false, false, false]);
    }
}

proptest! {
    #[test]
    fn links_are_never_busy_for_longer_than_the_long_run_says(row in prop::collection::vec(any::<u8>(), 64)) {
        let choices = &mut Choices::new(&row);
        let Some(plain) = problems::model(choices, 12) else { return Ok(()) };
        let table = beyond::messages(&plain, choices);
        let model = plain.with_messages(Some(table)).expect("messages");
        let schedule = problems::schedule(&plain, choices);
        let verdict = replay(&model, &schedule);
        let is_valid = verdict.is_valid();
        let Some(timing) = verdict.timing.filter(|_| is_valid) else { return Ok(()) };
        if model.placement().directions() == 1 {
            let pace = interval_bound(&model);
            prop_assert!(steady_bound(&model, 10_000) >= pace);
            for times in &timing.links {
                let a_microbatch = times.busy().0 / i64::from(model.microbatches());
                prop_assert!(*pace.ceil().numer() >= a_microbatch);
            }
        }
        let objective = Objective::DeviceSpan;
        let bound = lower_bound(&model, objective);
        prop_assert!(bound.value <= timing.metrics.device_span);
        prop_assert_eq!(holds(&model, objective, &bound), Ok(()));
    }
}
