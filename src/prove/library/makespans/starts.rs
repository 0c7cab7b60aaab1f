//! Start times of squeezed orders in closed form, at unit times: as SMT-LIB, to be proved and not trusted.

use crate::prove::script::Script;

/// The passes of a device with V placement, in the order of a microbatch's dependencies.
pub(super) const PASSES: [&str; 6] = ["F0", "F1", "I1", "I0", "W1", "W0"];

/// When every pass of a family may start, squeezed, with any number of devices and microbatches.
pub(super) struct StartTimes {
    /// Names for what the formulas have in common: name, parameters, formula.
    pub shared: &'static [(&'static str, &'static [&'static str], &'static str)],
    /// The start of copy `j` of a pass on device `i`, where `n` copies come after it; for each of
    /// [`PASSES`].
    pub of: [&'static str; 6],
}

/// V-Half. The head of a pass is when it starts if no microbatch is the last one; the tail of an I or W how
/// long it takes to the end if nothing but I and W is left. An I or W may start at the head, or so that the
/// tail fits if that is earlier.
pub(super) const V_HALF: StartTimes = StartTimes {
    shared: &[
        ("larger", &["a", "b"], "(ite (>= a b) a b)"),
        ("smaller", &["a", "b"], "(ite (<= a b) a b)"),
        (
            "I1_head",
            &["i", "d", "j"],
            "(+ (larger (+ (* 6 j) (div (+ (* 3 (+ i d)) 1) 2)) (+ (* 5 j) i (* 2 d))) (- 2 (* 2 (mod d 2))))",
        ),
        ("I0_head", &["i", "d", "j"], "(+ (* 6 j) (div (+ (- (* 9 d) (* 3 i)) 1) 2) (- 1 (* 2 (mod d 2))))"),
        ("I1_tail", &["i", "d", "n"], "(+ (- (* 2 d) i) (* 5 n) 2)"),
        (
            "I0_tail",
            &["i", "d", "n"],
            "(ite (< (+ i (* 2 n)) d) (+ i (* 2 n) 2) (+ (* 5 n) (div (- (* 3 i) d) 2) 3))",
        ),
        ("W1_tail", &["i", "d", "n"], "(ite (= n 0) (+ d 2) (+ (- (* 2 d) i) (mod (+ i d) 2) (* 5 n)))"),
        (
            "W0_tail",
            &["i", "d", "n"],
            "(ite (= n 0) 1 (ite (<= (+ i (* 2 n)) d) (+ i (* 2 n) 1) \
             (+ (* 5 n) (div (+ (- (* 3 i) d) 1) 2) (- (mod (+ i d) 2) 1))))",
        ),
    ],
    of: [
        "(ite (< (+ i (* 2 j)) d) (+ i j) (larger (larger (+ i (* 4 j)) (- (+ i (* 5 j)) (div d 2))) \
         (+ (- (* 6 j) (div (* 3 (- d i)) 2)) (mod d 2))))",
        "(larger (larger (+ (- (* 2 d) i 1) (* 4 j)) (+ (- (* 2 d) 1 (div (- (+ (* 3 i) 1) (mod d 2)) 2)) (* 5 j))) \
         (+ (* 6 j) (div (+ (* 3 (- d i)) 1) 2) (- (mod d 2) 2)))",
        "(smaller (I1_head i d j) (- (makespan d m) (I1_tail i d n)))",
        "(smaller (I0_head i d j) (- (makespan d m) (I0_tail i d n)))",
        "(smaller (+ (I1_head i d j) 1) (- (makespan d m) (W1_tail i d n)))",
        "(smaller (+ (I0_head i d j) (ite (= (mod (+ i d) 2) 0) 4 1)) (- (makespan d m) (W0_tail i d n)))",
    ],
};

/// V-ZB: what its steady phase adds for each microbatch and device, more while the warm-up lasts, less as
/// the cool-down comes. These are the squeezed times themselves.
pub(super) const V_ZB: StartTimes = StartTimes {
    shared: &[("positive", &["a"], "(ite (> a 0) a 0)")],
    of: [
        "(ite (< (+ i j) d) (+ i j) (+ (- (+ (* 6 j) (* 3 i)) (* 6 (- d 1))) (* 2 (positive (- (* 2 d) 2 i j))) \
         (* 2 (positive (- d 1 j)))))",
        "(ite (<= j i) (+ (* 2 j) (- (* 2 d) 1 i)) (- (+ (- (* 6 j) (* 3 i)) 1 (* 2 (positive (- d 1 j)))) \
         (positive (- d 1 i n))))",
        "(- (+ (* 6 j) (* 3 i) 2 (* 2 (positive (- d 1 i j)))) (positive (- d 1 n)) (positive (- i n)))",
        "(- (+ (* 6 j) (- (* 6 d) (* 3 i) 3)) (positive (- (* 2 d) 2 i n)) (positive (- d 1 n)) \
         (positive (- d 1 i n)))",
        "(+ (I1_at i d j n m) (ite (< (+ i j) (- d 1)) 1 2))",
        "(+ (I0_at i d j n m) (ite (< (+ i n) (- d 1)) 1 2))",
    ],
};

impl StartTimes {
    /// Defines the start of every pass as `F0_at` and so on, functions of `i d j n m`. The `makespan` is
    /// defined before.
    pub fn define(&self, script: &mut Script) {
        for (name, parameters, formula) in self.shared {
            script.define(name, parameters, "Int", *formula);
        }
        for (pass, formula) in PASSES.into_iter().zip(self.of) {
            script.define(&format!("{pass}_at"), &["i", "d", "j", "n", "m"], "Int", formula);
        }
    }
}

/// The start of copy `copy` of a pass on a device.
pub(super) fn start(pass: &str, device: &str, copy: &str) -> String {
    format!("({pass}_at {device} d {copy} (- m 1 {copy}) m)")
}
