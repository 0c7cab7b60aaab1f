//! Critical paths of squeezed orders, for any number of devices and microbatches.

use crate::prove::script::Script;

/// A pass of a path: its name, its device and its microbatch. Both may speak of `k`.
type OnPath = [&'static str; 3];

/// A stretch of a path: some passes, again for every `k` from 0 on.
pub(super) struct Stretch {
    /// They follow each other; the first follows the last of the `k` before.
    pub passes: &'static [OnPath],
    /// How often.
    pub times: &'static str,
}

/// A path: its stretches one after the other. One that is gone through no time is left out.
pub(super) type Path = &'static [Stretch];

const fn stretch(passes: &'static [OnPath], times: &'static str) -> Stretch {
    Stretch { passes, times }
}

const DOWN: Stretch = stretch(&[["F0", "k", "0"]], "d");
const UP: Stretch = stretch(&[["F1", "(- d 1 k)", "0"]], "d");
const BACK: Stretch = stretch(&[["I1", "k", "0"]], "d");
const LAST_UP: Stretch = stretch(&[["I0", "(- d 1 k)", "(- m 1)"]], "d");
const LAST: Stretch = stretch(&[["W0", "0", "(- m 1)"]], "1");

/// The last device of V-Half while it is busy.
const V_HALF_STEADY: Stretch = stretch(
    &[
        ["W1", "(- d 1)", "k"],
        ["I0", "(- d 1)", "k"],
        ["W0", "(- d 1)", "k"],
        ["F0", "(- d 1)", "(+ k h 1)"],
        ["F1", "(- d 1)", "(+ k h 1)"],
        ["I1", "(- d 1)", "(+ k 1)"],
    ],
    "(- m 1 h)",
);

/// The last two devices of V-Half when no forward pass is left.
const V_HALF_COOL_DOWN: Stretch = stretch(
    &[
        ["W1", "(- d 1)", "(+ (- m 1 h) k)"],
        ["I0", "(- d 1)", "(+ (- m 1 h) k)"],
        ["I0", "(- d 2)", "(+ (- m 1 h) k)"],
        ["I1", "(- d 2)", "(+ (- m h) k)"],
        ["I1", "(- d 1)", "(+ (- m h) k)"],
    ],
    "h",
);

const V_HALF_LAST_WEIGHT: Stretch = stretch(&[["W1", "(- d 1)", "(- m 1)"]], "1");

/// V-Half, d = 2h. The forward passes of the first two microbatches keep each other waiting on the last two
/// devices.
pub(super) const V_HALF_EVEN: Path = &[
    DOWN,
    stretch(&[["F1", "(- d 1 k)", "0"]], "2"),
    stretch(&[["F0", "(+ (- d 2) k)", "1"]], "2"),
    stretch(&[["F1", "(- d 1 k)", "1"]], "(- d 1)"),
    stretch(&[["I1", "(+ 1 k)", "0"]], "(- d 1)"),
    V_HALF_STEADY,
    V_HALF_COOL_DOWN,
    V_HALF_LAST_WEIGHT,
    LAST_UP,
    LAST,
];

/// V-Half, d = 2h + 1.
pub(super) const V_HALF_ODD: Path =
    &[DOWN, UP, BACK, V_HALF_STEADY, V_HALF_COOL_DOWN, V_HALF_LAST_WEIGHT, LAST_UP, LAST];

/// V-ZB: the last device is busy from its first pass to the last but d.
pub(super) const V_ZB: Path = &[
    DOWN,
    UP,
    BACK,
    stretch(
        &[
            ["I0", "(- d 1)", "k"],
            ["W1", "(- d 1)", "k"],
            ["W0", "(- d 1)", "k"],
            ["F0", "(- d 1)", "(+ k d)"],
            ["F1", "(- d 1)", "(+ k d)"],
            ["I1", "(- d 1)", "(+ k 1)"],
        ],
        "(- m d)",
    ),
    stretch(
        &[
            ["I0", "(- d 1)", "(+ (- m d) k)"],
            ["W1", "(- d 1)", "(+ (- m d) k)"],
            ["W0", "(- d 1)", "(+ (- m d) k)"],
            ["I1", "(- d 1)", "(+ (- m d) k 1)"],
        ],
        "(- d 1)",
    ),
    LAST_UP,
    LAST,
];

/// V-Min where 3 divides d: the forward passes on the last three devices keep each other waiting.
pub(super) const V_MIN: Path = &[
    DOWN,
    stretch(
        &[
            ["F1", "(- d 1)", "k"],
            ["F1", "(- d 2)", "k"],
            ["F1", "(- d 3)", "k"],
            ["F0", "(- d 3)", "(+ k 1)"],
            ["F0", "(- d 2)", "(+ k 1)"],
            ["F0", "(- d 1)", "(+ k 1)"],
        ],
        "(- m 1)",
    ),
    stretch(&[["F1", "(- d 1 k)", "(- m 1)"]], "(- d 2)"),
    stretch(&[["I1", "(+ 2 k)", "(- m 2)"]], "(- d 2)"),
    stretch(&[["I0", "(- d 1 k)", "(- m 2)"]], "3"),
    stretch(&[["I1", "(+ (- d 3) k)", "(- m 1)"]], "3"),
    LAST_UP,
    LAST,
];

/// Asserts that some pass of the path does not exist, or does not wait for the one before, or that the path
/// has less passes than `length`.
pub(super) fn deny(script: &mut Script, path: Path, length: &str) {
    script.declare("k", "Int");
    let lengths: Vec<String> =
        path.iter().map(|stretch| format!("(* {} {})", stretch.passes.len(), stretch.times)).collect();
    let mut claims = vec![format!("(>= (+ {}) {length})", lengths.join(" "))];
    for (position, stretch) in path.iter().enumerate() {
        let mut claim = |when: &str, what: &str| {
            claims.push(format!("(=> (and (<= 0 k) (< k {}) {when}) {what})", stretch.times));
        };
        for [_, device, copy] in stretch.passes {
            claim("true", &format!("(and (<= 0 {device}) (< {device} d) (<= 0 {copy}) (< {copy} m))"));
        }
        for two in stretch.passes.windows(2) {
            claim("true", &waits(two[0].map(str::to_owned), two[1].map(str::to_owned)));
        }
        let (first, last) = (stretch.passes[0], stretch.passes[stretch.passes.len() - 1]);
        claim("(> k 0)", &waits(at(last, "(- k 1)"), first.map(str::to_owned)));
        // The first pass follows the last one of the stretch before that is not left out.
        let mut left_out = "(= k 0)".to_owned();
        for before in path[..position].iter().rev() {
            let end = at(before.passes[before.passes.len() - 1], &format!("(- {} 1)", before.times));
            claim(&format!("{left_out} (> {} 0)", before.times), &waits(end, at(first, "0")));
            left_out = format!("{left_out} (<= {} 0)", before.times);
        }
    }
    script.assert(format!("(not (and {}))", claims.join(" ")));
}

/// A pass of a stretch for another value of `k`.
fn at(pass: OnPath, value: &str) -> [String; 3] {
    let words = |text: &str| {
        let spaced = text.replace('(', "( ").replace(')', " )");
        let words: Vec<&str> =
            spaced.split_whitespace().map(|word| if word == "k" { value } else { word }).collect();
        words.join(" ")
    };
    pass.map(words)
}

/// That the second pass waits for the first: it needs it, or it comes later in the order of their device.
fn waits([pass, device, copy]: [String; 3], [later, other, later_copy]: [String; 3]) -> String {
    let next = match (pass.as_str(), later.as_str()) {
        ("F0", "F0") | ("I1", "I1") => format!("(= {other} (+ {device} 1))"),
        ("F1", "F1") | ("I0", "I0") => format!("(= {other} (- {device} 1))"),
        ("F0", "F1") | ("I1", "I0") => format!("(= {device} {other} (- d 1))"),
        ("F1", "I1") => format!("(= {device} {other} 0)"),
        _ => "false".to_owned(),
    };
    format!(
        "(or (and (= {copy} {later_copy}) {next}) (and (= {device} {other}) \
         (< (+ ({pass} {device} d) (* 6 {copy})) (+ ({later} {other} d) (* 6 {later_copy})))))"
    )
}
