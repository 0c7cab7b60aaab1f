; Negative control of theorem J, a false statement: a device on which I starts at least nS + tF
; after F holds at least n+2 stage activations: W ends more than (n+1)S after F has started.
; Domain: n >= 0, any tW.
; Used as a negative control: 1F1B holds one less.
; This file asks for a counterexample: the answer sat refutes the statement.
; S is the interval. nS stands for n intervals, where n is the number of devices that follow the
; device behind this one. L is the time from the start of F to the start of I on this device, M the
; same on the device behind, w the time from F to W. L is (n+z)S, and tF or tF + tW more, with an
; integer z: zS is z intervals, none or fewer, one, or two and more. The last pass of the interval
; is W in the first case, I in the second. Likewise w is (n+y)S and tF + tI or tF more.
(set-logic QF_LRA)
(set-info :status sat)
(declare-const tF Real)
(declare-const tI Real)
(declare-const tW Real)
(declare-const nS Real)
(declare-const L Real)
(declare-const M Real)
(declare-const w Real)
(declare-const zS Real)
(declare-const yS Real)
(define-fun S () Real (+ tF tI tW))
(assert (and (> tF 0) (> tI 0) (> tW 0) (>= nS 0)))
(assert (or (<= zS 0) (= zS S) (>= zS (* 2 S))))
(assert (or (<= yS 0) (= yS S) (>= yS (* 2 S))))
(assert (>= L tF))
(assert (>= w (+ L tI)))
(assert
  (or (and (= L (+ nS zS tF)) (= w (+ nS yS tF tI))) (and (= L (+ nS zS tF tW)) (= w (+ nS yS tF)))))
(assert (>= L (+ nS tF)))
(assert (not (> (+ w tW) (+ nS S))))
(check-sat)
