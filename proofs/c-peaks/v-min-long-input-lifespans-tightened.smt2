; Family v-min-long-input: for every d with d >= 1: the peak of a device is at most the sum over its
; chunks of their lifespans divided by the interval, rounded up, less 1.
; Used as a negative control of theorem C, which must be refuted: the bound is 1 less.
; This file asks for a counterexample: a number of devices d and a device i for which it is false.
; The answer unsat proves it, sat refutes it.
; F0 is the offset of F of chunk 0 on device i, F0_div and F0_mod its quotient and remainder by the
; interval. W1_delay, where it occurs, is how long W of chunk 1 waits after its I until there is
; room for it; F0_live is what is live once F of chunk 0 has started, in stage activations; peak is
; the largest of those.
; i = 12a + r and d = 12b + s. Every quotient by a constant is written as q0, q1, ...: a multiple of
; a, one of b, and a number, c0, c1, ..., for which there is a row for each r and s. That they are
; the quotients is part of what must hold: the rests, q0_rest and so on, are neither negative nor as
; large as the divisor.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const i Int)
(declare-const a Int)
(declare-const r Int)
(assert (and (= a (div i 12)) (= r (mod i 12)) (= i (+ (* 12 a) r))))
(declare-const b Int)
(declare-const s Int)
(assert (and (= b (div d 12)) (= s (mod d 12)) (= d (+ (* 12 b) s))))
(declare-const c0 Int)
(define-fun q0 () Int (+ (* (- 2) a) (* 2 b) c0))
(define-fun q0_rest () Int (- (- (- d 1) i) (* 6 q0)))
(define-fun F0 () Int (- (- (+ i 1) d) q0))
(declare-const c1 Int)
(define-fun q1 () Int (+ (* 1 a) (* (- 1) b) c1))
(define-fun q1_rest () Int (- F0 (* 14 q1)))
(define-fun F0_div () Int q1)
(define-fun F0_mod () Int q1_rest)
(define-fun F1 () Int (+ (- (+ d 1) i) q0))
(declare-const c2 Int)
(define-fun q2 () Int (+ (* (- 1) a) (* 1 b) c2))
(define-fun q2_rest () Int (- F1 (* 14 q2)))
(define-fun F1_div () Int q2)
(define-fun F1_mod () Int q2_rest)
(declare-const c3 Int)
(define-fun q3 () Int (+ (* 0 a) (* 4 b) c3))
(define-fun q3_rest () Int (- (+ d 1) (* 3 q3)))
(define-fun
  I1
  ()
  Int
  (-
    (- (- (+ (+ (* 14 q3) (* 3 i)) 6) (* 3 d)) (* 3 q0))
    (ite (>= q0_rest 4) 3 (ite (>= q0_rest 2) 2 0))))
(declare-const c4 Int)
(define-fun q4 () Int (+ (* 3 a) (* 1 b) c4))
(define-fun q4_rest () Int (- I1 (* 14 q4)))
(define-fun I1_div () Int q4)
(define-fun I1_mod () Int q4_rest)
(define-fun
  I0
  ()
  Int
  (+
    (+ (+ (+ (- (* 14 q3) (* 3 i)) 3) (* 3 d)) (* 3 q0))
    (ite (>= q0_rest 4) 3 (ite (>= q0_rest 2) 1 0))))
(declare-const c5 Int)
(define-fun q5 () Int (+ (* (- 3) a) (* 7 b) c5))
(define-fun q5_rest () Int (- I0 (* 14 q5)))
(define-fun I0_div () Int q5)
(define-fun I0_mod () Int q5_rest)
(define-fun W1_ready_div () Int (ite (>= (+ I1_mod 3) 14) (+ I1_div 1) I1_div))
(define-fun W1_ready_mod () Int (ite (>= (+ I1_mod 3) 14) (- (+ I1_mod 3) 14) (+ I1_mod 3)))
(define-fun
  W1_from_F0
  ()
  Int
  (ite (>= F0_mod W1_ready_mod) (- F0_mod W1_ready_mod) (+ (- F0_mod W1_ready_mod) 14)))
(define-fun
  W1_from_F1
  ()
  Int
  (ite (>= F1_mod W1_ready_mod) (- F1_mod W1_ready_mod) (+ (- F1_mod W1_ready_mod) 14)))
(define-fun
  W1_from_I1
  ()
  Int
  (ite (>= I1_mod W1_ready_mod) (- I1_mod W1_ready_mod) (+ (- I1_mod W1_ready_mod) 14)))
