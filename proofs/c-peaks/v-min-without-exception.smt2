; Family v-min: for every d with d >= 1: peak = 2*((d + 4) div 3) on every device i.
; Used as a negative control of theorem C, which must be refuted: the devices that hold 2 less are
; forgotten.
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
(define-fun F0 () Int i)
(declare-const c0 Int)
(define-fun q0 () Int (+ (* 1 a) (* 0 b) c0))
(define-fun q0_rest () Int (- F0 (* 6 q0)))
(define-fun F0_div () Int q0)
(define-fun F0_mod () Int q0_rest)
(define-fun F1 () Int (- (- (* 2 d) 1) i))
(declare-const c1 Int)
(define-fun q1 () Int (+ (* (- 1) a) (* 2 b) c1))
(define-fun q1_rest () Int (- F1 (* 6 q1)))
(define-fun F1_div () Int q1)
(define-fun F1_mod () Int q1_rest)
(declare-const c2 Int)
(define-fun q2 () Int (+ (* 0 a) (* 2 b) c2))
(define-fun q2_rest () Int (- d (* 3 q2)))
(define-fun I1 () Int (+ (+ (* 2 d) (ite (= q2_rest 0) 2 0)) i))
(declare-const c3 Int)
(define-fun q3 () Int (+ (* 1 a) (* 2 b) c3))
(define-fun q3_rest () Int (- I1 (* 6 q3)))
(define-fun I1_div () Int q3)
(define-fun I1_mod () Int q3_rest)
(define-fun I0 () Int (- (- (+ (* 4 d) (ite (= q2_rest 0) 2 0)) 1) i))
(declare-const c4 Int)
(define-fun q4 () Int (+ (* (- 1) a) (* 4 b) c4))
(define-fun q4_rest () Int (- I0 (* 6 q4)))
(define-fun I0_div () Int q4)
(define-fun I0_mod () Int q4_rest)
(define-fun W1_ready_div () Int (ite (>= (+ I1_mod 1) 6) (+ I1_div 1) I1_div))
(define-fun W1_ready_mod () Int (ite (>= (+ I1_mod 1) 6) (- (+ I1_mod 1) 6) (+ I1_mod 1)))
(define-fun
  W1_from_F0
  ()
  Int
  (ite (>= F0_mod W1_ready_mod) (- F0_mod W1_ready_mod) (+ (- F0_mod W1_ready_mod) 6)))
(define-fun
  W1_from_F1
  ()
  Int
  (ite (>= F1_mod W1_ready_mod) (- F1_mod W1_ready_mod) (+ (- F1_mod W1_ready_mod) 6)))
(define-fun
  W1_from_I1
  ()
  Int
  (ite (>= I1_mod W1_ready_mod) (- I1_mod W1_ready_mod) (+ (- I1_mod W1_ready_mod) 6)))
(define-fun
  W1_from_I0
  ()
  Int
  (ite (>= I0_mod W1_ready_mod) (- I0_mod W1_ready_mod) (+ (- I0_mod W1_ready_mod) 6)))
(define-fun
  W1_delay
  ()
  Int
  (ite
    (and
      (distinct W1_from_F0 0)
      (distinct W1_from_F1 0)
      (distinct W1_from_I1 0)
      (distinct W1_from_I0 0))
    0
    (ite
      (and
        (distinct W1_from_F0 1)
        (distinct W1_from_F1 1)
        (distinct W1_from_I1 1)
        (distinct W1_from_I0 1))
      1
      (ite
        (and
          (distinct W1_from_F0 2)
          (distinct W1_from_F1 2)
          (distinct W1_from_I1 2)
          (distinct W1_from_I0 2))
        2
        (ite
          (and
            (distinct W1_from_F0 3)
            (distinct W1_from_F1 3)
            (distinct W1_from_I1 3)
            (distinct W1_from_I0 3))
          3
          (ite
            (and
              (distinct W1_from_F0 4)
              (distinct W1_from_F1 4)
              (distinct W1_from_I1 4)
              (distinct W1_from_I0 4))
            4
            (ite
              (and
                (distinct W1_from_F0 5)
                (distinct W1_from_F1 5)
                (distinct W1_from_I1 5)
                (distinct W1_from_I0 5))
              5
              6)))))))
