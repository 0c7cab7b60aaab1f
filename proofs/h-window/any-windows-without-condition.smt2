; Negative control of theorem H, a false statement: the span of a device is at least its work, t1-u1
; and t2-u2 together, if it does at most u1 in its first t1 ticks and at most u2 in its last t2.
; Domain: real durations.
; Used as a negative control: the condition that the work is more than fits the windows is dropped.
; This file asks for a counterexample: the answer sat refutes the statement.
; work is all work of a device, M its span, t1 and t2 the lengths of its windows, u1 and u2 the most
; work that it can do in them, first and last what it does there.
(set-logic QF_LRA)
(set-info :status sat)
(declare-const work Real)
(declare-const M Real)
(declare-const t1 Real)
(declare-const t2 Real)
(declare-const u1 Real)
(declare-const u2 Real)
(declare-const first Real)
(declare-const last Real)
(assert (and (<= 0 first u1) (<= 0 last u2) (<= u1 t1) (<= u2 t2)))
(assert (ite (>= M (+ t1 t2)) (<= work (+ first last (- M (+ t1 t2)))) (<= work (+ first last))))
(assert (not (>= M (+ work (- t1 u1) (- t2 u2)))))
(check-sat)
