(** * Execute: lanes carried out one after the other, as a program

    [outcome] sweeps over all lanes, and takes each as far as it goes, until a sweep moves nothing. Where it stops is where
    every run stops ([outcome_is_the_end]). Lanes have positive numbers as their names here, which maps need. *)

From Coq Require Import List Arith Lia Bool PeanoNat NArith FMapPositive PArith Relations FinFun.
Require Import Bubbleproof.Lanes.
Import ListNotations.

(** ** Carrying out lanes one after the other *)

Definition counts := PositiveMap.t nat.

Definition get (c : counts) (p : positive) : nat :=
  match PositiveMap.find p c with Some n => n | None => 0 end.

Lemma get_same : forall c p n, get (PositiveMap.add p n c) p = n.
Proof. intros c p n. unfold get. rewrite PositiveMap.gss. reflexivity. Qed.

Lemma get_other : forall c p q n, q <> p -> get (PositiveMap.add p n c) q = get c q.
Proof. intros c p q n differs. unfold get. rewrite PositiveMap.gso by exact differs. reflexivity. Qed.

Lemma get_empty : forall p, get (PositiveMap.empty nat) p = 0.
Proof. intros p. unfold get. rewrite PositiveMap.gempty. reflexivity. Qed.

(** A step, with lanes as numbers; [None] is one that is never possible. *)
Definition item := option (list (positive * nat)).

