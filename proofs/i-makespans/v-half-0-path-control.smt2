; Negative control of theorem I, a false statement: v-half, squeezed: there is a path of as many
; passes as the makespan has ticks, each of which waits for the one before.
; Domain: d >= 2, (>= m (+ (div d 2) 1)), d = (* 2 h).
; Used as a negative control: the path is a pass longer.
; This file asks for a counterexample: the answer sat refutes the statement.
; The path goes through stretches of passes; pass k of a stretch is on the device and of the
; microbatch that are given by k. A pass waits for another if it needs it, or if both are on one
; device and the other one comes earlier in the order of offset + 6 times the microbatch.
(set-logic QF_LIA)
(set-info :status sat)
(declare-const h Int)
(declare-const m Int)
(define-fun d () Int (* 2 h))
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
(declare-const k Int)
(assert
  (not
    (and
      (>=
        (+
          (* 1 d)
          (* 1 2)
          (* 1 2)
          (* 1 (- d 1))
          (* 1 (- d 1))
          (* 6 (- m 1 h))
          (* 5 h)
          (* 1 1)
          (* 1 d)
          (* 1 1))
        (+ (makespan d m) 1))
      (=> (and (<= 0 k) (< k d) true) (and (<= 0 k) (< k d) (<= 0 0) (< 0 m)))
      (=>
        (and (<= 0 k) (< k d) (> k 0))
        (or
          (and (= 0 0) (= k (+ (- k 1) 1)))
          (and (= (- k 1) k) (< (+ (F0 (- k 1) d) (* 6 0)) (+ (F0 k d) (* 6 0))))))
      (=> (and (<= 0 k) (< k 2) true) (and (<= 0 (- d 1 k)) (< (- d 1 k) d) (<= 0 0) (< 0 m)))
      (=>
        (and (<= 0 k) (< k 2) (> k 0))
        (or
          (and (= 0 0) (= (- d 1 k) (- (- d 1 (- k 1)) 1)))
          (and
            (= (- d 1 (- k 1)) (- d 1 k))
            (< (+ (F1 (- d 1 (- k 1)) d) (* 6 0)) (+ (F1 (- d 1 k) d) (* 6 0))))))
      (=>
        (and (<= 0 k) (< k 2) (= k 0) (> d 0))
        (or
          (and (= 0 0) (= (- d 1) (- d 1 0) (- d 1)))
          (and (= (- d 1) (- d 1 0)) (< (+ (F0 (- d 1) d) (* 6 0)) (+ (F1 (- d 1 0) d) (* 6 0))))))
      (=>
        (and (<= 0 k) (< k 2) true)
        (and (<= 0 (+ (- d 2) k)) (< (+ (- d 2) k) d) (<= 0 1) (< 1 m)))
      (=>
        (and (<= 0 k) (< k 2) (> k 0))
        (or
          (and (= 1 1) (= (+ (- d 2) k) (+ (+ (- d 2) (- k 1)) 1)))
          (and
            (= (+ (- d 2) (- k 1)) (+ (- d 2) k))
            (< (+ (F0 (+ (- d 2) (- k 1)) d) (* 6 1)) (+ (F0 (+ (- d 2) k) d) (* 6 1))))))
      (=>
        (and (<= 0 k) (< k 2) (= k 0) (> 2 0))
        (or
          (and (= 0 1) false)
          (and
            (= (- d 1 (- 2 1)) (+ (- d 2) 0))
            (< (+ (F1 (- d 1 (- 2 1)) d) (* 6 0)) (+ (F0 (+ (- d 2) 0) d) (* 6 1))))))
      (=>
        (and (<= 0 k) (< k 2) (= k 0) (<= 2 0) (> d 0))
        (or
          (and (= 0 1) (= (+ (- d 2) 0) (+ (- d 1) 1)))
          (and
            (= (- d 1) (+ (- d 2) 0))
            (< (+ (F0 (- d 1) d) (* 6 0)) (+ (F0 (+ (- d 2) 0) d) (* 6 1))))))
      (=> (and (<= 0 k) (< k (- d 1)) true) (and (<= 0 (- d 1 k)) (< (- d 1 k) d) (<= 0 1) (< 1 m)))
      (=>
        (and (<= 0 k) (< k (- d 1)) (> k 0))
        (or
          (and (= 1 1) (= (- d 1 k) (- (- d 1 (- k 1)) 1)))
          (and
            (= (- d 1 (- k 1)) (- d 1 k))
            (< (+ (F1 (- d 1 (- k 1)) d) (* 6 1)) (+ (F1 (- d 1 k) d) (* 6 1))))))
      (=>
        (and (<= 0 k) (< k (- d 1)) (= k 0) (> 2 0))
        (or
          (and (= 1 1) (= (+ (- d 2) (- 2 1)) (- d 1 0) (- d 1)))
          (and
            (= (+ (- d 2) (- 2 1)) (- d 1 0))
            (< (+ (F0 (+ (- d 2) (- 2 1)) d) (* 6 1)) (+ (F1 (- d 1 0) d) (* 6 1))))))
      (=>
        (and (<= 0 k) (< k (- d 1)) (= k 0) (<= 2 0) (> 2 0))
        (or
          (and (= 0 1) (= (- d 1 0) (- (- d 1 (- 2 1)) 1)))
          (and
            (= (- d 1 (- 2 1)) (- d 1 0))
            (< (+ (F1 (- d 1 (- 2 1)) d) (* 6 0)) (+ (F1 (- d 1 0) d) (* 6 1))))))
      (=>
        (and (<= 0 k) (< k (- d 1)) (= k 0) (<= 2 0) (<= 2 0) (> d 0))
        (or
          (and (= 0 1) (= (- d 1) (- d 1 0) (- d 1)))
          (and (= (- d 1) (- d 1 0)) (< (+ (F0 (- d 1) d) (* 6 0)) (+ (F1 (- d 1 0) d) (* 6 1))))))
      (=> (and (<= 0 k) (< k (- d 1)) true) (and (<= 0 (+ 1 k)) (< (+ 1 k) d) (<= 0 0) (< 0 m)))
      (=>
        (and (<= 0 k) (< k (- d 1)) (> k 0))
        (or
          (and (= 0 0) (= (+ 1 k) (+ (+ 1 (- k 1)) 1)))
          (and
            (= (+ 1 (- k 1)) (+ 1 k))
            (< (+ (I1 (+ 1 (- k 1)) d) (* 6 0)) (+ (I1 (+ 1 k) d) (* 6 0))))))
      (=>
        (and (<= 0 k) (< k (- d 1)) (= k 0) (> (- d 1) 0))
        (or
          (and (= 1 0) (= (- d 1 (- (- d 1) 1)) (+ 1 0) 0))
          (and
            (= (- d 1 (- (- d 1) 1)) (+ 1 0))
            (< (+ (F1 (- d 1 (- (- d 1) 1)) d) (* 6 1)) (+ (I1 (+ 1 0) d) (* 6 0))))))
      (=>
        (and (<= 0 k) (< k (- d 1)) (= k 0) (<= (- d 1) 0) (> 2 0))
        (or
          (and (= 1 0) false)
          (and
            (= (+ (- d 2) (- 2 1)) (+ 1 0))
            (< (+ (F0 (+ (- d 2) (- 2 1)) d) (* 6 1)) (+ (I1 (+ 1 0) d) (* 6 0))))))
      (=>
        (and (<= 0 k) (< k (- d 1)) (= k 0) (<= (- d 1) 0) (<= 2 0) (> 2 0))
        (or
          (and (= 0 0) (= (- d 1 (- 2 1)) (+ 1 0) 0))
          (and
            (= (- d 1 (- 2 1)) (+ 1 0))
            (< (+ (F1 (- d 1 (- 2 1)) d) (* 6 0)) (+ (I1 (+ 1 0) d) (* 6 0))))))
      (=>
        (and (<= 0 k) (< k (- d 1)) (= k 0) (<= (- d 1) 0) (<= 2 0) (<= 2 0) (> d 0))
        (or
          (and (= 0 0) false)
          (and (= (- d 1) (+ 1 0)) (< (+ (F0 (- d 1) d) (* 6 0)) (+ (I1 (+ 1 0) d) (* 6 0))))))
      (=> (and (<= 0 k) (< k (- m 1 h)) true) (and (<= 0 (- d 1)) (< (- d 1) d) (<= 0 k) (< k m)))
      (=> (and (<= 0 k) (< k (- m 1 h)) true) (and (<= 0 (- d 1)) (< (- d 1) d) (<= 0 k) (< k m)))
      (=> (and (<= 0 k) (< k (- m 1 h)) true) (and (<= 0 (- d 1)) (< (- d 1) d) (<= 0 k) (< k m)))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) true)
        (and (<= 0 (- d 1)) (< (- d 1) d) (<= 0 (+ k h 1)) (< (+ k h 1) m)))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) true)
        (and (<= 0 (- d 1)) (< (- d 1) d) (<= 0 (+ k h 1)) (< (+ k h 1) m)))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) true)
        (and (<= 0 (- d 1)) (< (- d 1) d) (<= 0 (+ k 1)) (< (+ k 1) m)))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) true)
        (or
          (and (= k k) false)
          (and (= (- d 1) (- d 1)) (< (+ (W1 (- d 1) d) (* 6 k)) (+ (I0 (- d 1) d) (* 6 k))))))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) true)
        (or
          (and (= k k) false)
          (and (= (- d 1) (- d 1)) (< (+ (I0 (- d 1) d) (* 6 k)) (+ (W0 (- d 1) d) (* 6 k))))))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) true)
        (or
          (and (= k (+ k h 1)) false)
          (and
            (= (- d 1) (- d 1))
            (< (+ (W0 (- d 1) d) (* 6 k)) (+ (F0 (- d 1) d) (* 6 (+ k h 1)))))))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) true)
        (or
          (and (= (+ k h 1) (+ k h 1)) (= (- d 1) (- d 1) (- d 1)))
          (and
            (= (- d 1) (- d 1))
            (< (+ (F0 (- d 1) d) (* 6 (+ k h 1))) (+ (F1 (- d 1) d) (* 6 (+ k h 1)))))))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) true)
        (or
          (and (= (+ k h 1) (+ k 1)) (= (- d 1) (- d 1) 0))
          (and
            (= (- d 1) (- d 1))
            (< (+ (F1 (- d 1) d) (* 6 (+ k h 1))) (+ (I1 (- d 1) d) (* 6 (+ k 1)))))))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) (> k 0))
        (or
          (and (= (+ (- k 1) 1) k) false)
          (and
            (= (- d 1) (- d 1))
            (< (+ (I1 (- d 1) d) (* 6 (+ (- k 1) 1))) (+ (W1 (- d 1) d) (* 6 k))))))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) (= k 0) (> (- d 1) 0))
        (or
          (and (= 0 0) false)
          (and
            (= (+ 1 (- (- d 1) 1)) (- d 1))
            (< (+ (I1 (+ 1 (- (- d 1) 1)) d) (* 6 0)) (+ (W1 (- d 1) d) (* 6 0))))))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) (= k 0) (<= (- d 1) 0) (> (- d 1) 0))
        (or
          (and (= 1 0) false)
          (and
            (= (- d 1 (- (- d 1) 1)) (- d 1))
            (< (+ (F1 (- d 1 (- (- d 1) 1)) d) (* 6 1)) (+ (W1 (- d 1) d) (* 6 0))))))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) (= k 0) (<= (- d 1) 0) (<= (- d 1) 0) (> 2 0))
        (or
          (and (= 1 0) false)
          (and
            (= (+ (- d 2) (- 2 1)) (- d 1))
            (< (+ (F0 (+ (- d 2) (- 2 1)) d) (* 6 1)) (+ (W1 (- d 1) d) (* 6 0))))))
      (=>
        (and (<= 0 k) (< k (- m 1 h)) (= k 0) (<= (- d 1) 0) (<= (- d 1) 0) (<= 2 0) (> 2 0))
        (or
          (and (= 0 0) false)
          (and
            (= (- d 1 (- 2 1)) (- d 1))
            (< (+ (F1 (- d 1 (- 2 1)) d) (* 6 0)) (+ (W1 (- d 1) d) (* 6 0))))))
      (=>
        (and
          (<= 0 k)
          (< k (- m 1 h))
          (= k 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (<= 2 0)
          (<= 2 0)
          (> d 0))
        (or
          (and (= 0 0) false)
          (and (= (- d 1) (- d 1)) (< (+ (F0 (- d 1) d) (* 6 0)) (+ (W1 (- d 1) d) (* 6 0))))))
      (=>
        (and (<= 0 k) (< k h) true)
        (and (<= 0 (- d 1)) (< (- d 1) d) (<= 0 (+ (- m 1 h) k)) (< (+ (- m 1 h) k) m)))
      (=>
        (and (<= 0 k) (< k h) true)
        (and (<= 0 (- d 1)) (< (- d 1) d) (<= 0 (+ (- m 1 h) k)) (< (+ (- m 1 h) k) m)))
      (=>
        (and (<= 0 k) (< k h) true)
        (and (<= 0 (- d 2)) (< (- d 2) d) (<= 0 (+ (- m 1 h) k)) (< (+ (- m 1 h) k) m)))
      (=>
        (and (<= 0 k) (< k h) true)
        (and (<= 0 (- d 2)) (< (- d 2) d) (<= 0 (+ (- m h) k)) (< (+ (- m h) k) m)))
      (=>
        (and (<= 0 k) (< k h) true)
        (and (<= 0 (- d 1)) (< (- d 1) d) (<= 0 (+ (- m h) k)) (< (+ (- m h) k) m)))
      (=>
        (and (<= 0 k) (< k h) true)
        (or
          (and (= (+ (- m 1 h) k) (+ (- m 1 h) k)) false)
          (and
            (= (- d 1) (- d 1))
            (< (+ (W1 (- d 1) d) (* 6 (+ (- m 1 h) k))) (+ (I0 (- d 1) d) (* 6 (+ (- m 1 h) k)))))))
      (=>
        (and (<= 0 k) (< k h) true)
        (or
          (and (= (+ (- m 1 h) k) (+ (- m 1 h) k)) (= (- d 2) (- (- d 1) 1)))
          (and
            (= (- d 1) (- d 2))
            (< (+ (I0 (- d 1) d) (* 6 (+ (- m 1 h) k))) (+ (I0 (- d 2) d) (* 6 (+ (- m 1 h) k)))))))
      (=>
        (and (<= 0 k) (< k h) true)
        (or
          (and (= (+ (- m 1 h) k) (+ (- m h) k)) false)
          (and
            (= (- d 2) (- d 2))
            (< (+ (I0 (- d 2) d) (* 6 (+ (- m 1 h) k))) (+ (I1 (- d 2) d) (* 6 (+ (- m h) k)))))))
      (=>
        (and (<= 0 k) (< k h) true)
        (or
          (and (= (+ (- m h) k) (+ (- m h) k)) (= (- d 1) (+ (- d 2) 1)))
          (and
            (= (- d 2) (- d 1))
            (< (+ (I1 (- d 2) d) (* 6 (+ (- m h) k))) (+ (I1 (- d 1) d) (* 6 (+ (- m h) k)))))))
      (=>
        (and (<= 0 k) (< k h) (> k 0))
        (or
          (and (= (+ (- m h) (- k 1)) (+ (- m 1 h) k)) false)
          (and
            (= (- d 1) (- d 1))
            (<
              (+ (I1 (- d 1) d) (* 6 (+ (- m h) (- k 1))))
              (+ (W1 (- d 1) d) (* 6 (+ (- m 1 h) k)))))))
      (=>
        (and (<= 0 k) (< k h) (= k 0) (> (- m 1 h) 0))
        (or
          (and (= (+ (- (- m 1 h) 1) 1) (+ (- m 1 h) 0)) false)
          (and
            (= (- d 1) (- d 1))
            (<
              (+ (I1 (- d 1) d) (* 6 (+ (- (- m 1 h) 1) 1)))
              (+ (W1 (- d 1) d) (* 6 (+ (- m 1 h) 0)))))))
      (=>
        (and (<= 0 k) (< k h) (= k 0) (<= (- m 1 h) 0) (> (- d 1) 0))
        (or
          (and (= 0 (+ (- m 1 h) 0)) false)
          (and
            (= (+ 1 (- (- d 1) 1)) (- d 1))
            (< (+ (I1 (+ 1 (- (- d 1) 1)) d) (* 6 0)) (+ (W1 (- d 1) d) (* 6 (+ (- m 1 h) 0)))))))
      (=>
        (and (<= 0 k) (< k h) (= k 0) (<= (- m 1 h) 0) (<= (- d 1) 0) (> (- d 1) 0))
        (or
          (and (= 1 (+ (- m 1 h) 0)) false)
          (and
            (= (- d 1 (- (- d 1) 1)) (- d 1))
            (< (+ (F1 (- d 1 (- (- d 1) 1)) d) (* 6 1)) (+ (W1 (- d 1) d) (* 6 (+ (- m 1 h) 0)))))))
      (=>
        (and (<= 0 k) (< k h) (= k 0) (<= (- m 1 h) 0) (<= (- d 1) 0) (<= (- d 1) 0) (> 2 0))
        (or
          (and (= 1 (+ (- m 1 h) 0)) false)
          (and
            (= (+ (- d 2) (- 2 1)) (- d 1))
            (< (+ (F0 (+ (- d 2) (- 2 1)) d) (* 6 1)) (+ (W1 (- d 1) d) (* 6 (+ (- m 1 h) 0)))))))
      (=>
        (and
          (<= 0 k)
          (< k h)
          (= k 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (<= 2 0)
          (> 2 0))
        (or
          (and (= 0 (+ (- m 1 h) 0)) false)
          (and
            (= (- d 1 (- 2 1)) (- d 1))
            (< (+ (F1 (- d 1 (- 2 1)) d) (* 6 0)) (+ (W1 (- d 1) d) (* 6 (+ (- m 1 h) 0)))))))
      (=>
        (and
          (<= 0 k)
          (< k h)
          (= k 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (<= 2 0)
          (<= 2 0)
          (> d 0))
        (or
          (and (= 0 (+ (- m 1 h) 0)) false)
          (and
            (= (- d 1) (- d 1))
            (< (+ (F0 (- d 1) d) (* 6 0)) (+ (W1 (- d 1) d) (* 6 (+ (- m 1 h) 0)))))))
      (=>
        (and (<= 0 k) (< k 1) true)
        (and (<= 0 (- d 1)) (< (- d 1) d) (<= 0 (- m 1)) (< (- m 1) m)))
      (=>
        (and (<= 0 k) (< k 1) (> k 0))
        (or
          (and (= (- m 1) (- m 1)) false)
          (and
            (= (- d 1) (- d 1))
            (< (+ (W1 (- d 1) d) (* 6 (- m 1))) (+ (W1 (- d 1) d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k 1) (= k 0) (> h 0))
        (or
          (and (= (+ (- m h) (- h 1)) (- m 1)) false)
          (and
            (= (- d 1) (- d 1))
            (< (+ (I1 (- d 1) d) (* 6 (+ (- m h) (- h 1)))) (+ (W1 (- d 1) d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k 1) (= k 0) (<= h 0) (> (- m 1 h) 0))
        (or
          (and (= (+ (- (- m 1 h) 1) 1) (- m 1)) false)
          (and
            (= (- d 1) (- d 1))
            (< (+ (I1 (- d 1) d) (* 6 (+ (- (- m 1 h) 1) 1))) (+ (W1 (- d 1) d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k 1) (= k 0) (<= h 0) (<= (- m 1 h) 0) (> (- d 1) 0))
        (or
          (and (= 0 (- m 1)) false)
          (and
            (= (+ 1 (- (- d 1) 1)) (- d 1))
            (< (+ (I1 (+ 1 (- (- d 1) 1)) d) (* 6 0)) (+ (W1 (- d 1) d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k 1) (= k 0) (<= h 0) (<= (- m 1 h) 0) (<= (- d 1) 0) (> (- d 1) 0))
        (or
          (and (= 1 (- m 1)) false)
          (and
            (= (- d 1 (- (- d 1) 1)) (- d 1))
            (< (+ (F1 (- d 1 (- (- d 1) 1)) d) (* 6 1)) (+ (W1 (- d 1) d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k 1)
          (= k 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (> 2 0))
        (or
          (and (= 1 (- m 1)) false)
          (and
            (= (+ (- d 2) (- 2 1)) (- d 1))
            (< (+ (F0 (+ (- d 2) (- 2 1)) d) (* 6 1)) (+ (W1 (- d 1) d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k 1)
          (= k 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (<= 2 0)
          (> 2 0))
        (or
          (and (= 0 (- m 1)) false)
          (and
            (= (- d 1 (- 2 1)) (- d 1))
            (< (+ (F1 (- d 1 (- 2 1)) d) (* 6 0)) (+ (W1 (- d 1) d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k 1)
          (= k 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (<= 2 0)
          (<= 2 0)
          (> d 0))
        (or
          (and (= 0 (- m 1)) false)
          (and (= (- d 1) (- d 1)) (< (+ (F0 (- d 1) d) (* 6 0)) (+ (W1 (- d 1) d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k d) true)
        (and (<= 0 (- d 1 k)) (< (- d 1 k) d) (<= 0 (- m 1)) (< (- m 1) m)))
      (=>
        (and (<= 0 k) (< k d) (> k 0))
        (or
          (and (= (- m 1) (- m 1)) (= (- d 1 k) (- (- d 1 (- k 1)) 1)))
          (and
            (= (- d 1 (- k 1)) (- d 1 k))
            (< (+ (I0 (- d 1 (- k 1)) d) (* 6 (- m 1))) (+ (I0 (- d 1 k) d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k d) (= k 0) (> 1 0))
        (or
          (and (= (- m 1) (- m 1)) false)
          (and
            (= (- d 1) (- d 1 0))
            (< (+ (W1 (- d 1) d) (* 6 (- m 1))) (+ (I0 (- d 1 0) d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k d) (= k 0) (<= 1 0) (> h 0))
        (or
          (and (= (+ (- m h) (- h 1)) (- m 1)) (= (- d 1) (- d 1 0) (- d 1)))
          (and
            (= (- d 1) (- d 1 0))
            (< (+ (I1 (- d 1) d) (* 6 (+ (- m h) (- h 1)))) (+ (I0 (- d 1 0) d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k d) (= k 0) (<= 1 0) (<= h 0) (> (- m 1 h) 0))
        (or
          (and (= (+ (- (- m 1 h) 1) 1) (- m 1)) (= (- d 1) (- d 1 0) (- d 1)))
          (and
            (= (- d 1) (- d 1 0))
            (< (+ (I1 (- d 1) d) (* 6 (+ (- (- m 1 h) 1) 1))) (+ (I0 (- d 1 0) d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k d) (= k 0) (<= 1 0) (<= h 0) (<= (- m 1 h) 0) (> (- d 1) 0))
        (or
          (and (= 0 (- m 1)) (= (+ 1 (- (- d 1) 1)) (- d 1 0) (- d 1)))
          (and
            (= (+ 1 (- (- d 1) 1)) (- d 1 0))
            (< (+ (I1 (+ 1 (- (- d 1) 1)) d) (* 6 0)) (+ (I0 (- d 1 0) d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k d)
          (= k 0)
          (<= 1 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (> (- d 1) 0))
        (or
          (and (= 1 (- m 1)) false)
          (and
            (= (- d 1 (- (- d 1) 1)) (- d 1 0))
            (< (+ (F1 (- d 1 (- (- d 1) 1)) d) (* 6 1)) (+ (I0 (- d 1 0) d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k d)
          (= k 0)
          (<= 1 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (> 2 0))
        (or
          (and (= 1 (- m 1)) false)
          (and
            (= (+ (- d 2) (- 2 1)) (- d 1 0))
            (< (+ (F0 (+ (- d 2) (- 2 1)) d) (* 6 1)) (+ (I0 (- d 1 0) d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k d)
          (= k 0)
          (<= 1 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (<= 2 0)
          (> 2 0))
        (or
          (and (= 0 (- m 1)) false)
          (and
            (= (- d 1 (- 2 1)) (- d 1 0))
            (< (+ (F1 (- d 1 (- 2 1)) d) (* 6 0)) (+ (I0 (- d 1 0) d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k d)
          (= k 0)
          (<= 1 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (<= 2 0)
          (<= 2 0)
          (> d 0))
        (or
          (and (= 0 (- m 1)) false)
          (and
            (= (- d 1) (- d 1 0))
            (< (+ (F0 (- d 1) d) (* 6 0)) (+ (I0 (- d 1 0) d) (* 6 (- m 1)))))))
      (=> (and (<= 0 k) (< k 1) true) (and (<= 0 0) (< 0 d) (<= 0 (- m 1)) (< (- m 1) m)))
      (=>
        (and (<= 0 k) (< k 1) (> k 0))
        (or
          (and (= (- m 1) (- m 1)) false)
          (and (= 0 0) (< (+ (W0 0 d) (* 6 (- m 1))) (+ (W0 0 d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k 1) (= k 0) (> d 0))
        (or
          (and (= (- m 1) (- m 1)) false)
          (and
            (= (- d 1 (- d 1)) 0)
            (< (+ (I0 (- d 1 (- d 1)) d) (* 6 (- m 1))) (+ (W0 0 d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k 1) (= k 0) (<= d 0) (> 1 0))
        (or
          (and (= (- m 1) (- m 1)) false)
          (and (= (- d 1) 0) (< (+ (W1 (- d 1) d) (* 6 (- m 1))) (+ (W0 0 d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k 1) (= k 0) (<= d 0) (<= 1 0) (> h 0))
        (or
          (and (= (+ (- m h) (- h 1)) (- m 1)) false)
          (and
            (= (- d 1) 0)
            (< (+ (I1 (- d 1) d) (* 6 (+ (- m h) (- h 1)))) (+ (W0 0 d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k 1) (= k 0) (<= d 0) (<= 1 0) (<= h 0) (> (- m 1 h) 0))
        (or
          (and (= (+ (- (- m 1 h) 1) 1) (- m 1)) false)
          (and
            (= (- d 1) 0)
            (< (+ (I1 (- d 1) d) (* 6 (+ (- (- m 1 h) 1) 1))) (+ (W0 0 d) (* 6 (- m 1)))))))
      (=>
        (and (<= 0 k) (< k 1) (= k 0) (<= d 0) (<= 1 0) (<= h 0) (<= (- m 1 h) 0) (> (- d 1) 0))
        (or
          (and (= 0 (- m 1)) false)
          (and
            (= (+ 1 (- (- d 1) 1)) 0)
            (< (+ (I1 (+ 1 (- (- d 1) 1)) d) (* 6 0)) (+ (W0 0 d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k 1)
          (= k 0)
          (<= d 0)
          (<= 1 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (> (- d 1) 0))
        (or
          (and (= 1 (- m 1)) false)
          (and
            (= (- d 1 (- (- d 1) 1)) 0)
            (< (+ (F1 (- d 1 (- (- d 1) 1)) d) (* 6 1)) (+ (W0 0 d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k 1)
          (= k 0)
          (<= d 0)
          (<= 1 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (> 2 0))
        (or
          (and (= 1 (- m 1)) false)
          (and
            (= (+ (- d 2) (- 2 1)) 0)
            (< (+ (F0 (+ (- d 2) (- 2 1)) d) (* 6 1)) (+ (W0 0 d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k 1)
          (= k 0)
          (<= d 0)
          (<= 1 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (<= 2 0)
          (> 2 0))
        (or
          (and (= 0 (- m 1)) false)
          (and
            (= (- d 1 (- 2 1)) 0)
            (< (+ (F1 (- d 1 (- 2 1)) d) (* 6 0)) (+ (W0 0 d) (* 6 (- m 1)))))))
      (=>
        (and
          (<= 0 k)
          (< k 1)
          (= k 0)
          (<= d 0)
          (<= 1 0)
          (<= h 0)
          (<= (- m 1 h) 0)
          (<= (- d 1) 0)
          (<= (- d 1) 0)
          (<= 2 0)
          (<= 2 0)
          (> d 0))
        (or
          (and (= 0 (- m 1)) false)
          (and (= (- d 1) 0) (< (+ (F0 (- d 1) d) (* 6 0)) (+ (W0 0 d) (* 6 (- m 1))))))))))
(check-sat)
