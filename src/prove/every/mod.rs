//! Every number of microbatches: a schedule and all its extensions, proved valid at once, with their
//! makespan, device span and peak memory as exact formulas in m.
//!
//! # What is proved
//!
//! On each device `x` let the order of passes be
//!
//! ```text
//! order(q)  =  head_x . body_x . (body_x + K) . ... . (body_x + (q-1)K) . (tail_x + qK)
//! ```
//!
//! where `+ K` adds K to every microbatch: a warm-up, a piece of K microbatches repeated q times, and a
//! cool-down. A *slot* is F, R, backward (I or B) or W of a stage, for one remainder of microbatches
//! modulo K. Suppose
//!
//! 1. each body has every slot of its device exactly once, R everywhere or nowhere, and W where the
//!    backward is I; let `b(slot)` be its microbatch there, and that of B for a W that the body lacks;
//! 2. a head has only passes with a microbatch below `b` of their slot, a tail only others;
//! 3. `b(p) <= b(p')` where a pass of slot `p` needs the pass of slot `p'` of the same microbatch;
//! 4. the schedule is valid for one `q >= 1` that is so large that no microbatch has passes in heads and
//!    in tails: `qK` is at least the largest less the smallest `b`.
//!
//! **Complete.** Let q be as in 4 or larger. The passes that bodies run of a slot are those of q
//! microbatches from `b` on, K apart. A microbatch that has passes in no tail has those of the heads and
//! those of the bodies from `b` on, whatever q is; one that has passes in no head has the same as the
//! one K earlier with `q-1`. Where it has neither, it has each slot once, by 1. So all microbatches are
//! complete if they are for the q of 4.
//!
//! **Free of deadlock.** Let the *cut* r be the passes of the heads and of the first r bodies: by 2
//! those with a microbatch below `b(slot) + rK`. By 3 a cut has with a pass everything that it needs. So
//! the heads wait for nothing outside them, a body waits for nothing but itself, earlier bodies and the
//! heads, and nothing else waits for the tails. Inside of the heads, of one body, and of the tails there
//! is no cycle, for the schedule of 4 has none, and these parts are the same for every q but for the
//! numbers of the microbatches.
//!
//! **Memory.** What a device holds depends on its order alone. A body acquires and releases every
//! activation of its device K times: after it, as much is live as before. So all bodies have the same
//! peak, and with `q >= 1` the peak of a device is that of `head . body . tail` for every q.
//!
//! **Times.** No pass of a cut needs one outside it, so each starts at the same time whatever q is. Let
//! the *state* at cut r be, for every device, when it is free, and for every pass of the cut that
//! something outside needs on another device, when its message is there, or when that device is free if
//! that is later (a pass that follows starts no sooner anyway); microbatches are counted from `rK` on.
//! The start of every later pass is a maximum of these numbers plus constants, and those are the same at
//! every cut. So **if state(r+c) is state(r) with L added to every number, the same holds at every later
//! cut**, and whatever ends after the cut ends L later:
//!
//! ```text
//! last end of device x for q + c   =   last end of device x for q   +   L      for every q >= r
//! ```
//!
//! First starts do not change (those of a device without a head from `q = 1` on). So the makespan, and the span of each
//! device as soon as possible, grow by L too for every Kc microbatches. What is below is replayed one by one. ∎
//!
//! **The device span** is that of the best execution, in which devices may begin later. No schedule has a smaller one than
//! its own device of stage 0: every pass is on a chain that comes from the first pass of that device, so that device
//! ends as late after its first pass as it does as soon as possible, whatever the others do. And the
//! largest span as soon as possible is no less. Where the two are equal for Kc numbers of microbatches in a row
//! from r on, both grow by L with every Kc more, so they stay equal, and the device span is both. Where they are not,
//! nothing is stated for every m.
//!
//! **Such a repetition always comes.** Neighbouring stages wait for each other, forward one way and
//! backward the other, and the passes of a device for one another. So between any two passes there is a
//! chain of needs over a bounded number of bodies, and what is in a state differs by a bounded amount:
//! devices cannot drift apart for ever. There are finitely many such vectors of integers, and each fixes
//! the next. Only how soon they repeat is not known beforehand; where it takes more than [`MOST_PASSES`]
//! the answer is [`UnknownReason::NoCycle`].
//!
//! # Whose schedules
//!
//! A building block: m copies ordered by `o + jT`, the least offset being 0. Let `aT` be no less than
//! any offset. Passes before `aT` belong to copies below `a`; between `aT` and `(a+1)T` stands every
//! pass once, and the same again one interval later; so with `m >= a` copies the order before `mT` is
//! that of the infinite schedule, and what is after it is the same for all m but for the numbering.
//! These are `head`, `body` and `tail`. A block of K microbatches has K tails, one for each remainder of
//! m. Fewer microbatches are replayed one by one. If the block meets its dependencies, so does the cut
//! at `aT` (3); if not, another cut is looked for.
//!
//! An imported schedule: orders alone. The longest stretch in which a device's passes come again after K
//! microbatches is looked for, and the least cut in it with 3. Extended is what then comes at least
//! twice on every device.
//!
//! # Who decides
//!
//! States are read off a run of [`replay`](crate::replay::replay), which has its own idea of every rule;
//! so are all figures. For twice as long as the formulas need, and up to `2d + 4` microbatches, every
//! schedule is made and replayed, and a formula that gives anything else is an [internal
//! error](EveryError::Unconfirmed). A statement about every m is one about integers of any size; that
//! the tool counts in 64 bits limits only what it can lay out.

