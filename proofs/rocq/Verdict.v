(** * Verdict: whether a plan ends, and whether it is right, as programs

    [ends_under] makes the lanes of a plan and carries them out: it says for each semantics whether every run ends
    ([verdict_is_right]) or none does ([verdict_false_means_never]). [verified] does so for rendezvous messages, and checks that
    messages are received in the order in which they are sent and made before that; what it accepts is safe
    ([verified_plans_are_safe]). *)

From Coq Require Import List Arith Lia Bool PeanoNat NArith FMapPositive PArith Relations FinFun.
Require Import Bubbleproof.Lanes Bubbleproof.Plans Bubbleproof.Communication Bubbleproof.Execute.
Import ListNotations.

(** ** The verdict of a plan *)

(** *** Numbers for lanes and messages *)

(** Two numbers in one: a bit more for every bit of the first one. *)
Fixpoint pair_code (p q : positive) : positive :=
  match p with
  | xH => xO q
  | xO p => xI (xO (pair_code p q))
  | xI p => xI (xI (pair_code p q))
  end.

Lemma pair_code_injective : forall p q p' q', pair_code p q = pair_code p' q' -> p = p' /\ q = q'.
Proof.
  intros p. induction p as [p IH | p IH |]; intros q [p' | p' |] q' same; cbn in same; try discriminate; inversion same as [inner].
  - apply IH in inner. destruct inner. subst. split; reflexivity.
  - apply IH in inner. destruct inner. subst. split; reflexivity.
  - split; reflexivity.
Qed.

Definition lane_code (k : lane) : positive :=
  match k with
  | Device d => xO (Pos.of_succ_nat d)
  | Channel a b => xI (pair_code (Pos.of_succ_nat a) (Pos.of_succ_nat b))
  end.

