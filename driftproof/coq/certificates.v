(* A certificate in whole numbers, decided by computation; soundness is proved once.

   Vectors are rows of whole numbers: combinations of the vectors vs. A certificate says which
   inequalities are added, how often, and why what is left is a sum of squares. *)
Require Export classes.
From Coq Require Export ZArith.
From Coq Require Import Lra Lia Bool.
Open Scope Z_scope.

Definition row := list Z.
Definition matrix := list row.
(* Σ c⟨u, v⟩ over the products plus Σ of the numbers, at most right *)
Record cond := Cond { products : list (Z * row * row); numbers : row; right : Z }.
Record triple := Triple { at_point : row; gradient : row; value : row }.
Inductive class :=
  | Curved (mu L q : Z) (* constants mu/q and L/q; below as well *)
  | Bounded (G q : Z)
  | Monotone (mu q : Z)
  | Lipschitz (L q : Z)
  | Cocoercive (mu L q : Z).
(* The points of a function, and the class and points of each inequality with its multiplier *)
Record used := Used { points : list triple; taken : list (class * list (Z * (nat * nat))) }.
Record assumed := Assumed { times : Z; equality : bool; inequality : cond }.
(* weights: of the conclusion, and of the matrix; A = basisᵀ gram basis, gram = Σ squares + a
   diagonally dominant rest *)
Record certificate := Certificate {
  size : nat; functions : list used; assumptions : list assumed; weight : Z; conclusion : cond;
  basis : matrix; gram : matrix; squares : list (Z * row) }.

(* Arithmetic of rows and matrices. *)
Fixpoint axpy (c : Z) (v r : row) : row := match v, r with
  | [], _ => r
  | x :: v, [] => c * x :: axpy c v []
  | x :: v, y :: r => (if x =? 0 then y else y + c * x) :: axpy c v r end.
Fixpoint outer (c : Z) (u v : row) (A : matrix) : matrix := match u, A with
  | [], _ => A
  | a :: u, [] => axpy (c * a) v [] :: outer c u v []
  | a :: u, s :: A => (if a =? 0 then s else axpy (c * a) v s) :: outer c u v A end.
Definition add_products w (p : list (Z * row * row)) (A : matrix) : matrix :=
  fold_left (fun A t => outer (w * fst (fst t)) (snd (fst t)) (snd t) A) p A.
Fixpoint combine_rows (c : row) (W : matrix) : row := match c, W with
  | a :: c, w :: W => if a =? 0 then combine_rows c W else axpy a w (combine_rows c W)
  | _, _ => [] end.
Fixpoint congruence (W0 G W A : matrix) : matrix := match W, G with
  | w :: W, g :: G => congruence W0 G W (outer (-1) w (combine_rows g W0) A)
  | _, _ => A end.
(* The upper triangle, which has what was below the diagonal added. *)
Fixpoint triangle (n : nat) (A : matrix) : matrix := match n, A with
  | S m, s :: rest => match s with
    | [] => (0 :: map (hd 0) rest) :: triangle m (map (@tl Z) rest)
    | d :: s => (d :: axpy 1 (map (hd 0) rest) s) :: triangle m (map (@tl Z) rest) end
  | _, _ => [] end.
Definition is_zero (r : row) := forallb (Z.eqb 0) r.
Fixpoint absolute_sum (r : row) : Z := match r with [] => 0 | x :: r => Z.abs x + absolute_sum r end.
Fixpoint dominant (T : matrix) (need : row) : bool := match T with
  | [] => is_zero need
  | [] :: _ => false
  | (d :: t) :: T => let '(n, need) := match need with [] => (0, []) | n :: l => (n, l) end in
      (n + absolute_sum t <=? 2 * d) && dominant T (axpy 1 (map Z.abs t) need) end.

