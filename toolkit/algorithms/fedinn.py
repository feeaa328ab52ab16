r"""FedInn: FedSVRG on the lower level's y, x held."""

from __future__ import annotations

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._nested import Nested, State, fed_inn, nested_radii
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import Bilevel
from driftproof.toolkit.parameters import Flag


@algorithm(
    name="fedinn",
    source="FedNest (2022), slides, Proposed Algorithm: FedInn, with FedSVRG",
    statement=r"y_{i,\nu+1} = y_{i,\nu} - \beta\big(\nabla_y g_i(x, y_{i,\nu};\zeta_{i,\nu}) -"
    r"\nabla_y g_i(x, y;\zeta_{i,\nu}) + \tfrac1m\sum_j\nabla_y g_j(x, y;\zeta_j)\big),\; "
    r"y^+ = \tfrac1m\sum_i y_{i,\tau}",
)
class FedInn(Nested):
    r"""One call of FedInn a round, at x = x⁰; what FedNest does first, on its own.

    Of the fields those of the lower level count: ``inner_steps``, ``inner_step_size``, ``batch``,
    ``participation``.

    One step where f = ½y², g = ½y² − xy and (x_0, y_0) = (1, 2): ∇_y g = 1:

    >>> from driftproof.synthetic.problems import QuadraticBilevel
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticBilevel(dim=1, lower_dim=1, offset=0.0, target=0.0)
    >>> numbers_after(problem, FedInn(inner_step_size=0.1), "y")
    [1.9]

    Args:
        variance_reduced: False leaves q out: FedAvg on y, "SGD on y" in FedNest's table.
    """

    variance_reduced: Flag = True

    iterate = "y"
    in_mean = True

    @property
    def reduces_inner(self) -> bool:  # type: ignore[override]  # a choice here
        """Whether the local steps are FedSVRG's."""
        return self.variance_reduced

    @property
    def local_steps(self) -> int:  # type: ignore[override]
        """τ."""
        return self.inner_steps

    @classmethod
    def examples(cls) -> list[FedInn]:
        """Return members with all clients and with some, and FedAvg."""
        return [
            cls(inner_steps=3),
            cls(inner_steps=2, participation=0.5, batch=2),
            cls(inner_steps=2, variance_reduced=False),
        ]

    def radii(self, around: Around) -> Radii:
        """Keep x at x⁰."""
        return nested_radii(self, around, inner=1, outer=0)

    def step(self, ctx: Context, oracles: Bilevel, state: State) -> State:
        """One local step of FedInn."""
        return fed_inn(self, ctx, oracles, state, ctx.t % self.inner_steps)
