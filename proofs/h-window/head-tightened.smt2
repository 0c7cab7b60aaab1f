; Negative control of theorem H, a false statement: if no F of stage s-1 starts before s-1, no F of
; stage s starts before s.
; Domain: d >= 1, unit times.
; Used as a negative control: one tick more is claimed.
; This file asks for a counterexample: the answer sat refutes the statement.
; f is the start of an F of stage s, p that of the same microbatch one stage before.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const s Int)
(declare-const p Int)
(declare-const f Int)
(assert (>= s 1))
(assert (>= p (- s 1)))
(assert (>= f (+ p 1)))
(assert (not (>= f (+ s 1))))
(check-sat)
