"""The claims that a paper marks, and what became of them: judged, or taken from the ledger."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from driftproof.toolkit.discover import Leaf, leaves, leaves_in
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.ledger import Ledger
from driftproof.toolkit.verdict import Row, row_from
from driftproof.verifiers.claim_types.sources import claims_in
from driftproof.verifiers.latex_sync.theorems import Theorem
from driftproof.verifiers.running.fingerprint import code_of

KEY = "paper"
"""Where a run's head in the ledger has what its verdicts rest on."""


def claims_of(places: Sequence[Path], theorems: Sequence[Theorem]) -> dict[str, Leaf]:
    """Return the claims that theorems name, out of files or folders and then of driftproof's.

    Raises:
        DriftproofError: a theorem names a claim that there is not, or two files have one claim.
    """
    known: dict[str, Leaf] = {}
    for path in _files(places):
        for leaf in leaves_in(path, "claim"):
            if leaf.name in known:
                raise DriftproofError(
                    f"{known[leaf.name].path} and {path} both have a claim {leaf.name}",
                    "a name of its own for each claim",
                    "rename one of them",
                )
            known[leaf.name] = leaf
    shipped = leaves("claim")
    if any(of.claim not in known and of.claim not in shipped for of in theorems):
        for path in _files(places):  # made in a loop, say, which its text does not show
            known |= {leaf.name: leaf for leaf in claims_in(path) if leaf.name not in known}
    for theorem in theorems:
        if theorem.claim not in known and theorem.claim not in shipped:
            error = unknown_name("claim", theorem.claim, [*known, *shipped])
            where = f"{theorem.file}:{theorem.line}"
            raise DriftproofError(f"{where}: {error.got}", error.wanted, error.remedy)
    named = dict.fromkeys(theorem.claim for theorem in theorems)
    return {name: known.get(name) or shipped[name] for name in named}


def rows_of(
    chosen: Sequence[Leaf],
    places: Sequence[Path],
    out: Path,
    judge: Callable[[str], tuple[dict[str, Any], list[Row]]],
    profile: str,
) -> list[Row]:
    """Return the rows of claims: those of the last run where nothing changed that they rest on.

    Args:
        judge: called with what the verdicts rest on, where something did.
    """
    key = _key(chosen, places, profile)
    path = out / "ledger.sqlite"
    if path.is_file() and (out / "index.html").is_file():  # the page is written last
        with Ledger(path, create=False) as ledger:
            head, rows = ledger.latest()
        if head.get(KEY) == key:
            return [row_from(row) for row in rows]
    return judge(key)[1]


def _key(chosen: Sequence[Leaf], places: Sequence[Path], profile: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    # whatever lies beside a claim may be imported by it
    files = {*_files(places), *(leaf.path for leaf in chosen if leaf.module is None)}
    for part in (code_of(None), profile, *sorted(leaf.name for leaf in chosen)):
        digest.update(f"{part}\0".encode())
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _files(places: Sequence[Path]) -> list[Path]:
    files: list[Path] = []
    for place in places:
        if not place.exists():
            raise DriftproofError(
                f"{place} is not there", "a file of claims, or a folder of them", "check the path"
            )
        files += sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return [path.resolve() for path in files]
