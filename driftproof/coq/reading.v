(* Reads an expression of vectors as a combination with fractions, so that it can be compared. *)
Require Export certificates.
Require Import algorithms.
From Coq Require Export QArith Qreals.
From Coq Require Import Lra Lia Bool.
Open Scope R_scope.

Fixpoint plus_rows (r s : list Q) : list Q := match r, s with
  | [], _ => s | _, [] => r | a :: r, b :: s => Qred (a + b) :: plus_rows r s end.
Definition times_row (c : Q) (r : list Q) := map (fun a => Qred (c * a)) r.
Fixpoint same (r : list Q) (s : row) : bool := match r, s with
  | [], _ => is_zero s
  | a :: r, [] => Qeq_bool a 0 && same r []
  | a :: r, b :: s => Qeq_bool a (inject_Z b) && same r s end.
Definition unit_row (k : nat) (D : Z) : list Q := repeat 0%Q k ++ [inject_Z D].
Fixpoint unit_at (k : nat) (r : row) : bool := match k, r with
  | O, x :: r => (x =? 1)%Z && is_zero r | S k, x :: r => (x =? 0)%Z && unit_at k r | _, [] => false end.

Section Reading.
Context {E : space}.
Variables (D : Z) (l : list E) (ws : list R) (origin : E).
Definition scaled : list E := map (scale (/ IZR D)) l.
Fixpoint combine (r : list Q) (vs : list E) : E := match r, vs with
  | a :: r, v :: vs => Q2R a * v + combine r vs | _, _ => zero end%V.
(* v is a times the origin plus a combination of the vectors *)
Definition reads (v : E) (a : Q) (r : list Q) := v = (Q2R a * origin + combine r scaled)%V.

Lemma Q2R_red q : Q2R (Qred q) = Q2R q. Proof. apply Qeq_eqR, Qred_correct. Qed.
Lemma combine_nil vs : combine [] vs = zero. Proof. destruct vs; reflexivity. Qed.
Lemma combine_plus r : forall s vs, combine (plus_rows r s) vs = (combine r vs + combine s vs)%V.
Proof. induction r as [|a r IH]; intros s vs; [cbn; rewrite zero_add; reflexivity|].
  destruct s as [|b s], vs as [|v vs]; cbn [plus_rows combine]; rewrite ?combine_nil, ?add_zero; try reflexivity.
  rewrite IH, Q2R_red, Q2R_plus, scale_plus. apply swap. Qed.
Lemma combine_times c r : forall vs, combine (times_row c r) vs = (Q2R c * combine r vs)%V.
Proof. induction r as [|a r IH]; intros [|v vs]; cbn [times_row map combine]; rewrite ?scale_zero; try reflexivity.
  fold (times_row c r). rewrite IH, Q2R_red, Q2R_mult, scale_add, scale_scale. reflexivity. Qed.
Lemma combine_same r : forall s vs, same r s = true -> combine r vs = comb s vs.
Proof. induction r as [|a r IH]; intros s vs H.
  - rewrite combine_nil. symmetry. apply is_zero_comb. exact H.
  - destruct s as [|b s], vs as [|v vs]; cbn [same combine comb] in *; try reflexivity;
      apply andb_true_iff in H as [A B]; apply Qeq_bool_eq, Qeq_eqR in A; rewrite (IH _ vs B), A.
    + rewrite ?comb_nil, ?add_zero. unfold Q2R. cbn. rewrite Rmult_0_l. apply scale_0.
    + unfold Q2R. cbn. rewrite Rinv_1, Rmult_1_r. reflexivity. Qed.

