; Theorem F: linear-half, d = 2 (mod 4): residues and rounds are those of the tables.
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
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 4))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 4))
(define-fun I0 ((i Int) (d Int)) Int (- (- (* 2 d) 1) i))
(define-fun I0_div ((i Int) (d Int)) Int (div (I0 i d) 4))
(define-fun I0_mod ((i Int) (d Int)) Int (mod (I0 i d) 4))
(define-fun
  W0_ready_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I0_mod i d) 1) 4) (+ (I0_div i d) 1) (I0_div i d)))
(define-fun
  W0_ready_mod
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I0_mod i d) 1) 4) (- (+ (I0_mod i d) 1) 4) (+ (I0_mod i d) 1)))
(define-fun
  W0_from_F0
  ((i Int) (d Int))
  Int
  (ite
    (>= (F0_mod i d) (W0_ready_mod i d))
    (- (F0_mod i d) (W0_ready_mod i d))
    (+ (- (F0_mod i d) (W0_ready_mod i d)) 4)))
(define-fun
  W0_from_I0
  ((i Int) (d Int))
  Int
  (ite
    (>= (I0_mod i d) (W0_ready_mod i d))
    (- (I0_mod i d) (W0_ready_mod i d))
    (+ (- (I0_mod i d) (W0_ready_mod i d)) 4)))
(define-fun
  W0_delay
  ((i Int) (d Int))
  Int
  (ite
    (and
      (or
        (and (< (W0_from_F0 i d) 0) (<= (- 0 (W0_from_F0 i d)) 2))
        (and (< 0 (W0_from_F0 i d)) (>= (- (W0_from_F0 i d) 0) 2)))
      (or
        (and (< (W0_from_I0 i d) 0) (<= (- 0 (W0_from_I0 i d)) 2))
        (and (< 0 (W0_from_I0 i d)) (>= (- (W0_from_I0 i d) 0) 2))))
    0
    (ite
      (and
        (or
          (and (< (W0_from_F0 i d) 1) (<= (- 1 (W0_from_F0 i d)) 2))
          (and (< 1 (W0_from_F0 i d)) (>= (- (W0_from_F0 i d) 1) 2)))
        (or
          (and (< (W0_from_I0 i d) 1) (<= (- 1 (W0_from_I0 i d)) 2))
          (and (< 1 (W0_from_I0 i d)) (>= (- (W0_from_I0 i d) 1) 2))))
      1
      (ite
        (and
          (or
            (and (< (W0_from_F0 i d) 2) (<= (- 2 (W0_from_F0 i d)) 2))
            (and (< 2 (W0_from_F0 i d)) (>= (- (W0_from_F0 i d) 2) 2)))
          (or
            (and (< (W0_from_I0 i d) 2) (<= (- 2 (W0_from_I0 i d)) 2))
            (and (< 2 (W0_from_I0 i d)) (>= (- (W0_from_I0 i d) 2) 2))))
        2
        (ite
          (and
            (or
              (and (< (W0_from_F0 i d) 3) (<= (- 3 (W0_from_F0 i d)) 2))
              (and (< 3 (W0_from_F0 i d)) (>= (- (W0_from_F0 i d) 3) 2)))
            (or
              (and (< (W0_from_I0 i d) 3) (<= (- 3 (W0_from_I0 i d)) 2))
              (and (< 3 (W0_from_I0 i d)) (>= (- (W0_from_I0 i d) 3) 2))))
          3
          4)))))
(define-fun W0 ((i Int) (d Int)) Int (+ (+ (I0 i d) 1) (W0_delay i d)))
(define-fun
  W0_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (W0_ready_mod i d) (W0_delay i d)) 4) (+ (W0_ready_div i d) 1) (W0_ready_div i d)))
(define-fun
  W0_mod
  ((i Int) (d Int))
  Int
  (ite
    (>= (+ (W0_ready_mod i d) (W0_delay i d)) 4)
    (- (+ (W0_ready_mod i d) (W0_delay i d)) 4)
    (+ (W0_ready_mod i d) (W0_delay i d))))
(assert (>= d 1))
(assert (= (mod d 4) 2))
(declare-const i Int)
(assert (and (>= i 0) (< i d)))
(assert
  (not
    (and
      (=> (= (mod i 4) 0) (= (F0_mod i d) 0))
      (=> (= (mod i 4) 0) (= (I0_mod i d) 3))
      (=> (= (mod i 4) 0) (= (W0_mod i d) 1))
      (=> (= (mod i 4) 1) (= (F0_mod i d) 1))
      (=> (= (mod i 4) 1) (= (I0_mod i d) 2))
      (=> (= (mod i 4) 1) (= (W0_mod i d) 3))
      (=> (= (mod i 4) 2) (= (F0_mod i d) 2))
      (=> (= (mod i 4) 2) (= (I0_mod i d) 1))
      (=> (= (mod i 4) 2) (= (W0_mod i d) 3))
      (=> (= (mod i 4) 3) (= (F0_mod i d) 3))
      (=> (= (mod i 4) 3) (= (I0_mod i d) 0))
      (=> (= (mod i 4) 3) (= (W0_mod i d) 1))
      (=> (and (= (mod i 4) 0) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 1))
      (=> (and (= (mod i 4) 0) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 4) 0) true) (>= (- (W0_div i d) (I0_div i d)) 1))
      (=> (and (= (mod i 4) 1) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 4) 1) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 4) 1) (= i (- d 1))) (>= (- (I0_div i d) (F0_div i d)) 0))
      (=> (and (= (mod i 4) 1) true) (>= (- (W0_div i d) (I0_div i d)) 0))
      (=> (and (= (mod i 4) 2) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 4) 2) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 4) 2) true) (>= (- (W0_div i d) (I0_div i d)) 0))
      (=> (and (= (mod i 4) 3) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 4) 3) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 1))
      (=> (and (= (mod i 4) 3) true) (>= (- (W0_div i d) (I0_div i d)) 0)))))
(check-sat)
