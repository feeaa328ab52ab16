"""``driftproof prove``: a certificate as a theorem that Coq accepts, or as a proof on paper."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

from driftproof.commands import _shared as shared
from driftproof.commands.check import text_of_certificate
from driftproof.toolkit.errors import DriftproofError

INNER = ("made", "file", "about")
"""What of a row is not printed as JSON."""


@click.command()
@click.argument("certificates", nargs=-1, required=True, metavar="CERTIFICATE...")
@shared.out_of("the files  [default: beside each certificate; with --tex they are printed]")
@click.option("--tex", is_flag=True, help="Write a theorem and its proof in LaTeX; without Coq.")
@click.option(
    "--every-n",
    is_flag=True,
    help="As --tex: one proof for every N, of certificates for N = 1, 2, … steps.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=lambda: os.cpu_count() or 1,
    show_default="all cores",
    help="How many files Coq checks at a time.",
)
@shared.as_json
def command(
    certificates: tuple[str, ...],
    out: Path | None,
    tex: bool,
    every_n: bool,
    workers: int,
    as_json: bool,
) -> int:
    """Write class certificates and counterexamples as theorems of Coq, and have Coq check them.

    Beside each CERTIFICATE, or in --out, a file FILE.v is written. Its last theorem is about all
    functions of the class, and the iterates of the algorithm; or it says that there are functions
    of the class on which they exceed the right side. coqc checks it against a library of
    driftproof's, which is compiled when it is first used. docs/machine_checked.md says what a
    reader has to trust.

    With --tex the theorem and its proof are printed as an author would paste them: multiply these
    inequalities, add, and see that what is left is a sum of squares. The text was read back, and
    found to be true, before it is printed. docs/proofs.md has thirteen. With --every-n it is one
    proof, for every number of steps: multipliers are fitted by a function of i and N.

    The exit status is 0 if Coq accepts every file, 1 if a certificate is refused by driftproof or
    by Coq, or is of a kind that is not translated, 2 if one cannot be read, 3 if there is no coqc;
    the files are written all the same. With --tex it is 1 if a certificate is refused, or would be
    no proof that a person can check; it says why.
    """
    if tex or every_n:
        each = [certificates] if every_n else [(name,) for name in certificates]
        rows = [_on_paper(names, out, every_n=every_n, quiet=as_json) for names in each]
        if as_json:
            shared.print_json(rows)
        return 0 if all(row["result"] == "PRINTED" for row in rows) else 1
    written = [_written(Path(name), out) for name in certificates]
    if any(made["theorem"] for made in written):
        from driftproof.verifiers.worst_case import coqc

        coqc.compiled()
    with ThreadPoolExecutor(workers) as pool:
        rows = []
        for row in pool.map(_proved, written):
            rows.append(row)
            if not as_json:
                shared.tell("\n".join([f"{row['certificate']}: {row['result']}", *_lines(row)]))
    held = sum(row["result"] == "MACHINE-CHECKED" for row in rows)
    if as_json:
        shared.print_json([{k: v for k, v in row.items() if k not in INNER} for row in rows])
    elif len(rows) > 1:
        seconds = [row["seconds"] for row in rows if row["seconds"]] or [0.0]
        mean, most = sum(seconds) / len(seconds), max(seconds)
        times = f", {mean:.1f} s each, {most:.1f} s at most" if held else ""
        shared.tell(f"{held} of {len(rows)} are machine-checked{times}")
    return 0 if held == len(rows) else 1


def _on_paper(
    names: Sequence[str], out: Path | None, *, every_n: bool, quiet: bool
) -> dict[str, Any]:
    """Print a theorem and its proof, or write them, and return what became of it."""
    from driftproof.verifiers.worst_case.check import RefusedCertificateError
    from driftproof.verifiers.worst_case.checking import UNREADABLE
    from driftproof.verifiers.worst_case.on_paper.pattern import pattern
    from driftproof.verifiers.worst_case.on_paper.printed import on_paper

    name = Path(names[0]).name + f" and {len(names) - 1} more" * (len(names) > 1)
    row = {"certificate": name, "result": "REFUSED", "reason": "", "tex": ""}
    try:
        texts = [text_of_certificate(Path(name)) for name in names]
        row |= {"result": "PRINTED", "tex": pattern(texts) if every_n else on_paper(texts[0])}
    except RefusedCertificateError as reason:
        row["reason"] = f"driftproof check refuses it: {reason}"
    except DriftproofError as reason:
        row["reason"] = str(reason)
    except UNREADABLE as error:
        raise _no_certificate(name, error) from None
    file = (out or Path()) / f"{Path(names[0]).stem}{'-every-n' * every_n}.tex"
    if out and row["tex"]:
        out.mkdir(parents=True, exist_ok=True)
        file.write_text(row["tex"], encoding="utf-8")
    if not quiet and row["tex"]:
        click.echo(f"{name}: {file}" if out else row["tex"])
    elif not quiet:
        shared.tell("\n".join([f"{name}: REFUSED", *_indented(row["reason"])]))
    return row


def _no_certificate(path: Path | str, error: Exception) -> DriftproofError:
    from driftproof.verifiers.worst_case.checking import printable

    return DriftproofError(
        f"{path} is no certificate: {printable(f'{type(error).__name__}: {error}')}",
        "a file as docs/certificates.md describes it",
        "let driftproof verify write it again",
    )


def _written(path: Path, out: Path | None) -> dict[str, Any]:
    """Write a certificate's theorem, and return what is known of it."""
    from driftproof.verifiers.worst_case.check import RefusedCertificateError
    from driftproof.verifiers.worst_case.checking import UNREADABLE, intact
    from driftproof.verifiers.worst_case.coq_text import UntranslatedError
    from driftproof.verifiers.worst_case.machine_checked import file_name, written

    row: dict[str, Any] = {
        "certificate": path.name,
        "result": "REFUSED",
        "reason": "",
        "about": "",
        "conclusion": "",
        "points": "",
        "right": "",
        "theorem": None,
        "seconds": None,
        "axioms": [],
        "coq": None,
    }
    try:
        text = text_of_certificate(path)
        made = written(text)
        if not intact(text):
            raise RefusedCertificateError("it was changed after it was written")
    except RefusedCertificateError as reason:
        return row | {"reason": f"driftproof check refuses it: {reason}"}
    except UntranslatedError as reason:
        return row | {"result": "NOT TRANSLATED", "reason": f"got: {reason.got}; {reason.wanted}"}
    except UNREADABLE as error:
        raise _no_certificate(path, error) from None
    file = (out or path.parent) / file_name(path.stem)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(made.text, encoding="utf-8")
    return row | {
        "theorem": file.name,
        "about": made.about,
        "conclusion": made.conclusion,
        "made": made,
        "points": made.points,
        "right": made.right,
        "file": str(file),
    }


