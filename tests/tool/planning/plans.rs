//! Plans and their published times.

use crate::traces::figures::{field, rows};

/// A plan for training a network, and how long an iteration of it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub gpus: i64,
    /// Sequences in an iteration.
    pub batch: i64,
    /// Sequences in a microbatch.
    pub microbatch: i64,
    pub hidden: i64,
    pub heads: i64,
    pub layers: i64,
    pub sequence: i64,
    pub tensor: i64,
    pub data: i64,
    pub pipeline: i64,
    pub nanoseconds: i64,
}

impl Plan {
    /// How many microbatches a pipeline runs in an iteration.
    pub const fn microbatches(&self) -> i64 {
        self.batch / (self.microbatch * self.data)
    }

    /// Plans that differ in no more than degrees and microbatch size: a planner chooses among them.
    pub const fn task(&self) -> [i64; 5] {
        [self.hidden, self.layers, self.sequence, self.gpus, self.batch]
    }
}

/// The plans of a table in `tests/data`.
pub fn plans(name: &str) -> Vec<Plan> {
    let plan = |row| {
        let of = |column| field(row, column, 0);
        let plan = Plan {
            gpus: of("gpus"),
            batch: of("batch"),
            microbatch: of("microbatch"),
            hidden: of("hidden"),
            heads: of("heads"),
            layers: of("layers"),
            sequence: of("sequence"),
            tensor: of("tensor"),
            data: of("data"),
            pipeline: of("pipeline"),
            nanoseconds: field(row, "iteration_ms", 6),
        };
        assert_eq!(plan.gpus, plan.tensor * plan.data * plan.pipeline);
        assert_eq!(plan.batch, plan.microbatches() * plan.microbatch * plan.data);
        assert_eq!(plan.layers % plan.pipeline, 0, "every stage has as many layers");
        plan
    };
    rows(name).iter().map(plan).collect()
}
