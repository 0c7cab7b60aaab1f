//! What a critical path spends on other things than passes, and where it waits for memory.

use std::collections::BTreeMap;

use super::{Step, Waits};
use crate::model::{Device, Ticks};

/// What the passes on a critical path wait for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delays {
    /// How many messages are on the path that take time.
    pub messages: u64,
    /// How long all of these take, in ticks; for a busy link, with the messages that it carries first.
    pub message_ticks: Ticks,
    /// How long copies, gathers and reductions on the path take, in ticks.
    pub copy_ticks: Ticks,
    /// By device, in order: how many of its passes on the path wait until the pass before them has released memory. Devices without
    /// any are left out.
    pub memory: Vec<(Device, u64)>,
}

impl Delays {
    /// What the passes of a [critical path](super::critical_path) wait for.
    #[must_use]
    pub fn of(path: &[Step]) -> Self {
        let mut delays = Self::default();
        let mut memory: BTreeMap<Device, u64> = BTreeMap::new();
        for step in path {
            match step.waits {
                Waits::Nothing | Waits::Device | Waits::Dependency { latency: Ticks::ZERO } => {}
                Waits::Dependency { latency } => {
                    delays.messages += 1;
                    delays.message_ticks += latency;
                }
                Waits::Link { messages, ticks } => {
                    delays.messages += u64::from(messages);
                    delays.message_ticks += ticks;
                }
                Waits::Copies { ticks } => delays.copy_ticks += ticks,
                Waits::Memory => *memory.entry(step.device).or_default() += 1,
            }
        }
        delays.memory = memory.into_iter().collect();
        delays
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::critical_path;
    use crate::catalog;
    use crate::model::{Model, Placement, Units};
    use crate::replay::replay;

    fn delays(latency: i64, capacity: i64) -> (Delays, Ticks, Ticks) {
        let placement = Placement::linear(3).expect("a placement");
        let model = Model::equal_stages(placement, 6, [3, 3, 3, latency]).expect("a model");
        let model = model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity");
        let schedule = catalog::find("1f1b").expect("a name").generate(&model).expect("a schedule");
        let timing = replay(&model, &schedule).timing.expect("it runs");
        let path = critical_path(&model, &schedule, &timing);
        let passes = path.iter().map(|step| step.end - step.start).sum();
        (Delays::of(&path), passes, timing.metrics.makespan)
    }

    #[test]
    fn passes_and_delays_add_up_to_the_makespan() {
        for latency in [0, 1, 7] {
            let (delays, passes, makespan) = delays(latency, 3);
            assert_eq!(passes + delays.message_ticks + delays.copy_ticks, makespan);
            assert_eq!(delays.message_ticks, Ticks(latency * i64::try_from(delays.messages).expect("few")));
            assert_eq!(delays.messages > 0, latency > 0);
        }
    }

    #[test]
    fn memory_is_waited_for_only_where_it_is_short() {
        assert!(!delays(7, 3).0.memory.is_empty());
        assert_eq!(delays(7, 100).0.memory, []);
    }
}
