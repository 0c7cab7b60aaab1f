//! Certificates: what is claimed of a schedule, and what the claims rest on, in a format that travels with the
//! schedule.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::{Bound, Objective};
use crate::job::{Choice, Cut};
use crate::model::{self, Device, Model, Ticks};
use crate::replay::{Metrics, Verdict};
use crate::schedule::{Offloaded, Schedule};
use crate::text::Shown;

/// The value of `format` in certificates of this version.
pub const CERTIFICATE_FORMAT: &str = "bubbleproof-certificate-1";

/// What is claimed of a schedule. Nothing in it is believed: [`check`](super::check) derives every
/// claim again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The digest of the statement.
    pub(super) sha256: String,
    pub(super) statement: Statement,
}

/// The contents of a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statement {
    pub format: String,
    /// The digest of `problem`, by which other files can name it.
    pub problem_sha256: String,
    /// The model with the sizes and capacities that the schedule was made for, as the text of a model file.
    pub problem: String,
    /// The digest of the placement, the number of microbatches, the orders, the levels of recomputations and what is offloaded.
    pub schedule_sha256: String,
    /// What was minimised.
    pub objective: Objective,
    pub metrics: Figures,
    /// A lower bound on the objective, and what it rests on.
    pub bound: Bound,
    pub optimality: Optimality,
    /// The job that the problem is a plan of, and what is claimed over all of its plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobStatement>,
}

/// What is claimed over the cuts and the choices of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobStatement {
    /// The text of the job file.
    pub job: String,
    /// What was chosen.
    pub choice: Choice,
    /// How its layers are cut.
    pub cut: Cut,
    /// With this choice no schedule of any cut is shorter, in ticks.
    pub no_cut_below: Ticks,
    /// No schedule of any cut is shorter, as exhaustive searches of single cuts found; that cannot be checked without
    /// searching again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<Ticks>,
    /// No plan of the job is shorter, whatever the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_plan_below: Option<Ticks>,
}

/// What replay measured, in ticks and units; rates as `"num/den"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figures {
    pub makespan: i64,
    pub device_span: i64,
    pub bubble_rate: String,
    pub idle_rate: String,
    pub peak_memory: Vec<i64>,
}

/// What is known about how much better any schedule under the same capacities can be.
///
/// Exhaustive on purpose: whoever shows a result has to say what a further kind of proof is worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimality {
    /// No more than the lower bound says.
    Open,
    /// The schedule is as good as the lower bound: no schedule is better.
    Bound,
    /// An exhaustive search has found nothing below a value. Unlike everything else in a certificate,
    /// this cannot be checked without searching again.
    Search {
        /// What searched.
        engine: SearchEngine,
        /// No schedule is better than this.
        none_below: Ticks,
    },
}

/// The engines that a certificate may name. Any other name is refused: nobody vouches for it, and it would stand in a
/// sentence that looks like one of ours.
///
/// Exhaustive on purpose, as [`Optimality`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchEngine {
    /// Lazy clause generation.
    ClauseGeneration,
    /// Branch and bound.
    BranchAndBound,
}

impl SearchEngine {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::ClauseGeneration, Self::BranchAndBound];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClauseGeneration => "lcg",
            Self::BranchAndBound => "branch and bound",
        }
    }

    /// Whether it can minimise an objective: a claim that it did so otherwise is nobody's.
    #[must_use]
    pub const fn minimises(self, objective: Objective) -> bool {
        match (self, objective) {
            (Self::ClauseGeneration, _) | (Self::BranchAndBound, Objective::Makespan) => true,
            // It lets every device begin as soon as possible, which is not always best for the device span.
            (Self::BranchAndBound, Objective::DeviceSpan) => false,
        }
    }
}

impl fmt::Display for SearchEngine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl Serialize for SearchEngine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for SearchEngine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::ALL.into_iter().find(|engine| engine.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join("` and `");
            let name = Shown(&name);
            D::Error::custom(format_args!("no engine is called `{name}`, only `{known}` are known"))
        })
    }
}

impl Figures {
    pub fn of(metrics: &Metrics, verdict: &Verdict) -> Self {
        Self {
            makespan: metrics.makespan.0,
            device_span: metrics.device_span.0,
            bubble_rate: format!("{}/{}", metrics.bubble_rate.numer(), metrics.bubble_rate.denom()),
            idle_rate: format!("{}/{}", metrics.idle_rate.numer(), metrics.idle_rate.denom()),
            peak_memory: verdict.peak_memory.iter().map(|peak| peak.0).collect(),
        }
    }

