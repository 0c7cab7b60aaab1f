; Theorem H: if every I of the last stage, 2d-1, ends by M-2d, every F of that stage ends by M-2d-1.
; Domain: d >= 1, unit times.
; Used by the induction along the stages.
; This file asks for a counterexample: the answer unsat proves the statement.
; M is the makespan; e and g are the ends of F and I of the last stage.
(set-logic QF_LIA)
(set-info :status unsat)
(declare-const M Int)
(declare-const d Int)
(declare-const e Int)
(declare-const g Int)
(assert (>= d 1))
(assert (<= g (- M (* 2 d))))
(assert (<= (+ e 1) g))
(assert (not (<= e (- M (* 2 d) 1))))
(check-sat)
