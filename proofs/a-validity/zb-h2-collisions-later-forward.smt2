; Family zb-h2: for every d with d >= 1: no two passes of a device overlap modulo the interval of 3
; ticks.
; Used as a negative control of theorem A, which must be refuted: every F of chunk 0 starts 1 tick
; later.
; This file asks for a counterexample: a number of devices d and a device i for which it is false.
; The answer unsat proves it, sat refutes it.
; F0 is the offset of F of chunk 0 on device i, F0_div and F0_mod its quotient and remainder by the
; interval. W1_delay, where it occurs, is how long W of chunk 1 waits after its I until there is
; room for it; F0_live is what is live once F of chunk 0 has started, in stage activations; peak is
; the largest of those.
; i = 3a + r and d = 3b + s. Every quotient by a constant is written as q0, q1, ...: a multiple of
; a, one of b, and a number, c0, c1, ..., for which there is a row for each r and s. That they are
; the quotients is part of what must hold: the rests, q0_rest and so on, are neither negative nor as
; large as the divisor.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const i Int)
(declare-const a Int)
(declare-const r Int)
(assert (and (= a (div i 3)) (= r (mod i 3)) (= i (+ (* 3 a) r))))
(declare-const b Int)
(declare-const s Int)
(assert (and (= b (div d 3)) (= s (mod d 3)) (= d (+ (* 3 b) s))))
(define-fun F0 () Int (+ i 1))
(declare-const c0 Int)
(define-fun q0 () Int (+ (* 1 a) (* 0 b) c0))
(define-fun q0_rest () Int (- F0 (* 3 q0)))
(define-fun F0_mod () Int q0_rest)
(define-fun I0 () Int (- (- (* 6 d) 5) (* 5 i)))
(declare-const c1 Int)
(define-fun q1 () Int (+ (* (- 5) a) (* 6 b) c1))
(define-fun q1_rest () Int (- I0 (* 3 q1)))
(define-fun I0_mod () Int q1_rest)
(define-fun W0 () Int (+ (- (* 6 d) 4) i))
(declare-const c2 Int)
(define-fun q2 () Int (+ (* 1 a) (* 6 b) c2))
(define-fun q2_rest () Int (- W0 (* 3 q2)))
(define-fun W0_mod () Int q2_rest)
(define-fun
  row
  ((r0 Int) (s0 Int) (x0 Int) (x1 Int) (x2 Int))
  Bool
  (=> (and (= r r0) (= s s0)) (and (= c0 x0) (= c1 x1) (= c2 x2))))
(assert (row 0 0 0 (- 2) (- 2)))
(assert (row 1 0 0 (- 4) (- 1)))
(assert (row 2 0 1 (- 5) (- 1)))
(assert (row 0 1 0 0 0))
(assert (row 1 1 0 (- 2) 1))
(assert (row 2 1 1 (- 3) 1))
(assert (row 0 2 0 2 2))
(assert (row 1 2 0 0 3))
(assert (row 2 2 1 (- 1) 3))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert
  (not
    (and
      (<= 0 q0_rest 2)
      (<= 0 q1_rest 2)
      (<= 0 q2_rest 2)
      (and (distinct F0_mod I0_mod) (distinct F0_mod W0_mod) (distinct I0_mod W0_mod)))))
(check-sat)
