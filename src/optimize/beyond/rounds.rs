//! Blocks with pairs: what every device runs in an interval, again and again, where a forward and a backward together take less
//! time than one after the other.
//!
//! To run all passes in pairs is not always best. In a pair a microbatch takes longer to come through, so more of them are
//! under way; with little memory a device idles now and then, or runs a pass alone.
//!
//! **How blocks are found.** As if every step took equally long, be it a pass or a pair: in an interval of K microbatches a
//! device runs n steps, and each pass of each microbatch takes the first step that is free, or in which it makes a pair with
//! what runs there. Some such steps are passed over at random. Blocks that need more than the capacities are dropped, and n is
//! one of the two least for which one fits. (A modulo scheduler places operations so: Rau, 1994.) What is left is repeated for
//! all microbatches and measured by replay, because until then the durations of steps do not count.
//!
//! **Thinned blocks.** A block in which every device runs something in each step may need more memory than there is. Then each
//! repetition comes as early as the capacities allow, as many steps after the one before as whole intervals take. So a device
//! idles, or runs passes alone, only where memory forces it, which no block of a few microbatches may fit as closely.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use super::sources::Source;
use crate::certificate::Objective;
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks};
use crate::optimize::replayed::ReplayedSchedule;
use crate::parallel;
use crate::schedule::Schedule;
use crate::stop::Stop;

/// How hard to search.
pub(super) struct Effort<'a> {
    pub objective: Objective,
    pub seed: u64,
    /// How many passes may be replayed in all.
    pub passes: usize,
    pub threads: NonZeroUsize,
    pub stop: &'a Stop,
}

/// Schedules of blocks with pairs under the capacities of a model of plain memory without recomputation, the best first; none for
/// two directions, and where no pair of a forward and a B saves time. The answer does not depend on the number of threads.
pub(super) fn schedules(model: &Model, effort: &Effort<'_>) -> Vec<Source> {
    let tries = effort.passes / (3 * model.stages() as usize * model.microbatches() as usize);
    let most = [MOST_PASSES / model.stages(), MOST_PERIOD, model.microbatches()].into_iter().min();
    let most = most.unwrap_or_default().min(u32::try_from(tries).unwrap_or(u32::MAX));
    if model.placement().directions() > 1 || model.memory().checkpoint.is_some() || !saves_time(model) {
        return Vec::new();
    }
    let periods: Vec<u32> = (1..=most).collect();
    let found = parallel::map(effort.threads, &periods, |&period| {
        let mut search = Search { model, effort, tries: tries / most as usize, best: None };
        search.of(period);
        search.best
    });
    let mut found: Vec<ReplayedSchedule> = found.into_iter().flatten().collect();
    found.sort_by_key(ReplayedSchedule::rank);
    found.into_iter().map(|found| (found.schedule, found.engine)).collect()
}

/// Whether some pair of a forward and a B does.
fn saves_time(model: &Model) -> bool {
    let mut stages = Device::all(model.devices()).map(|device| model.placement().stages_of(device));
    stages.any(|stages| {
        let mut pairs = stages.iter().flat_map(|&one| stages.iter().map(move |&other| (one, other)));
        pairs.any(|(forward, backward)| model.pair_saves(forward, backward, Kind::B) > Ticks::ZERO)
    })
}

/// The most microbatches per interval.
const MOST_PERIOD: u32 = 4;

/// The most passes of one kind in a block.
const MOST_PASSES: u32 = 512;

/// One step in this many that could be taken is passed over.
const PASSED_OVER: [u32; 3] = [50, 20, 10];

/// For how many numbers of steps in an interval blocks are looked at.
const NUMBERS_OF_STEPS: usize = 2;

/// How many blocks are placed for each that is to fit.
const PLACED_PER_FITTING: usize = 8;

/// A search through the blocks of so many microbatches.
struct Search<'a> {
    model: &'a Model,
    effort: &'a Effort<'a>,
    /// How many schedules may still be replayed.
    tries: usize,
    best: Option<ReplayedSchedule>,
}

