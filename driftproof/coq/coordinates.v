(* R^d, and on it a function of a class that has given values and gradients at given points: the
   other direction of Theorem 4 of Taylor, Hendrickx and Glineur 2017. *)
Require Export classes.
From Coq Require Import Lra Lia.

Definition no_axis : space.
Proof. refine {| vector := unit; zero := tt; add _ _ := tt; scale _ _ := tt; ip _ _ := 0 |};
  intros; try destruct a; try reflexivity; lra. Defined.
Definition one_more (E : space) : space.
Proof. refine {| vector := R * E; zero := (0, zero); add a b := (fst a + fst b, (snd a + snd b)%V);
    scale t a := (t * fst a, scale t (snd a)); ip a b := fst a * fst b + ip (snd a) (snd b) |};
  intros; repeat match goal with a : (_ * _)%type |- _ => destruct a end; cbn in *; try (f_equal; [ring|]).
  - apply add_comm. - apply add_assoc. - apply add_zero. - apply add_opposite. - apply scale_one. - apply scale_scale.
  - apply scale_add. - apply scale_plus. - rewrite ip_sym. ring. - rewrite ip_add. ring. - rewrite ip_scale. ring.
  - pose proof (ip_pos _ v). nra.
  - pose proof (ip_pos _ v). f_equal; [nra|]. apply ip_definite. nra. Defined.
Fixpoint euclidean (d : nat) : space := match d with O => no_axis | S d => one_more (euclidean d) end.

Lemma same_vector {E : space} (x y : E) : ‖x - y‖² = 0 -> x = y.
Proof. intro H. apply ip_definite in H. rewrite <- (add_zero _ x), <- (add_opposite _ y), (add_comm _ y), add_assoc, H.
  apply zero_add. Qed.
Ltac vector_equal x y := apply same_vector; expand; rewrite ?(ip_sym _ y x); first [ring | field].

Section Convex.
Context {E : space}.
Implicit Types (f : E -> R) (x y : E).
Definition convex f := forall x y t, 0 <= t <= 1 -> f ((1 - t) * x + t * y)%V <= (1 - t) * f x + t * f y.

Lemma small X C : 0 <= C -> (forall t, 0 < t <= 1 -> - (t * C) <= X) -> 0 <= X.
Proof. intros P H. destruct (Rle_dec 0 X) as [|N]; [assumption|]. exfalso. apply Rnot_le_lt in N.
  pose proof (H 1 ltac:(lra)). assert (C > 0) by nra.
  specialize (H (- X / (2 * C))). assert (0 < - X / (2 * C)) by (apply Rdiv_lt_0_compat; lra).
  assert (B : - X / (2 * C) <= 1) by (apply (Rmult_le_reg_r (2 * C)); [lra|]; field_simplify; lra).
  specialize (H ltac:(lra)). replace (- X / (2 * C) * C) with (- X / 2) in H by (field; lra). lra. Qed.

(* A convex function below a parabola at every point is smooth. *)
Lemma curved_below K f (g : E -> E) : 0 < K -> convex f ->
  (forall x y, f y <= f x + ⟨g x, y - x⟩ + K / 2 * ‖y - x‖²) -> curved 0 K f g.
Proof.
  intros P V U x y. split; [|apply U]. apply Rminus_le. set (h := (y - x)%V).
  enough (0 <= f y - f x - ⟨g x, h⟩) by lra. apply (small _ (K / 2 * ‖h‖²)); [pose proof (ip_pos _ h); nra|].
  intros t T. pose proof (V x y t ltac:(lra)) as A. pose proof (V (x - t * h)%V (x + t * h)%V (1 / 2) ltac:(lra)) as B.
  pose proof (U x (x - t * h)%V) as C.
  replace ((1 - t) * x + t * y)%V with (x + t * h)%V in A by (subst h; vector_equal x y).
  replace ((1 - 1 / 2) * (x - t * h) + 1 / 2 * (x + t * h))%V with x in B by vector_equal x h.
  replace (x - t * h - x)%V with (- t * h)%V in C by vector_equal x h. expand_in C.
  generalize dependent (f (x - t * h)%V). generalize dependent (f (x + t * h)%V). intros.
  apply (Rmult_le_reg_l t); [lra|]. nra. Qed.
End Convex.

