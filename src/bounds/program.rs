//! The linear program for the weights, solved by microlp: it is in every build that has a solver, so all builds
//! find the same bound.
//!
//! It is the dual of the one that chooses pairs, what to recompute and what to offload. A time is a multiple of the most work of a
//! device for a microbatch, so that no coefficient is far from one.

use good_lp::solvers::microlp::microlp;
use good_lp::{Expression, ProblemVariables, Solution as _, SolverModel, Variable, constraint, variable};

use crate::certificate::{
    Bound, DeviceWeights, Objective, StageTerms, WeighedTerms, Weights, weighed_bound, weighed_terms,
};
use crate::model::{Model, Ticks, Units};

/// Larger programs are not solved, since they cannot be interrupted.
const MOST_ROWS: usize = 4_000;

/// What weights are multiples of: they add up to this many.
const WHOLE: f64 = 1e8;

/// The bound from the best weights.
pub(super) fn weighed(model: &Model, objective: Objective) -> Option<Bound> {
    let choices = 1 + model.recompute_levels() + usize::from(model.offload().is_some());
    if !model.has_cheaper_pairs() && choices == 1 {
        return None;
    }
    let stages = model.stages() as usize;
    if rows(stages, choices, 0) > MOST_ROWS {
        return None;
    }
    let terms = weighed_terms(model, objective);
    if rows(stages, choices, terms.pairs.len()) > MOST_ROWS {
        return None;
    }
    let unit = model.most_work().0.max(1);
    weighed_bound(model, objective, &Program::new(&terms, float(unit.into())).solved()?)
}

/// How many rows the program has.
const fn rows(stages: usize, choices: usize, pairs: usize) -> usize {
    1 + stages * (2 + 5 * choices) + pairs
}

#[expect(clippy::cast_precision_loss, reason = "weights are rounded in any case")]
const fn float(number: i128) -> f64 {
    number as f64
}

/// The nearest whole number; nothing for what is too large, or so small that it may be an error of the solver.
#[expect(clippy::cast_possible_truncation, reason = "it is within the limits of 64 bits")]
fn rounded(value: f64) -> i64 {
    if value > 1.0 && value < 9e18 { value.round() as i64 } else { 0 }
}

/// Variables of a device.
struct DeviceVariables {
    work: Variable,
    memory: Variable,
    /// What its whole memory counts in the two windows, and what a unit of time there counts beyond that.
    first: [Variable; 2],
    last: [Variable; 2],
    /// What its copies to the host and from it count.
    copies: [Variable; 2],
    /// What they count in addition: those to the host in the first window, and those from it in the last.
    copies_within: [Variable; 2],
}

impl DeviceVariables {
    /// What a unit of time of the makespan counts.
    fn of_time(&self) -> Expression {
        self.work + self.memory + self.copies[0] + self.copies[1]
    }
}

/// Variables of a stage.
struct StageVariables {
    /// Prices of its forwards and of its backwards.
    forward: Variable,
    backward: Variable,
    /// What counts while a microbatch is under way in it: what it holds of all stages up to this one.
    under_way: Variable,
    /// What its least choice counts.
    least: Variable,
    /// By choice: what it counts beyond the least one in the first window and in the last.
    beyond: Vec<[Variable; 2]>,
}

struct Program<'a> {
    terms: &'a WeighedTerms,
    /// Ticks in a unit of time.
    unit: f64,
    variables: ProblemVariables,
    devices: Vec<DeviceVariables>,
    stages: Vec<StageVariables>,
}

impl<'a> Program<'a> {
    fn new(terms: &'a WeighedTerms, unit: f64) -> Self {
        let mut variables = ProblemVariables::new();
        let of_device = |one: &mut dyn FnMut() -> Variable, memory| DeviceVariables {
            work: one(),
            memory,
            first: [one(), one()],
            last: [one(), one()],
            copies: [one(), one()],
            copies_within: [one(), one()],
        };
        // Memory without a limit has no weight.
        let memories: Vec<Variable> = terms
            .devices
            .iter()
            .map(|device| match device.capacity {
                Some(_) => variables.add(variable().min(0.0)),
                None => variables.add(variable().min(0.0).max(0.0)),
            })
            .collect();
        let mut one = || variables.add(variable().min(0.0));
        let devices = memories.into_iter().map(|memory| of_device(&mut one, memory)).collect();
        let of_stage = |one: &mut dyn FnMut() -> Variable, choices: usize| StageVariables {
            forward: one(),
            backward: one(),
            under_way: one(),
            least: one(),
            beyond: (0..choices).map(|_| [one(), one()]).collect(),
        };
        let stages = terms.stages.iter().map(|stage| of_stage(&mut one, stage.choices.len())).collect();
        Self { terms, unit, variables, devices, stages }
    }

    fn time(&self, ticks: Ticks) -> f64 {
        float(ticks.0.into()) / self.unit
    }

    /// What some units of the memory of a device count whose whole memory counts `of`.
    fn share(&self, stage: &StageTerms, units: Units, of: Variable) -> Expression {
        let capacity = self.terms.devices[stage.device.index()].capacity;
        of * capacity.map_or(0.0, |capacity| float(units.0.into()) / float(capacity.0.into()))
    }