(define-fun
  W1_from_I0
  ()
  Int
  (ite (>= I0_mod W1_ready_mod) (- I0_mod W1_ready_mod) (+ (- I0_mod W1_ready_mod) 14)))
(define-fun
  W1_delay
  ()
  Int
  (ite
    (and
      (distinct W1_from_F0 0)
      (distinct W1_from_F1 0)
      (or
        (and (< W1_from_I1 0) (>= (- 0 W1_from_I1) 3))
        (and (< 0 W1_from_I1) (<= (- W1_from_I1 0) 11)))
      (or
        (and (< W1_from_I0 0) (>= (- 0 W1_from_I0) 3))
        (and (< 0 W1_from_I0) (<= (- W1_from_I0 0) 11))))
    0
    (ite
      (and
        (distinct W1_from_F0 1)
        (distinct W1_from_F1 1)
        (or
          (and (< W1_from_I1 1) (>= (- 1 W1_from_I1) 3))
          (and (< 1 W1_from_I1) (<= (- W1_from_I1 1) 11)))
        (or
          (and (< W1_from_I0 1) (>= (- 1 W1_from_I0) 3))
          (and (< 1 W1_from_I0) (<= (- W1_from_I0 1) 11))))
      1
      (ite
        (and
          (distinct W1_from_F0 2)
          (distinct W1_from_F1 2)
          (or
            (and (< W1_from_I1 2) (>= (- 2 W1_from_I1) 3))
            (and (< 2 W1_from_I1) (<= (- W1_from_I1 2) 11)))
          (or
            (and (< W1_from_I0 2) (>= (- 2 W1_from_I0) 3))
            (and (< 2 W1_from_I0) (<= (- W1_from_I0 2) 11))))
        2
        (ite
          (and
            (distinct W1_from_F0 3)
            (distinct W1_from_F1 3)
            (or
              (and (< W1_from_I1 3) (>= (- 3 W1_from_I1) 3))
              (and (< 3 W1_from_I1) (<= (- W1_from_I1 3) 11)))
            (or
              (and (< W1_from_I0 3) (>= (- 3 W1_from_I0) 3))
              (and (< 3 W1_from_I0) (<= (- W1_from_I0 3) 11))))
          3
          (ite
            (and
              (distinct W1_from_F0 4)
              (distinct W1_from_F1 4)
              (or
                (and (< W1_from_I1 4) (>= (- 4 W1_from_I1) 3))
                (and (< 4 W1_from_I1) (<= (- W1_from_I1 4) 11)))
              (or
                (and (< W1_from_I0 4) (>= (- 4 W1_from_I0) 3))
                (and (< 4 W1_from_I0) (<= (- W1_from_I0 4) 11))))
            4
            (ite
              (and
                (distinct W1_from_F0 5)
                (distinct W1_from_F1 5)
                (or
                  (and (< W1_from_I1 5) (>= (- 5 W1_from_I1) 3))
                  (and (< 5 W1_from_I1) (<= (- W1_from_I1 5) 11)))
                (or
                  (and (< W1_from_I0 5) (>= (- 5 W1_from_I0) 3))
                  (and (< 5 W1_from_I0) (<= (- W1_from_I0 5) 11))))
              5
              (ite
                (and
                  (distinct W1_from_F0 6)
                  (distinct W1_from_F1 6)
                  (or
                    (and (< W1_from_I1 6) (>= (- 6 W1_from_I1) 3))
                    (and (< 6 W1_from_I1) (<= (- W1_from_I1 6) 11)))
                  (or
                    (and (< W1_from_I0 6) (>= (- 6 W1_from_I0) 3))
                    (and (< 6 W1_from_I0) (<= (- W1_from_I0 6) 11))))
                6
                (ite
                  (and
                    (distinct W1_from_F0 7)
                    (distinct W1_from_F1 7)
                    (or
                      (and (< W1_from_I1 7) (>= (- 7 W1_from_I1) 3))
                      (and (< 7 W1_from_I1) (<= (- W1_from_I1 7) 11)))
                    (or
                      (and (< W1_from_I0 7) (>= (- 7 W1_from_I0) 3))
                      (and (< 7 W1_from_I0) (<= (- W1_from_I0 7) 11))))
                  7
                  (ite
                    (and
                      (distinct W1_from_F0 8)
                      (distinct W1_from_F1 8)
                      (or
                        (and (< W1_from_I1 8) (>= (- 8 W1_from_I1) 3))
                        (and (< 8 W1_from_I1) (<= (- W1_from_I1 8) 11)))
                      (or
                        (and (< W1_from_I0 8) (>= (- 8 W1_from_I0) 3))
                        (and (< 8 W1_from_I0) (<= (- W1_from_I0 8) 11))))
                    8
                    (ite
                      (and
                        (distinct W1_from_F0 9)
                        (distinct W1_from_F1 9)
                        (or
                          (and (< W1_from_I1 9) (>= (- 9 W1_from_I1) 3))
                          (and (< 9 W1_from_I1) (<= (- W1_from_I1 9) 11)))
                        (or
                          (and (< W1_from_I0 9) (>= (- 9 W1_from_I0) 3))
                          (and (< 9 W1_from_I0) (<= (- W1_from_I0 9) 11))))
                      9
                      (ite
                        (and
                          (distinct W1_from_F0 10)
                          (distinct W1_from_F1 10)
                          (or
                            (and (< W1_from_I1 10) (>= (- 10 W1_from_I1) 3))
                            (and (< 10 W1_from_I1) (<= (- W1_from_I1 10) 11)))
                          (or
                            (and (< W1_from_I0 10) (>= (- 10 W1_from_I0) 3))
                            (and (< 10 W1_from_I0) (<= (- W1_from_I0 10) 11))))
                        10
                        (ite
                          (and
                            (distinct W1_from_F0 11)
                            (distinct W1_from_F1 11)
                            (or
                              (and (< W1_from_I1 11) (>= (- 11 W1_from_I1) 3))
                              (and (< 11 W1_from_I1) (<= (- W1_from_I1 11) 11)))
                            (or
                              (and (< W1_from_I0 11) (>= (- 11 W1_from_I0) 3))
                              (and (< 11 W1_from_I0) (<= (- W1_from_I0 11) 11))))
                          11
                          (ite
                            (and
                              (distinct W1_from_F0 12)
                              (distinct W1_from_F1 12)
                              (or
                                (and (< W1_from_I1 12) (>= (- 12 W1_from_I1) 3))
                                (and (< 12 W1_from_I1) (<= (- W1_from_I1 12) 11)))
                              (or
                                (and (< W1_from_I0 12) (>= (- 12 W1_from_I0) 3))
                                (and (< 12 W1_from_I0) (<= (- W1_from_I0 12) 11))))
                            12
                            (ite
                              (and
                                (distinct W1_from_F0 13)
                                (distinct W1_from_F1 13)
                                (or
                                  (and (< W1_from_I1 13) (>= (- 13 W1_from_I1) 3))
                                  (and (< 13 W1_from_I1) (<= (- W1_from_I1 13) 11)))
                                (or
                                  (and (< W1_from_I0 13) (>= (- 13 W1_from_I0) 3))
                                  (and (< 13 W1_from_I0) (<= (- W1_from_I0 13) 11))))
                              13
                              14)))))))))))))))