impl Search<'_> {
    /// Looks at blocks with the fewest steps in an interval in which one fits where no step is passed over, and with one more.
    fn of(&mut self, period: u32) {
        let (model, stop) = (self.model, self.effort.stop);
        let mut random = fastrand::Rng::with_seed(self.effort.seed.wrapping_add(u64::from(period)));
        let mut seen = BTreeSet::new();
        let numbers = fewest_steps(model, period, stop).map(|fewest| fewest..fewest + NUMBERS_OF_STEPS);
        for steps in numbers.clone().into_iter().flatten() {
            self.consider(Rounds::placed(model, period, steps, || false), &mut seen);
        }
        let fullest = most_chunks(model) * period as usize;
        for steps in fullest..fullest + NUMBERS_OF_STEPS {
            self.thin(Rounds::placed(model, period, steps, || false));
        }
        let Some(numbers) = numbers else { return };
        let each = self.tries / NUMBERS_OF_STEPS / PASSED_OVER.len();
        for steps in numbers {
            for over in PASSED_OVER {
                let least = self.tries.saturating_sub(each);
                for _ in 0..each * PLACED_PER_FITTING {
                    if self.tries == least || stop.is_due() {
                        break;
                    }
                    let rounds = Rounds::placed(model, period, steps, || random.u32(..over) == 0);
                    self.consider(rounds, &mut seen);
                }
            }
        }
    }

    /// Replays a block that fits and is not among those that were seen, and keeps it if it is the best.
    fn consider(&mut self, rounds: Option<Rounds<'_>>, seen: &mut BTreeSet<Vec<usize>>) {
        let fits = rounds.filter(|rounds| self.tries > 0 && rounds.fits() && !self.effort.stop.is_due());
        let Some(rounds) = fits.filter(|rounds| seen.insert(rounds.times.clone())) else { return };
        let every = (0..rounds.repetitions()).collect::<Vec<_>>();
        self.take(&rounds, &every, "block");
    }

    /// Replays a block that does not fit, with as many of its repetitions left out as that takes, and keeps it if it is the best.
    fn thin(&mut self, rounds: Option<Rounds<'_>>) {
        let Some(rounds) = rounds.filter(|rounds| self.tries > 0 && !rounds.fits()) else { return };
        for repetitions in rounds.thinned(self.effort.stop) {
            if self.tries > 0 {
                self.take(&rounds, &repetitions, "thinned block");
            }
        }
    }

    /// Replays these repetitions of a block, and keeps them if they are the best.
    fn take(&mut self, rounds: &Rounds<'_>, repetitions: &[usize], what: &str) {
        self.tries -= 1;
        let Some(schedule) = rounds.unrolled(repetitions) else { return };
        let engine = format!("{what} of {} in pairs", rounds.period);
        let replayed = ReplayedSchedule::new(self.model, self.effort.objective, schedule, engine).ok();
        let found = self.best.take().into_iter().chain(replayed);
        self.best = found.min_by_key(ReplayedSchedule::rank);
    }
}

/// The least number of steps in an interval in which a block fits where no step is passed over, or one that is hardly more; nothing
/// where none is found in time.
fn fewest_steps(model: &Model, period: u32, stop: &Stop) -> Option<usize> {
    let fits = |steps: usize| {
        !stop.is_due() && Rounds::placed(model, period, steps, || false).is_some_and(|rounds| rounds.fits())
    };
    let mut steps = most_chunks(model) * period as usize;
    let mut too_few = steps - 1;
    // With so many each pass of each microbatch has a step of its own.
    let most = 2 * model.stages() as usize * period as usize;
    while !fits(steps) {
        if steps == most || stop.is_due() {
            return None;
        }
        (too_few, steps) = (steps, (steps + steps / 4 + 1).min(most));
    }
    while steps - too_few > 1 {
        let middle = usize::midpoint(steps, too_few);
        if fits(middle) {
            steps = middle;
        } else {
            too_few = middle;
        }
    }
    Some(steps)
}

