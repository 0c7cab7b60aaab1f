; Family v-min-long-input: for every d with d >= 1: no pass starts before the passes that it needs
; have ended.
; Used as a negative control of theorem A, which must be refuted: every F of chunk 0 starts 2 ticks
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
(define-fun F0 ((i Int) (d Int)) Int (+ (- (- (+ i 1) d) (div (- (- d 1) i) 6)) 2))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 14))
(define-fun F1 ((i Int) (d Int)) Int (+ (- (+ d 1) i) (div (- (- d 1) i) 6)))
(define-fun F1_mod ((i Int) (d Int)) Int (mod (F1 i d) 14))
(define-fun
  I1
  ((i Int) (d Int))
  Int
  (-
    (- (- (+ (+ (* 14 (div (+ d 1) 3)) (* 3 i)) 6) (* 3 d)) (* 3 (div (- (- d 1) i) 6)))
    (ite (>= (mod (- (- d 1) i) 6) 4) 3 (ite (>= (mod (- (- d 1) i) 6) 2) 2 0))))
(define-fun I1_mod ((i Int) (d Int)) Int (mod (I1 i d) 14))
(define-fun
  I0
  ((i Int) (d Int))
  Int
  (+
    (+ (+ (+ (- (* 14 (div (+ d 1) 3)) (* 3 i)) 3) (* 3 d)) (* 3 (div (- (- d 1) i) 6)))
    (ite (>= (mod (- (- d 1) i) 6) 4) 3 (ite (>= (mod (- (- d 1) i) 6) 2) 1 0))))
(define-fun I0_mod ((i Int) (d Int)) Int (mod (I0 i d) 14))
(define-fun
  W1_ready_mod
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I1_mod i d) 3) 14) (- (+ (I1_mod i d) 3) 14) (+ (I1_mod i d) 3)))
(define-fun
  W1_from_F0
  ((i Int) (d Int))
  Int
  (ite
    (>= (F0_mod i d) (W1_ready_mod i d))
    (- (F0_mod i d) (W1_ready_mod i d))
    (+ (- (F0_mod i d) (W1_ready_mod i d)) 14)))
(define-fun
  W1_from_F1
  ((i Int) (d Int))
  Int
  (ite
    (>= (F1_mod i d) (W1_ready_mod i d))
    (- (F1_mod i d) (W1_ready_mod i d))
    (+ (- (F1_mod i d) (W1_ready_mod i d)) 14)))
(define-fun
  W1_from_I1
  ((i Int) (d Int))
  Int
  (ite
    (>= (I1_mod i d) (W1_ready_mod i d))
    (- (I1_mod i d) (W1_ready_mod i d))
    (+ (- (I1_mod i d) (W1_ready_mod i d)) 14)))
(define-fun
  W1_from_I0
  ((i Int) (d Int))
  Int
  (ite
    (>= (I0_mod i d) (W1_ready_mod i d))
    (- (I0_mod i d) (W1_ready_mod i d))
    (+ (- (I0_mod i d) (W1_ready_mod i d)) 14)))
