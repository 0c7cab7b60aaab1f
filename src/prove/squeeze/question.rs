//! The theorems about squeezed orders as questions to a solver, which shares nothing with the tables but
//! the start times: it reads the formulas of the family.

use itertools::Itertools;

use super::cycle::{Attained, along, rotor_steps};
use super::form::{LinearForm, QUANTITIES};
use super::graph::{ClassPass, Classes, Constraint, Node, Where};
use super::interval::{IntervalTerm, SqueezedInterval};
use super::makespan::Makespan;
use super::{Irregular, Starts};
use crate::block::family::Family;
use crate::prove::ProveError;
use crate::prove::device::DeviceTerms;
use crate::prove::script::Script;
use crate::prove::term::{Fact, Term as Integer};

/// Whether a question asks for the truth or for a mutated twin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::prove) enum Twin {
    /// The statement itself.
    No,
    /// With the interval a tenth shorter, or with the first step of a cycle turned round.
    Yes,
}

/// A family with its residue tables.
pub(in crate::prove) struct Questions<'a> {
    family: &'a Family,
    classes: Classes,
}

impl<'a> Questions<'a> {
    /// # Errors
    /// When its formulas are not told by residues.
    pub fn of(family: &'a Family) -> Result<Self, Irregular> {
        Ok(Self { family, classes: Classes::of(family)? })
    }

    /// The offsets of all passes with their quotients and remainders by the interval, a device `i` of `d`,
    /// and the residue of `d`.
    fn script(&self, logic: &'static str, s: i128) -> Result<Script, ProveError> {
        let mut script = Script::new(logic);
        script.declare("d", "Int");
        let terms = DeviceTerms::of(self.family)?;
        // What is live comes last, and nothing here is about it.
        for definition in terms.definitions.iter().take_while(|one| !one.name.ends_with("_live")) {
            script.define(&definition.name, &["i", "d"], "Int", definition.body.expression());
        }
        let domain = Fact::of(&self.family.domain, &|variable| {
            (variable == crate::block::family::Variable::Devices).then_some(Integer::Devices)
        });
        let domain = domain.map_err(|error| ProveError::Formula { name: "domain".to_owned(), error })?;
        script.assert(domain.expression());
        script.assert(format!("(= (mod d {}) {s})", self.classes.residues));
        Ok(script)
    }

    /// Whether the residues and the rounds are those of the tables.
    pub fn tables(&self, s: i128, twin: Twin) -> Result<Script, ProveError> {
        let mut script = self.script("QF_LIA", s)?;
        script.say(
            "The claim is that the offsets of passes modulo the interval T, and so the order of a device, are those of \
             the tables, and that a pass comes at least so many rounds (offset div T) after one that it needs as \
             they say, by the residue of the device i.",
        );
        script.declare("i", "Int");
        script.assert("(and (>= i 0) (< i d))");
        let residues = self.classes.residues;
        let mut claims = Vec::new();
        for r in 0..residues {
            for pass in &self.classes.passes {
                let offset = pass.offset.on(s, r, 0).constant.rem_euclid(self.classes.interval);
                claims
                    .push(format!("(=> (= (mod i {residues}) {r}) (= ({}_mod i d) {offset}))", pass.name()));
            }
        }
        for Constraint { from, to, rounds, shift, place, .. } in
            self.classes.constraints(s)?.iter().filter(|one| one.wait)
        {
            let (there, device) = match (place, shift) {
                (Where::Anywhere, 1) => ("(> i 0)", "(- i 1)"),
                (Where::Anywhere, -1) => ("(< i (- d 1))", "(+ i 1)"),
                (Where::Anywhere, _) => ("true", "i"),
                (Where::First, _) => ("(= i 0)", "i"),
                (Where::Last, _) => ("(= i (- d 1))", "i"),
                (Where::Around { from_last: true }, _) => ("(= i 0)", "(- d 1)"),
                (Where::Around { from_last: false }, _) => ("(= i (- d 1))", "0"),
            };
            let [one, other] = [from.0, to.0].map(|pass| self.classes.passes[pass].name());
            claims.push(format!(
                "(=> (and (= (mod i {residues}) {}) {there}) (>= (- ({other}_div i d) ({one}_div {device} d)) {rounds}))",
                to.1
            ));
        }
        script.assert(denied(claims, twin));
        Ok(script)
    }

