use super::*;
use crate::job::{self, Layers};
use crate::plan::{Partition, optimize_cut};

const JOB: &str = include_str!("../../../tests/data/cli/job.toml");

/// The layers of a choice, by its name.
fn layers(name: &str) -> Layers {
    let job = job::parse(JOB).expect("a job");
    let choices = job.choices().expect("choices");
    let choice = choices.iter().find(|choice| choice.to_string() == name).expect("it is open");
    job.layers(choice).expect("layers")
}

/// A plan whose schedule is longer than its bounds.
fn of_even_cut(layers: &Layers) -> CutSolution {
    let options = Options { effort: 100_000, exact_effort: 0, ..Options::default() };
    optimize_cut(layers, &Partition::Even, &options, &mut |_| ()).expect("a plan")
}

fn kept(found: Option<String>) -> Kept {
    Kept { subject: String::new(), search: String::new(), spent: None, found }
}

#[test]
fn what_is_read_is_what_was_written() {
    for name in ["p4 t1 d1 b1 linear", "p4 t1 d1 b1 v", "p2 t1 d2 b1 v"] {
        let layers = layers(name);
        let found = of_even_cut(&layers);
        let text = entry::write(&found, true);
        let read = entry::read(&layers, &kept(Some(text)), None).expect("believed").expect("a plan");
        let mut expected = found.solution.clone();
        expected.block = None;
        assert_eq!(read.solution, expected, "{name}");
        assert_eq!((read.cut, read.no_cut_below), (found.cut, found.no_cut_below), "{name}");
        assert_eq!(read.model, found.model, "{name}");
    }
    assert!(entry::read(&layers("p2 t1 d2 b1 v"), &kept(None), None).expect("nothing").is_none());
}

#[test]
fn what_does_not_hold_is_not_believed() {
    let layers = layers("p4 t1 d1 b1 linear");
    let found = of_even_cut(&layers);
    let value = found.solution.value();
    assert!(found.no_cut_below < value, "there is something to forge");
    let text = entry::write(&found, true);
    let object: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let changed = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut changed = object.clone();
        change(&mut changed);
        changed.to_string()
    };
    let other = entry::write(&of_even_cut(&self::layers("p4 t1 d1 b1 v")), true);
    let other: serde_json::Value = serde_json::from_str(&other).expect("JSON");
    let shortened = |object: &mut serde_json::Value| {
        let row = object["schedule"]["orders"][0].as_array_mut().expect("an order");
        row.pop();
    };
    let swapped = |object: &mut serde_json::Value| {
        let row = object["schedule"]["orders"][0].as_array_mut().expect("an order");
        row.reverse();
    };
    for (what, text, reason) in [
        ("a shorter makespan", changed(&|o| o["makespan"] = (value.0 - 1).into()), "but replay measures"),
        ("a longer makespan", changed(&|o| o["makespan"] = (value.0 + 1).into()), "but replay measures"),
        (
            "another bound",
            changed(&|o| o["bound"]["value"] = (value.0 - 1).into()),
            "its lower bound does not hold",
        ),
        (
            "a bound above the schedule",
            changed(&|o| o["bound"]["value"] = (value.0 + 1).into()),
            "contradicts",
        ),
        (
            "a higher bound over cuts",
            changed(&|o| o["no_cut_below"] = value.0.into()),
            "over all cuts does not hold",
        ),
        (
            "a bound over cuts above the schedule",
            changed(&|o| o["no_cut_below"] = (value.0 + 1).into()),
            "contradicts",
        ),
        (
            "no bound over cuts",
            changed(&|o| _ = o.as_object_mut().expect("keys").remove("no_cut_below")),
            "is missing",
        ),
        ("another cut", changed(&|o| o["cut"] = serde_json::json!([3, 2, 2, 1])), "its "),
        ("a cut of other stages", changed(&|o| o["cut"] = serde_json::json!([4, 4])), "the cut has 2 stages"),
        (
            "a schedule of another problem",
            changed(&|o| o["schedule"] = other["schedule"].clone()),
            "another problem",
        ),
        ("a plan of another problem", other.to_string(), "the cut has 8 stages"),
        ("a schedule that lacks a pass", changed(&shortened), "its schedule is invalid"),
        ("a schedule that does not run", changed(&swapped), "its schedule is invalid"),
        ("no schedule", changed(&|o| o["schedule"] = 7.into()), "its schedule cannot be read"),
        ("an unknown key", changed(&|o| o["optimal"] = true.into()), "it is malformed"),
        ("half of it", text[..text.len() / 2].to_owned(), "it is malformed"),
        ("nothing", String::new(), "it is malformed"),
    ] {
        let refused = entry::read(&layers, &kept(Some(text)), None).expect_err(what).to_string();
        assert!(refused.contains(reason), "{what}: {refused}");
    }
    assert!(entry::read(&layers, &kept(Some(text)), None).is_ok());
}

