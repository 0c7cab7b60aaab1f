; Theorem K: V-Min's interval is at most three halves of V-Half's.
; Domain: real tF, tI, tW >= 0.
; Used with E, whose intervals it compares.
; This file asks for a counterexample: the answer unsat proves the statement.
; S is the work of a stage for one microbatch; a device has two, so no interval is shorter than 2S.
; v_half and v_min are the intervals of the squeezed orders (E).
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const tF Real)
(assert (>= tF 0))
(declare-const tI Real)
(assert (>= tI 0))
(declare-const tW Real)
(assert (>= tW 0))
(define-fun S () Real (+ tF tI tW))
(define-fun
  v_half_chain
  ()
  Real
  (ite (>= (+ (* 4 tF) tW) (+ (* 4 tI) tW)) (+ (* 4 tF) tW) (+ (* 4 tI) tW)))
(define-fun v_half () Real (ite (>= (* 2 S) v_half_chain) (* 2 S) v_half_chain))
(define-fun v_min_chain () Real (ite (>= (* 6 tF) (* 6 tI)) (* 6 tF) (* 6 tI)))
(define-fun v_min () Real (ite (>= (* 2 S) v_min_chain) (* 2 S) v_min_chain))
(assert (not (<= (* 2 v_min) (* 3 v_half))))
(check-sat)