Lemma lane_codes : forall j k, lane_code j = lane_code k -> j = k.
Proof.
  intros [d | a b] [d' | a' b'] same; cbn in same; try discriminate; inversion same as [inner].
  - apply SuccNat2Pos.inj in inner. subst. reflexivity.
  - apply pair_code_injective in inner. destruct inner as [left right].
    apply SuccNat2Pos.inj in left. apply SuccNat2Pos.inj in right. subst. reflexivity.
Qed.

Definition message_code (m : message) : positive :=
  let inner := pair_code (N.succ_pos (boundary m)) (N.succ_pos (number m)) in
  if is_gradient m then xI inner else xO inner.

Lemma succ_pos_injective : forall n k, N.succ_pos n = N.succ_pos k -> n = k.
Proof. intros n k same. apply N.succ_inj. rewrite <- !N.succ_pos_spec, same. reflexivity. Qed.

Lemma message_codes : forall m k, message_code m = message_code k -> m = k.
Proof.
  intros [g b n] [g' b' n'] same. unfold message_code in same. cbn in same.
  destruct g, g'; try discriminate; inversion same as [inner]; apply pair_code_injective in inner;
    destruct inner as [left right]; apply succ_pos_injective in left; apply succ_pos_injective in right; subst; reflexivity.
Qed.

(** *** Walking along a row *)

(** What a device has posted: how many messages to and from each peer, and for each message its peer and number. *)
Record posted := Posted {
  sends_so_far : counts;
  receives_so_far : counts;
  sent_so_far : PositiveMap.t (nat * nat);
  received_so_far : PositiveMap.t (nat * nat)
}.

Definition nothing_posted : posted :=
  Posted (PositiveMap.empty nat) (PositiveMap.empty nat) (PositiveMap.empty (nat * nat)) (PositiveMap.empty (nat * nat)).

Definition peer_code (d : nat) : positive := Pos.of_succ_nat d.

(** Only the first end of a message counts. *)
Definition add_first (m : message) (x : nat * nat) (t : PositiveMap.t (nat * nat)) : PositiveMap.t (nat * nat) :=
  match PositiveMap.find (message_code m) t with
  | Some _ => t
  | None => PositiveMap.add (message_code m) x t
  end.

Definition post (t : posted) (a : action) : posted :=
  match a with
  | Send to m =>
      let n := get (sends_so_far t) (peer_code to) in
      Posted (PositiveMap.add (peer_code to) (S n) (sends_so_far t)) (receives_so_far t)
        (add_first m (to, n) (sent_so_far t)) (received_so_far t)
  | Receive from m =>
      let n := get (receives_so_far t) (peer_code from) in
      Posted (sends_so_far t) (PositiveMap.add (peer_code from) (S n) (receives_so_far t))
        (sent_so_far t) (add_first m (from, n) (received_so_far t))
  | _ => t
  end.

Record right_tables (t : posted) (l : list action) : Prop := {
  right_sends : forall b, get (sends_so_far t) (peer_code b) = count (sends_to b) l;
  right_receives : forall b, get (receives_so_far t) (peer_code b) = count (receives_from b) l;
  right_sent : forall m, PositiveMap.find (message_code m) (sent_so_far t) = sent m l;
  right_received : forall m, PositiveMap.find (message_code m) (received_so_far t) = received m l
}.

Lemma nothing_is_right : right_tables nothing_posted [].
Proof. split; intros x; cbn; try apply get_empty; apply PositiveMap.gempty. Qed.

Lemma received_app : forall m l a, received m (l ++ [a]) =
  match received m l with
  | Some x => Some x
  | None => match a with
            | Receive from k => if same_message m k then Some (from, count (receives_from from) l) else None
            | _ => None
            end
  end.
Proof.
  intros m l a. induction l as [| x l IH]; cbn [app received].
  - destruct a; reflexivity.
  - destruct x as [ins outs | to k | p k | k |]; try (rewrite IH; destruct (received m l); [reflexivity |];
      destruct a; try reflexivity; destruct (same_message m m0); reflexivity).
    destruct (same_message m k); [reflexivity |]. rewrite IH. destruct (received m l) as [[q i] |]; [reflexivity |].
    destruct a as [ins outs | to h | from h | h |]; try reflexivity. destruct (same_message m h); [| reflexivity].
    unfold count. cbn. destruct (p =? from); reflexivity.
Qed.

Lemma sent_app : forall m l a, sent m (l ++ [a]) =
  match sent m l with
  | Some x => Some x
  | None => match a with
            | Send to k => if same_message m k then Some (to, count (sends_to to) l) else None
            | _ => None
            end
  end.
Proof.
  intros m l a. induction l as [| x l IH]; cbn [app sent].
  - destruct a; reflexivity.
  - destruct x as [ins outs | p k | from k | k |]; try (rewrite IH; destruct (sent m l); [reflexivity |];
      destruct a; try reflexivity; destruct (same_message m m0); reflexivity).
    destruct (same_message m k); [reflexivity |]. rewrite IH. destruct (sent m l) as [[q i] |]; [reflexivity |].
    destruct a as [ins outs | to h | from h | h |]; try reflexivity. destruct (same_message m h); [| reflexivity].
    unfold count. cbn. destruct (p =? to); reflexivity.
Qed.

Lemma count_app : forall f l a, count f (l ++ [a]) = if f a then S (count f l) else count f l.
Proof.
  intros f l a. unfold count. rewrite filter_app, app_length. cbn. destruct (f a); cbn; lia.
Qed.

Lemma count_added : forall t (f : nat -> list action -> nat) l p b, (forall b, get t (peer_code b) = f b l) ->
  get (PositiveMap.add (peer_code p) (S (get t (peer_code p))) t) (peer_code b) = if p =? b then S (f b l) else f b l.
Proof.
  intros t f l p b right. destruct (Nat.eqb_spec p b) as [same | differs].
  - subst. rewrite get_same, right. reflexivity.
  - rewrite get_other; [apply right |]. unfold peer_code. intros same. apply SuccNat2Pos.inj in same. congruence.
Qed.

Lemma first_added : forall t m k x (f : message -> option (nat * nat)),
  (forall m, PositiveMap.find (message_code m) t = f m) ->
  PositiveMap.find (message_code m) (add_first k x t) =
  match f m with Some y => Some y | None => if same_message m k then Some x else None end.
Proof.
  intros t m k x f right. unfold add_first. rewrite right. destruct (same_message m k) as [same | differs].
  - subst k. destruct (f m) eqn:known; [rewrite right; exact known | apply PositiveMap.gss].
  - assert (old : PositiveMap.find (message_code m) (PositiveMap.add (message_code k) x t) = f m).
    { rewrite PositiveMap.gso; [apply right |]. intros same. apply message_codes in same. congruence. }
    destruct (f k); [rewrite right | rewrite old]; destruct (f m); reflexivity.
Qed.

Lemma post_is_right : forall t l a, right_tables t l -> right_tables (post t a) (l ++ [a]).
Proof.
  intros t l a [sends receives sents receiveds].
  assert (no_first : forall (f : option (nat * nat)), match f with Some x => Some x | None => None end = f)
    by (intros [x |]; reflexivity).
  split; intros x; rewrite ?count_app, ?received_app, ?sent_app;
    destruct a as [ins outs | to m | from m | m |]; cbn [post sends_so_far receives_so_far sent_so_far received_so_far
      sends_to receives_from]; rewrite ?no_first; auto.
  - apply (count_added _ (fun b => count (sends_to b))). exact sends.
  - apply (count_added _ (fun b => count (receives_from b))). exact receives.
  - rewrite (first_added _ _ _ _ (fun m => sent m l) sents). rewrite sends. reflexivity.
  - rewrite (first_added _ _ _ _ (fun m => received m l) receiveds). rewrite receives. reflexivity.
Qed.

(** An action with its position and what was posted before it. *)
Record place := Place { position : nat; so_far : posted; what : action }.

Fixpoint walk (i : nat) (t : posted) (l : list action) : list place :=
  match l with
  | [] => []
  | a :: rest => Place i t a :: walk (S i) (post t a) rest
  end.

Definition places (l : list action) : list place := walk 0 nothing_posted l.

Lemma walk_nth : forall l i t before n, right_tables t before ->
  match nth_error (walk i t l) n with
  | Some x => position x = i + n /\ nth_error l n = Some (what x) /\ right_tables (so_far x) (before ++ firstn n l)
  | None => nth_error l n = None
  end.
Proof.
  intros l. induction l as [| a l IH]; intros i t before n right; cbn [walk].
  - destruct n; reflexivity.
  - destruct n as [| n]; cbn [nth_error firstn].
    + cbn. rewrite app_nil_r, Nat.add_0_r. repeat split; apply right.
    + specialize (IH (S i) (post t a) (before ++ [a]) n (post_is_right t before a right)).
      destruct (nth_error (walk (S i) (post t a) l) n) as [x |]; [| exact IH].
      rewrite <- app_assoc in IH. cbn in IH. destruct IH as [at_n [there tables]]. split; [lia |]. split; assumption.
Qed.

Lemma places_nth : forall l n,
  match nth_error (places l) n with
  | Some x => position x = n /\ nth_error l n = Some (what x) /\ right_tables (so_far x) (firstn n l)
  | None => nth_error l n = None
  end.
Proof. intros l n. apply (walk_nth l 0 nothing_posted [] n). apply nothing_is_right. Qed.

Lemma filtered_walk : forall f l i t,
  map position (filter (fun x => f (what x)) (walk i t l)) = positions_from i f l.
Proof.
  intros f l. induction l as [| a l IH]; intros i t; cbn; [reflexivity |].
  destruct (f a); cbn; rewrite IH; reflexivity.
Qed.

(** *** The items of all lanes *)

Fixpoint arrivals_of (d : nat) (t : posted) (inputs : list message) : option (list (lane * nat)) :=
  match inputs with
  | [] => Some []
  | m :: rest =>
      match PositiveMap.find (message_code m) (received_so_far t), arrivals_of d t rest with
      | Some (from, i), Some needed => Some ((Channel from d, S i) :: needed)
      | _, _ => None
      end
  end.

Definition action_item (X : semantics) (d : nat) (x : place) : option (list (lane * nat)) :=
  match what x with
  | Run inputs _ => arrivals_of d (so_far x) inputs
  | WaitSend m =>
      match PositiveMap.find (message_code m) (sent_so_far (so_far x)) with
      | Some (to, i) => Some (match X with Buffered => [] | _ => [(Channel d to, S i)] end)
      | None => None
      end
  | _ => Some []
  end.

Definition between_of (a b : nat) (t : posted) : list (lane * nat) :=
  [(Channel a b, get (sends_so_far t) (peer_code b)); (Channel b a, get (receives_so_far t) (peer_code b))].

Definition stream_of (X : semantics) (devices : nat) (a b : nat) (t : posted) : list (lane * nat) :=
  match X with
  | Buffered | Rendezvous => []
  | PairStreams => between_of a b t
  | DeviceStreams => flat_map (fun peer => between_of a peer t) (seq 0 devices)
  end.

Definition message_item (X : semantics) (devices a b : nat) (ends : place * place) : list (lane * nat) :=
  let (x, y) := ends in
  (Device a, S (position x)) :: (Device b, S (position y)) ::
  stream_of X devices a b (so_far x) ++ stream_of X devices b a (so_far y).

Definition lane_items (X : semantics) (walked : list (list place)) (k : lane) : list item :=
  match k with
  | Device d => map (fun x => option_map (encode lane_code) (action_item X d x)) (nth d walked [])
  | Channel a b =>
      map (fun ends => Some (encode lane_code (message_item X (length walked) a b ends)))
        (combine (filter (fun x => sends_to b (what x)) (nth a walked []))
                 (filter (fun x => receives_from a (what x)) (nth b walked [])))
  end.

(** How far every lane comes. *)
Definition end_of (X : semantics) (P : plan) : counts :=
  let walked := map places P in
  outcome (map (fun k => (lane_code k, lane_items X walked k)) (lanes_of P)).

(** Whether every run of a plan ends. *)
Definition ends_under (X : semantics) (P : plan) : bool :=
  let c := end_of X P in
  forallb (fun '(d, l) => get c (lane_code (Device d)) =? length l) (combine (seq 0 (length P)) P).

Definition ends_buffered : plan -> bool := ends_under Buffered.
Definition ends_rendezvous : plan -> bool := ends_under Rendezvous.
Definition ends_with_pair_streams : plan -> bool := ends_under PairStreams.
Definition ends_with_device_streams : plan -> bool := ends_under DeviceStreams.

Lemma walked_row : forall P d, nth d (map places P) [] = places (row P d).
Proof. intros P d. change ([] : list place) with (places []) at 1. apply map_nth. Qed.

Lemma arrivals_are_right : forall d t before inputs, right_tables t before -> arrivals_of d t inputs = arrivals d before inputs.
Proof.
  intros d t before inputs right. induction inputs as [| m inputs IH]; cbn; [reflexivity |].
  rewrite (right_received t before right), IH. reflexivity.
Qed.

Lemma nth_error_combine : forall (A B : Type) (l : list A) (k : list B) n,
  nth_error (combine l k) n =
  match nth_error l n, nth_error k n with Some x, Some y => Some (x, y) | _, _ => None end.
Proof.
  intros A B l. induction l as [| x l IH]; intros k n; cbn.
  - destruct n; reflexivity.
  - destruct k as [| y k], n as [| n]; cbn; try reflexivity.
    + destruct (nth_error l n); reflexivity.
    + apply IH.
Qed.

Lemma filtered_place : forall f l n,
  match nth_error (filter (fun x => f (what x)) (places l)) n with
  | Some x => nth_error (positions f l) n = Some (position x) /\ right_tables (so_far x) (firstn (position x) l)
  | None => nth_error (positions f l) n = None
  end.
Proof.
  intros f l n. unfold positions. rewrite <- (filtered_walk f l 0 nothing_posted). fold (places l). rewrite nth_error_map.
  destruct (nth_error (filter (fun x => f (what x)) (places l)) n) as [x |] eqn:found; [| reflexivity].
  split; [reflexivity |]. apply nth_error_In in found. apply filter_In in found. destruct found as [inside _].
  destruct (In_nth_error _ _ inside) as [i there]. specialize (places_nth l i) as right. rewrite there in right.
  destruct right as [at_i [_ tables]]. rewrite at_i. exact tables.
Qed.

Lemma between_is_right : forall P a b i t, right_tables t (firstn i (row P a)) -> between_of a b t = earlier_between P a b i.
Proof.
  intros P a b i t right. unfold between_of, earlier_between.
  rewrite (right_sends _ _ right), (right_receives _ _ right). reflexivity.
Qed.

Lemma stream_is_right : forall X P a b i t, right_tables t (firstn i (row P a)) ->
  stream_of X (length P) a b t = stream X P a b i.
Proof.
  intros X P a b i t right. destruct X; cbn [stream_of stream]; try reflexivity.
  - apply between_is_right. exact right.
  - induction (seq 0 (length P)) as [| c l IH]; cbn [flat_map]; [reflexivity |].
    rewrite IH, (between_is_right P a c i t right). reflexivity.
Qed.

Lemma items_are_right : forall X P k, right_items lane_code (need X P) (lane_items X (map places P)) k.
Proof.
  intros X P k n. destruct k as [d | a b]; cbn [lane_items need].
  - rewrite walked_row, nth_error_map. specialize (places_nth (row P d) n) as right.
    destruct (nth_error (places (row P d)) n) as [x |]; cbn [option_map]; [| rewrite right; reflexivity].
    destruct right as [_ [there tables]]. rewrite there.
    assert (same : action_item X d x = needs_of_action X d (firstn n (row P d)) (what x)).
    { unfold action_item. destruct (what x) as [ins outs | to m | from m | m |]; cbn; try reflexivity.
      - apply arrivals_are_right. exact tables.
      - rewrite (right_sent _ _ tables). reflexivity. }
    rewrite same. destruct (needs_of_action X d (firstn n (row P d)) (what x)) as [needed |]; cbn; [| reflexivity].
    exists needed. split; reflexivity.
  - rewrite !walked_row, map_length, nth_error_map, nth_error_combine.
    specialize (filtered_place (sends_to b) (row P a) n) as at_a.
    specialize (filtered_place (receives_from a) (row P b) n) as at_b.
    destruct (nth_error (filter (fun x => sends_to b (what x)) (places (row P a))) n) as [x |]; [| rewrite at_a; reflexivity].
    destruct at_a as [at_a tables_a]. rewrite at_a.
    destruct (nth_error (filter (fun x => receives_from a (what x)) (places (row P b))) n) as [y |]; [| rewrite at_b; reflexivity].
    destruct at_b as [at_b tables_b]. rewrite at_b. cbn [option_map].
    exists (needs_of_message X P a b (position x) (position y)). split; [reflexivity |]. unfold message_item, needs_of_message.
    rewrite (stream_is_right X P a b _ _ tables_a), (stream_is_right X P b a _ _ tables_b). reflexivity.
Qed.

Lemma NoDup_app_disjoint : forall (A : Type) (l k : list A), NoDup l -> NoDup k -> (forall x, In x l -> ~ In x k) -> NoDup (l ++ k).
Proof.
  intros A l k single. induction single as [| x l fresh single IH]; intros other apart; cbn; [exact other |].
  constructor.
  - rewrite in_app_iff. intros [inside | inside]; [contradiction | apply (apart x); [left; reflexivity | exact inside]].
  - apply IH; [exact other |]. intros y inside. apply apart. right. exact inside.
Qed.

Lemma lanes_are_distinct : forall P, NoDup (lanes_of P).
Proof.
  intros P. unfold lanes_of. apply NoDup_app_disjoint.
  - unfold device_lanes. apply FinFun.Injective_map_NoDup; [| apply seq_NoDup]. intros a b same. inversion same. reflexivity.
  - unfold channel_lanes. assert (single := seq_NoDup (length P) 0).
    induction single as [| a l fresh single IH]; cbn; [constructor |]. apply NoDup_app_disjoint.
    + apply FinFun.Injective_map_NoDup; [| apply NoDup_nodup]. intros b c same. inversion same. reflexivity.
    + exact IH.
    + intros k here there. apply in_map_iff in here. destruct here as [b [shape _]]. subst k.
      apply in_flat_map in there. destruct there as [c [among inside]]. apply in_map_iff in inside.
      destruct inside as [b' [shape _]]. inversion shape. subst. contradiction.
  - intros k here there. apply in_map_iff in here. destruct here as [d [shape _]]. subst k.
    apply in_flat_map in there. destruct there as [a [_ inside]]. apply in_map_iff in inside.
    destruct inside as [b [shape _]]. discriminate.
Qed.

Lemma end_of_is_the_end : forall X P, exists l s, run (need X P) l s /\ stuck (need X P) s /\
  forall k, get (end_of X P) (lane_code k) = s k.
Proof.
  intros X P. apply (outcome_is_the_end same_lane lane_code lane_codes (need X P) (lane_items X (map places P)) (lanes_of P)).
  - intros k _. apply items_are_right.
  - intros k n needed can. apply (steps_are_known X P k n needed can).
  - apply lanes_are_distinct.
Qed.

Lemma in_numbered : forall (A : Type) (l : list (list A)) d x, In (d, x) (combine (seq 0 (length l)) l) ->
  d < length l /\ x = nth d l [].
Proof.
  intros A l d x inside. destruct (In_nth_error _ _ inside) as [n there]. rewrite nth_error_combine in there.
  destruct (nth_error (seq 0 (length l)) n) as [e |] eqn:at_seq; [| discriminate].
  destruct (nth_error l n) as [y |] eqn:at_l; [| discriminate]. inversion there. subst.
  assert (small : n < length l) by (apply nth_error_Some; congruence).
  rewrite (nth_error_nth' (seq 0 (length l)) 0) in at_seq by (rewrite seq_length; exact small).
  rewrite seq_nth in at_seq by exact small. inversion at_seq. subst d.
  split; [exact small |]. symmetry. apply nth_error_nth. exact at_l.
Qed.

Lemma numbered_in : forall (A : Type) (l : list (list A)) d, d < length l -> In (d, nth d l []) (combine (seq 0 (length l)) l).
Proof.
  intros A l d small. apply (nth_error_In _ d). rewrite nth_error_combine.
  rewrite (nth_error_nth' (seq 0 (length l)) 0) by (rewrite seq_length; exact small).
  rewrite seq_nth by exact small. rewrite (nth_error_nth' l []) by exact small. reflexivity.
Qed.

(** The verdict is right: it says true exactly when every run ends. *)
Theorem verdict_is_right : forall X P, ends_under X P = true <-> ends X P.
Proof.
  intros X P. destruct (end_of_is_the_end X P) as [l [s [runs [stops is_end]]]]. unfold ends_under. rewrite forallb_forall. split.
  - intros all. apply (one_run_is_enough X P l s runs). intros d. destruct (le_lt_dec (length P) d) as [out | inside].
    + assert (empty : row P d = []) by (unfold row; apply nth_overflow; exact out).
      specialize (never_beyond_row X P l s runs d) as bound. rewrite empty in *. cbn in *. lia.
    + specialize (all (d, row P d) (numbered_in _ P d inside)). cbn beta iota in all. rewrite is_end in all.
      apply Nat.eqb_eq. exact all.
  - intros good [d x] inside. apply in_numbered in inside. destruct inside as [small shape]. subst x.
    apply Nat.eqb_eq. rewrite is_end. apply (good l s runs stops).
Qed.

(** Where it says false, no run ends. *)
Theorem verdict_false_means_never : forall X P, ends_under X P = false -> forall l s, run (need X P) l s -> ~ finished P s.
Proof.
  intros X P is_false l s runs all. assert (is_true : ends_under X P = true); [| congruence].
  apply verdict_is_right. apply (one_run_is_enough X P l s runs all).
Qed.

(** *** Messages do arrive *)

Lemma position_before : forall f l k n start, n < count f (firstn k l) ->
  exists i, nth_error (positions_from start f l) n = Some i /\ i < start + k.
Proof.
  intros f l. induction l as [| a l IH]; intros k n start few.
  - rewrite firstn_nil in few. cbn in few. lia.
  - destruct k as [| k]; [cbn in few; lia |]. unfold count in few. cbn in few |- *. destruct (f a) eqn:has.
    + destruct n as [| n]; [exists start; split; [reflexivity | lia] |]. cbn in few |- *.
      destruct (IH k n (S start)) as [i [there small]]; [unfold count; lia |]. exists i. split; [exact there | lia].
    + destruct (IH k n (S start) few) as [i [there small]]. exists i. split; [exact there | lia].
Qed.

(** Without streams, the order of the messages of a direction delays nothing: when no more can happen, every message has gone that
    is posted on both sides. *)
Theorem posted_messages_arrive : forall X P, X = Buffered \/ X = Rendezvous -> forall l s, run (need X P) l s ->
  stuck (need X P) s -> forall a b,
  count (sends_to b) (firstn (s (Device a)) (row P a)) <= s (Channel a b) \/
  count (receives_from a) (firstn (s (Device b)) (row P b)) <= s (Channel a b).
Proof.
  intros X P no_streams l s runs stops a b.
  destruct (le_lt_dec (count (sends_to b) (firstn (s (Device a)) (row P a))) (s (Channel a b))) as [all | more_a];
    [left; exact all |].
  destruct (le_lt_dec (count (receives_from a) (firstn (s (Device b)) (row P b))) (s (Channel a b))) as [all | more_b];
    [right; exact all | exfalso].
  destruct (position_before _ _ _ _ 0 more_a) as [i [at_a before_a]].
  destruct (position_before _ _ _ _ 0 more_b) as [j [at_b before_b]].
  apply (stops (Channel a b) (needs_of_message X P a b i j)).
  - cbn [need]. unfold positions. rewrite at_a, at_b. reflexivity.
  - intros k n inside. unfold needs_of_message in inside.
    assert (none : stream X P a b i ++ stream X P b a j = []) by (destruct no_streams; subst X; reflexivity).
    rewrite none in inside. destruct inside as [same | [same | []]]; inversion same; subst; lia.
Qed.

(** So in the end all messages of a plan in order have gone. *)
Corollary all_messages_arrive : forall X P, X = Buffered \/ X = Rendezvous -> in_order P -> forall l s, run (need X P) l s ->
  stuck (need X P) s -> finished P s -> forall a b, s (Channel a b) = count (sends_to b) (row P a).
Proof.
  intros X P no_streams order l s runs stops all a b. apply Nat.le_antisymm.
  - rewrite <- (length_of_positions _ _ 0).
    apply (never_more_than_size same_lane (need X P) (lanes_of P) (size_of P) (steps_are_known X P) l s runs (Channel a b)).
  - destruct (posted_messages_arrive X P no_streams l s runs stops a b) as [enough | enough].
    + rewrite (all a), firstn_all in enough. exact enough.
    + rewrite (all b), firstn_all in enough. rewrite (both_ends P order a b). exact enough.
Qed.

(** *** The rules, checked *)

Fixpoint same_messages (l k : list message) : bool :=
  match l, k with
  | [], [] => true
  | m :: l, n :: k => if same_message m n then same_messages l k else false
  | _, _ => false
  end.

(** Peers exist. *)
Definition peer_exists (devices : nat) (a : action) : bool :=
  match a with Send d _ | Receive d _ => d <? devices | _ => true end.

Definition is_in_order (P : plan) : bool :=
  forallb (forallb (peer_exists (length P))) P &&
  forallb (fun '(a, sender) => forallb (fun '(b, receiver) =>
    same_messages (sent_messages b sender) (received_messages a receiver)) (combine (seq 0 (length P)) P))
    (combine (seq 0 (length P)) P).

Definition made := PositiveMap.t unit.

Definition add_made (t : made) (m : message) : made := PositiveMap.add (message_code m) tt t.

(** [t] are the messages that passes have made so far. *)
Fixpoint sends_what_is_made (t : made) (l : list action) : bool :=
  match l with
  | [] => true
  | Run _ outputs :: rest => sends_what_is_made (fold_left add_made outputs t) rest
  | Send _ m :: rest => PositiveMap.mem (message_code m) t && sends_what_is_made t rest
  | _ :: rest => sends_what_is_made t rest
  end.

Definition is_made_before_sent (P : plan) : bool := forallb (sends_what_is_made (PositiveMap.empty unit)) P.

(** What verify accepts, as far as messages go. A plan that ends with rendezvous messages ends with buffered ones. *)
Definition verified (P : plan) : bool := is_in_order P && is_made_before_sent P && ends_rendezvous P.

Lemma same_messages_are_equal : forall l k, same_messages l k = true <-> l = k.
Proof.
  intros l. induction l as [| m l IH]; intros [| n k]; cbn; try (split; [discriminate | discriminate]); [tauto |].
  destruct (same_message m n) as [same | differs].
  - rewrite IH. subst. split; intros equal; [subst; reflexivity | inversion equal; reflexivity].
  - split; [discriminate | intros equal; inversion equal; contradiction].
Qed.

Lemma no_peer_no_messages : forall devices l, forallb (peer_exists devices) l = true -> forall d, devices <= d ->
  sent_messages d l = [] /\ received_messages d l = [].
Proof.
  intros devices l all d out. unfold sent_messages, received_messages. induction l as [| a l IH]; cbn; [split; reflexivity |].
  cbn in all. apply andb_true_iff in all. destruct all as [here all]. destruct (IH all) as [sends receives].
  rewrite sends, receives. split; destruct a as [ins outs | to m | from m | m |]; cbn in here |- *; try reflexivity;
    apply Nat.ltb_lt in here; [destruct (Nat.eqb_spec to d) | destruct (Nat.eqb_spec from d)]; try reflexivity; lia.
Qed.

Lemma in_order_is_checked : forall P, is_in_order P = true -> in_order P.
Proof.
  intros P good a b. unfold is_in_order in good. apply andb_true_iff in good. destruct good as [peers all].
  assert (outside : forall c d, length P <= d -> sent_messages d (row P c) = [] /\ received_messages d (row P c) = []).
  { intros c d out. destruct (le_lt_dec (length P) c) as [none | inside].
    - assert (empty : row P c = []) by (unfold row; apply nth_overflow; exact none). rewrite empty. split; reflexivity.
    - apply (no_peer_no_messages (length P)); [| exact out].
      rewrite forallb_forall in peers. apply peers. apply nth_In. exact inside. }
  destruct (le_lt_dec (length P) a) as [out_a | in_a].
  - assert (empty : row P a = []) by (unfold row; apply nth_overflow; exact out_a). rewrite empty.
    rewrite (proj2 (outside b a out_a)). reflexivity.
  - destruct (le_lt_dec (length P) b) as [out_b | in_b].
    + assert (empty : row P b = []) by (unfold row; apply nth_overflow; exact out_b). rewrite empty.
      rewrite (proj1 (outside a b out_b)). reflexivity.
    + rewrite forallb_forall in all. specialize (all (a, row P a) (numbered_in _ P a in_a)). cbn beta iota in all.
      rewrite forallb_forall in all. specialize (all (b, row P b) (numbered_in _ P b in_b)). cbn beta iota in all.
      apply same_messages_are_equal. exact all.
Qed.

Lemma made_are_made : forall outputs t m, PositiveMap.mem (message_code m) (fold_left add_made outputs t) = true ->
  PositiveMap.mem (message_code m) t = true \/ In m outputs.
Proof.
  intros outputs. induction outputs as [| k outputs IH]; intros t m found; cbn in found; [left; exact found |].
  apply IH in found. destruct found as [found | inside]; [| right; right; exact inside].
  destruct (same_message m k) as [same | differs]; [subst; right; left; reflexivity | left].
  unfold add_made in found. rewrite PositiveMap.mem_find in found |- *.
  rewrite PositiveMap.gso in found; [exact found |]. intros same. apply message_codes in same. contradiction.
Qed.

Lemma made_is_checked : forall P, is_made_before_sent P = true -> made_before_sent P.
Proof.
  intros P good d n to m there.
  assert (walked : forall l t before, sends_what_is_made t l = true ->
    (forall m, PositiveMap.mem (message_code m) t = true ->
      exists i ins outs, i < length before /\ nth_error before i = Some (Run ins outs) /\ In m outs) ->
    forall n, nth_error l n = Some (Send to m) ->
    exists i ins outs, i < length before + n /\ nth_error (before ++ l) i = Some (Run ins outs) /\ In m outs).
  { intros l. induction l as [| a l IH]; intros t before checked known i at_i; [destruct i; discriminate |].
    assert (grown : forall t', sends_what_is_made t' l = true ->
      (forall m, PositiveMap.mem (message_code m) t' = true -> PositiveMap.mem (message_code m) t = true \/
        exists ins outs, a = Run ins outs /\ In m outs) ->
      forall i, nth_error l i = Some (Send to m) ->
      exists j ins outs, j < length before + S i /\ nth_error (before ++ a :: l) j = Some (Run ins outs) /\ In m outs).
    { intros t' checked' sources j at_j. destruct (IH t' (before ++ [a]) checked') with (n := j) as [p [ins [outs [small rest]]]].
      - intros k found. destruct (sources k found) as [old | [ins [outs [is_run inside]]]].
        + destruct (known k old) as [p [ins [outs [small [is_run inside]]]]]. exists p, ins, outs. rewrite app_length.
          split; [lia |]. rewrite nth_error_app1 by exact small. split; assumption.
        + exists (length before), ins, outs. rewrite app_length. cbn. split; [lia |].
          rewrite nth_error_app2, Nat.sub_diag by lia. subst a. split; [reflexivity | exact inside].
      - exact at_j.
      - exists p, ins, outs. rewrite app_length in small. cbn in small. split; [lia |].
        rewrite <- app_assoc in rest. exact rest. }
    destruct i as [| i].
    - cbn in at_i. inversion at_i. subst a. cbn in checked. apply andb_true_iff in checked. destruct checked as [found _].
      destruct (known m found) as [p [ins [outs [small [is_run inside]]]]]. exists p, ins, outs. split; [lia |].
      rewrite nth_error_app1 by exact small. split; assumption.
    - cbn in at_i. destruct a as [ins outs | p k | p k | k |]; cbn in checked.
      + apply (grown (fold_left add_made outs t)); [exact checked | | exact at_i].
        intros k found. apply made_are_made in found. destruct found as [old | inside]; [left; exact old | right].
        exists ins, outs. split; [reflexivity | exact inside].
      + apply andb_true_iff in checked. apply (grown t); [apply checked | intros; left; assumption | exact at_i].
      + apply (grown t); [exact checked | intros; left; assumption | exact at_i].
      + apply (grown t); [exact checked | intros; left; assumption | exact at_i].
      + apply (grown t); [exact checked | intros; left; assumption | exact at_i]. }
  assert (inside : d < length P) by (apply (row_inside P d n); congruence).
  unfold is_made_before_sent in good. rewrite forallb_forall in good.
  specialize (good (row P d) (nth_In P [] inside)).
  destruct (walked (row P d) (PositiveMap.empty unit) [] good) with (n := n) as [i found].
  - intros k found. rewrite PositiveMap.mem_find, PositiveMap.gempty in found. discriminate.
  - exact there.
  - exists i. exact found.
Qed.

(** The theorem of verify: every run of a verified plan ends, with buffered and with rendezvous messages. In every run, all that a
    pass needs was made by a pass that has run, and was sent under the number under which it is received. *)
Theorem verified_plans_are_safe : forall P, verified P = true ->
  ends Buffered P /\ ends Rendezvous P /\ in_order P /\ made_before_sent P.
Proof.
  intros P good. unfold verified in good. apply andb_true_iff in good. destruct good as [good ending].
  apply andb_true_iff in good. destruct good as [order makes].
  apply verdict_is_right in ending. split; [apply (ends_under_more_permissive Rendezvous); [exact I | exact ending] |].
  split; [exact ending |]. split; [apply in_order_is_checked; exact order | apply made_is_checked; exact makes].
Qed.