/// How many stages a device has at the most.
fn most_chunks(model: &Model) -> usize {
    let chunks = Device::all(model.devices()).map(|device| model.placement().stages_of(device).len());
    chunks.max().unwrap_or_default()
}

/// What a device runs at a time: a forward, a backward with its W, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Step {
    forward: Option<usize>,
    backward: Option<usize>,
}

/// A block of several microbatches in which every step takes equally long.
///
/// Its passes are numbered, microbatch by microbatch, in the order in which that goes through them.
#[derive(Debug, Clone)]
struct Rounds<'a> {
    model: &'a Model,
    period: u32,
    /// By device: what runs in each step of an interval.
    steps: Vec<Vec<Step>>,
    /// By pass: its step, counted from the first of its microbatch of the first interval.
    times: Vec<usize>,
}

impl<'a> Rounds<'a> {
    /// A block in which so many steps follow each other in an interval; nothing where some pass finds none that is free and not
    /// passed over.
    fn placed(
        model: &'a Model,
        period: u32,
        steps: usize,
        mut is_passed_over: impl FnMut() -> bool,
    ) -> Option<Self> {
        let of_microbatch = 2 * model.stages() as usize;
        let devices = model.devices() as usize;
        let mut rounds = Self {
            model,
            period,
            steps: vec![vec![Step::default(); steps]; devices],
            times: vec![0; of_microbatch * period as usize],
        };
        for first in (0..rounds.times.len()).step_by(of_microbatch) {
            // Microbatches begin as far from each other as they can.
            let mut time = first / of_microbatch * steps / period as usize;
            for pass in first..first + of_microbatch {
                let device = rounds.device(pass);
                // What is passed over has a second chance.
                let free = (time..time + 2 * steps).find_map(|time| {
                    let with = rounds.with(rounds.steps[device][time % steps], pass)?;
                    (!is_passed_over()).then_some((time, with))
                });
                let (at, with) = free?;
                rounds.steps[device][at % steps] = with;
                rounds.times[pass] = at;
                time = at + 1;
            }
        }
        Some(rounds)
    }

    fn is_forward(&self, pass: usize) -> bool {
        let stages = self.model.stages() as usize;
        pass % (2 * stages) < stages
    }

    fn stage(&self, pass: usize) -> Stage {
        let stages = self.model.stages() as usize;
        let along = pass % (2 * stages);
        Stage::at(if along < stages { along } else { 2 * stages - 1 - along })
    }

    fn device(&self, pass: usize) -> usize {
        self.model.placement().device_of(self.stage(pass)).index()
    }

    /// A step with one more pass; nothing where it has one of that kind, or the pair would save no time.
    fn with(&self, step: Step, pass: usize) -> Option<Step> {
        let (lane, other) =
            if self.is_forward(pass) { (step.forward, step.backward) } else { (step.backward, step.forward) };
        let saves = |other: usize| {
            let (forward, backward) = if self.is_forward(pass) { (pass, other) } else { (other, pass) };
            self.model.pair_saves(self.stage(forward), self.stage(backward), Kind::B) > Ticks::ZERO
        };
        let fits = lane.is_none() && other.is_none_or(saves);
        let forward = Step { forward: Some(pass), ..step };
        let backward = Step { backward: Some(pass), ..step };
        fits.then_some(if self.is_forward(pass) { forward } else { backward })
    }

    /// Whether no device holds more than its capacity.
    fn fits(&self) -> bool {
        Device::all(self.model.devices()).zip(&self.steps).all(|(device, steps)| {
            self.model
                .activation_capacity(device)
                .is_none_or(|capacity| self.peak(steps) <= i128::from(capacity.0))
        })
    }