(define-fun
  W1_delay
  ((i Int) (d Int))
  Int
  (ite
    (and
      (distinct (W1_from_F0 i d) 0)
      (distinct (W1_from_F1 i d) 0)
      (or
        (and (< (W1_from_I1 i d) 0) (>= (- 0 (W1_from_I1 i d)) 3))
        (and (< 0 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 0) 11)))
      (or
        (and (< (W1_from_I0 i d) 0) (>= (- 0 (W1_from_I0 i d)) 3))
        (and (< 0 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 0) 11))))
    0
    (ite
      (and
        (distinct (W1_from_F0 i d) 1)
        (distinct (W1_from_F1 i d) 1)
        (or
          (and (< (W1_from_I1 i d) 1) (>= (- 1 (W1_from_I1 i d)) 3))
          (and (< 1 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 1) 11)))
        (or
          (and (< (W1_from_I0 i d) 1) (>= (- 1 (W1_from_I0 i d)) 3))
          (and (< 1 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 1) 11))))
      1
      (ite
        (and
          (distinct (W1_from_F0 i d) 2)
          (distinct (W1_from_F1 i d) 2)
          (or
            (and (< (W1_from_I1 i d) 2) (>= (- 2 (W1_from_I1 i d)) 3))
            (and (< 2 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 2) 11)))
          (or
            (and (< (W1_from_I0 i d) 2) (>= (- 2 (W1_from_I0 i d)) 3))
            (and (< 2 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 2) 11))))
        2
        (ite
          (and
            (distinct (W1_from_F0 i d) 3)
            (distinct (W1_from_F1 i d) 3)
            (or
              (and (< (W1_from_I1 i d) 3) (>= (- 3 (W1_from_I1 i d)) 3))
              (and (< 3 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 3) 11)))
            (or
              (and (< (W1_from_I0 i d) 3) (>= (- 3 (W1_from_I0 i d)) 3))
              (and (< 3 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 3) 11))))
          3
          (ite
            (and
              (distinct (W1_from_F0 i d) 4)
              (distinct (W1_from_F1 i d) 4)
              (or
                (and (< (W1_from_I1 i d) 4) (>= (- 4 (W1_from_I1 i d)) 3))
                (and (< 4 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 4) 11)))
              (or
                (and (< (W1_from_I0 i d) 4) (>= (- 4 (W1_from_I0 i d)) 3))
                (and (< 4 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 4) 11))))
            4
            (ite
              (and
                (distinct (W1_from_F0 i d) 5)
                (distinct (W1_from_F1 i d) 5)
                (or
                  (and (< (W1_from_I1 i d) 5) (>= (- 5 (W1_from_I1 i d)) 3))
                  (and (< 5 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 5) 11)))
                (or
                  (and (< (W1_from_I0 i d) 5) (>= (- 5 (W1_from_I0 i d)) 3))
                  (and (< 5 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 5) 11))))
              5
              (ite
                (and
                  (distinct (W1_from_F0 i d) 6)
                  (distinct (W1_from_F1 i d) 6)
                  (or
                    (and (< (W1_from_I1 i d) 6) (>= (- 6 (W1_from_I1 i d)) 3))
                    (and (< 6 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 6) 11)))
                  (or
                    (and (< (W1_from_I0 i d) 6) (>= (- 6 (W1_from_I0 i d)) 3))
                    (and (< 6 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 6) 11))))
                6
                (ite
                  (and
                    (distinct (W1_from_F0 i d) 7)
                    (distinct (W1_from_F1 i d) 7)
                    (or
                      (and (< (W1_from_I1 i d) 7) (>= (- 7 (W1_from_I1 i d)) 3))
                      (and (< 7 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 7) 11)))
                    (or
                      (and (< (W1_from_I0 i d) 7) (>= (- 7 (W1_from_I0 i d)) 3))
                      (and (< 7 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 7) 11))))
                  7
                  (ite
                    (and
                      (distinct (W1_from_F0 i d) 8)
                      (distinct (W1_from_F1 i d) 8)
                      (or
                        (and (< (W1_from_I1 i d) 8) (>= (- 8 (W1_from_I1 i d)) 3))
                        (and (< 8 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 8) 11)))
                      (or
                        (and (< (W1_from_I0 i d) 8) (>= (- 8 (W1_from_I0 i d)) 3))
                        (and (< 8 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 8) 11))))
                    8
                    (ite
                      (and
                        (distinct (W1_from_F0 i d) 9)
                        (distinct (W1_from_F1 i d) 9)
                        (or
                          (and (< (W1_from_I1 i d) 9) (>= (- 9 (W1_from_I1 i d)) 3))
                          (and (< 9 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 9) 11)))
                        (or
                          (and (< (W1_from_I0 i d) 9) (>= (- 9 (W1_from_I0 i d)) 3))
                          (and (< 9 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 9) 11))))
                      9
                      (ite
                        (and
                          (distinct (W1_from_F0 i d) 10)
                          (distinct (W1_from_F1 i d) 10)
                          (or
                            (and (< (W1_from_I1 i d) 10) (>= (- 10 (W1_from_I1 i d)) 3))
                            (and (< 10 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 10) 11)))
                          (or
                            (and (< (W1_from_I0 i d) 10) (>= (- 10 (W1_from_I0 i d)) 3))
                            (and (< 10 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 10) 11))))
                        10
                        (ite
                          (and
                            (distinct (W1_from_F0 i d) 11)
                            (distinct (W1_from_F1 i d) 11)
                            (or
                              (and (< (W1_from_I1 i d) 11) (>= (- 11 (W1_from_I1 i d)) 3))
                              (and (< 11 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 11) 11)))
                            (or
                              (and (< (W1_from_I0 i d) 11) (>= (- 11 (W1_from_I0 i d)) 3))
                              (and (< 11 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 11) 11))))
                          11
                          (ite
                            (and
                              (distinct (W1_from_F0 i d) 12)
                              (distinct (W1_from_F1 i d) 12)
                              (or
                                (and (< (W1_from_I1 i d) 12) (>= (- 12 (W1_from_I1 i d)) 3))
                                (and (< 12 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 12) 11)))
                              (or
                                (and (< (W1_from_I0 i d) 12) (>= (- 12 (W1_from_I0 i d)) 3))
                                (and (< 12 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 12) 11))))
                            12
                            (ite
                              (and
                                (distinct (W1_from_F0 i d) 13)
                                (distinct (W1_from_F1 i d) 13)
                                (or
                                  (and (< (W1_from_I1 i d) 13) (>= (- 13 (W1_from_I1 i d)) 3))
                                  (and (< 13 (W1_from_I1 i d)) (<= (- (W1_from_I1 i d) 13) 11)))
                                (or
                                  (and (< (W1_from_I0 i d) 13) (>= (- 13 (W1_from_I0 i d)) 3))
                                  (and (< 13 (W1_from_I0 i d)) (<= (- (W1_from_I0 i d) 13) 11))))
                              13
                              14)))))))))))))))
