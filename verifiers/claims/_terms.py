"""A right side as a sum of named terms, so that there is a control for each of them.

A corrected form has coefficients of its own. Whether its cases could see a smaller one is told by
controls that leave a term out or shrink it. With the terms named, they need not be written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.claims import Assumption
from toolkit.errors import unknown_name
from toolkit.readings import Stated

Term = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Terms:
    """A right side, the sum of its terms.

    Attributes:
        named: what a term pays for → the term, a function from letters to sympy.
    """

    named: Mapping[str, Term]

    def __call__(self, c: Any) -> Any:
        """Return the sum."""
        return sum(term(c) for term in self.named.values())

    def scaled(self, share: Any, *names: str) -> Terms:
        """Return the right side with some terms multiplied by ``share``."""
        for name in names:
            if name not in self.named:
                raise unknown_name("term", name, self.named)
        return Terms({n: _times(share, t) if n in names else t for n, t in self.named.items()})

    def controls(
        self,
        shares: Mapping[str | tuple[str, ...], Any],
        *,
        assumes: Sequence[Assumption] = (),
        form: Callable[[Terms], Any] = lambda terms: terms,
    ) -> list[tuple[str, Stated]]:
        """Return a false sibling for each name, or for several names taken together.

        Args:
            shares: which terms → what is left of them: 0 leaves them out.
            assumes: of the corrected form.
            form: what the corrected form makes of its terms, a schedule put in for instance.
        """
        made = []
        for names, share in shares.items():
            group = (names,) if isinstance(names, str) else names
            said = " and ".join(group)
            what = f"without {said}" if share == 0 else f"{share} times {said}"
            made.append((what, Stated(form(self.scaled(share, *group)), assumes=tuple(assumes))))
        return made


def _times(share: Any, term: Term) -> Term:
    return lambda c: share * term(c)