    /// The most that a device holds, in units.
    fn peak(&self, steps: &[Step]) -> i128 {
        let holds = |pass: usize| i128::from(self.model.activation(self.stage(pass)).0);
        let turns = |pass: usize| i128::try_from(self.times[pass] / steps.len()).expect("a number of steps");
        // Before an interval a pass has run as often as one that begins in the first interval, less its turns. What a forward
        // acquires its backward releases, so only the difference counts.
        let released = |pass: Option<usize>| pass.map_or(0, |pass| turns(pass) * holds(pass));
        let mut live: i128 = steps.iter().map(|step| released(step.backward) - released(step.forward)).sum();
        let mut peak = live;
        for step in steps {
            live += step.forward.map_or(0, holds);
            peak = peak.max(live);
            live -= step.backward.map_or(0, holds);
        }
        peak
    }

    /// How many repetitions there are in a schedule of all microbatches of the model.
    fn repetitions(&self) -> usize {
        (self.model.microbatches() as usize).div_ceil(self.period as usize)
    }

    /// By device: what one repetition holds in each step from the first of its first microbatch on.
    fn held(&self) -> Vec<Vec<i64>> {
        let of_microbatch = 2 * self.model.stages() as usize;
        let mut held = vec![Vec::new(); self.steps.len()];
        for forward in (0..self.times.len()).filter(|&pass| self.is_forward(pass)) {
            let first = forward - forward % of_microbatch;
            let backward = first + of_microbatch - 1 - forward % of_microbatch;
            let until = self.times[backward] + 1;
            let of_device: &mut Vec<i64> = &mut held[self.device(forward)];
            of_device.resize(until.max(of_device.len()), 0);
            for step in &mut of_device[self.times[forward]..until] {
                *step += self.model.activation(self.stage(forward)).0;
            }
        }
        held
    }

    /// After how many intervals each repetition may begin: as early as the capacities allow, and evenly. Nothing where one alone does
    /// not fit, or where there is no time.
    fn thinned(&self, stop: &Stop) -> Vec<Vec<usize>> {
        let capacities =
            Device::all(self.model.devices()).map(|device| self.model.activation_capacity(device));
        let capacities: Vec<Option<i64>> = capacities.map(|capacity| capacity.map(|units| units.0)).collect();
        let mut room = Room { interval: self.steps[0].len(), each: self.held(), capacities, all: Vec::new() };
        let Some(early) = room.earliest(self.repetitions(), stop) else { return Vec::new() };
        let last = self.repetitions() - 1;
        // So many intervals are left out in all.
        let evenly = |left_out: usize| -> Vec<usize> {
            (0..=last).map(|at| at + (at * left_out).checked_div(last).unwrap_or(0)).collect()
        };
        // Upwards from few in ever larger steps, since many take long to look at.
        let most = last * room.reach();
        let (mut fewest, mut enough) = (0, 0);
        while enough < most && !stop.is_due() && !room.fit(&evenly(enough)) {
            (fewest, enough) = (enough + 1, (2 * enough + 1).min(most));
        }
        while fewest < enough && !stop.is_due() {
            let middle = usize::midpoint(fewest, enough);
            if room.fit(&evenly(middle)) {
                enough = middle;
            } else {
                fewest = middle + 1;
            }
        }
        vec![early, evenly(enough)]
    }

