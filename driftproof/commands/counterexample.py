"""``driftproof counterexample``: a refutation as a script that needs nothing but numpy."""

from __future__ import annotations

import shlex
import subprocess
import sys
from fnmatch import fnmatchcase

import click

from toolkit.discover import find
from toolkit.errors import DriftproofError, unknown_name


@click.command()
@click.argument("claim")
@click.option("--form", metavar="GLOB", default="*", help="The form to refute, as show names it.")
@click.option("--run", is_flag=True, help="Run the script instead of printing it.")
@click.pass_context
def command(ctx: click.Context, claim: str, form: str, run: bool) -> int:
    """Print a script that recomputes, without driftproof, how CLAIM is refuted.

    It is written from the paper and needs numpy alone: driftproof counterexample CLAIM > c.py.
    CLAIM may have several scripts, for its several forms: the first is taken, or what --form says.
    """
    from verifiers.counterexamples import refuted, refutes, scripts

    leaf = find("claim", claim)
    if leaf.module is None:
        raise DriftproofError(
            f"{claim}, a file of your own: nobody has written a script for it",
            "a claim of driftproof's, which driftproof errata lists",
            f"driftproof verify {shlex.quote(claim)} shows the case that refutes {leaf.name}, if "
            f"one does; driftproof falsify {shlex.quote(claim)} searches for a simpler one, and "
            f"pytest --driftproof {shlex.quote(claim)} prints lines of Python that repeat it",
        )
    forms = refuted(leaf.name)
    if not forms:
        raise DriftproofError(
            f"{claim} has no printed form on record as REFUTED",
            "a claim that is refuted in some reading",
            "driftproof errata lists the statements that are not true as printed",
        )
    matching = {key for key in forms if key == form or fnmatchcase(key, form)}
    if not matching:
        raise unknown_name("refuted form", form, forms)
    of_scripts = {path: refutes(path, claim) for path in scripts(claim)}
    chosen = next((path for path, keys in of_scripts.items() if matching & set(keys)), None)
    if chosen is None:
        raise DriftproofError(
            f"{claim} has no script for {'; '.join(sorted(matching))}",
            "a claim of the papers that driftproof ships",
            f"driftproof verify {shlex.quote(claim)} judges it on its cases",
        )
    for path, keys in of_scripts.items():
        if path != chosen and not ctx.obj["quiet"]:
            how = f"driftproof counterexample {claim} --form {shlex.quote(keys[0])}"
            click.echo(f"another script: {how}", err=True)
    if run:
        return subprocess.run([sys.executable, "-I", str(chosen)], check=False).returncode
    click.echo(chosen.read_text(encoding="utf-8"), nl=False)
    return 0
