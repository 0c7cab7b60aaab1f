(** * Memory: what a device holds is a function of its order

    This file is about the memory of the devices of a pipeline.

    - [peak] is the most that a device holds along its order: it holds that much while some pass runs, and never more
      ([held_at_most_peak], [peak_is_held]). So a program decides whether a schedule stays within the capacities
      ([fits_iff_within_capacity]).
    - [live] says what a device holds at an instant of an execution. While a pass runs, this is what the order says
      ([live_while_running]), in every execution. At no instant is it more than the peak of the order ([live_at_most_peak]),
      and where passes take time it reaches the peak ([peak_reached]). So start times do not matter for memory, and a
      schedule that fits cannot run out of memory however late its passes start ([never_over_capacity]).

    Why it matters: a checker can judge memory by looking at each order once, without any times.

    A pass that takes no time acquires and releases at the same instant, and [live] counts both. So the momentary need of
    such a pass shows in [held], but not in [live]: [peak_reached] is about passes that take time.

    What is not proved: anything about workspaces, buffers, gathered weights, offloading or recomputation. *)

From Coq Require Import ZArith List Lia Bool.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Import ListNotations.
Open Scope Z_scope.

(** ** The program *)

(** A device without passes holds nothing, and fits into any capacity. *)
Definition device_fits (M : model) (d : nat) (l : list pass) : bool :=
  match capacity M d, l with
  | Some limit, _ :: _ => peak M l <=? limit
  | _, _ => true
  end.

Definition fits (M : model) (S : schedule) : bool :=
  forallb (fun d => device_fits M d (S d)) (seq 0 (devices M)).

(** ** What a device holds at an instant *)

(** What a list of passes holds at x: a pass has acquired once it has started, and has released once it has ended. So what is
    released at x is gone, and what is acquired at x is there. *)
Definition live (M : model) (start : pass -> Z) (l : list pass) (x : Z) : Z :=
  sum (fun p => (if start p <=? x then acquires M p else 0) -
                (if start p + time_of M p <=? x then releases M p else 0)) l.

