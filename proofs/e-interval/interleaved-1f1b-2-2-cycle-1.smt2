; Theorem E: interleaved-1f1b-2, d = 2 (mod 3): there is a cycle of passes, each of which comes
; after the one before, that takes 2tF + 2tI + 2tW for each microbatch.
; Domain: d >= 1, d >= 2.
; Used by `bubbleproof prove`, for the interval of a family at unequal durations.
; This file asks for a counterexample: the answer unsat proves the statement.
; The cycle: F0 on 0, B0 on 0, F1 on 0, B1 on 0; devices below 0 are counted from the last. A pass
; comes after another of its device in the same round (offset div T + copy) when its offset modulo T
; is larger, and in the next round always. A pass that needs another one comes as many rounds after
; it as the quotients of their offsets differ.
(set-logic QF_LIA)
(set-info :status unsat)
(declare-const d Int)
(define-fun F0 ((i Int) (d Int)) Int (* 2 i))
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 6))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 6))
(define-fun F1 ((i Int) (d Int)) Int (+ (+ (* 6 (div (+ (* 2 d) 1) 6)) 3) (* 2 i)))
(define-fun F1_div ((i Int) (d Int)) Int (div (F1 i d) 6))
(define-fun F1_mod ((i Int) (d Int)) Int (mod (F1 i d) 6))
(define-fun B1 ((i Int) (d Int)) Int (- (- (+ (* 6 (div (+ (* 2 d) 1) 6)) (* 6 d)) 2) (* 4 i)))
(define-fun B1_div ((i Int) (d Int)) Int (div (B1 i d) 6))
(define-fun B1_mod ((i Int) (d Int)) Int (mod (B1 i d) 6))
(define-fun
  B0
  ((i Int) (d Int))
  Int
  (- (+ (+ (+ (* 6 (div (+ (* 2 d) 1) 6)) (* 6 (div (* 2 d) 3))) (* 6 d)) 1) (* 4 i)))
(define-fun B0_div ((i Int) (d Int)) Int (div (B0 i d) 6))
(define-fun B0_mod ((i Int) (d Int)) Int (mod (B0 i d) 6))
(assert (>= d 1))
(assert (= (mod d 3) 2))
(assert (>= d 2))
(assert
  (not
    (and (< (F0_mod 0 d) (B0_mod 0 d)) (< (B0_mod 0 d) (F1_mod 0 d)) (< (F1_mod 0 d) (B1_mod 0 d)))))
(check-sat)
