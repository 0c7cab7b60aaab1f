; Family interleaved-1f1b-2: for every d with d >= 1: no two passes of a device overlap modulo the
; interval of 6 ticks.
; Used as a control of theorem A, which must be refuted: every F of chunk 0 starts 1 tick later.
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
(define-fun F0 ((i Int) (d Int)) Int (+ (* 2 i) 1))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 6))
(define-fun F1 ((i Int) (d Int)) Int (+ (+ (* 6 (div (+ (* 2 d) 1) 6)) 3) (* 2 i)))
(define-fun F1_mod ((i Int) (d Int)) Int (mod (F1 i d) 6))
(define-fun B1 ((i Int) (d Int)) Int (- (- (+ (* 6 (div (+ (* 2 d) 1) 6)) (* 6 d)) 2) (* 4 i)))
(define-fun B1_mod ((i Int) (d Int)) Int (mod (B1 i d) 6))
(define-fun
  B0
  ((i Int) (d Int))
  Int
  (- (+ (+ (+ (* 6 (div (+ (* 2 d) 1) 6)) (* 6 (div (* 2 d) 3))) (* 6 d)) 1) (* 4 i)))
(define-fun B0_mod ((i Int) (d Int)) Int (mod (B0 i d) 6))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert
  (not
    (and
      (distinct (F0_mod i d) (F1_mod i d))
      (or
        (and (< (F0_mod i d) (B1_mod i d)) (<= (- (B1_mod i d) (F0_mod i d)) 4))
        (and (< (B1_mod i d) (F0_mod i d)) (>= (- (F0_mod i d) (B1_mod i d)) 2)))
      (or
        (and (< (F0_mod i d) (B0_mod i d)) (<= (- (B0_mod i d) (F0_mod i d)) 4))
        (and (< (B0_mod i d) (F0_mod i d)) (>= (- (F0_mod i d) (B0_mod i d)) 2)))
      (or
        (and (< (F1_mod i d) (B1_mod i d)) (<= (- (B1_mod i d) (F1_mod i d)) 4))
        (and (< (B1_mod i d) (F1_mod i d)) (>= (- (F1_mod i d) (B1_mod i d)) 2)))
      (or
        (and (< (F1_mod i d) (B0_mod i d)) (<= (- (B0_mod i d) (F1_mod i d)) 4))
        (and (< (B0_mod i d) (F1_mod i d)) (>= (- (F1_mod i d) (B0_mod i d)) 2)))
      (or
        (and
          (< (B1_mod i d) (B0_mod i d))
          (>= (- (B0_mod i d) (B1_mod i d)) 2)
          (<= (- (B0_mod i d) (B1_mod i d)) 4))
        (and
          (< (B0_mod i d) (B1_mod i d))
          (>= (- (B1_mod i d) (B0_mod i d)) 2)
          (<= (- (B1_mod i d) (B0_mod i d)) 4))))))
(check-sat)
