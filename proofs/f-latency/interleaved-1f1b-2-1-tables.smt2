; Theorem F: interleaved-1f1b-2, d = 1 (mod 3): residues and rounds are those of the tables.
; Domain: d >= 1.
; Used by `bubbleproof prove`, for the interval of a family at unequal durations.
; This file asks for a counterexample: the answer unsat proves the statement.
; The claim is that the offsets of passes modulo the interval T, and so the order of a device, are
; those of the tables, and that a pass comes at least so many rounds (offset div T) after one that
; it needs as they say, by the residue of the device i.
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
(assert (= (mod d 3) 1))
(declare-const i Int)
(assert (and (>= i 0) (< i d)))
(assert
  (not
    (and
      (=> (= (mod i 3) 0) (= (F0_mod i d) 0))
      (=> (= (mod i 3) 0) (= (F1_mod i d) 3))
      (=> (= (mod i 3) 0) (= (B1_mod i d) 4))
      (=> (= (mod i 3) 0) (= (B0_mod i d) 1))
      (=> (= (mod i 3) 1) (= (F0_mod i d) 2))
      (=> (= (mod i 3) 1) (= (F1_mod i d) 5))
      (=> (= (mod i 3) 1) (= (B1_mod i d) 0))
      (=> (= (mod i 3) 1) (= (B0_mod i d) 3))
      (=> (= (mod i 3) 2) (= (F0_mod i d) 4))
      (=> (= (mod i 3) 2) (= (F1_mod i d) 1))
      (=> (= (mod i 3) 2) (= (B1_mod i d) 2))
      (=> (= (mod i 3) 2) (= (B0_mod i d) 5))
      (=> (and (= (mod i 3) 0) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 1))
      (=> (and (= (mod i 3) 0) (> i 0)) (>= (- (F1_div i d) (F1_div (- i 1) d)) 0))
      (=> (and (= (mod i 3) 0) (= i 0)) (>= (- (F1_div i d) (F0_div (- d 1) d)) 0))
      (=> (and (= (mod i 3) 0) (< i (- d 1))) (>= (- (B1_div i d) (B1_div (+ i 1) d)) 0))
      (=> (and (= (mod i 3) 0) (= i (- d 1))) (>= (- (B1_div i d) (F1_div i d)) 0))
      (=> (and (= (mod i 3) 0) (< i (- d 1))) (>= (- (B0_div i d) (B0_div (+ i 1) d)) 1))
      (=> (and (= (mod i 3) 0) (= i (- d 1))) (>= (- (B0_div i d) (B1_div 0 d)) 1))
      (=> (and (= (mod i 3) 1) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 3) 1) (> i 0)) (>= (- (F1_div i d) (F1_div (- i 1) d)) 0))
      (=> (and (= (mod i 3) 1) (< i (- d 1))) (>= (- (B1_div i d) (B1_div (+ i 1) d)) 1))
      (=> (and (= (mod i 3) 1) (< i (- d 1))) (>= (- (B0_div i d) (B0_div (+ i 1) d)) 1))
      (=> (and (= (mod i 3) 2) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 3) 2) (> i 0)) (>= (- (F1_div i d) (F1_div (- i 1) d)) 1))
      (=> (and (= (mod i 3) 2) (< i (- d 1))) (>= (- (B1_div i d) (B1_div (+ i 1) d)) 1))
      (=> (and (= (mod i 3) 2) (< i (- d 1))) (>= (- (B0_div i d) (B0_div (+ i 1) d)) 0)))))
(check-sat)
