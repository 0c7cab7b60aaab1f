; Theorem F: v-min-long-input, d = 8 (mod 12): where 12tF + 12c is the largest form, there are start
; times with that period.
; Domain: d >= 1.
; Used by `bubbleproof prove`, for the period of a family at unequal durations.
; This file asks for a counterexample: the answer unsat proves the statement.
; tF, tI, tW and c are the durations of the passes and the latency: any sum of multiples x0, x1, ...
; of the extreme rays of the cone on which the form is the largest. Copy j of a pass with offset o
; on device i starts at lambda*(j + o div T) + start + tilt*i. The claim is that the passes of a
; device do not overlap in the order of the block, and that none starts before what it needs has
; ended.
(set-logic QF_LIRA)
(set-info :status unsat)
(declare-const d Int)
(define-fun F0 ((i Int) (d Int)) Int (- (- (+ i 1) d) (div (- (- d 1) i) 6)))
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 14))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 14))
(define-fun F1 ((i Int) (d Int)) Int (+ (- (+ d 1) i) (div (- (- d 1) i) 6)))
(define-fun F1_div ((i Int) (d Int)) Int (div (F1 i d) 14))
(define-fun F1_mod ((i Int) (d Int)) Int (mod (F1 i d) 14))
(define-fun
  I1
  ((i Int) (d Int))
  Int
  (-
    (- (- (+ (+ (* 14 (div (+ d 1) 3)) (* 3 i)) 6) (* 3 d)) (* 3 (div (- (- d 1) i) 6)))
    (ite (>= (mod (- (- d 1) i) 6) 4) 3 (ite (>= (mod (- (- d 1) i) 6) 2) 2 0))))
(define-fun I1_div ((i Int) (d Int)) Int (div (I1 i d) 14))
(define-fun I1_mod ((i Int) (d Int)) Int (mod (I1 i d) 14))
(define-fun
  I0
  ((i Int) (d Int))
  Int
  (+
    (+ (+ (+ (- (* 14 (div (+ d 1) 3)) (* 3 i)) 3) (* 3 d)) (* 3 (div (- (- d 1) i) 6)))
    (ite (>= (mod (- (- d 1) i) 6) 4) 3 (ite (>= (mod (- (- d 1) i) 6) 2) 1 0))))
(define-fun I0_div ((i Int) (d Int)) Int (div (I0 i d) 14))
(define-fun I0_mod ((i Int) (d Int)) Int (mod (I0 i d) 14))
(define-fun
  W1_ready_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I1_mod i d) 3) 14) (+ (I1_div i d) 1) (I1_div i d)))
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
  W1_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (W1_ready_mod i d) (W1_delay i d)) 14) (+ (W1_ready_div i d) 1) (W1_ready_div i d)))
(define-fun
  W1_mod
  ((i Int) (d Int))
  Int
  (ite
    (>= (+ (W1_ready_mod i d) (W1_delay i d)) 14)
    (- (+ (W1_ready_mod i d) (W1_delay i d)) 14)
    (+ (W1_ready_mod i d) (W1_delay i d))))
(define-fun
  W0_ready_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I0_mod i d) 3) 14) (+ (I0_div i d) 1) (I0_div i d)))
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
(define-fun
  W0_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (W0_ready_mod i d) (W0_delay i d)) 14) (+ (W0_ready_div i d) 1) (W0_ready_div i d)))
(define-fun
  W0_mod
  ((i Int) (d Int))
  Int
  (ite
    (>= (+ (W0_ready_mod i d) (W0_delay i d)) 14)
    (- (+ (W0_ready_mod i d) (W0_delay i d)) 14)
    (+ (W0_ready_mod i d) (W0_delay i d))))
(assert (>= d 1))
(assert (= (mod d 12) 8))
(declare-const i Int)
(assert (and (>= i 0) (< i d)))
(declare-const x0 Real)
(assert (>= x0 0.0))
(declare-const x1 Real)
(assert (>= x1 0.0))
(declare-const x2 Real)
(assert (>= x2 0.0))
(declare-const x3 Real)
(assert (>= x3 0.0))
(declare-const x4 Real)
(assert (>= x4 0.0))
(declare-const x5 Real)
(assert (>= x5 0.0))
(declare-const x6 Real)
(assert (>= x6 0.0))
(declare-const x7 Real)
(assert (>= x7 0.0))
(declare-const x8 Real)
(assert (>= x8 0.0))
(declare-const x9 Real)
(assert (>= x9 0.0))
(declare-const x10 Real)
(assert (>= x10 0.0))
(declare-const x11 Real)
(assert (>= x11 0.0))
(declare-const x12 Real)
(assert (>= x12 0.0))
(define-fun
  tF
  ()
  Real
  (+ (* 1.0 x5) (* 1.0 x6) (* 1.0 x7) (* 1.0 x8) (* 2.0 x9) (* 3.0 x10) (* 3.0 x11) (* 3.0 x12)))
(define-fun
  tI
  ()
  Real
  (+
    (* 2.0 x2)
    (* 2.0 x3)
    (* 14.0 x4)
    (* 2.0 x7)
    (* 2.0 x8)
    (* 7.0 x9)
    (* 12.0 x10)
    (* 12.0 x11)
    (* 17.0 x12)))