    /// Whether the start times of a term meet the order of every device and every dependency, at every
    /// point of its cone, given as a sum of multiples of its rays.
    pub fn upper(
        &self,
        case: &SqueezedInterval,
        term: &IntervalTerm,
        twin: Twin,
    ) -> Result<Script, ProveError> {
        self.meet(case.residue, &term.starts, twin)
    }

    /// Whether the start times of a makespan do, at the durations of the family.
    pub fn start_times(&self, makespan: &Makespan, twin: Twin) -> Result<Script, ProveError> {
        self.meet(makespan.residue, std::slice::from_ref(&makespan.starts), twin)
    }

    fn meet(&self, s: i128, rays: &[Starts], twin: Twin) -> Result<Script, ProveError> {
        let mut script = Script::new("QF_LRA");
        script.say(
            "tF, tI, tW and c are the durations of the passes and the latency: any sum of multiples x0, x1, ... of \
             the extreme rays of the cone on which the form is the largest. Copy j of a pass with offset o on device \
             i starts at lambda*(j + o div T) + start + tilt*i, where start depends on the residue of i: F0_start_2 is \
             that of F of chunk 0 for residue 2. The claim is that, residues and rounds being those of the tables, the \
             passes of a device do not overlap in the order of the block, and none starts before what it needs has \
             ended: one inequality for each pass and what comes before it.",
        );
        for position in 0..rays.len() {
            script.declare(&format!("x{position}"), "Real");
            script.assert(format!("(>= x{position} 0.0)"));
        }
        let sum = |of: &dyn Fn(&Starts) -> i128| combination(&rays.iter().map(of).collect_vec());
        for (position, name) in QUANTITIES.into_iter().enumerate() {
            script.define(name, &[], "Real", sum(&|ray| ray.scale * ray.point[position]));
        }
        let lambda = sum(&|ray| ray.lambda);
        let lambda = if twin == Twin::Yes { format!("(* (/ 9.0 10.0) {lambda})") } else { lambda };
        script.define("lambda", &[], "Real", lambda);
        script.define("tilt", &[], "Real", sum(&|ray| ray.tilt));
        for (pass, name) in self.classes.passes.iter().map(ClassPass::name).enumerate() {
            for r in 0..rays[0].by_pass[pass].len() {
                script.define(&format!("{name}_start_{r}"), &[], "Real", sum(&|ray| ray.by_pass[pass][r]));
            }
        }
        let start = |(pass, residue): Node| format!("{}_start_{residue}", self.classes.passes[pass].name());
        let claim = |Constraint { from, to, ticks: length, rounds, shift, .. }: Constraint| {
            let [rounds, shift] = [(rounds, "lambda"), (shift, "tilt")].map(|(times, name)| match times {
                0 => String::new(),
                times => format!(" (* {} {name})", decimal(times)),
            });
            format!("(>= (+ {}{rounds}{shift} 0.0) (+ {} {}))", start(to), start(from), ticks(length))
        };
        let claims: Vec<String> = self.classes.constraints(s)?.into_iter().map(claim).unique().collect();
        script.assert(format!("(not (and {}))", claims.join(" ")));
        Ok(script)
    }

