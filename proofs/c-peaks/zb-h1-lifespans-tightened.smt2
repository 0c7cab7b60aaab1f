; Family zb-h1: for every d with d >= 1: the peak of a device is at most the sum over its chunks of
; their lifespans divided by the interval, rounded up, less 1.
; Used as a negative control of theorem C, which must be refuted: the bound is 1 less.
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
(define-fun F0 ((i Int) (d Int)) Int i)
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 3))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 3))
(define-fun I0 ((i Int) (d Int)) Int (- (- (* 3 d) 2) (* 2 i)))
(define-fun W0 ((i Int) (d Int)) Int (+ (- (* 3 d) 1) i))
(define-fun W0_div ((i Int) (d Int)) Int (div (W0 i d) 3))
(define-fun W0_mod ((i Int) (d Int)) Int (mod (W0 i d) 3))
(define-fun
  F0_live
  ((i Int) (d Int))
  Int
  (+
    1
    0
    (*
      (- 1)
      (+
        (- (F0_div i d) (W0_div i d))
        (ite
          (or
            (< (W0_mod i d) (F0_mod i d))
            (and (= (W0_mod i d) (F0_mod i d)) (< (- (F0_div i d) (W0_div i d)) 0)))
          1
          0)))))
(define-fun peak ((i Int) (d Int)) Int (F0_live i d))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert
  (not
    (<=
      (peak i d)
      (-
        (ite
          (>=
            (div
              (+
                (- (ite (>= (+ (I0 i d) 1) (+ (W0 i d) 1)) (+ (I0 i d) 1) (+ (W0 i d) 1)) (F0 i d))
                2)
              3)
            1)
          (div
            (+
              (- (ite (>= (+ (I0 i d) 1) (+ (W0 i d) 1)) (+ (I0 i d) 1) (+ (W0 i d) 1)) (F0 i d))
              2)
            3)
          1)
        1))))
(check-sat)
