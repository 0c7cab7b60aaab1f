; Theorem F: v-zb, d = 1 (mod 3): where 2tI + 2c is the largest form, there are start times with
; that period.
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
(define-fun F0 ((i Int) (d Int)) Int (* 4 i))
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 6))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 6))
(define-fun F1 ((i Int) (d Int)) Int (- (- (* 6 d) 5) (* 2 i)))
(define-fun F1_div ((i Int) (d Int)) Int (div (F1 i d) 6))
(define-fun F1_mod ((i Int) (d Int)) Int (mod (F1 i d) 6))
(define-fun I1 ((i Int) (d Int)) Int (+ (- (* 6 d) 4) (* 4 i)))
(define-fun I1_div ((i Int) (d Int)) Int (div (I1 i d) 6))
(define-fun I1_mod ((i Int) (d Int)) Int (mod (I1 i d) 6))
(define-fun I0 ((i Int) (d Int)) Int (- (- (* 12 d) 9) (* 2 i)))
(define-fun I0_div ((i Int) (d Int)) Int (div (I0 i d) 6))
(define-fun I0_mod ((i Int) (d Int)) Int (mod (I0 i d) 6))
(define-fun
  W1_ready_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I1_mod i d) 1) 6) (+ (I1_div i d) 1) (I1_div i d)))
(define-fun
  W1_ready_mod
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I1_mod i d) 1) 6) (- (+ (I1_mod i d) 1) 6) (+ (I1_mod i d) 1)))
(define-fun
  W1_from_F0
  ((i Int) (d Int))
  Int
  (ite
    (>= (F0_mod i d) (W1_ready_mod i d))
    (- (F0_mod i d) (W1_ready_mod i d))
    (+ (- (F0_mod i d) (W1_ready_mod i d)) 6)))
(define-fun
  W1_from_F1
  ((i Int) (d Int))
  Int
  (ite
    (>= (F1_mod i d) (W1_ready_mod i d))
    (- (F1_mod i d) (W1_ready_mod i d))
    (+ (- (F1_mod i d) (W1_ready_mod i d)) 6)))
(define-fun
  W1_from_I1
  ((i Int) (d Int))
  Int
  (ite
    (>= (I1_mod i d) (W1_ready_mod i d))
    (- (I1_mod i d) (W1_ready_mod i d))
    (+ (- (I1_mod i d) (W1_ready_mod i d)) 6)))
(define-fun
  W1_from_I0
  ((i Int) (d Int))
  Int
  (ite
    (>= (I0_mod i d) (W1_ready_mod i d))
    (- (I0_mod i d) (W1_ready_mod i d))
    (+ (- (I0_mod i d) (W1_ready_mod i d)) 6)))
(define-fun
  W1_delay
  ((i Int) (d Int))
  Int
  (ite
    (and
      (distinct (W1_from_F0 i d) 0)
      (distinct (W1_from_F1 i d) 0)
      (distinct (W1_from_I1 i d) 0)
      (distinct (W1_from_I0 i d) 0))
    0
    (ite
      (and
        (distinct (W1_from_F0 i d) 1)
        (distinct (W1_from_F1 i d) 1)
        (distinct (W1_from_I1 i d) 1)
        (distinct (W1_from_I0 i d) 1))
      1
      (ite
        (and
          (distinct (W1_from_F0 i d) 2)
          (distinct (W1_from_F1 i d) 2)
          (distinct (W1_from_I1 i d) 2)
          (distinct (W1_from_I0 i d) 2))
        2
        (ite
          (and
            (distinct (W1_from_F0 i d) 3)
            (distinct (W1_from_F1 i d) 3)
            (distinct (W1_from_I1 i d) 3)
            (distinct (W1_from_I0 i d) 3))
          3
          (ite
            (and
              (distinct (W1_from_F0 i d) 4)
              (distinct (W1_from_F1 i d) 4)
              (distinct (W1_from_I1 i d) 4)
              (distinct (W1_from_I0 i d) 4))
            4
            (ite
              (and
                (distinct (W1_from_F0 i d) 5)
                (distinct (W1_from_F1 i d) 5)
                (distinct (W1_from_I1 i d) 5)
                (distinct (W1_from_I0 i d) 5))
              5
              6)))))))
