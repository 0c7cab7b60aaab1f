(** * Lowered: plans that are written side by side, the rules of the code, and passes

    A plan whose sends and receives are appended side by side ends under all four semantics ([lowered_plans_end]) and is in
    order. Without streams, a plan in order ends exactly when nothing waits for itself ([ends_exactly_when_acyclic]). The rules
    of the code give the order of messages ([rules_of_the_code_give_the_order]), and in a file that is verified, what a pass
    needs of another device has been run there ([passes_of_other_devices_come_first]). *)

From Coq Require Import List Arith Lia Bool PeanoNat NArith FMapPositive PArith Relations FinFun.
Require Bubbleproof.Execution.
Require Import Bubbleproof.Lanes Bubbleproof.Plans Bubbleproof.Communication Bubbleproof.Execute Bubbleproof.Verdict.
Import ListNotations.

(** ** Plans that are written: sends and receives side by side *)

(** The devices take turns. Each appends an action to its row, or a send to its row and the receive to that of the receiver. *)
Inductive move :=
| Act (d : nat) (a : action)
| Exchange (from to : nat) (m : message).

Definition appends (x : move) (d : nat) : list action :=
  match x with
  | Act c a => if c =? d then [a] else []
  | Exchange a b m => (if a =? d then [Send b m] else []) ++ (if b =? d then [Receive a m] else [])
  end.

Definition row_of (moves : list move) (d : nat) : list action := flat_map (fun x => appends x d) moves.

Definition plan_of (devices : nat) (moves : list move) : plan := map (row_of moves) (seq 0 devices).

(** A device runs a pass only when what it needs is in its row, and waits only for what it has sent. *)
Definition allowed (devices : nat) (before : list move) (x : move) : Prop :=
  match x with
  | Act d a =>
      d < devices /\
      match a with
      | Run inputs _ => forall m, In m inputs -> received m (row_of before d) <> None
      | WaitSend m => sent m (row_of before d) <> None
      | Other => True
      | Send _ _ | Receive _ _ => False
      end
  | Exchange a b _ => a < devices /\ b < devices /\ a <> b
  end.

Definition lowered (devices : nat) (moves : list move) : Prop :=
  forall before x behind, moves = before ++ x :: behind -> allowed devices before x.

Lemma row_of_app : forall l k d, row_of (l ++ k) d = row_of l d ++ row_of k d.
Proof. intros l k d. apply flat_map_app. Qed.

Lemma position_at : forall f l a r start, f a = true ->
  nth_error (positions_from start f (l ++ a :: r)) (count f l) = Some (start + length l).
Proof.
  intros f l. induction l as [| x l IH]; intros a r start has; cbn.
  - rewrite has. cbn. f_equal. lia.
  - unfold count in *. cbn. destruct (f x); cbn; rewrite IH by exact has; f_equal; lia.
Qed.

