//! What the commands that search share: the options, running a search, and reporting that nothing was found.

use std::fmt;
use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use num_rational::Ratio;
use serde::Serialize;

use super::figures::percentage;
use super::output::Output;
use super::progress::Progress;
use crate::amounts::{self, Amounts};
use crate::certificate::Objective;
use crate::model::{Model, Ticks};
use crate::optimize::{self, OptimizeError, Options, Solution};
use crate::schedule::Schedule;
use crate::stop::{Interrupt, Stop};

/// How to search.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to minimise
    #[arg(long = "minimize", alias = "objective", value_enum, default_value_t = ObjectiveName::Makespan, value_name = "WHAT")]
    objective: ObjectiveName,

    /// Time limit of the command in seconds, used as long as a gap is open [default: 60, and no more than the usual
    /// effort takes]
    ///
    /// Combinations of sizes and memory limits share it; the default is 60 seconds for each. The best found by then is
    /// the answer. If the option is given, the search continues until then, unless its result is proved optimal
    /// earlier; a result with a cut of layers, optimal for its cut.
    #[arg(long, value_name = "S", value_parser = seconds)]
    time_limit: Option<Duration>,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Number of search threads [default: the number of processors]
    ///
    /// A search that no time limit ends gives the same answer with any number of threads.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// An [`Objective`], as the option names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ObjectiveName {
    /// The last end over all devices
    Makespan,
    /// The least time within which every device can run its passes, where a device may begin later than as soon as possible
    Span,
}

impl ObjectiveName {
    /// What the option and `--json` call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Makespan => "makespan",
            Self::Span => "span",
        }
    }

    /// What it means.
    pub const fn objective(self) -> Objective {
        match self {
            Self::Makespan => Objective::Makespan,
            Self::Span => Objective::DeviceSpan,
        }
    }
}

/// The time limit of a command without the option.
pub const UNASKED: Duration = Duration::from_secs(60);

/// The default time limit of a command that runs several searches.
pub fn unasked(searches: usize) -> Duration {
    UNASKED.saturating_mul(u32::try_from(searches).unwrap_or(u32::MAX))
}

/// A positive number of seconds, with decimals; `90s` is one, too.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let plain = text.strip_suffix('s').filter(|rest| rest.ends_with(|letter: char| letter.is_ascii_digit()));
    let seconds = plain.unwrap_or(text).parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("`{text}` is not a positive number of seconds"))
}

/// How the library is to search, on all processors. Time that is asked for is used; without, the effort decides, and the answer
/// does not depend on the clock.
pub fn options(stop: &Stop, is_limited: bool) -> Options {
    let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Options { stop: stop.clone(), use_all_time: is_limited, threads, ..Options::default() }
}

impl SearchArgs {
    /// What to minimise.
    pub const fn objective(&self) -> ObjectiveName {
        self.objective
    }

    /// What decides between choices that nothing else decides.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The time limit.
    pub fn time_limit(&self) -> Duration {
        self.time_limit.unwrap_or(UNASKED)
    }

    /// The time limit of a command that runs several searches.
    pub fn time_limit_of(&self, searches: usize) -> Duration {
        self.time_limit.unwrap_or_else(|| unasked(searches))
    }

    /// Whether a time limit is given, which the search then uses.
    pub const fn is_limited(&self) -> bool {
        self.time_limit.is_some()
    }

    /// When the search has to end.
    pub fn stop(&self, interrupt: Interrupt, output: Output) -> Stop {
        Stop::on(interrupt).within(output.left_of(self.time_limit()))
    }

    /// How the library is to search.
    pub fn options(&self, stop: &Stop) -> Options {
        let (objective, seed) = (self.objective.objective(), self.seed);
        let usual = options(stop, self.is_limited());
        Options { objective, seed, threads: self.threads.unwrap_or(usual.threads), ..usual }
    }

    /// Searches, and shows the progress.
    ///
    /// # Errors
    /// When the capacities are too small, or the search is defective.
    pub fn run(&self, model: &Model, stop: &Stop, progress: &Progress) -> Result<Solution, OptimizeError> {
        self.run_from(model, Vec::new(), stop, progress)
    }

    /// The same, knowing schedules that may be better than what is found.
    ///
    /// # Errors
    /// When the capacities are too small, or the search is defective.
    pub fn run_from(
        &self,
        model: &Model,
        known: Vec<Schedule>,
        stop: &Stop,
        progress: &Progress,
    ) -> Result<Solution, OptimizeError> {
        self.run_told(model, known, stop, progress, &mut |_| ())
    }

    /// The same, telling what the search has reached.
    ///
    /// # Errors
    /// When the capacities are too small, or the search is defective.
    pub fn run_told(
        &self,
        model: &Model,
        known: Vec<Schedule>,
        stop: &Stop,
        progress: &Progress,
        tell: &mut dyn FnMut(&optimize::Progress),
    ) -> Result<Solution, OptimizeError> {
        let options = Options { known, ..self.options(stop) };
        optimize::optimize(model, &options, &mut |state| {
            progress.step(step(state, &model.costs().unit));
            tell(state);
        })
    }
}

/// What a search is doing, in a line.
pub fn step(state: &optimize::Progress, unit: &str) -> String {
    let time = |ticks: Ticks| amounts::time(ticks.0, unit);
    let best = state.best.map_or_else(String::new, |best| {
        let gap = Ratio::new(i128::from((best - state.bound).0), i128::from(state.bound.0.max(1)));
        format!(", best {}, gap {}", time(best), percentage(gap))
    });
    format!("{}, bound {}{best}", state.step, time(state.bound))
}

/// That no schedule keeps to the capacities.
#[derive(Serialize)]
pub struct Infeasible {
    feasible: bool,
    reason: String,
}

impl Infeasible {
    /// Because one microbatch takes more than there is, with the units of the model.
    pub fn of(reason: &optimize::Infeasible, amounts: Amounts<'_>) -> Self {
        Self::because(reason.in_words(|units| amounts.further_memory(units)))
    }

    /// For this reason.
    pub const fn because(reason: String) -> Self {
        Self { feasible: false, reason }
    }
}

impl fmt::Display for Infeasible {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "infeasible: {}", self.reason)
    }
}
