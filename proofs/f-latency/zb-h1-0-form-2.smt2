; Theorem F: zb-h1, d = 0 (mod 3): where tF + tI + 2c is the largest form, there are start times
; with that interval.
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
(define-fun tF () Real (* 3.0 x3))
(define-fun tI () Real (* 3.0 x2))
(define-fun tW () Real (* 6.0 x1))
(define-fun c () Real (+ (* 3.0 x0) (* 3.0 x1)))
(define-fun lambda () Real (+ (* 6.0 x0) (* 6.0 x1) (* 3.0 x2) (* 3.0 x3)))
(define-fun tilt () Real (+ (* 1.0 x0) (* 1.0 x1) (* (- 1.0) x2) (* 2.0 x3)))
(define-fun F0_start_0 () Real (+ (* 4.0 x1) (* 1.0 x2)))
(define-fun F0_start_1 () Real (+ (* 2.0 x0) (* 6.0 x1) (* 2.0 x2) (* 1.0 x3)))
(define-fun F0_start_2 () Real (+ (* 4.0 x0) (* 8.0 x1) (* 3.0 x2) (* 2.0 x3)))
(define-fun I0_start_0 () Real (+ (* 2.0 x0) (* 4.0 x1) (* 1.0 x2) (* 3.0 x3)))
(define-fun I0_start_1 () Real (+ (* 4.0 x0) (* 6.0 x1) (* 2.0 x2) (* 4.0 x3)))
(define-fun I0_start_2 () Real (+ (* 2.0 x1) (* 2.0 x3)))
(define-fun W0_start_0 () Real (+ (* 2.0 x0) (* 4.0 x1) (* 4.0 x2) (* 3.0 x3)))
(define-fun W0_start_1 () Real (+ (* 2.0 x2) (* 1.0 x3)))
(define-fun W0_start_2 () Real (+ (* 2.0 x1) (* 3.0 x2) (* 2.0 x3)))
(assert
  (not
    (and
      (>= (+ I0_start_0 0.0) (+ F0_start_0 (+ 0.0 (* 1.0 tF))))
      (>= (+ W0_start_0 0.0) (+ I0_start_0 (+ 0.0 (* 1.0 tI))))
      (>= (+ F0_start_0 (* 1.0 lambda) 0.0) (+ W0_start_0 (+ 0.0 (* 1.0 tW))))
      (>=
        (+ F0_start_0 (* 1.0 lambda) (* 1.0 tilt) 0.0)
        (+ F0_start_2 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ I0_start_0 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ I0_start_1 (+ 0.0 (* 1.0 tI) (* 1.0 c))))
      (>= (+ F0_start_1 0.0) (+ W0_start_1 (+ 0.0 (* 1.0 tW))))
      (>= (+ I0_start_1 0.0) (+ F0_start_1 (+ 0.0 (* 1.0 tF))))
      (>= (+ W0_start_1 (* 1.0 lambda) 0.0) (+ I0_start_1 (+ 0.0 (* 1.0 tI))))
      (>= (+ F0_start_1 (* 1.0 tilt) 0.0) (+ F0_start_0 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>= (+ I0_start_1 (* (- 1.0) tilt) 0.0) (+ I0_start_2 (+ 0.0 (* 1.0 tI) (* 1.0 c))))
      (>= (+ W0_start_1 (* 2.0 lambda) 0.0) (+ I0_start_1 (+ 0.0 (* 1.0 tI))))
      (>= (+ W0_start_2 0.0) (+ I0_start_2 (+ 0.0 (* 1.0 tI))))
      (>= (+ F0_start_2 0.0) (+ W0_start_2 (+ 0.0 (* 1.0 tW))))
      (>= (+ I0_start_2 (* 1.0 lambda) 0.0) (+ F0_start_2 (+ 0.0 (* 1.0 tF))))
      (>= (+ F0_start_2 (* 1.0 tilt) 0.0) (+ F0_start_1 (+ 0.0 (* 1.0 tF) (* 1.0 c))))
      (>=
        (+ I0_start_2 (* 1.0 lambda) (* (- 1.0) tilt) 0.0)
        (+ I0_start_0 (+ 0.0 (* 1.0 tI) (* 1.0 c))))
      (>= (+ W0_start_2 (* 2.0 lambda) 0.0) (+ I0_start_2 (+ 0.0 (* 1.0 tI)))))))
(check-sat)
