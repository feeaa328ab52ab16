"""``driftproof counterexample``: a refutation as a script that needs numpy alone, or as LaTeX."""

import json
import shlex
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from driftproof.commands._shared import errors_of, names_of, note, progress, sparing
from driftproof.toolkit.discover import find
from driftproof.toolkit.errors import DriftproofError, unknown_name


@click.command()
@click.argument("claim", shell_complete=names_of("claim"))
@click.option("--form", metavar="GLOB", default="*", help="The form to refute, as show names it.")
@click.option("--run", is_flag=True, help="Run the script instead of printing it.")
@click.option(
    "--tex",
    is_flag=True,
    help="Print LaTeX instead, for a review: the functions, each step in a line, both sides.",
)
@click.pass_context
def command(ctx: click.Context, claim: str, form: str, run: bool, tex: bool) -> int:
    """Print a script that recomputes, without driftproof, how CLAIM is refuted.

    It is written from the paper and needs numpy alone: driftproof counterexample CLAIM > c.py.
    CLAIM may have several scripts, for its several forms: the first is taken, or what --form says.

    CLAIM may be a Python file of your own, or FILE::NAME: its claims are judged, and a refutation
    is written down, over a class of functions as fractions. For what ``driftproof falsify`` found,
    CLAIM is its search.json, or the folder that it is in.

    --tex writes a case that refutes CLAIM as text, in fractions where its numbers are: of functions
    whose derivatives are piecewise linear, such as quadratics; over a class, points of functions.
    A problem made with autograd has no such formulas: take the script.
    """
    if run and tex:
        raise click.UsageError("--tex is no program that --run could run: take one of them")
    with TemporaryDirectory() as folder:
        if claim.endswith(".json") or (Path(claim) / "search.json").exists():
            chosen, others = _of_search(Path(claim), form, tex=tex)
        elif claim.partition("::")[0].endswith(".py"):
            chosen, others = _of_own(claim, form, Path(folder), tex, quiet=ctx.obj["quiet"])
        else:
            chosen, others = _on_record(claim, form, Path(folder), tex, quiet=ctx.obj["quiet"])
        return _shown(ctx, claim, chosen, others, run)


def _shown(ctx: click.Context, claim: str, chosen: Path, others: list[str], run: bool) -> int:
    """Print a script, or run it, and name the others."""
    for key in others if not ctx.obj["quiet"] else ():
        how = f"driftproof counterexample {shlex.quote(claim)} --form {shlex.quote(key)}"
        click.echo(f"another script: {how}", err=True)
    if run:
        return subprocess.run([sys.executable, "-I", str(chosen)], check=False).returncode
    click.echo(chosen.read_text(encoding="utf-8"), nl=False)
    return 0


def _of_own(
    file: str, form: str, folder: Path, tex: bool, *, quiet: bool
) -> tuple[Path, list[str]]:
    """Judge the claims of a user's file; return a file on a refutation, and other forms."""
    from driftproof.toolkit.ledger import Ledger
    from driftproof.verifiers.standalone.own import script_of_own
    from driftproof.verifiers.verify import Settings, judge, select

    chosen = select([file], note)
    with Ledger(folder / "ledger.sqlite") as ledger:

        def judged(claims: Any, failed: Any) -> Any:
            settings = Settings(resume=bool(failed))
            with progress("judged", quiet=quiet) as (started, ended, _):
                return judge(claims, settings, ledger=ledger, started=started, ended=ended)

        rows, failed = sparing(chosen, judged)
    try:
        made = script_of_own(chosen, rows, form, folder, tex=tex)
    except DriftproofError:
        if failed:
            raise errors_of(failed) from None
        raise
    for name, error in failed.items():
        note(f"Not judged: {name}: {error.told}")
    return made


