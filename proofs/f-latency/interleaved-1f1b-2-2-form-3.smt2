; Theorem F: interleaved-1f1b-2, d = 2 (mod 3): where 3tF + 3c is the largest form, there are start
; times with that interval.
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
(define-fun tF () Real (* 1.0 x3))
(define-fun tI () Real (* 1.0 x2))
(define-fun tW () Real (* 1.0 x1))
(define-fun c () Real (+ (* 1.0 x0) (* 1.0 x1) (* 1.0 x2)))
(define-fun lambda () Real (+ (* 3.0 x0) (* 3.0 x1) (* 3.0 x2) (* 3.0 x3)))
(define-fun tilt () Real 0.0)
(define-fun F0_start_0 () Real 0.0)
(define-fun F0_start_1 () Real (+ (* 1.0 x0) (* 1.0 x1) (* 1.0 x2) (* 1.0 x3)))
(define-fun F0_start_2 () Real (+ (* 2.0 x0) (* 2.0 x1) (* 2.0 x2) (* 2.0 x3)))
(define-fun F1_start_0 () Real (+ (* 2.0 x0) (* 2.0 x1) (* 2.0 x2) (* 2.0 x3)))
(define-fun F1_start_1 () Real (+ (* 3.0 x0) (* 3.0 x1) (* 3.0 x2) (* 3.0 x3)))
(define-fun F1_start_2 () Real (+ (* 1.0 x0) (* 1.0 x1) (* 1.0 x2) (* 1.0 x3)))
(define-fun B1_start_0 () Real (+ (* 2.0 x0) (* 2.0 x1) (* 2.0 x2) (* 3.0 x3)))
(define-fun B1_start_1 () Real (* 1.0 x3))
(define-fun B1_start_2 () Real (+ (* 1.0 x0) (* 1.0 x1) (* 1.0 x2) (* 2.0 x3)))
(define-fun B0_start_0 () Real (* 1.0 x3))
(define-fun B0_start_1 () Real (+ (* 1.0 x0) (* 1.0 x1) (* 1.0 x2) (* 2.0 x3)))
(define-fun B0_start_2 () Real (+ (* 2.0 x0) (* 2.0 x1) (* 2.0 x2) (* 3.0 x3)))
(assert
  (not
    (and
      (>= (+ B0_start_0 0.0) (+ F0_start_0 (+ 0.0 (* 1.0 tF))))
      (>= (+ F1_start_0 0.0) (+ B0_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B1_start_0 0.0) (+ F1_start_0 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_0 (* 1.0 lambda) 0.0) (+ B1_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>=
        (+ F0_start_0 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ F0_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_0 (* 1.0 tilt) 0.0) (+ F1_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_0 0.0) (+ F0_start_1 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B1_start_0 (* (- 1.0) tilt) 0.0)
        (+ B1_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_0 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B0_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ F0_start_1 0.0) (+ B1_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B0_start_1 0.0) (+ F0_start_1 (+ 0.0 (* 1.0 tF))))
      (>= (+ F1_start_1 0.0) (+ B0_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B1_start_1 (* 1.0 lambda) 0.0) (+ F1_start_1 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_1 (* 1.0 tilt) 0.0) (+ F0_start_0 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ F1_start_1 (* 1.0 tilt) 0.0) (+ F1_start_0 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B1_start_1 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B1_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_1 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B0_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ B0_start_1 (* 1.0 lambda) 0.0) (+ B1_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>= (+ B1_start_2 0.0) (+ F1_start_2 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_2 0.0) (+ B1_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ B0_start_2 0.0) (+ F0_start_2 (+ 0.0 (* 1.0 tF))))
      (>= (+ F1_start_2 (* 1.0 lambda) 0.0) (+ B0_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 tW))))
      (>= (+ F0_start_2 (* 1.0 tilt) 0.0) (+ F0_start_1 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ F1_start_2 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ F1_start_1 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ B1_start_2 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ B1_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c))))
      (>=
        (+ B0_start_2 (* (- 1.0) tilt) 0.0)
        (+ B0_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 tW) (* 1.0 c)))))))
(check-sat)
