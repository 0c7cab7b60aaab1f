//! The inequalities of a model.

use std::collections::BTreeMap;

use itertools::iproduct;

use super::{Derivation, Inequality, LinearError, LinearProgram, Meaning, Origin, Variable};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks, Units};
use crate::optimize::exact::problem::closure;

/// The most inequalities.
const MAX_INEQUALITIES: usize = 2_000_000;

/// Every number in an inequality, and every sum of a few, is below this.
const MAX_NUMBER: i64 = 1 << 28;

/// One kind of pass of one stage: as many passes as there are microbatches.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub stage: Stage,
    pub kind: Kind,
    pub duration: i64,
    /// What a pass takes at its start.
    pub acquires: i64,
    /// What it gives back at its end.
    pub releases: i64,
    /// The rows that it needs, with the latency from there.
    pub needs: Vec<(usize, i64)>,
}

impl Row {
    pub(super) fn pass(&self, microbatch: usize) -> Pass {
        Pass::new(self.stage, self.kind, Microbatch::at(microbatch))
    }
}

/// Which of two passes on a device comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The same in all schedules.
    Fixed(bool),
    /// The variable says it: the first one where it is 1, or where it is 0.
    Open { variable: usize, when: bool },
}

/// A pass by its row and its microbatch.
pub(super) type At = (usize, usize);

pub(super) struct Builder {
    pub rows: Vec<Row>,
    pub microbatches: usize,
    pub program: LinearProgram,
    /// Whether a pass of one row comes before the pass of another one of the same microbatch.
    precedes: Vec<Vec<bool>>,
    /// By pair of rows of a device, the lower one first: the first variable of their passes' orders.
    orders: Vec<Vec<Order>>,
    /// By pair of passes as `orders`: the inequalities behind 1 and behind 0.
    switched: Vec<Vec<Option<[usize; 2]>>>,
    /// By row and microbatch: that the next microbatch comes after it.
    in_turn: Vec<Vec<usize>>,
    /// By two variables, the lower one first: the inequality that makes them monotone.
    monotone: BTreeMap<(usize, usize), usize>,
}

impl LinearProgram {
    /// What the schedules of a model that end within the horizon satisfy.
    ///
    /// # Errors
    /// When the model says more than passes and latencies, F or I of a stage takes no time, recomputation could save memory, the horizon is shorter than a
    /// pass, or there is too much of it.
    pub fn new(model: &Model, horizon: Ticks) -> Result<Self, LinearError> {
        if let Some(tables) = model.beyond_passes() {
            return Err(LinearError::BeyondPasses(tables));
        }
        let rows = rows(model)?;
        for row in &rows {
            if row.duration > horizon.0 {
                return Err(LinearError::HorizonTooShort { horizon, pass: row.pass(0) });
            }
        }
        let microbatches = model.microbatches() as usize;
        let mut devices = vec![Vec::new(); model.devices() as usize];
        for (at, row) in rows.iter().enumerate() {
            devices[model.placement().device_of(row.stage).index()].push(at);
        }
        let too_large = LinearError::TooLarge(rows.len() * microbatches);
        if !is_affordable(model, &rows, &devices, horizon) {
            return Err(too_large);
        }
        let mut builder = Builder::new(rows, microbatches, horizon);
        builder.post_precedences();
        builder.narrow_starts();
        for rows in &devices {
            builder.post_device(rows);
        }
        for (device, rows) in Device::all(model.devices()).zip(&devices) {
            if let Some(capacity) = builder.capacity(model.activation_capacity(device), rows) {
                builder.post_memory(rows, capacity);
            }
        }
        if builder.program.inequalities.len() > MAX_INEQUALITIES {
            Err(too_large)
        } else {
            Ok(builder.program)
        }
    }
}

