//! Terms that were put into a trace, and found again.

use bubbleproof::model::{
    Device, Kind, Links, Messages, Model, Overlap, PairDurations, Placement, StepEnd, Ticks, Transient, Units,
};
use bubbleproof::trace::compare::{compare, predict};
use bubbleproof::trace::fit::profile;
use bubbleproof::trace::terms::{
    GapsOfKinds, Terms, TermsError, fit_contention, fit_gaps, fit_gaps_of_kinds, scaled, simulate,
};
use bubbleproof::trace::{Iteration, Trace};

use crate::traces::support::{named, traced};

fn model(placement: Placement) -> Model {
    let model = Model::equal_stages(placement, 12, [10_000, 11_000, 7_000, 400]).expect("a model");
    let costs = bubbleproof::model::Costs { unit: "ns".to_owned(), ..model.costs().clone() };
    let memory = model.memory().clone();
    Model::new("terms".to_owned(), None, model.placement().clone(), 12, costs, memory).expect("a model")
}

/// What would be measured where devices slow each other down and need time between passes.
fn disturbed(name: &str, model: &Model, terms: &Terms) -> Trace {
    let schedule = named(name, model);
    let passes = simulate(model, &schedule, terms).expect("it runs");
    let iteration = Iteration { passes, ..Iteration::default() };
    Trace { iterations: vec![iteration], ..traced(model, &schedule) }
}

#[test]
fn rates_that_were_put_in_are_found_and_predict_what_replay_does_not() {
    let model = model(Placement::linear(4).expect("a placement"));
    let terms = Terms { rates: vec![1000, 900, 700, 550], ..Terms::none(4) };
    let trace = disturbed("zb-h1", &model, &terms);
    let fitted_to = std::slice::from_ref(&trace);
    let found = profile("fitted", fitted_to).expect("a model");
    let (rates, alone) = fit_contention(&found, fitted_to).expect("rates");
    for (rate, truth) in rates.iter().zip(&terms.rates) {
        assert!((rate - truth).abs() <= 5, "{rates:?}");
    }
    // Another schedule, with other numbers of busy devices at a time.
    let other = disturbed("gpipe", &model, &terms);
    let plain = predict(&found.model, &other.schedule).expect("it runs");
    let with = simulate(&alone, &other.schedule, &Terms { rates, ..Terms::none(4) }).expect("it runs");
    let error = |makespan: Ticks| {
        let comparison = compare(&other, &plain).expect("passes in common");
        let share = comparison.makespan_error(makespan) * 1000;
        share.floor().to_integer().abs()
    };
    let end = with.iter().flatten().map(|span| span.end).max().expect("passes");
    assert!(error(end) <= 10, "{} thousandths off with the term", error(end));
    assert!(error(plain.makespan) > 2 * error(end), "{} without it", error(plain.makespan));
}

#[test]
fn launch_gaps_that_were_put_in_are_found_exactly() {
    let model = model(Placement::v(4).expect("a placement"));
    let gaps: Vec<Ticks> = [150, 300, 0, 75].map(Ticks).into();
    let trace = disturbed("v-half", &model, &Terms { gaps: gaps.clone(), ..Terms::none(4) });
    let fitted_to = std::slice::from_ref(&trace);
    let found = profile("fitted", fitted_to).expect("a model");
    assert_eq!(fit_gaps(&found, fitted_to), gaps);
    let again = simulate(&found.model, &trace.schedule, &Terms { gaps, ..Terms::none(4) }).expect("it runs");
    assert_eq!(again, trace.iterations[0].passes);
}

