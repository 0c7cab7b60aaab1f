; Family interleaved-1f1b-2: for every d with d >= 1: peak = 3*d - if(d mod 3 = 0, 0, 1) - 2*i on
; every device i.
; Theorem C. Used by `bubbleproof block FAMILY --devices N`: they say that for every N its block is
; one, and what it holds.
; This file asks for a counterexample: a number of devices d and a device i for which it is false.
; The answer unsat proves it, sat refutes it.
; F0 is the offset of F of chunk 0 on device i, F0_div and F0_mod its quotient and remainder by the
; interval. W1_delay, where it occurs, is how long W of chunk 1 waits after its I until there is
; room for it; F0_live is what is live once F of chunk 0 has started, in stage activations; peak is
; the largest of those.
(set-logic QF_LIA)
(set-info :status unsat)
(declare-const d Int)
(declare-const i Int)
(define-fun F0 ((i Int) (d Int)) Int (* 2 i))
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 6))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 6))
(define-fun F1 ((i Int) (d Int)) Int (+ (+ (* 6 (div (+ (* 2 d) 1) 6)) 3) (* 2 i)))
(define-fun F1_div ((i Int) (d Int)) Int (div (F1 i d) 6))
(define-fun F1_mod ((i Int) (d Int)) Int (mod (F1 i d) 6))
(define-fun B1 ((i Int) (d Int)) Int (- (- (+ (* 6 (div (+ (* 2 d) 1) 6)) (* 6 d)) 2) (* 4 i)))
(define-fun B1_div ((i Int) (d Int)) Int (div (B1 i d) 6))
(define-fun B1_mod ((i Int) (d Int)) Int (mod (B1 i d) 6))
(define-fun
  B0
  ((i Int) (d Int))
  Int
  (- (+ (+ (+ (* 6 (div (+ (* 2 d) 1) 6)) (* 6 (div (* 2 d) 3))) (* 6 d)) 1) (* 4 i)))
(define-fun B0_div ((i Int) (d Int)) Int (div (B0 i d) 6))
(define-fun B0_mod ((i Int) (d Int)) Int (mod (B0 i d) 6))
(define-fun
  F0_live
  ((i Int) (d Int))
  Int
  (+
    1
    0
    (+
      (- (F0_div i d) (F1_div i d))
      (ite
        (or
          (< (F1_mod i d) (F0_mod i d))
          (and (= (F1_mod i d) (F0_mod i d)) (< (- (F0_div i d) (F1_div i d)) 0)))
        1
        0))
    (*
      (- 1)
      (+
        (- (F0_div i d) (B1_div i d))
        (ite
          (or
            (< (B1_mod i d) (F0_mod i d))
            (and (= (B1_mod i d) (F0_mod i d)) (< (- (F0_div i d) (B1_div i d)) 0)))
          1
          0)))
    (*
      (- 1)
      (+
        (- (F0_div i d) (B0_div i d))
        (ite
          (or
            (< (B0_mod i d) (F0_mod i d))
            (and (= (B0_mod i d) (F0_mod i d)) (< (- (F0_div i d) (B0_div i d)) 0)))
          1
          0)))))
(define-fun
  F1_live
  ((i Int) (d Int))
  Int
  (+
    1
    (+
      (- (F1_div i d) (F0_div i d))
      (ite
        (or
          (< (F0_mod i d) (F1_mod i d))
          (and (= (F0_mod i d) (F1_mod i d)) (<= (- (F1_div i d) (F0_div i d)) 0)))
        1
        0))
    0
    (*
      (- 1)
      (+
        (- (F1_div i d) (B1_div i d))
        (ite
          (or
            (< (B1_mod i d) (F1_mod i d))
            (and (= (B1_mod i d) (F1_mod i d)) (< (- (F1_div i d) (B1_div i d)) 0)))
          1
          0)))
    (*
      (- 1)
      (+
        (- (F1_div i d) (B0_div i d))
        (ite
          (or
            (< (B0_mod i d) (F1_mod i d))
            (and (= (B0_mod i d) (F1_mod i d)) (< (- (F1_div i d) (B0_div i d)) 0)))
          1
          0)))))
(define-fun
  F1_most
  ((i Int) (d Int))
  Int
  (ite (>= (F0_live i d) (F1_live i d)) (F0_live i d) (F1_live i d)))
(define-fun peak ((i Int) (d Int)) Int (F1_most i d))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert (not (= (peak i d) (- (- (* 3 d) (ite (= (mod d 3) 0) 0 1)) (* 2 i)))))
(check-sat)