/// Whether times, amounts and the number of pairs are within the limits.
fn is_affordable(model: &Model, rows: &[Row], devices: &[Vec<usize>], horizon: Ticks) -> bool {
    let microbatches = i64::from(model.microbatches());
    let lags = rows.iter().flat_map(|row| row.needs.iter().map(|&(_, lag)| lag)).max().unwrap_or(0);
    let amounts = |device: &Vec<usize>| -> Option<i64> {
        let sum = device.iter().try_fold(0_i64, |sum, &row| sum.checked_add(rows[row].acquires))?;
        sum.checked_mul(microbatches)
    };
    let limited = Device::all(model.devices()).filter(|&device| model.activation_capacity(device).is_some());
    let pairs = |device: &Vec<usize>| -> usize {
        device.len() * device.len() * model.microbatches() as usize * model.microbatches() as usize
    };
    horizon.0.checked_add(lags).is_some_and(|sum| sum < MAX_NUMBER)
        && limited
            .map(|device| amounts(&devices[device.index()]))
            .all(|sum| sum.is_some_and(|sum| sum < MAX_NUMBER))
        && devices.iter().map(pairs).sum::<usize>() <= MAX_INEQUALITIES
}

impl Builder {
    fn new(rows: Vec<Row>, microbatches: usize, horizon: Ticks) -> Self {
        let starts = rows.iter().flat_map(|row| {
            (0..microbatches).map(move |microbatch| Variable {
                meaning: Meaning::Start(row.pass(microbatch)),
                least: 0,
                most: horizon.0 - row.duration,
                stated_most: horizon.0 - row.duration,
                least_by: None,
                most_by: None,
            })
        });
        let program = LinearProgram { horizon, variables: starts.collect(), inequalities: Vec::new() };
        let pairs = rows.len() * rows.len();
        Self {
            microbatches,
            program,
            precedes: closure(rows.iter().map(|row| &row.needs[..])),
            orders: vec![Vec::new(); pairs],
            switched: vec![Vec::new(); pairs],
            in_turn: vec![Vec::new(); rows.len()],
            monotone: BTreeMap::new(),
            rows,
        }
    }

    /// The capacity of a device, unless everything fits at once.
    fn capacity(&self, capacity: Option<Units>, device: &[usize]) -> Option<i64> {
        let copies = i64::try_from(self.microbatches).expect("microbatches are counted in 32 bits");
        let all: i64 = device.iter().map(|&row| self.rows[row].acquires * copies).sum();
        capacity.map(|capacity| capacity.0).filter(|&capacity| capacity < all)
    }

    fn start(&self, (row, microbatch): At) -> usize {
        row * self.microbatches + microbatch
    }

    fn pass(&self, (row, microbatch): At) -> Pass {
        self.rows[row].pass(microbatch)
    }

    /// Adds an inequality and returns its position.
    pub(super) fn post(&mut self, terms: Vec<(i64, usize)>, most: i64, origin: Origin) -> usize {
        self.program.inequalities.push(Inequality { terms, most, origin });
        self.program.inequalities.len() - 1
    }

    /// `t_before + distance <= t_after`.
    fn post_distance(&mut self, before: At, after: At, distance: i64, origin: Origin) -> usize {
        self.post(vec![(1, self.start(before)), (-1, self.start(after))], -distance, origin)
    }

    fn post_precedences(&mut self) {
        for at in 0..self.rows.len() {
            for microbatch in 0..self.microbatches {
                let own = (at, microbatch);
                for (before, lag) in self.rows[at].needs.clone() {
                    let needed = (before, microbatch);
                    let origin = Origin::Dependency(self.pass(needed), self.pass(own));
                    self.post_distance(needed, own, self.rows[before].duration + lag, origin);
                }
                if microbatch + 1 < self.microbatches {
                    let next = (at, microbatch + 1);
                    let origin = Origin::InTurn(self.pass(own), self.pass(next));
                    let position = self.post_distance(own, next, self.rows[at].duration, origin);
                    self.in_turn[at].push(position);
                }
            }
        }
    }

