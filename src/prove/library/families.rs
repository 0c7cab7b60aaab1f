//! The theorems of the shipped families: their blocks are valid, how long W waits, exact peaks.

use super::{NamedTheorem, ProofFile};
use crate::block::family::{Comparison, Condition, Family, Formula, SHIPPED, parse, shipped};
use crate::model::{Device, Kind, Ticks};
use crate::prove::ProveError;
use crate::prove::decide::theorems;
use crate::prove::expected::Expected;
use crate::prove::subject::{Delay, Delays, TheoremSubject};
use crate::prove::term::Fact;
use crate::prove::text::script;
use crate::prove::theorem::{Theorem, Theorems};

pub(super) const VALIDITY: NamedTheorem = NamedTheorem {
    name: "A",
    title: "The shipped blocks are valid",
    statement: "In the block of every shipped family all dependencies hold, no two passes of a device overlap \
                modulo the interval, and every W that the family leaves out finds a place.",
    domain: "every d in the domain of the family, every device",
    by_solver: "everything, a file for each family and property",
    on_paper: "",
    anchor: "a-the-shipped-blocks-are-valid",
};

pub(super) const WAITS: NamedTheorem = NamedTheorem {
    name: "B",
    title: "How long W waits",
    statement: "Where a family leaves W out, W takes the first room after its I, and waits no longer and no \
                shorter than stated; both ends occur.",
    domain: "every d in the domain of the family, every device",
    by_solver: "both bounds; that the ends occur is seen at the devices that the statement names",
    on_paper: "",
    anchor: "b-how-long-w-waits",
};

pub(super) const MEMORY: NamedTheorem = NamedTheorem {
    name: "C",
    title: "Exact peaks",
    statement: "The peak memory of every device in the steady phase is the formula that the family promises, \
                and at most what its lifespans allow.",
    domain: "every d in the domain of the family, every device",
    by_solver: "everything, a file for each promise",
    on_paper: "",
    anchor: "c-exact-peaks",
};

/// Where the theorems of families are used.
const USED: &str = "by `bubbleproof block FAMILY --devices N`: they say that for every N its block is one, and what \
                    it holds";

/// The most devices for which a twin is tried.
const TRIED: u32 = 12;

/// A family with one formula changed: the family, what is replaced by what, what the twin is called, and
/// how it differs, in words.
const TWINS: [(&str, &str, &str, &str, &str); 4] = [
    ("v-min", "if(d mod 3 = 0, 2, 0)", "0", "without-gap", "the gap of 2 ticks at multiples of 3 is dropped"),
    ("v-half", "if(d mod 2 = 0, 3, 0)", "0", "without-gap", "the gap of 3 ticks at even d is dropped"),
    (
        "1f1b-v",
        "2*d + if(d mod 3 = 0, 2, 0) - 1 - i",
        "2*d - 1 - i",
        "without-gap",
        "the gap of 2 ticks before F of chunk 1 at multiples of 3 is dropped",
    ),
    (
        "v-min",
        " - if(d mod 3 = 2 and i mod 3 = 0, 2, 0)",
        "",
        "without-exception",
        "the devices that hold 2 less are forgotten",
    ),
];

pub(super) fn validity() -> Result<Vec<ProofFile>, ProveError> {
    let mut files = Vec::new();
    for (name, text) in SHIPPED {
        let family = shipped(name).expect("it is shipped");
        for theorem in theorems(&family)? {
            let Some(slug) = slug_of_validity(&theorem.subject) else { continue };
            let stem = format!("a-validity/{name}-{slug}");
            files.push(proof(&VALIDITY, stem.clone(), &family, &theorem));
            let (ticks, words, twin) = match theorem.subject {
                TheoremSubject::Room => {
                    ("longer-forward", "every F takes {} longer", longer_forward as Mutation)
                }
                _ => ("later-forward", "every F of chunk 0 starts {} later", later_forward as Mutation),
            };
            let (by, twin) = least_broken(&family, &theorem.subject, twin)?;
            let by = if by == 1 { "1 tick".to_owned() } else { format!("{by} ticks") };
            let change = words.replace("{}", &by);
            files.push(negative_control(&VALIDITY, format!("{stem}-{ticks}"), &family, &twin, &change));
        }
        files.extend(twins(&VALIDITY, "a-validity", (name, text), &TheoremSubject::Collisions)?);
    }
    Ok(files)
}