Section Lowered.
  Variable devices : nat.
  Variable moves : list move.
  Hypothesis Lowered : lowered devices moves.

  Let P := plan_of devices moves.

  Lemma row_is : forall d, d < devices -> row P d = row_of moves d.
  Proof.
    intros d inside. unfold row, P, plan_of.
    rewrite (nth_indep _ [] (row_of moves devices)) by (rewrite map_length, seq_length; exact inside).
    rewrite map_nth with (d := devices). rewrite seq_nth by exact inside. reflexivity.
  Qed.

  Lemma row_outside : forall before behind, moves = before ++ behind -> forall d, devices <= d -> row_of before d = [].
  Proof.
    intros before. induction before as [| x before IH] using rev_ind; intros behind shape d out; [reflexivity |].
    rewrite <- app_assoc in shape. cbn in shape. rewrite row_of_app, (IH _ shape d out). cbn.
    specialize (Lowered before x behind shape). destruct x as [c a | a b m]; cbn in Lowered |- *.
    - destruct (Nat.eqb_spec c d); [lia | reflexivity].
    - destruct (Nat.eqb_spec a d); [lia |]. destruct (Nat.eqb_spec b d); [lia | reflexivity].
  Qed.

  Lemma both_rows : forall before behind, moves = before ++ behind -> forall a b,
    count (sends_to b) (row_of before a) = count (receives_from a) (row_of before b).
  Proof.
    intros before. induction before as [| x before IH] using rev_ind; intros behind shape a b; [reflexivity |].
    rewrite <- app_assoc in shape. cbn in shape. specialize (IH _ shape a b).
    specialize (Lowered before x behind shape). rewrite !row_of_app. unfold count in *. rewrite !filter_app, !app_length, IH.
    f_equal. unfold row_of. cbn [flat_map]. rewrite !app_nil_r. destruct x as [c y | c e m]; cbn in Lowered |- *.
    - destruct Lowered as [_ kind]. destruct (c =? a), (c =? b), y; cbn; try reflexivity; contradiction.
    - destruct Lowered as [_ [_ apart]].
      destruct (Nat.eqb_spec c a), (Nat.eqb_spec e a), (Nat.eqb_spec c b), (Nat.eqb_spec e b); cbn; subst;
        rewrite ?Nat.eqb_refl; cbn; try reflexivity; try congruence;
        repeat match goal with |- context [?p =? ?q] => destruct (Nat.eqb_spec p q); cbn end; try reflexivity; congruence.
  Qed.

  (** The state after some moves, when all messages that were appended have gone. *)
  Definition after_moves (before : list move) (s : state lane) : Prop :=
    (forall d, s (Device d) = length (row_of before d)) /\
    (forall a b, s (Channel a b) = count (sends_to b) (row_of before a)).

  Lemma earlier_have_gone : forall before behind s a b, moves = before ++ behind -> after_moves before s -> a < devices ->
    met s (earlier_between P a b (length (row_of before a))).
  Proof.
    intros before behind s a b shape [_ gone] inside k n among. unfold earlier_between in among.
    assert (prefix : firstn (length (row_of before a)) (row P a) = row_of before a).
    { rewrite row_is by exact inside. rewrite shape, row_of_app, firstn_app, firstn_all, Nat.sub_diag. cbn. apply app_nil_r. }
    rewrite prefix in among. destruct among as [same | [same | []]]; inversion same; subst k n; rewrite gone; [lia |].
    rewrite (both_rows before behind shape). lia.
  Qed.

  Lemma all_earlier_have_gone : forall before behind s a b, moves = before ++ behind -> after_moves before s -> a < devices ->
    met s (stream DeviceStreams P a b (length (row_of before a))).
  Proof.
    intros before behind s a b shape state_is inside k n among. cbn in among. apply in_flat_map in among.
    destruct among as [c [_ among]]. apply (earlier_have_gone before behind s a c shape state_is inside). exact among.
  Qed.

  Definition one_more (s : state lane) (k : lane) : state lane := fun j => if same_lane j k then S (s j) else s j.

  Lemma one_more_same : forall s k, one_more s k k = S (s k).
  Proof. intros s k. unfold one_more. destruct (same_lane k k); [reflexivity | congruence]. Qed.

  Lemma one_more_other : forall s k j, j <> k -> one_more s k j = s j.
  Proof. intros s k j differs. unfold one_more. destruct (same_lane j k); [congruence | reflexivity]. Qed.

  Lemma one_more_runs : forall X l s k needed, run (need X P) l s -> need X P k (s k) = Some needed -> met s needed ->
    run (need X P) (k :: l) (one_more s k).
  Proof.
    intros X l s k needed runs can holds. apply (run_goes_on _ l s _ k needed); try assumption.
    - apply one_more_same.
    - intros j differs. apply one_more_other. exact differs.
  Qed.

  Lemma next_action : forall before x behind d a, moves = before ++ x :: behind -> d < devices ->
    (exists rest, appends x d = a :: rest) ->
    nth_error (row P d) (length (row_of before d)) = Some a /\
    firstn (length (row_of before d)) (row P d) = row_of before d.
  Proof.
    intros before x behind d a shape inside [rest head]. rewrite row_is by exact inside. rewrite shape, row_of_app. split.
    - rewrite nth_error_app2, Nat.sub_diag by lia. unfold row_of. cbn. rewrite head. reflexivity.
    - rewrite firstn_app, firstn_all, Nat.sub_diag. cbn. apply app_nil_r.
  Qed.

  Lemma arrivals_have_come : forall s d before inputs, (forall m, In m inputs -> received m before <> None) ->
    (forall a, count (receives_from a) before <= s (Channel a d)) ->
    exists needed, arrivals d before inputs = Some needed /\ met s needed.
  Proof.
    intros s d before inputs posted_all gone. destruct (arrivals d before inputs) as [needed |] eqn:found.
    - exists needed. split; [reflexivity |]. intros k n inside.
      destruct (arrivals_need _ _ _ _ _ _ found inside) as [m [from [i [_ [there [is_k is_n]]]]]]. subst k n.
      apply received_number in there. specialize (gone from). lia.
    - exfalso. apply (arrivals_are_some d before inputs posted_all). exact found.
  Qed.

  Lemma moves_run : forall before behind, moves = before ++ behind ->
    exists l s, run (need DeviceStreams P) l s /\ after_moves before s.
  Proof.
    intros before. induction before as [| x before IH] using rev_ind; intros behind shape.
    - exists [], (fun _ => 0). split; [apply run_starts; reflexivity | split; reflexivity].
    - rewrite <- app_assoc in shape. cbn in shape. destruct (IH _ shape) as [l [s [runs state_is]]].
      specialize (Lowered before x behind shape) as fine. destruct state_is as [at_row gone].
      destruct x as [d y | a b m]; cbn in fine.
      + destruct fine as [inside kind].
        assert (head : exists rest, appends (Act d y) d = y :: rest) by (cbn; rewrite Nat.eqb_refl; exists []; reflexivity).
        destruct (next_action before _ behind d y shape inside head) as [there prefix].
        assert (can : exists needed, need DeviceStreams P (Device d) (s (Device d)) = Some needed /\ met s needed).
        { cbn [need]. rewrite at_row, there, prefix. destruct y as [ins outs | to m | from m | m |]; cbn [needs_of_action];
            try contradiction.
          - apply arrivals_have_come; [exact kind |]. intros c. rewrite gone, (both_rows before _ shape). lia.
          - destruct (sent m (row_of before d)) as [[to i] |] eqn:found; [| congruence].
            eexists. split; [reflexivity |]. intros k n [same | []]. inversion same. subst k n. rewrite gone.
            apply sent_number in found. lia.
          - exists []. split; [reflexivity | intros k n []]. }
        destruct can as [needed [can holds]].
        exists (Device d :: l), (one_more s (Device d)). split; [apply (one_more_runs _ l s (Device d) needed); assumption |].
        split.
        * intros c. rewrite row_of_app, app_length. unfold row_of at 2. cbn. destruct (Nat.eqb_spec d c) as [same | differs].
          -- subst c. rewrite one_more_same, at_row. cbn. lia.
          -- rewrite one_more_other by congruence. rewrite at_row. cbn. lia.
        * intros c e. rewrite one_more_other by discriminate. rewrite gone, row_of_app. unfold row_of at 3, count.
          rewrite filter_app, app_length. cbn. destruct (d =? c); destruct y; cbn; try contradiction; lia.
      + destruct fine as [in_a [in_b apart]].
        assert (head_a : exists rest, appends (Exchange a b m) a = Send b m :: rest)
          by (cbn; rewrite Nat.eqb_refl; eexists; reflexivity).
        assert (head_b : exists rest, appends (Exchange a b m) b = Receive a m :: rest).
        { cbn. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec a b); [contradiction | eexists; reflexivity]. }
        destruct (next_action before _ behind a _ shape in_a head_a) as [there_a prefix_a].
        destruct (next_action before _ behind b _ shape in_b head_b) as [there_b prefix_b].
        set (s1 := one_more s (Device a)). set (s2 := one_more s1 (Device b)). set (s3 := one_more s2 (Channel a b)).
        assert (step1 : run (need DeviceStreams P) (Device a :: l) s1).
        { apply (one_more_runs _ l s (Device a) []); [exact runs | | intros k n []].
          cbn [need]. rewrite at_row, there_a. reflexivity. }
        assert (step2 : run (need DeviceStreams P) (Device b :: Device a :: l) s2).
        { apply (one_more_runs _ _ s1 (Device b) []); [exact step1 | | intros k n []].
          unfold s1. rewrite one_more_other by congruence. cbn [need]. rewrite at_row, there_b. reflexivity. }
        assert (grows : forall k, s k <= s2 k).
        { intros k. unfold s2, s1, one_more. destruct (same_lane k (Device b)), (same_lane k (Device a)); lia. }
        assert (s2_channel : s2 (Channel a b) = s (Channel a b)) by reflexivity.
        assert (s2_a : s2 (Device a) = S (length (row_of before a))).
        { unfold s2. rewrite one_more_other by congruence. unfold s1. rewrite one_more_same, at_row. reflexivity. }
        assert (s2_b : s2 (Device b) = S (length (row_of before b))).
        { unfold s2. rewrite one_more_same. unfold s1. rewrite one_more_other by congruence. rewrite at_row. reflexivity. }
        assert (step3 : run (need DeviceStreams P) (Channel a b :: Device b :: Device a :: l) s3).
        { apply (one_more_runs _ _ s2 (Channel a b)
            (needs_of_message DeviceStreams P a b (length (row_of before a)) (length (row_of before b)))); [exact step2 | |].
          - rewrite s2_channel, gone. cbn [need].
            assert (at_a : nth_error (positions (sends_to b) (row P a)) (count (sends_to b) (row_of before a)) =
              Some (length (row_of before a))).
            { destruct head_a as [rest head_a]. rewrite row_is by exact in_a. rewrite shape, row_of_app.
              unfold row_of at 2. cbn [flat_map]. rewrite head_a. cbn [app].
              apply (position_at (sends_to b) (row_of before a) (Send b m) _ 0). cbn. apply Nat.eqb_refl. }
            assert (at_b : nth_error (positions (receives_from a) (row P b)) (count (sends_to b) (row_of before a)) =
              Some (length (row_of before b))).
            { rewrite (both_rows before _ shape). destruct head_b as [rest head_b]. rewrite row_is by exact in_b.
              rewrite shape, row_of_app. unfold row_of at 2. cbn [flat_map]. rewrite head_b. cbn [app].
              apply (position_at (receives_from a) (row_of before b) (Receive a m) _ 0). cbn. apply Nat.eqb_refl. }
            rewrite at_a, at_b. reflexivity.
          - intros k n [same | [same | among]].
            + inversion same. subst k n. lia.
            + inversion same. subst k n. lia.
            + apply in_app_iff in among. assert (holds : n <= s k); [| specialize (grows k); lia].
              destruct among as [among | among].
              * apply (all_earlier_have_gone before _ s a b shape (conj at_row gone) in_a). exact among.
              * apply (all_earlier_have_gone before _ s b a shape (conj at_row gone) in_b). exact among. }
        exists (Channel a b :: Device b :: Device a :: l), s3. split; [exact step3 |]. split.
        * intros c. unfold s3. rewrite one_more_other by discriminate. rewrite row_of_app, app_length. unfold row_of at 2.
          cbn [flat_map appends]. rewrite app_nil_r, app_length.
          destruct (Nat.eqb_spec a c) as [same_a | other_a]; destruct (Nat.eqb_spec b c) as [same_b | other_b]; cbn [length].
          -- congruence.
          -- subst c. rewrite s2_a. lia.
          -- subst c. rewrite s2_b. lia.
          -- unfold s2, s1. rewrite !one_more_other by congruence. rewrite at_row. lia.
        * intros c e. rewrite row_of_app. unfold row_of at 2, count.
          rewrite filter_app, app_length. fold (count (sends_to e) (row_of before c)).
          cbn [flat_map appends]. rewrite app_nil_r, filter_app, app_length.
          assert (old : s2 (Channel c e) = count (sends_to e) (row_of before c)) by apply gone.
          destruct (same_lane (Channel c e) (Channel a b)) as [same | differs].
          -- inversion same. subst c e. unfold s3. rewrite one_more_same, s2_channel, gone, !Nat.eqb_refl.
             destruct (Nat.eqb_spec b a); cbn; rewrite Nat.eqb_refl; cbn; lia.
          -- unfold s3. rewrite one_more_other by exact differs. rewrite old.
             destruct (Nat.eqb_spec a c) as [same_a | other_a]; destruct (Nat.eqb_spec b c) as [same_b | other_b]; cbn;
               try (destruct (Nat.eqb_spec b e); [congruence |]); cbn; lia.
  Qed.

  (** A plan that is written in this way ends under all four semantics. *)
  Theorem lowered_plans_end : forall X, ends X P.
  Proof.
    intros X. apply (ends_under_more_permissive DeviceStreams); [destruct X; exact I |].
    destruct (moves_run moves []) as [l [s [runs [at_row _]]]]; [symmetry; apply app_nil_r |].
    apply (one_run_is_enough DeviceStreams P l s runs). intros d. rewrite at_row.
    destruct (le_lt_dec devices d) as [out | inside].
    - rewrite (row_outside moves []); [| symmetry; apply app_nil_r | exact out].
      assert (empty : row P d = []); [| rewrite empty; reflexivity].
      unfold row, P, plan_of. apply nth_overflow. rewrite map_length, seq_length. exact out.
    - rewrite row_is by exact inside. reflexivity.
  Qed.

  Lemma same_messages_appended : forall before behind, moves = before ++ behind -> forall a b,
    sent_messages b (row_of before a) = received_messages a (row_of before b).
  Proof.
    intros before. induction before as [| x before IH] using rev_ind; intros behind shape a b; [reflexivity |].
    rewrite <- app_assoc in shape. cbn in shape. specialize (IH _ shape a b).
    specialize (Lowered before x behind shape). rewrite !row_of_app. unfold sent_messages, received_messages in *.
    rewrite !flat_map_app, IH. f_equal. unfold row_of. cbn [flat_map]. rewrite !app_nil_r.
    destruct x as [c y | c e m]; cbn in Lowered |- *.
    - destruct Lowered as [_ kind]. destruct (c =? a), (c =? b), y; cbn; try reflexivity; contradiction.
    - destruct Lowered as [_ [_ apart]].
      destruct (Nat.eqb_spec c a), (Nat.eqb_spec e a), (Nat.eqb_spec c b), (Nat.eqb_spec e b); cbn; subst;
        rewrite ?Nat.eqb_refl; cbn; try reflexivity; try congruence;
        repeat match goal with |- context [?p =? ?q] => destruct (Nat.eqb_spec p q); cbn end; try reflexivity; congruence.
  Qed.

  (** And receives its messages in the order in which they are sent. *)
  Theorem lowered_plans_are_in_order : in_order P.
  Proof.
    intros a b.
    assert (rows : forall d, row P d = row_of moves d).
    { intros d. destruct (le_lt_dec devices d) as [out | inside]; [| apply row_is; exact inside].
      rewrite (row_outside moves []); [| symmetry; apply app_nil_r | exact out].
      unfold row, P, plan_of. apply nth_overflow. rewrite map_length, seq_length. exact out. }
    rewrite !rows. apply (same_messages_appended moves []). symmetry. apply app_nil_r.
  Qed.

  (** If passes make the messages before they are exchanged, they are made before they are sent. *)
  Theorem lowered_plans_make_before_they_send :
    (forall before a b m behind, moves = before ++ Exchange a b m :: behind ->
      exists inputs outputs, In (Run inputs outputs) (row_of before a) /\ In m outputs) ->
    made_before_sent P.
  Proof.
    intros makes d n to m there.
    assert (inside : d < devices).
    { assert (small : d < length P) by (apply (row_inside P d n); congruence).
      unfold P, plan_of in small. rewrite map_length, seq_length in small. exact small. }
    rewrite row_is in there |- * by exact inside. revert n to m there.
    assert (each : forall before behind, moves = before ++ behind -> forall n to m,
      nth_error (row_of before d) n = Some (Send to m) ->
      exists i inputs outputs, i < n /\ nth_error (row_of before d) i = Some (Run inputs outputs) /\ In m outputs);
      [| apply (each moves []); symmetry; apply app_nil_r].
    intros before. induction before as [| x before IH] using rev_ind; intros behind shape n to m there;
      [destruct n; discriminate |].
    rewrite <- app_assoc in shape. cbn in shape. rewrite row_of_app in there |- *.
    destruct (le_lt_dec (length (row_of before d)) n) as [new | old].
    - rewrite nth_error_app2 in there by exact new.
      unfold row_of at 1 in there. cbn [flat_map] in there. rewrite app_nil_r in there.
      specialize (Lowered before x behind shape). apply nth_error_In in there.
      destruct x as [c y | a b k]; cbn in Lowered, there.
      + destruct (c =? d); [| destruct there]. destruct there as [same | []]. subst y. destruct Lowered as [_ []].
      + assert (found : a = d /\ k = m).
        { destruct (Nat.eqb_spec a d) as [same | differs]; destruct (b =? d); cbn in there;
            repeat (destruct there as [there | there]; try discriminate there);
            try contradiction; inversion there; split; assumption || reflexivity. }
        destruct found. subst a k. destruct (makes before d b m behind shape) as [ins [outs [is_run output]]].
        destruct (In_nth_error _ _ is_run) as [i at_i]. exists i, ins, outs.
        assert (i < length (row_of before d)) by (apply nth_error_Some; congruence).
        split; [lia |]. rewrite nth_error_app1 by assumption. split; assumption.
    - rewrite nth_error_app1 in there by exact old. destruct (IH _ shape n to m there) as [i [ins [outs [less [is_run output]]]]].
      exists i, ins, outs. split; [exact less |]. rewrite nth_error_app1 by lia. split; assumption.
  Qed.
