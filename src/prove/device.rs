//! What the passes of device `i` of `d` do, as definitions: offsets, the places that left-out W take,
//! and what is live.
//!
//! The names: `F0` is the offset of F of chunk 0, `F0_div` and `F0_mod` its quotient and remainder by
//! the interval; `W1_delay` how long W of chunk 1 waits after the end of its I; `F0_live` what is live
//! once F of chunk 0 has started; `peak` the largest of those.

use num_integer::Integer;

use super::ProveError;
use super::term::{Definition, Fact, Term};
use crate::block::BlockError;
use crate::block::family::{Comparison, Family, FamilyError, Formula, Offset, Variable};
use crate::model::{Kind, Ticks};

/// Up to this interval the place of a left-out W is stated instant by instant, which solvers find easier
/// than the ends of the other passes.
const EACH_INSTANT: i128 = 24;

/// A pass of every device: its kind and chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub kind: Kind,
    pub chunk: u32,
}

impl Step {
    /// The name of its offset.
    pub fn name(self) -> String {
        format!("{}{}", self.kind, self.chunk)
    }

    /// Its offset on device `i`.
    pub fn offset(self) -> Term {
        Term::named(self.name())
    }

    /// Its offset on another device.
    pub fn offset_on(self, device: Term) -> Term {
        Term::Of(self.name(), Box::new(device))
    }

    fn quotient(self) -> Term {
        Term::named(format!("{}_div", self.name()))
    }

    /// Where in the interval it starts.
    pub fn remainder(self) -> Term {
        Term::named(format!("{}_mod", self.name()))
    }

    /// How long a W that was left out waits after the end of its I.
    pub fn delay(self) -> Term {
        Term::named(format!("{}_delay", self.name()))
    }
}

/// The passes of a device and the definitions about them.
#[derive(Debug, Clone)]
pub(super) struct DeviceTerms {
    /// The interval T.
    pub interval: i128,
    /// All passes, those of W that were left out last.
    pub steps: Vec<Step>,
    /// The W that were left out, in the order in which they take their places.
    pub placed: Vec<Step>,
    /// In such an order that each uses only those before it.
    pub definitions: Vec<Definition>,
    lengths: Lengths,
}

#[derive(Debug, Clone, Copy)]
struct Lengths {
    forward: i128,
    input: i128,
    weight: i128,
}

impl DeviceTerms {
    /// # Errors
    /// When the family is not well formed.
    pub fn of(family: &Family) -> Result<Self, ProveError> {
        if family.interval <= Ticks::ZERO {
            return Err(FamilyError::from(BlockError::NotPositive("interval")).into());
        }
        let mut terms = Self {
            interval: family.interval.0.into(),
            steps: Vec::new(),
            placed: Vec::new(),
            definitions: Vec::new(),
            lengths: Lengths {
                forward: family.durations.forward.0.into(),
                input: family.durations.backward_input.0.into(),
                weight: family.durations.backward_weight.0.into(),
            },
        };
        for Offset { kind, chunk, at } in &family.passes {
            let step = Step { kind: *kind, chunk: *chunk };
            if *chunk >= family.layout.chunks() {
                return Err(FamilyError::Chunk { chunk: *chunk, chunks: family.layout.chunks() }.into());
            }
            let body = offset(at).map_err(|error| ProveError::Formula { name: step.name(), error })?;
            terms.place(step, body);
        }
        for chunk in (0..family.layout.chunks()).rev() {
            let of = |kind| Step { kind, chunk };
            if terms.has(of(Kind::I)) && !terms.has(of(Kind::W)) {
                terms.place_weight(chunk);
            }
        }
        terms.define_memory();
        Ok(terms)
    }

    pub fn has(&self, step: Step) -> bool {
        self.steps.contains(&step)
    }

    /// How long a pass takes.
    pub const fn length(&self, step: Step) -> i128 {
        let Lengths { forward, input, weight } = self.lengths;
        match step.kind {
            Kind::F | Kind::R => forward,
            Kind::I => input,
            Kind::W => weight,
            Kind::B => input + weight,
        }
    }

    /// That every left-out W of the device finds a place.
    pub fn room(&self) -> Fact {
        Fact::all(self.placed.iter().map(|w| w.delay().compare(Comparison::Less, self.interval)))
    }

    /// The start of a pass less the start of the last pass of a residue before it or with it: from 0 to
    /// the interval less one, for two residues.
    fn ahead(&self, from: &Term, to: &Term) -> Term {
        let difference = to.clone().minus(from.clone());
        Term::when(
            to.clone().compare(Comparison::AtLeast, from.clone()),
            difference.clone(),
            difference.plus(self.interval),
        )
    }

