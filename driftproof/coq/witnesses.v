(* Functions with given values and gradients in R^d, in whole numbers, for counterexamples.

   A row is the coordinates of a vector times D; a value is times D². *)
Require Export coordinates reading.
From Coq Require Import Lra Lia Bool.
Open Scope R_scope.

Definition lifted {d} (v : euclidean d) : euclidean (S d) := (0, v).
Fixpoint axes d : list (euclidean d) := match d with
  | O => [] | S d => ((1, zero) : euclidean (S d)) :: map lifted (axes d) end.
Fixpoint dot (d : nat) (r s : row) : Z := match d, r, s with S d, x :: r, y :: s => x * y + dot d r s | _, _, _ => 0 end%Z.

Definition place D d (r : row) := comb r (scaled D (axes d)).

Lemma comb_lifted d r : forall l, comb r (map (@lifted d) l) = lifted (comb r l).
Proof. induction r as [|x r IH]; intros [|v l]; cbn [comb map]; try reflexivity. rewrite IH. unfold lifted. cbn. f_equal. ring. Qed.
Lemma place_next D d x r : place D (S d) (x :: r) = (IZR x * / IZR D, place D d r).
Proof. unfold place, scaled. cbn [axes map comb]. rewrite map_map.
  rewrite (map_ext _ (fun v => lifted (scale (/ IZR D) v))) by (intro v; unfold lifted; cbn; f_equal; ring).
  rewrite <- (map_map _ lifted), comb_lifted. cbn. f_equal; [ring|]. rewrite !scale_zero, zero_add. reflexivity. Qed.
Lemma place_product D d : forall r s, ⟨place D d r, place D d s⟩ = IZR (dot d r s) * (/ IZR D * / IZR D).
Proof. induction d as [|d IH]; intros r s.
  - cbn. ring.
  - destruct r as [|x r]; [unfold place at 1; cbn [comb dot]; rewrite ip_zero; ring|].
    destruct s as [|y s]; [unfold place at 2; cbn [comb dot]; rewrite ip_zero_r; ring|].
    rewrite !place_next. cbn [dot]. rewrite plus_IZR, mult_IZR. cbn [euclidean one_more ip fst snd]. rewrite IH. ring. Qed.

(* A point, a gradient and a value; whether two of them meet the inequality of curved m/q l/q. *)
Definition datum := (row * row * Z)%type.
Definition meets (m l q : Z) d (a b : datum) : bool := let '(x, g, v) := a in let '(y, h, w) := b in
  let dx := minus y x in let dg := minus h g in
  (2 * q * (l - m) * (w - v - dot d h dx) + q * q * dot d dg dg + l * m * dot d dx dx - 2 * q * m * dot d dg dx <=? 0)%Z.
Definition consistent m l q d data := (m <? l)%Z && (0 <? q)%Z && match data with [] => false | _ => true end
  && forallb (fun a => forallb (meets m l q d a) data) data.
Definition has D d f g (t : datum) := let '(x, h, v) := t in
  f (place D d x) = IZR v * (/ IZR D * / IZR D) /\ g (place D d x) = place D d h.
