; Theorem F: interleaved-1f1b-4, d = 3 (mod 6): where 4tF + 4tI + 4tW is the largest form, there are
; start times with that interval.
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
(declare-const x6 Real)
(assert (>= x6 0.0))
(declare-const x7 Real)
(assert (>= x7 0.0))
(define-fun tF () Real (+ (* 1.0 x4) (* 1.0 x5) (* 2.0 x6) (* 2.0 x7)))
(define-fun tI () Real (+ (* 1.0 x2) (* 3.0 x3) (* 5.0 x5) (* 1.0 x7)))
(define-fun tW () Real (+ (* 1.0 x0) (* 3.0 x1) (* 5.0 x4) (* 1.0 x6)))
(define-fun c () Real (+ (* 1.0 x1) (* 1.0 x3) (* 3.0 x4) (* 3.0 x5)))
(define-fun
  lambda
  ()
  Real
  (+ (* 4.0 x0) (* 12.0 x1) (* 4.0 x2) (* 12.0 x3) (* 24.0 x4) (* 24.0 x5) (* 12.0 x6) (* 12.0 x7)))
(define-fun tilt () Real 0.0)
(define-fun F0_start_0 () Real (+ (* 1.0 x1) (* 1.0 x3) (* 1.0 x4) (* 1.0 x5)))
(define-fun
  F0_start_1
  ()
  Real
  (+ (* 1.0 x0) (* 3.0 x1) (* 1.0 x2) (* 3.0 x3) (* 5.0 x4) (* 5.0 x5) (* 2.0 x6) (* 2.0 x7)))
(define-fun
  F0_start_2
  ()
  Real
  (+ (* 1.0 x0) (* 5.0 x1) (* 1.0 x2) (* 5.0 x3) (* 9.0 x4) (* 9.0 x5) (* 4.0 x6) (* 4.0 x7)))
(define-fun
  F0_start_3
  ()
  Real
  (+ (* 2.0 x0) (* 7.0 x1) (* 2.0 x2) (* 7.0 x3) (* 13.0 x4) (* 13.0 x5) (* 6.0 x6) (* 6.0 x7)))
(define-fun
  F0_start_4
  ()
  Real
  (+ (* 3.0 x0) (* 9.0 x1) (* 3.0 x2) (* 9.0 x3) (* 17.0 x4) (* 17.0 x5) (* 8.0 x6) (* 8.0 x7)))
(define-fun
  F0_start_5
  ()
  Real
  (+ (* 3.0 x0) (* 11.0 x1) (* 3.0 x2) (* 11.0 x3) (* 21.0 x4) (* 21.0 x5) (* 10.0 x6) (* 10.0 x7)))
(define-fun
  F1_start_0
  ()
  Real
  (+ (* 2.0 x0) (* 7.0 x1) (* 2.0 x2) (* 7.0 x3) (* 13.0 x4) (* 13.0 x5) (* 6.0 x6) (* 6.0 x7)))
(define-fun
  F1_start_1
  ()
  Real
  (+ (* 3.0 x0) (* 9.0 x1) (* 3.0 x2) (* 9.0 x3) (* 17.0 x4) (* 17.0 x5) (* 8.0 x6) (* 8.0 x7)))
(define-fun
  F1_start_2
  ()
  Real
  (+ (* 3.0 x0) (* 11.0 x1) (* 3.0 x2) (* 11.0 x3) (* 21.0 x4) (* 21.0 x5) (* 10.0 x6) (* 10.0 x7)))
(define-fun F1_start_3 () Real (+ (* 1.0 x1) (* 1.0 x3) (* 1.0 x4) (* 1.0 x5)))
(define-fun
  F1_start_4
  ()
  Real
  (+ (* 1.0 x0) (* 3.0 x1) (* 1.0 x2) (* 3.0 x3) (* 5.0 x4) (* 5.0 x5) (* 2.0 x6) (* 2.0 x7)))
(define-fun
  F1_start_5
  ()
  Real
  (+ (* 1.0 x0) (* 5.0 x1) (* 1.0 x2) (* 5.0 x3) (* 9.0 x4) (* 9.0 x5) (* 4.0 x6) (* 4.0 x7)))