(define-fun W1 () Int (+ (+ I1 3) W1_delay))
(define-fun W1_div () Int (ite (>= (+ W1_ready_mod W1_delay) 14) (+ W1_ready_div 1) W1_ready_div))
(define-fun
  W1_mod
  ()
  Int
  (ite (>= (+ W1_ready_mod W1_delay) 14) (- (+ W1_ready_mod W1_delay) 14) (+ W1_ready_mod W1_delay)))
(define-fun W0_ready_div () Int (ite (>= (+ I0_mod 3) 14) (+ I0_div 1) I0_div))
(define-fun W0_ready_mod () Int (ite (>= (+ I0_mod 3) 14) (- (+ I0_mod 3) 14) (+ I0_mod 3)))
(define-fun
  W0_from_F0
  ()
  Int
  (ite (>= F0_mod W0_ready_mod) (- F0_mod W0_ready_mod) (+ (- F0_mod W0_ready_mod) 14)))
(define-fun
  W0_from_F1
  ()
  Int
  (ite (>= F1_mod W0_ready_mod) (- F1_mod W0_ready_mod) (+ (- F1_mod W0_ready_mod) 14)))
(define-fun
  W0_from_I1
  ()
  Int
  (ite (>= I1_mod W0_ready_mod) (- I1_mod W0_ready_mod) (+ (- I1_mod W0_ready_mod) 14)))
(define-fun
  W0_from_I0
  ()
  Int
  (ite (>= I0_mod W0_ready_mod) (- I0_mod W0_ready_mod) (+ (- I0_mod W0_ready_mod) 14)))
