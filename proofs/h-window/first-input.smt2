; Theorem H: if no I of stage s+1 starts before 4d-2-s, no I of stage s starts before 4d-1-s; for
; stage d, the first of the last device to run an I, that is 3d-1.
; Domain: d >= 1, unit times.
; Used by the induction along the stages.
; This file asks for a counterexample: the answer unsat proves the statement.
; n and g are the starts of I of stages s+1 and s.
(set-logic QF_LIA)
(set-info :status unsat)
(declare-const d Int)
(declare-const s Int)
(declare-const n Int)
(declare-const g Int)
(assert (<= 0 s (- (* 2 d) 2)))
(assert (>= n (- (* 4 d) 2 s)))
(assert (>= g (+ n 1)))
(assert (not (and (>= g (- (* 4 d) 1 s)) (=> (= s d) (>= g (- (* 3 d) 1))))))
(check-sat)
