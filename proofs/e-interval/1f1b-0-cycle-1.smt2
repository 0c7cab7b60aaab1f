; Theorem E: 1f1b, d = 0 (mod 3): there is a cycle of passes, each of which comes after the one
; before, that takes tF + tI + tW for each microbatch.
; Domain: d >= 1, d >= 3.
; Used by `bubbleproof prove`, for the interval of a family at unequal durations.
; This file asks for a counterexample: the answer unsat proves the statement.
; The cycle: F0 on 0, I0 on 0, W0 on 0; devices below 0 are counted from the last. A pass comes
; after another of its device in the same round (offset div T + copy) when its offset modulo T is
; larger, and in the next round always. A pass that needs another one comes as many rounds after it
; as the quotients of their offsets differ.
(set-logic QF_LIA)
(set-info :status unsat)
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
(assert (>= d 3))
(assert (not (and (< (F0_mod 0 d) (I0_mod 0 d)) (< (I0_mod 0 d) (W0_mod 0 d)))))
(check-sat)