(define-fun
  tW
  ()
  Real
  (+ (* 5.0 x1) (* 1.0 x3) (* 13.0 x4) (* 2.0 x6) (* 1.0 x8) (* 3.0 x9) (* 3.0 x11) (* 10.0 x12)))
(define-fun
  c
  ()
  Real
  (+
    (* 1.0 x0)
    (* 2.0 x1)
    (* 1.0 x2)
    (* 1.0 x3)
    (* 8.0 x4)
    (* 1.0 x9)
    (* 2.0 x10)
    (* 2.0 x11)
    (* 5.0 x12)))
(define-fun
  lambda
  ()
  Real
  (+
    (* 12.0 x0)
    (* 24.0 x1)
    (* 12.0 x2)
    (* 12.0 x3)
    (* 96.0 x4)
    (* 12.0 x5)
    (* 12.0 x6)
    (* 12.0 x7)
    (* 12.0 x8)
    (* 36.0 x9)
    (* 60.0 x10)
    (* 60.0 x11)
    (* 96.0 x12)))
(define-fun tilt () Real 0.0)
(define-fun
  F0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+
      (* 5.0 x0)
      (* 14.0 x1)
      (* 6.0 x2)
      (* 6.0 x3)
      (* 48.0 x4)
      (* 5.0 x5)
      (* 6.0 x6)
      (* 5.0 x7)
      (* 5.0 x8)
      (* 16.0 x9)
      (* 27.0 x10)
      (* 27.0 x11)
      (* 45.0 x12))
    (ite
      (= r 1)
      (+
        (* 6.0 x0)
        (* 16.0 x1)
        (* 7.0 x2)
        (* 7.0 x3)
        (* 56.0 x4)
        (* 6.0 x5)
        (* 7.0 x6)
        (* 6.0 x7)
        (* 6.0 x8)
        (* 19.0 x9)
        (* 32.0 x10)
        (* 32.0 x11)
        (* 53.0 x12))
      (ite
        (= r 2)
        (+
          (* 7.0 x0)
          (* 18.0 x1)
          (* 8.0 x2)
          (* 8.0 x3)
          (* 64.0 x4)
          (* 7.0 x5)
          (* 8.0 x6)
          (* 7.0 x7)
          (* 7.0 x8)
          (* 22.0 x9)
          (* 37.0 x10)
          (* 37.0 x11)
          (* 61.0 x12))
        (ite
          (= r 3)
          (+
            (* 8.0 x0)
            (* 20.0 x1)
            (* 9.0 x2)
            (* 9.0 x3)
            (* 72.0 x4)
            (* 8.0 x5)
            (* 9.0 x6)
            (* 8.0 x7)
            (* 8.0 x8)
            (* 25.0 x9)
            (* 42.0 x10)
            (* 42.0 x11)
            (* 69.0 x12))
          (ite
            (= r 4)
            (+
              (* 9.0 x0)
              (* 22.0 x1)
              (* 10.0 x2)
              (* 10.0 x3)
              (* 80.0 x4)
              (* 9.0 x5)
              (* 10.0 x6)
              (* 9.0 x7)
              (* 9.0 x8)
              (* 28.0 x9)
              (* 47.0 x10)
              (* 47.0 x11)
              (* 77.0 x12))
            (ite
              (= r 5)
              (+
                (* 10.0 x0)
                (* 24.0 x1)
                (* 11.0 x2)
                (* 11.0 x3)
                (* 88.0 x4)
                (* 10.0 x5)
                (* 11.0 x6)
                (* 10.0 x7)
                (* 10.0 x8)
                (* 31.0 x9)
                (* 52.0 x10)
                (* 52.0 x11)
                (* 85.0 x12))
              (ite
                (= r 6)
                (+
                  (* 11.0 x0)
                  (* 26.0 x1)
                  (* 12.0 x2)
                  (* 12.0 x3)
                  (* 96.0 x4)
                  (* 11.0 x5)
                  (* 12.0 x6)
                  (* 11.0 x7)
                  (* 11.0 x8)
                  (* 34.0 x9)
                  (* 57.0 x10)
                  (* 57.0 x11)
                  (* 93.0 x12))
                (ite
                  (= r 7)
                  (+
                    (* 4.0 x1)
                    (* 1.0 x2)
                    (* 1.0 x3)
                    (* 8.0 x4)
                    (* 1.0 x6)
                    (* 1.0 x9)
                    (* 2.0 x10)
                    (* 2.0 x11)
                    (* 5.0 x12))
                  (ite
                    (= r 8)
                    (+
                      (* 1.0 x0)
                      (* 6.0 x1)
                      (* 2.0 x2)
                      (* 2.0 x3)
                      (* 16.0 x4)
                      (* 1.0 x5)
                      (* 2.0 x6)
                      (* 1.0 x7)
                      (* 1.0 x8)
                      (* 4.0 x9)
                      (* 7.0 x10)
                      (* 7.0 x11)
                      (* 13.0 x12))
                    (ite
                      (= r 9)
                      (+
                        (* 2.0 x0)
                        (* 8.0 x1)
                        (* 3.0 x2)
                        (* 3.0 x3)
                        (* 24.0 x4)
                        (* 2.0 x5)
                        (* 3.0 x6)
                        (* 2.0 x7)
                        (* 2.0 x8)
                        (* 7.0 x9)
                        (* 12.0 x10)
                        (* 12.0 x11)
                        (* 21.0 x12))
                      (ite
                        (= r 10)
                        (+
                          (* 3.0 x0)
                          (* 10.0 x1)
                          (* 4.0 x2)
                          (* 4.0 x3)
                          (* 32.0 x4)
                          (* 3.0 x5)
                          (* 4.0 x6)
                          (* 3.0 x7)
                          (* 3.0 x8)
                          (* 10.0 x9)
                          (* 17.0 x10)
                          (* 17.0 x11)
                          (* 29.0 x12))
                        (+
                          (* 4.0 x0)
                          (* 12.0 x1)
                          (* 5.0 x2)
                          (* 5.0 x3)
                          (* 40.0 x4)
                          (* 4.0 x5)
                          (* 5.0 x6)
                          (* 4.0 x7)
                          (* 4.0 x8)
                          (* 13.0 x9)
                          (* 22.0 x10)
                          (* 22.0 x11)
                          (* 37.0 x12))))))))))))))