(define-fun
  W0_from_W1
  ()
  Int
  (ite (>= W1_mod W0_ready_mod) (- W1_mod W0_ready_mod) (+ (- W1_mod W0_ready_mod) 14)))
(define-fun
  W0_delay
  ()
  Int
  (ite
    (and
      (distinct W0_from_F0 0)
      (distinct W0_from_F1 0)
      (or
        (and (< W0_from_I1 0) (>= (- 0 W0_from_I1) 3))
        (and (< 0 W0_from_I1) (<= (- W0_from_I1 0) 11)))
      (or
        (and (< W0_from_I0 0) (>= (- 0 W0_from_I0) 3))
        (and (< 0 W0_from_I0) (<= (- W0_from_I0 0) 11)))
      (distinct W0_from_W1 0))
    0
    (ite
      (and
        (distinct W0_from_F0 1)
        (distinct W0_from_F1 1)
        (or
          (and (< W0_from_I1 1) (>= (- 1 W0_from_I1) 3))
          (and (< 1 W0_from_I1) (<= (- W0_from_I1 1) 11)))
        (or
          (and (< W0_from_I0 1) (>= (- 1 W0_from_I0) 3))
          (and (< 1 W0_from_I0) (<= (- W0_from_I0 1) 11)))
        (distinct W0_from_W1 1))
      1
      (ite
        (and
          (distinct W0_from_F0 2)
          (distinct W0_from_F1 2)
          (or
            (and (< W0_from_I1 2) (>= (- 2 W0_from_I1) 3))
            (and (< 2 W0_from_I1) (<= (- W0_from_I1 2) 11)))
          (or
            (and (< W0_from_I0 2) (>= (- 2 W0_from_I0) 3))
            (and (< 2 W0_from_I0) (<= (- W0_from_I0 2) 11)))
          (distinct W0_from_W1 2))
        2
        (ite
          (and
            (distinct W0_from_F0 3)
            (distinct W0_from_F1 3)
            (or
              (and (< W0_from_I1 3) (>= (- 3 W0_from_I1) 3))
              (and (< 3 W0_from_I1) (<= (- W0_from_I1 3) 11)))
            (or
              (and (< W0_from_I0 3) (>= (- 3 W0_from_I0) 3))
              (and (< 3 W0_from_I0) (<= (- W0_from_I0 3) 11)))
            (distinct W0_from_W1 3))
          3
          (ite
            (and
              (distinct W0_from_F0 4)
              (distinct W0_from_F1 4)
              (or
                (and (< W0_from_I1 4) (>= (- 4 W0_from_I1) 3))
                (and (< 4 W0_from_I1) (<= (- W0_from_I1 4) 11)))
              (or
                (and (< W0_from_I0 4) (>= (- 4 W0_from_I0) 3))
                (and (< 4 W0_from_I0) (<= (- W0_from_I0 4) 11)))
              (distinct W0_from_W1 4))
            4
            (ite
              (and
                (distinct W0_from_F0 5)
                (distinct W0_from_F1 5)
                (or
                  (and (< W0_from_I1 5) (>= (- 5 W0_from_I1) 3))
                  (and (< 5 W0_from_I1) (<= (- W0_from_I1 5) 11)))
                (or
                  (and (< W0_from_I0 5) (>= (- 5 W0_from_I0) 3))
                  (and (< 5 W0_from_I0) (<= (- W0_from_I0 5) 11)))
                (distinct W0_from_W1 5))
              5
              (ite
                (and
                  (distinct W0_from_F0 6)
                  (distinct W0_from_F1 6)
                  (or
                    (and (< W0_from_I1 6) (>= (- 6 W0_from_I1) 3))
                    (and (< 6 W0_from_I1) (<= (- W0_from_I1 6) 11)))
                  (or
                    (and (< W0_from_I0 6) (>= (- 6 W0_from_I0) 3))
                    (and (< 6 W0_from_I0) (<= (- W0_from_I0 6) 11)))
                  (distinct W0_from_W1 6))
                6
                (ite
                  (and
                    (distinct W0_from_F0 7)
                    (distinct W0_from_F1 7)
                    (or
                      (and (< W0_from_I1 7) (>= (- 7 W0_from_I1) 3))
                      (and (< 7 W0_from_I1) (<= (- W0_from_I1 7) 11)))
                    (or
                      (and (< W0_from_I0 7) (>= (- 7 W0_from_I0) 3))
                      (and (< 7 W0_from_I0) (<= (- W0_from_I0 7) 11)))
                    (distinct W0_from_W1 7))
                  7
                  (ite
                    (and
                      (distinct W0_from_F0 8)
                      (distinct W0_from_F1 8)
                      (or
                        (and (< W0_from_I1 8) (>= (- 8 W0_from_I1) 3))
                        (and (< 8 W0_from_I1) (<= (- W0_from_I1 8) 11)))
                      (or
                        (and (< W0_from_I0 8) (>= (- 8 W0_from_I0) 3))
                        (and (< 8 W0_from_I0) (<= (- W0_from_I0 8) 11)))
                      (distinct W0_from_W1 8))
                    8
                    (ite
                      (and
                        (distinct W0_from_F0 9)
                        (distinct W0_from_F1 9)
                        (or
                          (and (< W0_from_I1 9) (>= (- 9 W0_from_I1) 3))
                          (and (< 9 W0_from_I1) (<= (- W0_from_I1 9) 11)))
                        (or
                          (and (< W0_from_I0 9) (>= (- 9 W0_from_I0) 3))
                          (and (< 9 W0_from_I0) (<= (- W0_from_I0 9) 11)))
                        (distinct W0_from_W1 9))
                      9
                      (ite
                        (and
                          (distinct W0_from_F0 10)
                          (distinct W0_from_F1 10)
                          (or
                            (and (< W0_from_I1 10) (>= (- 10 W0_from_I1) 3))
                            (and (< 10 W0_from_I1) (<= (- W0_from_I1 10) 11)))
                          (or
                            (and (< W0_from_I0 10) (>= (- 10 W0_from_I0) 3))
                            (and (< 10 W0_from_I0) (<= (- W0_from_I0 10) 11)))
                          (distinct W0_from_W1 10))
                        10
                        (ite
                          (and
                            (distinct W0_from_F0 11)
                            (distinct W0_from_F1 11)
                            (or
                              (and (< W0_from_I1 11) (>= (- 11 W0_from_I1) 3))
                              (and (< 11 W0_from_I1) (<= (- W0_from_I1 11) 11)))
                            (or
                              (and (< W0_from_I0 11) (>= (- 11 W0_from_I0) 3))
                              (and (< 11 W0_from_I0) (<= (- W0_from_I0 11) 11)))
                            (distinct W0_from_W1 11))
                          11
                          (ite
                            (and
                              (distinct W0_from_F0 12)
                              (distinct W0_from_F1 12)
                              (or
                                (and (< W0_from_I1 12) (>= (- 12 W0_from_I1) 3))
                                (and (< 12 W0_from_I1) (<= (- W0_from_I1 12) 11)))
                              (or
                                (and (< W0_from_I0 12) (>= (- 12 W0_from_I0) 3))
                                (and (< 12 W0_from_I0) (<= (- W0_from_I0 12) 11)))
                              (distinct W0_from_W1 12))
                            12
                            (ite
                              (and
                                (distinct W0_from_F0 13)
                                (distinct W0_from_F1 13)
                                (or
                                  (and (< W0_from_I1 13) (>= (- 13 W0_from_I1) 3))
                                  (and (< 13 W0_from_I1) (<= (- W0_from_I1 13) 11)))
                                (or
                                  (and (< W0_from_I0 13) (>= (- 13 W0_from_I0) 3))
                                  (and (< 13 W0_from_I0) (<= (- W0_from_I0 13) 11)))
                                (distinct W0_from_W1 13))
                              13
                              14)))))))))))))))