(* The inequality of a class at two points. *)
Definition minus (a b : row) := axpy (-1) b a.
Definition class_condition (k : class) (a b : triple) : cond :=
  let x := minus (at_point b) (at_point a) in let g := minus (gradient b) (gradient a) in
  match k with
  | Curved m l q => Cond [(-2 * q * (l - m), gradient b, x); (q * q, g, g); (l * m, x, x); (-2 * q * m, g, x)]
      (axpy (2 * q * (l - m)) (minus (value b) (value a)) []) 0
  | Bounded G q => Cond [(q * q, gradient a, gradient a)] [] (G * G)
  | Monotone m q => Cond [(m, x, x); (- q, g, x)] [] 0
  | Lipschitz l q => Cond [(- (l * l), x, x); (q * q, g, g)] [] 0
  | Cocoercive m l q => Cond [(l * m, x, x); (- (q * (l + m)), g, x); (q * q, g, g)] [] 0
  end.
Definition legal (k : class) := match k with
  | Curved m l q => (m <? l) && (0 <? q)
  | Bounded _ q | Monotone _ q | Lipschitz _ q | Cocoercive _ _ q => 0 <? q end.
Definition inequalities (u : used) : list (Z * cond) :=
  flat_map (fun k => flat_map (fun t =>
    match nth_error (points u) (fst (snd t)), nth_error (points u) (snd (snd t)) with
    | Some a, Some b => [(fst t, class_condition (fst k) a b)] | _, _ => [] end) (snd k)) (taken u).
Definition added (c : certificate) : list (Z * cond) :=
  flat_map inequalities (functions c) ++ map (fun a => (times a, inequality a)) (assumptions c).
Definition negated (c : certificate) := (- weight c, conclusion c).

Definition check (c : certificate) : bool :=
  let all := negated c :: added c in
  let A := fold_left (fun A t => add_products (fst t) (products (snd t)) A) all [] in
  let numbers := fold_left (fun r t => axpy (fst t) (numbers (snd t)) r) all [] in
  let right := fold_left (fun r t => r + fst t * right (snd t)) all 0 in
  (0 <? weight c)
  && forallb (fun u => forallb (fun k => legal (fst k) && forallb (fun t => 0 <=? fst t) (snd k)) (taken u)) (functions c)
  && forallb (fun a => equality a || (0 <=? times a)) (assumptions c)
  && is_zero numbers && (right <=? 0)
  && forallb is_zero (triangle (size c) (congruence (basis c) (gram c) (basis c) A))
  && forallb (fun s => 0 <=? fst s) (squares c)
  && dominant (triangle (length (basis c)) (fold_left (fun G s => outer (- fst s) (snd s) (snd s) G) (squares c) (gram c))) [].

Open Scope R_scope.
Section Soundness.
Context {E : space}.
Implicit Types us vs : list E.
Fixpoint comb (r : row) vs : E := match r, vs with c :: r, v :: vs => scale (IZR c) v + comb r vs | _, _ => zero end%V.
Fixpoint total (r : row) (ws : list R) : R := match r, ws with c :: r, w :: ws => IZR c * w + total r ws | _, _ => 0 end.
Fixpoint product_sum (p : list (Z * row * row)) vs : R := match p with [] => 0
  | t :: p => IZR (fst (fst t)) * ⟨comb (snd (fst t)) vs, comb (snd t) vs⟩ + product_sum p vs end.
Definition left vs ws (c : cond) := product_sum (products c) vs + total (numbers c) ws.
Definition holds vs ws (c : cond) := left vs ws c <= IZR (right c).

Lemma comb_axpy c v : forall r vs, comb (axpy c v r) vs = (comb r vs + IZR c * comb v vs)%V.
Proof.
  induction v as [|x v IH]; intros r vs; [cbn; rewrite scale_zero, add_zero; reflexivity|].
  destruct r as [|y r], vs as [|w vs]; cbn [axpy comb]; rewrite ?scale_zero, ?add_zero; try reflexivity.
  - rewrite IH, mult_IZR, !scale_add, scale_scale. cbn [comb]. destruct v, vs; cbn [comb]; rewrite ?zero_add; reflexivity.
  - rewrite IH. destruct (x =? 0)%Z eqn:Z.
    + apply Z.eqb_eq in Z; subst. rewrite scale_0, zero_add, add_assoc. reflexivity.
    + rewrite plus_IZR, mult_IZR, scale_plus, scale_add, scale_scale. apply swap. Qed.
