; Control of theorem F, a false statement: 1f1b-v, d = 0 (mod 6): where 2tF + 2tI + 2tW + 8/3 c is
; the largest form, there are start times with that period.
; Domain: d >= 1.
; Used as a control: the period is a tenth shorter.
; This file asks for a counterexample: the answer sat refutes the statement.
; tF, tI, tW and c are the durations of the passes and the latency: any sum of multiples x0, x1, ...
; of the extreme rays of the cone on which the form is the largest. Copy j of a pass with offset o
; on device i starts at lambda*(j + o div T) + start + tilt*i. The claim is that the passes of a
; device do not overlap in the order of the block, and that none starts before what it needs has
; ended.
(set-logic QF_LIRA)
(set-info :status sat)
(declare-const d Int)
(define-fun F0 ((i Int) (d Int)) Int i)
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 6))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 6))
(define-fun F1 ((i Int) (d Int)) Int (- (- (+ (* 2 d) (ite (= (mod d 3) 0) 2 0)) 1) i))
(define-fun F1_div ((i Int) (d Int)) Int (div (F1 i d) 6))
(define-fun F1_mod ((i Int) (d Int)) Int (mod (F1 i d) 6))
(define-fun
  B1
  ((i Int) (d Int))
  Int
  (+
    (+ (+ (* 2 d) (ite (= (mod d 3) 0) 2 0)) (* 2 i))
    (* 3 (ite (= (mod d 3) 2) (div (+ i 2) 3) (div i 3)))))
(define-fun B1_div ((i Int) (d Int)) Int (div (B1 i d) 6))
(define-fun B1_mod ((i Int) (d Int)) Int (mod (B1 i d) 6))
(define-fun
  B0
  ((i Int) (d Int))
  Int
  (-
    (- (- (* 8 d) (ite (= (mod d 3) 0) 2 (ite (= (mod d 3) 1) 4 3))) (* 2 i))
    (* 3 (ite (= (mod d 3) 2) (div i 3) (div (+ i 1) 3)))))
(define-fun B0_div ((i Int) (d Int)) Int (div (B0 i d) 6))
(define-fun B0_mod ((i Int) (d Int)) Int (mod (B0 i d) 6))
(assert (>= d 1))
(assert (= (mod d 6) 0))
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
(define-fun tF () Real (+ (* 1.0 x4) (* 1.0 x5)))
(define-fun tI () Real (+ (* 1.0 x2) (* 5.0 x3) (* 2.0 x5)))
(define-fun tW () Real (+ (* 1.0 x0) (* 5.0 x1) (* 2.0 x4)))
(define-fun c () Real (+ (* 3.0 x1) (* 3.0 x3)))
(define-fun
  lambda
  ()
  Real
  (* (/ 9.0 10.0) (+ (* 2.0 x0) (* 18.0 x1) (* 2.0 x2) (* 18.0 x3) (* 6.0 x4) (* 6.0 x5))))
(define-fun tilt () Real 0.0)
(define-fun
  F0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    0.0
    (ite
      (= r 1)
      (+ (* 3.0 x1) (* 3.0 x3) (* 1.0 x4) (* 1.0 x5))
      (ite
        (= r 2)
        (+ (* 1.0 x0) (* 6.0 x1) (* 1.0 x2) (* 6.0 x3) (* 2.0 x4) (* 2.0 x5))
        (ite
          (= r 3)
          (+ (* 1.0 x0) (* 9.0 x1) (* 1.0 x2) (* 9.0 x3) (* 3.0 x4) (* 3.0 x5))
          (ite
            (= r 4)
            (+ (* 1.0 x0) (* 12.0 x1) (* 1.0 x2) (* 12.0 x3) (* 4.0 x4) (* 4.0 x5))
            (+ (* 2.0 x0) (* 15.0 x1) (* 2.0 x2) (* 15.0 x3) (* 5.0 x4) (* 5.0 x5))))))))
