//! The window bound on the makespan with V placement, and the lemmas that it rests on.

use super::{NamedTheorem, ProofFile, Question};
use crate::prove::script::Script;

pub(super) const THEOREM: NamedTheorem = NamedTheorem {
    name: "H",
    title: "The window bound",
    statement: "With V placement, unit times and no latency, a schedule in which the last device holds at most k \
                stage activations takes at least 6m + 6d - 3k - 1 ticks, if m > k/2. An activation is released by W \
                or B only.",
    domain: "d >= 1, k >= 1, m > k/2; the side condition is necessary (d = 2, m = 1, k = 2)",
    by_solver: "the steps of the inductions along the stages, and the last step, for unit times and for any",
    on_paper: "that the inductions carry over all stages, and the counting of the passes in a window",
    anchor: "h-the-window-bound",
};

/// The formula of the bound.
const BOUND: &str = "(- (+ (* 6 m) (* 6 d)) (* 3 k) 1)";

/// What the makespan is compared with, and whether the side condition is asserted.
pub(super) fn last_step(bound: &str, condition: bool) -> Script {
    let mut script = Script::new("QF_LIA");
    script.say(
        "M is the makespan. first is the work of the last device in the first 3d-1 ticks, in which it can only run F, \
         at most k of them; last its work in the last 3d ticks, in which it runs no F, and I and W of at most k \
         stages. The remaining work lies between, if there is anything between; if not, the two windows cover \
         everything.",
    );
    for name in ["d", "m", "k", "M", "first", "last"] {
        script.declare(name, "Int");
    }
    script.assert("(and (>= d 1) (>= m 1) (>= k 1))");
    if condition {
        script.assert("(> (* 2 m) k)");
    }
    script.assert("(<= 0 first k)");
    script.assert("(<= 0 last (* 2 k))");
    script.assert("(ite (>= M (- (* 6 d) 1)) (<= (* 6 m) (+ first last (- M (- (* 6 d) 1)))) (<= (* 6 m) (+ first last)))");
    script.assert(format!("(not (>= M {bound}))"));
    script
}

/// The last step for any device, windows and durations.
fn any_windows(condition: bool) -> Script {
    let mut script = Script::new("QF_LRA");
    script.say(
        "work is all work of a device, M its span, t1 and t2 the lengths of its windows, u1 and u2 the most work \
         that it can do in them, first and last what it does there.",
    );
    for name in ["work", "M", "t1", "t2", "u1", "u2", "first", "last"] {
        script.declare(name, "Real");
    }
    script.assert("(and (<= 0 first u1) (<= 0 last u2) (<= u1 t1) (<= u2 t2))");
    if condition {
        script.assert("(> work (+ u1 u2))");
    }
    script.assert("(ite (>= M (+ t1 t2)) (<= work (+ first last (- M (+ t1 t2)))) (<= work (+ first last)))");
    script.assert("(not (>= M (+ work (- t1 u1) (- t2 u2))))");
    script
}

/// The step of an induction along the stages: from what is known of `at` one stage to the other one.
struct Lemma {
    slug: &'static str,
    statement: &'static str,
    legend: &'static str,
    names: &'static [&'static str],
    premises: &'static [&'static str],
    claim: &'static str,
    /// The claim, tightened by one.
    tightened: &'static str,
}