Lemma total_axpy c v : forall r ws, total (axpy c v r) ws = total r ws + IZR c * total v ws.
Proof.
  induction v as [|x v IH]; intros r ws; [cbn; lra|].
  destruct r as [|y r], ws as [|w ws]; cbn [axpy total]; try lra.
  - rewrite IH, mult_IZR. destruct v, ws; cbn [total]; lra.
  - rewrite IH. destruct (x =? 0)%Z eqn:Z; [apply Z.eqb_eq in Z; subst; lra|]. rewrite plus_IZR, mult_IZR. lra. Qed.
Lemma comb_nil vs : comb [] vs = zero. Proof. destruct vs; reflexivity. Qed.
Lemma total_nil ws : total [] ws = 0. Proof. destruct ws; reflexivity. Qed.
Lemma is_zero_comb r : is_zero r = true -> forall vs, comb r vs = zero.
Proof. induction r as [|x r IH]; intros Z vs; destruct vs; try reflexivity. unfold is_zero in Z; cbn [forallb] in Z; fold (is_zero r) in Z.
  apply andb_true_iff in Z as [Z1 Z2]. apply Z.eqb_eq in Z1. subst. cbn. rewrite scale_0, zero_add. auto. Qed.
Lemma is_zero_total r : is_zero r = true -> forall ws, total r ws = 0.
Proof. induction r as [|x r IH]; intros Z ws; destruct ws; try reflexivity. unfold is_zero in Z; cbn [forallb] in Z; fold (is_zero r) in Z.
  apply andb_true_iff in Z as [Z1 Z2]. apply Z.eqb_eq in Z1. subst. cbn. rewrite IH; auto; lra. Qed.

(* The form of a matrix: Σ S_jk⟨u_j, v_k⟩. *)
Fixpoint form (A : matrix) us vs : R := match A, us with s :: A, u :: us => ⟨u, comb s vs⟩ + form A us vs | _, _ => 0 end.
Lemma form_nil us vs : form [] us vs = 0. Proof. destruct us; reflexivity. Qed.
Lemma form_outer c u v vs : forall A us, form (outer c u v A) us vs = form A us vs + IZR c * ⟨comb u us, comb v vs⟩.
Proof.
  induction u as [|a u IH]; intros A us; [cbn; rewrite ip_zero; lra|].
  destruct us as [|w us]; [destruct A; cbn; rewrite ip_zero; lra|].
  destruct A as [|s A]; cbn [outer form comb]; rewrite IH, ?form_nil, ip_add, ip_scale.
  - rewrite comb_axpy, comb_nil, zero_add, ip_scale_r, mult_IZR. lra.
  - destruct (a =? 0)%Z eqn:Z; [apply Z.eqb_eq in Z; subst; lra|]. rewrite comb_axpy, ip_add_r, ip_scale_r, mult_IZR. lra. Qed.
Lemma form_products w p vs : forall A, form (add_products w p A) vs vs = form A vs vs + IZR w * product_sum p vs.
Proof. unfold add_products. induction p as [|[[c u] v] p IH]; intro A; cbn; [lra|].
  rewrite IH, form_outer, mult_IZR. cbn. lra. Qed.
Lemma comb_rows c W vs : comb (combine_rows c W) vs = comb c (map (fun w => comb w vs) W).
Proof. revert W. induction c as [|a c IH]; intros [|w W]; cbn [combine_rows comb map]; rewrite ?comb_nil; try reflexivity.
  destruct (a =? 0)%Z eqn:Z; [apply Z.eqb_eq in Z; subst; rewrite scale_0, zero_add; apply IH|].
  rewrite comb_axpy, IH, add_comm. reflexivity. Qed.
Lemma form_congruence W0 vs : forall W G A, form (congruence W0 G W A) vs vs =
  form A vs vs - form G (map (fun w => comb w vs) W) (map (fun w => comb w vs) W0).
Proof. induction W as [|w W IH]; intros [|g G] A; cbn [congruence map form]; try lra.
  rewrite IH, form_outer, comb_rows. lra. Qed.

