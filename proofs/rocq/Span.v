(** * Span: the least time in which every device can run its passes

    A device may begin later than it could. The _device span_ of a schedule is the least T such that some execution lets every
    device run all its passes within T ticks, from the start of its first pass to the end of its last one. The execution
    that starts everything at the earliest need not reach it.

    - [device_span] is a program. Where it gives a figure, this is the device span: an execution reaches it, and no execution
      has less ([device_span_is_least]).

    Why it matters: the device span is the time of an iteration when the next one follows without a barrier, and bubble rates
    are computed from it.

    The program has two halves. A search, about which nothing is proved, proposes a figure T, times at which devices begin,
    and a cycle of devices x1, x2, ..., xk, x1. Then each half of the claim is checked. Upper half: it runs the schedule from
    these times on, and checks that the start times respect all needs and that no device takes longer than T. Lower half: the
    longest chain of passes and latencies from the first pass of a device x to the end of the last pass of a device y takes
    A(x, y), whatever the execution is. So the devices of the cycle take A(x1, x2) + ... + A(xk, x1) together, and one of
    them takes the mean. This must be more than T - 1.

    What is not proved: that the program always gives a figure. It gives none for a schedule that deadlocks, and for one
    without passes. *)

From Coq Require Import ZArith List Lia Bool FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Replay Bubbleproof.PipelineReplay.
Import ListNotations.
Open Scope Z_scope.

(** ** Checks *)