#[test]
fn a_key_tells_apart_all_that_a_result_depends_on() {
    let usual = Options::default();
    let layers = layers("p4 t1 d1 b1 linear");
    let of = |search, options: &Options| key(search, &layers, options);
    let mut other = layers.clone();
    other.atoms[1].forward += Ticks(1);
    let given = of_even_cut(&layers).solution.schedule;
    let keys = [
        of(Search::Quick(Look::Near), &usual),
        of(Search::Deep, &usual),
        key(Search::Deep, &other, &usual),
        key(Search::Deep, &self::layers("p4 t1 d1 b1 v"), &usual),
        of(Search::Deep, &Options { seed: 1, ..usual.clone() }),
        of(Search::Deep, &Options { effort: 1, ..usual.clone() }),
        of(Search::Deep, &Options { exact_effort: 1, ..usual.clone() }),
        of(Search::Deep, &Options { use_all_time: true, ..usual.clone() }),
        of(Search::Deep, &Options { known: vec![given], ..usual.clone() }),
    ];
    let different: std::collections::BTreeSet<Key> = keys.into_iter().collect();
    assert_eq!(different.len(), keys.len());
    let threads = std::num::NonZeroUsize::new(7).expect("seven");
    assert_eq!(keys[1], of(Search::Deep, &Options { threads, ..usual.clone() }));
    assert_eq!(keys[0], of(Search::Quick(Look::Near), &Options { use_all_time: true, ..usual }));
}

#[cfg(feature = "store")]
mod kept_in_a_store {
    use std::cell::Cell;

    use super::*;
    use crate::stop::{Interrupt, Stop};

