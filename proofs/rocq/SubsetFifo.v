(** * Subset bounds for schedules in which microbatches overtake each other

    [SubsetBounds] proves that no run of a complete first-in-first-out schedule within capacity is shorter than the bound of some
    devices. [Fifo] gives every run of a complete schedule a first-in-first-out one with the same makespan, spans and memory. So
    the bounds of [SubsetBounds] hold for every run of every complete schedule within capacity, as this file states. *)

From Coq Require Import ZArith List Lia Bool.
Require Import Bubbleproof.Execution Bubbleproof.Restrict Bubbleproof.SubsetBounds Bubbleproof.Fifo.
Import ListNotations.
Open Scope Z_scope.

Section Bounds.
  Variable M : model.
  Variable ks : list nat.
  Variable S : schedule.
  Variable start : pass -> Z.
  Variable x : Z.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.
  Hypothesis Memory : within_capacity M S.
  Hypothesis Runs : runs M S start.

  (** The device whose span is measured exists. *)
  Lemma first_device_inside : may_be_kept M ks = true -> (first_device M ks < devices M)%nat.
  Proof.
    intros kept. apply may_be_kept_spec in kept. destruct kept as [_ [some_job _]]. rewrite <- same_size in some_job.
    unfold span_chain_of in some_job. apply Well.
    apply (valid_stage M ks _ (spot_valid M ks _ 0 some_job)).
  Qed.

  (** No run of a complete schedule within capacity is shorter than the bound of some devices. *)
  Theorem subset_bound_holds : forall v, subset_bound M ks = Some v -> makespan_at_most M S start x -> v <= x.
  Proof.
    intros v found ends.
    destruct (first_in_first_out_without_loss M S start Well Complete Runs)
      as [T [other [all [fifo [run [_ [makespans [_ [_ memory]]]]]]]]].
    apply (subset_bound_sound M ks T other x Well all (proj1 memory Memory) fifo run v found). apply makespans. exact ends.
  Qed.

  (** Nor than the bound that follows from a repetition. *)
  Theorem subset_bound_repeating_holds : forall after_n period growth v,
    subset_bound_repeating M ks after_n period growth = Some v -> makespan_at_most M S start x -> v <= x.
  Proof.
    intros after_n period growth v found ends.
    destruct (first_in_first_out_without_loss M S start Well Complete Runs)
      as [T [other [all [fifo [run [_ [makespans [_ [_ memory]]]]]]]]].
    apply (subset_bound_repeating_sound M ks T other x Well all (proj1 memory Memory) fifo run after_n period growth v found).
    apply makespans. exact ends.
  Qed.

  (** The first kept device takes no less than the bound on its span. *)
  Theorem subset_span_bound_holds : forall v, subset_span_bound M ks = Some v ->
    span_at_most M S start (first_device M ks) x -> v <= x.
  Proof.
    intros v found span. assert (kept : may_be_kept M ks = true).
    { unfold subset_span_bound in found. destruct (may_be_kept M ks); [reflexivity | discriminate found]. }
    destruct (first_in_first_out_without_loss M S start Well Complete Runs)
      as [T [other [all [fifo [run [_ [_ [spans [_ memory]]]]]]]]].
    apply (subset_span_bound_sound M ks T other x Well all (proj1 memory Memory) fifo run v found).
    apply spans; [apply first_device_inside; exact kept | exact span].
  Qed.

  Theorem subset_span_bound_repeating_holds : forall after_n period growth v,
    subset_span_bound_repeating M ks after_n period growth = Some v -> span_at_most M S start (first_device M ks) x -> v <= x.
  Proof.
    intros after_n period growth v found span. assert (kept : may_be_kept M ks = true).
    { unfold subset_span_bound_repeating in found. destruct (may_be_kept M ks); [reflexivity | discriminate found]. }
    destruct (first_in_first_out_without_loss M S start Well Complete Runs)
      as [T [other [all [fifo [run [_ [_ [spans [_ memory]]]]]]]]].
    apply (subset_span_bound_repeating_sound M ks T other x Well all (proj1 memory Memory) fifo run after_n period growth v found).
    apply spans; [apply first_device_inside; exact kept | exact span].
  Qed.
End Bounds.
