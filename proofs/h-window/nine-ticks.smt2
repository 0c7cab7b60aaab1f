; Negative control of theorem H, a false statement: the makespan is at least 6m+6d-3k-1.
; Domain: d = 2, m = 1, k = 2.
; Used as a negative control: these numbers have a schedule of 9 ticks, and the formula says 11.
; This file asks for a counterexample: the answer sat refutes the statement.
; M is the makespan. first is the work of the last device in the first 3d-1 ticks, in which it can
; only run F, at most k of them; last its work in the last 3d ticks, in which it runs no F, and I
; and W of at most k stages. The remaining work lies between, if there is anything between; if not,
; the two windows cover everything.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const m Int)
(declare-const k Int)
(declare-const M Int)
(declare-const first Int)
(declare-const last Int)
(assert (and (>= d 1) (>= m 1) (>= k 1)))
(assert (<= 0 first k))
(assert (<= 0 last (* 2 k)))
(assert
  (ite
    (>= M (- (* 6 d) 1))
    (<= (* 6 m) (+ first last (- M (- (* 6 d) 1))))
    (<= (* 6 m) (+ first last))))
(assert (not (>= M (- (+ (* 6 m) (* 6 d)) (* 3 k) 1))))
(assert (and (= d 2) (= m 1) (= k 2) (= M 9)))
(check-sat)
