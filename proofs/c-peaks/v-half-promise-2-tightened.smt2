; Family v-half: for every d with d >= 1: bubble < 0 on every device i.
; Used as a negative control of theorem C, which must be refuted: the bound is tightened by one.
; This file asks for a counterexample: a number of devices d and a device i for which it is false.
; The answer unsat proves it, sat refutes it.
; F0 is the offset of F of chunk 0 on device i, F0_div and F0_mod its quotient and remainder by the
; interval. W1_delay, where it occurs, is how long W of chunk 1 waits after its I until there is
; room for it; F0_live is what is live once F of chunk 0 has started, in stage activations; peak is
; the largest of those.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const i Int)
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert (not (< 0 0)))
(check-sat)