def _proved(row: dict[str, Any]) -> dict[str, Any]:
    """Have Coq check a theorem."""
    if row["theorem"] is None:
        return row
    from driftproof.verifiers.worst_case import coqc

    try:
        found = coqc.prove(row["made"].text)
    except coqc.RefusedTheoremError as error:
        return row | {"reason": str(error)}
    return row | {
        "result": "MACHINE-CHECKED",
        "seconds": round(found.seconds, 2),
        "coq": coqc.version(),
        "axioms": list(found.axioms),
    }


def _lines(row: dict[str, Any]) -> list[str]:
    """Return what is said of a file, indented."""
    from driftproof.verifiers.worst_case.checking import printable

    if row["seconds"] is None:
        return _indented(row["reason"])
    axioms = f"rests on {', '.join(row['axioms'])}" if row["axioms"] else "rests on no axiom"
    lines = [
        row["about"],
        *row["made"].theorem,
        f"that is, at {row['points']}: {row['conclusion']}",
    ]
    if row["right"]:
        bound = "at most" if "refuted" in row["made"].theorem[0] else "at least"
        lines.append(f"not checked by Coq: that the right side is {bound} {row['right']}")
    lines.append(f"{row['file']}: Coq {row['coq']}, {row['seconds']} s; {axioms}")
    return [f"  {printable(line)}" for line in lines]


def _indented(reason: str) -> list[str]:
    from driftproof.verifiers.worst_case.checking import printable

    return [f"  {printable(line)}" for line in reason.splitlines()[:12]]
