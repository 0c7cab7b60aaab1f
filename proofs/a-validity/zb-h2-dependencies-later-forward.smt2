; Family zb-h2: for every d with d >= 1: no pass starts before the passes that it needs have ended.
; Used as a negative control of theorem A, which must be refuted: every F of chunk 0 starts 1 tick
; later.
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
(define-fun F0 ((i Int) (d Int)) Int (+ i 1))
(define-fun I0 ((i Int) (d Int)) Int (- (- (* 6 d) 5) (* 5 i)))
(define-fun W0 ((i Int) (d Int)) Int (+ (- (* 6 d) 4) i))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert
  (not
    (and
      (or (<= i 0) (>= (F0 i d) (+ (F0 (- i 1) d) 1)))
      (or (>= i (- d 1)) (>= (I0 i d) (+ (I0 (+ i 1) d) 1)))
      (>= (I0 i d) (+ (F0 i d) 1))
      (>= (W0 i d) (+ (I0 i d) 1)))))
(check-sat)