    /// The steps of all microbatches of the model, where repetitions begin after so many intervals; nothing where they are no schedule.
    fn unrolled(&self, repetitions: &[usize]) -> Option<Schedule> {
        let (microbatches, period) = (self.model.microbatches() as usize, self.period as usize);
        let of_microbatch = 2 * self.model.stages() as usize;
        let schedule = self.steps.iter().map(|steps| {
            // The pass, as one of a microbatch, in an interval.
            let named = |pass: usize, interval: usize, kind| {
                let begun = interval.checked_sub(self.times[pass] / steps.len())?;
                let repetition = repetitions.binary_search(&begun).ok()?;
                let microbatch = repetition * period + pass / of_microbatch;
                let named = u32::try_from(microbatch).ok().filter(|_| microbatch < microbatches)?;
                Some(Pass::new(self.stage(pass), kind, Microbatch(named)))
            };
            let turns = self.times.iter().max().map_or(0, |time| time / steps.len());
            let intervals = repetitions.last().map_or(0, |last| last + 1) + turns;
            let all = (0..intervals).flat_map(|interval| steps.iter().map(move |step| (interval, step)));
            let named = all.flat_map(|(interval, step)| {
                let forward = step.forward.and_then(|pass| named(pass, interval, Kind::F));
                let backward = step.backward.and_then(|pass| named(pass, interval, Kind::B));
                match (forward, backward) {
                    (Some(forward), Some(backward)) => vec![vec![forward, backward]],
                    (Some(forward), None) => vec![vec![forward]],
                    (None, Some(backward)) => {
                        vec![vec![backward.with_kind(Kind::I)], vec![backward.with_kind(Kind::W)]]
                    }
                    (None, None) => Vec::new(),
                }
            });
            named.collect::<Vec<Vec<Pass>>>()
        });
        let schedule: Vec<_> = schedule.collect();
        Schedule::of_steps(self.model.placement().clone(), self.model.microbatches(), schedule).ok()
    }
}

/// What devices hold, step by step.
struct Room {
    /// How many steps there are in an interval.
    interval: usize,
    /// By device: what one repetition holds in each step from its first on.
    each: Vec<Vec<i64>>,
    capacities: Vec<Option<i64>>,
    /// By device: the same for all repetitions.
    all: Vec<Vec<i64>>,
}

impl Room {
    /// After so many intervals nothing is left of a repetition.
    fn reach(&self) -> usize {
        self.each.iter().map(Vec::len).max().unwrap_or_default().div_ceil(self.interval)
    }

    /// Whether one more repetition fits that begins after so many intervals; if so, it is there from now on.
    fn take(&mut self, begin: usize) -> bool {
        let first = begin * self.interval;
        for (all, each) in self.all.iter_mut().zip(&self.each) {
            all.resize(all.len().max(first + each.len()), 0);
        }
        let devices = self.all.iter().zip(&self.each).zip(&self.capacities);
        let fits = devices
            .filter_map(|(held, capacity)| Some((held, (*capacity)?)))
            .all(|((all, each), most)| all[first..].iter().zip(each).all(|(held, more)| held + more <= most));
        if fits {
            for (all, each) in self.all.iter_mut().zip(&self.each) {
                all[first..].iter_mut().zip(each).for_each(|(held, more)| *held += more);
            }
        }
        fits
    }

    /// After how many intervals each of so many repetitions begins if it begins as early as it fits.
    fn earliest(&mut self, repetitions: usize, stop: &Stop) -> Option<Vec<usize>> {
        self.all = vec![Vec::new(); self.each.len()];
        let mut begun: Vec<usize> = Vec::new();
        for _ in 0..repetitions {
            let earliest = begun.last().map_or(0, |last| last + 1);
            let mut possible = (earliest..=earliest + self.reach()).take_while(|_| !stop.is_due());
            begun.push(possible.find(|&begin| self.take(begin))?);
        }
        Some(begun)
    }

