//! The theorems about squeezed orders as questions to a solver, which shares nothing with the tables but
//! the start times: it reads the formulas of the family.

use itertools::Itertools;

use super::cycle::{Attained, along, rotor_steps};
use super::form::{Form, QUANTITIES};
use super::graph::{ClassPass, Classes, Constraint, Where};
use super::makespan::Makespan;
use super::period::{Period, Term};
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
    /// With the period a tenth shorter, or with the first step of a cycle turned round.
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

    /// Whether the start times of a term meet the order of every device and every dependency, at every
    /// point of its cone, given as a sum of multiples of its rays.
    pub fn upper(&self, case: &Period, term: &Term, twin: Twin) -> Result<Script, ProveError> {
        self.meet(case.residue, &term.starts, twin)
    }

    /// Whether the start times of a makespan do, at the durations of the family.
    pub fn start_times(&self, makespan: &Makespan, twin: Twin) -> Result<Script, ProveError> {
        self.meet(makespan.residue, std::slice::from_ref(&makespan.starts), twin)
    }

    fn meet(&self, s: i128, rays: &[Starts], twin: Twin) -> Result<Script, ProveError> {
        let mut script = self.script("QF_LIRA", s)?;
        script.say(
            "tF, tI, tW and c are the durations of the passes and the latency: any sum of multiples x0, x1, ... of \
             the extreme rays of the cone on which the form is the largest. Copy j of a pass with offset o on device \
             i starts at lambda*(j + o div T) + start + tilt*i. The claim is that the passes of a device do not \
             overlap in the order of the block, and that none starts before what it needs has ended.",
        );
        script.declare("i", "Int");
        script.assert("(and (>= i 0) (< i d))");
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
            let start = |r: usize| sum(&|ray| ray.by_pass[pass][r]);
            let last = usize::try_from(self.classes.residues - 1).expect("residues are few");
            let body =
                (0..last).rev().fold(start(last), |rest, r| format!("(ite (= r {r}) {} {rest})", start(r)));
            script.define(&format!("{name}_start"), &["r"], "Real", body);
        }
        let mut claims = self.orders();
        let (waits, most) = self.waits(s)?;
        claims.extend(waits);
        // More rounds than the most that occur would be more than enough.
        let rounds = |k: i128| if k == 0 { "0.0".to_owned() } else { format!("(* {} lambda)", decimal(k)) };
        let times =
            (0..most).rev().fold(rounds(most), |rest, k| format!("(ite (<= k {k}) {} {rest})", rounds(k)));
        script.define("times", &["k"], "Real", times);
        script.assert(format!("(not (and {}))", claims.join(" ")));
        Ok(script)
    }

    /// The start of a pass on a device, less its rounds and tilt.
    fn start(&self, pass: usize, device: &str) -> String {
        format!("({}_start (mod {device} {}))", self.classes.passes[pass].name(), self.classes.residues)
    }

    /// That the passes of device `i` follow each other in every round, and into the next.
    fn orders(&self) -> Vec<String> {
        let passes = 0..self.classes.passes.len();
        let claim = |(one, other): (usize, usize)| {
            let [(name, start, length), (later, next, rest)] = [one, other].map(|pass| {
                let pass_of = &self.classes.passes[pass];
                (pass_of.name(), self.start(pass, "i"), ticks(Form::duration(pass_of.kind)))
            });
            format!(
                "(=> (< ({name}_mod i d) ({later}_mod i d)) (and (>= {next} (+ {start} {length})) (>= (+ {start} \
                 lambda) (+ {next} {rest}))))"
            )
        };
        passes.clone().cartesian_product(passes).filter(|(one, other)| one != other).map(claim).collect()
    }

    /// That every pass of device `i` starts after what it needs, and the most rounds between two such.
    fn waits(&self, s: i128) -> Result<(Vec<String>, i128), ProveError> {
        let mut claims = Vec::new();
        for to in 0..self.classes.passes.len() {
            for (from, shift, place) in self.classes.needs(to) {
                let (there, from_device, tilts) = match (place, shift) {
                    (Where::Anywhere, -1) => ("(> i 0)", "(- i 1)", "tilt"),
                    (Where::Anywhere, 1) => ("(< i (- d 1))", "(+ i 1)", "(- tilt)"),
                    (Where::Anywhere, _) => ("true", "i", "0.0"),
                    (Where::First, _) => ("(= i 0)", "i", "0.0"),
                    (Where::Last, _) => ("(= i (- d 1))", "i", "0.0"),
                    // The tilt is 0 where there is a way around.
                    (Where::Around { from_last: true }, _) => ("(= i 0)", "(- d 1)", "0.0"),
                    (Where::Around { from_last: false }, _) => ("(= i (- d 1))", "0", "0.0"),
                };
                let [one, other] = [from, to].map(|pass| self.classes.passes[pass].name());
                let rounds = format!("(- ({other}_div i d) ({one}_div {from_device} d))");
                let elsewhere = shift != 0 || matches!(place, Where::Around { .. });
                let duration = Form::duration(self.classes.passes[from].kind);
                let duration = ticks(if elsewhere { duration.plus(Form::LATENCY) } else { duration });
                claims.push(format!(
                    "(=> {there} (and (>= {rounds} 0) (>= (+ {} {tilts} (times {rounds})) (+ {} {duration}))))",
                    self.start(to, "i"),
                    self.start(from, from_device)
                ));
            }
        }
        let constraints = self.classes.constraints(s)?;
        let most = constraints.iter().filter(|one| one.wait).map(|one| one.rounds).max();
        Ok((claims, most.unwrap_or(0)))
    }

    /// Whether every pass of a cycle comes after the one before, on every number of devices from the one
    /// given.
    pub fn lower(&self, case: &Period, attained: &Attained, twin: Twin) -> Result<Script, ProveError> {
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
fn ticks(Form(counts): Form) -> String {
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