(define-fun
  F1_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 3.0 x1) (* 3.0 x3) (* 1.0 x4) (* 1.0 x5))
    (ite
      (= r 1)
      0.0
      (ite
        (= r 2)
        (+ (* 2.0 x0) (* 15.0 x1) (* 2.0 x2) (* 15.0 x3) (* 5.0 x4) (* 5.0 x5))
        (ite
          (= r 3)
          (+ (* 1.0 x0) (* 12.0 x1) (* 1.0 x2) (* 12.0 x3) (* 4.0 x4) (* 4.0 x5))
          (ite
            (= r 4)
            (+ (* 1.0 x0) (* 9.0 x1) (* 1.0 x2) (* 9.0 x3) (* 3.0 x4) (* 3.0 x5))
            (+ (* 1.0 x0) (* 6.0 x1) (* 1.0 x2) (* 6.0 x3) (* 2.0 x4) (* 2.0 x5))))))))
(define-fun
  B1_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 3.0 x1) (* 3.0 x3) (* 2.0 x4) (* 2.0 x5))
    (ite
      (= r 1)
      (+ (* 1.0 x0) (* 11.0 x1) (* 1.0 x2) (* 11.0 x3) (* 4.0 x4) (* 4.0 x5))
      (ite
        (= r 2)
        (+ (* 1.0 x1) (* 1.0 x3))
        (ite
          (= r 3)
          (+ (* 1.0 x0) (* 12.0 x1) (* 1.0 x2) (* 12.0 x3) (* 5.0 x4) (* 5.0 x5))
          (ite
            (= r 4)
            (+ (* 2.0 x1) (* 2.0 x3) (* 1.0 x4) (* 1.0 x5))
            (+ (* 1.0 x0) (* 10.0 x1) (* 1.0 x2) (* 10.0 x3) (* 3.0 x4) (* 3.0 x5))))))))
(define-fun
  B0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 1.0 x0) (* 11.0 x1) (* 1.0 x2) (* 11.0 x3) (* 4.0 x4) (* 4.0 x5))
    (ite
      (= r 1)
      (+ (* 3.0 x1) (* 3.0 x3) (* 2.0 x4) (* 2.0 x5))
      (ite
        (= r 2)
        (+ (* 1.0 x0) (* 10.0 x1) (* 1.0 x2) (* 10.0 x3) (* 3.0 x4) (* 3.0 x5))
        (ite
          (= r 3)
          (+ (* 2.0 x1) (* 2.0 x3) (* 1.0 x4) (* 1.0 x5))
          (ite
            (= r 4)
            (+ (* 1.0 x0) (* 12.0 x1) (* 1.0 x2) (* 12.0 x3) (* 5.0 x4) (* 5.0 x5))
            (+ (* 1.0 x1) (* 1.0 x3))))))))
