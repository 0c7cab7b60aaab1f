; Theorem F: v-half, d = 4 (mod 6): residues and rounds are those of the tables.
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
(define-fun F1 ((i Int) (d Int)) Int (- (- (* 3 d) 2) i))
(define-fun F1_div ((i Int) (d Int)) Int (div (F1 i d) 6))
(define-fun F1_mod ((i Int) (d Int)) Int (mod (F1 i d) 6))
(define-fun I1 ((i Int) (d Int)) Int (+ (- (+ (* 3 d) (ite (= (mod d 2) 0) 3 0)) 1) (* 2 i)))
(define-fun I1_div ((i Int) (d Int)) Int (div (I1 i d) 6))
(define-fun I1_mod ((i Int) (d Int)) Int (mod (I1 i d) 6))
(define-fun I0 ((i Int) (d Int)) Int (- (- (+ (* 6 d) (ite (= (mod d 2) 0) 3 0)) 2) i))
(define-fun I0_div ((i Int) (d Int)) Int (div (I0 i d) 6))
(define-fun I0_mod ((i Int) (d Int)) Int (mod (I0 i d) 6))
(define-fun
  W1_ready_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I1_mod i d) 1) 6) (+ (I1_div i d) 1) (I1_div i d)))
(define-fun
  W1_ready_mod
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I1_mod i d) 1) 6) (- (+ (I1_mod i d) 1) 6) (+ (I1_mod i d) 1)))
(define-fun
  W1_from_F0
  ((i Int) (d Int))
  Int
  (ite
    (>= (F0_mod i d) (W1_ready_mod i d))
    (- (F0_mod i d) (W1_ready_mod i d))
    (+ (- (F0_mod i d) (W1_ready_mod i d)) 6)))
(define-fun
  W1_from_F1
  ((i Int) (d Int))
  Int
  (ite
    (>= (F1_mod i d) (W1_ready_mod i d))
    (- (F1_mod i d) (W1_ready_mod i d))
    (+ (- (F1_mod i d) (W1_ready_mod i d)) 6)))
(define-fun
  W1_from_I1
  ((i Int) (d Int))
  Int
  (ite
    (>= (I1_mod i d) (W1_ready_mod i d))
    (- (I1_mod i d) (W1_ready_mod i d))
    (+ (- (I1_mod i d) (W1_ready_mod i d)) 6)))
(define-fun
  W1_from_I0
  ((i Int) (d Int))
  Int
  (ite
    (>= (I0_mod i d) (W1_ready_mod i d))
    (- (I0_mod i d) (W1_ready_mod i d))
    (+ (- (I0_mod i d) (W1_ready_mod i d)) 6)))
(define-fun
  W1_delay
  ((i Int) (d Int))
  Int
  (ite
    (and
      (distinct (W1_from_F0 i d) 0)
      (distinct (W1_from_F1 i d) 0)
      (distinct (W1_from_I1 i d) 0)
      (distinct (W1_from_I0 i d) 0))
    0
    (ite
      (and
        (distinct (W1_from_F0 i d) 1)
        (distinct (W1_from_F1 i d) 1)
        (distinct (W1_from_I1 i d) 1)
        (distinct (W1_from_I0 i d) 1))
      1
      (ite
        (and
          (distinct (W1_from_F0 i d) 2)
          (distinct (W1_from_F1 i d) 2)
          (distinct (W1_from_I1 i d) 2)
          (distinct (W1_from_I0 i d) 2))
        2
        (ite
          (and
            (distinct (W1_from_F0 i d) 3)
            (distinct (W1_from_F1 i d) 3)
            (distinct (W1_from_I1 i d) 3)
            (distinct (W1_from_I0 i d) 3))
          3
          (ite
            (and
              (distinct (W1_from_F0 i d) 4)
              (distinct (W1_from_F1 i d) 4)
              (distinct (W1_from_I1 i d) 4)
              (distinct (W1_from_I0 i d) 4))
            4
            (ite
              (and
                (distinct (W1_from_F0 i d) 5)
                (distinct (W1_from_F1 i d) 5)
                (distinct (W1_from_I1 i d) 5)
                (distinct (W1_from_I0 i d) 5))
              5
              6)))))))