(define-fun W1 ((i Int) (d Int)) Int (+ (+ (I1 i d) 1) (W1_delay i d)))
(define-fun
  W1_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (W1_ready_mod i d) (W1_delay i d)) 6) (+ (W1_ready_div i d) 1) (W1_ready_div i d)))
(define-fun
  W1_mod
  ((i Int) (d Int))
  Int
  (ite
    (>= (+ (W1_ready_mod i d) (W1_delay i d)) 6)
    (- (+ (W1_ready_mod i d) (W1_delay i d)) 6)
    (+ (W1_ready_mod i d) (W1_delay i d))))
(define-fun
  W0_ready_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I0_mod i d) 1) 6) (+ (I0_div i d) 1) (I0_div i d)))
(define-fun
  W0_ready_mod
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I0_mod i d) 1) 6) (- (+ (I0_mod i d) 1) 6) (+ (I0_mod i d) 1)))
(define-fun
  W0_from_F0
  ((i Int) (d Int))
  Int
  (ite
    (>= (F0_mod i d) (W0_ready_mod i d))
    (- (F0_mod i d) (W0_ready_mod i d))
    (+ (- (F0_mod i d) (W0_ready_mod i d)) 6)))
(define-fun
  W0_from_F1
  ((i Int) (d Int))
  Int
  (ite
    (>= (F1_mod i d) (W0_ready_mod i d))
    (- (F1_mod i d) (W0_ready_mod i d))
    (+ (- (F1_mod i d) (W0_ready_mod i d)) 6)))
(define-fun
  W0_from_I1
  ((i Int) (d Int))
  Int
  (ite
    (>= (I1_mod i d) (W0_ready_mod i d))
    (- (I1_mod i d) (W0_ready_mod i d))
    (+ (- (I1_mod i d) (W0_ready_mod i d)) 6)))
(define-fun
  W0_from_I0
  ((i Int) (d Int))
  Int
  (ite
    (>= (I0_mod i d) (W0_ready_mod i d))
    (- (I0_mod i d) (W0_ready_mod i d))
    (+ (- (I0_mod i d) (W0_ready_mod i d)) 6)))
(define-fun
  W0_from_W1
  ((i Int) (d Int))
  Int
  (ite
    (>= (W1_mod i d) (W0_ready_mod i d))
    (- (W1_mod i d) (W0_ready_mod i d))
    (+ (- (W1_mod i d) (W0_ready_mod i d)) 6)))
(define-fun
  W0_delay
  ((i Int) (d Int))
  Int
  (ite
    (and
      (distinct (W0_from_F0 i d) 0)
      (distinct (W0_from_F1 i d) 0)
      (distinct (W0_from_I1 i d) 0)
      (distinct (W0_from_I0 i d) 0)
      (distinct (W0_from_W1 i d) 0))
    0
    (ite
      (and
        (distinct (W0_from_F0 i d) 1)
        (distinct (W0_from_F1 i d) 1)
        (distinct (W0_from_I1 i d) 1)
        (distinct (W0_from_I0 i d) 1)
        (distinct (W0_from_W1 i d) 1))
      1
      (ite
        (and
          (distinct (W0_from_F0 i d) 2)
          (distinct (W0_from_F1 i d) 2)
          (distinct (W0_from_I1 i d) 2)
          (distinct (W0_from_I0 i d) 2)
          (distinct (W0_from_W1 i d) 2))
        2
        (ite
          (and
            (distinct (W0_from_F0 i d) 3)
            (distinct (W0_from_F1 i d) 3)
            (distinct (W0_from_I1 i d) 3)
            (distinct (W0_from_I0 i d) 3)
            (distinct (W0_from_W1 i d) 3))
          3
          (ite
            (and
              (distinct (W0_from_F0 i d) 4)
              (distinct (W0_from_F1 i d) 4)
              (distinct (W0_from_I1 i d) 4)
              (distinct (W0_from_I0 i d) 4)
              (distinct (W0_from_W1 i d) 4))
            4
            (ite
              (and
                (distinct (W0_from_F0 i d) 5)
                (distinct (W0_from_F1 i d) 5)
                (distinct (W0_from_I1 i d) 5)
                (distinct (W0_from_I0 i d) 5)
                (distinct (W0_from_W1 i d) 5))
              5
              6)))))))