(define-fun
  F2_start_0
  ()
  Real
  (+ (* 1.0 x0) (* 4.0 x1) (* 1.0 x2) (* 4.0 x3) (* 7.0 x4) (* 7.0 x5) (* 3.0 x6) (* 3.0 x7)))
(define-fun
  F2_start_1
  ()
  Real
  (+ (* 2.0 x0) (* 6.0 x1) (* 2.0 x2) (* 6.0 x3) (* 11.0 x4) (* 11.0 x5) (* 5.0 x6) (* 5.0 x7)))
(define-fun
  F2_start_2
  ()
  Real
  (+ (* 2.0 x0) (* 8.0 x1) (* 2.0 x2) (* 8.0 x3) (* 15.0 x4) (* 15.0 x5) (* 7.0 x6) (* 7.0 x7)))
(define-fun
  F2_start_3
  ()
  Real
  (+ (* 3.0 x0) (* 10.0 x1) (* 3.0 x2) (* 10.0 x3) (* 19.0 x4) (* 19.0 x5) (* 9.0 x6) (* 9.0 x7)))
(define-fun
  F2_start_4
  ()
  Real
  (+ (* 4.0 x0) (* 12.0 x1) (* 4.0 x2) (* 12.0 x3) (* 23.0 x4) (* 23.0 x5) (* 11.0 x6) (* 11.0 x7)))
(define-fun F2_start_5 () Real (+ (* 2.0 x1) (* 2.0 x3) (* 3.0 x4) (* 3.0 x5) (* 1.0 x6) (* 1.0 x7)))
(define-fun
  F3_start_0
  ()
  Real
  (+ (* 3.0 x0) (* 10.0 x1) (* 3.0 x2) (* 10.0 x3) (* 19.0 x4) (* 19.0 x5) (* 9.0 x6) (* 9.0 x7)))
(define-fun
  F3_start_1
  ()
  Real
  (+ (* 4.0 x0) (* 12.0 x1) (* 4.0 x2) (* 12.0 x3) (* 23.0 x4) (* 23.0 x5) (* 11.0 x6) (* 11.0 x7)))
(define-fun F3_start_2 () Real (+ (* 2.0 x1) (* 2.0 x3) (* 3.0 x4) (* 3.0 x5) (* 1.0 x6) (* 1.0 x7)))
(define-fun
  F3_start_3
  ()
  Real
  (+ (* 1.0 x0) (* 4.0 x1) (* 1.0 x2) (* 4.0 x3) (* 7.0 x4) (* 7.0 x5) (* 3.0 x6) (* 3.0 x7)))
(define-fun
  F3_start_4
  ()
  Real
  (+ (* 2.0 x0) (* 6.0 x1) (* 2.0 x2) (* 6.0 x3) (* 11.0 x4) (* 11.0 x5) (* 5.0 x6) (* 5.0 x7)))
(define-fun
  F3_start_5
  ()
  Real
  (+ (* 2.0 x0) (* 8.0 x1) (* 2.0 x2) (* 8.0 x3) (* 15.0 x4) (* 15.0 x5) (* 7.0 x6) (* 7.0 x7)))
(define-fun
  B3_start_0
  ()
  Real
  (+ (* 3.0 x0) (* 10.0 x1) (* 3.0 x2) (* 10.0 x3) (* 20.0 x4) (* 20.0 x5) (* 11.0 x6) (* 11.0 x7)))
(define-fun
  B3_start_1
  ()
  Real
  (+ (* 2.0 x0) (* 6.0 x1) (* 2.0 x2) (* 6.0 x3) (* 12.0 x4) (* 12.0 x5) (* 7.0 x6) (* 7.0 x7)))
(define-fun B3_start_2 () Real (+ (* 2.0 x1) (* 2.0 x3) (* 4.0 x4) (* 4.0 x5) (* 3.0 x6) (* 3.0 x7)))
(define-fun
  B3_start_3
  ()
  Real
  (+ (* 3.0 x0) (* 10.0 x1) (* 3.0 x2) (* 10.0 x3) (* 20.0 x4) (* 20.0 x5) (* 11.0 x6) (* 11.0 x7)))
