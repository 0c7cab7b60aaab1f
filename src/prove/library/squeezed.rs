//! The theorems about squeezed orders: the steady interval for all durations, without latency and with it.

use super::{NamedTheorem, ProofFile, Question, makespans};
use crate::block::family::shipped;
use crate::prove::ProveError;
use crate::prove::squeeze::{Questions, Twin, Witness, squeezed_intervals};
use crate::stop::Stop;

pub(super) const INTERVAL: NamedTheorem = NamedTheorem {
    name: "E",
    title: "The interval of squeezed orders",
    statement: "Squeezed, with any durations of F, I and W that are not negative and without latency, the order of \
                a shipped block takes in the long run, for each microbatch, exactly as long as the largest of a few \
                sums of durations: for V-Half max(2S, 4tF+tW, 4tI+tW), for V-Min max(2S, 6tF, 6tI), for V-ZB 2S, \
                for 1F1B-V max(2S, 6tF), where S = tF+tI+tW, and S for the linear families.",
    domain: "d >= 1; as a lower bound V-Min from d = 3, V-Half from d = 2, 1F1B-V from d = 4",
    by_solver: "that each of the sums is the length of a cycle of passes that wait for each other, a file for each \
                and each residue of d; that no more is needed is theorem F without latency",
    on_paper: "that a cycle which advances by one microbatch bounds the interval from below",
    anchor: "e-the-interval-of-squeezed-orders",
};

pub(super) const LATENCY: NamedTheorem = NamedTheorem {
    name: "F",
    title: "The interval with latency",
    statement: "With a latency c between devices, the squeezed order of a shipped block takes in the long run, for \
                each microbatch, at most as long as the largest of a few forms: for V-Half max(2S, 4tF+tW+2c, 4tF+4c, \
                4tI+tW+2c, 4tI+4c), for V-Min max(2S+8c/3, 6tF+6c, 6tI+6c), for V-ZB max(2S, 2tF+2c, 2tI+2c), for \
                1F1B-V max(2S+8c/3, 6tF+6c), for 1F1B and ZB-H1 max(S, tF+tI+2c), for eager 1F1B and ZB-H2 max(S, \
                (tF+tI)/2+c).",
    domain: "every d in the domain of the family",
    by_solver: "for each residue of d, that it fixes the order of the passes on a device and the rounds between them; \
                for each form that can be the largest, that start times with that interval meet all orders and \
                dependencies",
    on_paper: "that the points where a form is the largest are the sums of multiples of the extreme rays of their \
               cone; that squeezed times are the earliest",
    anchor: "f-the-interval-with-latency",
};

pub(super) const MAKESPAN: NamedTheorem = NamedTheorem {
    name: "G",
    title: "The makespan of squeezed V-Min",
    statement: "Squeezed, at unit times and without latency, V-Min takes 6m + 4d - 5 for every m >= 1 where 3 does \
                not divide d, and 6m + 4d - 3 for every m >= 2 where it does. For d = 1 (mod 3) this is the window bound of \
                theorem H: no schedule of the same memory is shorter.",
    domain: "d >= 3, m >= 1",
    by_solver: "that the start times on which the bound rests meet all orders and dependencies, and that the rotor \
                which reaches it, around which the critical path goes once for each microbatch, follows the order \
                of its devices, a file for each residue of d; where 3 divides d, the critical path itself",
    on_paper: "that the last end of those start times is the bound, which `bubbleproof check` evaluates from the \
               witness; the path along the rotor",
    anchor: "g-the-makespan-of-squeezed-v-min",
};

const USED_MAKESPAN: &str =
    "by `bubbleproof prove`, for the makespan of squeezed V-Min with any number of microbatches";

/// The files of G.
pub(super) fn makespans(stop: &Stop) -> Result<Vec<ProofFile>, ProveError> {
    let family = shipped("v-min").expect("it is shipped");
    let questions = Questions::of(&family)?;
    let witness = Witness::of(&family, stop)?;
    let residues = witness.intervals()[0].residues;
    let mut files = Vec::new();
    for makespan in witness.makespans() {
        let residue = makespan.residue;
        let question =
            |kind: &str, statement: &str, twin: Twin, used: &'static str, domain: String| Question {
                theorem: &MAKESPAN,
                name: format!("g-makespan/v-min-{residue}-{kind}{}", suffix(twin)),
                statement: format!("v-min, d = {residue} (mod {residues}): {statement}"),
                used,
                domain,
            };
        let domain = family.domain.to_string();
        let starts =
            "the start times on which the bound on the makespan rests meet all orders and dependencies";
        let script = questions.start_times(makespan, Twin::No)?;
        files.push(question("start-times", starts, Twin::No, USED_MAKESPAN, domain.clone()).proof(script));
        let Some(rotor) = &makespan.rotor else {
            let script = questions.start_times(makespan, Twin::Yes)?;
            let used = "the interval is a tenth shorter";
            files.push(question("start-times", starts, Twin::Yes, used, domain).negative_control(script));
            continue;
        };
        let domain = format!("{domain}, d >= {}", rotor.devices);
        let follows = "every pass of the rotor comes after the one before";
        let script = questions.rotor(makespan, rotor, Twin::No)?;
        files.push(question("rotor", follows, Twin::No, USED_MAKESPAN, domain.clone()).proof(script));
        let script = questions.rotor(makespan, rotor, Twin::Yes)?;
        let used = "the first order of the rotor is denied";
        files.push(question("rotor", follows, Twin::Yes, used, domain).negative_control(script));
    }
    files.extend(makespans::v_min(&MAKESPAN)?);
    Ok(files)
}