pub(super) fn waits() -> Result<Vec<ProofFile>, ProveError> {
    let mut files = Vec::new();
    for (name, _) in SHIPPED {
        let family = shipped(name).expect("it is shipped");
        let stated = Theorems::new(&family)?;
        for theorem in theorems(&family)? {
            let TheoremSubject::Delay { chunk, delays } = theorem.subject else { continue };
            let stem = format!("b-waits/{name}-{chunk}");
            files.push(proof(&WAITS, stem.clone(), &family, &theorem));
            let most = Delay { ticks: delays.most.ticks - Ticks(1), ..delays.most };
            let twin = stated.delay(chunk, Delays { least: shorter(delays.least, most), most });
            let change = "the longest wait is one tick shorter";
            files.push(negative_control(&WAITS, format!("{stem}-tightened"), &family, &twin, change));
        }
    }
    Ok(files)
}

pub(super) fn memory() -> Result<Vec<ProofFile>, ProveError> {
    let mut files = Vec::new();
    for (name, text) in SHIPPED {
        let family = shipped(name).expect("it is shipped");
        let tight = Family { promises: family.promises.iter().map(tightened).collect(), ..family.clone() };
        for (theorem, twin) in theorems(&family)?.into_iter().zip(theorems(&tight)?) {
            let slug = match theorem.subject {
                TheoremSubject::Lifespans => "lifespans".to_owned(),
                TheoremSubject::Promise(position) => format!("promise-{}", position + 1),
                _ => continue,
            };
            let stem = format!("c-peaks/{name}-{slug}");
            files.push(proof(&MEMORY, stem.clone(), &family, &theorem));
            let name = format!("{stem}-tightened");
            if theorem.subject == TheoremSubject::Lifespans {
                let (by, twin) = lowered(&theorem).ok_or(ProveError::NoControl { theorem: theorem.name })?;
                files.push(negative_control(
                    &MEMORY,
                    name,
                    &family,
                    &twin,
                    &format!("the bound is {by} less"),
                ));
            } else {
                files.push(negative_control(&MEMORY, name, &family, &twin, "the bound is tightened by one"));
            }
        }
        files.extend(twins(&MEMORY, "c-peaks", (name, text), &TheoremSubject::Promise(0))?);
    }
    Ok(files)
}

fn slug_of_validity(subject: &TheoremSubject) -> Option<&'static str> {
    match subject {
        TheoremSubject::Room => Some("room"),
        TheoremSubject::Dependencies => Some("dependencies"),
        TheoremSubject::Collisions => Some("collisions"),
        TheoremSubject::Delay { .. } | TheoremSubject::Lifespans | TheoremSubject::Promise(_) => None,
    }
}

fn proof(of: &NamedTheorem, name: String, family: &Family, theorem: &Theorem) -> ProofFile {
    ProofFile {
        theorem: of.name.to_owned(),
        name,
        statement: format!("Family {}: {}.", family.name, theorem.statement),
        used: USED.to_owned(),
        domain: family.domain.to_string(),
        expected: Expected::Unsat,
        text: script(theorem, &[format!("Theorem {}. Used {USED}.", of.name)]).text(Expected::Unsat),
    }
}

fn negative_control(
    of: &NamedTheorem,
    name: String,
    family: &Family,
    twin: &Theorem,
    change: &str,
) -> ProofFile {
    let used = format!("as a negative control of theorem {}, which must be refuted: {change}", of.name);
    ProofFile {
        theorem: of.name.to_owned(),
        name,
        statement: format!("False: family {}, except that {change}: {}.", family.name, twin.statement),
        domain: family.domain.to_string(),
        expected: Expected::Sat,
        text: script(twin, &[format!("Used {used}.")]).text(Expected::Sat),
        used,
    }
}

