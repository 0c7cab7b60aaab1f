//! A whole schedule as linear inequalities over integers, for anybody's solver and anybody's checker.
//!
//! "There is a schedule that ends within a horizon" as a system without solutions or with some: what a
//! proof of optimality is about. It is made from the model alone, knows no solver, and is written in two standard
//! formats: [FlatZinc](LinearProgram::flatzinc), and [OPB](Binary::opb) over bits.
//!
//! **Variables.** The start `t` of every pass, from 0 to the horizon less the duration; and for two passes
//! `a`, `b` on one device an `o` from 0 to 1 that is 1 where `a` comes first. What has to run before and
//! after a pass narrows the range of its start, and each such bound says what it follows from.
//!
//! **Inequalities**, with the horizon H as the constant that switches the ones behind `o` off:
//! ```text
//! t_a + duration_a + latency <= t_b                   b needs a
//! t_a + duration_a           <= t_b                   a, b of one stage and kind, a of the microbatch before
//! t_a + duration_a           <= t_b + H*(1 - o_ab)    one at a time on a device
//! t_b + duration_b           <= t_a + H*o_ab
//! sum of what passes before F acquire - sum of what they release + what F acquires <= capacity   for every F
//! ```
//! No `o` is needed where dependencies and the order of microbatches decide. A W that takes no time is part
//! of its I, as it delays nothing and releases soonest right behind it; a full backward B is an I with its W
//! right behind it.
//!
//! **Microbatches in order** is no loss of generality: sorted by their starts, the passes of a stage and
//! kind run at the same instants; the j-th start of a pass lies no earlier behind the j-th start of what it
//! needs than before, as no more of its starts than of the other's ends lie before any instant; and
//! memory depends on those instants alone. This step is on paper, and tests compare with enumeration.
//!
//! **Implied inequalities** follow from the others and say so ([`Origin::Implied`]): orders are monotone
//! along microbatches, and each way to exceed a capacity is excluded by a clause. They let a solver that
//! looks at one inequality at a time see what it otherwise would have to search for.

mod binary;
mod build;
mod flatzinc;
mod memory;
#[cfg(test)]
mod tests;

pub use binary::Binary;

use crate::model::{BeyondPasses, Device, Pass, Stage, Ticks};

/// The meaning of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// The start of a pass, in ticks.
    Start(Pass),
    /// 1 where the first pass comes before the second one, 0 where after.
    Before(Pass, Pass),
}

/// An integer from `least` to `most`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its meaning.
    pub meaning: Meaning,
    /// The smallest value: 0, or the time that what it needs takes.
    pub least: i64,
    /// The largest value: 1, or what is left of the horizon by what needs it.
    pub most: i64,
    /// The largest value before that: 1, or the horizon less the duration.
    pub stated_most: i64,
    /// The inequality that `least` follows from, with the `least` of its other variable; none where it is 0.
    pub least_by: Option<(usize, usize)>,
    /// The inequality that `most` follows from, with the `most` of its other variable; none where it is
    /// `stated_most`.
    pub most_by: Option<(usize, usize)>,
}

impl Variable {
    /// Its name in files: `t_3F0`, or `o_3F0_0I1` where `3F0` comes before `0I1`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.meaning {
            Meaning::Start(pass) => format!("t_{pass}"),
            Meaning::Before(first, second) => format!("o_{first}_{second}"),
        }
    }
}

/// Why an inequality holds for every schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The second pass needs the first one.
    Dependency(Pass, Pass),
    /// Microbatches in order.
    InTurn(Pass, Pass),
    /// The first pass ends before the second one starts, where their `o` says so.
    OneAtATime(Pass, Pass),
    /// What is live once this F has started.
    Memory(Pass),
    /// It follows from others, in this way.
    Implied(Derivation),
}

/// How an inequality follows from others, named by their positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Derivation {
    /// Their sum says it of integers.
    Sum(Vec<usize>),
    /// Set the variables against it: bounds that the others pass on contradict each other.
    Propagation(Vec<usize>),
}

/// `sum coefficient * variable <= most`, each variable once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inequality {
    /// Coefficients, none 0, and positions of variables.
    pub terms: Vec<(i64, usize)>,
    /// The right-hand side.
    pub most: i64,
    /// Why it holds.
    pub origin: Origin,
}

impl Inequality {
    /// Whether it holds for these values of all variables.
    #[must_use]
    pub fn holds(&self, values: &[i64]) -> bool {
        let sum: i128 =
            self.terms.iter().map(|&(weight, at)| i128::from(weight) * i128::from(values[at])).sum();
        sum <= i128::from(self.most)
    }
}

/// Why a model has no such system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinearError {
    /// An F or an I that takes no time: orders that wait for each other in a cycle would have times.
    #[error("`{0}` takes no time: linear inequalities need a positive duration of every F and I")]
    NoDuration(Pass),
    /// The model says more than what linear inequalities state here.
    #[error("the model has {0}, but linear inequalities state passes and latencies alone")]
    BeyondPasses(BeyondPasses),
    /// Recomputation could save memory there, but is left out.
    #[error("stage {stage} on device {device}, which has a memory limit, may recompute: that is left out")]
    MayRecompute {
        /// The stage.
        stage: Stage,
        /// Its device.
        device: Device,
    },
    /// Not even this pass fits.
    #[error("within {horizon} ticks `{pass}` does not fit")]
    HorizonTooShort {
        /// The horizon.
        horizon: Ticks,
        /// The pass.
        pass: Pass,
    },
    /// Too many inequalities, or numbers beyond 32 bits.
    #[error("{0} passes with their times and amounts are too many or too large")]
    TooLarge(usize),
}

/// Linear inequalities that the schedules of a model within a horizon satisfy, and nothing else does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinearProgram {
    horizon: Ticks,
    variables: Vec<Variable>,
    inequalities: Vec<Inequality>,
}

impl LinearProgram {
    /// The last end that is allowed.
    #[must_use]
    pub const fn horizon(&self) -> Ticks {
        self.horizon
    }

    /// The variables; inequalities name them by their position here.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The inequalities, each behind those that it follows from.
    #[must_use]
    pub fn inequalities(&self) -> &[Inequality] {
        &self.inequalities
    }

    /// The value of every variable in a schedule whose passes (F, I and every W that takes time) start at
    /// these times.
    #[must_use]
    pub fn values(&self, start: impl Fn(Pass) -> Ticks) -> Vec<i64> {
        let value = |variable: &Variable| match variable.meaning {
            Meaning::Start(pass) => start(pass).0,
            Meaning::Before(first, second) => i64::from(start(first) < start(second)),
        };
        self.variables.iter().map(value).collect()
    }
}