Section Checks.
  Variable M : model.
  Variable S : schedule.

  (** Start times from a map; none is negative. *)
  Definition time_in (starts : PositiveMap.t Z) (p : pass) : Z := Z.max 0 (start_of starts p).

  (** Start times respect the order of each device and all needs. *)
  Definition respected (starts : PositiveMap.t Z) : bool :=
    forallb (fun d =>
      forallb (fun '(p, q) => time_in starts p + time_of M p <=? time_in starts q) (pairs (S d)) &&
      forallb (fun q => forallb (fun '(p, lag) => time_in starts p + (time_of M p + lag) <=? time_in starts q)
        (needed_passes M q)) (S d)) (seq 0 (devices M)).

  (** When a device begins and ends; 0 without passes. *)
  Definition begin_of (start : pass -> Z) (d : nat) : Z :=
    match S d with
    | [] => 0
    | p :: _ => start p
    end.

  Definition end_of (start : pass -> Z) (d : nat) : Z :=
    match S d with
    | [] => 0
    | p :: _ => let q := last (S d) p in start q + time_of M q
    end.

  Definition spans_within (start : pass -> Z) (x : Z) : bool :=
    forallb (fun d => match S d with [] => true | _ => end_of start d - begin_of start d <=? x end) (seq 0 (devices M)).

  (** What a pass waits for: the pass in front of it on its device, if any, and what it needs; and for how long. *)
  Definition waited_for (front : option pass) (q : pass) : list (pass * Z) :=
    match front with
    | Some p => [(p, time_of M p)]
    | None => []
    end ++ map (fun '(p, lag) => (p, time_of M p + lag)) (needed_passes M q).

  (** A pass that starts at K or later is the first one of the chain, or some pass from which it comes does so too. *)
  Definition linked (K : Z) (first : pass) (starts : PositiveMap.t Z) (front : option pass) (q : pass) : bool :=
    let x := start_of starts q in
    (x <? K) ||
    (Pos.eqb (pass_key q) (pass_key first) && (x <=? K)) ||
    existsb (fun '(p, w) => let y := start_of starts p in (K <=? y) && (x <=? y + w)) (waited_for front q).

  Fixpoint all_linked (K : Z) (first : pass) (starts : PositiveMap.t Z) (front : option pass) (l : list pass) : bool :=
    match l with
    | [] => true
    | q :: rest => linked K first starts front q && all_linked K first starts (Some q) rest
    end.

  Definition chains_hold (K : Z) (first : pass) (starts : PositiveMap.t Z) : bool :=
    forallb (fun d => all_linked K first starts None (S d)) (seq 0 (devices M)).

  (** Runs the schedule where devices begin no earlier than at some times. *)
  Definition run_from (begins : nat -> Z) : option (PositiveMap.t Z) :=
    sweeps pass_key (problem_of M) (needed_passes M) (Datatypes.S (length (concat (orders_of M S)))) (PositiveMap.empty Z)
      (map (fun d => (begins d, S d)) (seq 0 (devices M))).

  (** The longest chains from the first pass of x to the ends of all devices. K is more than the makespan: where only x begins
      at K, what starts at K or later comes from the first pass of x. *)
  Definition row (K : Z) (x : nat) : list (option Z) :=
    match S x, run_from (fun d => if Nat.eqb d x then K else 0) with
    | first :: _, Some starts =>
      if chains_hold K first starts then
        map (fun y =>
          match S y with
          | [] => None
          | p :: _ =>
            let q := last (S y) p in
            if K <=? start_of starts q then Some (start_of starts q + time_of M q - K) else None
          end) (seq 0 (devices M))
      else []
    | _, _ => []
    end.

  (** The lengths of the chains along a walk of devices. *)
  Fixpoint walk_length (rows : list (list (option Z))) (x : nat) (walk : list nat) : option Z :=
    match walk with
    | [] => Some 0
    | y :: rest =>
      match nth y (nth x rows []) None, walk_length rows y rest with
      | Some a, Some b => Some (a + b)
      | _, _ => None
      end
    end.

  (** Every span is at least x, since the devices of the cycle have this mean: it is more than x - 1. *)
  Definition forced (rows : list (list (option Z))) (cycle : list nat) (x : Z) : bool :=
    match cycle with
    | [] => false
    | first :: rest =>
      match walk_length rows first (rest ++ [first]) with
      | Some a => Z.of_nat (length cycle) * (x - 1) <? a
      | None => false
      end
    end.
End Checks.

(** ** Search *)

Section Search.
  Variable M : model.
  Variable S : schedule.

  (** By device: when it begins, and the walk of devices, the latest first, that makes it begin no earlier. *)
  Definition begins : Type := list (Z * list nat).

  (** What the chains from a device demand of the others, if no span is more than x. *)
  Fixpoint demand (x : Z) (from : Z * list nat) (chains : list (option Z)) (y : nat) (now : begins) : begins :=
    match chains, now with
    | a :: chains, here :: now =>
      let other :=
        match a with
        | Some a => if fst here <? fst from + a - x then (fst from + a - x, y :: snd from) else here
        | None => here
        end in
      other :: demand x from chains (Datatypes.S y) now
    | _, _ => now
    end.

  Definition demands (x : Z) (rows : list (list (option Z))) (now : begins) : begins :=
    fold_left (fun next '(from, chains) => demand x from chains 0 next) (combine now rows) now.

  Fixpoint settle (fuel : nat) (x : Z) (rows : list (list (option Z))) (now : begins) : bool * begins :=
    let next := demands x rows now in
    if forallb (fun '(a, b) => fst a =? fst b) (combine now next) then (true, now)
    else
      match fuel with
      | 0%nat => (false, next)
      | Datatypes.S fuel => settle fuel x rows next
      end.

  Definition settled (x : Z) (rows : list (list (option Z))) : bool * begins :=
    settle (devices M) x rows (map (fun d => (0, [d])) (seq 0 (devices M))).

  (** Halves the range until the least x at which devices settle is left. *)
  Fixpoint halve (fuel : nat) (rows : list (list (option Z))) (low high : Z) : Z :=
    match fuel with
    | 0%nat => high
    | Datatypes.S fuel =>
      if high <=? low + 1 then high
      else
        let middle := (low + high) / 2 in
        if fst (settled middle rows) then halve fuel rows low middle else halve fuel rows middle high
    end.

  (** The part of a walk up to a device. *)
  Fixpoint up_to (d : nat) (walk : list nat) : option (list nat) :=
    match walk with
    | [] => None
    | x :: rest =>
      if Nat.eqb x d then Some [x]
      else
        match up_to d rest with
        | Some part => Some (x :: part)
        | None => None
        end
    end.

  Fixpoint cycles_in (walk : list nat) : list (list nat) :=
    match walk with
    | [] => []
    | x :: rest =>
      match up_to x rest with
      | Some part => rev part :: cycles_in rest
      | None => cycles_in rest
      end
    end.

  Definition longest_span (starts : PositiveMap.t Z) : nat * Z :=
    fold_left (fun '(best, most) d =>
      let span := end_of M S (start_of starts) d - begin_of S (start_of starts) d in
      if most <? span then (d, span) else (best, most)) (seq 0 (devices M)) (0%nat, -1).

  (** The device span; nothing for a schedule that deadlocks or has no passes. *)
  Definition device_span : option Z :=
    match replay_model M S with
    | None => None
    | Some starts =>
      let K := last_end pass_key (problem_of M) (orders_of M S) starts + 1 in
      let '(device, span) := longest_span starts in
      let quick := map (fun d => if Nat.eqb d device then row M S K d else []) (seq 0 (devices M)) in
      if forced quick [device] span && respected M S starts && spans_within M S (time_in starts) span then Some span
      else
        let rows := map (row M S K) (seq 0 (devices M)) in
        let x := halve 200 rows (-1) span in
        let later := snd (settled x rows) in
        match run_from M S (fun d => fst (nth d later (0, []))) with
        | None => None
        | Some starts =>
          if respected M S starts && spans_within M S (time_in starts) x &&
             existsb (fun cycle => forced rows cycle x)
               (flat_map (fun entry => cycles_in (snd entry)) (snd (settled (x - 1) rows)))
          then Some x else None
        end
    end.
End Search.

(** ** Why the checks suffice *)

Section Span.
  Variable M : model.
  Variable S : schedule.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.

  Lemma respected_respects : forall starts, respected M S starts = true -> respects (problem_of M) (orders_of M S) (time_in starts).
  Proof.
    intros starts fine. unfold respected in fine. rewrite forallb_forall in fine. split; [intros u; unfold time_in; lia |].
    intros u w v wait. destruct wait as [u lag v need | l u v inside behind].
    - destruct (orders_covered M S Well Complete u lag v need) as [_ in_v]. pose proof in_v as needed.
      apply (orders_needs M S Well Complete v) with (u := u) (lag := lag) in needed. apply needed in need. clear needed.
      unfold orders_of in in_v. apply in_concat in in_v. destruct in_v as [l [in_O in_l]].
      apply in_map_iff in in_O. destruct in_O as [d [same in_d]]. subst l. specialize (fine d in_d).
      apply andb_true_iff in fine. destruct fine as [_ fine]. rewrite forallb_forall in fine. specialize (fine v in_l).
      rewrite forallb_forall in fine. specialize (fine (u, lag) need). cbn in fine. apply Z.leb_le in fine. exact fine.
    - unfold orders_of in inside. apply in_map_iff in inside. destruct inside as [d [same in_d]]. subst l.
      specialize (fine d in_d). apply andb_true_iff in fine. destruct fine as [fine _]. rewrite forallb_forall in fine.
      apply follows_pairs in behind. specialize (fine (u, v) behind). cbn in fine. apply Z.leb_le in fine. exact fine.
  Qed.

  (** Whether tasks can start one after the other does not depend on start times. *)
  Lemma respected_runs : forall found starts, replay_model M S = Some found -> respected M S starts = true ->
    runs M S (time_in starts).
  Proof.
    intros found starts result fine. split; [apply respected_respects; exact fine |].
    apply (replay_runs M S Well Complete found result).
  Qed.

  Lemma first_and_last : forall start d, (d < devices M)%nat -> runs M S start -> forall p, In p (S d) ->
    begin_of S start d <= start p /\ start p + time_of M p <= end_of M S start d.
  Proof.
    intros start d inside runs_ p in_d. pose proof (device_one_at_a_time M S start Well runs_ d inside) as ordered.
    unfold begin_of, end_of. destruct (S d) as [| f l]; [destruct in_d |]. split.
    - destruct in_d as [same | later]; [subst; lia |]. destruct ordered as [each _]. specialize (each p later).
      cbn [duration problem_of] in each. pose proof (proj1 (problem_sane M Well) f). cbn [duration problem_of] in *. lia.
    - destruct (exists_last (l := f :: l)) as [before [q shape]]; [discriminate |]. rewrite shape, last_last.
      destruct (one_at_a_time_split (problem_of M) start (f :: l) before q [] ordered shape) as [_ ahead].
      rewrite shape in in_d. apply in_app_iff in in_d. destruct in_d as [before_q | [same | []]]; [| subst; lia].
      specialize (ahead p before_q). pose proof (proj1 (problem_sane M Well) q). cbn [duration problem_of] in *. lia.
  Qed.

  Lemma spans_within_at_most : forall start x, runs M S start -> spans_within M S start x = true ->
    forall d, (d < devices M)%nat -> span_at_most M S start d x.
  Proof.
    intros start x runs_ fine d inside p q in_p in_q. unfold spans_within in fine. rewrite forallb_forall in fine.
    assert (in_seq_ : In d (seq 0 (devices M))) by (apply in_seq; lia). specialize (fine d in_seq_).
    pose proof (proj1 (first_and_last start d inside runs_ p in_p)) as begins.
    pose proof (proj2 (first_and_last start d inside runs_ q in_q)) as ends.
    destruct (S d); [destruct in_p |]. apply Z.leb_le in fine. lia.
  Qed.

  Lemma all_linked_spec : forall K first starts L l before front, L = before ++ l ->
    (forall p, front = Some p -> exists others, before = others ++ [p]) ->
    all_linked M K first starts front l = true -> forall q, In q l ->
    exists here, linked M K first starts here q = true /\ (forall p, here = Some p -> follows L p q).
  Proof.
    intros K first starts L l. induction l as [| v l IH]; intros before front shape known fine q inside; [destruct inside |].
    cbn [all_linked] in fine. apply andb_true_iff in fine. destruct fine as [here later]. destruct inside as [same | inside].
    - subst v. exists front. split; [exact here |]. intros p is_front. destruct (known p is_front) as [others same].
      exists others, l. rewrite shape, same, <- app_assoc. reflexivity.
    - apply (IH (before ++ [v]) (Some v)); [rewrite shape, <- app_assoc; reflexivity | | exact later | exact inside].
      intros p same. inversion same; subst. exists before. reflexivity.
  Qed.

  (** A chain takes its time in every execution. *)
  Lemma chain_takes : forall K first starts start, runs M S start -> chains_hold M S K first starts = true ->
    forall p, exists_in M p -> K <= start_of starts p -> start first + (start_of starts p - K) <= start p.
  Proof.
    intros K first starts start [[_ each] [place ordered]] fine.
    assert (climb : forall n p, (place p < n)%nat -> exists_in M p -> K <= start_of starts p ->
      start first + (start_of starts p - K) <= start p).
    { intros n. induction n as [| n IH]; intros p below exists_p late; [lia |].
      pose proof exists_p as in_p. apply (in_orders M S Well Complete) in in_p. pose proof in_p as in_all.
      unfold orders_of in in_p. apply in_concat in in_p. destruct in_p as [l [in_O in_l]].
      apply in_map_iff in in_O. destruct in_O as [d [same in_d]]. subst l.
      unfold chains_hold in fine. rewrite forallb_forall in fine. specialize (fine d in_d).
      destruct (all_linked_spec K first starts (S d) (S d) [] None eq_refl) with (q := p) as [front [link behind]];
        [intros q no; discriminate | exact fine | exact in_l |].
      unfold linked in link. apply orb_true_iff in link. destruct link as [link | link].
      - apply orb_true_iff in link. destruct link as [link | link]; [apply Z.ltb_lt in link; lia |].
        apply andb_true_iff in link. destruct link as [same early]. apply Pos.eqb_eq in same.
        apply pass_key_injective in same. subst. apply Z.leb_le in early. lia.
      - apply existsb_exists in link. destruct link as [[u w] [waited link]]. apply andb_true_iff in link.
        destruct link as [late_u close]. apply Z.leb_le in late_u. apply Z.leb_le in close.
        assert (wait : waits (problem_of M) (orders_of M S) u w p).
        { unfold waited_for in waited. apply in_app_iff in waited. destruct waited as [waited | waited].
          - destruct front as [v |]; [| destruct waited]. destruct waited as [same | []]. inversion same; subst.
            apply (waits_order (problem_of M) (orders_of M S) (S d)); [apply in_map; exact in_d | apply behind; reflexivity].
          - apply in_map_iff in waited. destruct waited as [[v lag] [same needed]]. inversion same; subst.
            apply (waits_need (problem_of M)). apply (orders_needs M S Well Complete p in_all). exact needed. }
        assert (exists_u : exists_in M u).
        { apply (in_orders M S Well Complete).
          apply (waits_in (problem_of M) (orders_of M S) (orders_covered M S Well Complete) u w p wait). }
        pose proof (IH u) as before. pose proof (ordered u w p wait). pose proof (each u w p wait).
        assert (start first + (start_of starts u - K) <= start u) by (apply before; [lia | exact exists_u | exact late_u]).
        lia. }
    intros p. apply (climb (Datatypes.S (place p))). lia.
  Qed.

  Lemma nth_map_seq : forall (A : Type) (f : nat -> A) n y other,
    nth y (map f (seq 0 n)) other = if Nat.ltb y n then f y else other.
  Proof.
    intros A f n y other. destruct (Nat.ltb_spec y n) as [inside | outside].
    - rewrite (nth_indep _ other (f 0%nat)) by (rewrite map_length, seq_length; exact inside).
      rewrite map_nth, seq_nth by exact inside. reflexivity.
    - apply nth_overflow. rewrite map_length, seq_length. exact outside.
  Qed.

  (** Chains from x to y of this length hold in every execution. *)
  Definition demanded (rows : list (list (option Z))) : Prop :=
    forall x y a, nth y (nth x rows []) None = Some a ->
      (y < devices M)%nat /\ S y <> [] /\
      forall start, runs M S start -> begin_of S start x + a <= end_of M S start y.

  Lemma row_demanded : forall K x y a, nth y (row M S K x) None = Some a ->
    (y < devices M)%nat /\ S y <> [] /\
    forall start, runs M S start -> begin_of S start x + a <= end_of M S start y.
  Proof.
    intros K x y a found. unfold row in found. unfold begin_of. destruct (S x) as [| first others]; [destruct y; discriminate |].
    destruct (run_from M S (fun d => if Nat.eqb d x then K else 0)) as [starts |]; [| destruct y; discriminate].
    destruct (chains_hold M S K first starts) eqn:fine; [| destruct y; discriminate].
    rewrite nth_map_seq in found. destruct (Nat.ltb_spec y (devices M)) as [inside | _]; [| discriminate].
    split; [exact inside |]. unfold end_of. destruct (S y) as [| p l] eqn:shape; [discriminate |]. split; [discriminate |].
    cbv zeta in *. destruct (Z.leb_spec K (start_of starts (last (p :: l) p))) as [late | _]; [| discriminate].
    injection found as same_a. intros start runs_.
    assert (in_y : In (last (p :: l) p) (S y)).
    { rewrite shape. destruct (exists_last (l := p :: l)) as [before [q same]]; [discriminate |]. rewrite same, last_last.
      apply in_app_iff. right. left. reflexivity. }
    apply (proj2 (Complete y inside)) in in_y. destruct in_y as [exists_q _].
    pose proof (chain_takes K first starts start runs_ fine _ exists_q late).
    change (start first + a <= start (last (p :: l) p) + time_of M (last (p :: l) p)). rewrite <- same_a.
    change (match l with [] => p | _ :: _ => last l p end) with (last (p :: l) p). lia.
  Qed.

  Lemma rows_demanded : forall K (chosen : nat -> bool),
    demanded (map (fun x => if chosen x then row M S K x else []) (seq 0 (devices M))).
  Proof.
    intros K chosen x y a found. rewrite nth_map_seq in found. destruct (Nat.ltb x (devices M)); [| destruct y; discriminate].
    destruct (chosen x); [| destruct y; discriminate]. apply (row_demanded K). exact found.
  Qed.

  Lemma span_of : forall start x d, (d < devices M)%nat -> S d <> [] -> span_at_most M S start d x ->
    end_of M S start d <= begin_of S start d + x.
  Proof.
    intros start x d inside some within. unfold end_of, begin_of.
    destruct (S d) as [| p l] eqn:shape; [contradiction |].
    destruct (exists_last (l := p :: l)) as [before [q same]]; [discriminate |]. rewrite same, last_last.
    assert (in_p : In p (S d)) by (rewrite shape; left; reflexivity).
    assert (in_q : In q (S d)) by (rewrite shape, same; apply in_app_iff; right; left; reflexivity).
    specialize (within p q in_p in_q). lia.
  Qed.

  Lemma walk_takes : forall rows start x, demanded rows -> runs M S start ->
    (forall d, (d < devices M)%nat -> span_at_most M S start d x) ->
    forall walk d a last_, walk_length rows d (walk ++ [last_]) = Some a ->
    (last_ < devices M)%nat /\ S last_ <> [] /\
    begin_of S start d + a <= end_of M S start last_ + Z.of_nat (length walk) * x.
  Proof.
    intros rows start x sound runs_ within walk.
    induction walk as [| e walk IH]; intros d a last_ found; cbn [app walk_length] in found.
    - destruct (nth last_ (nth d rows []) None) as [b |] eqn:step_; [| discriminate]. inversion found; subst.
      destruct (sound d last_ b step_) as [inside [some takes]]. specialize (takes start runs_).
      split; [exact inside |]. split; [exact some |]. cbn [length]. lia.
    - destruct (nth e (nth d rows []) None) as [b |] eqn:step_; [| discriminate].
      destruct (walk_length rows e (walk ++ [last_])) as [c |] eqn:rest; [| discriminate]. inversion found; subst.
      destruct (IH e c last_ rest) as [inside [some takes]]. split; [exact inside |]. split; [exact some |].
      destruct (sound d e b step_) as [inside_e [some_e takes_e]]. specialize (takes_e start runs_).
      pose proof (span_of start x e inside_e some_e (within e inside_e)).
      cbn [length]. rewrite Nat2Z.inj_succ, Z.mul_succ_l. lia.
  Qed.

  (** No execution has smaller spans on all devices of a cycle than its mean. *)
  Lemma forced_holds : forall rows cycle x start y, demanded rows -> forced rows cycle x = true -> runs M S start ->
    (forall d, (d < devices M)%nat -> span_at_most M S start d y) -> x <= y.
  Proof.
    intros rows [| first rest] x start y sound fine runs_ within; [discriminate |]. unfold forced in fine.
    destruct (walk_length rows first (rest ++ [first])) as [a |] eqn:found; [| discriminate]. apply Z.ltb_lt in fine.
    destruct (walk_takes rows start y sound runs_ within rest first a first found) as [inside [some takes]].
    pose proof (span_of start y first inside some (within first inside)).
    cbn [length] in fine. rewrite Nat2Z.inj_succ in fine.
    assert (less : Z.succ (Z.of_nat (length rest)) * (x - 1) < Z.succ (Z.of_nat (length rest)) * y).
    { rewrite (Z.mul_succ_l _ y). lia. }
    apply Z.mul_lt_mono_pos_l in less; lia.
  Qed.

  (** The figure is reached: some execution lets every device run its passes within it. And no execution has less. *)
  Theorem device_span_is_least : forall x, device_span M S = Some x ->
    (exists start, runs M S start /\ forall d, (d < devices M)%nat -> span_at_most M S start d x) /\
    (forall start y, runs M S start -> (forall d, (d < devices M)%nat -> span_at_most M S start d y) -> x <= y).
  Proof.
    intros x. unfold device_span. destruct (replay_model M S) as [found |] eqn:result; [| discriminate].
    destruct (longest_span M S found) as [device span]. cbv zeta.
    set (K := last_end pass_key (problem_of M) (orders_of M S) found + 1).
    match goal with
    | |- (if ?quick then _ else _) = _ -> _ => destruct quick eqn:fine
    end.
    - intros same. inversion same; subst span. apply andb_true_iff in fine. destruct fine as [fine small].
      apply andb_true_iff in fine. destruct fine as [lower fits].
      pose proof (respected_runs found found result fits) as runs_. split.
      + exists (time_in found). split; [exact runs_ |]. apply spans_within_at_most; assumption.
      + intros start y others within. pose proof (rows_demanded K (fun d => Nat.eqb d device)) as sound.
        apply (forced_holds _ _ x start y sound lower others within).
    - clear fine. set (rows := map (row M S K) (seq 0 (devices M))). set (z := halve M 200 rows (-1) span).
      destruct (run_from M S (fun d => fst (nth d (snd (settled M z rows)) (0, [])))) as [starts |]; [| discriminate].
      match goal with
      | |- (if ?checks then _ else _) = _ -> _ => destruct checks eqn:fine; [| discriminate]
      end.
      intros same. inversion same; subst x. apply andb_true_iff in fine. destruct fine as [fine lower].
      apply andb_true_iff in fine. destruct fine as [fits small].
      pose proof (respected_runs found starts result fits) as runs_. split.
      + exists (time_in starts). split; [exact runs_ |]. apply spans_within_at_most; assumption.
      + intros start y others within. apply existsb_exists in lower. destruct lower as [cycle [_ lower]].
        apply (forced_holds rows cycle z start y); [| exact lower | exact others | exact within].
        apply (rows_demanded K (fun _ => true)).
  Qed.
End Span.

(** ** Examples *)

(** A device for each stage; the durations of F, I and W by stage, and the latencies. *)
Definition plain (n m : nat) (f i w between : list Z) : model :=
  Model n n m (fun s => s) (fun k s => nth s (match k with F => f | I => i | W => w end) 0) (fun s => nth s between 0)
    (fun _ => 0) (fun _ => 0) (fun _ => None).

(** Device 1 could start at 10 ticks, and would then have a span of 72. It does better to begin 5 ticks later. *)
Definition three_devices : model :=
  plain 3 2 [10; 1; 2] [1; 1; 2] [1; 30; 1] [0; 0].

Definition crossed : schedule := fun d => nth d
  [[Pass F 0 0; Pass F 0 1; Pass I 0 1; Pass W 0 1; Pass I 0 0; Pass W 0 0];
   [Pass F 1 1; Pass F 1 0; Pass I 1 1; Pass W 1 1; Pass I 1 0; Pass W 1 0];
   [Pass F 2 1; Pass I 2 1; Pass F 2 0; Pass I 2 0; Pass W 2 1; Pass W 2 0]] [].

Example crossed_spans_67 : device_span three_devices crossed = Some 67.
Proof. vm_compute. reflexivity. Qed.

(** Each device alone could do with 12 ticks. Together they need 22, while the makespan is 23. *)
Definition held_up : model :=
  plain 2 2 [1; 1] [1; 1] [1; 9] [0].

Definition held_up_order : schedule := fun d => nth d
  [[Pass F 0 0; Pass F 0 1; Pass I 0 0; Pass W 0 0; Pass I 0 1; Pass W 0 1];
   [Pass F 1 0; Pass I 1 0; Pass F 1 1; Pass I 1 1; Pass W 1 0; Pass W 1 1]] [].

Example held_up_spans_22 : device_span held_up held_up_order = Some 22 /\ makespan held_up held_up_order = Some 23.
Proof. vm_compute. split; reflexivity. Qed.

(** The mean of two chains, of 104 and 73 ticks, rounded up. *)
Definition two_chains : model :=
  plain 2 3 [7; 1] [1; 1] [20; 24] [8].

Definition two_chains_order : schedule := fun d => nth d
  [[Pass F 0 0; Pass F 0 1; Pass F 0 2; Pass I 0 0; Pass W 0 0; Pass I 0 1; Pass W 0 1; Pass I 0 2; Pass W 0 2];
   [Pass F 1 0; Pass I 1 0; Pass F 1 1; Pass F 1 2; Pass I 1 1; Pass I 1 2; Pass W 1 0; Pass W 1 1; Pass W 1 2]] [].

Example two_chains_span_89 : device_span two_chains two_chains_order = Some 89.
Proof. vm_compute. reflexivity. Qed.