(define-fun W1_div () Int (ite (>= (+ W1_ready_mod W1_delay) 6) (+ W1_ready_div 1) W1_ready_div))
(define-fun
  W1_mod
  ()
  Int
  (ite (>= (+ W1_ready_mod W1_delay) 6) (- (+ W1_ready_mod W1_delay) 6) (+ W1_ready_mod W1_delay)))
(define-fun W0_ready_div () Int (ite (>= (+ I0_mod 1) 6) (+ I0_div 1) I0_div))
(define-fun W0_ready_mod () Int (ite (>= (+ I0_mod 1) 6) (- (+ I0_mod 1) 6) (+ I0_mod 1)))
(define-fun
  W0_from_F0
  ()
  Int
  (ite (>= F0_mod W0_ready_mod) (- F0_mod W0_ready_mod) (+ (- F0_mod W0_ready_mod) 6)))
(define-fun
  W0_from_F1
  ()
  Int
  (ite (>= F1_mod W0_ready_mod) (- F1_mod W0_ready_mod) (+ (- F1_mod W0_ready_mod) 6)))
(define-fun
  W0_from_I1
  ()
  Int
  (ite (>= I1_mod W0_ready_mod) (- I1_mod W0_ready_mod) (+ (- I1_mod W0_ready_mod) 6)))
(define-fun
  W0_from_I0
  ()
  Int
  (ite (>= I0_mod W0_ready_mod) (- I0_mod W0_ready_mod) (+ (- I0_mod W0_ready_mod) 6)))
(define-fun
  W0_from_W1
  ()
  Int
  (ite (>= W1_mod W0_ready_mod) (- W1_mod W0_ready_mod) (+ (- W1_mod W0_ready_mod) 6)))
(define-fun
  W0_delay
  ()
  Int
  (ite
    (and
      (distinct W0_from_F0 0)
      (distinct W0_from_F1 0)
      (distinct W0_from_I1 0)
      (distinct W0_from_I0 0)
      (distinct W0_from_W1 0))
    0
    (ite
      (and
        (distinct W0_from_F0 1)
        (distinct W0_from_F1 1)
        (distinct W0_from_I1 1)
        (distinct W0_from_I0 1)
        (distinct W0_from_W1 1))
      1
      (ite
        (and
          (distinct W0_from_F0 2)
          (distinct W0_from_F1 2)
          (distinct W0_from_I1 2)
          (distinct W0_from_I0 2)
          (distinct W0_from_W1 2))
        2
        (ite
          (and
            (distinct W0_from_F0 3)
            (distinct W0_from_F1 3)
            (distinct W0_from_I1 3)
            (distinct W0_from_I0 3)
            (distinct W0_from_W1 3))
          3
          (ite
            (and
              (distinct W0_from_F0 4)
              (distinct W0_from_F1 4)
              (distinct W0_from_I1 4)
              (distinct W0_from_I0 4)
              (distinct W0_from_W1 4))
            4
            (ite
              (and
                (distinct W0_from_F0 5)
                (distinct W0_from_F1 5)
                (distinct W0_from_I1 5)
                (distinct W0_from_I0 5)
                (distinct W0_from_W1 5))
              5
              6)))))))
