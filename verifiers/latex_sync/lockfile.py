"""What theorems of a paper and their claims were when an author last found them to agree.

The file stands beside the paper and is written by ``driftproof paper --bind`` alone, so that it can
be committed with the paper: a change of either side shows against it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.files import write_text

SCHEMA = 1
FILE = "driftproof.lock.json"
ALGEBRA, EYE = "algebra", "eye"
"""How two right sides are compared."""


@dataclass(frozen=True)
class Binding:
    """A theorem and a claim that were found to agree.

    Attributes:
        source: what the theorem said, in tokens (``latex_sync.latex``).
        stated: what the claim stated, as code (``latex_sync.stated``).
        right: the label of the formula that bounds.
        compared: how the right sides were compared: by "algebra", or by "eye" where one of them
            cannot be read ("digest" in files before 0.2).
        verdict, evidence, cases: what became of the claim then.
        since: the day from which on all of this has been so.
    """

    claim: str
    source: str
    stated: str
    right: str
    compared: str
    verdict: str
    evidence: str
    cases: str
    since: str


def read(main: Path) -> dict[str, Binding]:
    """Return the bindings of a paper by label; none where there is no file yet.

    Raises:
        DriftproofError: the file is not as ``write`` wrote it.
    """
    path = main.with_name(FILE)
    if not path.exists():
        return {}
    try:
        file = json.loads(path.read_text(encoding="utf-8"))
        if file["schema"] != SCHEMA:
            raise ValueError(f"schema {file['schema']}")
        return {
            label: Binding(**entry | {"compared": entry["compared"].replace("digest", EYE)})
            for label, entry in file["theorems"].items()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DriftproofError(
            f"{path}: {type(error).__name__}: {error}",
            f"the file that driftproof paper --bind writes, of schema {SCHEMA}",
            "take it from the last commit, or look at every theorem and bind them afresh",
        ) from error


def write(main: Path, bindings: Mapping[str, Binding]) -> None:
    """Write the bindings of a paper."""
    entries = {label: asdict(binding) for label, binding in bindings.items()}
    text = json.dumps({"schema": SCHEMA, "theorems": entries}, indent=1, ensure_ascii=False)
    write_text(main.with_name(FILE), text + "\n")


def digest(source: str) -> str:
    """Return eight letters that tell one source from another."""
    return blake2b(source.encode(), digest_size=4).hexdigest()