(define-fun W1 ((i Int) (d Int)) Int (+ (+ (I1 i d) 3) (W1_delay i d)))
(define-fun
  W1_mod
  ((i Int) (d Int))
  Int
  (ite
    (>= (+ (W1_ready_mod i d) (W1_delay i d)) 14)
    (- (+ (W1_ready_mod i d) (W1_delay i d)) 14)
    (+ (W1_ready_mod i d) (W1_delay i d))))
(define-fun
  W0_ready_mod
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I0_mod i d) 3) 14) (- (+ (I0_mod i d) 3) 14) (+ (I0_mod i d) 3)))
(define-fun
  W0_from_F0
  ((i Int) (d Int))
  Int
  (ite
    (>= (F0_mod i d) (W0_ready_mod i d))
    (- (F0_mod i d) (W0_ready_mod i d))
    (+ (- (F0_mod i d) (W0_ready_mod i d)) 14)))
(define-fun
  W0_from_F1
  ((i Int) (d Int))
  Int
  (ite
    (>= (F1_mod i d) (W0_ready_mod i d))
    (- (F1_mod i d) (W0_ready_mod i d))
    (+ (- (F1_mod i d) (W0_ready_mod i d)) 14)))
(define-fun
  W0_from_I1
  ((i Int) (d Int))
  Int
  (ite
    (>= (I1_mod i d) (W0_ready_mod i d))
    (- (I1_mod i d) (W0_ready_mod i d))
    (+ (- (I1_mod i d) (W0_ready_mod i d)) 14)))
(define-fun
  W0_from_I0
  ((i Int) (d Int))
  Int
  (ite
    (>= (I0_mod i d) (W0_ready_mod i d))
    (- (I0_mod i d) (W0_ready_mod i d))
    (+ (- (I0_mod i d) (W0_ready_mod i d)) 14)))
(define-fun
  W0_from_W1
  ((i Int) (d Int))
  Int
  (ite
    (>= (W1_mod i d) (W0_ready_mod i d))
    (- (W1_mod i d) (W0_ready_mod i d))
    (+ (- (W1_mod i d) (W0_ready_mod i d)) 14)))
