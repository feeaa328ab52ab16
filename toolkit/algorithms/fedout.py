r"""FedOut: FedSVRG around the federated hypergradient on the upper level's x, y held."""

from __future__ import annotations

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._nested import Nested, State, fed_out, nested_radii
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import Bilevel


@algorithm(
    name="fedout",
    source="FedNest (2022), slides, Proposed Algorithm: FedOut, with FedSVRG and FedIHGP",
    statement=r"x_{i,\nu+1} = x_{i,\nu} - \alpha\big(\nabla_x f_i(x_{i,\nu}, y^+;\xi_{i,\nu}) -"
    r"\nabla_x f_i(x, y^+;\xi_{i,\nu}) + h\big), \quad h = \tfrac1m\sum_j\big(\nabla_x f_j -"
    r"\nabla^2_{xy}g_j\,p_{N'}\big)(x, y^+)",
)
class FedOut(Nested):
    r"""One call of FedOut a round, at y = y⁰; what FedNest does second, on its own.

    Of the fields those of the upper level count: ``outer_steps``, ``outer_step_size``, ``terms``,
    ``series``, ``batch``, ``participation``.

    One step where f = ½y², g = ½y² − xy and (x_0, y_0) = (1, 2): with one term
    p = y/ℓ_{g,1} = 2/1.61803, and ∇²_xy g = −1:

    >>> from driftproof.synthetic.problems import QuadraticBilevel
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticBilevel(dim=1, lower_dim=1, offset=0.0, target=0.0)
    >>> numbers_after(problem, FedOut(terms=1), "x")
    [0.87639]
    """

    in_mean = True

    @property
    def local_steps(self) -> int:  # type: ignore[override]
        """τ."""
        return self.outer_steps

    @classmethod
    def examples(cls) -> list[FedOut]:
        """Return members with each series and with some clients sampled."""
        return [
            cls(outer_steps=3, terms=3),
            cls(outer_steps=2, terms=2, series="summed", participation=0.5, batch=2),
        ]

    def radii(self, around: Around) -> Radii:
        """Keep y at y⁰."""
        return nested_radii(self, around, inner=0, outer=1)

    def step(self, ctx: Context, oracles: Bilevel, state: State) -> State:
        """One local step of FedOut."""
        return fed_out(self, ctx, oracles, state, ctx.t % self.outer_steps)
