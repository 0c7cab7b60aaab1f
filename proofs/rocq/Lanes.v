(** * Lanes: rows of steps that wait for each other

    A lane does one step after the other, and a step may need that other lanes have done so many of theirs. A _run_ is any
    sequence of steps that are possible one after the other. All runs that cannot go on stop in the same state
    ([stuck_states_agree]); with finitely many steps, every run can be continued to such an end ([runs_come_to_an_end]); and it
    has done everything unless steps wait for each other in a cycle ([stuck_means_cycle], [cycles_never_run]). *)

From Coq Require Import List Arith Lia Bool PeanoNat NArith FMapPositive PArith Relations FinFun.
Import ListNotations.

(** ** Lanes that wait for each other *)

Section Lanes.
  Context {lane : Type}.
  Variable same_lane : forall a b : lane, {a = b} + {a <> b}.

  (** How many steps every lane has taken. *)
  Definition state := lane -> nat.

  (** What a lane needs to take its step number i (from 0): pairs (k, n) say that lane k must have taken n steps. [None]: the lane
      has no such step, or can never take it. *)
  Definition needing := lane -> nat -> option (list (lane * nat)).

  Definition met (s : state) (needed : list (lane * nat)) : Prop :=
    forall k n, In (k, n) needed -> n <= s k.

  (** [run need l s]: lanes can take steps in the order of l, the latest one first, and s is the state then. *)
  Inductive run (need : needing) : list lane -> state -> Prop :=
  | run_starts : forall s, (forall k, s k = 0) -> run need [] s
  | run_goes_on : forall l s t k needed,
      run need l s -> need k (s k) = Some needed -> met s needed ->
      t k = S (s k) -> (forall j, j <> k -> t j = s j) -> run need (k :: l) t.

  (** No lane can take a step. *)
  Definition stuck (need : needing) (s : state) : Prop :=
    forall k needed, need k (s k) = Some needed -> ~ met s needed.

  Lemma met_grows : forall s t needed, (forall k, s k <= t k) -> met s needed -> met t needed.
  Proof. intros s t needed grows holds k n inside. specialize (holds k n inside). specialize (grows k). lia. Qed.

  (** No run goes beyond a run that is stuck: a step that can be taken is never stopped by another one. *)
  Theorem no_run_goes_beyond : forall need l s k t, run need l s -> run need k t -> stuck need t -> forall j, s j <= t j.
  Proof.
    intros need l s k t runs. revert k t. induction runs as [s zero | l s s' i needed runs IH can holds steps rest];
      intros k t other stops j.
    - rewrite zero. lia.
    - assert (below : forall j, s j <= t j) by (apply (IH k t); assumption).
      destruct (same_lane j i) as [same | differs]; [| rewrite rest by exact differs; apply below].
      subst j. rewrite steps. specialize (below i) as at_i.
      assert (s i <> t i); [| lia]. intros equal. apply (stops i needed).
      + rewrite <- equal. exact can.
      + apply (met_grows s); assumption.
  Qed.

  (** So all runs that are stuck are in the same state: the order makes no difference. *)
  Theorem stuck_states_agree : forall need l s k t,
    run need l s -> stuck need s -> run need k t -> stuck need t -> forall j, s j = t j.
  Proof.
    intros need l s k t runs stops other others j. apply Nat.le_antisymm.
    - apply (no_run_goes_beyond need l s k t); assumption.
    - apply (no_run_goes_beyond need k t l s); assumption.
  Qed.

  (** What a lane needed for a step that it has taken is so ever after. *)
  Lemma taken_steps_had_needs : forall need l s, run need l s -> forall k i, i < s k ->
    exists needed, need k i = Some needed /\ met s needed.
  Proof.
    intros need l s runs. induction runs as [s zero | l s t j needed runs IH can holds steps rest]; intros k i before.
    - rewrite zero in before. lia.
    - assert (grows : forall k, s k <= t k).
      { intros h. destruct (same_lane h j) as [same | differs]; [subst; lia | rewrite rest by exact differs; lia]. }
      destruct (same_lane k j) as [same | differs].
      + subst k. destruct (Nat.eq_dec i (s j)) as [now | earlier].
        * subst i. exists needed. split; [exact can | apply (met_grows s); assumption].
        * destruct (IH j i) as [others [found had]]; [lia |]. exists others. split; [exact found | apply (met_grows s); assumption].
      + rewrite rest in before by exact differs. destruct (IH k i before) as [others [found had]].
        exists others. split; [exact found | apply (met_grows s); assumption].
  Qed.

  (** Whoever needs less can do everything that others can do. *)
  Lemma fewer_needs_run : forall strict loose,
    (forall k i needed, strict k i = Some needed -> exists fewer, loose k i = Some fewer /\ incl fewer needed) ->
    forall l s, run strict l s -> run loose l s.
  Proof.
    intros strict loose fewer l s runs. induction runs as [s zero | l s t k needed runs IH can holds steps rest].
    - apply run_starts. exact zero.
    - destruct (fewer k (s k) needed can) as [less [found inside]].
      apply (run_goes_on loose l s t k less); try assumption. intros j n among. apply holds. apply inside. exact among.
  Qed.

  (** *** Every run comes to an end *)

  Section Finite.
    Variable need : needing.
    Variable lanes : list lane.
    Variable size : lane -> nat.
    Hypothesis All : forall k i needed, need k i = Some needed -> In k lanes /\ i < size k.

    Lemma never_more_than_size : forall l s, run need l s -> forall k, s k <= size k.
    Proof.
      intros l s runs k. destruct (s k) as [| i] eqn:steps; [lia |].
      destruct (taken_steps_had_needs need l s runs k i) as [needed [found _]]; [lia |]. apply All in found. lia.
    Qed.

    Lemma state_counts_steps : forall l s, run need l s -> forall k, s k = count_occ same_lane l k.
    Proof.
      intros l s runs. induction runs as [s zero | l s t j needed runs IH can holds steps rest]; intros k; cbn.
      - apply zero.
      - destruct (same_lane j k) as [same | differs].
        + subst. rewrite steps, IH. reflexivity.
        + rewrite rest by congruence. apply IH.
    Qed.

    Definition total (f : lane -> nat) : nat := fold_right (fun k n => f k + n) 0 (nodup same_lane lanes).

    Lemma sum_le : forall (f g : lane -> nat) l, (forall k, In k l -> f k <= g k) ->
      fold_right (fun k n => f k + n) 0 l <= fold_right (fun k n => g k + n) 0 l.
    Proof.
      intros f g l. induction l as [| k l IH]; cbn; intros each; [lia |].
      assert (f k <= g k) by auto. assert (below := IH (fun j inside => each j (or_intror inside))). lia.
    Qed.

    Lemma sum_adds_one : forall (f g : lane -> nat) l k, NoDup l -> In k l -> g k = S (f k) -> (forall j, j <> k -> g j = f j) ->
      fold_right (fun k n => g k + n) 0 l = S (fold_right (fun k n => f k + n) 0 l).
    Proof.
      intros f g l k single. induction single as [| j l fresh single IH]; intros inside more rest; [destruct inside |].
      cbn. destruct inside as [same | inside].
      - subst j. rewrite more. cbn. f_equal. f_equal. clear IH single.
        induction l as [| h l IH]; cbn; [reflexivity |]. rewrite rest, IH; [reflexivity | |].
        + intros inside. apply fresh. right. exact inside.
        + intros same. apply fresh. left. exact same.
      - rewrite IH by assumption. rewrite rest; [lia |]. intros same. subst. contradiction.
    Qed.

    Lemma length_is_total : forall l s, run need l s -> length l = total s.
    Proof.
      intros l s runs. induction runs as [s zero | l s t j needed runs IH can holds steps rest]; cbn.
      - unfold total. induction (nodup same_lane lanes) as [| k l IH]; cbn; [reflexivity |]. rewrite zero. exact IH.
      - rewrite IH. unfold total. symmetry. apply (sum_adds_one s t _ j).
        + apply NoDup_nodup.
        + apply nodup_In. apply All in can. apply can.
        + exact steps.
        + exact rest.
    Qed.

    (** No run has more steps than the lanes have together. *)
    Theorem runs_are_bounded : forall l s, run need l s -> length l <= total size.
    Proof.
      intros l s runs. rewrite (length_is_total l s runs). apply sum_le. intros k _.
      apply (never_more_than_size l s runs).
    Qed.

    Lemma met_or_not : forall (s : state) needed, {met s needed} + {~ met s needed}.
    Proof.
      intros s needed. induction needed as [| [k n] needed IH].
      - left. intros k n [].
      - destruct (le_dec n (s k)) as [enough | missing].
        + destruct IH as [holds | fails].
          * left. intros j i [same | inside]; [inversion same; subst; exact enough | apply holds; exact inside].
          * right. intros holds. apply fails. intros j i inside. apply holds. right. exact inside.
        + right. intros holds. apply missing. apply holds. left. reflexivity.
    Qed.

    (** Either no lane can take a step, or some lane can. *)
    Lemma stuck_or_not : forall s : state, stuck need s \/ exists k needed, need k (s k) = Some needed /\ met s needed.
    Proof.
      intros s.
      assert (search : forall l : list lane, (forall k needed, In k l -> need k (s k) = Some needed -> ~ met s needed) \/
        exists k needed, need k (s k) = Some needed /\ met s needed).
      { intros l. induction l as [| k l [none | some]]; [left; intros k needed [] | | right; exact some].
        destruct (need k (s k)) as [needed |] eqn:found.
        - destruct (met_or_not s needed) as [holds | fails]; [right; exists k, needed; split; assumption |].
          left. intros j others [same | inside] can; [| apply (none j); assumption].
          subst j. rewrite found in can. inversion can. subst. exact fails.
        - left. intros j others [same | inside] can; [subst; congruence | apply (none j); assumption]. }
      destruct (search lanes) as [none | some]; [left | right; exact some].
      intros k needed can. apply (none k); [apply All in can; apply can | exact can].
    Qed.

    (** Every run can go on until no lane can take a step. *)
    Theorem runs_come_to_an_end : forall l s, run need l s -> exists more t, run need (more ++ l) t /\ stuck need t.
    Proof.
      intros l s runs. remember (total size - length l) as left_over eqn:measure. revert l s runs measure.
      induction left_over as [left_over IH] using lt_wf_ind. intros l s runs measure.
      destruct (stuck_or_not s) as [stops | [k [needed [can holds]]]].
      - exists [], s. split; assumption.
      - set (t := fun j => if same_lane j k then S (s j) else s j).
        assert (next : run need (k :: l) t).
        { apply (run_goes_on need l s t k needed); try assumption; unfold t.
          - destruct (same_lane k k); [reflexivity | congruence].
          - intros j differs. destruct (same_lane j k); [congruence | reflexivity]. }
        assert (bound := runs_are_bounded _ _ next). cbn in bound.
        destruct (IH (total size - length (k :: l))) with (l := k :: l) (s := t) as [more [u [further stops]]];
          [cbn; lia | exact next | reflexivity |].
        exists (more ++ [k]), u. rewrite <- app_assoc. split; assumption.
    Qed.
  End Finite.

  (** *** Cycles *)

  Definition step_of := (lane * nat)%type.

  Definition done (s : state) (e : step_of) : Prop := snd e < s (fst e).

  (** [waits_for need e f]: step e comes after step f, since f is the step before it in its lane, or what e needs. *)
  Inductive waits_for (need : needing) : step_of -> step_of -> Prop :=
  | waits_in_lane : forall k i, waits_for need (k, S i) (k, i)
  | waits_for_need : forall k i needed j n,
      need k i = Some needed -> In (j, S n) needed -> waits_for need (k, i) (j, n).

  Lemma done_means_waited : forall need l s, run need l s -> forall e f, waits_for need e f -> done s e -> done s f.
  Proof.
    intros need l s runs e f waits. unfold done. destruct waits as [k i | k i needed j n can inside]; cbn; intros before.
    - lia.
    - destruct (taken_steps_had_needs need l s runs k i before) as [others [found holds]].
      rewrite can in found. inversion found. subst. specialize (holds j (S n) inside). lia.
  Qed.

  Lemma done_means_all_waited : forall need l s, run need l s -> forall e f,
    clos_trans _ (waits_for need) e f -> done s e -> done s f.
  Proof.
    intros need l s runs e f waits. induction waits as [e f waits | e f g _ one _ two]; intros before; auto.
    apply (done_means_waited need l s runs e f); assumption.
  Qed.

  Lemma waited_before : forall need l s k needed, run need l s -> need k (s k) = Some needed -> met s needed ->
    forall f, waits_for need (k, s k) f -> done s f.
  Proof.
    intros need l s k needed runs can holds f waits. unfold done.
    inversion waits as [j i same | j i others h n found inside same]; subst; cbn.
    - lia.
    - rewrite can in found. inversion found. subst. specialize (holds h (S n) inside). lia.
  Qed.

  (** A step on a cycle of waits is never taken, in any run. *)
  Theorem cycles_never_run : forall need l s e, run need l s -> clos_trans _ (waits_for need) e e -> ~ done s e.
  Proof.
    intros need l s e runs cycle. induction runs as [s zero | l s t k needed runs IH can holds steps rest].
    - unfold done. rewrite zero. lia.
    - intros now. destruct e as [j i]. unfold done in *. cbn in *.
      assert (new : j = k /\ i = s k).
      { destruct (same_lane j k) as [same | differs]; [subst; split; [reflexivity | lia] |].
        rewrite rest in now by exact differs. lia. }
      destruct new as [same_one same_step]. subst j i.
      apply IH. apply clos_trans_t1n in cycle.
      assert (first : forall f, waits_for need (k, s k) f -> done s f) by (apply (waited_before need l s k needed); assumption).
      inversion cycle as [f direct | f g direct further]; subst.
      + apply first in direct. exact direct.
      + apply clos_t1n_trans in further.
        apply (done_means_all_waited need l s runs f (k, s k) further). apply first. exact direct.
  Qed.

  (** If some steps are not taken though all that they wait for exists, some of them wait for each other in a cycle. *)
  Theorem stuck_means_cycle : forall need lanes size,
    (forall k i needed, need k i = Some needed -> In k lanes /\ i < size k) ->
    (forall k i needed j n, need k i = Some needed -> In (j, S n) needed -> need j n <> None) ->
    (forall k i, need k (S i) <> None -> need k i <> None) ->
    forall l s e, run need l s -> stuck need s -> need (fst e) (snd e) <> None -> ~ done s e ->
    exists f, clos_trans _ (waits_for need) f f /\ need (fst f) (snd f) <> None.
  Proof.
    intros need lanes size all closed filled l s e runs stops known waiting.
    set (open := fun f : step_of => need (fst f) (snd f) <> None /\ ~ done s f).
    (* An open step waits for an open step. *)
    assert (prefix : forall k i j, need k i <> None -> j <= i -> need k j <> None).
    { intros k i j some below. induction below as [| i below IH]; [exact some | apply IH, filled, some]. }
    assert (onwards : forall f, open f -> exists g, open g /\ waits_for need f g).
    { intros [k i] [some missing]. unfold done in missing. cbn in some, missing.
      destruct (Nat.eq_dec i (s k)) as [next | later].
      - subst i. destruct (need k (s k)) as [needed |] eqn:can; [| congruence].
        assert (blocked := stops k needed can).
        assert (unmet : exists j n, In (j, n) needed /\ ~ n <= s j).
        { clear - blocked. induction needed as [| [j n] needed IH].
          - exfalso. apply blocked. intros j n [].
          - destruct (le_dec n (s j)) as [enough | short].
            + destruct IH as [j' [n' [inside short]]].
              * intros holds. apply blocked. intros j' n' [same | inside]; [inversion same; subst; exact enough | auto].
              * exists j', n'. split; [right; exact inside | exact short].
            + exists j, n. split; [left; reflexivity | exact short]. }
        destruct unmet as [j [n [inside short]]]. destruct n as [| n]; [lia |].
        exists (j, n). split; [split; cbn; [apply (closed k (s k) needed); assumption | unfold done; cbn; lia] |].
        apply (waits_for_need need k (s k) needed); assumption.
      - destruct i as [| i]; [lia |]. exists (k, i). split; [| constructor].
        split; cbn; [apply filled; exact some | unfold done; cbn; lia]. }
    (* Open steps are finitely many. *)
    set (steps := flat_map (fun k => map (fun i => (k, i)) (seq 0 (size k))) lanes).
    assert (listed : forall f, open f -> In f steps).
    { intros [k i] [some _]. cbn in some. destruct (need k i) as [needed |] eqn:can; [| congruence]. apply all in can.
      apply in_flat_map. exists k. split; [apply can |]. apply in_map. apply in_seq. lia. }
    assert (same_step : forall f g : step_of, {f = g} + {f <> g}) by (decide equality; apply Nat.eq_dec).
    (* Follow the waits until a step comes again. *)
    assert (chain : forall fuel path f, open f -> (forall g, In g path -> open g) -> NoDup path ->
      (forall g, In g path -> clos_trans _ (waits_for need) g f) -> length steps < fuel + length path ->
      exists g, clos_trans _ (waits_for need) g g /\ need (fst g) (snd g) <> None).
    { intros fuel. induction fuel as [| fuel IH]; intros path f is_open opens single leads enough.
      - exfalso. assert (length path <= length steps); [| lia].
        apply NoDup_incl_length; [exact single |]. intros g inside. auto.
      - destruct (in_dec same_step f path) as [again | fresh].
        + exists f. split; [apply leads; exact again | apply is_open].
        + destruct (onwards f is_open) as [g [g_open waits]].
          apply (IH (f :: path) g).
          * exact g_open.
          * intros h [same | inside]; [subst; exact is_open | auto].
          * constructor; assumption.
          * intros h [same | inside]; [subst; constructor; exact waits |].
            apply (t_trans _ _ h f g); [apply leads; exact inside | constructor; exact waits].
          * cbn. lia. }
    apply (chain (S (length steps)) [] e).
    - split; assumption.
    - intros g [].
    - constructor.
    - intros g [].
    - cbn. lia.
  Qed.
End Lanes.
Arguments needing : clear implicits.
Arguments state : clear implicits.
