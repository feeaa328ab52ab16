(* The classes: each by its definition. f is a function, g its gradient, or an operator alone. *)
Require Export spaces.
From Coq Require Import Lra Lia.

Section Classes.
Context {E : space}.
Implicit Types (f : E -> R) (g : E -> E).

(* Between two parabolas at every point: mu = 0 is convex and L-smooth, mu > 0 strongly convex and
   L-smooth, mu = -L smooth and perhaps not convex. *)
Definition curved (mu L : R) f g := forall x y,
  f x + ⟨g x, y - x⟩ + mu / 2 * ‖y - x‖² <= f y <= f x + ⟨g x, y - x⟩ + L / 2 * ‖y - x‖².
Definition smooth L f g := curved (- L) L f g.
Definition smooth_convex L f g := curved 0 L f g.
Definition smooth_strongly_convex L mu f g := curved mu L f g.
Definition bounded_gradients G g := forall x, ‖g x‖² <= G * G.
Definition strongly_monotone mu g := forall x y, mu * ‖y - x‖² <= ⟨g y - g x, y - x⟩.
Definition lipschitz L g := forall x y, ‖g y - g x‖² <= L * L * ‖y - x‖².
Definition cocoercive L mu g := forall x y, 0 <= ⟨g y - g x - mu * (y - x), L * (y - x) - (g y - g x)⟩.

(* Of several clients. *)
Definition bounded_below low (fs : list (E -> R)) :=
  forall x, low <= fold_right (fun f s => f x + s) 0 fs / IZR (Z.of_nat (length fs)).
Definition similar_everywhere z2 (gs : list (E -> E)) := forall x,
  fold_right (fun g s => ‖g x - mean (map (fun g => g x) gs)‖² + s) 0 gs / IZR (Z.of_nat (length gs)) <= z2.

(* What follows of two points: Taylor, Hendrickx and Glineur 2017, Theorem 4, multiplied by 2(L - mu). *)
Theorem interpolation mu L f g : mu < L -> curved mu L f g -> forall x y,
  2 * (L - mu) * (f y - f x - ⟨g y, y - x⟩)
  + ‖g y - g x‖² + L * mu * ‖y - x‖² - 2 * mu * ⟨g y - g x, y - x⟩ <= 0.
Proof.
  intros lt H x y. set (u := / (L - mu)).
  pose (z := (x - u * ((g x - g y) - mu * (x - y)))%V).
  pose proof (proj1 (H y z)) as A. pose proof (proj2 (H x z)) as B.
  generalize dependent (f z). intros fz A B.
  assert (K : 2 * (L - mu) * ((f y + ⟨g y, z - y⟩ + mu / 2 * ‖z - y‖²)
    - (f x + ⟨g x, z - x⟩ + L / 2 * ‖z - x‖²)) <= 0).
  { rewrite <- (Rmult_0_r (2 * (L - mu))). apply Rmult_le_compat_l; lra. }
  clear A B H. unfold z in K; clear z. expand_in K. expand.
  rewrite ?(ip_sym _ y x), ?(ip_sym _ (g x) x), ?(ip_sym _ (g x) y), ?(ip_sym _ (g y) x), ?(ip_sym _ (g y) y),
    ?(ip_sym _ (g y) (g x)) in *.
  eapply Rle_trans; [|exact K]. apply Req_le. unfold u. field. lra.
Qed.

(* A smooth function with values above low: its gradient is short where it is low. *)
Theorem descent L low (f : E -> R) g : 0 < L -> (forall x, low <= f x) ->
  (forall x y, f y <= f x + ⟨g x, y - x⟩ + L / 2 * ‖y - x‖²) ->
  forall x, ‖g x‖² <= 2 * L * (f x - low).
Proof.
  intros P B S x. specialize (S x (x - / L * g x)%V). specialize (B (x - / L * g x)%V).
  generalize dependent (f (x - / L * g x)%V). intros fy B S. expand_in S.
  rewrite ?(ip_sym _ (g x) x) in S.
  apply (Rmult_le_reg_l (/ (2 * L))). apply Rinv_0_lt_compat; lra.
  replace (/ (2 * L) * (2 * L * (f x - low))) with (f x - low) by (field; lra).
  assert (S' : f x - / (2 * L) * ‖g x‖² >= fy); [|lra].
  apply Rle_ge. eapply Rle_trans; [exact S|]. apply Req_le. field. lra.
Qed.
(* The mean of such functions, of which low is a lower bound. *)
Theorem mean_descent L low (fs : list ((E -> R) * (E -> E))) : 0 < L -> fs <> [] ->
  Forall (fun t => forall x y, fst t y <= fst t x + ⟨snd t x, y - x⟩ + L / 2 * ‖y - x‖²) fs ->
  bounded_below low (map fst fs) -> forall x, ‖sum (map (fun t => snd t x) fs)‖² <=
    2 * (IZR (Z.of_nat (length fs)) * L) * (fold_right (fun f s => f x + s) 0 (map fst fs) - IZR (Z.of_nat (length fs)) * low).
Proof.
  intros P ne S B x. set (n := IZR (Z.of_nat (length fs))).
  assert (N : 0 < n) by (apply IZR_lt; destruct fs; [contradiction|cbn; lia]).
  apply (descent (n * L) (n * low) (fun x => fold_right (fun f s => f x + s) 0 (map fst fs)) (fun x => sum (map (fun t => snd t x) fs))).
  - apply Rmult_lt_0_compat; assumption.
  - intro y. specialize (B y). rewrite map_length in B. fold n in B.
    apply (Rmult_le_compat_l n) in B; [|lra]. eapply Rle_trans; [exact B|]. apply Req_le. field. lra.
  - clear N B ne. subst n. intros y z. induction S as [|[f g] fs H S IH]; [cbn; rewrite ip_zero; lra|].
    specialize (H y z). cbn [map fold_right sum fst snd length] in *. rewrite ip_add, Nat2Z.inj_succ, succ_IZR. lra.
Qed.
End Classes.