mod block;
mod cut;
mod cycle;
mod detect;
mod formula;
mod growing;
mod measured;
mod recurring;
mod survey;

use std::borrow::Cow;

use crate::model::{BeyondPasses, Device, Model, ModelError, Pass, Ticks, Units};
use crate::replay::Verdict;
use crate::schedule::ScheduleError;
use crate::stop::Stop;

pub use block::every_m_of_block;
pub use detect::{MOST_PERIOD, Run, every_m_of_schedule};
pub use formula::{Formula, Listed, Numbers};
pub use growing::NotRepeatable;

/// About how many passes are replayed at most, over all numbers of microbatches together.
pub const MOST_PASSES: u64 = 1 << 28;

/// What is known of the schedules of every number of microbatches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EveryM {
    /// All are valid.
    Proved(Box<Proof>),
    /// One is not.
    Refuted(Box<Refutation>),
    /// It is not known.
    Unknown(UnknownReason),
}

/// Valid, free of deadlock and within the capacities, for every number of microbatches `first, first + step,
/// ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The least number of microbatches.
    pub first: u32,
    /// How much it grows by.
    pub step: u32,
    /// The last end, the first start being time 0.
    pub makespan: Formula,
    /// The device span; nothing where it is not proved, because some device has a larger span as soon as possible
    /// than the device of stage 0.
    pub device_span: Option<Formula>,
    /// The peak memory of every device, from [`peak_from`](Self::peak_from) microbatches on.
    pub peak_memory: Vec<Units>,
    /// From how many microbatches on every device has its peak.
    pub peak_from: u32,
    /// The peaks of fewer microbatches: by their number, from `first` on, and device.
    pub peaks_before: Vec<Vec<Units>>,
    /// The repetition that the induction rests on.
    pub repetition: Repetition,
    /// Up to how many microbatches every schedule was replayed.
    pub replayed_to: u32,
}

/// The state of all devices, repeated: what the induction rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repetition {
    /// From how many microbatches on.
    pub from: u32,
    /// After how many more microbatches.
    pub microbatches: u32,
    /// How much later.
    pub ticks: Ticks,
}

/// A number of microbatches for which the schedule is not valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refutation {
    /// How many microbatches: the fewest.
    pub microbatches: u32,
    /// What replay says of it.
    pub verdict: Verdict,
}