End Lowered.

(** *** Exactly when a plan ends *)

(** Some step of every chain of waits is of an action or a message that exists, except where all of it is in one lane. *)
Lemma chain_has_a_step : forall need e f, clos_trans _ (waits_for need) e f ->
  (fst e = fst f /\ snd f < snd e) \/
  exists g : step_of (lane := lane), need (fst g) (snd g) <> None /\ (e = g \/ clos_trans _ (waits_for need) e g) /\
    clos_trans _ (waits_for need) g f.
Proof.
  intros need e f chain. apply clos_trans_t1n in chain. induction chain as [e f direct | e x f direct chain IH].
  - inversion direct as [k i | k i needed j n can inside]; subst.
    + left. cbn. split; [reflexivity | lia].
    + right. exists (k, i). split; [cbn; congruence |]. split; [left; reflexivity | constructor; exact direct].
  - apply clos_t1n_trans in chain. inversion direct as [k i | k i needed j n can inside]; subst.
    + destruct IH as [[same less] | [g [some [reaches leads]]]].
      * left. cbn in *. split; [exact same | lia].
      * right. exists g. split; [exact some |]. split; [| exact leads]. right. destruct reaches as [same | reaches].
        -- subst g. constructor. exact direct.
        -- apply (t_trans _ _ _ (k, i)); [constructor; exact direct | exact reaches].
    + right. exists (k, i). split; [cbn; congruence |]. split; [left; reflexivity |].
      apply (t_trans _ _ _ (j, n)); [constructor; exact direct | exact chain].