    pub const fn value(&self, objective: Objective) -> i64 {
        match objective {
            Objective::Makespan => self.makespan,
            Objective::DeviceSpan => self.device_span,
        }
    }
}

impl Certificate {
    /// States what is known of a schedule; nothing when replay has no times for it.
    ///
    /// `verdict` is what [`replay`](crate::replay::replay) says of the schedule under the model, `bound`
    /// a lower bound on `objective`.
    #[must_use]
    pub fn of(
        model: &Model,
        schedule: &Schedule,
        verdict: &Verdict,
        objective: Objective,
        bound: &Bound,
        optimality: Optimality,
    ) -> Option<Self> {
        let problem = model::print(model);
        let statement = Statement {
            format: CERTIFICATE_FORMAT.to_owned(),
            problem_sha256: digest(problem.as_bytes()),
            problem,
            schedule_sha256: digest_of_schedule(schedule),
            objective,
            metrics: Figures::of(&verdict.timing.as_ref()?.metrics, verdict),
            bound: bound.clone(),
            optimality,
            job: None,
        };
        Some(Self { sha256: digest_of_statement(&statement), statement })
    }

    /// The same, with what is claimed over the plans of a job.
    #[must_use]
    pub fn with_job(self, job: JobStatement) -> Self {
        let statement = Statement { job: Some(job), ..self.statement };
        Self { sha256: digest_of_statement(&statement), statement }
    }

    /// The digest of the model that it is about, by which other files can name it.
    #[must_use]
    pub fn problem_digest(&self) -> &str {
        &self.statement.problem_sha256
    }

    /// The JSON that a schedule file holds.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a certificate has no keys but texts")
    }
}

/// The digest by which a certificate names a model: that of the text of its model file.
#[must_use]
pub fn problem_digest(model: &Model) -> String {
    digest(model::print(model).as_bytes())
}

pub(super) fn digest_of_statement(statement: &Statement) -> String {
    digest_of_json(statement)
}

/// What a schedule is, whatever it is called and wherever it comes from.
pub(super) fn digest_of_schedule(schedule: &Schedule) -> String {
    let lists = schedule.placement().lists().iter();
    let lists: Vec<Vec<u32>> = lists.map(|stages| stages.iter().map(|stage| stage.0).collect()).collect();
    let essence = (lists, schedule.microbatches(), schedule.orders());
    let directions = schedule.placement().directions();
    let pairs: Vec<&[usize]> =
        Device::all(schedule.devices()).map(|device| schedule.overlaps(device)).collect();
    if schedule.offload_count() > 0 {
        let devices = Device::all(schedule.devices());
        let offloads: Vec<&[Offloaded]> = devices.map(|device| schedule.offloads(device)).collect();
        return digest_of_json(&(essence, directions, pairs, offloads));
    }
    // Where there is neither, the digest stays what it is without them.
    match (directions == 1 && pairs.iter().all(|pairs| pairs.is_empty()), schedule.levels().is_empty()) {
        (true, true) => digest_of_json(&essence),
        (false, true) => digest_of_json(&(essence, directions, pairs)),
        (_, false) => digest_of_json(&(essence, directions, pairs, schedule.levels())),
    }
}

/// The digest of the JSON of a value, which is nowhere held as a whole.
fn digest_of_json(value: &impl Serialize) -> String {
    /// Takes the bytes of a text in pieces.
    struct Pieces(Sha256);

    impl Write for Pieces {
        fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
            self.0.update(piece);
            Ok(piece.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut pieces = Pieces(Sha256::new());
    serde_json::to_writer(&mut pieces, value).expect("no keys but texts, and a digest takes every piece");
    in_hexadecimal(&pieces.0.finalize())
}

pub(super) fn digest(bytes: &[u8]) -> String {
    in_hexadecimal(&Sha256::digest(bytes))
}

fn in_hexadecimal(digest: &[u8]) -> String {
    let mut text = String::new();
    for byte in digest {
        write!(text, "{byte:02x}").expect("a string takes everything");
    }
    text
}
