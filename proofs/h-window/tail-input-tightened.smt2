; Negative control of theorem H, a false statement: if every I of stage s-1 ends by M-s, every I of
; stage s ends by M-s-1; I of stage 0 ends by M-1, for its W follows.
; Domain: d >= 1, unit times.
; Used as a negative control: one tick more is claimed.
; This file asks for a counterexample: the answer sat refutes the statement.
; M is the makespan; p and e are the ends of I of stages s-1 and s, w the end of the W of stage 0.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const M Int)
(declare-const s Int)
(declare-const p Int)
(declare-const e Int)
(declare-const w Int)
(assert (>= s 0))
(assert (ite (= s 0) (and (<= w M) (<= (+ e 1) w)) (and (<= p (- M s)) (<= (+ e 1) p))))
(assert (not (<= e (- M s 2))))
(check-sat)