/// A change of a family by a number of ticks.
type Mutation = fn(&Family, i64) -> Family;

fn longer_forward(family: &Family, ticks: i64) -> Family {
    let mut twin = family.clone();
    twin.durations.forward += Ticks(ticks);
    twin
}

fn later_forward(family: &Family, ticks: i64) -> Family {
    let mut twin = family.clone();
    for offset in twin.passes.iter_mut().filter(|offset| (offset.kind, offset.chunk) == (Kind::F, 0)) {
        offset.at = Formula::Sum(Box::new(offset.at.clone()), Box::new(Formula::Integer(ticks)));
    }
    twin
}

/// The theorem of a twin that differs by the fewest ticks for which it is false, and those ticks.
fn least_broken(
    family: &Family,
    subject: &TheoremSubject,
    twin: Mutation,
) -> Result<(i64, Theorem), ProveError> {
    for ticks in 1..=family.interval.0 {
        for theorem in theorems(&twin(family, ticks))? {
            if theorem.subject == *subject && is_broken(&theorem) {
                return Ok((ticks, theorem));
            }
        }
    }
    Err(ProveError::NoControl {
        theorem: format!("{}.{}", family.name, slug_of_validity(subject).unwrap_or_default()),
    })
}

/// Whether a theorem is false for few devices, by exact evaluation.
fn is_broken(theorem: &Theorem) -> bool {
    let false_for = |devices| Device::all(devices).any(|i| theorem.holds(i, devices) == Some(false));
    (1..=TRIED).any(false_for)
}

/// The negative controls of [`TWINS`] about a subject.
fn twins(
    of: &NamedTheorem,
    folder: &str,
    (name, text): (&str, &str),
    subject: &TheoremSubject,
) -> Result<Vec<ProofFile>, ProveError> {
    let mut files = Vec::new();
    for (_, from, to, slug, change) in TWINS.into_iter().filter(|twin| twin.0 == name) {
        let family = parse(&text.replace(from, to)).expect("a test reads every twin");
        for theorem in theorems(&family)?.iter().filter(|theorem| theorem.subject == *subject) {
            if is_broken(theorem) {
                files.push(negative_control(of, format!("{folder}/{name}-{slug}"), &family, theorem, change));
            }
        }
    }
    Ok(files)
}

/// A promise that leaves one less.
fn tightened(promise: &Condition) -> Condition {
    match promise {
        Condition::Compare(left, Comparison::Greater | Comparison::AtLeast, right) => {
            Condition::Compare(left.clone(), Comparison::Greater, right.clone())
        }
        Condition::Compare(left, _, right) => {
            Condition::Compare(left.clone(), Comparison::Less, right.clone())
        }
        Condition::And(left, right) => Condition::And(Box::new(tightened(left)), Box::new(tightened(right))),
        Condition::Or(left, right) => Condition::Or(Box::new(tightened(left)), Box::new(tightened(right))),
    }
}

fn shorter(one: Delay, other: Delay) -> Delay {
    if other.ticks < one.ticks { other } else { one }
}

/// A theorem that says `at most`, with the bound lower by as little as makes it false, and by how much.
fn lowered(theorem: &Theorem) -> Option<(i64, Theorem)> {
    let Fact::Compare(left, Comparison::AtMost, right) = &theorem.claim else { return None };
    let lower = |by: i64| {
        let mut twin = theorem.clone();
        twin.claim = left.clone().compare(Comparison::AtMost, right.clone().minus(by));
        twin.statement = format!("{}, less {by}", theorem.statement);
        twin
    };
    (1..i64::from(TRIED)).map(|by| (by, lower(by))).find(|(_, twin)| is_broken(twin))
}