(define-fun
  F1_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+
      (* 8.0 x0)
      (* 20.0 x1)
      (* 9.0 x2)
      (* 9.0 x3)
      (* 72.0 x4)
      (* 8.0 x5)
      (* 9.0 x6)
      (* 8.0 x7)
      (* 8.0 x8)
      (* 25.0 x9)
      (* 42.0 x10)
      (* 42.0 x11)
      (* 69.0 x12))
    (ite
      (= r 1)
      (+
        (* 7.0 x0)
        (* 18.0 x1)
        (* 8.0 x2)
        (* 8.0 x3)
        (* 64.0 x4)
        (* 7.0 x5)
        (* 8.0 x6)
        (* 7.0 x7)
        (* 7.0 x8)
        (* 22.0 x9)
        (* 37.0 x10)
        (* 37.0 x11)
        (* 61.0 x12))
      (ite
        (= r 2)
        (+
          (* 6.0 x0)
          (* 16.0 x1)
          (* 7.0 x2)
          (* 7.0 x3)
          (* 56.0 x4)
          (* 6.0 x5)
          (* 7.0 x6)
          (* 6.0 x7)
          (* 6.0 x8)
          (* 19.0 x9)
          (* 32.0 x10)
          (* 32.0 x11)
          (* 53.0 x12))
        (ite
          (= r 3)
          (+
            (* 5.0 x0)
            (* 14.0 x1)
            (* 6.0 x2)
            (* 6.0 x3)
            (* 48.0 x4)
            (* 5.0 x5)
            (* 6.0 x6)
            (* 5.0 x7)
            (* 5.0 x8)
            (* 16.0 x9)
            (* 27.0 x10)
            (* 27.0 x11)
            (* 45.0 x12))
          (ite
            (= r 4)
            (+
              (* 4.0 x0)
              (* 12.0 x1)
              (* 5.0 x2)
              (* 5.0 x3)
              (* 40.0 x4)
              (* 4.0 x5)
              (* 5.0 x6)
              (* 4.0 x7)
              (* 4.0 x8)
              (* 13.0 x9)
              (* 22.0 x10)
              (* 22.0 x11)
              (* 37.0 x12))
            (ite
              (= r 5)
              (+
                (* 3.0 x0)
                (* 10.0 x1)
                (* 4.0 x2)
                (* 4.0 x3)
                (* 32.0 x4)
                (* 3.0 x5)
                (* 4.0 x6)
                (* 3.0 x7)
                (* 3.0 x8)
                (* 10.0 x9)
                (* 17.0 x10)
                (* 17.0 x11)
                (* 29.0 x12))
              (ite
                (= r 6)
                (+
                  (* 2.0 x0)
                  (* 8.0 x1)
                  (* 3.0 x2)
                  (* 3.0 x3)
                  (* 24.0 x4)
                  (* 2.0 x5)
                  (* 3.0 x6)
                  (* 2.0 x7)
                  (* 2.0 x8)
                  (* 7.0 x9)
                  (* 12.0 x10)
                  (* 12.0 x11)
                  (* 21.0 x12))
                (ite
                  (= r 7)
                  (+
                    (* 1.0 x0)
                    (* 6.0 x1)
                    (* 2.0 x2)
                    (* 2.0 x3)
                    (* 16.0 x4)
                    (* 1.0 x5)
                    (* 2.0 x6)
                    (* 1.0 x7)
                    (* 1.0 x8)
                    (* 4.0 x9)
                    (* 7.0 x10)
                    (* 7.0 x11)
                    (* 13.0 x12))
                  (ite
                    (= r 8)
                    (+
                      (* 4.0 x1)
                      (* 1.0 x2)
                      (* 1.0 x3)
                      (* 8.0 x4)
                      (* 1.0 x6)
                      (* 1.0 x9)
                      (* 2.0 x10)
                      (* 2.0 x11)
                      (* 5.0 x12))
                    (ite
                      (= r 9)
                      (+
                        (* 11.0 x0)
                        (* 26.0 x1)
                        (* 12.0 x2)
                        (* 12.0 x3)
                        (* 96.0 x4)
                        (* 11.0 x5)
                        (* 12.0 x6)
                        (* 11.0 x7)
                        (* 11.0 x8)
                        (* 34.0 x9)
                        (* 57.0 x10)
                        (* 57.0 x11)
                        (* 93.0 x12))
                      (ite
                        (= r 10)
                        (+
                          (* 10.0 x0)
                          (* 24.0 x1)
                          (* 11.0 x2)
                          (* 11.0 x3)
                          (* 88.0 x4)
                          (* 10.0 x5)
                          (* 11.0 x6)
                          (* 10.0 x7)
                          (* 10.0 x8)
                          (* 31.0 x9)
                          (* 52.0 x10)
                          (* 52.0 x11)
                          (* 85.0 x12))
                        (+
                          (* 9.0 x0)
                          (* 22.0 x1)
                          (* 10.0 x2)
                          (* 10.0 x3)
                          (* 80.0 x4)
                          (* 9.0 x5)
                          (* 10.0 x6)
                          (* 9.0 x7)
                          (* 9.0 x8)
                          (* 28.0 x9)
                          (* 47.0 x10)
                          (* 47.0 x11)
                          (* 77.0 x12))))))))))))))