Qed.

Lemma ending_plans_are_possible : forall X P, ends X P -> received_before_used P /\ sent_before_waited P.
Proof.
  intros X P good.
  destruct (every_run_comes_to_an_end X P [] (fun _ => 0)) as [l [s [runs stops]]]; [apply run_starts; reflexivity |].
  assert (all := good _ s runs stops).
  assert (possible : forall d n a, nth_error (row P d) n = Some a -> needs_of_action X d (firstn n (row P d)) a <> None).
  { intros d n a there. assert (before : n < s (Device d)) by (rewrite all; apply nth_error_Some; congruence).
    destruct (taken_steps_had_needs same_lane (need X P) _ s runs (Device d) n before) as [needed [can _]].
    cbn [need] in can. rewrite there in can. congruence. }
  split.
  - intros d n ins outs m there inside. specialize (possible d n _ there). cbn in possible.
    destruct (arrivals d (firstn n (row P d)) ins) as [needed |] eqn:found; [| congruence].
    destruct (arrivals_needed _ _ _ _ _ found inside) as [from [i [is_there _]]]. exists from.
    destruct (received_is_there _ _ _ _ is_there) as [j [at_j _]]. apply (nth_error_In _ j). exact at_j.
  - intros d n m there. specialize (possible d n _ there). cbn in possible.
    destruct (sent m (firstn n (row P d))) as [[to i] |] eqn:found; [| congruence]. exists to.
    destruct (sent_is_there _ _ _ _ found) as [j [at_j _]]. apply (nth_error_In _ j). exact at_j.
