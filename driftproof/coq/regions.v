(* The tactics of a theorem for all values of letters: signs, and one sum of inequalities. *)
Require Export algorithms classes.
From Coq Require Export Lra.
Open Scope R_scope.

Lemma above a b : 0 <= b - a -> a <= b. Proof. lra. Qed.
Lemma below a b : a <= b -> 0 <= b - a. Proof. lra. Qed.
Lemma equal t a b : a = b -> 0 <= t * (b - a). Proof. intros ->. lra. Qed.
Lemma moved a b c : a + (- b) <= c -> a <= b + c. Proof. lra. Qed.
Lemma same {E : space} (u v : E) : (forall w, ⟨u, w⟩ = ⟨v, w⟩) -> u = v.
Proof.
  intro K. specialize (K (u - v)%V). assert (H : ‖u - v‖² = 0) by (rewrite ip_add, ip_scale; lra).
  apply ip_definite in H. apply (cancel (scale (-1) v)).
  rewrite (add_comm _ _ u), (add_comm _ _ v), H, add_opposite. reflexivity. Qed.

(* The sign of a sum of products whose factors have known signs. *)
Ltac positive := match goal with
  | H : 0 < ?x |- 0 < ?x => exact H
  | H : 0 < ?x |- 0 <= ?x => exact (Rlt_le _ _ H)
  | H : 0 <= ?x |- 0 <= ?x => exact H
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; positive
  | |- 0 < _ ^ _ => apply pow_lt; positive
  | |- 0 < _ + _ => apply Rplus_lt_le_0_compat; positive
  | |- 0 <= _ * _ => apply Rmult_le_pos; positive
  | |- 0 <= ‖_‖² => apply ip_pos
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= _ ^ _ => apply pow_le; positive
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; positive
  | _ => lra end.
(* The sign of a polynomial: it is a form, or a positive factor times it is one. *)
Ltac by_form form := match goal with |- _ _ ?t => replace t with form by (field; lra); positive end.
Ltac by_multiple factor form :=
  first [apply (Rmult_lt_reg_l factor) | apply (Rmult_le_reg_l factor)];
  [positive | rewrite Rmult_0_r; match goal with |- _ _ ?t => replace t with form by field end; positive].

Ltac inner := expand; rewrite ?ip_zero, ?ip_zero_r.
Ltac inner_in H := expand_in H; rewrite ?ip_zero, ?ip_zero_r in H.
Ltac same_vectors := apply same; intro; inner; field; lra.
(* A nonnegative part is added to the sum K. *)
Ltac added K part := let N := fresh in pose proof part as N; inner_in N;
  apply (Rplus_le_le_0_compat _ _ K) in N; clear K; rename N into K.
(* The inequality of a class at two points, as apart = L - mu is positive. *)
Ltac of_class C apart inequality member x y :=
  pose proof (inequality ltac:(enough (0 < apart) by lra; positive) member x y) as C.
Ltac iterate := unfold fedavg, average, mean;
  cbn [gradient_descent map sum length Z.of_nat Pos.of_succ_nat Pos.succ]; same_vectors.
