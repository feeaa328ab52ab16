"""Has Coq check a theorem, against the library that is shipped in ``driftproof/coq``."""

import hashlib
import re
import shutil
import subprocess
import tempfile
import time
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from driftproof.toolkit.errors import MissingError
from driftproof.toolkit.kernels import writable

ORDER = (
    "spaces",
    "classes",
    "algorithms",
    "regions",
    "certificates",
    "reading",
    "coordinates",
    "witnesses",
)
AXIOMS = frozenset(
    {
        "ClassicalDedekindReals.sig_not_dec",
        "ClassicalDedekindReals.sig_forall_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
    }
)
"""Those of Coq's own real numbers; a theorem that rests on another one is not accepted."""


class RefusedTheoremError(Exception):
    """Coq does not accept a file, or it rests on an axiom of its own."""


class Accepted(NamedTuple):
    """A theorem that Coq accepted.

    Attributes:
        seconds: of wall time that it took.
        axioms: what the theorem rests on.
    """

    seconds: float
    axioms: tuple[str, ...]


def library() -> Path:
    """Return the folder of the library's files."""
    return Path(str(files("driftproof"))) / "coq"


@cache
def version() -> str:
    """Return Coq's version.

    Raises:
        MissingError: coqc is not on the path.
    """
    if shutil.which("coqc") is None:
        raise MissingError(
            "no coqc on the path",
            "the proof assistant Coq, 8.16 or newer",
            "install it: Debian and Ubuntu have it as apt-get install coq, others on coq.inria.fr",
        )
    said = subprocess.run(["coqc", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version ([\w.+-]+)", said)
    return found[1] if found else said.strip()


@cache
def compiled() -> Path:
    """Return the folder of the compiled library; it is compiled when it is first needed."""
    sources = [library() / f"{name}.v" for name in ORDER]
    key = hashlib.blake2b(digest_size=8)
    for part in (version().encode(), *(path.read_bytes() for path in sources)):
        key.update(part + b"\0")
    folder = Path(writable(f"coq-{key.hexdigest()}"))
    if not (folder / f"{ORDER[-1]}.vo").exists():
        with tempfile.TemporaryDirectory(dir=folder) as made:
            for path in sources:
                shutil.copy(path, made)
                try:
                    _run(Path(made), Path(made) / path.name)
                except RefusedTheoremError as error:
                    raise MissingError(
                        f"{path.name} of driftproof's library, refused: {error}",
                        "Coq 8.16, which the library is written for",
                        "install that version of Coq",
                    ) from error
            for name in ORDER:  # the last one last: then all are there
                (Path(made) / f"{name}.vo").replace(folder / f"{name}.vo")
    return folder


def prove(text: str) -> Accepted:
    """Have Coq check a file whose last command prints what its theorem rests on.

    Raises:
        RefusedTheoremError: Coq refuses it, or it rests on more than the real numbers' axioms.
        MissingError: coqc is not on the path.
    """
    compiled()
    start = time.perf_counter()
    said = output(text)
    axioms = tuple(re.findall(r"^([A-Z][\w.']*)\s*(?::|$)", said.partition("Axioms:")[2], re.M))
    if strange := set(axioms) - AXIOMS or ("Axioms:" not in said and "Closed under" not in said):
        raise RefusedTheoremError(f"it rests on {strange or 'what Coq did not say'}")
    return Accepted(time.perf_counter() - start, axioms)


def output(text: str) -> str:
    """Return what Coq prints of a file that it accepts.

    Raises:
        RefusedTheoremError: Coq refuses it.
        MissingError: coqc is not on the path.
    """
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "theorem.v"
        path.write_text(text, encoding="utf-8")
        return _run(compiled(), path)


def _run(folder: Path, path: Path) -> str:
    made = subprocess.run(
        ["coqc", "-q", "-noglob", "-R", str(folder), "Driftproof", str(path)],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if made.returncode < 0:  # no word of Coq's on the theorem
        raise MissingError(
            f"coqc, stopped by signal {-made.returncode}",
            "a run to its end",
            "give it more memory, or prove fewer files beside each other",
        )
    if made.returncode:
        raise RefusedTheoremError(f"coqc {version()}: {made.stderr.strip()}")
    return made.stdout