Qed.

(** A plan in order ends exactly when it receives before it uses, sends before it waits, and nothing waits for itself. *)
Theorem ends_exactly_when_acyclic : forall X P, X = Buffered \/ X = Rendezvous -> in_order P ->
  (ends X P <-> received_before_used P /\ sent_before_waited P /\ acyclic X P).
Proof.
  intros X P no_streams order. split.
  - intros good. destruct (ending_plans_are_possible X P good) as [used waited].
    split; [exact used |]. split; [exact waited |]. intros e cycle.
    destruct (every_run_comes_to_an_end X P [] (fun _ => 0)) as [l [s [runs stops]]]; [apply run_starts; reflexivity |].
    assert (all := good _ s runs stops).
    assert (on_cycle : exists g : step_of, need X P (fst g) (snd g) <> None /\ clos_trans _ (waits_for (need X P)) g g).
    { destruct (chain_has_a_step _ e e cycle) as [[_ less] | [g [some [reaches leads]]]]; [lia |]. exists g. split; [exact some |].
      destruct reaches as [same | reaches]; [subst; exact leads | apply (t_trans _ _ _ e); assumption]. }
    destruct on_cycle as [[k n] [some around]]. cbn in some.
    apply (cycles_never_run same_lane (need X P) _ s (k, n) runs around). unfold done. cbn.
    destruct (need X P k n) as [needed |] eqn:can; [| congruence]. apply steps_are_known in can. destruct can as [_ small].
    destruct k as [d | a b]; cbn in small.
    + rewrite all. exact small.
    + rewrite (all_messages_arrive X P no_streams order _ s runs stops all a b).
      unfold positions in small. rewrite length_of_positions in small. exact small.
  - intros [used [waited no_cycle]]. apply acyclic_plans_end; assumption.