(define-fun W0 () Int (+ (+ I0 3) W0_delay))
(define-fun W0_div () Int (ite (>= (+ W0_ready_mod W0_delay) 14) (+ W0_ready_div 1) W0_ready_div))
(define-fun
  W0_mod
  ()
  Int
  (ite (>= (+ W0_ready_mod W0_delay) 14) (- (+ W0_ready_mod W0_delay) 14) (+ W0_ready_mod W0_delay)))
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
(declare-const c6 Int)
(define-fun q6 () Int (+ (* (- 4) a) (* 8 b) c6))
(define-fun
  q6_rest
  ()
  Int
  (- (+ (- (ite (>= (+ I0 3) (+ W0 1)) (+ I0 3) (+ W0 1)) F0) 13) (* 14 q6)))
(declare-const c7 Int)
(define-fun q7 () Int (+ (* 4 a) (* 0 b) c7))
(define-fun
  q7_rest
  ()
  Int
  (- (+ (- (ite (>= (+ I1 3) (+ W1 1)) (+ I1 3) (+ W1 1)) F1) 13) (* 14 q7)))
(define-fun
  row
  ((r0 Int) (s0 Int) (x0 Int) (x1 Int) (x2 Int) (x3 Int) (x4 Int) (x5 Int) (x6 Int) (x7 Int))
  Bool
  (=>
    (and (= r r0) (= s s0))
    (and (= c0 x0) (= c1 x1) (= c2 x2) (= c3 x3) (= c4 x4) (= c5 x5) (= c6 x6) (= c7 x7))))