(define-fun
  W0_delay
  ((i Int) (d Int))
  Int
  (ite
    (and
      (distinct (W0_from_F0 i d) 0)
      (distinct (W0_from_F1 i d) 0)
      (or
        (and (< (W0_from_I1 i d) 0) (>= (- 0 (W0_from_I1 i d)) 3))
        (and (< 0 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 0) 11)))
      (or
        (and (< (W0_from_I0 i d) 0) (>= (- 0 (W0_from_I0 i d)) 3))
        (and (< 0 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 0) 11)))
      (distinct (W0_from_W1 i d) 0))
    0
    (ite
      (and
        (distinct (W0_from_F0 i d) 1)
        (distinct (W0_from_F1 i d) 1)
        (or
          (and (< (W0_from_I1 i d) 1) (>= (- 1 (W0_from_I1 i d)) 3))
          (and (< 1 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 1) 11)))
        (or
          (and (< (W0_from_I0 i d) 1) (>= (- 1 (W0_from_I0 i d)) 3))
          (and (< 1 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 1) 11)))
        (distinct (W0_from_W1 i d) 1))
      1
      (ite
        (and
          (distinct (W0_from_F0 i d) 2)
          (distinct (W0_from_F1 i d) 2)
          (or
            (and (< (W0_from_I1 i d) 2) (>= (- 2 (W0_from_I1 i d)) 3))
            (and (< 2 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 2) 11)))
          (or
            (and (< (W0_from_I0 i d) 2) (>= (- 2 (W0_from_I0 i d)) 3))
            (and (< 2 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 2) 11)))
          (distinct (W0_from_W1 i d) 2))
        2
        (ite
          (and
            (distinct (W0_from_F0 i d) 3)
            (distinct (W0_from_F1 i d) 3)
            (or
              (and (< (W0_from_I1 i d) 3) (>= (- 3 (W0_from_I1 i d)) 3))
              (and (< 3 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 3) 11)))
            (or
              (and (< (W0_from_I0 i d) 3) (>= (- 3 (W0_from_I0 i d)) 3))
              (and (< 3 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 3) 11)))
            (distinct (W0_from_W1 i d) 3))
          3
          (ite
            (and
              (distinct (W0_from_F0 i d) 4)
              (distinct (W0_from_F1 i d) 4)
              (or
                (and (< (W0_from_I1 i d) 4) (>= (- 4 (W0_from_I1 i d)) 3))
                (and (< 4 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 4) 11)))
              (or
                (and (< (W0_from_I0 i d) 4) (>= (- 4 (W0_from_I0 i d)) 3))
                (and (< 4 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 4) 11)))
              (distinct (W0_from_W1 i d) 4))
            4
            (ite
              (and
                (distinct (W0_from_F0 i d) 5)
                (distinct (W0_from_F1 i d) 5)
                (or
                  (and (< (W0_from_I1 i d) 5) (>= (- 5 (W0_from_I1 i d)) 3))
                  (and (< 5 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 5) 11)))
                (or
                  (and (< (W0_from_I0 i d) 5) (>= (- 5 (W0_from_I0 i d)) 3))
                  (and (< 5 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 5) 11)))
                (distinct (W0_from_W1 i d) 5))
              5
              (ite
                (and
                  (distinct (W0_from_F0 i d) 6)
                  (distinct (W0_from_F1 i d) 6)
                  (or
                    (and (< (W0_from_I1 i d) 6) (>= (- 6 (W0_from_I1 i d)) 3))
                    (and (< 6 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 6) 11)))
                  (or
                    (and (< (W0_from_I0 i d) 6) (>= (- 6 (W0_from_I0 i d)) 3))
                    (and (< 6 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 6) 11)))
                  (distinct (W0_from_W1 i d) 6))
                6
                (ite
                  (and
                    (distinct (W0_from_F0 i d) 7)
                    (distinct (W0_from_F1 i d) 7)
                    (or
                      (and (< (W0_from_I1 i d) 7) (>= (- 7 (W0_from_I1 i d)) 3))
                      (and (< 7 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 7) 11)))
                    (or
                      (and (< (W0_from_I0 i d) 7) (>= (- 7 (W0_from_I0 i d)) 3))
                      (and (< 7 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 7) 11)))
                    (distinct (W0_from_W1 i d) 7))
                  7
                  (ite
                    (and
                      (distinct (W0_from_F0 i d) 8)
                      (distinct (W0_from_F1 i d) 8)
                      (or
                        (and (< (W0_from_I1 i d) 8) (>= (- 8 (W0_from_I1 i d)) 3))
                        (and (< 8 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 8) 11)))
                      (or
                        (and (< (W0_from_I0 i d) 8) (>= (- 8 (W0_from_I0 i d)) 3))
                        (and (< 8 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 8) 11)))
                      (distinct (W0_from_W1 i d) 8))
                    8
                    (ite
                      (and
                        (distinct (W0_from_F0 i d) 9)
                        (distinct (W0_from_F1 i d) 9)
                        (or
                          (and (< (W0_from_I1 i d) 9) (>= (- 9 (W0_from_I1 i d)) 3))
                          (and (< 9 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 9) 11)))
                        (or
                          (and (< (W0_from_I0 i d) 9) (>= (- 9 (W0_from_I0 i d)) 3))
                          (and (< 9 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 9) 11)))
                        (distinct (W0_from_W1 i d) 9))
                      9
                      (ite
                        (and
                          (distinct (W0_from_F0 i d) 10)
                          (distinct (W0_from_F1 i d) 10)
                          (or
                            (and (< (W0_from_I1 i d) 10) (>= (- 10 (W0_from_I1 i d)) 3))
                            (and (< 10 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 10) 11)))
                          (or
                            (and (< (W0_from_I0 i d) 10) (>= (- 10 (W0_from_I0 i d)) 3))
                            (and (< 10 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 10) 11)))
                          (distinct (W0_from_W1 i d) 10))
                        10
                        (ite
                          (and
                            (distinct (W0_from_F0 i d) 11)
                            (distinct (W0_from_F1 i d) 11)
                            (or
                              (and (< (W0_from_I1 i d) 11) (>= (- 11 (W0_from_I1 i d)) 3))
                              (and (< 11 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 11) 11)))
                            (or
                              (and (< (W0_from_I0 i d) 11) (>= (- 11 (W0_from_I0 i d)) 3))
                              (and (< 11 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 11) 11)))
                            (distinct (W0_from_W1 i d) 11))
                          11
                          (ite
                            (and
                              (distinct (W0_from_F0 i d) 12)
                              (distinct (W0_from_F1 i d) 12)
                              (or
                                (and (< (W0_from_I1 i d) 12) (>= (- 12 (W0_from_I1 i d)) 3))
                                (and (< 12 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 12) 11)))
                              (or
                                (and (< (W0_from_I0 i d) 12) (>= (- 12 (W0_from_I0 i d)) 3))
                                (and (< 12 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 12) 11)))
                              (distinct (W0_from_W1 i d) 12))
                            12
                            (ite
                              (and
                                (distinct (W0_from_F0 i d) 13)
                                (distinct (W0_from_F1 i d) 13)
                                (or
                                  (and (< (W0_from_I1 i d) 13) (>= (- 13 (W0_from_I1 i d)) 3))
                                  (and (< 13 (W0_from_I1 i d)) (<= (- (W0_from_I1 i d) 13) 11)))
                                (or
                                  (and (< (W0_from_I0 i d) 13) (>= (- 13 (W0_from_I0 i d)) 3))
                                  (and (< 13 (W0_from_I0 i d)) (<= (- (W0_from_I0 i d) 13) 11)))
                                (distinct (W0_from_W1 i d) 13))
                              13
                              14)))))))))))))))
(define-fun W0 ((i Int) (d Int)) Int (+ (+ (I0 i d) 3) (W0_delay i d)))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert (and (< (W1_delay i d) 14) (< (W0_delay i d) 14)))
(assert
  (not
    (and
      (or (<= i 0) (>= (F0 i d) (+ (F0 (- i 1) d) 1)))
      (or (>= i (- d 1)) (>= (F1 i d) (+ (F1 (+ i 1) d) 1)))
      (or (distinct i (- d 1)) (>= (F1 i d) (+ (F0 (- d 1) d) 1)))
      (or (<= i 0) (>= (I1 i d) (+ (I1 (- i 1) d) 3)))
      (>= (I1 i d) (+ (F1 i d) 1))
      (or (>= i (- d 1)) (>= (I0 i d) (+ (I0 (+ i 1) d) 3)))
      (or (distinct i (- d 1)) (>= (I0 i d) (+ (I1 (- d 1) d) 3)))
      (>= (I0 i d) (+ (F0 i d) 1))
      (>= (W1 i d) (+ (I1 i d) 3))
      (>= (W0 i d) (+ (I0 i d) 3)))))
(check-sat)