(* The form of an upper triangle. *)
Fixpoint half (T : matrix) vs : R := match T, vs with t :: T, v :: vs' => ⟨v, comb t vs⟩ + half T vs' | _, _ => 0 end.
Lemma form_heads : forall A us v vs, form A us (v :: vs) = ⟨v, comb (map (hd 0%Z) A) us⟩ + form (map (@tl Z) A) us vs.
Proof. induction A as [|s A IH]; intros [|u us] v vs; cbn [form map comb]; rewrite ?ip_zero_r; try lra.
  rewrite IH, !ip_add_r, ip_scale_r. destruct s as [|x s]; cbn [comb hd tl].
  - rewrite ?comb_nil, ?ip_zero_r. lra.
  - rewrite ip_add_r, ip_scale_r, (ip_sym _ v u). lra. Qed.
Lemma form_triangle : forall n A vs, (length vs <= n)%nat -> form A vs vs = half (triangle n A) vs.
Proof. induction n as [|n IH]; intros A vs l.
  - destruct vs; [|cbn in l; lia]. destruct A; reflexivity.
  - destruct A as [|s A], vs as [|v vs]; cbn [triangle form half]; try reflexivity.
    { destruct s; reflexivity. }
    rewrite form_heads, (IH _ vs) by (cbn in l; lia).
    destruct s as [|d s]; cbn [half comb]; rewrite ?ip_add_r, ?ip_scale_r, ?comb_axpy, ?ip_zero_r.
    + lra. + rewrite ip_add_r, ip_scale_r. lra. Qed.
Lemma half_zero : forall T, forallb is_zero T = true -> forall vs, half T vs = 0.
Proof. induction T as [|t T IH]; intros Z vs; [reflexivity|]. cbn in Z. apply andb_true_iff in Z as [Z1 Z2].
  destruct vs as [|v vs]; [reflexivity|]. cbn [half]. rewrite is_zero_comb, ip_zero_r, IH; auto. lra. Qed.
Fixpoint norms (need : row) vs : R := match need, vs with n :: need, v :: vs => IZR n * ‖v‖² + norms need vs | _, _ => 0 end.
Lemma norms_axpy c v : forall r vs, norms (axpy c v r) vs = norms r vs + IZR c * norms v vs.
Proof.
  induction v as [|x v IH]; intros r vs; [cbn; lra|].
  destruct r as [|y r], vs as [|w vs]; cbn [axpy norms]; try lra.
  - rewrite IH, mult_IZR. destruct v, vs; cbn [norms]; lra.
  - rewrite IH. destruct (x =? 0)%Z eqn:Z; [apply Z.eqb_eq in Z; subst; lra|]. rewrite plus_IZR, mult_IZR. lra. Qed.
Lemma young (v w : E) : 2 * Rabs ⟨v, w⟩ <= ‖v‖² + ‖w‖².
Proof. pose proof (ip_pos _ (v + w)%V) as A. pose proof (ip_pos _ (v - w)%V) as B. expand_in A. expand_in B.
  rewrite (ip_sym _ w v) in *. unfold Rabs. destruct (Rcase_abs _); lra. Qed.
Lemma cross v : forall t vs, - norms (map Z.abs t) vs - IZR (absolute_sum t) * ‖v‖² <= 2 * ⟨v, comb t vs⟩.
Proof. induction t as [|x t IH]; intros vs; [cbn; rewrite ip_zero_r; lra|].
  destruct vs as [|w vs]; cbn [norms map absolute_sum comb].
  - rewrite ip_zero_r, plus_IZR. pose proof (ip_pos _ v).
    assert (0 <= IZR (Z.abs x + absolute_sum t)).
    { apply IZR_le. assert (0 <= absolute_sum t)%Z by (clear; induction t; cbn; lia). lia. }
    rewrite <- plus_IZR. nra.
  - rewrite plus_IZR, ip_add_r, ip_scale_r. specialize (IH vs). pose proof (young v w) as Y.
    assert (IZR (Z.abs x) * (2 * Rabs ⟨v, w⟩) <= IZR (Z.abs x) * (‖v‖² + ‖w‖²)).
    { apply Rmult_le_compat_l; [|exact Y]. apply IZR_le; lia. }
    assert (- (IZR (Z.abs x) * Rabs ⟨v, w⟩) <= IZR x * ⟨v, w⟩).
    { rewrite abs_IZR, <- Rabs_mult. pose proof (Rle_abs (- (IZR x * ⟨v, w⟩))). rewrite Rabs_Ropp in *. lra. }
    lra. Qed.
