//! V-Half is memory-optimal: no block does with less that is free of bubbles wherever V-Half is.

use super::free::{V_STEPS_WITHOUT_WEIGHT, Window};
use super::{NamedTheorem, ProofFile, Question};
use crate::prove::script::Script;

pub(super) const THEOREM: NamedTheorem = NamedTheorem {
    name: "L",
    title: "V-Half is memory-optimal where it has no bubble",
    statement: "Take any block with V placement and one microbatch per interval that has no bubble when I takes as \
                long as F, and W no time. Device 0 holds at least 2*((d+2) div 2) stage activations at a time, which \
                is what V-Half holds (C); so does every device if d is odd, every second one if d is even. So V-Half \
                holds as little as any order that is free of bubbles for all the durations for which V-Half is (K).",
    domain: "every d >= 1, tF = tI > 0, tW = 0, any latency",
    by_solver: "everything for integer offsets and tF = tI = 1, a file for each parity of d and i",
    on_paper: "that rational offsets gain nothing; that a W which takes no time releases no earlier than its I ends",
    anchor: "l-v-half-is-memory-optimal-where-it-has-no-bubble",
};

const WINDOW: Window = Window { steps: &V_STEPS_WITHOUT_WEIGHT, interval: 4, devices: 1 };

/// The question whether device i can hold so much more than V-Half's peak, or less.
fn script(parity: i64, of_device: i64, more: i64) -> Script {
    let mut script = Script::new("QF_LIA");
    script.say(WINDOW.legend());
    script
        .say("Here that is device i of d. The stages between its chunks are passed through without a pause.");
    script.declare("g", "Int");
    script.declare("h", "Int");
    script.define("d", &[], "Int", format!("(+ (* 2 h) {parity})"));
    script.define("i", &[], "Int", format!("(+ (* 2 g) {of_device})"));
    script.assert("(and (<= 0 i) (< i d))");
    WINDOW.declare(&mut script);
    let behind = "(- (* 2 (- d i)) 1)";
    Window::after(&mut script, "F1_0", "F0_0", behind);
    Window::after(&mut script, "I1_0", "F1_0", "(+ (* 2 i) 1)");
    Window::after(&mut script, "I0_0", "I1_0", behind);
    script.assert(WINDOW.peak_at_most(0, &format!("(+ (* 2 h) {})", 2 + more)));
    script
}

pub(super) fn files() -> Vec<ProofFile> {
    let words = |parity: i64| if parity == 0 { "even" } else { "odd" };
    let question = |(parity, of_device): (i64, i64), suffix: &str, bound: &str, used: &'static str| {
        Question {
            theorem: &THEOREM,
            name: format!("l-v-half-memory/d-{}-i-{}{suffix}", words(parity), words(of_device)),
            statement: format!(
                "no block with V placement, tF = tI = 1, tW = 0 and T = 4 holds {bound} 2*((d+2) div 2) stage activations on \
             device i"
            ),
            used,
            domain: format!("d {}, i {}, 0 <= i < d", words(parity), words(of_device)),
        }
    };
    let mut files = Vec::new();
    for (parity, of_device) in [(0, 0), (1, 0), (1, 1)] {
        let case = (parity, of_device);
        let used = "by C, whose peak of V-Half it shows to be the least";
        files.push(question(case, "", "less than", used).proof(script(parity, of_device, -1)));
        let used = "the bound is one more than V-Half holds";
        files.push(
            question(case, "-tightened", "at most", used).negative_control(script(parity, of_device, 0)),
        );
    }
    let used = "on these devices one less is enough";
    files.push(question((0, 1), "-tightened", "less than", used).negative_control(script(0, 1, -1)));
    files
}
