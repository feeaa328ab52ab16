"""A right side as a sum of named terms, and a false sibling for each term and coefficient.

A corrected form is a statement of ours, so each of its terms has to be seen by some case: without
the term, or with a smaller coefficient, the case must refute it (``driftproof controls``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.errors import unknown_name
from driftproof.toolkit.readings import Stated

Term = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)  # by identity: its terms are functions
class Terms:
    """A right side: the sum of its terms, each a function of the letters, under a name.

    >>> from driftproof.toolkit.constants import Letters
    >>> bound = Terms({"step": lambda c: c.eta / 2, "gap": lambda c: 1 / c.eta})
    >>> c = Letters({"eta": "step_size"})
    >>> bound(c), [(name, right(c)) for name, right in bound.without_each()]
    (eta/2 + 1/eta, [('without step', 1/eta), ('without gap', eta/2)])
    >>> [(name, form.right(c)) for name, form in bound.controls({("step", "gap"): 3, "gap": 0})]
    [('3 of step and gap', 3*eta/2 + 3/eta), ('without gap', eta/2)]
    """

    terms: Mapping[str, Term]

    def __call__(self, c: Any) -> Any:
        """Return the sum."""
        return sum(term(c) for term in self.terms.values())

    def shrunk(self, name: str, share: Fraction | int) -> Terms:
        """Return the same sum with one term multiplied by ``share``."""
        import sympy

        if name not in self.terms:
            raise unknown_name("term of a right side", name, self.terms)
        factor, term = sympy.Rational(share), self.terms[name]
        return Terms(dict(self.terms) | {name: lambda c: factor * term(c)})

    def without_each(self) -> list[tuple[str, Terms]]:
        """Return one false sibling for each term: the sum without it."""
        return [(f"without {name}", self.shrunk(name, 0)) for name in self.terms]

    def controls(
        self,
        shares: Mapping[str | tuple[str, ...], Fraction | int],
        *,
        assumes: Sequence[Assumption] = (),
        form: Callable[[Terms], Any] = lambda terms: terms,
    ) -> list[tuple[str, Stated[Any]]]:
        """Return a false sibling for each name, or for several names taken together.

        Args:
            shares: which terms → what is left of them: 0 leaves them out.
            assumes: of the corrected form.
            form: what the corrected form makes of its terms, a schedule put in for instance.
        """
        siblings = []
        for names, share in shares.items():
            group, right = (names,) if isinstance(names, str) else names, self
            for name in group:
                right = right.shrunk(name, share)
            said = " and ".join(group)
            what = f"{share} of {said}" if share else f"without {said}"
            siblings.append((what, Stated(form(right), assumes=tuple(assumes))))
        return siblings