Qed.

(** *** From the rules of the code to the order of messages *)

(** [swapped-messages] compares both sides only as far as both go. No message occurs twice ([duplicate-action]), and each that is
    sent is received and the other way round ([never-sent], [never-received], where a pass needs it), so they are the same. *)
Lemma compared_lists_are_equal : forall l k : list message, NoDup l -> NoDup k -> (forall m, In m l <-> In m k) ->
  (forall n m m', nth_error l n = Some m -> nth_error k n = Some m' -> m = m') -> l = k.
Proof.
  intros l k single single' same compared.
  assert (long : length l = length k).
  { apply Nat.le_antisymm; apply NoDup_incl_length; try assumption; intros m inside; apply same; exact inside. }
  clear single single' same. revert k compared long. induction l as [| m l IH]; intros [| m' k] compared long; try discriminate.
  - reflexivity.
  - f_equal; [apply (compared 0); reflexivity |]. apply IH; [| inversion long; reflexivity].
    intros n x y. apply (compared (S n)).
Qed.

Theorem rules_of_the_code_give_the_order : forall P,
  (forall a b, NoDup (sent_messages b (row P a)) /\ NoDup (received_messages a (row P b))) ->
  (forall a b m, In m (sent_messages b (row P a)) <-> In m (received_messages a (row P b))) ->
  (forall a b n m m', nth_error (sent_messages b (row P a)) n = Some m ->
    nth_error (received_messages a (row P b)) n = Some m' -> m = m') ->
  in_order P.
