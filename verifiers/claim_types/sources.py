"""Where a claim comes from: an object, a leaf of driftproof's, or a user's own file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

from driftproof.toolkit.discover import Leaf
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.located import telling_the_file
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
