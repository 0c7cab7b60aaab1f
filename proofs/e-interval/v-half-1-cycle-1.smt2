; Theorem E: v-half, d = 1 (mod 6): there is a cycle of passes, each of which comes after the one
; before, that takes 2tF + 2tI + 2tW for each microbatch.
; Domain: d >= 1, d >= 1.
; Used by `bubbleproof prove`, for the interval of a family at unequal durations.
; This file asks for a counterexample: the answer unsat proves the statement.
; The cycle: F0 on 0, F1 on 0, I1 on 0, W1 on 0, I0 on 0, W0 on 0; devices below 0 are counted from
; the last. A pass comes after another of its device in the same round (offset div T + copy) when
; its offset modulo T is larger, and in the next round always. A pass that needs another one comes
; as many rounds after it as the quotients of their offsets differ.
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
(assert (= (mod d 6) 1))
(assert (>= d 1))
(assert
  (not
    (and
      (< (F0_mod 0 d) (F1_mod 0 d))
      (< (F1_mod 0 d) (I1_mod 0 d))
      (< (I1_mod 0 d) (W1_mod 0 d))
      (< (W1_mod 0 d) (I0_mod 0 d))
      (< (I0_mod 0 d) (W0_mod 0 d)))))
(check-sat)