Definition above (l q low : Z) d data := forallb (fun t : datum => let '(_, h, v) := t in q * dot d h h <=? 2 * l * (v - low))%Z data.

Lemma place_minus D d r s : place D d (minus r s) = (place D d r - place D d s)%V.
Proof. apply comb_minus. Qed.
Theorem witness D d m l q data : consistent m l q d data = true -> exists f g,
  curved (IZR m / IZR q) (IZR l / IZR q) f g /\ Forall (has D d f g) data /\
  forall low, m = (- l)%Z -> above l q low d data = true -> forall y, IZR low * (/ IZR D * / IZR D) <= f y.
Proof.
  intro ok. unfold consistent in ok. apply andb_true_iff in ok as [ok pairs]. apply andb_true_iff in ok as [ok some].
  apply andb_true_iff in ok as [lt q0]. apply Z.ltb_lt, IZR_lt in lt, q0.
  set (given := map (fun t : datum => let '(x, g, v) := t in (place D d x, place D d g, IZR v * (/ IZR D * / IZR D))) data).
  assert (I : forall x g v, In (x, g, v) given -> exists x' g' v', In (x', g', v') data /\ x = place D d x' /\ g = place D d g'
    /\ v = IZR v' * (/ IZR D * / IZR D)).
  { intros x g v H. unfold given in H. apply in_map_iff in H as ([[x' g'] v'] & [= <- <- <-] & H). exists x', g', v'. auto. }
  assert (P : 0 <= / IZR D * / IZR D) by apply Rle_0_sqr.
  destruct (interpolant d (IZR m / IZR q) (IZR l / IZR q) given) as (f & g & C & V & B).
  - apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat|]; lra.
  - unfold given. destruct data; [discriminate|discriminate].
  - intros x g v y h w X Y. apply I in X as (x' & g' & v' & X & -> & -> & ->). apply I in Y as (y' & h' & w' & Y & -> & -> & ->).
    rewrite forallb_forall in pairs. apply pairs in X. rewrite forallb_forall in X. apply X in Y. unfold meets in Y.
    apply Z.leb_le, IZR_le in Y. rewrite ?minus_IZR, ?plus_IZR, ?mult_IZR, ?minus_IZR in Y.
    rewrite <- !place_minus, !place_product. apply (Rmult_le_compat_l (/ IZR q * / IZR q * (/ IZR D * / IZR D))) in Y.
    + rewrite Rmult_0_r in Y. eapply Rle_trans; [|exact Y]. apply Req_le. generalize (/ IZR D). intro. field. lra.
    + apply Rmult_le_pos; [|exact P]. apply Rle_0_sqr.
  - exists f, g. split; [exact C|split].
    + apply Forall_forall. intros [[x h] v] H. apply V. unfold given. apply in_map_iff. exists (x, h, v). auto.
    + intros low M A. apply B; [rewrite M, opp_IZR; field; lra|]. intros x h v H. apply I in H as (x' & h' & v' & H & -> & -> & ->).
      unfold above in A. rewrite forallb_forall in A. apply A in H. apply Z.leb_le, IZR_le in H.
      rewrite ?mult_IZR, ?minus_IZR in H. rewrite place_product.
      apply (Rmult_le_compat_l (/ IZR q * (/ IZR D * / IZR D))) in H; [|apply Rmult_le_pos; [apply Rlt_le, Rinv_0_lt_compat; lra|exact P]].
      eapply Rle_trans; [|eapply Rle_trans; [exact H|]]; apply Req_le; generalize (/ IZR D); intro; field; lra.
Qed.

(* An operator on the plane that pulls by m/q, turns by n/q and shifts by (b, c)/D. *)
Definition turning (mu nu b c : R) (v : euclidean 2) : euclidean 2 :=
  (mu * fst v + nu * fst (snd v) + b, (mu * fst (snd v) - nu * fst v + c, tt)).
Definition turned (m n q b c : Z) (t : datum) := let '(x, h, v) := t in let x1 := nth 0 x 0%Z in let x2 := nth 1 x 0%Z in
  ((q * nth 0 h 0 =? m * x1 + n * x2 + q * b) && (q * nth 1 h 0 =? m * x2 - n * x1 + q * c) && (v =? 0))%Z.
Lemma place_plane D r : place D 2 r = (IZR (nth 0 r 0%Z) * / IZR D, (IZR (nth 1 r 0%Z) * / IZR D, tt)).
Proof. destruct r as [|x [|y r]]; rewrite ?place_next; cbn [nth].
  - cbn. rewrite Rmult_0_l. reflexivity.
  - cbn. rewrite Rmult_0_l. reflexivity.
  - destruct (place D 0 r : unit). reflexivity. Qed.
Theorem field_witness D m n q l p b c data : ((0 <? q) && (0 <? p) && (p * p * (m * m + n * n) <=? l * l * (q * q)))%Z
  && forallb (turned m n q b c) data = true -> exists g : euclidean 2 -> euclidean 2, strongly_monotone (IZR m / IZR q) g /\
  lipschitz (IZR l / IZR p) g /\ Forall (has D 2 (fun _ => 0) g) data.
Proof.
  intro ok. apply andb_true_iff in ok as [ok T]. apply andb_true_iff in ok as [ok N]. apply andb_true_iff in ok as [q0 p0].
  apply Z.ltb_lt, IZR_lt in q0, p0. apply Z.leb_le, IZR_le in N. rewrite !mult_IZR, plus_IZR, !mult_IZR in N.
  exists (turning (IZR m / IZR q) (IZR n / IZR q) (IZR b * / IZR D) (IZR c * / IZR D)). split; [|split].
  - intros [x1 [x2 []]] [y1 [y2 []]]. apply Req_le. cbn. ring.
  - intros [x1 [x2 []]] [y1 [y2 []]]. cbn. apply (Rmult_le_compat_l (/ IZR q * / IZR q * (/ IZR p * / IZR p))) in N;
      [|apply Rmult_le_pos; apply Rle_0_sqr].
    assert (K : IZR m / IZR q * (IZR m / IZR q) + IZR n / IZR q * (IZR n / IZR q) <= IZR l / IZR p * (IZR l / IZR p)).
    { eapply Rle_trans; [|eapply Rle_trans; [exact N|]]; apply Req_le; field; lra. }
    apply (Rmult_le_compat_r ((y1 + -1 * x1) * (y1 + -1 * x1) + (y2 + -1 * x2) * (y2 + -1 * x2))) in K;
      [|apply Rplus_le_le_0_compat; apply Rle_0_sqr].
    eapply Rle_trans; [|eapply Rle_trans; [exact K|]]; apply Req_le; ring.
  - apply Forall_forall. intros [[x h] v] I. rewrite forallb_forall in T. apply T in I. unfold turned in I.
    apply andb_true_iff in I as [I V]. apply andb_true_iff in I as [A B]. apply Z.eqb_eq in A, B, V. 
    subst v. split; [cbn; ring|]. rewrite !place_plane. unfold turning. cbn [fst snd].
    apply (f_equal IZR) in A, B. repeat rewrite ?plus_IZR, ?minus_IZR, ?mult_IZR in A.
    repeat rewrite ?plus_IZR, ?minus_IZR, ?mult_IZR in B.
    assert (A' : IZR (nth 0 h 0%Z) = (IZR m * IZR (nth 0 x 0%Z) + IZR n * IZR (nth 1 x 0%Z) + IZR q * IZR b) / IZR q)
      by (rewrite <- A; field; lra).
    assert (B' : IZR (nth 1 h 0%Z) = (IZR m * IZR (nth 1 x 0%Z) - IZR n * IZR (nth 0 x 0%Z) + IZR q * IZR c) / IZR q)
      by (rewrite <- B; field; lra).
    rewrite A', B'. generalize (/ IZR D). intro. f_equal; [field; lra|]. f_equal. field. lra.
Qed.

(* What is known of a function at a point that an expression reads, and what an inner product is. *)
Lemma given_at D d f g data n p a r x h v : Forall (has D d f g) data -> nth_error data n = Some (x, h, v) ->
  reads D (axes d) zero p a r -> same r x = true ->
  f p = IZR v * (/ IZR D * / IZR D) /\ reads D (axes d) zero (g p) 0 (map inject_Z h).
Proof. intros F N R S. apply nth_error_In in N. rewrite Forall_forall in F. destruct (F _ N) as [V G].
  unfold reads in R. rewrite scale_zero, zero_add, (combine_same _ x) in R by exact S. subst p. split; [exact V|].
  fold (place D d x). rewrite G. unfold reads. rewrite scale_zero, zero_add. symmetry. apply combine_same, same_whole. Qed.
Lemma a_point D d r : exists v, reads D (axes d) zero v 1 (map inject_Z r).
Proof. exists (place D d r). unfold reads. rewrite scale_zero, zero_add. symmetry. apply combine_same, same_whole. Qed.
Lemma product_read D d u v a b r s r' s' n : reads D (axes d) zero u a r -> reads D (axes d) zero v b s ->
  same r r' && same s s' && (dot d r' s' =? n)%Z = true -> ⟨u, v⟩ = IZR n * (/ IZR D * / IZR D).
Proof. unfold reads. intros -> -> C. apply andb_true_iff in C as [C N]. apply andb_true_iff in C as [R S]. apply Z.eqb_eq in N.
  rewrite !scale_zero, !zero_add, (combine_same _ r'), (combine_same _ s') by assumption. subst n. apply place_product. Qed.
Lemma same_read D d u v a b r s t : reads D (axes d) zero u a r -> reads D (axes d) zero v b s ->
  same r t && same s t = true -> u = v.
Proof. unfold reads. intros -> -> C. apply andb_true_iff in C as [R S].
  rewrite !scale_zero, !zero_add, (combine_same _ t _ R), (combine_same _ t _ S). reflexivity. Qed.
Lemma exceeded (a : R) p q : Q2R q < a -> Qeq_bool p q = true -> Q2R p < a.
Proof. intros H C. apply Qeq_bool_eq, Qeq_eqR in C. lra. Qed.

(* What the files of counterexamples are proved by. *)
Global Opaque euclidean.
Ltac point D d v r := let H := fresh "read" in destruct (a_point D d r) as (v & H).
Ltac iterate_at D d v w r := assert (reads D (axes d) zero v 1 (map inject_Z r)) by
  (eapply (reads_point _ _ _ v w); [reflexivity | read | decided]).
Ltac data_at F n v := match type of F with Forall (has ?D ?d ?f ?g) ?l =>
  let t := eval cbn in (nth_error l n) in match t with Some (?x, ?h, ?w) =>
  match goal with H : reads D _ zero v _ _ |- _ =>
    let V := fresh "value" in let G := fresh "read" in
    destruct (given_at D d f g l n v _ _ x h w F eq_refl H ltac:(decided)) as (V & G) end end end.
Ltac product D d u v r s n := assert (⟨u, v⟩ = IZR n * (/ IZR D * / IZR D)) by
  (eapply (product_read D d u v _ _ _ _ r s); [read | read | decided]).
Ltac member H := first [eapply curved_by | eapply strongly_monotone_by | eapply lipschitz_by]; [exact H | lra..].
Ltac both_read t := eapply (same_read _ _ _ _ _ _ _ _ t); [read | read | decided].
Ltac bounded H := let x := fresh in intro x; pose proof (H 0%Z eq_refl ltac:(decided) x); cbn; lra.
Ltac number_of := unfold Q2R; cbn [Qnum Qden].
