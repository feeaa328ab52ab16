r"""Lemma 2 over all compositions with bounded gradients: client drift.

**Kind.** Bound over a class. The lemma is about what steps and averages do to directions no longer
than G_g·G_f, and uses nothing else of the functions: so the class is that of all compositions with
these bounds, of any smoothness, and ComFedL's own text runs on it. A worst case of compositions
without noise; with noise each direction is as short, and comfedl/lemma-2 has it on cases.

Attained for every τ and η, by functions whose directions are all the same: no smaller right side
holds, with all clients or with some.
"""

from driftproof.synthetic.classes import bounded_composition, for_all, over
from driftproof.synthetic.classes.function_class import Conditions
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.comfedl.claims.lemma_2 import squared_path

SHORT: Conditions = [bounded_composition(G_f=2, G_g=1.5)]


@bound(
    name="comfedl/client-drift-class",
    source="ComFedL, arXiv v1 and v3, Lemma 2, over a whole class: form of ours",
    statement=r"\mathbb{E}\|\bar w_{s,t}-\bar w_s\|^2 \le \tau^2\eta^2G_g^2G_f^2",
    classes=[
        *over(
            [bounded_composition(G_f=for_all("0 < G_f"), G_g=for_all("0 < G_g"))],
            ComFedL(local_steps=sweep(1, 2, 5), step_size=for_all("0 < eta")),
            rounds=1,
        ),
        *over(SHORT, ComFedL(local_steps=2, participation=0.5), rounds=2),
    ],
    corrected=squared_path,
    correction="The right side is the print's: each of t ≤ τ local steps is at most ηG_gG_f long.",
    false_siblings=[
        ("10 % smaller", lambda c: 0.9 * squared_path(c)),
        ("linear in the local steps", lambda c: squared_path(c) / c.tau),
    ],
    explain="Lemma 2's right side, unchanged. It is exact for the class: directions that agree "
    "move τη·G_g·G_f.",
)
def client_drift(view: Steps) -> Reduction:
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))
