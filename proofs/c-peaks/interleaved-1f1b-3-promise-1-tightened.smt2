; Family interleaved-1f1b-3: for every d with d >= 1: peak < 4*d - 2*i - 1 - if(d mod 3 = 2, 1, 0) +
; if((2*d + 1) div 3 mod 3 = 0, 1, 0) + if(4*d div 3 mod 3 = 0, 1, 0) on every device i.
; Used as a negative control of theorem C, which must be refuted: the bound is tightened by one.
; This file asks for a counterexample: a number of devices d and a device i for which it is false.
; The answer unsat proves it, sat refutes it.
; F0 is the offset of F of chunk 0 on device i, F0_div and F0_mod its quotient and remainder by the
; interval. W1_delay, where it occurs, is how long W of chunk 1 waits after its I until there is
; room for it; F0_live is what is live once F of chunk 0 has started, in stage activations; peak is
; the largest of those.
; i = 9a + r and d = 9b + s. Every quotient by a constant is written as q0, q1, ...: a multiple of
; a, one of b, and a number, c0, c1, ..., for which there is a row for each r and s. That they are
; the quotients is part of what must hold: the rests, q0_rest and so on, are neither negative nor as
; large as the divisor.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const i Int)
(declare-const a Int)
(declare-const r Int)
(assert (and (= a (div i 9)) (= r (mod i 9)) (= i (+ (* 9 a) r))))
(declare-const b Int)
(declare-const s Int)
(assert (and (= b (div d 9)) (= s (mod d 9)) (= d (+ (* 9 b) s))))
(define-fun F0 () Int (* 2 i))
(declare-const c0 Int)
(define-fun q0 () Int (+ (* 2 a) (* 0 b) c0))
(define-fun q0_rest () Int (- F0 (* 9 q0)))
(define-fun F0_div () Int q0)
(define-fun F0_mod () Int q0_rest)
(declare-const c1 Int)
(define-fun q1 () Int (+ (* 0 a) (* 6 b) c1))
(define-fun q1_rest () Int (- (+ (* 2 d) 1) (* 3 q1)))
(declare-const c2 Int)
(define-fun q2 () Int (+ (* 0 a) (* 2 b) c2))
(define-fun q2_rest () Int (- q1 (* 3 q2)))
(define-fun F1 () Int (+ (+ (* 3 q1) (ite (= q2_rest 0) 3 0)) (* 2 i)))
(declare-const c3 Int)
(define-fun q3 () Int (+ (* 2 a) (* 2 b) c3))
(define-fun q3_rest () Int (- F1 (* 9 q3)))
(define-fun F1_div () Int q3)
(define-fun F1_mod () Int q3_rest)
(define-fun F2 () Int (+ (+ (* 6 q1) (ite (= q2_rest 0) 6 0)) (* 2 i)))
(declare-const c4 Int)
(define-fun q4 () Int (+ (* 2 a) (* 4 b) c4))
(define-fun q4_rest () Int (- F2 (* 9 q4)))
(define-fun F2_div () Int q4)
(define-fun F2_mod () Int q4_rest)
(define-fun B2 () Int (- (- (+ (+ (* 6 q1) (ite (= q2_rest 0) 6 0)) (* 6 d)) 5) (* 4 i)))
(declare-const c5 Int)
(define-fun q5 () Int (+ (* (- 4) a) (* 10 b) c5))
(define-fun q5_rest () Int (- B2 (* 9 q5)))
(define-fun B2_div () Int q5)
(define-fun B2_mod () Int q5_rest)
(declare-const c6 Int)
(define-fun q6 () Int (+ (* 0 a) (* 12 b) c6))
(define-fun q6_rest () Int (- (* 4 d) (* 3 q6)))
(declare-const c7 Int)
(define-fun q7 () Int (+ (* 0 a) (* 4 b) c7))
(define-fun q7_rest () Int (- q6 (* 3 q7)))
(define-fun
  B1
  ()
  Int
  (-
    (- (+ (+ (+ (+ (* 6 q1) (ite (= q2_rest 0) 6 0)) (* 3 q6)) (ite (= q7_rest 0) 3 0)) (* 6 d)) 5)
    (* 4 i)))
