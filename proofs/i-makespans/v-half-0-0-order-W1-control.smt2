; Negative control of theorem I, a false statement: v-half, squeezed, with the start times below: no
; W1 starts before the passes that its device runs before it have ended.
; Domain: d >= 2, (>= m (+ (div d 2) 1)), d = (* 2 h), i = (* 2 g).
; Used as a negative control: every pass takes a tick longer.
; This file asks for a counterexample: the answer sat refutes the statement.
; F0 is the offset of F of chunk 0 on device i of d, F0_at its start in microbatch j of m, after
; which n others come. The passes of a device run in the order of offset + 6 times the microbatch.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const g Int)
(declare-const h Int)
(declare-const j Int)
(declare-const k Int)
(declare-const m Int)
(define-fun d () Int (* 2 h))
(define-fun i () Int (* 2 g))
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
(define-fun
  makespan
  ((d Int) (m Int))
  Int
  (+ (* 6 m) (ite (= (mod d 2) 0) (- (* 7 (div d 2)) 2) (* 7 (div d 2)))))
(assert (>= d 2))
(assert (>= m (+ (div d 2) 1)))
(define-fun larger ((a Int) (b Int)) Int (ite (>= a b) a b))
(define-fun smaller ((a Int) (b Int)) Int (ite (<= a b) a b))
(define-fun
  I1_head
  ((i Int) (d Int) (j Int))
  Int
  (+ (larger (+ (* 6 j) (div (+ (* 3 (+ i d)) 1) 2)) (+ (* 5 j) i (* 2 d))) (- 2 (* 2 (mod d 2)))))
(define-fun
  I0_head
  ((i Int) (d Int) (j Int))
  Int
  (+ (* 6 j) (div (+ (- (* 9 d) (* 3 i)) 1) 2) (- 1 (* 2 (mod d 2)))))
(define-fun I1_tail ((i Int) (d Int) (n Int)) Int (+ (- (* 2 d) i) (* 5 n) 2))
(define-fun
  I0_tail
  ((i Int) (d Int) (n Int))
  Int
  (ite (< (+ i (* 2 n)) d) (+ i (* 2 n) 2) (+ (* 5 n) (div (- (* 3 i) d) 2) 3)))
(define-fun
  W1_tail
  ((i Int) (d Int) (n Int))
  Int
  (ite (= n 0) (+ d 2) (+ (- (* 2 d) i) (mod (+ i d) 2) (* 5 n))))
(define-fun
  W0_tail
  ((i Int) (d Int) (n Int))
  Int
  (ite
    (= n 0)
    1
    (ite
      (<= (+ i (* 2 n)) d)
      (+ i (* 2 n) 1)
      (+ (* 5 n) (div (+ (- (* 3 i) d) 1) 2) (- (mod (+ i d) 2) 1)))))
(define-fun
  F0_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (ite
    (< (+ i (* 2 j)) d)
    (+ i j)
    (larger
      (larger (+ i (* 4 j)) (- (+ i (* 5 j)) (div d 2)))
      (+ (- (* 6 j) (div (* 3 (- d i)) 2)) (mod d 2)))))
(define-fun
  F1_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (larger
    (larger
      (+ (- (* 2 d) i 1) (* 4 j))
      (+ (- (* 2 d) 1 (div (- (+ (* 3 i) 1) (mod d 2)) 2)) (* 5 j)))
    (+ (* 6 j) (div (+ (* 3 (- d i)) 1) 2) (- (mod d 2) 2))))
(define-fun
  I1_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (smaller (I1_head i d j) (- (makespan d m) (I1_tail i d n))))
(define-fun
  I0_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (smaller (I0_head i d j) (- (makespan d m) (I0_tail i d n))))
(define-fun
  W1_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (smaller (+ (I1_head i d j) 1) (- (makespan d m) (W1_tail i d n))))
(define-fun
  W0_at
  ((i Int) (d Int) (j Int) (n Int) (m Int))
  Int
  (smaller (+ (I0_head i d j) (ite (= (mod (+ i d) 2) 0) 4 1)) (- (makespan d m) (W0_tail i d n))))
(assert (and (<= 0 i) (< i d) (<= 0 j) (< j m) (<= 0 k) (< k m)))
(assert
  (not
    (and
      (=>
        (< (+ (F0 i d) (* 6 k)) (+ (W1 i d) (* 6 j)))
        (>= (W1_at i d j (- m 1 j) m) (+ (F0_at i d k (- m 1 k) m) 2)))
      (=>
        (< (+ (F1 i d) (* 6 k)) (+ (W1 i d) (* 6 j)))
        (>= (W1_at i d j (- m 1 j) m) (+ (F1_at i d k (- m 1 k) m) 2)))
      (=>
        (< (+ (I1 i d) (* 6 k)) (+ (W1 i d) (* 6 j)))
        (>= (W1_at i d j (- m 1 j) m) (+ (I1_at i d k (- m 1 k) m) 2)))
      (=>
        (< (+ (I0 i d) (* 6 k)) (+ (W1 i d) (* 6 j)))
        (>= (W1_at i d j (- m 1 j) m) (+ (I0_at i d k (- m 1 k) m) 2)))
      (=>
        (< (+ (W1 i d) (* 6 k)) (+ (W1 i d) (* 6 j)))
        (>= (W1_at i d j (- m 1 j) m) (+ (W1_at i d k (- m 1 k) m) 2)))
      (=>
        (< (+ (W0 i d) (* 6 k)) (+ (W1 i d) (* 6 j)))
        (>= (W1_at i d j (- m 1 j) m) (+ (W0_at i d k (- m 1 k) m) 2))))))
(check-sat)
