(** * Sorted starts: the arithmetic core of "first in, first out"

    docs/bounds.md relabels microbatches so that every stage runs every kind in their order. This file proves the step that
    carries dependencies over: if each y_j comes at least l after x_j, the k-th smallest y comes at least l after the k-th
    smallest x. The theorem about schedules itself is *open* here: neither the relabelled schedule, nor its places and memory,
    nor the example about executions as soon as possible is proved. *)

From Coq Require Import ZArith List Lia Sorting.Sorted Sorting.Permutation.
Import ListNotations.
Open Scope Z_scope.

Fixpoint insert (a : Z) (l : list Z) : list Z :=
  match l with
  | [] => [a]
  | x :: rest => if a <=? x then a :: x :: rest else x :: insert a rest
  end.

Fixpoint sort (l : list Z) : list Z :=
  match l with
  | [] => []
  | x :: rest => insert x (sort rest)
  end.

Lemma insert_permutes : forall a l, Permutation (a :: l) (insert a l).
Proof.
  intros a l. induction l as [| x l IH]; cbn; [apply Permutation_refl |].
  destruct (a <=? x); [apply Permutation_refl |].
  eapply perm_trans; [apply perm_swap |]. apply perm_skip. exact IH.
Qed.

Lemma sort_permutes : forall l, Permutation l (sort l).
Proof.
  intros l. induction l as [| x l IH]; cbn; [apply perm_nil |].
  eapply perm_trans; [apply perm_skip; exact IH | apply insert_permutes].
Qed.

Lemma insert_sorted : forall a l, StronglySorted Z.le l -> StronglySorted Z.le (insert a l).
Proof.
  intros a l. induction l as [| x l IH]; intros sorted; cbn; [repeat constructor |].
  inversion sorted as [| y k rest least]; subst. rewrite Forall_forall in least.
  destruct (Z.leb_spec a x) as [before | behind].
  - constructor; [exact sorted |]. apply Forall_forall. intros y [same | later]; [subst; exact before |].
    specialize (least y later). lia.
  - constructor; [apply IH; exact rest |]. apply Forall_forall. intros y inside.
    apply (Permutation_in _ (Permutation_sym (insert_permutes a l))) in inside.
    destruct inside as [same | later]; [lia | auto].
Qed.

Lemma sort_sorted : forall l, StronglySorted Z.le (sort l).
Proof. intros l. induction l as [| x l IH]; cbn; [constructor | apply insert_sorted; exact IH]. Qed.

Lemma insert_least : forall x l, StronglySorted Z.le (x :: l) -> insert x l = x :: l.
Proof.
  intros x [| y l] sorted; [reflexivity |]. inversion sorted as [| z k rest least]; subst.
  inversion least; subst. cbn. destruct (Z.leb_spec x y); [reflexivity | lia].
Qed.

Lemma insert_keeps_distance : forall lag xs ys, Forall2 (fun x y => x + lag <= y) xs ys ->
  StronglySorted Z.le xs -> StronglySorted Z.le ys ->
  forall a b, a + lag <= b -> Forall2 (fun x y => x + lag <= y) (insert a xs) (insert b ys).
Proof.
  intros lag xs ys apart. induction apart as [| x y xs ys near apart IH]; intros sorted_x sorted_y a b far; cbn.
  - constructor; [exact far | constructor].
  - assert (rest_x := proj1 (StronglySorted_inv sorted_x)). assert (rest_y := proj1 (StronglySorted_inv sorted_y)).
    destruct (Z.leb_spec a x); destruct (Z.leb_spec b y).
    + repeat (constructor; try assumption).
    + constructor; [lia |]. rewrite <- (insert_least x xs sorted_x). apply IH; [assumption | assumption | lia].
    + constructor; [lia |]. rewrite <- (insert_least y ys sorted_y). apply IH; [assumption | assumption | lia].
    + constructor; [exact near |]. apply IH; assumption.
Qed.

(** If each y_j is at least x_j + lag, then the k-th smallest y is at least the k-th smallest x + lag. *)
Theorem sorting_keeps_distance : forall lag xs ys, Forall2 (fun x y => x + lag <= y) xs ys ->
  Forall2 (fun x y => x + lag <= y) (sort xs) (sort ys).
Proof.
  intros lag xs ys apart. induction apart as [| x y xs ys near apart IH]; cbn; [constructor |].
  apply insert_keeps_distance; [exact IH | apply sort_sorted | apply sort_sorted | exact near].
Qed.
