(** * Recurrence: a state always comes again

    If every device has a stage, devices cannot drift apart without limit, so there are finitely many states at the cuts of a
    growing schedule, and one of them comes again ([a_state_comes_again]; [a_repetition_always_comes] asks for one valid
    schedule alone). So the search for a repetition, [first_repetition], ends. It is not trusted: [EveryMCheck] checks what it
    finds. *)

From Coq Require Import ZArith NArith List Lia Bool Arith Permutation FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Require Import Bubbleproof.Growing Bubbleproof.Earliest Bubbleproof.Repeats Bubbleproof.EveryM Bubbleproof.EveryMCheck.
Import ListNotations.
Open Scope Z_scope.

(** ** A state always comes again *)

(** *** Every schedule without a deadlock has an execution as soon as possible *)

Fixpoint run_before (l : list pass) (v : pass) : option pass :=
  match l with
  | a :: rest =>
    match rest with
    | b :: _ => if same_slot 0 b v && Nat.eqb (microbatch_of b) (microbatch_of v) then Some a else run_before rest v
    | [] => None
    end
  | [] => None
  end.

Lemma same_pass : forall b v, same_slot 0 b v && Nat.eqb (microbatch_of b) (microbatch_of v) = true <-> b = v.
Proof.
  intros [k s m] [k' s' m']. rewrite andb_true_iff, same_slot_iff, Nat.eqb_eq. cbn. split.
  - intros [[one [two _]] three]. congruence.
  - intros same. inversion same. auto.
Qed.

Lemma run_before_follows : forall l u v, run_before l v = Some u -> follows l u v.
Proof.
  intros l. induction l as [| a l IH]; intros u v found; [discriminate |]. cbn [run_before] in found.
  destruct l as [| b l]; [discriminate |].
  destruct (same_slot 0 b v && Nat.eqb (microbatch_of b) (microbatch_of v)) eqn:same.
  - apply same_pass in same. inversion found; subst. exists [], l. reflexivity.
  - destruct (IH u v found) as [x [y shape]]. exists (a :: x), y. rewrite shape. reflexivity.
Qed.

Lemma follows_run_before : forall l u v, NoDup l -> follows l u v -> run_before l v = Some u.
Proof.
  intros l. induction l as [| a l IH]; intros u v once [x [y shape]]; [destruct x; discriminate |].
  inversion once as [| z k new rest]; subst. cbn [run_before]. destruct x as [| c x]; cbn in shape; inversion shape; subst.
  - rewrite (proj2 (same_pass v v) eq_refl). reflexivity.
  - destruct (x ++ u :: v :: y) as [| b k] eqn:what; [destruct x; discriminate |].
    destruct (same_slot 0 b v && Nat.eqb (microbatch_of b) (microbatch_of v)) eqn:same.
    + apply same_pass in same. subst b. exfalso. destruct x as [| e x]; cbn in what; inversion what; subst.
      * inversion rest as [| z l fresh others]; subst. apply fresh. left. reflexivity.
      * inversion rest as [| z l fresh others]; subst. apply fresh. rewrite in_app_iff. cbn. auto.
    + apply IH; [exact rest |]. exists x, y. symmetry. exact what.
Qed.

(** What a pass waits for, and how long after the start of that. *)
Definition waits_for (M : model) (S : schedule) (v : pass) : list (pass * Z) :=
  if Nat.ltb (stage_of v) (stages M) && Nat.ltb (microbatch_of v) (microbatches M) then
    map (fun n => (fst n, time_of M (fst n) + snd n)) (needs_into M v) ++
    match run_before (S (device_of M (stage_of v))) v with Some u => [(u, time_of M u)] | None => [] end
  else [].

Fixpoint earliest (M : model) (S : schedule) (fuel : nat) (v : pass) : Z :=
  match fuel with
  | O => 0
  | S fuel => fold_right Z.max 0 (map (fun n => earliest M S fuel (fst n) + snd n) (waits_for M S v))
  end.

Lemma max_reached : forall l, fold_right Z.max 0 l = 0 \/ In (fold_right Z.max 0 l) l.
Proof.
  intros l. induction l as [| x l IH]; [left; reflexivity |]. cbn.
  destruct (Z.le_gt_cases x (fold_right Z.max 0 l)) as [low | high].
  - rewrite Z.max_r by exact low. destruct IH as [zero | there]; auto.
  - rewrite Z.max_l by lia. auto.
Qed.

Lemma exists_decided : forall M v, Nat.ltb (stage_of v) (stages M) && Nat.ltb (microbatch_of v) (microbatches M) = true <->
  exists_in M v.
Proof. intros M v. rewrite andb_true_iff, !Nat.ltb_lt. reflexivity. Qed.

Theorem as_soon_as_possible_exists : forall M S, well_formed M -> complete M S ->
  (exists place, sequence (problem_of M) (orders_of M S) place) -> exists start, as_soon_as_possible M S start.
Proof.
  intros M S well whole [place sooner].
  assert (waiting : forall u w v, In (u, w) (waits_for M S v) ->
    exists_in M v /\ ((exists lag, pass_needs M u lag v /\ w = time_of M u + lag) \/
      (follows (S (device_of M (stage_of v))) u v /\ w = time_of M u))).
  { intros u w v there. unfold waits_for in there.
    destruct (Nat.ltb (stage_of v) (stages M) && Nat.ltb (microbatch_of v) (microbatches M)) eqn:inside; [| destruct there].
    apply exists_decided in inside. split; [exact inside |]. rewrite in_app_iff in there. destruct there as [there | there].
    - left. apply in_map_iff in there. destruct there as [[x lag] [same there]]. cbn in same. inversion same; subst.
      exists lag. split; [apply needs_into_iff; assumption | reflexivity].
    - right. destruct (run_before (S (device_of M (stage_of v))) v) as [x |] eqn:found; [| destruct there].
      destruct there as [same | []]. inversion same; subst. split; [apply run_before_follows; exact found | reflexivity]. }
  assert (really : forall u w v, In (u, w) (waits_for M S v) -> waits (problem_of M) (orders_of M S) u w v).
  { intros u w v there. destruct (waiting u w v there) as [inside [[lag [need same]] | [next same]]]; subst w.
    - apply waits_of_need; assumption.
    - apply (waits_of_order M S (device_of M (stage_of v))); [apply well; apply inside | exact next]. }
  assert (stable : forall bound v n, (place v < bound)%nat -> (place v < n)%nat ->
    earliest M S n v = earliest M S (Datatypes.S (place v)) v).
  { intros bound. induction bound as [| bound IH]; intros v n low enough; [lia |]. destruct n as [| n]; [lia |]. cbn [earliest].
    f_equal.
    apply map_ext_in. intros [u w] there. cbn [fst snd]. pose proof (sooner u w v (really u w v there)) as less.
    rewrite (IH u n) by lia. rewrite (IH u (place v)) by lia. reflexivity. }
  set (start := fun v => earliest M S (Datatypes.S (place v)) v).
  assert (start_is : forall v, start v = fold_right Z.max 0 (map (fun n => start (fst n) + snd n) (waits_for M S v))).
  { intros v. unfold start at 1. cbn [earliest]. f_equal. apply map_ext_in. intros [u w] there. cbn [fst snd].
    pose proof (sooner u w v (really u w v there)) as less. rewrite (stable (place v) u (place v)) by lia. reflexivity. }
  assert (low : forall v, 0 <= start v) by (intros v; rewrite start_is; apply max_nonneg).
  assert (run : runs M S start).
  { split; [split; [exact low |] | exists place; exact sooner]. intros u w v wait. rewrite (start_is v). apply max_above.
    apply (in_map (fun n => start (fst n) + snd n) _ (u, w)). apply waits_cases in wait; [| exact well]. unfold waits_for.
    destruct wait as [[lag [need same]] | [d [inside [next same]]]]; subst w.
    - destruct (need_ends_exist M u lag v well need) as [_ there]. rewrite (proj2 (exists_decided M v) there), in_app_iff. left.
      apply (in_map (fun n => (fst n, time_of M (fst n) + snd n)) _ (u, lag)). apply needs_into_iff; assumption.
    - assert (there : In v (S d)) by (destruct next as [a [b shape]]; rewrite shape, in_app_iff; cbn; auto).
      apply (whole d inside) in there. destruct there as [there mine]. rewrite (proj2 (exists_decided M v) there), in_app_iff.
      right.
      rewrite mine, (follows_run_before (S d) u v) by (try exact next; apply (whole d inside)). left. reflexivity. }
  exists start. split; [exact run |]. intros v there.
  assert (inside : (device_of M (stage_of v) < devices M)%nat) by (apply well; apply there).
  destruct (max_reached (map (fun n => start (fst n) + snd n) (waits_for M S v))) as [zero | reached]; rewrite <- start_is in *.
  - right. assert (placed : In v (S (device_of M (stage_of v)))) by (apply (whole _ inside); auto).
    apply in_split in placed. destruct placed as [a [b shape]]. exists (device_of M (stage_of v)), a, b.
    repeat split; [exact inside | exact shape |].
    pose proof (last_end_nonneg M S start well run a). lia.
  - apply in_map_iff in reached. destruct reached as [[u w] [same found]]. cbn [fst snd] in same.
    destruct (waiting u w v found) as [_ [[lag [need length_]] | [[a [b shape]] length_]]]; subst w.
    + left. exists u, lag. split; [exact need | lia].
    + right. exists (device_of M (stage_of v)), (a ++ [u]), b. split; [exact inside |].
      split; [rewrite shape, <- app_assoc; reflexivity |]. rewrite last_end_snoc. lia.
Qed.

(** *** Devices cannot drift apart *)

(** The passes before a cut that one behind it needs, in the numbers of cut 0, each with who needs it and the latency. *)
Definition pending (M : model) (G : growing) : list (nat * pass * Z) :=
  flat_map (fun d => flat_map (fun v => flat_map (fun n =>
    map (fun j => (d, later (j * period G) (Pass (kind_of (fst n)) (stage_of (fst n)) (begins M G v)), snd n))
      (seq 0 ((begins M G (fst n) - begins M G v + period G - 1) / period G))) (needs_into M v)) (body G d)) (seq 0 (devices M)).

Definition lateness (M : model) (G : growing) (start : pass -> Z) (cut : nat) (x : nat * pass * Z) : Z :=
  let '(d, u, lag) := x in
  Z.max 0 (start (later (cut * period G) u) + time_of M u + lag - last_end M start (front G d cut)).

(** The state at a cut, counted from when device 0 is free. *)
Definition state_at (M : model) (G : growing) (start : pass -> Z) (cut : nat) : list Z :=
  map (fun d => last_end M start (front G d cut) - last_end M start (front G 0 cut)) (seq 0 (devices M)) ++
  map (lateness M G start cut) (pending M G).

Lemma filter_shorter : forall (A : Type) (f g : A -> bool) l x, (forall y, f y = true -> g y = true) -> In x l -> f x = false ->
  g x = true -> (length (filter f l) < length (filter g l))%nat.
Proof.
  intros A f g l x less. assert (weak : forall k, (length (filter f k) <= length (filter g k))%nat).
  { intros k. induction k as [| y k IH]; cbn; [lia |]. destruct (f y) eqn:one; [rewrite (less y one); cbn; lia |].
    destruct (g y); cbn; lia. }
  induction l as [| y l IH]; intros there no yes; [destruct there |]. cbn. destruct there as [same | there].
  - subst. rewrite no, yes. cbn. specialize (weak l). lia.
  - specialize (IH there no yes). destruct (f y) eqn:one; [rewrite (less y one); cbn; lia |]. destruct (g y); cbn; lia.
Qed.

Lemma filter_no_longer : forall (A : Type) (f : A -> bool) l, (length (filter f l) <= length l)%nat.
Proof. intros A f l. induction l as [| y l IH]; cbn; [lia |]. destruct (f y); cbn; lia. Qed.

(** There are finitely many lists of so many numbers within a range. *)
Fixpoint all_lists (values : list Z) (n : nat) : list (list Z) :=
  match n with
  | O => [[]]
  | S n => flat_map (fun x => map (cons x) (all_lists values n)) values
  end.

Lemma in_all_lists : forall values l, (forall x, In x l -> In x values) -> In l (all_lists values (length l)).
Proof.
  intros values l. induction l as [| x l IH]; intros each; cbn; [auto |]. apply in_flat_map. exists x.
  split; [apply each; left; reflexivity |].
  apply in_map. apply IH. intros y there. apply each. right. exact there.
Qed.

Lemma in_range : forall B x, (- B <= x <= B) -> In x (map (fun n => Z.of_nat n - B) (seq 0 (Z.to_nat (2 * B + 1)))).
Proof. intros B x within. apply in_map_iff. exists (Z.to_nat (x + B)). split; [lia | apply in_seq; lia]. Qed.

(** Among more values than there are, two are the same. *)
Lemma two_are_same : forall (f : nat -> list Z) (values : list (list Z)) n, (length values < n)%nat ->
  (forall i, (i < n)%nat -> In (f i) values) -> exists i j, (i < j < n)%nat /\ f i = f j.
Proof.
  intros f values n many each.
  assert (search : forall k, (exists i j, (i < j < k)%nat /\ f i = f j) \/ NoDup (map f (seq 0 k))).
  { intros k. induction k as [| k [[i [j [range same]]] | once]]; [right; constructor | left; exists i, j; split; [lia |
      exact same] |].
    destruct (in_dec (list_eq_dec Z.eq_dec) (f k) (map f (seq 0 k))) as [there | not].
    - left. apply in_map_iff in there. destruct there as [i [same range]]. apply in_seq in range. exists i, k.
      split; [lia | exact same].
    - right. rewrite seq_S, map_app. cbn. apply NoDup_join; [exact once | repeat constructor; intros [] |].
      intros x one [two | []]. subst. contradiction. }
  destruct (search n) as [found | once]; [exact found |]. exfalso.
  assert (length (map f (seq 0 n)) <= length values)%nat.
  { apply NoDup_incl_length; [exact once |]. intros x there. apply in_map_iff in there. destruct there as [i [same range]].
    apply in_seq in range. subst. apply each. lia. }
  rewrite map_length, seq_length in H. lia.
Qed.

Lemma map_same : forall (A B : Type) (f g : A -> B) l, map f l = map g l -> forall x, In x l -> f x = g x.
Proof. intros A B f g l same. apply ext_in_map. exact same. Qed.

Lemma app_same : forall (A : Type) (a b c d : list A), length a = length c -> a ++ b = c ++ d -> a = c /\ b = d.
Proof.
  intros A a. induction a as [| x a IH]; intros b [| y c] d long same; cbn in *; try lia; [auto |].
  inversion same; subst. destruct (IH b c d) as [one two]; [lia | assumption |]. subst. auto.
Qed.

Section Always.
  Variable M : model.
  Variable G : growing.
  Hypothesis Well : well_formed M.
  Hypothesis Repeatable : repeatable M G.
  Hypothesis Whole : forall q, complete (model_at M G q) (order G q).
  Hypothesis Used : forall d, (d < devices M)%nat -> exists s, (s < stages M)%nat /\ device_of M s = d.
  Notation K := (period G).
  Notation device p := (device_of M (stage_of p)).

  (** More than any pass takes, and than any latency. *)
  Definition longest : Z := fold_right Z.max 0 (map (fun s => time M F s + time M I s + time M W s + latency M s) (seq 0 (stages
    M))).

  Lemma longest_stage : forall s, (s < stages M)%nat -> (forall k, 0 <= time M k s <= longest) /\ 0 <= latency M s <= longest.
  Proof.
    intros s inside. destruct Well as [_ [_ [times [latencies _]]]].
    assert (time M F s + time M I s + time M W s + latency M s <= longest).
    { apply max_above. apply (in_map (fun s => time M F s + time M I s + time M W s + latency M s)). apply in_seq. lia. }
    pose proof (times F s). pose proof (times I s). pose proof (times W s). pose proof (latencies s).
    split; [intros [] |]; lia.
  Qed.

  Lemma longest_pass : forall p, (stage_of p < stages M)%nat -> 0 <= time_of M p <= longest.
  Proof. intros [k s m] inside. apply longest_stage. exact inside. Qed.

  Lemma longest_lag : forall m u lag v, pass_needs (resized M m) u lag v -> 0 <= lag <= longest.
  Proof.
    intros m u lag v need. assert (0 <= longest) by apply max_nonneg. destruct need; cbn in *; try lia; apply longest_stage; lia.
  Qed.

  Section Bounds.
    Variable Q : nat.
    Variable s : pass -> Z.
    Hypothesis Soon : as_soon_as_possible (model_at M G Q) (order G Q) s.

    Definition end_at (d k : nat) : Z := last_end M s (front G d k).
    Definition latest (k : nat) : Z := fold_right Z.max 0 (map (fun d => end_at d k) (seq 0 (devices M))).
    Definition in_body : nat := length (flat_map (fun d => body G d) (seq 0 (devices M))).
    Definition growth : Z := 2 * longest * (1 + Z.of_nat in_body) + longest.

    Lemma latest_above : forall d k, (d < devices M)%nat -> end_at d k <= latest k.
    Proof. intros d k inside. apply max_above. apply (in_map (fun d => end_at d k)). apply in_seq. lia. Qed.

    Lemma latest_nonneg : forall k, 0 <= latest k.
    Proof. intros k. apply max_nonneg. Qed.

    Lemma end_covers : forall d k p, (d < devices M)%nat -> (k <= Q)%nat -> In p (front G d k) -> s p + time_of M p <= end_at d k.
    Proof.
      intros d k p inside less there. apply in_split in there. destruct there as [a [b shape]]. unfold end_at.
      assert (whole : order G Q d = (a ++ [p]) ++ b ++ map (later (k * K)) (back G d (Q - k))).
      { rewrite (order_is G d k Q less), shape, <- !app_assoc. reflexivity. }
      pose proof (last_end_grows (model_at M G Q) (order G Q) s (resized_well M _ Well) (proj1 Soon) d (a ++ [p]) b _ inside
        whole) as grows.
      change (last_end (model_at M G Q)) with (last_end M) in grows. rewrite last_end_snoc in grows.
      rewrite shape. replace (a ++ p :: b) with ((a ++ [p]) ++ b) by (rewrite <- app_assoc; reflexivity). exact grows.
    Qed.

    Lemma end_grows : forall d k n, (d < devices M)%nat -> (k + n <= Q)%nat -> end_at d k <= end_at d (k + n).
    Proof.
      intros d k n inside less. unfold end_at.
      assert (shape : front G d (k + n) = front G d k ++ map (later (k * K)) (bodies G d n)).
      { unfold front. rewrite bodies_add, app_assoc. reflexivity. }
      rewrite shape. apply (last_end_grows (model_at M G Q) (order G Q) s (resized_well M _ Well) (proj1 Soon) d _ _
        (map (later ((k + n) * K)) (back G d (Q - (k + n)))) inside).
      rewrite (order_is G d (k + n) Q less), shape, <- app_assoc. reflexivity.
    Qed.

    (** A repetition takes a bounded time. *)
    Lemma latest_next : forall k, (S k <= Q)%nat -> latest (S k) <= latest k + growth.
    Proof.
      intros k less. destruct (proj2 (proj1 Soon)) as [place sooner].
      assert (some : 0 <= longest) by apply max_nonneg.
      set (L := flat_map (fun d => map (later (k * K)) (body G d)) (seq 0 (devices M))).
      set (rank := fun v => length (filter (fun u => Nat.ltb (place u) (place v)) L)).
      assert (size_ : length L = in_body).
      { unfold L, in_body. induction (seq 0 (devices M)) as [| d l IH]; [reflexivity |]. cbn. rewrite !app_length, map_length, IH.
        reflexivity. }
      assert (rank_less : forall u v, In u L -> (place u < place v)%nat -> (rank u < rank v)%nat).
      { intros u v there less_. apply (filter_shorter _ _ _ L u).
        - intros y low. apply Nat.ltb_lt in low. apply Nat.ltb_lt. lia.
        - exact there.
        - apply Nat.ltb_irrefl.
        - apply Nat.ltb_lt. exact less_. }
      assert (split_ : forall d p, (d < devices M)%nat -> In p (front G d (S k)) -> In p (front G d k) \/ In p L).
      { intros d p inside there. unfold front in there. rewrite bodies_next, app_assoc, in_app_iff in there.
        destruct there as [there | there]; [auto |].
        right. apply in_flat_map. exists d. split; [apply in_seq; lia | exact there]. }
      assert (stage_in : forall d p, (d < devices M)%nat -> In p (front G d (S k)) -> (stage_of p < stages M)%nat).
      { intros d p inside there. apply (front_exists M G Whole d (S k) Q p inside less there). }
      assert (bound : forall n d v, (place v < n)%nat -> (d < devices M)%nat -> In v (front G d (S k)) ->
        s v <= latest k + 2 * longest * (1 + Z.of_nat (rank v))).
      { intros n. induction n as [| n IH]; intros d v low inside there; [lia |].
        pose proof (longest_pass v (stage_in d v inside there)) as time_v.
        assert (room : forall r, 0 <= 2 * longest * Z.of_nat r) by (intros r; apply Z.mul_nonneg_nonneg; lia).
        destruct (front_exists M G Whole d (S k) Q v inside less there) as [there_v mine].
        destruct (split_ d v inside there) as [early | late].
        { pose proof (end_covers d k v inside ltac:(lia) early). pose proof (latest_above d k inside). specialize (room (rank v)).
          lia. }
        (* What ended before v, w ticks after it started and at most [longest] ticks later. *)
        assert (through : forall e u, (e < devices M)%nat -> In u (front G e (S k)) -> (place u < place v)%nat ->
          s v <= s u + time_of M u + longest -> s v <= latest k + 2 * longest * (1 + Z.of_nat (rank v))).
        { intros e u inside_e there_u less_u close. pose proof (longest_pass u (stage_in e u inside_e there_u)) as time_u.
          destruct (split_ e u inside_e there_u) as [early | in_L].
          - pose proof (end_covers e k u inside_e ltac:(lia) early). pose proof (latest_above e k inside_e).
            specialize (room (rank v)). lia.
          - pose proof (IH e u ltac:(lia) inside_e there_u) as before. pose proof (rank_less u v in_L less_u) as more.
            assert (2 * longest * (1 + Z.of_nat (rank u)) + 2 * longest <= 2 * longest * (1 + Z.of_nat (rank v))).
            { replace (2 * longest * (1 + Z.of_nat (rank u)) + 2 * longest) with (2 * longest * (2 + Z.of_nat (rank u))) by ring.
              apply Z.mul_le_mono_nonneg_l; lia. }
            lia. }
        destruct (proj2 Soon v there_v) as [[u [lag [need exact_]]] | [e [done [rest [inside_e [shape soon]]]]]].
        - destruct (need_ends_exist _ _ _ _ (resized_well M _ Well) need) as [there_u _].
          assert (home : (device u < devices M)%nat) by (apply Well; apply there_u).
          pose proof (cut_closed M G Repeatable _ (S k) u lag v need (front_before M G Repeatable d (S k) v inside there)) as cut.
          apply (through (device u) u home).
          + apply (all_in_front M G Well Repeatable Whole (S k) u); [apply there_u | exact cut].
          + apply (sooner u _ v (waits_of_need (model_at M G Q) (order G Q) u lag v (resized_well M _ Well) need)).
          + pose proof (longest_lag _ _ _ _ need). change (time_of (model_at M G Q) u) with (time_of M u) in exact_. lia.
        - destruct (last_case _ done) as [none | [a [u same]]]; subst done.
          + cbn in soon. pose proof (latest_nonneg k). specialize (room (rank v)). lia.
          + rewrite last_end_snoc in soon. change (time_of (model_at M G Q) u) with (time_of M u) in soon.
            assert (next : follows (order G Q e) u v) by (exists a, rest; rewrite shape, <- app_assoc; reflexivity).
            assert (same : d = e).
            { rewrite <- mine. apply (Whole Q e inside_e). rewrite shape, !in_app_iff. cbn. auto. }
            subst e. apply (through d u inside).
            * pose proof there as split_v. apply in_split in split_v. destruct split_v as [x [y split_v]].
              assert (both : order G Q d = x ++ v :: (y ++ map (later (S k * K)) (back G d (Q - S k)))).
              { rewrite (order_is G d (S k) Q less), split_v, <- app_assoc. reflexivity. }
              destruct (Whole Q d inside) as [once _]. rewrite shape in both, once.
              destruct (NoDup_split _ _ _ _ _ _ once both) as [x_is _]. rewrite split_v, <- x_is, !in_app_iff. cbn. auto.
            * apply (sooner u _ v (waits_of_order (model_at M G Q) (order G Q) d u v inside next)).
            * lia. }
      unfold latest at 1. apply max_below.
      - pose proof (latest_nonneg k). unfold growth.
        assert (0 <= 2 * longest * (1 + Z.of_nat in_body)) by (apply Z.mul_nonneg_nonneg; lia). lia.
      - intros x there. apply in_map_iff in there. destruct there as [d [same range]]. apply in_seq in range. subst x.
        assert (inside : (d < devices M)%nat) by lia. unfold end_at.
        destruct (last_case _ (front G d (S k))) as [none | [a [v shape]]].
        + rewrite none. cbn. pose proof (latest_nonneg k). unfold growth.
          assert (0 <= 2 * longest * (1 + Z.of_nat in_body)) by (apply Z.mul_nonneg_nonneg; lia). lia.
        + rewrite shape, last_end_snoc. assert (there : In v (front G d (S k))) by (rewrite shape, in_app_iff; cbn; auto).
          pose proof (bound (S (place v)) d v ltac:(lia) inside there) as low.
          pose proof (longest_pass v (stage_in d v inside there)) as time_v.
          pose proof (filter_no_longer _ (fun u => Nat.ltb (place u) (place v)) L) as few. fold (rank v) in few.
          rewrite size_ in few.
          assert (2 * longest * (1 + Z.of_nat (rank v)) <= 2 * longest * (1 + Z.of_nat in_body)) by (apply Z.mul_le_mono_nonneg_l;
            lia).
          unfold growth. lia.
    Qed.

    Lemma latest_later : forall n k, (k + n <= Q)%nat -> latest (k + n) <= latest k + Z.of_nat n * growth.
    Proof.
      intros n k. induction n as [| n IH]; intros less; [rewrite Nat.add_0_r; lia |].
      rewrite Nat.add_succ_r. pose proof (latest_next (k + n) ltac:(lia)). specialize (IH ltac:(lia)). lia.
    Qed.

    (** How many repetitions later a neighbour has had what a device has run. *)
    Definition spread : nat := S (list_max (map microbatch_of (flat_map (fun d => body G d) (seq 0 (devices M))))).

    Lemma begins_spread : forall p, (stage_of p < stages M)%nat -> (begins M G p < spread)%nat.
    Proof.
      intros p inside. unfold spread. apply Nat.lt_succ_r.
      pose proof (proj1 (list_max_le (map microbatch_of (flat_map (fun d => body G d) (seq 0 (devices M)))) _) (Nat.le_refl _))
        as each.
      rewrite Forall_forall in each. apply each.
      apply (in_map microbatch_of _ (Pass (kind_of p) (stage_of p) (begins M G p))). apply in_flat_map. exists (device p).
      split; [apply in_seq; pose proof (proj1 (proj2 Well) (stage_of p) inside); lia | apply (body_of M G Repeatable p inside)].
    Qed.

    (** A pass of body k starts when what its device has run before has ended; what needs it is run soon. *)
    Lemma neighbour : forall k u lag v, (k + spread <= Q)%nat -> microbatch_of u = (begins M G u + k * K)%nat ->
      (forall m, (microbatch_of u < m)%nat -> pass_needs (resized M m) u lag v) ->
      end_at (device u) k <= end_at (device v) (k + spread).
    Proof.
      intros k u lag v less which need. pose proof (need (S (microbatch_of u)) ltac:(lia)) as one.
      pose proof (need_same M _ _ _ _ one) as same.
      destruct (need_ends_exist _ _ _ _ (resized_well M _ Well) one) as [[stage_u _] [stage_v _]]. cbn in stage_u, stage_v.
      pose proof (period_positive M G Repeatable) as some. pose proof (begins_spread u stage_u) as low.
      assert (home_u : (device u < devices M)%nat) by (apply Well; exact stage_u).
      assert (home_v : (device v < devices M)%nat) by (apply Well; exact stage_v).
      assert (cut_v : before_cut M G (k + spread) v).
      { unfold before_cut. rewrite <- same, which. assert (spread <= spread * K)%nat by (destruct K; [lia |
          rewrite Nat.mul_succ_r; lia]). lia. }
      pose proof (all_in_front M G Well Repeatable Whole (k + spread) v stage_v cut_v) as there_v.
      destruct (front_exists M G Whole (device v) (k + spread) Q v home_v less there_v) as [exists_v _].
      assert (real : pass_needs (model_at M G Q) u lag v) by (apply need; rewrite same; apply exists_v).
      pose proof (need_respected _ _ _ (resized_well M _ Well) (proj1 Soon) u lag v real) as late.
      change (time_of (resized M (size G Q)) u) with (time_of M u) in late.
      pose proof (longest_lag _ _ _ _ real). pose proof (longest_pass u stage_u). pose proof (longest_pass v stage_v).
      pose proof (end_covers (device v) (k + spread) v home_v less there_v).
      assert (first : end_at (device u) k <= s u).
      { assert (placed : In u (order G Q (device u))).
        { apply (Whole Q (device u) home_u). split; [| reflexivity]. apply (need_ends_exist _ _ _ _ (resized_well M _ Well) real). }
        rewrite (order_is G (device u) k Q ltac:(lia)), in_app_iff in placed. destruct placed as [placed | placed].
        - apply (front_before M G Repeatable (device u)) in placed; [| exact home_u]. unfold before_cut in placed. lia.
        - apply in_split in placed. destruct placed as [x [y shape]]. unfold end_at.
          apply (last_end_before (model_at M G Q) (order G Q) s (resized_well M _ Well) (proj1 Soon) (device u) _ x u y home_u).
          rewrite (order_is G (device u) k Q ltac:(lia)), shape. reflexivity. }
      lia.
    Qed.

    Lemma forward_chain : forall n a k, (a + n < stages M)%nat -> (k + n * spread <= Q)%nat ->
      end_at (device_of M a) k <= end_at (device_of M (a + n)) (k + n * spread).
    Proof.
      intros n a k. induction n as [| n IH]; intros inside less; [rewrite !Nat.add_0_r; lia |].
      specialize (IH ltac:(lia) ltac:(lia)).
      set (at_ := (k + n * spread)%nat) in *.
      set (m := (begins M G (Pass F (a + n) (begins M G (Pass F (a + n) 0))) + at_ * K)%nat).
      assert (same : begins M G (Pass F (a + n) m) = begins M G (Pass F (a + n) (begins M G (Pass F (a + n) 0)))).
      { change (Pass F (a + n) m) with (later (at_ * K) (Pass F (a + n) (begins M G (Pass F (a + n) (begins M G (Pass F (a + n)
          0)))))).
        rewrite (begins_later M G Repeatable). apply begins_slot; cbn; [reflexivity | reflexivity |].
        symmetry. apply (begins_mod M G Repeatable (Pass F (a + n) (begins M G (Pass F (a + n) 0)))). cbn. lia. }
      pose proof (neighbour at_ (Pass F (a + n) m) (latency M (a + n)) (Pass F (S (a + n)) m)) as next. cbn [stage_of] in next.
      replace (a + S n)%nat with (S (a + n)) by lia. replace (k + S n * spread)%nat with (at_ + spread)%nat by (unfold at_; lia).
      apply (Z.le_trans _ _ _ IH). apply next.
      - unfold at_. lia.
      - rewrite same. reflexivity.
      - intros z low. apply (F_needs_F (resized M z)); cbn in *; lia.
    Qed.

    Lemma backward_chain : forall n a k, (a + n < stages M)%nat -> (k + n * spread <= Q)%nat ->
      end_at (device_of M (a + n)) k <= end_at (device_of M a) (k + n * spread).
    Proof.
      intros n. induction n as [| n IH]; intros a k inside less; [rewrite !Nat.add_0_r; lia |].
      specialize (IH (S a) k ltac:(lia) ltac:(lia)).
      set (at_ := (k + n * spread)%nat) in *.
      set (m := (begins M G (Pass I (S a) (begins M G (Pass I (S a) 0))) + at_ * K)%nat).
      assert (same : begins M G (Pass I (S a) m) = begins M G (Pass I (S a) (begins M G (Pass I (S a) 0)))).
      { change (Pass I (S a) m) with (later (at_ * K) (Pass I (S a) (begins M G (Pass I (S a) (begins M G (Pass I (S a) 0)))))).
        rewrite (begins_later M G Repeatable). apply begins_slot; cbn; [reflexivity | reflexivity |].
        symmetry. apply (begins_mod M G Repeatable (Pass I (S a) (begins M G (Pass I (S a) 0)))). cbn. lia. }
      pose proof (neighbour at_ (Pass I (S a) m) (latency M a) (Pass I a m)) as next. cbn [stage_of] in next.
      replace (a + S n)%nat with (S a + n)%nat by lia. replace (k + S n * spread)%nat with (at_ + spread)%nat by (unfold at_; lia).
      apply (Z.le_trans _ _ _ IH). apply next.
      - unfold at_. lia.
      - rewrite same. reflexivity.
      - intros z low. apply (I_needs_I (resized M z)); cbn in *; lia.
    Qed.

    Definition reach : nat := (stages M * spread)%nat.

    (** No device is ahead of another by more than some repetitions. *)
    Lemma together : forall d e k, (d < devices M)%nat -> (e < devices M)%nat -> (k + reach <= Q)%nat ->
      end_at d k <= end_at e (k + reach).
    Proof.
      intros d e k inside_d inside_e less. destruct (Used d inside_d) as [a [low_a is_a]].
      destruct (Used e inside_e) as [b [low_b is_b]].
      subst d e. assert (enough : forall n, (n < stages M)%nat -> (n * spread + (reach - n * spread) = reach)%nat).
      { intros n low. assert (n * spread <= reach)%nat by (apply Nat.mul_le_mono_r; lia). lia. }
      destruct (Nat.le_gt_cases a b) as [up | down].
      - specialize (enough (b - a)%nat ltac:(lia)).
        pose proof (forward_chain (b - a) a k ltac:(lia) ltac:(lia)) as one. replace (a + (b - a))%nat with b in one by lia.
        pose proof (end_grows (device_of M b) (k + (b - a) * spread) (reach - (b - a) * spread) inside_e ltac:(lia)) as two.
        replace (k + (b - a) * spread + (reach - (b - a) * spread))%nat with (k + reach)%nat in two by lia. lia.
      - specialize (enough (a - b)%nat ltac:(lia)).
        pose proof (backward_chain (a - b) b k ltac:(lia) ltac:(lia)) as one. replace (b + (a - b))%nat with a in one by lia.
        pose proof (end_grows (device_of M b) (k + (a - b) * spread) (reach - (a - b) * spread) inside_e ltac:(lia)) as two.
        replace (k + (a - b) * spread + (reach - (a - b) * spread))%nat with (k + reach)%nat in two by lia. lia.
    Qed.

    Definition drift : Z := Z.of_nat reach * growth.

    Lemma latest_below : forall e k, (e < devices M)%nat -> (k + reach <= Q)%nat ->
      latest (k + reach) <= end_at e (k + reach) + drift.
    Proof.
      intros e k inside less. pose proof (latest_later reach k less) as grown.
      assert (low : latest k <= end_at e (k + reach)).
      { apply max_below; [apply (last_end_nonneg (model_at M G Q) (order G Q) s (resized_well M _ Well) (proj1 Soon)) |].
        intros x there. apply in_map_iff in there. destruct there as [d [same range]]. apply in_seq in range. subst x.
        apply together; [lia | exact inside | exact less]. }
      unfold drift. lia.
    Qed.
  End Bounds.

  Lemma pending_sound : forall d u lag, In (d, u, lag) (pending M G) ->
    (d < devices M)%nat /\ (stage_of u < stages M)%nat /\ before_cut M G 0 u /\ 0 <= lag <= longest.
  Proof.
    intros d u lag there. unfold pending in there. apply in_flat_map in there. destruct there as [e [inside there]].
    apply in_seq in inside.
    apply in_flat_map in there. destruct there as [v [in_body_ there]]. apply in_flat_map in there.
    destruct there as [[w l] [needed there]].
    cbn [fst snd] in there. apply in_map_iff in there. destruct there as [j [same range]]. apply in_seq in range.
    inversion same; subst.
    assert (home : (d < devices M)%nat) by lia. clear inside.
    destruct (body_owned M G Repeatable d v home in_body_) as [stage_v mine].
    assert (need : pass_needs (resized M (S (microbatch_of v))) w lag v).
    { apply (needs_into_iff (resized M (S (microbatch_of v)))); [exact Well | split; cbn; [exact stage_v | lia] | exact needed]. }
    destruct (need_ends_exist _ _ _ _ (resized_well M _ Well) need) as [[stage_w _] _]. cbn in stage_w.
    split; [exact home |]. split; [exact stage_w |]. split; [| apply (longest_lag _ _ _ _ need)].
    pose proof (period_positive M G Repeatable) as some. pose proof (need_same M _ _ _ _ need) as equal.
    pose proof (begins_body M G Repeatable d v home in_body_) as is_v.
    unfold before_cut. rewrite (begins_later M G Repeatable). cbn [later microbatch_of].
    assert (is_w : begins M G (Pass (kind_of w) (stage_of w) (begins M G v)) = begins M G w).
    { apply begins_slot; cbn; [reflexivity | reflexivity | congruence]. }
    rewrite is_w. assert (low : (S j * K <= begins M G w - begins M G v + K - 1)%nat).
    { apply Nat.le_trans with (((begins M G w - begins M G v + K - 1) / K) * K)%nat.
      - apply Nat.mul_le_mono_r. lia.
      - rewrite Nat.mul_comm. apply Nat.mul_div_le. lia. }
    rewrite Nat.mul_succ_l in low. lia.
  Qed.

  Lemma pending_has : forall m r u lag v, pass_needs (resized M m) u lag v -> before_cut M G r u -> ~ before_cut M G r v ->
    exists u0, u = later (r * K) u0 /\ In (device v, u0, lag) (pending M G).
  Proof.
    intros m r u lag v need cut behind. destruct (need_ends_exist (resized M m) u lag v Well need) as [there_u there_v].
    assert (inside : (device v < devices M)%nat) by (apply Well; apply there_v).
    pose proof (body_of M G Repeatable v (proj1 there_v)) as there. set (v0 := Pass (kind_of v) (stage_of v) (begins M G v)) in *.
    set (w := Pass (kind_of u) (stage_of u) (begins M G v)).
    assert (moved : pass_needs (resized M (S (begins M G v))) w lag v0).
    { apply (need_moved M m _ u lag v w v0 need); try reflexivity. cbn. lia. }
    apply needs_into_has in moved; [| exact Well].
    pose proof (period_positive M G Repeatable) as some.
    pose proof (need_same M m _ _ _ need) as same. unfold before_cut in cut, behind.
    pose proof (begins_mod M G Repeatable v (proj1 there_v)) as mod_v.
    assert (begins_v : begins M G v0 = begins M G v) by (apply begins_slot; cbn; auto).
    assert (begins_w : begins M G w = begins M G u) by (apply begins_slot; cbn; [reflexivity | reflexivity | congruence]).
    assert (shape : exists j, (microbatch_of u = begins M G v + r * K + j * K)%nat).
    { exists ((microbatch_of v - (begins M G v + r * K)) / K)%nat. rewrite same. apply mod_apart; [exact some | | lia].
      rewrite Nat.mod_add by lia. congruence. }
    destruct shape as [j shape]. exists (later (j * K) w). split.
    - unfold later, w. destruct u as [ku su mu]. cbn in *. f_equal. lia.
    - unfold pending. apply in_flat_map. exists (device v). split; [apply in_seq; lia |].
      apply in_flat_map. exists v0. split; [exact there |]. apply in_flat_map. exists (w, lag). split; [exact moved |].
      cbn [fst snd]. rewrite begins_v, begins_w. apply in_map_iff. exists j. split; [reflexivity |].
      apply in_seq. split; [lia |]. cbn. apply Nat.div_le_lower_bound; lia.
  Qed.

  (** Two cuts of the same state are a repetition. *)
  Lemma same_state_repeats : forall Q s r c, as_soon_as_possible (model_at M G Q) (order G Q) s -> (r + c <= Q)%nat ->
    state_at M G s r = state_at M G s (r + c) -> repeats M G s r c (end_at s 0 (r + c) - end_at s 0 r).
  Proof.
    intros Q s r c soon less same. unfold state_at in same. apply app_same in same; [| rewrite !map_length; reflexivity].
    destruct same as [free late].
    assert (some : (0 < devices M)%nat).
    { destruct Well as [positive [owners _]]. specialize (owners 0%nat positive). lia. }
    assert (free_ : forall d, (d < devices M)%nat ->
      last_end M s (front G d (r + c)) = last_end M s (front G d r) + (end_at s 0 (r + c) - end_at s 0 r)).
    { intros d inside. pose proof (map_same _ _ _ _ _ free d ltac:(apply in_seq; lia)) as equal. cbv beta in equal. unfold end_at.
      lia. }
    constructor; [| exact free_ |].
    - pose proof (end_grows Q s soon 0 r c some less). lia.
    - intros m u lag v need cut behind. destruct (pending_has m r u lag v need cut behind) as [u0 [is_u there]].
      pose proof (map_same _ _ _ _ _ late _ there) as equal. unfold lateness in equal.
      destruct (need_ends_exist (resized M m) u lag v Well need) as [_ there_v].
      assert (inside : (device v < devices M)%nat) by (apply Well; apply there_v). specialize (free_ (device v) inside).
      subst u. rewrite later_later. replace (r * K + c * K)%nat with ((r + c) * K)%nat by lia.
      change (time_of M (later (r * K) u0)) with (time_of M u0). lia.
  Qed.

  Lemma state_within : forall Q s k, as_soon_as_possible (model_at M G Q) (order G Q) s -> (k + reach <= Q)%nat ->
    forall x, In x (state_at M G s (k + reach)) -> - (drift + longest) <= x <= drift + longest.
  Proof.
    intros Q s k soon less x there. assert (low : 0 <= longest) by apply max_nonneg.
    assert (some : (0 < devices M)%nat).
    { destruct Well as [positive [owners _]]. specialize (owners 0%nat positive). lia. }
    unfold state_at in there. rewrite in_app_iff in there. destruct there as [there | there]; apply in_map_iff in there.
    - destruct there as [d [same range]]. apply in_seq in range. subst x.
      pose proof (latest_below Q s soon 0 k some less). pose proof (latest_below Q s soon d k ltac:(lia) less).
      pose proof (latest_above s 0 (k + reach) some). pose proof (latest_above s d (k + reach) ltac:(lia)). unfold end_at in *. lia.
    - destruct there as [[[d u] lag] [same found]]. subst x. unfold lateness.
      destruct (pending_sound d u lag found) as [inside [stage_u [cut small]]].
      assert (placed : In (later ((k + reach) * K) u) (front G (device u) (k + reach))).
      { apply (all_in_front M G Well Repeatable Whole (k + reach) (later ((k + reach) * K) u)); [exact stage_u |].
        apply (cut_later M G Repeatable 0). exact cut. }
      assert (home : (device u < devices M)%nat) by (apply Well; exact stage_u).
      pose proof (end_covers Q s soon (device u) (k + reach) _ home less placed) as early.
      change (time_of M (later ((k + reach) * K) u)) with (time_of M u) in early.
      pose proof (latest_above s (device u) (k + reach) home). pose proof (latest_below Q s soon d k inside less).
      pose proof (latest_below Q s soon (device u) k home less). unfold end_at in *. lia.
  Qed.

  (** With enough repetitions, one state of the execution as soon as possible comes again: the search for a repetition ends. *)
  Theorem a_state_comes_again : (forall q, exists start, runs (model_at M G q) (order G q) start) ->
    exists q s r c L, as_soon_as_possible (model_at M G q) (order G q) s /\ (1 <= c)%nat /\ (r + c <= q)%nat /\ repeats M G s r c L.
  Proof.
    intros all_run. set (B := drift + longest).
    set (n := length (seq 0 (devices M) ++ map (fun _ => 0%nat) (pending M G))).
    set (values := all_lists (map (fun i => Z.of_nat i - B) (seq 0 (Z.to_nat (2 * B + 1)))) n).
    set (N := S (length values)). set (Q := (N + reach)%nat).
    destruct (all_run Q) as [start run].
    destruct (as_soon_as_possible_exists (model_at M G Q) (order G Q) (resized_well M _ Well) (Whole Q) (proj2 run)) as [s soon].
    destruct (two_are_same (fun i => state_at M G s (i + reach)) values N) as [i [j [range same]]].
    - unfold N. lia.
    - intros i low. assert (long : length (state_at M G s (i + reach)) = n).
      { unfold state_at, n. rewrite !app_length, !map_length. reflexivity. }
      unfold values. rewrite <- long. apply in_all_lists. intros x there. apply in_range.
      apply (state_within Q s i soon); [unfold Q; lia | exact there].
    - exists Q, s, (i + reach)%nat, (j - i)%nat. eexists. split; [exact soon |]. split; [lia |]. split; [unfold Q; lia |].
      apply (same_state_repeats Q); [exact soon | unfold Q; lia |]. replace (i + reach + (j - i))%nat with (j + reach)%nat by lia.
      exact same.
  Qed.
End Always.

(** One valid schedule with a repetition is enough for it. Every device has a stage. *)
Corollary a_repetition_always_comes : forall M G, well_formed M -> repeatable M G ->
  (forall d, (d < devices M)%nat -> exists s, (s < stages M)%nat /\ device_of M s = d) ->
  forall Q, (1 <= Q)%nat -> complete (model_at M G Q) (order G Q) -> (exists start, runs (model_at M G Q) (order G Q) start) ->
  exists q s r c L, as_soon_as_possible (model_at M G q) (order G q) s /\ (1 <= c)%nat /\ (r + c <= q)%nat /\ repeats M G s r c L.
Proof.
  intros M G well again used Q some whole run. apply a_state_comes_again; try assumption.
  - apply (complete_for_every_m M G well again Q some whole).
  - apply (runs_for_every_m M G well again Q some whole run).
Qed.

(** ** Looking for a repetition *)

(** What [every_m_check] is to be asked: the state at each cut of one schedule, and the first that comes again. Nothing here needs a
    proof, for the check decides. *)

Fixpoint first_again (states : list (nat * list Z * Z)) (met : list (nat * list Z * Z)) : option (nat * nat * Z) :=
  match states with
  | [] => None
  | (cut, state, at_) :: rest =>
    match find (fun m => let '(_, known, _) := m in if list_eq_dec Z.eq_dec known state then true else false) met with
    | Some (from, _, then_) => Some (from, (cut - from)%nat, at_ - then_)
    | None => first_again rest (met ++ [(cut, state, at_)])
    end
  end.

(** The cut of a state that comes again within so many repetitions, after how many of them, and how much later. *)
Definition first_repetition (M : model) (G : growing) (most : nat) : option (nat * nat * Z) :=
  let last := model_at M G most in
  let start := start_in last (simulated last (order G most)) in
  first_again (map (fun cut => (cut, state_at M G start cut, last_end M start (front G 0%nat cut))) (seq 0 (S most))) [].