(define-fun
  I1_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+
      (* 5.0 x0)
      (* 14.0 x1)
      (* 6.0 x2)
      (* 6.0 x3)
      (* 48.0 x4)
      (* 6.0 x5)
      (* 7.0 x6)
      (* 6.0 x7)
      (* 6.0 x8)
      (* 18.0 x9)
      (* 30.0 x10)
      (* 30.0 x11)
      (* 48.0 x12))
    (ite
      (= r 1)
      (+
        (* 7.0 x0)
        (* 18.0 x1)
        (* 9.0 x2)
        (* 9.0 x3)
        (* 70.0 x4)
        (* 8.0 x5)
        (* 9.0 x6)
        (* 8.0 x7)
        (* 8.0 x8)
        (* 26.0 x9)
        (* 44.0 x10)
        (* 44.0 x11)
        (* 70.0 x12))
      (ite
        (= r 2)
        (+
          (* 8.0 x0)
          (* 20.0 x1)
          (* 12.0 x2)
          (* 12.0 x3)
          (* 92.0 x4)
          (* 8.0 x5)
          (* 9.0 x6)
          (* 10.0 x7)
          (* 10.0 x8)
          (* 34.0 x9)
          (* 58.0 x10)
          (* 58.0 x11)
          (* 92.0 x12))
        (ite
          (= r 3)
          (+
            (* 1.0 x1)
            (* 3.0 x2)
            (* 3.0 x3)
            (* 18.0 x4)
            (* 6.0 x9)
            (* 12.0 x10)
            (* 12.0 x11)
            (* 18.0 x12))
          (ite
            (= r 4)
            (+
              (* 4.0 x0)
              (* 12.0 x1)
              (* 6.0 x2)
              (* 6.0 x3)
              (* 40.0 x4)
              (* 5.0 x5)
              (* 6.0 x6)
              (* 5.0 x7)
              (* 5.0 x8)
              (* 15.0 x9)
              (* 26.0 x10)
              (* 26.0 x11)
              (* 40.0 x12))
            (ite
              (= r 5)
              (+
                (* 5.0 x0)
                (* 14.0 x1)
                (* 9.0 x2)
                (* 9.0 x3)
                (* 62.0 x4)
                (* 5.0 x5)
                (* 6.0 x6)
                (* 7.0 x7)
                (* 7.0 x8)
                (* 23.0 x9)
                (* 40.0 x10)
                (* 40.0 x11)
                (* 62.0 x12))
              (ite
                (= r 6)
                (+ (* 2.0 x1) (* 1.0 x6))
                (ite
                  (= r 7)
                  (+
                    (* 1.0 x0)
                    (* 6.0 x1)
                    (* 3.0 x2)
                    (* 3.0 x3)
                    (* 22.0 x4)
                    (* 2.0 x5)
                    (* 3.0 x6)
                    (* 2.0 x7)
                    (* 2.0 x8)
                    (* 8.0 x9)
                    (* 14.0 x10)
                    (* 14.0 x11)
                    (* 22.0 x12))
                  (ite
                    (= r 8)
                    (+
                      (* 2.0 x0)
                      (* 8.0 x1)
                      (* 6.0 x2)
                      (* 6.0 x3)
                      (* 44.0 x4)
                      (* 2.0 x5)
                      (* 3.0 x6)
                      (* 4.0 x7)
                      (* 4.0 x8)
                      (* 16.0 x9)
                      (* 28.0 x10)
                      (* 28.0 x11)
                      (* 44.0 x12))
                    (ite
                      (= r 9)
                      (+
                        (* 3.0 x0)
                        (* 13.0 x1)
                        (* 9.0 x2)
                        (* 9.0 x3)
                        (* 66.0 x4)
                        (* 3.0 x5)
                        (* 6.0 x6)
                        (* 6.0 x7)
                        (* 6.0 x8)
                        (* 24.0 x9)
                        (* 42.0 x10)
                        (* 42.0 x11)
                        (* 66.0 x12))
                      (ite
                        (= r 10)
                        (+
                          (* 10.0 x0)
                          (* 24.0 x1)
                          (* 12.0 x2)
                          (* 12.0 x3)
                          (* 88.0 x4)
                          (* 11.0 x5)
                          (* 12.0 x6)
                          (* 11.0 x7)
                          (* 11.0 x8)
                          (* 33.0 x9)
                          (* 56.0 x10)
                          (* 56.0 x11)
                          (* 88.0 x12))
                        (+
                          (* 2.0 x1)
                          (* 3.0 x2)
                          (* 3.0 x3)
                          (* 14.0 x4)
                          (* 1.0 x7)
                          (* 1.0 x8)
                          (* 5.0 x9)
                          (* 10.0 x10)
                          (* 10.0 x11)
                          (* 14.0 x12))))))))))))))
