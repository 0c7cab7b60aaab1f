; Family linear-half: for every d with d >= 1: no pass starts before the passes that it needs have
; ended.
; Used as a negative control of theorem A, which must be refuted: every F of chunk 0 starts 1 tick
; later.
; This file asks for a counterexample: a number of devices d and a device i for which it is false.
; The answer unsat proves it, sat refutes it.
; F0 is the offset of F of chunk 0 on device i, F0_div and F0_mod its quotient and remainder by the
; interval. W1_delay, where it occurs, is how long W of chunk 1 waits after its I until there is
; room for it; F0_live is what is live once F of chunk 0 has started, in stage activations; peak is
; the largest of those.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const i Int)
(define-fun F0 ((i Int) (d Int)) Int (+ i 1))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 4))
(define-fun I0 ((i Int) (d Int)) Int (- (- (* 2 d) 1) i))
(define-fun I0_mod ((i Int) (d Int)) Int (mod (I0 i d) 4))
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
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert (< (W0_delay i d) 4))
(assert
  (not
    (and
      (or (<= i 0) (>= (F0 i d) (+ (F0 (- i 1) d) 1)))
      (or (>= i (- d 1)) (>= (I0 i d) (+ (I0 (+ i 1) d) 1)))
      (>= (I0 i d) (+ (F0 i d) 1))
      (>= (W0 i d) (+ (I0 i d) 1)))))
(check-sat)
