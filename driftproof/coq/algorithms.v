(* The algorithms whose iterates a theorem speaks of. g is a gradient, gs are the clients' gradients. *)
Require Export spaces.
From Coq Require Import Lra.

Section Algorithms.
Context {E : space}.
Implicit Types (g : E -> E) (x : E).

Fixpoint gradient_descent (eta : R) g x (k : nat) : E := match k with
  | O => x
  | S k => gradient_descent eta g x k - eta * g (gradient_descent eta g x k) end%V.

(* FedAvg: every client takes tau steps from the server's point, and the server takes the mean. *)
Definition average eta (gs : list (E -> E)) x (k : nat) : E := mean (map (fun g => gradient_descent eta g x k) gs).
Fixpoint fedavg eta (tau : nat) (gs : list (E -> E)) x (rounds : nat) : E := match rounds with
  | O => x
  | S r => average eta gs (fedavg eta tau gs x r) tau end.

(* FedSVRG, and without noise FedInn, FedOut and gradient tracking: to the clients' mean gradient at the
   server's point x a client adds what its own gradient has changed by since. *)
Definition corrected eta (gs : list (E -> E)) g x (k : nat) : E :=
  gradient_descent eta (fun y => g y - g x + mean (map (fun h => h x) gs))%V x k.
Definition corrected_average eta gs x k : E := mean (map (fun g => corrected eta gs g x k) gs).
Fixpoint fedsvrg eta (tau : nat) (gs : list (E -> E)) x (rounds : nat) : E := match rounds with
  | O => x
  | S r => corrected_average eta gs (fedsvrg eta tau gs x r) tau end.
End Algorithms.

(* 1 + rho + ... + rho^(k - 1): what a constant adds up to in k rounds. *)
Fixpoint geometric (rho : R) (k : nat) : R := match k with O => 0 | S k => rho * geometric rho k + 1 end.
Lemma geometric_sum rho k : (1 - rho) * geometric rho k = 1 - rho ^ k.
Proof.
  induction k as [|k IH]; simpl; [ring|].
  transitivity (rho * ((1 - rho) * geometric rho k) + (1 - rho)); [ring | rewrite IH; ring]. Qed.

Lemma adding_up {E : space} eta tau (gs : list (E -> E)) xs rho c : 0 <= rho ->
  (forall x, ‖fedavg eta tau gs x 1 - xs‖² <= rho * ‖x - xs‖² + c) ->
  forall x k, ‖fedavg eta tau gs x k - xs‖² <= rho ^ k * ‖x - xs‖² + c * geometric rho k.
Proof.
  intros positive one x k. induction k as [|k IH]; simpl; [lra|].
  apply (Rle_trans _ _ _ (one (fedavg eta tau gs x k))).
  apply (Rmult_le_compat_l rho) in IH; lra. Qed.
