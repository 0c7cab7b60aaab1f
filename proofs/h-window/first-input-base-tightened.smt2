; Negative control of theorem H, a false statement: if no F of the last stage, 2d-1, starts before
; 2d-1, no I of that stage starts before 2d.
; Domain: d >= 1, unit times.
; Used as a negative control: one tick more is claimed.
; This file asks for a counterexample: the answer sat refutes the statement.
; f and g are the starts of F and I of the last stage.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const f Int)
(declare-const g Int)
(assert (>= d 1))
(assert (>= f (- (* 2 d) 1)))
(assert (>= g (+ f 1)))
(assert (not (>= g (+ (* 2 d) 1))))
(check-sat)
