//! Laws of files: what was printed reads as what it was.

use bubbleproof::model::{self, Model, Units};
use bubbleproof::schedule;
use bubbleproof::text::is_control;
use proptest::prelude::*;

use crate::laws::random::{models, schedules};

/// Any text that a file may have.
fn texts() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| text.chars().filter(|&letter| !is_control(letter)).collect())
}

proptest! {
    #[test]
    fn a_model_file_reads_as_the_model_it_was_printed_from(
        random in models(0),
        name in texts(),
        source in prop::option::of(texts()),
        units in [texts(), texts()],
        capacities in prop::option::of(prop::collection::vec(0..99_i64, 20)),
    ) {
        let (mut costs, mut memory) = (random.costs().clone(), random.memory().clone());
        // A name of one word would have to be that of a unit.
        [costs.unit, memory.unit] = units.map(|text| format!("counts of {text}"));
        if let Some(capacities) = capacities {
            memory.capacity.iter_mut().zip(capacities).for_each(|(slot, capacity)| *slot = Some(Units(capacity)));
        }
        let model =
            Model::new(name, source, random.placement().clone(), random.microbatches(), costs, memory)
                .expect("a model");
        let text = model::print(&model);
        prop_assert_eq!(model::parse(&text).map_err(|error| format!("{error} in\n{text}")), Ok(model));
    }

    #[test]
    fn a_schedule_file_reads_as_the_schedule_it_was_written_from(
        (_, random) in schedules(0), name in texts(),
    ) {
        let random = random.named(name);
        let mut text = Vec::new();
        schedule::write(&random, &mut text).expect("writing to memory");
        let text = String::from_utf8(text).expect("JSON is UTF-8");
        prop_assert_eq!(schedule::parse(&text).expect("what was written reads"), random);
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in any::<String>()) {
        let _ = model::parse(&text);
        let _ = schedule::parse(&text);
    }
}
