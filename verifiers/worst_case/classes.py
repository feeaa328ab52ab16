"""The classes that files name: their constants, what they are, and what Coq calls them.

The inequality of a class is not here. It stands twice: in ``synthetic.classes``, from which proofs
are searched, and in ``statement``, by which they are checked. The definition is in ``classes.v``,
under the same name with ``_`` for ``-``, of the same constants in the same order.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple


class Named(NamedTuple):
    """What a class is called.

    Attributes:
        said: what it is, for a reader.
        constants: their names. Each is at least 0, and of two the first one is larger.
        of: "values" of functions, which are free in the other classes; their "gradients"; or
            "operators".
        points: of how many points at a time its inequality speaks.
        constructor: what certificates.v calls its inequality ("": Coq knows no such class).
    """

    said: str
    constants: tuple[str, ...] = ()
    of: Literal["values", "gradients", "operators"] = "gradients"
    points: int = 2
    constructor: str = ""

    def definition(self, name: str, constants: Sequence[str], f: str, g: str) -> str:
        """Return that f with the gradient g, or the operator g, is in the class, as Coq has it."""
        functions = [f, g] if self.of == "values" else [g]
        return " ".join([name.replace("-", "_"), *constants, *functions])


CLASSES = {
    "smooth": Named("L-Lipschitz gradient", ("L",), "values", constructor="Curved"),
    "smooth-convex": Named("convex, L-Lipschitz gradient", ("L",), "values", constructor="Curved"),
    "smooth-strongly-convex": Named(
        "mu-strongly convex, L-Lipschitz gradient", ("L", "mu"), "values", constructor="Curved"
    ),
    "convex": Named("convex", of="values"),
    "strongly-convex": Named("mu-strongly convex", ("mu",), "values"),
    "normal-cone": Named("⟨g, Δx⟩ ≤ 0"),
    "diameter": Named("‖Δx‖≤D", ("D",)),
    "bounded-gradients": Named("‖g‖ ≤ G", ("G",), points=1, constructor="Bounded"),
    "strongly-monotone": Named("⟨Δg, Δx⟩ ≥ mu ‖Δx‖²", ("mu",), "operators", constructor="Monotone"),
    "lipschitz": Named("L-Lipschitz operator", ("L",), "operators", constructor="Lipschitz"),
    "cocoercive": Named(
        "⟨Δg − mu Δx, L Δx − Δg⟩ ≥ 0", ("L", "mu"), "operators", constructor="Cocoercive"
    ),
}
CURVED = tuple(name for name, of in CLASSES.items() if of.constructor == "Curved")
"""Classes between two parabolas at every point."""
ROUGH = ("convex", "strongly-convex", "normal-cone")
"""Classes with subgradients: a point may have several."""
IN_COQ = tuple(name for name, of in CLASSES.items() if of.constructor)


def curvatures(name: str, constants: Sequence[Any]) -> tuple[Any, Any]:
    """Return those of the two parabolas, the lower one first."""
    L, *mu = constants
    return (mu[0] if mu else -L if name == "smooth" else 0 * L), L
