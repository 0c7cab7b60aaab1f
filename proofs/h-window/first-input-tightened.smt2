; Negative control of theorem H, a false statement: if no I of stage s+1 starts before 4d-2-s, no I
; of stage s starts before 4d-1-s; for stage d, the first of the last device to run an I, that is
; 3d-1.
; Domain: d >= 1, unit times.
; Used as a negative control: one tick more is claimed.
; This file asks for a counterexample: the answer sat refutes the statement.
; n and g are the starts of I of stages s+1 and s.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const s Int)
(declare-const n Int)
(declare-const g Int)
(assert (<= 0 s (- (* 2 d) 2)))
(assert (>= n (- (* 4 d) 2 s)))
(assert (>= g (+ n 1)))
(assert (not (>= g (- (* 4 d) s))))
(check-sat)