    /// What an area counts, in units times ticks.
    fn area(&self, stage: &StageTerms, area: i128, of: Variable) -> Expression {
        self.share(stage, Units(1), of) * (float(area) / self.unit)
    }

    /// What the weights prove, for all weights that add up to one.
    fn objective(&self) -> Expression {
        let mut total = Expression::from(0.0);
        for (of, at) in self.terms.devices.iter().zip(&self.devices) {
            total += at.of_time() * self.time(of.outside) + at.work * self.time(of.work);
            total += at.copies[0] * self.time(of.around_copies[0]);
            total += at.copies[1] * self.time(of.around_copies[1]);
            if let Some(capacity) = of.capacity {
                total += at.memory * (float(of.ramps) / float(capacity.0.into()) / self.unit);
            }
            for (place, (window, [memory, beyond])) in
                [(of.first, at.first), (of.last, at.last)].into_iter().enumerate()
            {
                if window > Ticks::ZERO {
                    let copies = at.copies_within[place] * self.time(of.copies_within[place]);
                    total += (at.work - beyond) * self.time(window) - memory - copies;
                }
            }
        }
        for (of, at) in self.terms.stages.iter().zip(&self.stages) {
            let memory = self.devices[of.device.index()].memory;
            let weights = self.share(of, of.retained, memory) * self.time(of.weight);
            total += (weights + at.least - at.forward - at.backward) * float(of.microbatches.into());
        }
        total
    }

    fn solved(mut self) -> Option<Weights> {
        let objective = self.objective();
        let mut problem = std::mem::take(&mut self.variables).maximise(objective).using(microlp);
        let sum: Expression = self.devices.iter().map(DeviceVariables::of_time).sum();
        problem.add_constraint(constraint!(sum == 1.0));
        for (of, at) in self.terms.stages.iter().zip(&self.stages) {
            let device = &self.devices[of.device.index()];
            let mut under_way = self.share(of, of.least_held(), device.memory);
            if let Some(before) = of.before {
                under_way += self.stages[before.index()].under_way;
            }
            problem.add_constraint(constraint!(at.under_way == under_way));
            let mut rows = Vec::new();
            // Nothing that fills a window is worth more than it costs.
            let mut item =
                |ticks: Ticks, units: Units, price: Expression, [memory, beyond]: [Variable; 2]| {
                    let ticks = self.time(ticks);
                    let cost = price + self.share(of, units, memory) + beyond * ticks;
                    rows.push(constraint!(device.work * ticks <= cost));
                };
            let backward = of.input + of.weight;
            item(of.weight, of.retained, Expression::from(0.0), device.last);
            let mut choices = Vec::new();
            for (choice, &[first, last]) in of.choices.iter().zip(&at.beyond) {
                let copies = [0, 1].map(|way| device.copies_within[way] * self.time(choice.copies[way]));
                let [to_host, from_host] = copies;
                item(of.forward, choice.holds, at.forward + first + to_host, device.first);
                item(of.forward + choice.again, of.whole, at.forward + first, device.first);
                item(backward, of.whole, at.backward + last, device.last);
                item(choice.again + backward, choice.holds, at.backward + last + from_host, device.last);
                let counts = device.work * self.time(choice.again)
                    + self.area(of, choice.area, device.memory)
                    + device.copies[0] * self.time(choice.copies[0])
                    + device.copies[1] * self.time(choice.copies[1]);
                choices.push(constraint!(at.least + first + last <= counts));
            }
            for row in rows.into_iter().chain(choices) {
                problem.add_constraint(row);
            }
        }
        for pair in &self.terms.pairs {
            let (forward, backward) =
                (&self.stages[pair.forward.index()], &self.stages[pair.backward.index()]);
            let of = &self.terms.stages[pair.backward.index()];
            let device = &self.devices[of.device.index()];
            let mut worth = device.work * self.time(pair.saves)
                - forward.under_way * self.time(pair.beyond_forward)
                - backward.under_way * self.time(pair.beyond_input);
            if pair.with_weight {
                worth += self.share(of, of.retained, device.memory) * self.time(of.weight);
            }
            problem.add_constraint(constraint!(worth <= forward.forward + backward.backward));
        }
        let solution = problem.solve().ok()?;
        let whole = |of: Variable, unit: f64| rounded(solution.value(of) * unit * WHOLE);
        let devices = self.devices.iter().map(|at| DeviceWeights {
            work: whole(at.work, 1.0),
            memory: whole(at.memory, 1.0),
            first: whole(at.first[0], self.unit),
            last: whole(at.last[0], self.unit),
            to_host: whole(at.copies[0], 1.0),
            from_host: whole(at.copies[1], 1.0),
            first_copies: whole(at.copies_within[0], 1.0),
            last_copies: whole(at.copies_within[1], 1.0),
        });
        let firsts =
            |at: &StageVariables| at.beyond.iter().map(|&[first, _]| whole(first, self.unit)).collect();
        Some(Weights {
            devices: devices.collect(),
            backwards: self.stages.iter().map(|at| whole(at.backward, self.unit)).collect(),
            choices: self.stages.iter().map(firsts).collect(),
        })
    }
}