(define-fun times ((k Int)) Real (ite (<= k 0) 0.0 (* 1.0 lambda)))
(assert
  (not
    (and
      (=>
        (< (F0_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 6)) (+ (F0_start (mod i 6)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 6)) lambda) (+ (F1_start (mod i 6)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (F0_mod i d) (B1_mod i d))
        (and
          (>= (B1_start (mod i 6)) (+ (F0_start (mod i 6)) (+ 0.0 (* 1.0 tF))))
          (>=
            (+ (F0_start (mod i 6)) lambda)
            (+ (B1_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))))
      (=>
        (< (F0_mod i d) (B0_mod i d))
        (and
          (>= (B0_start (mod i 6)) (+ (F0_start (mod i 6)) (+ 0.0 (* 1.0 tF))))
          (>=
            (+ (F0_start (mod i 6)) lambda)
            (+ (B0_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))))
      (=>
        (< (F1_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 6)) (+ (F1_start (mod i 6)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F1_start (mod i 6)) lambda) (+ (F0_start (mod i 6)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (F1_mod i d) (B1_mod i d))
        (and
          (>= (B1_start (mod i 6)) (+ (F1_start (mod i 6)) (+ 0.0 (* 1.0 tF))))
          (>=
            (+ (F1_start (mod i 6)) lambda)
            (+ (B1_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))))
      (=>
        (< (F1_mod i d) (B0_mod i d))
        (and
          (>= (B0_start (mod i 6)) (+ (F1_start (mod i 6)) (+ 0.0 (* 1.0 tF))))
          (>=
            (+ (F1_start (mod i 6)) lambda)
            (+ (B0_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))))
      (=>
        (< (B1_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 6)) (+ (B1_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
          (>= (+ (B1_start (mod i 6)) lambda) (+ (F0_start (mod i 6)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (B1_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 6)) (+ (B1_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
          (>= (+ (B1_start (mod i 6)) lambda) (+ (F1_start (mod i 6)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (B1_mod i d) (B0_mod i d))
        (and
          (>= (B0_start (mod i 6)) (+ (B1_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
          (>=
            (+ (B1_start (mod i 6)) lambda)
            (+ (B0_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))))
      (=>
        (< (B0_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 6)) (+ (B0_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
          (>= (+ (B0_start (mod i 6)) lambda) (+ (F0_start (mod i 6)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (B0_mod i d) (F1_mod i d))
        (and
          (>= (F1_start (mod i 6)) (+ (B0_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
          (>= (+ (B0_start (mod i 6)) lambda) (+ (F1_start (mod i 6)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (B0_mod i d) (B1_mod i d))
        (and
          (>= (B1_start (mod i 6)) (+ (B0_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
          (>=
            (+ (B0_start (mod i 6)) lambda)
            (+ (B1_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW))))))
      (=>
        (> i 0)
        (and
          (>= (- (F0_div i d) (F0_div (- i 1) d)) 0)
          (>=
            (+ (F0_start (mod i 6)) tilt (times (- (F0_div i d) (F0_div (- i 1) d))))
            (+ (F0_start (mod (- i 1) 6)) (+ 0.0 (* 1.0 tF) (* 1.0 c))))))
      (=>
        (< i (- d 1))
        (and
          (>= (- (F1_div i d) (F1_div (+ i 1) d)) 0)
          (>=
            (+ (F1_start (mod i 6)) (- tilt) (times (- (F1_div i d) (F1_div (+ i 1) d))))
            (+ (F1_start (mod (+ i 1) 6)) (+ 0.0 (* 1.0 tF) (* 1.0 c))))))
      (=>
        (= i (- d 1))
        (and
          (>= (- (F1_div i d) (F0_div i d)) 0)
          (>=
            (+ (F1_start (mod i 6)) 0.0 (times (- (F1_div i d) (F0_div i d))))
            (+ (F0_start (mod i 6)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (> i 0)
        (and
          (>= (- (B1_div i d) (B1_div (- i 1) d)) 0)
          (>=
            (+ (B1_start (mod i 6)) tilt (times (- (B1_div i d) (B1_div (- i 1) d))))
            (+ (B1_start (mod (- i 1) 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))))
      (=>
        (= i 0)
        (and
          (>= (- (B1_div i d) (F1_div i d)) 0)
          (>=
            (+ (B1_start (mod i 6)) 0.0 (times (- (B1_div i d) (F1_div i d))))
            (+ (F1_start (mod i 6)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< i (- d 1))
        (and
          (>= (- (B0_div i d) (B0_div (+ i 1) d)) 0)
          (>=
            (+ (B0_start (mod i 6)) (- tilt) (times (- (B0_div i d) (B0_div (+ i 1) d))))
            (+ (B0_start (mod (+ i 1) 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))))
      (=>
        (= i (- d 1))
        (and
          (>= (- (B0_div i d) (B1_div i d)) 0)
          (>=
            (+ (B0_start (mod i 6)) 0.0 (times (- (B0_div i d) (B1_div i d))))
            (+ (B1_start (mod i 6)) (+ 0.0 (* 1.0 tI) (* 1.0 tW)))))))))
(check-sat)
