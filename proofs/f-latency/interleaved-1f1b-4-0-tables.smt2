; Theorem F: interleaved-1f1b-4, d = 0 (mod 6): residues and rounds are those of the tables.
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
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 12))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 12))
(define-fun
  F1
  ((i Int) (d Int))
  Int
  (+ (+ (* 3 (div (+ (* 2 d) 1) 3)) (ite (= (mod (div (+ (* 2 d) 1) 3) 4) 0) 3 0)) (* 2 i)))
(define-fun F1_div ((i Int) (d Int)) Int (div (F1 i d) 12))
(define-fun F1_mod ((i Int) (d Int)) Int (mod (F1 i d) 12))
(define-fun
  F2
  ((i Int) (d Int))
  Int
  (+
    (+
      (* 6 (div (+ (* 2 d) 1) 3))
      (ite (= (mod (div (+ (* 2 d) 1) 3) 4) 0) 6 (ite (= (mod (div (+ (* 2 d) 1) 3) 4) 2) 3 0)))
    (* 2 i)))
(define-fun F2_div ((i Int) (d Int)) Int (div (F2 i d) 12))
(define-fun F2_mod ((i Int) (d Int)) Int (mod (F2 i d) 12))
(define-fun
  F3
  ((i Int) (d Int))
  Int
  (+
    (+
      (* 9 (div (+ (* 2 d) 1) 3))
      (ite (= (mod (div (+ (* 2 d) 1) 3) 4) 0) 9 (ite (= (mod (div (+ (* 2 d) 1) 3) 4) 2) 3 0)))
    (* 2 i)))
(define-fun F3_div ((i Int) (d Int)) Int (div (F3 i d) 12))
(define-fun F3_mod ((i Int) (d Int)) Int (mod (F3 i d) 12))
(define-fun
  B3
  ((i Int) (d Int))
  Int
  (-
    (-
      (+
        (+
          (* 9 (div (+ (* 2 d) 1) 3))
          (ite (= (mod (div (+ (* 2 d) 1) 3) 4) 0) 9 (ite (= (mod (div (+ (* 2 d) 1) 3) 4) 2) 3 0)))
        (* 6 d))
      5)
    (* 4 i)))
(define-fun B3_div ((i Int) (d Int)) Int (div (B3 i d) 12))
(define-fun B3_mod ((i Int) (d Int)) Int (mod (B3 i d) 12))
(define-fun
  B2
  ((i Int) (d Int))
  Int
  (-
    (-
      (+
        (+
          (+
            (+
              (* 9 (div (+ (* 2 d) 1) 3))
              (ite
                (= (mod (div (+ (* 2 d) 1) 3) 4) 0)
                9
                (ite (= (mod (div (+ (* 2 d) 1) 3) 4) 2) 3 0)))
            (* 3 (div (* 4 d) 3)))
          (ite (= (mod (div (* 4 d) 3) 4) 0) 3 0))
        (* 6 d))
      5)
    (* 4 i)))
(define-fun B2_div ((i Int) (d Int)) Int (div (B2 i d) 12))
(define-fun B2_mod ((i Int) (d Int)) Int (mod (B2 i d) 12))
(define-fun
  B1
  ((i Int) (d Int))
  Int
  (-
    (-
      (+
        (+
          (+
            (+
              (* 9 (div (+ (* 2 d) 1) 3))
              (ite
                (= (mod (div (+ (* 2 d) 1) 3) 4) 0)
                9
                (ite (= (mod (div (+ (* 2 d) 1) 3) 4) 2) 3 0)))
            (* 6 (div (* 4 d) 3)))
          (ite (= (mod (div (* 4 d) 3) 4) 0) 6 (ite (= (mod (div (* 4 d) 3) 4) 2) 3 0)))
        (* 6 d))
      5)
    (* 4 i)))
(define-fun B1_div ((i Int) (d Int)) Int (div (B1 i d) 12))
(define-fun B1_mod ((i Int) (d Int)) Int (mod (B1 i d) 12))
(define-fun
  B0
  ((i Int) (d Int))
  Int
  (-
    (-
      (+
        (+
          (+
            (+
              (* 9 (div (+ (* 2 d) 1) 3))
              (ite
                (= (mod (div (+ (* 2 d) 1) 3) 4) 0)
                9
                (ite (= (mod (div (+ (* 2 d) 1) 3) 4) 2) 3 0)))
            (* 9 (div (* 4 d) 3)))
          (ite (= (mod (div (* 4 d) 3) 4) 0) 9 (ite (= (mod (div (* 4 d) 3) 4) 2) 3 0)))
        (* 6 d))
      5)
    (* 4 i)))
