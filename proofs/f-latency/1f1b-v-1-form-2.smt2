; Theorem F: 1f1b-v, d = 1 (mod 6): where 6tF + 6c is the largest form, there are start times with
; that interval.
; Domain: d >= 1.
; Used by `bubbleproof prove`, for the interval of a family at unequal durations.
; This file asks for a counterexample: the answer unsat proves the statement.
; tF, tI, tW and c are the durations of the passes and the latency: any sum of multiples x0, x1, ...
; of the extreme rays of the cone on which the form is the largest. Copy j of a pass with offset o
; on device i starts at lambda*(j + o div T) + start + tilt*i, where start depends on the residue of
; i: F0_start_2 is that of F of chunk 0 for residue 2. The claim is that, residues and rounds being
; those of the tables, the passes of a device do not overlap in the order of the block, and none
; starts before what it needs has ended: one inequality for each pass and what comes before it.
(set-logic QF_LRA)
(set-info :status unsat)
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
(define-fun tF () Real (+ (* 1.0 x3) (* 1.0 x4) (* 1.0 x5)))
(define-fun tI () Real (+ (* 5.0 x2) (* 2.0 x5)))
(define-fun tW () Real (+ (* 5.0 x1) (* 2.0 x4)))
(define-fun c () Real (+ (* 1.0 x0) (* 3.0 x1) (* 3.0 x2)))
(define-fun lambda () Real (+ (* 6.0 x0) (* 18.0 x1) (* 18.0 x2) (* 6.0 x3) (* 6.0 x4) (* 6.0 x5)))
(define-fun tilt () Real 0.0)
(define-fun F0_start_0 () Real 0.0)
(define-fun F0_start_1 () Real (+ (* 1.0 x0) (* 3.0 x1) (* 3.0 x2) (* 1.0 x3) (* 1.0 x4) (* 1.0 x5)))
(define-fun F0_start_2 () Real (+ (* 2.0 x0) (* 6.0 x1) (* 6.0 x2) (* 2.0 x3) (* 2.0 x4) (* 2.0 x5)))
(define-fun F0_start_3 () Real (+ (* 3.0 x0) (* 9.0 x1) (* 9.0 x2) (* 3.0 x3) (* 3.0 x4) (* 3.0 x5)))
(define-fun
  F0_start_4
  ()
  Real
  (+ (* 4.0 x0) (* 12.0 x1) (* 12.0 x2) (* 4.0 x3) (* 4.0 x4) (* 4.0 x5)))
(define-fun
  F0_start_5
  ()
  Real
  (+ (* 5.0 x0) (* 15.0 x1) (* 15.0 x2) (* 5.0 x3) (* 5.0 x4) (* 5.0 x5)))
(define-fun F1_start_0 () Real (+ (* 1.0 x0) (* 3.0 x1) (* 3.0 x2) (* 1.0 x3) (* 1.0 x4) (* 1.0 x5)))
(define-fun F1_start_1 () Real 0.0)
(define-fun
  F1_start_2
  ()
  Real
  (+ (* 5.0 x0) (* 15.0 x1) (* 15.0 x2) (* 5.0 x3) (* 5.0 x4) (* 5.0 x5)))
(define-fun
  F1_start_3
  ()
  Real
  (+ (* 4.0 x0) (* 12.0 x1) (* 12.0 x2) (* 4.0 x3) (* 4.0 x4) (* 4.0 x5)))
(define-fun F1_start_4 () Real (+ (* 3.0 x0) (* 9.0 x1) (* 9.0 x2) (* 3.0 x3) (* 3.0 x4) (* 3.0 x5)))
(define-fun F1_start_5 () Real (+ (* 2.0 x0) (* 6.0 x1) (* 6.0 x2) (* 2.0 x3) (* 2.0 x4) (* 2.0 x5)))
(define-fun B1_start_0 () Real (+ (* 1.0 x0) (* 3.0 x1) (* 3.0 x2) (* 2.0 x3) (* 2.0 x4) (* 2.0 x5)))
(define-fun
  B1_start_1
  ()
  Real
  (+ (* 2.0 x0) (* 11.0 x1) (* 11.0 x2) (* 2.0 x3) (* 4.0 x4) (* 4.0 x5)))
(define-fun B1_start_2 () Real (+ (* 1.0 x1) (* 1.0 x2)))
(define-fun
  B1_start_3
  ()
  Real
  (+ (* 4.0 x0) (* 12.0 x1) (* 12.0 x2) (* 5.0 x3) (* 5.0 x4) (* 5.0 x5)))
(define-fun B1_start_4 () Real (+ (* 2.0 x1) (* 2.0 x2) (* 1.0 x4) (* 1.0 x5)))
(define-fun
  B1_start_5
  ()
  Real
  (+ (* 2.0 x0) (* 10.0 x1) (* 10.0 x2) (* 3.0 x3) (* 3.0 x4) (* 3.0 x5)))
