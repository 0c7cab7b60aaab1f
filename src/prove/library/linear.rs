//! 1F1B holds as little as any block with linear placement does, on every device.

use super::free::{LINEAR_STEPS, Window};
use super::{NamedTheorem, ProofFile, Question};
use crate::prove::script::Script;

pub(super) const THEOREM: NamedTheorem = NamedTheorem {
    name: "J",
    title: "1F1B is memory-optimal, on every device",
    statement: "Take any block with linear placement, one microbatch per interval and no bubble (T = S = tF + tI + tW), \
                its offsets whatever they are. If tW < tF + tI, device i holds at least d - i stage activations at a \
                time, which is what 1F1B holds there. The condition is necessary: at tW = tF + tI half is enough.",
    domain: "every d >= 1, every device, all real tF, tI, tW > 0 with tW < tF + tI, any latency",
    by_solver: "base and step of an induction from the last device to the first, and what follows for the memory; for \
                integer offsets at unit times, and for real offsets and durations",
    on_paper: "that the induction carries over all devices, and where a pass may lie in an interval without a bubble",
    anchor: "j-1f1b-is-memory-optimal-on-every-device",
};

/// Base, step and conclusion for unit times: `n` is the number of devices behind this one.
fn unit(devices: u32, facts: &[&str], claim: &str) -> Script {
    let window = Window { steps: &LINEAR_STEPS, interval: 3, devices };
    let mut script = Script::new("QF_LIA");
    script.say(window.legend());
    script.say("n is the number of devices that follow device 0 of the window.");
    script.declare("n", "Int");
    script.assert("(>= n 0)");
    window.declare(&mut script);
    for device in 0..devices {
        Window::after(&mut script, &format!("I0_{device}"), &format!("F0_{device}"), "1");
        Window::after(&mut script, &format!("W0_{device}"), &format!("I0_{device}"), "1");
        if device > 0 {
            let before = device - 1;
            Window::after(&mut script, &format!("F0_{device}"), &format!("F0_{before}"), "1");
            Window::after(&mut script, &format!("I0_{before}"), &format!("I0_{device}"), "1");
        }
    }
    for fact in facts {
        script.assert(*fact);
    }
    script.assert(format!("(not {claim})"));
    script
}

/// The same for any durations. In an interval without a bubble F, I and W follow each other in one of two
/// orders, so that I starts `tF` or `tF + tW` after F, and whole intervals. `z` is what those intervals
/// exceed n intervals by: at most 0, or at least S.
fn any(condition: Option<&str>, facts: &[&str], claim: &str) -> Script {
    let mut script = Script::new("QF_LRA");
    script.say(
        "S is the interval. nS stands for n intervals, where n is the number of devices that follow the device \
         behind this one. L is the time from the start of F to the start of I on this device, M the same on the \
         device behind, w the time from F to W. L is (n+z)S, and tF or tF + tW more, with an integer z: zS is z \
         intervals, none or fewer, one, or two and more. The last pass of the interval is W in the first case, I in \
         the second. Likewise w is (n+y)S and tF + tI or tF more.",
    );
    for name in ["tF", "tI", "tW", "nS", "L", "M", "w", "zS", "yS"] {
        script.declare(name, "Real");
    }
    script.define("S", &[], "Real", "(+ tF tI tW)");
    script.assert("(and (> tF 0) (> tI 0) (> tW 0) (>= nS 0))");
    if let Some(condition) = condition {
        script.assert(condition);
    }
    for multiple in ["zS", "yS"] {
        script.assert(format!("(or (<= {multiple} 0) (= {multiple} S) (>= {multiple} (* 2 S)))"));
    }
    script.assert("(>= L tF)");
    script.assert("(>= w (+ L tI))");
    script.assert(
        "(or (and (= L (+ nS zS tF)) (= w (+ nS yS tF tI))) (and (= L (+ nS zS tF tW)) (= w (+ nS yS tF))))",
    );
    for fact in facts {
        script.assert(*fact);
    }
    script.assert(format!("(not {claim})"));
    script
}

