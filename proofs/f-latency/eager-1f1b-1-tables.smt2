; Theorem F: eager-1f1b, d = 1 (mod 3): residues and rounds are those of the tables.
; Domain: d >= 1.
; Used by `bubbleproof prove`, for the interval of a family at unequal durations.
; This file asks for a counterexample: the answer unsat proves the statement.
; The claim is that the offsets of passes modulo the interval T, and so the order of a device, are
; those of the tables, and that a pass comes at least so many rounds (offset div T) after one that
; it needs as they say, by the residue of the device i.
(set-logic QF_LIA)
(set-info :status unsat)
(declare-const d Int)
(define-fun F0 ((i Int) (d Int)) Int i)
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 3))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 3))
(define-fun I0 ((i Int) (d Int)) Int (- (- (* 6 d) 5) (* 5 i)))
(define-fun I0_div ((i Int) (d Int)) Int (div (I0 i d) 3))
(define-fun I0_mod ((i Int) (d Int)) Int (mod (I0 i d) 3))
(define-fun W0 ((i Int) (d Int)) Int (- (- (* 6 d) 4) (* 5 i)))
(define-fun W0_div ((i Int) (d Int)) Int (div (W0 i d) 3))
(define-fun W0_mod ((i Int) (d Int)) Int (mod (W0 i d) 3))
(assert (>= d 1))
(assert (= (mod d 3) 1))
(declare-const i Int)
(assert (and (>= i 0) (< i d)))
(assert
  (not
    (and
      (=> (= (mod i 3) 0) (= (F0_mod i d) 0))
      (=> (= (mod i 3) 0) (= (I0_mod i d) 1))
      (=> (= (mod i 3) 0) (= (W0_mod i d) 2))
      (=> (= (mod i 3) 1) (= (F0_mod i d) 1))
      (=> (= (mod i 3) 1) (= (I0_mod i d) 2))
      (=> (= (mod i 3) 1) (= (W0_mod i d) 0))
      (=> (= (mod i 3) 2) (= (F0_mod i d) 2))
      (=> (= (mod i 3) 2) (= (I0_mod i d) 0))
      (=> (= (mod i 3) 2) (= (W0_mod i d) 1))
      (=> (and (= (mod i 3) 0) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 1))
      (=> (and (= (mod i 3) 0) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 2))
      (=> (and (= (mod i 3) 0) (= i (- d 1))) (>= (- (I0_div i d) (F0_div i d)) 0))
      (=> (and (= (mod i 3) 0) true) (>= (- (W0_div i d) (I0_div i d)) 0))
      (=> (and (= (mod i 3) 1) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 3) 1) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 1))
      (=> (and (= (mod i 3) 1) true) (>= (- (W0_div i d) (I0_div i d)) 1))
      (=> (and (= (mod i 3) 2) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 3) 2) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 2))
      (=> (and (= (mod i 3) 2) true) (>= (- (W0_div i d) (I0_div i d)) 0)))))
(check-sat)
