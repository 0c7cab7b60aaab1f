; Family interleaved-1f1b-4: for every d with d >= 1: the peak of a device is at most the sum over
; its chunks of their lifespans divided by the interval, rounded up, less 2.
; Used as a negative control of theorem C, which must be refuted: the bound is 2 less.
; This file asks for a counterexample: a number of devices d and a device i for which it is false.
; The answer unsat proves it, sat refutes it.
; F0 is the offset of F of chunk 0 on device i, F0_div and F0_mod its quotient and remainder by the
; interval. W1_delay, where it occurs, is how long W of chunk 1 waits after its I until there is
; room for it; F0_live is what is live once F of chunk 0 has started, in stage activations; peak is
; the largest of those.
; i = 6a + r and d = 6b + s. Every quotient by a constant is written as q0, q1, ...: a multiple of
; a, one of b, and a number, c0, c1, ..., for which there is a row for each r and s. That they are
; the quotients is part of what must hold: the rests, q0_rest and so on, are neither negative nor as
; large as the divisor.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const i Int)
(declare-const a Int)
(declare-const r Int)
(assert (and (= a (div i 6)) (= r (mod i 6)) (= i (+ (* 6 a) r))))
(declare-const b Int)
(declare-const s Int)
(assert (and (= b (div d 6)) (= s (mod d 6)) (= d (+ (* 6 b) s))))
(define-fun F0 () Int (* 2 i))
(declare-const c0 Int)
(define-fun q0 () Int (+ (* 1 a) (* 0 b) c0))
(define-fun q0_rest () Int (- F0 (* 12 q0)))
(define-fun F0_div () Int q0)
(define-fun F0_mod () Int q0_rest)
(declare-const c1 Int)
(define-fun q1 () Int (+ (* 0 a) (* 4 b) c1))
(define-fun q1_rest () Int (- (+ (* 2 d) 1) (* 3 q1)))
(declare-const c2 Int)
(define-fun q2 () Int (+ (* 0 a) (* 1 b) c2))
(define-fun q2_rest () Int (- q1 (* 4 q2)))
(define-fun F1 () Int (+ (+ (* 3 q1) (ite (= q2_rest 0) 3 0)) (* 2 i)))
(declare-const c3 Int)
(define-fun q3 () Int (+ (* 1 a) (* 1 b) c3))
(define-fun q3_rest () Int (- F1 (* 12 q3)))
(define-fun F1_div () Int q3)
(define-fun F1_mod () Int q3_rest)
(define-fun F2 () Int (+ (+ (* 6 q1) (ite (= q2_rest 0) 6 (ite (= q2_rest 2) 3 0))) (* 2 i)))
(declare-const c4 Int)
(define-fun q4 () Int (+ (* 1 a) (* 2 b) c4))
(define-fun q4_rest () Int (- F2 (* 12 q4)))
(define-fun F2_div () Int q4)
(define-fun F2_mod () Int q4_rest)
(define-fun F3 () Int (+ (+ (* 9 q1) (ite (= q2_rest 0) 9 (ite (= q2_rest 2) 3 0))) (* 2 i)))
(declare-const c5 Int)
(define-fun q5 () Int (+ (* 1 a) (* 3 b) c5))
(define-fun q5_rest () Int (- F3 (* 12 q5)))
(define-fun F3_div () Int q5)
(define-fun F3_mod () Int q5_rest)
(define-fun
  B3
  ()
  Int
  (- (- (+ (+ (* 9 q1) (ite (= q2_rest 0) 9 (ite (= q2_rest 2) 3 0))) (* 6 d)) 5) (* 4 i)))
(declare-const c6 Int)
(define-fun q6 () Int (+ (* (- 2) a) (* 6 b) c6))
(define-fun q6_rest () Int (- B3 (* 12 q6)))
(define-fun B3_div () Int q6)
(define-fun B3_mod () Int q6_rest)
(declare-const c7 Int)
(define-fun q7 () Int (+ (* 0 a) (* 8 b) c7))
(define-fun q7_rest () Int (- (* 4 d) (* 3 q7)))
(declare-const c8 Int)
(define-fun q8 () Int (+ (* 0 a) (* 2 b) c8))
(define-fun q8_rest () Int (- q7 (* 4 q8)))
(define-fun
  B2
  ()
  Int
  (-
    (-
      (+
        (+
          (+ (+ (* 9 q1) (ite (= q2_rest 0) 9 (ite (= q2_rest 2) 3 0))) (* 3 q7))
          (ite (= q8_rest 0) 3 0))
        (* 6 d))
      5)
    (* 4 i)))