(define-fun
  B3_start_4
  ()
  Real
  (+ (* 2.0 x0) (* 6.0 x1) (* 2.0 x2) (* 6.0 x3) (* 12.0 x4) (* 12.0 x5) (* 7.0 x6) (* 7.0 x7)))
(define-fun B3_start_5 () Real (+ (* 2.0 x1) (* 2.0 x3) (* 4.0 x4) (* 4.0 x5) (* 3.0 x6) (* 3.0 x7)))
(define-fun B2_start_0 () Real (+ (* 1.0 x1) (* 1.0 x3) (* 2.0 x4) (* 2.0 x5) (* 2.0 x6) (* 2.0 x7)))
(define-fun
  B2_start_1
  ()
  Real
  (+ (* 3.0 x0) (* 9.0 x1) (* 3.0 x2) (* 9.0 x3) (* 18.0 x4) (* 18.0 x5) (* 10.0 x6) (* 10.0 x7)))
(define-fun
  B2_start_2
  ()
  Real
  (+ (* 1.0 x0) (* 5.0 x1) (* 1.0 x2) (* 5.0 x3) (* 10.0 x4) (* 10.0 x5) (* 6.0 x6) (* 6.0 x7)))
(define-fun B2_start_3 () Real (+ (* 1.0 x1) (* 1.0 x3) (* 2.0 x4) (* 2.0 x5) (* 2.0 x6) (* 2.0 x7)))
(define-fun
  B2_start_4
  ()
  Real
  (+ (* 3.0 x0) (* 9.0 x1) (* 3.0 x2) (* 9.0 x3) (* 18.0 x4) (* 18.0 x5) (* 10.0 x6) (* 10.0 x7)))
(define-fun
  B2_start_5
  ()
  Real
  (+ (* 1.0 x0) (* 5.0 x1) (* 1.0 x2) (* 5.0 x3) (* 10.0 x4) (* 10.0 x5) (* 6.0 x6) (* 6.0 x7)))
(define-fun
  B1_start_0
  ()
  Real
  (+ (* 1.0 x0) (* 4.0 x1) (* 1.0 x2) (* 4.0 x3) (* 8.0 x4) (* 8.0 x5) (* 5.0 x6) (* 5.0 x7)))
(define-fun B1_start_1 () Real (+ (* 1.0 x6) (* 1.0 x7)))
(define-fun
  B1_start_2
  ()
  Real
  (+ (* 2.0 x0) (* 8.0 x1) (* 2.0 x2) (* 8.0 x3) (* 16.0 x4) (* 16.0 x5) (* 9.0 x6) (* 9.0 x7)))
(define-fun
  B1_start_3
  ()
  Real
  (+ (* 1.0 x0) (* 4.0 x1) (* 1.0 x2) (* 4.0 x3) (* 8.0 x4) (* 8.0 x5) (* 5.0 x6) (* 5.0 x7)))
(define-fun B1_start_4 () Real (+ (* 1.0 x6) (* 1.0 x7)))
(define-fun
  B1_start_5
  ()
  Real
  (+ (* 2.0 x0) (* 8.0 x1) (* 2.0 x2) (* 8.0 x3) (* 16.0 x4) (* 16.0 x5) (* 9.0 x6) (* 9.0 x7)))
(define-fun
  B0_start_0
  ()
  Real
  (+ (* 2.0 x0) (* 7.0 x1) (* 2.0 x2) (* 7.0 x3) (* 14.0 x4) (* 14.0 x5) (* 8.0 x6) (* 8.0 x7)))
(define-fun
  B0_start_1
  ()
  Real
  (+ (* 1.0 x0) (* 3.0 x1) (* 1.0 x2) (* 3.0 x3) (* 6.0 x4) (* 6.0 x5) (* 4.0 x6) (* 4.0 x7)))
(define-fun
  B0_start_2
  ()
  Real
  (+ (* 3.0 x0) (* 11.0 x1) (* 3.0 x2) (* 11.0 x3) (* 22.0 x4) (* 22.0 x5) (* 12.0 x6) (* 12.0 x7)))
