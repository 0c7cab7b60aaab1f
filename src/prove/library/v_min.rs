//! V-Min is memory-optimal: no block does with less.

use super::free::{V_STEPS, Window};
use super::{NamedTheorem, ProofFile, Question};
use crate::prove::script::Script;

pub(super) const THEOREM: NamedTheorem = NamedTheorem {
    name: "D",
    title: "V-Min is memory-optimal",
    statement: "Take any block with V placement, unit times, one microbatch per interval and no bubble (T = 6), its \
                offsets whatever they are. Some device holds at least 2*((d+4) div 3) stage activations at a time, \
                which is what V-Min needs (C).",
    domain: "d = 1 and d >= 3; false at d = 2, where 3 is possible",
    by_solver: "everything for integer offsets, a file for each d mod 3; where 3 divides d, and where it leaves 1, \
                the first device alone is enough, otherwise the first three are",
    on_paper: "that rational offsets gain nothing",
    anchor: "d-v-min-is-memory-optimal",
};

/// A case: d mod 3, the devices of the window, and the least d.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub residue: i64,
    pub window: u32,
    pub least: i64,
}

pub(super) const CASES: [Case; 3] = [
    Case { residue: 0, window: 1, least: 3 },
    Case { residue: 1, window: 1, least: 1 },
    Case { residue: 2, window: 3, least: 5 },
];

impl Case {
    pub const fn window(self) -> Window {
        Window { steps: &V_STEPS, interval: 6, devices: self.window }
    }

    /// The peak of V-Min, with d = 3e + residue.
    fn peak(self, more: i64) -> String {
        format!("(+ (* 2 e) {})", 2 * ((self.residue + 4) / 3) + more)
    }

    /// The question whether every device of the window can hold so much more than V-Min's peak, or less.
    pub fn script(self, more: i64) -> Script {
        let window = self.window();
        let mut script = Script::new("QF_LIA");
        script.say(window.legend());
        script.declare("e", "Int");
        script.define("d", &[], "Int", format!("(+ (* 3 e) {})", self.residue));
        script.assert(format!("(>= d {})", self.least));
        window.declare(&mut script);
        window.depend_as_v(&mut script);
        for device in 0..self.window {
            script.assert(window.peak_at_most(device, &self.peak(more)));
        }
        script
    }

    fn domain(self) -> String {
        format!("d mod 3 = {}, d >= {}", self.residue, self.least)
    }
}

pub(super) fn files() -> Vec<ProofFile> {
    let mut files = Vec::new();
    for case in CASES {
        let devices = if case.window == 1 {
            "device 0".to_owned()
        } else {
            format!("devices 0 to {}", case.window - 1)
        };
        let stem = format!("d-v-min-memory/residue-{}", case.residue);
        let below = "less than 2*((d+4) div 3) stage activations on";
        files.push(
            Question {
                theorem: &THEOREM,
                name: stem.clone(),
                statement: format!("no block with V placement, unit times and T = 6 holds {below} {devices}"),
                used: "by C, whose peak of V-Min it shows to be the least",
                domain: case.domain(),
            }
            .proof(case.script(-1)),
        );
        files.push(
            Question {
                theorem: &THEOREM,
                name: format!("{stem}-tightened"),
                statement: format!("no block holds at most 2*((d+4) div 3) stage activations on {devices}"),
                used: "the bound is one more than V-Min holds",
                domain: case.domain(),
            }
            .negative_control(case.script(0)),
        );
    }
    let others = [
        (
            "two-devices",
            "no block of two devices holds less than 4 stage activations on each",
            "d = 2",
            "two devices do with 3 each",
            Case { residue: 2, window: 2, least: 2 },
            true,
        ),
        (
            "smaller-window",
            "no block holds less than 2*((d+4) div 3) stage activations on devices 0 and 1",
            "d mod 3 = 2, d >= 5",
            "where d mod 3 = 2 the first two devices are not enough",
            Case { residue: 2, window: 2, least: 5 },
            false,
        ),
    ];
    for (slug, statement, domain, used, case, only_least) in others {
        let mut script = case.script(-1);
        if only_least {
            script.assert(format!("(= d {})", case.least));
        }
        let question = Question {
            theorem: &THEOREM,
            name: format!("d-v-min-memory/{slug}"),
            statement: statement.to_owned(),
            used,
            domain: domain.to_owned(),
        };
        files.push(question.negative_control(script));
    }
    files
}
