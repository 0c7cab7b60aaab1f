; Theorem E: interleaved-1f1b-4, d = 0 (mod 6): there is a cycle of passes, each of which comes
; after the one before, that takes 4tF + 4tI + 4tW for each microbatch.
; Domain: d >= 1, d >= 6.
; Used by `bubbleproof prove`, for the interval of a family at unequal durations.
; This file asks for a counterexample: the answer unsat proves the statement.
; The cycle: F0 on 0, B0 on 0, F1 on 0, B3 on 0, F2 on 0, B2 on 0, F3 on 0, B1 on 0; devices below 0
; are counted from the last. A pass comes after another of its device in the same round (offset div
; T + copy) when its offset modulo T is larger, and in the next round always. A pass that needs
; another one comes as many rounds after it as the quotients of their offsets differ.
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
(assert (>= d 6))
(assert
  (not
    (and
      (< (F0_mod 0 d) (B0_mod 0 d))
      (< (B0_mod 0 d) (F1_mod 0 d))
      (< (F1_mod 0 d) (B3_mod 0 d))
      (< (B3_mod 0 d) (F2_mod 0 d))
      (< (F2_mod 0 d) (B2_mod 0 d))
      (< (B2_mod 0 d) (F3_mod 0 d))
      (< (F3_mod 0 d) (B1_mod 0 d)))))
(check-sat)
