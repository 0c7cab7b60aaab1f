//! A whole schedule as a problem of sequencing: rows of equal passes on devices.
//!
//! A **row** is one kind of pass of one stage, one copy per microbatch. Microbatches are alike, so the
//! copies of a row may be taken first in, first out: relabel the copies of every row by their starts,
//! and each still starts after as many copies of what it needs as before, at the same times and with
//! the same amounts live. A W that takes no time is part of its I: right behind it, it delays nothing
//! and releases soonest. A full backward B is an I with its W right behind it.
//!
//! For the **device span** a device may begin later than it could. First in, first out, its first pass is copy 0 of the
//! F of its lowest stage, so its span is a difference of two times of the problem. All passes come after the first one
//! of stage 0; let that start at 0. The device of stage 0 then ends, and all other devices begin, within a span.
//!
//! Engines see times divided by a common divisor, and no pass without duration.

use num_integer::Integer;

use super::ExactError;
use crate::certificate::Objective;
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks, Units};
use crate::schedule::Schedule;

/// A kind of pass of one stage, one copy per microbatch.
#[derive(Debug, Clone)]
pub struct Row {
    /// The stage.
    pub stage: Stage,
    /// F, I or W.
    pub kind: Kind,
    /// Where it runs.
    pub device: usize,
    /// How long a copy takes; positive.
    pub duration: i64,
    /// What a copy takes at its start.
    pub acquires: i64,
    /// What a copy gives back at its end.
    pub releases: i64,
    /// The rows whose copy must end before, each with the latency from there.
    pub needs: Vec<(usize, i64)>,
    /// The earliest start of copy 0.
    pub head: i64,
    /// The value is at least the end of any copy plus this. It may be negative where the device span counts.
    pub tail: i64,
}

/// What the engines solve.
#[derive(Debug, Clone)]
pub struct SequencingProblem {
    /// The rows, each after those it needs.
    pub rows: Vec<Row>,
    /// Where the device span counts: by device, the row whose copy 0 is its first pass. Else empty.
    pub first: Vec<usize>,
    /// The rows of each device.
    pub devices: Vec<Vec<usize>>,
    /// The most each device may hold, where that limits anything.
    pub capacities: Vec<Option<i64>>,
    /// The number of copies in a row.
    pub copies: usize,
    /// Whether a copy of one row comes before the same copy of another in every schedule.
    precedes: Vec<Vec<bool>>,
    /// How many ticks a unit of time is.
    scale: i64,
    /// Whether no schedule outside of the problem (one that recomputes) can be better.
    pub is_whole: bool,
}

/// The starts of all copies, by row and copy.
pub type Starts = Vec<Vec<i64>>;

impl SequencingProblem {
    /// The problem of a model, without the schedules that have more than this value.
    ///
    /// # Errors
    /// When an F or an I takes no time, or the capacities need recomputation.
    pub fn new(model: &Model, objective: Objective, most: Ticks) -> Result<Self, ExactError> {
        let mut rows = rows(model)?;
        let scale = match objective {
            Objective::Makespan => scale_of(&rows),
            Objective::DeviceSpan => scale_of_spans(&rows, model.devices()),
        };
        for row in &mut rows {
            row.duration /= scale;
            row.needs.iter_mut().for_each(|(_, lag)| *lag /= scale);
        }
        let copies = model.microbatches() as usize;
        let mut devices = vec![Vec::new(); model.devices() as usize];
        for (at, row) in rows.iter().enumerate() {
            devices[row.device].push(at);
        }
        let precedes = closure(rows.iter().map(|row| &row.needs[..]));
        let mut problem = Self {
            rows,
            first: Vec::new(),
            devices,
            capacities: Vec::new(),
            copies,
            precedes,
            scale,
            is_whole: true,
        };
        problem.set_heads();
        match objective {
            Objective::Makespan => problem.set_tails(|_| 0),
            Objective::DeviceSpan => {
                let lowest =
                    |device| model.placement().stages_of(device).iter().min().expect("it holds a stage");
                problem.first = Device::all(model.devices()).map(|device| lowest(device).index()).collect();
                let (first, most) = (model.placement().device_of(Stage(0)).index(), problem.units_of(most));
                problem.set_tails(|device| if device == first { 0 } else { -most });
            }
        }
        problem.capacities =
            Device::all(model.devices()).map(|device| problem.capacity(model, device)).collect();
        let limited =
            Device::all(model.devices()).filter(|&device| problem.capacities[device.index()].is_some());
        let saves =
            |&stage: &Stage| model.checkpoint(stage).is_some_and(|kept| kept < model.activation(stage));
        for device in limited {
            let stages = model.placement().stages_of(device);
            problem.is_whole &= !stages.iter().any(saves);
            let least: Units = stages.iter().map(|&stage| model.activation(stage)).sum();
            if model.activation_capacity(device).is_some_and(|capacity| capacity < least) {
                return Err(ExactError::NeedsRecomputation(device));
            }
        }
        Ok(problem)
    }