Lemma is_zero_norms r : is_zero r = true -> forall vs, norms r vs = 0.
Proof. induction r as [|x r IH]; intros Z vs; destruct vs; try reflexivity. unfold is_zero in Z; cbn [forallb] in Z; fold (is_zero r) in Z.
  apply andb_true_iff in Z as [Z1 Z2]. apply Z.eqb_eq in Z1. subst. cbn. rewrite IH; auto; lra. Qed.
Lemma dominant_half : forall T need vs, dominant T need = true -> norms need vs <= 2 * half T vs.
Proof. induction T as [|t T IH]; intros need vs D; [cbn in *; rewrite is_zero_norms; auto; lra|].
  destruct t as [|d t]; [discriminate|]. destruct vs as [|v vs]; [destruct need; cbn; lra|].
  cbn [dominant] in D. cbn [half comb]. rewrite ip_add_r, ip_scale_r.
  pose proof (cross v t vs) as C. pose proof (ip_pos _ v) as P.
  destruct need as [|n need]; apply andb_true_iff in D as [D1 D2]; apply Z.leb_le, IZR_le in D1;
    rewrite plus_IZR, mult_IZR in D1; apply (IH _ vs) in D2; rewrite norms_axpy in D2; cbn [norms] in *.
  - pose proof (Rmult_le_compat_r _ _ _ P D1). lra.
  - pose proof (Rmult_le_compat_r _ _ _ P D1). lra. Qed.

(* What a function is, whose points, gradients and values a certificate speaks of. *)
Definition member (k : class) (f : E -> R) (g : E -> E) := match k with
  | Curved m l q => curved (IZR m / IZR q) (IZR l / IZR q) f g
  | Bounded G q => bounded_gradients (IZR G / IZR q) g
  | Monotone m q => strongly_monotone (IZR m / IZR q) g
  | Lipschitz l q => lipschitz (IZR l / IZR q) g
  | Cocoercive m l q => cocoercive (IZR l / IZR q) (IZR m / IZR q) g end.
Section Given.
Variables (vs : list E) (ws : list R) (origin : E).
Definition realised (f : E -> R) (g : E -> E) (f0 : R) (t : triple) := exists x,
  x = (origin + comb (at_point t) vs)%V /\ g x = comb (gradient t) vs /\ f x - f0 = total (value t) ws.
Definition describes (f : E -> R) (g : E -> E) (f0 : R) (u : used) :=
  Forall (realised f g f0) (points u) /\ Forall (fun k => member (fst k) f g) (taken u).

Lemma comb_minus a b : comb (minus a b) vs = (comb a vs - comb b vs)%V.
Proof. unfold minus. rewrite comb_axpy. reflexivity. Qed.
Lemma apart a b : (origin + a - (origin + b) = a - b)%V.
Proof. rewrite scale_add, swap, add_opposite, zero_add. reflexivity. Qed.
Lemma class_condition_holds k f g f0 a b : legal k = true -> member k f g ->
  realised f g f0 a -> realised f g f0 b -> holds vs ws (class_condition k a b).
