; Theorem H: if no F of the last stage, 2d-1, starts before 2d-1, no I of that stage starts before
; 2d.
; Domain: d >= 1, unit times.
; Used by the induction along the stages.
; This file asks for a counterexample: the answer unsat proves the statement.
; f and g are the starts of F and I of the last stage.
(set-logic QF_LIA)
(set-info :status unsat)
(declare-const d Int)
(declare-const f Int)
(declare-const g Int)
(assert (>= d 1))
(assert (>= f (- (* 2 d) 1)))
(assert (>= g (+ f 1)))
(assert (not (>= g (* 2 d))))
(check-sat)
