r"""What a class says of a client's points: inequalities between (x, g, f) triples.

A triple is a point x, the gradient g of the client's function there and its value f. Interpolation
conditions are inequalities for all pairs of triples that hold if *and only if* some function of the
class has these gradients and values (Taylor, Hendrickx & Glineur 2017). Where a class has only
conditions that are necessary, the worst case over them is an upper bound, and it says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from driftproof.toolkit.gram.exact import GramForm, Vector
from driftproof.toolkit.letters import shown
from driftproof.toolkit.ratios import vanishes

Place = Literal["difference", "one", "other"]
"""x_j − x_k, g_j and g_k, of a pair (j, k); of a single triple x_j ("difference") and g_j."""


@dataclass(frozen=True)
class Triple:
    """What is known of a client's function at one point.

    Attributes:
        client: the number of the client.
        point, gradient: x and g.
        value: f, without a Gram part.
        name: where the point comes from: "solution", "point 3" …
    """

    client: int
    point: Vector
    gradient: Vector
    value: GramForm
    name: str


@dataclass(frozen=True)
class Condition:
    r"""Σ q_ab ⟨a, b⟩ + v_j f_j + v_k f_k ≤ bound, for every pair (j, k) of a client's triples.

    Attributes:
        name: the class of which it is, as files name it.
        constants: those of that class.
        products: (a, b) → q_ab, each unordered pair of places once.
        values: v_j and v_k.
        bound: the right side.
        of: "pairs" in both orders, "unordered pairs" where both orders say the same, or "triples"
            one by one (then "difference" is x_j, and neither "other" nor v_k appears).
    """

    name: str
    constants: Mapping[str, Fraction]
    products: Mapping[tuple[Place, Place], Fraction]
    values: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    bound: Fraction = Fraction(0)
    of: Literal["pairs", "unordered pairs", "triples"] = "pairs"

    def is_void(self, one: Triple, other: Triple | None = None) -> bool:
        """Tell whether it says 0 ≤ 0, of gradients that are 0: it would leave no room inside."""
        nothing = Vector()
        zero = {"one": one.gradient == nothing, "difference": False}
        zero["other"] = other is not None and other.gradient == nothing
        void = all(zero[a] or zero[b] for a, b in self.products)
        return void and not any(self.values) and vanishes(self.bound)

    def quantity(self, one: Triple, other: Triple | None = None) -> GramForm:
        """Return the left side for one pair, or for one triple."""
        vectors = {"difference": one.point, "one": one.gradient}
        total = one.value * self.values[0]
        if other is not None:
            vectors |= {"difference": one.point - other.point, "other": other.gradient}
            total = total + other.value * self.values[1]
        for (a, b), factor in self.products.items():
            total = total + vectors[a] * vectors[b] * factor
        made: GramForm = total
        return made


@dataclass(frozen=True)
class Constraint:
    """quantity ≤ bound, or = bound.

    Attributes:
        name: what a certificate calls it: "start", "similar", or the name of a condition with a
            client and the numbers of its triples, from 0: "smooth-convex, client 0, (3, 5)".
    """

    name: str
    quantity: GramForm
    bound: Fraction = Fraction(0)
    equality: bool = False


@dataclass(frozen=True)
class FunctionClass:
    """A class of functions, or of operators.

    Attributes:
        name: as ``smooth-strongly-convex``.
        parameters: {"L": 1, "mu": 1/10}, exact.
        conditions: what holds for every client's triples.
        solvable: whether there is a point x* where the mean gradient is 0, which a run is measured
            against.
        loose: why a worst case over the conditions may be too large ("" if they are sufficient).
        saddle: whether it is one of functions f(x, y) of two variables, whose "gradient" is the
            field (∇_x f, −∇_y f).
        composed: whether they are compositions, of which an algorithm asks the parts.
        term: whether it is one term that all clients share, and not each client's function.
        normals: whether it is one of indicators of sets, 0 at each of its points.
    """

    name: str
    parameters: Mapping[str, Fraction]
    conditions: tuple[Condition, ...]
    solvable: bool = True
    loose: str = ""
    saddle: bool = False
    composed: bool = False
    term: bool = False
    normals: bool = False

    @property
    def set_valued(self) -> bool:
        """Whether a point may have several subgradients, of which an oracle gives one."""
        names = {condition.name for condition in self.conditions}
        return bool({"convex", "strongly-convex"} & names) or names == {"strongly-monotone"}

    def __str__(self) -> str:
        of = f"{self.name}({', '.join(f'{k} = {shown(v)}' for k, v in self.parameters.items())})"
        return f"plus({of})" if self.term else of
