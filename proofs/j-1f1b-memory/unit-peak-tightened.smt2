; Negative control of theorem J, a false statement: a device on which I starts at least 3n+1 ticks
; after F holds at least n+2 stage activations.
; Domain: n >= 0, unit times.
; Used as a negative control: 1F1B holds one less.
; This file asks for a counterexample: the answer sat refutes the statement.
; F0_2 is the offset of F of chunk 0 on device 2 of the window, in ticks. k_F0_I1_2 is the number of
; intervals of 3 ticks by which copies of I1 are put off to follow a copy of F0 there, before the
; next one: 1 <= I1_2 - F0_2 + 3*k <= 2. While F0 starts, 1 - k_F0_W1 - k_F1_F0 copies of chunk 1
; are live, and 1 - k_F0_W0 of chunk 0.
; n is the number of devices that follow device 0 of the window.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const n Int)
(assert (>= n 0))
(declare-const F0_0 Int)
(declare-const I0_0 Int)
(declare-const W0_0 Int)
(declare-const k_F0_I0_0 Int)
(assert (<= 1 (+ (- I0_0 F0_0) (* 3 k_F0_I0_0)) 2))
(declare-const k_F0_W0_0 Int)
(assert (<= 1 (+ (- W0_0 F0_0) (* 3 k_F0_W0_0)) 2))
(declare-const k_I0_W0_0 Int)
(assert (<= 1 (+ (- W0_0 I0_0) (* 3 k_I0_W0_0)) 2))
(assert (>= (- I0_0 F0_0) 1))
(assert (>= (- W0_0 I0_0) 1))
(assert (>= (- I0_0 F0_0) (+ (* 3 n) 1)))
(assert (not (>= (- 1 k_F0_W0_0) (+ n 2))))
(check-sat)
