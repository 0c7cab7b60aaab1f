; Theorem E: linear-half, d = 2 (mod 4): there is a cycle of passes, each of which comes after the
; one before, that takes 2tF + 2tI for each microbatch.
; Domain: d >= 1, d >= 2.
; Used by `bubbleproof prove`, for the interval of a family at unequal durations.
; This file asks for a counterexample: the answer unsat proves the statement.
; The cycle: F0 on -1, I0 on -1, I0 on -2, F0 on -2; devices below 0 are counted from the last. A
; pass comes after another of its device in the same round (offset div T + copy) when its offset
; modulo T is larger, and in the next round always. A pass that needs another one comes as many
; rounds after it as the quotients of their offsets differ.
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
(assert (>= d 2))
(assert
  (not
    (and
      (< (F0_mod (- d 1) d) (I0_mod (- d 1) d))
      (= (- (I0_div (- d 2) d) (I0_div (- d 1) d)) 0)
      (= (- (F0_div (- d 1) d) (F0_div (- d 2) d)) 0))))
(check-sat)