(define-fun
  I0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+
      (* 1.0 x1)
      (* 3.0 x2)
      (* 3.0 x3)
      (* 18.0 x4)
      (* 6.0 x9)
      (* 12.0 x10)
      (* 12.0 x11)
      (* 18.0 x12))
    (ite
      (= r 1)
      (+
        (* 8.0 x0)
        (* 20.0 x1)
        (* 12.0 x2)
        (* 12.0 x3)
        (* 92.0 x4)
        (* 8.0 x5)
        (* 9.0 x6)
        (* 10.0 x7)
        (* 10.0 x8)
        (* 34.0 x9)
        (* 58.0 x10)
        (* 58.0 x11)
        (* 92.0 x12))
      (ite
        (= r 2)
        (+
          (* 7.0 x0)
          (* 18.0 x1)
          (* 9.0 x2)
          (* 9.0 x3)
          (* 70.0 x4)
          (* 8.0 x5)
          (* 9.0 x6)
          (* 8.0 x7)
          (* 8.0 x8)
          (* 26.0 x9)
          (* 44.0 x10)
          (* 44.0 x11)
          (* 70.0 x12))
        (ite
          (= r 3)
          (+
            (* 5.0 x0)
            (* 14.0 x1)
            (* 6.0 x2)
            (* 6.0 x3)
            (* 48.0 x4)
            (* 6.0 x5)
            (* 7.0 x6)
            (* 6.0 x7)
            (* 6.0 x8)
            (* 18.0 x9)
            (* 30.0 x10)
            (* 30.0 x11)
            (* 48.0 x12))
          (ite
            (= r 4)
            (+
              (* 2.0 x1)
              (* 3.0 x2)
              (* 3.0 x3)
              (* 14.0 x4)
              (* 1.0 x7)
              (* 1.0 x8)
              (* 5.0 x9)
              (* 10.0 x10)
              (* 10.0 x11)
              (* 14.0 x12))
            (ite
              (= r 5)
              (+
                (* 10.0 x0)
                (* 24.0 x1)
                (* 12.0 x2)
                (* 12.0 x3)
                (* 88.0 x4)
                (* 11.0 x5)
                (* 12.0 x6)
                (* 11.0 x7)
                (* 11.0 x8)
                (* 33.0 x9)
                (* 56.0 x10)
                (* 56.0 x11)
                (* 88.0 x12))
              (ite
                (= r 6)
                (+
                  (* 3.0 x0)
                  (* 13.0 x1)
                  (* 9.0 x2)
                  (* 9.0 x3)
                  (* 66.0 x4)
                  (* 3.0 x5)
                  (* 6.0 x6)
                  (* 6.0 x7)
                  (* 6.0 x8)
                  (* 24.0 x9)
                  (* 42.0 x10)
                  (* 42.0 x11)
                  (* 66.0 x12))
                (ite
                  (= r 7)
                  (+
                    (* 2.0 x0)
                    (* 8.0 x1)
                    (* 6.0 x2)
                    (* 6.0 x3)
                    (* 44.0 x4)
                    (* 2.0 x5)
                    (* 3.0 x6)
                    (* 4.0 x7)
                    (* 4.0 x8)
                    (* 16.0 x9)
                    (* 28.0 x10)
                    (* 28.0 x11)
                    (* 44.0 x12))
                  (ite
                    (= r 8)
                    (+
                      (* 1.0 x0)
                      (* 6.0 x1)
                      (* 3.0 x2)
                      (* 3.0 x3)
                      (* 22.0 x4)
                      (* 2.0 x5)
                      (* 3.0 x6)
                      (* 2.0 x7)
                      (* 2.0 x8)
                      (* 8.0 x9)
                      (* 14.0 x10)
                      (* 14.0 x11)
                      (* 22.0 x12))
                    (ite
                      (= r 9)
                      (+ (* 2.0 x1) (* 1.0 x6))
                      (ite
                        (= r 10)
                        (+
                          (* 5.0 x0)
                          (* 14.0 x1)
                          (* 9.0 x2)
                          (* 9.0 x3)
                          (* 62.0 x4)
                          (* 5.0 x5)
                          (* 6.0 x6)
                          (* 7.0 x7)
                          (* 7.0 x8)
                          (* 23.0 x9)
                          (* 40.0 x10)
                          (* 40.0 x11)
                          (* 62.0 x12))
                        (+
                          (* 4.0 x0)
                          (* 12.0 x1)
                          (* 6.0 x2)
                          (* 6.0 x3)
                          (* 40.0 x4)
                          (* 5.0 x5)
                          (* 6.0 x6)
                          (* 5.0 x7)
                          (* 5.0 x8)
                          (* 15.0 x9)
                          (* 26.0 x10)
                          (* 26.0 x11)
                          (* 40.0 x12))))))))))))))