(define-fun
  B0_start_0
  ()
  Real
  (+ (* 2.0 x0) (* 11.0 x1) (* 11.0 x2) (* 2.0 x3) (* 4.0 x4) (* 4.0 x5)))
(define-fun B0_start_1 () Real (+ (* 1.0 x0) (* 3.0 x1) (* 3.0 x2) (* 2.0 x3) (* 2.0 x4) (* 2.0 x5)))
(define-fun
  B0_start_2
  ()
  Real
  (+ (* 2.0 x0) (* 10.0 x1) (* 10.0 x2) (* 3.0 x3) (* 3.0 x4) (* 3.0 x5)))
(define-fun B0_start_3 () Real (+ (* 2.0 x1) (* 2.0 x2) (* 1.0 x4) (* 1.0 x5)))
(define-fun
  B0_start_4
  ()
  Real
  (+ (* 4.0 x0) (* 12.0 x1) (* 12.0 x2) (* 5.0 x3) (* 5.0 x4) (* 5.0 x5)))
(define-fun B0_start_5 () Real (+ (* 1.0 x1) (* 1.0 x2)))
(assert
  (not
    (and
      (>= (+ F1_start_0 0.0) (+ F0_start_0 (+ 0.0 (* 1.0 tF))))
      (>= (+ B1_start_0 0.0) (+ F1_start_0 (+ 0.0 (* 1.0 tF))))
      (>= (+ B0_start_0 0.0) (+ B1_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F0_start_0 (* 1.0 lambda) 0.0) (+ B0_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>=
        (+ F0_start_0 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ F0_start_5 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_0 (* (- 1.0) tilt) 0.0) (+ F1_start_1 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B1_start_0 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ B1_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_0 (* (- 1.0) tilt) 0.0)
        (+ B0_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ F0_start_1 0.0) (+ F1_start_1 (+ 0.0 (* 1.0 tF))))
      (>= (+ B0_start_1 0.0) (+ F0_start_1 (+ 0.0 (* 1.0 tF))))
      (>= (+ B1_start_1 0.0) (+ B0_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F1_start_1 (* 1.0 lambda) 0.0) (+ B1_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F0_start_1 (* 1.0 tilt) 0.0) (+ F0_start_0 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ F1_start_1 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ F1_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ B1_start_1 (* 1.0 tilt) 0.0) (+ B1_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_1 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B0_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ F0_start_2 0.0) (+ B1_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B0_start_2 0.0) (+ F0_start_2 (+ 0.0 (* 1.0 tF))))
      (>= (+ F1_start_2 0.0) (+ B0_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B1_start_2 (* 1.0 lambda) 0.0) (+ F1_start_2 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_2 (* 1.0 tilt) 0.0) (+ F0_start_1 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_2 (* (- 1.0) tilt) 0.0) (+ F1_start_3 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B1_start_2 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ B1_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_2 (* (- 1.0) tilt) 0.0)
        (+ B0_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ F0_start_3 0.0) (+ B0_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F1_start_3 0.0) (+ F0_start_3 (+ 0.0 (* 1.0 tF))))
      (>= (+ B1_start_3 0.0) (+ F1_start_3 (+ 0.0 (* 1.0 tF))))
      (>= (+ B0_start_3 (* 1.0 lambda) 0.0) (+ B1_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F0_start_3 (* 1.0 tilt) 0.0) (+ F0_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_3 (* (- 1.0) tilt) 0.0) (+ F1_start_4 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ B1_start_3 (* 1.0 tilt) 0.0) (+ B1_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_3 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B0_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ F1_start_4 0.0) (+ B1_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F0_start_4 0.0) (+ F1_start_4 (+ 0.0 (* 1.0 tF))))
      (>= (+ B0_start_4 0.0) (+ F0_start_4 (+ 0.0 (* 1.0 tF))))
      (>= (+ B1_start_4 (* 1.0 lambda) 0.0) (+ B0_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F0_start_4 (* 1.0 tilt) 0.0) (+ F0_start_3 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_4 (* (- 1.0) tilt) 0.0) (+ F1_start_5 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B1_start_4 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ B1_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_4 (* (- 1.0) tilt) 0.0)
        (+ B0_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ F1_start_5 0.0) (+ B0_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B1_start_5 0.0) (+ F1_start_5 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_5 0.0) (+ B1_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B0_start_5 (* 1.0 lambda) 0.0) (+ F0_start_5 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_5 (* 1.0 tilt) 0.0) (+ F0_start_4 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_5 (* (- 1.0) tilt) 0.0) (+ F1_start_0 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ B1_start_5 (* 1.0 tilt) 0.0) (+ B1_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_5 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B0_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c)))))))
(check-sat)
