; Theorem K: V-Half's interval is 2S if and only if tW + 2tI >= 2tF and tW + 2tF >= 2tI.
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
(assert
  (not (= (= v_half (* 2 S)) (and (>= (+ tW (* 2 tI)) (* 2 tF)) (>= (+ tW (* 2 tF)) (* 2 tI))))))
(check-sat)
