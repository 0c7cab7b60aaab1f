; Control of theorem F, a false statement: 1f1b, d = 0 (mod 3): where tF + tI + tW is the largest
; form, there are start times with that period.
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
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 3))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 3))
(define-fun I0 ((i Int) (d Int)) Int (- (- (* 3 d) 2) (* 2 i)))
(define-fun I0_div ((i Int) (d Int)) Int (div (I0 i d) 3))
(define-fun I0_mod ((i Int) (d Int)) Int (mod (I0 i d) 3))
(define-fun W0 ((i Int) (d Int)) Int (- (- (* 3 d) 1) (* 2 i)))
(define-fun W0_div ((i Int) (d Int)) Int (div (W0 i d) 3))
(define-fun W0_mod ((i Int) (d Int)) Int (mod (W0 i d) 3))
(assert (>= d 1))
(assert (= (mod d 3) 0))
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
(define-fun tI () Real (* 3.0 x2))
(define-fun tW () Real (+ (* 1.0 x0) (* 6.0 x1)))
(define-fun c () Real (* 3.0 x1))
(define-fun lambda () Real (* (/ 9.0 10.0) (+ (* 1.0 x0) (* 6.0 x1) (* 3.0 x2) (* 3.0 x3))))
(define-fun tilt () Real (+ (* 1.0 x1) (* (- 1.0) x2) (* 2.0 x3)))
(define-fun
  F0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 4.0 x1) (* 1.0 x2))
    (ite
      (= r 1)
      (+ (* 1.0 x0) (* 6.0 x1) (* 2.0 x2) (* 1.0 x3))
      (+ (* 1.0 x0) (* 8.0 x1) (* 3.0 x2) (* 2.0 x3)))))
(define-fun
  I0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 4.0 x1) (* 1.0 x2) (* 3.0 x3))
    (ite (= r 1) (+ (* 1.0 x0) (* 6.0 x1) (* 2.0 x2) (* 4.0 x3)) (+ (* 2.0 x1) (* 2.0 x3)))))
(define-fun
  W0_start
  ((r Int))
  Real
  (ite
    (= r 0)
    (+ (* 4.0 x1) (* 4.0 x2) (* 3.0 x3))
    (ite (= r 1) (+ (* 2.0 x2) (* 1.0 x3)) (+ (* 2.0 x1) (* 3.0 x2) (* 2.0 x3)))))
(define-fun times ((k Int)) Real (ite (<= k 0) 0.0 (* 1.0 lambda)))
(assert
  (not
    (and
      (=>
        (< (F0_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 3)) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 3)) lambda) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
      (=>
        (< (F0_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 3)) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))
          (>= (+ (F0_start (mod i 3)) lambda) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (I0_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 3)) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 3)) lambda) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (I0_mod i d) (W0_mod i d))
        (and
          (>= (W0_start (mod i 3)) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))
          (>= (+ (I0_start (mod i 3)) lambda) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))))
      (=>
        (< (W0_mod i d) (F0_mod i d))
        (and
          (>= (F0_start (mod i 3)) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 3)) lambda) (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        (< (W0_mod i d) (I0_mod i d))
        (and
          (>= (I0_start (mod i 3)) (+ (W0_start (mod i 3)) (+ 0.0 (* 1.0 tW))))
          (>= (+ (W0_start (mod i 3)) lambda) (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI))))))
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
          (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0)
          (>=
            (+ (I0_start (mod i 3)) (- tilt) (times (- (I0_div i d) (I0_div (+ i 1) d))))
            (+ (I0_start (mod (+ i 1) 3)) (+ 0.0 (* 1.0 tI) (* 1.0 c))))))
      (=>
        (= i (- d 1))
        (and
          (>= (- (I0_div i d) (F0_div i d)) 0)
          (>=
            (+ (I0_start (mod i 3)) 0.0 (times (- (I0_div i d) (F0_div i d))))
            (+ (F0_start (mod i 3)) (+ 0.0 (* 1.0 tF))))))
      (=>
        true
        (and
          (>= (- (W0_div i d) (I0_div i d)) 0)
          (>=
            (+ (W0_start (mod i 3)) 0.0 (times (- (W0_div i d) (I0_div i d))))
            (+ (I0_start (mod i 3)) (+ 0.0 (* 1.0 tI)))))))))
(check-sat)