Proof.
  intros ok M (x & X & GX & FX) (y & Y & GY & FY). unfold holds, left.
  assert (D : comb (minus (at_point b) (at_point a)) vs = (y - x)%V) by (rewrite comb_minus, X, Y, apart; reflexivity).
  assert (DG : comb (minus (gradient b) (gradient a)) vs = (g y - g x)%V) by (rewrite comb_minus, GX, GY; reflexivity).
  destruct k; cbn [legal] in ok; try (apply andb_true_iff in ok as [lt ok]; apply Z.ltb_lt, IZR_lt in lt);
    apply Z.ltb_lt, IZR_lt in ok; cbn [member] in M;
    cbn [class_condition products numbers right product_sum fst snd]; rewrite ?D, ?DG, <- ?GX, <- ?GY, ?total_nil.
  - unfold minus. rewrite !total_axpy, total_nil, <- FX, <- FY, !mult_IZR, !minus_IZR.
    assert (lt' : IZR mu / IZR q < IZR L / IZR q) by (apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat|]; lra).
    pose proof (interpolation _ _ _ _ lt' M x y) as I.
    apply (Rmult_le_compat_l (IZR q * IZR q)) in I; [|nra]. rewrite Rmult_0_r in I.
    eapply Rle_trans; [|exact I]. apply Req_le. field. lra.
  - rewrite !mult_IZR. specialize (M x). apply (Rmult_le_compat_l (IZR q * IZR q)) in M; [|nra].
    eapply Rle_trans; [apply Req_le|eapply Rle_trans; [exact M|apply Req_le]]; [ring|field; lra].
  - rewrite opp_IZR. specialize (M x y). apply (Rmult_le_compat_l (IZR q)) in M; [|lra].
    apply Rle_minus in M. eapply Rle_trans; [|exact M]. apply Req_le. field. lra.
  - rewrite opp_IZR, !mult_IZR. specialize (M x y). apply (Rmult_le_compat_l (IZR q * IZR q)) in M; [|nra].
    apply Rle_minus in M. eapply Rle_trans; [|exact M]. apply Req_le. field. lra.
  - rewrite opp_IZR, !mult_IZR, plus_IZR. specialize (M x y). apply (Rmult_le_compat_l (IZR q * IZR q)) in M; [|nra].
    set (d := (y - x)%V) in *. set (e := (g y - g x)%V) in *. clearbody d e.
    expand_in M. rewrite ?(ip_sym _ d e) in *. apply Ropp_le_contravar in M. rewrite Rmult_0_r, Ropp_0 in M.
    eapply Rle_trans; [|exact M]. apply Req_le. field. lra.
Qed.

Definition assumption_holds (a : assumed) := holds vs ws (inequality a) /\
  if equality a then left vs ws (inequality a) = IZR (right (inequality a)) else True.
Lemma inequalities_hold f g f0 u : describes f g f0 u ->
  forallb (fun k => legal (fst k) && forallb (fun t => 0 <=? fst t)%Z (snd k)) (taken u) = true ->
  Forall (fun t => IZR (fst t) * (left vs ws (snd t) - IZR (right (snd t))) <= 0) (inequalities u).
Proof.
  intros [P M] ok. apply Forall_forall. intros [w c] I. unfold inequalities in I.
  apply in_flat_map in I as ([k l] & K & I). apply in_flat_map in I as ([w' [i j]] & T & I). cbn [fst snd] in *.
  rewrite forallb_forall in ok. specialize (ok _ K). apply andb_true_iff in ok as [lg ok].
  rewrite forallb_forall in ok. specialize (ok _ T). apply Z.leb_le, IZR_le in ok. cbn [fst snd] in *.
  rewrite Forall_forall in P, M. specialize (M _ K). cbn [fst] in M.
  destruct (nth_error (points u) i) eqn:A; [|contradiction].
  destruct (nth_error (points u) j) eqn:B; [|contradiction].
  destruct I as [I|[]]. injection I as <- <-. apply nth_error_In in A, B.
  pose proof (class_condition_holds _ _ _ _ _ _ lg M (P _ A) (P _ B)) as H. unfold holds in H. nra. Qed.

Lemma fold_form l : forall A, form (fold_left (fun A t => add_products (fst t) (products (snd t)) A) l A) vs vs =
  form A vs vs + fold_right (fun t s => IZR (fst t) * product_sum (products (snd t)) vs + s) 0 l.
Proof. induction l as [|t l IH]; intro A; cbn; [lra|]. rewrite IH, form_products. lra. Qed.
Lemma fold_numbers l : forall r, total (fold_left (fun r t => axpy (fst t) (numbers (snd t)) r) l r) ws =
  total r ws + fold_right (fun t s => IZR (fst t) * total (numbers (snd t)) ws + s) 0 l.
Proof. induction l as [|t l IH]; intro r; cbn; [lra|]. rewrite IH, total_axpy. lra. Qed.
Lemma fold_rights (l : list (Z * cond)) : forall r, IZR (fold_left (fun r t => r + fst t * right (snd t))%Z l r) =
  IZR r + fold_right (fun t s => IZR (fst t) * IZR (right (snd t)) + s) 0 l.
Proof. induction l as [|t l IH]; intro r; cbn; [lra|]. rewrite IH, plus_IZR, mult_IZR. lra. Qed.
Lemma fold_squares l us : Forall (fun s => (0 <=? fst s)%Z = true) l -> forall G,
  form (fold_left (fun G s => outer (- fst s) (snd s) (snd s) G) l G) us us <= form G us us.
Proof. induction 1 as [|s l P _ IH]; intro G; cbn [fold_left]; [lra|]. eapply Rle_trans; [apply IH|].
  rewrite form_outer, opp_IZR. apply Z.leb_le, IZR_le in P. pose proof (ip_pos _ (comb (snd s) us)). nra. Qed.

Theorem sound c fs : check c = true -> (length vs <= size c)%nat ->
  Forall2 (fun t u => describes (fst (fst t)) (snd (fst t)) (snd t) u) fs (functions c) ->
  Forall assumption_holds (assumptions c) -> holds vs ws (conclusion c).
Proof.
  intros ok len F As. unfold check in ok. set (all := negated c :: added c) in ok.
  apply andb_true_iff in ok as [ok DD]. apply andb_true_iff in ok as [ok SQ]. apply andb_true_iff in ok as [ok ZE].
  apply andb_true_iff in ok as [ok RI]. apply andb_true_iff in ok as [ok NU]. apply andb_true_iff in ok as [ok AS].
  apply andb_true_iff in ok as [W FU]. apply Z.ltb_lt, IZR_lt in W. apply Z.leb_le, IZR_le in RI.
  rewrite fold_rights in RI. apply is_zero_total with (ws := ws) in NU. rewrite fold_numbers, total_nil in NU.
  apply half_zero with (vs := vs) in ZE. rewrite <- form_triangle, form_congruence, fold_form, form_nil in ZE by exact len.
  set (us := map (fun w => comb w vs) (basis c)) in *.
  apply dominant_half with (vs := us) in DD. cbn [norms] in DD.
  rewrite <- form_triangle in DD by (unfold us; rewrite map_length; lia).
  rewrite forallb_forall in SQ. apply Forall_forall in SQ.
  pose proof (fold_squares _ us SQ (gram c)) as G.
  assert (N : fold_right (fun t s => IZR (fst t) * (left vs ws (snd t) - IZR (right (snd t))) + s) 0 (added c) <= 0).
  { assert (N : Forall (fun t => IZR (fst t) * (left vs ws (snd t) - IZR (right (snd t))) <= 0) (added c)).
    { unfold added. apply Forall_app; split.
      - clear - F FU. induction F as [|[[f g] f0] u fs us D F IH]; [constructor|]. cbn [flat_map forallb] in *.
        apply andb_true_iff in FU as [F1 F2]. apply Forall_app; split; [eapply inequalities_hold; eauto|auto].
      - clear - As AS. induction As as [|a l [H H'] As IH]; [constructor|]. cbn [map forallb] in *.
        apply andb_true_iff in AS as [A1 A2]. constructor; [|auto]. cbn [fst snd]. destruct (equality a).
        + rewrite H'. lra.
        + cbn in A1. apply Z.leb_le, IZR_le in A1. unfold holds in H. nra. }
    clear - N. induction N; cbn; lra. }
  assert (B : fold_right (fun t s => IZR (fst t) * (left vs ws (snd t) - IZR (right (snd t))) + s) 0 all =
    fold_right (fun t s => IZR (fst t) * product_sum (products (snd t)) vs + s) 0 all
    + fold_right (fun t s => IZR (fst t) * total (numbers (snd t)) ws + s) 0 all
    - fold_right (fun t s => IZR (fst t) * IZR (right (snd t)) + s) 0 all).
  { clear. induction all as [|t all IH]; cbn; [lra|]. rewrite IH. unfold left. lra. }
  unfold all in B at 1. cbn [fold_right fst snd negated] in B. rewrite opp_IZR in B.
  unfold holds. assert (0 <= IZR (weight c) * (IZR (right (conclusion c)) - left vs ws (conclusion c))) by lra.
  apply Rmult_le_reg_l with (r := IZR (weight c)); lra.
Qed.
End Given.
End Soundness.