    struct Place {
        store: Store,
        layers: Layers,
        found: CutSolution,
        _folder: tempfile::TempDir,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("results.sqlite")).expect("a new store");
        let layers = layers("p4 t1 d1 b1 linear");
        let found = of_even_cut(&layers);
        Place { store, layers, found, _folder: folder }
    }

    impl Place {
        /// Whether a search with these options searches, rather than to take what is kept.
        fn searches(&self, options: &Options, found: CutSolution) -> bool {
            let searched = Cell::new(false);
            let results = Results::kept_in(&self.store);
            let answer = results.deep(&self.layers, options, options.stop.remaining(), |_| {
                searched.set(true);
                Ok(found)
            });
            answer.expect("a plan");
            let tally = results.into_tally();
            assert!(tally.failure.is_none() && tally.refused.is_empty());
            assert_eq!(
                (tally.computed, tally.taken),
                (usize::from(searched.get()), usize::from(!searched.get()))
            );
            searched.get()
        }
    }

    #[test]
    fn what_ends_by_itself_is_searched_for_once() {
        let place = place();
        let options = Options::default();
        assert!(place.searches(&options, place.found.clone()));
        assert!(!place.searches(&options, place.found.clone()));
        assert!(place.searches(&Options { seed: 1, ..options }, place.found.clone()));
    }

    #[test]
    fn what_the_clock_ended_is_taken_by_a_search_that_would_have_at_most_twice_as_much() {
        let place = place();
        for use_all_time in [false, true] {
            let within = |seconds| Options {
                stop: Stop::after(Duration::from_secs(seconds)),
                use_all_time,
                ..Options::default()
            };
            let key = key(Search::Deep, &place.layers, &within(1));
            let found = Some(entry::write(&place.found, true));
            let kept = Kept { spent: Some(Duration::from_secs(100)), ..kept(found) };
            place.store.put(&key, &kept).expect("written");
            assert!(!place.searches(&within(10), place.found.clone()), "less");
            assert!(!place.searches(&within(200), place.found.clone()), "twice as much");
            // The last one ends by itself, and is kept for good.
            assert!(place.searches(&within(300), place.found.clone()), "more");
            assert!(!place.searches(&within(10_000), place.found.clone()), "much more");
        }
    }

    #[test]
    fn what_was_interrupted_or_only_searches_can_tell_is_searched_for_again() {
        let place = place();
        let interrupt = Interrupt::default();
        interrupt.raise();
        let options = Options { stop: Stop::on(interrupt), ..Options::default() };
        let cut_short = CutSolution { is_cut_short: true, ..place.found.clone() };
        let proved = CutSolution { searched: Some(Ticks(1)), ..place.found.clone() };
        for found in [cut_short, proved] {
            assert!(place.searches(&options, found.clone()));
            assert!(place.searches(&options, found));
        }
    }

    #[test]
    fn a_quick_look_is_kept_unless_the_clock_ended_it_and_so_is_that_it_found_nothing() {
        let place = place();
        let look = |stop: Stop, found: Option<CutSolution>| {
            let results = Results::kept_in(&place.store);
            let options = Options { stop, ..Options::default() };
            let answer = results
                .quick(&place.layers, Look::Near, &options, Ticks(7), || found.ok_or(PlanError::NoneFound))
                .expect("a look");
            (results.into_tally().computed, answer.map(|found| found.no_cut_below))
        };
        let cut_short = Some(CutSolution { is_cut_short: true, ..place.found.clone() });
        let over = || Stop::after(Duration::ZERO);
        assert_eq!(look(Stop::default(), cut_short), (1, Some(place.found.no_cut_below)));
        assert_eq!(look(over(), None), (1, None));
        assert_eq!(look(Stop::default(), None), (1, None), "nothing was kept before");
        assert_eq!(look(Stop::default(), Some(place.found.clone())), (0, None), "that is known now");
    }

    #[test]
    fn what_another_store_knows_is_taken_and_kept_there_only() {
        let (own, other) = (place(), place());
        let options = Options::default();
        assert!(other.searches(&options, other.found.clone()));
        let results = Results::kept_in(&own.store).knowing(&other.store);
        let answer = results.deep(&own.layers, &options, Duration::MAX, |_| panic!("it is known"));
        assert_eq!(answer.expect("a plan").solution.value(), own.found.solution.value());
        assert_eq!(results.into_tally().taken, 1);
        assert!(own.searches(&options, own.found.clone()), "nothing was kept");
        // What a store has itself comes first.
        let key = key(Search::Deep, &own.layers, &options);
        other.store.replace(&key, &kept(Some("{}".to_owned()))).expect("written");
        let results = Results::kept_in(&own.store).knowing(&other.store);
        results.deep(&own.layers, &options, Duration::MAX, |_| panic!("it is known")).expect("a plan");
        assert!(results.into_tally().refused.is_empty());
    }

    #[test]
    fn what_is_not_believed_is_searched_for_again_and_replaced() {
        let place = place();
        let options = Options::default();
        let key = key(Search::Deep, &place.layers, &options);
        place.store.put(&key, &kept(Some("{}".to_owned()))).expect("written");
        let results = Results::kept_in(&place.store);
        let answer = results
            .deep(&place.layers, &options, Duration::MAX, |_| Ok(place.found.clone()))
            .expect("a plan");
        assert_eq!(answer.solution.value(), place.found.solution.value());
        let tally = results.into_tally();
        assert_eq!((tally.computed, tally.taken, tally.refused.len()), (1, 0, 1));
        assert_eq!(tally.refused[0].subject, place.layers.name);
        assert!(!place.searches(&options, place.found.clone()));
    }
}