(define-fun W0_div () Int (ite (>= (+ W0_ready_mod W0_delay) 6) (+ W0_ready_div 1) W0_ready_div))
(define-fun
  W0_mod
  ()
  Int
  (ite (>= (+ W0_ready_mod W0_delay) 6) (- (+ W0_ready_mod W0_delay) 6) (+ W0_ready_mod W0_delay)))
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
    (*
      (- 1)
      (+
        (- F0_div W1_div)
        (ite (or (< W1_mod F0_mod) (and (= W1_mod F0_mod) (< (- F0_div W1_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F0_div W0_div)
        (ite (or (< W0_mod F0_mod) (and (= W0_mod F0_mod) (< (- F0_div W0_div) 0))) 1 0)))))
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
    (*
      (- 1)
      (+
        (- F1_div W1_div)
        (ite (or (< W1_mod F1_mod) (and (= W1_mod F1_mod) (< (- F1_div W1_div) 0))) 1 0)))
    (*
      (- 1)
      (+
        (- F1_div W0_div)
        (ite (or (< W0_mod F1_mod) (and (= W0_mod F1_mod) (< (- F1_div W0_div) 0))) 1 0)))))
(define-fun F1_most () Int (ite (>= F0_live F1_live) F0_live F1_live))
(define-fun peak () Int F1_most)
(declare-const c5 Int)
(define-fun q5 () Int (+ (* 0 a) (* 2 b) c5))
(define-fun q5_rest () Int (- (+ d 4) (* 3 q5)))
(define-fun
  row
  ((r0 Int) (s0 Int) (x0 Int) (x1 Int) (x2 Int) (x3 Int) (x4 Int) (x5 Int))
  Bool
  (=> (and (= r r0) (= s s0)) (and (= c0 x0) (= c1 x1) (= c2 x2) (= c3 x3) (= c4 x4) (= c5 x5))))
(assert (row 0 0 0 (- 1) 0 0 0 1))
(assert (row 1 0 0 (- 1) 0 0 0 1))
(assert (row 2 0 0 (- 1) 0 0 (- 1) 1))
(assert (row 3 0 0 (- 1) 0 0 (- 1) 1))
(assert (row 4 0 0 (- 1) 0 1 (- 1) 1))
(assert (row 5 0 0 (- 1) 0 1 (- 1) 1))
(assert (row 0 1 0 0 0 0 0 1))
(assert (row 1 1 0 0 0 0 0 1))
(assert (row 2 1 0 (- 1) 0 0 0 1))
(assert (row 3 1 0 (- 1) 0 0 0 1))
(assert (row 4 1 0 (- 1) 0 1 (- 1) 1))
(assert (row 5 1 0 (- 1) 0 1 (- 1) 1))
(assert (row 0 2 0 0 0 0 1 2))
(assert (row 1 2 0 0 0 0 1 2))
(assert (row 2 2 0 0 0 1 0 2))
(assert (row 3 2 0 0 0 1 0 2))
(assert (row 4 2 0 (- 1) 0 1 0 2))
(assert (row 5 2 0 (- 1) 0 1 0 2))
(assert (row 0 3 0 0 1 1 2 2))
(assert (row 1 3 0 0 1 1 2 2))
(assert (row 2 3 0 0 1 1 1 2))
(assert (row 3 3 0 0 1 1 1 2))
(assert (row 4 3 0 0 1 2 1 2))
(assert (row 5 3 0 0 1 2 1 2))
(assert (row 0 4 0 1 1 1 2 2))
(assert (row 1 4 0 1 1 1 2 2))
(assert (row 2 4 0 0 1 1 2 2))
(assert (row 3 4 0 0 1 1 2 2))
(assert (row 4 4 0 0 1 2 1 2))
(assert (row 5 4 0 0 1 2 1 2))
(assert (row 0 5 0 1 1 1 3 3))
(assert (row 1 5 0 1 1 1 3 3))
(assert (row 2 5 0 1 1 2 2 3))
(assert (row 3 5 0 1 1 2 2 3))
(assert (row 4 5 0 0 1 2 2 3))
(assert (row 5 5 0 0 1 2 2 3))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert (and (< W1_delay 6) (< W0_delay 6)))
(assert
  (not
    (and
      (<= 0 q0_rest 5)
      (<= 0 q1_rest 5)
      (<= 0 q2_rest 2)
      (<= 0 q3_rest 5)
      (<= 0 q4_rest 5)
      (<= 0 q5_rest 2)
      (= peak (* 2 q5)))))
(check-sat)
