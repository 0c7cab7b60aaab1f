; Theorem H: if no F of stage s-1 starts before s-1, no F of stage s starts before s.
; Domain: d >= 1, unit times.
; Used by the induction along the stages.
; This file asks for a counterexample: the answer unsat proves the statement.
; f is the start of an F of stage s, p that of the same microbatch one stage before.
(set-logic QF_LIA)
(set-info :status unsat)
(declare-const s Int)
(declare-const p Int)
(declare-const f Int)
(assert (>= s 1))
(assert (>= p (- s 1)))
(assert (>= f (+ p 1)))
(assert (not (>= f s)))
(check-sat)