(declare-const c9 Int)
(define-fun q9 () Int (+ (* (- 2) a) (* 8 b) c9))
(define-fun q9_rest () Int (- B2 (* 12 q9)))
(define-fun B2_div () Int q9)
(define-fun B2_mod () Int q9_rest)
(define-fun
  B1
  ()
  Int
  (-
    (-
      (+
        (+
          (+ (+ (* 9 q1) (ite (= q2_rest 0) 9 (ite (= q2_rest 2) 3 0))) (* 6 q7))
          (ite (= q8_rest 0) 6 (ite (= q8_rest 2) 3 0)))
        (* 6 d))
      5)
    (* 4 i)))
(declare-const c10 Int)
(define-fun q10 () Int (+ (* (- 2) a) (* 10 b) c10))
(define-fun q10_rest () Int (- B1 (* 12 q10)))
(define-fun B1_div () Int q10)
(define-fun B1_mod () Int q10_rest)
(define-fun
  B0
  ()
  Int
  (-
    (-
      (+
        (+
          (+ (+ (* 9 q1) (ite (= q2_rest 0) 9 (ite (= q2_rest 2) 3 0))) (* 9 q7))
          (ite (= q8_rest 0) 9 (ite (= q8_rest 2) 3 0)))
        (* 6 d))
      5)
    (* 4 i)))
