; Family 1f1b-v: for every d with d >= 1: no two passes of a device overlap modulo the interval of 6
; ticks.
; Used as a negative control of theorem A, which must be refuted: every F of chunk 0 starts 1 tick
; later.
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
(define-fun F0 () Int (+ i 1))
(declare-const c0 Int)
(define-fun q0 () Int (+ (* 1 a) (* 0 b) c0))
(define-fun q0_rest () Int (- F0 (* 6 q0)))
(define-fun F0_mod () Int q0_rest)
(declare-const c1 Int)
(define-fun q1 () Int (+ (* 0 a) (* 2 b) c1))
(define-fun q1_rest () Int (- d (* 3 q1)))
(define-fun F1 () Int (- (- (+ (* 2 d) (ite (= q1_rest 0) 2 0)) 1) i))
(declare-const c2 Int)
(define-fun q2 () Int (+ (* (- 1) a) (* 2 b) c2))
(define-fun q2_rest () Int (- F1 (* 6 q2)))
(define-fun F1_mod () Int q2_rest)
(declare-const c3 Int)
(define-fun q3 () Int (+ (* 2 a) (* 0 b) c3))
(define-fun q3_rest () Int (- (+ i 2) (* 3 q3)))
(declare-const c4 Int)
(define-fun q4 () Int (+ (* 2 a) (* 0 b) c4))
(define-fun q4_rest () Int (- i (* 3 q4)))
(define-fun
  B1
  ()
  Int
  (+ (+ (+ (* 2 d) (ite (= q1_rest 0) 2 0)) (* 2 i)) (* 3 (ite (= q1_rest 2) q3 q4))))
(declare-const c5 Int)
(define-fun q5 () Int (+ (* 3 a) (* 2 b) c5))
(define-fun q5_rest () Int (- B1 (* 6 q5)))
(define-fun B1_mod () Int q5_rest)
(declare-const c6 Int)
(define-fun q6 () Int (+ (* 2 a) (* 0 b) c6))
(define-fun q6_rest () Int (- (+ i 1) (* 3 q6)))
(define-fun
  B0
  ()
  Int
  (-
    (- (- (* 8 d) (ite (= q1_rest 0) 2 (ite (= q1_rest 1) 4 3))) (* 2 i))
    (* 3 (ite (= q1_rest 2) q4 q6))))
(declare-const c7 Int)
(define-fun q7 () Int (+ (* (- 3) a) (* 8 b) c7))
(define-fun q7_rest () Int (- B0 (* 6 q7)))
(define-fun B0_mod () Int q7_rest)
(define-fun
  row
  ((r0 Int) (s0 Int) (x0 Int) (x1 Int) (x2 Int) (x3 Int) (x4 Int) (x5 Int) (x6 Int) (x7 Int))
  Bool
  (=>
    (and (= r r0) (= s s0))
    (and (= c0 x0) (= c1 x1) (= c2 x2) (= c3 x3) (= c4 x4) (= c5 x5) (= c6 x6) (= c7 x7))))
(assert (row 0 0 0 0 0 0 0 0 0 (- 1)))
(assert (row 1 0 0 0 0 1 0 0 0 (- 1)))
(assert (row 2 0 0 0 (- 1) 1 0 1 1 (- 2)))
(assert (row 3 0 0 0 (- 1) 1 1 1 1 (- 2)))
(assert (row 4 0 0 0 (- 1) 2 1 2 1 (- 3)))
(assert (row 5 0 1 0 (- 1) 2 1 2 2 (- 3)))
(assert (row 0 1 0 0 0 0 0 0 0 0))
(assert (row 1 1 0 0 0 1 0 0 0 0))
(assert (row 2 1 0 0 (- 1) 1 0 1 1 (- 1)))
(assert (row 3 1 0 0 (- 1) 1 1 1 1 (- 1)))
(assert (row 4 1 0 0 (- 1) 2 1 2 1 (- 2)))
(assert (row 5 1 1 0 (- 1) 2 1 2 2 (- 2)))
(assert (row 0 2 0 0 0 0 0 0 0 2))
(assert (row 1 2 0 0 0 1 0 1 0 1))
(assert (row 2 2 0 0 0 1 0 1 1 1))
(assert (row 3 2 0 0 0 1 1 2 1 0))
(assert (row 4 2 0 0 (- 1) 2 1 3 1 0))
(assert (row 5 2 1 0 (- 1) 2 1 3 2 0))
(assert (row 0 3 0 1 1 0 0 1 0 3))
(assert (row 1 3 0 1 1 1 0 1 0 3))
(assert (row 2 3 0 1 0 1 0 2 1 2))
(assert (row 3 3 0 1 0 1 1 2 1 2))
(assert (row 4 3 0 1 0 2 1 3 1 1))
(assert (row 5 3 1 1 0 2 1 3 2 1))
(assert (row 0 4 0 1 1 0 0 1 0 4))
(assert (row 1 4 0 1 1 1 0 1 0 4))
(assert (row 2 4 0 1 0 1 0 2 1 3))
(assert (row 3 4 0 1 0 1 1 2 1 3))
(assert (row 4 4 0 1 0 2 1 3 1 2))
(assert (row 5 4 1 1 0 2 1 3 2 2))
(assert (row 0 5 0 1 1 0 0 1 0 6))
(assert (row 1 5 0 1 1 1 0 2 0 5))
(assert (row 2 5 0 1 1 1 0 2 1 5))
(assert (row 3 5 0 1 1 1 1 3 1 4))
(assert (row 4 5 0 1 0 2 1 4 1 4))
(assert (row 5 5 1 1 0 2 1 4 2 4))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert
  (not
    (and
      (<= 0 q0_rest 5)
      (<= 0 q1_rest 2)
      (<= 0 q2_rest 5)
      (<= 0 q3_rest 2)
      (<= 0 q4_rest 2)
      (<= 0 q5_rest 5)
      (<= 0 q6_rest 2)
      (<= 0 q7_rest 5)
      (and
        (distinct F0_mod F1_mod)
        (or
          (and (< F0_mod B1_mod) (<= (- B1_mod F0_mod) 4))
          (and (< B1_mod F0_mod) (>= (- F0_mod B1_mod) 2)))
        (or
          (and (< F0_mod B0_mod) (<= (- B0_mod F0_mod) 4))
          (and (< B0_mod F0_mod) (>= (- F0_mod B0_mod) 2)))
        (or
          (and (< F1_mod B1_mod) (<= (- B1_mod F1_mod) 4))
          (and (< B1_mod F1_mod) (>= (- F1_mod B1_mod) 2)))
        (or
          (and (< F1_mod B0_mod) (<= (- B0_mod F1_mod) 4))
          (and (< B0_mod F1_mod) (>= (- F1_mod B0_mod) 2)))
        (or
          (and (< B1_mod B0_mod) (>= (- B0_mod B1_mod) 2) (<= (- B0_mod B1_mod) 4))
          (and (< B0_mod B1_mod) (>= (- B1_mod B0_mod) 2) (<= (- B1_mod B0_mod) 4)))))))
(check-sat)