    /// Whether repetitions fit that begin after so many intervals each.
    fn fit(&mut self, begun: &[usize]) -> bool {
        self.all = vec![Vec::new(); self.each.len()];
        begun.iter().all(|&begin| self.take(begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::interval_bound;
    use crate::model::{Overlap, PairDurations, Placement, Units};
    use crate::replay::replay;

    /// F, I and W of 3, 4 and 2 ticks, and pairs of F and B of 6.
    fn model(devices: u32, microbatches: u32, capacity: i64) -> Model {
        let pairs = PairDurations::Uniform(Ticks(6));
        let overlap = Overlap { forward_backward: pairs, ..Overlap::default() };
        let plain =
            Model::equal_stages(Placement::v(devices).expect("a placement"), microbatches, [3, 4, 2, 0]);
        let model = plain.and_then(|model| model.with_overlap(overlap)).expect("a model");
        model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
    }

    fn effort(stop: &Stop) -> Effort<'_> {
        let threads = NonZeroUsize::MIN;
        Effort { objective: Objective::Makespan, seed: 0, passes: 100_000, threads, stop }
    }

    /// Every microbatch is in 4d pairs, one after another, two to an interval, so it takes 2d intervals: 2d + 1 chunks are under way
    /// on every device.
    #[test]
    fn with_room_for_one_chunk_more_than_two_per_device_everything_is_in_pairs() {
        for devices in [2, 4, 8] {
            let room = i64::from(2 * devices + 1);
            let lengths = [40, 41].map(|microbatches| {
                let model = model(devices, microbatches, room);
                let found = schedules(&model, &effort(&Stop::default()));
                let verdict = replay(&model, &found[0].0);
                assert!(verdict.is_valid(), "{devices}");
                verdict.timing.expect("it is valid").metrics.makespan.0
            });
            assert_eq!(i128::from(lengths[1] - lengths[0]), 12, "two pairs of 6 ticks");
            assert_eq!(interval_bound(&model(devices, 40, room)).to_integer(), 12);
        }
    }

    /// Each of 17 chunks is under way for 34 steps, two of them in every interval: with room for 17 nothing is left out, and with
    /// less, no more than that takes.
    #[test]
    fn a_block_is_thinned_no_more_than_capacities_force() {
        for (room, early, evenly) in [(17, 0, 0), (16, 12, 13), (15, 14, 15), (12, 48, 50)] {
            let model = model(8, 100, room);
            let rounds = Rounds::placed(&model, 1, 2, || false).expect("a block");
            assert_eq!(rounds.fits(), room == 17);
            let left_out = rounds.thinned(&Stop::default()).into_iter().map(|begun| {
                let schedule = rounds.unrolled(&begun).expect("a schedule");
                assert_eq!(replay(&model, &schedule).violations, [], "{room}");
                begun.last().expect("a hundred") - 99
            });
            assert_eq!(left_out.collect::<Vec<_>>(), [early, evenly], "{room}");
        }
        let none = model(8, 4, 1);
        let rounds = Rounds::placed(&none, 1, 2, || false).expect("a block");
        assert_eq!(
            rounds.thinned(&Stop::default()),
            Vec::<Vec<usize>>::new(),
            "two chunks of one microbatch"
        );
    }

    #[test]
    fn with_less_room_blocks_keep_to_it() {
        let stop = Stop::default();
        for (devices, capacity) in [(2, 2), (2, 4), (4, 3), (4, 6), (4, 8), (6, 7)] {
            let model = model(devices, 12, capacity);
            let found = schedules(&model, &effort(&stop));
            assert!(!found.is_empty(), "{devices} {capacity}");
            for (schedule, engine) in found {
                assert_eq!(replay(&model, &schedule).violations, [], "{devices} {capacity} {engine}");
            }
        }
    }

    #[test]
    fn without_effort_time_or_anything_to_save_there_is_none() {
        let (model, stop) = (model(4, 12, 7), Stop::default());
        assert_eq!(schedules(&model, &Effort { passes: 0, ..effort(&stop) }), []);
        assert_eq!(schedules(&model, &effort(&Stop::after(std::time::Duration::ZERO))), []);
        let apart = model.with_overlap(Overlap::default()).expect("sums always suit");
        assert_eq!(schedules(&apart, &effort(&stop)), []);
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let (model, stop) = (model(4, 12, 7), Stop::default());
        let two = Effort { threads: NonZeroUsize::new(2).expect("two"), ..effort(&stop) };
        assert_eq!(schedules(&model, &effort(&stop)), schedules(&model, &two));
    }
}
