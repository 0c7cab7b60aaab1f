//! The makespans of squeezed V-Half and V-ZB, and of V-Min where 3 divides d: start times in closed form as
//! the upper side, a critical path as the lower.

mod path;
mod starts;

use path::Path;
use starts::{PASSES, StartTimes, start};

use super::{NamedTheorem, ProofFile, Question};
use crate::block::family::shipped;
use crate::prove::ProveError;
use crate::prove::device::DeviceTerms;
use crate::prove::script::Script;

pub(super) const THEOREM: NamedTheorem = NamedTheorem {
    name: "I",
    title: "The makespans of squeezed V-Half and V-ZB",
    statement: "Squeezed, at unit times and without latency, V-Half takes 6m + (7d-4)/2 on an even number of devices \
                and 6m + 7(d-1)/2 on an odd one, if m > d/2 rounded down, and V-ZB 6m + 2d - 3, if m >= d.",
    domain: "every d >= 2; V-Half m >= floor(d/2)+1, V-ZB m >= d",
    by_solver: "that start times given in closed form meet the order of every device and every dependency and end in \
                time, for each parity of d and i; that a path of as many passes is there, each of which waits for \
                the one before",
    on_paper: "that squeezed times are the earliest that meet all of this, and that a path bounds them from below",
    anchor: "i-the-makespans-of-v-half-and-v-zb",
};

const USED: &str = "for what a schedule gains whose warm-up and cool-down are improved";

/// A family with its makespan.
struct Squeezed {
    family: &'static str,
    makespan: &'static str,
    /// For which m, by d.
    microbatches: &'static str,
}

const V_HALF: Squeezed = Squeezed {
    family: "v-half",
    makespan: "(+ (* 6 m) (ite (= (mod d 2) 0) (- (* 7 (div d 2)) 2) (* 7 (div d 2))))",
    microbatches: "(>= m (+ (div d 2) 1))",
};

const V_ZB: Squeezed =
    Squeezed { family: "v-zb", makespan: "(+ (* 6 m) (- (* 2 d) 3))", microbatches: "(>= m d)" };

const V_MIN: Squeezed =
    Squeezed { family: "v-min", makespan: "(+ (* 6 m) (- (* 4 d) 3))", microbatches: "(>= m 2)" };

impl Squeezed {
    /// The offsets of the family, its makespan, and how many microbatches there are. `names` are unknown;
    /// those `defined` stand for terms in them.
    fn script(&self, names: &[&str], defined: &[(&str, &str)]) -> Result<Script, ProveError> {
        let mut script = Script::new("QF_LIA");
        for name in names {
            script.declare(name, "Int");
        }
        for (name, term) in defined {
            script.define(name, &[], "Int", *term);
        }
        let family = shipped(self.family).expect("it is shipped");
        let terms = DeviceTerms::of(&family)?;
        // What is live comes last, and nothing here is about it.
        for definition in terms.definitions.iter().take_while(|one| !one.name.ends_with("_live")) {
            script.define(&definition.name, &["i", "d"], "Int", definition.body.expression());
        }
        script.define("makespan", &["d", "m"], "Int", self.makespan);
        script.assert("(>= d 2)");
        script.assert(self.microbatches);
        Ok(script)
    }
}

/// What start times must meet.
#[derive(Clone, Copy)]
enum Demand {
    /// The order of every device, before this pass.
    Order(&'static str),
    Dependencies,
    Ends,
}

impl Demand {
    fn all() -> impl Iterator<Item = Self> {
        PASSES.into_iter().map(Self::Order).chain([Self::Dependencies, Self::Ends])
    }

    fn slug(self) -> String {
        match self {
            Self::Order(pass) => format!("order-{pass}"),
            Self::Dependencies => "dependencies".to_owned(),
            Self::Ends => "ends".to_owned(),
        }
    }

    fn statement(self) -> String {
        match self {
            Self::Order(pass) => {
                format!("no {pass} starts before the passes that its device runs before it have ended")
            }
            Self::Dependencies => "no pass starts before what it needs has ended".to_owned(),
            Self::Ends => "no pass starts before time 0 or ends after the makespan".to_owned(),
        }
    }

    const fn twin(self) -> &'static str {
        match self {
            Self::Order(_) | Self::Dependencies => "every pass takes a tick longer",
            Self::Ends => "the makespan is a tick shorter",
        }
    }

    /// What must hold on device `i` for microbatch `j`, and `k`; where a pass takes `ticks` and the makespan
    /// is `less` than claimed.
    fn claims(self, ticks: u32, less: u32) -> Vec<String> {
        let after = |one: (&str, &str, &str), other: (&str, &str, &str)| {
            format!("(>= {} (+ {} {ticks}))", start(one.0, one.1, one.2), start(other.0, other.1, other.2))
        };
        match self {
            Self::Order(pass) => PASSES
                .into_iter()
                .map(|before| {
                    let order = format!("(< (+ ({before} i d) (* 6 k)) (+ ({pass} i d) (* 6 j)))");
                    format!("(=> {order} {})", after((pass, "i", "j"), (before, "i", "k")))
                })
                .collect(),
            Self::Dependencies => [
                ("(> i 0)", "F0", "F0", "(- i 1)"),
                ("(= i (- d 1))", "F1", "F0", "i"),
                ("(< i (- d 1))", "F1", "F1", "(+ i 1)"),
                ("(= i 0)", "I1", "F1", "i"),
                ("(> i 0)", "I1", "I1", "(- i 1)"),
                ("(= i (- d 1))", "I0", "I1", "i"),
                ("(< i (- d 1))", "I0", "I0", "(+ i 1)"),
                ("true", "I0", "F0", "i"),
                ("true", "W1", "I1", "i"),
                ("true", "W0", "I0", "i"),
            ]
            .into_iter()
            .map(|(when, pass, needed, device)| {
                format!("(=> {when} {})", after((pass, "i", "j"), (needed, device, "j")))
            })
            .collect(),
            Self::Ends => PASSES
                .into_iter()
                .map(|pass| {
                    let start = start(pass, "i", "j");
                    format!("(<= 0 {start} (- (makespan d m) 1 {less}))")
                })
                .collect(),
        }
    }
}

