; Negative control of theorem L, a false statement: no block with V placement, tF = tI = 1, tW = 0
; and T = 4 holds at most 2*((d+2) div 2) stage activations on device i.
; Domain: d odd, i even, 0 <= i < d.
; Used as a negative control: the bound is one more than V-Half holds.
; This file asks for a counterexample: the answer sat refutes the statement.
; F0_2 is the offset of F of chunk 0 on device 2 of the window, in ticks. k_F0_I1_2 is the number of
; intervals of 4 ticks by which copies of I1 are put off to follow a copy of F0 there, before the
; next one: 1 <= I1_2 - F0_2 + 4*k <= 3. While F0 starts, 1 - k_F0_I1 - k_F1_F0 copies of chunk 1
; are live, and 1 - k_F0_I0 of chunk 0.
; Here that is device i of d. The stages between its chunks are passed through without a pause.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const g Int)
(declare-const h Int)
(define-fun d () Int (+ (* 2 h) 1))
(define-fun i () Int (+ (* 2 g) 0))
(assert (and (<= 0 i) (< i d)))
(declare-const F0_0 Int)
(declare-const F1_0 Int)
(declare-const I1_0 Int)
(declare-const I0_0 Int)
(declare-const k_F0_F1_0 Int)
(assert (<= 1 (+ (- F1_0 F0_0) (* 4 k_F0_F1_0)) 3))
(declare-const k_F0_I1_0 Int)
(assert (<= 1 (+ (- I1_0 F0_0) (* 4 k_F0_I1_0)) 3))
(declare-const k_F0_I0_0 Int)
(assert (<= 1 (+ (- I0_0 F0_0) (* 4 k_F0_I0_0)) 3))
(declare-const k_F1_I1_0 Int)
(assert (<= 1 (+ (- I1_0 F1_0) (* 4 k_F1_I1_0)) 3))
(declare-const k_F1_I0_0 Int)
(assert (<= 1 (+ (- I0_0 F1_0) (* 4 k_F1_I0_0)) 3))
(declare-const k_I1_I0_0 Int)
(assert (<= 1 (+ (- I0_0 I1_0) (* 4 k_I1_I0_0)) 3))
(assert (>= (- F1_0 F0_0) (- (* 2 (- d i)) 1)))
(assert (>= (- I1_0 F1_0) (+ (* 2 i) 1)))
(assert (>= (- I0_0 I1_0) (- (* 2 (- d i)) 1)))
(assert
  (and
    (<= (- 2 k_F0_I0_0 k_F0_I1_0 (- 1 k_F0_F1_0)) (+ (* 2 h) 2))
    (<= (- 2 k_F1_I0_0 k_F0_F1_0 k_F1_I1_0) (+ (* 2 h) 2))))
(check-sat)
