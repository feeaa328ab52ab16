r"""LFedNest against FedAvg-S on the minimax problem (slide "Minimax Experiment").

**Statement.** "LFedNest performs slightly better than FedAvg-S."

**Kind.** Bound, of the limits of E‖z_K − z*‖² at equal step sizes and numbers of local steps,
exactly (``_minimax``), with FedAvg-S's steps taken simultaneously and in turn.

**Finding.** With all clients LFedNest has no error in the limit, because all Hessians are equal,
and FedAvg-S has one as soon as the A_i differ: its joint local steps follow each client's own
saddle point. With sampled clients it is the other way round on many cases: τ local steps of each
variable in turn move farther towards the cohort's own saddle than τ joint ones.
"""

from dataclasses import dataclass

from synthetic.problems import QuadraticMinimax
from toolkit import Assumption, Stated, claim, grid
from toolkit.algorithms import FedAvgS, LFedNest
from verifiers.claims.fednest import _minimax as exact
from verifiers.claims.fednest.minimax_linear import ALL, SOME
from verifiers.ground_truth import Comparison


def stays(case):
    """Say whether LFedNest's second moments converge."""
    try:
        exact.limit(case.problem, exact.calls(case.problem, case.algorithm))
    except ValueError:
        return False
    return True


STABLE = Assumption("step sizes", r"\text{LFedNest does not diverge}", applies=stays)


@dataclass(frozen=True)
class Share:
    """How much of FedAvg-S's error LFedNest's is said to be at most."""

    of_the_other: float


@claim(
    name="fednest/minimax-light",
    kind="bound",
    source="002, Minimax Experiment",
    statement=r"\text{LFedNest performs slightly better than FedAvg-S}:\quad \lim_K \mathbb{E}\|"
    r"z_K-z^*\|^2_{\text{LFedNest}} \le \lim_K \mathbb{E}\|z_K-z^*\|^2_{\text{FedAvg-S}}",
)
class Light:
    cases = [
        case
        for local in (1, 5, 20)
        for case in grid(
            QuadraticMinimax(clients=4, dim=1, heterogeneity=[0.3, 1.0], regulariser=[0.1, 1.0]),
            LFedNest(
                terms=0, inner_steps=local, outer_steps=local, inner_step_size=0.05,
                outer_step_size=0.05, participation=[1.0, 0.5],
            ),
            rounds=1,
        )
    ]  # fmt: skip
    readings = {
        "all clients take part": Stated(Share(1.0), assumes=(ALL, STABLE)),
        "clients are sampled": Stated(Share(1.0), assumes=(SOME, STABLE)),
    }
    false_siblings = [("half of it, sampled", Stated(Share(0.5), assumes=(SOME, STABLE)))]

    def compare(case, right):
        problem, ours, made = case.problem, case.algorithm, []
        light = exact.limit(problem, exact.calls(problem, ours))
        for order in ("simultaneous", "alternating"):
            other = FedAvgS(
                local_steps=ours.inner_steps, inner_step_size=ours.inner_step_size,
                outer_step_size=ours.outer_step_size, participation=ours.participation,
                order=order,
            )  # fmt: skip
            error = right.of_the_other * exact.limit(problem, exact.joint(problem, other))
            made.append(Comparison(f"FedAvg-S, {order} steps", light, light, error))
        return made

    explain = (
        "True where all clients take part: LFedNest has no error in the limit. With sampled "
        "clients its floor is often the higher one."
    )