(define-fun W0 ((i Int) (d Int)) Int (+ (+ (I0 i d) 1) (W0_delay i d)))
(define-fun
  W0_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (W0_ready_mod i d) (W0_delay i d)) 6) (+ (W0_ready_div i d) 1) (W0_ready_div i d)))
(define-fun
  W0_mod
  ((i Int) (d Int))
  Int
  (ite
    (>= (+ (W0_ready_mod i d) (W0_delay i d)) 6)
    (- (+ (W0_ready_mod i d) (W0_delay i d)) 6)
    (+ (W0_ready_mod i d) (W0_delay i d))))
(assert (>= d 1))
(assert (= (mod d 3) 1))
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
(define-fun tF () Real (* 3.0 x3))
(define-fun tI () Real (+ (* 3.0 x2) (* 3.0 x3)))
(define-fun tW () Real (* 3.0 x1))
(define-fun c () Real (+ (* 3.0 x0) (* 3.0 x1) (* 3.0 x3)))
(define-fun lambda () Real (+ (* 6.0 x0) (* 6.0 x1) (* 6.0 x2) (* 12.0 x3)))
(define-fun tilt () Real (+ (* (- 1.0) x0) (* (- 1.0) x1) (* (- 1.0) x2) (* (- 2.0) x3)))
(define-fun
  F0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 4.0 x1) (* 2.0 x2))
    (ite
      (= r 1)
      (+ (* 4.0 x0) (* 8.0 x1) (* 6.0 x2) (* 8.0 x3))
      (+ (* 2.0 x0) (* 6.0 x1) (* 4.0 x2) (* 4.0 x3)))))
(define-fun
  F1_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 4.0 x1) (* 2.0 x2) (* 3.0 x3))
    (ite
      (= r 1)
      (+ (* 4.0 x0) (* 8.0 x1) (* 6.0 x2) (* 11.0 x3))
      (+ (* 2.0 x0) (* 6.0 x1) (* 4.0 x2) (* 7.0 x3)))))
(define-fun
  I1_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 2.0 x0) (* 4.0 x1) (* 2.0 x2) (* 6.0 x3))
    (ite (= r 1) (+ (* 2.0 x1) (* 2.0 x3)) (+ (* 4.0 x0) (* 6.0 x1) (* 4.0 x2) (* 10.0 x3)))))
(define-fun
  I0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 2.0 x0) (* 4.0 x1) (* 5.0 x2) (* 9.0 x3))
    (ite
      (= r 1)
      (+ (* 2.0 x1) (* 3.0 x2) (* 5.0 x3))
      (+ (* 4.0 x0) (* 6.0 x1) (* 7.0 x2) (* 13.0 x3)))))
(define-fun
  W1_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 2.0 x0) (* 4.0 x1) (* 8.0 x2) (* 12.0 x3))
    (ite (= r 1) (+ (* 2.0 x1) (* 6.0 x2) (* 8.0 x3)) (+ (* 4.0 x2) (* 4.0 x3)))))
(define-fun
  W0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 2.0 x0) (* 7.0 x1) (* 8.0 x2) (* 12.0 x3))
    (ite (= r 1) (+ (* 5.0 x1) (* 6.0 x2) (* 8.0 x3)) (+ (* 3.0 x1) (* 4.0 x2) (* 4.0 x3)))))