(define-fun
  W1_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+
      (* 8.0 x0)
      (* 20.0 x1)
      (* 9.0 x2)
      (* 9.0 x3)
      (* 72.0 x4)
      (* 9.0 x5)
      (* 10.0 x6)
      (* 9.0 x7)
      (* 9.0 x8)
      (* 27.0 x9)
      (* 45.0 x10)
      (* 45.0 x11)
      (* 72.0 x12))
    (ite
      (= r 1)
      (+ (* 2.0 x2) (* 2.0 x3) (* 10.0 x4) (* 5.0 x9) (* 10.0 x10) (* 10.0 x11) (* 13.0 x12))
      (ite
        (= r 2)
        (+ (* 2.0 x2) (* 2.0 x3) (* 10.0 x4) (* 5.0 x9) (* 10.0 x10) (* 10.0 x11) (* 13.0 x12))
        (ite
          (= r 3)
          (+
            (* 1.0 x1)
            (* 5.0 x2)
            (* 5.0 x3)
            (* 32.0 x4)
            (* 2.0 x7)
            (* 2.0 x8)
            (* 13.0 x9)
            (* 24.0 x10)
            (* 24.0 x11)
            (* 35.0 x12))
          (ite
            (= r 4)
            (+
              (* 4.0 x0)
              (* 12.0 x1)
              (* 8.0 x2)
              (* 8.0 x3)
              (* 54.0 x4)
              (* 5.0 x5)
              (* 6.0 x6)
              (* 7.0 x7)
              (* 7.0 x8)
              (* 22.0 x9)
              (* 38.0 x10)
              (* 38.0 x11)
              (* 57.0 x12))
            (ite
              (= r 5)
              (+
                (* 2.0 x2)
                (* 2.0 x3)
                (* 6.0 x4)
                (* 1.0 x7)
                (* 1.0 x8)
                (* 4.0 x9)
                (* 8.0 x10)
                (* 8.0 x11)
                (* 9.0 x12))
              (ite
                (= r 6)
                (+
                  (* 2.0 x0)
                  (* 8.0 x1)
                  (* 3.0 x2)
                  (* 3.0 x3)
                  (* 24.0 x4)
                  (* 3.0 x5)
                  (* 4.0 x6)
                  (* 3.0 x7)
                  (* 3.0 x8)
                  (* 9.0 x9)
                  (* 15.0 x10)
                  (* 15.0 x11)
                  (* 24.0 x12))
                (ite
                  (= r 7)
                  (+
                    (* 2.0 x0)
                    (* 8.0 x1)
                    (* 8.0 x2)
                    (* 8.0 x3)
                    (* 58.0 x4)
                    (* 2.0 x5)
                    (* 3.0 x6)
                    (* 6.0 x7)
                    (* 6.0 x8)
                    (* 23.0 x9)
                    (* 40.0 x10)
                    (* 40.0 x11)
                    (* 61.0 x12))
                  (ite
                    (= r 8)
                    (+
                      (* 2.0 x0)
                      (* 8.0 x1)
                      (* 8.0 x2)
                      (* 8.0 x3)
                      (* 58.0 x4)
                      (* 2.0 x5)
                      (* 3.0 x6)
                      (* 6.0 x7)
                      (* 6.0 x8)
                      (* 23.0 x9)
                      (* 40.0 x10)
                      (* 40.0 x11)
                      (* 61.0 x12))
                    (ite
                      (= r 9)
                      (+
                        (* 3.0 x0)
                        (* 13.0 x1)
                        (* 11.0 x2)
                        (* 11.0 x3)
                        (* 80.0 x4)
                        (* 3.0 x5)
                        (* 6.0 x6)
                        (* 8.0 x7)
                        (* 8.0 x8)
                        (* 31.0 x9)
                        (* 54.0 x10)
                        (* 54.0 x11)
                        (* 83.0 x12))
                      (ite
                        (= r 10)
                        (+
                          (* 2.0 x2)
                          (* 2.0 x3)
                          (* 6.0 x4)
                          (* 1.0 x7)
                          (* 1.0 x8)
                          (* 4.0 x9)
                          (* 8.0 x10)
                          (* 8.0 x11)
                          (* 9.0 x12))
                        (+
                          (* 4.0 x0)
                          (* 12.0 x1)
                          (* 8.0 x2)
                          (* 8.0 x3)
                          (* 54.0 x4)
                          (* 5.0 x5)
                          (* 6.0 x6)
                          (* 7.0 x7)
                          (* 7.0 x8)
                          (* 22.0 x9)
                          (* 38.0 x10)
                          (* 38.0 x11)
                          (* 57.0 x12))))))))))))))