#[test]
fn launch_gaps_of_kinds_that_were_put_in_are_found_exactly() {
    let model = model(Placement::linear(4).expect("a placement"));
    let known = [(0, Kind::F, Kind::F, 400), (0, Kind::B, Kind::F, 10), (3, Kind::F, Kind::B, 5)];
    let gaps_of_kinds: GapsOfKinds = known
        .into_iter()
        .map(|(device, before, after, gap)| ((Device(device), before, after), Ticks(gap)))
        .collect();
    let gaps: Vec<Ticks> = [70; 4].map(Ticks).into();
    let terms = Terms { gaps, gaps_of_kinds: gaps_of_kinds.clone(), ..Terms::none(4) };
    let trace = disturbed("1f1b", &model, &terms);
    let fitted_to = std::slice::from_ref(&trace);
    let found = profile("fitted", fitted_to).expect("a model");
    let fitted = fit_gaps_of_kinds(&found, fitted_to);
    for (kinds, gap) in &fitted {
        // What is not known of kinds is the gap of the device.
        assert_eq!(*gap, gaps_of_kinds.get(kinds).copied().unwrap_or(Ticks(70)), "{kinds:?}");
    }
    for kinds in gaps_of_kinds.keys() {
        assert!(fitted.contains_key(kinds), "{kinds:?} came one after the other, and neither waited");
    }
    let again = Terms { gaps: fit_gaps(&found, fitted_to), gaps_of_kinds: fitted, ..Terms::none(4) };
    let passes = simulate(&found.model, &trace.schedule, &again).expect("it runs");
    assert_eq!(passes, trace.iterations[0].passes);
}

#[test]
fn without_contention_none_is_found() {
    let model = model(Placement::v(3).expect("a placement"));
    let trace = disturbed("v-min", &model, &Terms::none(3));
    let fitted_to = std::slice::from_ref(&trace);
    let found = profile("fitted", fitted_to).expect("a model");
    let (rates, alone) = fit_contention(&found, fitted_to).expect("rates");
    assert_eq!(rates, [1000; 3]);
    assert_eq!(alone.costs(), found.model.costs());
}

#[test]
fn overlapped_pairs_have_no_terms() {
    let model = model(Placement::v(2).expect("a placement"));
    let schedule = named("dualpipe-v", &model);
    assert!(schedule.overlap_count() > 0);
    assert_eq!(simulate(&model, &schedule, &Terms::none(2)), Err(TermsError::Overlaps));
}

#[test]
fn network_cards_and_the_end_of_the_step_have_no_terms() {
    let plain = model(Placement::linear(2).expect("a placement"));
    let schedule = named("1f1b", &plain);
    let simulated = |model: &Model| simulate(model, &schedule, &Terms::none(2));
    let nodes = || Links::Nodes(vec![vec![Device(0)], vec![Device(1)]]);
    let messages = |ticks| Messages { occupancy: vec![Ticks(ticks)], links: nodes() };
    let step = |ticks| StepEnd { reduce: vec![Ticks(ticks); 2], optimizer: vec![Ticks(0); 2] };
    let busy = plain.with_messages(Some(messages(1))).expect("a model");
    assert_eq!(simulated(&busy), Err(TermsError::Beyond("`nodes` in [messages]")));
    let longer = plain.with_step(Some(step(1))).expect("a model");
    assert_eq!(simulated(&longer), Err(TermsError::Beyond("[step]")));
    // Tables that change no time say nothing.
    let idle = plain.with_messages(Some(messages(0))).and_then(|model| model.with_step(Some(step(0))));
    assert_eq!(simulated(&idle.expect("a model")), simulated(&plain));
}

#[test]
fn a_model_without_contention_keeps_what_it_says_beside_durations() {
    let plain = model(Placement::linear(2).expect("a placement"));
    let transient = Transient { workspace: None, receive: Some(vec![Units(3)]) };
    let messages = Messages { occupancy: vec![Ticks(7)], links: Links::Pair };
    let step = StepEnd { reduce: vec![Ticks(5); 2], optimizer: vec![Ticks(2); 2] };
    let given =
        plain.with_transient(transient.clone()).and_then(|model| model.with_messages(Some(messages.clone())));
    let given = given.and_then(|model| model.with_step(Some(step.clone()))).expect("a model");
    // A pair that is longer than both of its passes without contention.
    let pairs = Overlap { forward_backward: PairDurations::Uniform(Ticks(20_000)), ..Overlap::default() };
    let given = given.with_overlap(pairs).expect("a model");
    let alone =
        Model::equal_stages(plain.placement().clone(), 12, [5_000, 5_500, 3_500, 0]).expect("a model");
    let found = scaled(&given, &plain, &alone).expect("a model");
    assert_eq!(found.costs().forward, [Ticks(5_000); 2]);
    assert_eq!(found.transient(), &transient);
    assert_eq!((found.messages(), found.step()), (Some(&messages), Some(&step)));
    assert!(!found.has_cheaper_pairs());
}