    /// Narrows the starts by what the precedences alone say, unless they leave some start no room: then
    /// there is no schedule, and the inequalities say so by themselves.
    fn narrow_starts(&mut self) {
        let mut narrowed = self.program.variables.clone();
        let inequalities = &self.program.inequalities;
        let mut changes = true;
        while changes {
            changes = false;
            for (position, inequality) in inequalities.iter().enumerate() {
                let [(_, before), (_, after)] = inequality.terms[..] else {
                    unreachable!("a precedence is about two starts")
                };
                let distance = -inequality.most;
                let (least, most) = (narrowed[before].least + distance, narrowed[after].most - distance);
                if least > narrowed[after].least {
                    narrowed[after].least = least;
                    narrowed[after].least_by = Some((position, before));
                    changes = true;
                }
                if most < narrowed[before].most {
                    narrowed[before].most = most;
                    narrowed[before].most_by = Some((position, after));
                    changes = true;
                }
                if least > narrowed[after].most || most < narrowed[before].least {
                    return;
                }
            }
        }
        self.program.variables = narrowed;
    }

    fn post_device(&mut self, device: &[usize]) {
        for (position, &first) in device.iter().enumerate() {
            for &second in &device[position + 1..] {
                self.post_orders(first, second);
                self.post_monotone(first, second);
            }
        }
    }

    /// The orders of all passes of two rows.
    fn post_orders(&mut self, first: usize, second: usize) {
        let pair = first * self.rows.len() + second;
        let horizon = self.program.horizon.0;
        for (j, k) in iproduct!(0..self.microbatches, 0..self.microbatches) {
            let (one, other) = ((first, j), (second, k));
            if let Some(before) = self.fixed(one, other) {
                self.orders[pair].push(Order::Fixed(before));
                self.switched[pair].push(None);
                continue;
            }
            let (a, b) = (self.pass(one), self.pass(other));
            let variable = self.program.variables.len();
            self.program.variables.push(Variable {
                meaning: Meaning::Before(a, b),
                least: 0,
                most: 1,
                stated_most: 1,
                least_by: None,
                most_by: None,
            });
            self.orders[pair].push(Order::Open { variable, when: true });
            let (t_one, t_other) = (self.start(one), self.start(other));
            let forth = self.post(
                vec![(1, t_one), (-1, t_other), (horizon, variable)],
                horizon - self.rows[first].duration,
                Origin::OneAtATime(a, b),
            );
            let back = self.post(
                vec![(1, t_other), (-1, t_one), (-horizon, variable)],
                -self.rows[second].duration,
                Origin::OneAtATime(b, a),
            );
            self.switched[pair].push(Some([forth, back]));
        }
    }

    /// What comes before a pass comes before the next one of its row, and so does the one before it.
    fn post_monotone(&mut self, first: usize, second: usize) {
        for (j, k) in iproduct!(0..self.microbatches, 0..self.microbatches) {
            // The later of two microbatches of the first row comes before: so does the earlier.
            self.post_implication(
                ((first, j + 1), (second, k)),
                ((first, j), (second, k)),
                self.in_turn[first].get(j).copied(),
            );
            // It comes before the earlier of two of the second row: also before the later.
            self.post_implication(
                ((first, j), (second, k)),
                ((first, j), (second, k + 1)),
                self.in_turn[second].get(k).copied(),
            );
        }
    }

    /// Where the first pair is in order, so is the second one: because of the order of two microbatches.
    fn post_implication(&mut self, premise: (At, At), conclusion: (At, At), in_turn: Option<usize>) {
        let Some(in_turn) = in_turn else { return };
        let (Order::Open { variable, .. }, Order::Open { variable: then, .. }) =
            (self.before(premise.0, premise.1), self.before(conclusion.0, conclusion.1))
        else {
            return;
        };
        let [forth, _] = self.switched_by(premise);
        let [_, back] = self.switched_by(conclusion);
        let derivation = Derivation::Sum(vec![forth, back, in_turn]);
        let position = self.post(vec![(1, variable), (-1, then)], 0, Origin::Implied(derivation));
        self.monotone.insert((variable.min(then), variable.max(then)), position);
    }