(define-fun
  B0_start_3
  ()
  Real
  (+ (* 2.0 x0) (* 7.0 x1) (* 2.0 x2) (* 7.0 x3) (* 14.0 x4) (* 14.0 x5) (* 8.0 x6) (* 8.0 x7)))
(define-fun
  B0_start_4
  ()
  Real
  (+ (* 1.0 x0) (* 3.0 x1) (* 1.0 x2) (* 3.0 x3) (* 6.0 x4) (* 6.0 x5) (* 4.0 x6) (* 4.0 x7)))
(define-fun
  B0_start_5
  ()
  Real
  (+ (* 3.0 x0) (* 11.0 x1) (* 3.0 x2) (* 11.0 x3) (* 22.0 x4) (* 22.0 x5) (* 12.0 x6) (* 12.0 x7)))
(assert
  (not
    (and
      (>= (+ B2_start_0 0.0) (+ F0_start_0 (+ 0.0 (* 1.0 tF))))
      (>= (+ F2_start_0 0.0) (+ B2_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B1_start_0 0.0) (+ F2_start_0 (+ 0.0 (* 1.0 tF))))
      (>= (+ F1_start_0 0.0) (+ B1_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B0_start_0 0.0) (+ F1_start_0 (+ 0.0 (* 1.0 tF))))
      (>= (+ F3_start_0 0.0) (+ B0_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B3_start_0 0.0) (+ F3_start_0 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_0 (* 1.0 lambda) 0.0) (+ B3_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>=
        (+ F0_start_0 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ F0_start_5 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_0 (* 1.0 tilt) 0.0) (+ F1_start_5 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_0 0.0) (+ F0_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F2_start_0 (* 1.0 tilt) 0.0) (+ F2_start_5 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F2_start_0 (* 1.0 lambda) 0.0) (+ F1_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F3_start_0 (* 1.0 tilt) 0.0) (+ F3_start_5 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F3_start_0 0.0) (+ F2_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B3_start_0 (* (- 1.0) tilt) 0.0)
        (+ B3_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B2_start_0 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B2_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B1_start_0 (* (- 1.0) tilt) 0.0)
        (+ B1_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_0 (* (- 1.0) tilt) 0.0)
        (+ B0_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ F0_start_1 0.0) (+ B1_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B0_start_1 0.0) (+ F0_start_1 (+ 0.0 (* 1.0 tF))))
      (>= (+ F2_start_1 0.0) (+ B0_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B3_start_1 0.0) (+ F2_start_1 (+ 0.0 (* 1.0 tF))))
      (>= (+ F1_start_1 0.0) (+ B3_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B2_start_1 0.0) (+ F1_start_1 (+ 0.0 (* 1.0 tF))))
      (>= (+ F3_start_1 0.0) (+ B2_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B1_start_1 (* 1.0 lambda) 0.0) (+ F3_start_1 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_1 (* 1.0 tilt) 0.0) (+ F0_start_0 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_1 (* 1.0 tilt) 0.0) (+ F1_start_0 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F2_start_1 (* 1.0 tilt) 0.0) (+ F2_start_0 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F3_start_1 (* 1.0 tilt) 0.0) (+ F3_start_0 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B3_start_1 (* (- 1.0) tilt) 0.0)
        (+ B3_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B2_start_1 (* (- 1.0) tilt) 0.0)
        (+ B2_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B1_start_1 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B1_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_1 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B0_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ B3_start_2 0.0) (+ F3_start_2 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_2 0.0) (+ B3_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B2_start_2 0.0) (+ F0_start_2 (+ 0.0 (* 1.0 tF))))
      (>= (+ F2_start_2 0.0) (+ B2_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B1_start_2 0.0) (+ F2_start_2 (+ 0.0 (* 1.0 tF))))
      (>= (+ F1_start_2 0.0) (+ B1_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B0_start_2 0.0) (+ F1_start_2 (+ 0.0 (* 1.0 tF))))
      (>= (+ F3_start_2 (* 1.0 lambda) 0.0) (+ B0_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F0_start_2 (* 1.0 tilt) 0.0) (+ F0_start_1 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_2 (* 1.0 tilt) 0.0) (+ F1_start_1 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F2_start_2 (* 1.0 tilt) 0.0) (+ F2_start_1 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ F3_start_2 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ F3_start_1 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B3_start_2 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B3_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B2_start_2 (* (- 1.0) tilt) 0.0)
        (+ B2_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ B2_start_2 (* 1.0 lambda) 0.0) (+ B3_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B1_start_2 (* (- 1.0) tilt) 0.0)
        (+ B1_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ B1_start_2 0.0) (+ B2_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_2 (* (- 1.0) tilt) 0.0)
        (+ B0_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ B0_start_2 0.0) (+ B1_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ B2_start_3 0.0) (+ F1_start_3 (+ 0.0 (* 1.0 tF))))
      (>= (+ F3_start_3 0.0) (+ B2_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B1_start_3 0.0) (+ F3_start_3 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_3 0.0) (+ B1_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B0_start_3 0.0) (+ F0_start_3 (+ 0.0 (* 1.0 tF))))
      (>= (+ F2_start_3 0.0) (+ B0_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B3_start_3 0.0) (+ F2_start_3 (+ 0.0 (* 1.0 tF))))
      (>= (+ F1_start_3 (* 1.0 lambda) 0.0) (+ B3_start_3 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F0_start_3 (* 1.0 tilt) 0.0) (+ F0_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ F1_start_3 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ F1_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F2_start_3 (* 1.0 tilt) 0.0) (+ F2_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F3_start_3 (* 1.0 tilt) 0.0) (+ F3_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B3_start_3 (* (- 1.0) tilt) 0.0)
        (+ B3_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B2_start_3 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B2_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B1_start_3 (* (- 1.0) tilt) 0.0)
        (+ B1_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_3 (* (- 1.0) tilt) 0.0)
        (+ B0_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ F1_start_4 0.0) (+ B1_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B0_start_4 0.0) (+ F1_start_4 (+ 0.0 (* 1.0 tF))))
      (>= (+ F3_start_4 0.0) (+ B0_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B3_start_4 0.0) (+ F3_start_4 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_4 0.0) (+ B3_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B2_start_4 0.0) (+ F0_start_4 (+ 0.0 (* 1.0 tF))))
      (>= (+ F2_start_4 0.0) (+ B2_start_4 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B1_start_4 (* 1.0 lambda) 0.0) (+ F2_start_4 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_4 (* 1.0 tilt) 0.0) (+ F0_start_3 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_4 (* 1.0 tilt) 0.0) (+ F1_start_3 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F2_start_4 (* 1.0 tilt) 0.0) (+ F2_start_3 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F3_start_4 (* 1.0 tilt) 0.0) (+ F3_start_3 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B3_start_4 (* (- 1.0) tilt) 0.0)
        (+ B3_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B2_start_4 (* (- 1.0) tilt) 0.0)
        (+ B2_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B1_start_4 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B1_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_4 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B0_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ B3_start_5 0.0) (+ F2_start_5 (+ 0.0 (* 1.0 tF))))
      (>= (+ F1_start_5 0.0) (+ B3_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B2_start_5 0.0) (+ F1_start_5 (+ 0.0 (* 1.0 tF))))
      (>= (+ F3_start_5 0.0) (+ B2_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B1_start_5 0.0) (+ F3_start_5 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_5 0.0) (+ B1_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B0_start_5 0.0) (+ F0_start_5 (+ 0.0 (* 1.0 tF))))
      (>= (+ F2_start_5 (* 1.0 lambda) 0.0) (+ B0_start_5 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F0_start_5 (* 1.0 tilt) 0.0) (+ F0_start_4 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_5 (* 1.0 tilt) 0.0) (+ F1_start_4 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ F2_start_5 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ F2_start_4 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F3_start_5 (* 1.0 tilt) 0.0) (+ F3_start_4 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B3_start_5 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B3_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B2_start_5 (* (- 1.0) tilt) 0.0)
        (+ B2_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B1_start_5 (* (- 1.0) tilt) 0.0)
        (+ B1_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_5 (* (- 1.0) tilt) 0.0)
        (+ B0_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c)))))))
(check-sat)