Definition ready (c : counts) (needed : list (positive * nat)) : bool :=
  forallb (fun '(p, n) => n <=? get c p) needed.

(** Lets a lane take as many steps as it can; whether it has taken any. *)
Fixpoint drain (c : counts) (p : positive) (taken : nat) (items : list item) : counts * list item * bool :=
  match items with
  | Some needed :: rest =>
      if ready c needed then
        let '(c, later, _) := drain (PositiveMap.add p (S taken) c) p (S taken) rest in (c, later, true)
      else (c, items, false)
  | _ => (c, items, false)
  end.

(** Likewise all lanes, one after the other. *)
Fixpoint sweep (c : counts) (lanes : list (positive * list item)) : counts * list (positive * list item) * bool :=
  match lanes with
  | [] => (c, [], false)
  | (p, items) :: others =>
      let '(c, later, moved) := drain c p (get c p) items in
      let '(c, rest, moved_too) := sweep c others in
      (c, (p, later) :: rest, (moved || moved_too)%bool)
  end.

(** Again and again, until nothing moves. *)
Fixpoint execute (fuel : nat) (c : counts) (lanes : list (positive * list item)) : counts :=
  match fuel with
  | 0 => c
  | S fuel => let '(c, lanes, moved) := sweep c lanes in if moved then execute fuel c lanes else c
  end.

Definition remaining (lanes : list (positive * list item)) : nat :=
  fold_right (fun '(_, items) n => length items + n) 0 lanes.

Definition outcome (lanes : list (positive * list item)) : counts :=
  execute (S (remaining lanes)) (PositiveMap.empty nat) lanes.

Section Executing.
  Context {lane : Type}.
  Variable same_lane : forall a b : lane, {a = b} + {a <> b}.
  Variable code : lane -> positive.
  Hypothesis Codes : forall j k, code j = code k -> j = k.

  Definition encode (needed : list (lane * nat)) : list (positive * nat) := map (fun '(k, n) => (code k, n)) needed.

  Variable need : needing lane.
  Variable items : lane -> list item.

  (** The items of a lane say what it needs. *)
  Definition right_items (k : lane) : Prop :=
    forall n, match nth_error (items k) n with
              | Some (Some needed) => exists known, need k n = Some known /\ needed = encode known
              | _ => need k n = None
              end.

  Variable lanes : list lane.
  Hypothesis Right : forall k, In k lanes -> right_items k.
  Hypothesis Known : forall k n needed, need k n = Some needed -> In k lanes.

  Definition agrees (c : counts) (s : state lane) : Prop := forall k, get c (code k) = s k.

  Definition blocked (s : state lane) (k : lane) : Prop := forall needed, need k (s k) = Some needed -> ~ met s needed.

  Lemma ready_means_met : forall c s needed, agrees c s -> (ready c (encode needed) = true <-> met s needed).
  Proof.
    intros c s needed agree. unfold ready, encode. rewrite forallb_forall. split.
    - intros all k n inside. specialize (all (code k, n)). rewrite <- agree. apply Nat.leb_le. apply all.
      apply in_map_iff. exists (k, n). split; [reflexivity | exact inside].
    - intros holds [p n] inside. apply in_map_iff in inside. destruct inside as [[k i] [same inside]]. inversion same. subst.
      apply Nat.leb_le. rewrite agree. apply holds. exact inside.
  Qed.

  Lemma skipn_head : forall (A : Type) n (l : list A),
    skipn n l = match nth_error l n with Some x => x :: skipn (S n) l | None => [] end.
  Proof.
    intros A n. induction n as [| n IH]; intros [| x l]; try reflexivity.
    cbn [skipn nth_error]. rewrite IH. reflexivity.
  Qed.

  Lemma drained : forall left c k l s, In k lanes -> run need l s -> agrees c s -> skipn (s k) (items k) = left ->
    exists c' left' moved l' s', drain c (code k) (s k) left = (c', left', moved) /\ run need l' s' /\ agrees c' s' /\
      left' = skipn (s' k) (items k) /\ (forall j, j <> k -> s' j = s j) /\ length left' <= length left /\
      if moved then length left' < length left else (forall j, s' j = s j) /\ blocked s k.
  Proof.
    intros left. induction left as [| head left IH]; intros c k l s inside runs agree shape.
    - exists c, [], false, l, s. split; [reflexivity |]. split; [exact runs |]. split; [exact agree |].
      split; [symmetry; exact shape |]. split; [reflexivity |]. split; [lia |]. split; [reflexivity |].
      intros needed can. specialize (Right k inside (s k)).
      rewrite skipn_head in shape. destruct (nth_error (items k) (s k)); [discriminate | congruence].
    - specialize (Right k inside (s k)) as here. pose proof shape as unfolded. rewrite skipn_head in unfolded.
      destruct (nth_error (items k) (s k)) as [first |] eqn:there; [| discriminate].
      inversion unfolded as [[same rest_is]]. subst first. cbn [drain].
      assert (stays : forall moved_not, (forall needed, need k (s k) = Some needed -> ~ met s needed) -> moved_not = false ->
        exists c' left' moved l' s', (c, head :: left, moved_not) = (c', left', moved) /\ run need l' s' /\ agrees c' s' /\
          left' = skipn (s' k) (items k) /\ (forall j, j <> k -> s' j = s j) /\ length left' <= length (head :: left) /\
          if moved then length left' < length (head :: left) else (forall j, s' j = s j) /\ blocked s k).
      { intros moved_not blocks is_false. subst moved_not. exists c, (head :: left), false, l, s.
        split; [reflexivity |]. split; [exact runs |]. split; [exact agree |]. split; [symmetry; exact shape |].
        split; [reflexivity |]. split; [lia |]. split; [reflexivity | exact blocks]. }
      destruct head as [needed |]; [| rewrite rest_is; apply stays; [intros needed can; congruence | reflexivity]].
      destruct here as [known [can same]]. subst needed.
      destruct (ready c (encode known)) eqn:is_ready.
      + apply (ready_means_met c s known agree) in is_ready.
        set (t := fun j => if same_lane j k then S (s j) else s j).
        assert (t_k : t k = S (s k)) by (unfold t; destruct (same_lane k k); [reflexivity | congruence]).
        assert (t_j : forall j, j <> k -> t j = s j).
        { intros j differs. unfold t. destruct (same_lane j k); [congruence | reflexivity]. }
        assert (next : run need (k :: l) t) by (apply (run_goes_on need l s t k known); assumption).
        destruct (IH (PositiveMap.add (code k) (S (s k)) c) k (k :: l) t inside next)
          as [c' [left' [moved [l' [s' [does [further [agree' [shape' [rest' [shorter _]]]]]]]]]]].
        * intros j. destruct (same_lane j k) as [same | differs].
          -- subst j. rewrite get_same. symmetry. exact t_k.
          -- rewrite get_other by (intros same; apply differs; apply Codes; exact same). rewrite t_j by exact differs. apply agree.
        * rewrite t_k. exact rest_is.
        * rewrite t_k in does. cbn [skipn] in rest_is. exists c', left', true, l', s'. rewrite rest_is.
          rewrite does. split; [reflexivity |].
          split; [exact further |]. split; [exact agree' |]. split; [exact shape' |].
          split; [intros j differs; rewrite rest' by exact differs; apply t_j; exact differs |]. cbn. split; lia.
      + rewrite rest_is. apply stays; [| reflexivity].
        intros others found holds. rewrite can in found. inversion found. subst others.
        apply (ready_means_met c s known agree) in holds. congruence.
  Qed.

  Definition entry (s : state lane) (k : lane) : positive * list item := (code k, skipn (s k) (items k)).

  Lemma swept : forall some c l s, incl some lanes -> NoDup some -> run need l s -> agrees c s ->
    exists c' moved l' s', sweep c (map (entry s) some) = (c', map (entry s') some, moved) /\ run need l' s' /\ agrees c' s' /\
      (forall j, ~ In j some -> s' j = s j) /\ remaining (map (entry s') some) <= remaining (map (entry s) some) /\
      if moved then remaining (map (entry s') some) < remaining (map (entry s) some)
      else (forall j, s' j = s j) /\ forall k, In k some -> blocked s k.
  Proof.
    intros some. induction some as [| k some IH]; intros c l s inside single runs agree.
    - exists c, false, l, s. split; [reflexivity |]. split; [exact runs |]. split; [exact agree |].
      split; [reflexivity |]. split; [lia |]. split; [reflexivity |]. intros k [].
    - inversion single as [| head tail fresh single_rest]. subst head tail.
      change (map (entry s) (k :: some)) with ((code k, skipn (s k) (items k)) :: map (entry s) some).
      cbn [sweep]. rewrite agree.
      destruct (drained (skipn (s k) (items k)) c k l s (inside k (or_introl eq_refl)) runs agree eq_refl)
        as [c1 [left [moved [l1 [s1 [does [runs1 [agree1 [shape1 [rest1 [shorter1 how1]]]]]]]]]]].
      rewrite does.
      assert (same_rest : map (entry s) some = map (entry s1) some).
      { apply map_ext_in. intros j among. unfold entry. rewrite rest1; [reflexivity |]. intros same. subst. contradiction. }
      rewrite same_rest.
      destruct (IH c1 l1 s1 (fun j among => inside j (or_intror among)) single_rest runs1 agree1)
        as [c2 [moved2 [l2 [s2 [does2 [runs2 [agree2 [rest2 [shorter2 how2]]]]]]]]].
      rewrite does2.
      assert (same_k : s2 k = s1 k) by (apply rest2; exact fresh).
      exists c2, (moved || moved2)%bool, l2, s2.
      assert (entry_k : entry s2 k = (code k, left)) by (unfold entry; rewrite same_k, shape1; reflexivity).
      change (map (entry s2) (k :: some)) with (entry s2 k :: map (entry s2) some).
      rewrite entry_k. split; [reflexivity |]. split; [exact runs2 |]. split; [exact agree2 |].
      split.
      { intros j out. rewrite rest2 by (intros among; apply out; right; exact among).
        apply rest1. intros same. apply out. left. symmetry. exact same. }
      cbn [remaining fold_right]. fold (remaining (map (entry s2) some)). fold (remaining (map (entry s1) some)).
      split; [lia |].
      destruct moved; cbn [orb]; [lia |]. destruct how1 as [same1 blocked1].
      destruct moved2; [lia |]. destruct how2 as [same2 blocked2]. split.
      + intros j. rewrite same2. apply same1.
      + intros j [same | among]; [subst; exact blocked1 |]. intros needed can holds.
        apply (blocked2 j among needed); [rewrite same1; exact can |].
        intros i n inside_needed. rewrite same1. apply holds. exact inside_needed.
  Qed.

  Lemma executed : NoDup lanes -> forall fuel c l s, run need l s -> agrees c s -> remaining (map (entry s) lanes) < fuel ->
    exists l' s', run need l' s' /\ stuck need s' /\ agrees (execute fuel c (map (entry s) lanes)) s'.
  Proof.
    intros single fuel. induction fuel as [| fuel IH]; intros c l s runs agree enough; [lia |].
    destruct (swept lanes c l s (incl_refl lanes) single runs agree)
      as [c' [moved [l' [s' [does [runs' [agree' [_ [_ how]]]]]]]]].
    cbn [execute]. rewrite does. destruct moved.
    - apply (IH c' l' s'); [exact runs' | exact agree' | lia].
    - exists l', s'. split; [exact runs' |]. split; [| exact agree'].
      destruct how as [same blocks]. intros k needed can holds.
      apply (blocks k (Known k (s' k) needed can) needed); [rewrite <- same; exact can |].
      intros j n inside. rewrite <- same. apply holds. exact inside.
  Qed.

  (** The outcome is the state in which every run ends. *)
  Theorem outcome_is_the_end : NoDup lanes ->
    exists l s, run need l s /\ stuck need s /\ agrees (outcome (map (fun k => (code k, items k)) lanes)) s.
  Proof.
    intros single. unfold outcome.
    assert (start : map (fun k => (code k, items k)) lanes = map (entry (fun _ => 0)) lanes) by reflexivity.
    rewrite start. apply (executed single _ _ [] (fun _ => 0)).
    - apply run_starts. reflexivity.
    - intros k. apply get_empty.
    - lia.
  Qed.
End Executing.