(define-fun W1 ((i Int) (d Int)) Int (+ (+ (I1 i d) 1) (W1_delay i d)))
(define-fun
  W1_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (W1_ready_mod i d) (W1_delay i d)) 6) (+ (W1_ready_div i d) 1) (W1_ready_div i d)))
(define-fun
  W1_mod
  ((i Int) (d Int))
  Int
  (ite
    (>= (+ (W1_ready_mod i d) (W1_delay i d)) 6)
    (- (+ (W1_ready_mod i d) (W1_delay i d)) 6)
    (+ (W1_ready_mod i d) (W1_delay i d))))
(define-fun
  W0_ready_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I0_mod i d) 1) 6) (+ (I0_div i d) 1) (I0_div i d)))
(define-fun
  W0_ready_mod
  ((i Int) (d Int))
  Int
  (ite (>= (+ (I0_mod i d) 1) 6) (- (+ (I0_mod i d) 1) 6) (+ (I0_mod i d) 1)))
(define-fun
  W0_from_F0
  ((i Int) (d Int))
  Int
  (ite
    (>= (F0_mod i d) (W0_ready_mod i d))
    (- (F0_mod i d) (W0_ready_mod i d))
    (+ (- (F0_mod i d) (W0_ready_mod i d)) 6)))
(define-fun
  W0_from_F1
  ((i Int) (d Int))
  Int
  (ite
    (>= (F1_mod i d) (W0_ready_mod i d))
    (- (F1_mod i d) (W0_ready_mod i d))
    (+ (- (F1_mod i d) (W0_ready_mod i d)) 6)))
(define-fun
  W0_from_I1
  ((i Int) (d Int))
  Int
  (ite
    (>= (I1_mod i d) (W0_ready_mod i d))
    (- (I1_mod i d) (W0_ready_mod i d))
    (+ (- (I1_mod i d) (W0_ready_mod i d)) 6)))
(define-fun
  W0_from_I0
  ((i Int) (d Int))
  Int
  (ite
    (>= (I0_mod i d) (W0_ready_mod i d))
    (- (I0_mod i d) (W0_ready_mod i d))
    (+ (- (I0_mod i d) (W0_ready_mod i d)) 6)))
(define-fun
  W0_from_W1
  ((i Int) (d Int))
  Int
  (ite
    (>= (W1_mod i d) (W0_ready_mod i d))
    (- (W1_mod i d) (W0_ready_mod i d))
    (+ (- (W1_mod i d) (W0_ready_mod i d)) 6)))
(define-fun
  W0_delay
  ((i Int) (d Int))
  Int
  (ite
    (and
      (distinct (W0_from_F0 i d) 0)
      (distinct (W0_from_F1 i d) 0)
      (distinct (W0_from_I1 i d) 0)
      (distinct (W0_from_I0 i d) 0)
      (distinct (W0_from_W1 i d) 0))
    0
    (ite
      (and
        (distinct (W0_from_F0 i d) 1)
        (distinct (W0_from_F1 i d) 1)
        (distinct (W0_from_I1 i d) 1)
        (distinct (W0_from_I0 i d) 1)
        (distinct (W0_from_W1 i d) 1))
      1
      (ite
        (and
          (distinct (W0_from_F0 i d) 2)
          (distinct (W0_from_F1 i d) 2)
          (distinct (W0_from_I1 i d) 2)
          (distinct (W0_from_I0 i d) 2)
          (distinct (W0_from_W1 i d) 2))
        2
        (ite
          (and
            (distinct (W0_from_F0 i d) 3)
            (distinct (W0_from_F1 i d) 3)
            (distinct (W0_from_I1 i d) 3)
            (distinct (W0_from_I0 i d) 3)
            (distinct (W0_from_W1 i d) 3))
          3
          (ite
            (and
              (distinct (W0_from_F0 i d) 4)
              (distinct (W0_from_F1 i d) 4)
              (distinct (W0_from_I1 i d) 4)
              (distinct (W0_from_I0 i d) 4)
              (distinct (W0_from_W1 i d) 4))
            4
            (ite
              (and
                (distinct (W0_from_F0 i d) 5)
                (distinct (W0_from_F1 i d) 5)
                (distinct (W0_from_I1 i d) 5)
                (distinct (W0_from_I0 i d) 5)
                (distinct (W0_from_W1 i d) 5))
              5
              6)))))))
