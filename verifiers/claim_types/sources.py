"""Where a claim comes from: an object, a leaf of driftproof's, or a user's own file."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

from driftproof.toolkit.discover import Leaf, claims_of, leaves_in
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.user_traceback import telling_the_file
from driftproof.verifiers.claim_types.claim import Claim

Source = Claim[Any] | Leaf


@contextmanager
def blaming(source: Source) -> Iterator[None]:
    """Put what a user's own file raises in terms of that file, and note of which claim it is."""
    try:
        with telling_the_file(users_file(source)):
            yield
    except DriftproofError as error:
        error.claim = source.name
        raise


def loaded(source: Source) -> Claim[Any]:
    """Return a claim, wherever it comes from."""
    claim: Claim[Any] = source.load() if isinstance(source, Leaf) else source
    return claim


def users_file(source: Source) -> Path | None:
    """Return the user's own file that a claim is in, if it is in one."""
    return source.path if _is_users(source) else None


def _is_users(source: Source) -> TypeGuard[Leaf]:
    return isinstance(source, Leaf) and source.module is None


def claims_in(path: Path, note: Callable[[str], None] = lambda text: None) -> list[Leaf]:
    """Return the claims of a user's file: those that its text shows, and what importing it makes.

    Args:
        note: called with what is said of claims that another file makes.

    Raises:
        DriftproofError: a claim that stands above no function; or two of one name.
    """
    shown = list(leaves_in(path, "claim"))
    names = [leaf.name for leaf in shown]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DriftproofError(
            f"{path} has two claims called {twice!r}",
            "a name of its own for each claim",
            "rename one of them",
        )
    path = shown[0].path if shown else Path(os.path.realpath(path))
    made, imported = claims_of(path)
    for name, claim in made.items():
        if not claim.complete:
            raise DriftproofError(
                f"claim {name}, which stands above no function",
                f"@{claim.way}(…) above def …",
                f"write it above the function that is its {claim.function}, or call it with that",
            )
        if name not in names:
            said = {"name": name, "source": claim.source, "statement": claim.statement}
            shown.append(Leaf("claim", name, "", path, metadata=said, decorator=claim.way))
    if imported:
        note(f"{path.name} imports {', '.join(imported)}: judged where they are made, not here")
    return shown