(define-fun times ((k Int)) Real (ite (<= k 0) 0.0 (* 1.0 lambda)))
(assert
  (not
    (and
      (=>
        (< (F0_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 3)) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 3)) lambda) (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (F0_mod i d) (I1_mod i d))
        (and
          (>= (I1_start (mod i 3)) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 3)) lambda) (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (F0_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 3)) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 3)) lambda) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (F0_mod i d) (W1_mod i d))
        (and
          (>= (W1_start (mod i 3)) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 3)) lambda) (+ (W1_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (F0_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 3)) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 3)) lambda) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (F1_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 3)) (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 3)) lambda) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (F1_mod i d) (I1_mod i d))
        (and
          (>= (I1_start (mod i 3)) (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 3)) lambda) (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (F1_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 3)) (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 3)) lambda) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (F1_mod i d) (W1_mod i d))
        (and
          (>= (W1_start (mod i 3)) (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 3)) lambda) (+ (W1_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (F1_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 3)) (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 3)) lambda) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (I1_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 3)) (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I1_start (mod i 3)) lambda) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (I1_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 3)) (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I1_start (mod i 3)) lambda) (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (I1_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 3)) (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I1_start (mod i 3)) lambda) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (I1_mod i d) (W1_mod i d))
        (and
          (>= (W1_start (mod i 3)) (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I1_start (mod i 3)) lambda) (+ (W1_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (I1_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 3)) (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I1_start (mod i 3)) lambda) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (I0_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 3)) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 3)) lambda) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (I0_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 3)) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 3)) lambda) (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (I0_mod i d) (I1_mod i d))
        (and
          (>= (I1_start (mod i 3)) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 3)) lambda) (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (I0_mod i d) (W1_mod i d))
        (and
          (>= (W1_start (mod i 3)) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 3)) lambda) (+ (W1_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (I0_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 3)) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 3)) lambda) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (W1_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 3)) (+ (W1_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W1_start (mod i 3)) lambda) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (W1_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 3)) (+ (W1_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W1_start (mod i 3)) lambda) (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (W1_mod i d) (I1_mod i d))
        (and
          (>= (I1_start (mod i 3)) (+ (W1_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W1_start (mod i 3)) lambda) (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (W1_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 3)) (+ (W1_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W1_start (mod i 3)) lambda) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (W1_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 3)) (+ (W1_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W1_start (mod i 3)) lambda) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (W0_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 3)) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 3)) lambda) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (W0_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 3)) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 3)) lambda) (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (W0_mod i d) (I1_mod i d))
        (and
          (>= (I1_start (mod i 3)) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 3)) lambda) (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (W0_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 3)) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 3)) lambda) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (W0_mod i d) (W1_mod i d))
        (and
          (>= (W1_start (mod i 3)) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 3)) lambda) (+ (W1_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (> i 0)
        (and
          (>= (- (F0_div i d) (F0_div (- i 1) d)) 0)
          (>=
            (+ (F0_start (mod i 3)) tilt (times (- (F0_div i d) (F0_div (- i 1) d))))
            (+ (F0_start (mod (- i 1) 3)) (+ 0.0 (* 1.0 tF) (* 1.0 c))))))
      (=>
        (< i (- d 1))
        (and
          (>= (- (F1_div i d) (F1_div (+ i 1) d)) 0)
          (>=
            (+ (F1_start (mod i 3)) (- tilt) (times (- (F1_div i d) (F1_div (+ i 1) d))))
            (+ (F1_start (mod (+ i 1) 3)) (+ 0.0 (* 1.0 tF) (* 1.0 c))))))
      (=>
        (= i (- d 1))
        (and
          (>= (- (F1_div i d) (F0_div i d)) 0)
          (>=
            (+ (F1_start (mod i 3)) 0.0 (times (- (F1_div i d) (F0_div i d))))
            (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (> i 0)
        (and
          (>= (- (I1_div i d) (I1_div (- i 1) d)) 0)
          (>=
            (+ (I1_start (mod i 3)) tilt (times (- (I1_div i d) (I1_div (- i 1) d))))
            (+ (I1_start (mod (- i 1) 3)) (+ 0.0 (* 1.0 tI) (* 1.0 c))))))
      (=>
        (= i 0)
        (and
          (>= (- (I1_div i d) (F1_div i d)) 0)
          (>=
            (+ (I1_start (mod i 3)) 0.0 (times (- (I1_div i d) (F1_div i d))))
            (+ (F1_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< i (- d 1))
        (and
          (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0)
          (>=
            (+ (I0_start (mod i 3)) (- tilt) (times (- (I0_div i d) (I0_div (+ i 1) d))))
            (+ (I0_start (mod (+ i 1) 3)) (+ 0.0 (* 1.0 tI) (* 1.0 c))))))
      (=>
        (= i (- d 1))
        (and
          (>= (- (I0_div i d) (I1_div i d)) 0)
          (>=
            (+ (I0_start (mod i 3)) 0.0 (times (- (I0_div i d) (I1_div i d))))
            (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        true
        (and
          (>= (- (W1_div i d) (I1_div i d)) 0)
          (>=
            (+ (W1_start (mod i 3)) 0.0 (times (- (W1_div i d) (I1_div i d))))
            (+ (I1_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        true
        (and
          (>= (- (W0_div i d) (I0_div i d)) 0)
          (>=
            (+ (W0_start (mod i 3)) 0.0 (times (- (W0_div i d) (I0_div i d))))
            (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI)))))))))
(check-sat)
