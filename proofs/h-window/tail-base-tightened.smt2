; Negative control of theorem H, a false statement: if every I of the last stage, 2d-1, ends by
; M-2d, every F of that stage ends by M-2d-1.
; Domain: d >= 1, unit times.
; Used as a negative control: one tick more is claimed.
; This file asks for a counterexample: the answer sat refutes the statement.
; M is the makespan; e and g are the ends of F and I of the last stage.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const M Int)
(declare-const d Int)
(declare-const e Int)
(declare-const g Int)
(assert (>= d 1))
(assert (<= g (- M (* 2 d))))
(assert (<= (+ e 1) g))
(assert (not (<= e (- M (* 2 d) 2))))
(check-sat)
