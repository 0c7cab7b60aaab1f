//! When a steady phase is free of bubbles: what follows from the intervals of V-Half and V-Min.

use super::{NamedTheorem, ProofFile, Question};
use crate::prove::script::Script;

pub(super) const THEOREM: NamedTheorem = NamedTheorem {
    name: "K",
    title: "When the steady phase has no bubble",
    statement: "In the squeezed order V-Half has no bubble in its steady phase if and only if tW + 2tI >= 2tF and \
                tW + 2tF >= 2tI, V-Min if and only if tI + tW >= 2tF and tF + tW >= 2tI. V-Half's interval is never \
                longer than V-Min's, and V-Min's is never more than three halves of V-Half's.",
    domain: "all real tF, tI, tW >= 0; V-Half d >= 2, V-Min d >= 3, as in E",
    by_solver: "everything that follows from the intervals",
    on_paper: "nothing beyond E, which gives the intervals",
    anchor: "k-when-the-steady-phase-has-no-bubble",
};

/// The larger of two terms.
fn larger(one: &str, other: &str) -> String {
    format!("(ite (>= {one} {other}) {one} {other})")
}

/// A question about durations: is there one for which this is false?
fn script(claim: &str) -> Script {
    let mut script = Script::new("QF_LRA");
    script.say(
        "S is the work of a stage for one microbatch; a device has two, so no interval is shorter than 2S. v_half and \
         v_min are the intervals of the squeezed orders (E).",
    );
    for name in ["tF", "tI", "tW"] {
        script.declare(name, "Real");
        script.assert(format!("(>= {name} 0)"));
    }
    script.define("S", &[], "Real", "(+ tF tI tW)");
    for (name, forward, input) in
        [("v_half", "(+ (* 4 tF) tW)", "(+ (* 4 tI) tW)"), ("v_min", "(* 6 tF)", "(* 6 tI)")]
    {
        script.define(&format!("{name}_chain"), &[], "Real", larger(forward, input));
        script.define(name, &[], "Real", larger("(* 2 S)", &format!("{name}_chain")));
    }
    script.assert(format!("(not {claim})"));
    script
}

const V_HALF_FREE: &str = "(and (>= (+ tW (* 2 tI)) (* 2 tF)) (>= (+ tW (* 2 tF)) (* 2 tI)))";
const V_MIN_FREE: &str = "(and (>= (+ tI tW) (* 2 tF)) (>= (+ tF tW) (* 2 tI)))";

/// Slug, statement, claim, and either nothing or what is false about it.
fn questions() -> [(&'static str, &'static str, String, Option<&'static str>); 9] {
    let free = |name: &str, condition: &str| format!("(= (= {name} (* 2 S)) {condition})");
    let either = "(or (>= (+ tW (* 2 tI)) (* 2 tF)) (>= (+ tW (* 2 tF)) (* 2 tI)))";
    let v_half = "V-Half's interval is 2S if and only if tW + 2tI >= 2tF and tW + 2tF >= 2tI";
    let v_min = "V-Min's interval is 2S if and only if tI + tW >= 2tF and tF + tW >= 2tI";
    [
        ("v-half", v_half, free("v_half", V_HALF_FREE), None),
        (
            "v-half-one-side",
            "V-Half's interval is 2S if and only if tW + 2tI >= 2tF or tW + 2tF >= 2tI",
            free("v_half", either),
            Some("one of the two conditions is not enough"),
        ),
        ("v-min", v_min, free("v_min", V_MIN_FREE), None),
        (
            "v-min-as-v-half",
            "V-Min's interval is 2S if and only if tW + 2tI >= 2tF and tW + 2tF >= 2tI",
            free("v_min", V_HALF_FREE),
            Some("V-Half's condition is not V-Min's"),
        ),
        ("v-half-not-longer", "V-Half's interval is at most V-Min's", "(<= v_half v_min)".to_owned(), None),
        (
            "v-min-not-longer",
            "V-Min's interval is at most V-Half's",
            "(<= v_min v_half)".to_owned(),
            Some("less memory costs time when passes differ"),
        ),
        (
            "v-min-three-halves",
            "V-Min's interval is at most three halves of V-Half's",
            "(<= (* 2 v_min) (* 3 v_half))".to_owned(),
            None,
        ),
        (
            "v-min-less-than-three-halves",
            "V-Min's interval is less than three halves of V-Half's, if there is any work",
            "(or (= S 0) (< (* 2 v_min) (* 3 v_half)))".to_owned(),
            Some("with tW = 0 and tI <= tF it is three halves"),
        ),
        (
            "v-half-twice",
            "V-Half's interval is at most twice the work of the device for a microbatch",
            "(<= v_half (* 4 S))".to_owned(),
            None,
        ),
    ]
}

pub(super) fn files() -> Vec<ProofFile> {
    let file = |(slug, statement, claim, wrong): (&str, &str, String, Option<&'static str>)| {
        let question = Question {
            theorem: &THEOREM,
            name: format!("k-bubble-free/{slug}"),
            statement: statement.to_owned(),
            used: wrong.unwrap_or("with E, whose intervals it compares"),
            domain: "real tF, tI, tW >= 0".to_owned(),
        };
        if wrong.is_some() {
            question.negative_control(script(&claim))
        } else {
            question.proof(script(&claim))
        }
    };
    questions().into_iter().map(file).collect()
}