(define-fun
  W0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+
      (* 1.0 x1)
      (* 5.0 x2)
      (* 5.0 x3)
      (* 32.0 x4)
      (* 2.0 x7)
      (* 2.0 x8)
      (* 13.0 x9)
      (* 24.0 x10)
      (* 24.0 x11)
      (* 35.0 x12))
    (ite
      (= r 1)
      (+
        (* 5.0 x1)
        (* 2.0 x2)
        (* 3.0 x3)
        (* 23.0 x4)
        (* 2.0 x6)
        (* 1.0 x8)
        (* 8.0 x9)
        (* 10.0 x10)
        (* 13.0 x11)
        (* 23.0 x12))
      (ite
        (= r 2)
        (+
          (* 5.0 x1)
          (* 2.0 x2)
          (* 3.0 x3)
          (* 23.0 x4)
          (* 2.0 x6)
          (* 1.0 x8)
          (* 8.0 x9)
          (* 10.0 x10)
          (* 13.0 x11)
          (* 23.0 x12))
        (ite
          (= r 3)
          (+
            (* 8.0 x0)
            (* 20.0 x1)
            (* 9.0 x2)
            (* 9.0 x3)
            (* 72.0 x4)
            (* 9.0 x5)
            (* 10.0 x6)
            (* 9.0 x7)
            (* 9.0 x8)
            (* 27.0 x9)
            (* 45.0 x10)
            (* 45.0 x11)
            (* 72.0 x12))
          (ite
            (= r 4)
            (+
              (* 4.0 x0)
              (* 17.0 x1)
              (* 8.0 x2)
              (* 9.0 x3)
              (* 67.0 x4)
              (* 5.0 x5)
              (* 8.0 x6)
              (* 7.0 x7)
              (* 8.0 x8)
              (* 25.0 x9)
              (* 38.0 x10)
              (* 41.0 x11)
              (* 67.0 x12))
            (ite
              (= r 5)
              (+
                (* 5.0 x1)
                (* 2.0 x2)
                (* 3.0 x3)
                (* 19.0 x4)
                (* 2.0 x6)
                (* 1.0 x7)
                (* 2.0 x8)
                (* 7.0 x9)
                (* 8.0 x10)
                (* 11.0 x11)
                (* 19.0 x12))
              (ite
                (= r 6)
                (+
                  (* 3.0 x0)
                  (* 13.0 x1)
                  (* 11.0 x2)
                  (* 11.0 x3)
                  (* 80.0 x4)
                  (* 3.0 x5)
                  (* 6.0 x6)
                  (* 8.0 x7)
                  (* 8.0 x8)
                  (* 31.0 x9)
                  (* 54.0 x10)
                  (* 54.0 x11)
                  (* 83.0 x12))
                (ite
                  (= r 7)
                  (+
                    (* 2.0 x0)
                    (* 13.0 x1)
                    (* 8.0 x2)
                    (* 9.0 x3)
                    (* 71.0 x4)
                    (* 2.0 x5)
                    (* 5.0 x6)
                    (* 6.0 x7)
                    (* 7.0 x8)
                    (* 26.0 x9)
                    (* 40.0 x10)
                    (* 43.0 x11)
                    (* 71.0 x12))
                  (ite
                    (= r 8)
                    (+
                      (* 2.0 x0)
                      (* 13.0 x1)
                      (* 8.0 x2)
                      (* 9.0 x3)
                      (* 71.0 x4)
                      (* 2.0 x5)
                      (* 5.0 x6)
                      (* 6.0 x7)
                      (* 7.0 x8)
                      (* 26.0 x9)
                      (* 40.0 x10)
                      (* 43.0 x11)
                      (* 71.0 x12))
                    (ite
                      (= r 9)
                      (+
                        (* 2.0 x0)
                        (* 8.0 x1)
                        (* 3.0 x2)
                        (* 3.0 x3)
                        (* 24.0 x4)
                        (* 3.0 x5)
                        (* 4.0 x6)
                        (* 3.0 x7)
                        (* 3.0 x8)
                        (* 9.0 x9)
                        (* 15.0 x10)
                        (* 15.0 x11)
                        (* 24.0 x12))
                      (ite
                        (= r 10)
                        (+
                          (* 5.0 x1)
                          (* 2.0 x2)
                          (* 3.0 x3)
                          (* 19.0 x4)
                          (* 2.0 x6)
                          (* 1.0 x7)
                          (* 2.0 x8)
                          (* 7.0 x9)
                          (* 8.0 x10)
                          (* 11.0 x11)
                          (* 19.0 x12))
                        (+
                          (* 4.0 x0)
                          (* 17.0 x1)
                          (* 8.0 x2)
                          (* 9.0 x3)
                          (* 67.0 x4)
                          (* 5.0 x5)
                          (* 8.0 x6)
                          (* 7.0 x7)
                          (* 8.0 x8)
                          (* 25.0 x9)
                          (* 38.0 x10)
                          (* 41.0 x11)
                          (* 67.0 x12))))))))))))))