    /// The capacity of a device, unless everything fits at once.
    fn capacity(&self, model: &Model, device: Device) -> Option<i64> {
        let copies = i64::from(model.microbatches());
        let all: i64 = self.devices[device.index()].iter().map(|&row| self.rows[row].acquires * copies).sum();
        model.activation_capacity(device).map(|capacity| capacity.0).filter(|&capacity| capacity < all)
    }

    fn set_heads(&mut self) {
        for at in 0..self.rows.len() {
            let from = |&(before, lag): &(usize, i64)| {
                let before: &Row = &self.rows[before];
                before.head + before.duration + lag
            };
            self.rows[at].head = self.rows[at].needs.iter().map(from).max().unwrap_or(0);
        }
    }

    /// `own`: the value is at least the end of any copy on a device plus this.
    fn set_tails(&mut self, own: impl Fn(usize) -> i64) {
        for at in (0..self.rows.len()).rev() {
            self.rows[at].tail = self.rows[at].tail.max(own(self.rows[at].device));
            let through = self.rows[at].tail + self.rows[at].duration;
            for (before, lag) in self.rows[at].needs.clone() {
                self.rows[before].tail = self.rows[before].tail.max(through + lag);
            }
        }
    }

    /// Whether copy `j` of row `a` comes before copy `k` of row `b`, where all schedules agree on it.
    #[cfg_attr(not(feature = "lcg"), expect(dead_code, reason = "asked by lazy clause generation alone"))]
    pub fn fixed_order(&self, (a, j): (usize, usize), (b, k): (usize, usize)) -> Option<bool> {
        if a == b {
            Some(j < k)
        } else if self.precedes[a][b] && j <= k {
            Some(true)
        } else if self.precedes[b][a] && k <= j {
            Some(false)
        } else {
            None
        }
    }

    /// Ticks as units of time, rounded up.
    pub fn units_of(&self, ticks: Ticks) -> i64 {
        Integer::div_ceil(&ticks.0, &self.scale)
    }

    /// Units of time as ticks.
    pub fn ticks_of(&self, units: i64) -> Ticks {
        Ticks(units * self.scale)
    }

    /// What the starts of all copies amount to.
    pub fn value(&self, starts: &Starts) -> i64 {
        let ends = self.rows.iter().zip(starts).map(|(row, own)| {
            let end = own.last().expect("there is a microbatch") + row.duration;
            match self.first.get(row.device) {
                Some(&first) => end - starts[first][0],
                None => end + row.tail,
            }
        });
        ends.max().unwrap_or(0)
    }

    /// The starts that replay gives the passes of a schedule, or nothing when it recomputes.
    pub fn starts_of(&self, schedule: &Schedule, starts: &[Vec<Ticks>]) -> Option<Starts> {
        let mut found: Starts = vec![Vec::new(); self.rows.len()];
        for (order, starts) in schedule.orders().iter().zip(starts) {
            for (pass, &start) in order.iter().zip(starts) {
                let start = start.0 / self.scale;
                let row = |kind| self.rows.iter().position(|row| row.stage == pass.stage && row.kind == kind);
                match pass.kind {
                    Kind::R => return None,
                    Kind::B => {
                        let input = row(Kind::I)?;
                        found[input].push(start);
                        if let Some(weight) = row(Kind::W) {
                            found[weight].push(start + self.rows[input].duration);
                        }
                    }
                    // A W without duration is part of its I.
                    kind => row(kind).into_iter().for_each(|row| found[row].push(start)),
                }
            }
        }
        for starts in &mut found {
            starts.sort_unstable();
        }
        found.iter().all(|starts| starts.len() == self.copies).then_some(found)
    }