pub(super) fn files() -> Vec<ProofFile> {
    // A device with n behind it: I starts at least 3n + 1 ticks after F.
    let behind = "(>= (- I0_1 F0_1) (+ (* 3 (- n 1)) 1))";
    let here = "(>= (- I0_0 F0_0) (+ (* 3 n) 1))";
    let peak = |more: &str| format!("(>= (- 1 k_F0_W0_0) (+ n {more}))");
    // True of every integer: cvc5 does not find this distinction by itself.
    let cases = "(or (<= (+ k_F0_I0_0 n) 0) (>= (+ k_F0_I0_0 n) 1))";
    let step = ["(>= n 1)", behind, cases];
    let chain = ["(>= M (+ nS tF))", "(>= L (+ M tF tI))"];
    let longer = "(>= L (+ nS S tF))";
    let entries: [(&str, &str, &str, Script, Option<&'static str>); 9] = [
        (
            "unit-step",
            "if I starts at least 3n-2 ticks after F on the device behind, it does so at least 3n+1 ticks after F here",
            "n >= 1, unit times",
            unit(2, &step, here),
            None,
        ),
        (
            "unit-step-tightened",
            "if I starts at least 3n-2 ticks after F on the device behind, it does so at least 3n+2 ticks after F here",
            "n >= 1, unit times",
            unit(2, &step, "(>= (- I0_0 F0_0) (+ (* 3 n) 2))"),
            Some("one tick more is claimed"),
        ),
        (
            "unit-peak",
            "a device on which I starts at least 3n+1 ticks after F holds at least n+1 stage activations",
            "n >= 0, unit times",
            unit(1, &[here], &peak("1")),
            None,
        ),
        (
            "unit-peak-tightened",
            "a device on which I starts at least 3n+1 ticks after F holds at least n+2 stage activations",
            "n >= 0, unit times",
            unit(1, &[here], &peak("2")),
            Some("1F1B holds one less"),
        ),
        (
            "any-step",
            "if I starts at least nS + tF after F on the device behind, it does so at least (n+1)S + tF after F here",
            "n >= 0, tW < tF + tI",
            any(Some("(< tW (+ tF tI))"), &chain, longer),
            None,
        ),
        (
            "any-step-tightened",
            "if I starts at least nS + tF after F on the device behind, it does so more than (n+1)S + tF after F here",
            "n >= 0, tW < tF + tI",
            any(Some("(< tW (+ tF tI))"), &chain, "(> L (+ nS S tF))"),
            Some("1F1B's I starts just then"),
        ),
        (
            "any-step-without-condition",
            "if I starts at least nS + tF after F on the device behind, it does so at least (n+1)S + tF after F here",
            "n >= 0, tW <= tF + tI",
            any(Some("(<= tW (+ tF tI))"), &chain, longer),
            Some("at tW = tF + tI there is a block with half of the memory, linear-half"),
        ),
        (
            "any-peak",
            "a device on which I starts at least nS + tF after F holds at least n+1 stage activations: W ends more than \
             nS after F has started",
            "n >= 0, any tW",
            any(None, &["(>= L (+ nS tF))"], "(> (+ w tW) nS)"),
            None,
        ),
        (
            "any-peak-tightened",
            "a device on which I starts at least nS + tF after F holds at least n+2 stage activations: W ends more than \
             (n+1)S after F has started",
            "n >= 0, any tW",
            any(None, &["(>= L (+ nS tF))"], "(> (+ w tW) (+ nS S))"),
            Some("1F1B holds one less"),
        ),
    ];
    let file =
        |(slug, statement, domain, script, wrong): (&str, &str, &str, Script, Option<&'static str>)| {
            let question = Question {
                theorem: &THEOREM,
                name: format!("j-1f1b-memory/{slug}"),
                statement: statement.to_owned(),
                used: wrong.unwrap_or("by the induction from the last device to the first"),
                domain: domain.to_owned(),
            };
            if wrong.is_some() { question.negative_control(script) } else { question.proof(script) }
        };
    entries.into_iter().map(file).collect()
}