Lemma reads_origin : reads origin 1 [].
Proof. unfold reads. rewrite combine_nil, add_zero. unfold Q2R; cbn. rewrite Rinv_1, Rmult_1_r, scale_one. reflexivity. Qed.
Lemma reads_zero : reads zero 0 [].
Proof. unfold reads. rewrite combine_nil, add_zero. unfold Q2R; cbn. rewrite Rmult_0_l, scale_0. reflexivity. Qed.
Lemma reads_add v a r w b s : reads v a r -> reads w b s -> reads (v + w)%V (a + b) (plus_rows r s).
Proof. unfold reads. intros -> ->. rewrite combine_plus, Q2R_plus, scale_plus. apply swap. Qed.
Lemma reads_scale q v a r : reads v a r -> reads (Q2R q * v)%V (q * a) (times_row q r).
Proof. unfold reads. intros ->. rewrite combine_times, Q2R_mult, scale_add, scale_scale. reflexivity. Qed.
Lemma reads_fraction n d v a r : reads v a r -> reads (IZR n / IZR (Zpos d) * v)%V ((n # d) * a) (times_row (n # d) r).
Proof. exact (reads_scale (n # d) v a r). Qed.
Lemma reads_whole n v a r : reads v a r -> reads (IZR n * v)%V ((n # 1) * a) (times_row (n # 1) r).
Proof. intro H. replace (IZR n) with (Q2R (n # 1)) by (unfold Q2R; cbn; lra). apply reads_scale, H. Qed.
Lemma reads_atom k v : (D =? 0)%Z = false -> nth_error l k = Some v -> reads v 0 (unit_row k D).
Proof. intros nz N. apply Z.eqb_neq in nz. unfold reads, scaled. replace (Q2R 0) with 0 by (unfold Q2R; cbn; lra).
  rewrite scale_0, zero_add. revert k N. clear - nz. induction l as [|w m IH]; intros [|k] N; try discriminate; cbn.
  - injection N as ->. rewrite ?combine_nil, ?add_zero, scale_scale. unfold Q2R; cbn.
    replace (IZR D * / 1 * / IZR D) with 1 by (field; apply not_0_IZR; exact nz). symmetry. apply scale_one.
  - unfold Q2R at 1; cbn. rewrite Rmult_0_l, scale_0, zero_add. apply IH. exact N. Qed.
Lemma reads_same v w a r : reads v a r -> reads w a r -> w = v.
Proof. unfold reads. intros -> ->. reflexivity. Qed.
Lemma reads_start v r : reads (v - origin)%V 0 r -> reads v 1 r.
Proof. unfold reads. intro H. replace (Q2R 1) with 1 by (unfold Q2R; cbn; lra). rewrite scale_one.
  replace (Q2R 0) with 0 in H by (unfold Q2R; cbn; lra). rewrite scale_0, zero_add in H. rewrite <- H.
  rewrite (add_comm _ v), add_assoc, add_opposite, zero_add. reflexivity. Qed.
(* g_0 + … + g_n = 0 determines the last one *)
Lemma reads_opposite v w a r : (v + w)%V = zero -> reads v a r -> reads w ((-1 # 1) * a) (times_row (-1 # 1) r).
Proof. intros H R. replace w with (IZR (-1) * v)%V; [exact (reads_whole (-1) _ _ _ R)|].
  - apply (cancel v). rewrite H. apply add_opposite. Qed.
Lemma at_point_read v a r p : reads v a r -> Qeq_bool a 1 && same r p = true -> v = (origin + comb p scaled)%V.
Proof. unfold reads. intros -> C. apply andb_true_iff in C as [A S]. apply Qeq_bool_eq, Qeq_eqR in A.
  rewrite A, (combine_same _ p) by exact S. unfold Q2R; cbn. rewrite Rinv_1, Rmult_1_r, scale_one. reflexivity. Qed.
Lemma same_whole p : same (map inject_Z p) p = true.
Proof. induction p as [|x p IH]; [reflexivity|]. cbn [map same]. rewrite IH, andb_true_r. apply Qeq_bool_iff. reflexivity. Qed.
Lemma reads_point v w a r p : v = w -> reads w a r -> Qeq_bool a 1 && same r p = true -> reads v 1 (map inject_Z p).
Proof. unfold reads. intros -> -> C. apply andb_true_iff in C as [A S]. apply Qeq_bool_eq, Qeq_eqR in A. rewrite A. f_equal.
  rewrite (combine_same _ p) by exact S. symmetry. apply combine_same, same_whole. Qed.
Lemma reads_vector v a r p : reads v a r -> (Qeq_bool a 0 && same r p)%bool = true -> reads v 0 (map inject_Z p).
Proof. unfold reads. intros -> C. apply andb_true_iff in C as [A S]. apply Qeq_bool_eq, Qeq_eqR in A. rewrite A. f_equal.
  rewrite (combine_same _ p) by exact S. symmetry. apply combine_same. apply same_whole. Qed.
Lemma vector_read v a r p : reads v a r -> Qeq_bool a 0 && same r p = true -> v = comb p scaled.
Proof. unfold reads. intros -> C. apply andb_true_iff in C as [A S]. apply Qeq_bool_eq, Qeq_eqR in A.
  rewrite A, (combine_same _ p) by exact S. unfold Q2R; cbn. rewrite Rmult_0_l, scale_0, zero_add. reflexivity. Qed.
Lemma value_read k r w : nth_error ws k = Some w -> unit_at k r = true -> w = total r ws.
Proof. revert k r. induction ws as [|v m IH]; intros [|k] [|x r] N U; try discriminate; cbn in *;
    apply andb_true_iff in U as [A B]; apply Z.eqb_eq in A; subst.
  - injection N as ->. rewrite is_zero_total by exact B. lra.
  - rewrite <- (IH k r N B). lra. Qed.
Lemma realises f g f0 t x : x = (origin + comb (at_point t) scaled)%V -> g x = comb (gradient t) scaled ->
  f x - f0 = total (value t) ws -> realised scaled ws origin f g f0 t.
Proof. intros. exists x. auto. Qed.
End Reading.

Lemma right_side (a : R) p q : a <= Q2R q -> Qeq_bool p q = true -> a <= Q2R p.
Proof. intros H C. apply Qeq_bool_eq, Qeq_eqR in C. lra. Qed.
Lemma curved_by {E : space} m l m' l' (f : E -> R) g : curved m l f g -> m = m' -> l = l' -> curved m' l' f g.
Proof. intros H -> ->. exact H. Qed.
Lemma start_at_zero {E : space} D l (v : E) r : reads D l zero v 0 r -> reads D l zero v 1 r.
Proof. unfold reads. intros ->. rewrite !scale_zero. reflexivity. Qed.
Lemma upper_bound {E : space} m L (f : E -> R) g : curved m L f g -> forall x y, f y <= f x + ⟨g x, y - x⟩ + L / 2 * ‖y - x‖².
Proof. intros H x y. apply (H x y). Qed.
Section By.
Context {E : space}.
Lemma bounded_gradients_by G G' (g : E -> E) : bounded_gradients G g -> G = G' -> bounded_gradients G' g.
Proof. intros H ->. exact H. Qed.
Lemma strongly_monotone_by m m' (g : E -> E) : strongly_monotone m g -> m = m' -> strongly_monotone m' g.
Proof. intros H ->. exact H. Qed.
Lemma lipschitz_by L L' (g : E -> E) : lipschitz L g -> L = L' -> lipschitz L' g.
Proof. intros H ->. exact H. Qed.
Lemma cocoercive_by L m L' m' (g : E -> E) : cocoercive L m g -> L = L' -> m = m' -> cocoercive L' m' g.
Proof. intros H -> ->. exact H. Qed.
End By.

(* What the files that driftproof writes are proved by. D, l and o are those of Section Reading. *)
(* As the expression is written: nothing is unfolded. *)
Ltac read_one := match goal with
  | H : reads _ _ _ ?w _ _ |- reads _ _ _ ?v _ _ => constr_eq w v; exact H
  | |- reads _ _ _ (_ + _) _ _ => eapply reads_add
  | |- reads _ _ _ (_ / _ * _) _ _ => eapply reads_fraction
  | |- reads _ _ _ (_ * _) _ _ => eapply reads_whole
  | |- reads _ _ _ zero _ _ => eapply reads_zero end.
Ltac read := unfold mean; cbn [sum length Z.of_nat]; repeat read_one.
Ltac decided := vm_compute; reflexivity.
Ltac linear H := revert H; clear; intro H; lra.
Ltac vector := eapply vector_read; [read | decided].
(* an unknown vector, and an unknown number, is the k-th *)
Ltac unknown D l o v k := assert (reads D l o v 0 (unit_row k D)) by (apply reads_atom; reflexivity).
Ltac number ws w k := assert (nth_error ws k = Some w) by reflexivity.
Ltac added_up ws := clear; subst ws; cbn [total]; ring.
Ltac origin D l o := assert (reads D l o o 1 (map inject_Z [])) by apply reads_origin.
Ltac start D l o x k := assert (reads D l o x 1 (unit_row k D)) by (first [apply reads_start; assumption | apply start_at_zero; assumption]).
(* a gradient that an equation H determines *)
Ltac determined D l o v r H := assert (reads D l o v 0 (map inject_Z r)) by (eapply reads_vector;
  [first [eapply reads_opposite; [exact H | read] | rewrite H; read] | decided]).
(* a point that an equation H defines *)
Ltac iterate D l o x r H :=
  assert (reads D l o x 1 (map inject_Z r)) by (eapply reads_point; [exact H | read | decided]); clear H.
(* a point that is another one by another name *)
Ltac twin x y := assert (x = y) by (eapply reads_same; [match goal with H : reads _ _ _ y _ _ |- _ => exact H end |
  match goal with H : reads _ _ _ x _ _ |- _ => exact H end]); subst x.
Ltac triple x := apply Forall_cons; [apply (realises _ _ _ _ _ _ _ _ x);
  [eapply at_point_read; [eassumption | decided] | vector
  | first [cbn beta; rewrite total_nil; lra | eapply value_read; [eassumption | decided]]]|].
Ltac is_member H := apply Forall_cons; [first [eapply curved_by | eapply bounded_gradients_by | eapply strongly_monotone_by
  | eapply lipschitz_by | eapply cocoercive_by]; [exact H | lra..]|].
Ltac each := repeat first [apply Forall2_cons; [eassumption|] | apply Forall_cons; [solve [auto]|]];
  first [apply Forall2_nil | apply Forall_nil].
Ltac below := repeat (apply Forall_cons; [cbn [fst snd]; eapply upper_bound; eassumption|]); apply Forall_nil.
Ltac stated := unfold holds, left; cbn [inequality equality products numbers right product_sum fst snd].
Ltac counted K := cbn [fold_right map length sum Z.of_nat Pos.of_succ_nat Pos.succ fst snd] in K.
Ltac multiplied K := counted K; unfold mean in K; counted K; expand_in K; expand;
  rewrite ?ip_zero, ?ip_zero_r in *.
Ltac concluded q := let K := fresh in intro K; apply (right_side _ _ q); [unfold Q2R; cbn [Qnum Qden]; linear K | decided].
(* That an iterate is the one before it and a step: by these, since conversion would unfold all steps. *)
Section Steps.
Context {E : space}.
Variables (eta : R) (tau : nat) (gs : list (E -> E)) (g : E -> E) (x : E).
Lemma gradient_descent_step k : gradient_descent eta g x (S k) =
  (gradient_descent eta g x k - eta * g (gradient_descent eta g x k))%V. Proof. reflexivity. Qed.
Lemma corrected_step k : corrected eta gs g x (S k) =
  (corrected eta gs g x k - eta * (g (corrected eta gs g x k) - g x + mean (map (fun h => h x) gs)))%V.
Proof. reflexivity. Qed.
Lemma fedavg_first : fedavg eta tau gs x 1 = mean (map (fun g => gradient_descent eta g x tau) gs). Proof. reflexivity. Qed.
Lemma fedsvrg_first : fedsvrg eta tau gs x 1 = mean (map (fun g => corrected eta gs g x tau) gs). Proof. reflexivity. Qed.
End Steps.
Ltac recursion := first [assumption | match goal with
  | |- gradient_descent _ _ _ _ = _ => exact (gradient_descent_step _ _ _ _)
  | |- corrected _ _ _ _ _ = _ => exact (corrected_step _ _ _ _ _)
  | |- fedavg _ _ _ _ 1 = _ => exact (fedavg_first _ _ _ _)
  | |- fedsvrg _ _ _ _ 1 = _ => exact (fedsvrg_first _ _ _ _)
  | |- _ => reflexivity end].