/// The families whose formulas repeat after six devices or fewer. The others have as many cases as
/// residues, of which their witnesses, which need no solver, are the proof.
const FAMILIES: [&str; 11] = [
    "1f1b",
    "eager-1f1b",
    "zb-h1",
    "zb-h2",
    "linear-half",
    "1f1b-v",
    "interleaved-1f1b-2",
    "interleaved-1f1b-4",
    "v-min",
    "v-half",
    "v-zb",
];

const USED_INTERVAL: &str = "by `bubbleproof prove`, for the interval of a family at unequal durations";

/// The files of E.
pub(super) fn intervals(stop: &Stop) -> Result<Vec<ProofFile>, ProveError> {
    let mut files = Vec::new();
    for name in FAMILIES {
        if stop.is_due() {
            return Ok(files);
        }
        let family = shipped(name).expect("it is shipped");
        let questions = Questions::of(&family)?;
        let intervals = squeezed_intervals(&family, false, stop)?;
        for (position, case) in intervals.cases.iter().enumerate() {
            for (number, term) in case.terms.iter().enumerate() {
                let Some(attained) = &term.attained else { continue };
                let question = |twin: Twin| Question {
                    theorem: &INTERVAL,
                    name: format!("e-interval/{name}-{}-cycle-{}{}", case.residue, number + 1, suffix(twin)),
                    statement: format!(
                        "{name}, d = {} (mod {}): there is a cycle of passes, each of which comes after the one \
                         before, that takes {} for each microbatch",
                        case.residue, intervals.residues, term.rate
                    ),
                    used: if twin == Twin::No {
                        USED_INTERVAL
                    } else {
                        "the first step of the cycle is denied"
                    },
                    domain: format!("{}, d >= {}", family.domain, attained.devices),
                };
                let script = questions.lower(case, attained, Twin::No)?;
                files.push(question(Twin::No).proof(script));
                if position == 0 && number == 0 {
                    let script = questions.lower(case, attained, Twin::Yes)?;
                    files.push(question(Twin::Yes).negative_control(script));
                }
            }
        }
    }
    Ok(files)
}

/// The files of F.
pub(super) fn latency(stop: &Stop) -> Result<Vec<ProofFile>, ProveError> {
    let mut files = Vec::new();
    for name in FAMILIES {
        if stop.is_due() {
            return Ok(files);
        }
        let family = shipped(name).expect("it is shipped");
        let questions = Questions::of(&family)?;
        let intervals = squeezed_intervals(&family, true, stop)?;
        for (position, case) in intervals.cases.iter().enumerate() {
            let tables = |twin: Twin| Question {
                theorem: &LATENCY,
                name: format!("f-latency/{name}-{}-tables{}", case.residue, suffix(twin)),
                statement: format!(
                    "{name}, d = {} (mod {}): residues and rounds are those of the tables",
                    case.residue, intervals.residues
                ),
                used: if twin == Twin::No { USED_INTERVAL } else { "the first residue is denied" },
                domain: family.domain.to_string(),
            };
            files.push(tables(Twin::No).proof(questions.tables(case.residue, Twin::No)?));
            if position == 0 {
                files.push(tables(Twin::Yes).negative_control(questions.tables(case.residue, Twin::Yes)?));
            }
            for (number, term) in case.terms.iter().enumerate() {
                let question = |twin: Twin| Question {
                    theorem: &LATENCY,
                    name: format!("f-latency/{name}-{}-form-{}{}", case.residue, number + 1, suffix(twin)),
                    statement: format!(
                        "{name}, d = {} (mod {}): where {} is the largest form, there are start times with that \
                         interval",
                        case.residue, intervals.residues, term.rate
                    ),
                    used: if twin == Twin::No { USED_INTERVAL } else { "the interval is a tenth shorter" },
                    domain: family.domain.to_string(),
                };
                files.push(question(Twin::No).proof(questions.upper(case, term, Twin::No)?));
                if position == 0 && number == 0 {
                    files.push(question(Twin::Yes).negative_control(questions.upper(
                        case,
                        term,
                        Twin::Yes,
                    )?));
                }
            }
        }
    }
    Ok(files)
}

const fn suffix(twin: Twin) -> &'static str {
    match twin {
        Twin::No => "",
        Twin::Yes => "-control",
    }
}