    /// The inequality that makes the orders of two passes of a row with a third pass monotone.
    pub(super) fn monotone(&self, one: usize, other: usize) -> usize {
        self.monotone[&(one.min(other), one.max(other))]
    }

    fn switched_by(&self, ((a, j), (b, k)): (At, At)) -> [usize; 2] {
        let position = j * self.microbatches + k;
        self.switched[a * self.rows.len() + b][position].expect("their order is open")
    }

    /// Which of two passes on a device comes first.
    pub(super) fn before(&self, (a, j): At, (b, k): At) -> Order {
        match a.cmp(&b) {
            std::cmp::Ordering::Equal => Order::Fixed(j < k),
            std::cmp::Ordering::Less => self.orders[a * self.rows.len() + b][j * self.microbatches + k],
            std::cmp::Ordering::Greater => {
                match self.orders[b * self.rows.len() + a][k * self.microbatches + j] {
                    Order::Fixed(before) => Order::Fixed(!before),
                    Order::Open { variable, when } => Order::Open { variable, when: !when },
                }
            }
        }
    }

    /// The order of two passes of different rows, where dependencies and the order of microbatches decide.
    fn fixed(&self, (a, j): At, (b, k): At) -> Option<bool> {
        if self.precedes[a][b] && j <= k {
            Some(true)
        } else if self.precedes[b][a] && k <= j {
            Some(false)
        } else {
            None
        }
    }
}

/// The rows of a model: every F from the first stage on, every I from the last stage back, every W that
/// takes time; each behind those that it needs.
fn rows(model: &Model) -> Result<Vec<Row>, LinearError> {
    let stages = model.stages() as usize;
    let input = |stage: Stage| 2 * stages - 1 - stage.index();
    let latency = |stage: Stage| model.latency_after(stage).0;
    let has_weight = |stage: Stage| model.duration(stage, Kind::W) > Ticks::ZERO;
    let mut rows = Vec::new();
    let mut add = |stage: Stage, kind: Kind, [acquires, releases]: [Units; 2], needs: Vec<(usize, i64)>| {
        let duration = model.duration(stage, kind).0;
        if duration == 0 {
            return Err(LinearError::NoDuration(Pass::new(stage, kind, Microbatch(0))));
        }
        let (acquires, releases) = (acquires.0, releases.0);
        rows.push(Row { stage, kind, duration, acquires, releases, needs });
        Ok(())
    };
    for stage in Stage::all(model.stages()) {
        let device = model.placement().device_of(stage);
        let saves = model.checkpoint(stage).is_some_and(|kept| kept < model.activation(stage));
        if saves && model.activation_capacity(device).is_some() {
            return Err(LinearError::MayRecompute { stage, device });
        }
        let needs = stage.0.checked_sub(1).map(|below| (below as usize, latency(Stage(below))));
        add(stage, Kind::F, [model.activation(stage), Units::ZERO], needs.into_iter().collect())?;
    }
    for stage in Stage::all(model.stages()).rev() {
        let kept = if has_weight(stage) { model.retained_for_weight(stage) } else { Units::ZERO };
        let above = (stage.index() + 1 < stages).then(|| (input(Stage(stage.0 + 1)), latency(stage)));
        let needs = [(stage.index(), 0)].into_iter().chain(above).collect();
        add(stage, Kind::I, [Units::ZERO, model.activation(stage) - kept], needs)?;
    }
    for stage in Stage::all(model.stages()).rev().filter(|&stage| has_weight(stage)) {
        add(stage, Kind::W, [Units::ZERO, model.retained_for_weight(stage)], vec![(input(stage), 0)])?;
    }
    Ok(rows)
}