const LEMMAS: [Lemma; 6] = [
    Lemma {
        slug: "head",
        statement: "if no F of stage s-1 starts before s-1, no F of stage s starts before s",
        legend: "f is the start of an F of stage s, p that of the same microbatch one stage before.",
        names: &["s", "p", "f"],
        premises: &["(>= s 1)", "(>= p (- s 1))", "(>= f (+ p 1))"],
        claim: "(>= f s)",
        tightened: "(>= f (+ s 1))",
    },
    Lemma {
        slug: "first-input-base",
        statement: "if no F of the last stage, 2d-1, starts before 2d-1, no I of that stage starts before 2d",
        legend: "f and g are the starts of F and I of the last stage.",
        names: &["d", "f", "g"],
        premises: &["(>= d 1)", "(>= f (- (* 2 d) 1))", "(>= g (+ f 1))"],
        claim: "(>= g (* 2 d))",
        tightened: "(>= g (+ (* 2 d) 1))",
    },
    Lemma {
        slug: "first-input",
        statement: "if no I of stage s+1 starts before 4d-2-s, no I of stage s starts before 4d-1-s; for stage d, the \
                    first of the last device to run an I, that is 3d-1",
        legend: "n and g are the starts of I of stages s+1 and s.",
        names: &["d", "s", "n", "g"],
        premises: &["(<= 0 s (- (* 2 d) 2))", "(>= n (- (* 4 d) 2 s))", "(>= g (+ n 1))"],
        claim: "(and (>= g (- (* 4 d) 1 s)) (=> (= s d) (>= g (- (* 3 d) 1))))",
        tightened: "(>= g (- (* 4 d) s))",
    },
    Lemma {
        slug: "tail-input",
        statement: "if every I of stage s-1 ends by M-s, every I of stage s ends by M-s-1; I of stage 0 ends by M-1, for \
                    its W follows",
        legend: "M is the makespan; p and e are the ends of I of stages s-1 and s, w the end of the W of stage 0.",
        names: &["M", "s", "p", "e", "w"],
        premises: &[
            "(>= s 0)",
            "(ite (= s 0) (and (<= w M) (<= (+ e 1) w)) (and (<= p (- M s)) (<= (+ e 1) p)))",
        ],
        claim: "(<= e (- M s 1))",
        tightened: "(<= e (- M s 2))",
    },
    Lemma {
        slug: "tail-base",
        statement: "if every I of the last stage, 2d-1, ends by M-2d, every F of that stage ends by M-2d-1",
        legend: "M is the makespan; e and g are the ends of F and I of the last stage.",
        names: &["M", "d", "e", "g"],
        premises: &["(>= d 1)", "(<= g (- M (* 2 d)))", "(<= (+ e 1) g)"],
        claim: "(<= e (- M (* 2 d) 1))",
        tightened: "(<= e (- M (* 2 d) 2))",
    },
    Lemma {
        slug: "tail",
        statement: "if every F of stage s+1 ends by M-(4d-1-s), every F of stage s ends by M-(4d-s); for stage d, the \
                    last of the last device to run an F, that is M-3d",
        legend: "M is the makespan; n and e are the ends of F of stages s+1 and s.",
        names: &["M", "d", "s", "n", "e"],
        premises: &["(<= 0 s (- (* 2 d) 2))", "(<= n (- M (- (* 4 d) 1 s)))", "(<= (+ e 1) n)"],
        claim: "(and (<= e (- M (- (* 4 d) s))) (=> (= s d) (<= e (- M (* 3 d)))))",
        tightened: "(<= e (- M (- (* 4 d) s) 1))",
    },
];

impl Lemma {
    fn script(&self, claim: &str) -> Script {
        let mut script = Script::new("QF_LIA");
        script.say(self.legend);
        for name in self.names {
            script.declare(name, "Int");
        }
        for premise in self.premises {
            script.assert(*premise);
        }
        script.assert(format!("(not {claim})"));
        script
    }

    fn files(&self) -> [ProofFile; 2] {
        let question = |slug: &str, used: &'static str| Question {
            theorem: &THEOREM,
            name: format!("h-window/{}{slug}", self.slug),
            statement: self.statement.to_owned(),
            used,
            domain: "d >= 1, unit times".to_owned(),
        };
        [
            question("", "by the induction along the stages").proof(self.script(self.claim)),
            question("-tightened", "one tick more is claimed").negative_control(self.script(self.tightened)),
        ]
    }
}

pub(super) fn files() -> Vec<ProofFile> {
    let mut files: Vec<ProofFile> = LEMMAS.iter().flat_map(Lemma::files).collect();
    let unit = "the makespan is at least 6m+6d-3k-1";
    let any = "the span of a device is at least its work, t1-u1 and t2-u2 together, if it does at most u1 in its first \
               t1 ticks and at most u2 in its last t2";
    let counted = "by the window bound of certificates at unit times, the formula 6n+6p-3k-1 of the paper";
    let condition = "d >= 1, k >= 1, m > k/2, unit times";
    let entries = [
        ("last-step", unit, counted, condition, last_step(BOUND, true), true),
        (
            "last-step-tightened",
            "the makespan is at least 6m+6d-3k",
            "the bound is one more",
            condition,
            last_step(&format!("(+ {BOUND} 1)"), true),
            false,
        ),
        (
            "last-step-without-condition",
            unit,
            "the side condition m > k/2 is dropped",
            "d >= 1, k >= 1, m >= 1, unit times",
            last_step(BOUND, false),
            false,
        ),
        (
            "nine-ticks",
            unit,
            "these numbers have a schedule of 9 ticks, and the formula says 11",
            "d = 2, m = 1, k = 2",
            nine_ticks(),
            false,
        ),
        (
            "any-windows",
            any,
            "by the window bound of certificates, for every device, placement, duration and latency",
            "work > u1 + u2, real durations",
            any_windows(true),
            true,
        ),
        (
            "any-windows-without-condition",
            any,
            "the condition that the work is more than fits the windows is dropped",
            "real durations",
            any_windows(false),
            false,
        ),
    ];
    for (slug, statement, used, domain, script, holds) in entries {
        let question = Question {
            theorem: &THEOREM,
            name: format!("h-window/{slug}"),
            statement: statement.to_owned(),
            used,
            domain: domain.to_owned(),
        };
        files.push(if holds { question.proof(script) } else { question.negative_control(script) });
    }
    files
}

/// The smallest problem for which the bound is wrong without its side condition, at its true makespan.
fn nine_ticks() -> Script {
    let mut script = last_step(BOUND, false);
    script.assert("(and (= d 2) (= m 1) (= k 2) (= M 9))");
    script
}
