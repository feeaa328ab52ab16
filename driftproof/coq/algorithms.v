(* The algorithms whose iterates a theorem speaks of. g is a gradient, gs are the clients' gradients. *)
Require Export spaces.

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
End Algorithms.