(define-fun W0 ((i Int) (d Int)) Int (+ (+ (I0 i d) 1) (W0_delay i d)))
(define-fun
  W0_div
  ((i Int) (d Int))
  Int
  (ite (>= (+ (W0_ready_mod i d) (W0_delay i d)) 6) (+ (W0_ready_div i d) 1) (W0_ready_div i d)))
(define-fun
  W0_mod
  ((i Int) (d Int))
  Int
  (ite
    (>= (+ (W0_ready_mod i d) (W0_delay i d)) 6)
    (- (+ (W0_ready_mod i d) (W0_delay i d)) 6)
    (+ (W0_ready_mod i d) (W0_delay i d))))
(assert (>= d 1))
(assert (= (mod d 6) 4))
(declare-const i Int)
(assert (and (>= i 0) (< i d)))
(assert
  (not
    (and
      (=> (= (mod i 6) 0) (= (F0_mod i d) 0))
      (=> (= (mod i 6) 0) (= (F1_mod i d) 4))
      (=> (= (mod i 6) 0) (= (I1_mod i d) 2))
      (=> (= (mod i 6) 0) (= (I0_mod i d) 1))
      (=> (= (mod i 6) 0) (= (W1_mod i d) 3))
      (=> (= (mod i 6) 0) (= (W0_mod i d) 5))
      (=> (= (mod i 6) 1) (= (F0_mod i d) 2))
      (=> (= (mod i 6) 1) (= (F1_mod i d) 3))
      (=> (= (mod i 6) 1) (= (I1_mod i d) 4))
      (=> (= (mod i 6) 1) (= (I0_mod i d) 0))
      (=> (= (mod i 6) 1) (= (W1_mod i d) 5))
      (=> (= (mod i 6) 1) (= (W0_mod i d) 1))
      (=> (= (mod i 6) 2) (= (F0_mod i d) 4))
      (=> (= (mod i 6) 2) (= (F1_mod i d) 2))
      (=> (= (mod i 6) 2) (= (I1_mod i d) 0))
      (=> (= (mod i 6) 2) (= (I0_mod i d) 5))
      (=> (= (mod i 6) 2) (= (W1_mod i d) 1))
      (=> (= (mod i 6) 2) (= (W0_mod i d) 3))
      (=> (= (mod i 6) 3) (= (F0_mod i d) 0))
      (=> (= (mod i 6) 3) (= (F1_mod i d) 1))
      (=> (= (mod i 6) 3) (= (I1_mod i d) 2))
      (=> (= (mod i 6) 3) (= (I0_mod i d) 4))
      (=> (= (mod i 6) 3) (= (W1_mod i d) 3))
      (=> (= (mod i 6) 3) (= (W0_mod i d) 5))
      (=> (= (mod i 6) 4) (= (F0_mod i d) 2))
      (=> (= (mod i 6) 4) (= (F1_mod i d) 0))
      (=> (= (mod i 6) 4) (= (I1_mod i d) 4))
      (=> (= (mod i 6) 4) (= (I0_mod i d) 3))
      (=> (= (mod i 6) 4) (= (W1_mod i d) 5))
      (=> (= (mod i 6) 4) (= (W0_mod i d) 1))
      (=> (= (mod i 6) 5) (= (F0_mod i d) 4))
      (=> (= (mod i 6) 5) (= (F1_mod i d) 5))
      (=> (= (mod i 6) 5) (= (I1_mod i d) 0))
      (=> (= (mod i 6) 5) (= (I0_mod i d) 2))
      (=> (= (mod i 6) 5) (= (W1_mod i d) 1))
      (=> (= (mod i 6) 5) (= (W0_mod i d) 3))
      (=> (and (= (mod i 6) 0) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 1))
      (=> (and (= (mod i 6) 0) (< i (- d 1))) (>= (- (F1_div i d) (F1_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 0) (> i 0)) (>= (- (I1_div i d) (I1_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 0) (= i 0)) (>= (- (I1_div i d) (F1_div i d)) 1))
      (=> (and (= (mod i 6) 0) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 0) true) (>= (- (W1_div i d) (I1_div i d)) 0))
      (=> (and (= (mod i 6) 0) true) (>= (- (W0_div i d) (I0_div i d)) 0))
      (=> (and (= (mod i 6) 1) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 1) (< i (- d 1))) (>= (- (F1_div i d) (F1_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 1) (> i 0)) (>= (- (I1_div i d) (I1_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 1) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 1))
      (=> (and (= (mod i 6) 1) true) (>= (- (W1_div i d) (I1_div i d)) 0))
      (=> (and (= (mod i 6) 1) true) (>= (- (W0_div i d) (I0_div i d)) 0))
      (=> (and (= (mod i 6) 2) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 2) (< i (- d 1))) (>= (- (F1_div i d) (F1_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 2) (> i 0)) (>= (- (I1_div i d) (I1_div (- i 1) d)) 1))
      (=> (and (= (mod i 6) 2) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 2) true) (>= (- (W1_div i d) (I1_div i d)) 0))
      (=> (and (= (mod i 6) 2) true) (>= (- (W0_div i d) (I0_div i d)) 1))
      (=> (and (= (mod i 6) 3) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 1))
      (=> (and (= (mod i 6) 3) (< i (- d 1))) (>= (- (F1_div i d) (F1_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 3) (= i (- d 1))) (>= (- (F1_div i d) (F0_div i d)) 0))
      (=> (and (= (mod i 6) 3) (> i 0)) (>= (- (I1_div i d) (I1_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 3) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 3) (= i (- d 1))) (>= (- (I0_div i d) (I1_div i d)) 0))
      (=> (and (= (mod i 6) 3) true) (>= (- (W1_div i d) (I1_div i d)) 0))
      (=> (and (= (mod i 6) 3) true) (>= (- (W0_div i d) (I0_div i d)) 0))
      (=> (and (= (mod i 6) 4) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 4) (< i (- d 1))) (>= (- (F1_div i d) (F1_div (+ i 1) d)) 1))
      (=> (and (= (mod i 6) 4) (> i 0)) (>= (- (I1_div i d) (I1_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 4) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 4) true) (>= (- (W1_div i d) (I1_div i d)) 0))
      (=> (and (= (mod i 6) 4) true) (>= (- (W0_div i d) (I0_div i d)) 1))
      (=> (and (= (mod i 6) 5) (> i 0)) (>= (- (F0_div i d) (F0_div (- i 1) d)) 0))
      (=> (and (= (mod i 6) 5) (< i (- d 1))) (>= (- (F1_div i d) (F1_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 5) (> i 0)) (>= (- (I1_div i d) (I1_div (- i 1) d)) 1))
      (=> (and (= (mod i 6) 5) (< i (- d 1))) (>= (- (I0_div i d) (I0_div (+ i 1) d)) 0))
      (=> (and (= (mod i 6) 5) true) (>= (- (W1_div i d) (I1_div i d)) 0))
      (=> (and (= (mod i 6) 5) true) (>= (- (W0_div i d) (I0_div i d)) 0)))))
(check-sat)