(declare-const c11 Int)
(define-fun q11 () Int (+ (* (- 2) a) (* 12 b) c11))
(define-fun q11_rest () Int (- B0 (* 12 q11)))
(define-fun B0_div () Int q11)
(define-fun B0_mod () Int q11_rest)
(define-fun
  F0_live
  ()
  Int
  (+
    1
    0
    (+
      (- F0_div F1_div)
      (ite (or (< F1_mod F0_mod) (and (= F1_mod F0_mod) (< (- F0_div F1_div) 0))) 1 0))
    (+
      (- F0_div F2_div)
      (ite (or (< F2_mod F0_mod) (and (= F2_mod F0_mod) (< (- F0_div F2_div) 0))) 1 0))
    (+
      (- F0_div F3_div)
      (ite (or (< F3_mod F0_mod) (and (= F3_mod F0_mod) (< (- F0_div F3_div) 0))) 1 0))
    (*
      (- 1)
      (+
        (- F0_div B3_div)
        (ite (or (< B3_mod F0_mod) (and (= B3_mod F0_mod) (< (- F0_div B3_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F0_div B2_div)
        (ite (or (< B2_mod F0_mod) (and (= B2_mod F0_mod) (< (- F0_div B2_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F0_div B1_div)
        (ite (or (< B1_mod F0_mod) (and (= B1_mod F0_mod) (< (- F0_div B1_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F0_div B0_div)
        (ite (or (< B0_mod F0_mod) (and (= B0_mod F0_mod) (< (- F0_div B0_div) 0))) 1 0)))))
(define-fun
  F1_live
  ()
  Int
  (+
    1
    (+
      (- F1_div F0_div)
      (ite (or (< F0_mod F1_mod) (and (= F0_mod F1_mod) (<= (- F1_div F0_div) 0))) 1 0))
    0
    (+
      (- F1_div F2_div)
      (ite (or (< F2_mod F1_mod) (and (= F2_mod F1_mod) (< (- F1_div F2_div) 0))) 1 0))
    (+
      (- F1_div F3_div)
      (ite (or (< F3_mod F1_mod) (and (= F3_mod F1_mod) (< (- F1_div F3_div) 0))) 1 0))
    (*
      (- 1)
      (+
        (- F1_div B3_div)
        (ite (or (< B3_mod F1_mod) (and (= B3_mod F1_mod) (< (- F1_div B3_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F1_div B2_div)
        (ite (or (< B2_mod F1_mod) (and (= B2_mod F1_mod) (< (- F1_div B2_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F1_div B1_div)
        (ite (or (< B1_mod F1_mod) (and (= B1_mod F1_mod) (< (- F1_div B1_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F1_div B0_div)
        (ite (or (< B0_mod F1_mod) (and (= B0_mod F1_mod) (< (- F1_div B0_div) 0))) 1 0)))))
(define-fun F1_most () Int (ite (>= F0_live F1_live) F0_live F1_live))
(define-fun
  F2_live
  ()
  Int
  (+
    1
    (+
      (- F2_div F0_div)
      (ite (or (< F0_mod F2_mod) (and (= F0_mod F2_mod) (<= (- F2_div F0_div) 0))) 1 0))
    (+
      (- F2_div F1_div)
      (ite (or (< F1_mod F2_mod) (and (= F1_mod F2_mod) (<= (- F2_div F1_div) 0))) 1 0))
    0
    (+
      (- F2_div F3_div)
      (ite (or (< F3_mod F2_mod) (and (= F3_mod F2_mod) (< (- F2_div F3_div) 0))) 1 0))
    (*
      (- 1)
      (+
        (- F2_div B3_div)
        (ite (or (< B3_mod F2_mod) (and (= B3_mod F2_mod) (< (- F2_div B3_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F2_div B2_div)
        (ite (or (< B2_mod F2_mod) (and (= B2_mod F2_mod) (< (- F2_div B2_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F2_div B1_div)
        (ite (or (< B1_mod F2_mod) (and (= B1_mod F2_mod) (< (- F2_div B1_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F2_div B0_div)
        (ite (or (< B0_mod F2_mod) (and (= B0_mod F2_mod) (< (- F2_div B0_div) 0))) 1 0)))))
(define-fun F2_most () Int (ite (>= F1_most F2_live) F1_most F2_live))
(define-fun
  F3_live
  ()
  Int
  (+
    1
    (+
      (- F3_div F0_div)
      (ite (or (< F0_mod F3_mod) (and (= F0_mod F3_mod) (<= (- F3_div F0_div) 0))) 1 0))
    (+
      (- F3_div F1_div)
      (ite (or (< F1_mod F3_mod) (and (= F1_mod F3_mod) (<= (- F3_div F1_div) 0))) 1 0))
    (+
      (- F3_div F2_div)
      (ite (or (< F2_mod F3_mod) (and (= F2_mod F3_mod) (<= (- F3_div F2_div) 0))) 1 0))
    0
    (*
      (- 1)
      (+
        (- F3_div B3_div)
        (ite (or (< B3_mod F3_mod) (and (= B3_mod F3_mod) (< (- F3_div B3_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F3_div B2_div)
        (ite (or (< B2_mod F3_mod) (and (= B2_mod F3_mod) (< (- F3_div B2_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F3_div B1_div)
        (ite (or (< B1_mod F3_mod) (and (= B1_mod F3_mod) (< (- F3_div B1_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F3_div B0_div)
        (ite (or (< B0_mod F3_mod) (and (= B0_mod F3_mod) (< (- F3_div B0_div) 0))) 1 0)))))
(define-fun F3_most () Int (ite (>= F2_most F3_live) F2_most F3_live))
(define-fun peak () Int F3_most)
(declare-const c12 Int)
(define-fun q12 () Int (+ (* (- 3) a) (* 12 b) c12))
(define-fun q12_rest () Int (- (+ (- (+ B0 2) F0) 11) (* 12 q12)))
(declare-const c13 Int)
(define-fun q13 () Int (+ (* (- 3) a) (* 9 b) c13))
(define-fun q13_rest () Int (- (+ (- (+ B1 2) F1) 11) (* 12 q13)))
(declare-const c14 Int)
(define-fun q14 () Int (+ (* (- 3) a) (* 6 b) c14))
(define-fun q14_rest () Int (- (+ (- (+ B2 2) F2) 11) (* 12 q14)))
(declare-const c15 Int)
(define-fun q15 () Int (+ (* (- 3) a) (* 3 b) c15))
(define-fun q15_rest () Int (- (+ (- (+ B3 2) F3) 11) (* 12 q15)))
(define-fun
  row
  ((r0 Int)
    (s0 Int)
    (x0 Int)
    (x1 Int)
    (x2 Int)
    (x3 Int)
    (x4 Int)
    (x5 Int)
    (x6 Int)
    (x7 Int)
    (x8 Int)
    (x9 Int)
    (x10 Int)
    (x11 Int)
    (x12 Int)
    (x13 Int)
    (x14 Int)
    (x15 Int))
  Bool
  (=>
    (and (= r r0) (= s s0))
    (and
      (= c0 x0)
      (= c1 x1)
      (= c2 x2)
      (= c3 x3)
      (= c4 x4)
      (= c5 x5)
      (= c6 x6)
      (= c7 x7)
      (= c8 x8)
      (= c9 x9)
      (= c10 x10)
      (= c11 x11)
      (= c12 x12)
      (= c13 x13)
      (= c14 x14)
      (= c15 x15))))
(assert (row 0 0 0 0 0 0 0 0 0 0 0 0 0 1 2 1 1 0))
(assert (row 1 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 0 0))
(assert (row 2 0 0 0 0 0 0 1 (- 1) 0 0 (- 1) 0 0 1 0 0 (- 1)))
(assert (row 3 0 0 0 0 0 1 1 (- 1) 0 0 (- 1) (- 1) 0 0 0 (- 1) (- 1)))
(assert (row 4 0 0 0 0 0 1 1 (- 1) 0 0 (- 1) (- 1) (- 1) 0 (- 1) (- 1) (- 2)))
(assert (row 5 0 0 0 0 1 1 1 (- 2) 0 0 (- 2) (- 1) (- 1) (- 1) (- 1) (- 2) (- 2)))
(assert (row 0 1 0 1 0 0 0 0 0 1 0 1 1 1 2 2 1 1))
(assert (row 1 1 0 1 0 0 0 0 0 1 0 0 1 1 2 1 1 0))
(assert (row 2 1 0 1 0 0 0 1 0 1 0 0 0 0 1 1 0 0))
(assert (row 3 1 0 1 0 0 1 1 (- 1) 1 0 0 0 0 1 0 0 (- 1)))
(assert (row 4 1 0 1 0 0 1 1 (- 1) 1 0 (- 1) 0 0 0 0 (- 1) (- 1)))
(assert (row 5 1 0 1 0 1 1 1 (- 1) 1 0 (- 1) (- 1) (- 1) 0 (- 1) (- 1) (- 2)))
(assert (row 0 2 0 1 0 0 0 0 1 2 0 1 2 3 4 3 2 1))
(assert (row 1 2 0 1 0 0 0 0 1 2 0 1 2 2 3 2 1 1))
(assert (row 2 2 0 1 0 0 0 1 0 2 0 1 1 2 3 2 1 0))
(assert (row 3 2 0 1 0 0 1 1 0 2 0 0 1 2 2 1 0 0))
(assert (row 4 2 0 1 0 0 1 1 0 2 0 0 1 1 2 1 0 (- 1)))
(assert (row 5 2 0 1 0 1 1 1 (- 1) 2 0 0 0 1 1 0 (- 1) (- 1)))
(assert (row 0 3 0 2 0 0 1 1 2 4 1 4 5 6 7 5 3 2))
(assert (row 1 3 0 2 0 0 1 1 2 4 1 3 5 6 7 5 3 1))
(assert (row 2 3 0 2 0 0 1 2 2 4 1 3 4 5 6 4 2 1))
(assert (row 3 3 0 2 0 1 1 2 1 4 1 3 4 5 6 4 2 0))
(assert (row 4 3 0 2 0 1 1 2 1 4 1 2 4 5 5 3 1 0))
(assert (row 5 3 0 2 0 1 2 2 1 4 1 2 3 4 5 3 1 (- 1)))
(assert (row 0 4 0 3 0 0 1 2 3 5 1 5 6 7 8 6 4 2))
(assert (row 1 4 0 3 0 0 1 2 3 5 1 4 6 7 8 6 4 2))
(assert (row 2 4 0 3 0 1 1 2 3 5 1 4 5 6 7 5 3 1))
(assert (row 3 4 0 3 0 1 2 2 2 5 1 4 5 6 7 5 3 1))
(assert (row 4 4 0 3 0 1 2 2 2 5 1 3 5 6 6 4 2 0))
(assert (row 5 4 0 3 0 1 2 3 2 5 1 3 4 5 6 4 2 0))
(assert (row 0 5 0 3 0 0 1 2 4 6 1 5 7 9 10 7 5 3))
(assert (row 1 5 0 3 0 0 1 2 4 6 1 5 7 8 9 7 4 2))
(assert (row 2 5 0 3 0 1 1 2 3 6 1 5 6 8 9 6 4 2))
(assert (row 3 5 0 3 0 1 2 2 3 6 1 4 6 8 8 6 3 1))
(assert (row 4 5 0 3 0 1 2 2 3 6 1 4 6 7 8 5 3 1))
(assert (row 5 5 0 3 0 1 2 3 2 6 1 4 5 7 7 5 2 0))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert
  (not
    (and
      (<= 0 q0_rest 11)
      (<= 0 q1_rest 2)
      (<= 0 q2_rest 3)
      (<= 0 q3_rest 11)
      (<= 0 q4_rest 11)
      (<= 0 q5_rest 11)
      (<= 0 q6_rest 11)
      (<= 0 q7_rest 2)
      (<= 0 q8_rest 3)
      (<= 0 q9_rest 11)
      (<= 0 q10_rest 11)
      (<= 0 q11_rest 11)
      (<= 0 q12_rest 11)
      (<= 0 q13_rest 11)
      (<= 0 q14_rest 11)
      (<= 0 q15_rest 11)
      (<=
        peak
        (-
          (+
            (ite (>= q12 1) q12 1)
            (ite (>= q13 1) q13 1)
            (ite (>= q14 1) q14 1)
            (ite (>= q15 1) q15 1))
          2)))))
(check-sat)