Proof.
  intros P single same compared a b. apply compared_lists_are_equal; [apply single | apply single | apply same | apply compared].
Qed.

(** *** Messages and passes *)

(** What a device does, in terms of the passes of a model. A backward is an input gradient and a weight gradient in one. *)
Inductive cell :=
| Passes (l : list Execution.pass)
| SendCell (m : message)
| ReceiveCell (m : message)
| WaitCell (m : message)
| OtherCell.

Section Files.
  Variable M : Execution.model.

  Definition sender (m : message) : nat := (if is_gradient m then S else id) (N.to_nat (boundary m)).
  Definition receiver (m : message) : nat := (if is_gradient m then id else S) (N.to_nat (boundary m)).

  (** A message is needed only between devices. *)
  Definition if_crossing (m : message) : list message :=
    if Execution.device_of M (sender m) =? Execution.device_of M (receiver m) then [] else [m].

  Definition into_pass (p : Execution.pass) : list message :=
    let s := Execution.stage_of p in
    let m := N.of_nat (Execution.microbatch_of p) in
    match Execution.kind_of p with
    | Execution.F => match s with 0 => [] | S b => if_crossing (Message false (N.of_nat b) m) end
    | Execution.I => if S s <? Execution.stages M then if_crossing (Message true (N.of_nat s) m) else []
    | Execution.W => []
    end.

  Definition out_of_pass (p : Execution.pass) : list message :=
    let s := Execution.stage_of p in
    let m := N.of_nat (Execution.microbatch_of p) in
    match Execution.kind_of p with
    | Execution.F => if S s <? Execution.stages M then if_crossing (Message false (N.of_nat s) m) else []
    | Execution.I => match s with 0 => [] | S b => if_crossing (Message true (N.of_nat b) m) end
    | Execution.W => []
    end.

  Definition action_of (c : cell) : action :=
    match c with
    | Passes l => Run (flat_map into_pass l) (flat_map out_of_pass l)
    | SendCell m => Send (Execution.device_of M (receiver m)) m
    | ReceiveCell m => Receive (Execution.device_of M (sender m)) m
    | WaitCell m => WaitSend m
    | OtherCell => Other
    end.

  Definition plan_of_file (rows : list (list cell)) : plan := map (map action_of) rows.

  (** What verify says of the sends and receives of a file. *)
  Definition file_is_verified (rows : list (list cell)) : bool := verified (plan_of_file rows).

  Lemma row_of_file : forall rows d, row (plan_of_file rows) d = map action_of (nth d rows []).
  Proof. intros rows d. unfold row, plan_of_file. change ([] : list action) with (map action_of []) at 1. apply map_nth. Qed.

  Lemma runs_are_passes : forall rows d n inputs outputs, nth_error (row (plan_of_file rows) d) n = Some (Run inputs outputs) ->
    exists l, nth_error (nth d rows []) n = Some (Passes l) /\ inputs = flat_map into_pass l /\ outputs = flat_map out_of_pass l.
  Proof.
    intros rows d n inputs outputs there. rewrite row_of_file, nth_error_map in there.
    destruct (nth_error (nth d rows []) n) as [[l | m | m | m |] |]; cbn in there; try discriminate.
    inversion there. exists l. repeat split.
  Qed.

  Lemma only_maker : forall p q m, In m (out_of_pass p) -> In m (out_of_pass q) -> p = q.
  Proof.
    assert (inside : forall m k, In m (if_crossing k) -> m = k).
    { intros m k found. unfold if_crossing in found. destruct (_ =? _); [destruct found | destruct found as [same | []]; auto]. }
    assert (makes : forall p m, In m (out_of_pass p) ->
      m = Message false (N.of_nat (Execution.stage_of p)) (N.of_nat (Execution.microbatch_of p)) /\
      Execution.kind_of p = Execution.F \/
      exists b, Execution.stage_of p = S b /\ m = Message true (N.of_nat b) (N.of_nat (Execution.microbatch_of p)) /\
        Execution.kind_of p = Execution.I).
    { intros [k s i] m found. unfold out_of_pass in found.
      cbn [Execution.kind_of Execution.stage_of Execution.microbatch_of] in found |- *. destruct k.
      - left. destruct (S s <? Execution.stages M); [apply inside in found; split; [exact found | reflexivity] | destruct found].
      - right. destruct s as [| b]; [destruct found |]. apply inside in found. exists b. repeat split. exact found.
      - destruct found. }
    intros [k s i] [k' s' i'] m one two. apply makes in one. apply makes in two.
    cbn [Execution.kind_of Execution.stage_of Execution.microbatch_of] in one, two.
    destruct one as [[one kind] | [b [stage [one kind]]]]; destruct two as [[two kind'] | [b' [stage' [two kind']]]]; subst;
      inversion two as [[stages_agree microbatches_agree]];
      apply Nnat.Nat2N.inj in stages_agree; apply Nnat.Nat2N.inj in microbatches_agree; subst; reflexivity.
  Qed.

  (** What a pass needs from another device has been run there before it, in every run of a verified file. *)
  Theorem passes_of_other_devices_come_first : forall rows X, file_is_verified rows = true ->
    forall l s, run (need X (plan_of_file rows)) l s ->
    forall d n together p q lag, n < s (Device d) -> nth_error (nth d rows []) n = Some (Passes together) -> In p together ->
    Execution.pass_needs M q lag p ->
    Execution.device_of M (Execution.stage_of q) <> Execution.device_of M (Execution.stage_of p) ->
    exists e i others, i < s (Device e) /\ nth_error (nth e rows []) i = Some (Passes others) /\ In q others.
  Proof.
    intros rows X good l s runs d n together p q lag before there inside needed apart.
    destruct (verified_plans_are_safe _ good) as [_ [_ [order makes]]].
    assert (is_run : nth_error (row (plan_of_file rows) d) n =
      Some (Run (flat_map into_pass together) (flat_map out_of_pass together))).
    { rewrite row_of_file, nth_error_map, there. reflexivity. }
    assert (crossing_message : exists m, In m (into_pass p) /\ In m (out_of_pass q)).
    { assert (cross : forall m, Execution.device_of M (sender m) <> Execution.device_of M (receiver m) -> In m (if_crossing m)).
      { intros m differs. unfold if_crossing. destruct (Nat.eqb_spec (Execution.device_of M (sender m))
          (Execution.device_of M (receiver m))); [contradiction | left; reflexivity]. }
      destruct needed as [b i small known | i known | b i small known | b i small known]; cbn in apart; try congruence.
      - exists (Message false (N.of_nat b) (N.of_nat i)). unfold into_pass, out_of_pass.
        cbn [Execution.kind_of Execution.stage_of Execution.microbatch_of].
        assert (is_less : S b <? Execution.stages M = true) by (apply Nat.ltb_lt; exact small). rewrite is_less.
        assert (held : In (Message false (N.of_nat b) (N.of_nat i)) (if_crossing (Message false (N.of_nat b) (N.of_nat i)))).
        { apply cross. unfold sender, receiver, id. cbn. rewrite Nnat.Nat2N.id. exact apart. }
        split; exact held.
      - exists (Message true (N.of_nat b) (N.of_nat i)). unfold into_pass, out_of_pass.
        cbn [Execution.kind_of Execution.stage_of Execution.microbatch_of].
        assert (is_less : S b <? Execution.stages M = true) by (apply Nat.ltb_lt; exact small). rewrite is_less.
        assert (held : In (Message true (N.of_nat b) (N.of_nat i)) (if_crossing (Message true (N.of_nat b) (N.of_nat i)))).
        { apply cross. unfold sender, receiver, id. cbn. rewrite Nnat.Nat2N.id. exact apart. }
        split; exact held. }
    destruct crossing_message as [m [into_p out_of_q]].
    assert (input : In m (flat_map into_pass together)) by (apply in_flat_map; exists p; split; assumption).
    destruct (every_message_was_made X _ order makes l s runs d n _ _ m before is_run input)
      as [e [i [ins [outs [ran [is_pass output]]]]]].
    destruct (runs_are_passes rows e i ins outs is_pass) as [others [at_i [_ outs_are]]]. subst outs.
    exists e, i, others. split; [exact ran |]. split; [exact at_i |].
    apply in_flat_map in output. destruct output as [r [among made_by]]. rewrite (only_maker q r m out_of_q made_by). exact among.
  Qed.
End Files.
