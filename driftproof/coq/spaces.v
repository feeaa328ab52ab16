(* Real inner product spaces, of any dimension. *)
From Coq Require Export Reals List ZArith.
From Coq Require Import Lra.
Export ListNotations.
Open Scope R_scope.

Record space := {
  vector :> Type;
  zero : vector;
  add : vector -> vector -> vector;
  scale : R -> vector -> vector;
  ip : vector -> vector -> R;
  add_comm : forall a b, add a b = add b a;
  add_assoc : forall a b c, add a (add b c) = add (add a b) c;
  add_zero : forall a, add a zero = a;
  add_opposite : forall a, add a (scale (-1) a) = zero;
  scale_one : forall a, scale 1 a = a;
  scale_scale : forall s t a, scale s (scale t a) = scale (s * t) a;
  scale_add : forall t a b, scale t (add a b) = add (scale t a) (scale t b);
  scale_plus : forall s t a, scale (s + t) a = add (scale s a) (scale t a);
  ip_sym : forall a b, ip a b = ip b a;
  ip_add : forall a b c, ip (add a b) c = ip a c + ip b c;
  ip_scale : forall t a b, ip (scale t a) b = t * ip a b;
  ip_pos : forall a, 0 <= ip a a;
  ip_definite : forall a, ip a a = 0 -> a = zero }.

Arguments zero {_}. Arguments add {_}. Arguments scale {_}. Arguments ip {_}.
Declare Scope vector_scope.
Delimit Scope vector_scope with V.
Bind Scope vector_scope with vector.
Notation "a + b" := (add a%V b%V) : vector_scope.
Notation "t * a" := (scale t%R a%V) : vector_scope.
Notation "a - b" := (add a%V (scale (-1) b%V)) : vector_scope.
Notation "⟨ a , b ⟩" := (ip a%V b%V) (at level 0, a at level 99, b at level 99) : R_scope.
Notation "‖ a ‖²" := (ip a%V a%V) (at level 0, a at level 99) : R_scope.

Fixpoint sum {E : space} (l : list E) : E := match l with [] => zero | a :: l => (a + sum l)%V end.
Definition mean {E : space} (l : list E) : E := scale (1 / IZR (Z.of_nat (length l))) (sum l).

Section Laws.
Context {E : space}.
Implicit Types a b c : E.
Lemma ip_add_r a b c : ⟨a, b + c⟩ = ⟨a, b⟩ + ⟨a, c⟩.
Proof. rewrite ip_sym, ip_add, (ip_sym _ b), (ip_sym _ c); reflexivity. Qed.
Lemma ip_scale_r t a b : ⟨a, t * b⟩ = t * ⟨a, b⟩.
Proof. rewrite ip_sym, ip_scale, ip_sym; reflexivity. Qed.
Lemma zero_add a : (zero + a)%V = a.
Proof. rewrite add_comm; apply add_zero. Qed.
Lemma cancel a b c : (a + b)%V = (a + c)%V -> b = c.
Proof. intro H. rewrite <- (zero_add b), <- (zero_add c), <- (add_opposite _ a).
  rewrite (add_comm _ a), <- !add_assoc, H. reflexivity. Qed.
Lemma scale_0 a : (0 * a)%V = zero.
Proof. apply (cancel a). rewrite add_zero, <- (scale_one _ a) at 1. rewrite <- scale_plus, Rplus_0_r. apply scale_one. Qed.
Lemma scale_zero t : scale t (@zero E) = zero.
Proof. rewrite <- (scale_0 zero), scale_scale, Rmult_0_r. reflexivity. Qed.
Lemma ip_zero a : ⟨zero, a⟩ = 0.
Proof. rewrite <- (scale_0 zero), ip_scale. lra. Qed.
Lemma ip_zero_r a : ⟨a, zero⟩ = 0.
Proof. rewrite ip_sym. apply ip_zero. Qed.
Lemma swap a b c d : (a + b + (c + d) = a + c + (b + d))%V.
Proof. rewrite !add_assoc. f_equal. rewrite <- !add_assoc. f_equal. apply add_comm. Qed.
End Laws.
(* Multiplies inner products out, in the goal and in the hypothesis H. *)
Ltac expand := repeat rewrite ?ip_add, ?ip_add_r, ?ip_scale, ?ip_scale_r.
Ltac expand_in H := repeat rewrite ?ip_add, ?ip_add_r, ?ip_scale, ?ip_scale_r in H.
