//! Shortening a schedule that already runs and fits: its Ws float, its gaps are filled.

use std::collections::VecDeque;

use super::Due;
use super::floor::{Floor, Rule};
use super::schedule;
use crate::block::{Timeline, reorder_until, squeeze};
use crate::model::{Device, Kind, Model, Pass, Ticks, Units};
use crate::schedule::Schedule;

/// How often floating and filling alternate at most.
const ROUNDS: usize = 3;

const RUNS: &str = "orders of the catalogue follow the dependencies";

/// How long a schedule is: device span, then makespan.
pub(super) type Length = (Ticks, Ticks);

/// The shortest of what a schedule becomes by letting its Ws float and by filling its gaps. The
/// schedule must keep to the limits, and what is returned does, and is never longer. `due` ends it
/// with the shortest so far.
pub(super) fn improved(
    model: &Model,
    before: Schedule,
    limits: &[Units],
    due: Due<'_>,
) -> (Schedule, Length) {
    let mut best = measured(model, before);
    for _ in 0..ROUNDS {
        if due() {
            break;
        }
        let floated = shortest_float(model, &best.0, limits);
        let [filled, floated_and_filled] = [&best.0, &floated.0].map(|candidate| {
            let (filled, timeline) = reorder_until(model, candidate, limits, due).expect(RUNS);
            (filled, length(model, &timeline))
        });
        let next = [filled, floated, floated_and_filled].into_iter().min_by_key(|(_, length)| *length);
        match next {
            Some(next) if next.1 < best.1 => best = next,
            _ => break,
        }
    }
    best
}

/// The schedule with floating Ws under the rule that makes it shortest.
///
/// How much the Ws of a device may hold up the device before it depends on what both have to do
/// afterwards, so several rules are tried: Ws in every gap or only in long ones, and with none, the
/// last, or all passes of the cool-down undisturbed.
pub(super) fn shortest_float(model: &Model, before: &Schedule, limits: &[Units]) -> (Schedule, Length) {
    let float = |gaps, ending| measured(model, float(model, before, limits, gaps, ending));
    [Gaps::Long, Gaps::Any]
        .into_iter()
        .flat_map(|gaps| {
            let undisturbed = [1, usize::MAX].map(|last| (last, float(gaps, Ending::Last(last))));
            let expecting = undisturbed.map(|(last, (schedule, _))| {
                float(gaps, Ending::Expect(last, firm_starts(model, &schedule)))
            });
            expecting.into_iter().chain([float(gaps, Ending::Alike)])
        })
        .min_by_key(|(_, length)| *length)
        .expect("there are several rules")
}

/// The gaps in which a W runs.
#[derive(Debug, Clone, Copy)]
enum Gaps {
    /// Those not known to be shorter than the W.
    Long,
    /// All: the W may delay the next pass.
    Any,
}

/// What becomes of the gaps before the last passes of a device, once it has started its last
/// forward. A delay there delays the end of the devices before it.
enum Ending {
    /// They are used as all others.
    Alike,
    /// Before so many passes, Ws wait until all of those have run.
    Last(usize),
    /// Before so many passes, a W runs where it ends before the next pass is expected to start.
    Expect(usize, Vec<VecDeque<Ticks>>),
}

/// The starts of all passes but W, by device.
fn firm_starts(model: &Model, schedule: &Schedule) -> Vec<VecDeque<Ticks>> {
    let timeline = squeeze(model, schedule).expect(RUNS);
    let rows = timeline.orders.iter().zip(&timeline.starts);
    rows.map(|(order, starts)| {
        order.iter().zip(starts).filter(|(pass, _)| pass.kind != Kind::W).map(|(_, &start)| start).collect()
    })
    .collect()
}

/// A schedule with its length.
pub(super) fn measured(model: &Model, schedule: Schedule) -> (Schedule, Length) {
    let length = length(model, &squeeze(model, &schedule).expect(RUNS));
    (schedule, length)
}

fn length(model: &Model, timeline: &Timeline) -> Length {
    (timeline.device_span(model), timeline.makespan(model))
}

/// Keeps the order of all passes but W; a W runs where its device would wait, and where the next
/// forward finds no room.
///
/// That can always go on: a forward that finds no room had it in the schedule before, after Ws that
/// come before it there and can all run now.
fn float(model: &Model, before: &Schedule, limits: &[Units], gaps: Gaps, ending: Ending) -> Schedule {
    let floor = Floor::new(model, before.orders().iter().flatten().copied());
    let firm: Vec<VecDeque<Pass>> = before
        .orders()
        .iter()
        .map(|order| order.iter().copied().filter(|pass| pass.kind != Kind::W).collect())
        .collect();
    let forwards = firm.iter().map(|firm| firm.iter().filter(|pass| pass.kind == Kind::F).count()).collect();
    let weights = vec![VecDeque::new(); limits.len()];
    let mut rule = Floating { limits, gaps, ending, firm, forwards, weights };
    schedule(model, floor.run(&mut rule))
}

/// The rule of [`float`].
struct Floating<'a> {
    limits: &'a [Units],
    gaps: Gaps,
    ending: Ending,
    /// What each device has yet to run in this order.
    firm: Vec<VecDeque<Pass>>,
    /// How many of it are forwards.
    forwards: Vec<usize>,
    /// The Ws that each device can run.
    weights: Vec<VecDeque<Pass>>,
}

impl Floating<'_> {
    /// Takes the next pass in order.
    fn advance(&mut self, index: usize) -> Option<Pass> {
        let pass = self.firm[index].pop_front()?;
        match pass.kind {
            Kind::F => self.forwards[index] -= 1,
            Kind::I => self.weights[index].push_back(pass.with_kind(Kind::W)),
            Kind::R | Kind::W | Kind::B => {}
        }
        if let Ending::Expect(_, starts) = &mut self.ending {
            starts[index].pop_front();
        }
        Some(pass)
    }

    /// Whether a W that ends at `end` may run before the next pass in order, which arrives at
    /// `arrival` as far as that is known.
    fn suits(&self, index: usize, end: Ticks, arrival: Option<Ticks>) -> bool {
        let among = |last| self.forwards[index] == 0 && self.firm[index].len() <= last;
        match (&self.ending, self.gaps) {
            (&Ending::Last(last), _) if among(last) => false,
            (&Ending::Expect(last, ref starts), _) if among(last) => {
                starts[index].front().is_none_or(|&start| end <= start)
            }
            (_, Gaps::Long) => arrival.is_none_or(|arrival| end <= arrival),
            (_, Gaps::Any) => true,
        }
    }
}

impl Rule for Floating<'_> {
    fn choose(&mut self, floor: &Floor<'_>, device: Device, now: Ticks) -> Option<Pass> {
        let index = device.index();
        let Some(&next) = self.firm[index].front() else { return self.weights[index].pop_front() };
        let arrival = floor.arrival(next);
        let fits = floor.fits(device, next, self.limits[index]);
        if fits && arrival.is_some_and(|arrival| arrival <= now) {
            return self.advance(index);
        }
        let weight = self.weights[index].front()?;
        let end = now + floor.model.duration(weight.stage, Kind::W);
        if !fits || self.suits(index, end, arrival) { self.weights[index].pop_front() } else { None }
    }
}
