(** * Basics: devices run one pass at a time

    What follows directly from the definitions of [Execution], and is used everywhere: a pass of a device ends before a later
    one starts, what a pass needs has ended before it starts, and passes that all run between x and y take at most y - x. *)

From Coq Require Import ZArith List Lia Bool Permutation.
Require Import Bubbleproof.Execution.
Import ListNotations.
Open Scope Z_scope.

Section Lists.
  Context {A : Type}.

  Lemma sum_app : forall (f : A -> Z) l k, sum f (l ++ k) = sum f l + sum f k.
  Proof. intros f l k. induction l; cbn; lia. Qed.

  Lemma sum_nonneg : forall (f : A -> Z) l, (forall u, In u l -> 0 <= f u) -> 0 <= sum f l.
  Proof.
    intros f l. induction l as [| u l IH]; cbn; intros each; [lia |].
    assert (0 <= f u) by auto. assert (0 <= sum f l) by auto. lia.
  Qed.

  Lemma sum_le : forall (f g : A -> Z) l, (forall u, In u l -> f u <= g u) -> sum f l <= sum g l.
  Proof.
    intros f g l. induction l as [| u l IH]; cbn; intros each; [lia |].
    assert (f u <= g u) by auto. assert (sum f l <= sum g l) by auto. lia.
  Qed.

  Lemma sum_ext : forall (f g : A -> Z) l, (forall u, In u l -> f u = g u) -> sum f l = sum g l.
  Proof.
    intros f g l. induction l as [| u l IH]; cbn; intros each; [lia |].
    rewrite IH by auto. rewrite (each u) by auto. reflexivity.
  Qed.

  Lemma sum_add : forall (f g : A -> Z) l, sum (fun u => f u + g u) l = sum f l + sum g l.
  Proof. intros f g l. induction l; cbn; lia. Qed.

  Lemma sum_scale : forall c (f : A -> Z) l, sum (fun u => c * f u) l = c * sum f l.
  Proof. intros c f l. induction l; cbn; lia. Qed.

  Lemma sum_flat_map : forall (B : Type) (g : B -> list A) (f : A -> Z) l,
    sum f (flat_map g l) = sum (fun b => sum f (g b)) l.
  Proof. intros B g f l. induction l; cbn; [reflexivity |]. rewrite sum_app. lia. Qed.

  (** A sum does not depend on the order. *)
  Lemma sum_permutation : forall (f : A -> Z) l k, Permutation l k -> sum f l = sum f k.
  Proof. intros f l k same. induction same; cbn; lia. Qed.
End Lists.

(** [one_at_a_time P start l]: each task of l has ended before a later one starts. *)
Fixpoint one_at_a_time {A : Type} (P : problem A) (start : A -> Z) (l : list A) : Prop :=
  match l with
  | [] => True
  | u :: rest => (forall v, In v rest -> start u + duration P u <= start v) /\ one_at_a_time P start rest
  end.

Section Execution.
  Context {A : Type} (P : problem A) (O : orders A) (start : A -> Z).
  Hypothesis Sane : sane P.
  Hypothesis Respects : respects P O start.

  Lemma suffix_one_at_a_time : forall l before, In (before ++ l) O -> one_at_a_time P start l.
  Proof.
    intros l. induction l as [| u l IH]; intros before inside; cbn; [trivial |].
    assert (rest : one_at_a_time P start l).
    { apply (IH (before ++ [u])). rewrite <- app_assoc. exact inside. }
    split; [| exact rest]. intros v later.
    destruct l as [| w l]; [destruct later |].
    assert (next : start u + duration P u <= start w).
    { apply (proj2 Respects u (duration P u) w). apply (waits_order P O (before ++ u :: w :: l)); [exact inside |].
      exists before, l. reflexivity. }
    destruct later as [same | later]; [subst; exact next |].
    cbn in rest. destruct rest as [each _]. specialize (each v later).
    destruct Sane as [lengths _]. specialize (lengths w). lia.
  Qed.

  (** The tasks of a resource run one at a time, in its order. *)
  Theorem resource_one_at_a_time : forall l, In l O -> one_at_a_time P start l.
  Proof. intros l inside. apply (suffix_one_at_a_time l []). exact inside. Qed.

  Lemma one_at_a_time_split : forall l before u after, one_at_a_time P start l -> l = before ++ u :: after ->
    (forall v, In v after -> start u + duration P u <= start v) /\
    (forall v, In v before -> start v + duration P v <= start u).
  Proof.
    intros l before. revert l. induction before as [| w before IH]; intros l u after ordered shape; subst l; cbn in ordered.
    - destruct ordered as [each _]. split; [exact each | intros v []].
    - destruct ordered as [each ordered]. destruct (IH _ u after ordered eq_refl) as [behind ahead].
      split; [exact behind |]. intros v [same | inside]; [| auto].
      subst. apply each. rewrite in_app_iff. right. left. reflexivity.
  Qed.

  (** Tasks of one resource that all run between x and y take at most y - x together. *)
  Theorem work_fits : forall l (chosen : A -> bool) x y, one_at_a_time P start l -> x <= y ->
    (forall u, In u l -> chosen u = true -> x <= start u /\ start u + duration P u <= y) ->
    x + sum (duration P) (filter chosen l) <= y.
  Proof.
    intros l chosen. induction l as [| u l IH]; intros x y ordered room inside; cbn; [lia |].
    cbn in ordered. destruct ordered as [each ordered].
    destruct (chosen u) eqn:taken; cbn.
    - destruct (inside u (or_introl eq_refl) taken) as [begins ends].
      assert (start u + duration P u + sum (duration P) (filter chosen l) <= y).
      { apply IH; [exact ordered | lia |]. intros v later chosen_v. split; [apply each; exact later |].
        apply inside; [right; exact later | exact chosen_v]. }
      lia.
    - apply IH; [exact ordered | exact room |]. intros v later chosen_v. apply inside; [right; exact later | exact chosen_v].
  Qed.
End Execution.

(** ** Pipelines *)

Section Pipeline.
  Variable M : model.
  Variable S : schedule.
  Variable start : pass -> Z.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.
  Hypothesis Runs : runs M S start.

  Lemma problem_sane : sane (problem_of M).
  Proof.
    destruct Well as [positive [_ [times [latencies _]]]]. split.
    - intros [k s m]. apply times.
    - intros u lag v need. apply needs_are_pass_needs in need; [| exact positive].
      destruct need; auto; lia.
  Qed.

  Lemma device_one_at_a_time : forall d, (d < devices M)%nat -> one_at_a_time (problem_of M) start (S d).
  Proof.
    intros d inside. apply (resource_one_at_a_time _ (orders_of M S)); [apply problem_sane | apply Runs |].
    apply in_map. apply in_seq. lia.
  Qed.

  (** A pass starts no earlier than what it needs has ended and arrived. *)
  Lemma need_respected : forall u lag v, pass_needs M u lag v -> start u + time_of M u + lag <= start v.
  Proof.
    intros u lag v need. rewrite <- Z.add_assoc. apply (proj2 (proj1 Runs)). apply (waits_need (problem_of M)).
    apply needs_are_pass_needs; [apply Well | exact need].
  Qed.

  Lemma start_nonneg : forall p, 0 <= start p.
  Proof. apply Runs. Qed.
End Pipeline.
