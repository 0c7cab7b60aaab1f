; Family 1f1b: for every d with d >= 1: the peak of a device is at most the sum over its chunks of
; their lifespans divided by the interval, rounded up, less 1.
; Used as a negative control of theorem C, which must be refuted: the bound is 1 less.
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
(define-fun F0 () Int i)
(declare-const c0 Int)
(define-fun q0 () Int (+ (* 1 a) (* 0 b) c0))
(define-fun q0_rest () Int (- F0 (* 3 q0)))
(define-fun F0_div () Int q0)
(define-fun F0_mod () Int q0_rest)
(define-fun I0 () Int (- (- (* 3 d) 2) (* 2 i)))
(define-fun W0 () Int (- (- (* 3 d) 1) (* 2 i)))
(declare-const c1 Int)
(define-fun q1 () Int (+ (* (- 2) a) (* 3 b) c1))
(define-fun q1_rest () Int (- W0 (* 3 q1)))
(define-fun W0_div () Int q1)
(define-fun W0_mod () Int q1_rest)
(define-fun
  F0_live
  ()
  Int
  (+
    1
    0
    (*
      (- 1)
      (+
        (- F0_div W0_div)
        (ite (or (< W0_mod F0_mod) (and (= W0_mod F0_mod) (< (- F0_div W0_div) 0))) 1 0)))))
(define-fun peak () Int F0_live)
(declare-const c2 Int)
(define-fun q2 () Int (+ (* (- 3) a) (* 3 b) c2))
(define-fun q2_rest () Int (- (+ (- (ite (>= (+ I0 1) (+ W0 1)) (+ I0 1) (+ W0 1)) F0) 2) (* 3 q2)))
(define-fun
  row
  ((r0 Int) (s0 Int) (x0 Int) (x1 Int) (x2 Int))
  Bool
  (=> (and (= r r0) (= s s0)) (and (= c0 x0) (= c1 x1) (= c2 x2))))
(assert (row 0 0 0 (- 1) 0))
(assert (row 1 0 0 (- 1) (- 1)))
(assert (row 2 0 0 (- 2) (- 2)))
(assert (row 0 1 0 0 1))
(assert (row 1 1 0 0 0))
(assert (row 2 1 0 (- 1) (- 1)))
(assert (row 0 2 0 1 2))
(assert (row 1 2 0 1 1))
(assert (row 2 2 0 0 0))
(assert (and (>= i 0) (< i d)))
(assert (>= d 1))
(assert
  (not
    (and (<= 0 q0_rest 2) (<= 0 q1_rest 2) (<= 0 q2_rest 2) (<= peak (- (ite (>= q2 1) q2 1) 1)))))
(check-sat)