    fn define(&mut self, name: String, body: Term) -> Term {
        self.definitions.push(Definition { name: name.clone(), body });
        Term::named(name)
    }

    /// Defines a pass by its offset.
    fn place(&mut self, step: Step, offset: Term) {
        let (name, interval) = (step.name(), self.interval);
        let at = self.define(name.clone(), offset);
        self.define(format!("{name}_div"), Term::Quotient(Box::new(at.clone()), interval));
        self.define(format!("{name}_mod"), Term::Remainder(Box::new(at), interval));
        self.steps.push(step);
    }

    /// Defines quotient and remainder by the interval of what lies `later` after an instant that has the
    /// given ones; `later` is from 0 to the interval.
    fn define_later(&mut self, name: &str, quotient: Term, remainder: Term, later: Term) -> (Term, Term) {
        let (sum, interval) = (remainder.plus(later), self.interval);
        let over = sum.clone().compare(Comparison::AtLeast, interval);
        let carried = Term::when(over.clone(), quotient.clone().plus(1_i128), quotient);
        let quotient = self.define(format!("{name}_div"), carried);
        let wrapped = Term::when(over, sum.clone().minus(interval), sum);
        (quotient, self.define(format!("{name}_mod"), wrapped))
    }

    /// Defines a W that was left out: it starts at the first instant from the end of its I at which it
    /// overlaps nothing placed before it, modulo the interval. Without one, its delay is the interval.
    fn place_weight(&mut self, chunk: u32) {
        let (input, weight) = (Step { kind: Kind::I, chunk }, Step { kind: Kind::W, chunk });
        let (interval, name) = (self.interval, weight.name());
        let (whole, rest) = self.length(input).div_mod_floor(&interval);
        let (quotient, ready) = self.define_later(
            &format!("{name}_ready"),
            input.quotient().plus(whole),
            input.remainder(),
            rest.into(),
        );
        let length = self.length(weight);
        let delay = if length == 0 {
            Term::Integer(0)
        } else if length > interval {
            Term::Integer(interval)
        } else {
            self.first_room(&name, &ready, length)
        };
        let delay = self.define(format!("{name}_delay"), delay);
        let end = input.offset().plus(self.length(input));
        self.define(name.clone(), Term::Sum(vec![end, delay.clone()]));
        self.define_later(&name, quotient, ready, delay);
        self.placed.push(weight);
        self.steps.push(weight);
    }

    /// How long after the residue `ready` there is first room for a W of this positive length, among the
    /// passes that are placed; the interval, where there is none.
    fn first_room(&mut self, name: &str, ready: &Term, length: i128) -> Term {
        let interval = self.interval;
        let mut taken = Vec::new();
        for step in self.steps.clone() {
            if self.length(step) > 0 {
                let from = self.ahead(ready, &step.remainder());
                taken.push((self.define(format!("{name}_from_{}", step.name()), from), self.length(step)));
            }
        }
        let free = |start: &Term| {
            Fact::all(taken.iter().map(|(from, other)| clear(interval, (from, *other), (start, length))))
        };
        if interval <= EACH_INSTANT {
            return (0..interval)
                .rev()
                .map(Term::Integer)
                .fold(interval.into(), |later, start| Term::when(free(&start), start, later));
        }
        // The first room begins at once, or at the end of another pass.
        let mut starts = vec![Term::Integer(0)];
        for (position, (from, other)) in taken.iter().enumerate() {
            let end = from.clone().plus(other % interval);
            let wrapped = Term::when(
                end.clone().compare(Comparison::AtLeast, interval),
                end.clone().minus(interval),
                end,
            );
            let start = Definition { name: format!("{name}_start_{position}"), body: wrapped };
            starts.push(Term::named(start.name.clone()));
            self.definitions.push(start);
        }
        let mut delay = Term::Integer(interval);
        for (position, start) in starts.into_iter().enumerate() {
            let earlier = start.clone().compare(Comparison::Less, delay.clone());
            let better = Term::when(Fact::all([free(&start), earlier]), start, delay);
            delay = self.define(format!("{name}_first_{position}"), better);
        }
        delay
    }

    /// That two passes of a device do not collide modulo the interval. Passes that start together get by
    /// when one of them takes no time.
    pub fn apart(&self, first: Step, second: Step) -> Fact {
        let (a, b) = (first.remainder(), second.remainder());
        let (a_length, b_length) = (self.length(first), self.length(second));
        if a_length.min(b_length) > 0 {
            return clear(self.interval, (&a, a_length), (&b, b_length));
        }
        if a_length.max(b_length) <= 1 {
            return Fact::TRUE;
        }
        Fact::any([
            a.clone().compare(Comparison::Equal, b.clone()),
            clear(self.interval, (&a, a_length), (&b, b_length)),
        ])
    }