Section Memory.
  Variable M : model.
  Hypothesis Well : well_formed M.

  Lemma acquires_nonneg : forall p, 0 <= acquires M p.
  Proof.
    intros p. destruct Well as [_ [_ [_ [_ amounts]]]]. specialize (amounts (stage_of p)).
    unfold acquires. destruct (kind_of p); lia.
  Qed.

  Lemma releases_nonneg : forall p, 0 <= releases M p.
  Proof.
    intros p. destruct Well as [_ [_ [_ [_ amounts]]]]. specialize (amounts (stage_of p)).
    unfold releases. destruct (kind_of p); lia.
  Qed.

  Lemma kept_cons : forall p l, kept M (p :: l) = acquires M p - releases M p + kept M l.
  Proof. reflexivity. Qed.

  Lemma held_cons : forall p l q, held M (p :: l) q = acquires M p - releases M p + held M l q.
  Proof. intros p l q. unfold held. rewrite kept_cons. lia. Qed.

  Lemma peak_from_held : forall done p rest now, now + held M done p <= peak_from M now (done ++ p :: rest).
  Proof.
    intros done. induction done as [| q done IH]; intros p rest now; cbn [app peak_from].
    - unfold held, kept. cbn [sum]. lia.
    - rewrite held_cons. specialize (IH p rest (now + acquires M q - releases M q)). lia.
  Qed.

  Lemma peak_from_kept : forall done rest now, now + kept M done <= peak_from M now (done ++ rest).
  Proof.
    intros done. induction done as [| q done IH]; intros rest now; cbn [app peak_from].
    - unfold kept. cbn [sum]. destruct rest as [| p rest]; cbn [peak_from]; [lia |]. pose proof (acquires_nonneg p). lia.
    - rewrite kept_cons. specialize (IH rest (now + acquires M q - releases M q)). lia.
  Qed.

  Lemma peak_from_reached : forall p l now,
    exists done q rest, p :: l = done ++ q :: rest /\ peak_from M now (p :: l) = now + held M done q.
  Proof.
    intros p l. revert p. induction l as [| r l IH]; intros p now.
    - exists [], p, []. split; [reflexivity |]. cbn [peak_from]. unfold held, kept. cbn [sum]. pose proof (releases_nonneg p). lia.
    - destruct (IH r (now + acquires M p - releases M p)) as [done [q [rest [shape reached]]]].
      change (peak_from M now (p :: r :: l)) with
        (Z.max (now + acquires M p) (peak_from M (now + acquires M p - releases M p) (r :: l))).
      destruct (Z.max_spec (now + acquires M p) (peak_from M (now + acquires M p - releases M p) (r :: l))) as [[_ top] | [_ top]];
        rewrite top.
      + exists (p :: done), q, rest. split; [cbn; rewrite <- shape; reflexivity |]. rewrite reached, held_cons. lia.
      + exists [], p, (r :: l). split; [reflexivity |]. unfold held, kept. cbn [sum]. lia.
  Qed.

  (** A device never holds more than its peak. *)
  Theorem held_at_most_peak : forall l done p rest, l = done ++ p :: rest -> held M done p <= peak M l.
  Proof. intros l done p rest shape. subst. pose proof (peak_from_held done p rest 0). unfold peak. lia. Qed.

  Lemma kept_at_most_peak : forall l done rest, l = done ++ rest -> kept M done <= peak M l.
  Proof. intros l done rest shape. subst. pose proof (peak_from_kept done rest 0). unfold peak. lia. Qed.

  (** It holds its peak while some pass runs. *)
  Theorem peak_is_held : forall l, l <> [] -> exists done p rest, l = done ++ p :: rest /\ peak M l = held M done p.
  Proof.
    intros [| p l] some; [contradiction |]. destruct (peak_from_reached p l 0) as [done [q [rest [shape reached]]]].
    exists done, q, rest. split; [exact shape |]. unfold peak. lia.
  Qed.

  Lemma peak_nonneg : forall l, 0 <= peak M l.
  Proof. intros l. exact (kept_at_most_peak l [] l eq_refl). Qed.

  Lemma device_fits_iff : forall d l, device_fits M d l = true <->
    (forall limit, capacity M d = Some limit -> forall done p rest, l = done ++ p :: rest -> held M done p <= limit).
  Proof.
    intros d l. unfold device_fits. destruct (capacity M d) as [limit |]; [| split; [intros _ limit no; discriminate | auto]].
    destruct l as [| q l].
    - split; [| auto]. intros _ other _ done p rest shape. destruct done; discriminate.
    - rewrite Z.leb_le. split.
      + intros room other same done p rest shape. inversion same; subst other. pose proof (held_at_most_peak _ _ _ _ shape). lia.
      + intros each. destruct (peak_is_held (q :: l)) as [done [p [rest [shape reached]]]]; [discriminate |].
        rewrite reached. apply (each limit eq_refl done p rest shape).
  Qed.

  (** The program says whether a schedule stays within the capacities, be these negative or not. *)
  Theorem fits_iff_within_capacity : forall S, fits M S = true <-> within_capacity M S.
  Proof.
    intros S. unfold fits, within_capacity. rewrite forallb_forall. split.
    - intros each d limit inside. apply device_fits_iff. apply each. apply in_seq. lia.
    - intros each d inside. apply in_seq in inside. apply device_fits_iff. intros limit has. apply each; [lia | exact has].
  Qed.

  (** A schedule is within a capacity exactly if the peak is, on a device that has a pass. *)
  Theorem within_capacity_iff_peak : forall S, within_capacity M S <->
    (forall d limit, (d < devices M)%nat -> capacity M d = Some limit -> S d <> [] -> peak M (S d) <= limit).
  Proof.
    intros S. split.
    - intros within d limit inside has some. destruct (peak_is_held (S d) some) as [done [p [rest [shape reached]]]].
      rewrite reached. apply (within d limit inside has done p rest shape).
    - intros each d limit inside has done p rest shape. apply Z.le_trans with (peak M (S d)).
      + apply (held_at_most_peak _ _ _ _ shape).
      + apply each; [exact inside | exact has |]. rewrite shape. destruct done; discriminate.
  Qed.

  (** ** Memory by times *)

  Variable start : pass -> Z.

  Lemma live_cons : forall p l x, live M start (p :: l) x =
    (if start p <=? x then acquires M p else 0) - (if start p + time_of M p <=? x then releases M p else 0) + live M start l x.
  Proof. reflexivity. Qed.

  Lemma live_app : forall l k x, live M start (l ++ k) x = live M start l x + live M start k x.
  Proof. intros l k x. apply sum_app. Qed.

  Lemma time_nonneg : forall p, 0 <= time_of M p.
  Proof. intros p. apply (proj1 (problem_sane M Well) p). Qed.

  Lemma live_before : forall l x, (forall p, In p l -> x < start p) -> live M start l x = 0.
  Proof.
    intros l x. induction l as [| p l IH]; intros later; [reflexivity |].
    rewrite live_cons, IH by (intros q inside; apply later; right; exact inside).
    pose proof (later p (or_introl eq_refl)). pose proof (time_nonneg p).
    destruct (Z.leb_spec (start p) x); [lia |]. destruct (Z.leb_spec (start p + time_of M p) x); lia.
  Qed.

  Lemma live_behind : forall l x, (forall p, In p l -> start p + time_of M p <= x) -> live M start l x = kept M l.
  Proof.
    intros l x. induction l as [| p l IH]; intros sooner; [reflexivity |].
    rewrite live_cons, kept_cons, IH by (intros q inside; apply sooner; right; exact inside).
    pose proof (sooner p (or_introl eq_refl)). pose proof (time_nonneg p).
    destruct (Z.leb_spec (start p) x); [| lia]. destruct (Z.leb_spec (start p + time_of M p) x); lia.
  Qed.

  Lemma live_during : forall l done p rest x, one_at_a_time (problem_of M) start l -> l = done ++ p :: rest ->
    start p <= x < start p + time_of M p -> live M start l x = held M done p.
  Proof.
    intros l done p rest x ordered shape inside.
    destruct (one_at_a_time_split (problem_of M) start l done p rest ordered shape) as [behind ahead].
    cbn [duration problem_of] in *. rewrite shape, live_app, live_cons.
    rewrite (live_behind done) by (intros q in_q; specialize (ahead q in_q); lia).
    rewrite (live_before rest) by (intros q in_q; specialize (behind q in_q); lia).
    destruct (Z.leb_spec (start p) x); [| lia]. destruct (Z.leb_spec (start p + time_of M p) x); [lia |].
    unfold held. lia.
  Qed.

  Lemma live_cases : forall l x, one_at_a_time (problem_of M) start l ->
    (exists done rest, l = done ++ rest /\ live M start l x = kept M done) \/
    (exists done p rest, l = done ++ p :: rest /\ start p <= x < start p + time_of M p /\ live M start l x = held M done p).
  Proof.
    intros l x. induction l as [| p l IH]; intros ordered.
    - left. exists [], []. split; reflexivity.
    - destruct (Z.le_gt_cases (start p + time_of M p) x) as [ended | not_ended].
      + destruct ordered as [_ ordered].
        destruct (IH ordered) as [[done [rest [shape same]]] | [done [q [rest [shape [runs_ same]]]]]].
        * left. exists (p :: done), rest. split; [rewrite shape; reflexivity |]. rewrite live_cons, kept_cons, same.
          pose proof (time_nonneg p). destruct (Z.leb_spec (start p) x); [| lia].
          destruct (Z.leb_spec (start p + time_of M p) x); lia.
        * right. exists (p :: done), q, rest. split; [rewrite shape; reflexivity |]. split; [exact runs_ |].
          rewrite live_cons, held_cons, same. pose proof (time_nonneg p). destruct (Z.leb_spec (start p) x); [| lia].
          destruct (Z.leb_spec (start p + time_of M p) x); lia.
      + destruct (Z.le_gt_cases (start p) x) as [started | not_started].
        * right. exists [], p, l. split; [reflexivity |]. split; [lia |].
          apply (live_during (p :: l) [] p l x ordered eq_refl). lia.
        * left. exists [], (p :: l). split; [reflexivity |]. apply live_before. intros q [same | inside]; [subst; lia |].
          destruct ordered as [each _]. specialize (each q inside). cbn [duration problem_of] in each.
          pose proof (time_nonneg p). lia.
  Qed.

  Variable S : schedule.
  Hypothesis Runs : runs M S start.

  (** While a pass runs, its device holds what its order says, whatever the start times are. *)
  Theorem live_while_running : forall d done p rest x, (d < devices M)%nat -> S d = done ++ p :: rest ->
    start p <= x < start p + time_of M p -> live M start (S d) x = held M done p.
  Proof.
    intros d done p rest x inside shape during. apply live_during with rest; [| exact shape | exact during].
    apply (device_one_at_a_time M S start Well Runs d inside).
  Qed.

  (** At no instant of any execution does a device hold more than the peak of its order. *)
  Theorem live_at_most_peak : forall d x, (d < devices M)%nat -> live M start (S d) x <= peak M (S d).
  Proof.
    intros d x inside. pose proof (device_one_at_a_time M S start Well Runs d inside) as ordered.
    destruct (live_cases (S d) x ordered) as [[done [rest [shape same]]] | [done [p [rest [shape [_ same]]]]]]; rewrite same.
    - apply (kept_at_most_peak _ _ _ shape).
    - apply (held_at_most_peak _ _ _ _ shape).
  Qed.

  (** A schedule within the capacities stays within them at every instant of every execution. *)
  Theorem never_over_capacity : forall d limit x, within_capacity M S -> (d < devices M)%nat -> capacity M d = Some limit ->
    S d <> [] -> live M start (S d) x <= limit.
  Proof.
    intros d limit x within inside has some. apply Z.le_trans with (1 := live_at_most_peak d x inside).
    apply within_capacity_iff_peak; assumption.
  Qed.

  (** Where the passes of a device take time, every execution reaches its peak, at the start of some pass. *)
  Theorem peak_reached : forall d, (d < devices M)%nat -> S d <> [] -> (forall p, In p (S d) -> 0 < time_of M p) ->
    exists p, In p (S d) /\ live M start (S d) (start p) = peak M (S d).
  Proof.
    intros d inside some lengths. destruct (peak_is_held (S d) some) as [done [p [rest [shape reached]]]].
    assert (in_d : In p (S d)) by (rewrite shape; apply in_app_iff; right; left; reflexivity).
    exists p. split; [exact in_d |]. rewrite reached. apply (live_while_running d done p rest); [exact inside | exact shape |].
    specialize (lengths p in_d). lia.
  Qed.

  (** So, where they do, an execution stays within the capacities at every instant exactly if the orders do. *)
  Theorem within_capacity_by_times : (forall p, 0 < time_of M p) -> (within_capacity M S <->
    (forall d limit x, (d < devices M)%nat -> capacity M d = Some limit -> S d <> [] -> live M start (S d) x <= limit)).
  Proof.
    intros lengths. split; [intros within d limit x inside has some; apply never_over_capacity; assumption |].
    intros each. apply within_capacity_iff_peak. intros d limit inside has some.
    destruct (peak_reached d inside some) as [p [_ reached]]; [intros p _; apply lengths |].
    rewrite <- reached. apply each; assumption.
  Qed.
End Memory.
