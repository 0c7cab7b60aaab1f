; Negative control of theorem I, a false statement: v-zb, squeezed, with the start times below: no
; I0 starts before the passes that its device runs before it have ended.
; Domain: d >= 2, (>= m d).
; Used as a negative control: every pass takes a tick longer.
; This file asks for a counterexample: the answer sat refutes the statement.
; F0 is the offset of F of chunk 0 on device i of d, F0_at its start in microbatch j of m, after
; which n others come. The passes of a device run in the order of offset + 6 times the microbatch.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const d Int)
(declare-const i Int)
(declare-const j Int)
(declare-const k Int)
(declare-const m Int)
(define-fun F0 ((i Int) (d Int)) Int (* 4 i))
(define-fun F0_div ((i Int) (d Int)) Int (div (F0 i d) 6))
(define-fun F0_mod ((i Int) (d Int)) Int (mod (F0 i d) 6))
(define-fun F1 ((i Int) (d Int)) Int (- (- (* 6 d) 5) (* 2 i)))
(define-fun F1_div ((i Int) (d Int)) Int (div (F1 i d) 6))
(define-fun F1_mod ((i Int) (d Int)) Int (mod (F1 i d) 6))
(define-fun I1 ((i Int) (d Int)) Int (+ (- (* 6 d) 4) (* 4 i)))
(define-fun I1_div ((i Int) (d Int)) Int (div (I1 i d) 6))
(define-fun I1_mod ((i Int) (d Int)) Int (mod (I1 i d) 6))
(define-fun I0 ((i Int) (d Int)) Int (- (- (* 12 d) 9) (* 2 i)))
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
(define-fun makespan ((d Int) (m Int)) Int (+ (* 6 m) (- (* 2 d) 3)))
(assert (>= d 2))
(assert (>= m d))
(define-fun positive ((a Int)) Int (ite (> a 0) a 0))
(define-fun
  F0_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (ite
    (< (+ i j) d)
    (+ i j)
    (+
      (- (+ (* 6 j) (* 3 i)) (* 6 (- d 1)))
      (* 2 (positive (- (* 2 d) 2 i j)))
      (* 2 (positive (- d 1 j))))))
(define-fun
  F1_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (ite
    (<= j i)
    (+ (* 2 j) (- (* 2 d) 1 i))
    (- (+ (- (* 6 j) (* 3 i)) 1 (* 2 (positive (- d 1 j)))) (positive (- d 1 i n)))))
(define-fun
  I1_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (- (+ (* 6 j) (* 3 i) 2 (* 2 (positive (- d 1 i j)))) (positive (- d 1 n)) (positive (- i n))))
(define-fun
  I0_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (-
    (+ (* 6 j) (- (* 6 d) (* 3 i) 3))
    (positive (- (* 2 d) 2 i n))
    (positive (- d 1 n))
    (positive (- d 1 i n))))
(define-fun
  W1_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (+ (I1_at i d j n m) (ite (< (+ i j) (- d 1)) 1 2)))
(define-fun
  W0_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (+ (I0_at i d j n m) (ite (< (+ i n) (- d 1)) 1 2)))
(assert (and (<= 0 i) (< i d) (<= 0 j) (< j m) (<= 0 k) (< k m)))
(assert
  (not
    (and
      (=>
        (< (+ (F0 i d) (* 6 k)) (+ (I0 i d) (* 6 j)))
        (>= (I0_at i d j (- m 1 j) m) (+ (F0_at i d k (- m 1 k) m) 2)))
      (=>
        (< (+ (F1 i d) (* 6 k)) (+ (I0 i d) (* 6 j)))
        (>= (I0_at i d j (- m 1 j) m) (+ (F1_at i d k (- m 1 k) m) 2)))
      (=>
        (< (+ (I1 i d) (* 6 k)) (+ (I0 i d) (* 6 j)))
        (>= (I0_at i d j (- m 1 j) m) (+ (I1_at i d k (- m 1 k) m) 2)))
      (=>
        (< (+ (I0 i d) (* 6 k)) (+ (I0 i d) (* 6 j)))
        (>= (I0_at i d j (- m 1 j) m) (+ (I0_at i d k (- m 1 k) m) 2)))
      (=>
        (< (+ (W1 i d) (* 6 k)) (+ (I0 i d) (* 6 j)))
        (>= (I0_at i d j (- m 1 j) m) (+ (W1_at i d k (- m 1 k) m) 2)))
      (=>
        (< (+ (W0 i d) (* 6 k)) (+ (I0 i d) (* 6 j)))
        (>= (I0_at i d j (- m 1 j) m) (+ (W0_at i d k (- m 1 k) m) 2))))))
(check-sat)