(define-fun B0_div ((i Int) (d Int)) Int (div (B0 i d) 12))
(define-fun B0_mod ((i Int) (d Int)) Int (mod (B0 i d) 12))
(assert (>= d 1))
(assert (= (mod d 6) 0))
(declare-const i Int)
(assert (and (>= i 0) (< i d)))
(assert
  (not
    (and
      (=> (= (mod i 6) 0) (= (F0_mod i d) 0))
      (=> (= (mod i 6) 0) (= (F1_mod i d) 3))
      (=> (= (mod i 6) 0) (= (F2_mod i d) 6))
      (=> (= (mod i 6) 0) (= (F3_mod i d) 9))
      (=> (= (mod i 6) 0) (= (B3_mod i d) 4))
      (=> (= (mod i 6) 0) (= (B2_mod i d) 7))
      (=> (= (mod i 6) 0) (= (B1_mod i d) 10))
      (=> (= (mod i 6) 0) (= (B0_mod i d) 1))
      (=> (= (mod i 6) 1) (= (F0_mod i d) 2))
      (=> (= (mod i 6) 1) (= (F1_mod i d) 5))
      (=> (= (mod i 6) 1) (= (F2_mod i d) 8))
      (=> (= (mod i 6) 1) (= (F3_mod i d) 11))
      (=> (= (mod i 6) 1) (= (B3_mod i d) 0))
      (=> (= (mod i 6) 1) (= (B2_mod i d) 3))
      (=> (= (mod i 6) 1) (= (B1_mod i d) 6))
      (=> (= (mod i 6) 1) (= (B0_mod i d) 9))
      (=> (= (mod i 6) 2) (= (F0_mod i d) 4))
      (=> (= (mod i 6) 2) (= (F1_mod i d) 7))
      (=> (= (mod i 6) 2) (= (F2_mod i d) 10))
      (=> (= (mod i 6) 2) (= (F3_mod i d) 1))
      (=> (= (mod i 6) 2) (= (B3_mod i d) 8))
      (=> (= (mod i 6) 2) (= (B2_mod i d) 11))
      (=> (= (mod i 6) 2) (= (B1_mod i d) 2))
      (=> (= (mod i 6) 2) (= (B0_mod i d) 5))
      (=> (= (mod i 6) 3) (= (F0_mod i d) 6))
      (=> (= (mod i 6) 3) (= (F1_mod i d) 9))
      (=> (= (mod i 6) 3) (= (F2_mod i d) 0))
      (=> (= (mod i 6) 3) (= (F3_mod i d) 3))
      (=> (= (mod i 6) 3) (= (B3_mod i d) 4))
      (=> (= (mod i 6) 3) (= (B2_mod i d) 7))
      (=> (= (mod i 6) 3) (= (B1_mod i d) 10))
      (=> (= (mod i 6) 3) (= (B0_mod i d) 1))
      (=> (= (mod i 6) 4) (= (F0_mod i d) 8))
      (=> (= (mod i 6) 4) (= (F1_mod i d) 11))
      (=> (= (mod i 6) 4) (= (F2_mod i d) 2))
      (=> (= (mod i 6) 4) (= (F3_mod i d) 5))
      (=> (= (mod i 6) 4) (= (B3_mod i d) 0))
      (=> (= (mod i 6) 4) (= (B2_mod i d) 3))
      (=> (= (mod i 6) 4) (= (B1_mod i d) 6))
      (=> (= (mod i 6) 4) (= (B0_mod i d) 9))
      (=> (= (mod i 6) 5) (= (F0_mod i d) 10))
      (=> (= (mod i 6) 5) (= (F1_mod i d) 1))
      (=> (= (mod i 6) 5) (= (F2_mod i d) 4))
      (=> (= (mod i 6) 5) (= (F3_mod i d) 7))
      (=> (= (mod i 6) 5) (= (B3_mod i d) 8))
      (=> (= (mod i 6) 5) (= (B2_mod i d) 11))
      (=> (= (mod i 6) 5) (= (B1_mod i d) 2))
      (=> (= (mod i 6) 5) (= (B0_mod i d) 5))
      (=> (and (= (mod i 6) 0) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 1))
      (=> (and (= (mod i 6) 0) (> i 0)) (>= (- (F1_div i d) (F1_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 0) (= i 0)) (>= (- (F1_div i d) (F0_div (- d 1) d)) 1))
      (=> (and (= (mod i 6) 0) (> i 0)) (>= (- (F2_div i d) (F2_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 0) (= i 0)) (>= (- (F2_div i d) (F1_div (- d 1) d)) 0))
      (=> (and (= (mod i 6) 0) (> i 0)) (>= (- (F3_div i d) (F3_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 0) (= i 0)) (>= (- (F3_div i d) (F2_div (- d 1) d)) 0))
      (=> (and (= (mod i 6) 0) (< i (- d 1))) (>= (- (B3_div i d) (B3_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 0) (< i (- d 1))) (>= (- (B2_div i d) (B2_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 0) (< i (- d 1))) (>= (- (B1_div i d) (B1_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 0) (< i (- d 1))) (>= (- (B0_div i d) (B0_div (+ i 1) d)) 1))
      (=> (and (= (mod i 6) 1) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 1) (> i 0)) (>= (- (F1_div i d) (F1_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 1) (> i 0)) (>= (- (F2_div i d) (F2_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 1) (> i 0)) (>= (- (F3_div i d) (F3_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 1) (< i (- d 1))) (>= (- (B3_div i d) (B3_div (+ i 1) d)) 1))
      (=> (and (= (mod i 6) 1) (< i (- d 1))) (>= (- (B2_div i d) (B2_div (+ i 1) d)) 1))
      (=> (and (= (mod i 6) 1) (< i (- d 1))) (>= (- (B1_div i d) (B1_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 1) (< i (- d 1))) (>= (- (B0_div i d) (B0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 2) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 2) (> i 0)) (>= (- (F1_div i d) (F1_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 2) (> i 0)) (>= (- (F2_div i d) (F2_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 2) (> i 0)) (>= (- (F3_div i d) (F3_div (- i 1) d)) 1))
      (=> (and (= (mod i 6) 2) (< i (- d 1))) (>= (- (B3_div i d) (B3_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 2) (< i (- d 1))) (>= (- (B2_div i d) (B2_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 2) (< i (- d 1))) (>= (- (B1_div i d) (B1_div (+ i 1) d)) 1))
      (=> (and (= (mod i 6) 2) (< i (- d 1))) (>= (- (B0_div i d) (B0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 3) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 3) (> i 0)) (>= (- (F1_div i d) (F1_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 3) (> i 0)) (>= (- (F2_div i d) (F2_div (- i 1) d)) 1))
      (=> (and (= (mod i 6) 3) (> i 0)) (>= (- (F3_div i d) (F3_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 3) (< i (- d 1))) (>= (- (B3_div i d) (B3_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 3) (< i (- d 1))) (>= (- (B2_div i d) (B2_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 3) (< i (- d 1))) (>= (- (B1_div i d) (B1_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 3) (< i (- d 1))) (>= (- (B0_div i d) (B0_div (+ i 1) d)) 1))
      (=> (and (= (mod i 6) 4) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 4) (> i 0)) (>= (- (F1_div i d) (F1_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 4) (> i 0)) (>= (- (F2_div i d) (F2_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 4) (> i 0)) (>= (- (F3_div i d) (F3_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 4) (< i (- d 1))) (>= (- (B3_div i d) (B3_div (+ i 1) d)) 1))
      (=> (and (= (mod i 6) 4) (< i (- d 1))) (>= (- (B2_div i d) (B2_div (+ i 1) d)) 1))
      (=> (and (= (mod i 6) 4) (< i (- d 1))) (>= (- (B1_div i d) (B1_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 4) (< i (- d 1))) (>= (- (B0_div i d) (B0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 5) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 5) (> i 0)) (>= (- (F1_div i d) (F1_div (- i 1) d)) 1))
      (=> (and (= (mod i 6) 5) (> i 0)) (>= (- (F2_div i d) (F2_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 5) (> i 0)) (>= (- (F3_div i d) (F3_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 5) (< i (- d 1))) (>= (- (B3_div i d) (B3_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 5) (= i (- d 1))) (>= (- (B3_div i d) (F3_div i d)) 0))
      (=> (and (= (mod i 6) 5) (< i (- d 1))) (>= (- (B2_div i d) (B2_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 5) (= i (- d 1))) (>= (- (B2_div i d) (B3_div 0 d)) 0))
      (=> (and (= (mod i 6) 5) (< i (- d 1))) (>= (- (B1_div i d) (B1_div (+ i 1) d)) 1))
      (=> (and (= (mod i 6) 5) (= i (- d 1))) (>= (- (B1_div i d) (B2_div 0 d)) 1))
      (=> (and (= (mod i 6) 5) (< i (- d 1))) (>= (- (B0_div i d) (B0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 5) (= i (- d 1))) (>= (- (B0_div i d) (B1_div 0 d)) 1)))))
(check-sat)