    /// How much more a device holds once a pass has both started and ended, in activations of a stage.
    /// Where there is an R, its F leaves nothing that weighs anything.
    fn held(&self, step: Step) -> i128 {
        let recomputed = self.has(Step { kind: Kind::R, ..step });
        match step.kind {
            Kind::F if recomputed => 0,
            Kind::F | Kind::R => 1,
            Kind::I => 0,
            Kind::W | Kind::B => -1,
        }
    }

    /// Defines what is live at the start of every F and R, and the peak.
    fn define_memory(&mut self) {
        let starts: Vec<Step> =
            self.steps.iter().copied().filter(|step| matches!(step.kind, Kind::F | Kind::R)).collect();
        let mut peak: Option<Term> = None;
        for started in starts {
            let mut live = vec![Term::Integer(self.held(started))];
            for &step in &self.steps {
                let before = self.copies_before(step, started);
                match self.held(step) {
                    0 => {}
                    1 => live.push(before),
                    held => live.push(Term::Times(held, Box::new(before))),
                }
            }
            let live = self.define(format!("{}_live", started.name()), Term::Sum(live));
            peak = Some(match peak {
                None => live,
                Some(most) => {
                    let larger =
                        Term::when(most.clone().compare(Comparison::AtLeast, live.clone()), most, live);
                    self.define(format!("{}_most", started.name()), larger)
                }
            });
        }
        self.define("peak".to_owned(), peak.unwrap_or(Term::Integer(0)));
    }

    /// How many copies of a pass, counted from copy 0, start before copy 0 of another one.
    fn copies_before(&self, step: Step, started: Step) -> Term {
        if step == started {
            return Term::Integer(0);
        }
        let whole = started.quotient().minus(step.quotient());
        let (from, to) = (step.remainder(), started.remainder());
        // If passes start at the same instant, those without duration come first, by microbatch
        // and then along the dependencies.
        let earlier = rank(step) < rank(started);
        let tied = match (self.length(step) > 0, self.length(started) > 0) {
            (false, true) => Fact::TRUE,
            (true, false) => Fact::FALSE,
            _ => whole.clone().compare(if earlier { Comparison::AtMost } else { Comparison::Less }, 0_i128),
        };
        let one_more = Fact::any([
            from.clone().compare(Comparison::Less, to.clone()),
            Fact::all([from.compare(Comparison::Equal, to), tied]),
        ]);
        whole.plus(Term::when(one_more, 1_i128, 0_i128))
    }
}

/// That two passes with these residues and lengths do not overlap modulo the interval; they may not
/// start together.
fn clear(interval: i128, first: (&Term, i128), second: (&Term, i128)) -> Fact {
    // Residues that differ lie 1 to T - 1 apart, which is room enough for a pass of one tick.
    if first.1 <= 1 && second.1 <= 1 {
        return first.0.clone().compare(Comparison::Unequal, second.0.clone());
    }
    // The first of two ends before the second starts, and the second before the next copy of the first.
    let ordered = |(from, length): (&Term, i128), (to, other): (&Term, i128)| {
        let gap = to.clone().minus(from.clone());
        let bound = |needed: bool, fact: Fact| if needed { fact } else { Fact::TRUE };
        Fact::all([
            from.clone().compare(Comparison::Less, to.clone()),
            bound(length > 1, gap.clone().compare(Comparison::AtLeast, length)),
            bound(other > 1, gap.compare(Comparison::AtMost, interval - other)),
        ])
    };
    Fact::any([ordered(first, second), ordered(second, first)])
}

/// The offset of a pass, as the family states it.
fn offset(formula: &Formula) -> Result<Term, crate::block::family::EvaluationError> {
    Term::of(formula, &|variable| match variable {
        Variable::Device => Some(Term::Device),
        Variable::Devices => Some(Term::Devices),
        _ => None,
    })
}

/// The order of passes of one microbatch on one device along the dependencies. A later chunk is a
/// later stage.
fn rank(step: Step) -> (usize, i64) {
    let chunk = i64::from(step.chunk);
    match step.kind {
        Kind::F => (0, chunk),
        Kind::R => (1, chunk),
        Kind::I | Kind::B => (2, -chunk),
        Kind::W => (3, -chunk),
    }
}