/// The questions whether start times in closed form meet everything.
fn upper(
    squeezed: &Squeezed,
    starts: &StartTimes,
    residue: &str,
    names: &[&str],
    defined: &[(&str, &str)],
    twins: bool,
) -> Result<Vec<ProofFile>, ProveError> {
    let mut files = Vec::new();
    for demand in Demand::all() {
        let ask = |ticks: u32, less: u32| {
            let mut script = squeezed.script(names, defined)?;
            script.say(
                "F0 is the offset of F of chunk 0 on device i of d, F0_at its start in microbatch j of m, after which n \
                 others come. The passes of a device run in the order of offset + 6 times the microbatch.",
            );
            starts.define(&mut script);
            script.assert("(and (<= 0 i) (< i d) (<= 0 j) (< j m) (<= 0 k) (< k m))");
            script.assert(format!("(not (and {}))", demand.claims(ticks, less).join(" ")));
            Ok::<_, ProveError>(script)
        };
        let question = |suffix: &str, used: &'static str| Question {
            theorem: &THEOREM,
            name: format!("i-makespans/{}{residue}-{}{suffix}", squeezed.family, demand.slug()),
            statement: format!(
                "{}, squeezed, with the start times below: {}",
                squeezed.family,
                demand.statement()
            ),
            used,
            domain: domain(squeezed, defined),
        };
        files.push(question("", USED).proof(ask(1, 0)?));
        if twins {
            let longer = u32::from(!matches!(demand, Demand::Ends));
            files.push(question("-control", demand.twin()).negative_control(ask(1 + longer, 1 - longer)?));
        }
    }
    Ok(files)
}

/// The question whether a path is there, and its twin.
fn lower(
    theorem: &'static NamedTheorem,
    squeezed: &Squeezed,
    path: Path,
    name: &str,
    names: &[&str],
    defined: &[(&str, &str)],
) -> Result<[ProofFile; 2], ProveError> {
    let ask = |length: &str| {
        let mut script = squeezed.script(names, defined)?;
        script.say(
            "The path goes through stretches of passes; pass k of a stretch is on the device and of the microbatch \
             that are given by k. A pass waits for another if it needs it, or if both are on one device and the other \
             one comes earlier in the order of offset + 6 times the microbatch.",
        );
        path::deny(&mut script, path, length);
        Ok::<_, ProveError>(script)
    };
    let question = |suffix: &str, used: &'static str| Question {
        theorem,
        name: format!("{name}-path{suffix}"),
        statement: format!(
            "{}, squeezed: there is a path of as many passes as the makespan has ticks, each of which waits for the one \
             before",
            squeezed.family
        ),
        used,
        domain: domain(squeezed, defined),
    };
    Ok([
        question("", USED).proof(ask("(makespan d m)")?),
        question("-control", "the path is a pass longer").negative_control(ask("(+ (makespan d m) 1)")?),
    ])
}

fn domain(squeezed: &Squeezed, defined: &[(&str, &str)]) -> String {
    let terms: Vec<String> = defined.iter().map(|(name, term)| format!("{name} = {term}")).collect();
    let words = ["d >= 2".to_owned(), squeezed.microbatches.to_owned()];
    words.into_iter().chain(terms).collect::<Vec<_>>().join(", ")
}

/// The files of I.
pub(super) fn files() -> Result<Vec<ProofFile>, ProveError> {
    let mut files = Vec::new();
    for (parity, devices, path) in [(0, "(* 2 h)", path::V_HALF_EVEN), (1, "(+ (* 2 h) 1)", path::V_HALF_ODD)]
    {
        for (of_device, device) in [(0, "(* 2 g)"), (1, "(+ (* 2 g) 1)")] {
            files.extend(upper(
                &V_HALF,
                &starts::V_HALF,
                &format!("-{parity}-{of_device}"),
                &["g", "h", "j", "k", "m"],
                &[("d", devices), ("i", device)],
                parity == 0 && of_device == 0,
            )?);
        }
        let name = format!("i-makespans/v-half-{parity}");
        files.extend(lower(&THEOREM, &V_HALF, path, &name, &["h", "m"], &[("d", devices)])?);
    }
    files.extend(upper(&V_ZB, &starts::V_ZB, "", &["d", "i", "j", "k", "m"], &[], true)?);
    files.extend(lower(&THEOREM, &V_ZB, path::V_ZB, "i-makespans/v-zb", &["d", "m"], &[])?);
    Ok(files)
}

/// The lower side of G where 3 divides d.
pub(super) fn v_min(theorem: &'static NamedTheorem) -> Result<[ProofFile; 2], ProveError> {
    lower(theorem, &V_MIN, path::V_MIN, "g-makespan/v-min-3", &["e", "m"], &[("d", "(* 3 e)")])
}
