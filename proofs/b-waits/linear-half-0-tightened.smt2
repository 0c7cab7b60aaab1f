; Family linear-half: for every d with d >= 1: W of chunk 0 starts 0 ticks after its I has ended.
; Used as a negative control of theorem B, which must be refuted: the longest wait is one tick
; shorter.
; This file asks for a counterexample: a number of devices d and a device i for which it is false.
; The answer unsat proves it, sat refutes it.
; F0 is the offset of F of chunk 0 on device i, F0_div and F0_mod its quotient and remainder by the
; interval. W1_delay, where it occurs, is how long W of chunk 1 waits after its I until there is
; room for it; F0_live is what is live once F of chunk 0 has started, in stage activations; peak is
; the largest of those.
; i = 4a + r and d = 4b + s. Every quotient by a constant is written as q0, q1, ...: a multiple of
; a, one of b, and a number, c0, c1, ..., for which there is a row for each r and s. That they are
; the quotients is part of what must hold: the rests, q0_rest and so on, are neither negative nor as
; large as the divisor.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const i Int)
(declare-const a Int)
(declare-const r Int)
(assert (and (= a (div i 4)) (= r (mod i 4)) (= i (+ (* 4 a) r))))
(declare-const b Int)
(declare-const s Int)
(assert (and (= b (div d 4)) (= s (mod d 4)) (= d (+ (* 4 b) s))))
(define-fun F0 () Int i)
(declare-const c0 Int)
(define-fun q0 () Int (+ (* 1 a) (* 0 b) c0))
(define-fun q0_rest () Int (- F0 (* 4 q0)))
(define-fun F0_mod () Int q0_rest)
(define-fun I0 () Int (- (- (* 2 d) 1) i))
(declare-const c1 Int)
(define-fun q1 () Int (+ (* (- 1) a) (* 2 b) c1))
(define-fun q1_rest () Int (- I0 (* 4 q1)))
(define-fun I0_mod () Int q1_rest)
(define-fun W0_ready_mod () Int (ite (>= (+ I0_mod 1) 4) (- (+ I0_mod 1) 4) (+ I0_mod 1)))
(define-fun
  W0_from_F0
  ()
  Int
  (ite (>= F0_mod W0_ready_mod) (- F0_mod W0_ready_mod) (+ (- F0_mod W0_ready_mod) 4)))
(define-fun
  W0_from_I0
  ()
  Int
  (ite (>= I0_mod W0_ready_mod) (- I0_mod W0_ready_mod) (+ (- I0_mod W0_ready_mod) 4)))
(define-fun
  W0_delay
  ()
  Int
  (ite
    (and
      (or
        (and (< W0_from_F0 0) (<= (- 0 W0_from_F0) 2))
        (and (< 0 W0_from_F0) (>= (- W0_from_F0 0) 2)))
      (or
        (and (< W0_from_I0 0) (<= (- 0 W0_from_I0) 2))
        (and (< 0 W0_from_I0) (>= (- W0_from_I0 0) 2))))
    0
    (ite
      (and
        (or
          (and (< W0_from_F0 1) (<= (- 1 W0_from_F0) 2))
          (and (< 1 W0_from_F0) (>= (- W0_from_F0 1) 2)))
        (or
          (and (< W0_from_I0 1) (<= (- 1 W0_from_I0) 2))
          (and (< 1 W0_from_I0) (>= (- W0_from_I0 1) 2))))
      1
      (ite
        (and
          (or
            (and (< W0_from_F0 2) (<= (- 2 W0_from_F0) 2))
            (and (< 2 W0_from_F0) (>= (- W0_from_F0 2) 2)))
          (or
            (and (< W0_from_I0 2) (<= (- 2 W0_from_I0) 2))
            (and (< 2 W0_from_I0) (>= (- W0_from_I0 2) 2))))
        2
        (ite
          (and
            (or
              (and (< W0_from_F0 3) (<= (- 3 W0_from_F0) 2))
              (and (< 3 W0_from_F0) (>= (- W0_from_F0 3) 2)))
            (or
              (and (< W0_from_I0 3) (<= (- 3 W0_from_I0) 2))
              (and (< 3 W0_from_I0) (>= (- W0_from_I0 3) 2))))
          3
          4)))))
(define-fun
  row
  ((r0 Int) (s0 Int) (x0 Int) (x1 Int))
  Bool
  (=> (and (= r r0) (= s s0)) (and (= c0 x0) (= c1 x1))))
(assert (row 0 0 0 (- 1)))
(assert (row 1 0 0 (- 1)))
(assert (row 2 0 0 (- 1)))
(assert (row 3 0 0 (- 1)))
(assert (row 0 1 0 0))
(assert (row 1 1 0 0))
(assert (row 2 1 0 (- 1)))
(assert (row 3 1 0 (- 1)))
(assert (row 0 2 0 0))
(assert (row 1 2 0 0))
(assert (row 2 2 0 0))
(assert (row 3 2 0 0))
(assert (row 0 3 0 1))
(assert (row 1 3 0 1))
(assert (row 2 3 0 0))
(assert (row 3 3 0 0))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert (< W0_delay 4))
(assert (not (and (<= 0 q0_rest 3) (<= 0 q1_rest 3) (and (>= W0_delay 0) (<= W0_delay 0)))))
(check-sat)
