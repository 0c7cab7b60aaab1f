; Negative control of theorem H, a false statement: if every F of stage s+1 ends by M-(4d-1-s),
; every F of stage s ends by M-(4d-s); for stage d, the last of the last device to run an F, that is
; M-3d.
; Domain: d >= 1, unit times.
; Used as a negative control: one tick more is claimed.
; This file asks for a counterexample: the answer sat refutes the statement.
; M is the makespan; n and e are the ends of F of stages s+1 and s.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const M Int)
(declare-const d Int)
(declare-const s Int)
(declare-const n Int)
(declare-const e Int)
(assert (<= 0 s (- (* 2 d) 2)))
(assert (<= n (- M (- (* 4 d) 1 s))))
(assert (<= (+ e 1) n))
(assert (not (<= e (- M (- (* 4 d) s) 1))))
(check-sat)