(declare-const c8 Int)
(define-fun q8 () Int (+ (* (- 4) a) (* 14 b) c8))
(define-fun q8_rest () Int (- B1 (* 9 q8)))
(define-fun B1_div () Int q8)
(define-fun B1_mod () Int q8_rest)
(define-fun
  B0
  ()
  Int
  (-
    (- (+ (+ (+ (+ (* 6 q1) (ite (= q2_rest 0) 6 0)) (* 6 q6)) (ite (= q7_rest 0) 6 0)) (* 6 d)) 5)
    (* 4 i)))
(declare-const c9 Int)
(define-fun q9 () Int (+ (* (- 4) a) (* 18 b) c9))
(define-fun q9_rest () Int (- B0 (* 9 q9)))
(define-fun B0_div () Int q9)
(define-fun B0_mod () Int q9_rest)
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
(define-fun peak () Int F2_most)
(declare-const c10 Int)
(define-fun q10 () Int (+ (* 0 a) (* 3 b) c10))
(define-fun q10_rest () Int (- d (* 3 q10)))
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
    (x10 Int))
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
      (= c10 x10))))
(assert (row 0 0 0 0 0 0 0 0 0 0 0 0 0))
(assert (row 1 0 0 0 0 0 0 (- 1) 0 0 0 0 0))
(assert (row 2 0 0 0 0 0 1 (- 1) 0 0 (- 1) (- 1) 0))
(assert (row 3 0 0 0 0 1 1 (- 2) 0 0 (- 1) (- 1) 0))
(assert (row 4 0 0 0 0 1 1 (- 2) 0 0 (- 2) (- 1) 0))
(assert (row 5 0 1 0 0 1 1 (- 3) 0 0 (- 2) (- 2) 0))
(assert (row 6 0 1 0 0 1 2 (- 3) 0 0 (- 3) (- 2) 0))
(assert (row 7 0 1 0 0 1 2 (- 3) 0 0 (- 3) (- 3) 0))
(assert (row 8 0 1 0 0 2 2 (- 4) 0 0 (- 4) (- 3) 0))
(assert (row 0 1 0 1 0 0 0 0 1 0 1 1 0))
(assert (row 1 1 0 1 0 0 0 0 1 0 0 1 0))
(assert (row 2 1 0 1 0 0 1 (- 1) 1 0 0 0 0))
(assert (row 3 1 0 1 0 1 1 (- 1) 1 0 (- 1) 0 0))
(assert (row 4 1 0 1 0 1 1 (- 1) 1 0 (- 1) (- 1) 0))
(assert (row 5 1 1 1 0 1 1 (- 2) 1 0 (- 2) (- 1) 0))
(assert (row 6 1 1 1 0 1 2 (- 2) 1 0 (- 2) (- 2) 0))
(assert (row 7 1 1 1 0 1 2 (- 3) 1 0 (- 2) (- 2) 0))
(assert (row 8 1 1 1 0 2 2 (- 3) 1 0 (- 3) (- 3) 0))
(assert (row 0 2 0 1 0 0 0 1 2 0 2 2 0))
(assert (row 1 2 0 1 0 0 0 1 2 0 1 2 0))
(assert (row 2 2 0 1 0 0 1 0 2 0 1 1 0))
(assert (row 3 2 0 1 0 1 1 0 2 0 0 1 0))
(assert (row 4 2 0 1 0 1 1 (- 1) 2 0 0 1 0))
(assert (row 5 2 1 1 0 1 1 (- 1) 2 0 (- 1) 0 0))
(assert (row 6 2 1 1 0 1 2 (- 2) 2 0 (- 1) 0 0))
(assert (row 7 2 1 1 0 1 2 (- 2) 2 0 (- 1) (- 1) 0))
(assert (row 8 2 1 1 0 2 2 (- 3) 2 0 (- 2) (- 1) 0))
(assert (row 0 3 0 2 0 0 1 2 4 1 4 5 1))
(assert (row 1 3 0 2 0 0 1 2 4 1 3 5 1))
(assert (row 2 3 0 2 0 1 1 1 4 1 3 4 1))
(assert (row 3 3 0 2 0 1 2 1 4 1 2 4 1))
(assert (row 4 3 0 2 0 1 2 1 4 1 2 3 1))
(assert (row 5 3 1 2 0 1 2 0 4 1 1 3 1))
(assert (row 6 3 1 2 0 2 2 0 4 1 1 2 1))
(assert (row 7 3 1 2 0 2 2 (- 1) 4 1 1 2 1))
(assert (row 8 3 1 2 0 2 3 (- 1) 4 1 0 1 1))
(assert (row 0 4 0 3 1 1 2 4 5 1 6 8 1))
(assert (row 1 4 0 3 1 1 2 4 5 1 6 7 1))
(assert (row 2 4 0 3 1 1 3 3 5 1 5 7 1))
(assert (row 3 4 0 3 1 2 3 3 5 1 5 6 1))
(assert (row 4 4 0 3 1 2 3 3 5 1 4 6 1))
(assert (row 5 4 1 3 1 2 3 2 5 1 4 5 1))
(assert (row 6 4 1 3 1 2 4 2 5 1 3 5 1))
(assert (row 7 4 1 3 1 2 4 1 5 1 3 5 1))
(assert (row 8 4 1 3 1 3 4 1 5 1 2 4 1))
(assert (row 0 5 0 3 1 1 2 5 6 2 7 10 1))
(assert (row 1 5 0 3 1 1 2 5 6 2 7 9 1))
(assert (row 2 5 0 3 1 1 3 4 6 2 6 9 1))
(assert (row 3 5 0 3 1 2 3 4 6 2 6 8 1))
(assert (row 4 5 0 3 1 2 3 3 6 2 6 8 1))
(assert (row 5 5 1 3 1 2 3 3 6 2 5 7 1))
(assert (row 6 5 1 3 1 2 4 2 6 2 5 7 1))
(assert (row 7 5 1 3 1 2 4 2 6 2 4 7 1))
(assert (row 8 5 1 3 1 3 4 1 6 2 4 6 1))
(assert (row 0 6 0 4 1 1 2 6 8 2 8 11 2))
(assert (row 1 6 0 4 1 1 2 5 8 2 8 11 2))
(assert (row 2 6 0 4 1 1 3 5 8 2 7 10 2))
(assert (row 3 6 0 4 1 2 3 4 8 2 7 10 2))
(assert (row 4 6 0 4 1 2 3 4 8 2 7 9 2))
(assert (row 5 6 1 4 1 2 3 3 8 2 6 9 2))
(assert (row 6 6 1 4 1 2 4 3 8 2 6 8 2))
(assert (row 7 6 1 4 1 2 4 3 8 2 5 8 2))
(assert (row 8 6 1 4 1 3 4 2 8 2 5 7 2))
(assert (row 0 7 0 5 1 1 3 7 9 3 10 14 2))
(assert (row 1 7 0 5 1 1 3 7 9 3 10 13 2))
(assert (row 2 7 0 5 1 2 3 6 9 3 9 13 2))
(assert (row 3 7 0 5 1 2 4 6 9 3 9 12 2))
(assert (row 4 7 0 5 1 2 4 5 9 3 9 12 2))
(assert (row 5 7 1 5 1 2 4 5 9 3 8 11 2))
(assert (row 6 7 1 5 1 3 4 4 9 3 8 11 2))
(assert (row 7 7 1 5 1 3 4 4 9 3 7 11 2))
(assert (row 8 7 1 5 1 3 5 3 9 3 7 10 2))
(assert (row 0 8 0 5 1 1 3 8 10 3 11 14 2))
(assert (row 1 8 0 5 1 1 3 7 10 3 11 14 2))
(assert (row 2 8 0 5 1 2 3 7 10 3 10 13 2))
(assert (row 3 8 0 5 1 2 4 6 10 3 10 13 2))
(assert (row 4 8 0 5 1 2 4 6 10 3 9 13 2))
(assert (row 5 8 1 5 1 2 4 5 10 3 9 12 2))
(assert (row 6 8 1 5 1 3 4 5 10 3 8 12 2))
(assert (row 7 8 1 5 1 3 4 5 10 3 8 11 2))
(assert (row 8 8 1 5 1 3 5 4 10 3 7 11 2))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert
  (not
    (and
      (<= 0 q0_rest 8)
      (<= 0 q1_rest 2)
      (<= 0 q2_rest 2)
      (<= 0 q3_rest 8)
      (<= 0 q4_rest 8)
      (<= 0 q5_rest 8)
      (<= 0 q6_rest 2)
      (<= 0 q7_rest 2)
      (<= 0 q8_rest 8)
      (<= 0 q9_rest 8)
      (<= 0 q10_rest 2)
      (<
        peak
        (+
          (+ (- (- (- (* 4 d) (* 2 i)) 1) (ite (= q10_rest 2) 1 0)) (ite (= q2_rest 0) 1 0))
          (ite (= q7_rest 0) 1 0))))))
(check-sat)