(assert (row 0 0 (- 1) 0 0 0 0 0 1 1))
(assert (row 1 0 (- 1) 0 (- 1) 0 0 0 1 1))
(assert (row 2 0 (- 1) 0 (- 1) 0 0 (- 1) 0 2))
(assert (row 3 0 (- 1) 0 (- 1) 0 1 (- 1) 0 2))
(assert (row 4 0 (- 1) 0 (- 1) 0 1 (- 1) (- 1) 3))
(assert (row 5 0 (- 1) 0 (- 1) 0 1 (- 2) (- 1) 3))
(assert (row 6 0 (- 2) 0 (- 1) 0 1 (- 2) (- 1) 3))
(assert (row 7 0 (- 2) 0 (- 1) 0 2 (- 2) (- 1) 3))
(assert (row 8 0 (- 2) 0 (- 1) 0 2 (- 2) (- 2) 4))
(assert (row 9 0 (- 2) 0 (- 1) 0 2 (- 3) (- 2) 4))
(assert (row 10 0 (- 2) 0 (- 1) 0 3 (- 3) (- 3) 5))
(assert (row 11 0 (- 2) 1 (- 1) 0 3 (- 3) (- 3) 5))
(assert (row 0 1 0 0 0 0 0 0 1 1))
(assert (row 1 1 (- 1) 0 0 0 0 0 1 1))
(assert (row 2 1 (- 1) 0 (- 1) 0 0 0 1 1))
(assert (row 3 1 (- 1) 0 (- 1) 0 0 (- 1) 0 2))
(assert (row 4 1 (- 1) 0 (- 1) 0 1 (- 1) 0 2))
(assert (row 5 1 (- 1) 0 (- 1) 0 1 (- 1) (- 1) 3))
(assert (row 6 1 (- 1) 0 (- 1) 0 1 (- 2) (- 1) 3))
(assert (row 7 1 (- 2) 0 (- 1) 0 1 (- 2) (- 1) 3))
(assert (row 8 1 (- 2) 0 (- 1) 0 2 (- 2) (- 1) 3))
(assert (row 9 1 (- 2) 0 (- 1) 0 2 (- 2) (- 2) 4))
(assert (row 10 1 (- 2) 0 (- 1) 0 2 (- 3) (- 2) 4))
(assert (row 11 1 (- 2) 0 (- 1) 0 3 (- 3) (- 3) 5))
(assert (row 0 2 0 (- 1) 0 1 1 1 2 2))
(assert (row 1 2 0 0 0 1 1 1 2 2))
(assert (row 2 2 (- 1) 0 0 1 1 1 2 2))
(assert (row 3 2 (- 1) 0 (- 1) 1 1 1 2 2))
(assert (row 4 2 (- 1) 0 (- 1) 1 1 0 1 3))
(assert (row 5 2 (- 1) 0 (- 1) 1 2 0 1 3))
(assert (row 6 2 (- 1) 0 (- 1) 1 2 0 0 4))
(assert (row 7 2 (- 1) 0 (- 1) 1 2 (- 1) 0 4))
(assert (row 8 2 (- 2) 0 (- 1) 1 2 (- 1) 0 4))
(assert (row 9 2 (- 2) 0 (- 1) 1 3 (- 1) 0 4))
(assert (row 10 2 (- 2) 0 (- 1) 1 3 (- 1) (- 1) 5))
(assert (row 11 2 (- 2) 0 (- 1) 1 3 (- 2) (- 1) 5))
(assert (row 0 3 0 (- 1) 0 1 0 1 3 1))
(assert (row 1 3 0 (- 1) 0 1 1 1 2 2))
(assert (row 2 3 0 0 0 1 1 1 2 2))
(assert (row 3 3 (- 1) 0 0 1 1 1 2 2))
(assert (row 4 3 (- 1) 0 (- 1) 1 1 1 2 2))
(assert (row 5 3 (- 1) 0 (- 1) 1 1 0 1 3))
(assert (row 6 3 (- 1) 0 (- 1) 1 2 0 1 3))
(assert (row 7 3 (- 1) 0 (- 1) 1 2 0 0 4))
(assert (row 8 3 (- 1) 0 (- 1) 1 2 (- 1) 0 4))
(assert (row 9 3 (- 2) 0 (- 1) 1 2 (- 1) 0 4))
(assert (row 10 3 (- 2) 0 (- 1) 1 3 (- 1) 0 4))
(assert (row 11 3 (- 2) 0 (- 1) 1 3 (- 1) (- 1) 5))
(assert (row 0 4 0 (- 1) 0 1 0 2 3 1))
(assert (row 1 4 0 (- 1) 0 1 0 1 3 1))
(assert (row 2 4 0 (- 1) 0 1 1 1 2 2))
(assert (row 3 4 0 0 0 1 1 1 2 2))
(assert (row 4 4 (- 1) 0 0 1 1 1 2 2))
(assert (row 5 4 (- 1) 0 (- 1) 1 1 1 2 2))
(assert (row 6 4 (- 1) 0 (- 1) 1 1 0 1 3))
(assert (row 7 4 (- 1) 0 (- 1) 1 2 0 1 3))
(assert (row 8 4 (- 1) 0 (- 1) 1 2 0 0 4))
(assert (row 9 4 (- 1) 0 (- 1) 1 2 (- 1) 0 4))
(assert (row 10 4 (- 2) 0 (- 1) 1 2 (- 1) 0 4))
(assert (row 11 4 (- 2) 0 (- 1) 1 3 (- 1) 0 4))
(assert (row 0 5 0 (- 1) 0 2 1 3 5 1))
(assert (row 1 5 0 (- 1) 0 2 1 3 4 2))
(assert (row 2 5 0 (- 1) 0 2 1 2 4 2))
(assert (row 3 5 0 (- 1) 0 2 2 2 3 3))
(assert (row 4 5 0 0 0 2 2 2 3 3))
(assert (row 5 5 (- 1) 0 0 2 2 2 3 3))
(assert (row 6 5 (- 1) 0 (- 1) 2 2 2 3 3))
(assert (row 7 5 (- 1) 0 (- 1) 2 2 1 2 4))
(assert (row 8 5 (- 1) 0 (- 1) 2 3 1 2 4))
(assert (row 9 5 (- 1) 0 (- 1) 2 3 1 1 5))
(assert (row 10 5 (- 1) 0 (- 1) 2 3 0 1 5))
(assert (row 11 5 (- 2) 0 (- 1) 2 3 0 1 5))
(assert (row 0 6 0 (- 1) 0 2 0 3 5 1))
(assert (row 1 6 0 (- 1) 0 2 1 3 5 1))
(assert (row 2 6 0 (- 1) 0 2 1 3 4 2))
(assert (row 3 6 0 (- 1) 0 2 1 2 4 2))
(assert (row 4 6 0 (- 1) 0 2 2 2 3 3))
(assert (row 5 6 0 0 0 2 2 2 3 3))
(assert (row 6 6 (- 1) 0 0 2 2 2 3 3))
(assert (row 7 6 (- 1) 0 (- 1) 2 2 2 3 3))
(assert (row 8 6 (- 1) 0 (- 1) 2 2 1 2 4))
(assert (row 9 6 (- 1) 0 (- 1) 2 3 1 2 4))
(assert (row 10 6 (- 1) 0 (- 1) 2 3 1 1 5))
(assert (row 11 6 (- 1) 0 (- 1) 2 3 0 1 5))
(assert (row 0 7 1 (- 1) 0 2 0 3 5 1))
(assert (row 1 7 0 (- 1) 0 2 0 3 5 1))
(assert (row 2 7 0 (- 1) 0 2 1 3 5 1))
(assert (row 3 7 0 (- 1) 0 2 1 3 4 2))
(assert (row 4 7 0 (- 1) 0 2 1 2 4 2))
(assert (row 5 7 0 (- 1) 0 2 2 2 3 3))
(assert (row 6 7 0 0 0 2 2 2 3 3))
(assert (row 7 7 (- 1) 0 0 2 2 2 3 3))
(assert (row 8 7 (- 1) 0 (- 1) 2 2 2 3 3))
(assert (row 9 7 (- 1) 0 (- 1) 2 2 1 2 4))
(assert (row 10 7 (- 1) 0 (- 1) 2 3 1 2 4))
(assert (row 11 7 (- 1) 0 (- 1) 2 3 1 1 5))
(assert (row 0 8 1 (- 1) 0 3 1 5 6 2))
(assert (row 1 8 1 (- 1) 0 3 1 4 6 2))
(assert (row 2 8 0 (- 1) 0 3 1 4 6 2))
(assert (row 3 8 0 (- 1) 0 3 2 4 6 2))
(assert (row 4 8 0 (- 1) 0 3 2 4 5 3))
(assert (row 5 8 0 (- 1) 0 3 2 3 5 3))
(assert (row 6 8 0 (- 1) 0 3 3 3 4 4))
(assert (row 7 8 0 0 0 3 3 3 4 4))
(assert (row 8 8 (- 1) 0 0 3 3 3 4 4))
(assert (row 9 8 (- 1) 0 (- 1) 3 3 3 4 4))
(assert (row 10 8 (- 1) 0 (- 1) 3 3 2 3 5))
(assert (row 11 8 (- 1) 0 (- 1) 3 4 2 3 5))
(assert (row 0 9 1 (- 1) 0 3 1 5 7 1))
(assert (row 1 9 1 (- 1) 0 3 1 5 6 2))
(assert (row 2 9 1 (- 1) 0 3 1 4 6 2))
(assert (row 3 9 0 (- 1) 0 3 1 4 6 2))
(assert (row 4 9 0 (- 1) 0 3 2 4 6 2))
(assert (row 5 9 0 (- 1) 0 3 2 4 5 3))
(assert (row 6 9 0 (- 1) 0 3 2 3 5 3))
(assert (row 7 9 0 (- 1) 0 3 3 3 4 4))
(assert (row 8 9 0 0 0 3 3 3 4 4))
(assert (row 9 9 (- 1) 0 0 3 3 3 4 4))
(assert (row 10 9 (- 1) 0 (- 1) 3 3 3 4 4))
(assert (row 11 9 (- 1) 0 (- 1) 3 3 2 3 5))
(assert (row 0 10 1 (- 1) 0 3 0 5 7 1))
(assert (row 1 10 1 (- 1) 0 3 1 5 7 1))
(assert (row 2 10 1 (- 1) 0 3 1 5 6 2))
(assert (row 3 10 1 (- 1) 0 3 1 4 6 2))
(assert (row 4 10 0 (- 1) 0 3 1 4 6 2))
(assert (row 5 10 0 (- 1) 0 3 2 4 6 2))
(assert (row 6 10 0 (- 1) 0 3 2 4 5 3))
(assert (row 7 10 0 (- 1) 0 3 2 3 5 3))
(assert (row 8 10 0 (- 1) 0 3 3 3 4 4))
(assert (row 9 10 0 0 0 3 3 3 4 4))
(assert (row 10 10 (- 1) 0 0 3 3 3 4 4))
(assert (row 11 10 (- 1) 0 (- 1) 3 3 3 4 4))
(assert (row 0 11 1 (- 1) 0 4 1 7 9 1))
(assert (row 1 11 1 (- 1) 0 4 1 6 8 2))
(assert (row 2 11 1 (- 1) 0 4 2 6 8 2))
(assert (row 3 11 1 (- 1) 0 4 2 6 7 3))
(assert (row 4 11 1 (- 1) 0 4 2 5 7 3))
(assert (row 5 11 0 (- 1) 0 4 2 5 7 3))
(assert (row 6 11 0 (- 1) 0 4 3 5 7 3))
(assert (row 7 11 0 (- 1) 0 4 3 5 6 4))
(assert (row 8 11 0 (- 1) 0 4 3 4 6 4))
(assert (row 9 11 0 (- 1) 0 4 4 4 5 5))
(assert (row 10 11 0 0 0 4 4 4 5 5))
(assert (row 11 11 (- 1) 0 0 4 4 4 5 5))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert (and (< W1_delay 14) (< W0_delay 14)))
(assert
  (not
    (and
      (<= 0 q0_rest 5)
      (<= 0 q1_rest 13)
      (<= 0 q2_rest 13)
      (<= 0 q3_rest 2)
      (<= 0 q4_rest 13)
      (<= 0 q5_rest 13)
      (<= 0 q6_rest 13)
      (<= 0 q7_rest 13)
      (<= peak (- (+ (ite (>= q6 1) q6 1) (ite (>= q7 1) q7 1)) 1)))))
(check-sat)