    /// Whether every pass of a cycle comes after the one before, on every number of devices from the one
    /// given.
    pub fn lower(
        &self,
        case: &SqueezedInterval,
        attained: &Attained,
        twin: Twin,
    ) -> Result<Script, ProveError> {
        let mut script = self.script("QF_LIA", case.residue)?;
        script.say(format!(
            "The cycle: {}; devices below 0 are counted from the last. A pass comes after another of its device in \
             the same round (offset div T + copy) when its offset modulo T is larger, and in the next round always. \
             A pass that needs another one comes as many rounds after it as the quotients of their offsets differ.",
            attained.cycle.iter().map(|(pass, device)| format!("{pass} on {device}")).join(", ")
        ));
        script.assert(format!("(>= d {})", attained.devices));
        let constraints = self.classes.constraints(case.residue)?;
        let steps = along(&self.classes, case.residue, &constraints, attained).ok_or(Irregular::Stuck)?;
        let mut claims = Vec::new();
        for (position, step) in steps.iter().enumerate() {
            let device = |position: usize| counted(attained.cycle[position % steps.len()].1);
            let (one, other) = (device(position), device(position + 1));
            let [from, to] = [step.from.0, step.to.0].map(|pass| self.classes.passes[pass].name());
            if step.wait {
                claims.push(format!("(= (- ({to}_div {other} d) ({from}_div {one} d)) {})", step.rounds));
            } else if step.rounds == 0 {
                claims.push(format!("(< ({from}_mod {one} d) ({to}_mod {other} d))"));
            }
        }
        script.assert(denied(claims, twin));
        Ok(script)
    }

    /// Whether every pass of a rotor comes after the one before, in the same microbatch or the next.
    pub fn rotor(&self, makespan: &Makespan, rotor: &Attained, twin: Twin) -> Result<Script, ProveError> {
        let mut script = self.script("QF_LIA", makespan.residue)?;
        script.say(format!(
            "The rotor: {}; devices below 0 are counted from the last. Where a pass does not need the one before, \
             it comes later in the order of their device, of the same microbatch or of the next.",
            rotor.cycle.iter().map(|(pass, device)| format!("{pass} on {device}")).join(", ")
        ));
        script.assert(format!("(>= d {})", rotor.devices));
        let steps = rotor_steps(&self.classes, makespan.residue, rotor).ok_or(Irregular::Stuck)?;
        let claim = |(position, step): (usize, &Constraint)| {
            let device = counted(rotor.cycle[position].1);
            let [from, to] = [step.from.0, step.to.0].map(|pass| self.classes.passes[pass].name());
            let later = step.rounds * self.classes.interval;
            format!("(< ({from} {device} d) (+ ({to} {device} d) {later}))")
        };
        let claims = steps.iter().enumerate().filter(|(_, step)| !step.wait).map(claim).collect();
        script.assert(denied(claims, twin));
        Ok(script)
    }
}

/// That one of the claims is false; of a twin, the first is denied.
fn denied(mut claims: Vec<String>, twin: Twin) -> String {
    if twin == Twin::Yes {
        claims[0] = format!("(not {})", claims[0]);
    }
    format!("(not (and {}))", claims.join(" "))
}

/// The device that is counted from the first, or where it is negative from the last.
fn counted(device: i128) -> String {
    if device < 0 { format!("(- d {})", -device) } else { device.to_string() }
}

/// The sum of the quantities of a form.
fn ticks(LinearForm(counts): LinearForm) -> String {
    let named = counts.iter().zip(QUANTITIES).filter(|(count, _)| **count != 0);
    let named = named.map(|(count, name)| format!("(* {} {name})", decimal(*count))).join(" ");
    format!("(+ 0.0 {named})")
}

/// Multiples of the rays.
fn combination(factors: &[i128]) -> String {
    let terms = factors.iter().enumerate().filter(|(_, factor)| **factor != 0);
    let terms = terms.map(|(position, factor)| format!("(* {} x{position})", decimal(*factor))).collect_vec();
    match terms.as_slice() {
        [] => "0.0".to_owned(),
        [term] => term.clone(),
        terms => format!("(+ {})", terms.join(" ")),
    }
}

fn decimal(value: i128) -> String {
    if value < 0 { format!("(- {}.0)", value.unsigned_abs()) } else { format!("{value}.0") }
}