    /// The schedule whose passes start in this order.
    pub fn schedule(&self, model: &Model, starts: &Starts) -> Schedule {
        let orders = self.devices.iter().map(|rows| {
            let mut timed: Vec<(i64, usize, usize)> = rows
                .iter()
                .flat_map(|&row| starts[row].iter().enumerate().map(move |(copy, &start)| (start, row, copy)))
                .collect();
            timed.sort_unstable();
            timed.iter().flat_map(|&(_, row, copy)| self.passes(row, copy)).collect()
        });
        Schedule::new(model.placement().clone(), model.microbatches(), orders.collect())
            .expect("a model has as many orders as devices and no more passes than a schedule may")
    }

    /// The pass of a copy, and the W that is part of it.
    fn passes(&self, row: usize, copy: usize) -> impl Iterator<Item = Pass> {
        let Row { stage, kind, .. } = self.rows[row];
        let pass = Pass::new(stage, kind, Microbatch::at(copy));
        let has_weight = self.rows.iter().any(|row| row.stage == stage && row.kind == Kind::W);
        let weight = (kind == Kind::I && !has_weight).then_some(pass.with_kind(Kind::W));
        [pass].into_iter().chain(weight)
    }
}

/// The rows of a model in ticks, without heads and tails: every F from the first stage on, every I
/// from the last stage back, every W that takes time.
fn rows(model: &Model) -> Result<Vec<Row>, ExactError> {
    let stages = model.stages() as usize;
    let input_row = |stage: Stage| 2 * stages - 1 - stage.index();
    let mut rows = Vec::new();
    let row = |stage, kind, needs| Row {
        stage,
        kind,
        device: model.placement().device_of(stage).index(),
        duration: model.duration(stage, kind).0,
        acquires: 0,
        releases: 0,
        needs,
        head: 0,
        tail: i64::MIN,
    };
    for stage in Stage::all(model.stages()) {
        let needs =
            stage.0.checked_sub(1).map(|before| (before as usize, model.latency_after(Stage(before)).0));
        rows.push(Row { acquires: model.activation(stage).0, ..row(stage, Kind::F, Vec::from_iter(needs)) });
    }
    for stage in Stage::all(model.stages()).rev() {
        let above = (stage.index() + 1 < stages)
            .then(|| (input_row(Stage(stage.0 + 1)), model.latency_after(stage).0));
        let needs = [(stage.index(), 0)].into_iter().chain(above).collect();
        let kept = if has_weight(model, stage) { model.retained_for_weight(stage) } else { Units::ZERO };
        let releases = (model.activation(stage) - kept).0;
        rows.push(Row { releases, ..row(stage, Kind::I, needs) });
    }
    for stage in Stage::all(model.stages()).rev().filter(|&stage| has_weight(model, stage)) {
        let releases = model.retained_for_weight(stage).0;
        rows.push(Row { releases, ..row(stage, Kind::W, vec![(input_row(stage), 0)]) });
    }
    match rows.iter().find(|row| row.duration == 0) {
        Some(row) => Err(ExactError::NoDuration(Pass::new(row.stage, row.kind, Microbatch(0)))),
        None => Ok(rows),
    }
}

fn has_weight(model: &Model, stage: Stage) -> bool {
    model.duration(stage, Kind::W) > Ticks::ZERO
}

fn scale_of(rows: &[Row]) -> i64 {
    let lags = rows.iter().flat_map(|row| row.needs.iter().map(|&(_, lag)| lag));
    rows.iter().map(|row| row.duration).chain(lags).fold(0, |divisor, time| divisor.gcd(&time)).max(1)
}

/// The same for device spans. They are mean chains over cycles of at most all devices, rounded up to a tick, and so not
/// always multiples of what divides all times. Where the numbers of devices divide that too, they are multiples of what
/// is left.
fn scale_of_spans(rows: &[Row], devices: u32) -> i64 {
    let common = scale_of(rows);
    let lengths = (1..=i64::from(devices)).try_fold(1_i64, |all, length| {
        let all = all.lcm(&length);
        (common % all == 0).then_some(all)
    });
    lengths.map_or(1, |lengths| common / lengths)
}

/// Which rows come after which through what they need; none needs a later one.
pub fn closure<'a>(needs: impl ExactSizeIterator<Item = &'a [(usize, i64)]>) -> Vec<Vec<bool>> {
    let mut precedes = vec![vec![false; needs.len()]; needs.len()];
    for (after, needs) in needs.enumerate() {
        for &(before, _) in needs {
            for (first, behind) in precedes.iter_mut().enumerate() {
                behind[after] |= first == before || behind[before];
            }
        }
    }
    precedes
}