(define-fun times ((k Int)) Real (ite (<= k 0) 0.0 (* 1.0 lambda)))
(assert
  (not
    (and
      (=>
        (< (F0_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 12)) (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 12)) lambda) (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (F0_mod i d) (I1_mod i d))
        (and
          (>= (I1_start (mod i 12)) (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 12)) lambda) (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (F0_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 12)) (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 12)) lambda) (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (F0_mod i d) (W1_mod i d))
        (and
          (>= (W1_start (mod i 12)) (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 12)) lambda) (+ (W1_start (mod i 12)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (F0_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 12)) (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 12)) lambda) (+ (W0_start (mod i 12)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (F1_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 12)) (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 12)) lambda) (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (F1_mod i d) (I1_mod i d))
        (and
          (>= (I1_start (mod i 12)) (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 12)) lambda) (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (F1_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 12)) (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 12)) lambda) (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (F1_mod i d) (W1_mod i d))
        (and
          (>= (W1_start (mod i 12)) (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 12)) lambda) (+ (W1_start (mod i 12)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (F1_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 12)) (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 12)) lambda) (+ (W0_start (mod i 12)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (I1_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 12)) (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I1_start (mod i 12)) lambda) (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (I1_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 12)) (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I1_start (mod i 12)) lambda) (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (I1_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 12)) (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I1_start (mod i 12)) lambda) (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (I1_mod i d) (W1_mod i d))
        (and
          (>= (W1_start (mod i 12)) (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I1_start (mod i 12)) lambda) (+ (W1_start (mod i 12)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (I1_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 12)) (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I1_start (mod i 12)) lambda) (+ (W0_start (mod i 12)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (I0_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 12)) (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 12)) lambda) (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (I0_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 12)) (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 12)) lambda) (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (I0_mod i d) (I1_mod i d))
        (and
          (>= (I1_start (mod i 12)) (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 12)) lambda) (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (I0_mod i d) (W1_mod i d))
        (and
          (>= (W1_start (mod i 12)) (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 12)) lambda) (+ (W1_start (mod i 12)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (I0_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 12)) (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 12)) lambda) (+ (W0_start (mod i 12)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (W1_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 12)) (+ (W1_start (mod i 12)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W1_start (mod i 12)) lambda) (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (W1_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 12)) (+ (W1_start (mod i 12)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W1_start (mod i 12)) lambda) (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (W1_mod i d) (I1_mod i d))
        (and
          (>= (I1_start (mod i 12)) (+ (W1_start (mod i 12)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W1_start (mod i 12)) lambda) (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (W1_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 12)) (+ (W1_start (mod i 12)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W1_start (mod i 12)) lambda) (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (W1_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 12)) (+ (W1_start (mod i 12)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W1_start (mod i 12)) lambda) (+ (W0_start (mod i 12)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (W0_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 12)) (+ (W0_start (mod i 12)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 12)) lambda) (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (W0_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 12)) (+ (W0_start (mod i 12)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 12)) lambda) (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (W0_mod i d) (I1_mod i d))
        (and
          (>= (I1_start (mod i 12)) (+ (W0_start (mod i 12)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 12)) lambda) (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (W0_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 12)) (+ (W0_start (mod i 12)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 12)) lambda) (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (W0_mod i d) (W1_mod i d))
        (and
          (>= (W1_start (mod i 12)) (+ (W0_start (mod i 12)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 12)) lambda) (+ (W1_start (mod i 12)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (> i 0)
        (and
          (>= (- (F0_div i d) (F0_div (- i 1) d)) 0)
          (>=
            (+ (F0_start (mod i 12)) tilt (times (- (F0_div i d) (F0_div (- i 1) d))))
            (+ (F0_start (mod (- i 1) 12)) (+ 0.0 (* 1.0 tF) (* 1.0 c))))))
      (=>
        (< i (- d 1))
        (and
          (>= (- (F1_div i d) (F1_div (+ i 1) d)) 0)
          (>=
            (+ (F1_start (mod i 12)) (- tilt) (times (- (F1_div i d) (F1_div (+ i 1) d))))
            (+ (F1_start (mod (+ i 1) 12)) (+ 0.0 (* 1.0 tF) (* 1.0 c))))))
      (=>
        (= i (- d 1))
        (and
          (>= (- (F1_div i d) (F0_div i d)) 0)
          (>=
            (+ (F1_start (mod i 12)) 0.0 (times (- (F1_div i d) (F0_div i d))))
            (+ (F0_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (> i 0)
        (and
          (>= (- (I1_div i d) (I1_div (- i 1) d)) 0)
          (>=
            (+ (I1_start (mod i 12)) tilt (times (- (I1_div i d) (I1_div (- i 1) d))))
            (+ (I1_start (mod (- i 1) 12)) (+ 0.0 (* 1.0 tI) (* 1.0 c))))))
      (=>
        (= i 0)
        (and
          (>= (- (I1_div i d) (F1_div i d)) 0)
          (>=
            (+ (I1_start (mod i 12)) 0.0 (times (- (I1_div i d) (F1_div i d))))
            (+ (F1_start (mod i 12)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< i (- d 1))
        (and
          (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0)
          (>=
            (+ (I0_start (mod i 12)) (- tilt) (times (- (I0_div i d) (I0_div (+ i 1) d))))
            (+ (I0_start (mod (+ i 1) 12)) (+ 0.0 (* 1.0 tI) (* 1.0 c))))))
      (=>
        (= i (- d 1))
        (and
          (>= (- (I0_div i d) (I1_div i d)) 0)
          (>=
            (+ (I0_start (mod i 12)) 0.0 (times (- (I0_div i d) (I1_div i d))))
            (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        true
        (and
          (>= (- (W1_div i d) (I1_div i d)) 0)
          (>=
            (+ (W1_start (mod i 12)) 0.0 (times (- (W1_div i d) (I1_div i d))))
            (+ (I1_start (mod i 12)) (+ 0.0 (* 1.0 tI))))))
      (=>
        true
        (and
          (>= (- (W0_div i d) (I0_div i d)) 0)
          (>=
            (+ (W0_start (mod i 12)) 0.0 (times (- (W0_div i d) (I0_div i d))))
            (+ (I0_start (mod i 12)) (+ 0.0 (* 1.0 tI)))))))))
(check-sat)