(* A convex function on R^d has a plane below it that touches it at y: one axis after the other. *)
Lemma subgradient d : forall (f : euclidean d -> R), convex f -> forall y, {v | forall z, f y + ⟨v, z - y⟩ <= f z}.
Proof.
  induction d as [|d IH]; intros f V y.
  - exists tt. intro z. destruct y, z. cbn. lra.
  - destruct y as [s e]. destruct (IH (fun e => f (s, e))) with (y := e) as [v H].
    { intros x y t T. specialize (V (s, x) (s, y) t T). cbn in V. replace ((1 - t) * s + t * s) with s in V by ring. exact V. }
    pose (slope r := exists t (u : euclidean d), 0 < t /\ r = (f (s, e) + ⟨v, u - e⟩ - f (s - t, u)) / t).
    assert (B : forall r, slope r -> forall t (u : euclidean d), 0 < t -> r <= (f (s + t, u) - f (s, e) - ⟨v, u - e⟩) / t).
    { intros r (t & u & T & ->) t' u' T'. set (q := t / (t + t')).
      assert (q01 : 0 <= q <= 1).
      { unfold q. split; [apply Rlt_le, Rdiv_lt_0_compat; lra|]. apply (Rmult_le_reg_r (t + t')); [lra|]. field_simplify; lra. }
      pose proof (V (s - t, u) (s + t', u') q q01) as C. pose proof (H ((1 - q) * u + q * u')%V) as L. cbn in C, L.
      replace ((1 - q) * (s - t) + q * (s + t')) with s in C by (unfold q; field; lra).
      expand_in L. expand. apply (Rmult_le_reg_r (t * t')); [apply Rmult_lt_0_compat; lra|].
      assert (M : (t + t') * (f (s, e) + ((1 - q) * ⟨v, u⟩ + q * ⟨v, u'⟩ + -1 * ⟨v, e⟩)) <=
        (t + t') * ((1 - q) * f (s - t, u) + q * f (s + t', u'))) by (apply Rmult_le_compat_l; lra).
      unfold q in M. clear - M T T'.
      replace ((t + t') * (f (s, e) + ((1 - t / (t + t')) * ⟨v, u⟩ + t / (t + t') * ⟨v, u'⟩ + -1 * ⟨v, e⟩))) with
        ((t + t') * f (s, e) + t' * ⟨v, u⟩ + t * ⟨v, u'⟩ - (t + t') * ⟨v, e⟩) in M by (field; lra).
      replace ((t + t') * ((1 - t / (t + t')) * f (s - t, u) + t / (t + t') * f (s + t', u'))) with
        (t' * f (s - t, u) + t * f (s + t', u')) in M by (field; lra).
      unfold Rdiv. match goal with |- ?a * / t * _ <= ?b * / t' * _ =>
        replace (a * / t * (t * t')) with (a * t') by (field; lra); replace (b * / t' * (t * t')) with (b * t) by (field; lra) end.
      lra. }
    destruct (completeness slope) as [m [above least]].
    { exists ((f (s + 1, e) - f (s, e) - ⟨v, e - e⟩) / 1). intros r R. apply (B r R); lra. }
    { exists ((f (s, e) + ⟨v, e - e⟩ - f (s - 1, e)) / 1), 1, e. split; [lra|reflexivity]. }
    exists (m, v). intros [s' e']. cbn. destruct (Rtotal_order s' s) as [lt|[->|gt]].
    + assert (A : (f (s, e) + ⟨v, e' - e⟩ - f (s - (s - s'), e')) / (s - s') <= m).
      { apply above. exists (s - s'), e'. split; [lra|reflexivity]. }
      replace (s - (s - s')) with s' in A by ring. apply (Rmult_le_compat_r (s - s')) in A; [|lra].
      unfold Rdiv in A. rewrite Rmult_assoc, Rinv_l in A by lra. lra.
    + specialize (H e'). lra.
    + assert (A : m <= (f (s + (s' - s), e') - f (s, e) - ⟨v, e' - e⟩) / (s' - s)).
      { apply least. intros r R. apply (B r R). lra. }
      replace (s + (s' - s)) with s' in A by ring. apply (Rmult_le_compat_r (s' - s)) in A; [|lra].
      unfold Rdiv in A. rewrite Rmult_assoc, Rinv_l in A by lra. lra.
Qed.

(* The least function made of parabolas K/2 ‖y - u‖² + a, (u, a) in the convex hull of given ones. *)
Section Envelope.
Variables (d : nat) (K : R) (given : list (euclidean d * R)).
Hypotheses (positive : 0 < K) (some : given <> []).
Implicit Types (x y u : euclidean d) (a : R).
Inductive hull : euclidean d -> R -> Prop :=
  | vertex u a : In (u, a) given -> hull u a
  | mixed u a u' a' t : 0 <= t <= 1 -> hull u a -> hull u' a' -> hull ((1 - t) * u + t * u')%V ((1 - t) * a + t * a').
Definition parabola y u a := K / 2 * ‖y - u‖² + a.
Lemma hull_above low : Forall (fun t => low <= snd t) given -> forall u a, hull u a -> low <= a.
Proof. intros F u a H. induction H as [u a I|]; [rewrite Forall_forall in F; exact (F _ I)|]. nra. Qed.
Lemma hull_some : exists u a, hull u a.
Proof. destruct given as [|[u a] l] eqn:G; [contradiction|]. exists u, a. apply vertex. rewrite G. left. reflexivity. Qed.
Definition reached y r := exists u a, hull u a /\ r = - parabola y u a.
Lemma reached_bound y : bound (reached y).
Proof.
  assert (L : exists low, Forall (fun t : euclidean d * R => low <= snd t) given).
  { clear some. induction given as [|[u a] l [low F]]; [exists 0; constructor|]. exists (Rmin a low).
    constructor; [apply Rmin_l|]. eapply Forall_impl; [|exact F]. intros [v b] H. pose proof (Rmin_r a low). cbn in *. lra. }
  destruct L as [low F]. exists (- low). intros r (u & a & H & ->). apply (hull_above low F) in H.
  unfold parabola. pose proof (ip_pos _ (y - u)%V). nra. Qed.
Lemma reached_some y : exists r, reached y r.
Proof. destruct hull_some as (u & a & H). exists (- parabola y u a), u, a. auto. Qed.
Definition envelope y := - proj1_sig (completeness (reached y) (reached_bound y) (reached_some y)).
Lemma envelope_below y u a : hull u a -> envelope y <= parabola y u a.
Proof. intro H. unfold envelope. destruct (completeness _ _ _) as [m [A B]]. cbn.
  assert (- parabola y u a <= m) by (apply A; exists u, a; auto). lra. Qed.
Lemma envelope_greatest y s c : 0 <= s -> (forall u a, hull u a -> c <= s * parabola y u a) -> c <= s * envelope y.
Proof. intros S H. destruct (Rle_lt_or_eq_dec _ _ S) as [P|<-].
  - unfold envelope. destruct (completeness _ _ _) as [m [A B]]. cbn. assert (m <= - (c / s)).
    { apply B. intros r (u & a & I & ->). apply H in I. apply Ropp_le_contravar. apply (Rmult_le_reg_r s); [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    apply (Rmult_le_compat_l s) in H0; [|lra]. replace (s * - (c / s)) with (- c) in H0 by (field; lra). lra.
  - destruct hull_some as (u & a & I). specialize (H _ _ I). lra. Qed.
Lemma parabola_mixed x y u a u' a' t : 0 <= t <= 1 -> parabola ((1 - t) * x + t * y)%V ((1 - t) * u + t * u')%V ((1 - t) * a + t * a') <=
  (1 - t) * parabola x u a + t * parabola y u' a'.
Proof. intro T. unfold parabola. set (p := (x - u)%V). set (q := (y - u')%V).
  replace ((1 - t) * x + t * y - ((1 - t) * u + t * u'))%V with ((1 - t) * p + t * q)%V.
  2: { unfold p, q. rewrite !scale_add, !scale_scale. apply same_vector. expand.
       rewrite ?(ip_sym _ y x), ?(ip_sym _ u x), ?(ip_sym _ u' x), ?(ip_sym _ u y), ?(ip_sym _ u' y), ?(ip_sym _ u' u). ring. }
  pose proof (ip_pos _ (p - q)%V) as P. expand_in P. expand. rewrite ?(ip_sym _ q p) in *.
  assert (0 <= t * (1 - t) * (K / 2) * (‖p‖² - 2 * ⟨p, q⟩ + ‖q‖²)) by (repeat apply Rmult_le_pos; lra). lra. Qed.
Lemma envelope_convex : convex envelope.
Proof. intros x y t T. enough (envelope ((1 - t) * x + t * y)%V - t * envelope y <= (1 - t) * envelope x) by lra.
  apply envelope_greatest; [lra|]. intros u a I.
  enough (envelope ((1 - t) * x + t * y)%V - (1 - t) * parabola x u a <= t * envelope y) by lra.
  apply envelope_greatest; [lra|]. intros u' a' I'. pose proof (parabola_mixed x y u a u' a' t T).
  pose proof (envelope_below ((1 - t) * x + t * y)%V _ _ (mixed _ _ _ _ t T I I')). lra. Qed.
Lemma rest_convex : convex (fun y => K / 2 * ‖y‖² - envelope y).
Proof. intros x y t T. cbv beta. set (z := ((1 - t) * x + t * y)%V).
  enough (K / 2 * ‖z‖² - ((1 - t) * (K / 2 * ‖x‖² - envelope x) + t * (K / 2 * ‖y‖² - envelope y)) <= 1 * envelope z) by lra.
  apply envelope_greatest; [lra|]. intros u a I. pose proof (envelope_below x _ _ I) as A. pose proof (envelope_below y _ _ I) as B.
  apply (Rmult_le_compat_l (1 - t)) in A; [|lra]. apply (Rmult_le_compat_l t) in B; [|lra].
  unfold parabola, z in *. expand_in A. expand_in B. expand.
  rewrite ?(ip_sym _ u x), ?(ip_sym _ u y) in *. nra. Qed.
Definition envelope_gradient y := (K * y - proj1_sig (subgradient d _ rest_convex y))%V.
Lemma envelope_curved : curved 0 K envelope envelope_gradient.
Proof. apply curved_below; [exact positive|exact envelope_convex|]. intros x y. unfold envelope_gradient.
  destruct (subgradient _ _ _ x) as [v H]. cbn [proj1_sig]. specialize (H y). cbv beta in H.
  expand_in H. expand. rewrite ?(ip_sym _ y x) in *. nra. Qed.
(* At a point where a given parabola is the lowest one it gives the value and the gradient. *)
Lemma envelope_at y z c : In (z, c) given -> Forall (fun t => 0 <= K * ⟨z - y, fst t - z⟩ + snd t - c) given ->
  envelope y = K / 2 * ‖y - z‖² + c /\ envelope_gradient y = (K * (y - z))%V.
Proof.
  intros I F. assert (V : envelope y = K / 2 * ‖y - z‖² + c).
  { apply Rle_antisym; [apply envelope_below, vertex, I|]. rewrite <- (Rmult_1_l (envelope y)). apply envelope_greatest; [lra|].
    intros u a H. assert (0 <= K * ⟨z - y, u - z⟩ + a - c) as L.
    { induction H as [u a J|u a u' a' t T _ A _ B]; [rewrite Forall_forall in F; exact (F _ J)|].
      apply (Rmult_le_compat_l (1 - t)) in A; [|lra]. apply (Rmult_le_compat_l t) in B; [|lra].
      expand_in A. expand_in B. expand. nra. }
    unfold parabola. pose proof (ip_pos _ (u - z)%V) as P. expand_in L. expand_in P. expand.
    rewrite ?(ip_sym _ u y), ?(ip_sym _ z y), ?(ip_sym _ z u) in *. nra. }
  split; [exact V|]. set (e := (envelope_gradient y - K * (y - z))%V). apply same_vector. fold e.
  pose proof (proj1 (envelope_curved y (y + / K * e)%V)) as L. pose proof (envelope_below (y + / K * e)%V _ _ (vertex _ _ I)) as U.
  pose proof (ip_pos _ e) as P. unfold parabola in U.
  replace (y + / K * e - y)%V with (/ K * e)%V in L by (vector_equal y e).
  replace (y + / K * e - z)%V with ((y - z) + / K * e)%V in U by (rewrite <- !add_assoc; f_equal; apply add_comm).
  set (w := (y - z)%V) in *. rewrite V in L. generalize dependent (envelope (y + / K * e)%V). intros r L U.
  assert (D : ‖e‖² = ⟨envelope_gradient y, e⟩ - K * ⟨w, e⟩).
  { unfold e at 1. expand. ring. }
  clearbody e. expand_in L. expand_in U. rewrite ?(ip_sym _ e w) in *.
  assert (Z : / K * ⟨envelope_gradient y, e⟩ - ⟨w, e⟩ <= / K * ‖e‖² / 2).
  { replace (K / 2 * (‖w‖² + / K * ⟨w, e⟩ + (/ K * ⟨w, e⟩ + / K * (/ K * ‖e‖²)))) with
      (K / 2 * ‖w‖² + ⟨w, e⟩ + / K * ‖e‖² / 2) in U by (field; lra). lra. }
  apply (Rmult_le_compat_l K) in Z; [|lra].
  replace (K * (/ K * ⟨envelope_gradient y, e⟩ - ⟨w, e⟩)) with (⟨envelope_gradient y, e⟩ - K * ⟨w, e⟩) in Z by (field; lra).
  replace (K * (/ K * ‖e‖² / 2)) with (‖e‖² / 2) in Z by (field; lra). lra.
Qed.
End Envelope.

(* Points that meet the inequalities of a class two by two are those of a function of the class. *)
Theorem interpolant d mu L (given : list (euclidean d * euclidean d * R)) : mu < L -> given <> [] ->
  (forall x g v y h w, In (x, g, v) given -> In (y, h, w) given -> 2 * (L - mu) * (w - v - ⟨h, y - x⟩)
    + ‖h - g‖² + L * mu * ‖y - x‖² - 2 * mu * ⟨h - g, y - x⟩ <= 0) ->
  exists f g, curved mu L f g /\ (forall x h v, In (x, h, v) given -> f x = v /\ g x = h) /\
    (mu = - L -> forall low, (forall x h v, In (x, h, v) given -> ‖h‖² <= 2 * L * (v - low)) -> forall y, low <= f y).
Proof.
  intros lt some pairs. set (K := L - mu). assert (P : 0 < K) by (unfold K; lra).
  pose (base (x g : euclidean d) := (x - / K * (g - mu * x))%V).
  pose (height (x g : euclidean d) v := v - mu / 2 * ‖x‖² - / (2 * K) * ‖g - mu * x‖²).
  pose (points := map (fun t => (base (fst (fst t)) (snd (fst t)), height (fst (fst t)) (snd (fst t)) (snd t))) given).
  assert (some' : points <> []) by (unfold points; destruct given; [contradiction|discriminate]).
  set (f := envelope d K points P some'). set (g := envelope_gradient d K points P some').
  assert (C : curved 0 K f g) by apply envelope_curved.
  assert (V : forall x h v, In (x, h, v) given -> f x = K / 2 * ‖x - base x h‖² + height x h v /\ g x = (K * (x - base x h))%V).
  { intros x h v I. apply envelope_at.
    - unfold points. apply in_map_iff. exists (x, h, v). auto.
    - apply Forall_forall. intros [b c] J. unfold points in J. apply in_map_iff in J as ([[y k] w] & [= <- <-] & J).
      pose proof (pairs _ _ _ _ _ _ J I) as H. cbn [fst snd]. apply (Rmult_le_compat_l (/ (2 * K))) in H; [|apply Rlt_le, Rinv_0_lt_compat; lra].
      rewrite Rmult_0_r in H. apply Ropp_le_contravar in H. rewrite Ropp_0 in H. eapply Rle_trans; [exact H|]. apply Req_le.
      unfold base, height. expand.
      rewrite ?(ip_sym _ y x), ?(ip_sym _ h x), ?(ip_sym _ k x), ?(ip_sym _ h y), ?(ip_sym _ k y), ?(ip_sym _ k h).
      unfold K. field. lra. }
  exists (fun y => f y + mu / 2 * ‖y‖²), (fun y => (g y + mu * y)%V). split; [|split].
  - intros x y. destruct (C x y) as [A B]. expand_in A. expand_in B. expand. unfold K in B. rewrite ?(ip_sym _ y x) in *. split; lra.
  - intros x h v I. destruct (V _ _ _ I) as [-> ->]. unfold base, height. split.
    + expand. rewrite ?(ip_sym _ h x). field. lra.
    + apply same_vector. expand. rewrite ?(ip_sym _ h x). field. lra.
  - intros M low H y. enough (low + L / 2 * ‖y‖² <= 1 * f y) by (rewrite M; lra).
    apply envelope_greatest; [lra|]. intros u a I. assert (A : low <= a - L * ‖u‖²).
    { induction I as [u a I|u a u' a' t T _ A _ B].
      - unfold points in I. apply in_map_iff in I as ([[x h] v] & [= <- <-] & I). apply H in I. cbn [fst snd].
        apply (Rmult_le_compat_l (/ (2 * L))) in I; [|apply Rlt_le, Rinv_0_lt_compat; lra].
        replace (/ (2 * L) * (2 * L * (v - low))) with (v - low) in I by (field; lra).
        enough (height x h v - L * ‖base x h‖² = v - / (2 * L) * ‖h‖²) by lra.
        unfold base, height, K. rewrite M. expand. rewrite ?(ip_sym _ h x). field. lra.
      - pose proof (ip_pos _ (u - u')%V) as Q. expand_in Q. expand. rewrite ?(ip_sym _ u' u) in *.
        assert (0 <= t * (1 - t) * L * (‖u‖² - 2 * ⟨u, u'⟩ + ‖u'‖²)) by (repeat apply Rmult_le_pos; lra). nra. }
    pose proof (ip_pos _ (y - 2 * u)%V) as Q. unfold parabola, K. rewrite M. expand_in Q. expand. rewrite ?(ip_sym _ u y) in *. nra.
Qed.
