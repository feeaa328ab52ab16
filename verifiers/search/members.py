"""Members of the piecewise families for Hypothesis: the instances of the search, drawn otherwise.

A search decodes vectors of an optimiser; here Hypothesis draws the same rows as a family asks for
them. Members shrink towards one client, one coordinate, no noise and the family's defaults.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from driftproof.synthetic.problems.piecewise_terms import TERMS
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.search.families import BY_NEED, FAMILIES
from driftproof.verifiers.search.families.decoding import Rows
from driftproof.verifiers.search.shrink import rounded
from driftproof.verifiers.search.structure import Choices, Structure, altered

POWERS = (0, 0, 0, -1, -1, 1, -2, 2, -3, 3, -5)
"""Sizes of numbers as powers of ten, the usual ones more often."""
QUARTERS = 8
"""What else is drawn lies between −2 and 2, in quarters."""
DIGITS = 3
"""Significant digits of a member's numbers."""
CLIENTS, DIMENSIONS, KNOTS = 4, 2, 4
RARE = (0.5, 0.25, 0.1, 0.01)


class Drawn(Rows):
    """Rows of one candidate, which are drawn when they are taken.

    Args:
        left_out: the names of what is the family's default, of which no row is drawn.
    """

    rise = 0.1

    def __init__(self, draw: st.DrawFn, of: Structure, left_out: Collection[str]) -> None:
        super().__init__(np.zeros((0, 1)), of)
        self._draw, self._left_out = draw, left_out

    def begin(self, name: str) -> None:
        """Note whether what follows is drawn."""
        self._kept = name not in self._left_out
        self._default = float(name == "inner")  # f_k' = 1, and 0 of what else is added

    def take(self, count: int) -> np.ndarray:
        """Return the next rows, [count, 1]."""
        if not self._kept:
            return np.full((count, 1), self._default)
        quarters = st.lists(st.integers(-QUARTERS, QUARTERS), min_size=count, max_size=count)
        return np.array(self._draw(quarters), float)[:, None] / 4

    def scale(self, middle: float = 0.0) -> np.ndarray:
        """Return a power of ten, [1]."""
        return np.array([10.0 ** (self._draw(st.sampled_from(POWERS)) if self._kept else 0)])


def choices_of(kind: str) -> list[Choices]:
    """Return from what the members of a kind of problems are drawn ([]: no family has it)."""
    if kind not in BY_NEED:
        return []
    choices = BY_NEED[kind].choices()
    if kind == "composition":
        return [replace(choices, fixed=(("averaged_inside", x),)) for x in (False, True)]
    if kind in TERMS:
        return [replace(choices, fixed=(("convex", True), ("term", TERMS[kind])))]
    return with_both_tails(choices)


def with_both_tails(choices: Choices) -> list[Choices]:
    """Return the choices; of curves with either tail, the flat ones and those that are convex."""
    if choices.family not in FAMILIES or not FAMILIES[choices.family].convex:
        return [choices]
    return [replace(choices, fixed=(*choices.fixed, ("convex", x))) for x in (False, True)]


def plain_and_examples(choices: Choices) -> list[Problem]:
    """Return the simplest member, and others that show what the family has ([]: no such family)."""
    if choices.family not in FAMILIES:
        return []
    family, of = (
        FAMILIES[choices.family],
        Structure(choices.family, clients=2, **dict(choices.fixed)),
    )
    member = family.member(family.parts(Rows(np.zeros((0, 1)), of), of), of)
    of_clients = [name for name, value in member.values().items() if isinstance(value, tuple)]
    plain = altered(member, dict.fromkeys(of_clients, ())) or member
    words = {name: x for name, x in plain.values().items() if isinstance(x, str | bool)}
    examples = leaves("problem")[choices.family].load().examples()
    alike = [x for x in examples if all(getattr(x, name) == words[name] for name in words)]
    return [plain, *(x for x in alike if x != plain)]


@st.composite
def members(draw: st.DrawFn, choices: Choices, clients: int = CLIENTS) -> Problem:
    """Draw a member of a piecewise family, whose objective is bounded below.

    Its numbers have few digits, so that they can be read; some of its fields are the family's
    defaults.
    """
    noisy = draw(st.booleans())
    of = Structure(
        choices.family,
        clients=draw(st.integers(1, clients)),
        dim=draw(st.sampled_from((1, 1, 1, DIMENSIONS))),
        knots=draw(st.integers(1, KNOTS)),
        noises=tuple(name for name in choices.noises if noisy and draw(st.booleans())),
        rare=draw(st.sampled_from(RARE)) if noisy else 0.5,
    )
    seldom = ("plain", *choices.flags)
    of = replace(
        of, **{name: draw(st.integers(0, 3)) == 3 for name in seldom} | dict(choices.fixed)
    )
    of = replace(of, alike=tuple(x for x in choices.alike if draw(st.integers(0, 3)) == 3))
    # whatever decides how many rows there are comes before them: then a client can be taken out
    left_out = [name for name in choices.alike if draw(st.integers(0, 3)) == 0]
    family = FAMILIES[choices.family]
    member = family.member(family.parts(Drawn(draw, of, left_out), of), of)
    fields = {name: rounded(x, DIGITS) for name, x in member.values().items()}
    defaults = {family.fields[name]: () for name in left_out if name in family.fields}
    simpler = altered(member, fields | defaults)
    assume(simpler is not None and np.isfinite(simpler.solution.low))
    assert simpler is not None
    return simpler