def _on_record(
    claim: str, form: str, folder: Path, tex: bool, *, quiet: bool
) -> tuple[Path, list[str]]:
    """Return the script of a refuted statement on record, and a form of each other script.

    A statement without a script that was written by hand gets one from a verdict on it; so does
    LaTeX.
    """
    from driftproof.verifiers.counterexamples import refuted, refutes, scripts

    leaf = find("claim", claim)
    forms = refuted(leaf.name)
    if not forms:
        raise DriftproofError(
            f"{claim} has no printed form on record as REFUTED",
            "a claim of which a printed form is refuted",
            "driftproof errata lists the statements that are not true as printed",
        )
    matching = {key for key in forms if key == form or fnmatchcase(key, form)}
    if not matching:
        raise unknown_name("refuted form", form, forms)
    of_scripts = {path: refutes(path, claim) for path in scripts(claim)}
    chosen = next((path for path, keys in of_scripts.items() if matching & set(keys)), None)
    if tex or not of_scripts:
        return _of_own(leaf.name, form, folder, tex, quiet=quiet)
    if chosen is None:
        raise DriftproofError(
            f"{claim} has no script for {'; '.join(sorted(matching))}",
            "a claim of the papers that driftproof ships",
            f"driftproof verify {shlex.quote(claim)} judges it on its cases",
        )
    return chosen, [keys[0] for path, keys in of_scripts.items() if path != chosen]


def _of_search(path: Path, form: str, *, tex: bool) -> tuple[Path, list[str]]:
    """Return the first script of a search whose form matches, and the forms of the others."""
    from driftproof.verifiers.search.finding import NOT_SEARCHED

    path, kind = path / "search.json" if path.is_dir() else path, "tex" if tex else "script"
    try:
        file = json.loads(path.read_text(encoding="utf-8"))
        if "findings" not in file and "schema" in file:
            raise DriftproofError(
                f"{path}, a {file['schema'].rstrip(' 0123456789')}",
                "a claim, a file of your own, or the search.json of driftproof falsify",
                f"driftproof check {path} says it in words, driftproof plot {path} draws it, and "
                "driftproof counterexample FILE --tex writes LaTeX, FILE being what was verified",
            )
        findings = file["findings"]
        several = len({f.get("claim") for f in findings}) > 1
        scripts = [
            (f"{f.get('claim')}: " * several + str(f["form"]), path.parent / Path(f[kind]).name)
            for f in findings
            if f[kind]
        ]
        file = shlex.quote(next(iter(file.get("select", [])), "FILE"))
        reasons = [f["no_tex"] for f in findings if tex and f["no_tex"]]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise DriftproofError(
            f"{path}: {type(error).__name__}: {error}",
            "the search.json of driftproof falsify",
            "driftproof falsify FILE --out FOLDER writes one",
        ) from None
    matching = [
        (key, script)
        for key, script in scripts
        if form in (key, *key.split(": ", 1)) or fnmatchcase(key, form)
    ]
    if not scripts and reasons:
        raise DriftproofError(
            f"{path} has no violation as LaTeX: {'; '.join(dict.fromkeys(map(str, reasons)))}",
            "a case that can be written as formulas",
            f"driftproof counterexample {shlex.quote(str(path))} prints the script",
        )
    if not scripts:
        raise DriftproofError(
            f"{path} has no violation with a script",
            "a search that found one",
            f"driftproof verify {file} judges what is not searched, and driftproof counterexample "
            f"{file}{' --tex' * tex} writes what that refutes"
            if any(f.get("status") == NOT_SEARCHED for f in findings)
            else "driftproof falsify says what it found, and why a violation has no script",
        )
    if not matching:
        raise DriftproofError(
            f"{path} has no script for {form}",
            f"one of {'; '.join(key for key, _ in scripts)}",
            "choose another --form",
        )
    chosen = matching[0][1]
    if not chosen.exists():
        raise DriftproofError(
            f"{chosen} is not there", "the scripts beside search.json", "search again"
        )
    return chosen, [key for key, script in scripts if script != chosen]