/// Why nothing is known of every number of microbatches.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownReason {
    /// The time limit came first.
    #[error("the time limit came first")]
    Time,
    /// Somebody asked to end.
    #[error("interrupted")]
    Interrupted,
    /// One microbatch.
    #[error("a schedule of one microbatch has no steady phase")]
    OneMicrobatch,
    /// Microbatches of two kinds, of which a period would have to know.
    #[error("microbatches go in two directions, and only schedules of one direction are extended here")]
    TwoDirections,
    /// Passes that run as one, which the induction does not know.
    #[error("the schedule has overlapped pairs, which are not repeated with more microbatches here")]
    Overlapped,
    /// Activations that go to the host and back, which the induction does not know.
    #[error("the schedule offloads activations, which are not repeated with more microbatches here")]
    Offloaded,
    /// Messages that keep links busy, which the induction does not know.
    #[error("the model has [messages], and how links are shared is not repeated with more microbatches here")]
    Messages,
    /// An end of the step, which the induction does not know.
    #[error("the model has [step], which is not repeated with more microbatches here")]
    EndOfStep,
    /// Workspaces, buffers of messages, an I that leaves more than F kept, activations that can be offloaded, several levels of
    /// recomputation, or recomputation in the backward.
    #[error("the model has {0}, which is not counted with more microbatches here")]
    Memory(BeyondPasses),
    /// Orders in which nothing repeats.
    #[error(
        "no steady phase found: on device {device} no piece of {} comes twice in a row", up_to(*most)
    )]
    NoRepetition {
        /// The first device without one.
        device: Device,
        /// The longest period tried, in microbatches.
        most: u32,
    },
    /// Every device repeats, but not all after the same number of microbatches.
    #[error(
        "no steady phase found: every device repeats, but no piece of {} comes twice in a row on all \
         of them",
        up_to(*most)
    )]
    NoCommonPeriod {
        /// The longest period tried, in microbatches.
        most: u32,
    },
    /// A repetition that is broken and taken up again: what to extend is anybody's guess.
    #[error(
        "the steady phase is broken: {first} and again from {} to {}, but position {at} has \
         `{stands}` instead of `{expected}`",
        .again.begin,
        .again.end - 1
    )]
    Broken {
        /// The first stretch of repetitions.
        first: Run,
        /// A later one on the same device.
        again: Run,
        /// Where the first one breaks off.
        at: usize,
        /// The pass at that position.
        stands: Pass,
        /// The pass that would go on.
        expected: Pass,
    },
    /// A stretch of repetitions that leaves no room for a cut with two of them behind it.
    #[error(
        "too few repetitions to be sure: {run}, but two whole repetitions of {} passes after all that \
         other devices need end at position {}",
        .run.length,
        .needed - 1
    )]
    TooFew {
        /// The stretch.
        run: Run,
        /// The position behind the last one that it would have to have.
        needed: usize,
    },
    /// A repetition that has a slot twice or not at all, or a warm-up or cool-down unlike it.
    #[error("the steady phase cannot be extended: {0}")]
    NotRepeatable(#[from] NotRepeatable),
    /// Devices that wait for ever later repetitions of each other; no cut has everything that it needs.
    #[error("no cut between {intervals} intervals of the block has everything that its passes need")]
    NoCut {
        /// How many intervals were searched.
        intervals: u32,
    },
    /// More to replay than the limits allow, before any induction can begin.
    #[error(
        "too large: {microbatches} microbatches and all fewer would have to be replayed first, which \
         are more than {MOST_PASSES} passes"
    )]
    TooLarge {
        /// Up to how many microbatches.
        microbatches: u32,
    },
    /// No state came again within the limits: conditions 1 to 4 hold, but there is no formula.
    #[error(
        "valid and within memory for {numbers}, but the makespan is not known: its times \
         do not repeat within {copies} repetitions of the steady phase"
    )]
    NoCycle {
        /// The numbers of microbatches that are valid.
        numbers: Numbers,
        /// How many repetitions were searched.
        copies: u32,
    },
}

impl UnknownReason {
    /// Why it was time to stop.
    fn of(stop: &Stop) -> Self {
        if stop.is_interrupted() { Self::Interrupted } else { Self::Time }
    }
}

/// What a model says of memory and recomputation that is not counted here.
fn uncounted(model: &Model) -> Option<BeyondPasses> {
    let is_plain = model.has_plain_memory() && !model.can_offload() && !model.has_gathers();
    let is_plain = is_plain && matches!(model.level_floor(), Cow::Borrowed(_));
    model.beyond_passes().filter(|_| !is_plain)
}

/// Why the question cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EveryError {
    /// The model describes another pipeline.
    #[error("the model has another placement than the block")]
    Placement,
    /// A model of as many microbatches as the proof has to look at overflows.
    #[error("with {microbatches} microbatches, which the proof has to look at: {error}")]
    Model {
        /// How many microbatches.
        microbatches: u32,
        /// Why it is no model.
        error: ModelError,
    },
    /// There is no schedule of this number of microbatches.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A schedule that was to be the extension is another one.
    #[error(
        "internal error: the block's schedule of {0} microbatches is not the extension of the one before"
    )]
    NotTheExtension(u32),
    /// Replay contradicts the theorem.
    #[error(
        "internal error: {what} of {microbatches} microbatches is {replayed} in replay, but {formula} by \
         the formula"
    )]
    Unconfirmed {
        /// What is not confirmed.
        what: &'static str,
        /// How many microbatches.
        microbatches: u32,
        /// By the formula.
        formula: i64,
        /// In replay.
        replayed: i64,
    },
    /// Replay finds fault with what the theorem says is valid.
    #[error("internal error: replay rejects {0} microbatches, which the theorem says are valid")]
    Rejected(u32),
}

/// Up to this many microbatches.
fn up_to(most: u32) -> String {
    if most == 1 { "one microbatch".to_owned() } else { format!("1 to {most} microbatches") }
}

/// The model with another number of microbatches.
fn resized(model: &Model, microbatches: u32) -> Result<Model, EveryError> {
    model.with_microbatches(microbatches).map_err(|error| EveryError::Model { microbatches, error })
}
